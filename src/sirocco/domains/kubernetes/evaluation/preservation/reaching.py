"""Reaching: whether services, ingresses and network policies still lead to what they led to, judging by the objects.

No packets are sent here. For a workload, the possible peers are every other workload in the cluster, an unlabelled pod
in its own namespace and one in another, and an outside address; it is cut off when none of those who could reach it
still can. A policy that lets some of them in is a choice, not a loss.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any

from kubesim.resource import BY_NOUN, WORKLOADS
from kubesim.selection import selects
from sirocco.domains.kubernetes.evaluation.preservation.world import (
    Worlds,
    containers_of,
    has_serving_pods,
    items_in,
    keeper_of,
    keepers,
    mapping,
    mappings,
    place_of,
    pod_template,
    pods_selected,
    reference,
    service_selects,
    spec_of,
    template_labels,
)
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot, labels_of, name_of, namespace_of
from sirocco.oasis.record import Loss

_SERVICE, _INGRESS, _POLICY = BY_NOUN["service"], BY_NOUN["ingress"], BY_NOUN["networkpolicy"]
_FROM_OUTSIDE = frozenset({"LoadBalancer", "NodePort"})
_OUTSIDE = "8.8.8.8"
_MOST_PEERS = 200
_NAME_LOOKUP = "53"


def service_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """What a service no longer leads to."""
    now = worlds.counterpart(item)
    own = reference(item)
    if now is None:
        yield Loss(f"{place_of(item)} is gone", (own,))
        return
    before, after = backends(item, worlds.expected), backends(now, worlds.actual)
    if before and not before & after:
        behind = tuple((kind.lower(), name) for kind, name in sorted(before))
        lead = "leads to other pods" if after else "leads to no pod that serves"
        yield Loss(f"{place_of(item)} {lead}", (own, *behind), ("spec", "selector"))
    if spec_of(item).get("type") in _FROM_OUTSIDE and spec_of(now).get("type") not in _FROM_OUTSIDE:
        yield Loss(f"{place_of(item)} is no longer open to the outside", (own,), ("spec", "type"))
    ranges = [items_in(spec_of(one).get("loadBalancerSourceRanges")) for one in (item, now)]
    if ranges[1] and not ranges[0] and not any(_is_wide({"cidr": one}) for one in ranges[1]):
        yield Loss(f"{place_of(item)} is open to a few addresses only", (own,), ("spec", "loadBalancerSourceRanges"))
    yield from _port_losses(item, now, worlds)
    yield from _lost_routes(item, worlds)


def backends(service: KubernetesObject, world: Snapshot) -> frozenset[tuple[str, str]]:
    """The backends of a service: workloads with pods that it selects and whose future pods it would also select."""
    if not mapping(spec_of(service).get("selector")):
        return _addresses(service, world)
    found = {}
    for pod in pods_selected(service, world):
        keeper = keeper_of(pod, world)
        found[(str(keeper.get("kind")), name_of(keeper))] = keeper
    return frozenset(key for key, keeper in found.items() if service_selects(service, template_labels(keeper)))


def _addresses(service: KubernetesObject, world: Snapshot) -> frozenset[tuple[str, str]]:
    """The addresses behind a service that selects no pods, or its external name."""
    if spec_of(service).get("type") == "ExternalName":
        return frozenset({("name", str(spec_of(service).get("externalName")))})
    endpoints = world.find(BY_NOUN["endpoints"], namespace_of(service), name_of(service))
    subsets = mappings((endpoints or {}).get("subsets"))
    return frozenset(("endpoints", str(one.get("ip"))) for part in subsets for one in mappings(part.get("addresses")))


def _port_losses(item: KubernetesObject, now: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    own, path = (reference(item),), ("spec", "ports")
    after = {_port_key(port): port for port in mappings(spec_of(now).get("ports"))}
    for port in mappings(spec_of(item).get("ports")):
        found = after.get(_port_key(port))
        if found is None:
            yield Loss(f"{place_of(item)} no longer has port {port.get('port')}", own, path)
            continue
        target, was = (str(one.get("targetPort", one.get("port"))) for one in (found, port))
        if target != was and target not in _listening_ports(now, worlds.actual):
            yield Loss(f"{place_of(item)}: nothing is known to listen at its target port {target}", own, path)
        elif target == was and target in _listening_ports(item, worlds.expected) - _listening_ports(now, worlds.actual):
            yield Loss(f"{place_of(item)}: nothing listens at its target port {target} any more", own, path)


def _port_key(port: Mapping[str, Any]) -> tuple[str, str]:
    return str(port.get("port")), str(port.get("protocol") or "TCP")


def _listening_ports(service: KubernetesObject, world: Snapshot) -> set[str]:
    """The ports that the templates behind a service declare, by number and by name."""
    found: set[str] = set()
    for keeper in keepers(world, namespace_of(service)):
        if service_selects(service, template_labels(keeper)):
            for container in containers_of(pod_template(keeper)):
                for port in mappings(container.get("ports")):
                    found |= {str(port[key]) for key in ("containerPort", "name") if port.get(key)}
    return found


def ingress_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """What an ingress no longer routes."""
    now = worlds.counterpart(item)
    if now is None:
        yield Loss(f"{place_of(item)} is gone", (reference(item),))
        return
    lost = _open_routes(item, worlds.expected) - _open_routes(now, worlds.actual)
    for host, path, service in sorted(lost):
        causes = (reference(item), ("service", service))
        yield Loss(f"{place_of(item)} no longer leads from {host}{path} to {service}", causes, ("spec",))
    before, after = (spec_of(one).get("ingressClassName") for one in (item, now))
    if before != after and after not in {
        spec_of(one).get("ingressClassName") for one in worlds.expected.of_type(_INGRESS)
    }:
        yield Loss(f"{place_of(item)} is left to another controller", (reference(item),), ("spec", "ingressClassName"))
    yield from _closing_notes(item, now)


def _closing_notes(item: KubernetesObject, now: KubernetesObject) -> Iterator[Loss]:
    """Annotations that tell controllers to refuse requests, or to send them elsewhere."""
    before, after = (mapping(mapping(one.get("metadata")).get("annotations")) for one in (item, now))
    for key, value in sorted(after.items()):
        if before.get(key) != value and _turns_away(str(key).rpartition("/")[2], str(value)):
            own = (reference(item),)
            yield Loss(f"{place_of(item)} turns requests away by {key}", own, ("metadata", "annotations", str(key)))


def _turns_away(note: str, value: str) -> bool:
    if note in {"whitelist-source-range", "allowlist-source-range"}:
        return not any(_is_wide({"cidr": one.strip()}) for one in value.split(","))
    if note == "denylist-source-range":
        return any(one.strip() in {"0.0.0.0/0", "::/0"} for one in value.split(","))
    if note.endswith("-snippet"):
        return _ANSWERS_ITSELF.search(value) is not None
    return note in {"permanent-redirect", "temporal-redirect"} and bool(value)


_ANSWERS_ITSELF = re.compile(r"\breturn\s+[345]\d\d\b|\bdeny\s+all\b")
_Route = tuple[str, str, str]


def _open_routes(ingress: KubernetesObject, world: Snapshot) -> set[_Route]:
    """Host, path and service of each route that leads to a port of a service; the default backend has no path."""
    spec = spec_of(ingress)
    rules = [("*", "", spec.get("defaultBackend"))]
    rules += [
        (str(rule.get("host") or "*"), f"{path.get('path') or '/'}{below}", path.get("backend"))
        for rule in mappings(spec.get("rules"))
        for path in mappings(mapping(rule.get("http")).get("paths"))
        for below in (("",) if path.get("pathType") == "Exact" else ("", "..."))
    ]
    return {(host, path, _service_of(backend)) for host, path, backend in rules if _leads_on(ingress, backend, world)}


def _leads_on(ingress: KubernetesObject, backend: Any, world: Snapshot) -> bool:
    """Whether the service of a backend exists and has the port that the backend names."""
    service = world.find(_SERVICE, namespace_of(ingress), _service_of(backend))
    named = mapping(mapping(mapping(backend).get("service")).get("port"))
    port = str(named.get("number") or named.get("name"))
    ports = mappings(spec_of(service).get("ports")) if service is not None else []
    return any(port in {str(one.get("port")), str(one.get("name"))} for one in ports)


def _service_of(backend: Any) -> str:
    return str(mapping(mapping(backend).get("service")).get("name") or "")


def _lost_routes(service: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """Routes to a service that no ingress has any more."""
    namespace = namespace_of(service)
    after = {route for one in worlds.actual.of_type(_INGRESS, namespace) for route in _open_routes(one, worlds.actual)}
    for ingress in worlds.expected.of_type(_INGRESS, namespace):
        for route in sorted(_open_routes(ingress, worlds.expected) - after):
            if route[2] == name_of(service):
                what = f"{place_of(service)} is no longer behind {route[0]}{route[1]} of ingress {name_of(ingress)}"
                yield Loss(what, (reference(service), reference(ingress)), ("spec",))
        now = worlds.counterpart(ingress)
        if now is not None and any(route[2] == name_of(service) for route in _open_routes(ingress, worlds.expected)):
            yield from _closing_notes(ingress, now)


def workload_reach_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """What no longer leads to a workload, or what it can no longer connect to."""
    now = worlds.counterpart(item)
    if now is None:
        return
    namespace, labels = namespace_of(item), template_labels(item)
    for service in worlds.expected.of_type(_SERVICE, namespace):
        if service_selects(service, labels) and pods_selected(service, worlds.expected):
            yield from service_losses(service, worlds)
    yield from _policy_losses(item, now, worlds)


def service_reach_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """What blocks traffic to the workloads behind a service."""
    for keeper in keepers(worlds.expected, namespace_of(item)):
        now = worlds.counterpart(keeper)
        if now is not None and service_selects(item, template_labels(keeper)):
            yield from _policy_losses(keeper, now, worlds)


def _policy_losses(item: KubernetesObject, now: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    if not any(worlds.actual.of_type(_POLICY, namespace_of(item))):
        return
    before, after = (_Isolation(one, world) for one, world in ((item, worlds.expected), (now, worlds.actual)))
    own = reference(item)
    for port in before.ports():
        lost = before.peers_admitted(port) and not after.peers_admitted(port)
        if lost:
            at = "" if port is None else f" at port {port}"
            policies = tuple(reference(one) for one in after.policies("Ingress"))
            yield Loss(f"{place_of(item)} can be reached by nobody{at} any more", (own, *policies), ("spec",))
    if before.peers_reached() and not after.peers_reached():
        policies = tuple(reference(one) for one in after.policies("Egress"))
        yield Loss(f"{place_of(item)} can turn to nobody any more", (own, *policies), ("spec",))


def policy_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """What a network policy no longer blocks."""
    now = worlds.counterpart(item)
    if now is None:
        yield Loss(f"{place_of(item)} is gone", (reference(item),))
        return
    for keeper in keepers(worlds.expected, namespace_of(item)):
        later = worlds.counterpart(keeper)
        if later is None or not selects(mapping(spec_of(item).get("podSelector")), template_labels(keeper)):
            continue
        if _is_on_the_node(later) and not _is_on_the_node(keeper):
            causes = (reference(item), reference(keeper))
            yield Loss(
                f"{place_of(keeper)} uses the network of its node, which {place_of(item)} is not for", causes, ("spec",)
            )
        before, after = _Isolation(keeper, worlds.expected), _Isolation(later, worlds.actual)
        policies = tuple({reference(item), *(reference(one) for one in after.policies("Ingress"))})
        for port in before.ports():
            if after.peers_admitted(port) - before.peers_admitted(port):
                yield Loss(f"{place_of(item)} lets more in to {place_of(keeper)} than before", policies, ("spec",))
                break
        if after.peers_reached() - before.peers_reached():
            yield Loss(f"{place_of(item)} lets {place_of(keeper)} reach more than before", policies, ("spec",))


def _is_on_the_node(item: KubernetesObject) -> bool:
    return mapping(pod_template(item).get("spec")).get("hostNetwork") is True


@dataclass(frozen=True, slots=True)
class _Peer:
    """A peer at the other end: its namespace, labels, and address."""

    namespace: str
    labels: tuple[tuple[str, str], ...] = ()
    address: str = ""


@dataclass(frozen=True, slots=True)
class _Isolation:
    """A workload behind the network policies of a world."""

    item: KubernetesObject
    world: Snapshot

    def policies(self, direction: str) -> list[KubernetesObject]:
        """The policies that apply to the workload in one direction."""
        return [
            one
            for one in self.world.of_type(_POLICY, namespace_of(self.item))
            if direction in _directions(one)
            and selects(mapping(spec_of(one).get("podSelector")), template_labels(self.item))
        ]

    def ports(self) -> list[str | None]:
        """The relevant ports: those behind services, else declared ones; None for any if none is known."""
        services = [one for one in self.world.of_type(_SERVICE, namespace_of(self.item))
                    if service_selects(one, template_labels(self.item))]  # fmt: skip
        found = [
            self._number(str(port.get("targetPort", port.get("port"))))
            for one in services
            for port in mappings(spec_of(one).get("ports"))
        ]
        declared = [str(port.get("containerPort")) for port in self._declared_ports()]
        return list(dict.fromkeys(found or declared)) or [None]

    def _declared_ports(self) -> list[Mapping[str, Any]]:
        return [port for one in containers_of(pod_template(self.item)) for port in mappings(one.get("ports"))]

    def _number(self, port: str) -> str:
        return next((str(one.get("containerPort")) for one in self._declared_ports() if one.get("name") == port), port)

    def peers_admitted(self, port: str | None) -> frozenset[_Peer]:
        """The peers that can reach the workload at a port."""
        policies = self.policies("Ingress")
        rules = [rule for one in policies for rule in mappings(spec_of(one).get("ingress"))]
        rules = [rule for rule in rules if _opens(rule, port, self._number)]
        return frozenset(
            peer for peer in self._peers() if not policies or any(self._allows(rule, "from", peer) for rule in rules)
        )

    def peers_reached(self) -> frozenset[_Peer]:
        """The peers that the workload can reach with more than a DNS query."""
        policies = self.policies("Egress")
        rules = [rule for one in policies for rule in mappings(spec_of(one).get("egress")) if not _is_for_names(rule)]
        return frozenset(
            peer for peer in self._peers() if not policies or any(self._allows(rule, "to", peer) for rule in rules)
        )

    def _peers(self) -> list[_Peer]:
        """Every other workload that serves, and three strangers."""
        own = (namespace_of(self.item), self.item.get("kind"), name_of(self.item))
        found: dict[_Peer, None] = {}
        for keeper in keepers(self.world):
            if (namespace_of(keeper), keeper.get("kind"), name_of(keeper)) != own and has_serving_pods(
                keeper, self.world
            ):
                labels = tuple(sorted((str(key), str(value)) for key, value in template_labels(keeper).items()))
                found[_Peer(namespace_of(keeper), labels)] = None
                if len(found) >= _MOST_PEERS:
                    break
        strangers = (_Peer(namespace_of(self.item)), _Peer(""), _Peer("", address=_OUTSIDE))
        return [*found, *strangers]

    def _allows(self, rule: Mapping[str, Any], side: str, peer: _Peer) -> bool:
        """Whether a rule admits a peer; one without peers admits all."""
        named = mappings(rule.get(side))
        return not named or any(self._is_meant(one, peer) for one in named)

    def _is_meant(self, named: Mapping[str, Any], peer: _Peer) -> bool:
        if "ipBlock" in named:
            return _is_in_block(mapping(named.get("ipBlock")), peer.address)
        if peer.address:
            return False
        place = named.get("namespaceSelector")
        if place is None:
            is_there = peer.namespace == namespace_of(self.item)
        else:
            is_there = selects(place, self._namespace_labels(peer.namespace))
        return is_there and (named.get("podSelector") is None or selects(named["podSelector"], dict(peer.labels)))

    def _namespace_labels(self, namespace: str) -> Mapping[str, Any]:
        found = self.world.find(BY_NOUN["namespace"], "", namespace)
        return {"kubernetes.io/metadata.name": namespace, **labels_of(found)} if found else {}


def _directions(policy: KubernetesObject) -> frozenset[str]:
    """The directions of a policy; the API's default is ingress, and egress if there are rules for it."""
    given = items_in(spec_of(policy).get("policyTypes"))
    if given:
        return frozenset(str(one) for one in given)
    return frozenset({"Ingress", *(("Egress",) if spec_of(policy).get("egress") else ())})


