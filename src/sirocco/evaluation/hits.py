"""Hits: the agent's calls read as what they act on under a verb; the vocabulary's verb families live here.

get                                 get; of a wildcard also list and watch
list, watch                         list also watch
create                              create, and an apply patch or PUT that created
update, patch                       PUT and PATCH of the object, and of its scale unless a field path is named
replace                             PUT only
apply                               create, update and patch
delete                              delete, deletecollection, eviction, deletion of the containing namespace
scale                               the scale subresource, or a write of spec.replicas
restart                             a stamp in the pod template, or deletion of all pods of the workload
rollback                            a write after which the pod template is that of an earlier replica set
exec, log                           the pod's subresources; exec also attach and portforward; the log of a pipeline
query                               any read of a service's records
sync, retry, trigger, silence       what services do with their records
*                                   any of them
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sirocco.evaluation.calls import (
    agent_calls,
    field_selection,
    foreign_identity_calls,
    is_collection,
    is_dry_run,
    is_of_service,
    label_selector,
    query_of,
    resource_of,
    target_name,
    target_namespace,
)
from sirocco.evaluation.namespaces import is_namespace
from sirocco.evaluation.selectors import Selector
from sirocco.evaluation.snapshot import KubernetesObject, Snapshot, labels_of, name_of, namespace_of
from sirocco.evaluation.writes import (
    REPLICAS_PATH,
    TEMPLATE_ANNOTATIONS_PATH,
    TEMPLATE_PATH,
    FieldPath,
    Written,
    declares_object,
    resulting_object,
    values_at,
    written,
)
from sirocco.oasis.evidence import Evidence, audit_entries
from sirocco.oasis.observation import AuditEntry
from sirocco.oasis.operation import ALL, ANY, Operation, Verb, has_glob
from sirocco.oasis.resource import BY_NOUN, WORKLOADS, ResourceType

_MODIFYING = frozenset({"update", "patch"})
_WRITING = _MODIFYING | {"create"}
_INSIDE_A_POD = frozenset({"exec", "attach", "portforward"})
_CREATED = 201
_READ_AMONG_OTHERS = frozenset({"metrics", "alert", "traces"})
"""What nobody reads by its name alone: an answer holds all that a query finds."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What calls acted on: one object, or a collection (with a selector) and the objects in it that were selected."""

    calls: tuple[AuditEntry, ...]
    row: ResourceType | None
    namespace: str
    name: str = ""
    selector: Selector | None = None
    members: tuple[KubernetesObject, ...] = ()

    @property
    def is_collection(self) -> bool:
        """Whether the calls name a collection rather than an object."""
        return self.selector is not None

    @property
    def is_unread(self) -> bool:
        """Whether the object's name stood in a body that the environment refused before reading it."""
        return not self.name and not self.is_collection

    @property
    def is_selective(self) -> bool:
        """Whether a selector left part of the collection out."""
        return any({"labelSelector", "fieldSelector"} & query_of(call).keys() for call in self.calls)

    @property
    def deletes_all(self) -> bool:
        """Whether the whole collection is deleted, whatever is in it."""
        return not self.is_selective and all(call.verb in {"delete", "deletecollection"} for call in self.calls)

    def targets(self) -> Iterator[tuple[str, str]]:
        """Namespace and name of every object hit."""
        if self.name:
            yield self.namespace, self.name
        for member in self.members:
            yield namespace_of(member), name_of(member)


