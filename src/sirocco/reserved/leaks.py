"""The last line of defence: finds words of reserved scenarios in public files, plain or in an easily decoded form.

What is already public reveals nothing, so a word counts only if it is in no public text. In plain language, runs of
words count; anything that looks like a name or a number counts alone.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

_WORD = re.compile(r"[\w.@-]+")
_PLAIN = re.compile(r"[^\W\d_]+")
_RUN_OF_WORDS = 5
_SHORTEST_NAME = 6
_SHORTEST_NUMBER = 5
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}){6,}")


def leaking_files(
    files: Mapping[str, str], reserved: Sequence[Mapping[str, Any]], public: Iterable[str]
) -> tuple[str, ...]:
    """The names of the files that contain something from a reserved scenario and from no public text (AV-19)."""
    (telling,) = telling_marks([reserved], public)
    return tuple(name for name, text in files.items() if found_marks(text, telling))


def telling_marks(sets: Sequence[Sequence[Mapping[str, Any]]], public: Iterable[str]) -> list[frozenset[str]]:
    """The words that would identify each of several sets of scenarios: those that occur in it and in no public text."""
    found = [{mark for one in documents for text in _texts(one) for mark in _marks(text)} for documents in sets]
    for text in public:
        known = set(_marks(text))
        for marks in found:
            marks.difference_update(known)
    return list(map(frozenset, found))


def found_marks(text: str, telling: frozenset[str]) -> frozenset[str]:
    """Those of some words that a text contains, in whatever form."""
    return frozenset(mark for form in _forms(text) for mark in _marks(form) if mark in telling)


def _marks(text: str) -> Iterator[str]:
    """What is recognizable in a text: its names and numbers, and every run of a few words."""
    words = [word.strip(".@-").lower() for word in _WORD.findall(text)]
    yield from (word for word in words if _is_name(word))
    plain = [word for word in words if word]
    runs = zip(*(plain[start:] for start in range(_RUN_OF_WORDS)), strict=False)
    yield from (" ".join(run) for run in runs)


def _is_name(word: str) -> bool:
    if word.isdigit():
        return len(word) >= _SHORTEST_NUMBER
    return len(word) >= _SHORTEST_NAME and not _PLAIN.fullmatch(word)


def _texts(value: Any) -> Iterator[str]:
    """Every key and value of a document as text."""
    match value:
        case Mapping():
            for key, inner in value.items():
                yield str(key)
                yield from _texts(inner)
        case list() | tuple():
            for inner in value:
                yield from _texts(inner)
        case None | bool():
            pass
        case _:
            yield str(value)


def _forms(text: str) -> Iterator[str]:
    """A text unchanged, and its results when encodings are undone."""
    yield text
    yield unquote(text)
    yield text[::-1]
    yield from (_decoded_text(bytes.fromhex, run) for run in _HEX.findall(text))
    yield from (_decoded_text(_from_base64, run) for run in _BASE64.findall(text))


def _from_base64(run: str) -> bytes:
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(plain + "=" * (-len(plain) % 4))


def _decoded_text(decode: Any, run: str) -> str:
    try:
        data: bytes = decode(run)
    except (ValueError, binascii.Error):
        return ""
    return data.decode("utf-8", "ignore")
