"""What the server refuses in storage classes."""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import (
    all_invalid,
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from kubesim.kinds.validation.metadata import (
    label_name_causes,
    metadata_causes,
    metadata_update_causes,
)
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.names import qualified_name_problems
from kubesim.status import Cause, Json

_PARAMETERS_SIZE = 256 * 1024
_MOST_PARAMETERS = 512


def _storage_class(row: Resource, obj: Json) -> list[Cause]:
    provisioner, policy, mode = (obj.get(name) for name in ("provisioner", "reclaimPolicy", "volumeBindingMode"))
    causes = metadata_causes(row, obj["metadata"], namespaced=False)
    if provisioner:
        causes += all_invalid("provisioner", provisioner, qualified_name_problems(provisioner.lower()))
    else:
        causes.append(required("provisioner"))
    causes += _parameter_causes(obj.get("parameters") or {})
    if policy and policy not in {"Delete", "Retain"}:
        causes.append(not_supported("reclaimPolicy", policy, ["Delete", "Retain"]))
    if mode is None:
        causes.append(required("volumeBindingMode"))
    elif mode not in {"Immediate", "WaitForFirstConsumer"}:
        causes.append(not_supported("volumeBindingMode", mode, ["Immediate", "WaitForFirstConsumer"]))
    return [*causes, *_topology_causes(obj.get("allowedTopologies") or [])]


def _parameter_causes(parameters: Json) -> list[Cause]:
    if len(parameters) > _MOST_PARAMETERS:
        return [too_long("parameters", _MOST_PARAMETERS)]
    causes = [invalid("parameters", "", "field can not be empty.")] if "" in parameters else []
    size = sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items())
    return [*causes, too_long("parameters", _PARAMETERS_SIZE)] if size > _PARAMETERS_SIZE else causes


def _topology_causes(topologies: list[Json]) -> list[Cause]:
    causes: list[Cause] = []
    seen: list[dict[str, frozenset[str]]] = []
    for index, term in enumerate(topologies):
        path = f"allowedTopologies[{index}].matchLabelExpressions"
        terms: dict[str, frozenset[str]] = {}
        for number, row in enumerate(term.get("matchLabelExpressions") or ()):
            place, key, values = f"{path}[{number}]", row.get("key", ""), row.get("values") or []
            if not values:
                causes.append(required(f"{place}.values"))
            causes += [
                duplicate(f"{place}.values[{at}]", value) for at, value in enumerate(values) if value in values[:at]
            ]
            causes += label_name_causes(key, f"{place}.key")
            if key in terms:
                causes.append(duplicate(f"{place}.key", key))
            terms[key] = frozenset(values)
        if terms in seen:
            causes.append(duplicate(path, ""))
        seen.append(terms)
    return causes


def _storage_class_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    changed = [name for name in ("parameters", "provisioner", "reclaimPolicy") if new.get(name) != old.get(name)]
    return [
        *_storage_class(row, new),
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *(forbidden(name, f"updates to {name} are forbidden.") for name in changed),
        *immutable("volumeBindingMode", new.get("volumeBindingMode"), old.get("volumeBindingMode")),
    ]


CREATION: dict[str, CreationRule] = {"storageclasses.storage.k8s.io": _storage_class}
UPDATE: dict[str, UpdateRule] = {"storageclasses.storage.k8s.io": _storage_class_update}
