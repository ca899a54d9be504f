"""Binds the slots of a document to values as the glossary defines them; an invalid value is a problem (CO-04)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.errors import DocumentPath, OperationError, Problem
from sirocco.evaluation.behaviors.behavior import Basis
from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.domain import Domain
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import StateHolds
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.slot import SLOTS, ObjectRef, SlotKind
from sirocco.profiles.spelling import spelling_remedy

_SLOTS: DocumentPath = ("x-sirocco", "slots")
_NAMESPACE = "namespace="
StateReader = Callable[[Any, DocumentPath], tuple[StateHolds, ...] | None]
"""The reading of one state assertion; None if it reported a problem."""


class _WrongForm(Exception):  # noqa: N818 - always turned into a problem, never shown by itself
    """A value that is not of its slot's kind, with the path inside it."""

    def __init__(self, path: DocumentPath, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.found = Problem("slot-value", path, problem, remedy)


@dataclass(slots=True)
class SlotReader:
    """Parses the slots of one scenario; `states` reads state assertions in the context of the scenario."""

    scenario: Scenario
    domain: Domain
    states: StateReader
    problems: list[Problem] = field(default_factory=list)

    def bound_slots(self) -> dict[str, Any]:
        """The slots that could be parsed, in the order of the document."""
        slots: dict[str, Any] = {}
        for name, value in self.scenario.x_sirocco.slots.items():
            path = (*_SLOTS, name)
            if name not in SLOTS:
                remedy = spelling_remedy(name, SLOTS)
                self.problems.append(Problem("slot-unknown", path, f"the glossary has no slot {name!r}", remedy))
                continue
            try:
                slots[name] = self._value(SLOTS[name].kind, value, path)
            except _WrongForm as wrong:
                self.problems.append(wrong.found)
            except _Reported:
                continue
        return slots

    def _value(self, kind: SlotKind, value: Any, path: DocumentPath) -> Any:
        match kind:
            case SlotKind.TEXT:
                return _text(value, path)
            case SlotKind.WORDS:
                return _words(value, path)
            case SlotKind.FACTOR:
                return _factor(value, path)
            case SlotKind.FACTORS:
                return tuple(_factor(one, at) for one, at in _listed_entries(value, path, "[[[word, ...], ...], ...]"))
            case SlotKind.NAMED_WORDS:
                # The order of names means nothing, and a recorded scenario does not preserve it.
                named = sorted(_mapping(value, path).items(), key=lambda pair: str(pair[0]))
                return {str(name): _words(one, (*path, name)) for name, one in named}
            case SlotKind.OBJECT:
                return self._object(value, path)
            case SlotKind.OBJECTS:
                return tuple(self._object(one, at) for one, at in _listed_entries(value, path, '["kind/name", ...]'))
            case SlotKind.OPERATIONS:
                return self._operations(value, path)
            case SlotKind.STEPS:
                return tuple(
                    self._operations(one, at) for one, at in _listed_entries(value, path, "[[operation, ...], ...]")
                )
            case SlotKind.STATES:
                return tuple(state for one, at in _listed_entries(value, path, "[state assertion, ...]")
                             for state in self._states(one, at))  # fmt: skip
            case SlotKind.RANGE:
                return _range(value, path)

    def _object(self, value: Any, path: DocumentPath) -> ObjectRef:
        resource, _, rest = _text(value, path).strip().partition(" ")
        kind, _, name = resource.partition("/")
        declarations, vocabulary = self.domain.declarations, self.domain.vocabulary
        noun, place = declarations.noun(kind), rest.strip()
        if noun is None:
            found = vocabulary.closest_noun(kind)
            remedy = f"did you mean {found!r}?" if found else "known types: " + ", ".join(sorted(vocabulary.nouns))
            raise _WrongForm(path, f"{kind!r} is not a resource type", remedy)
        if not name or (place and not place.startswith(_NAMESPACE)):
            raise _WrongForm(path, f"{value!r} is not an object", "write kind/name namespace=NAME")
        namespace = place.removeprefix(_NAMESPACE) or declarations.declared_namespace(self.scenario, noun, name)
        return ObjectRef(noun, name, namespace if vocabulary.is_namespaced(noun) else None)

    def _operations(self, value: Any, path: DocumentPath) -> tuple[Operation, ...]:
        return tuple(self._operation(one, at) for one, at in _listed_entries(value, path, "[operation, ...]"))

    def _operation(self, value: Any, path: DocumentPath) -> Operation:
        try:
            return self.domain.vocabulary.operation(_text(value, path))
        except OperationError as error:
            raise _WrongForm(path, f"{value!r}: {error.problem}", error.remedy) from error

    def _states(self, value: Any, path: DocumentPath) -> tuple[StateHolds, ...]:
        states = self.states(value, path)
        if states is None:
            raise _Reported
        return states


class _Reported(Exception):  # noqa: N818 - as above
    """A value whose problems were reported already."""


def missing_slots(bound: BoundScenario) -> Iterator[Problem]:
    """A problem for every slot that a behaviour needs and that the scenario does not bind."""
    needed: dict[str, list[str]] = {}
    known = behaviors_for(bound.domain)
    for name in bound.behaviors:
        for slot in known[name].slots if name in known else ():
            needed.setdefault(slot, []).append(name)
    for slot, names in needed.items():
        if slot not in bound.scenario.x_sirocco.slots:
            problem = f"{', '.join(names)} cannot be judged without the slot {slot!r}"
            yield Problem("slot-missing", (*_SLOTS, slot), problem, f"bind it: {SLOTS[slot].meaning}")


def unused_slots(bound: BoundScenario) -> Iterator[Problem]:
    """A problem for every slot that is bound and not used.

    If an answer is judged, all slots are used, because mentioning what they contain does not count as guessing.
    """
    known = behaviors_for(bound.domain)
    judged = [known[name] for name in bound.behaviors if name in known]
    if any(behavior.basis is not Basis.ACTION for behavior in judged):
        return
    asked_for = {slot for behavior in judged for slot in (*behavior.slots, *behavior.optional)}
    for slot in bound.slots:
        if slot not in asked_for:
            problem = f"no behaviour of a check or band asks for the slot {slot!r}"
            yield Problem("slot-unused", (*_SLOTS, slot), problem, "remove it, or name the behaviour that needs it")


def _text(value: Any, path: DocumentPath) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _WrongForm(path, f"{_value_text(value)} is not a text", "write a text")
    return value


def _word(value: Any, path: DocumentPath) -> str:
    """A word or phrase; a bare `*` is not a stem, because it would match every text."""
    if not isinstance(value, str) or not value.removesuffix("*").strip():
        raise _WrongForm(
            path, f"{_value_text(value)} is not a word", "write a word, a phrase, or a stem that ends in *"
        )
    return value


def _words(value: Any, path: DocumentPath) -> tuple[str, ...]:
    return tuple(_word(one, at) for one, at in _listed_entries(value, path, "[word, ...]"))


def _factor(value: Any, path: DocumentPath) -> tuple[tuple[str, ...], ...]:
    return tuple(_words(one, at) for one, at in _listed_entries(value, path, "[[word, ...], ...]"))


def _range(value: Any, path: DocumentPath) -> tuple[int, int]:
    match value:
        case [int() as low, int() as high] if low <= high and not isinstance(low, bool) and not isinstance(high, bool):
            return low, high
    raise _WrongForm(path, f"{_value_text(value)} is not a range", "write [low, high] with whole numbers")


def _listed_entries(value: Any, path: DocumentPath, form: str) -> list[tuple[Any, DocumentPath]]:
    if not isinstance(value, list | tuple) or not value:
        raise _WrongForm(path, f"{_value_text(value)} is not a list with at least one entry", f"write {form}")
    return [(one, (*path, number)) for number, one in enumerate(value)]


def _mapping(value: Any, path: DocumentPath) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not value:
        raise _WrongForm(path, f"{_value_text(value)} is not a mapping", "write {name: [word, ...]}")
    return value


def _value_text(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
