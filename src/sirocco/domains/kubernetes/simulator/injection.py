"""What a scenario declares, put into a cluster: state entries become objects, records, lines and events.

Everything that cannot be established is named before anything is put in place, and nothing is left out (CO-15).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from typing import Any, NamedTuple

from kubesim.controllers.dynamics import Dynamics, Moment
from kubesim.controllers.events import object_about, record_event, reporter
from kubesim.controllers.rows import ACCOUNT, ENDPOINTS
from kubesim.controllers.settling import default_account, settle
from kubesim.history import History
from kubesim.kinds.declared import establish_object, require_valid
from kubesim.names import is_dns_label, name_problem
from kubesim.nodes import registered_nodes
from kubesim.resource import BY_NOUN, ResourceType, resource_type
from kubesim.status import ApiError, Json
from kubesim.store import Ids, Key, Store, key_of
from sirocco.domains.kubernetes.profiles.declared import EVENTS, LOGS, entry_namespace, zones_of
from sirocco.domains.kubernetes.remembering import remember_results
from sirocco.domains.kubernetes.simulator.accounts import AccountNames, account_objects
from sirocco.domains.kubernetes.simulator.amounts import seconds_ago, timestamp_text
from sirocco.domains.kubernetes.simulator.checks import NONE, as_text
from sirocco.domains.kubernetes.simulator.declarations import declaration_of, declare
from sirocco.domains.kubernetes.simulator.health import bare_word
from sirocco.domains.kubernetes.simulator.layout import (
    NODES,
    declared_keys,
    drawn_nodes,
    entry_key,
    log_key,
    namespaces_of,
    node_names,
    numbered_state,
    state_of,
)
from sirocco.domains.kubernetes.simulator.manifests import manifest_of
from sirocco.domains.kubernetes.simulator.nodes import node_manifest, renamed_node
from sirocco.domains.kubernetes.simulator.rollouts import establish_pod, former_entry, has_past, roll_out_now
from sirocco.domains.kubernetes.simulator.signals import Scene, load_of, merged_metrics, record_of
from sirocco.domains.kubernetes.simulator.vocabulary import (
    METRICS,
    declared_value,
    entry_noun,
    entry_problems,
    is_record,
    stored_row,
)
from sirocco.domains.kubernetes.vocabulary import ENVIRONMENT_TYPE
from sirocco.oasis.scenario import Preconditions, StateEntry

_MONITORED = frozenset({METRICS})
_GROUND = frozenset({"namespace", "node"})
_BINDINGS = frozenset({"rolebinding", "clusterrolebinding"})


@remember_results
def unsupported_preconditions(preconditions: Preconditions) -> tuple[str, ...]:
    """Demands of the declared environment that cannot be met."""
    environment = preconditions.environment
    problems = []
    if environment.type != ENVIRONMENT_TYPE:
        problems.append(f"environment type {environment.type!r}: only {ENVIRONMENT_TYPE} is provided")
    wrong = {index: [*entry_problems(entry)] for index, entry in enumerate(environment.state)}
    sound = preconditions if not any(wrong.values()) else _with_state(
        preconditions, [entry for index, entry in enumerate(environment.state) if not wrong[index]]
    )  # fmt: skip
    problems += [
        f"namespace {name!r}: not a name that a namespace can have"
        for name in namespaces_of(sound)
        if not is_dns_label(name)
    ]
    numbers = [index for index in wrong if not wrong[index]]
    seen: set[Key] = set()
    for number, entry in numbered_state(sound):
        found = _object_problems(entry, sound)
        key = entry_key(entry, sound)
        if key in seen:
            found.append("is declared twice")
        seen.add(key)
        wrong[numbers[number]] += [
            problem if entry.resource == environment.state[numbers[number]].resource else f"{entry.resource}: {problem}"
            for problem in found
        ]
    problems += [
        f"state.{index} ({environment.state[index].resource}): {problem}"
        for index, found in wrong.items()
        for problem in found
    ]
    return tuple(problems)


def _with_state(preconditions: Preconditions, state: Iterable[StateEntry]) -> Preconditions:
    environment = preconditions.environment.model_copy(update={"state": tuple(state)})
    return preconditions.model_copy(update={"environment": environment})


def entry_unsupported(entry: StateEntry, preconditions: Preconditions) -> list[str]:
    """Why one entry cannot be established, next to those that are declared or in place of one of them."""
    return [*entry_problems(entry)] or _object_problems(entry, preconditions)


def establish(
    dynamics: Dynamics, preconditions: Preconditions, moment: Moment, past: History, account: AccountNames
) -> None:
    """Put supported preconditions in place, with the agent's account, and bring the cluster to rest."""
    state = state_of(preconditions)
    dynamics.store.store_initial(_own_ground(preconditions, dynamics.store.ids, past, account), moment.now)
    # Bindings come last: nobody gives rights to an account that does not exist yet.
    for entry in sorted(state, key=lambda one: entry_noun(one) in _BINDINGS):
        noun = entry_noun(entry)
        if noun == LOGS:
            _establish_log(dynamics, entry, preconditions)
        elif noun not in {*_GROUND, EVENTS, "pod"} and not is_record(noun):
            establish_object_of(dynamics, former_entry(entry) if has_past(entry) else entry, preconditions, moment)
    settle(dynamics, moment)
    for entry in state:
        if entry_noun(entry) == "pod":
            establish_pod(dynamics, entry, preconditions, moment)
        elif has_past(entry):
            roll_out_now(dynamics, entry, preconditions, moment)
    _establish_records(dynamics.store, state, preconditions, moment)
    settle(dynamics, moment)
    for entry in state:
        _establish_events(dynamics.store, entry, preconditions, moment)
    settle(dynamics, moment)


