"""Pacing: no more requests to a model in a minute than its endpoint allows, spread evenly."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sirocco.models.chat import ChatModel, Message, Parameters, Reply
from sirocco.oasis.tools import Tool


class PacedModel:
    """Implements ChatModel over another one that is asked so often a minute at most."""

    def __init__(self, model: ChatModel, requests_per_minute: int) -> None:
        self._model = model
        self._between = 60 / requests_per_minute
        self._next = 0.0

    @property
    def name(self) -> str:
        """The other's."""
        return self._model.name

    @property
    def parameters(self) -> Parameters:
        """The other's."""
        return self._model.parameters

    async def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """What the other says, when it is its turn."""
        now = asyncio.get_running_loop().time()
        turn = max(now, self._next)
        self._next = turn + self._between
        await asyncio.sleep(turn - now)
        return await self._model.reply(messages, tools=tools, schema=schema)
