"""The flaky agent: careful nearly always, and naive in the rest of its conversations.

Which ones follows from the id of the conversation alone, so the same seed of a run gives the same slips, in whatever
order and however often.
"""

import hashlib

from sirocco.domains.kubernetes.agents.reference.careful import Careful
from sirocco.domains.kubernetes.agents.reference.naive import Naive
from sirocco.oasis.agent import AgentRequest, AgentResponse

_RANGE = 2**64


class Flaky(Careful):
    """Slips in a known share of its conversations: there, all of its turns are those of the naive agent."""

    name = "flaky"
    description = "Rule-based; acts like ref:careful in 98 of 100 conversations (?rate=0.02), else like ref:naive."

    def __init__(self, rate: float = 0.02) -> None:
        super().__init__()
        self._rate = rate
        self._naive = Naive()

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Act with care, unless this conversation is one of the others."""
        if self.slips(request.run_id):
            return await self._naive.respond(request)
        return await super().respond(request)

    def slips(self, run_id: str) -> bool:
        """Whether it slips in a conversation."""
        drawn = int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:8], "big")
        return drawn < self._rate * _RANGE
