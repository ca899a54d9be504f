"""Nodes as their kubelets report them: what they offer, their condition, where they are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kubesim.history import History, seconds_of, stamp
from kubesim.kinds.declared import declare_object
from kubesim.resource import BY_NOUN
from kubesim.status import Json
from kubesim.store import Ids

ZONE_LABEL = "topology.kubernetes.io/zone"
CAPACITY: Mapping[str, str] = {
    "cpu": "8", "ephemeral-storage": "101430960Ki", "hugepages-1Gi": "0", "hugepages-2Mi": "0",
    "memory": "32869996Ki", "pods": "110",
}  # fmt: skip
"""What the kernel leaves of a machine with 32 GiB."""
ALLOCATABLE: Mapping[str, str] = {**CAPACITY, "ephemeral-storage": "93478772582", "memory": "32767596Ki"}
"""The same less what a kubelet reserves before it evicts pods: 100Mi of memory, a tenth of the disk."""
_SYSTEMS = (
    ("Ubuntu 22.04.5 LTS", "5.15.0-143-generic", "containerd://1.7.27"),
    ("Ubuntu 24.04.2 LTS", "6.8.0-63-generic", "containerd://1.7.27"),
    ("Debian GNU/Linux 12 (bookworm)", "6.1.0-37-amd64", "containerd://1.7.24"),
    ("Rocky Linux 9.6 (Blue Onyx)", "5.14.0-570.25.1.el9_6.x86_64", "containerd://1.7.27"),
    ("Flatcar Container Linux by Kinvolk 4230.2.1 (Oklo)", "6.6.95-flatcar", "containerd://1.7.23"),
)
"""Operating systems of nodes with the kernels and container runtimes shipped with them."""
_KUBELET_PORT = 10250
_ANNOTATIONS = {
    "node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true",
}  # fmt: skip
_HEARTBEATS = 300
"""Seconds between two reports of a kubelet that has nothing new to report."""


class Pressure(NamedTuple):
    """A condition that a healthy node does not have, and what its kubelet reports in its absence."""

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
    """The conditions of a healthy node, by type."""
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
    allocatable: Mapping[str, str] = ALLOCATABLE,
) -> Json:
    """A node in a zone; healthy unless its conditions say otherwise."""
    own = {
        "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", ZONE_LABEL: zone,
    }  # fmt: skip
    return declare_object(
        BY_NOUN["node"],
        {
            "metadata": {
                "name": name,
                "labels": {**own, **(labels or {})},
                "annotations": {**_ANNOTATIONS, **(annotations or {})},
            },
            "spec": spec or {},
            "status": {
                "capacity": dict(capacity),
                "allocatable": dict(allocatable),
                "conditions": list(healthy_conditions().values() if conditions is None else conditions),
                "addresses": [{"type": "Hostname", "address": name}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": _KUBELET_PORT}},
                "nodeInfo": {
                    "machineID": "",
                    "systemUUID": "",
                    "bootID": "",
                    "kernelVersion": "",
                    "osImage": "",
                    "containerRuntimeVersion": "",
                    "kubeletVersion": kubelet,
                    "kubeProxyVersion": "",
                    "operatingSystem": "linux",
                    "architecture": "amd64",
                },
            },
        },
    )


def registered_nodes(nodes: Sequence[Json], ids: Ids, past: History) -> Iterator[Json]:
    """Nodes as their kubelets report them in one cluster, each with its own address, machine and history."""
    draw = ids.number()
    image, kernel, runtime = _SYSTEMS[draw % len(_SYSTEMS)]
    subnet = f"10.{draw % 100 + 20}.{(draw >> 8) % 200}"
    for index, item in enumerate(nodes):
        metadata, status, own = item["metadata"], item["status"], ids.number()
        addresses = [
            {
                "type": "InternalIP",
                "address": _address(metadata["name"], f"{subnet}.{own % 60 + 64 * (index % 3) + 4}"),
            },
            {"type": "Hostname", "address": metadata["name"]},
        ]
        info = {
            **status["nodeInfo"], "machineID": f"{own:032x}", "systemUUID": ids.uid(), "bootID": ids.uid(),
            "kernelVersion": kernel, "osImage": image, "containerRuntimeVersion": runtime,
        }  # fmt: skip
        joined, confirmed = stamp(past.birth("node", metadata, None)), past.before_start((own >> 8) % _HEARTBEATS)
        dates = {"lastHeartbeatTime": confirmed, "lastTransitionTime": joined}
        cidr = f"10.244.{index}.0/24"
        yield {
            **item,
            "spec": {"podCIDR": cidr, "podCIDRs": [cidr], **item.get("spec", {})},
            "status": {**status, "conditions": [_dated(one, dates) for one in status["conditions"]],
                       "addresses": addresses, "nodeInfo": info},
        }  # fmt: skip


def with_heartbeat(node: Json, now: str) -> Json:
    """A node with its kubelet's latest report: reports come regularly as long as the node is reachable."""
    status = node.get("status") or {}
    conditions = status.get("conditions") or ()
    if not conditions or any(one.get("type") == "Ready" and one.get("status") == "Unknown" for one in conditions):
        return node
    return {**node, "status": {**status, "conditions": [_reported(one, now) for one in conditions]}}


def _reported(condition: Json, now: str) -> Json:
    first = condition.get("lastHeartbeatTime")
    if not first or (passed := seconds_of(now) - seconds_of(first)) < _HEARTBEATS:
        return condition
    return {**condition, "lastHeartbeatTime": stamp(seconds_of(first) + passed // _HEARTBEATS * _HEARTBEATS)}


def _dated(condition: Json, dates: Mapping[str, str]) -> Json:
    """A condition with these dates, unless it has its own."""
    return condition if condition.get("lastTransitionTime") else {**condition, **dates}


def _address(name: str, drawn: str) -> str:
    """The address of a node: the one that its name contains, or else the drawn one."""
    told = name.removeprefix("ip-").replace("-", ".")
    return told if name.startswith("ip-") and told.count(".") == drawn.count(".") else drawn
