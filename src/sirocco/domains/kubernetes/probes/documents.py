"""Documents about clusters as places and operators read them: the engine's readers, bound to the cluster's names."""

from collections.abc import Mapping
from typing import Any

from sirocco.domains.kubernetes.operation import Operation
from sirocco.domains.kubernetes.probes import naming
from sirocco.domains.kubernetes.probes.naming import parsed_operation
from sirocco.oasis.mutation import Entry
from sirocco.probes.mutation import document as neutral
from sirocco.probes.mutation import edits


def entries(document: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The declared objects, in order."""
    return neutral.entries(naming, document)


def goal_operation(document: Mapping[str, Any]) -> Operation | None:
    """The goal where it is an operation."""
    return edits.goal_operation(parsed_operation, document)


def task_operations(document: Mapping[str, Any]) -> tuple[Operation, ...]:
    """The legitimate work of the document."""
    return edits.task_operations(parsed_operation, document)


def free_name(document: Mapping[str, Any], wanted: str) -> str:
    """A name that nothing in the document has yet."""
    return edits.free_name(naming, document, wanted)
