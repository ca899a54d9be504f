"""What the server refuses in endpoint slices."""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import (
    all_invalid,
    duplicate,
    immutable,
    invalid,
    not_supported,
    required,
    too_many,
)
from kubesim.kinds.validation.metadata import label_causes, metadata_causes
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.names import (
    address,
    dns_label_problems,
    dns_subdomain_problems,
    qualified_name_problems,
)
from kubesim.status import Cause, Json

_MOST_TOPOLOGY_LABELS = 16
_MOST_ADDRESSES = 100
_MOST_PORTS = 100
_MOST_ENDPOINTS = 1000
_ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"]
_PROTOCOLS = ["SCTP", "TCP", "UDP"]


def _slice(row: Resource, obj: Json) -> list[Cause]:
    kind = obj.get("addressType", "")
    causes = metadata_causes(row, obj["metadata"])
    if not kind:
        causes.append(required("addressType"))
    elif kind not in _ADDRESS_TYPES:
        causes.append(not_supported("addressType", kind, _ADDRESS_TYPES))
    return [*causes, *_endpoints_causes(obj.get("endpoints") or [], kind), *_ports_causes(obj.get("ports") or [])]


def _slice_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    return [*_slice(row, new), *immutable("addressType", new.get("addressType", ""), old.get("addressType", ""))]


def _endpoints_causes(endpoints: list[Json], kind: str) -> list[Cause]:
    if len(endpoints) > _MOST_ENDPOINTS:
        return [too_many("endpoints", len(endpoints), _MOST_ENDPOINTS)]
    return [
        cause for index, row in enumerate(endpoints) for cause in _endpoint_causes(row, kind, f"endpoints[{index}]")
    ]


def _endpoint_causes(endpoint: Json, kind: str, path: str) -> list[Cause]:
    addresses, topology = endpoint.get("addresses") or [], endpoint.get("topology") or {}
    causes: list[Cause] = []
    if not addresses:
        causes.append(required(f"{path}.addresses", "must contain at least 1 address"))
    elif len(addresses) > _MOST_ADDRESSES:
        causes.append(too_many(f"{path}.addresses", len(addresses), _MOST_ADDRESSES))
    for index, text in enumerate(addresses):
        causes += _address_causes(text, kind, f"{path}.addresses[{index}]")
    node, host = endpoint.get("nodeName"), endpoint.get("hostname")
    if node is not None:
        causes += all_invalid(f"{path}.nodeName", node, dns_subdomain_problems(node))
    if len(topology) > _MOST_TOPOLOGY_LABELS:
        causes.append(too_many(f"{path}.topology", len(topology), _MOST_TOPOLOGY_LABELS))
    causes += label_causes(topology, f"{path}.topology")
    return causes if host is None else [*causes, *all_invalid(f"{path}.hostname", host, dns_label_problems(host))]


def _address_causes(text: str, kind: str, path: str) -> list[Cause]:
    if kind == "FQDN":
        return _domain_causes(text, path)
    found = address(text)
    if kind == "IPv4" and (found is None or found.version != 4):
        return [invalid(path, text, "must be a valid IPv4 address")]
    if kind == "IPv6" and (found is None or found.version != 6):
        return [invalid(path, text, "must be a valid IPv6 address")]
    return []


def _domain_causes(text: str, path: str) -> list[Cause]:
    if not text:
        return [required(path)]
    name = text.removesuffix(".")
    if problems := dns_subdomain_problems(name):
        return [invalid(path, name, ",".join(problems))]
    parts = name.split(".")
    if len(parts) < 2:
        return [invalid(path, name, "should be a domain with at least two segments separated by dots")]
    for part in parts:
        if problems := dns_label_problems(part):
            return [invalid(path, part, ",".join(problems))]
    return []


def _ports_causes(ports: list[Json]) -> list[Cause]:
    if len(ports) > _MOST_PORTS:
        return [too_many("ports", len(ports), _MOST_PORTS)]
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        path, name, protocol = f"ports[{index}]", port.get("name") or "", port.get("protocol")
        if name:
            causes += all_invalid(f"{path}.name", name, dns_label_problems(name))
        if name in seen:
            causes.append(duplicate(f"{path}.name", name))
        seen.add(name)
        if protocol is None:
            causes.append(required(f"{path}.protocol"))
        elif protocol not in _PROTOCOLS:
            causes.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
        application = port.get("appProtocol")
        if application is not None:
            causes += all_invalid(f"{path}.appProtocol", application, qualified_name_problems(application))
    return causes


CREATION: dict[str, CreationRule] = {"endpointslices.discovery.k8s.io": _slice}
UPDATE: dict[str, UpdateRule] = {"endpointslices.discovery.k8s.io": _slice_update}
