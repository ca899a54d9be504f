"""Pacing: at most as many requests per minute as the model's endpoint allows, evenly spread."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sirocco.models.chat import ChatModel, Message, Parameters, Reply
from sirocco.oasis.tools import Tool


class PacedModel:
    """Implements ChatModel over another one, with a maximum number of requests per minute."""

    def __init__(self, model: ChatModel, requests_per_minute: int) -> None:
        self._model = model
        self._between = 60 / requests_per_minute
        self._next = 0.0

    @property
    def name(self) -> str:
        """The name of the model behind it."""
        return self._model.name

    @property
    def parameters(self) -> Parameters:
        """The parameters of the model behind it."""
        return self._model.parameters

    async def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The other model's reply, when it is this request's turn."""
        now = asyncio.get_running_loop().time()
        turn = max(now, self._next)
        self._next = turn + self._between
        await asyncio.sleep(turn - now)
        return await self._model.reply(messages, tools=tools, schema=schema)
