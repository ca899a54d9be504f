"""A run that is killed, interrupted or out of room goes on where it was: nothing lost, nothing run twice."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundled import SMALL
from commands import Finished, RunFiles, sirocco
from counting_agent import AGENTS
from reserved_parties import NO_PROBES, needs_private_place
from sirocco.domains.kubernetes.agents.reference import REFERENCE_AGENTS

PROGRAM = Path(__file__).parent.parent / "counting_agent.py"
CATEGORIES = ("prompt-injection-resistance", "destructive-operation-safeguarding", "boundary-enforcement")
CHOICES = (
    *SMALL,
    "--seed",
    "20",
    "--probes",
    "2",
    "--reruns",
    "2",
    "--pairs",
    "2",
    "--confirm",
    "1",
    "--parallel",
    "2",
)
CHOICES += tuple(part for category in CATEGORIES for part in ("--category", category))
CHOICES += tuple(part for aim in ("S-PI-001", "S-DE-001", "C-OE-004") for part in ("--archetype", aim))
"""Two probes and a twin, to which the same happens as to more of them."""
KILLS = int(os.environ.get("SIROCCO_KILLS", "2"))
"""How often a run is killed; 25 for a thorough look."""
LIMIT = 120


@dataclass
class Run:
    """One run directory, the processes that work on it, and what the agent counted."""

    folder: Path
    delay: float = 0.15
    agent: str = "counting"
    kills: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.path = self.folder / "run"
        self.count_file = self.folder / "count"

    def start(self, *arguments: object, **variables: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "COUNT": str(self.count_file), "DELAY": str(self.delay), **variables}
        return subprocess.Popen(
            [sys.executable, str(PROGRAM), "run", *map(str, arguments)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def begin(self, **variables: str) -> subprocess.Popen[str]:
        return self.start("--agent", f"ref:{self.agent}", *CHOICES, "--out", self.path, **variables)

    def resume(self, *arguments: object) -> subprocess.Popen[str]:
        return self.start("--resume", self.path, *arguments)

    def begun_here(self, monkeypatch: pytest.MonkeyPatch) -> Finished:
        """The same in this process, which is quicker when it is not to be disturbed."""
        return self._here(monkeypatch, "--agent", f"ref:{self.agent}", *CHOICES, "--out", self.path)

    def resumed_here(self, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Finished:
        return self._here(monkeypatch, "--resume", self.path, *arguments)

    def _here(self, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Finished:
        monkeypatch.setenv("COUNT", str(self.count_file))
        monkeypatch.setenv("DELAY", "0")
        for name, make in AGENTS.items():
            monkeypatch.setitem(REFERENCE_AGENTS, name, make)
        return sirocco("run", *arguments)

    def recorded(self) -> dict[str, str]:
        """The units in the ledger, with the digests of their evidence."""
        with (
            suppress(sqlite3.Error),
            closing(sqlite3.connect(f"file:{self.path}/ledger.sqlite?mode=ro", uri=True)) as db,
        ):
            return dict(db.execute("SELECT unit, digest FROM units"))
        return {}

    def asked(self) -> Counter[str]:
        return Counter(self.count_file.read_text().split()) if self.count_file.exists() else Counter()

    def verdict(self) -> dict[str, Any]:
        return yaml.safe_load((self.path / "verdict.yaml").read_text())["verdict"]

    def conversations(self) -> dict[str, str]:
        """Under which id the agent knows each unit that counts."""
        index = json.loads((self.path / "evidence/index.json").read_text())["units"]
        assert set(index) <= set(self.recorded())
        units = RunFiles(self.path, Finished(0, "", "")).units
        return {unit["unit"]: unit["evidence"]["turns"][0]["request"]["run_id"] for unit in units}


def _ended(process: subprocess.Popen[str]) -> Finished:
    out, err = process.communicate(timeout=LIMIT)
    return Finished(process.returncode, out, err)


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate(timeout=LIMIT)


def _timeless(value: Any) -> Any:
    """A verdict without its times, and without the digest of evidence that holds times."""
    if isinstance(value, dict):
        times = {"timestamp", "finished", "duration", "applied", "evidence_root"}
        return {key: _timeless(item) for key, item in value.items() if key not in times}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def _finished(folder: Path, agent: str) -> Run:
    run = Run(folder, agent=agent)
    with pytest.MonkeyPatch.context() as patch:
        assert run.begun_here(patch).code == 0
    return run


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return _finished(tmp_path_factory.mktemp("undisturbed"), "counting")


@pytest.fixture
def disturbed(tmp_path: Path) -> Run:
    return Run(tmp_path)


def _wait_for(run: Run, process: subprocess.Popen[str], units: int) -> bool:
    """Whether so many units are recorded before the process is over."""
    deadline = time.monotonic() + LIMIT
    while len(run.recorded()) < units:
        if process.poll() is not None:
            return False
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return True


@pytest.fixture(scope="module")
def undisturbed_slow(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return _finished(tmp_path_factory.mktemp("undisturbed-slow"), "slow")


def test_a_run_that_is_killed_again_and_again_ends_as_if_nothing_had_happened(tmp_path, undisturbed_slow, monkeypatch):
    """Every kill lands after the first unit is recorded and before the last; runs are begun until there were enough."""
    dice, total, kills = random.Random(KILLS), len(undisturbed_slow.recorded()), 0
    for number in count():
        run = Run(tmp_path / str(number), agent="slow")
        run.folder.mkdir()
        kills += _killed_and_resumed(run, undisturbed_slow, dice, KILLS - kills, monkeypatch)
        print(f"kills at recorded units: {[f'{done} of {total}' for done, _ in run.kills]}")
        if kills >= KILLS:
            return


def _killed_and_resumed(run: Run, whole: Run, dice: random.Random, most: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Kill a run up to five times, resume it, and see that nothing was lost and nothing recorded was run twice."""
    total, process = len(whole.recorded()), run.begin()
    last, asked = {}, Counter()
    for _ in range(min(most, 5)):
        known, before = run.recorded(), run.asked()
        # One more unit than before at least, and never the last one.
        if len(known) + 1 >= total or not _wait_for(run, process, dice.randint(len(known) + 1, total - 1)):
            break
        time.sleep(dice.random() * run.delay)
        _kill(process)
        last, asked = run.recorded(), run.asked()
        assert known.items() <= last.items()
        assert asked >= before
        if not 0 < len(last) < total:
            break
        run.kills.append((len(last), total))
        process = run.resume()
    _kill(process)
    last, asked = run.recorded(), run.asked()
    done = run.resumed_here(monkeypatch)
    assert done.code == 0, done.stderr
    assert _timeless(run.verdict()) == _timeless(whole.verdict())
    assert last.items() <= run.recorded().items()
    conversations = run.conversations()
    assert {unit: run.asked()[conversations[unit]] for unit in last} == {
        unit: asked[conversations[unit]] for unit in last
    }
    assert sirocco("replay", run.path).code == 0
    events = [json.loads(line) for line in (run.path / "events.jsonl").read_text().splitlines()]
    finished = [event["unit"] for event in events if event["event"] == "unit_finished"]
    assert len(finished) == len(set(finished)) == total
    return len(run.kills)


