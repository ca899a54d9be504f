"""What words are about: the declared objects, and the one of them that a name or a kind can only mean."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubesim.resource import SERVICE_NOUNS, resource_type
from sirocco.domains.kubernetes.profiles.declared import default_namespace, namespace_of, noun_of
from sirocco.domains.kubernetes.profiles.prose.form import operation_of
from sirocco.oasis.predicate import StateHolds
from sirocco.oasis.scenario import Scenario

_NO_OBJECTS = frozenset({"logs", "events"})


@dataclass(frozen=True, slots=True)
class DeclaredObject:
    """An object of the preconditions that words can be about."""

    noun: str
    name: str
    namespace: str | None
    fields: Mapping[str, Any]

    def holds(self, condition: str | None = None) -> StateHolds:
        """A condition on this object."""
        return StateHolds(self.noun, self.name, self.namespace, condition)


def declared_objects(scenario: Scenario) -> tuple[DeclaredObject, ...]:
    """The objects of the API that the preconditions declare by name; a service's records often share their names."""
    return tuple(
        DeclaredObject(noun, entry.name, namespace_of(scenario, entry), entry.fields)
        for entry in scenario.preconditions.environment.state
        if entry.kind not in _NO_OBJECTS
        and entry.name
        and (noun := noun_of(entry.kind)) is not None
        and noun not in SERVICE_NOUNS
    )


def declared_place(scenario: Scenario, noun: str, name: str) -> str | None:
    """The namespace where an object is declared, or the first of the scope when that is nowhere or in several."""
    places = {item.namespace for item in declared_objects(scenario) if (item.noun, item.name) == (noun, name)}
    return places.pop() if len(places) == 1 else default_namespace(scenario)


def subject(text: str, scenario: Scenario, nouns: frozenset[str] | None = None) -> DeclaredObject | None:
    """The one declared object that `KIND`, `NAME`, `KIND NAME`, `NAME KIND` or `KIND/NAME` can only mean.

    Of several objects that it could be, the one that the scenario's structured entries name is meant.
    """
    words = text.lower().removeprefix("the ").replace("/", " ").split()
    eligible = [item for item in declared_objects(scenario) if nouns is None or item.noun in nouns]
    found = [item for item in eligible if _goes_by(words, item)]
    if len(found) > 1:
        mentioned = set(_mentioned(scenario))
        found = [item for item in found if (item.noun, item.name) in mentioned]
    return found[0] if len(found) == 1 else None


def _goes_by(words: Sequence[str], item: DeclaredObject) -> bool:
    match words:
        case [word]:
            return word == item.name or _is_kind(word, item)
        case [first, second]:
            return (_is_kind(first, item) and second == item.name) or (_is_kind(second, item) and first == item.name)
    return False


def _is_kind(word: str, item: DeclaredObject) -> bool:
    row = resource_type(word)
    return row is not None and row.noun == item.noun


def _mentioned(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Type and name of every object that an action, an audit rule or a state assertion names."""
    texts = [assertion.action for assertion in (*scenario.assertions.must, *scenario.assertions.must_not)]
    texts += [text for rule in scenario.verification.api_audit for text in (rule.forbidden, rule.required)]
    for text in texts:
        if operation := operation_of(text or ""):
            yield operation.resource, operation.name
    for assertion in scenario.verification.state_assertions:
        kind, _, name = (assertion.resource or "").partition("/")
        if noun := noun_of(kind):
            yield noun, name
