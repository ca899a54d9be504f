"""Nodes from state entries: what they offer, how they do, and what they let be scheduled."""

from collections.abc import Mapping
from typing import Any

from kubesim.kinds.declared import declared
from kubesim.resource import BY_NOUN
from kubesim.status import Json
from sirocco.domains.kubernetes.simulator.checks import as_text
from sirocco.domains.kubernetes.simulator.health import bare
from sirocco.domains.kubernetes.simulator.layout import OWNER_LABEL, ZONE_LABEL
from sirocco.domains.kubernetes.simulator.vocabulary import given
from sirocco.oasis.scenario import StateEntry

_CAPACITY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
_WORDS = {
    "cpu": {"low": "250m", "medium": "4", "high": "8"},
    "memory": {"low": "256Mi", "medium": "8Gi", "high": "32Gi"},
}  # fmt: skip
"""What a node can offer where a scenario has a word in place of an amount."""
_PRESSURES = {
    "memory_pressure": ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available",
                        "memory-pressure"),
    "disk_pressure": ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure", "disk-pressure"),
    "pid_pressure": ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available", "pid-pressure"),
}  # fmt: skip


def node_manifest(entry: StateEntry, zone: str) -> Json:
    """A node in a zone that is ready unless its entry says otherwise."""
    fields = entry.fields
    conditions = _conditions(fields)
    allocatable = {
        **_CAPACITY,
        **{str(key): as_text(value) for key, value in (fields.get("allocatable") or {}).items()},
    }
    for key, what in (("allocatable_cpu", "cpu"), ("allocatable_memory", "memory")):
        if key in fields:
            allocatable[what] = _WORDS[what].get(bare(as_text(fields[key])), as_text(fields[key]))
    capacity = {**allocatable, **{str(key): as_text(value) for key, value in (fields.get("capacity") or {}).items()}}
    labels = {
        "kubernetes.io/hostname": entry.name, "kubernetes.io/os": "linux",
        ZONE_LABEL: as_text(fields.get("zone", zone)),
        **({OWNER_LABEL: as_text(fields["owner_team"])} if "owner_team" in fields else {}),
        **{str(key): as_text(value) for key, value in (given(entry, "labels") or {}).items()},
    }  # fmt: skip
    notes = {str(key): as_text(value) for key, value in (given(entry, "annotations") or {}).items()}
    return declared(
        BY_NOUN["node"],
        {
            "metadata": {"name": entry.name, "labels": labels, **({"annotations": notes} if notes else {})},
            "spec": _spec(fields, conditions),
            "status": {
                "capacity": capacity,
                "allocatable": allocatable,
                "conditions": list(conditions.values()),
                "addresses": [{"type": "Hostname", "address": entry.name}],
                "nodeInfo": {"kubeletVersion": "v1.29.4", "operatingSystem": "linux", "architecture": "amd64"},
            },
        },
    )


def _conditions(fields: Mapping[str, Any]) -> dict[str, Json]:
    """The usual conditions of a node, with what was declared laid over them."""
    found: dict[str, Json] = {}
    for key, (kind, reason, message, _) in _PRESSURES.items():
        holds = bool(fields.get(key))
        why = f"KubeletHas{kind}" if holds else reason
        text = f"kubelet has {kind}" if holds else message
        found[kind] = {"type": kind, "status": "True" if holds else "False", "reason": why, "message": text}
    if bare(str(fields.get("status", "ready"))) == "notready":
        found["Ready"] = {"type": "Ready", "status": "False", "reason": "KubeletNotReady",
                          "message": "container runtime is down"}  # fmt: skip
    else:
        found["Ready"] = {"type": "Ready", "status": "True", "reason": "KubeletReady",
                          "message": "kubelet is posting ready status"}  # fmt: skip
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
    for kind, _, _, word in _PRESSURES.values():
        if conditions[kind]["status"] == "True":
            taints.append({"key": f"node.kubernetes.io/{word}", "effect": "NoSchedule"})
    if conditions["Ready"]["status"] != "True":
        taints.append({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})
    if fields.get("unschedulable") or fields.get("cordoned"):
        spec["unschedulable"] = True
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    return {**spec, **({"taints": taints} if taints else {})}
