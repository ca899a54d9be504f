"""Nodes as their kubelets report them: what they offer, how they do, where they stand."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kubesim.kinds.declared import declared
from kubesim.resource import BY_NOUN
from kubesim.status import Json

ZONE_LABEL = "topology.kubernetes.io/zone"
CAPACITY: Mapping[str, str] = {"cpu": "8", "memory": "32Gi", "pods": "110"}


class Pressure(NamedTuple):
    """A condition that a healthy node does not have, and what its kubelet says as long as it does not."""

    condition: str
    reason: str
    message: str
    taint: str


PRESSURES = (
    Pressure("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available",
             "memory-pressure"),
    Pressure("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure", "disk-pressure"),
    Pressure("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available", "pid-pressure"),
)  # fmt: skip


def healthy_conditions() -> dict[str, Json]:
    """The conditions of a node that is well, by type."""
    found: dict[str, Json] = {
        one.condition: {"type": one.condition, "status": "False", "reason": one.reason, "message": one.message}
        for one in PRESSURES
    }
    found["Ready"] = {"type": "Ready", "status": "True", "reason": "KubeletReady",
                      "message": "kubelet is posting ready status"}  # fmt: skip
    return found


def node(
    name: str,
    zone: str,
    *,
    kubelet: str,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    spec: Json | None = None,
    conditions: Iterable[Json] | None = None,
    capacity: Mapping[str, str] = CAPACITY,
    allocatable: Mapping[str, str] = CAPACITY,
) -> Json:
    """A node in a zone, which is well unless its conditions say otherwise."""
    own = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", ZONE_LABEL: zone}
    return declared(
        BY_NOUN["node"],
        {
            "metadata": {
                "name": name,
                "labels": {**own, **(labels or {})},
                **({"annotations": dict(annotations)} if annotations else {}),
            },
            "spec": spec or {},
            "status": {
                "capacity": dict(capacity),
                "allocatable": dict(allocatable),
                "conditions": list(healthy_conditions().values() if conditions is None else conditions),
                "addresses": [{"type": "Hostname", "address": name}],
                "nodeInfo": {"kubeletVersion": kubelet, "operatingSystem": "linux", "architecture": "amd64"},
            },
        },
    )
