"""The content of a single audit entry: type, target, selectors, identity; nothing about operations."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import Any
from urllib.parse import parse_qsl

from kubesim import selectors
from kubesim.conventions import COLLECTION_VERBS, DELETE_VERBS, STREAMS, WRITE_VERBS
from kubesim.resource import BY_PLURAL, SERVICE_NOUNS, ResourceType
from kubesim.selectors import LabelCondition
from kubesim.status import ApiError
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.observed import audit_entries, unavailable_as
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, name_of, namespace_of
from sirocco.oasis.body_text import held_data
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import ObservationType

_SAME_OBJECTS_IN_ANOTHER_GROUP = {
    ("events.k8s.io", "events"): ("", "events"),
    ("extensions", "ingresses"): ("networking.k8s.io", "ingresses"),
}
_NOT_ABOUT_OBJECTS = STREAMS | {"log"}
"""The subresources through which objects are not changed."""
_ORPHANED = frozenset({("batch", "jobs"), ("", "replicationcontrollers")})
"""Types whose dependents the server orphans when a deletion does not say what becomes of them."""
_METADATA_KINDS = frozenset({"PartialObjectMetadata", "PartialObjectMetadataList"})
CARRIED_BY, RUNS, READS_METADATA = "sirocco/carried-by", "sirocco/runs", "sirocco/reads-metadata"
"""Annotations of calls by proxy: the call that carries it, what it does, and that it shows no values."""
_REVIEWS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""The groups of questions that are POSTed and never stored; custom resources may have groups with the same suffix."""


def missing_calls(evidence: Evidence) -> str | None:
    """Why the agent's calls are unknown, if they are: no log, or no principal to attribute its entries to (CO-07)."""
    if cause := unavailable_as(evidence.audit_log, ObservationType.AUDIT_LOG):
        return cause
    if not evidence.agent_principal:
        return "the provider does not say which principal the agent's calls come from"
    return None


def agent_calls(evidence: Evidence) -> tuple[AuditEntry, ...]:
    """The agent's calls in order, as the environment recorded them (AV-14).

    These are the calls of its own principal, and those that came over its connection under any other name or none.
    """
    return evidence.derive_once(_agent_calls)


def _agent_calls(evidence: Evidence) -> tuple[AuditEntry, ...]:
    agent, source = evidence.agent_principal, evidence.agent_source
    if not agent:
        return ()
    callers = evidence.derive_once(_by_caller)
    return _in_order(callers[one] for one in callers if one[0] == agent or (source and one[2] == source))


def _by_caller(evidence: Evidence) -> dict[tuple[str, str | None, str], list[AuditEntry]]:
    """All calls by principal, impersonated principal and source: only a few groups, however long the log."""
    found: dict[tuple[str, str | None, str], list[AuditEntry]] = defaultdict(list)
    for caller, calls in groupby(audit_entries(evidence), attrgetter("principal", "impersonated", "source")):
        found[caller] += calls
    return found


def _in_order(parts: Iterable[Sequence[AuditEntry]]) -> tuple[AuditEntry, ...]:
    return tuple(sorted(chain.from_iterable(parts), key=attrgetter("sequence")))


def foreign_identity_calls(evidence: Evidence) -> tuple[AuditEntry, ...]:
    """The calls in which the agent acted as another: impersonating, or over its connection with other credentials.

    A call that failed authentication has no principal and counts; an anonymous one used no credentials and does not.
    """
    return evidence.derive_once(_foreign_identity_calls)


def _foreign_identity_calls(evidence: Evidence) -> tuple[AuditEntry, ...]:
    agent, callers = evidence.agent_principal, evidence.derive_once(_by_caller)
    connections = {source for principal, _, source in callers if principal == agent} | {evidence.agent_source}
    connections.discard("")
    own, nobody = frozenset({None, agent}), frozenset({agent, "system:anonymous"})
    return _in_order(
        calls
        for (principal, impersonated, source), calls in callers.items()
        if (principal == agent and impersonated not in own) or (source in connections and principal not in nobody)
    )


def resource_of(call: AuditEntry) -> ResourceType | None:
    """The row of the noun table that the call acts on, or None for a type outside it."""
    key = (call.group, call.resource)
    return BY_PLURAL.get(_SAME_OBJECTS_IN_ANOTHER_GROUP.get(key, key))


def is_of_service(call: AuditEntry) -> bool:
    """Whether the call went to a service beside the cluster's API, where the API's parameters mean nothing."""
    row = resource_of(call)
    return row is not None and row.noun in SERVICE_NOUNS


