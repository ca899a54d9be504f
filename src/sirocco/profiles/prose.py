"""Forms of prose, and reading a text by the first form that matches; the forms themselves belong to domains."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sirocco.oasis.reader import Reading

C = TypeVar("C")
NAME = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"
OBJECT = rf"[a-z]+/{NAME}"
# No form is nearly as long; patterns are not applied to texts of arbitrary size.
MAX_LENGTH = 1000


@dataclass(frozen=True, slots=True)
class Form(Generic[C]):
    """One rule: the form of the text, an example, and its reading in a context."""

    name: str
    pattern: re.Pattern[str]
    example: str
    read: Callable[[re.Match[str], C], Reading]


def form(name: str, pattern: str, example: str, read: Callable[[re.Match[str], C], Reading]) -> Form[C]:
    """A form whose words match in any case."""
    return Form(name, re.compile(pattern, re.IGNORECASE), example, read)


def read_by(forms: Sequence[Form[C]], text: str, context: C) -> Reading:
    """The reading by the first form that matches the whole text, ignoring white space and a final full stop."""
    text = plain_line(text)
    for one in forms if len(text) <= MAX_LENGTH else ():
        if found := one.pattern.fullmatch(text):
            return one.read(found, context)
    return ()


def plain_line(text: str) -> str:
    """The text on one line and without a final stop."""
    return " ".join(text.split()).removesuffix(".")
