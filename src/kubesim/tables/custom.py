"""Custom resources as tables: the columns that their definition declares, found by simple JSONPath expressions."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubesim.status import Json
from kubesim.tables.cells import age, moment, text
from kubesim.tables.columns import AGE, NAME, Column, View

_AGE_PATH = ".metadata.creationTimestamp"
_MISSING = object()
_STEP = re.compile(
    r"""
    \.\.?(?P<field>(?:[^.\[\]\\'"]|\\.)+)       # .field, where \. is a dot in its name
    | \[\s*(?P<index>-?\d+)\s*\]                # [3]
    | \[\s*(?P<slice>-?\d*:-?\d*(?::-?\d*)?)\s*\]
    | \[(?P<all>\*)\]
    | \[\s*(?P<quote>['"])(?P<quoted>.*?)(?P=quote)\s*\]
    | \[\?\(\s*@(?P<inner>[^=!<>\s)]*)\s*(?:(?P<operator>==|!=|<=|>=|<|>)\s*(?P<operand>.+?))?\s*\)\]
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class CustomPrinter:
    """The columns that a definition declares; their names may repeat, so cells are found by position."""

    columns: Sequence[Column]
    paths: Sequence[str]

    def row(self, obj: Json, view: View, columns: Sequence[Column]) -> list[Any]:
        """The cells of an object: its name, and what the paths find in it."""
        values = (next(values_at(obj, path), _MISSING) for path in self.paths)
        cells = (_cell(column.type, value, view) for column, value in zip(columns[1:], values, strict=True))
        return [text(obj, "metadata", "name"), *cells]


def custom_printer(version: Json) -> CustomPrinter:
    """The printer of a custom resource, from its version's entry in the definition."""
    declared = version.get("additionalPrinterColumns")
    if not declared:
        return CustomPrinter((NAME, Column("Age", "date", of=AGE.of)), (_AGE_PATH,))
    columns = (
        Column(
            text(item, "name"), text(item, "type"), text=text(item, "description") or _column_description(item),
            format=text(item, "format"), priority=item.get("priority") or 0,
        )
        for item in declared
    )  # fmt: skip
    return CustomPrinter((NAME, *columns), tuple(text(item, "jsonPath") for item in declared))


def _column_description(item: Json) -> str:
    return f"Custom resource definition column (in JSONPath format): {text(item, 'jsonPath')}"


def _cell(kind: str, value: Any, view: View) -> Any:
    """A value in the type of its column; empty if it does not fit."""
    if value is _MISSING:
        return None
    if kind == "string":
        return _cell_text(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "integer" if is_number:
            return int(value)
        case "number" if is_number:
            return value
        case "boolean" if isinstance(value, bool):
            return value
        case "date" if isinstance(value, str):
            return age(value, view) if moment(value) else "<invalid>"
    return None


def _cell_text(value: Any) -> str:
    if value is None:
        return "<no value>"
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def values_at(obj: Any, path: str) -> Iterator[Any]:
    """The values at a path, in order; none when a step finds nothing or cannot be read."""
    bare = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    if not bare:
        yield obj
        return
    step = _STEP.match(bare)
    if step is None:
        return
    for value in _next_values(obj, step):
        yield from values_at(value, bare[step.end() :])


def _next_values(obj: Any, step: re.Match[str]) -> Iterator[Any]:
    name = step["quoted"] if step["quote"] else (step["field"] or "").replace("\\", "")
    if name == "*" and not step["quote"]:
        yield from _children(obj)
    elif name:
        if isinstance(obj, Mapping) and name in obj:
            yield obj[name]
    elif step["all"]:
        yield from _children(obj)
    elif step["operator"] or step["inner"] is not None:
        yield from (child for child in _children(obj) if _filter_holds(child, step))
    elif isinstance(obj, list):
        if step["index"]:
            yield from obj[int(step["index"]) :][:1] if int(step["index"]) < len(obj) else ()
        elif step["slice"]:
            yield from _slice_values(obj, step["slice"])


def _slice_values(values: list[Any], bounds: str) -> list[Any]:
    parts = [int(part) if part else None for part in bounds.split(":")]
    return [] if len(parts) > 2 and not parts[2] else values[slice(*parts)]


def _children(obj: Any) -> Iterator[Any]:
    if isinstance(obj, list):
        yield from obj
    elif isinstance(obj, Mapping):
        yield from obj.values()


def _filter_holds(child: Any, step: re.Match[str]) -> bool:
    value = next(values_at(child, step["inner"]), _MISSING)
    if value is _MISSING:
        return False
    operator = step["operator"]
    if operator is None:
        return True
    wanted = _literal_value(step["operand"])
    if operator == "==":
        return bool(value == wanted)
    if operator == "!=":
        return bool(value != wanted)
    if isinstance(value, str) is not isinstance(wanted, str) or isinstance(value, Mapping | list) or value is None:
        return False
    return bool({"<": value < wanted, "<=": value <= wanted, ">": value > wanted, ">=": value >= wanted}[operator])


def _literal_value(operand: str) -> Any:
    if len(operand) > 1 and operand[0] == operand[-1] and operand[0] in "'\"":
        return operand[1:-1]
    try:
        return json.loads(operand)
    except ValueError:
        return operand