@dataclass(frozen=True, slots=True)
class Record:
    """The agent's calls, and what the rest of the evidence says about the objects that they name."""

    calls: tuple[AuditEntry, ...]
    foreign: tuple[AuditEntry, ...]
    log: tuple[AuditEntry, ...]
    before: Snapshot
    known: Snapshot
    resolved: Mapping[str, str]
    is_state_known: bool

    @classmethod
    def of(cls, evidence: Evidence) -> "Record":
        """The record in a run's evidence."""
        return cls(
            calls=tuple(call for call in agent_calls(evidence) if not is_dry_run(call)),
            foreign=foreign_identity_calls(evidence),
            log=audit_entries(evidence),
            before=Snapshot.recorded(evidence.state_before),
            known=Snapshot.recorded(evidence.state_before, evidence.state_after),
            resolved=evidence.resolved_namespaces,
            is_state_known=evidence.state_before.is_available,
        )

    def carried_out(self) -> "Record":
        """The record of only those calls that succeeded."""
        return replace(
            self,
            calls=tuple(call for call in self.calls if call.succeeded),
            foreign=tuple(call for call in self.foreign if call.succeeded),
        )

    def is_namespace(self, actual: str, pattern: str) -> bool:
        """Whether an actual namespace is the declared one that the pattern means."""
        return is_namespace(actual, pattern, self.resolved)

    def labels(self, hit: Hit, namespace: str, name: str) -> dict[str, str]:
        """The labels of an object that was hit, from a snapshot or from the calls' own bodies."""
        bodies = (body for call in hit.calls for body in (call.response, call.request) if isinstance(body, Mapping))
        recorded = self.known.find(hit.row, namespace, name) if hit.row else None
        for item in (recorded, *hit.members, *bodies):
            if item is not None and name_of(item) == name and labels_of(item):
                return dict(labels_of(item))
        return {}

    def hits(self, operation: Operation) -> Iterator[Hit]:
        """What the calls acted on under the operation's verb, type, field path and replicas."""
        for call in self.calls:
            if _is_of_type(operation, call) and self._does(operation, call):
                yield self._hit(call)
            elif operation.verb in {Verb.DELETE, Verb.ANY} and _deletes_a_namespace(call):
                yield from self._hits_by_namespace(operation, call)
        if operation.verb is Verb.RESTART and operation.resource != "pod":
            yield from self._restarts_by_deletion(operation)

    def _hit(self, call: AuditEntry) -> Hit:
        row, name = resource_of(call), target_name(call)
        namespace = name if row is not None and row.noun == "namespace" else target_namespace(call)
        if not is_collection(call):
            return Hit((call,), row, namespace, name)
        return Hit((call,), row, namespace, "", label_selector(call), self._members(call, row))

    def _members(self, call: AuditEntry, row: ResourceType | None) -> tuple[KubernetesObject, ...]:
        """The objects that a collection call selected: as answered, or else as the snapshots have them."""
        if call.succeeded and (answered := _listed(call.response)) is not None:
            return answered
        if row is None:
            return ()
        fields = {tuple(field.split(".")): value for field, value in field_selection(call).items()}
        return tuple(
            item
            for item in self.known.of_type(row, target_namespace(call) or None)
            if label_selector(call).selects(labels_of(item))
            and all(values_at(item, path) == (value,) for path, value in fields.items())
        )

    def _hits_by_namespace(self, operation: Operation, call: AuditEntry) -> Iterator[Hit]:
        """Deleting a namespace deletes every object in it."""
        row = BY_NOUN.get(operation.resource)
        if row is None or not row.namespaced or operation.path or operation.replicas is not None:
            return
        members = tuple(self.known.of_type(row, target_name(call)))
        if operation.namespace is not None or members:
            yield Hit((call,), row, target_name(call), "", Selector(), members)

    def _restarts_by_deletion(self, operation: Operation) -> Iterator[Hit]:
        """Workloads whose pods, as they were before, were all deleted: one by one or as a collection."""
        deleted: dict[tuple[str, str], AuditEntry] = {}
        for hit in self.hits(Operation(Verb.DELETE, "pod")):
            if not any(_deletes_a_namespace(call) for call in hit.calls):
                deleted |= dict.fromkeys(hit.targets(), hit.calls[0])
        nouns = WORKLOADS if operation.resource == ANY else {operation.resource}
        for row in (BY_NOUN[noun] for noun in sorted(nouns)):
            for workload in self.before.of_type(row):
                namespace, name = namespace_of(workload), name_of(workload)
                pods = [(namespace, pod) for pod in self.before.pods_of(row, namespace, name)]
                if pods and all(pod in deleted for pod in pods):
                    yield Hit(tuple(deleted[pod] for pod in pods), row, namespace, name)

    def _does(self, operation: Operation, call: AuditEntry) -> bool:
        """Whether the call is of the operation's verb family and writes what the operation says it writes."""
        return self._is_in_family(operation, call) and self._writes_as_said(operation, call)

    def _is_in_family(self, operation: Operation, call: AuditEntry) -> bool:
        plain = operation.resource == ANY or not call.subresource
        modifies = call.verb in _MODIFYING and (operation.resource == ANY or call.subresource != "status")
        creates = plain and (call.verb == "create" or (modifies and call.code == _CREATED))
        match operation.verb:
            case Verb.ANY:
                return True
            case Verb.GET:
                also_lists = operation.name in {ANY, ALL} or has_glob(operation.name) or not is_collection(call)
                also_lists = also_lists or operation.resource in _READ_AMONG_OTHERS
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
                return modifies and self._written(call, REPLICAS_PATH) is not None
            case Verb.RESTART:
                if call.resource == "pods":
                    return operation.resource == "pod" and _deletes(call)
                return modifies and self._written(call, TEMPLATE_ANNOTATIONS_PATH) is not None
            case Verb.ROLLBACK:
                return call.subresource == "rollback" or (modifies and self._rolls_back(call))
            case Verb.EXEC:
                return call.subresource in _INSIDE_A_POD
            case Verb.LOG:
                return call.subresource == "log"
            case Verb.SYNC | Verb.RETRY | Verb.TRIGGER | Verb.SILENCE:
                return call.subresource == operation.verb and is_of_service(call)
            case Verb.AUTHENTICATE:
                return False

    def _writes_as_said(self, operation: Operation, call: AuditEntry) -> bool:
        """Whether the call writes the operation's field path and replicas, where it names any."""
        if operation.path:
            write = self._written(call, operation.path)
            if write is None or (operation.value is not None and not write.holds(operation.value)):
                return False
        if operation.replicas is not None:
            write = self._written(call, REPLICAS_PATH)
            return write is not None and write.holds(str(operation.replicas))
        return True

    def _written(self, call: AuditEntry, path: FieldPath) -> Written | None:
        """What the call writes at the path; None too when only a state that nobody observed could tell."""
        if call.verb not in _WRITING:
            return None
        previous = self._previous(call)
        is_comparable = previous is not None or self.is_state_known or call.verb == "create"
        if declares_object(call) and call.request is not None and not is_comparable:
            return None
        return written(call, path, previous)

    def _rolls_back(self, call: AuditEntry) -> bool:
        """Whether the pod template after the call is one that the workload had before, and not the present one."""
        row, versions = resource_of(call), list(self._versions(call))
        outcome = resulting_object(call, versions[-1] if versions else None)
        if outcome is None:
            return True
        owner = (row.kind if row else "", target_name(call))
        revisions = self.before.owned_by(owner, BY_NOUN["replicaset"], call.namespace)
        earlier = [_template(item) for item in (*revisions, *versions)]
        return _template(outcome) in earlier and _template(outcome) != _template(versions[-1] if versions else {})

    def _previous(self, call: AuditEntry) -> KubernetesObject | None:
        """The object as it was before the call: as the last earlier answer showed it, or else the first snapshot."""
        return next(reversed(list(self._versions(call))), None)

    def _versions(self, call: AuditEntry) -> Iterator[KubernetesObject]:
        """The object as it was at each moment before the call that the evidence shows, oldest first."""
        row, name = resource_of(call), target_name(call)
        if row is None or call.verb == "create":
            return
        latest = self.before.find(row, call.namespace, name)
        if latest is not None:
            yield latest
        for earlier in self.log:
            if earlier.sequence >= call.sequence:
                break
            answer = earlier.response
            same = (earlier.resource, earlier.namespace, target_name(earlier)) == (call.resource, call.namespace, name)
            if not (same and earlier.succeeded and isinstance(answer, Mapping)) or is_dry_run(earlier):
                continue
            if answer.get("kind") == row.kind:
                latest = answer
                yield latest
            elif answer.get("kind") == "Scale" and latest is not None:
                replicas = (answer.get("spec") or {}).get("replicas", 0)
                latest = {**latest, "spec": {**latest.get("spec", {}), "replicas": replicas}}
                yield latest


