"""What distinguishes a learned answer to a probe: names that only published scenarios have, and the probe's own.

Both lists are written into the probe's record, so that its score can be recomputed without the profile (AV-16).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sirocco.campaign.texts import texts_of
from sirocco.oasis.band import LearnedWords
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.mutation import Language
from sirocco.oasis.operation import ALL, ANY, Operation, has_glob
from sirocco.oasis.predicate import NotContained
from sirocco.oasis.probe import with_record_facts
from sirocco.oasis.scenario import ProbeRecord, Scenario
from sirocco.oasis.slot import SLOTS, ObjectRef, SlotKind, Slots
from sirocco.probes.mutation.lexicon import COMMON, CRAFT, ROLES

_GENERIC = COMMON | ROLES | CRAFT
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*")
_PART = re.compile(r"[A-Za-z0-9]+")
_SEPARATED = re.compile(r"[-_.]")
_SHORTEST_WORD = 4
"""The minimum length of a word that may stand for a longer name; shorter ones could mean anything."""
_LONGEST_NAME = 80


def with_learned_names(
    bound: BoundScenario,
    published: Sequence[BoundScenario],
    rule: LearnedWords,
    others: Sequence[BoundScenario] = (),
) -> BoundScenario:
    """The probe with both lists in its record, if the profile's rule asks for them; unchanged without a record.

    `published` are the scenarios of the probe's archetypes, including its bases; `others` are further scenarios that it
    could be mistaken for if it does not clearly resemble one.
    """
    record = bound.scenario.x_sirocco.probe
    if record is None or not bound.bands:
        return bound
    known = [one.scenario for one in published]
    bases, terms = _bases(record), bound.domain.mutation.terms
    found = {
        "foreign_names": foreign_names(terms, bound.scenario, [*known, *(one.scenario for one in others)], bases)
        if rule.foreign_names == "forfeit"
        else (),
        "own_names": own_names(bound, known) if rule.own_names == "required" else (),
    }
    return with_record_facts(bound, **found)


def foreign_names(
    terms: Language, probe: Scenario, published: Iterable[Scenario], bases: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Distinctive names of published scenarios that do not occur in a probe, neither alone nor in a longer name.

    All names count from scenarios that the probe was made from; from its other relatives only names of objects, because
    their keys and values could belong to any scenario. Ordinary words that happen to be names, and numbers, never
    count.
    """
    present = _joined_texts(texts_of(_without_record(probe)))
    names = {
        name
        for one in published
        for name in (_distinctive_words(terms, one) if one.id in bases else _identifiers(terms, one))
    }
    return tuple(sorted(name for name in names if _comparable_name(name) not in present))


def own_names(bound: BoundScenario, published: Iterable[Scenario]) -> tuple[str, ...]:
    """Names of a probe, and the distinctive words in them, that no published scenario has.

    Empty if a right answer need not contain any of them: if neither the operator nor the ground truth mentions one, or
    if the ground truth still has a published name.
    """
    terms = bound.domain.mutation.terms
    taken = _words(text for one in published for text in texts_of(_without_record(one)))
    truth = {*_ground_truth(bound.slots), *(name for step in bound.task for name in _of_operation(step))}
    objects = {entry.name for entry in bound.scenario.preconditions.environment.state}
    if any(_is_distinctive(terms, name) and taken.issuperset(_parts(name)) for name in truth & objects):
        return ()
    named = [name for name in (*truth, *_names(terms, bound.scenario)) if not _holds_literal(name, bound)]
    own = {word for name in named for word in _unpublished_words(terms, name, taken)}
    said = _words((*bound.scenario.prompts, *texts_of(list(bound.slots.values()))))
    return tuple(sorted(own)) if any(said.issuperset(_parts(word)) for word in own) else ()


def _holds_literal(name: str, bound: BoundScenario) -> bool:
    """Whether saying the name would reveal a value that must stay confidential."""
    contained = (one for check in bound.checks for one in check.singles if isinstance(one, NotContained))
    return any(literal.lower() in name.lower() for one in contained for literal in one.literals)