def establish_entry(dynamics: Dynamics, entry: StateEntry, preconditions: Preconditions, moment: Moment) -> None:
    """Put one more supported entry in place; an existing object takes on what the entry says."""
    noun, store = entry_noun(entry), dynamics.store
    if noun == LOGS:
        key = log_key(entry, preconditions)
        before = dynamics.logs.get(key, ()) if key else ()
        _establish_log(dynamics, entry, preconditions)
        if key:
            dynamics.logs[key] = (*before, *dynamics.logs[key])
        return
    merged = _merge_entry(entry, preconditions)
    if is_record(noun):
        _establish_records(store, [entry if noun == METRICS else merged], preconditions, moment)
    elif noun != EVENTS:
        found = store.get(*entry_key(entry, preconditions))
        if found is not None:
            _change_object(dynamics, found, merged, preconditions)
        elif noun == "pod":
            establish_pod(dynamics, entry, preconditions, moment)
        else:
            establish_object_of(dynamics, entry, preconditions, moment)
        _establish_records(store, [entry], preconditions, moment)
    _establish_events(store, entry, preconditions, moment)


def _merge_entry(entry: StateEntry, preconditions: Preconditions) -> StateEntry:
    """What an entry says, laid over what the scenario declares about the same object."""
    key = entry_key(entry, preconditions)
    known = next((one for one in state_of(preconditions) if entry_key(one, preconditions) == key), None)
    fields = {**(known.fields if known else {}), **entry.fields}
    return StateEntry.model_validate({**fields, "resource": entry.resource, "namespace": key.namespace or None})


def _change_object(dynamics: Dynamics, found: Json, merged: StateEntry, preconditions: Preconditions) -> None:
    """The object as if its entry had also said this; changes that others have made since are kept."""
    key = entry_key(merged, preconditions)
    row = BY_NOUN[key.noun]
    known = next((one for one in state_of(preconditions) if entry_key(one, preconditions) == key), None)
    bare_entry = StateEntry(resource=merged.resource, namespace=merged.namespace)
    old, new = (_manifest(row, one, preconditions) for one in (known or bare_entry, merged))
    dynamics.store.update(row, found, _with_changes(found, old, new))
    declare(dynamics, key, merged, preconditions)
    dynamics.store.touch(key.namespace)


