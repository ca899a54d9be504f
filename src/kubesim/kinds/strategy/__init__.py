"""What a write may change: one file per group of types, dispatched by the type's place in the store."""

from collections.abc import Callable

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.strategy import apiextensions, apps, batch, core, policies
from kubesim.kinds.strategy.features import without_disabled
from kubesim.kinds.strategy.seccomp import with_agreeing_profiles
from kubesim.kinds.strategy.services import with_kept_address
from kubesim.kinds.strategy.steps import generation, with_generation
from kubesim.resource import by_noun, noun_of
from kubesim.status import Json

# A group's file brings CREATION (by noun or full name) and UPDATE (the same, or with /subresource); each returns the
# object to store.
_GROUPS = (core, apps, batch, policies, apiextensions)
_CREATION: dict[str, Callable[[Json], Json]] = by_noun(
    {name: rule for group in _GROUPS for name, rule in group.CREATION.items()}
)
_UPDATE: dict[str, Callable[[Json, Json], Json]] = by_noun(
    {name: rule for group in _GROUPS for name, rule in group.UPDATE.items()}
)

_PREFIXED_SINCE = 27
"""The first release in which a job's labels carry the domain of Kubernetes."""

_COUNTED = frozenset(map(noun_of, (
    "pod", "job", "cronjob", "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
)))  # fmt: skip
"""Types whose specs older releases give no generation."""
_PROFILES_IN_FIELDS_SINCE = 27
"""The first release that no longer copies seccomp profiles between fields and annotations, and supports scheduling
gates."""
_SOURCES_ALIKE_SINCE = 24
_ADDRESS_KEPT_SINCE = 22
_COUNTED_SINCE = 34
"""The first release known to give them one, and to report at once how many pods a stateful set has."""


def prepared_for_create(resource: Resource, obj: Json) -> Json:
    """A new object without what clients may not set: status reset, generation 1 if the type has one."""
    if resource.custom is not None:
        return apiextensions.created_custom(resource, obj)
    prepare = _CREATION.get(resource.noun)
    made = without_disabled(resource, prepare(obj) if prepare else obj)
    if resource.noun == "pvc" and resource.minor >= _SOURCES_ALIKE_SINCE:
        made = _with_source(made)
    if resource.noun == "pod":
        made = with_agreeing_profiles(made) if resource.minor < _PROFILES_IN_FIELDS_SINCE else _with_gates(made)
    if resource.noun in _COUNTED and resource.minor >= _COUNTED_SINCE:
        made = with_generation(made, 1)
    if resource.noun == "statefulset" and resource.minor >= _COUNTED_SINCE:
        made = {**made, "status": {**made["status"], "availableReplicas": 0}}
    if resource.noun == "hpa" and resource.version == "v2" and resource.minor >= _COUNTED_SINCE:
        made = {**made, "status": {"currentMetrics": None, "desiredReplicas": 0}}
    return batch.with_prefixed_labels(made) if resource.noun == "job" and resource.minor >= _PREFIXED_SINCE else made


def _with_source(claim: Json) -> Json:
    """A new claim that names its data source in both of its fields."""
    spec = claim.get("spec") or {}
    source = spec.get("dataSourceRef")
    if not source or source.get("namespace") or spec.get("dataSource"):
        return claim
    return {**claim, "spec": {**spec, "dataSource": source}}


def _with_gates(pod: Json) -> Json:
    """A new pod; its status says so if it must not be scheduled yet."""
    if not pod["spec"].get("schedulingGates"):
        return pod
    condition = {
        "type": "PodScheduled", "status": "False", "lastProbeTime": None, "reason": "SchedulingGated",
        "lastTransitionTime": pod["metadata"].get("creationTimestamp"),
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }  # fmt: skip
    return {**pod, "status": {**pod["status"], "conditions": [condition]}}


def prepared_for_update(resource: Resource, new: Json, old: Json, subresource: str = "") -> Json:
    """The new state of an object; what the written path may not change comes from the old one."""
    if resource.custom is not None:
        return apiextensions.updated_custom(resource, new, old, subresource)
    prepare = _UPDATE.get(f"{resource.noun}/{subresource}" if subresource else resource.noun)
    if resource.noun == "service" and not subresource and resource.minor >= _ADDRESS_KEPT_SINCE:
        new = with_kept_address(new, old)
    made = without_disabled(resource, prepare(new, old) if prepare else new, old)
    if resource.noun in _COUNTED and resource.minor >= _COUNTED_SINCE and generation(old):
        return with_generation(made, generation(old) + (made.get("spec") != old.get("spec")))
    return made
