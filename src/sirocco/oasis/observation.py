"""What was observed in the environment, and where the observation came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from types import NoneType
from typing import Any, NamedTuple

from kubesim.resource import is_custom
from sirocco.oasis.body_text import held_data
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.derived import Derives


class ObservationType(StrEnum):
    """What a provider can be asked for."""

    AUDIT_LOG = "audit_log"
    RESOURCE_STATE = "resource_state"
    RESPONSE_CONTENT = "response_content"
    STIMULI = "stimuli"
    STATE_WITHOUT_AGENT = "state_without_agent"


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
    ObservationType.STATE_WITHOUT_AGENT: "objects",
}


_LIST = (list, tuple)
_MAPPING = (dict, Mapping)
_SECTION = (dict, NoneType, Mapping)
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
    `{"stimuli": [{"trigger", "applied"}]}`: when each injected stimulus was applied, null while it is armed. For
    `state_without_agent` it is `{"objects": [...]}` again: the same environment, over the same simulated time and with
    the same stimuli and reactions, in which the agent did nothing (SI-08).
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

    @property
    def entries(self) -> tuple["AuditEntry", ...]:
        """The audit log in order; nothing of one that cannot be relied on, nor of another observation."""
        is_log = self.observation_type is ObservationType.AUDIT_LOG and self.is_available
        return self._log[0] if is_log else ()

    @cached_property
    def _log(self) -> tuple[tuple["AuditEntry", ...], str | None]:
        return _read_log(self.data["entries"])

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
                return self._log[1]
            case ObservationType.RESOURCE_STATE | ObservationType.STATE_WITHOUT_AGENT:
                return next((f"object {n} is none" for n, item in enumerate(items) if not _is_object(item)), None)
        return None


def _read_log(events: Sequence[Any]) -> tuple[tuple["AuditEntry", ...], str | None]:
    """The entries of a log, or what shows that it is not what the environment wrote: cut short, or delivered twice."""
    entries: list[AuditEntry] = []
    for number, event in enumerate(events):
        if not (isinstance(event, _MAPPING) and "verb" in event and "user" in event):
            return (), f"entry {number} of the log is cut short"
        entry = AuditEntry.read(event, number)
        if entry is None:
            return (), f"entry {number} of the log is no audit event"
        entries.append(entry)
    again = _delivered_again(events)
    return ((), f"entry {again} of the log was delivered before") if again is not None else (tuple(entries), None)


def _delivered_again(events: Sequence[Mapping[str, Any]]) -> int | None:
    """The number of the first event that came before word for word.

    One request has several entries, one for each stage of its answer. A client may choose the id, and choose it twice;
    so an id that comes again says no more than where to look.
    """
    ids = [str(event.get("auditID") or "") for event in events]
    if len(set(ids)) == len(ids):
        return None
    ids = [one and f"{event.get('stage', '')} {one}" for one, event in zip(ids, events, strict=True)]
    first: dict[str, int] = {}
    known: dict[str, set[str]] = {}
    for number, one in enumerate(ids):
        earlier = first.setdefault(one, number)
        if one and earlier != number:
            seen = known.setdefault(one, {canonical_json(events[earlier])})
            written = canonical_json(events[number])
            if written in seen:
                return number
            seen.add(written)
    return None


def _is_object(item: Any) -> bool:
    """Whether something is an object of the API: named, of a kind, and with sections that can be read as such.

    What a custom type calls its spec may be anything, and whoever may create its objects would make the state one that
    nobody could rely on.
    """
    metadata = item.get("metadata") if isinstance(item, _MAPPING) else None
    return (
        isinstance(metadata, _MAPPING)
        and isinstance(item.get("kind"), str)
        and isinstance(metadata.get("name"), str)
        and isinstance(metadata.get("namespace", ""), str)
        and isinstance(metadata.get("labels"), _SECTION)
        and isinstance(metadata.get("annotations"), _SECTION)
        and _are_mappings(metadata.get("ownerReferences"))
        and (_has_sections(item) or is_custom(item))
    )


def _has_sections(item: Mapping[str, Any]) -> bool:
    """Whether what an object of the API holds is where readers look for it."""
    status = item.get("status")
    return (
        isinstance(item.get("spec"), _SECTION)
        and isinstance(item.get("data"), _SECTION)
        and isinstance(status, _SECTION)
        and (not status or (_are_mappings(status.get("conditions")) and _are_mappings(status.get("containerStatuses"))))
    )


def _are_mappings(members: Any) -> bool:
    return not members or (isinstance(members, _LIST) and all(isinstance(one, _MAPPING) for one in members))


class AuditEntry(NamedTuple):
    """One call that the environment served: what every reader of a log asks for, and the audit event for the rest.

    A tuple, because a log has thousands of entries and nothing else that cannot change is made as quickly.
    """

    sequence: int
    event: Mapping[str, Any]
    principal: str
    impersonated: str | None
    source: str
    verb: str
    group: str
    resource: str
    subresource: str
    name: str
    namespace: str
    code: int

    @property
    def uri(self) -> str:
        """The address that was called, with its query."""
        uri: str = self.event.get("requestURI", "")
        return uri

    @property
    def request(self) -> Any:
        """The body of the request; None where none was recorded. What was recorded as text is read."""
        body = self.event.get("requestObject")
        return held_data(body) if isinstance(body, str) else body

    @property
    def request_text(self) -> str:
        """The body of the request where it was recorded as text, which may hold more than data: comments, for one."""
        body = self.event.get("requestObject")
        return body if isinstance(body, str) else str(self.event.get("requestText") or "")

    @property
    def response(self) -> Any:
        """The body of the answer; None where none was recorded."""
        return self.event.get("responseObject")

    @property
    def decision(self) -> str:
        """What authorization decided; empty where it does not say."""
        return str((self.event.get("annotations") or {}).get("authorization.k8s.io/decision", ""))

    @property
    def user_agent(self) -> str:
        """What the caller called itself."""
        return str(self.event.get("userAgent") or "")

    @property
    def at(self) -> str:
        """When the environment received the call, by its own clock; empty where it does not say."""
        return str(self.event.get("requestReceivedTimestamp") or "")

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
        """Read an `audit.k8s.io/v1` event; raise ValueError for what is none."""
        entry = cls.read(event, sequence)
        if entry is None:
            raise ValueError("not an audit event")
        return entry

    @classmethod
    def read(cls, event: Mapping[str, Any], sequence: int) -> "AuditEntry | None":
        """Read an `audit.k8s.io/v1` event; None when what is read of it is not of the types that it has in one."""
        get = event.get
        reference, user, other = get("objectRef") or {}, get("user", {}), get("impersonatedUser") or {}
        status, notes, sources = get("responseStatus") or {}, get("annotations") or {}, get("sourceIPs") or ()
        # Nearly all are dicts, which their types tell at once.
        is_plain = type(reference) is type(user) is type(other) is type(status) is type(notes) is dict
        if not is_plain and not all(isinstance(part, Mapping) for part in (reference, user, other, status, notes)):
            return None
        verb, code = get("verb", ""), status.get("code", 0)
        principal, impersonated = user.get("username", ""), other.get("username")
        if not isinstance(sources, _LIST) or not isinstance(code, int):
            return None
        try:
            # The quickest way to ask whether all of them are texts.
            "".join((verb, get("requestURI", ""), principal, impersonated or "", *reference.values(), *sources))
        except TypeError:
            return None
        named = reference.get
        fields = (
            sequence,
            event,
            principal,
            impersonated,
            sources[0] if len(sources) == 1 else ",".join(sources),
            verb,
            named("apiGroup", ""),
            named("resource", ""),
            named("subresource", ""),
            named("name", ""),
            named("namespace", ""),
            code,
        )
        # As `cls(*fields)` makes it, without a function in between for each of thousands.
        return tuple.__new__(cls, fields)

    def __str__(self) -> str:
        place = "/".join(part for part in (self.namespace, self.resource, self.name, self.subresource) if part)
        return f"{self.verb} {place} -> {self.code}"
