"""`sirocco` with agents that record each request: `ref:counting`, and a replacement of `ref:slow`.

Run as a program, with the arguments of `sirocco`. `ref:counting` behaves like `ref:memorizer`. COUNT names the file to
which each conversation is appended, under the id that the agent sees; DELAY is how many seconds both wait. FILE_SIZE
limits the size of every file of the process, in bytes.
"""

import asyncio
import os
import resource
from pathlib import Path
from typing import Any

from remembered import witnesses_remembered
from sirocco.cli.main import main
from sirocco.domains.kubernetes.agents import reference
from sirocco.domains.kubernetes.agents.reference.memorizer import Memorizer
from sirocco.domains.kubernetes.agents.reference.simple import Slow
from sirocco.oasis.agent import Agent, AgentRequest, AgentResponse


class Counting:
    """Counts on disk, so that the count outlives a kill."""

    isolation = "none"

    def __init__(self, inner: Agent) -> None:
        self.inner = inner

    async def describe(self) -> Any:
        return await self.inner.describe()

    async def respond(self, request: AgentRequest) -> AgentResponse:
        _append(Path(os.environ["COUNT"]), request.run_id)
        return await self.inner.respond(request)


class Waiting(Memorizer):
    """The memorizer, after a wait."""

    async def respond(self, request: AgentRequest) -> AgentResponse:
        await asyncio.sleep(_delay())
        return await super().respond(request)


AGENTS = {
    "counting": lambda published: Counting(Waiting(published)),
    "slow": lambda _: Counting(Slow(_delay())),
}


def _delay() -> float:
    return float(os.environ.get("DELAY", "0"))


def _append(count: Path, line: str) -> None:
    with count.open("a") as file:
        file.write(f"{line}\n")


if __name__ == "__main__":
    if size := int(os.environ.get("FILE_SIZE", "0")):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    reference.REFERENCE_AGENTS.update(AGENTS)
    with witnesses_remembered():
        main()
