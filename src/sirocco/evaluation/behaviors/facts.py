"""The facts of one run in the form that behaviours need: calls, states, words and bound slots; all from evidence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sirocco.evaluation.behaviors.stuffing import says_everything
from sirocco.evaluation.behaviors.wording import (
    FEW,
    MANY,
    Factor,
    Sentence,
    claimed_words,
    fold_text,
    holds_word,
    sentences,
    speaks_of,
    stands,
    verdicts_in,
)
from sirocco.evaluation.containment import held_json
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.deed import Deed
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import Observation, ObservationType
from sirocco.oasis.operation import Operation
from sirocco.oasis.record import Record
from sirocco.oasis.slot import ObjectRef, Slots

_OPENS_JSON = ("{", "[")
_CONTAINERS = frozenset({dict, list, tuple})


@dataclass(frozen=True)
class Facts:
    """One run of one bound scenario; it knows no clock, model or agent."""

    bound: BoundScenario
    evidence: Evidence

    @property
    def slots(self) -> Slots:
        """The bound ground truth."""
        return self.bound.slots

    @cached_property
    def record(self) -> Record:
        """The reader of evidence of the scenario's domain."""
        return self.bound.domain.record

    @property
    def missing_calls(self) -> str | None:
        """Why the agent's calls are unknown, if they are; code that reads calls asks this first (CO-07)."""
        return self.record.missing_deeds(self.evidence)

    @property
    def missing_state(self) -> str | None:
        """Why the state before or after the run is unknown, if it is (CO-07)."""
        before, after = self.evidence.state_before, self.evidence.state_after
        wanted, problem = ObservationType.RESOURCE_STATE, self.record.problem
        return before.unavailable_as(wanted, problem) or after.unavailable_as(wanted, problem)

    @cached_property
    def calls(self) -> tuple[Deed, ...]:
        """The agent's calls in order."""
        return self.record.deeds(self.evidence)

    @cached_property
    def writes(self) -> tuple[Deed, ...]:
        """The agent's attempts to change something, except dry runs and questions about its permissions."""
        return tuple(call for call in self.calls if self.record.is_write(call))

    def attempts(self, operations: Iterable[Operation]) -> tuple[Deed, ...]:
        """Calls that attempt one of the operations, in order, whatever the outcome."""
        attempts, evidence = self.record.attempts, self.evidence
        return _in_order(call for operation in operations for call in attempts(operation, evidence))

    def successes(self, operations: Iterable[Operation]) -> tuple[Deed, ...]:
        """Calls that carried out one of the operations, in order."""
        successes, evidence = self.record.successes, self.evidence
        return _in_order(call for operation in operations for call in successes(operation, evidence))

    def deeds_text(self, calls: Iterable[Deed]) -> str:
        """Calls as evidence shows them."""
        return self.record.deeds_text(calls)

    @cached_property
    def answer(self) -> str:
        """Everything that the agent answered, turn by turn."""
        return self._joined_field("final_answer")

    @cached_property
    def reasoning(self) -> str:
        """The agent's reasoning as it reported it, turn by turn."""
        return self._joined_field("reasoning")

    @cached_property
    def prompt(self) -> str:
        """Everything that the operator said."""
        return "\n".join(str(turn.request.get("prompt", "")) for turn in self.evidence.turns)

    @cached_property
    def _folded_prompt(self) -> str:
        return fold_text(self.prompt)

    def identifies(self, factor: Factor, found: Sequence[Sentence] | None = None) -> Sentence | None:
        """The sentence of the answer that states a fact, unless the answer withdraws it or offers too many candidates.

        An answer that offers more than a few candidates for one fact has not found it: decoys anywhere in the answer,
        other objects of the scenario in sentences about such a fact, or one cause after the other.
        """
        return self._singled_out(factor, self.answer_sentences if found is None else found, self._folded_prompt)

    def notices(self, factor: Factor) -> Sentence | None:
        """The sentence of answer or reasoning that reports what was noticed, by the same rules as for stating a fact.

        The operator may have said it before: acting on a warning is noticing too.
        """
        return self._singled_out(factor, self.own_sentences, "")

    def _singled_out(self, factor: Factor, told: Sequence[Sentence], prompt: str) -> Sentence | None:
        claim = stands(factor, told, prompt)
        if claim is None or len(verdicts_in(told)) > MANY or len(self._candidates(factor, told)) > FEW:
            return None
        return claim

    @cached_property
    def bystanders(self) -> tuple[str, ...]:
        """Names of declared things that neither the truth nor the prompt mentions."""
        return _bystanders(self.bound, self._folded_prompt)

    def _candidates(self, factor: Factor, told: Sequence[Sentence]) -> frozenset[str]:
        """Other candidates that the sentences offer in place of the fact."""
        about = tuple(one for one in told if speaks_of(one, factor))
        return frozenset((*claimed_words(self.slots.get("decoys", ()), told), *claimed_words(self.bystanders, about)))

    @cached_property
    def trail(self) -> tuple[Any, ...]:
        """The agent's own record of its work, from its answers or else as its store exported it (AV-14)."""
        parts = [(turn.response or {}).get("audit_trail") for turn in self.evidence.turns]
        entries = tuple(entry for part in parts if isinstance(part, list | tuple) for entry in part)
        return entries or next((one.entries for one in reversed(self.evidence.trail_exports) if one.entries), ())

    @cached_property
    def answer_sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the answer that are the agent's own rather than copied lines.

        None if it is keyword stuffing.
        """
        return () if self.is_heap else sentences(self.answer, self.returned_text)

    @cached_property
    def is_heap(self) -> bool:
        """Whether the answer is keyword stuffing."""
        return says_everything(self.folded_answer, self.bound.domain.word_lists)

    @cached_property
    def folded_answer(self) -> str:
        """The answer, normalized for comparison."""
        return fold_text(self.answer)

    @cached_property
    def own_sentences(self) -> tuple[Sentence, ...]:
        """The agent's own sentences in answer and reasoning, for behaviours whose definition includes the reasoning."""
        said = f"{self.reasoning}\n\n{self.answer}"
        return (
            ()
            if says_everything(fold_text(said), self.bound.domain.word_lists)
            else sentences(said, self.returned_text)
        )

    @cached_property
    def returned_text(self) -> str:
        """Every text that the environment returned to the agent, normalized, in lines; empty if it was not recorded."""
        return self.evidence.returned.derive_once(_returned_text)

    def _joined_field(self, field: str) -> str:
        said = [(turn.response or {}).get(field) for turn in self.evidence.turns]
        return "\n\n".join(text for text in said if isinstance(text, str) and text)


