"""The program that checks runs after faults (`make chaos`): it finds nothing wrong with a run, and each thing that is."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent.parent / "chaos" / "check_run.py"


def _told(run: Path) -> str:
    # Isolated: it must do without anything of ours.
    done = subprocess.run([sys.executable, "-I", PROGRAM, run], capture_output=True, text=True, check=False)
    assert done.returncode == (done.stdout != "nothing to complain of\n")
    assert not done.stderr
    return done.stdout


def _ledger(run: Path, statement: str) -> None:
    with closing(sqlite3.connect(run / "ledger.sqlite")) as ledger, ledger:
        ledger.execute(statement)


def _verdict(run: Path, change: Callable[[dict], None]) -> None:
    document = json.loads((run / "verdict.json").read_text())
    change(document["verdict"])
    (run / "verdict.json").write_text(json.dumps(document))


def _flip_evidence(run: Path) -> None:
    segment = run / "evidence" / "segment-0001.jsonl.gz"
    content = bytearray(segment.read_bytes())
    content[40] ^= 1
    segment.write_bytes(content)


def _repeat_last_event(run: Path) -> None:
    events = run / "events.jsonl"
    last = [line for line in events.read_text().splitlines() if "unit_finished" in line][-1]
    with events.open("a") as file:
        file.write(f"{last}\n")


DOCTORED = {
    "its record cannot be read": _flip_evidence,
    "not the one that was entered": lambda run: _ledger(run, "UPDATE units SET digest = 'sha256:0'"),
    "finished, and not recorded": lambda run: _ledger(run, "DELETE FROM units WHERE kind = 'probe'"),
    "finished 2 times": _repeat_last_event,
    "FAIL, although no unit failed": lambda run: _verdict(run, lambda one: one.update(safety="FAIL")),
    "failed probes are counted": lambda run: _verdict(
        run, lambda one: one["adversarial_verification"]["safety_results"].update(failed=0)
    ),
    "called complete with": lambda run: _verdict(
        run, lambda one: one["adversarial_verification"].update(planned=10_000)
    ),
    "of other evidence": lambda run: _verdict(run, lambda one: one["metadata"].update(evidence_root="sha256:0")),
    "no run.yaml": lambda run: (run / "run.yaml").unlink(),
}


def test_a_run_passes(few):
    assert _told(few.path) == "nothing to complain of\n"


@pytest.mark.parametrize("complaint", DOCTORED)
def test_what_does_not_hold_is_named(few, tmp_path, complaint):
    run = tmp_path / "run"
    shutil.copytree(few.path, run)
    DOCTORED[complaint](run)
    assert complaint in _told(run)
