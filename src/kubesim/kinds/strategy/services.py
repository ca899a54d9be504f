"""What becomes of a service's linked fields (addresses, node ports, traffic policies) when it is written."""

from kubesim.kinds.strategy.steps import with_status_of
from kubesim.status import Json

_WITH_NODE_PORTS = frozenset({"NodePort", "LoadBalancer"})


def new_service(obj: Json) -> Json:
    """A new service: its one address is also the first of the list."""
    spec = dict(obj.get("spec") or {})
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    return {**obj, "spec": spec, "status": {"loadBalancer": {}}}


def with_kept_address(new: Json, old: Json) -> Json:
    """A changed service that keeps its address if the client left it out, as on newer servers."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    no_address = "ExternalName" in {spec.get("type"), before.get("type")}
    if no_address or spec.get("clusterIP") or spec.get("clusterIPs") or not before.get("clusterIP"):
        return new
    return {**new, "spec": {**spec, "clusterIP": before["clusterIP"], "clusterIPs": before.get("clusterIPs") or []}}


def updated_service(new: Json, old: Json) -> Json:
    """A changed service: what its client did not mean to change stays, what its new type does not use goes."""
    spec, before = dict(new.get("spec") or {}), old.get("spec") or {}
    _link_addresses(spec, before)
    _drop_unused(spec, before)
    return with_status_of({**new, "spec": spec}, old)


def _link_addresses(spec: Json, before: Json) -> None:
    """Link the two address fields; an older client knows only one of them."""
    one, earlier = spec.get("clusterIP", ""), before.get("clusterIP", "")
    if before.get("clusterIPs") and not spec.get("clusterIPs") and one == earlier:
        spec["clusterIPs"] = before["clusterIPs"]
    if one != earlier and (spec.get("clusterIPs") or []) == (before.get("clusterIPs") or []):
        if earlier and not one:
            spec.pop("clusterIPs", None)
        else:
            spec["clusterIPs"] = [one]


def _drop_unused(spec: Json, before: Json) -> None:
    kind, earlier = spec.get("type", ""), before.get("type", "")
    if earlier != "ExternalName" and kind == "ExternalName":
        if all(spec.get(field) == before.get(field) for field in ("clusterIP", "clusterIPs")):
            spec.pop("clusterIP", None)
            spec.pop("clusterIPs", None)
        for field in ("ipFamilies", "ipFamilyPolicy"):
            if spec.get(field) == before.get(field):
                spec.pop(field, None)
    if earlier in _WITH_NODE_PORTS and kind not in _WITH_NODE_PORTS and _node_ports(spec) <= _node_ports(before):
        spec["ports"] = [
            {key: value for key, value in port.items() if key != "nodePort"} for port in spec.get("ports") or ()
        ]
    unused = ["healthCheckNodePort"] if needs_health_check(before) and not needs_health_check(spec) else []
    if earlier == "LoadBalancer" and kind != "LoadBalancer":
        unused.append("allocateLoadBalancerNodePorts")
    for field in unused:
        if spec.get(field) == before.get(field):
            spec.pop(field, None)


def needs_health_check(spec: Json) -> bool:
    """Whether a service has a node port that says which nodes can serve it."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _node_ports(spec: Json) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}
