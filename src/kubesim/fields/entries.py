"""The entries of `metadata.managedFields`: read from an object, and written into one."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from kubesim.fields.sets import Fields, decode_fields
from kubesim.status import Json

APPLY = "Apply"
UPDATE = "Update"
_TEXTS = ("manager", "operation", "apiVersion", "subresource", "time")


class Owner(NamedTuple):
    """An owner of fields: a manager and its operation; the version distinguishes managers that update."""

    manager: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    @property
    def identifier(self) -> str:
        """The text by which the server sorts owners."""
        parts = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "subresource": self.subresource,
        }
        return json.dumps(
            {key: value for key, value in parts.items() if value}, ensure_ascii=False, separators=(",", ":")
        )

    def __str__(self) -> str:
        """The owner as conflicts name it."""
        name = json.dumps(self.manager, ensure_ascii=False)
        if self.subresource:
            name += f" with subresource {json.dumps(self.subresource, ensure_ascii=False)}"
        return f"{name} using {self.api_version}" if self.operation == UPDATE else name


class Holding(NamedTuple):
    """What an owner owns, in which version of the type, and since when."""

    fields: Fields
    api_version: str
    time: str | None = None


Managed = dict[Owner, Holding]


def managed_by(entries: Any, *, trusted: bool = True) -> Managed:
    """The owners that entries name; ValueError for invalid ones written by a client."""
    managed: Managed = {}
    for entry in entries or ():
        if trusted:
            fields = entry["fieldsV1"]
        else:
            if not isinstance(entry, dict) or entry.get("fieldsType") != "FieldsV1":
                raise ValueError("an entry of an unknown type")
            if not all(isinstance(entry.get(name, ""), str) for name in _TEXTS):
                raise ValueError("an entry with something else than text")
            fields = decode_fields(entry.get("fieldsV1"))
        operation, version = entry.get("operation", ""), entry.get("apiVersion", "")
        owner = Owner(
            entry.get("manager", ""), operation, "" if operation == APPLY else version, entry.get("subresource", "")
        )
        managed[owner] = Holding(fields, version, entry.get("time"))
    return managed


def entries_of(managed: Managed) -> list[Json]:
    """The entries of all owners, in the server's order."""
    ranked: Iterable[tuple[Owner, Holding]] = sorted(
        managed.items(),
        key=lambda item: (item[0].operation, item[1].time or "", item[0].manager, item[1].api_version),
    )
    return [_entry(owner, holding) for owner, holding in ranked]


def with_managed(obj: Json, managed: Managed) -> Json:
    """An object with these owners."""
    return with_entries(obj, entries_of(managed))


def unmanaged(obj: Json) -> Json:
    """The object as clients see it when nobody owns any of its fields."""
    return {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key != "managedFields"}}


def with_entries(obj: Json, entries: list[Json]) -> Json:
    """An object with these entries; without the field when there are none."""
    metadata = obj.get("metadata")
    metadata = dict(metadata) if isinstance(metadata, dict) else {}
    metadata.pop("managedFields", None)
    if entries:
        metadata["managedFields"] = entries
    return {**obj, "metadata": metadata}


def _entry(owner: Owner, holding: Holding) -> Json:
    entry: Json = {"manager": owner.manager, "operation": owner.operation, "apiVersion": holding.api_version}
    if holding.time is not None:
        entry["time"] = holding.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = holding.fields
    if owner.subresource:
        entry["subresource"] = owner.subresource
    return {key: value for key, value in entry.items() if value or key == "fieldsV1"}
