"""The size of a cluster, and what it offers: all that the complexity tiers of a profile require of it (CO-14)."""

from collections.abc import Iterator, Mapping
from typing import Any

from sirocco.domains.kubernetes.evaluation.snapshot import labels_of, name_of, namespace_of
from sirocco.oasis.observation import Observation

_SYSTEM = frozenset({"kube-system", "kube-public", "kube-node-lease"})
_DEFAULT = "default"
_WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
_ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone", "zone")
_OF_SERVICE = {
    "metrics": ("observability-metrics", "alerting"),
    "traces": ("observability-tracing",),
    "dashboards": ("observability-dashboards",),
    "gitops": ("gitops",),
    "ci": ("ci-cd",),
}
_OF_KUBERNETES = ("container-orchestration", "observability-logging")
"""Pod logs come with the API."""


def cluster_counts(observation: Observation) -> dict[str, int]:
    """What can be counted of a cluster; what every cluster has is left aside."""
    objects = observation.data["objects"]
    workloads = [item for item in objects if item.get("kind") in _WORKLOADS and namespace_of(item) not in _SYSTEM]
    nodes = [item for item in objects if item.get("kind") == "Node"]
    namespaces = {name_of(item) for item in objects if item.get("kind") == "Namespace"} - _SYSTEM - {_DEFAULT}
    # Every cluster has a default namespace; it counts only if it is used.
    namespaces |= {namespace_of(item) for item in workloads}
    services = [item for item in objects if item.get("kind") == "Service" and namespace_of(item) not in _SYSTEM]
    services = [item for item in services if (namespace_of(item), name_of(item)) != (_DEFAULT, "kubernetes")]
    placed = [item for item in objects if item.get("kind") in {"Node", "Namespace"}]
    zones = {labels_of(item)[label] for item in placed for label in _ZONE_LABELS if labels_of(item).get(label)}
    return {
        "clusters": 1 if objects else 0,
        "nodes": len(nodes),
        "namespaces": len(namespaces),
        "workloads": len(workloads),
        "microservices": len(workloads),
        "services": len(services),
        "zones": len(zones),
    }


def interfaces(access: Mapping[str, Any]) -> Iterator[str]:
    """The interfaces that an agent's access offers."""
    if "kubernetes" in access:
        yield from _OF_KUBERNETES
    for service in access.get("services") or ():
        yield from interfaces_of(service)


def interfaces_of(service: str) -> tuple[str, ...]:
    """The interfaces that a service around the cluster stands for."""
    return _OF_SERVICE.get(service, ())
