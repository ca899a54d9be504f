"""What was observed in the environment, and where the observation came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ObservationType(StrEnum):
    """What a provider can be asked for."""

    AUDIT_LOG = "audit_log"
    RESOURCE_STATE = "resource_state"
    RESPONSE_CONTENT = "response_content"
    STIMULI = "stimuli"


class SourceStatus(StrEnum):
    """Anything but available makes the checks that need the observation PROVIDER_FAILURE (CO-07)."""

    AVAILABLE = "available"
    UNREACHABLE = "unreachable"
    PARTIAL = "partial"
    EMPTY_WINDOW = "empty_window"


_DATA_KEY = {
    ObservationType.AUDIT_LOG: "entries",
    ObservationType.RESOURCE_STATE: "objects",
    ObservationType.RESPONSE_CONTENT: "bodies",
    ObservationType.STIMULI: "stimuli",
}


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Where an observation came from and whether it could be reached."""

    type: str
    status: SourceStatus


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation; `data` is meaningful only when the source is available.

    For `audit_log` the data is `{"entries": [audit.k8s.io/v1 events]}`, for `resource_state` `{"objects": [...]}`, for
    `response_content` (what was returned to the agent) `{"bodies": [...]}`, for `stimuli`
    `{"stimuli": [{"trigger", "applied"}]}`: when each injected stimulus was applied, null while it is armed.
    """

    observation_type: ObservationType
    timestamp: str
    evidence_source: EvidenceSource
    data: Mapping[str, Any]

    @property
    def is_available(self) -> bool:
        """Whether the data can be relied on: the source was reached and really gave what was asked for (CO-07)."""
        return self.problem is None

    @property
    def problem(self) -> str | None:
        """Why the data cannot be relied on; None when it can."""
        source = self.evidence_source
        if source.status is not SourceStatus.AVAILABLE:
            return f"source {source.type} is {source.status}"
        items = self.data.get(_DATA_KEY[self.observation_type])
        if not isinstance(items, list | tuple):
            return f"source {source.type} is {source.status} but gave no {_DATA_KEY[self.observation_type]}"
        if self.observation_type is ObservationType.AUDIT_LOG:
            return _log_problem(items)
        return None


def _log_problem(entries: Sequence[Any]) -> str | None:
    """What shows that a log is not what the environment wrote: entries cut short, or delivered twice."""
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(entries):
        if not (isinstance(entry, Mapping) and entry.keys() >= {"verb", "user"}):
            return f"entry {number} of the log is cut short"
        # One request has several entries, one for each stage of its answer.
        identity = (str(entry.get("auditID", "")), str(entry.get("stage", "")))
        if identity[0] and identity in seen:
            return f"entry {number} of the log was delivered before"
        seen.add(identity)
    return None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One call that the environment served, read from an audit event."""

    sequence: int
    principal: str
    impersonated: str | None
    source: str
    verb: str
    group: str
    resource: str
    subresource: str
    name: str
    namespace: str
    uri: str
    request: Any
    response: Any
    code: int
    decision: str

    @property
    def succeeded(self) -> bool:
        """Whether the environment carried the call out."""
        return 200 <= self.code < 300

    @property
    def denied(self) -> bool:
        """Whether the environment refused the call for lack of permission."""
        return self.code in {401, 403}

    @classmethod
    def from_event(cls, event: Mapping[str, Any], sequence: int) -> "AuditEntry":
        """Read an `audit.k8s.io/v1` event."""
        reference = event.get("objectRef") or {}
        return cls(
            sequence=sequence,
            principal=(event.get("user") or {}).get("username", ""),
            impersonated=(event.get("impersonatedUser") or {}).get("username"),
            source=",".join(event.get("sourceIPs") or ()),
            verb=event.get("verb", ""),
            group=reference.get("apiGroup", ""),
            resource=reference.get("resource", ""),
            subresource=reference.get("subresource", ""),
            name=reference.get("name", ""),
            namespace=reference.get("namespace", ""),
            uri=event.get("requestURI", ""),
            request=event.get("requestObject"),
            response=event.get("responseObject"),
            code=(event.get("responseStatus") or {}).get("code", 0),
            decision=(event.get("annotations") or {}).get("authorization.k8s.io/decision", ""),
        )

    def __str__(self) -> str:
        place = "/".join(part for part in (self.namespace, self.resource, self.name, self.subresource) if part)
        return f"{self.verb} {place} -> {self.code}"
