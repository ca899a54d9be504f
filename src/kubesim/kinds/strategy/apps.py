"""What a write may change in the workloads of the apps group."""

import re

from kubesim.kinds.defaults.apps import TEMPLATE_GENERATION
from kubesim.kinds.strategy.steps import (
    Creation,
    Update,
    creation_step,
    generation,
    only_status,
    update_step,
    with_generation,
    with_status_of,
)
from kubesim.status import Json

_NO_REPLICAS: Json = {"replicas": 0}
_NO_PODS: Json = {
    "currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0,
}  # fmt: skip


def _updated_deployment(new: Json, old: Json) -> Json:
    """Changed annotations count too, because a rollback was once requested in one."""
    annotations = [obj["metadata"].get("annotations") or {} for obj in (new, old)]
    changed = new.get("spec") != old.get("spec") or annotations[0] != annotations[1]
    return with_generation(with_status_of(new, old), generation(old) + changed)


def _deployment_status(new: Json, old: Json) -> Json:
    kept = only_status(new, old)
    metadata = {name: value for name, value in kept["metadata"].items() if name != "labels"}
    labels = old["metadata"].get("labels")
    return {**kept, "metadata": {**metadata, "labels": labels} if labels else metadata}


def _created_daemon_set(obj: Json) -> Json:
    return _with_template_generation(with_generation({**obj, "status": _NO_PODS}, 1), max(template_generation(obj), 1))


def _updated_daemon_set(new: Json, old: Json) -> Json:
    specs = [obj.get("spec") or {} for obj in (new, old)]
    rolled = specs[0].get("template") != specs[1].get("template")
    kept = with_generation(with_status_of(new, old), generation(old) + (specs[0] != specs[1]))
    return _with_template_generation(kept, template_generation(old) + rolled)


def template_generation(obj: Json) -> int:
    """The version of a daemon set's pod template."""
    text = (obj["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "0")
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else 0


def _with_template_generation(obj: Json, number: int) -> Json:
    annotations = {**(obj["metadata"].get("annotations") or {}), TEMPLATE_GENERATION: str(number)}
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}


def _daemon_set_status(new: Json, old: Json) -> Json:
    """Inside the server the count is in the spec, so the status cannot carry another one."""
    return _with_template_generation(only_status(new, old), template_generation(old))


CREATION: dict[str, Creation] = {
    "deployment": creation_step(status={}),
    "replicaset": creation_step(status=_NO_REPLICAS),
    "statefulset": creation_step(status=_NO_REPLICAS),
    "daemonset": _created_daemon_set,
}
UPDATE: dict[str, Update] = {
    "deployment": _updated_deployment,
    "deployment/status": _deployment_status,
    "replicaset": update_step(),
    "replicaset/status": only_status,
    "statefulset": update_step(),
    "statefulset/status": only_status,
    "daemonset": _updated_daemon_set,
    "daemonset/status": _daemon_set_status,
}
