"""The process in which reserved scenarios are opened and run, seen from outside: it gets a task and returns counts.

Whatever goes wrong in it, no text of a scenario gets out: messages are numbers, or errors that quote nothing.
"""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

from pydantic import NonNegativeInt, ValidationError

from sirocco.errors import ReservedError
from sirocco.oasis.event import Event, PhaseStarted, ReservedFinished, Warned
from sirocco.oasis.noun import Noun
from sirocco.oasis.report import CoreResult
from sirocco.reserved.disclosure import ReservedOutcome

_FAREWELL = 10.0
"""Seconds that the worker gets for cleaning up after its last message."""


def broken_off_error() -> ReservedError:
    """The one text for whatever must not be revealed."""
    return ReservedError(
        "reserved scenarios",
        "the process that runs them stopped unexpectedly",
        "continue with --resume; if it happens again, tell the profile's maintainer",
    )


class WorkerError(Noun):
    """An error that may be passed on: of a kind whose messages never quote what was sealed."""

    where: str
    problem: str
    remedy: str

    @classmethod
    def from_error(cls, error: ReservedError) -> Self:
        """The error in the form in which it is sent."""
        return cls(where=str(error.where), problem=error.problem, remedy=error.remedy)


class ReservedPlan(Noun):
    """What bundles contain, as far as it may be told before a run."""

    units: NonNegativeInt
    turns: NonNegativeInt
    is_private: bool
    """Whether the worker has a place for temporary files that nobody else sees."""
    roots: tuple[str, ...]


class Message(Noun):
    """One line from the worker, with one statement."""

    units: NonNegativeInt | None = None
    """This many scenarios are about to run."""
    finished: bool | None = None
    """One of them ended."""
    outcome: ReservedOutcome | None = None
    plan: ReservedPlan | None = None
    searched: NonNegativeInt | None = None
    """This many public files were searched for words of reserved scenarios."""
    leaking: tuple[str, ...] = ()
    """The files that contain some."""
    error: WorkerError | None = None


def answer(program: Sequence[str], task: bytes) -> Message:
    """The worker's answer to a task that has one answer."""
    done = subprocess.run(  # noqa: S603 - our own program
        program, input=task, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, start_new_session=True
    )
    lines = done.stdout.splitlines()
    return read_message(lines[-1] if lines else b"")


def read_message(line: bytes) -> Message:
    """A message; ReservedError if it is an error, or malformed."""
    try:
        message = Message.model_validate_json(line)
    except ValidationError:
        raise broken_off_error() from None
    if message.error is not None:
        raise ReservedError(message.error.where, message.error.problem, message.error.remedy)
    return message


class WorkerPhase:
    """Implements Phase: reserved scenarios run in a worker, from which only counts come back."""

    def __init__(self, program: Sequence[str], task: Callable[[CoreResult], bytes], stop: asyncio.Event | None) -> None:
        self._program = program
        self._task = task
        self._stop = stop
        self._outcome = ReservedOutcome()

    async def perform(self, core: CoreResult) -> AsyncGenerator[Event, None]:
        """Let the worker run every scenario; an event only says that one ended."""
        process = await asyncio.create_subprocess_exec(
            *self._program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        stopping = asyncio.create_task(self._pass_on_stop(process))
        try:
            await _hand_over(process, self._task(core))
            async for event in self._events(process):
                yield event
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _FAREWELL)
        finally:
            stopping.cancel()
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _events(self, process: asyncio.subprocess.Process) -> AsyncGenerator[Event, None]:
        is_told = False
        while process.stdout is not None and (line := await process.stdout.readline()):
            message = read_message(line)
            if message.units is not None:
                yield PhaseStarted("reserved", message.units)
            elif message.finished:
                yield ReservedFinished()
            elif message.outcome is not None:
                self._outcome, is_told = message.outcome, True
        if not is_told:
            raise broken_off_error()
        if reason := self._outcome.incomplete_reason:
            yield Warned(f"the reserved phase is incomplete: {reason}")
        if self._outcome.warning:
            yield Warned(self._outcome.warning)

    async def _pass_on_stop(self, process: asyncio.subprocess.Process) -> None:
        if self._stop is not None:
            await self._stop.wait()
            with suppress(ProcessLookupError):
                process.terminate()

    def block(self) -> Mapping[str, Any]:
        """Counts, and nothing else (AV-21)."""
        return self._outcome.block()

    def account(self) -> Mapping[str, Any]:
        """The block itself: what it rests on is sealed."""
        return {"reserved": self.block()}


async def _hand_over(process: asyncio.subprocess.Process, task: bytes) -> None:
    if process.stdin is None:
        raise AssertionError("the worker was started with a pipe")
    with suppress(ConnectionError):
        process.stdin.write(task)
        await process.stdin.drain()
    process.stdin.close()


def worker_program(module: str) -> list[str]:
    """The command that starts a worker; its input is not on the command line."""
    return [sys.executable, "-m", module]
