"""Long-lived processes that handle one request at a time: each request is a line, and so is its answer."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from sirocco.agents.child import NO_FILES, Child, Files
from sirocco.agents.confinement import Confinement
from sirocco.agents.contract import document_of
from sirocco.errors import AgentFault, AgentFaultKind


class Workers:
    """As many processes of one program as there are concurrent requests; one that faults is not reused."""

    def __init__(
        self,
        where: str,
        command: Sequence[str],
        confined: Confinement,
        files: Callable[[], Files] = lambda: NO_FILES,
    ) -> None:
        self._where = where
        self._command = command
        self._confined = confined
        self._files = files
        self._idle: list[Child] = []

    async def ask(self, document: Any, seconds: float, files: Files = NO_FILES) -> Any:
        """The answer of a process to a document, within this many seconds; nothing is ever asked twice."""
        child = await self._take_child()
        try:
            child.quarters.hand_over(files)
            async with asyncio.timeout(seconds):
                child.send(json.dumps(document).encode() + b"\n")
                answer = document_of(await child.line(), self._where)
        except TimeoutError as error:
            await child.remove()
            raise timed_out(self._where, seconds) from error
        except BaseException:
            await child.remove()
            raise
        self._idle.append(child)
        return answer

    async def close(self) -> None:
        """End all processes."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(child.close() for child in idle))

    async def _take_child(self) -> Child:
        while self._idle:
            child = self._idle.pop()
            if child.is_alive:
                return child
            await child.remove()
        return await Child.start(self._where, self._command, self._confined, self._files())


def timed_out(where: str, seconds: float) -> AgentFault:
    """The fault of an agent that did not answer in time."""
    remedy = "raise --timeout, or make the agent answer sooner"
    return AgentFault(where, f"no answer within {seconds:g} s", remedy, AgentFaultKind.TIMEOUT)
