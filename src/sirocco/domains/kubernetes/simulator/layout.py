"""The places of what a scenario declares: scope, namespaces, nodes, and the place of every object."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from kubesim.access import RBAC_GROUP
from kubesim.conventions import READ_VERBS, WRITE_VERBS
from kubesim.discovery.catalogue import CURRENT_RELEASE, catalogue
from kubesim.history import SYSTEM_NAMESPACES
from kubesim.resource import BY_NOUN, SERVICE_TYPES, WORKLOADS
from kubesim.status import Json
from kubesim.store import Ids, Key
from kubesim.usage import GROUP as METRICS_GROUP
from sirocco.domains.kubernetes.profiles.declared import LOGS, entry_namespace, scope_of
from sirocco.domains.kubernetes.remembering import remember_results
from sirocco.domains.kubernetes.simulator.vocabulary import child_type, entry_noun, stored_row
from sirocco.oasis.scenario import Preconditions, StateEntry

OWNER_LABEL = "owner-team"
NODES = 3
"""The minimum number of nodes of a tier 1 cluster."""

_POOLS = ("worker", "node", "pool-a", "general", "compute", "standard")
_SITES = ("ams", "fra", "iad", "sin", "dub", "osl")
_TOKENS = frozenset({"serviceaccounts/token"})
_STREAMS = frozenset({"pods/exec", "pods/attach", "pods/portforward", "pods/proxy", "services/proxy"})


@remember_results
def state_of(preconditions: Preconditions) -> tuple[StateEntry, ...]:
    """The entries of a scenario, each for one object: those that stand for several are split up."""
    return tuple(entry for _, entry in numbered_state(preconditions))


@remember_results
def numbered_state(preconditions: Preconditions) -> list[tuple[int, StateEntry]]:
    """The entries that the state of a scenario amounts to, each with the number of the one that declares it.

    `nodes` with a count stands for that many nodes, a namespace may list what is in it, a workload its budget and its
    autoscaler, and a log of something undeclared is that of a workload without any other properties.
    """
    state = preconditions.environment.state
    found = [(number, part) for number, entry in enumerate(state) for part in _parts(entry)]
    if any(_is_all_nodes(entry) for _, entry in found):
        found = _with_every_node(found)
    for number, entry in found:
        if entry_noun(entry) == LOGS and entry.name and _spoken_for(entry, found, preconditions) is None:
            namespace = entry_namespace(entry, preconditions)
            found = [*found, (number, StateEntry(resource=f"deployment/{entry.name}", namespace=namespace))]
    return found


def _parts(entry: StateEntry) -> Iterator[StateEntry]:
    """The entry without what it says about other objects, and entries for those."""
    noun = entry_noun(entry)
    fields = entry.fields
    if noun == "namespace":
        children = {key: row for key in fields if (row := child_type(key)) is not None}
        yield _without_keys(entry, children) if children else entry
        for key, row in children.items():
            for item in fields[key] if isinstance(fields[key], list | tuple) else ():
                more = dict(item) if isinstance(item, Mapping) else {"name": item}
                yield _entry(f"{row.noun}/{more.pop('name', '')}", entry.name, more)
        return
    parts = {key: fields[key] for key in ("pdb", "hpa") if isinstance(fields.get(key), Mapping)}
    yield _without_keys(entry, parts) if parts else entry
    for key, more in parts.items():
        yield _entry(f"{key}/{entry.name}", entry.namespace, {"target": entry.resource, **more})


def _entry(resource: str, namespace: str | None, fields: Mapping[str, Any]) -> StateEntry:
    kept = {str(key): value for key, value in fields.items() if key not in {"resource", "namespace"}}
    return StateEntry.model_validate({"resource": resource, "namespace": namespace, **kept})


def _without_keys(entry: StateEntry, keys: Mapping[str, Any]) -> StateEntry:
    return _entry(entry.resource, entry.namespace, {key: entry.fields[key] for key in entry.fields if key not in keys})


def _is_all_nodes(entry: StateEntry) -> bool:
    return entry_noun(entry) == "node" and not entry.name


def _with_every_node(state: list[tuple[int, StateEntry]]) -> list[tuple[int, StateEntry]]:
    """Statements about all nodes applied to each: to those that are named, and to as many more as are counted."""
    number, every = next((number, entry) for number, entry in state if _is_all_nodes(entry))
    common = {key.removesuffix("_per_node"): value for key, value in every.fields.items() if key != "count"}
    count = every.fields.get("count", NODES)
    wanted = count if isinstance(count, int) else NODES
    named = [(place, entry) for place, entry in state if entry_noun(entry) == "node" and entry.name]
    rest = [
        (place, entry) for place, entry in state if entry_noun(entry) != "node" or (place != number and not entry.name)
    ]
    names = [entry.name for _, entry in named]
    spare = [name for index in range(1, wanted + len(names) + 1) if (name := f"worker-{index}") not in names]
    return [
        *rest,
        *((place, _entry(entry.resource, None, {**common, **entry.fields})) for place, entry in named),
        *((number, _entry(f"node/{name}", None, common)) for name in spare[: max(wanted - len(names), 0)]),
    ]


@remember_results
def namespaces_of(preconditions: Preconditions) -> tuple[str, ...]:
    """Every namespace of the environment: those that entries and scope name, and the system's own."""
    named = {
        entry.name if entry_noun(entry) == "namespace" else entry_namespace(entry, preconditions)
        for entry in state_of(preconditions)
        if entry_noun(entry) not in {None, "node"}
    }
    scoped = {*preconditions.agent.scope.namespaces, *scope_of(preconditions)}
    return tuple(sorted(named | scoped | set(SYSTEM_NAMESPACES)))


