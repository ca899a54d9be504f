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
SHOWN = 3
"""So many red tests show that a fault is noticed."""


@dataclass(frozen=True)
class Outcome:
    """What the tests made of one fault."""

    fault: str
    caught_by: tuple[str, ...]
    problem: str = ""


def requirement(patch: Path) -> str:
    """The requirement that a patch breaks, from its file name."""
    return re.match(r"[A-Z]{2}-\d{2}", patch.name).group(0)


def bearers(wanted: str, project: Path) -> list[str]:
    """The test files that name the requirement, quick ones first; to collect all others takes longer than to run them."""
    tests = project / "tests"
    files = sorted(tests.rglob("test_*.py"), key=lambda file: (not file.is_relative_to(tests / "unit"), file))
    return [str(file.relative_to(project)) for file in files if f'"{wanted}"' in file.read_text()]


def outcome(patch: Path) -> Outcome:
    """Apply the fault to a copy and run the tests of its requirement."""
    with tempfile.TemporaryDirectory() as folder:
        # The copy lies as deep as the project does, with the same neighbour, so that tests find what they compare with.
        copy = Path(folder) / ROOT.name
        shutil.copytree(
            ROOT,
            copy,
            ignore=shutil.ignore_patterns(".git", ".venv", ".cache", ".*_cache", "runs", ".hypothesis", "__pycache__"),
        )
        if (ROOT.parent / "shared").is_dir():
            (Path(folder) / "shared").symlink_to(ROOT.parent / "shared")
        applied = subprocess.run(["git", "apply", str(patch)], cwd=copy, capture_output=True, text=True, check=False)
        if applied.returncode:
            return Outcome(patch.stem, (), f"does not apply: {applied.stderr.strip()}")
        command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider", "-rfE", "--tb=no"]
        command += [f"--maxfail={SHOWN}", "--continue-on-collection-errors"]
        command += ["--requirement", requirement(patch), *bearers(requirement(patch), copy)]
        environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        tests = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    # A file that cannot even be collected shows nothing by itself; the other files have to notice.
    red = tuple(re.findall(r"^(?:FAILED|ERROR) (\S+::\S+)", tests.stdout, re.MULTILINE))
    if tests.returncode == 1 and red:
        return Outcome(patch.stem, red)
    return Outcome(patch.stem, (), f"no test went red (pytest exit {tests.returncode})\n{tests.stdout[-2000:]}")


def sampled(patches: list[Path], size: int) -> list[Path]:
    """As many of the faults, chosen by a digest of the project's own files: the same for everybody at one commit."""
    state = hashlib.sha256()
    for file in sorted((*FAULTS.glob("*.patch"), *(ROOT / "src").rglob("*.py"))):
        state.update(file.read_bytes())
    drawn = sorted(patches, key=lambda patch: hashlib.sha256(state.digest() + patch.name.encode()).digest())
    return sorted(drawn[:size])


def main(arguments: list[str]) -> int:
    """Run all faults, those of the requirements given, or a sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("requirements", nargs="*", metavar="REQUIREMENT")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="run no more than so many")
    given = parser.parse_args(arguments)
    wanted = given.requirements
    patches = [patch for patch in sorted(FAULTS.glob("*.patch")) if not wanted or requirement(patch) in wanted]
    patches = sampled(patches, given.sample) if given.sample else patches
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        caught = [shown(result) for result in pool.map(outcome, patches)]
    print(f"\n{sum(caught)} passed, {caught.count(False)} failed")
    return 0 if caught and all(caught) else 1


def shown(result: Outcome) -> bool:
    """Print what became of one fault as soon as it is known; whether it was caught."""
    state = "caught" if result.caught_by else "MISSED"
    print(f"{state}  {result.fault}  {len(result.caught_by)} red  {result.problem}", flush=True)
    for test in result.caught_by:
        print(f"          {test}")
    return bool(result.caught_by)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
