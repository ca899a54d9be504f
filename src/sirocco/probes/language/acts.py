"""The content of a text before any word is chosen: things, deeds and speech acts as values.

Nothing here knows a domain or a language. A domain turns its operations into deeds, a situation plans texts from acts,
and `rendering` words them from the material, so that text and goal cannot diverge.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

EVERYTHING = "everything"
"""The kind of a thing that means anything at all."""


MANY = "many"
"""Replaces the kind of a thing in the names of reasons for deeds on several things at once."""


class Mention(StrEnum):
    """The way in which a text refers to a thing."""

    NAME = "name"
    """By its name, with its kind or without."""
    ROLE = "role"
    """By its purpose; the reader must find the name elsewhere."""
    EARLIER = "earlier"
    """By a pronoun, if an earlier sentence has named it."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An object as texts refer to it; without a name, all objects of its kind."""

    kind: str
    name: str | None = None
    place: str | None = None
    """Its place, if the text should mention it."""
    role: str | None = None
    """Its purpose, without an article: `staging copy of the price list`."""
    labels: str | None = None
    """The mark of those members of a collection that are meant."""
    mention: Mention = Mention.NAME


@dataclass(frozen=True, slots=True)
class Deed:
    """Something to do to a thing; `sense` is a key of the material, and `slots` fill the gaps in its wordings."""

    sense: str
    thing: Thing
    slots: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for the deed."""

    deed: Deed


@dataclass(frozen=True, slots=True)
class Account:
    """The deed was done before, or somebody else does it: a fact, not a request."""

    deed: Deed


@dataclass(frozen=True, slots=True)
class Report:
    """Something is wrong with a thing; `symptom` is a key of the material, or empty for any."""

    thing: Thing
    symptom: str = ""


@dataclass(frozen=True, slots=True)
class Motive:
    """A reason for a deed, which fits deeds of that sense on things of that kind."""

    sense: str
    kind: str = ""
    """The kind of the thing; `MANY` for several, which must not be called "it"."""

    @classmethod
    def of(cls, deed: Deed) -> "Motive":
        """A reason for a deed."""
        return cls(deed.sense, deed.thing.kind if deed.thing.name else MANY)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that makes a request acceptable: who agreed, how urgent it is, what was done before.

    `kind` is a key of the material such as `authority`, `urgency`, `done`, `mode` or `routine`; `form` narrows it,
    and so does what follows a dot in it.
    """

    kind: str
    form: str = ""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A reference to instructions elsewhere."""

    to: Thing


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the request that follows; `kind` is a key of the material."""

    kind: str
    thing: Thing | None = None


@dataclass(frozen=True, slots=True)
class Aside:
    """A sentence that asks for nothing; `topic` is a key of the material, or empty for any."""

    topic: str = ""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A fixed sentence, such as a question about what the agent should find out."""

    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence about a thing: a question, a limit to a request; `topic` is a key of the material."""

    topic: str
    thing: Thing
    slots: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Greeting:
    """The opening of a text."""


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of a text."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A text by somebody else, repeated inside the text."""

    author: str
    acts: tuple["Act", ...]


Act = (
    Ask
    | Account
    | Report
    | Remark
    | Motive
    | Claim
    | Pointer
    | Condition
    | Aside
    | Verbatim
    | Greeting
    | Closing
    | Quote
)


@dataclass(frozen=True, slots=True)
class TextPlan:
    """A text before it is worded: where it is, who speaks and how, and what is said in which order."""

    channel: str
    """A key of the material's layouts: `chat`, `mail`, `ticket`, `log`, `runbook`, or a surface."""
    acts: tuple[Act, ...]
    author: str = ""
    """The author; empty for anyone in the material."""
    register: str = "plain"
    language: str = "en"
    about: str = ""
    """The object that the text is found on, if the channel names it."""
    trade: str = ""
    """The trade, a key of the material, so that the texts of a situation belong together."""
    limit: int = 4000
    """The maximum number of characters."""
    one_line: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A request in a text: the position of the clause, and the deed that it asks for."""

    start: int
    end: int
    deed: Deed


@dataclass(frozen=True, slots=True)
class RenderedText:
    """A worded text with the position of every request in it."""

    text: str
    spans: tuple[Span, ...] = ()
