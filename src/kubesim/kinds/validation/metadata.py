"""What the server refuses in an object's metadata, labels, annotations and selectors."""

from collections.abc import Mapping, Sequence
from typing import Any

from kubesim.bodies.go_text import go_quote
from kubesim.kinds.validation.fields import (
    all_invalid,
    forbidden,
    immutable,
    invalid,
    nonnegative,
    required,
    too_long,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.names import (
    NamedType,
    dns_label_problems,
    label_value_problems,
    name_problems,
    path_prefix_problems,
    path_segment_problems,
    qualified_name_problems,
)
from kubesim.status import Cause, Json

_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_ANNOTATIONS_SIZE = 256 * 1024
_MANAGER_LENGTH = 128


def metadata_causes(row: NamedType, metadata: Json, *, namespaced: bool = True, path: str = "metadata") -> list[Cause]:
    """What is wrong with a new object's metadata; its name is checked by the type's own rule."""
    causes = _general_causes(
        metadata,
        [*name_problems(row, metadata.get("generateName", ""), prefix=True)] if metadata.get("generateName") else [],
        [*name_problems(row, metadata.get("name", ""))],
        namespaced=namespaced,
        path=path,
    )
    return [*causes, *_finalizer_name_causes(metadata, path)]


def metadata_update_causes(new: Json, old: Json, path: str = "metadata") -> list[Cause]:
    """What is wrong with a changed object's metadata, as checked by the rules of its type."""
    return [*_change_causes(new, old, path), *_finalizer_name_causes(new, path)]


def common_causes(metadata: Json, *, namespaced: bool) -> list[Cause]:
    """The requirements on any object, checked after the rules of its type."""
    prefix = metadata.get("generateName", "")
    return _general_causes(
        metadata,
        path_prefix_problems(prefix),
        path_segment_problems(metadata.get("name", "")),
        namespaced=namespaced,
        path="metadata",
    )


def common_update_causes(new: Json, old: Json, *, namespaced: bool) -> list[Cause]:
    """The requirements on any changed object, checked before the rules of its type."""
    return [*common_causes(new, namespaced=namespaced), *_change_causes(new, old, "metadata")]


def _general_causes(
    metadata: Json, prefix_problems: list[str], problems: list[str], *, namespaced: bool, path: str
) -> list[Cause]:
    causes = all_invalid(f"{path}.generateName", metadata.get("generateName", ""), prefix_problems)
    name, namespace = metadata.get("name", ""), metadata.get("namespace", "")
    if not name:
        causes.append(required(f"{path}.name", "name or generateName is required"))
    else:
        causes += all_invalid(f"{path}.name", name, problems)
    if namespaced and not namespace:
        causes.append(required(f"{path}.namespace"))
    elif namespaced:
        causes += all_invalid(f"{path}.namespace", namespace, dns_label_problems(namespace))
    elif namespace:
        causes.append(forbidden(f"{path}.namespace", "not allowed on this type"))
    return [
        *causes,
        *_manager_causes(metadata, path),
        *nonnegative(f"{path}.generation", metadata.get("generation", 0)),
        *label_causes(metadata.get("labels"), f"{path}.labels"),
        *annotation_causes(metadata.get("annotations"), f"{path}.annotations"),
        *owner_causes(metadata.get("ownerReferences"), f"{path}.ownerReferences"),
        *finalizer_causes(metadata.get("finalizers"), f"{path}.finalizers"),
        *_managed_fields_causes(metadata, f"{path}.managedFields"),
    ]


def _change_causes(new: Json, old: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    if old.get("deletionTimestamp"):
        extra = sorted({*(new.get("finalizers") or ())} - {*(old.get("finalizers") or ())})
        if extra:
            listed = "[]string{" + ", ".join(go_quote(name) for name in extra) + "}"
            text = "no new finalizers can be added if the object is being deleted, found new finalizers "
            causes.append(forbidden(f"{path}.finalizers", text + listed))
    if not new.get("resourceVersion"):
        causes.append(invalid(f"{path}.resourceVersion", "", "must be specified for an update"))
    if new.get("generation", 0) < old.get("generation", 0):
        causes.append(invalid(f"{path}.generation", new.get("generation", 0), "must not be decremented"))
    causes += _manager_causes(new, path)
    for field in ("name", "namespace", "uid"):
        causes += immutable(f"{path}.{field}", new.get(field, ""), old.get(field, ""))
    for field in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        if new.get(field) != old.get(field):
            causes += immutable(
                f"{path}.{field}", _as_go_time(field, new.get(field)), _as_go_time(field, old.get(field))
            )
    return [
        *causes,
        *label_causes(new.get("labels"), f"{path}.labels"),
        *annotation_causes(new.get("annotations"), f"{path}.annotations"),
        *owner_causes(new.get("ownerReferences"), f"{path}.ownerReferences"),
        *_managed_fields_causes(new, f"{path}.managedFields"),
    ]


def _as_go_time(field: str, value: Any) -> Any:
    return GoValue("*v1.Time", value) if field == "deletionTimestamp" else value


def label_causes(labels: Mapping[str, str] | None, path: str) -> list[Cause]:
    """Keys and values of labels."""
    return [
        cause
        for key, value in (labels or {}).items()
        for cause in (
            *all_invalid(path, key, qualified_name_problems(key)),
            *all_invalid(path, value, label_value_problems(value)),
        )
    ]


def annotation_causes(annotations: Mapping[str, str] | None, path: str) -> list[Cause]:
    """Keys of annotations, and the size of all of them."""
    if not annotations:
        return []
    causes = [
        invalid(path, key, problem)
        for key in annotations
        for problem in qualified_name_problems(key.lower())
    ]  # fmt: skip
    texts = [*annotations, *annotations.values()]
    # A character takes four bytes at most, so few annotations need an exact count.
    is_large = 4 * sum(map(len, texts)) > _ANNOTATIONS_SIZE
    if is_large and sum(len(text.encode()) for text in texts) > _ANNOTATIONS_SIZE:
        causes.append(too_long(path, _ANNOTATIONS_SIZE))
    return causes


def selector_causes(selector: Json | None, path: str) -> list[Cause]:
    """A label selector inside an object; an absent one is fine."""
    if selector is None:
        return []
    causes = label_causes(selector.get("matchLabels"), f"{path}.matchLabels")
    for index, row in enumerate(selector.get("matchExpressions") or ()):
        causes += _requirement_causes(row, f"{path}.matchExpressions[{index}]")
    return causes


def _requirement_causes(row: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    operator, values = row.get("operator", ""), row.get("values") or ()
    if operator in {"In", "NotIn"}:
        if not values:
            causes.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            causes.append(forbidden(f"{path}.values", text))
    else:
        causes.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    return [*causes, *label_name_causes(row.get("key", ""), f"{path}.key")]


def label_name_causes(name: str, path: str) -> list[Cause]:
    """One key of a label."""
    return all_invalid(path, name, qualified_name_problems(name))


def owner_causes(references: Sequence[Json] | None, path: str) -> list[Cause]:
    """Owner references, only one of which may be the controller's."""
    causes: list[Cause] = []
    controller = ""
    for row in references or ():
        group, _, version = row.get("apiVersion", "").rpartition("/")
        texts = (
            ("apiVersion", version, "version"),
            *((name, row.get(name, ""), name) for name in ("kind", "name", "uid")),
        )
        for field, value, word in texts:
            if not value:
                causes.append(invalid(f"{path}.{field}", row.get(field, ""), f"{word} must not be empty"))
        if (group, version, row.get("kind")) == ("", "v1", "Event"):
            words = "/v1, Kind=Event is disallowed from being an owner"
            causes.append(invalid(path, GoValue("v1.OwnerReference", row), words))
        if row.get("controller"):
            if controller:
                words = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controller} and {row.get('name', '')}"
                )
                causes.append(invalid(path, GoValue("[]v1.OwnerReference", references), words))
            else:
                controller = row.get("name", "")
    return causes


def finalizer_causes(finalizers: Sequence[str] | None, path: str) -> list[Cause]:
    """Names of finalizers, two of which exclude each other."""
    names = [*(finalizers or ())]
    causes = [invalid(path, name, problem) for name in names for problem in qualified_name_problems(name)]
    if {"orphan", "foregroundDeletion"} <= {*names}:
        causes.append(invalid(path, names, "finalizer orphan and foregroundDeletion cannot be both set"))
    return causes


def _finalizer_name_causes(metadata: Json, path: str) -> list[Cause]:
    return [
        cause
        for index, name in enumerate(metadata.get("finalizers") or ())
        for cause in _standard_causes(name, f"{path}.finalizers[{index}]")
    ]


def _standard_causes(name: str, path: str) -> list[Cause]:
    """A finalizer without a domain must be one of the server's own."""
    if "/" in name or name in _STANDARD_FINALIZERS:
        return []
    return [invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")]


def finalizer_name_causes(name: str, path: str) -> list[Cause]:
    """The name of one finalizer."""
    return [*all_invalid(path, name, qualified_name_problems(name)), *_standard_causes(name, path)]


def _manager_causes(metadata: Json, path: str) -> list[Cause]:
    return [
        too_long(f"{path}.fieldManager", _MANAGER_LENGTH)
        for entry in metadata.get("managedFields") or ()
        if len(entry.get("manager", "").encode()) > _MANAGER_LENGTH
    ]


def _managed_fields_causes(metadata: Json, path: str) -> list[Cause]:
    causes = []
    for entry in metadata.get("managedFields") or ():
        if entry.get("operation", "") not in {"Apply", "Update"}:
            causes.append(invalid(f"{path}.operation", entry.get("operation", ""), "must be `Apply` or `Update`"))
        if entry.get("fieldsType", "") not in {"", "FieldsV1"}:
            causes.append(invalid(f"{path}.fieldsType", entry["fieldsType"], "must be `FieldsV1`"))
    return causes
