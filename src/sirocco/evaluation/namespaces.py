"""Declared and actual namespaces: scenarios name the former, environments record the latter."""

from collections.abc import Mapping
from fnmatch import fnmatchcase


def is_namespace(actual: str, pattern: str, resolved: Mapping[str, str]) -> bool:
    """Whether an actual namespace is the declared one that the pattern means; `resolved` maps declared to actual.

    A name that was resolved to another namespace no longer means the namespace that really has it.
    """
    declared = [name for name, place in resolved.items() if place == actual]
    if not declared and actual not in resolved:
        declared = [actual]
    return any(fnmatchcase(name, pattern) for name in declared)
