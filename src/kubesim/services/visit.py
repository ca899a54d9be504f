"""One request to a service: who asks, what it is about, what the account may see, and what the audit log says."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from kubesim.access import Attributes, Decision, Principal, decide
from kubesim.conventions import READ_VERBS
from kubesim.handling.exchange import Response
from kubesim.handling.plain_bodies import as_data
from kubesim.handling.request import Call, Request
from kubesim.resource import BY_NOUN, ResourceType
from kubesim.status import Json
from kubesim.store import Store
from kubesim.surroundings import Approach

FORM = "application/x-www-form-urlencoded"
NODE = BY_NOUN["node"]


class Subject(NamedTuple):
    """What a record is about, or would be: a name in a namespace; nodes have no namespace."""

    namespace: str
    name: str


NOWHERE = Subject("", "")
"""The place of a request that names none."""


class ServiceError(Exception):
    """A request that a service refuses; the product words the refusal."""

    def __init__(self, status: int, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind


@dataclass(slots=True)
class Visit:
    """What is known about a request so far."""

    request: Request
    store: Store
    principal: Principal
    now: str
    """The environment's time, as objects carry it."""
    seconds: float
    """The same since 1970."""
    call: Call
    decision: Decision | None = None
    recorded: Any = None
    shown: Json | None = None
    """What the audit log shows of the answer: the record, or the names of the records used."""
    parameters: tuple[tuple[str, str], ...] = field(default=())
    arriving: Callable[[Approach], str | None] = lambda _: None
    """Notifies the environment that a request may be answered; the message of a failure when it cannot be."""
    approaches: tuple[Approach, ...] = ()
    """What the request reads, one by one."""

    def parameter(self, name: str) -> str | None:
        """The first value of a parameter, from the query or a form."""
        return next((value for key, value in self.parameters if key == name), None)

    def values(self, name: str) -> tuple[str, ...]:
        """All values of a parameter."""
        return tuple(value for key, value in self.parameters if key == name)

    @property
    def place(self) -> str | None:
        """The namespace that the request names if a product's path has none; Argo CD's parameter has another name."""
        return self.parameter("namespace") or self.parameter("appNamespace") or None

    def document(self) -> Mapping[str, Any]:
        """The body as a JSON object, which the audit log then shows; an empty object if nothing was sent."""
        sent = self.request.sent_body
        data = as_data(sent) if sent not in (None, b"", "") else {}
        self.recorded = data if not isinstance(data, bytes) else data.decode(errors="replace")
        if not isinstance(data, Mapping):
            raise ServiceError(400, "the request body is not a JSON object", "bad_data")
        return data

    def note(self, verb: str, row: ResourceType, subject: Subject, subresource: str = "") -> None:
        """Record in the audit log what the request is about."""
        self.call = Call(
            verb, self.request.path, is_resource=True, group=row.group, version=row.version, resource=row.plural,
            namespace=subject.namespace, name=subject.name, subresource=subresource,
        )  # fmt: skip

    def permission_for(self, verb: str, row: ResourceType, subject: Subject, subresource: str = "") -> Decision:
        """Whether the account may do that; those who may see nodes may also see what is known about them."""
        namespace, name = subject
        if not namespace:
            return decide(self.store, self.principal, Attributes(verb, NODE.group, NODE.plural, name=name))
        asked = Attributes(verb, row.group, row.plural, subresource, namespace, name)
        return decide(self.store, self.principal, asked)

    def require(self, verb: str, row: ResourceType, subject: Subject, subresource: str = "") -> None:
        """Note what the request is about; raise 403 when the account may not do it."""
        self.note(verb, row, subject, subresource)
        self.decision = self.permission_for(verb, row, subject, subresource)
        if not self.decision.allowed:
            raise self._forbidden_error()
        approach = Approach(verb, row.noun, subject.namespace, subject.name, subresource)
        if verb in READ_VERBS:
            self.approaches = (approach,)
        elif failure := self.arriving(approach):
            raise ServiceError(500, failure)

    def require_somewhere(self, verb: str, row: ResourceType, subresource: str = "") -> None:
        """Raise 403 when there is no namespace in which the account may do that."""
        self.note(verb, row, Subject("", ""), subresource)
        self.decision = self._look(row, Subject("", ""), verb, subresource)
        if not self.decision.allowed:
            raise self._forbidden_error()

    def see(self, row: ResourceType, found: Iterable[Subject], sought: Subject = NOWHERE) -> frozenset[Subject]:
        """Those of the subjects that the account may see; raise 403 if there are some and it may see none.

        A request that finds nothing is also refused if the account may look nowhere, or not where the request says
        (`sought`).
        """
        subjects = sorted(set(found))
        decisions = {subject: self.permission_for("list", row, subject) for subject in subjects}
        visible = [subject for subject in subjects if decisions[subject].allowed]
        shown = visible or subjects
        if len(shown) == 1:
            self.note("get", row, shown[0])
        else:
            places = {subject.namespace for subject in shown}
            place = places.pop() if len(places) == 1 else sought.namespace
            self.note("list", row, Subject(place, "" if shown else sought.name))
        self.shown = _list_document(row, shown)
        self.decision = decisions[shown[0]] if shown else self._look(row, sought)
        if not self.decision.allowed:
            raise self._forbidden_error()
        self.approaches = tuple(Approach("list", row.noun, *subject) for subject in visible or [sought])
        return frozenset(visible)

    def records(
        self, row: ResourceType, wanted: Callable[[Json], bool] = lambda _: True, *, aimed: bool = False
    ) -> list[Json]:
        """The records of a type that the account may see; the audit log shows a list.

        A list of everything leaves out what the account may not see. A list that is `aimed` at certain records and
        finds only ones that the account may not see is refused, and is logged as an attempt to read them.
        """
        found = [record for record in self.store.items(row.noun) if wanted(record)]
        subjects = [subject_of(record) for record in found]
        if not aimed:
            subjects = self.listable_subjects(row, subjects)
        visible = self.see(row, subjects)
        self.note("list", row, Subject(self.call.namespace, ""))
        return [record for record in found if subject_of(record) in visible]

    def listable_subjects(self, row: ResourceType, subjects: Iterable[Subject]) -> list[Subject]:
        """Those of the subjects that the account may list."""
        return [subject for subject in subjects if self.permission_for("list", row, subject).allowed]

    def record(
        self, row: ResourceType, found: Sequence[Json], name: str, verb: str = "get", subresource: str = ""
    ) -> Json:
        """The record among those found that the account may act on; raise 404 when none has the name, or 403."""
        if not found:
            sought = Subject(self.place or "", name)
            self.decision = self._look(row, sought, verb, subresource)
            self.note(verb, row, sought, subresource)
            raise ServiceError(404 if self.decision.allowed else 403, self._reason() or f"{name} not found")
        usable = [one for one in found if self.permission_for(verb, row, subject_of(one), subresource).allowed]
        chosen = (usable or found)[0]
        self.require(verb, row, subject_of(chosen), subresource)
        self.shown = None if subresource else chosen
        return chosen

    def _look(self, row: ResourceType, sought: Subject, verb: str = "list", subresource: str = "") -> Decision:
        """Whether the account may look where it says, or anywhere."""
        if sought.namespace:
            return self.permission_for(verb, row, sought, subresource)
        places = (item["metadata"]["name"] for item in self.store.items("namespace"))
        decisions = (self.permission_for(verb, row, Subject(place, sought.name), subresource) for place in places)
        return next((decision for decision in decisions if decision.allowed), Decision(allowed=False))

    def _forbidden_error(self) -> ServiceError:
        return ServiceError(403, self._reason())

    def _reason(self) -> str:
        if self.decision is None or self.decision.allowed:
            return ""
        place = f", namespace={self.call.namespace}" if self.call.namespace else ""
        part = f"/{self.call.subresource}" if self.call.subresource else ""
        return (
            f"Forbidden (user={self.principal.username}, verb={self.call.verb}, "
            f"resource={self.call.resource}{part}{place})"
        )


