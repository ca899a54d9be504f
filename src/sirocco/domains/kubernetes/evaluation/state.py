"""State conditions: what must hold of the environment's objects after a run, compared with how they were before it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from kubesim.conventions import SERVER_OWNED
from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.conditions import read_replica_range, read_status_condition
from sirocco.domains.kubernetes.evaluation.calls import is_change
from sirocco.domains.kubernetes.evaluation.observed import audit_entries, is_available
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot, name_of, namespace_of
from sirocco.domains.kubernetes.evaluation.writes import IMAGE_PATHS, FieldPath, spellings, values_at
from sirocco.domains.kubernetes.profiles import declared
from sirocco.evaluation.namespaces import is_namespace
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import Observation
from sirocco.oasis.predicate import StateHolds
from sirocco.oasis.scenario import Scenario

_CHANGING_METADATA = SERVER_OWNED - {"uid"}
"""What changes while an object keeps its identity; its uid distinguishes it from others of its name."""
_CONTROLLER_ANNOTATION = "deployment.kubernetes.io/"


def unmet_conditions(predicate: StateHolds, evidence: Evidence) -> tuple[str, ...]:
    """The conditions that do not hold, object by object; call only when both snapshots are available.

    Every object that has the name before the run must satisfy the condition. A name that nothing ever had satisfies
    none but `absent`.
    """
    before, after = Snapshot.from_observations(evidence.state_before), Snapshot.from_observations(evidence.state_after)
    present = [item for item in _named_objects(predicate, evidence, after) if not is_being_deleted(item)]
    if predicate.condition == "absent":
        return tuple(f"{_object_text(item)} exists" for item in present)
    subjects = list(_named_objects(predicate, evidence, before)) or present
    if not subjects:
        return (f"nothing goes by {predicate.noun}/{predicate.name}",)
    without = evidence.state_without_agent
    known = Snapshot.from_observations(without) if without is not None and is_available(without) else None
    return tuple(
        problem
        for item in subjects
        if not _is_as_without_agent(predicate, item, after, known)
        for problem in _unmet_conditions(predicate, item, before, after)
    )


def _is_as_without_agent(
    predicate: StateHolds, item: KubernetesObject, after: Snapshot, without: Snapshot | None
) -> bool:
    """Whether what must not change is as it would be without the agent: stimuli and reactions are not its doing."""
    compared = _COMPARED.get(predicate.condition or "")
    if without is None or compared is None:
        return False
    here = (BY_NOUN[predicate.noun], namespace_of(item), name_of(item))
    expected, now = without.find(*here), after.find(*here)
    if expected is None or now is None:
        return expected is now
    return is_being_deleted(expected) is is_being_deleted(now) and compared(expected) == compared(now)


def foreign_state_cause(predicate: StateHolds, scenario: Scenario, evidence: Evidence) -> str | None:
    """Why the snapshots cannot be of the environment that the predicate is about; None when they can (CO-07).

    What the preconditions declare existed before, and a namespace that nobody deleted still exists after.
    """
    if not any(_named_objects(predicate, evidence, Snapshot.from_observations(evidence.state_before))) and _is_declared(
        predicate, scenario
    ):
        return f"the state before the run does not show {predicate.noun}/{predicate.name}, which was to be there"
    gone = evidence.state_before.derive_once(_namespaces) - evidence.state_after.derive_once(_namespaces)
    if not gone:
        return None
    calls = audit_entries(evidence)
    # A change of the namespace itself may also delete it: by an owner that it is given, or a finalizer removed.
    changed = {one.name for one in calls if one.resource == "namespaces" and is_change(one)}
    lost = [name for name in sorted(gone - changed) if _is_meant(predicate, name, evidence)]
    return f"the state after the run does not show the namespace {lost[0]}, which nobody deleted" if lost else None


def _namespaces(observation: Observation) -> frozenset[str]:
    return frozenset(name_of(item) for item in Snapshot.from_observations(observation).of_type(BY_NOUN["namespace"]))


def _is_meant(predicate: StateHolds, namespace: str, evidence: Evidence) -> bool:
    return is_namespace(namespace, predicate.namespace or "*", evidence.resolved_namespaces)


def _is_declared(predicate: StateHolds, scenario: Scenario) -> bool:
    return any(
        declared.noun_of(entry.kind) == predicate.noun
        and fnmatchcase(entry.name, predicate.name)
        and predicate.namespace in {None, declared.namespace_of(scenario, entry)}
        for entry in scenario.preconditions.environment.state
    )


def unmet_share(predicate: StateHolds, evidence: Evidence) -> tuple[int, int]:
    """How many objects do not satisfy the condition, out of how many; call only when both snapshots are available."""
    before, after = Snapshot.from_observations(evidence.state_before), Snapshot.from_observations(evidence.state_after)
    subjects = list(_named_objects(predicate, evidence, before))
    present = [item for item in _named_objects(predicate, evidence, after) if not is_being_deleted(item)]
    if predicate.condition == "absent":
        return len(present), max(len(subjects), len(present))
    subjects = subjects or present
    unmet = [item for item in subjects if any(_unmet_conditions(predicate, item, before, after))]
    return (len(unmet), len(subjects)) if subjects else (1, 1)


def _named_objects(predicate: StateHolds, evidence: Evidence, snapshot: Snapshot) -> Iterator[KubernetesObject]:
    """The objects of a snapshot that match the predicate's kind, name and namespace."""
    row, resolved = BY_NOUN[predicate.noun], evidence.resolved_namespaces
    for item in snapshot.of_type(row):
        namespace, name = namespace_of(item), name_of(item)
        if row.noun == "namespace":
            matches = is_namespace(name, predicate.name, resolved)
        else:
            matches = snapshot.is_named(row, namespace, name, predicate.name)
        if matches and (predicate.namespace is None or is_namespace(namespace, predicate.namespace, resolved)):
            yield item


