"""Fields that a release accepts and drops, because the feature behind them is not enabled yet."""

from collections.abc import Callable

from kubesim.discovery.catalogue import Resource
from kubesim.resource import noun_of
from kubesim.status import Json

_DUAL_STACK_SINCE = 21
_OWN_VOLUMES_SINCE = 21
_DEBUGGING_SINCE = 23
_SOURCES_OF_CLAIMS = frozenset({("snapshot.storage.k8s.io", "VolumeSnapshot"), ("", "PersistentVolumeClaim")})
_CONTROLLERS = noun_of("replicationcontrollers")
_TEMPLATE_OWNERS = ("deployment", "replicaset", "statefulset", "daemonset", "job", _CONTROLLERS)
_SLICES = noun_of("endpointslices.discovery.k8s.io")


def _without_names(part: Json, *names: str) -> Json:
    return {name: value for name, value in part.items() if name not in names}


def _job(obj: Json) -> Json:
    return {**obj, "spec": _without_names(obj.get("spec") or {}, "ttlSecondsAfterFinished")}


def _slice(obj: Json) -> Json:
    endpoints = [
        {
            **_without_names(point, "nodeName"),
            "conditions": _without_names(point.get("conditions") or {}, "serving", "terminating"),
        }
        for point in obj.get("endpoints") or ()
    ]
    return {**obj, "endpoints": endpoints} if endpoints else obj


def _autoscaler(obj: Json) -> Json:
    spec: Json = obj.get("spec") or {}
    if not spec.get("metrics"):
        return obj
    return {
        **obj,
        "spec": {**spec, "metrics": [_without_names(metric, "containerResource") for metric in spec["metrics"]]},
    }


_KNOWN_TODAY = 34
"""The release of the recorded server."""
_DISABLED: dict[str, tuple[int, Callable[[Json], Json]]] = {
    "job": (21, _job),
    _SLICES: (22, _slice),
    "hpa": (27, _autoscaler),
}
"""By noun: the first release that keeps the fields, and what drops them before it."""


def without_disabled(resource: Resource, obj: Json, old: Json | None = None) -> Json:
    """`obj` without the fields that its release drops, except those that the stored object already has."""
    since, drop = _DISABLED.get(resource.noun, (0, None))
    if drop and resource.minor < since:
        obj = drop(obj)
    status = obj.get("status") or {}
    if "terminatingReplicas" in status and resource.minor >= _KNOWN_TODAY:
        obj = {**obj, "status": _without_names(status, "terminatingReplicas")}
    keep = _SPECS.get(resource.noun)
    if keep is None or not obj.get("spec"):
        return obj
    spec = keep(obj["spec"], (old or {}).get("spec") or {}, resource.minor)
    return obj if spec is obj["spec"] else {**obj, "spec": spec}


def _service(spec: Json, before: Json, minor: int) -> Json:
    dropped = {"topologyKeys"} if not before.get("topologyKeys") else set()
    if minor < _DUAL_STACK_SINCE:
        if not before.get("allocateLoadBalancerNodePorts"):
            dropped.add("allocateLoadBalancerNodePorts")
        if len(before.get("clusterIPs") or ()) < 2 and not before.get("ipFamilies"):
            dropped |= {"ipFamilies", "ipFamilyPolicy"}
            if len(spec.get("clusterIPs") or ()) > 1:
                spec = {**spec, "clusterIPs": spec["clusterIPs"][:1]}
    return _without_names(spec, *dropped) if dropped & spec.keys() else spec


def _node(spec: Json, before: Json, minor: int) -> Json:
    many = len(spec.get("podCIDRs") or ()) > 1 and len(before.get("podCIDRs") or ()) < 2
    return {**spec, "podCIDRs": spec["podCIDRs"][:1]} if many and minor < _DUAL_STACK_SINCE else spec


