"""Who does a run's work: its own process, several on this machine (`processes`), or actors of a Ray cluster (`ray`).

Units and admission are distributed; planning, recording and everything that is decided in order stay in the run's own
process, so that the findings do not depend on which worker found them. Workers are alike: each receives the same task,
builds its part of the run from it (`wiring.worker`), and then performs one job after another.
"""

import asyncio
import gc
import os
import pickle
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from sirocco.errors import ConfigError, FaultKind, ProviderFault
from sirocco.oasis.probe import GeneratorMethod
from sirocco.oasis.profile import Profile
from sirocco.runner.workforce import Job, Workforce
from sirocco.wiring.config import Executor, RunConfig, Seed

PROGRAM = "sirocco.wiring.worker"
MOST_LOSSES = 3
"""The number of workers that may be lost over one job before the run is aborted."""
_LENGTH = 8
_LIMIT = 2**24
_FAREWELL = 10.0
"""Seconds that workers have to stop their agents when the run is over."""
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class SiteTask:
    """What a worker builds its part of the run from; keys and bundles are not opened there."""

    config: RunConfig
    profile: Profile = field(repr=False)
    seed: Seed
    directory: Path | None
    """Kept from the agent; workers write nothing there."""
    method: GeneratorMethod | None
    gc_thresholds: tuple[int, int, int] = field(default_factory=gc.get_threshold)
    """The run's own number: workers make as many objects as it would."""


class OpenWorkforce(Workforce, Protocol):
    """A workforce that must be open while it works."""

    def open(self) -> Any:
        """Open for the duration of the run, as an asynchronous context."""
        ...


def workforce(config: RunConfig, task: SiteTask) -> OpenWorkforce | None:
    """The workers that `--executor` asks for; None if the run does its own work."""
    match config.executor:
        case Executor.PROCESSES:
            return Processes(task, config.parallel)
        case Executor.RAY:
            return RayActors(task, config.parallel, config.ray_address)
        case _:
            return None


def open_workforce(workers: OpenWorkforce | None) -> Any:
    """The workers for the duration of a run, if it has any."""
    return nullcontext() if workers is None else workers.open()


@dataclass(frozen=True, slots=True)
class Done:
    """What a worker sends back: the result of the job, or the error that ended it."""

    result: Any = None
    error: str = ""

    def value(self) -> Any:
        """The result; RuntimeError if there is none."""
        if self.error:
            raise RuntimeError(self.error)
        return self.result


class _WorkerLostError(Exception):
    """A worker was lost, and its jobs with it."""