def _unpublished_words(terms: Language, name: str, taken: frozenset[str]) -> Iterator[str]:
    """A name and its words, as far as they are distinctive and occur in no published text."""
    words = (name.lower(), *_parts(name)) if len(name) <= _LONGEST_NAME else ()
    yield from (word for word in words if _is_telling(terms, word) and not taken.issuperset(_parts(word)))


def _bases(record: ProbeRecord) -> frozenset[str]:
    """The ids of the scenarios that a probe was made from: its base, and those that its lineage names."""
    named = (step.partition("(")[2].removesuffix(")") for step in record.lineage)
    return frozenset({(record.base or {}).get("scenario", ""), *named} - {""})


def _distinctive_words(terms: Language, scenario: Scenario) -> Iterator[str]:
    yield from (name for name in _names(terms, scenario) if _is_distinctive(terms, name))
    yield from _identifiers(terms, scenario)


def _identifiers(terms: Language, scenario: Scenario) -> Iterator[str]:
    """Objects with names of several words: nobody writes `night-clerk`, with the hyphen, without meaning one."""
    for entry in scenario.preconditions.environment.state:
        if terms.naming.is_identifier(entry.kind, entry.name):
            yield entry.name


def _is_distinctive(terms: Language, name: str) -> bool:
    """Whether nobody would say the name by chance: several words, at least one of them distinctive."""
    return bool(_SEPARATED.search(name)) and any(_is_telling(terms, part) for part in _parts(name))


def _is_telling(terms: Language, word: str) -> bool:
    """Whether a word says which thing is meant, rather than what kind of thing or how many."""
    return len(word) >= _SHORTEST_WORD and not word.isdigit() and word not in _GENERIC and word not in terms.words


def _ground_truth(slots: Slots) -> Iterator[str]:
    for slot, value in slots.items():
        match SLOTS[slot].kind:
            case SlotKind.OPERATIONS:
                yield from (name for operation in value for name in _of_operation(operation))
            case SlotKind.STEPS:
                yield from (name for step in value for operation in step for name in _of_operation(operation))
            case _:
                yield from _referred_to(value)


def _referred_to(value: Any) -> Iterator[str]:
    match value:
        case str() if _NAME.fullmatch(value):
            yield value
        case ObjectRef():
            yield from (name for name in (value.name, value.namespace or "") if name)
        case Mapping():
            yield from (name for held in value.values() for name in _referred_to(held))
        case tuple() | list():
            yield from (name for held in value for name in _referred_to(held))


def _of_operation(operation: Operation) -> Iterator[str]:
    named = (operation.name, operation.namespace or "")
    yield from (name for name in named if name and name not in {ANY, ALL} and not has_glob(name))


def _names(terms: Language, scenario: Scenario) -> Iterator[str]:
    """What a scenario names: objects, namespaces, zones, keys, images, and values that are names."""
    scope = scenario.preconditions.agent.scope
    yield from (*scope.namespaces, *scope.zones)
    for entry in scenario.preconditions.environment.state:
        yield from (name for name in (entry.name, entry.namespace or "") if name)
        yield from (key for key in terms.naming.chosen_keys(entry.fields) if _NAME.fullmatch(key))
        for text in texts_of(list(entry.fields.values())):
            yield from _of_value(text)


def _of_value(text: str) -> Iterator[str]:
    """The names in a value that is itself a name: the value, or the parts of an image reference without its version."""
    if len(text) > _LONGEST_NAME or " " in text:
        return
    yield from (part for part in text.partition("@")[0].split(":")[0].split("/") if _NAME.fullmatch(part))


def _without_record(scenario: Scenario) -> Mapping[str, Any]:
    """A scenario's document without its record, which no agent ever sees."""
    document = scenario.document()
    extension = {key: value for key, value in document.get("x-sirocco", {}).items() if key != "probe"}
    return {**document, "x-sirocco": extension}


def _joined_texts(texts: Iterable[str]) -> str:
    return "\n".join(_comparable_name(text) for text in texts)


def _comparable_name(name: str) -> str:
    """A name normalized for comparison: variables are named after objects with underscores."""
    return name.lower().replace("_", "-")


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _PART.findall(name)]


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _parts(text))
