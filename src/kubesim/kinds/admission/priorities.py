"""What admission gives to a new pod: its priority, and tolerations for failing nodes."""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.admission.refusal import admission_refusal
from kubesim.placement import USUAL_TOLERATIONS
from kubesim.priority_classes import PRIORITY_CLASSES
from kubesim.status import Json
from kubesim.store import Store

_SYSTEM = {"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}


def with_priority(store: Store, resource: Resource, pod: Json) -> Json:
    """The pod with the number of its priority class; raise 403 if there is no such class or the pod states another."""
    spec = dict(pod.get("spec") or {})
    name = spec.get("priorityClassName", "")
    chosen = _class(store, name)
    if chosen is None and name:
        raise admission_refusal(resource, pod, f"no PriorityClass with name {name} was found")
    if chosen is not None and not name:
        spec["priorityClassName"] = chosen["metadata"]["name"]
    value = 0 if chosen is None else chosen.get("value", 0)
    policy = "PreemptLowerPriority" if chosen is None else chosen.get("preemptionPolicy")
    if spec.get("priority", value) != value:
        why = (
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; priority admission "
            f"controller computed {value} from the given PriorityClass name"
        )
        raise admission_refusal(resource, pod, why)
    spec["priority"] = value
    if policy:
        if spec.get("preemptionPolicy", policy) != policy:
            why = (
                f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod spec; "
                f"priority admission controller computed {policy} from the given PriorityClass name"
            )
            raise admission_refusal(resource, pod, why)
        spec["preemptionPolicy"] = policy
    return {**pod, "spec": spec}


def _class(store: Store, name: str) -> Json | None:
    if name:
        found = store.get(PRIORITY_CLASSES, "", name)
        if found is None and name in _SYSTEM:
            return {"metadata": {"name": name}, "value": _SYSTEM[name], "preemptionPolicy": "PreemptLowerPriority"}
        return found
    chosen = [item for item in store.contents(PRIORITY_CLASSES) if item.get("globalDefault")]
    return min(chosen, key=lambda item: int(item.get("value", 0)), default=None)


def second_default(store: Store, obj: Json, old: Json | None) -> str:
    """Why a priority class cannot be the default; empty when it can."""
    chosen = _class(store, "") if obj.get("globalDefault") else None
    if chosen is None or (old is not None and chosen["metadata"]["name"] == old["metadata"]["name"]):
        return ""
    return f"PriorityClass {chosen['metadata']['name']} is already marked as default. Only one default can exist"


def with_old_priority(pod: Json, old: Json) -> Json:
    """A changed pod keeps the priority that its client left out."""
    spec, before = pod.get("spec") or {}, old.get("spec") or {}
    kept = {key: before[key] for key in ("priority", "preemptionPolicy") if key in before and key not in spec}
    return {**pod, "spec": {**spec, **kept}} if kept else pod


def with_patience(pod: Json) -> Json:
    """The pod with tolerations for nodes that are not ready or not reachable, unless it has its own."""
    spec = pod.get("spec") or {}
    given = spec.get("tolerations") or []
    if not given:
        return {**pod, "spec": {**spec, "tolerations": USUAL_TOLERATIONS}}
    added = [
        usual for usual in USUAL_TOLERATIONS
        if not any(
            row.get("key", "") in {usual["key"], ""} and row.get("effect", "") in {"NoExecute", ""} for row in given
        )
    ]  # fmt: skip
    return {**pod, "spec": {**spec, "tolerations": [*given, *added]}} if added else pod
