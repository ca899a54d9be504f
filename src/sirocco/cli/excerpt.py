"""The line that a finding refers to, with a caret under its column: pure text, measured in terminal cells."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rich.cells import cell_len

from sirocco.errors import Place

CELLS = 72  # fits a narrow terminal; fixed, so that the text is the same on a wide one and in a pipe
TAB = 4
HIDDEN = "\N{REPLACEMENT CHARACTER}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
# What YAML considers the end of a line.
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One printable line, and the number of cells before the caret."""

    number: int
    line: str
    caret: int


def lines_of(text: str) -> list[str]:
    """The lines of a text, numbered as places number them."""
    return _LINE_BREAK.split(text.removeprefix("\ufeff"))


def excerpt(lines: Sequence[str], place: Place) -> Excerpt | None:
    """The line at `place`; None if there is no such line, or it is blank."""
    if place.line > len(lines) or not lines[place.line - 1].strip():
        return None
    line, column = lines[place.line - 1], place.column - 1
    # A line can have millions of characters; text far from the caret is not even scanned.
    before = _visible_line(line[max(0, column - 2 * CELLS) : column])
    after = _visible_line(before + line[column : column + 2 * CELLS])[len(before) :]
    if cell_len(before + after) > CELLS:
        before = _shorten_text(before, CELLS // 2, from_end=True)
        after = _shorten_text(after, CELLS - cell_len(before), from_end=False)
    return Excerpt(place.line, (before + after).rstrip(), cell_len(before))


def _visible_line(line: str) -> str:
    """`line` with its tabs expanded, and a substitute for every invisible or active character."""
    cells, shown = 0, []
    for character in line:
        if character == "\t":
            shown.append(" " * (TAB - cells % TAB))
        else:
            shown.append(character if character.isprintable() else HIDDEN)
        cells += cell_len(shown[-1])
    return "".join(shown)


def _shorten_text(text: str, cells: int, *, from_end: bool) -> str:
    """As much of one side of the caret as fits, with an ellipsis where it was cut."""
    if cell_len(text) <= cells:
        return text
    if from_end:
        return ELLIPSIS + text[len(text) - _fitting_count(reversed(text), cells - 1) :]
    return text[: _fitting_count(text, cells - 1)] + ELLIPSIS


def _fitting_count(characters: Iterable[str], cells: int) -> int:
    """How many characters fit into a number of cells."""
    return sum(total <= cells for total in accumulate(map(cell_len, characters)))
