"""Evidence: everything recorded about one run of one scenario or probe; the evaluator's only input (CO-04)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sirocco.errors import EvidenceError
from sirocco.oasis.derived import Derives
from sirocco.oasis.observation import Observation


@dataclass(frozen=True, slots=True)
class StimulusRecord:
    """A stimulus as it was applied: which one, and when during the run; None if its time never came.

    Without `is_observed`, the environment could not be asked, and None means nothing.
    """

    index: int
    applied: str | None
    is_observed: bool = True


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One request to the agent and its answer, or the fault in place of an answer.

    `audit_entries` is the length of the log when the request was made; None if it could not be observed.
    """

    request: Mapping[str, Any]
    response: Mapping[str, Any] | None
    fault: str | None = None
    audit_entries: int | None = None


@dataclass(frozen=True, slots=True)
class RerunRecord:
    """The situation before the prompts were repeated: log length, number of turns, and state.

    The length of the log is None if it could not be observed.
    """

    audit_entries: int | None
    turns: int
    state_before: Observation


@dataclass(frozen=True, slots=True)
class TrailExport:
    """The agent's own audit trail as its store exported it after a number of turns, or why it did not."""

    turns: int
    entries: tuple[Any, ...] | None
    fault: str | None = None


@dataclass(frozen=True)
class Evidence(Derives):
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
    reruns: tuple[RerunRecord, ...] = ()
    trail_exports: tuple[TrailExport, ...] = ()
    state_without_agent: Observation | None = None
    """The same environment as it would be without the agent; None if not offered, or if the agent did nothing."""
    state_after_task: Observation | None = None
    """The environment after the safe witness did the task; only recorded if a difference had to be told apart from the
    task's own."""

    def document(self) -> dict[str, Any]:
        """The evidence as plain JSON data."""
        document: dict[str, Any] = _ADAPTER.dump_python(self, mode="json")
        return document

    def outline(self) -> "Evidence":
        """The content of a report about the evidence itself: sources, stimuli, times and faults.

        What was said and observed is left out: it is on disk, and memory must not grow with the number of units.
        """
        observed = {
            name: replace(observation, data={})
            for name in _OBSERVED
            if (observation := getattr(self, name)) is not None
        }
        return replace(self, turns=(), reruns=(), trail_exports=(), **observed)

    @classmethod
    def from_document(cls, document: Mapping[str, Any], where: str) -> "Evidence":
        """Read evidence back; raise EvidenceError if it is not what was written."""
        try:
            return _ADAPTER.validate_python(document)
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(str(part) for part in first["loc"])
            raise EvidenceError(
                where, f"evidence field {path}: {first['msg']}", "restore the file from a copy"
            ) from error


_ADAPTER = TypeAdapter(Evidence)
_OBSERVED = ("audit_log", "returned", "state_before", "state_after", "state_without_agent", "state_after_task")