def _claim(spec: Json, before: Json, minor: int) -> Json:
    source = spec.get("dataSource")
    if source is None or before.get("dataSource"):
        return spec
    known = minor >= _KNOWN_TODAY or (source.get("apiGroup") or "", source.get("kind")) in _SOURCES_OF_CLAIMS
    return spec if known else _without_names(spec, "dataSource")


def _pod(spec: Json, before: Json, minor: int) -> Json:
    if minor < _DEBUGGING_SINCE and "ephemeralContainers" in spec and not before.get("ephemeralContainers"):
        spec = _without_names(spec, "ephemeralContainers")
    if minor < _OWN_VOLUMES_SINCE and any("ephemeral" in volume for volume in spec.get("volumes") or ()):
        spec = {**spec, "volumes": [_without_names(volume, "ephemeral") for volume in spec["volumes"]]}
    if minor >= _KNOWN_TODAY:
        spec = _without_undecided(spec)
    for field in ("containers", "initContainers"):
        if any("procMount" in (item.get("securityContext") or {}) for item in spec.get(field) or ()):
            spec = {**spec, field: [_with_usual_mount(item) for item in spec[field]]}
    return spec


def _without_undecided(spec: Json) -> Json:
    """A pod's spec without what release 1.34 knows but has not enabled, as on its recorded server."""
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec = {**spec, field: [_usual_container(item) for item in spec[field]]}
    if any("image" in volume for volume in spec.get("volumes") or ()):
        images = {volume["name"] for volume in spec["volumes"] if "image" in volume}
        spec = _with_list(spec, "volumes", [one for one in spec["volumes"] if one["name"] not in images])
        for field in ("containers", "initContainers"):
            if spec.get(field):
                spec = {**spec, field: [_without_mounts(item, images) for item in spec[field]]}
    return spec


def _with_list(part: Json, name: str, items: list[Json]) -> Json:
    return {**part, name: items} if items else _without_names(part, name)


def _without_mounts(container: Json, volumes: set[str]) -> Json:
    mounts = container.get("volumeMounts")
    if not mounts:
        return container
    return _with_list(container, "volumeMounts", [one for one in mounts if one.get("name") not in volumes])


def _stateful_set(spec: Json, before: Json, minor: int) -> Json:
    spec = _template_owner(spec, before, minor)
    strategy = spec.get("updateStrategy") or {}
    if minor < _KNOWN_TODAY or "maxUnavailable" not in (strategy.get("rollingUpdate") or {}):
        return spec
    rolling = _without_names(strategy["rollingUpdate"], "maxUnavailable")
    return {**spec, "updateStrategy": {**strategy, "rollingUpdate": rolling}}


def _usual_container(container: Json) -> Json:
    dropped = {"restartPolicyRules"}
    if container.get("restartPolicy", "Always") != "Always":
        dropped.add("restartPolicy")
    hooks = container.get("lifecycle") or {}
    if "stopSignal" in hooks:
        hooks = _without_names(hooks, "stopSignal")
        container = {**container, "lifecycle": hooks}
        if not hooks:
            dropped.add("lifecycle")
    return _without_names(container, *dropped) if dropped & container.keys() else container


def _with_usual_mount(container: Json) -> Json:
    """Reset mounts of /proc to the usual one: others require a feature that is not enabled."""
    context = container.get("securityContext") or {}
    if "procMount" not in context:
        return container
    return {**container, "securityContext": {**context, "procMount": "Default"}}


def _template_owner(spec: Json, before: Json, minor: int) -> Json:
    template = spec.get("template") or {}
    inner = template.get("spec")
    if not inner:
        return spec
    changed = _pod(inner, (before.get("template") or {}).get("spec") or {}, minor)
    return spec if changed is inner else {**spec, "template": {**template, "spec": changed}}


_SPECS: dict[str, Callable[[Json, Json, int], Json]] = {
    "service": _service,
    "node": _node,
    "pvc": _claim,
    "pod": _pod,
    **dict.fromkeys(_TEMPLATE_OWNERS, _template_owner),
    "statefulset": _stateful_set,
}
"""By noun: what a release keeps of a new spec, given the stored one."""