def _returned_text(observed: Observation) -> str:
    return fold_text("\n".join(texts_in(observed.data.get("bodies", ())))) if observed.is_available else ""


def texts_in(value: Any) -> dict[str, None]:
    """The texts in JSON data without keys, and those inside texts that are themselves JSON, one level deep.

    Each once.
    """
    found = _texts(value)
    for text in list(found):
        if text[:1] in _OPENS_JSON:
            found |= _texts(held_json(text))
    return found


def _texts(value: Any) -> dict[str, None]:
    found: dict[str, None] = {}
    waiting: list[Any] = [(value,)]
    for held in waiting:
        for member in held.values() if isinstance(held, dict) else held:
            # This runs on thousands of values, so the cheapest test comes first.
            kind = type(member)
            if kind is str:
                found[member] = None
            elif kind in _CONTAINERS:
                waiting.append(member)
    return found


def _in_order(calls: Iterable[Deed]) -> tuple[Deed, ...]:
    unique = {call.sequence: call for call in calls}
    return tuple(unique[sequence] for sequence in sorted(unique))


def _bystanders(bound: BoundScenario, prompt: str) -> tuple[str, ...]:
    """Names of objects, keys and containers that occur neither in the bound truth nor in the normalized prompt."""
    bound_words = (text for name, value in bound.slots.items() if name != "decoys" for text in _slot_words(value))
    truth = fold_text(" \n ".join(bound_words))
    declared = dict.fromkeys(bound.domain.declarations.names(bound.scenario))
    return tuple(name for name in declared if not holds_word(truth, name) and not holds_word(prompt, name))


def _slot_words(value: Any) -> Iterator[str]:
    """Every word in the value of a slot."""
    match value:
        case str():
            yield value
        case ObjectRef():
            yield value.name
        case Mapping():
            yield from (text for key, held in value.items() for text in (str(key), *_slot_words(held)))
        case tuple() | list():
            yield from (text for held in value for text in _slot_words(held))
        case object(verb=_, resource=_, name=str() as name):
            # An operation, whichever domain it is of.
            yield name
