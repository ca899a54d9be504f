"""Connections between pods: which service a name means, what is behind it, whether network policies let them pass."""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kubesim.selection import match_labels
from kubesim.status import Json
from kubesim.store import Store

_SUFFIXES = (".svc.cluster.local", ".svc")
_USUAL_PORTS = {"https": 443}


class Outcome(StrEnum):
    """What became of an attempt to connect."""

    CONNECTED = "connected"
    REFUSED = "refused"
    TIMED_OUT = "timed out"
    UNKNOWN_HOST = "unknown host"


@dataclass(frozen=True, slots=True)
class Address:
    """Where something connects to."""

    host: str
    port: int

    @classmethod
    def from_text(cls, text: str, default: int = 80) -> "Address":
        """Read `host`, `host:port` or a URL; an invalid port becomes the usual one."""
        scheme, separator, rest = text.partition("://")
        if not separator:
            scheme, rest = "", text
        place = rest.partition("/")[0].rpartition("@")[2]
        host, _, port = place.partition(":")
        usual = _USUAL_PORTS.get(scheme, default)
        return cls(host, int(port) if port.isdecimal() and len(port) < 6 else usual)


def is_ready(pod: Json) -> bool:
    """Whether a pod is ready to serve."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions)


def attempt(store: Store, source: Json, address: Address) -> Outcome:
    """Connect from a pod to an address: itself, a service by its name or cluster IP, or a pod by its IP."""
    if address.host in {"localhost", "127.0.0.1", source["metadata"]["name"]}:
        return Outcome.CONNECTED if listens(store, source, address.port) else Outcome.REFUSED
    service = _service(store, source["metadata"]["namespace"], address.host)
    if service is None:
        pods = [pod for pod in store.items("pod") if (pod.get("status") or {}).get("podIP") == address.host]
        if not pods:
            return Outcome.TIMED_OUT if _is_ip(address.host) else Outcome.UNKNOWN_HOST
        return _to_any(store, source, [(pods[0], address.port)])
    port = next((item for item in service["spec"].get("ports") or () if item.get("port") == address.port), None)
    if port is None:
        return Outcome.TIMED_OUT
    selector = service["spec"].get("selector")
    if not selector:
        return Outcome.CONNECTED if store.get("endpoints", *_place(service)) else Outcome.REFUSED
    selects = match_labels({"matchLabels": selector})
    target = port.get("targetPort", address.port)
    behind = [(pod, target) for pod in store.items("pod", service["metadata"]["namespace"])
              if selects(pod) and is_ready(pod)]  # fmt: skip
    return _to_any(store, source, behind)


def listens(store: Store, pod: Json, port: int) -> bool:
    """Whether something listens on a port of a pod: one that a container declares, or that a service leads to."""
    if not is_ready(pod):
        return False
    own = {item.get("containerPort"): item.get("name") for container in pod["spec"].get("containers") or ()
           for item in container.get("ports") or ()}  # fmt: skip
    services = (
        item["spec"] for item in store.items("service", pod["metadata"]["namespace"])
        if item["spec"].get("selector") and match_labels({"matchLabels": item["spec"]["selector"]})(pod)
    )  # fmt: skip
    led_to = {item.get("targetPort", item.get("port")) for spec in services for item in spec.get("ports") or ()}
    return port in own or port in led_to


def _to_any(store: Store, source: Json, targets: Sequence[tuple[Json, Any]]) -> Outcome:
    ready = [(pod, port) for pod, port in targets if is_ready(pod)]
    if not ready:
        return Outcome.REFUSED
    open_ones = [pod for pod, port in ready if _may_pass(store, source, pod, port)]
    return Outcome.CONNECTED if open_ones else Outcome.TIMED_OUT


def _may_pass(store: Store, source: Json, target: Json, port: Any) -> bool:
    """Whether the policies on both ends let a connection through."""
    return _is_allowed(store, target, source, port, "Ingress", "from") and _is_allowed(
        store, source, target, port, "Egress", "to"
    )


def _is_allowed(store: Store, pod: Json, peer: Json, port: Any, direction: str, side: str) -> bool:
    """Whether no policy isolates a pod in a direction, or one of those that do has a rule for the peer."""
    policies = [
        item["spec"] for item in store.items("networkpolicy", pod["metadata"]["namespace"])
        if direction in (item["spec"].get("policyTypes") or ["Ingress"])
        and match_labels(item["spec"].get("podSelector") or {})(pod)
    ]  # fmt: skip
    if not policies:
        return True
    rules = (rule for spec in policies for rule in spec.get(direction.lower()) or ())
    return any(
        _has_port(rule.get("ports"), port) and _has_peer(store, rule.get(side), peer, pod["metadata"]["namespace"])
        for rule in rules
    )


def _has_port(ports: Iterable[Mapping[str, Any]] | None, port: Any) -> bool:
    return not ports or any(item.get("port") in {None, port} for item in ports)


def _has_peer(store: Store, peers: Iterable[Mapping[str, Any]] | None, pod: Json, namespace: str) -> bool:
    return not peers or any(_is_peer(store, peer, pod, namespace) for peer in peers)


def _is_peer(store: Store, peer: Mapping[str, Any], pod: Json, namespace: str) -> bool:
    block = peer.get("ipBlock")
    if block:
        address = (pod.get("status") or {}).get("podIP", "")
        outside = any(_is_in(address, excepted) for excepted in block.get("except") or ())
        return _is_in(address, block.get("cidr", "")) and not outside
    home = pod["metadata"]["namespace"]
    if peer.get("namespaceSelector") is not None:
        place = store.get("namespace", "", home)
        if place is None or not match_labels(peer["namespaceSelector"])(place):
            return False
    elif home != namespace:
        return False
    return peer.get("podSelector") is None or match_labels(peer["podSelector"])(pod)


def _service(store: Store, namespace: str, host: str) -> Json | None:
    """The service that a host name means to a pod of a namespace."""
    for suffix in _SUFFIXES:
        host = host.removesuffix(suffix)
    name, _, place = host.partition(".")
    found = store.get("service", place or namespace, name)
    by_address = (item for item in store.items("service") if item["spec"].get("clusterIP") == host)
    return found or next(by_address, None)


def _place(service: Json) -> tuple[str, str]:
    return service["metadata"]["namespace"], service["metadata"]["name"]


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_in(address: str, block: str) -> bool:
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(block, strict=False)
    except ValueError:
        return False
