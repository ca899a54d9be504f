"""The difference of two values of the server's internal types, as it prints it when it refuses an update.

The form is that of the library with which the server compares Go values: changed fields with a mark, two unchanged ones
around them, the rest only counted.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kubesim.bodies.go_text import go_quote
from kubesim.kinds.validation.go_comparison import (
    Comparison,
    Missing,
    compare_parts,
    internal_form,
    is_zero,
    kind_of,
    parts_of,
    scalar,
)
from kubesim.kinds.validation.go_layout import (
    DOTS,
    INSERTED,
    NIL,
    REMOVED,
    SAME,
    Line,
    Row,
    Rows,
    Wrap,
    length,
    print_layout,
)
from kubesim.kinds.validation.go_values import underlying

_CONTEXT = 2
_CHUNK = 8
_WITH_TEXT = frozenset({"core.ResourceName", "*resource.Quantity", "*intstr.IntOrString", "*v1.LabelSelector"})
_FULL_LEVEL, _BRIEF_LEVEL = 3, 1
EMIT, ELIDE, AUTO = "emit", "elide", "auto"
Text = Line | Wrap | Rows
KeyText = Callable[[str], str]


def go_difference(type_name: str, one: Any, other: Any) -> str:
    """The difference as the server prints it: `one` is marked as removed, `other` as inserted."""
    node = compare_parts(type_name, internal_form(type_name, one), internal_form(type_name, other))
    return print_layout(_difference(node, _Style())) if node.different else ""


@dataclass(frozen=True, slots=True)
class _Style:
    """How a part is printed: on which side, with or without its type, and in how much detail."""

    mark: str = ""
    types: str = EMIT
    level: int = _FULL_LEVEL

    @property
    def most_shown(self) -> int:
        """How many fields, elements or entries of a value are shown."""
        return ((1 << max(self.level, 0)) >> 1) << 2

    def inner_style(self) -> "_Style":
        """The style of what is inside."""
        return replace(self, level=self.level - 1)


def _difference(node: Comparison, style: _Style) -> Text:
    style = replace(style, level=_BRIEF_LEVEL if style.mark == SAME else _FULL_LEVEL)
    kind = kind_of(node.type)
    if node.depth == 0:
        return _leaf(node, style)
    if not style.mark and _is_short_of(node):
        return _with_type_name(node.type, _numbers(node), style)
    if kind == "pointer" and node.pointed is not None:
        return Wrap("&", _difference(node.pointed, style))
    return _with_type_name(node.type, _records(node, kind, style), style)


def _leaf(node: Comparison, style: _Style) -> Text:
    if style.mark == REMOVED:
        return _value(node.type, node.one, style)
    if style.mark == INSERTED:
        return _value(node.type, node.other, style)
    if not node.different:
        one, other = (_value(node.type, value, style) for value in (node.one, node.other))
        return one if length(one) < length(other) else other
    bare = replace(style, types=ELIDE)
    rows = Rows([
        Row(_value(node.type, value, bare), mark=mark)
        for mark, value in ((REMOVED, node.one), (INSERTED, node.other))
        if not isinstance(value, Missing)
    ])  # fmt: skip
    return _with_type_name(node.type, rows, replace(style, types=EMIT))


_NAMES = {"struct": "field", "slice": "element", "map": "entry"}


def _records(node: Comparison, kind: str, style: _Style) -> Text:
    style = replace(style, types=AUTO if kind == "struct" else ELIDE)
    key_type = underlying(node.type)[4:].partition("]")[0] if kind == "map" else ""

    def key(text: str) -> str:
        return text if kind == "struct" else _map_key(key_type, text) if kind == "map" else ""

    if style.mark:
        return _one_side(node, kind, style, key)
    return _both_sides(node, kind, style, key)


def _map_key(key_type: str, key: str) -> str:
    return f"s{_quote_text(key)}" if key_type in _WITH_TEXT else _quote_text(key)


def _one_side(node: Comparison, kind: str, style: _Style, key: KeyText) -> Text:
    most = style.most_shown if style.mark == SAME else (1 << style.level) << 1
    rows = Rows()
    for name, child in node.records:
        if len(rows.rows) == most:
            rows.leave_out()
            break
        sides = {SAME: (child.one, child.other), REMOVED: (child.one,), INSERTED: (child.other,)}[style.mark]
        if kind == "struct" and any(is_zero(child.type, side) for side in sides):
            continue
        if any(isinstance(side, Missing) for side in sides):
            continue
        rows.rows.append(Row(_difference(child, style), key(name)))
    return Wrap("{", rows, "}")


def _both_sides(node: Comparison, kind: str, style: _Style, key: KeyText) -> Text:
    rows, most, shown = Rows(), (1 << style.level) << 1, 0
    groups = _groups(node.records)
    same = replace(style, mark=SAME)
    left_out: list[tuple[str, Comparison]] = []
    for index, group in enumerate(groups):
        if shown >= most:
            left_out += group
        elif group[0][1].different:
            for name, child in group:
                rows.rows += _changed_rows(child, key(name), style)
            shown += len(group)
        else:
            before = min(_CONTEXT, len(group)) if index else 0
            after = min(_CONTEXT, len(group) - before) if index < len(groups) - 1 else 0
            if len(group) - before - after == 1:
                after += 1
            rows.rows += [Row(_difference(child, same), key(name)) for name, child in group[:before]]
            middle = group[before : len(group) - after]
            if middle:
                rows.leave_out(_counts_text(middle, _NAMES[kind]))
            rows.rows += [
                Row(_difference(child, same), key(name)) for name, child in group[len(group) - after :]
            ]  # fmt: skip
    if left_out:
        rows.leave_out(_counts_text(left_out, _NAMES[kind]))
    return Wrap("{", rows, "}")


def _groups(records: list[tuple[str, Comparison]]) -> list[list[tuple[str, Comparison]]]:
    """Runs of equal and of unequal records."""
    groups: list[list[tuple[str, Comparison]]] = []
    for record in records:
        if groups and bool(groups[-1][0][1].different) is bool(record[1].different):
            groups[-1].append(record)
        else:
            groups.append([record])
    return groups


def _counts_text(records: list[tuple[str, Comparison]], name: str) -> str:
    nodes = [child for _, child in records]
    counts = {
        "identical": sum(not node.different for node in nodes),
        "removed": sum(isinstance(node.other, Missing) for node in nodes),
        "inserted": sum(isinstance(node.one, Missing) for node in nodes),
    }
    counts["modified"] = len(nodes) - sum(counts.values())
    parts = [f"{count} {word}" for word, count in counts.items() if count]
    if len(nodes) > 1:
        name = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    listed = " and ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])}, and {parts[-1]}"
    return f"{listed} {name}"


def _changed_rows(child: Comparison, key: str, style: _Style) -> list[Row]:
    """The rows of a record that differs: one part with its own difference, or its two sides if there are no parts."""
    if child.children != child.depth or _is_short_of(child):
        return [Row(_difference(child, style), key)]
    sides = []
    for mark, value in ((REMOVED, child.one), (INSERTED, child.other)):
        if not isinstance(value, Missing):
            sides.append(Row(_difference(child, replace(style, mark=mark)), key, mark))
    return sides


def _with_type_name(type_name: str, text: Text, style: _Style) -> Text:
    """The text preceded by the name of its type, if the style asks for that."""
    if style.types == ELIDE:
        return text
    if style.types == AUTO and (
        kind_of(type_name) not in {"struct", "slice", "map"} or text == NIL or style.mark == SAME
    ):
        return text
    in_braces = isinstance(text, Wrap) and (text.prefix[:1], text.suffix[-1:]) in {("{", "}"), ("(", ")")}
    return Wrap(type_name, text if in_braces else Wrap("(", text, ")"))


def _value(type_name: str, value: Any, style: _Style) -> Text:
    """A single value."""
    if type_name in _WITH_TEXT and value is not None:
        return Line(f"s{_quote_text(_own_text(type_name, value))}")
    kind = kind_of(type_name)
    if kind in {"pointer", "slice", "map"} and value is None:
        return NIL if kind == "pointer" else _with_type_name(type_name, NIL, style)
    if kind == "pointer":
        return Wrap("&", _value(type_name[1:], value, style))
    if kind == "string":
        return _with_type_name(type_name, _string(scalar(type_name, value), style), style)
    if kind == "bool":
        return _with_type_name(type_name, Line("true" if value is True else "false"), style)
    if kind == "number":
        return _with_type_name(type_name, Line(str(scalar(type_name, value))), style)
    return _with_type_name(type_name, Wrap("{", _contents(type_name, kind, value, style), "}"), style)


def _contents(type_name: str, kind: str, value: Any, style: _Style) -> Rows:
    inner_style = replace(style.inner_style(), types=AUTO if kind == "struct" else ELIDE)
    made_of = underlying(type_name)
    if kind == "struct":
        parts = [(name, inner, part) for name, inner, part in parts_of(type_name, value) if not is_zero(inner, part)]
    elif kind == "map":
        key_type, _, inner = made_of[4:].partition("]")
        parts = [(_map_key(key_type, key), inner, value[key]) for key in sorted(value)]
    else:
        parts = [("", made_of[2:], item) for item in value]
    rows = Rows()
    for name, inner, part in parts:
        if len(rows.rows) == style.most_shown:
            rows.leave_out()
            break
        rows.rows.append(Row(_value(inner, part, inner_style), name))
    return rows


def _string(text: str, style: _Style) -> Line:
    most = (1 << max(style.level, 0)) << 5
    if len(text) > most + len(DOTS.text):
        return Line(f"{_quote_text(text[:most])}{DOTS.text}")
    return Line(_quote_text(text))


def _quote_text(text: str) -> str:
    """A string in quotes, or in back quotes when that saves escapes."""
    usual = go_quote(text)
    if len(usual) == len(text) + 2:
        return usual
    is_raw = all(mark != "`" and (mark.isprintable() or mark == "\t") for mark in text)
    return f"`{text}`" if is_raw else usual


def _own_text(type_name: str, value: Any) -> str:
    """A value's text as produced by its own type."""
    if type_name != "*v1.LabelSelector":
        return str(value)
    labels = value.get("matchLabels") or {}
    rows = value.get("matchExpressions") or ()
    listed = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{row.get('key', '')},Operator:{row.get('operator', '')},"
        f"Values:[{' '.join(row.get('values') or ())}],}},"
        for row in rows
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{listed}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def _is_short_of(node: Comparison) -> bool:
    """Whether more numbers of a list differ than are equal; the list is then printed whole."""
    made_of = underlying(node.type)
    is_list = made_of.startswith("[]") and kind_of(made_of[2:]) == "number"
    return is_list and bool(node.one) and bool(node.other) and node.different > node.same


def _numbers(node: Comparison) -> Text:
    """Runs of numbers: kept ones, then those of one side, then those of the other."""
    rows = Rows()
    for group in _groups(node.records):
        if not group[0][1].different:
            rows.rows += _chunks([child.one for _, child in group], SAME)
            continue
        for mark, side in ((REMOVED, "one"), (INSERTED, "other")):
            values = [getattr(child, side) for _, child in group]
            rows.rows += _chunks([value for value in values if not isinstance(value, Missing)], mark)
    return Wrap("{", rows, "}")


def _chunks(values: list[Any], mark: str) -> list[Row]:
    parts = [values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK)]
    return [Row(Line(", ".join(str(value) for value in part)), mark=mark) for part in parts]
