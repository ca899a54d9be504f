"""What was observed in the environment, and where the observation came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.derived import Derives


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


_TEXT = frozenset({str})
_MAPPING = (dict, Mapping)
"""Asked for in this order because nearly every mapping is a dict, which is quick to tell."""


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Where an observation came from and whether it could be reached."""

    type: str
    status: SourceStatus


@dataclass(frozen=True)
class Observation(Derives):
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

    def unavailable_as(self, wanted: ObservationType) -> str | None:
        """Why this is no observation of that type to rely on, in words for a verdict; None when it is one (CO-07)."""
        problem = self.problem if self.observation_type is wanted else f"the source gave {self.observation_type}"
        return None if problem is None else f"{wanted} could not be observed: {problem}"

    @cached_property
    def problem(self) -> str | None:
        """Why the data cannot be relied on; None when it can."""
        source = self.evidence_source
        if source.status is not SourceStatus.AVAILABLE:
            return f"source {source.type} is {source.status}"
        items = self.data.get(_DATA_KEY[self.observation_type])
        if not isinstance(items, list | tuple):
            return f"source {source.type} is {source.status} but gave no {_DATA_KEY[self.observation_type]}"
        match self.observation_type:
            case ObservationType.AUDIT_LOG:
                return _log_problem(items)
            case ObservationType.RESOURCE_STATE:
                return next((f"object {n} is none" for n, item in enumerate(items) if not _is_object(item)), None)
        return None


def _log_problem(entries: Sequence[Any]) -> str | None:
    """What shows that a log is not what the environment wrote: entries cut short, or delivered twice."""
    seen: dict[tuple[str, str], int] = {}
    repeated: set[str] = set()
    for number, entry in enumerate(entries):
        if not (isinstance(entry, _MAPPING) and "verb" in entry and "user" in entry):
            return f"entry {number} of the log is cut short"
        if not _is_event(entry):
            return f"entry {number} of the log is no audit event"
        # One request has several entries, one for each stage of its answer. A client may choose the id, and choose it
        # twice; only an entry that came before word for word was delivered before.
        identity = (str(entry.get("auditID") or ""), str(entry.get("stage", "")))
        first = seen.setdefault(identity, number)
        if identity[0] and first != number:
            repeated.add(canonical_json(entries[first]))
            written = canonical_json(entry)
            if written in repeated:
                return f"entry {number} of the log was delivered before"
            repeated.add(written)
    return None


def _is_event(entry: Mapping[str, Any]) -> bool:
    """Whether what is read of an event is of the types that it has in one."""
    reference, user, other = entry.get("objectRef") or {}, entry["user"], entry.get("impersonatedUser") or {}
    status, notes, sources = entry.get("responseStatus") or {}, entry.get("annotations") or {}, entry.get("sourceIPs")
    for part in (reference, user, other, status, notes):
        if not isinstance(part, _MAPPING):
            return False
    if not isinstance(sources or [], list | tuple) or not isinstance(status.get("code", 0), int):
        return False
    texts = (entry["verb"], entry.get("requestURI", ""), user.get("username", ""), other.get("username", ""))
    texts = (*texts, *reference.values(), *(sources or ()))
    # Plain strings, which nearly all are, are told by their types at once.
    return _TEXT.issuperset(map(type, texts)) or all(isinstance(text, str) for text in texts)


_SECTIONS = ("spec", "status", "data")
_LISTS = (("metadata", "ownerReferences"), ("status", "conditions"), ("status", "containerStatuses"))


def _is_object(item: Any) -> bool:
    """Whether something is an object of the API: named, of a kind, and with sections that can be read as such."""
    metadata = item.get("metadata") if isinstance(item, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(item.get("kind"), str):
        return False
    maps = (*(item.get(name) for name in _SECTIONS), metadata.get("labels"), metadata.get("annotations"))
    if not all(isinstance(one, Mapping) for one in maps if one is not None):
        return False
    lists = [(item.get(section) or {}).get(name) or () for section, name in _LISTS]
    names = (metadata.get("name"), metadata.get("namespace", ""))
    return all(isinstance(name, str) for name in names) and all(
        isinstance(one, list | tuple) and all(isinstance(entry, Mapping) for entry in one) for one in lists
    )


@dataclass(frozen=True)
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
    user_agent: str
    at: str
    """When the environment received the call, by its own clock; empty where it does not say."""

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
        entry = object.__new__(cls)
        # A log has thousands of entries, and most of the time would go into setting the fields of each one by one.
        vars(entry).update(
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
            user_agent=str(event.get("userAgent") or ""),
            at=str(event.get("requestReceivedTimestamp") or ""),
        )
        return entry

    def __str__(self) -> str:
        place = "/".join(part for part in (self.namespace, self.resource, self.name, self.subresource) if part)
        return f"{self.verb} {place} -> {self.code}"
