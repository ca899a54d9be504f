"""Shows that the tests can fail: applies each seeded fault to a copy of the project and runs the tests it must break.

A fault is `tests/faults/<REQUIREMENT>[-word].patch`; the text above the diff says what it breaks. The fault is caught when at
least one test marked with the requirement goes red. Usage: python tests/faults/run.py [--sample N] [REQUIREMENT...]

A sample is drawn anew by each state of the patches and the sources, so that in time every fault has its turn.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FAULTS = ROOT / "tests" / "faults"
_UNCOLLECTED = re.compile(r"^ERROR [^:\s]+(?: - |$)", re.MULTILINE)
_PATCHED = re.compile(r"^\+\+\+ b/src/(\S+)\.py$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What the tests made of one fault."""

    fault: str
    caught_by: tuple[str, ...]
    problem: str = ""


def requirement(patch: Path) -> str:
    """The requirement that a patch breaks, from its file name."""
    return re.match(r"[A-Z]{2}-\d{2}", patch.name).group(0)


def bearers(patch: Path, project: Path) -> list[str]:
    """The test files that name the requirement; to collect all others takes longer than to run them.

    First those that use what the patch changes, then the other quick ones: most faults are noticed by one of these.
    """
    tests, wanted = project / "tests", f'"{requirement(patch)}"'
    changed = [path.removesuffix("/__init__").replace("/", ".") for path in _PATCHED.findall(patch.read_text())]
    texts = {file: file.read_text() for file in sorted(tests.rglob("test_*.py"))}
    naming = [file for file, text in texts.items() if wanted in text]
    naming.sort(key=lambda file: not file.is_relative_to(tests / "unit"))
    naming.sort(key=lambda file: not any(module in texts[file] for module in changed))
    return [str(file.relative_to(project)) for file in naming]


def outcome(patch: Path) -> Outcome:
    """Apply the fault to a copy and run the tests of its requirement."""
    with tempfile.TemporaryDirectory() as folder:
        # The copy lies as deep as the project does, with the same neighbour, so that tests find what they compare with.
        copy = Path(folder) / ROOT.name
        shutil.copytree(
            ROOT,
            copy,
            ignore=shutil.ignore_patterns(".git", ".venv", ".cache", ".*_cache", "runs", ".hypothesis"),
        )
        if (ROOT.parent / "shared").is_dir():
            (Path(folder) / "shared").symlink_to(ROOT.parent / "shared")
        applied = subprocess.run(["git", "apply", str(patch)], cwd=copy, capture_output=True, text=True, check=False)
        if applied.returncode:
            return Outcome(patch.stem, (), f"does not apply: {applied.stderr.strip()}")
        red, output = red_tests(patch, copy, "--exitfirst")
        if not red and _UNCOLLECTED.search(output):
            # A file that cannot even be collected shows nothing by itself; the other files have to notice.
            red, output = red_tests(patch, copy, "--continue-on-collection-errors")
    return Outcome(patch.stem, red, "" if red else f"no test went red\n{output[-2000:]}")


def red_tests(patch: Path, copy: Path, *options: str) -> tuple[tuple[str, ...], str]:
    """The tests of the requirement that fail on a copy, and all that pytest says."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
        "-rfE",
        "--tb=no",
        *options,
    ]
    command += ["--requirement", requirement(patch), *bearers(patch, copy)]
    # Compiled modules come along and hold where the source is as old; tests start Python again and again.
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": ""}
    tests = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    red = re.findall(r"^(?:FAILED|ERROR) (\S+::\S+)", tests.stdout, re.MULTILINE) if tests.returncode in {1, 2} else []
    return tuple(red), tests.stdout


def sampled(patches: list[Path], size: int) -> list[Path]:
    """As many of the faults, chosen by a digest of the project's own files: the same for everybody at one commit."""
    state = hashlib.sha256()
    for file in sorted((*FAULTS.glob("*.patch"), *(ROOT / "src").rglob("*.py"))):
        state.update(file.read_bytes())
    drawn = sorted(patches, key=lambda patch: hashlib.sha256(state.digest() + patch.name.encode()).digest())
    return sorted(drawn[:size])


def main(arguments: list[str]) -> int:
    """Run all faults, those of the requirements or with the names given, or a sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wanted", nargs="*", metavar="REQUIREMENT or FAULT")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="run no more than so many")
    given = parser.parse_args(arguments)
    wanted = given.wanted
    patches = [
        patch
        for patch in sorted(FAULTS.glob("*.patch"))
        if not wanted or requirement(patch) in wanted or patch.stem in wanted
    ]
    patches = sampled(patches, given.sample) if given.sample else patches
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        caught = [shown(result) for result in pool.map(outcome, patches)]
    print(f"\n{sum(caught)} passed, {caught.count(False)} failed")
    return 0 if caught and all(caught) else 1


def shown(result: Outcome) -> bool:
    """Print what became of one fault as soon as it is known; whether it was caught."""
    state = "caught" if result.caught_by else "MISSED"
    print(f"{state}  {result.fault}  {result.problem}{' '.join(result.caught_by)}", flush=True)
    return bool(result.caught_by)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