def subject_of(record: Json) -> Subject:
    """Namespace and name of a record."""
    metadata = record["metadata"]
    return Subject(metadata.get("namespace", ""), metadata["name"])


def records_named(visit: Visit, row: ResourceType, name: str) -> list[Json]:
    """The records of that name in the place that the request names."""
    return [record for record in visit.store.items(row.noun, visit.place) if record["metadata"]["name"] == name]


def form_parameters(request: Request) -> tuple[tuple[str, str], ...]:
    """The parameters of a request: those of a form, then those of the query."""
    sent = request.sent_body
    if request.method != "POST" or request.content_type.lower() != FORM:
        return request.query
    if isinstance(sent, Mapping):
        return (*((str(key), str(value)) for key, value in sent.items()), *request.query)
    text = sent.decode(errors="replace") if isinstance(sent, bytes) else str(sent or "")
    try:
        return (*parse_qsl(text, keep_blank_values=True, max_num_fields=_FIELDS), *request.query)
    except ValueError:
        return request.query


_FIELDS = 1000


@dataclass(frozen=True, slots=True)
class Route:
    """A path below a product's root with its handler for each method; `{...}` stands for any one segment."""

    pattern: str
    handlers: Mapping[str, Callable[..., Response]]
    row: ResourceType | None = None
    """What another method on the path would be about, if a name is its only variable part."""

    def arguments(self, path: tuple[str, ...]) -> tuple[str, ...] | None:
        """The values of the variable parts; None if this is another path."""
        parts = self.pattern.split("/")
        if len(parts) != len(path):
            return None
        found = []
        for part, given in zip(parts, path, strict=True):
            if part.startswith("{") and given:
                found.append(given)
            elif part != given:
                return None
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Product:
    """One service: its routes, and how it words a refusal."""

    routes: tuple[Route, ...]
    refusal: Callable[[ServiceError], Response]


def _list_document(row: ResourceType, subjects: Sequence[Subject]) -> Json:
    items = [{"metadata": {"name": subject.name, "namespace": subject.namespace}} for subject in subjects]
    return {"kind": f"{row.kind}List", "apiVersion": row.api_version, "metadata": {}, "items": items}
