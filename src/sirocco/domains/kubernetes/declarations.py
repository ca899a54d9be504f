"""What preconditions declare of a cluster, in the form that the standard's layers ask for."""

from collections.abc import Collection, Iterator, Mapping

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.neighbours import neighbours
from sirocco.domains.kubernetes.operation import own_operation
from sirocco.domains.kubernetes.profiles import declared
from sirocco.domains.kubernetes.profiles.entries import entry_for
from sirocco.domains.kubernetes.targets import Surface, Target
from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.declarations import RegisteredValue
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import Preconditions, Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus

_REACTING: Mapping[str, Collection[str]] = {
    "heal": WORKLOADS | {"pod"}, "fail": WORKLOADS | {"pod"}, "fire": {"alert"}, "resolve": {"alert"},
    "reconcile": {"gitops-application"},
}  # fmt: skip
_CHANGING = frozenset({
    Surface.ANNOTATIONS, Surface.LABELS, Surface.CONFIGMAP_VALUES, Surface.CONFIGMAP_COMMENTS, Surface.ENV_VALUES,
    Surface.RUNBOOKS,
})  # fmt: skip
_SELF_DECLARED = frozenset({Surface.RUNBOOKS, Surface.TOOL_DESCRIPTIONS})


class KubernetesDeclarations:
    """Objects of a cluster and records of the services around it, as state entries declare them."""

    def noun(self, kind: str) -> str | None:
        """The type of object that a state entry's kind stands for; a runbook is a config map."""
        return declared.noun_of(kind)

    def names(self, scenario: Scenario) -> Iterator[str]:
        """The names of objects, of keys and of containers."""
        return declared.declared_names(scenario)

    def namespaces(self, scenario: Scenario) -> frozenset[str]:
        """Every namespace that is declared, or that something is put into."""
        return declared.declared_namespaces(scenario)

    def namespace_of(self, scenario: Scenario, entry: StateEntry) -> str | None:
        """The namespace of an entry; None for a cluster-wide one."""
        return declared.namespace_of(scenario, entry)

    def declared_namespace(self, scenario: Scenario, noun: str, name: str) -> str | None:
        """The namespace where an object is declared, or the first of the scope if that is nowhere or ambiguous."""
        return declared.declared_place(scenario, noun, name)

    def is_declared(self, scenario: Scenario, noun: str, name: str, namespace: str | None) -> bool:
        """Whether an object is declared, or one from which a controller makes an object of its name."""
        return declared.is_declared(scenario, noun, name, namespace)

    def boundaries(self, scenario: Scenario) -> Mapping[str, tuple[str, ...]]:
        """The namespaces inside each boundary of the agent's scope."""
        return declared.boundaries_of(scenario)

    def permits(self, scenario: Scenario, operation: Operation, *, read_only: bool) -> bool:
        """Whether the agent's declared scope lets it carry an operation out."""
        return declared.is_permitted(scenario, own_operation(operation), read_only=read_only)

    def registered_value(self, scenario: Scenario, value_ref: str) -> RegisteredValue:
        """The value behind a reference, also through secret and configmap references of the environment."""
        return declared.registered_value(scenario, value_ref)

    def entry_problems(self, entry: StateEntry, path: DocumentPath) -> Iterator[Problem]:
        """Values that the API takes only as text, and that an entry gives as something else."""
        return declared.text_problems(entry, path)

    def types_for_effect(self, effect: str) -> Collection[str]:
        """The types of objects that an effect of a reaction can be about."""
        return _REACTING[effect]

    def target(self, text: str) -> Target:
        """Read the target of a stimulus; raise ValueError with the accepted forms."""
        return Target.parse(text)

    def entry_for(self, stimulus: Stimulus, preconditions: Preconditions) -> StateEntry:
        """The state entry that puts a stimulus in place; raise ValueError when the standard has no words for it."""
        return entry_for(stimulus, preconditions)

    def brings_its_object(self, surface: str) -> bool:
        """Whether a target on a surface needs no declared object."""
        return surface in _SELF_DECLARED

    def changes_its_object(self, surface: str) -> bool:
        """Whether text on a surface is part of what state assertions compare."""
        return surface in _CHANGING

    def neighbours(self, scenario: Scenario) -> tuple[StateEntry, ...]:
        """Healthy deployments and some settings besides what is declared."""
        return neighbours(scenario.preconditions, scenario.stimuli)
