"""The texts in the JSON data of a document, for code that examines words rather than structure."""

from collections.abc import Iterator, Mapping
from typing import Any


def texts_of(value: Any) -> Iterator[str]:
    """Every text in JSON data, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield str(key)
            yield from texts_of(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from texts_of(member)