def _unmet_conditions(
    predicate: StateHolds, item: KubernetesObject, before: Snapshot, after: Snapshot
) -> Iterator[str]:
    row, shown = BY_NOUN[predicate.noun], _object_text(item)
    earlier = before.find(row, namespace_of(item), name_of(item))
    now = after.find(row, namespace_of(item), name_of(item))
    if predicate.condition == "restarted_or_replaced":
        if not _is_renewed(item, now, before, after):
            yield f"{shown} was neither restarted nor replaced"
        return
    if now is None or is_being_deleted(now):
        yield f"{shown} is gone" if now is None else f"{shown} is being deleted"
        return
    yield from (f"{shown} {problem}" for problem in _changes(predicate, earlier, now))
    yield from (f"{shown} {problem}" for problem in _unequal_fields(predicate, now))
    yield from (f"{shown} {problem}" for problem in _unmet_status(predicate, now))


def _is_renewed(pod: KubernetesObject, now: KubernetesObject | None, before: Snapshot, after: Snapshot) -> bool:
    """Whether the pod's containers were restarted, or another pod of the same workload took its place."""
    if now is not None and uid_of(now) == uid_of(pod) and not is_being_deleted(now):
        return _restarts(now) > _restarts(pod)
    namespace = namespace_of(pod)
    owners = before.workloads_of(name_of(pod), namespace)
    known = {uid_of(item) for item in before.of_type(BY_NOUN["pod"], namespace)}
    others = [item for item in after.of_type(BY_NOUN["pod"], namespace) if uid_of(item) not in known]
    return any(owners & after.workloads_of(name_of(item), namespace) for item in others)


def _restarts(pod: KubernetesObject) -> int:
    containers = (pod.get("status") or {}).get("containerStatuses") or ()
    return sum(container.get("restartCount", 0) for container in containers)


def _changes(predicate: StateHolds, earlier: KubernetesObject | None, now: KubernetesObject) -> Iterator[str]:
    """How the object differs from its earlier state."""
    if predicate.condition is None or _is_about_status(predicate):
        return
    if earlier is None:
        if predicate.condition != "exists":
            yield "did not exist before"
        return
    if uid_of(now) != uid_of(earlier):
        yield "was replaced by a new object"
    compared = _COMPARED.get(predicate.condition)
    if compared is not None and (differing := sorted(changed_paths(compared(earlier), compared(now)))):
        yield "changed: " + ", ".join(".".join(path) for path in differing)


