"""Values that only newer releases fill in."""

from collections.abc import Callable
from functools import partial
from typing import Any

from kubesim.conventions import OMITS_NO_TIME_SINCE
from kubesim.discovery.catalogue import Resource
from kubesim.resource import noun_of
from kubesim.status import Json

_USUAL_RETRIES, _UNLIMITED = 6, 0x7FFFFFFF
_OWN_NAME = "kubernetes.io/metadata.name"
_RETAINED: Json = {"whenDeleted": "Retain", "whenScaled": "Retain"}


def _with_spec(obj: Json, **filled: object) -> Json:
    return {**obj, "spec": {**filled, **(obj.get("spec") or {})}}


def _daemon_set(obj: Json) -> Json:
    strategy: Json = obj["spec"]["updateStrategy"]
    if strategy.get("rollingUpdate") is None:
        return obj
    changed = {**strategy, "rollingUpdate": {"maxSurge": 0, **strategy["rollingUpdate"]}}
    return {**obj, "spec": {**obj["spec"], "updateStrategy": changed}}


def _stateful_set(obj: Json) -> Json:
    given = (obj.get("spec") or {}).get("persistentVolumeClaimRetentionPolicy") or {}
    return {**obj, "spec": {**obj["spec"], "persistentVolumeClaimRetentionPolicy": {**_RETAINED, **given}}}


def _pod(obj: Json) -> Json:
    """Requests of a pod as a whole default to its limits; a gRPC check gets an empty service name."""
    spec = obj.get("spec") or {}
    resources = spec.get("resources") or {}
    if limits := resources.get("limits"):
        spec = {**spec, "resources": {**resources, "requests": {**limits, **(resources.get("requests") or {})}}}
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec = {**spec, field: [_with_services(container) for container in spec[field]]}
    return {**obj, "spec": spec} if spec else obj


def _with_services(container: Json) -> Json:
    checks = {
        name: {**container[name], "grpc": {"service": "", **_without_nothing(container[name]["grpc"])}}
        for name in ("livenessProbe", "readinessProbe", "startupProbe")
        if (container.get(name) or {}).get("grpc")
    }
    return {**container, **checks} if checks else container


def _without_nothing(part: Json) -> Json:
    return {key: value for key, value in part.items() if value is not None}


def _job(obj: Json) -> Json:
    replaced = "Failed" if (obj.get("spec") or {}).get("podFailurePolicy") is not None else "TerminatingOrFailed"
    return _with_spec(
        obj, completionMode="NonIndexed", suspend=False, manualSelector=False, podReplacementPolicy=replaced
    )


def _recent_job(obj: Json) -> Json:
    spec = obj.get("spec") or {}
    if spec.get("backoffLimitPerIndex") is not None and spec.get("backoffLimit") == _USUAL_RETRIES:
        spec = {**spec, "backoffLimit": _UNLIMITED}
    if rules := (spec.get("podFailurePolicy") or {}).get("rules"):
        rules = [
            {**rule, "onPodConditions": [{**one, "status": one.get("status") or "True"} for one in found]}
            if (found := rule.get("onPodConditions"))
            else rule
            for rule in rules
        ]
        spec = {**spec, "podFailurePolicy": {**spec["podFailurePolicy"], "rules": rules}}
    return {**obj, "spec": spec}


def _service(obj: Json) -> Json:
    kind = obj["spec"].get("type")
    if kind == "LoadBalancer":
        obj = _with_spec(obj, allocateLoadBalancerNodePorts=True)
    return obj if kind == "ExternalName" else _with_spec(obj, internalTrafficPolicy="Cluster")


def _namespace(obj: Json) -> Json:
    name = obj["metadata"].get("name")
    labels = {**(obj["metadata"].get("labels") or {}), **({_OWN_NAME: name} if name else {})}
    return {**obj, "metadata": {**obj["metadata"], **({"labels": labels} if labels else {})}}


def _matching(obj: Json, path: str) -> Json:
    """A policy or policy binding, with the server's defaults for what its match rules leave out."""
    spec = obj.get("spec") or {}
    match = spec.get(path)
    if not isinstance(match, dict):
        return obj
    filled = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, **match}
    for key in ("resourceRules", "excludeResourceRules"):
        if match.get(key):
            filled[key] = [{"scope": "*", **rule} for rule in match[key]]
    return {**obj, "spec": {**spec, path: filled}}


def _policy(obj: Json) -> Json:
    return _with_spec(_matching(obj, "matchConstraints"), failurePolicy="Fail")


_ADDED: dict[str, tuple[tuple[int, Callable[[Json], Json]], ...]] = {
    "pod": ((34, _pod),),
    "daemonset": ((22, _daemon_set),),
    "statefulset": ((27, _stateful_set),),
    "job": ((29, _job), (34, _recent_job)),
    "service": ((34, _service),),
    "namespace": ((34, _namespace),),
    noun_of("validatingadmissionpolicies.admissionregistration.k8s.io"): ((30, _policy),),
    noun_of("validatingadmissionpolicybindings.admissionregistration.k8s.io"): (
        (30, partial(_matching, path="matchResources")),
    ),
}
"""By noun: the defaults, each with the first release known to fill it in."""


def with_newer_defaults(resource: Resource, obj: Json) -> Json:
    """`obj` with the values that its release fills in beyond the oldest release."""
    for since, fill in _ADDED.get(resource.noun, ()):
        if resource.minor >= since:
            obj = fill(obj)
    if resource.minor >= OMITS_NO_TIME_SINCE:
        return {key: _without_times(value) if key == "spec" else value for key, value in obj.items()}
    return obj


def _without_times(part: Any) -> Any:
    """A spec in which nothing carries an empty creation time, as the starts of objects otherwise do."""
    if isinstance(part, list):
        return [_without_times(item) for item in part] if any(isinstance(item, dict) for item in part) else part
    if not isinstance(part, dict):
        return part
    changed = {key: _without_times(value) for key, value in part.items()}
    metadata = changed.get("metadata")
    if isinstance(metadata, dict) and metadata.get("creationTimestamp", "") is None:
        changed["metadata"] = {key: value for key, value in metadata.items() if key != "creationTimestamp"}
    return changed