@pytest.mark.requirement("SI-02")
def test_a_run_that_is_killed_after_a_rerun_has_the_same_ones_and_runs_none_twice(disturbed, undisturbed, monkeypatch):
    process = disturbed.begin()
    while not any(".rerun-" in unit for unit in disturbed.recorded()):
        assert process.poll() is None
        time.sleep(0.005)
    _kill(process)
    recorded, asked = disturbed.recorded(), disturbed.asked()
    assert len(recorded) < len(undisturbed.recorded())
    assert disturbed.resumed_here(monkeypatch).code == 0
    reruns = disturbed.verdict()["adversarial_verification"]["reruns"]
    assert reruns["run"] == reruns["asked"] == 2
    assert reruns == undisturbed.verdict()["adversarial_verification"]["reruns"]
    conversations = disturbed.conversations()
    assert all(disturbed.asked()[conversations[unit]] == asked[conversations[unit]] for unit in recorded)
    assert sirocco("replay", disturbed.path).code == 0


@pytest.mark.parametrize(("number", "part"), [(signal.SIGINT, "core"), (signal.SIGTERM, "probes")])
def test_an_interrupted_run_writes_a_partial_report_and_can_be_resumed(
    disturbed, undisturbed, number, part, monkeypatch
):
    process = disturbed.begin()
    assert _wait_for(disturbed, process, 2 if part == "core" else len(CATEGORIES) + 1)
    process.send_signal(number)
    done = _ended(process)
    assert done.code == 130, done.stderr
    assert f"--resume {disturbed.path}" in done.stderr
    partial = disturbed.verdict()
    mode = partial["metadata"]["evaluation_mode"]
    assert mode["complete"] is False
    assert "the run was interrupted" in mode["incomplete_because"]
    assert (disturbed.path / "core.yaml").exists() is (part == "probes")
    assert partial["safety"] == ("PASS" if part == "probes" else None)
    ran = {name: level["total"] for name, level in partial["safety_details"]["category_results"].items()}
    assert (sum(ran.values()) < sum(mode.get("planned", {}).values())) is (part == "core")
    assert ("so far " in done.stdout) is (part == "core")
    if part == "probes":
        block = partial["adversarial_verification"]
        assert block["complete"] is False
        results = block["safety_results"]
        assert len(results["failures"]) == results["failed"]
    assert "interrupted" in (disturbed.path / "report.html").read_text()
    assert sirocco("replay", disturbed.path).code == 0
    recorded, asked = disturbed.recorded(), disturbed.asked()
    assert disturbed.resumed_here(monkeypatch).code == 0
    assert _timeless(disturbed.verdict()) == _timeless(undisturbed.verdict())
    conversations = disturbed.conversations()
    assert all(disturbed.asked()[conversations[unit]] == asked[conversations[unit]] for unit in recorded)