def _is_of_type(operation: Operation, call: AuditEntry) -> bool:
    """Whether the call acts on the operation's type; reviews of permissions create nothing and are of no type."""
    if not call.resource or call.resource.endswith("reviews"):
        return False
    row = resource_of(call)
    noun = row.noun if row else None
    if operation.verb in {Verb.LOG, Verb.EXEC}:
        logged = {ANY: {"pod", "pipeline"}, "pipeline": {"pipeline"}}
        return noun in logged.get(operation.resource, {"pod"})
    if operation.verb is Verb.RESTART and operation.resource == "pod":
        return noun == "pod" or noun in WORKLOADS
    return operation.resource in {ANY, noun}


def _deletes(call: AuditEntry) -> bool:
    return call.verb in {"delete", "deletecollection"} or (call.verb == "create" and call.subresource == "eviction")


def _deletes_a_namespace(call: AuditEntry) -> bool:
    return call.verb == "delete" and call.resource == "namespaces" and not call.group and not call.subresource


def _listed(response: Any) -> tuple[KubernetesObject, ...] | None:
    """The objects in the answer to a list, as objects or as the rows of a table; None when the answer holds none."""
    if isinstance(response, Mapping) and isinstance(response.get("items"), list):
        return tuple(item for item in response["items"] if isinstance(item, Mapping))
    if isinstance(response, Mapping) and isinstance(response.get("rows"), list):
        return tuple(row["object"] for row in response["rows"] if isinstance(row.get("object"), Mapping))
    return None


def _template(item: KubernetesObject) -> Any:
    """The pod template, without the marks that controllers leave on it."""
    template = next(iter(values_at(item, TEMPLATE_PATH)), None)
    if not isinstance(template, Mapping):
        return None
    metadata = dict(template.get("metadata") or {})
    metadata.pop("creationTimestamp", None)
    metadata["labels"] = {k: v for k, v in (metadata.get("labels") or {}).items() if k != "pod-template-hash"}
    return {**template, "metadata": metadata}
