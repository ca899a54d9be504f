"""What the server refuses in resource quotas and limit ranges."""

from collections.abc import Mapping, Sequence

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import (
    IMMUTABLE_WORDS,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    required,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import metadata_causes, metadata_update_causes
from kubesim.kinds.validation.resources import (
    amount,
    container_resource_name_causes,
    is_overcommit_allowed,
    is_standard_quota_name,
    quantity_causes,
    quota_resource_name_causes,
    resource_name_causes,
)
from kubesim.names import qualified_name_problems
from kubesim.status import Cause, Json
from kubesim.types.quantity import quantity

_SCOPES = frozenset({"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass"})
_OPPOSITES = (frozenset({"BestEffort", "NotBestEffort"}), frozenset({"Terminating", "NotTerminating"}))
_COMPUTE = frozenset({"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
_LIMIT_TYPES = frozenset({"Pod", "Container", "PersistentVolumeClaim"})


def quota_causes(row: Resource, quota: Json) -> list[Cause]:
    """A new quota."""
    status = quota.get("status") or {}
    return [
        *metadata_causes(row, quota["metadata"]),
        *_spec_causes(quota.get("spec") or {}),
        *_amounts_causes(status.get("hard"), "status.hard"),
        *_amounts_causes(status.get("used"), "status.used"),
    ]


def _amounts_causes(amounts: Mapping[str, str] | None, path: str) -> list[Cause]:
    causes: list[Cause] = []
    for name, given in (amounts or {}).items():
        place = f"{path}[{name}]"
        causes += [*quota_resource_name_causes(name, place), *quantity_causes(name, given, place)]
    return causes


def _spec_causes(spec: Json) -> list[Cause]:
    causes = _amounts_causes(spec.get("hard"), "spec.hard")
    scopes, shown = spec.get("scopes") or (), GoValue("[]core.ResourceQuotaScope", spec.get("scopes"))
    names = sorted(spec.get("hard") or ())
    for scope in scopes:
        causes += _scope_causes(scope, names, shown, "spec.scopes")
    causes += _opposite_causes({*scopes}, shown, "spec.scopes")
    selector = spec.get("scopeSelector")
    if selector is None:
        return causes
    path = "spec.scopeSelector.matchExpressions"
    rows = selector.get("matchExpressions") or ()
    for row in rows:
        name = row.get("scopeName", "")
        if name not in _SCOPES:
            causes.append(invalid(f"{path}.scopeName", name, "unsupported scope"))
        causes += [
            invalid(path, GoValue("*core.ScopeSelector", selector), "unsupported scope applied to resource")
            for hard in names
            if is_standard_quota_name(hard) and not _is_scope_valid(name, hard)
        ]
        causes += _requirement_causes(row, path)
    return [*causes, *_opposite_causes({row.get("scopeName", "") for row in rows}, shown, path)]


def _scope_causes(scope: str, names: Sequence[str], shown: GoValue, path: str) -> list[Cause]:
    causes = [] if scope in _SCOPES else [invalid(path, shown, "unsupported scope")]
    causes += [
        invalid(path, shown, "unsupported scope applied to resource")
        for name in names
        if is_standard_quota_name(name) and not _is_scope_valid(scope, name)
    ]
    return causes


def _is_scope_valid(scope: str, name: str) -> bool:
    if scope == "BestEffort":
        return name == "pods"
    return name == "pods" or name in _COMPUTE if scope in _SCOPES else True


def _opposite_causes(scopes: set[str], shown: GoValue, path: str) -> list[Cause]:
    return [invalid(path, shown, "conflicting scopes") for pair in _OPPOSITES if pair <= scopes]


def _requirement_causes(row: Json, path: str) -> list[Cause]:
    operator, values = row.get("operator", ""), row.get("values") or []
    causes: list[Cause] = []
    if row.get("scopeName") in _SCOPES - {"PriorityClass"} and operator != "Exists":
        words = (
            "must be 'Exist' only operator when scope is any of ResourceQuotaScopeTerminating, "
            "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort and ResourceQuotaScopeNotBestEffort"
        )
        causes.append(invalid(f"{path}.operator", operator, words))
    if operator in {"In", "NotIn"}:
        if not values:
            words = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            causes.append(required(f"{path}.values", words))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            words = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            causes.append(invalid(f"{path}.values", values, words))
    else:
        causes.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    return causes


def quota_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a quota, whose scopes are fixed."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    causes = [
        *quota_causes(row, new),
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_spec_causes(spec),
    ]
    if {*(spec.get("scopes") or ())} != {*(before.get("scopes") or ())}:
        shown = GoValue("[]core.ResourceQuotaScope", spec.get("scopes"))
        causes.append(invalid("spec.scopes", shown, IMMUTABLE_WORDS))
    return causes


def quota_status_causes(_: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a quota's status."""
    status = new.get("status") or {}
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_amounts_causes(status.get("hard"), "status.hard"),
        *_amounts_causes(status.get("used"), "status.used"),
    ]


def limit_range_causes(row: Resource, limit_range: Json) -> list[Cause]:
    """A new or changed limit range."""
    causes = metadata_causes(row, limit_range["metadata"])
    types: set[str] = set()
    for index, limit in enumerate((limit_range.get("spec") or {}).get("limits") or ()):
        causes += _limit_causes(limit, types, f"spec.limits[{index}]")
        types.add(limit.get("type", ""))
    return causes


def limit_range_update_causes(row: Resource, new: Json, _: Json) -> list[Cause]:
    """A changed limit range, checked like a new one."""
    return limit_range_causes(row, new)


def _limit_causes(limit: Json, types: set[str], path: str) -> list[Cause]:
    kind = limit.get("type", "")
    causes = all_invalid(f"{path}.type", kind, qualified_name_problems(kind))
    if not causes and "/" not in kind and kind not in _LIMIT_TYPES:
        causes.append(invalid(f"{path}.type", kind, "must be a standard limit type or fully qualified"))
    if kind in types:
        causes.append(duplicate(f"{path}.type", kind))
    check = container_resource_name_causes if kind in {"Pod", "Container"} else resource_name_causes
    parts = {
        name: limit.get(name) or {} for name in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
    }
    for part, amounts in parts.items():
        if part == "maxLimitRequestRatio" and kind == "PersistentVolumeClaim":
            causes += _storage_causes(parts, path)
        if kind == "Pod" and part in {"default", "defaultRequest"}:
            if amounts:
                causes.append(forbidden(f"{path}.{part}", "may not be specified when `type` is 'Pod'"))
                parts = {**parts, part: {}}
            continue
        for name in amounts:
            causes += check(name, f"{path}.{part}[{name}]")
    for name in dict.fromkeys(name for amounts in parts.values() for name in amounts):
        causes += _bound_causes(name, {part: amounts[name] for part, amounts in parts.items() if name in amounts}, path)
    return causes


def _storage_causes(parts: Mapping[str, Mapping[str, str]], path: str) -> list[Cause]:
    if "storage" in parts["min"] or "storage" in parts["max"]:
        return []
    words = "either minimum or maximum storage value is required, but neither was provided"
    return [required(f"{path}.limits", words)]


def _bound_causes(name: str, given: Mapping[str, str], path: str) -> list[Cause]:
    """The bounds of one resource must not contradict each other."""
    causes = []
    for place, low, high, shown, words in (
        ("min", "min", "max", "min", "min value {} is greater than max value {}"),
        ("defaultRequest", "min", "defaultRequest", "defaultRequest",
         "min value {} is greater than default request value {}"),
        ("defaultRequest", "defaultRequest", "max", "defaultRequest",
         "default request value {} is greater than max value {}"),
        ("defaultRequest", "defaultRequest", "default", "defaultRequest",
         "default request value {} is greater than default limit value {}"),
        ("default", "min", "default", "min", "min value {} is greater than default value {}"),
        ("default", "default", "max", "max", "default value {} is greater than max value {}"),
    ):  # fmt: skip
        if low in given and high in given and amount(given[low]) > amount(given[high]):
            value = GoValue("resource.Quantity", given[shown])
            causes.append(invalid(f"{path}.{place}[{name}]", value, words.format(given[low], given[high])))
    causes += _ratio_causes(name, given, path)
    limit, request = given.get("default"), given.get("defaultRequest")
    if limit and request and not is_overcommit_allowed(name) and amount(limit) != amount(request):
        words = f"default value {limit} must equal to defaultRequest value {request} in {name}"
        causes.append(invalid(f"{path}.defaultRequest[{name}]", GoValue("resource.Quantity", request), words))
    return causes


def _ratio_causes(name: str, given: Mapping[str, str], path: str) -> list[Cause]:
    if "maxLimitRequestRatio" not in given:
        return []
    ratio = given["maxLimitRequestRatio"]
    place, shown = f"{path}.maxLimitRequestRatio[{name}]", GoValue("resource.Quantity", ratio)
    causes = [invalid(place, shown, f"ratio {ratio} is less than 1")] if quantity(ratio).nanos < 10**9 else []
    if "min" in given and "max" in given and amount(given["min"]):
        most = amount(given["max"]) / amount(given["min"])
        if quantity(ratio).milli / 1000 > most:
            causes.append(invalid(place, shown, f"ratio {ratio} is greater than max/min = {most:f}"))
    return causes