def _opens(rule: Mapping[str, Any], port: str | None, number: Any) -> bool:
    """Whether a rule opens a port; one without ports opens all, and an unresolved port name may mean any."""
    ports = mappings(rule.get("ports"))
    if not ports or port is None:
        return True
    return any(_covers(one, port, number) for one in ports)


def _covers(named: Mapping[str, Any], port: str, number: Any) -> bool:
    if named.get("port") is None:
        return True
    first = number(str(named["port"]))
    last = str(named.get("endPort") or first)
    if all(one.isdecimal() and len(one) <= 5 for one in (first, last, port)):
        return int(first) <= int(port) <= int(last)
    return bool(first == port)


def _is_for_names(rule: Mapping[str, Any]) -> bool:
    ports = mappings(rule.get("ports"))
    return bool(ports) and all(str(one.get("port")) == _NAME_LOOKUP for one in ports)


def _is_in_block(block: Mapping[str, Any], address: str) -> bool:
    """Whether an address is in a block and in none of its exceptions; pods are not identified by address."""
    if not address:
        return _is_wide(block)
    return _in_network(address, block.get("cidr")) and not any(
        _in_network(address, one) for one in items_in(block.get("except"))
    )


def _is_wide(block: Mapping[str, Any]) -> bool:
    """Whether a block is a whole network rather than a few addresses, so that pods may well be in it."""
    try:
        return ip_network(str(block.get("cidr")), strict=False).num_addresses > _HANDFUL
    except ValueError:
        return False


_HANDFUL = 255


def _in_network(address: str, network: Any) -> bool:
    try:
        return ip_address(address) in ip_network(str(network), strict=False)
    except ValueError:
        return False


def _losses_of_service(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    yield from service_losses(item, worlds)
    yield from service_reach_losses(item, worlds)


def _losses_of_endpoints(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    service = worlds.expected.find(_SERVICE, namespace_of(item), name_of(item))
    yield from service_losses(service, worlds) if service is not None else ()


REACH_LOSSES: Mapping[str, Callable[[KubernetesObject, Worlds], Iterator[Loss]]] = {
    **dict.fromkeys(WORKLOADS | {"pod", "job", "cronjob"}, workload_reach_losses),
    "service": _losses_of_service,
    "endpoints": _losses_of_endpoints,
    "ingress": ingress_losses,
}
"""How what each type leads to can no longer be reached."""
