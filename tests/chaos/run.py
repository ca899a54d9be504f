"""Whole evaluations under faults: `python tests/chaos/run.py --runs 300 --seed 1`.

Each run is drawn from the seed: an agent, an executor, and up to three disturbances (the run, a worker or the agent
killed, the run told to stop, a disk without room, half a record or a damaged ledger on disk). After each, the directory
is checked by `check_run.py`, which reads nothing else; nothing that was recorded may be missing and no process may be
left over. Then the run is resumed until it ends, and must have come to what an undisturbed one comes to.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from check_run import problems, recorded_units  # noqa: E402 - where it is, is known only now

from bundled import FEW  # noqa: E402

CHOICES = (*FEW, "--seed", "20", "--probes", "3", "--reruns", "0", "--twins", "0", "--confirm", "1")
CHOICES += ("--max-agent-calls", "20", "--isolation", "none", "--no-artifacts")
AGENTS = ("ref:memorizer", f"cmd:{sys.executable} {Path(__file__).with_name('agent.py')}")
EXECUTORS = ("local", "processes")
LIMIT = 600
FAREWELL = 30.0
"""Seconds in which whatever a killed run had started must be gone."""
MARK = "SIROCCO_CHAOS"
"""A variable that every process of a run inherits."""
TIMES = {"timestamp", "finished", "duration", "applied", "evidence_root"}


class Violated(Exception):  # noqa: N818 - an invariant, not a mistake in the call
    """An invariant does not hold."""


@dataclass
class Evaluation:
    """One run directory, and the processes that have worked on it."""

    folder: Path
    agent: str
    executor: str
    recorded: dict[str, str] = field(default_factory=dict)
    agent_died: bool = False

    @property
    def path(self) -> Path:
        return self.folder / "run"

    def start(self, most_bytes: int = 0) -> subprocess.Popen[str]:
        """The run, begun or resumed; with a limit no file can grow beyond so many bytes."""
        begun = (self.path / "run.yaml").exists()
        words = ("--resume", str(self.path)) if begun else ("--agent", self.agent, *CHOICES, "--out", str(self.path))

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        return subprocess.Popen(
            [sys.executable, "-m", "sirocco", "run", *words, "--executor", self.executor, "--parallel", "2"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, MARK: str(self.folder)},
            preexec_fn=limit if most_bytes else None, start_new_session=True,  # noqa: PLW1509 - there are no threads
        )  # fmt: skip

    def wait_for(self, process: subprocess.Popen[str], units: int) -> bool:
        """Whether so many units are recorded before the process is over."""
        end = time.monotonic() + LIMIT
        while len(self.units()) < units:
            if process.poll() is not None:
                return False
            if time.monotonic() > end:
                raise Violated("nothing happens any more")
            time.sleep(0.01)
        return True

    def units(self) -> dict[str, str]:
        try:
            return {unit: row["digest"] for unit, row in recorded_units(self.path).items()}
        except Exception:  # noqa: BLE001 - it is being written
            return {}

    def processes(self) -> Iterator[tuple[int, str]]:
        """Whatever of the run is alive, with its command line."""
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdecimal() and f"{MARK}={self.folder}".encode() in (entry / "environ").read_bytes():
                    yield int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue

    def settle(self, process: subprocess.Popen[str]) -> int:
        """Wait for the end of a process and check what it left."""
        try:
            _, told = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Violated("the run hangs") from None
        if "Traceback" in told:
            raise Violated(f"a traceback: {told[-2000:]}")
        self.check_leftovers()
        self.check()
        return process.returncode

    def check_leftovers(self) -> None:
        """Check that no process of the run is left after a while."""
        end = time.monotonic() + FAREWELL
        while left := list(self.processes()):
            if time.monotonic() > end:
                raise Violated(f"left over: {left}")
            time.sleep(0.05)

    def check(self) -> None:
        """Check the directory, and that everything that was recorded before still is."""
        if found := problems(self.path):
            raise Violated("; ".join(found))
        units = self.units()
        if lost := [unit for unit, digest in self.recorded.items() if units.get(unit) != digest]:
            raise Violated(f"lost: {lost}")
        self.recorded = units


def _kill_run(run: Evaluation, dice: random.Random) -> str:
    process = run.start()
    run.wait_for(process, len(run.recorded) + dice.randint(0, 3))
    time.sleep(dice.random() * 0.2)
    process.kill()
    run.settle(process)
    return f"killed with {len(run.recorded)} units"


def _stop_run(run: Evaluation, dice: random.Random) -> str:
    process = run.start()
    run.wait_for(process, len(run.recorded) + dice.randint(0, 3))
    process.send_signal(dice.choice((signal.SIGTERM, signal.SIGINT)))
    code = run.settle(process)
    # Before anything is set up to stop in good order, a signal ends the process as it ends any.
    if code not in {0, 130, -signal.SIGTERM, -signal.SIGINT}:
        raise Violated(f"stopped with exit code {code}")
    return f"stopped with {len(run.recorded)} units"


def _kill_part(run: Evaluation, dice: random.Random, part: str) -> str:
    process = run.start()
    run.wait_for(process, len(run.recorded) + dice.randint(0, 3))
    killed = None
    while killed is None and process.poll() is None:
        found = [pid for pid, words in run.processes() if part in words and pid != process.pid]
        if found:
            killed = dice.choice(found)
            with suppress(ProcessLookupError):
                os.kill(killed, signal.SIGKILL)
                run.agent_died |= part == "agent.py"
        time.sleep(0.01)
    code = run.settle(process)
    if code not in ({0, 5} if run.agent_died else {0}):
        raise Violated(f"exit code {code} after the death of {part}")
    return f"{part} killed" if killed else f"no {part} came up any more"


def _kill_worker(run: Evaluation, dice: random.Random) -> str:
    return _kill_part(run, dice, "sirocco.wiring.worker")


def _kill_agent(run: Evaluation, dice: random.Random) -> str:
    return _kill_part(run, dice, "agent.py")


def _fill_disk(run: Evaluation, dice: random.Random) -> str:
    size = dice.randint(10_000, 400_000)
    code = run.settle(run.start(size))
    if code not in {0, 2}:
        raise Violated(f"exit code {code} on a full disk")
    return f"no file beyond {size} bytes"


def _tear_record(run: Evaluation, dice: random.Random) -> str:
    """A kill in the middle of a write: part of a record behind the last one."""
    told = _kill_run(run, dice)
    segments = sorted((run.path / "evidence").glob("segment-*.jsonl.gz")) if run.path.exists() else []
    if segments:
        with segments[-1].open("ab") as file:
            file.write(b"\x1f\x8b\x08" + dice.randbytes(dice.randint(1, 2000)))
    return f"{told}, and half a record behind them"


def _damage_ledger(run: Evaluation, dice: random.Random) -> str:
    """Pages that a broken disk gives back; the run says so, and goes on once the file is restored."""
    _kill_run(run, dice)
    ledger, copy = run.path / "ledger.sqlite", run.folder / "copy"
    if not (run.path / "run.yaml").exists() or ledger.stat().st_size < 1000:
        return "nothing to damage"
    shutil.copytree(run.path, copy)
    content = bytearray(ledger.read_bytes())
    at = dice.randrange(len(content) - 200)
    content[at : at + 200] = dice.randbytes(200)
    ledger.write_bytes(content)
    process = run.start()
    _, told = process.communicate(timeout=LIMIT)
    if process.returncode not in {0, 2} or "Traceback" in told:
        raise Violated(f"exit code {process.returncode} on a damaged ledger: {told[-2000:]}")
    run.check_leftovers()
    shutil.rmtree(run.path)
    copy.rename(run.path)
    run.check()
    return f"the ledger damaged at {at}"


Disturbance = Callable[[Evaluation, random.Random], str]
EVERYWHERE: tuple[Disturbance, ...] = (_kill_run, _stop_run, _fill_disk, _tear_record, _damage_ledger)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key not in TIMES}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def _verdict(run: Evaluation) -> Any:
    return _timeless(json.loads((run.path / "verdict.json").read_text()))


def _undisturbed(folder: Path, agent: str) -> Any:
    run = Evaluation(folder, agent, "local")
    folder.mkdir()
    if code := run.settle(run.start()):
        raise Violated(f"undisturbed, {agent} ends with exit code {code}")
    return _verdict(run)


def _finish(run: Evaluation, expected: Any) -> None:
    """Resume the run once more, undisturbed, and see that it comes to what it should."""
    code = run.settle(run.start())
    if code != 0 and not (code == 5 and run.agent_died):
        raise Violated(f"in the end exit code {code}")
    if not run.agent_died and _verdict(run) != expected:
        raise Violated("in the end another verdict than that of an undisturbed run")
    replay = [sys.executable, "-m", "sirocco", "replay", str(run.path)]
    if subprocess.run(replay, capture_output=True, check=False).returncode:
        raise Violated("the report does not follow from the evidence")


def disturb(folder: Path, seed: str, expected: dict[str, Any]) -> dict[str, Any]:
    """One run, drawn from the seed; what was done to it, and which invariant does not hold."""
    dice = random.Random(seed)
    run = Evaluation(folder, dice.choice(list(expected)), dice.choice(EXECUTORS))
    folder.mkdir()
    kinds = [*EVERYWHERE]
    kinds += [_kill_worker] * 2 if run.executor == "processes" else []
    kinds += [_kill_agent] if run.agent.startswith("cmd:") else []
    told: dict[str, Any] = {"seed": seed, "agent": run.agent.partition(":")[0], "executor": run.executor, "faults": []}
    try:
        for _ in range(dice.randint(1, 3)):
            fault = dice.choice(kinds)
            told["faults"].append(f"{fault.__name__.strip('_')}: {fault(run, dice)}")
        _finish(run, expected[run.agent])
    except Violated as violated:
        told["violated"] = str(violated)
    finally:
        for pid, _ in list(run.processes()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return told


def main() -> int:
    """Draw runs, print a line about each, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", default="1")
    choices = parser.parse_args()
    counts: Counter[str] = Counter()
    with TemporaryDirectory(prefix="chaos-") as place:
        top = Path(place)
        expected = {agent: _undisturbed(top / f"whole-{number}", agent) for number, agent in enumerate(AGENTS)}
        for number in range(choices.runs):
            told = disturb(top / str(number), f"{choices.seed}/{number}", expected)
            counts.update(one.partition(":")[0] for one in told["faults"])
            counts["violated"] += "violated" in told
            print(json.dumps(told), flush=True)
            shutil.rmtree(top / str(number), ignore_errors=True)
    print(json.dumps({"runs": choices.runs, **counts}))
    return int(counts["violated"] > 0)


if __name__ == "__main__":
    sys.exit(main())
