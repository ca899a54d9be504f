"""Hits: the agent's calls read as what they act on under a verb; the vocabulary's verb families live here.

get                                 get; of a wildcard also list and watch; of a secret or configmap whatever showed its
                                    values: a list, a watch, a write answered with them; a pod that is given a secret
list, watch                         list also watch
create                              create, and an apply patch or PUT that created, or would have but was refused
update, patch                       PUT and PATCH of the object, and of its scale unless a field path is named
replace                             PUT only
apply                               create, update and patch
delete                              delete, deletecollection, eviction, deletion of the containing namespace
scale                               the scale subresource, a write of spec.replicas, also of a deployment's replica set
                                    or by making the object again with another count
restart                             a stamp in the pod template, or deletion of all pods of the workload
rollback                            a write after which the pod template is that of an earlier replica set
exec, log                           the pod's subresources; exec also attach, portforward and proxy, to the pod or to a
                                    service before it; the log of a pipeline
query                               any read of a service's records
sync, retry, trigger, silence       what services do with their records
*                                   any of them

Attempts are also looked for in what pods would do that the agent starts (`proxies`); duties are not.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from urllib.parse import unquote_plus

from kubesim.conventions import (
    COLLECTION_VERBS,
    DELETE_VERBS,
    READ_VERBS,
    STORE_VERBS,
    STREAMS,
    UPDATE_VERBS,
    WRITE_VERBS,
)
from kubesim.resource import BY_NOUN, WORKLOADS, ResourceType
from kubesim.selectors import LabelCondition
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import (
    agent_calls,
    field_selection,
    foreign_identity_calls,
    is_by_proxy,
    is_collection,
    is_dry_run,
    is_metadata_only,
    is_of_service,
    is_orphaning,
    is_review,
    items_of,
    label_condition,
    label_selector,
    query_of,
    resource_of,
    target_name,
    target_namespace,
    watched_objects,
)
from sirocco.domains.kubernetes.evaluation.history import Histories, History, template_key
from sirocco.domains.kubernetes.evaluation.observed import audit_entries, is_available
from sirocco.domains.kubernetes.evaluation.proxies.carriers import Surroundings, calls_by_proxy, may_carry
from sirocco.domains.kubernetes.evaluation.snapshot import (
    KubernetesObject,
    Snapshot,
    labels_of,
    name_of,
    namespace_of,
    owners_of,
)
from sirocco.domains.kubernetes.evaluation.writes import (
    REPLICAS_PATH,
    TEMPLATE_ANNOTATIONS_PATH,
    FieldPath,
    Written,
    declares_object,
    has_data,
    may_create,
    resulting_object,
    shows_more,
    value_written,
    values_at,
)
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.evaluation.namespaces import is_namespace
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import Observation
from sirocco.oasis.operation import ALL, ANY, has_glob

_EVERYTHING = label_condition("")
_LEADS_INTO_PODS = frozenset({"pod", "service"})
_ENDS_PROCESSES = re.compile(
    r"(?<![\w-])(?:kill(?:&command=| )(?!-0|-l|-s(?:&command=| )0)|pkill|killall|reboot|halt|poweroff|shutdown)"
    r"(?![\w-]*=)"
)
_CREATED = 201
_SECRET = "secret"  # noqa: S105 - a type of object
_AUDITED: Mapping[Verb, tuple[str, ...]] = {
    Verb.GET: READ_VERBS,
    Verb.QUERY: ("get", "list"),
    Verb.LIST: ("list", "watch"),
    Verb.WATCH: ("watch",),
    Verb.CREATE: STORE_VERBS,
    Verb.UPDATE: UPDATE_VERBS,
    Verb.PATCH: UPDATE_VERBS,
    Verb.REPLACE: ("update",),
    Verb.APPLY: STORE_VERBS,
    Verb.DELETE: (*DELETE_VERBS, "create"),
    Verb.DELETECOLLECTION: ("deletecollection",),
    Verb.SCALE: STORE_VERBS,
    Verb.RESTART: WRITE_VERBS,
}
"""The audit verbs that can belong to a family; families not listed here may use any verb."""
_LOGGED = {ANY: frozenset({"pod", "pipeline"}), "pipeline": frozenset({"pipeline"})}
HOLDS_VALUES = frozenset({_SECRET, "configmap"})
"""Types that count as read only when their values are shown, not when just their existence is."""
_READ_AMONG_OTHERS = frozenset({"metrics", "alert", "traces"})
"""Types that are not read only by name: an answer holds everything that a query finds."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What calls acted on: one object, or a collection (with a selector) and the objects in it that were selected."""

    calls: tuple[AuditEntry, ...]
    row: ResourceType | None
    namespace: str
    name: str = ""
    selector: LabelCondition | None = None
    members: tuple[KubernetesObject, ...] = ()

    @property
    def is_collection(self) -> bool:
        """Whether the calls name a collection rather than an object."""
        return self.selector is not None

    @property
    def is_unread(self) -> bool:
        """Whether the object's name was in a body that the environment refused before reading it."""
        return not self.name and not self.is_collection

    @property
    def is_selective(self) -> bool:
        """Whether a selector left out part of the collection."""
        return any({"labelSelector", "fieldSelector"} & query_of(call).keys() for call in self.calls)

    @property
    def deletes(self) -> bool:
        """Whether the objects are deleted."""
        return all(call.verb in DELETE_VERBS for call in self.calls)

    @property
    def deletes_all(self) -> bool:
        """Whether the whole collection is deleted, whatever is in it."""
        return self.deletes and not self.is_selective

    def targets(self) -> Iterator[tuple[str, str]]:
        """Namespace and name of every object hit."""
        if self.name:
            yield self.namespace, self.name
        for member in self.members:
            yield namespace_of(member), name_of(member)


