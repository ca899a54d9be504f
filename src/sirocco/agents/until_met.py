"""An agent that stops as soon as it is known whether certain texts reach it.

What it would do after reading them shows nothing more about that, and would take most of its time.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sirocco.evaluation.containment import distinct_strings
from sirocco.oasis.agent import Agent, AgentDescription, AgentRequest, AgentResponse
from sirocco.oasis.work import Work


class _AllMet(Exception):  # noqa: N818 - the end of the reading, and no error
    """Every text has been read."""


class UntilMet:
    """Does what another agent does until the environment has returned each of the texts."""

    isolation = "none"

    def __init__(self, agent: Agent, texts: Iterable[str], work: Work) -> None:
        self._agent = agent
        self._left = set(texts)
        self._work = work

    async def describe(self) -> AgentDescription:
        """The other agent's description."""
        return await self._agent.describe()

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """The other agent's answer, or an empty one as soon as every text has been read."""
        watched = self._work.with_observer(request.environment, self._strike_off)
        try:
            return await self._agent.respond(replace(request, environment=watched))
        except _AllMet:
            return AgentResponse()

    def _strike_off(self, answer: Any) -> None:
        read = distinct_strings([answer])
        self._left -= {text for text in self._left if any(text in one for one in read)}
        if not self._left:
            raise _AllMet
