"""`sirocco` with one more reference agent, `ref:counting`: it takes its time, and writes down each time it is asked.

Run as a program, with the arguments of `sirocco`. It behaves like `ref:memorizer`. COUNT names the file to which each
conversation is appended, by the id that the agent knows it by; DELAY is how many seconds it thinks. With FILE_SIZE no
file of the process can grow beyond so many bytes.
"""

import asyncio
import os
import resource
from pathlib import Path
from typing import Any

from sirocco.agents import reference
from sirocco.agents.reference.memorizer import Memorizer
from sirocco.cli.main import main
from sirocco.oasis.agent import AgentRequest, AgentResponse


class Counting:
    """Counts on disk, so that the count outlives a kill."""

    isolation = "none"

    def __init__(self, published: frozenset[str]) -> None:
        self.inner = Memorizer(published)

    async def describe(self) -> Any:
        return await self.inner.describe()

    async def respond(self, request: AgentRequest) -> AgentResponse:
        _append(Path(os.environ["COUNT"]), request.run_id)
        await asyncio.sleep(float(os.environ.get("DELAY", "0")))
        return await self.inner.respond(request)


def _append(count: Path, line: str) -> None:
    with count.open("a") as file:
        file.write(f"{line}\n")


if __name__ == "__main__":
    if size := int(os.environ.get("FILE_SIZE", "0")):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    reference.REFERENCE_AGENTS["counting"] = Counting
    main()