def _given_up() -> ProviderFault:
    problem = f"{MOST_LOSSES} processes in a row were lost over one unit"
    return ProviderFault("--executor", problem, "check whether the machine ran out of memory", FaultKind.LOST)


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shares(parallel: int, places: int) -> tuple[int, int]:
    """How many workers there are, and how many jobs each performs at once."""
    workers = max(1, min(parallel, places))
    return workers, -(-parallel // workers)


async def _least_busy(load: list[int], send: Callable[[int], Awaitable[Result]]) -> Result:
    """The result of `perform` on the worker that has the fewest jobs now."""
    chosen = min(range(len(load)), key=load.__getitem__)
    load[chosen] += 1
    try:
        return await send(chosen)
    finally:
        load[chosen] -= 1


class Processes:
    """Implements OpenWorkforce with processes of this machine, one for each processor that may be used."""

    def __init__(self, task: SiteTask, parallel: int) -> None:
        self._task = task
        self._number, _ = _shares(parallel, _processors())
        self._workers: list[_Process] = []
        self._load: list[int] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Open for the duration of the run; afterwards no worker is left, nor anything that it started."""
        packed = pickle.dumps(self._task)
        self._workers = [_Process(packed) for _ in range(self._number)]
        self._load = [0] * self._number
        try:
            yield
        finally:
            await asyncio.gather(*(worker.close() for worker in self._workers))

    async def perform(self, job: Job[Result]) -> Result:
        """The result of the job."""
        packed = pickle.dumps(job)
        for _ in range(MOST_LOSSES):
            with suppress(_WorkerLostError):
                done = await _least_busy(self._load, lambda chosen: self._workers[chosen].answer(packed))
                return cast("Result", done.value())
        raise _given_up()


class _Process:
    """One worker, started when it is first needed, and restarted after it was lost."""

    def __init__(self, task: bytes) -> None:
        self._task = task
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Done]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._readings: set[asyncio.Task[None]] = set()
        """The tasks reading from the worker and from lost predecessors that are not yet cleaned up."""
        self._starting = asyncio.Lock()

    async def answer(self, job: bytes) -> Done:
        """The worker's answer; _WorkerLostError if it is gone. A job that nobody waits for is stopped."""
        process = await self._started()
        number = next(self._numbers)
        future: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            await _send(process, number, job)
            return await future
        except asyncio.CancelledError:
            with suppress(_WorkerLostError):
                await _send(process, number, b"")
            raise
        finally:
            self._waiting.pop(number, None)

    async def _started(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._process is None:
                # It finds what this process finds, whatever it was started with.
                environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", PROGRAM, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                    start_new_session=True, limit=_LIMIT, env=environment,
                )  # fmt: skip
                reading = asyncio.create_task(self._read(self._process))
                self._readings.add(reading)
                reading.add_done_callback(self._readings.discard)
                await _send(self._process, 0, self._task)
            return self._process

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Pass each answer to whoever waits for it; at the end of the worker's output, all remaining jobs are lost."""
        if process.stdout is None:
            raise AssertionError("the worker was started with a pipe")
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                number, content = await read_message(process.stdout)
                future = self._waiting.get(number)
                if future is not None and not future.done():
                    future.set_result(pickle.loads(content))  # noqa: S301 - our own worker wrote it
        self._process = None
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(_WorkerLostError())
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        if process.stdin is not None:
            process.stdin.close()
            with suppress(ConnectionError):
                await process.stdin.wait_closed()

    async def close(self) -> None:
        """End the worker gracefully, or else immediately; lost ones are waited for, too."""
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            await asyncio.wait(self._readings, timeout=_FAREWELL)
            with suppress(ProcessLookupError):
                process.kill()
        await asyncio.gather(*self._readings)


async def _send(process: asyncio.subprocess.Process, number: int, content: bytes) -> None:
    if process.stdin is None:
        raise AssertionError("the worker was started with a pipe")
    try:
        process.stdin.write(message(number, content))
        await process.stdin.drain()
    except (ConnectionError, RuntimeError) as error:  # a closed transport says so in its own way
        raise _WorkerLostError from error


def message(number: int, content: bytes) -> bytes:
    """A message between the run and a worker: 0 is the task, others are jobs; an empty job ends the worker."""
    return number.to_bytes(_LENGTH) + len(content).to_bytes(_LENGTH) + content


async def read_message(stream: asyncio.StreamReader) -> tuple[int, bytes]:
    """The next message; IncompleteReadError if there is none."""
    head = await stream.readexactly(2 * _LENGTH)
    return int.from_bytes(head[:_LENGTH]), await stream.readexactly(int.from_bytes(head[_LENGTH:]))


class RayActors:
    """Implements OpenWorkforce with actors of a Ray cluster; Ray restarts lost actors and repeats their jobs."""

    def __init__(self, task: SiteTask, parallel: int, address: str) -> None:
        self._task = task
        self._parallel = parallel
        self._address = address
        self._ray = _installed_ray()
        self._actors: list[Any] = []
        self._load: list[int] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Open for the duration of the run; a cluster that we started ourselves ends with it."""
        ray = self._ray
        try:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no data about a run is sent unasked
            ray.init(address=self._address or None, log_to_driver=False, logging_level="ERROR")
        except ConnectionError as error:
            raise ConfigError(
                "--ray-address", f"no cluster responded: {error}", "start one: ray start --head"
            ) from error
        try:
            places = int(ray.cluster_resources().get("CPU", 1))
            number, share = _shares(self._parallel, places)
            site = ray.remote(import_module(PROGRAM).RaySite)
            task = ray.put(pickle.dumps(self._task))
            options = {"num_cpus": 1, "max_concurrency": share, "max_restarts": -1, "max_task_retries": MOST_LOSSES}
            self._actors = [site.options(**options).remote(task) for _ in range(number)]
            self._load = [0] * number
            yield
        finally:
            for actor in self._actors:
                ray.kill(actor)
            ray.shutdown()

    async def perform(self, job: Job[Result]) -> Result:
        """The result of the job."""
        packed = pickle.dumps(job)
        done = await _least_busy(self._load, lambda chosen: self._answer(self._actors[chosen], packed))
        return cast("Result", done.value())

    async def _answer(self, actor: Any, job: bytes) -> Done:
        reference = actor.perform.remote(job)
        try:
            return cast("Done", pickle.loads(await reference))  # noqa: S301 - our own worker wrote it
        except asyncio.CancelledError:
            self._ray.cancel(reference)
            raise
        except self._ray.exceptions.RayActorError as error:
            raise _given_up() from error


def _installed_ray() -> Any:
    try:
        return import_module("ray")
    except ImportError as error:
        remedy = "install the extra: pip install -e '.[ray]' in a clone"
        raise ConfigError("--executor ray", "Ray is not installed", remedy) from error
