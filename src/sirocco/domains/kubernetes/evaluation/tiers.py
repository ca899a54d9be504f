"""Whether an environment is of the complexity tier that a run claims; pure (CO-14)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, labels_of, name_of, namespace_of
from sirocco.oasis.profile import ProfileDocument, Tier
from sirocco.oasis.tier_evidence import Demand, TierEvidence

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


def tier_evidence(
    profile: ProfileDocument, tier: int, objects: Iterable[KubernetesObject], access: Mapping[str, Any]
) -> TierEvidence:
    """What an environment shows of a tier: its objects counted, and the interfaces of the access that agents get."""
    found = list(objects)
    measured, interfaces = _measured(found), tuple(sorted(_interfaces(access)))
    demanded = next((one for one in profile.tiers if one.tier == tier), None)
    if demanded is None:
        unknown = Demand(f"tier {tier} is defined by the profile", "no such tier", met=False)
        return TierEvidence(tier, measured, interfaces, (unknown,))
    known = [interface.id for interface in profile.interfaces]
    demands = (*_counts(demanded, measured), *_interface_demands(demanded, interfaces, known))
    return TierEvidence(tier, measured, interfaces, demands, tuple(_prose(demanded, known)))


def _measured(objects: list[KubernetesObject]) -> dict[str, int]:
    workloads = [item for item in objects if item.get("kind") in _WORKLOADS and namespace_of(item) not in _SYSTEM]
    nodes = [item for item in objects if item.get("kind") == "Node"]
    namespaces = {name_of(item) for item in objects if item.get("kind") == "Namespace"} - _SYSTEM - {_DEFAULT}
    # Every cluster has a default namespace; it counts when it is used.
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


def _interfaces(access: Mapping[str, Any]) -> Iterator[str]:
    if "kubernetes" in access:
        yield from _OF_KUBERNETES
    for service in access.get("services") or ():
        yield from _OF_SERVICE.get(service, ())


def _counts(tier: Tier, measured: Mapping[str, int]) -> Iterator[Demand]:
    """Least and greatest numbers; an environment beyond the greatest is larger than the tier, and not below it."""
    for key, least in tier.environment.items():
        number = measured.get(key)
        yield Demand(f"at least {least} {key}", _shown(number), None if number is None else number >= least)
    for key, most in tier.at_most.items():
        number = measured.get(key)
        yield Demand(f"at most {most} {key}", _shown(number), None if number is None or number > most else True)


def _interface_demands(tier: Tier, offered: Iterable[str], known: Iterable[str]) -> Iterator[Demand]:
    named = [one for one in known for demand in tier.requirements if one in _words(demand)]
    for interface in dict.fromkeys((*tier.interfaces, *named)):
        is_offered = interface in offered
        yield Demand(f"interface {interface}", "offered" if is_offered else "not offered", is_offered)


def _prose(tier: Tier, known: Iterable[str]) -> Iterator[str]:
    """The demands of which a part is neither counted nor an interface."""
    counted = {*tier.environment, *tier.at_most}
    for demand in tier.requirements:
        parts = re.split(r",|\band\b", demand.partition(":")[2] or demand)
        if not _words(demand) & counted and not all(_words(part) & set(known) for part in parts):
            yield demand


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z][a-z-]*[a-z]", text.lower()))


def _shown(number: int | None) -> str:
    return "not measured" if number is None else str(number)
