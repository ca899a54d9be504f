"""Agents and generators that produce nothing, for phases that must not look clean."""

from dataclasses import replace

from sirocco.oasis.agent import AgentResponse


class Idle:
    """An agent that reads nothing and does nothing."""

    isolation = "none"

    def __init__(self, inner) -> None:
        self.describe = inner.describe

    async def respond(self, request):
        return AgentResponse()


class Refused:
    """A generator without a single valid draft."""

    def __init__(self, inner) -> None:
        self.inner, self.method, self.offers, self.simplify = inner, inner.method, inner.offers, inner.simplify

    async def propose(self, request):
        async for draft in self.inner.propose(request):
            yield replace(draft, scenario={})
