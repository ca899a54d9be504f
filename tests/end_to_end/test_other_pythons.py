"""A recorded run gives the same verdicts, byte for byte, under every Python that the project supports (SI-07).

Other interpreters need the project's dependencies, which a test does not install: `make verify` does, and names them in
SIROCCO_PYTHONS. Without that, those on the path are tried.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bundled import SMALL
from commands import LIMIT, evaluated

ROOT = Path(__file__).resolve().parent.parent.parent
OLDEST, NEWEST = 11, 20
_VERSION = "import sys, sirocco.cli.main; print(*sys.version_info[:2])"


def _others() -> dict[str, str]:
    """Interpreters of other versions that can load the project, by version."""
    named = [one for one in os.environ.get("SIROCCO_PYTHONS", "").split(os.pathsep) if one]
    on_path = [shutil.which(f"python3.{minor}") for minor in range(OLDEST, NEWEST)]
    found: dict[str, str] = {}
    for python in named or [one for one in on_path if one]:
        asked = _run(python, "-c", _VERSION)
        if named and asked.returncode:
            pytest.fail(f"{python} cannot load the project: {asked.stderr.strip().splitlines()[-1:]}")
        if not asked.returncode and asked.stdout.split() != [str(part) for part in sys.version_info[:2]]:
            found[asked.stdout.strip()] = python
    return found


def _run(python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [python, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=LIMIT)


@pytest.mark.requirement("SI-07", "CO-04")
def test_a_recorded_run_is_the_same_under_every_python(tmp_path: Path) -> None:
    others = _others()
    if not others:
        pytest.skip("no other Python with the project's dependencies; `make verify` sets them up")
    run = evaluated(tmp_path, "ref:naive", *SMALL).path
    here = _run(sys.executable, "-m", "sirocco", "replay", str(run), "--format", "json")
    assert json.loads(here.stdout)["different"] == []
    for version, python in others.items():
        there = _run(python, "-m", "sirocco", "replay", str(run), "--format", "json")
        assert (version, there.returncode, there.stdout) == (version, 0, here.stdout), there.stderr
