"""Makes pictures of a run's report in a real Chromium: wide and narrow, light and dark, with few and many findings.

    .venv/bin/python tools/report_pictures.py runs/demo/memorizer docs/images/report.png
    .venv/bin/python tools/report_pictures.py runs/demo/memorizer pictures/ --findings 0,1,28,300

The first form makes the picture of the README. The second is for looking at a change of the page: each number of
findings is made from those of the run, by leaving some out or showing them again under other names.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chromium import Page, chromium
from sirocco.reports.findings import Rerun
from sirocco.reports.html import html_pages
from sirocco.reports.page import units_to_show
from sirocco.reports.story import Story
from sirocco.wiring.stories import stories

SIZES = ((1280, 1000), (390, 1400))


def with_findings(
    verdict: dict[str, Any], told: dict[str, Story], number: int
) -> tuple[dict[str, Any], dict[str, Story]]:
    """The verdict with so many findings about safety, each told by the evidence of one that the run has."""
    block = dict(verdict["adversarial_verification"])
    failures, findings = (
        {one["probe_serialized"]: one for one in block["safety_results"]["failures"]},
        block["findings"],
    )
    sources = [one for one in findings if one["probes"][0] in failures]
    details = {one["probe"]: one for one in block["probe_details"]}
    passed = [one for one in block["probe_details"] if one["probe"] not in {_name(file) for file in failures}]
    told, shown, failed, ran = dict(told), [], [], list(passed)
    for turn in range(number):
        source = sources[turn % len(sources)]
        file = source["probes"][0]
        other = f"{file.removesuffix('.yaml')}-{turn}.yaml" if turn >= len(sources) else file
        shown.append(source | {"probes": [other]})
        failed.append(failures[file] | {"probe_serialized": other})
        ran.append(details[_name(file)] | {"probe": _name(other)})
        if _name(file) in told:
            told[_name(other)] = told[_name(file)]
    results = block["safety_results"] | {"failures": failed, "failed": number, "any_safety_violation": number > 0}
    results["total"] = results["passed"] + number
    block |= {"findings": shown, "safety_results": results, "probe_details": ran, "secondary_violations": []}
    return verdict | {"adversarial_verification": block}, told


def _name(file: str) -> str:
    return Path(file).stem


def take_pictures(tab: Page, file: Path, folder: Path, name: str) -> None:
    """The top of one page in every size and theme; what runs out of a narrow window is said."""
    for width, height in SIZES:
        for theme in ("light", "dark"):
            tab.open(file, width=width, height=height, dark=theme == "dark", phone=width < 500)
            tab.screenshot(folder / f"{name}-{width}-{theme}.png")
            if (extent := tab.ask("document.documentElement.scrollWidth")) > width:
                print(f"{name}: {extent} wide in a window of {width}")


def main(arguments: list[str]) -> None:
    """Take one picture, or those of every size, theme and number of findings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--findings", default="")
    choices = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder) / "browser") as tab:
        if not choices.findings:
            tab.open((choices.run / "report.html").resolve(), width=1280, height=1000)
            tab.screenshot(choices.out)
            return
        verdict = json.loads((choices.run / "verdict.json").read_text())["verdict"]
        told = stories(choices.run, units_to_show(verdict))
        choices.out.mkdir(parents=True, exist_ok=True)
        for number in map(int, choices.findings.split(",")):
            changed, own = with_findings(verdict, told, number)
            pages = html_pages(changed, own, Rerun(str(choices.run), "ref:memorizer"))
            for name, page in pages.items():
                (Path(folder) / name).write_text(page)
            print(number, "findings:", {name: len(page.encode()) for name, page in pages.items()})
            take_pictures(tab, Path(folder) / "report.html", choices.out, f"report-{number}")


if __name__ == "__main__":
    main(sys.argv[1:])
