"""Answers as text for a reader: objects as YAML, lists as columns, answers of services as JSON.

Nothing is left out that a reader could miss: the caller was shown what the record of returned content holds. Only the
bookkeeping of field owners is dropped, which just repeats names of fields.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kubesim.handling.yaml_text import yaml_text

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def as_yaml(body: Any) -> str:
    """An object or a list of objects as YAML."""
    return yaml_text(_without_owners(body))


def as_json(body: Any) -> str:
    """Any other answer as JSON; text unchanged."""
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, indent=2)


def as_columns(table: Any, empty: str) -> str:
    """A Table with all its columns, with the namespaces of its objects if known; `empty` if there are no rows."""
    if not isinstance(table, Mapping) or table.get("kind") != "Table":
        return as_yaml(table)
    rows = table.get("rows") or ()
    if not rows:
        return empty
    names = [column["name"] for column in table["columnDefinitions"]]
    if any(row.get("object") for row in rows):
        names = ["namespace", *names, "labels", "annotations"]
    lines = [[name.upper() for name in names], *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("   ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _cells(row: Mapping[str, Any]) -> list[str]:
    cells = [_cell(cell) for cell in row["cells"]]
    metadata = (row.get("object") or {}).get("metadata")
    if metadata is None:
        return cells
    return [
        _cell(metadata.get("namespace")), *cells, _pairs(metadata.get("labels")), _pairs(metadata.get("annotations"))
    ]  # fmt: skip


def _pairs(value: Mapping[str, str] | None) -> str:
    return _cell(",".join(f"{key}={text}" for key, text in (value or {}).items()))


def _cell(value: Any) -> str:
    return "<none>" if value is None or value == "" else str(value)


def _without_owners(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_owners(item) for key, item in value.items() if key != "managedFields"}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_owners(item) for item in value]
    return value
