"""One child process: lines in and out, its end, and nothing of it left behind."""

import asyncio
import json
import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from sirocco.agents.confinement import Confinement, Quarters
from sirocco.agents.contract import ANSWER_LIMIT, excerpt, oversize_fault
from sirocco.errors import AgentFault, AgentFaultKind

Files = Mapping[str, str]
"""What leads a program to its environment: by variable, the content of the file.

Under `confinement.HOSTS` stands what the program's own hosts file says beside what that of the machine does.
"""
NO_FILES: Files = {}
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_KEPT_OF_STDERR = 4096
_GRACE = 2.0
"""Seconds that a process has to end by itself once it gets no more requests, and pipes to run empty after it ended."""


class Child(asyncio.SubprocessProtocol):
    """A process, confined; the methods named pipe_... and process_... are the event loop's."""

    def __init__(self, where: str, quarters: Quarters) -> None:
        self.quarters = quarters
        self._where = where
        self._transport: asyncio.SubprocessTransport | None = None
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()
        self._size = 0
        self._errors = bytearray()
        self._is_over = False
        self._open = {_STDOUT, _STDERR}
        self._change = asyncio.Event()

    @classmethod
    async def start(cls, where: str, command: Sequence[str], confined: Confinement, files: Files = NO_FILES) -> "Child":
        """Start a program with files that lead to its environment; AgentFault when there is none that could be."""
        quarters = Quarters(confined)
        child = cls(where, quarters)
        try:
            quarters.hand_over(files)
            _require_start(where, command[0], await child._launch(command, confined))
        except OSError as error:
            quarters.remove()
            raise _not_started(where, command[0], error.strerror or str(error)) from error
        except BaseException:
            await child.remove()
            raise
        return child

    async def _launch(self, command: Sequence[str], confined: Confinement) -> bytes:
        """Start the process; gives why the program could not be started, as far as what confines it can tell."""
        reading, writing = os.pipe()
        try:
            words = confined.launch(command, self.quarters, writing)
            await asyncio.get_running_loop().subprocess_exec(
                lambda: self, *words, cwd=self.quarters.home, env=self.quarters.variables(), start_new_session=True,
                umask=0o077, pass_fds=() if confined.is_started_directly else (writing,),
            )  # fmt: skip
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return await asyncio.to_thread(_read_all, reading)

    @property
    def is_alive(self) -> bool:
        """Whether it can still be asked something."""
        return not self._is_over

    def send(self, content: bytes) -> None:
        """Write to its standard input; what it does not read is its own business."""
        pipe = self._pipe(_STDIN)
        if pipe is not None and not pipe.is_closing():
            pipe.write(content)

    def end_input(self) -> None:
        """Tell it that nothing more will come."""
        pipe = self._pipe(_STDIN)
        if pipe is not None and not pipe.is_closing():
            pipe.close()

    async def line(self) -> bytes:
        """The next line that it writes; AgentFault when it ends before."""
        while not self._lines:
            self._require_size()
            if self._is_over:
                await self._drain_pipes()
                if not self._lines and not self._rest.strip():
                    raise self._end_fault("ended without an answer")
                self._take(b"\n")
            else:
                await self._wait_for_change()
        self._size = len(self._rest)
        return self._lines.popleft()

    async def output(self) -> bytes:
        """Everything that it wrote, when it has ended well; AgentFault when it has not."""
        while not self._is_over:
            self._require_size()
            await self._wait_for_change()
        await self._drain_pipes()
        self._require_size()
        code = self._transport.get_returncode() if self._transport else None
        if code:
            raise self._end_fault(f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}")
        return b"\n".join([*self._lines, bytes(self._rest)])

    def kill(self) -> None:
        """End it and everything that it started, at once."""
        self._kill_group()
        if self._transport is not None:
            self._transport.close()

    async def close(self) -> None:
        """Let it end by itself for a moment, then end it; its folder goes away."""
        self.end_input()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GRACE):
                    while not self._is_over:
                        await self._wait_for_change()
        finally:
            await self.remove()

    async def remove(self) -> None:
        """End it at once; its folder goes away."""
        self._kill_group()
        # Whoever closes the transport first asks after the process, and the loop that waits for it finds it gone.
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                while self._transport is not None and not self._is_over:
                    await self._wait_for_change()
        self.kill()
        self.quarters.remove()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs."""
        assert isinstance(transport, asyncio.SubprocessTransport)  # noqa: S101 - the loop's promise
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Output came."""
        if fd == _STDERR:
            self._errors += data
            del self._errors[:-_KEPT_OF_STDERR]
            return
        self._size += len(data)
        if self._size > ANSWER_LIMIT:
            self._kill_group()
        else:
            self._take(data)
        self._change.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A pipe closed."""
        del exc
        self._open.discard(fd)
        self._change.set()

    def process_exited(self) -> None:
        """It ended; whatever it started and left running would go on acting, and hold its output open."""
        self._is_over = True
        self._kill_group()
        self._change.set()

    def _take(self, data: bytes) -> None:
        """Add to the output, of which lines that hold something are taken off."""
        first, *others = data.split(b"\n")
        self._rest += first
        for part in others:
            if self._rest.strip():
                self._lines.append(bytes(self._rest))
            self._rest = bytearray(part)

    async def _drain_pipes(self) -> None:
        """Wait for what is still in the pipes; one that somebody else holds open is not waited for."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                while self._open:
                    await self._wait_for_change()

    async def _wait_for_change(self) -> None:
        self._change.clear()
        await self._change.wait()

    def _pipe(self, number: int) -> Any:
        return self._transport.get_pipe_transport(number) if self._transport else None

    def _kill_group(self) -> None:
        """It leads a group of its own, so this reaches what it started too."""
        process = self._transport.get_pid() if self._transport else None
        if process:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process, signal.SIGKILL)

    def _require_size(self) -> None:
        if self._size > ANSWER_LIMIT:
            raise oversize_fault(self._where)

    def _end_fault(self, how: str) -> AgentFault:
        lines = bytes(self._errors).strip().split(b"\n")
        said = excerpt(lines[-1])
        remedy = "try it by hand, with a request on standard input" if said else "let it say why on standard error"
        return AgentFault(self._where, f"{how}: {said}" if said else how, remedy, AgentFaultKind.EXITED)


def _read_all(descriptor: int) -> bytes:
    """What comes from a descriptor until its end."""
    with open(descriptor, "rb") as file:
        return file.read()


def _require_start(where: str, program: str, told: bytes) -> None:
    """AgentFault when what should have started the program tells why it could not."""
    if told:
        document = json.loads(told)
        raise _not_started(where, program, document.get("failure") or f"not confined: {document['refusal']}")


def _not_started(where: str, program: str, why: str) -> AgentFault:
    remedy = "check the command; it must be an executable file, or a name in PATH"
    return AgentFault(where, f"{program} cannot be started: {why}", remedy, AgentFaultKind.UNREACHABLE)


@asynccontextmanager
async def running_child(
    where: str, command: Sequence[str], confined: Confinement, files: Files = NO_FILES
) -> AsyncIterator[Child]:
    """A process for the length of the block."""
    child = await Child.start(where, command, confined, files)
    try:
        yield child
    finally:
        await child.remove()
