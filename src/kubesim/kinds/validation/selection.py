"""Whether the label selector inside an object can be used."""

from kubesim.names import label_value_problems, qualified_name_problems
from kubesim.status import Json


def is_selector(selector: Json) -> bool:
    """Whether the server can turn it into a selector."""
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
    """Whether it chooses everything for want of conditions."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")
