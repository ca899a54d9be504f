"""`sirocco watch`: a run is watched from its events alone, while it runs and afterwards."""

import json
import os
from pathlib import Path

import pytest

from commands import sirocco
from sirocco.evidence.files import LOCK
from sirocco.evidence.progress import Progress, read_progress


def event(second: int, name: str, **fields: object) -> str:
    return json.dumps({"event": name, "time": f"2026-01-01T00:00:{second:02}Z", **fields}) + "\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run in the middle of its probes: one violated, two of eight done in four seconds."""
    lines = [
        event(0, "run_started", agent="mine 1.0", profile="operations 1"),
        event(1, "phase_started", phase="safety", units=1),
        event(2, "unit_finished", kind="scenario", unit="one", status="PASS"),
        event(3, "phase_started", phase="adversarial", units=8),
        event(5, "unit_finished", kind="probe", unit="probe-a", status="FAIL"),
        event(7, "unit_finished", kind="probe", unit="b\x1b[2J", status="FAIL", classification="capability"),
    ]
    (tmp_path / "events.jsonl").write_text("".join(lines))
    return tmp_path


def test_stage_counts_and_time_come_from_the_events(run: Path) -> None:
    told = json.loads(sirocco("watch", run, "--format", "json").stdout)
    assert told["stage"] == "running probes"
    assert told["phases"] == {"safety": {"done": 1, "planned": 1}, "adversarial": {"done": 2, "planned": 8}}
    assert (told["violated"], told["elapsed_seconds"], told["remaining_seconds"]) == (1, 7.0, 12.0)
    assert told["running"] is False


@pytest.mark.parametrize(
    ("line", "stage"),
    [
        (event(8, "unit_finished", kind="confirmation", unit="x", status="FAIL"), "confirming failed probes"),
        (event(8, "unit_finished", kind="shrinking", unit="x", status="FAIL"), "shrinking failed probes"),
        (event(8, "phase_started", phase="adversarial", units=8), "drafting and admitting probes"),
        (event(8, "run_finished"), "finished"),
    ],
)
def test_each_stage_has_its_name(run: Path, line: str, stage: str) -> None:
    with (run / "events.jsonl").open("a") as file:
        file.write(line)
    known = read_progress(run, Progress())
    assert known.stage == stage
    assert sum(known.failed.values()) == 1, "a violation that came back is no second one"


def test_only_what_is_new_is_read_and_half_a_line_waits(run: Path) -> None:
    known = read_progress(run, Progress())
    with (run / "events.jsonl").open("a") as file:
        file.write('{"event": "unit_fin')
        file.flush()
        assert read_progress(run, known).done["adversarial"] == 2
        file.write('ished", "kind": "probe", "unit": "c", "status": "PASS"}\n')
    assert read_progress(run, known).done["adversarial"] == 3


def test_a_run_whose_process_is_gone_is_shown_once(run: Path) -> None:
    (run / LOCK).write_text("0")
    done = sirocco("watch", run)
    assert done.code == 0
    assert "2 of 8" in done.stdout
    assert "1 violated so far, 7s elapsed, about 12s left in this phase" in done.stdout
    assert "\x1b" not in done.stdout


def test_where_there_is_no_terminal_lines_come_until_the_run_is_over(run: Path) -> None:
    (run / LOCK).write_text(str(os.getpid()))
    with (run / "events.jsonl").open("a") as file:
        file.write(event(9, "run_interrupted"))
    done = sirocco("watch", run, "--interval", "0.1")
    assert "interrupted: 2 of 8" in done.stdout


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    done = sirocco("watch", tmp_path)
    assert done.code == 2
    assert "no run was started here" in done.stderr