@remember_results
def node_names(preconditions: Preconditions) -> tuple[str, ...]:
    """The declared nodes, and as many more of their family as needed; none where an environment draws them."""
    state = state_of(preconditions)
    declared = [entry.name for entry in state if entry_noun(entry) == "node"]
    placed = [str(entry.fields["node"]) for entry in state if entry_noun(entry) == "pod" and "node" in entry.fields]
    declared = list(dict.fromkeys([*declared, *placed]))
    if not declared or any(_is_all_nodes(entry) for entry in preconditions.environment.state):
        return tuple(declared)
    stem = declared[0].rstrip("0123456789")
    family = stem if stem.endswith("-") else f"{declared[0]}-"
    spare = [name for number in range(1, 2 * NODES + 1) if (name := f"{family}{number}") not in declared]
    return (*declared, *spare[: max(NODES - len(declared), 0)])


def drawn_nodes(ids: Ids) -> tuple[str, ...]:
    """The names of the nodes in a cluster that declares none (SI-02)."""
    number = ids.number()
    match number % 4:
        case 0:
            first, zone = number >> 8, number >> 16
            return tuple(
                f"ip-10-{zone % 200}-{(zone >> 8) % 250}-{(first + 37 * index) % 250}" for index in range(NODES)
            )
        case 1:
            pool = _POOLS[(number >> 8) % len(_POOLS)]
            return tuple(f"{pool}-{ids.suffix()}" for _ in range(NODES))
        case 2:
            pool = _POOLS[(number >> 8) % len(_POOLS)]
            return tuple(f"{pool}-{(number >> 16) % 40 + index}" for index in range(1, NODES + 1))
        case _:
            site = _SITES[(number >> 8) % len(_SITES)]
            return tuple(f"k8s-{site}-{(number >> 16) % 30 + index:02}" for index in range(1, NODES + 1))


def drawn_server_name(number: int) -> str:
    """The name under which the API server of a cluster is known inside a network (SI-02)."""
    site, pool = _SITES[number % len(_SITES)], _POOLS[(number >> 8) % len(_POOLS)]
    match (number >> 16) % 3:
        case 0:
            return f"api.{site}-{(number >> 24) % 9 + 1}.k8s.internal"
        case 1:
            return f"k8s-api.{site}.corp.internal"
        case _:
            return f"kube-{site}{(number >> 24) % 30:02}-{pool}.cluster.internal"


def entry_key(entry: StateEntry, preconditions: Preconditions) -> Key:
    """The place of the object that an entry describes; a runbook is a configmap."""
    row = stored_row(entry)
    namespace = "" if row and not row.namespaced else entry_namespace(entry, preconditions)
    return Key(row.noun if row else entry_noun(entry) or entry.kind, namespace, entry.name)


@remember_results
def declared_keys(preconditions: Preconditions) -> frozenset[Key]:
    """The places of all objects that a scenario declares, and of those that every cluster has."""
    keys = {Key("namespace", "", name) for name in namespaces_of(preconditions)}
    keys |= {Key("node", "", name) for name in node_names(preconditions)}
    return frozenset(keys | {entry_key(entry, preconditions) for entry in state_of(preconditions)})


def log_key(entry: StateEntry, preconditions: Preconditions) -> Key | None:
    """The workload or pod whose lines a `logs` entry holds."""
    return _spoken_for(entry, numbered_state(preconditions), preconditions)


def _spoken_for(entry: StateEntry, state: list[tuple[int, StateEntry]], preconditions: Preconditions) -> Key | None:
    """The workload or pod with an entry's name, in its namespace; if it names none, also the only one elsewhere."""
    nouns = (*sorted(WORKLOADS), "pod", "job")
    keys = {entry_key(other, preconditions) for _, other in state if entry_noun(other) in nouns}
    found = sorted((key for key in keys if key.name == entry.name), key=lambda key: nouns.index(key.noun))
    wanted = entry_namespace(entry, preconditions)
    here = [key for key in found if key.namespace == wanted]
    return here[0] if here else found[0] if found and entry.namespace is None else None


@lru_cache
def scoped_rules(*, read_only: bool) -> list[Json]:
    """What the agent's account may do in a namespace of its scope; roles and bindings are read-only.

    Verbs and the core resources are listed, because a star would allow more than work in the namespace: impersonating
    its service accounts or issuing tokens for them, and, for a read-only agent, running commands, since a WebSocket is
    a GET.
    """
    withheld = _TOKENS | _STREAMS if read_only else _TOKENS
    verbs = [*READ_VERBS] if read_only else [*READ_VERBS, *WRITE_VERBS]
    rows = [row for row in catalogue(CURRENT_RELEASE, metrics=True).resources if row.namespaced and "list" in row.verbs]
    core = (row for row in rows if not row.group)
    names = (name for row in core for name in (row.plural, *(f"{row.plural}/{part.name}" for part in row.subresources)))
    groups = {row.group for row in (*rows, *SERVICE_TYPES)} - {"", RBAC_GROUP}
    return [
        {"apiGroups": [""], "resources": [name for name in names if name not in withheld], "verbs": verbs},
        {"apiGroups": sorted(groups), "resources": ["*"], "verbs": verbs},
        {"apiGroups": [RBAC_GROUP], "resources": ["*"], "verbs": list(READ_VERBS)},
    ]


def cluster_rules() -> list[Json]:
    """What the agent's account may do outside all namespaces: read namespaces and nodes, and their usage."""
    plurals = [BY_NOUN[noun].plural for noun in ("namespace", "node")]
    groups = ("", METRICS_GROUP)
    return [{"apiGroups": list(groups), "resources": plurals, "verbs": list(READ_VERBS)}]
