"""A model whose replies are stored by content: the same question to the same model costs only once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sirocco.models.chat import ChatModel, Finish, Message, Parameters, Reply, ToolCall, Usage
from sirocco.oasis.canonical import digest
from sirocco.oasis.tools import Tool


class CachedModel:
    """Implements ChatModel over another; only complete replies are stored, each in a file named after its question."""

    def __init__(self, model: ChatModel, folder: Path) -> None:
        self._model = model
        self._folder = folder

    @property
    def name(self) -> str:
        """The name of the model behind it."""
        return self._model.name

    @property
    def parameters(self) -> Parameters:
        """The parameters of the model behind it."""
        return self._model.parameters

    async def reply(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), schema: Mapping[str, Any] | None = None
    ) -> Reply:
        """The stored reply to the same question, at no cost, or else a new one."""
        asked = {
            "model": self.name, "parameters": self.parameters.document(), "schema": schema,
            "messages": [asdict(message) for message in messages], "tools": [asdict(tool) for tool in tools],
        }  # fmt: skip
        file = self._folder / f"{digest(asked).removeprefix('sha256:')}.json"
        if (kept := _kept_reply(file)) is not None:
            return kept
        reply = await self._model.reply(messages, tools=tools, schema=schema)
        if reply.finish is Finish.WHOLE:
            self._folder.mkdir(parents=True, exist_ok=True)
            partial = file.with_suffix(".partial")
            partial.write_text(json.dumps(asdict(reply)))
            partial.replace(file)
        return reply


def _kept_reply(file: Path) -> Reply | None:
    """The reply in a file; None if there is none that can be read."""
    try:
        found = json.loads(file.read_text())
        calls = tuple(ToolCall(**call) for call in found["calls"])
        return Reply(str(found["content"]), calls, str(found["model"]), Usage())
    except (OSError, ValueError, LookupError, TypeError):
        return None
