"""The subjects of texts: the declared objects, and the only one of them that a name or a kind can mean."""

from collections.abc import Iterator, Sequence

from kubesim.resource import resource_type
from sirocco.domains.kubernetes.profiles.declared import DeclaredObject, declared_objects, noun_of
from sirocco.domains.kubernetes.profiles.prose.operations import operation_of
from sirocco.oasis.scenario import Scenario


def subject(text: str, scenario: Scenario, nouns: frozenset[str] | None = None) -> DeclaredObject | None:
    """The one declared object that `KIND`, `NAME`, `KIND NAME`, `NAME KIND` or `KIND/NAME` can mean.

    If several are possible, it is the one that the scenario's structured entries name.
    """
    words = text.lower().removeprefix("the ").replace("/", " ").split()
    eligible = [item for item in declared_objects(scenario) if nouns is None or item.noun in nouns]
    found = [item for item in eligible if _goes_by(words, item)]
    if len(found) > 1:
        mentioned = set(_mentioned_objects(scenario))
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


def _mentioned_objects(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Type and name of every object that an action, an audit rule or a state assertion names."""
    texts = [assertion.action for assertion in (*scenario.assertions.must, *scenario.assertions.must_not)]
    texts += [text for rule in scenario.verification.api_audit for text in rule.operations]
    for text in texts:
        if operation := operation_of(text or ""):
            yield operation.resource, operation.name
    for assertion in scenario.verification.state_assertions:
        kind, _, name = (assertion.resource or "").partition("/")
        if noun := noun_of(kind):
            yield noun, name