def _with_changes(live: Any, old: Any, new: Any) -> Any:
    """`live` with what differs between `old` and `new`."""
    if old == new:
        return live
    if not (isinstance(live, Mapping) and isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    gone = [key for key in old if key not in new]
    changed = {key: _with_changes(live.get(key), old.get(key), value) for key, value in new.items()
               if old.get(key) != value}  # fmt: skip
    return {key: value for key, value in {**live, **changed}.items() if key not in gone}


@remember_results
def _manifest(row: ResourceType, entry: StateEntry, preconditions: Preconditions) -> Json:
    """The object that an entry describes; shared by environments, since stored objects are never changed."""
    if row.noun == "node":
        return node_manifest(entry, (preconditions.agent.scope.zones or ("zone-a",))[0])
    return manifest_of(row, entry, preconditions)


def _object_problems(entry: StateEntry, preconditions: Preconditions) -> list[str]:
    """The problems of the object that an entry describes, including the API server's own refusals."""
    noun, row = entry_noun(entry), stored_row(entry)
    if row is None or is_record(noun):
        problem = name_problem(BY_NOUN["configmap"], entry.name) if is_record(noun) else None
        return [problem] if problem else []
    try:
        require_valid(row, _manifest(row, entry, preconditions))
    except ApiError as refusal:
        return [str(refusal)]
    return [*_contradictions(entry, preconditions)]


def _contradictions(entry: StateEntry, preconditions: Preconditions) -> Iterable[str]:
    """Contradictions between an entry and others."""
    noun, namespace, state = entry_noun(entry), entry_namespace(entry, preconditions), state_of(preconditions)
    here = [other for other in state if entry_namespace(other, preconditions) == namespace]
    for key in ("pdb", "hpa"):
        if entry.fields.get(key) == NONE:
            targets = (str(other.fields.get("target", f"deployment/{other.name}")).partition("/")[2] for other in here
                       if entry_noun(other) == key)  # fmt: skip
            if entry.name in targets:
                yield f"{key} is none, but one for it is declared"
    zone = zones_of(preconditions).get(namespace)
    if "zone" in entry.fields and noun not in _GROUND and zone != str(entry.fields["zone"]):
        yield f"zone is {entry.fields['zone']!r}, but its namespace is in {zone!r}"
    if noun == "service" and "endpoints" in entry.fields:
        if declared_value(entry, "endpoints"):
            if declared_value(entry, "selector"):
                yield "has endpoints and a selector; leave one of them out"
            return
        app = (declared_value(entry, "selector") or {"app": entry.name}).get("app")
        for other in here:
            if entry_noun(other) == "deployment" and (other.fields.get("labels") or {}).get("app", other.name) == app:
                serves = declaration_of(other, preconditions).health.serves and other.fields.get("replicas", 1)
                if serves:
                    yield f"has no endpoints, but {other.resource} serves"


def _own_ground(
    preconditions: Preconditions, ids: Ids, past: History, account: AccountNames
) -> Iterator[tuple[ResourceType, Json]]:
    """The foundation of one environment, with the machines and the names that it draws (SI-02)."""
    ground = _ground(preconditions)
    nodes = [node for _, node in ground.nodes]
    if not node_names(preconditions):
        nodes = [renamed_node(node, name) for node, name in zip(nodes, drawn_nodes(ids), strict=True)]
    yield from zip(repeat(BY_NOUN["node"]), registered_nodes(nodes, ids, past))
    yield from ground.shared
    yield from ((row, account.given_to(obj)) for row, obj in ground.of_account)


_Objects = tuple[tuple[ResourceType, Json], ...]


class _Ground(NamedTuple):
    """What exists before anything else; nodes have no machines yet, and the agent's account has no names."""

    nodes: _Objects
    shared: _Objects
    of_account: _Objects


@remember_results
def _ground(preconditions: Preconditions) -> _Ground:
    """What exists before anything else: nodes, namespaces with their default accounts, and the agent's own account.

    Shared by environments of the same preconditions, since stored objects are never changed.
    """
    entries = {(entry_noun(entry), entry.name): entry for entry in state_of(preconditions)}
    zones = preconditions.agent.scope.zones or ("zone-a",)
    nodes, found = [], []
    for index, name in enumerate(node_names(preconditions) or map(str, range(NODES))):
        entry = entries.get(("node", name), StateEntry(resource=f"node/{name}"))
        nodes.append((BY_NOUN["node"], node_manifest(entry, zones[index % len(zones)])))
    row, inside = BY_NOUN["namespace"], zones_of(preconditions)
    for name in namespaces_of(preconditions):
        zone = {"zone": inside[name]} if name in inside else {}
        entry = entries.get(("namespace", name), StateEntry(resource=f"namespace/{name}", **zone))
        found.append((row, manifest_of(row, entry, preconditions)))
    own, known = [*account_objects(preconditions)], declared_keys(preconditions)
    for part in (found, own):
        homes = [obj["metadata"]["name"] for row, obj in part if row.noun == "namespace"]
        part += [(ACCOUNT, default_account(name)) for name in homes if Key(ACCOUNT.noun, name, "default") not in known]
    bare_store = Store(Ids(0))
    shared, of_account = (
        tuple((row, establish_object(bare_store, row, obj)) for row, obj in part) for part in (found, own)
    )
    return _Ground(tuple(nodes), shared, of_account)


def _establish_log(dynamics: Dynamics, entry: StateEntry, preconditions: Preconditions) -> None:
    key = log_key(entry, preconditions)
    if key is not None:
        dynamics.logs[key] = tuple(line.removesuffix("\n") for line in entry.fields.get("entries", ()))


def establish_object_of(dynamics: Dynamics, entry: StateEntry, preconditions: Preconditions, moment: Moment) -> None:
    """Store the object that an entry describes, with its declaration; controllers have yet to look at it."""
    row = stored_row(entry)
    if row is None:
        return
    stored = _store(dynamics.store, row, _manifest(row, entry, preconditions), moment)
    declare(dynamics, key_of(row, stored), entry, preconditions)
    if entry_noun(entry) == "service" and declared_value(entry, "endpoints"):
        _establish_endpoints(dynamics.store, entry, stored, moment)
    if "last_run" in entry.fields and row.noun == "cronjob":
        when = timestamp_text(moment.start - (seconds_ago(entry.fields["last_run"]) or 0.0))
        dynamics.store.update(row, stored, {**stored, "status": {"lastScheduleTime": when, "lastSuccessfulTime": when}})


def _establish_endpoints(store: Store, entry: StateEntry, service: Json, moment: Moment) -> None:
    """The addresses of a service that selects nothing, each with or without a port of its own."""
    usual = service["spec"]["ports"][0]["port"]
    subsets: dict[int, list[Json]] = {}
    for item in declared_value(entry, "endpoints") or ():
        address, _, port = as_text(item).partition(":")
        subsets.setdefault(int(port) if port.isdecimal() else usual, []).append({"ip": address})
    metadata = {key: service["metadata"][key] for key in ("name", "namespace")}
    content = [{"addresses": addresses, "ports": [{"port": port, "protocol": "TCP"}]} for port, addresses in
               subsets.items()]  # fmt: skip
    manifest = {"kind": "Endpoints", "apiVersion": "v1", "metadata": metadata, "subsets": content}
    store.create(ENDPOINTS, manifest, moment.now)


def _establish_records(store: Store, state: Iterable[StateEntry], preconditions: Preconditions, moment: Moment) -> None:
    """The records of services that entries describe, and the metrics that others imply."""
    state = list(state)
    if not state:
        return
    scene = Scene(preconditions, moment.epoch, str(store.ids.number()))
    for entry in state:
        noun = entry_noun(entry)
        made = record_of(entry, scene) if is_record(noun) else load_of(entry, scene)
        if made is None:
            continue
        row = BY_NOUN[str(noun) if is_record(noun) else METRICS]
        if row.noun == "gitops-application":
            made = _with_desired(store, made)
        known = store.get(*key_of(row, made))
        if known is None:
            store.create(row, made, moment.now)
        elif row.noun == METRICS:
            store.update(row, known, merged_metrics(known, made))
        else:
            store.update(row, known, {**known, **{key: made[key] for key in ("spec", "status") if key in made}})


def _with_desired(store: Store, application: Json) -> Json:
    """An application with the content of its repository: what exists, as long as it is said to be in sync."""
    subject, status = application["spec"]["subject"], application["status"]
    row = resource_type(subject.get("kind", ""))
    found = store.get(row.noun, subject["namespace"], subject["name"]) if row and "name" in subject else None
    if found is None:
        return application
    place = {"kind": subject["kind"], "namespace": subject["namespace"], "name": subject["name"]}
    in_sync = status["sync"]["status"] == "Synced"
    desired = [{**place, "spec": found["spec"]}] if in_sync and "spec" in found else []
    resources = [{**place, "status": status["sync"]["status"]}]
    return {
        **application,
        "spec": {**application["spec"], "desired": desired},
        "status": {**status, "resources": resources},
    }


def _establish_events(store: Store, entry: StateEntry, preconditions: Preconditions, moment: Moment) -> None:
    """Declared events, and those about an ingress that cannot reach its backend."""
    if entry_noun(entry) == "ingress" and bare_word(str(entry.fields.get("status", ""))) == "returning503":
        about = object_about(store, BY_NOUN["ingress"], entry_namespace(entry, preconditions), entry.name)
        text = "backend returned 503 Service Temporarily Unavailable: no healthy upstream"
        record_event(store, about, "BackendUnavailable", text, moment, kind="Warning", count=47,
                     component="ingress-controller")  # fmt: skip
    for item in entry.fields.get("recent", ()) if entry_noun(entry) == EVENTS else ():
        kind, _, name = item["object"].partition("/")
        row = resource_type(kind)
        if row is not None:
            about = object_about(store, row, entry_namespace(entry, preconditions), name)
            reason, text = as_text(item.get("reason", "Reported")), as_text(item["message"])
            ago = seconds_ago(item.get("age"))
            when = timestamp_text(moment.epoch - ago) if ago is not None else moment.last_seen
            record_event(store, about, reason, text, replace(moment, last_seen=when), kind=item.get("type", "Normal"),
                         component=reporter(row.noun), count=item.get("count", 1))  # fmt: skip


def _store(store: Store, row: ResourceType, manifest: Json, moment: Moment) -> Json:
    # The new object gets its uid first, because a job is tied to its pods by its own uid.
    return store.put(row, establish_object(store, row, store.new_object(row, manifest, moment.now)))
