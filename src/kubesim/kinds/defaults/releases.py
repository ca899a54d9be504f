"""Values that only newer releases fill in."""

from collections.abc import Callable

from kubesim.discovery.catalogue import Resource
from kubesim.status import Json

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


def _job(obj: Json) -> Json:
    replaced = "Failed" if (obj.get("spec") or {}).get("podFailurePolicy") is not None else "TerminatingOrFailed"
    return _with_spec(
        obj, completionMode="NonIndexed", suspend=False, manualSelector=False, podReplacementPolicy=replaced
    )


_ADDED: dict[str, tuple[int, Callable[[Json], Json]]] = {
    "daemonset": (22, _daemon_set),
    "statefulset": (27, _stateful_set),
    "job": (29, _job),
}
"""By noun: the first release that fills the values in."""


def with_newer_defaults(resource: Resource, obj: Json) -> Json:
    """`obj` with what its release fills in beyond the oldest one."""
    since, fill = _ADDED.get(resource.noun, (0, None))
    return fill(obj) if fill and resource.minor >= since else obj
