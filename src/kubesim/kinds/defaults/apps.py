"""The values that the server fills in for the workloads of the apps group."""

from collections.abc import Callable

from kubesim.kinds.defaults.core import DEFAULTS as CORE
from kubesim.kinds.defaults.pods import pod_template_defaults
from kubesim.status import Json

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
"""The annotation in which a daemon set counts the versions of its pod template."""
_QUARTER = "25%"
_CLAIM = {"kind": "PersistentVolumeClaim", "apiVersion": "v1"}


def _with_spec(obj: Json, **filled: object) -> Json:
    spec: Json = obj.get("spec") or {}
    template = pod_template_defaults(spec.get("template") or {})
    return {**obj, "spec": {**filled, **spec, "template": template}}


def _deployment(obj: Json) -> Json:
    given = (obj.get("spec") or {}).get("strategy") or {}
    strategy = {**given, "type": given.get("type") or "RollingUpdate"}
    if strategy["type"] == "RollingUpdate":
        bounds = {"maxUnavailable": _QUARTER, "maxSurge": _QUARTER}
        strategy["rollingUpdate"] = {**bounds, **(given.get("rollingUpdate") or {})}
    elif given.get("rollingUpdate") is not None:
        strategy["rollingUpdate"] = {"maxUnavailable": 0, "maxSurge": 0, **given["rollingUpdate"]}
    filled = _with_spec(obj, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    return {**filled, "spec": {**filled["spec"], "strategy": strategy}}


def _replica_set(obj: Json) -> Json:
    return _with_spec(obj, replicas=1)


def _daemon_set(obj: Json) -> Json:
    given = (obj.get("spec") or {}).get("updateStrategy") or {}
    strategy = {**given, "type": given.get("type") or "RollingUpdate"}
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {"maxUnavailable": 1, **(given.get("rollingUpdate") or {})}
    elif given.get("rollingUpdate") is not None:
        strategy["rollingUpdate"] = {"maxUnavailable": 0, **given["rollingUpdate"]}
    filled = _with_spec(obj, revisionHistoryLimit=10)
    metadata = filled.get("metadata") or {}
    annotations = {TEMPLATE_GENERATION: "0", **(metadata.get("annotations") or {})}
    return {
        **filled,
        "metadata": {**metadata, "annotations": annotations},
        "spec": {**filled["spec"], "updateStrategy": strategy},
    }


def _stateful_set(obj: Json) -> Json:
    spec: Json = obj.get("spec") or {}
    given = spec.get("updateStrategy") or {}
    strategy = dict(given)
    if not given.get("type"):
        strategy = {"rollingUpdate": {}, **given, "type": "RollingUpdate"}
    if strategy.get("rollingUpdate") is not None:
        strategy["rollingUpdate"] = {"partition": 0, **strategy["rollingUpdate"]}
    filled = _with_spec(obj, replicas=1, revisionHistoryLimit=10)
    changed = {
        **filled["spec"],
        "podManagementPolicy": spec.get("podManagementPolicy") or "OrderedReady",
        "updateStrategy": strategy,
    }
    if spec.get("volumeClaimTemplates"):
        changed["volumeClaimTemplates"] = [_claim(template) for template in spec["volumeClaimTemplates"]]
    return {**filled, "spec": changed}


def _claim(template: Json) -> Json:
    fill = CORE.get("pvc")
    return {**(fill(template) if fill else template), **_CLAIM}


DEFAULTS: dict[str, Callable[[Json], Json]] = {
    "deployment": _deployment,
    "replicaset": _replica_set,
    "daemonset": _daemon_set,
    "statefulset": _stateful_set,
}
