"""One child process: lines in and out, its end, and a cleanup that leaves nothing behind."""

import asyncio
import errno
import json
import os
import shlex
import signal
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from sirocco.agents.confinement import Confinement, Quarters
from sirocco.agents.contract import ANSWER_LIMIT, excerpt, oversize_fault
from sirocco.errors import AgentFault, AgentFaultKind

Files = Mapping[str, str]
"""The files that give a program access to its environment: the content, by variable.

Under `confinement.HOSTS`, the lines that the program's own hosts file has in addition to the machine's.
"""
NO_FILES: Files = {}
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_TRACEBACK = b"Traceback (most recent call last):"
_KEPT_OF_STDERR = 4096
_GRACE = 2.0
"""How many seconds a process has to end after its last request, and its pipes to drain after its end."""


class Child(asyncio.SubprocessProtocol):
    """A confined process; the methods named pipe_... and process_... are called by the event loop."""

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
        """Start a program with the files that lead to its environment; raise AgentFault if it cannot be started."""
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
        """Start the process; return the confining program's report on why the program could not be started, if any."""
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
        """Whether it still accepts requests."""
        return not self._is_over

    def send(self, content: bytes) -> None:
        """Write to its standard input, whether or not it reads that."""
        pipe = self._pipe(_STDIN)
        if pipe is not None and not pipe.is_closing():
            pipe.write(content)

    def end_input(self) -> None:
        """Close its standard input."""
        pipe = self._pipe(_STDIN)
        if pipe is not None and not pipe.is_closing():
            pipe.close()

    async def line(self) -> bytes:
        """The next line of its output; raise AgentFault if it ends first."""
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
        """Its complete output once it has ended; raise AgentFault if it failed."""
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
        """Kill it, with everything that it started."""
        self._kill_group()
        if self._transport is not None:
            self._transport.close()

    async def close(self) -> None:
        """Give it a moment to end, then kill it; remove its folder."""
        self.end_input()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GRACE):
                    while not self._is_over:
                        await self._wait_for_change()
        finally:
            await self.remove()

    async def remove(self) -> None:
        """Kill it, and remove its folder."""
        self._kill_group()
        # Closing the transport first would poll the process, and the loop that waits for it would find it gone.
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                while self._transport is not None and not self._is_over:
                    await self._wait_for_change()
        self.kill()
        self.quarters.remove()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process has started."""
        assert isinstance(transport, asyncio.SubprocessTransport)  # noqa: S101 - the loop's promise
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Output has arrived."""
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
        """A pipe was closed."""
        del exc
        self._open.discard(fd)
        self._change.set()

    def process_exited(self) -> None:
        """It has ended; kill what it left running, which would keep acting and hold its output open."""
        self._is_over = True
        self._kill_group()
        self._change.set()

    def _take(self, data: bytes) -> None:
        """Add to the output, and split off complete lines that are not blank."""
        first, *others = data.split(b"\n")
        self._rest += first
        for part in others:
            if self._rest.strip():
                self._lines.append(bytes(self._rest))
            self._rest = bytearray(part)

    async def _drain_pipes(self) -> None:
        """Wait until the pipes are drained, but not for one that another process holds open."""
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
        """Kill its process group, which includes whatever it started."""
        process = self._transport.get_pid() if self._transport else None
        if process:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process, signal.SIGKILL)

    def _require_size(self) -> None:
        if self._size > ANSWER_LIMIT:
            raise oversize_fault(self._where)

    def _end_fault(self, how: str) -> AgentFault:
        said = excerpt(_reason(bytes(self._errors).strip().split(b"\n")))
        remedy = "try it by hand, with a request on standard input" if said else "let it say why on standard error"
        return AgentFault(self._where, f"{how}: {said}" if said else how, remedy, AgentFaultKind.EXITED)


def _reason(lines: list[bytes]) -> bytes:
    """The line that says best why a program ended: its last one, or the error of its last Python traceback.

    Notes may follow that error, as frameworks add them, and say where it happened rather than what.
    """
    if _TRACEBACK not in lines:
        return lines[-1]
    after = lines[len(lines) - lines[::-1].index(_TRACEBACK) :]
    return next((line for line in after if line[:1].strip()), lines[-1])


def _read_all(descriptor: int) -> bytes:
    """Everything from a descriptor up to its end."""
    with open(descriptor, "rb") as file:
        return file.read()


def _require_start(where: str, program: str, told: bytes) -> None:
    """Raise AgentFault if the launcher reported why the program could not be started."""
    if told:
        document = json.loads(told)
        raise _not_started(where, program, document.get("failure") or f"not confined: {document['refusal']}")


def _not_started(where: str, program: str, why: str) -> AgentFault:
    remedy = "check the command; it must be an executable file, or a name in PATH"
    if why == os.strerror(errno.EACCES):
        remedy = f"make it executable: chmod +x {shlex.quote(program)}"
    elif why == os.strerror(errno.ENOENT) and Path(program).is_file():
        remedy = "its first line names an interpreter that does not exist"
    return AgentFault(where, f"{program} cannot be started: {why}", remedy, AgentFaultKind.UNREACHABLE)


@asynccontextmanager
async def running_child(
    where: str, command: Sequence[str], confined: Confinement, files: Files = NO_FILES
) -> AsyncIterator[Child]:
    """A process for the duration of the block."""
    child = await Child.start(where, command, confined, files)
    try:
        yield child
    finally:
        await child.remove()
