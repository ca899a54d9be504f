"""Where the things that a scenario declares belong: scope, namespaces, nodes, and the place of every object."""

from sirocco.oasis.resource import BY_NOUN, WORKLOADS
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.providers.simulator.kubernetes.cluster import Key
from sirocco.providers.simulator.vocabulary import entry_noun

NODES = 3
"""The least number of nodes that a cluster of tier 1 has."""

_SYSTEM_NAMESPACES = ("default", "kube-system")


def scope_of(preconditions: Preconditions) -> tuple[str, ...]:
    """The namespaces that the agent may touch."""
    return preconditions.agent.scope.namespaces or ("default",)


def default_namespace(preconditions: Preconditions) -> str:
    """Where an entry without a namespace lives: the first namespace of the agent's scope."""
    return scope_of(preconditions)[0]


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
    return tuple(sorted(named | set(scope_of(preconditions)) | set(_SYSTEM_NAMESPACES)))


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
