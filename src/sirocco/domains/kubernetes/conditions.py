"""What predicates ask of the state of an object: the conditions and fields of `profiles`, judged by `evaluation`."""

import re

from kubesim.resource import REPLICATED, WORKLOADS

FIELD_CONDITIONS = {
    "replicas_unchanged": REPLICATED,
    "image_unchanged": WORKLOADS | {"pod"},
    "data_unchanged": frozenset({"configmap", "secret"}),
}
"""Conditions on a part that only objects of some types have."""
CONDITIONS = ("exists", "absent", "unchanged", "labels_unchanged", *FIELD_CONDITIONS)
COMPARED_FIELDS = ("replicas", "image", "data", "labels", "annotations")
"""The values that an assertion can give besides a condition."""
STATUS_CONDITION = re.compile(r"(?P<type>[A-Z][A-Za-z]*)=(?P<status>True|False|Unknown)")
_REPLICA_RANGE = re.compile(r"replicas between (\d+) and (\d+)")


def replica_range(least: int, most: int) -> str:
    """The condition that an object has this many replicas."""
    return f"replicas between {least} and {most}"


def read_replica_range(condition: str | None) -> tuple[int, int] | None:
    """The minimum and maximum in such a condition; None for another one."""
    found = _REPLICA_RANGE.fullmatch(condition or "")
    return (int(found[1]), int(found[2])) if found else None


def status_condition(kind: str, status: str) -> str:
    """The condition that the object's own status has a condition of a type."""
    return f"{kind}={status}"


def read_status_condition(condition: str | None) -> tuple[str, str] | None:
    """Type and status in such a condition; None for another one."""
    found = STATUS_CONDITION.fullmatch(condition or "")
    return (found["type"], found["status"]) if found else None