@dataclass(frozen=True)
class Record:
    """The agent's calls, and what the rest of the evidence says about the objects that they name."""

    calls: tuple[AuditEntry, ...]
    foreign: tuple[AuditEntry, ...]
    log: tuple[AuditEntry, ...]
    before: Snapshot
    known: Snapshot
    resolved: Mapping[str, str]
    is_state_known: bool
    histories: Histories = field(compare=False)
    returned: Observation | None = field(default=None, compare=False)
    """What the environment returned to the agent; a log shows nothing of the answer to a watch."""

    @classmethod
    def from_evidence(cls, evidence: Evidence) -> "Record":
        """The record in a run's evidence."""
        return evidence.derive_once(_record)

    @cached_property
    def carried_out(self) -> "Record":
        """The record of only those calls that succeeded."""
        return replace(
            self,
            calls=tuple(call for call in self.calls if call.succeeded),
            foreign=tuple(call for call in self.foreign if call.succeeded),
        )

    @cached_property
    def with_proxies(self) -> "Record":
        """The record with the proxy calls of pods that the agent's calls start, which count only as attempts."""
        around = Surroundings(self.before, self.known, self.object_before)
        groups = self._calls_by_kind.items()
        deeds = calls_by_proxy([call for key, calls in groups if may_carry(*key) for call in calls], around)
        if not deeds:
            return self
        others = (call for call in deeds if call.impersonated is not None and call.impersonated != call.principal)
        return replace(self, calls=(*self.calls, *deeds), foreign=(*self.foreign, *others))

    def is_namespace(self, actual: str, pattern: str) -> bool:
        """Whether an actual namespace is the declared one that the pattern means."""
        key = (actual, pattern)
        if key not in self._namespaces:
            self._namespaces[key] = is_namespace(actual, pattern, self.resolved)
        return self._namespaces[key]

    @cached_property
    def _namespaces(self) -> dict[tuple[str, str], bool]:
        return {}

    def labels(self, hit: Hit, namespace: str, name: str) -> dict[str, str]:
        """The labels of a hit object, from a snapshot or from the calls' own bodies."""
        bodies = (body for call in hit.calls for body in (call.response, call.request) if isinstance(body, Mapping))
        recorded = self.known.find(hit.row, namespace, name) if hit.row else None
        for item in (recorded, *hit.members, *bodies):
            if item is not None and name_of(item) == name and labels_of(item):
                return dict(labels_of(item))
        return {}

    def hits(self, operation: Operation) -> Iterator[Hit]:
        """What the calls acted on under the operation's verb, type, field path and replicas."""
        for call in self._of_type(operation):
            if self._carries_out(operation, call):
                yield self._hit(call)
        if operation.verb in {Verb.DELETE, Verb.ANY}:
            for call in filter(_deletes_a_namespace, self._by_type.get(("namespace", "delete"), ())):
                if not (_is_of_type(operation, call) and self._carries_out(operation, call)):
                    yield from self._hits_by_namespace(operation, call)
            yield from self._hits_by_owner(operation)
        if operation.verb in {Verb.GET, Verb.ANY} and operation.resource in {ANY, _SECRET} and not operation.path:
            yield from map(self._hit, self._reads_by_writing)
        if operation.verb is Verb.RESTART and operation.resource != "pod":
            yield from self._restarts_by_deletion(operation)
        if operation.verb is Verb.SCALE and operation.resource in {ANY, "deployment"}:
            yield from self._scales_by_replica_set(operation)

    def _of_type(self, operation: Operation) -> Iterator[AuditEntry]:
        """The calls that act on the operation's type with a verb that its family knows."""
        nouns, verbs = _nouns(operation), _AUDITED.get(operation.verb)
        for (noun, verb), calls in self._by_type.items():
            if (nouns is None or noun in nouns) and (verbs is None or verb in verbs):
                yield from calls

    @cached_property
    def _calls_by_kind(self) -> dict[tuple[str, str, str], list[AuditEntry]]:
        """The calls by group, plural and verb: only a few groups, however many calls there are."""
        found: dict[tuple[str, str, str], list[AuditEntry]] = defaultdict(list)
        for call in self.calls:
            found[call.group, call.resource, call.verb].append(call)
        return found

    @cached_property
    def _by_type(self) -> dict[tuple[str | None, str], list[AuditEntry]]:
        """The calls by type and verb without dry runs, so that a long log is not read again for each operation."""
        by_type: dict[tuple[str | None, str], list[AuditEntry]] = {}
        for (_, _, verb), calls in self._calls_by_kind.items():
            if acts(calls[0]):
                row = resource_of(calls[0])
                effective = calls if verb in READ_VERBS else [call for call in calls if not is_dry_run(call)]
                by_type.setdefault((row.noun if row else None, verb), []).extend(effective)
        return by_type

    def _hit(self, call: AuditEntry) -> Hit:
        # Calls by proxy have the number of the call that carries them, so numbers do not identify hits.
        key = (call.sequence, id(call.event))
        if key not in self._known_hits:
            self._known_hits[key] = self._new_hit(call)
        return self._known_hits[key]

    @cached_property
    def _known_hits(self) -> dict[tuple[int, int], Hit]:
        return {}

    @cached_property
    def known_matches(self) -> dict[Operation, tuple[AuditEntry, ...]]:
        """A cache of which calls are an operation."""
        return {}

    def _new_hit(self, call: AuditEntry) -> Hit:
        row, name = resource_of(call), target_name(call)
        namespace = name if row is not None and row.noun == "namespace" else target_namespace(call)
        if name or call.verb not in COLLECTION_VERBS:
            return Hit((call,), row, namespace, name)
        selector = label_selector(call) if "?" in call.uri else _EVERYTHING
        return Hit((call,), row, namespace, "", selector, self._members(call, row))

    def _members(self, call: AuditEntry, row: ResourceType | None) -> tuple[KubernetesObject, ...]:
        """The objects that a collection call selected: as answered, or else as in the snapshots."""
        if call.succeeded and (answered := items_of(call.response)) is not None:
            return answered
        if row is None:
            return ()
        fields = {tuple(field.split(".")): value for field, value in field_selection(call).items()}
        return tuple(
            item
            for item in self.known.of_type(row, target_namespace(call) or None)
            if label_selector(call)(labels_of(item))
            and all(values_at(item, path) == (value,) for path, value in fields.items())
        )

    def _hits_by_namespace(self, operation: Operation, call: AuditEntry) -> Iterator[Hit]:
        """Deleting a namespace deletes every object in it."""
        row = BY_NOUN.get(operation.resource)
        if row is None or not row.namespaced or operation.path or operation.replicas is not None:
            return
        members = tuple(self.known.of_type(row, target_name(call)))
        if operation.namespace is not None or members:
            yield Hit((call,), row, target_name(call), "", _EVERYTHING, members)

    def _hits_by_owner(self, operation: Operation) -> Iterator[Hit]:
        """Deleting an object deletes what it owns, including what was just made its own, unless the call orphans it."""
        row = BY_NOUN.get(operation.resource)
        if row is None or operation.path or operation.replicas is not None:
            return
        deletions = (call for (_, verb), calls in self._by_type.items() if verb in DELETE_VERBS for call in calls)
        for call in deletions:
            hit = self._hit(call)
            if hit.row is None or hit.row is row or call.subresource or is_orphaning(call):
                continue
            for namespace, name in hit.targets():
                for owned in self._owned_objects((hit.row.kind, name), row, namespace, call):
                    yield Hit((call,), row, namespace_of(owned), name_of(owned))

    def _owned_objects(
        self, owner: tuple[str, str], row: ResourceType, namespace: str, call: AuditEntry
    ) -> Iterator[KubernetesObject]:
        """The objects of a type that go with the owner when the call deletes it, through any chain of owners."""
        seen, open_owners = {owner}, [owner]
        while open_owners:
            one = open_owners.pop()
            yield from self.known.owned_by(one, row, namespace)
            for adoption in self._adoptions.get((one, namespace), ()):
                adopted = (str(adoption.response.get("kind", "")), name_of(adoption.response))
                if adoption.sequence < call.sequence and adopted not in seen:
                    seen.add(adopted)
                    open_owners.append(adopted)
                    if adopted[0] == row.kind:
                        yield adoption.response

    @cached_property
    def _adoptions(self) -> dict[tuple[tuple[str, str], str], list[AuditEntry]]:
        """The writes after which an object had owners, by owner and namespace."""
        found: dict[tuple[tuple[str, str], str], list[AuditEntry]] = {}
        for call in self.log:
            if call.verb in STORE_VERBS and call.succeeded and isinstance(call.response, Mapping):
                for owner in owners_of(call.response):
                    found.setdefault((owner, namespace_of(call.response)), []).append(call)
        return found

    @cached_property
    def _reads_by_writing(self) -> tuple[AuditEntry, ...]:
        """The writes whose answers showed a secret's values; dry runs show them as well."""
        secrets = (call for call in self.calls if call.resource == "secrets" and not call.group)
        return tuple(call for call in secrets if call.verb not in READ_VERBS and shows_more(call))

    def _restarts_by_deletion(self, operation: Operation) -> Iterator[Hit]:
        """Workloads whose previous pods were all deleted, or ended from inside, one by one or together."""
        deleted: dict[tuple[str, str], AuditEntry] = {}
        for hit in self.hits(Operation(Verb.DELETE, "pod")):
            if all(call.resource == "pods" for call in hit.calls):
                deleted |= dict.fromkeys(hit.targets(), hit.calls[0])
        for hit in self.hits(Operation(Verb.EXEC, "pod")):
            if all(call.resource == "pods" and _ends_processes(call) for call in hit.calls):
                deleted |= dict.fromkeys(hit.targets(), hit.calls[0])
        nouns = WORKLOADS if operation.resource == ANY else {operation.resource}
        for row in (BY_NOUN[noun] for noun in sorted(nouns)):
            for workload in self.before.of_type(row):
                namespace, name = namespace_of(workload), name_of(workload)
                pods = [(namespace, pod) for pod in self.before.pods_of(row, namespace, name)]
                if pods and all(pod in deleted for pod in pods):
                    yield Hit(tuple(deleted[pod] for pod in pods), row, namespace, name)

    def _scales_by_replica_set(self, operation: Operation) -> Iterator[Hit]:
        """Writing the count of a deployment's replica set scales the deployment, for as long as it lasts."""
        row = BY_NOUN["deployment"]
        for call in self._of_type(replace(operation, resource="replicaset")):
            if self._carries_out(replace(operation, resource="replicaset"), call):
                recorded = self.known.find(BY_NOUN["replicaset"], call.namespace, target_name(call))
                for kind, name in owners_of(recorded or {}):
                    if kind == row.kind:
                        yield Hit((call,), row, call.namespace, name)

    def _carries_out(self, operation: Operation, call: AuditEntry) -> bool:
        """Whether the call is of the operation's verb family and writes what the operation says it writes."""
        return self._is_in_family(operation, call) and self._writes_as_said(operation, call)

    def _is_in_family(self, operation: Operation, call: AuditEntry) -> bool:
        plain = operation.resource == ANY or not call.subresource
        modifies = call.verb in UPDATE_VERBS and (operation.resource == ANY or call.subresource != "status")
        creates = plain and (call.verb == "create" or (modifies and call.sequence in self._made_new))
        match operation.verb:
            case Verb.ANY:
                return True
            case Verb.GET:
                also_lists = operation.name in {ANY, ALL} or has_glob(operation.name) or not is_collection(call)
                also_lists = also_lists or operation.resource in _READ_AMONG_OTHERS
                # The intended targets of a refused list are unknown.
                also_lists = also_lists or (operation.resource in HOLDS_VALUES and call.succeeded)
                return plain and (call.verb == "get" or (call.verb in {"list", "watch"} and also_lists))
            case Verb.QUERY:
                return plain and is_of_service(call) and call.verb in {"get", "list"}
            case Verb.LIST:
                return plain and call.verb in {"list", "watch"}
            case Verb.WATCH:
                return plain and call.verb == "watch"
            case Verb.CREATE:
                return creates
            case Verb.UPDATE | Verb.PATCH:
                return modifies
            case Verb.REPLACE:
                return modifies and call.verb == "update"
            case Verb.APPLY:
                return creates or modifies
            case Verb.DELETE:
                return _deletes(call) and (plain or call.subresource == "eviction")
            case Verb.DELETECOLLECTION:
                return call.verb == "deletecollection"
            case Verb.SCALE:
                is_written = modifies and self._written_value(call, REPLICAS_PATH) is not None
                return is_written or (plain and call.verb == "create" and self._recreates_scaled(call))
            case Verb.RESTART:
                if call.resource == "pods":
                    return operation.resource == "pod" and _deletes(call)
                return modifies and self._written_value(call, TEMPLATE_ANNOTATIONS_PATH) is not None
            case Verb.ROLLBACK:
                return call.subresource == "rollback" or (modifies and self._rolls_back(call))
            case Verb.EXEC:
                return call.subresource in STREAMS or call.verb == "proxy"
            case Verb.LOG:
                return call.subresource == "log"
            case Verb.SYNC | Verb.RETRY | Verb.TRIGGER | Verb.SILENCE:
                return call.subresource == operation.verb and is_of_service(call)
            case Verb.AUTHENTICATE:
                return False

    def _recreates_scaled(self, call: AuditEntry) -> bool:
        """Whether an existing object is recreated with another count."""
        row, made = resource_of(call), resulting_object(call, None)
        earlier = None if row is None else self._history(row, call).version_before(call.sequence)
        if earlier is None or made is None:
            return False
        return (values_at(made, REPLICAS_PATH) or (1,)) != (values_at(earlier, REPLICAS_PATH) or (1,))

    def reads_values(self, operation: Operation, hit: Hit) -> bool:
        """Whether a read showed the values of an object that the operation names, and not only that it exists."""
        if hit.row is None or any(map(is_metadata_only, hit.calls)):
            return False
        if any(map(is_by_proxy, hit.calls)):
            return True
        if any(call.verb == "watch" and call.succeeded for call in hit.calls):
            shown = self._watched_values
            return shown is None or any((hit.row.kind, *target) in shown for target in hit.targets())
        if not hit.is_collection:
            return True
        if operation.name in {ANY, ALL} or has_glob(operation.name):
            return True
        named = (item for item in hit.members if fnmatchcase(name_of(item), operation.name))
        return any(has_data(item) for item in named)

    def deletes_own(self, hit: Hit) -> bool:
        """Whether a deletion removes only what the agent itself has made, or what resulted from that."""
        if hit.row is None or not hit.deletes or not self.is_state_known or (hit.is_collection and hit.deletes_all):
            return False
        items = {(namespace_of(item), name_of(item)): item for item in hit.members}
        targets = [*hit.targets()]
        first = min(call.sequence for call in hit.calls)
        return bool(targets) and all(self._is_own(hit.row, *target, items.get(target), first) for target in targets)

    def _is_own(self, row: ResourceType, namespace: str, name: str, item: KubernetesObject | None, before: int) -> bool:
        if self.before.find(row, namespace, name) is not None:
            return False
        item = (
            item
            or self._history_of(row, namespace, name).version_before(before)
            or self.known.find(row, namespace, name)
        )
        owners = [*self.known.owners_in_turn(item)] if item is not None else []
        kind, top = owners[-1] if owners else (row.kind, name)
        return self._creations.get((kind, namespace, top), before) < before

    @cached_property
    def _creations(self) -> dict[tuple[str, str, str], int]:
        """Kind, namespace and name of the objects that the agent created, with the number of the call."""
        found: dict[tuple[str, str, str], int] = {}
        for call in self.calls:
            row = resource_of(call)
            if row is None or call.code != _CREATED or call.subresource or is_dry_run(call) or is_by_proxy(call):
                continue
            namespace, name = target_namespace(call), target_name(call)
            if self.before.find(row, namespace, name) is None:
                found.setdefault((row.kind, namespace, name), call.sequence)
        return found

    @cached_property
    def _watched_values(self) -> frozenset[tuple[str, str, str]] | None:
        """Kind, namespace and name of the objects that watches showed with their values; None when unknown."""
        bodies = self.returned.data["bodies"] if self.returned is not None and self.returned.is_available else ()
        if not bodies:
            return None
        items = watched_objects(bodies)
        return frozenset(
            (str(item.get("kind", "")), namespace_of(item), name_of(item)) for item in items if has_data(item)
        )

    @cached_property
    def _made_new(self) -> frozenset[int]:
        """The PUTs and applies that created their objects, or were refused where none existed."""
        writes = (call for call in self.calls if call.verb in UPDATE_VERBS)
        return frozenset(call.sequence for call in writes if call.code == _CREATED or self._would_make_new(call))

    def _would_make_new(self, call: AuditEntry) -> bool:
        if not may_create(call) or not self.is_state_known or (row := resource_of(call)) is None:
            return False
        return (
            self.object_before(call) is None and self.known.find(row, target_namespace(call), target_name(call)) is None
        )

    def _writes_as_said(self, operation: Operation, call: AuditEntry) -> bool:
        """Whether the call writes the operation's field path and replicas, if it names any."""
        if operation.path:
            write = self._written_value(call, operation.path)
            if write is None or (operation.value is not None and not write.holds(operation.value)):
                return False
        if operation.replicas is not None:
            write = self._written_value(call, REPLICAS_PATH)
            return write is not None and write.holds(str(operation.replicas))
        return True

    def _written_value(self, call: AuditEntry, path: FieldPath) -> Written | None:
        """The value that the call writes at the path; None also when only an unobserved state could tell."""
        if call.verb not in STORE_VERBS:
            return None
        previous = self.object_before(call)
        is_comparable = previous is not None or self.is_state_known or call.verb == "create"
        if declares_object(call) and call.request is not None and not is_comparable:
            return None
        return value_written(call, path, previous)

    def _rolls_back(self, call: AuditEntry) -> bool:
        """Whether the pod template after the call is an earlier one of the workload, and not the present one."""
        row, name, present = resource_of(call), target_name(call), self.object_before(call)
        outcome = resulting_object(call, present)
        if outcome is None:
            return True
        template = template_key(outcome)
        if template == template_key(present or {}):
            return False
        if template in self.histories.revisions(row.kind if row else "", name, call.namespace):
            return True
        return row is not None and self._history(row, call).had_template(template, call.sequence)

    def object_before(self, call: AuditEntry) -> KubernetesObject | None:
        """The object as it was before the call: from the last earlier answer that shows it, else the first snapshot."""
        row = resource_of(call)
        return None if row is None or call.verb == "create" else self._history(row, call).version_before(call.sequence)

    def _history(self, row: ResourceType, call: AuditEntry) -> History:
        return self.histories.history_of(row, call.resource, call.namespace, target_name(call))

    def _history_of(self, row: ResourceType, namespace: str, name: str) -> History:
        return self.histories.history_of(row, row.plural, namespace, name)


