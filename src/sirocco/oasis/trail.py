"""What an entry of the agent's own record of its work says of one deed, for behaviours of auditability (AV-14)."""

from dataclasses import dataclass
from typing import Any

FieldPath = tuple[str, ...]
Leaves = dict[FieldPath, Any]
"""Single values of an object by their paths."""


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """What one entry says beside what was done: why, what set it off, and the fields as they were and as they are."""

    rationale: str
    trigger: str
    before: Any
    after: Any
