"""Outside text on its way into a report: control characters are removed, and lengths are limited."""

import json
from typing import Any

LINE = 400
"""The most characters of a text that occupies one line of a report."""
PASSAGE = 2_000
"""The most characters of a longer text: a prompt, an answer."""
_STRANGE = "\N{REPLACEMENT CHARACTER}"


def printable_text(text: object) -> str:
    """The text with line breaks but without any other control, format or private character.

    Removed characters leave a mark: a text with hidden parts must not look like one without.
    """
    said = text if isinstance(text, str) else str(text)
    if said.isprintable():
        return said
    return "".join(map(_visible_character, said.replace("\r\n", "\n").replace("\r", "\n")))


def _visible_character(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return " " if character == "\t" or character.isspace() else _STRANGE


def line(text: object, limit: int = LINE) -> str:
    """The text in one line, truncated with a note of how much is missing."""
    return passage(" ".join(printable_text(text).split()), limit)


def passage(text: object, limit: int = PASSAGE) -> str:
    """The text with its line breaks, truncated with a note of how much is missing."""
    said = printable_text(text).strip()
    cut = f"{said[:limit].rstrip()} … ({len(said) - limit} more characters)"
    return said if len(said) <= max(limit, len(cut)) else cut


def compact_json(value: Any) -> str:
    """A value as JSON in one line; as text if it cannot be JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return str(value)
