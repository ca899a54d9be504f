"""What a table is made of: columns whose descriptions come from the API's own types, and printers that fill cells."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Any

from kubesim.status import Json
from kubesim.types.definitions import definitions

_OLD_TEXTS = "column-descriptions-1.20.json"
_CHANGED_IN = 25  # the first release whose definitions are at hand
_STILL_OLD = frozenset({
    "apps.v1.DaemonSetSpec/selector", "apps.v1.DaemonSetStatus/numberReady", "apps.v1.DeploymentSpec/selector",
    "apps.v1.ReplicaSetSpec/selector", "autoscaling.v2.HorizontalPodAutoscalerSpec/metrics",
    "networking.v1.NetworkPolicySpec/podSelector",
})  # fmt: skip
"""Types that printers still describe in the words of versions that are no longer served."""
_PACKAGES = {"meta": "io.k8s.apimachinery.pkg.apis.meta"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column; described by `text`, or by the field of an API type that `of` names as `core.v1.Pod/spec`."""

    name: str
    type: str = "string"
    of: str = ""
    text: str = ""
    format: str = ""
    priority: int = 0
    """0 is always shown, 1 only by `-o wide`."""
    since: int = 0
    until: int = 99


@dataclass(frozen=True, slots=True)
class View:
    """The perspective of a table: the release whose printers are followed, and the moment that ages are relative to."""

    minor: int
    now: datetime


Cells = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Printer:
    """The columns of a type, and the cells of an object by the columns' names."""

    columns: Sequence[Column]
    cells: Callable[[Json, View], Cells]

    def row(self, obj: Json, view: View, columns: Sequence[Column]) -> list[Any]:
        """The cells of an object in these columns."""
        cells = self.cells(obj, view)
        return [cells[column.name] for column in columns]


def wide_column(column: Column) -> Column:
    """The column as `-o wide` shows it."""
    return Column(column.name, column.type, column.of, column.text, column.format, 1, column.since, column.until)


NAME = Column("Name", of="meta.v1.ObjectMeta/name", format="name")
AGE = Column("Age", of="meta.v1.ObjectMeta/creationTimestamp")
CREATED_AT = Column("Created At", "date", of="meta.v1.ObjectMeta/creationTimestamp")
CONTAINERS = Column("Containers", text="Names of each container in the template.")
IMAGES = Column("Images", text="Images referenced by each container in the template.")


def served_columns(columns: Sequence[Column], minor: int) -> tuple[Column, ...]:
    """The columns that a release shows."""
    return tuple(column for column in columns if column.since <= minor <= column.until)


def definition(column: Column, minor: int) -> Json:
    """The column as a table declares it."""
    return {
        "name": column.name, "type": column.type, "format": column.format,
        "description": column.text or _description(column.of, minor), "priority": column.priority,
    }  # fmt: skip


@lru_cache
def _description(of: str, minor: int) -> str:
    if (minor < _CHANGED_IN or of in _STILL_OLD) and of in _old_texts():
        return _old_texts()[of]
    type_name, _, name = of.partition("/")
    group, _, rest = type_name.partition(".")
    schema = definitions(minor).raw.get(f"{_PACKAGES.get(group, f'io.k8s.api.{group}')}.{rest}") or {}
    # If a field has a fixed set of values, the definitions end in the blank lines that preceded their list.
    return str(((schema.get("properties") or {}).get(name) or {}).get("description") or "").rstrip("\n")


@lru_cache
def _old_texts() -> Mapping[str, str]:
    data = files(__package__) / _OLD_TEXTS
    texts: dict[str, str] = json.loads(data.read_text("utf-8"))
    return texts
