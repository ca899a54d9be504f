"""The roles and bindings that every API server starts with, from a data file, in a layer that clusters share."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from kubesim.access.rbac import RBAC_GROUP
from kubesim.canonical import derived_seed
from kubesim.conventions import READ_VERBS
from kubesim.discovery.catalogue import own_manager
from kubesim.priority_classes import system_priority_classes
from kubesim.resource import BY_NOUN, ResourceType
from kubesim.selection import selects
from kubesim.status import Json
from kubesim.store import Ids, Layer

_DATA = "bootstrap.json"
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
_METRICS_READER: Json = {
    "noun": "clusterrole", "name": "system:aggregated-metrics-reader",
    "labels": {
        "k8s-app": "metrics-server",
        **{f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in ("admin", "edit", "view")},
    },
    "rules": [{"verbs": [*READ_VERBS], "apiGroups": ["metrics.k8s.io"], "resources": ["pods", "nodes"]}],
}  # fmt: skip
"""What a cluster's metrics server adds, so that those who may look at pods may also see their usage."""
_AGGREGATION_CONTROLLER = "clusterrole-aggregation-controller"


@lru_cache(maxsize=8)
def bootstrap_objects(minor: int, created: str, *, aggregated: bool) -> Layer:
    """The roles and bindings of a release, dated to a given time; `aggregated` once a controller has filled roles in.

    All clusters made at that time share them, so callers round the time as far as they want to share.
    """
    found: list[Json] = json.loads(files(__package__).joinpath(_DATA).read_text("utf-8"))
    rows = [_of_release(row, minor) for row in found if row.get("since", 0) <= minor]
    if aggregated:
        rows.append(_METRICS_READER)
    gathered = _aggregated_rules(rows) if aggregated else {}
    ids = Ids(derived_seed(0, f"bootstrap {minor} {created}"))
    layer: dict[ResourceType, dict[str, dict[str, Json]]] = {}
    for number, row in enumerate(rows, start=2):
        identity = {"uid": ids.uid(), "resourceVersion": str(number)}
        obj = _object(row, gathered.get(row["name"]), created, own_manager(minor), identity)
        places = layer.setdefault(BY_NOUN[row["noun"]], {})
        places.setdefault(row.get("namespace", ""), {})[row["name"]] = obj
    return {**layer, **system_priority_classes(minor, created, ids.uid)}


def _of_release(row: Json, minor: int) -> Json:
    """The row with those of its rules and subjects that the release has."""
    parts: Json = {name: _parts_of_release(row[name], minor) for name in ("rules", "subjects") if name in row}
    return {**row, **parts}


def _parts_of_release(parts: Sequence[Json], minor: int) -> list[Json]:
    present = (part for part in parts if part.get("since", 0) <= minor <= part.get("until", minor))
    return [{key: part[key] for key in part if key not in {"since", "until"}} for part in present]


def _aggregated_rules(rows: Sequence[Json]) -> Mapping[str, Sequence[Json]]:
    """The rules that each aggregating role takes over from others, which may aggregate themselves."""
    by_name = {row["name"]: row for row in rows if row["noun"] == "clusterrole"}

    def rules(row: Json) -> Iterator[Json]:
        yield from row.get("rules", ())
        for selector in row.get("aggregationRule", {}).get("clusterRoleSelectors", ()):
            for other in by_name.values():
                if selects(selector, other.get("labels", {})):
                    yield from rules(other)

    return {
        name: [json.loads(text) for text in dict.fromkeys(json.dumps(rule) for rule in rules(row))]
        for name, row in by_name.items()
        if "aggregationRule" in row
    }


def _object(
    row: Json, gathered: Sequence[Json] | None, created: str, manager: str, identity: Mapping[str, str]
) -> Json:
    kind = BY_NOUN[row["noun"]].kind
    content: Json = {}
    if "aggregationRule" in row:
        content = {"aggregationRule": row["aggregationRule"], "rules": gathered}
    elif "rules" in row:
        content = {"rules": row["rules"]}
    if "role" in row:
        role_kind, _, role = row["role"].partition("/")
        content = {"roleRef": {"apiGroup": RBAC_GROUP, "kind": role_kind, "name": role}}
        if "subjects" in row:
            content["subjects"] = [_subject(subject) for subject in row["subjects"]]
    labels = {**({} if row is _METRICS_READER else _LABELS), **row.get("labels", {})}
    managers = [_manager(manager, "Update", created, _fields(row, labels))]
    if gathered is not None:
        managers.append(_manager(_AGGREGATION_CONTROLLER, "Apply", created, {"f:rules": {}}))
    metadata = {
        "name": row["name"],
        **({"namespace": row["namespace"]} if "namespace" in row else {}),
        **identity,
        "creationTimestamp": created,
        "labels": labels,
        "annotations": _ANNOTATIONS,
        "managedFields": managers,
    }
    return {"kind": kind, "apiVersion": f"{RBAC_GROUP}/v1", "metadata": metadata, **content}


def _subject(subject: Mapping[str, str]) -> Mapping[str, str]:
    return subject if subject["kind"] == "ServiceAccount" else {**subject, "apiGroup": RBAC_GROUP}


def _fields(row: Json, labels: Mapping[str, str]) -> Json:
    metadata = {"f:annotations": _keys(_ANNOTATIONS), "f:labels": _keys(labels)}
    fields: Json = {"f:metadata": metadata}
    if "aggregationRule" in row:
        fields["f:aggregationRule"] = _keys(row["aggregationRule"])
    if "rules" in row:
        fields["f:rules"] = {}
    if "role" in row:
        fields["f:roleRef"] = {"f:apiGroup": {}, "f:kind": {}, "f:name": {}}
    if "subjects" in row:
        fields["f:subjects"] = {}
    return fields


def _keys(mapping: Mapping[str, Any]) -> Json:
    return {".": {}, **{f"f:{key}": {} for key in mapping}}


def _manager(name: str, operation: str, time: str, fields: Json) -> Json:
    return {"manager": name, "operation": operation, "apiVersion": f"{RBAC_GROUP}/v1", "time": time,
            "fieldsType": "FieldsV1", "fieldsV1": fields}  # fmt: skip
