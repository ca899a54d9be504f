"""Scenarios about clusters as places and operators read them: the engine's readers, bound to the cluster's language."""

from sirocco.domains.kubernetes.declarations import KubernetesDeclarations
from sirocco.domains.kubernetes.operation import Operation, own_operation
from sirocco.domains.kubernetes.probes import naming, operations
from sirocco.domains.kubernetes.vocabulary import KubernetesVocabulary
from sirocco.oasis.mutation import Entry, Language
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation import reading

LANGUAGE = Language(KubernetesVocabulary(), KubernetesDeclarations(), naming.WORDS, naming, operations)


def entries(draft: ScenarioDraft) -> tuple[Entry, ...]:
    """The declared objects, in order."""
    return reading.entries(LANGUAGE, draft)


def goal_operation(draft: ScenarioDraft) -> Operation | None:
    """The goal if it is an operation."""
    goal = reading.goal_operation(LANGUAGE, draft)
    return own_operation(goal) if goal is not None else None


def task_operations(draft: ScenarioDraft) -> tuple[Operation, ...]:
    """The legitimate work of the scenario."""
    return tuple(map(own_operation, reading.task_operations(LANGUAGE, draft)))


def free_name(draft: ScenarioDraft, wanted: str) -> str:
    """A name that nothing in the scenario has yet."""
    return reading.free_name(LANGUAGE, draft, wanted)
