"""Label selectors in the form that objects hold: whether one is valid, and what it selects.

`selectors` reads the textual form that requests use.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kubesim.names import label_value_problems, qualified_name_problems
from kubesim.status import Json

_DIGITS = 18  # of a 64-bit number


def selects(selector: Any, labels: Mapping[str, Any]) -> bool:
    """Whether a selector selects labels; one without requirements selects everything, an invalid one nothing."""
    demands = _demands(selector)
    return demands is not None and _are_met(*demands, labels)


def match_labels(selector: Any) -> Callable[[Mapping[str, Any]], bool]:
    """The predicate of the objects that a selector selects; it is read only once, since many objects are tested."""
    demands = _demands(selector)
    if demands is None:
        return lambda _: False
    wanted, requirements = demands
    return lambda item: _are_met(wanted, requirements, labels_of(item))


def _demands(selector: Any) -> tuple[Sequence[tuple[str, Any]], Sequence[Any]] | None:
    """The requirements of a selector: labels and expressions; None for an invalid selector."""
    if not isinstance(selector, Mapping):
        return None
    wanted, requirements = selector.get("matchLabels") or {}, selector.get("matchExpressions") or ()
    if not isinstance(wanted, Mapping) or not isinstance(requirements, list | tuple):
        return None
    return tuple(wanted.items()), requirements


def _are_met(wanted: Sequence[tuple[str, Any]], requirements: Sequence[Any], labels: Mapping[str, Any]) -> bool:
    for key, value in wanted:
        if labels.get(key) != value:
            return False
    return not requirements or all(meets(requirement, labels) for requirement in requirements)


def labels_of(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object's labels."""
    return (item.get("metadata") or {}).get("labels") or {}


def meets(requirement: Any, labels: Mapping[str, Any]) -> bool:
    """Whether labels meet one requirement of a selector; Gt and Lt are for nodes only."""
    if not isinstance(requirement, Mapping):
        return False
    value, values = labels.get(str(requirement.get("key"))), list(requirement.get("values") or ())
    match requirement.get("operator"):
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return _number(value) > _number(values[0]) >= 0 if len(values) == 1 else False
        case "Lt":
            return 0 <= _number(value) < _number(values[0]) if len(values) == 1 else False
    return False


def is_selector(selector: Json) -> bool:
    """Whether the server accepts it as a selector."""
    for key, value in (selector.get("matchLabels") or {}).items():
        if qualified_name_problems(key) or label_value_problems(value):
            return False
    return all(_is_requirement(row) for row in selector.get("matchExpressions") or ())


def _is_requirement(row: Json) -> bool:
    values = row.get("values") or ()
    takes_values = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}.get(row.get("operator", ""))
    return (
        takes_values is bool(values)
        and not qualified_name_problems(row.get("key", ""))
        and not any(label_value_problems(value) for value in values)
    )


def is_empty(selector: Json) -> bool:
    """Whether it has no conditions, and so selects everything."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def _number(value: Any) -> int:
    """A whole number as labels hold it; -1 for anything else."""
    text = str(value)
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else -1
