"""The cluster addresses and node ports of services: which are taken, and which a service gets."""

import ipaddress
from typing import Any

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.strategy.services import needs_health_check
from kubesim.kinds.validation import fields
from kubesim.kinds.validation.recent import reworded
from kubesim.status import ApiError, Cause, Json, internal_error, invalid
from kubesim.store import Store

_PORTS_OPTIONAL_SINCE = 22
"""The first release in which load balancers can do without node ports."""
_WORDED_ANEW = 34
"""The first release known to word a refused address differently."""
RANGE = ipaddress.IPv4Network("10.96.0.0/16")
PORTS = range(30000, 32768)
_WITH_NODE_PORTS = frozenset({"NodePort", "LoadBalancer"})
_FAMILIES_SINCE = 21
_INTERNAL_POLICY_SINCE = 22


def with_addresses(store: Store, resource: Resource, service: Json, old: Json | None, *, dry_run: bool = False) -> Json:
    """A valid service with its address and node ports; raise 422 for requested ones that it cannot have."""
    spec, before = dict(service.get("spec") or {}), (old or {}).get("spec") or {}
    taken = _Taken(store, resource, service, dry_run=dry_run)
    has_address = spec.get("type") != "ExternalName" and (spec.get("clusterIPs") or [""])[0] != "None"
    if has_address and not dry_run and (old is None or before.get("type") == "ExternalName"):
        address = taken.address(spec)
        spec |= {"clusterIP": address, "clusterIPs": [address]}
    if resource.minor >= _FAMILIES_SINCE and spec.get("type") != "ExternalName":
        spec = {"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", **spec}
    if resource.minor >= _INTERNAL_POLICY_SINCE and spec.get("type") != "ExternalName":
        spec = {"internalTrafficPolicy": "Cluster", **spec}
    wants_ports = resource.minor < _PORTS_OPTIONAL_SINCE or spec.get("allocateLoadBalancerNodePorts", True)
    if spec.get("type") in _WITH_NODE_PORTS and spec.get("ports") and wants_ports:
        spec["ports"] = taken.ports(spec["ports"]) if old is None else taken.changed_ports(spec["ports"], before)
    _health_check(spec, before, taken)
    if before.get("type") in _WITH_NODE_PORTS and spec.get("type") not in _WITH_NODE_PORTS:
        spec.pop("externalTrafficPolicy", None)
    if causes := _traffic_causes(spec):
        raise taken.refusal_error(causes)
    return {**service, "spec": spec}


