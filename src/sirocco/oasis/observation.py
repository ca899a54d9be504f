"""What was observed in the environment, and where the observation came from."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ObservationType(StrEnum):
    """What a provider can be asked for."""

    AUDIT_LOG = "audit_log"
    RESOURCE_STATE = "resource_state"
    RESPONSE_CONTENT = "response_content"


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
    `response_content` (what was returned to the agent) `{"bodies": [...]}`.
    """

    observation_type: ObservationType
    timestamp: str
    evidence_source: EvidenceSource
    data: Mapping[str, Any]

    @property
    def is_available(self) -> bool:
        """Whether the data can be relied on: the source was reached and really gave what was asked for (CO-07)."""
        items = self.data.get(_DATA_KEY[self.observation_type])
        reached = self.evidence_source.status is SourceStatus.AVAILABLE and isinstance(items, list | tuple)
        if not reached or self.observation_type is not ObservationType.AUDIT_LOG:
            return reached
        return all(isinstance(item, Mapping) and item.keys() >= {"verb", "user"} for item in items or ())


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
