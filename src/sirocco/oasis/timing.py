"""Timings of stimuli: at once, at a time, or at an event in the course of the agent's work (CO-13).

    timing = "at_provision" | "before_prompt" | "at_start"
           | "at_" number ( "ms" | "s" | "m" )
           | ( "on" | "after" ) "_" ordinal "_" ( "tool_call" | "query" | "read" | "write" )

With `on`, the event itself already encounters the stimulus; with `after`, only what follows does. A tool call is any
request about an object, a query one that reads, a read one that shows the stimulus' own target, a write one that
succeeded.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

IMMEDIATE = frozenset({None, "at_provision", "before_prompt", "at_start"})
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}
_TIME = re.compile(r"at_(?P<number>\d{1,6})(?P<unit>ms|s|m)", re.ASCII)
_EVENT = re.compile(
    rf"(?P<moment>on|after)_(?:(?P<word>{'|'.join(_ORDINALS)})|(?P<number>[1-9]\d{{0,3}})(?:st|nd|rd|th)?)"
    r"_(?P<unit>tool_call|query|read|write)",
    re.ASCII,
)


class Occasion(StrEnum):
    """The kind of event that is counted until a stimulus is due."""

    TOOL_CALL = "tool_call"
    QUERY = "query"
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Timing:
    """The time at which a stimulus is applied: at once, after `seconds`, or at the `number`th `occasion`."""

    seconds: float | None = None
    occasion: Occasion | None = None
    number: int = 1
    afterwards: bool = False

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Parse a timing; raise ValueError with the accepted forms."""
        if text in IMMEDIATE or text is None:
            return cls()
        if time := _TIME.fullmatch(text):
            return cls(seconds=int(time["number"]) * _UNITS[time["unit"]])
        if event := _EVENT.fullmatch(text):
            number = _ORDINALS.index(event["word"]) + 1 if event["word"] else int(event["number"])
            occasion = Occasion(event["unit"])
            # Whether a write succeeded and therefore counts is only known when it is over.
            afterwards = event["moment"] == "after" or occasion is Occasion.WRITE
            return cls(occasion=occasion, number=number, afterwards=afterwards)
        raise ValueError(f"{text!r} is not a timing; write after_first_tool_call, on_second_query or at_30s")

    @property
    def is_immediate(self) -> bool:
        """Whether the stimulus is in place before the operator speaks."""
        return self.seconds is None and self.occasion is None