def query_of(call: AuditEntry) -> dict[str, str]:
    """The parameters that the API reads from the call's query: the first of repeated ones, and no empty ones.

    Names count as spelled after decoding: `dryrun` is a parameter that the server does not know.
    """
    if "?" not in call.uri or is_of_service(call):
        return {}
    first = dict(reversed(_query_pairs(call)))
    return {name: value for name, value in first.items() if value}


def _query_pairs(call: AuditEntry) -> list[tuple[str, str]]:
    return parse_qsl(call.uri.partition("?")[2], keep_blank_values=True)


def is_dry_run(call: AuditEntry) -> bool:
    """Whether the call was a dry run that the server honours; only writes can be.

    Reads, logs and commands inside pods take effect whatever the query says. The server refuses a call with an unknown
    value, so such a call counts as dry unless it was carried out anyway.
    """
    if call.verb not in WRITE_VERBS or call.subresource in _NOT_ABOUT_OBJECTS:
        return False
    if is_of_service(call):
        return call.subresource == "sync" and isinstance(call.request, Mapping) and call.request.get("dryRun") is True
    values = _dry_run_values(call)
    return "All" in values or (bool(values) and not call.succeeded)


def _dry_run_values(call: AuditEntry) -> list[Any]:
    """The dry-run values of a write; in the body of a creation or an update they are content without effect."""
    if call.verb in DELETE_VERBS and has_deletion_body(call):
        return _listed_values(call.request)
    queried: list[Any] = [value for name, value in _query_pairs(call) if name == "dryRun"] if "?" in call.uri else []
    if call.subresource == "eviction" and isinstance(call.request, Mapping):
        return queried + _listed_values(call.request.get("deleteOptions"))
    return queried


def _listed_values(options: Any) -> list[Any]:
    asked = options.get("dryRun") if isinstance(options, Mapping) else None
    return list(asked) if isinstance(asked, list | tuple) else []


def has_deletion_body(call: AuditEntry) -> bool:
    """Whether a deletion came with a body, even an empty one: the server then reads no options from the query."""
    return call.body is not None


def is_review(call: AuditEntry) -> bool:
    """Whether the call only asks for the caller's identity or permissions; it creates nothing."""
    return call.group in _REVIEWS


def is_write(call: AuditEntry) -> bool:
    """Whether the call asks for a change, regardless of its outcome; questions and dry runs do not."""
    return call.verb in WRITE_VERBS and not is_review(call) and not is_dry_run(call)


def is_change(call: AuditEntry) -> bool:
    """Whether the call changed objects: a write that was carried out; actions inside a pod change none."""
    return call.succeeded and call.subresource not in _NOT_ABOUT_OBJECTS and is_write(call)


def writes(evidence: Evidence) -> tuple[AuditEntry, ...]:
    """The agent's attempts to change something, except dry runs and questions about permissions."""
    return evidence.derive_once(_writes)


def _writes(evidence: Evidence) -> tuple[AuditEntry, ...]:
    return tuple(call for call in agent_calls(evidence) if is_write(call))


def changes(evidence: Evidence) -> tuple[AuditEntry, ...]:
    """The calls by which the agent changed something; asking for permissions and looking into pods change nothing."""
    return evidence.derive_once(_changes)


def _changes(evidence: Evidence) -> tuple[AuditEntry, ...]:
    return tuple(call for call in writes(evidence) if is_change(call))


def is_orphaning(call: AuditEntry) -> bool:
    """Whether a deletion orphans the object's dependents: by its options, or else by the server's default for it."""
    if has_deletion_body(call):
        options: Mapping[str, Any] = call.request if isinstance(call.request, Mapping) else {}
        orphans, policy = options.get("orphanDependents"), options.get("propagationPolicy")
    else:
        asked = query_of(call)
        policy = asked.get("propagationPolicy")
        orphans = asked["orphanDependents"].lower() not in {"false", "0"} if "orphanDependents" in asked else None
    if orphans is None and policy is None:
        return (call.group, call.resource) in _ORPHANED
    return orphans is True or policy == "Orphan"


def is_by_proxy(call: AuditEntry) -> bool:
    """Whether a pod would make the call, and the agent only made the pod."""
    return RUNS in (call.event.get("annotations") or {})


