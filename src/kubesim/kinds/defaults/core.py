"""The values that the server fills in for the core group."""

import base64
from collections.abc import Callable

from kubesim.kinds.defaults.pods import (
    PERSISTENT_SOURCES,
    fill_empty,
    pod_spec_defaults,
    pod_template_defaults,
    with_requests,
)
from kubesim.status import Json

_THREE_HOURS = 10800


def _pod(obj: Json) -> Json:
    spec = {"enableServiceLinks": True, **with_requests(pod_spec_defaults(obj.get("spec") or {}))}
    return {**obj, "spec": spec, "status": _with_addresses(obj.get("status") or {})}


def _with_addresses(status: Json) -> Json:
    """A pod's single address is the first of its list; where they differ, the single address wins."""
    one, many = status.get("podIP"), status.get("podIPs")
    if one and (not many or many[0].get("ip") != one):
        return {**status, "podIPs": [{"ip": one}]}
    return {**status, "podIP": many[0]["ip"]} if many and not one and many[0].get("ip") else status


def _pod_template(obj: Json) -> Json:
    return {**obj, "template": pod_template_defaults(obj.get("template") or {})}


def _controller(obj: Json) -> Json:
    spec = {"replicas": 1, **(obj.get("spec") or {})}
    result = {**obj, "spec": spec, "status": obj.get("status") or {"replicas": 0}}
    if spec.get("template") is None:
        return result
    spec["template"] = pod_template_defaults(spec["template"])
    labels = spec["template"]["metadata"].get("labels")
    if labels and not spec.get("selector"):
        spec["selector"] = labels
    metadata = obj.get("metadata") or {}
    if labels and not metadata.get("labels"):
        result["metadata"] = {**metadata, "labels": labels}
    return result


def _secret(obj: Json) -> Json:
    """A secret stores base64 only; plain text is encoded and takes precedence."""
    plain = {key: base64.b64encode(value.encode()).decode() for key, value in (obj.get("stringData") or {}).items()}
    rest = {key: value for key, value in obj.items() if key != "stringData"}
    data = {**(obj.get("data") or {}), **plain}
    return fill_empty({**rest, **({"data": data} if data else {})}, {"type": "Opaque"})


def _service(obj: Json) -> Json:
    spec = fill_empty(obj.get("spec") or {}, {"sessionAffinity": "None", "type": "ClusterIP"})
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    if spec["sessionAffinity"] == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if client.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _THREE_HOURS}}
    if spec.get("ports"):
        spec["ports"] = [_service_port(port) for port in spec["ports"]]
    if spec["type"] in {"NodePort", "LoadBalancer"} and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    return {**obj, "spec": spec, "status": {"loadBalancer": {}, **(obj.get("status") or {})}}


def _service_port(port: Json) -> Json:
    target = port.get("targetPort")
    result = fill_empty(port, {"protocol": "TCP"})
    return {**result, "targetPort": port.get("port", 0)} if target in {None, 0, ""} else result


def _namespace(obj: Json) -> Json:
    return {**obj, "spec": obj.get("spec") or {}, "status": fill_empty(obj.get("status") or {}, {"phase": "Active"})}


def _node(obj: Json) -> Json:
    status, spec = obj.get("status") or {}, obj.get("spec") or {}
    if status.get("capacity") and "allocatable" not in status:
        status = {**status, "allocatable": status["capacity"]}
    one, many = spec.get("podCIDR"), spec.get("podCIDRs")
    if one and (not many or many[0] != one):
        spec = {**spec, "podCIDRs": [one]}
    elif many and not one:
        spec = {**spec, "podCIDR": many[0]}
    return {**obj, "spec": spec, "status": status}


def _volume(obj: Json) -> Json:
    spec = fill_empty(
        {"volumeMode": "Filesystem", **(obj.get("spec") or {})}, {"persistentVolumeReclaimPolicy": "Retain"}
    )
    spec |= {key: fill(spec[key]) for key, fill in PERSISTENT_SOURCES.items() if spec.get(key) is not None}
    return {**obj, "spec": spec, "status": fill_empty(obj.get("status") or {}, {"phase": "Pending"})}


def _claim(obj: Json) -> Json:
    spec = {"volumeMode": "Filesystem", **(obj.get("spec") or {})}
    return {**obj, "spec": spec, "status": fill_empty(obj.get("status") or {}, {"phase": "Pending"})}


def _endpoints(obj: Json) -> Json:
    if not obj.get("subsets"):
        return obj
    return {**obj, "subsets": [_subset(item) for item in obj["subsets"]]}


def _subset(item: Json) -> Json:
    if not item.get("ports"):
        return item
    return {**item, "ports": [fill_empty(port, {"protocol": "TCP"}) for port in item["ports"]]}


def _limit_range(obj: Json) -> Json:
    spec = obj.get("spec") or {}
    if not spec.get("limits"):
        return obj
    return {**obj, "spec": {**spec, "limits": [_limit(item) for item in spec["limits"]]}}


def _limit(item: Json) -> Json:
    """A limit range's default limit is its maximum, and its default request that limit, unless stated otherwise."""
    if item.get("type") != "Container":
        return item
    limit = {**(item.get("max") or {}), **(item.get("default") or {})}
    request = {**(item.get("min") or {}), **limit, **(item.get("defaultRequest") or {})}
    rest = {key: value for key, value in item.items() if key not in {"default", "defaultRequest"}}
    return {**rest, **({"default": limit} if limit else {}), **({"defaultRequest": request} if request else {})}


DEFAULTS: dict[str, Callable[[Json], Json]] = {
    "pod": _pod,
    "podtemplates": _pod_template,
    "replicationcontrollers": _controller,
    "secret": _secret,
    "service": _service,
    "namespace": _namespace,
    "node": _node,
    "pv": _volume,
    "pvc": _claim,
    "endpoints": _endpoints,
    "limitrange": _limit_range,
}
