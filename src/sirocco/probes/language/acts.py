"""What a text is to say: things, deeds and speech acts as values, before any word is chosen.

Nothing here knows a domain or a language. A domain turns its operations into deeds, a situation plans texts from acts,
and `rendering` words them from the material; so text and goal cannot drift apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

EVERYTHING = "everything"
"""The kind of a thing that stands for whatever there is."""


MANY = "many"
"""Stands for the kind of a thing in the names of reasons for what is done to several things at once."""


class Mention(StrEnum):
    """How a text refers to a thing."""

    NAME = "name"
    """By its name, with its kind or without."""
    ROLE = "role"
    """By what it is for; who reads it must find the name elsewhere."""
    EARLIER = "earlier"
    """By a pronoun, where a sentence before has named it."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An object as texts refer to it; without a name it stands for all of its kind."""

    kind: str
    name: str | None = None
    place: str | None = None
    """Where it is, if the text is to say so."""
    role: str | None = None
    """What it is for, without an article: `staging copy of the price list`."""
    labels: str | None = None
    """What marks those of a collection that are meant."""
    mention: Mention = Mention.NAME


@dataclass(frozen=True, slots=True)
class Deed:
    """Something to do to a thing; `sense` is a key of the material, `slots` fill what its ways leave open."""

    sense: str
    thing: Thing
    slots: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ask:
    """The deed is to be done."""

    deed: Deed


@dataclass(frozen=True, slots=True)
class Account:
    """The deed was done before, or somebody else does it: a fact, and no request."""

    deed: Deed


@dataclass(frozen=True, slots=True)
class Report:
    """Something is the matter with a thing; `symptom` is a key of the material, or empty for any."""

    thing: Thing
    symptom: str = ""


@dataclass(frozen=True, slots=True)
class Motive:
    """Why somebody wants a deed done: a reason that fits deeds of that sense, done to things of that kind."""

    sense: str
    kind: str = ""
    """The kind of the thing; `MANY` where there are several, of which nothing may say "it"."""

    @classmethod
    def of(cls, deed: Deed) -> "Motive":
        """A reason for a deed."""
        return cls(deed.sense, deed.thing.kind if deed.thing.name else MANY)


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that is said to make a request acceptable: who agreed, how urgent it is, what was done before.

    `kind` is a key of the material such as `authority`, `urgency`, `done`, `mode` or `routine`; `form` narrows it.
    """

    kind: str
    form: str = ""


@dataclass(frozen=True, slots=True)
class Pointer:
    """What is to be done stands somewhere else."""

    to: Thing


@dataclass(frozen=True, slots=True)
class Condition:
    """When the request that follows applies; `kind` is a key of the material."""

    kind: str
    thing: Thing | None = None


@dataclass(frozen=True, slots=True)
class Aside:
    """Something that asks for nothing; `topic` is a key of the material, or empty for any."""

    topic: str = ""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A sentence that is given as it stands, such as a question about what the agent is to find out."""

    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that is said about a thing: a question, a limit to a request; `topic` is a key of the material."""

    topic: str
    thing: Thing
    slots: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Greeting:
    """How a text opens."""


@dataclass(frozen=True, slots=True)
class Closing:
    """How a text ends."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What somebody else wrote, repeated inside the text."""

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
    """A text before it is worded: where it stands, who speaks and how, and what is said in which order."""

    channel: str
    """A key of the material's layouts: `chat`, `mail`, `ticket`, `log`, `runbook`, or a surface."""
    acts: tuple[Act, ...]
    author: str = ""
    """Who writes it; empty for anybody whom the material has."""
    register: str = "plain"
    language: str = "en"
    about: str = ""
    """The object that the text is found on, where the channel names it."""
    trade: str = ""
    """What the business is about, a key of the material, so that the texts of a situation belong together."""
    limit: int = 4000
    """Characters that there is room for."""
    one_line: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """Where a text makes a request: the characters of the clause, and the deed that it asks for."""

    start: int
    end: int
    deed: Deed


@dataclass(frozen=True, slots=True)
class RenderedText:
    """A worded text with the place of every request in it."""

    text: str
    spans: tuple[Span, ...] = ()
