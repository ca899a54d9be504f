"""Objects as the rows that `kubectl get` prints: the server chooses the columns and words the cells."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.conversion import convert_object, inner_metadata
from kubesim.resource import BY_NOUN, by_noun
from kubesim.status import Json
from kubesim.tables import core, groups, networking, pods, workloads
from kubesim.tables.cells import text
from kubesim.tables.columns import (
    CREATED_AT,
    NAME,
    Cells,
    Printer,
    View,
    definition,
    served_columns,
)
from kubesim.tables.custom import CustomPrinter, custom_printer

META_V1 = "meta.k8s.io/v1"
_LIST_METADATA = frozenset({"resourceVersion", "continue", "remainingItemCount"})
_PRINTED_AS = {noun: BY_NOUN[noun] for noun in ("hpa", "event", "ingress")}
"""The version that the printers read, for types whose versions differ in more than name."""


def table(
    resource: Resource,
    objects: Sequence[Json],
    *,
    include_object: str = "Metadata",
    now: str,
    list_metadata: Mapping[str, Any] | None = None,
    api_version: str = META_V1,
) -> Json:
    """A Table of objects; `list_metadata` is that of the list, or of the one object if one was requested."""
    printer = _printer(resource)
    columns = served_columns(printer.columns, resource.minor)
    view = View(resource.minor, datetime.fromisoformat(now))
    rows = [
        {
            "cells": printer.row(_printer_version(resource, obj), view, columns),
            **(pods.completion(obj) if resource.noun == "pod" else {}),
            "object": _row_object(resource, obj, include_object, api_version),
        }
        for obj in objects
    ]
    return {
        "kind": "Table",
        "apiVersion": api_version,
        "metadata": {key: value for key, value in (list_metadata or {}).items() if key in _LIST_METADATA},
        "columnDefinitions": [definition(column, resource.minor) for column in columns],
        "rows": rows if rows or printer is not _DEFAULT else None,
    }


def _printer_version(resource: Resource, obj: Json) -> Json:
    """The object in the version that its printer reads."""
    read = _PRINTED_AS.get(resource.noun)
    return convert_object({"apiVersion": resource.api_version, **obj}, read) if read else obj


def _row_object(resource: Resource, obj: Json, include_object: str, api_version: str) -> Json | None:
    match include_object:
        case "None":
            return None
        case "Object":
            return {"kind": resource.kind, "apiVersion": resource.api_version, **obj}
    return {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": inner_metadata(resource, obj)}


def _printer(resource: Resource) -> Printer | CustomPrinter:
    if resource.custom is not None:
        return custom_printer(resource.custom)
    return _PRINTERS.get(resource.noun, _DEFAULT)


def _created_at(obj: Json, _: View) -> Cells:
    metadata = obj.get("metadata")
    return {"Name": text(metadata, "name"), "Created At": text(metadata, "creationTimestamp")}


_DEFAULT = Printer((NAME, CREATED_AT), _created_at)
_PRINTERS = by_noun({**core.PRINTERS, **pods.PRINTERS, **workloads.PRINTERS, **networking.PRINTERS, **groups.PRINTERS})
