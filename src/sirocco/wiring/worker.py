"""A worker of a run: builds its part of the run from a task, then performs jobs until the run ends.

`python -m sirocco.wiring.worker` is started by `sirocco run --executor processes`; Ray starts `RaySite`.
"""

import asyncio
import gc
import os
import pickle
import signal
import sys
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import Self

from sirocco.campaign.admission import Admission, WorkSite
from sirocco.campaign.targets import targets
from sirocco.wiring.assemble import connected_execution, witnesses
from sirocco.wiring.workforce import Done, SiteTask, message, read_message

_FAREWELL = 8.0
"""Seconds that an agent has to end; the run waits a little longer than that for its workers."""


class OpenSite:
    """An open work site."""

    def __init__(self, site: WorkSite, stack: AsyncExitStack) -> None:
        self._site = site
        self._stack = stack

    @classmethod
    async def from_task(cls, task: SiteTask) -> Self:
        """The run's agent, environments and gate, rebuilt in this process."""
        # The run itself listens at its configured port; here any free port of the same address will do.
        host, colon, _ = task.config.listen.rpartition(":")
        config = replace(task.config, listen=f"{host}:0") if colon else task.config
        connection, execution = connected_execution(config, task.profile, task.seed, task.directory)
        stack = AsyncExitStack()
        await stack.enter_async_context(connection.open())
        aims = targets(task.profile, config.archetypes, config.exclude, safety_only=config.safety_only)
        table = witnesses(connection.witnesses, execution.settings, task.profile.domain)
        admission = Admission(task.profile, aims, table, method=task.method, seed=task.seed.value)
        return cls(WorkSite(execution, admission), stack)

    async def answer(self, job: bytes) -> bytes:
        """The packed result of a job; an error of ours travels as text."""
        try:
            done = Done(await pickle.loads(job).perform(self._site))  # noqa: S301 - the run that started us wrote it
        except Exception as error:  # noqa: BLE001 - the run is told, and goes on or ends
            done = Done(error=f"{type(error).__name__}: {error}")
        return pickle.dumps(done)

    async def close(self) -> None:
        """Stop the agent and all listeners."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stack.aclose(), _FAREWELL)


def read_task(content: bytes) -> SiteTask:
    """The task that the run sent."""
    task = pickle.loads(content)  # noqa: S301 - see above
    if not isinstance(task, SiteTask):
        raise TypeError("not a task")
    return task


class RaySite:
    """A work site as a Ray actor; the first job opens it, in the event loop that Ray runs it in."""

    def __init__(self, task: bytes) -> None:
        self._task = read_task(task)
        self._opening: asyncio.Task[OpenSite] | None = None

    async def perform(self, job: bytes) -> bytes:
        """The packed result of a job."""
        if self._opening is None:
            self._opening = asyncio.ensure_future(OpenSite.from_task(self._task))
        return await (await self._opening).answer(job)


async def _serve() -> None:
    """Handle the run's messages; when their stream ends for whatever reason, everything here ends too."""
    loop = asyncio.get_running_loop()
    requests = asyncio.StreamReader(limit=2**24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(requests), sys.stdin.buffer)
    out = os.fdopen(os.dup(1), "wb", 0)
    # Anything else printed here must not look like a message.
    os.dup2(2, 1)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, out)
    answers = asyncio.StreamWriter(transport, protocol, None, loop)
    try:
        _, content = await read_message(requests)
    except asyncio.IncompleteReadError:
        return
    task = read_task(content)
    gc.set_threshold(*task.gc_thresholds)
    site = await OpenSite.from_task(task)
    jobs: dict[int, asyncio.Task[None]] = {}

    async def do_job(number: int, job: bytes) -> None:
        try:
            answers.write(message(number, await site.answer(job)))
            await answers.drain()
        finally:
            del jobs[number]

    try:
        while True:
            number, content = await read_message(requests)
            if content:
                jobs[number] = asyncio.create_task(do_job(number, content))
            elif number in jobs:
                jobs[number].cancel()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        under_way = list(jobs.values())
        for one in under_way:
            one.cancel()
        await asyncio.wait(under_way, timeout=_FAREWELL) if under_way else None
        await site.close()


def main() -> None:
    """Work until the run ends; Ctrl-C is left to the run, which then ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_serve())


if __name__ == "__main__":
    if sys.stdin.isatty():
        sys.exit("this program is started by `sirocco run --executor processes`")
    main()
