"""Agents that are commands: a request as JSON on standard input, the answer as JSON on standard output.

With `cmd:`, each turn has its own process, which reads its input to the end and exits with 0. With `cmd+lines:`, the
process stays and reads and writes one line per turn. In both, the variables of the domain lead to the environment of
the turn.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from sirocco.agents.child import NO_FILES, Files, running_child
from sirocco.agents.confinement import HOSTS, ConfinedAgent, Confinement
from sirocco.agents.contract import description_of, document_of, identity_of, response_of
from sirocco.agents.program import Program
from sirocco.agents.workers import Workers, timed_out
from sirocco.errors import AgentFault, AgentFaultKind
from sirocco.oasis.agent import AgentDescription, AgentRequest, AgentResponse

IDENTITY: Mapping[str, Any] = {"request": "identity-and-configuration"}
"""The question before the first turn; an agent that cannot answer it is named after its command."""
_DESCRIBING_SECONDS = 40
"""Importing a framework can take half a minute on a busy machine."""
_UNKNOWN = frozenset(
    {AgentFaultKind.EXITED, AgentFaultKind.WRONG_TYPE, AgentFaultKind.MALFORMED, AgentFaultKind.TIMEOUT}
)
"""How agents react to a question that they do not know."""


class CommandAgent(ConfinedAgent):
    """`cmd:PROGRAM ARGS`."""

    def __init__(self, program: Program, confined: Confinement) -> None:
        self._program = program
        self._confined = confined
        self._where = f"cmd:{program.given}"

    async def describe(self) -> AgentDescription:
        """The agent's own description, or else its command's name and a digest of its files."""
        return await describe_program(self._program, self._where, self._ask_process(IDENTITY, _DESCRIBING_SECONDS))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Start it, pass it the request, and return its answer."""
        request = readdressed_request(request, self._confined)
        asked = self._ask_process(request.document(), request.deadline_seconds, files_of(request))
        return response_of(await asked, self._where)

    async def _ask_process(self, document: Mapping[str, Any], seconds: float, files: Files = NO_FILES) -> Any:
        async with running_child(self._where, self._program.words, self._confined, files) as child:
            try:
                async with asyncio.timeout(seconds):
                    child.send(json.dumps(document).encode() + b"\n")
                    child.end_input()
                    return document_of(await child.output(), self._where)
            except TimeoutError as error:
                raise timed_out(self._where, seconds) from error


class LinesAgent(ConfinedAgent):
    """`cmd+lines:PROGRAM ARGS`."""

    def __init__(self, program: Program, confined: Confinement, files: Callable[[], Files] = lambda: NO_FILES) -> None:
        self._program = program
        self._confined = confined
        self._where = f"cmd+lines:{program.given}"
        self._workers = Workers(self._where, program.words, confined, files)

    async def describe(self) -> AgentDescription:
        """The agent's own description, or else its command's name and a digest of its files."""
        return await describe_program(self._program, self._where, self._workers.ask(IDENTITY, _DESCRIBING_SECONDS))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Pass the request to an idle process."""
        request = readdressed_request(request, self._confined)
        answer = await self._workers.ask(request.document(), request.deadline_seconds, files_of(request))
        return response_of(answer, self._where)

    async def close(self) -> None:
        """End the agent's processes."""
        await self._workers.close()


async def describe_program(program: Program, where: str, asked: Awaitable[Any]) -> AgentDescription:
    """The description in an answer, or one derived from the command if the agent does not know the question."""
    try:
        return description_of(await asked, where)
    except AgentFault as fault:
        if fault.kind not in _UNKNOWN:
            raise
    return AgentDescription(identity=identity_of(program.name, program.version()))


def files_of(request: AgentRequest) -> Files:
    """The files that lead to the environment of a request; none if it is not served."""
    served = request.environment.served
    files = {**served.files, HOSTS: served.hosts} if served else NO_FILES
    return {variable: content for variable, content in files.items() if content}


def readdressed_request(request: AgentRequest, confined: Confinement) -> AgentRequest:
    """The request with its server under a drawn name, if the program has its own hosts file to resolve it (SI-02)."""
    return replace(request, environment=request.environment.named()) if confined.has_hosts else request