class _Taken:
    """What the cluster's other services have."""

    def __init__(self, store: Store, resource: Resource, service: Json, *, dry_run: bool) -> None:
        self._ids = store.ids
        self._dry_run = dry_run
        self._given: list[int] = []
        self._resource = resource
        self._name = str(service["metadata"].get("name", ""))
        own = service["metadata"].get("uid")
        others = [item["spec"] for item in store.items("service") if item["metadata"]["uid"] != own]
        self._addresses = {address for spec in others for address in spec.get("clusterIPs") or ()}
        self._ports = {
            port["nodePort"] for spec in others for port in spec.get("ports") or () if port.get("nodePort")
        } | {spec["healthCheckNodePort"] for spec in others if spec.get("healthCheckNodePort")}

    def refusal_error(self, causes: list[Cause]) -> ApiError:
        """The error that the service is invalid after all."""
        return invalid(self._resource.kind, self._resource.group, self._name, causes)

    def address(self, spec: Json) -> str:
        """The address that the service asks for, or a free one."""
        wanted = str(spec.get("clusterIP") or "")
        if not wanted:
            return self._free_address()
        problem = ""
        if ipaddress.ip_address(wanted) not in RANGE or wanted in {str(RANGE[0]), str(RANGE[-1])}:
            problem = f"provided IP is not in the valid range. The range of valid IPs is {RANGE}"
            if self._resource.minor >= _WORDED_ANEW:
                problem = "the provided network does not match the current range"
        elif wanted in self._addresses or wanted == str(RANGE[1]):
            problem = "provided IP is already allocated"
        if problem:
            words = f"failed to allocated ip:{wanted} with error:{problem}"
            if self._resource.minor >= _WORDED_ANEW:
                words = f"failed to allocate IP {wanted}: {problem}"
            causes = reworded(self._resource.minor, [fields.invalid("spec.clusterIPs", spec.get("clusterIPs"), words)])
            raise self.refusal_error(causes)
        return wanted

    def _free_address(self) -> str:
        size = RANGE.num_addresses
        start = self._ids.number() % size
        # The first is the network's own, the second the API server's, the last one is for broadcasts.
        for step in range(size):
            place = (start + step) % size
            address = str(RANGE[place])
            if 1 < place < size - 1 and address not in self._addresses:
                return address
        raise internal_error("Internal error occurred: failed to allocate a serviceIP: range is full")

    def free_port(self) -> int:
        """A free node port; a dry run returns numbers that no service will ever get."""
        if self._dry_run:
            self._given.append(max(self._given, default=PORTS.stop) + 1)
            return self._given[-1]
        start = self._ids.number() % len(PORTS)
        for step in range(len(PORTS)):
            port = PORTS[(start + step) % len(PORTS)]
            if port not in self._ports:
                self._ports.add(port)
                return port
        raise internal_error("Internal error occurred: failed to allocate a nodePort: range is full")

    def take(self, port: int) -> str:
        """Take a node port; return why not if it is not available."""
        if port not in PORTS and not self._dry_run:
            return f"provided port is not in the valid range. The range of valid ports is {PORTS[0]}-{PORTS[-1]}"
        if port in self._ports:
            return "provided port is already allocated"
        self._ports.add(port)
        self._given.append(port)
        return ""

    def _take_for(self, index: int, port: int) -> None:
        if problem := self.take(port):
            raise self.refusal_error([fields.invalid(f"spec.ports[{index}].nodePort", port, problem)])

    def ports(self, rows: list[Json]) -> list[Json]:
        """The ports of a new service; rows with the same port share a node port."""
        result = []
        chosen: dict[int, int] = {}
        for index, row in enumerate(rows):
            number, wanted = row.get("port", 0), row.get("nodePort", 0)
            if number not in chosen:
                asked = next(
                    (other["nodePort"] for other in rows if other.get("port") == number and other.get("nodePort")), 0
                )
                if asked:
                    self._take_for(index, asked)
                chosen[number] = wanted = asked or self.free_port()
            elif not wanted:
                wanted = chosen[number]
            elif wanted != chosen[number]:
                self._take_for(index, wanted)
            result.append({**row, "nodePort": wanted})
        return result

    def changed_ports(self, rows: list[Json], before: Json) -> list[Json]:
        """The ports of a changed service, which keeps the node ports that it had."""
        had = {row["nodePort"] for row in before.get("ports") or () if row.get("nodePort")}
        result: list[Json] = []
        own: set[int] = set()
        for index, row in enumerate(rows):
            wanted = row.get("nodePort", 0)
            if not wanted:
                wanted = self.free_port()
            elif wanted not in had and wanted not in own:
                self._take_for(index, wanted)
                own.add(wanted)
            result.append({**row, "nodePort": wanted})
        return result


def _health_check(spec: Json, before: Json, taken: _Taken) -> None:
    needs, needed = needs_health_check(spec), needs_health_check(before)
    wanted = spec.get("healthCheckNodePort", 0)
    if needs and not needed:
        if not wanted:
            spec["healthCheckNodePort"] = taken.free_port()
        elif problem := taken.take(wanted):
            text = f"failed to allocate requested HealthCheck NodePort {wanted}: {problem}"
            raise internal_error(f"Internal error occurred: {text}")
    elif needed and not needs:
        spec.pop("healthCheckNodePort", None)
    elif needed and wanted != before.get("healthCheckNodePort", 0):
        words = "cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update"
        raise taken.refusal_error([fields.invalid("spec.healthCheckNodePort", wanted, words)])


def _traffic_causes(spec: Json) -> list[Cause]:
    causes: list[Any] = []
    policy = spec.get("externalTrafficPolicy", "")
    if policy and spec.get("type") not in _WITH_NODE_PORTS:
        words = "ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service"
        causes.append(fields.invalid("spec.externalTrafficPolicy", policy, words))
    if spec.get("healthCheckNodePort") and not needs_health_check(spec):
        words = "HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local"
        causes.append(fields.invalid("spec.healthCheckNodePort", spec["healthCheckNodePort"], words))
    return causes
