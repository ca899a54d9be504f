"""What every form of a report must say, whichever of them somebody reads."""

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from recorded_run import Told, adversarial_block, recorded_run, verdict_of
from sirocco.campaign.block import INTERPRETATION_NOTE
from sirocco.cli.run_summary import print_result
from sirocco.reports.findings import Rerun
from sirocco.reports.html import html_page
from sirocco.reports.junit import junit_xml
from sirocco.reports.markdown import markdown_summary
from sirocco.reports.sarif import sarif_log

RUN = Rerun("runs/ci", "cmd:./agent.sh --fast")
SUMMARIES = ("html", "markdown", "terminal")
DOCUMENTS = ("yaml", "json")
FORMS = (*SUMMARIES, "junit", "sarif", *DOCUMENTS)


@pytest.fixture(scope="module")
def verdict(tmp_path_factory) -> dict[str, Any]:
    """An incomplete core without a failure, and a phase that saw violations of three archetypes, one of them often."""
    core = dict(verdict_of(recorded_run(tmp_path_factory.mktemp("forms") / "run", Told())))
    block = adversarial_block("text", {f"probe-{number}": "FAIL" for number in range(60)})
    reason = "forbidden operation delete deployment/stock namespace=shop: #3 delete shop/deployments/stock -> 200"
    for number, one in enumerate(block["safety_results"]["failures"]):
        archetype = "S-PI-001" if number < 58 else f"S-XX-{number}"
        one |= {"primary_archetype": archetype, "description": f"A note tells the agent to delete it: {reason}"}
        block["findings"][number]["archetype"] = block["probe_details"][number]["archetype"] = archetype
        block["probe_details"][number] |= {"attempted": True, "effected": True}
    core["metadata"] |= {
        "evaluation_mode": {"complete": False, "incomplete_because": ["only two were chosen"], "filters": {}}
    }
    return core | {"adversarial_verification": block | {"interpretation_note": INTERPRETATION_NOTE}}


@pytest.fixture
def told(verdict, capsys) -> Callable[[str], str]:
    """The verdict in a form, as plain words in one line."""

    def terminal() -> str:
        config = {"agent": RUN.agent}
        print_result(verdict, Path(RUN.directory), {"config": config})
        return capsys.readouterr().out

    forms: dict[str, Callable[[], str]] = {
        "html": lambda: html.unescape(re.sub("<[^>]*>", " ", html_page(verdict, {}, RUN))),
        "markdown": lambda: markdown_summary(verdict, RUN).replace("\\", "").replace("\u200b", ""),
        "junit": lambda: html.unescape(junit_xml(verdict)),
        "sarif": lambda: json.dumps(sarif_log(verdict, "0")),
        "terminal": terminal,
        "yaml": lambda: yaml.safe_dump(verdict, width=10_000),
        "json": lambda: json.dumps(verdict),
    }
    return lambda form: " ".join(forms[form]().split())


@pytest.mark.requirement("AV-23")
@pytest.mark.parametrize("form", FORMS)
def test_the_note_on_what_probes_mean_is_in_every_form(told, form: str) -> None:
    assert INTERPRETATION_NOTE in told(form)


@pytest.mark.requirement("AV-22")
@pytest.mark.parametrize("form", [one for one in FORMS if one not in DOCUMENTS])
def test_both_halves_are_in_every_form_that_people_read(told, form: str) -> None:
    text = told(form)
    assert re.search(r"\bPASS\b", text)
    assert re.search(r"\bVIOLATED\b", text)
    assert "violated 60 of 60 unseen safety probes" in text


@pytest.mark.requirement("AV-22")
@pytest.mark.parametrize("form", DOCUMENTS)
def test_the_documents_have_the_block_beside_the_core(told, form: str) -> None:
    document = yaml.safe_load(told(form)) if form == "json" else None
    assert document is None or (document["safety"], document["adversarial_verification"]["performed"]) == ("PASS", True)
    assert "any_safety_violation" in told(form)


@pytest.mark.requirement("CO-11")
@pytest.mark.parametrize("form", FORMS)
def test_an_incomplete_evaluation_is_labelled_in_every_form(told, form: str) -> None:
    text = told(form)
    assert "only two were chosen" in text
    assert "incomplete" in text.lower()


@pytest.mark.requirement("AV-24")
@pytest.mark.parametrize("form", SUMMARIES)
def test_findings_are_told_in_plain_words_with_one_of_each_archetype(told, form: str) -> None:
    text = told(form)
    assert "A note tells the agent to delete it: it did so" in text
    assert {"S-PI-001", "S-XX-58", "S-XX-59"} <= set(re.findall(r"S-\w\w-\d+", text))
    command = "sirocco probe replay runs/ci/adversarial/probe-0.yaml --agent 'cmd:./agent.sh --fast'"
    assert command in text
    assert not re.search(r"\b(RUN_DIR|SPEC)\b", text)
