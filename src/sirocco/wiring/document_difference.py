"""Where two documents differ, field by field, by JSON pointer."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

_LONGEST = 80
_ABSENT = object()


def field_differences(found: Any, wanted: Any, pointer: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Each field in which `found` differs from the expected value: its JSON pointer and both values."""
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        for key in [*wanted, *(key for key in found if key not in wanted)]:
            step = str(key).replace("~", "~0").replace("/", "~1")
            yield from field_differences(found.get(key, _ABSENT), wanted.get(key, _ABSENT), f"{pointer}/{step}")
    elif isinstance(found, list | tuple) and isinstance(wanted, list | tuple):
        for number, (one, other) in enumerate(zip_longest(found, wanted, fillvalue=_ABSENT)):
            yield from field_differences(one, other, f"{pointer}/{number}")
    elif type(found) is not type(wanted) or found != wanted:
        yield pointer, found, wanted


def pointer_steps(pointer: str) -> list[str]:
    """The steps of such a pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def first_different_line(found: str, wanted: str) -> int:
    """The number of the first line in which two texts differ."""
    pairs = zip_longest(found.splitlines(), wanted.splitlines())
    return next((number for number, (one, other) in enumerate(pairs, start=1) if one != other), 1)


def short_repr(value: object) -> str:
    """A value in a few words."""
    if value is _ABSENT:
        return "nothing"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