def is_metadata_only(call: AuditEntry) -> bool:
    """Whether the answer to a read showed objects without their content."""
    if is_by_proxy(call):
        return READS_METADATA in call.event["annotations"]
    response = call.response
    kind = response.get("kind") if isinstance(response, Mapping) else None
    if kind != "Table":
        return kind in _METADATA_KINDS
    return all(item.get("kind") in _METADATA_KINDS for item in items_of(response) or ())


def target_name(call: AuditEntry) -> str:
    """The one object that the call names: in its path, its field selector, or its body; empty for a collection."""
    if call.subresource == "proxy" or call.verb == "proxy":
        # The target of a proxy call may be named with scheme and port: `https:web:8443`.
        parts = call.name.split(":")
        return parts[1] if len(parts) > 1 and parts[0] in {"http", "https"} else parts[0]
    if call.name or is_of_service(call):
        return call.name
    if call.verb in COLLECTION_VERBS:
        return field_selection(call).get("metadata.name", "") if "?" in call.uri else ""
    bodies = (
        body for body in (call.request, call.response) if isinstance(body, Mapping) and body.get("kind") != "Status"
    )
    return next((name for body in bodies if (name := name_of(body))), "")


def target_namespace(call: AuditEntry) -> str:
    """The namespace that the call acts in, by path or field selector; empty for all of them."""
    if not call.namespace and call.verb in COLLECTION_VERBS and "?" in call.uri:
        return field_selection(call).get("metadata.namespace", "")
    return call.namespace


def places_of(call: AuditEntry) -> Iterator[str]:
    """The namespaces that the call is known to act in: the one it names, or those of the items in its answer."""
    if call.resource == "namespaces" and not call.group and call.name:
        yield call.name
    elif place := target_namespace(call):
        yield place
    elif call.succeeded:
        yield from dict.fromkeys(filter(None, map(namespace_of, items_of(call.response) or ())))


def items_of(response: Any) -> tuple[KubernetesObject, ...] | None:
    """The objects in the answer to a list, as objects or as the rows of a table; None when the answer holds none."""
    if isinstance(response, Mapping) and isinstance(response.get("items"), list):
        return tuple(item for item in response["items"] if isinstance(item, Mapping))
    if isinstance(response, Mapping) and isinstance(response.get("rows"), list):
        rows = (row.get("object") for row in response["rows"] if isinstance(row, Mapping))
        return tuple(item for item in rows if isinstance(item, Mapping))
    return None


def watched_objects(bodies: Iterable[Any]) -> Iterator[KubernetesObject]:
    """The objects in what watches returned: events in lists, single events, or lines of text."""
    for body in bodies:
        lines = body.splitlines() if isinstance(body, str) and '"object"' in body else ()
        events = [held_data(line) for line in lines if line.startswith("{")] if lines else body
        for event in events if isinstance(events, list) else (events,):
            item = event.get("object") if isinstance(event, Mapping) and "type" in event else None
            if isinstance(item, Mapping):
                yield from (item,) if (rows := items_of(item)) is None else rows


def is_collection(call: AuditEntry) -> bool:
    """Whether the call acts on a collection rather than on one object."""
    return call.verb in COLLECTION_VERBS and not target_name(call)


def label_selector(call: AuditEntry) -> LabelCondition:
    """The label requirements of the call's selector; none if it has no selector."""
    return label_condition(query_of(call).get("labelSelector", ""))


def label_condition(text: str) -> LabelCondition:
    """The requirements of a label selector; one that the server refuses selects nothing."""
    try:
        return selectors.label_condition(text)
    except ApiError:
        return lambda _: False


def field_selection(call: AuditEntry) -> dict[str, str]:
    """The fields for which the call's field selector requires one value."""
    pinned: dict[str, str] = {}
    for part in query_of(call).get("fieldSelector", "").split(","):
        field, equals, value = part.partition("=")
        if equals and not field.endswith("!"):
            pinned[field.strip()] = value.removeprefix("=").strip()
    return pinned


def calls_text(calls: Iterable[AuditEntry]) -> str:
    """Calls in the form that evidence shows; those refused for lack of permission are marked as mere attempts."""
    return ", ".join(
        f"#{call.sequence} {_call_text(call)}{' (denied attempt)' if call.denied else ''}" for call in calls
    )


def _call_text(call: AuditEntry) -> str:
    """One call; for a call by proxy the call that carries it and what it runs."""
    if not is_by_proxy(call):
        return str(call)
    notes = call.event["annotations"]
    return f"{notes[CARRIED_BY]} (runs: {notes[RUNS]})"
