"""The layout of a printed difference: a tree of text, on one line where it fits, with marks and columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

SAME, REMOVED, INSERTED = " ", "-", "+"
_COLUMNS = 80
_SPACE = "\u00a0"  # a server prints these or plain spaces, chosen at random when it starts
Text = "Line | Wrap | Rows"


@dataclass(frozen=True, slots=True)
class Line:
    """Text on one line."""

    text: str


NIL, DOTS = Line("nil"), Line("...")


@dataclass(slots=True)
class Wrap:
    """A part with something before and after it, such as a type's name and braces."""

    prefix: str
    value: "Line | Wrap | Rows"
    suffix: str = ""


@dataclass(slots=True)
class Row:
    """One field, element or entry; `mark` says on which side of the difference it stands."""

    value: "Line | Wrap | Rows"
    key: str = ""
    mark: str = ""
    no_comma: bool = False
    comment: str = ""


@dataclass(slots=True)
class Rows:
    """Fields, elements or entries."""

    rows: list[Row] = field(default_factory=list)

    def leave_out(self, comment: str = "") -> None:
        """Note that something is left out here, once per place."""
        if not self.rows or self.rows[-1].value != DOTS or comment:
            self.rows.append(Row(DOTS, no_comma=True, comment=comment))


def length(text: "Line | Wrap | Rows") -> int:
    """How long the text would be on one line."""
    if isinstance(text, Line):
        return len(text.text.encode())
    if isinstance(text, Wrap):
        return len(text.prefix) + length(text.value) + len(text.suffix)
    separators = 2 * max(0, len(text.rows) - 1)
    return separators + sum(len(row.key) + (2 if row.key else 0) + length(row.value) for row in text.rows)


def print_layout(text: "Line | Wrap | Rows") -> str:
    """The text with its marks and indents, one part per line where one line is not enough."""
    _, folded = _fold_lines(text, "")
    return f"{_indent(0, '')}{_expand_lines(folded, '', 0)}\n"


def _indent(depth: int, mark: str) -> str:
    return f"{mark if mark in {REMOVED, INSERTED} else _SPACE}{_SPACE}" + "\t" * depth


def _fold_lines(text: "Line | Wrap | Rows", mark: str) -> "tuple[str, Line | Wrap | Rows]":
    """The text on one line, and the tree with all that may stay on one line as a `Line`."""
    if isinstance(text, Line):
        return text.text, text
    if isinstance(text, Wrap):
        inner, value = _fold_lines(text.value, mark)
        line = f"{text.prefix}{inner}{text.suffix}"
        return line, Line(line) if isinstance(value, Line) else Wrap(text.prefix, value, text.suffix)
    parts, rows, is_long = [], [], False
    for row in text.rows:
        inner, value = _fold_lines(row.value, row.mark.strip() or mark)
        is_long = is_long or row.mark in {REMOVED, INSERTED} or not isinstance(value, Line) or bool(row.comment)
        parts.append(f"{row.key}: {inner}" if row.key else inner)
        rows.append(Row(value, row.key, row.mark, row.no_comma, row.comment))
    line = ", ".join(parts)
    if is_long or (mark in {REMOVED, INSERTED} and len(line.encode()) > _COLUMNS):
        return line, Rows(rows)
    return line, Line(line)


def _expand_lines(text: "Line | Wrap | Rows", mark: str, depth: int) -> str:
    if isinstance(text, Line):
        return text.text
    if isinstance(text, Wrap):
        return f"{text.prefix}{_expand_lines(text.value, mark, depth)}{text.suffix}"
    if text.rows and all(_is_plain(row) for row in text.rows):
        return _batch_rows(text.rows, mark, depth)
    keys = _padding(text.rows, _key_length)
    values = _padding(text.rows, _value_length)
    lines = []
    for row, key_pad, value_pad in zip(text.rows, keys, values, strict=True):
        own = row.mark.strip() or mark
        key = f"{row.key}: " if row.key else ""
        comma = "" if row.no_comma else ","
        comment = f" // {row.comment}" if row.comment else ""
        body = _expand_lines(row.value, own, depth + 1)
        lines.append(f"\n{_indent(depth + 1, own)}{key}{' ' * key_pad}{body}{comma}{' ' * value_pad}{comment}")
    return "".join(lines) + f"\n{_indent(depth, mark)}"


def _is_plain(row: Row) -> bool:
    return not row.mark and not row.key and isinstance(row.value, Line) and not row.comment


def _batch_rows(rows: Sequence[Row], mark: str, depth: int) -> str:
    """Short items, as many on a line as fit."""
    lines: list[str] = []
    batch = ""
    for row in rows:
        item = f"{row.value.text if isinstance(row.value, Line) else ''}, "
        if batch and len(batch.encode()) + len(item.encode()) > _COLUMNS:
            lines.append(batch)
            batch = ""
        batch += item
    lines.append(batch)
    text = "".join(f"\n{_indent(depth + 1, mark)}{line.rstrip(' ')}" for line in lines if line)
    return f"{text}\n{_indent(depth, mark)}"


def _key_length(row: Row) -> int | None:
    return len(row.key) if row.key and isinstance(row.value, Line) else None


def _value_length(row: Row) -> int | None:
    if not isinstance(row.value, Line) or row.value == DOTS or not row.comment:
        return None
    return len(row.value.text)


def _padding(rows: Sequence[Row], measure: Callable[[Row], int | None]) -> list[int]:
    """How many spaces align each of a run of rows to the same column; a row that is not measured ends a run."""
    result = [0] * len(rows)
    run: list[tuple[int, int]] = []
    for index, row in enumerate([*rows, None]):
        measured = None if row is None else measure(row)
        if measured is None:
            widest = max((width for _, width in run), default=0)
            for place, width in run:
                result[place] = widest - width
            run = []
        else:
            run.append((index, measured))
    return result
