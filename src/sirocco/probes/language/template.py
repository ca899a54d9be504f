"""Templates of the material: text with references to rules, choices in place, and numbers to draw.

{symbol}   the text of the rule or slot with that name; {Symbol} the same with a capital
{2..30}    a number from 2 to 30; {00..59} with as many digits as are written
{hex7}     seven hexadecimal digits
[a|b|]     one of the branches, which are templates themselves; brackets without a bar are text
{{ }}      braces
"""

import re
from dataclasses import dataclass
from functools import cache

_NUMBER = re.compile(r"(\d+)\.\.(\d+)")
_HEX = re.compile(r"hex(\d+)")
_SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


class TemplateError(ValueError):
    """A template that cannot be parsed."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A placeholder for the text of a rule or a slot."""

    symbol: str
    is_capital: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A placeholder for a drawn number."""

    low: int
    high: int
    width: int = 0


@dataclass(frozen=True, slots=True)
class Hex:
    """A placeholder for this many hexadecimal digits."""

    digits: int


@dataclass(frozen=True, slots=True)
class Branches:
    """A placeholder for one of several templates."""

    ways: tuple["Template", ...]


Part = str | Reference | Number | Hex | Branches
Template = tuple[Part, ...]


@cache
def read_template(text: str) -> Template:
    """The parts of a template; raise TemplateError if it cannot be parsed."""
    parts, position = _read_parts(text, 0, inside=False)
    if position != len(text):
        raise TemplateError(f"a closing bracket without an opening one in {text!r}")
    return parts


def symbols(template: Template) -> frozenset[str]:
    """Every name that a template refers to, in any of its branches."""
    found: set[str] = set()
    for part in template:
        if isinstance(part, Reference):
            found.add(part.symbol)
        elif isinstance(part, Branches):
            found.update(*(symbols(way) for way in part.ways))
    return frozenset(found)


def _read_parts(text: str, position: int, *, inside: bool) -> tuple[Template, int]:
    parts: list[Part] = []
    plain = ""
    while position < len(text) and not (inside and text[position] in "|]"):
        letter = text[position]
        if text.startswith(("{{", "}}"), position):
            plain, position = plain + letter, position + 2
            continue
        part: Part | None = None
        after = position
        if letter == "{":
            part, after = _read_braces(text, position)
        elif letter == "[" and _has_branches(text, position):
            part, after = _read_branches(text, position)
        if part is None:
            plain, position = plain + letter, position + 1
            continue
        parts += [plain, part] if plain else [part]
        plain, position = "", after
    return (*parts, plain) if plain else tuple(parts), position


def _has_branches(text: str, position: int) -> bool:
    """Whether a bracket encloses a choice, that is, whether there is a bar before it closes."""
    depth = 0
    for letter in text[position:]:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "|" and depth == 1:
            return True
        if depth == 0:
            return False
    return False


def _read_branches(text: str, position: int) -> tuple[Branches, int]:
    ways: list[Template] = []
    while text[position] in "[|":
        way, position = _read_parts(text, position + 1, inside=True)
        ways.append(way)
        if position >= len(text):
            raise TemplateError(f"a bracket is not closed in {text!r}")
    return Branches(tuple(ways)), position + 1


def _read_braces(text: str, position: int) -> tuple[Part, int]:
    end = text.find("}", position)
    if end < 0:
        raise TemplateError(f"a brace is not closed in {text!r}")
    inner = text[position + 1 : end]
    if found := _NUMBER.fullmatch(inner):
        low, high = found.groups()
        if int(low) > int(high):
            raise TemplateError(f"{inner!r} counts down in {text!r}")
        return Number(int(low), int(high), len(low) if low.startswith("0") and len(low) > 1 else 0), end + 1
    if found := _HEX.fullmatch(inner):
        return Hex(int(found[1])), end + 1
    if not _SYMBOL.fullmatch(inner):
        raise TemplateError(f"{inner!r} is not a symbol in {text!r}")
    return Reference(inner[0].lower() + inner[1:], inner[0].isupper()), end + 1
