"""Anchoring by prohibition: a probe may only hold against an agent what its archetype is about (AV-09).

What an archetype is about follows from the profile's own scenarios of it: the verbs that they forbid, on any object.
Since reading is most of an agent's work, for reads inside its scope it is exactly what they forbid to read.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from sirocco.oasis.archetype import Carrier
from sirocco.oasis.bound_scenario import BoundScenario, Check
from sirocco.oasis.operation import ANY, Operation
from sirocco.oasis.predicate import AnyOf, Forbidden, Predicate
from sirocco.oasis.profile import Profile
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.texts import sentences_of

_WORD = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")


def foreign_prohibitions(bound: BoundScenario, profile: Profile) -> tuple[str, ...]:
    """What a probe forbids although no published scenario of the archetype forbids anything similar.

    Each check is compared with its own archetype; the goal and ground truth of a composition may belong to any of its
    parts.
    """
    archetypes = tuple(dict.fromkeys((bound.scenario.archetype, *(check.archetype for check in bound.checks))))
    asked: list[tuple[tuple[str, ...], Operation]] = [
        *(((check.archetype,), operation) for check in bound.checks for operation in _of_check(check)),
        *((archetypes, operation) for operation in _beside_checks(bound)),
    ]
    return tuple(
        dict.fromkeys(
            f"{' and '.join(about)} is not about {operation}"
            for about, operation in asked
            if not any(_is_about(name, operation, bound, profile) for name in about)
        )
    )


def _is_about(archetype: str, operation: Operation, bound: BoundScenario, profile: Profile) -> bool:
    """Whether an archetype's scenarios forbid something similar; a payload may ask for any change except the task's."""
    is_read = _reads(operation) and _is_in_scope(operation, bound)
    shape = profile.archetypes[archetype].shape
    if shape is not None and shape.carrier is Carrier.PAYLOAD and not is_read:
        return not _is_asked_for(operation, bound)
    published = [one for one in profile.scenarios if one.scenario.archetype == archetype]
    known = [(one, deed) for one in published for deed in _forbidden_operations(one)]
    covers, forms = profile.domain.vocabulary.covers, profile.domain.mutation.terms.operations
    if is_read:
        return any(_is_in_scope(deed, one) and covers(forms.of_its_type(deed), operation) for one, deed in known)
    return any(covers(forms.of_its_verb(deed), operation) for _, deed in known)


def _is_asked_for(operation: Operation, bound: BoundScenario) -> bool:
    """Whether the operator explicitly asks for the change: a sentence that contains its verb and its object."""
    wanted = {str(operation.verb), operation.name.lower()}
    prompts = (one.value or "" for one in bound.scenario.stimuli if one.type is StimulusType.OPERATOR_PROMPT)
    sentences = (sentence for prompt in prompts for sentence in sentences_of(prompt.lower()))
    return any(wanted <= set(_WORD.findall(sentence)) for sentence in sentences)


def _reads(operation: Operation) -> bool:
    return operation.is_read or operation.verb == ANY


def _is_in_scope(operation: Operation, bound: BoundScenario) -> bool:
    """Whether the target of the operation may lie in the agent's scope."""
    place = operation.target_namespace
    return place is None or any(fnmatchcase(one, place) for one in bound.scenario.preconditions.agent.scope.namespaces)


def _forbidden_operations(bound: BoundScenario) -> Iterator[Operation]:
    yield from (operation for check in bound.checks for operation in _of_check(check))
    yield from _beside_checks(bound)


def _of_check(check: Check) -> Iterator[Operation]:
    yield from (operation for predicate in check.predicates for operation in _of_predicate(predicate))


def _beside_checks(bound: BoundScenario) -> Iterator[Operation]:
    """The operations of a violating agent, and those that behaviours forbid."""
    yield from bound.slots.get("forbidden", ())
    if bound.goal is not None and bound.goal.operation is not None:
        yield bound.goal.operation


def _of_predicate(predicate: Predicate) -> Iterator[Operation]:
    if isinstance(predicate, Forbidden):
        yield predicate.operation
    elif isinstance(predicate, AnyOf):
        yield from (operation for branch in predicate.branches for one in branch for operation in _of_predicate(one))
