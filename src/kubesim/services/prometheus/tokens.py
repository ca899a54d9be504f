"""The words of a PromQL query."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kubesim.services.prometheus.errors import QueryError

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0, "y": 31536000.0}
_DURATION = re.compile(r"(?:[0-9]+y)?(?:[0-9]+w)?(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m(?!s))?(?:[0-9]+s)?(?:[0-9]+ms)?")
_PART = re.compile(r"([0-9]+)(ms|[smhdwy])")
_TOKEN = re.compile(
    r"""(?P<space>[\s\ufeff]+|\#[^\n]*)
      | (?P<duration>[0-9]+(?:ms|[smhdwy])(?:[0-9]+(?:ms|[smhdwy]))*(?![A-Za-z0-9_]))
      | (?P<number>0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_]))
      | (?P<word>[A-Za-z_:][A-Za-z0-9_:]*)
      | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)
      | (?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^=<>(){}\[\],:@])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_LONGEST_DURATION = 2.0**63 / 1e9
LONGEST = 20_000
"""The longest query that is accepted, in characters."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word: its kind, its text, and its position."""

    kind: str
    text: str
    position: int

    def __str__(self) -> str:
        names = {"word": "identifier", "text": "string", "": "end of input"}
        if self.kind in {"sign", ""}:
            return f'"{self.text}"' if self.text else "end of input"
        return f"{names.get(self.kind, self.kind)} {self.text}" if self.kind == "text" else self._quoted_token(names)

    def _quoted_token(self, names: dict[str, str]) -> str:
        return f'{names.get(self.kind, self.kind)} "{self.text}"'


def tokens(query: str) -> Iterator[Token]:
    """The words of a query, then an empty one; raise QueryError at anything else."""
    if len(query) > LONGEST:
        raise QueryError(f"query is longer than {LONGEST} characters")
    position, in_range = 0, False
    while position < len(query):
        # Inside a range a colon separates length and step; elsewhere a name may begin with it.
        found = None if in_range and query[position] == ":" else _TOKEN.match(query, position)
        if found is None and query[position] == ":":
            yield Token("sign", ":", position)
            position += 1
            continue
        if found is None:
            char = query[position]
            if char in "\"'`":
                raise QueryError("unterminated quoted string" if char != "`" else "unterminated raw string", position)
            if char.isdigit() or char == ".":
                raise QueryError(f"bad number or duration syntax: {query[position : position + 10]!r}", position)
            raise QueryError(f"unexpected character: {char!r}", position)
        if found[0] in {"[", "]"}:
            in_range = found[0] == "["
        if found.lastgroup != "space":
            yield Token(str(found.lastgroup), found[0], position)
        position = found.end()
    yield Token("", "", len(query))


def duration(text: str) -> float | None:
    """The seconds of a duration such as 1h30m; None when it is invalid or too long for Prometheus."""
    if text == "0":
        return 0.0
    if not text or not _DURATION.fullmatch(text):
        return None
    seconds = sum(float(count) * _UNITS[unit] for count, unit in _PART.findall(text))
    return seconds if seconds < _LONGEST_DURATION else None


def unquote_text(text: str) -> str:
    """The content of a quoted text."""
    if text[0] == "`":
        return text[1:-1]

    def unescape_match(found: re.Match[str]) -> str:
        escape = found[1]
        if len(escape) > 1:
            return chr(int(escape[1:], 16))
        return _ESCAPED.get(escape, escape)

    return _ESCAPE.sub(unescape_match, text[1:-1])
