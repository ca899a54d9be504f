"""What the server refuses in the rules that place pods on nodes."""

from collections.abc import Sequence

from kubesim.kinds.validation.fields import (
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import label_name_causes, selector_causes
from kubesim.names import (
    dns_label_problems,
    dns_subdomain_problems,
    label_value_problems,
)
from kubesim.status import Cause, Json

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EMPTY_VALUE_WORDS = "value must be empty when `operator` is 'Exists'"


def affinity_causes(affinity: Json | None, path: str) -> list[Cause]:
    """Affinity to nodes and to other pods, and anti-affinity."""
    causes: list[Cause] = []
    node = (affinity or {}).get("nodeAffinity") or {}
    if _REQUIRED in node:
        causes += node_selector_causes(node[_REQUIRED] or {}, f"{path}.nodeAffinity.{_REQUIRED}")
    for index, term in enumerate(node.get(_PREFERRED) or ()):
        place = f"{path}.nodeAffinity.{_PREFERRED}[{index}]"
        causes += _weight_causes(term, place)
        causes += node_selector_term_causes(term.get("preference") or {}, f"{place}.preference")
    for field in ("podAffinity", "podAntiAffinity"):
        rules = (affinity or {}).get(field) or {}
        for index, term in enumerate(rules.get(_REQUIRED) or ()):
            causes += _pod_term_causes(term, f"{path}.{field}.{_REQUIRED}[{index}]")
        for index, term in enumerate(rules.get(_PREFERRED) or ()):
            place = f"{path}.{field}.{_PREFERRED}[{index}]"
            causes += _weight_causes(term, place)
            causes += _pod_term_causes(term.get("podAffinityTerm") or {}, f"{place}.podAffinityTerm")
    return causes


def _weight_causes(term: Json, path: str) -> list[Cause]:
    weight = term.get("weight", 0)
    return [] if 1 <= weight <= 100 else [invalid(f"{path}.weight", weight, "must be in the range 1-100")]


def _pod_term_causes(term: Json, path: str) -> list[Cause]:
    causes = selector_causes(term.get("labelSelector"), f"{path}.matchExpressions")
    for name in term.get("namespaces") or ():
        causes += all_invalid(f"{path}.namespace", name, dns_label_problems(name))
    key = term.get("topologyKey", "")
    if not key:
        causes.append(required(f"{path}.topologyKey", "can not be empty"))
    return [*causes, *label_name_causes(key, f"{path}.topologyKey")]


def node_selector_causes(selector: Json, path: str) -> list[Cause]:
    """Terms of which a node must fulfil at least one."""
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        return [required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")]
    return [
        cause
        for index, term in enumerate(terms)
        for cause in node_selector_term_causes(term, f"{path}.nodeSelectorTerms[{index}]")
    ]


def node_selector_term_causes(term: Json, path: str) -> list[Cause]:
    """Requirements on the labels and fields of a node."""
    causes: list[Cause] = []
    for index, row in enumerate(term.get("matchExpressions") or ()):
        causes += _node_requirement_causes(row, f"{path}.matchExpressions[{index}]")
    for index, row in enumerate(term.get("matchFields") or ()):
        causes += _node_field_causes(row, f"{path}.matchFields[{index}]")
    return causes


def _node_requirement_causes(row: Json, path: str) -> list[Cause]:
    operator, values = row.get("operator", ""), row.get("values") or ()
    causes: list[Cause] = []
    if operator in {"In", "NotIn"}:
        if not values:
            causes.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            words = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            causes.append(forbidden(f"{path}.values", words))
    elif operator in {"Gt", "Lt"}:
        if len(values) != 1:
            words = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            causes.append(required(f"{path}.values", words))
    else:
        causes.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    return [*causes, *label_name_causes(row.get("key", ""), f"{path}.key")]


def _node_field_causes(row: Json, path: str) -> list[Cause]:
    operator, values, key = row.get("operator", ""), row.get("values") or (), row.get("key", "")
    causes: list[Cause] = []
    if operator not in {"In", "NotIn"}:
        causes.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    elif len(values) != 1:
        words = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        causes.append(required(f"{path}.values", words))
    if key != "metadata.name":
        return [*causes, invalid(f"{path}.key", key, "not a valid field selector key")]
    for index, value in enumerate(values):
        causes += all_invalid(f"{path}.values[{index}]", value, dns_subdomain_problems(value))
    return causes


def toleration_causes(tolerations: Sequence[Json], path: str) -> list[Cause]:
    """The taints that a pod tolerates."""
    causes: list[Cause] = []
    for index, row in enumerate(tolerations):
        place = f"{path}[{index}]"
        key, operator, effect = row.get("key", ""), row.get("operator", ""), row.get("effect", "")
        if key:
            causes += label_name_causes(key, f"{place}.key")
        elif operator != "Exists":
            words = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            causes.append(invalid(f"{place}.operator", operator, words))
        if "tolerationSeconds" in row and effect != "NoExecute":
            words = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            causes.append(invalid(f"{place}.effect", effect, words))
        causes += _operator_causes(row, f"{place}.operator")
        if effect:
            causes += taint_effect_causes(effect, f"{place}.effect")
    return causes


def _operator_causes(row: Json, path: str) -> list[Cause]:
    operator, value = row.get("operator", ""), row.get("value", "")
    if operator in {"Equal", ""}:
        problems = label_value_problems(value)
        return [invalid(path, value, ";".join(problems))] if problems else []
    if operator == "Exists":
        return [invalid(path, GoValue("core.Toleration", row), EMPTY_VALUE_WORDS)] if value else []
    return [not_supported(path, operator, ("Equal", "Exists"))]


def taint_effect_causes(effect: str, path: str) -> list[Cause]:
    """The effect of a taint."""
    if not effect:
        return [required(path)]
    return [] if effect in _EFFECTS else [not_supported(path, effect, _EFFECTS)]


def added_toleration_causes(new: Sequence[Json], old: Sequence[Json], path: str) -> list[Cause]:
    """A pod's tolerations may be added to and last longer, but not change otherwise."""
    kept = [_timeless(row) for row in new]
    if any(_timeless(row) not in kept for row in old):
        return [forbidden(path, "existing toleration can not be modified except its tolerationSeconds")]
    return toleration_causes(new, path)


def _timeless(row: Json) -> Json:
    return {key: value for key, value in row.items() if key != "tolerationSeconds"}


def spread_causes(constraints: Sequence[Json], path: str) -> list[Cause]:
    """How evenly pods must be spread."""
    causes: list[Cause] = []
    pairs = [(row.get("topologyKey", ""), row.get("whenUnsatisfiable", "")) for row in constraints]
    for index, row in enumerate(constraints):
        place, (key, action) = f"{path}[{index}]", pairs[index]
        if row.get("maxSkew", 0) <= 0:
            causes.append(invalid(f"{place}.maxSkew", row.get("maxSkew", 0), "must be greater than zero"))
        if not key:
            causes.append(required(f"{place}.topologyKey", "can not be empty"))
        if action not in {"DoNotSchedule", "ScheduleAnyway"}:
            supported = ("DoNotSchedule", "ScheduleAnyway")
            causes.append(not_supported(f"{place}.whenUnsatisfiable", action, supported))
        if pairs[index] in pairs[index + 1 :]:
            causes.append(duplicate(f"{place}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}"))
    return causes
