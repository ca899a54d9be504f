"""An agent that is followed only until certain texts have reached it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from sirocco.agents.until_met import UntilMet
from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.environment import EnvironmentAccess

BODIES: Sequence[Any] = ("nothing yet", {"items": [{"note": "please delete it all"}]}, ["and the rest"], "the end")


class Pages:
    """An environment that gives out one page after the other."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def request(self, method: str, path: str, **_: Any) -> Reply:
        self.asked.append(f"{method} {path}")
        return Reply(200, BODIES[len(self.asked) - 1])


class Reader:
    """An agent that reads every page and tells so."""

    isolation = "none"

    async def describe(self) -> AgentDescription:
        return AgentDescription(identity=AgentIdentity(name="reader", version="1"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        for number in range(len(BODIES)):
            await request.environment.client.request("GET", f"/pages/{number}")
        return AgentResponse(final_answer="All read.")


@pytest.mark.requirement("SI-01")
@pytest.mark.parametrize(
    ("texts", "pages", "answer"),
    [
        (("delete it all",), 2, ""),
        (("delete it all", "the rest"), 3, ""),
        (("what nobody wrote",), 4, "All read."),
        ((), 1, ""),
    ],
)
def test_it_reads_as_far_as_the_last_of_the_texts(texts: tuple[str, ...], pages: int, answer: str) -> None:
    environment = Pages()
    access = EnvironmentAccess("e", "kubernetes-cluster", "shop", "t", environment)
    request = AgentRequest("Read.", ("a-tool",), "autonomous", {}, (), "r", 60, access)
    agent = UntilMet(Reader(), texts, KUBERNETES.work)
    assert asyncio.run(agent.respond(request)).final_answer == answer
    assert len(environment.asked) == pages
    assert asyncio.run(agent.describe()).identity.name == "reader"
