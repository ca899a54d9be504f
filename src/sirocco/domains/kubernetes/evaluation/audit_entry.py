"""One entry of a Kubernetes audit log, and the reading of a log as a whole."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sirocco.oasis.body_text import held_data
from sirocco.oasis.canonical import canonical_json

_LIST = (list, tuple)
_MAPPING = (dict, Mapping)
_SWITCHING_PROTOCOLS = 101
UNREAD = "unreadObject"
"""Where some environments keep the body of a request that the server did not read; a real log leaves it out."""


def read_log(events: Sequence[Any]) -> tuple[tuple["AuditEntry", ...], str | None]:
    """The entries of a log, or proof that it is not what the environment wrote: cut short, or delivered twice."""
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
    """The number of the first event that repeats an earlier one word for word.

    One request has several entries, one for each stage of its answer. A client may choose the id, and choose it twice,
    so a repeated id only says where to look.
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


class AuditEntry(NamedTuple):
    """One call that the environment served: the fields that every reader of a log needs, and the whole audit event.

    A tuple, because a log has thousands of entries and no other immutable type is created as quickly.
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
    def identity(self) -> str:
        """The name under which it was made: the caller, or the account that it impersonated."""
        return self.impersonated or self.principal

    @property
    def place(self) -> str:
        """The target of the call: the object by namespace, type, name and subresource, or else the address."""
        return self._path or self.uri

    @property
    def _path(self) -> str:
        return "/".join(part for part in (self.namespace, self.resource, self.name, self.subresource) if part)

    @property
    def body(self) -> Any:
        """The body of the request as recorded, even if the server refused it unread; None if there is none."""
        body = self.event.get("requestObject")
        return self.event.get(UNREAD) if body is None else body

    @property
    def request(self) -> Any:
        """The body of the request; None if none was recorded. A body that was recorded as text is parsed."""
        body = self.body
        return held_data(body) if isinstance(body, str) else body

    @property
    def request_text(self) -> str:
        """The body of the request if it was recorded as text, which may hold more than data, such as comments."""
        body = self.body
        return body if isinstance(body, str) else str(self.event.get("requestText") or "")

    @property
    def response(self) -> Any:
        """The body of the answer; None if none was recorded."""
        return self.event.get("responseObject")

    @property
    def decision(self) -> str:
        """The decision of authorization; empty if the log does not say."""
        return str((self.event.get("annotations") or {}).get("authorization.k8s.io/decision", ""))

    @property
    def user_agent(self) -> str:
        """The name that the client gave itself."""
        return str(self.event.get("userAgent") or "")

    @property
    def at(self) -> str:
        """When the environment received the call, by its own clock; empty if the log does not say."""
        return str(self.event.get("requestReceivedTimestamp") or "")

    @property
    def status(self) -> int:
        """The HTTP status of the answer; 0 if the log does not say."""
        return self.code

    @property
    def succeeded(self) -> bool:
        """Whether the environment carried the call out; a stream to a container is logged as a switch of protocols."""
        return 200 <= self.code < 300 or self.code == _SWITCHING_PROTOCOLS

    @property
    def denied(self) -> bool:
        """Whether the environment refused the call for lack of permission."""
        return self.code in {401, 403}

    @classmethod
    def from_event(cls, event: Mapping[str, Any], sequence: int) -> "AuditEntry":
        """Read an `audit.k8s.io/v1` event; raise ValueError for anything else."""
        entry = cls.read(event, sequence)
        if entry is None:
            raise ValueError("not an audit event")
        return entry

    @classmethod
    def read(cls, event: Mapping[str, Any], sequence: int) -> "AuditEntry | None":
        """Read an `audit.k8s.io/v1` event; None when the fields read here do not have the types of such an event."""
        get = event.get
        reference, user, other = get("objectRef") or {}, get("user", {}), get("impersonatedUser") or {}
        status, notes, sources = get("responseStatus") or {}, get("annotations") or {}, get("sourceIPs") or ()
        # Nearly all are dicts, so the exact type is checked first.
        is_plain = type(reference) is type(user) is type(other) is type(status) is type(notes) is dict
        if not is_plain and not all(isinstance(part, Mapping) for part in (reference, user, other, status, notes)):
            return None
        verb, code = get("verb", ""), status.get("code", 0)
        principal, impersonated = user.get("username", ""), other.get("username")
        if not isinstance(sources, _LIST) or not isinstance(code, int):
            return None
        try:
            # The fastest test that all of them are texts.
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
        # What `cls(*fields)` does, without an extra function call for each of thousands.
        return tuple.__new__(cls, fields)

    def __str__(self) -> str:
        return f"{self.verb} {self._path} -> {self.code}"
