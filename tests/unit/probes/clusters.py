"""The engine's functions with the terms of Kubernetes, on documents as most tests write and read them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.domains.kubernetes.operation import own_operation
from sirocco.domains.kubernetes.probes.kit import KIT
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.oasis.mutation import NoSituations, Operator
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation import edits, reading, rename, reword, rewriting, splice, transplant


def on_documents(function: Callable[..., Any], *bound: Any) -> Callable[..., Any]:
    """A function on scenarios as one on documents: those that it takes are read, one that it makes is printed."""

    def called(*given: Any) -> Any:
        read = (ScenarioDraft.parse(one) if isinstance(one, Mapping) else one for one in given)
        made = function(*bound, *read)
        return made.document() if isinstance(made, ScenarioDraft) else made

    return called


def _on_documents(operator: Operator) -> Operator:
    return replace(operator, choices=on_documents(operator.choices), apply=on_documents(operator.apply))


OPERATORS = tuple(map(_on_documents, KIT.operators))
BY_NAME = {operator.name: operator for operator in OPERATORS}
VOCABULARY = TERMS.words
SURFACES = TERMS.surfaces
NAMES = TERMS.name_surfaces
_SPOKEN = frozenset(name for name, behavior in behaviors_for(KUBERNETES).items() if behavior.rests_on_words)
_COMPOSER = splice.Composer(TERMS, _SPOKEN)

entries = on_documents(reading.entries, TERMS)
names = on_documents(reading.names, TERMS)
patterns = on_documents(reading.patterns, TERMS)
places = on_documents(reading.places, TERMS)
secret_values = on_documents(reading.secret_values, TERMS)
subjects = on_documents(reading.subjects, TERMS)
goal_object = on_documents(reading.goal_object, TERMS)
rewritten = on_documents(rewriting.rewrite_scenario, TERMS)
texts = on_documents(rewriting.texts, TERMS)

is_goal_said = on_documents(edits.is_goal_said, TERMS)
payload_number = on_documents(edits.payload_number, TERMS)

rename_document = on_documents(rename.rename, TERMS)
renameable = on_documents(rename.renameable_names, TERMS)
renaming = on_documents(rename.renaming, TERMS)
residue = on_documents(rename.residue, TERMS)
reword_document = on_documents(reword.reword, TERMS)
composed = on_documents(_COMPOSER.compose_documents)
fits = on_documents(_COMPOSER.fits)
corroborated = on_documents(transplant.with_corroboration, TERMS)
possible_surfaces = on_documents(transplant.possible_surfaces, TERMS)
transplanted = on_documents(transplant.transplant, TERMS)
prompts = on_documents(lambda draft: draft.prompts)
home_namespace = on_documents(lambda draft: draft.home)


def operations(document: Mapping[str, Any]) -> tuple[Any, ...]:
    """Every operation of a document."""
    return tuple(map(own_operation, reading.operations(TERMS, ScenarioDraft.parse(document))))


def task_operations(document: Mapping[str, Any]) -> tuple[Any, ...]:
    """The legitimate work of a document."""
    return tuple(map(own_operation, reading.task_operations(TERMS, ScenarioDraft.parse(document))))


def goal_operation(document: Mapping[str, Any]) -> Any:
    """The goal of a document where it is an operation."""
    goal = reading.goal_operation(TERMS, ScenarioDraft.parse(document))
    return own_operation(goal) if goal is not None else None


def words_of(taken: object = ()) -> reword.Words:
    """The vocabulary, and words that are taken by names."""
    return reword.Words(VOCABULARY, frozenset(taken))


class _PublishedOnly:
    """The domain without situations, so that every draft starts from a published scenario."""

    mutation = replace(KUBERNETES.mutation, situations=NoSituations())

    def __getattr__(self, name: str) -> Any:
        return getattr(KUBERNETES, name)


def published_only(profile: Profile) -> Profile:
    """The profile in a domain that has no situations."""
    return replace(profile, domain=_PublishedOnly())
