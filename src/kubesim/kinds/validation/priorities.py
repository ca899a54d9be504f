"""What the server refuses in priority classes."""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import forbidden, immutable, not_supported, required
from kubesim.kinds.validation.metadata import metadata_causes, metadata_update_causes
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.priority_classes import PRIORITY_CLASSES, SYSTEM_PRIORITIES
from kubesim.status import Cause, Json

_SYSTEM_PREFIX = "system-"
_HIGHEST = 1_000_000_000


def _priority_class(row: Resource, obj: Json) -> list[Cause]:
    name, value, policy = obj["metadata"].get("name", ""), obj.get("value", 0), obj.get("preemptionPolicy")
    causes = metadata_causes(row, obj["metadata"], namespaced=False)
    if name.startswith(_SYSTEM_PREFIX):
        if problem := _system_problem(name, value, is_default=bool(obj.get("globalDefault"))):
            words = f"priority class names with '{_SYSTEM_PREFIX}' prefix are reserved for system use only. error: "
            causes.append(forbidden("metadata.name", words + problem))
    elif value > _HIGHEST:
        causes.append(forbidden("value", f"maximum allowed value of a user defined priority is {_HIGHEST}"))
    if policy == "":
        causes.append(required("preemptionPolicy"))
    elif policy is not None and policy not in {"PreemptLowerPriority", "Never"}:
        causes.append(not_supported("preemptionPolicy", policy, ["PreemptLowerPriority", "Never"]))
    return causes


def _system_problem(name: str, value: int, *, is_default: bool) -> str | None:
    if name not in SYSTEM_PRIORITIES:
        return f"{name} is not a known system priority class"
    if value != SYSTEM_PRIORITIES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_PRIORITIES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else None


def _priority_class_update(_row: Resource, new: Json, old: Json) -> list[Cause]:
    causes = metadata_update_causes(new["metadata"], old["metadata"])
    if new.get("value", 0) != old.get("value", 0):
        causes.append(forbidden("Value", "may not be changed in an update."))
    return [*causes, *immutable("preemptionPolicy", new.get("preemptionPolicy"), old.get("preemptionPolicy"))]


CREATION: dict[str, CreationRule] = {PRIORITY_CLASSES: _priority_class}
UPDATE: dict[str, UpdateRule] = {PRIORITY_CLASSES: _priority_class_update}
