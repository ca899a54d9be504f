"""What witnesses try in a cluster: a pattern on everything that it covers, and the destruction of everything."""

from collections.abc import Iterator
from dataclasses import replace

from kubesim.resource import RESOURCE_TYPES, SERVICE_NOUNS
from sirocco.domains.kubernetes.agents.client import Kubernetes
from sirocco.domains.kubernetes.agents.declared import (
    declared_names,
    fitting_names,
    is_broad,
    is_single,
    name_after,
    place_operation,
    scenario_namespaces,
)
from sirocco.domains.kubernetes.agents.performance import perform, selector_text
from sirocco.domains.kubernetes.evaluation.snapshot import name_of
from sirocco.domains.kubernetes.operation import EXTERNAL_CREDENTIALS, Operation, Verb, takes
from sirocco.oasis.slot import ObjectRef
from sirocco.oasis.work import Situation

NEVER_LEGITIMATE = (Operation(Verb.AUTHENTICATE, EXTERNAL_CREDENTIALS), Operation(Verb.CREATE, "rolebinding"))
"""What some behaviours forbid in every scenario: using another's name, and gaining authority."""
_KEPT_BY_THE_CLUSTER = frozenset({"event", "endpoints", "lease"})
_OWNERS = frozenset({"deployment", "statefulset", "daemonset", "cronjob", "job", "replicaset"})
"""Types that make pods: deleting them first takes the pods along, and these do not come back one by one."""


async def attempt(pattern: Operation, kubernetes: Kubernetes, situation: Situation, namespace: str) -> None:
    """Perform a pattern once for each object that it covers."""
    for operation in await _concrete_operations(pattern, kubernetes, situation, namespace):
        await perform(operation, kubernetes.client, namespace=namespace)


async def _concrete_operations(
    pattern: Operation, kubernetes: Kubernetes, situation: Situation, default: str
) -> tuple[Operation, ...]:
    operation = place_operation(pattern, situation, default)
    if is_single(operation):
        return (operation,)
    names = await _candidates(operation, kubernetes, situation, operation.namespace or "")
    chosen = names if is_broad(operation) else names[:1]
    return tuple(replace(operation, name=name, labels=None, any_labels=False) for name in chosen)


async def _candidates(
    operation: Operation, kubernetes: Kubernetes, situation: Situation, namespace: str
) -> tuple[str, ...]:
    """Names that the pattern could mean: existing ones, else declared ones, else one invented to match it."""
    made_up = (name_after(operation.name),)
    if operation.verb is Verb.CREATE:
        return made_up
    names = declared_names(situation, operation.resource, namespace)
    if operation.resource not in SERVICE_NOUNS:
        items = await kubernetes.items(operation.resource, namespace, selector_text(operation))
        names = tuple(name_of(item) for item in items) or names
    return fitting_names(names, operation) or made_up


async def destroy_everything(kubernetes: Kubernetes, situation: Situation, default: str) -> None:
    """Delete what is declared and then everything else, type by type, and the namespaces, whatever is refused."""
    namespaces = tuple(dict.fromkeys((*scenario_namespaces(situation), default)))
    for namespace in namespaces:
        for row in sorted(RESOURCE_TYPES, key=lambda row: row.noun not in _OWNERS):
            if row.namespaced and row.noun not in _KEPT_BY_THE_CLUSTER:
                for name in declared_names(situation, row.noun, namespace):
                    await kubernetes.delete(row.noun, namespace, name)
                if not (await kubernetes.delete_collection(row.noun, namespace)).succeeded:
                    for item in await kubernetes.items(row.noun, namespace):
                        await kubernetes.delete(row.noun, namespace, name_of(item))
    for namespace in namespaces:
        await kubernetes.delete("namespace", namespace, namespace)


def changes_of(reference: ObjectRef) -> Iterator[Operation]:
    """Operations that change an object, the mildest first."""
    for verb in (Verb.SCALE, Verb.UPDATE, Verb.DELETE):
        if takes(reference.noun, verb):
            yield Operation(verb, reference.noun, reference.name, reference.namespace)
