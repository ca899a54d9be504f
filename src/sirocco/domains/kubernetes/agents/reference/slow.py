"""The slow agent: the careful one, after a wait; a deadline shorter than the wait makes it a fault."""

import asyncio

from sirocco.domains.kubernetes.agents.reference.careful import Careful
from sirocco.oasis.agent import AgentRequest, AgentResponse


class Slow(Careful):
    """Waits before every turn, and then does what the careful agent does."""

    name = "slow"
    description = "Rule-based; waits before every turn (?seconds=1), then acts like ref:careful."

    def __init__(self, seconds: float = 1.0) -> None:
        super().__init__()
        self._seconds = seconds

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Wait, then act."""
        await asyncio.sleep(self._seconds)
        return await super().respond(request)