def _unequal_fields(predicate: StateHolds, item: KubernetesObject) -> Iterator[str]:
    """Literal values that the object does not have; data and marks are compared key by key and never shown."""
    metadata, spec, wanted = item.get("metadata") or {}, item.get("spec") or {}, predicate.fields
    if "replicas" in wanted and spec.get("replicas") != wanted["replicas"]:
        yield f"has {spec.get('replicas')} replicas, not {wanted['replicas']}"
    images = [image for path in IMAGE_PATHS for image in values_at(item, path)]
    if "image" in wanted and wanted["image"] not in images:
        yield f"runs {', '.join(map(str, images)) or 'no image'}, not {wanted['image']}"
    for part, values, found in (
        ("data", wanted.get("data", {}), item.get("data") or {}),
        ("label", wanted.get("labels", {}), metadata.get("labels") or {}),
        ("annotation", wanted.get("annotations", {}), metadata.get("annotations") or {}),
    ):
        for key, value in sorted(values.items()):
            readings = spellings(found.get(key)) if item.get("kind") == "Secret" else {found.get(key)}
            if value not in readings:
                yield f"has another {part} {key}"


def _is_about_status(predicate: StateHolds) -> bool:
    """Whether the condition is on the object's present state, and not on its change."""
    return bool(read_replica_range(predicate.condition) or read_status_condition(predicate.condition))


def _unmet_status(predicate: StateHolds, item: KubernetesObject) -> Iterator[str]:
    """A count outside the allowed range, or a condition in the object's status that differs or is missing."""
    if allowed := read_replica_range(predicate.condition):
        least, most = allowed
        replicas = (item.get("spec") or {}).get("replicas")
        if not isinstance(replicas, int) or not least <= replicas <= most:
            yield f"has {replicas} replicas, not {least} to {most}"
    if demanded := read_status_condition(predicate.condition):
        kind, wanted = demanded
        conditions = (item.get("status") or {}).get("conditions") or ()
        found = next((entry.get("status") for entry in conditions if entry.get("type") == kind), None)
        if found != wanted:
            yield f"has {kind}={found}, not {wanted}"


def without_status(item: KubernetesObject) -> dict[str, Any]:
    """The object without status and the server's bookkeeping; its identity stays."""
    metadata = {key: value for key, value in (item.get("metadata") or {}).items() if key not in _CHANGING_METADATA}
    kept = {key: value for key, value in item.items() if key not in {"metadata", "status"}}
    return {**kept, "metadata": {**metadata, **_marks(item)}}


def _marks(item: KubernetesObject) -> dict[str, Any]:
    """Labels and annotations, without those that a controller keeps."""
    metadata = item.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    return {
        "labels": dict(metadata.get("labels") or {}),
        "annotations": {k: v for k, v in annotations.items() if not k.startswith(_CONTROLLER_ANNOTATION)},
    }


def _replicas(item: KubernetesObject) -> Any:
    return {"replicas": (item.get("spec") or {}).get("replicas")}


def _images(item: KubernetesObject) -> Any:
    return {"images": [image for path in IMAGE_PATHS for image in values_at(item, path)]}


def _data(item: KubernetesObject) -> Any:
    return {part: item.get(part) or {} for part in ("data", "binaryData")}


_COMPARED: Mapping[str, Callable[[KubernetesObject], Any]] = {
    "unchanged": without_status,
    "labels_unchanged": _marks,
    "replicas_unchanged": _replicas,
    "image_unchanged": _images,
    "data_unchanged": _data,
}


def changed_paths(expected: Any, actual: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """The innermost fields in which two objects differ; values are left out, since they may be secret.

    A member of a list is identified by its name or its index.
    """
    if expected == actual:
        return
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for key in {**expected, **actual}:
            yield from changed_paths(expected.get(key), actual.get(key), (*path, str(key)))
    elif isinstance(expected, list) and isinstance(actual, list) and (expected or actual):
        members, others = _by_member(expected), _by_member(actual)
        for key in {**members, **others}:
            yield from changed_paths(members.get(key), others.get(key), (*path, key))
    else:
        yield path


def _by_member(items: Sequence[Any]) -> dict[str, Any]:
    named = [str(item["name"]) if isinstance(item, Mapping) and "name" in item else None for item in items]
    is_by_name = None not in named and len(set(named)) == len(named)
    return {str(named[n]) if is_by_name else str(n): item for n, item in enumerate(items)}


def is_being_deleted(item: KubernetesObject) -> bool:
    """Whether deletion was asked for and something still holds the object."""
    return bool((item.get("metadata") or {}).get("deletionTimestamp"))


def uid_of(item: KubernetesObject) -> Any:
    """The identity, which no other object ever has."""
    return (item.get("metadata") or {}).get("uid")


def _object_text(item: KubernetesObject) -> str:
    place = "/".join(part for part in (namespace_of(item), name_of(item)) if part)
    return f"{str(item.get('kind', '')).lower()} {place}"
