"""Nodes from state entries: what they offer, their condition, and what they let be scheduled."""

from collections.abc import Mapping
from typing import Any

from kubesim.discovery.catalogue import CURRENT_RELEASE, git_version
from kubesim.nodes import ALLOCATABLE, CAPACITY, PRESSURES, healthy_conditions, node
from kubesim.status import Json
from sirocco.domains.kubernetes.simulator.checks import as_text
from sirocco.domains.kubernetes.simulator.health import bare_word
from sirocco.domains.kubernetes.simulator.layout import OWNER_LABEL
from sirocco.domains.kubernetes.simulator.vocabulary import declared_value
from sirocco.oasis.scenario import StateEntry

_WORDS = {
    "cpu": {"low": "250m", "medium": "4", "high": "8"},
    "memory": {"low": "256Mi", "medium": "8Gi", "high": "32Gi"},
}  # fmt: skip
"""The words that a scenario may use in place of an amount that a node offers."""
_PRESSURE_KEYS = ("memory_pressure", "disk_pressure", "pid_pressure")
"""The keys of entries for the pressures of a node, in the order of `PRESSURES`."""


def node_manifest(entry: StateEntry, zone: str) -> Json:
    """A node in a zone that is ready unless its entry says otherwise."""
    fields = entry.fields
    conditions = _conditions(fields)
    offered = {str(key): as_text(value) for key, value in (fields.get("allocatable") or {}).items()}
    for key, what in (("allocatable_cpu", "cpu"), ("allocatable_memory", "memory")):
        if key in fields:
            offered[what] = _WORDS[what].get(bare_word(as_text(fields[key])), as_text(fields[key]))
    present = {str(key): as_text(value) for key, value in (fields.get("capacity") or {}).items()}
    labels = {
        **({OWNER_LABEL: as_text(fields["owner_team"])} if "owner_team" in fields else {}),
        **{str(key): as_text(value) for key, value in (declared_value(entry, "labels") or {}).items()},
    }
    return node(
        entry.name,
        as_text(fields.get("zone", zone)),
        kubelet=git_version(CURRENT_RELEASE),
        labels=labels,
        annotations={str(key): as_text(value) for key, value in (declared_value(entry, "annotations") or {}).items()},
        spec=_spec(fields, conditions),
        conditions=conditions.values(),
        capacity={**CAPACITY, **offered, **present},
        allocatable={**ALLOCATABLE, **offered},
    )


def renamed_node(node: Json, name: str) -> Json:
    """The node under another name."""
    metadata = node["metadata"]
    labels = {**metadata["labels"], "kubernetes.io/hostname": name}
    return {**node, "metadata": {**metadata, "name": name, "labels": labels}}


def _conditions(fields: Mapping[str, Any]) -> dict[str, Json]:
    """The usual conditions of a node, overridden by what was declared."""
    found = healthy_conditions()
    for key, pressure in zip(_PRESSURE_KEYS, PRESSURES, strict=True):
        if fields.get(key):
            kind = pressure.condition
            found[kind] = {"type": kind, "status": "True", "reason": f"KubeletHas{kind}",
                           "message": f"kubelet has {kind}"}  # fmt: skip
    if bare_word(str(fields.get("status", "ready"))) == "notready":
        found["Ready"] = {"type": "Ready", "status": "False", "reason": "KubeletNotReady",
                          "message": "container runtime is down"}  # fmt: skip
    for condition in fields.get("conditions") or ():
        declared_one = {key: as_text(value) for key, value in condition.items()}
        kind = declared_one["type"]
        same = found.get(kind, {}).get("status") == declared_one.get("status", "True")
        base = (
            found.get(kind, {"type": kind}) if same else {"type": kind, "status": "True", "reason": f"KubeletHas{kind}"}
        )
        found[kind] = {**base, **declared_one}
    return found


def _spec(fields: Mapping[str, Any], conditions: Mapping[str, Json]) -> Json:
    """The spec, with the taints that the node controller puts on a node in trouble."""
    spec: Json = dict(fields.get("spec") or {})
    taints = [*(spec.get("taints") or ()), *(fields.get("taints") or ())]
    taints += [
        {"key": f"node.kubernetes.io/{pressure.taint}", "effect": "NoSchedule"}
        for pressure in PRESSURES
        if conditions[pressure.condition]["status"] == "True"
    ]
    if conditions["Ready"]["status"] != "True":
        taints.append({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})
    if fields.get("unschedulable") or fields.get("cordoned"):
        spec["unschedulable"] = True
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    return {**spec, **({"taints": taints} if taints else {})}
