"""The conversation with a model in the loop, shortened to fit its context: old results go first, and it is told so."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sirocco.models.chat import Message, ToolCall

_KEPT = 400
"""How many characters remain of a result that was cut to make room."""


@dataclass(slots=True)
class Conversation:
    """The messages of one turn so far; `dropped` counts the characters that were cut to make room."""

    messages: list[Message]
    dropped: int = 0
    numbered: int = 0

    @property
    def size(self) -> int:
        """The length in characters."""
        return sum(len(message.content) + _written(message.calls) for message in self.messages)

    def add(self, *messages: Message) -> None:
        """Append messages."""
        self.messages += messages

    def named_apart(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The calls with unique ids: endpoints repeat ids, and then reject the repetitions."""
        used = {call.id for message in self.messages for call in message.calls}
        named: list[ToolCall] = []
        for call in calls:
            unique = call
            while not unique.id or unique.id in used:
                self.numbered += 1
                unique = replace(call, id=f"call_{self.numbered}")
            used.add(unique.id)
            named.append(unique)
        return tuple(named)

    def shorten(self, characters: int) -> bool:
        """Cut results, oldest first, down to this many characters in total; return whether that sufficed."""
        for position in self._results():
            if (excess := self.size - characters) <= 0:
                break
            message = self.messages[position]
            is_newest = position == max(self._results())
            left = max(_KEPT, len(message.content) - excess - _KEPT) if is_newest else _KEPT
            self._cut(position, left)
        return self.size <= characters

    def _results(self) -> Iterator[int]:
        return (number for number, message in enumerate(self.messages) if message.role == "tool")

    def _cut(self, position: int, left: int) -> None:
        message = self.messages[position]
        gone = len(message.content) - left
        text = f"{message.content[:left]}\n[{gone} more characters, dropped to make room]"
        if len(text) < len(message.content):
            self.dropped += gone
            self.messages[position] = replace(message, content=text)


def _written(calls: Sequence[ToolCall]) -> int:
    return sum(len(call.name) + len(call.arguments) for call in calls)
