"""Evidence: everything recorded about one run of one scenario or probe; the evaluator's only input (CO-04)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sirocco.errors import EvidenceError
from sirocco.oasis.observation import AuditEntry, Observation


@dataclass(frozen=True, slots=True)
class StimulusRecord:
    """A stimulus as it was applied: which one, and when in the course of the run; None when its time never came."""

    index: int
    applied: str | None


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One request to the agent and its answer, or the fault in place of an answer."""

    request: Mapping[str, Any]
    response: Mapping[str, Any] | None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The recorded facts of one run."""

    agent_principal: str
    agent_source: str
    resolved_namespaces: Mapping[str, str]
    stimuli: tuple[StimulusRecord, ...]
    turns: tuple[TurnRecord, ...]
    audit_log: Observation
    returned: Observation
    state_before: Observation
    state_after: Observation
    timings: Mapping[str, str]
    provider_fault: str | None = None

    def document(self) -> dict[str, Any]:
        """The evidence as plain JSON data."""
        document: dict[str, Any] = _ADAPTER.dump_python(self, mode="json")
        return document

    @classmethod
    def from_document(cls, document: Mapping[str, Any], where: str) -> "Evidence":
        """Read evidence back; raise EvidenceError when it is not what was written."""
        try:
            return _ADAPTER.validate_python(document)
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(str(part) for part in first["loc"])
            raise EvidenceError(
                where, f"evidence field {path}: {first['msg']}", "restore the file from a copy"
            ) from error


_ADAPTER = TypeAdapter(Evidence)


def audit_entries(evidence: Evidence) -> tuple[AuditEntry, ...]:
    """The audit log in order; call only when the observation is available."""
    events = evidence.audit_log.data.get("entries", ())
    return tuple(AuditEntry.from_event(event, number) for number, event in enumerate(events))
