"""Units in other processes: the same verdict whoever did the work, and nothing lost with a worker."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bundled import FEW, small_profile
from commands import RunFiles, evaluated, sirocco
from optional import needs
from sirocco.errors import ProviderFault
from sirocco.wiring import workforce
from sirocco.wiring.config import RunConfig, Seed
from sirocco.wiring.workforce import PROGRAM, Processes, SiteTask


def _task() -> SiteTask:
    return SiteTask(RunConfig(agent="ref:careful"), small_profile(), Seed(1, "given"), None, None)


@asynccontextmanager
async def _workers(parallel: int = 1) -> AsyncIterator[Processes]:
    workers = Processes(_task(), parallel)
    async with workers.open():
        yield workers


@dataclass
class ProcessId:
    async def perform(self, _: Any) -> int:
        return os.getpid()


@dataclass
class DyingJob:
    """Takes its worker with it, as often as it may."""

    trace: Path
    deaths: int

    async def perform(self, _: Any) -> int:
        died = len(self.trace.read_text()) if self.trace.exists() else 0
        if died < self.deaths:
            self.trace.write_text("x" * (died + 1))
            os.kill(os.getpid(), signal.SIGKILL)
        return died


@dataclass
class EndlessJob:
    """Waits until it is stopped, and leaves a trace of both."""

    folder: Path

    async def perform(self, _: Any) -> None:
        (self.folder / "begun").touch()
        try:
            await asyncio.sleep(600)
        finally:
            (self.folder / "stopped").touch()


@dataclass
class BrokenJob:
    async def perform(self, _: Any) -> None:
        raise LookupError("nothing there")


def test_a_job_whose_worker_is_lost_is_done_by_another_one(tmp_path):
    async def look() -> int:
        async with _workers() as workers:
            return await workers.perform(DyingJob(tmp_path / "deaths", 1))

    assert asyncio.run(look()) == 1


def test_a_job_over_which_every_worker_is_lost_ends_the_run(tmp_path, monkeypatch):
    async def look() -> None:
        async with _workers() as workers:
            await workers.perform(DyingJob(tmp_path / "deaths", 100))

    monkeypatch.setattr(workforce, "MOST_LOSSES", 1)
    with pytest.raises(ProviderFault, match="processes in a row were lost"):
        asyncio.run(look())
    gc.collect()  # what is left of a lost worker would be a warning, and so a failure, here and not in another test


def test_a_job_that_breaks_or_that_nobody_waits_for_costs_no_worker(tmp_path):
    async def look() -> tuple[int, int]:
        async with _workers() as workers:
            before = await workers.perform(ProcessId())
            with pytest.raises(RuntimeError, match="LookupError: nothing there"):
                await workers.perform(BrokenJob())
            task = asyncio.create_task(workers.perform(EndlessJob(tmp_path)))
            await _seen(tmp_path / "begun")
            task.cancel()
            await _seen(tmp_path / "stopped")
            return before, await workers.perform(ProcessId())

    before, after = asyncio.run(look())
    assert os.getpid() != before == after


def test_workers_end_with_the_run_even_when_it_is_killed():
    """The end of a worker's input is all that a killed run leaves behind."""
    with subprocess.Popen([sys.executable, "-m", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        worker.stdin.close()
        assert worker.wait(timeout=60) == 0


async def _seen(path: Path) -> None:
    async with asyncio.timeout(60):
        while not path.exists():  # noqa: ASYNC110, ASYNC240 - another process makes it
            await asyncio.sleep(0.01)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        times = {"timestamp", "finished", "duration", "applied", "evidence_root"}
        return {key: _timeless(item) for key, item in value.items() if key not in times}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def _assert_alike_with(executor: str, few: RunFiles, choices: tuple[str, ...], folder: Path) -> None:
    other = evaluated(folder, "ref:memorizer", *choices, "--executor", executor, "--parallel", "2")
    assert other.finished.code == few.finished.code == 0, other.finished.stderr
    assert few.block["safety_results"]["failed"] > 0
    assert _timeless(few.verdict) == _timeless(other.verdict)
    assert [path.name for path in few.probe_files] == [path.name for path in other.probe_files]
    assert sirocco("replay", other.path).code == 0


@pytest.mark.requirement("AV-10")
@pytest.mark.requirement("CO-10")
def test_processes_come_to_the_same_verdict(few, few_choices, tmp_path):
    _assert_alike_with("processes", few, few_choices, tmp_path)


@pytest.mark.long
@needs("ray")
@pytest.mark.requirement("AV-10")
def test_ray_comes_to_the_same_verdict(few, few_choices, tmp_path):
    _assert_alike_with("ray", few, few_choices, tmp_path)


def test_another_executor_may_resume_a_run(few):
    resumed = sirocco("run", "--resume", few.path, "--executor", "processes")
    assert resumed.code == 0
    assert "finished" in resumed.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--ray-address", "auto"), "this run does not use Ray"),
        (("--executor", "processes", "--static-endpoint"), "other processes cannot share"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(tmp_path, options, problem):
    done = sirocco("run", "--agent", "ref:memorizer", *FEW, "--out", tmp_path / "run", *options)
    assert done.code == 2
    assert problem in done.stderr
    assert not (tmp_path / "run").exists()
