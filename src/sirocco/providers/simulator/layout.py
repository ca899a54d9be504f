"""Where the things that a scenario declares belong: scope, namespaces, nodes, and the place of every object."""

from functools import lru_cache

from sirocco.oasis.resource import BY_NOUN, WORKLOADS
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.providers.simulator.kubernetes.access import RBAC_GROUP
from sirocco.providers.simulator.kubernetes.cluster import Key
from sirocco.providers.simulator.kubernetes.discovery.catalogue import CURRENT_RELEASE, catalogue
from sirocco.providers.simulator.kubernetes.status import Json
from sirocco.providers.simulator.vocabulary import entry_noun

NODES = 3
"""The least number of nodes that a cluster of tier 1 has."""

_SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_READ_VERBS = ("get", "list", "watch")
_WRITE_VERBS = ("create", "update", "patch", "delete", "deletecollection")
_TOKENS = frozenset({"serviceaccounts/token"})
_STREAMS = frozenset({"pods/exec", "pods/attach", "pods/portforward", "pods/proxy", "services/proxy"})


def scope_of(preconditions: Preconditions) -> tuple[str, ...]:
    """The namespaces that the agent may touch: those of its scope that are in no other zone than its own.

    A scope of zones alone means every namespace that is declared to be in one of them.
    """
    scope, zones = preconditions.agent.scope, _zones(preconditions)
    if scope.namespaces:
        return tuple(
            name for name in scope.namespaces if not scope.zones or zones.get(name, scope.zones[0]) in scope.zones
        )
    return tuple(name for name, zone in zones.items() if zone in scope.zones) or ("default",)


def _zones(preconditions: Preconditions) -> dict[str, str]:
    """The zone of every namespace that is declared to be in one."""
    return {
        entry.name: str(entry.fields["zone"])
        for entry in preconditions.environment.state
        if entry_noun(entry) == "namespace" and "zone" in entry.fields
    }


def default_namespace(preconditions: Preconditions) -> str:
    """Where an entry without a namespace lives: the first namespace of the agent's scope."""
    return (preconditions.agent.scope.namespaces or scope_of(preconditions))[0]


def namespace_of(entry: StateEntry, preconditions: Preconditions) -> str:
    """The namespace of an entry."""
    if entry.kind == "events":
        return entry.namespace or entry.name
    return entry.namespace or default_namespace(preconditions)


def namespaces_of(preconditions: Preconditions) -> tuple[str, ...]:
    """Every namespace that the environment has: those that entries and scope name, and the system's own."""
    named = {
        entry.name if entry_noun(entry) == "namespace" else namespace_of(entry, preconditions)
        for entry in preconditions.environment.state
        if entry_noun(entry) not in {None, "node"}
    }
    scoped = {*preconditions.agent.scope.namespaces, *scope_of(preconditions)}
    return tuple(sorted(named | scoped | set(_SYSTEM_NAMESPACES)))


def node_names(preconditions: Preconditions) -> tuple[str, ...]:
    """The declared nodes, and as many more as it takes."""
    declared = [entry.name for entry in preconditions.environment.state if entry_noun(entry) == "node"]
    spare = [name for number in range(1, 2 * NODES + 1) if (name := f"worker-{number}") not in declared]
    return (*declared, *spare[: max(NODES - len(declared), 0)])


def entry_key(entry: StateEntry, preconditions: Preconditions) -> Key:
    """The place of the object that an entry describes; a runbook is a configmap."""
    noun = entry_noun(entry) or entry.kind
    row = BY_NOUN.get(noun)
    namespace = "" if row and not row.namespaced else namespace_of(entry, preconditions)
    return Key("configmap" if noun == "runbook" else noun, namespace, entry.name)


def declared_keys(preconditions: Preconditions) -> frozenset[Key]:
    """The places of all objects that a scenario declares, and of those that every cluster has."""
    keys = {Key("namespace", "", name) for name in namespaces_of(preconditions)}
    keys |= {Key("node", "", name) for name in node_names(preconditions)}
    return frozenset(keys | {entry_key(entry, preconditions) for entry in preconditions.environment.state})


def log_key(entry: StateEntry, preconditions: Preconditions) -> Key | None:
    """The declared workload or pod whose lines a `logs` entry holds."""
    declared, namespace = declared_keys(preconditions), namespace_of(entry, preconditions)
    keys = (Key(noun, namespace, entry.name) for noun in (*sorted(WORKLOADS), "pod"))
    return next((key for key in keys if key in declared), None)


@lru_cache
def scoped_rules(*, read_only: bool) -> list[Json]:
    """What the agent's account may do in a namespace of its scope; roles and bindings it only reads.

    Verbs and the core resources are listed, because a star would allow more than to work in the namespace: to
    impersonate its service accounts or to draw tokens for them, and a read-only agent to run commands, since a
    WebSocket is a GET.
    """
    withheld = _TOKENS | _STREAMS if read_only else _TOKENS
    verbs = [*_READ_VERBS] if read_only else [*_READ_VERBS, *_WRITE_VERBS]
    rows = [row for row in catalogue(CURRENT_RELEASE).resources if row.namespaced and "list" in row.verbs]
    core = (row for row in rows if not row.group)
    names = (name for row in core for name in (row.plural, *(f"{row.plural}/{part.name}" for part in row.subresources)))
    groups = {row.group for row in rows} - {"", RBAC_GROUP}
    return [
        {"apiGroups": [""], "resources": [name for name in names if name not in withheld], "verbs": verbs},
        {"apiGroups": sorted(groups), "resources": ["*"], "verbs": verbs},
        {"apiGroups": [RBAC_GROUP], "resources": ["*"], "verbs": list(_READ_VERBS)},
    ]


def cluster_rules() -> list[Json]:
    """What the agent's account may do outside every namespace: look at namespaces and nodes."""
    plurals = [BY_NOUN[noun].plural for noun in ("namespace", "node")]
    return [{"apiGroups": [""], "resources": plurals, "verbs": list(_READ_VERBS)}]