def test_a_second_signal_ends_the_run_at_once_and_loses_nothing_that_is_recorded(disturbed):
    disturbed.delay = 0.3
    process = disturbed.begin()
    assert _wait_for(disturbed, process, 1)
    recorded = disturbed.recorded()
    process.send_signal(signal.SIGINT)
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    done = _ended(process)
    assert done.code == 130
    assert "Traceback" not in done.stderr
    assert recorded.items() <= disturbed.recorded().items()


def test_a_finished_run_says_so_and_gives_its_verdict_again(undisturbed, monkeypatch):
    before, asked = (undisturbed.path / "verdict.yaml").read_bytes(), undisturbed.asked()
    done = undisturbed.resumed_here(monkeypatch, "--format", "json")
    assert done.code == 0
    assert "finished" in done.stderr
    assert json.loads(done.stdout)["verdict"] == undisturbed.verdict()
    assert (undisturbed.path / "verdict.yaml").read_bytes() == before
    assert undisturbed.asked() == asked


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--probes", "5"], ["probes was 2, now 5"]),
        (["--agent", "ref:careful", "--seed", "7"], ["agent was ref:counting", "seed was 0x14, now 0x7"]),
        (["--category", "prompt-injection-resistance"], ["categories was"]),
        (["--trials", "2"], ["trials was 1, now 2"]),
        (["--timeout", "9s"], ["timeout seconds was 300, now 9"]),
        (["--out", "elsewhere"], ["--out"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_another_configuration_is_refused_and_what_differs_is_named(undisturbed, arguments, said, monkeypatch):
    done = undisturbed.resumed_here(monkeypatch, *arguments)
    assert done.code == 2
    assert all(text in done.stderr for text in said), done.stderr


@pytest.mark.long
def test_the_parallelism_is_no_part_of_the_configuration(disturbed, undisturbed, monkeypatch):
    process = disturbed.begin()
    assert _wait_for(disturbed, process, 2)
    _kill(process)
    assert disturbed.resumed_here(monkeypatch, "--parallel", "1", "--seed", "0x14").code == 0
    assert _timeless(disturbed.verdict()) == _timeless(undisturbed.verdict())


def test_a_second_process_on_the_same_directory_is_refused(disturbed, monkeypatch):
    disturbed.delay = LIMIT
    process = disturbed.begin()
    try:
        while not disturbed.asked():
            assert process.poll() is None
            time.sleep(0.005)
        second = disturbed.resumed_here(monkeypatch)
        assert second.code == 2
        assert f"process {process.pid}" in second.stderr
        assert sirocco("run", "--agent", "ref:counting", *CHOICES, "--out", disturbed.path).code == 2
    finally:
        _kill(process)


def test_a_directory_without_a_run_cannot_be_resumed(tmp_path):
    done = sirocco("run", "--resume", tmp_path)
    assert done.code == 2
    assert "run.yaml" in done.stderr


@needs_private_place
def test_a_run_that_is_killed_among_reserved_scenarios_needs_the_key_again_and_runs_none_twice(
    disturbed, bundle, key, monkeypatch
):
    disturbed.delay, asked = 0.3, disturbed.count_file
    agent = f"cmd:{sys.executable} {PROGRAM.with_name('echoing_agent.py')}"
    reserved = ("--reserved", bundle, "--identity", key)
    choices = ("--profile", bundle.parent.parent / "public", "--seed", "20", *NO_PROBES)
    choices += ("--parallel", "1", "--category", "boundary-enforcement", "--isolation", "none")
    choices += ("--agent-env", "COUNT", "--agent-env", "DELAY")
    process = disturbed.start("--agent", agent, *choices, "--out", disturbed.path, *reserved)
    first = disturbed.path / "evidence" / "reserved-1.age"
    while not first.exists():
        assert process.poll() is None
        time.sleep(0.005)
    _kill(process)
    sealed, before = first.read_bytes(), len(asked.read_text().splitlines())
    without = disturbed.resumed_here(monkeypatch)
    assert without.code == 2
    assert "--reserved and --identity" in without.stderr
    done = disturbed.resumed_here(monkeypatch, *reserved)
    assert done.code == 0, done.stderr
    counts = disturbed.verdict()["adversarial_verification"]["reserved_scenarios"]
    assert (counts["executed"], counts["passed"], counts["failed"]) == (2, 2, 0)
    assert first.read_bytes() == sealed
    # Of the two that were under way or to come, only what was not sealed was asked again, in as many turns as it has.
    assert len(set(asked.read_text().splitlines()[before:])) <= 1
    assert all(b"blue-heron" not in path.read_bytes() for path in disturbed.path.rglob("*") if path.is_file())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for less than a run; only some accounts may make one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this account cannot mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.long
def test_a_full_disk_is_a_clear_error_and_with_more_room_the_run_goes_on(small_disk, undisturbed, monkeypatch):
    run = Run(small_disk)
    run.count_file = small_disk.parent / "count"
    done = run.begun_here(monkeypatch)
    assert done.code == 2
    assert "no room left on the disk" in done.stderr
    recorded, asked = run.recorded(), run.asked()
    assert recorded
    still = run.resumed_here(monkeypatch)
    assert (still.code, "no room" in still.stderr) == (2, True)
    subprocess.run(["mount", "-o", "remount,size=9m", small_disk], check=True)
    assert run.resumed_here(monkeypatch).code == 0
    assert recorded.items() <= run.recorded().items()
    assert _timeless(run.verdict()) == _timeless(undisturbed.verdict())
    conversations = run.conversations()
    assert all(run.asked()[conversations[unit]] == asked[conversations[unit]] for unit in recorded)


def test_a_disk_without_room_is_a_clear_error_and_loses_nothing(disturbed, undisturbed, monkeypatch):
    done = _ended(disturbed.begin(FILE_SIZE="90000"))
    assert done.code == 2
    assert "no room" in done.stderr
    assert "--resume" in done.stderr
    assert "Traceback" not in done.stderr
    recorded, asked = disturbed.recorded(), disturbed.asked()
    assert 0 < len(recorded) < len(undisturbed.recorded())
    assert disturbed.resumed_here(monkeypatch).code == 0
    assert recorded.items() <= disturbed.recorded().items()
    assert _timeless(disturbed.verdict()) == _timeless(undisturbed.verdict())
    conversations = disturbed.conversations()
    assert all(disturbed.asked()[conversations[unit]] == asked[conversations[unit]] for unit in recorded)
