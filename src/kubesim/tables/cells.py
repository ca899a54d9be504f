"""The small phrases that many cells share: ages, selectors, labels, lists that end in "more"."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from kubesim.status import Json
from kubesim.tables.columns import Cells, View

NONE = "<none>"
UNKNOWN = "<unknown>"
UNSET = "<unset>"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_OPERATORS = {"In": "in", "NotIn": "notin"}


def value_at(obj: Any, *path: str) -> Any:
    """The value at a path of mappings; None when something on the way is missing."""
    for name in path:
        obj = obj.get(name) if isinstance(obj, Mapping) else None
    return obj


def mapping(obj: Any, *path: str) -> Mapping[str, Any]:
    """The mapping at a path; empty when there is none."""
    found = value_at(obj, *path)
    return found if isinstance(found, Mapping) else {}


def items(obj: Any, *path: str) -> list[Any]:
    """The list at a path; empty when there is none."""
    found = value_at(obj, *path)
    return found if isinstance(found, list) else []


def number(obj: Any, *path: str) -> int:
    """The number at a path, which Go omits when it is 0."""
    found = value_at(obj, *path)
    return found if isinstance(found, int) else 0


def text(obj: Any, *path: str) -> str:
    """The text at a path, which Go omits when it is empty."""
    found = value_at(obj, *path)
    return "" if found is None else str(found)


def name_and_age(obj: Json, view: View) -> Cells:
    """The two cells that nearly every table has."""
    return {"Name": text(obj, "metadata", "name"), "Age": age(value_at(obj, "metadata", "creationTimestamp"), view)}


def moment(timestamp: Any) -> datetime | None:
    """The moment of an RFC 3339 time; None if it is invalid."""
    try:
        found = datetime.fromisoformat(timestamp) if isinstance(timestamp, str) else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)


def age(timestamp: Any, view: View) -> str:
    """How long ago a time was, in human-readable form."""
    then = moment(timestamp)
    return duration((view.now - then).total_seconds()) if then else UNKNOWN


def duration(seconds: float) -> str:
    """A span of time with two or three significant figures."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    minutes, hours, days = whole // _MINUTE, whole // _HOUR, whole // _DAY
    if minutes < 10:
        return _two_units(minutes, "m", whole % _MINUTE, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two_units(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return _two_units(days, "d", hours % 24, "h")
    if days < 2 * 365:
        return f"{days}d"
    return _two_units(days // 365, "y", days % 365, "d") if days < 8 * 365 else f"{days // 365}y"


def _two_units(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


def labels(pairs: Mapping[str, Any]) -> str:
    """Labels as `a=b,c=d`."""
    return ",".join(f"{key}={pairs[key]}" for key in sorted(pairs)) or NONE


def selector(given: Any) -> str:
    """A label selector in the form of the command line; `<none>` when it selects everything or nothing."""
    return selector_text(given) or NONE


def selector_text(given: Any) -> str:
    """A label selector in the form of the command line."""
    parts = [(key, f"{key}={value}") for key, value in mapping(given, "matchLabels").items()]
    parts += [(text(part, "key"), _requirement(part)) for part in items(given, "matchExpressions")]
    return ",".join(phrase for _, phrase in sorted(parts, key=lambda part: part[0]))


def _requirement(part: Any) -> str:
    key, operator = text(part, "key"), text(part, "operator")
    if operator == "Exists":
        return key
    if operator == "DoesNotExist":
        return f"!{key}"
    values = ",".join(sorted(map(str, items(part, "values"))))
    return f"{key} {_OPERATORS.get(operator, operator)} ({values})"


def containers(pod_spec: Any) -> Cells:
    """The names and images of a template's containers."""
    listed = items(pod_spec, "containers")
    return {
        "Containers": ",".join(text(item, "name") for item in listed),
        "Images": ",".join(text(item, "image") for item in listed),
    }


def shorten_list(parts: Sequence[str], shown: int = 3, separator: str = ",") -> str:
    """The first parts, and how many more there are."""
    listed = separator.join(parts[:shown])
    return f"{listed} + {len(parts) - shown} more..." if len(parts) > shown else listed


def has_condition(obj: Any, condition: str) -> bool:
    """Whether the status has the condition, and it is true."""
    found = next((item for item in items(obj, "status", "conditions") if text(item, "type") == condition), None)
    return text(found, "status") == "True"