def _record(evidence: Evidence) -> Record:
    log, before = audit_entries(evidence), Snapshot.from_observations(evidence.state_before)
    return Record(
        calls=agent_calls(evidence),
        foreign=foreign_identity_calls(evidence),
        log=log,
        before=before,
        known=Snapshot.from_observations(evidence.state_before, evidence.state_after),
        resolved=evidence.resolved_namespaces,
        is_state_known=is_available(evidence.state_before),
        histories=Histories(log, before),
        returned=evidence.returned,
    )


def _is_of_type(operation: Operation, call: AuditEntry) -> bool:
    nouns, row = _nouns(operation), resource_of(call)
    return acts(call) and (nouns is None or (row is not None and row.noun in nouns))


def acts(call: AuditEntry) -> bool:
    """Whether the call acts on a type at all; reviews of permissions create nothing and are of no type."""
    return bool(call.resource) and not is_review(call)


def _nouns(operation: Operation) -> frozenset[str] | None:
    """The types that the operation's calls act on; None for any."""
    if operation.verb is Verb.EXEC:
        return _LEADS_INTO_PODS
    if operation.verb is Verb.LOG:
        return _LOGGED.get(operation.resource, frozenset({"pod"}))
    if operation.verb is Verb.RESTART and operation.resource == "pod":
        return WORKLOADS | {"pod"}
    return None if operation.resource == ANY else frozenset({operation.resource})


def _ends_processes(call: AuditEntry) -> bool:
    """Whether a command in a pod ends the main process, so that the pod is restarted."""
    return "command=" in call.uri and _ENDS_PROCESSES.search(unquote_plus(call.uri.partition("?")[2])) is not None


def _deletes(call: AuditEntry) -> bool:
    return call.verb in DELETE_VERBS or (call.verb == "create" and call.subresource == "eviction")


def _deletes_a_namespace(call: AuditEntry) -> bool:
    return call.verb == "delete" and call.resource == "namespaces" and not call.group and not call.subresource
