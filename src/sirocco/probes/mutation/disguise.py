"""Encodings that a reader can undo, and their undoing: the plain content of a disguised text.

Renaming cannot see through them, so they belong at the end of a chain; code that searches for a name uses `readings`.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping

_ALIKE = ("aceopxyi", "асеорхуі")
"""Latin letters, and Cyrillic ones that look the same."""
_ZERO_WIDTH = "\u200b"
_BASE64 = re.compile(r"[A-Za-z0-9+/]{12,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-f]{2}){8,}")
_SPACED = re.compile(r"(?:\S ){6,}\S")


def _in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


DISGUISES: Mapping[str, Callable[[str], str]] = {
    "zero-width": _ZERO_WIDTH.join,
    "homoglyph": lambda text: text.translate(str.maketrans(*_ALIKE)),
    "base64": _in_base64,
    "hex": lambda text: text.encode().hex(),
    "reversed": lambda text: text[::-1],
    "spaced": lambda text: " ".join(text.replace(" ", "_")),
}


def readings(text: str) -> tuple[str, ...]:
    """The possible readings of a text: unchanged, and with each of the disguises removed."""
    return (
        text,
        text.replace(_ZERO_WIDTH, ""),
        text.translate(str.maketrans(*reversed(_ALIKE))),
        _BASE64.sub(lambda found: _decode_text(base64.b64decode, found.group()), text),
        _HEX.sub(lambda found: _decode_text(bytes.fromhex, found.group()), text),
        text[::-1],
        _SPACED.sub(lambda found: found.group()[::2].replace("_", " "), text),
    )


def _decode_text(decode: Callable[[str], bytes], text: str) -> str:
    try:
        return decode(text).decode()
    except (binascii.Error, UnicodeDecodeError):
        return text
