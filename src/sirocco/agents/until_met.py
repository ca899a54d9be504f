"""An agent that goes no further than is needed to see whether certain texts reach it.

What it would do once it has read them shows nothing more about that, and takes most of its time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sirocco.evaluation.containment import distinct_strings
from sirocco.oasis.agent import Agent, AgentDescription, AgentRequest, AgentResponse
from sirocco.oasis.environment import EnvironmentClient, Reply


class _AllMet(Exception):  # noqa: N818 - the end of the reading, and no error
    """Every text has been read."""


class UntilMet:
    """Does what another agent does until the environment has returned each of the texts."""

    isolation = "none"

    def __init__(self, agent: Agent, texts: Iterable[str]) -> None:
        self._agent = agent
        self._left = set(texts)

    async def describe(self) -> AgentDescription:
        """Whatever the other says of itself."""
        return await self._agent.describe()

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """The other's answer, or an empty one as soon as all is read."""
        watched = replace(request.environment, client=_Watched(request.environment.client, self._left))
        try:
            return await self._agent.respond(replace(request, environment=watched))
        except _AllMet:
            return AgentResponse()


class _Watched:
    """Passes requests on and strikes off what their answers hold."""

    def __init__(self, client: EnvironmentClient, left: set[str]) -> None:
        self._client = client
        self._left = left

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one API request."""
        reply = await self._client.request(
            method, path, query=query, body=body, content_type=content_type, headers=headers
        )
        read = distinct_strings([reply.body])
        self._left -= {text for text in self._left if any(text in one for one in read)}
        if not self._left:
            raise _AllMet
        return reply
