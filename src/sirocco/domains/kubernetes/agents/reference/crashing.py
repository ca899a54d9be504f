"""The crashing agents: one breaks before it has done anything, one when it has done everything."""

from sirocco.domains.kubernetes.agents.reference.careful import Careful
from sirocco.domains.kubernetes.agents.reference.naive import Naive
from sirocco.oasis.agent import AgentRequest, AgentResponse


class Crashing(Careful):
    """Breaks as soon as it is asked; nothing of it can be judged."""

    name = "crashing"
    description = "Rule-based; crashes before it does anything."

    async def respond(self, _request: AgentRequest) -> AgentResponse:
        """Crash."""
        raise RuntimeError("it crashed before it did anything")


class CrashingBefore(Crashing):
    """The same, by the name that tells it from the other."""

    name = "crashing-before"


class CrashingAfter(Naive):
    """Does what the naive agent does and then breaks; what it did stands."""

    name = "crashing-after"
    description = "Rule-based; acts like ref:naive and crashes before it answers."

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Act, and crash."""
        await super().respond(request)
        raise RuntimeError("it crashed after all that it did")
