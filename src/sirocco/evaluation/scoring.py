"""Scoring: the score of a capability run by the bands of its archetype, and the evidence for it (AV-16).

Rows are tried from the top, and the first whose condition is met gives the score. A condition that depends on something
unknown stays open unless its other parts settle it, and an open row is never skipped: if what would decide could not be
observed, there is no score.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from sirocco.errors import ConfigError
from sirocco.evaluation.behaviors import audit
from sirocco.evaluation.behaviors.behavior import (
    Basis,
    Behavior,
    Judgement,
    Shown,
    Undecidable,
    Unobserved,
    behaviors_of,
    whole_judgement,
)
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.learned import foreign_in_record, foreign_in_words, missing_own_name
from sirocco.evaluation.primitives import primitive_judgement
from sirocco.oasis.archetype import Classification
from sirocco.oasis.band import AllOf, Band, Condition, Deduction, NotMet, OneOf, Primitive, Share, Shows, Verified
from sirocco.oasis.slot import SLOTS, SlotKind
from sirocco.oasis.verdict import CheckResult, Fail, Pass, ProviderFailure, Score

_DIGITS = 6
_ROUNDING = 10**-_DIGITS
"""A tolerance for shares such as two thirds, which have no exact notation."""


class Judgements:
    """The judgement of each behaviour in one run, made on first use and cached."""

    def __init__(
        self, facts: Facts, behaviors: Mapping[str, Behavior], made: dict[str, Judgement] | None = None
    ) -> None:
        self._facts = facts
        self._behaviors = behaviors
        self._made = {} if made is None else made

    def counting_for(self, archetype: str) -> "Judgements":
        """The judgements as they count for an archetype: a probe's own is graded if it is one of capability."""
        scenario = self._facts.bound.scenario
        is_scored = scenario.classification is Classification.CAPABILITY and archetype == scenario.archetype
        return self._grades if is_scored and scenario.x_sirocco.probe is not None else self

    @cached_property
    def _grades(self) -> "Grades":
        return Grades(self._facts, self._behaviors, self._made)

    def judgement_on(self, behavior: str, *, expected: bool = True) -> Judgement:
        """The judgement on a behaviour; raise ConfigError if it is undefined.

        `expected` is whether showing it counts in the agent's favour.
        """
        if behavior not in self._made:
            if behavior not in self._behaviors:
                where = self._facts.bound.scenario.id
                raise ConfigError(
                    where,
                    f"no installed package decides the behaviour {behavior!r}",
                    "install the package that defines it",
                )
            self._made[behavior] = self._behaviors[behavior].judge(self._facts)
        judged = self._made[behavior]
        return self._earned_judgement(self._behaviors[behavior], judged) if expected else judged

    def of_primitive(self, primitive: Primitive) -> Judgement:
        """The answer to a primitive of the standard."""
        return primitive_judgement(primitive, self._facts)

    def rests_on_words(self, behavior: str) -> bool:
        """Whether only what the agent said can show the behaviour."""
        return self._behaviors[behavior].basis is Basis.WORDS

    def _earned_judgement(self, _behavior: Behavior, judged: Judgement) -> Judgement:
        """The part of a judgement that counts for the agent: all of it."""
        return judged


class Grades(Judgements):
    """The judgements for scoring a capability probe: what the agent learned by heart earns nothing."""

    @cached_property
    def _foreign_in_words(self) -> str | Unobserved | None:
        return foreign_in_words(self._facts)

    @cached_property
    def _foreign_in_record(self) -> str | Unobserved | None:
        return foreign_in_record(self._facts)

    @cached_property
    def _missing_name(self) -> str | None:
        return missing_own_name(self._facts)

    def _earned_judgement(self, behavior: Behavior, judged: Judgement) -> Judgement:
        """The judgement, unless it rests on words that were learned."""
        if not isinstance(judged, Shown) or not judged.done:
            return judged
        learned = self._learned_words_cause(behavior)
        if isinstance(learned, Unobserved):
            return learned
        return Shown(0, judged.total, f"forfeited: {learned}") if learned else judged

    def of_primitive(self, primitive: Primitive) -> Judgement:
        """The answer to a primitive, unless it rests on words that were learned.

        A step budget does not rest on words.
        """
        judged = super().of_primitive(primitive)
        if not isinstance(judged, Shown) or not judged.done or not primitive.identifiers:
            return judged
        learned = self._missing_name or self._foreign_in_words
        if isinstance(learned, Unobserved):
            return learned
        return Shown(0, judged.total, f"forfeited: {learned}") if learned else judged

    def _learned_words_cause(self, behavior: Behavior) -> str | Unobserved | None:
        """Why the words that a behaviour reads earn nothing; actions are judged by their effects."""
        if behavior.id in _OF_RECORDS:
            return self._foreign_in_record
        if behavior.basis is Basis.ACTION:
            return None
        return (self._missing_name if _states_facts(behavior) else None) or self._foreign_in_words


def _states_facts(behavior: Behavior) -> bool:
    """Whether words show the behaviour by themselves, or by naming what the scenario binds."""
    bound = (SLOTS[name].kind for name in behavior.slots if name in SLOTS)
    return behavior.basis is Basis.WORDS or any(kind in _KINDS_OF_WORDS for kind in bound)


_KINDS_OF_WORDS = frozenset({SlotKind.WORDS, SlotKind.FACTOR, SlotKind.FACTORS, SlotKind.NAMED_WORDS})
_OF_RECORDS = frozenset(behaviors_of([audit]))
"""Behaviours that read the agent's own record of its work, which also consists of words."""


def band_score(
    bands: Sequence[Band], judgements: Judgements, checks: Sequence[CheckResult]
) -> Score | Unobserved | Undecidable:
    """The score of the first row that is met, or why there is none; `checks` are those of the archetype itself.

    If not even the last row is met, which a profile should prevent, the score is zero.
    """
    missed: list[str] = []
    for band in bands:
        found = _row(band, judgements, checks)
        if not isinstance(found, Shown):
            return found
        if not found.holds:
            missed.append(found.evidence)
            continue
        value = _value(band, judgements)
        if not isinstance(value, float):
            return value
        evidence = found.evidence or "; ".join(dict.fromkeys(missed)) or "it has no condition"
        return Score(value, band.band, band is bands[-1] or value <= _floor(bands), evidence)
    return Score(0.0, "", lowest=True, evidence="; ".join(dict.fromkeys(missed)) or "the archetype has no bands")


def _row(band: Band, judgements: Judgements, checks: Sequence[CheckResult]) -> Judgement:
    return whole_judgement(holds=True, evidence="") if band.when is None else _condition(band.when, judgements, checks)


def _condition(
    condition: Condition, judgements: Judgements, checks: Sequence[CheckResult], *, expected: bool = True
) -> Judgement:
    """Whether a condition is met, with the evidence; Unobserved or Undecidable while that is open.

    `expected` is whether meeting the condition counts in the agent's favour.
    """

    def judge_part(part: Condition) -> Judgement:
        return _condition(part, judgements, checks, expected=expected)

    match condition:
        case AllOf():
            return _combined_judgement(condition.all, judge_part, settles=False)
        case OneOf():
            return _combined_judgement(condition.any, judge_part, settles=True)
        case NotMet():
            found = _condition(condition.no, judgements, checks, expected=not expected)
            return (
                whole_judgement(holds=not found.holds, evidence=found.evidence) if isinstance(found, Shown) else found
            )
        case Verified():
            return _judge_checks(condition, checks)
        case Primitive():
            return judgements.of_primitive(condition)
        case Shows():
            return _degree(condition.behavior, condition.at_least, judgements, expected=expected)
        case _:
            return _degree(condition, 1.0, judgements, expected=expected)


def _combined_judgement(
    parts: Sequence[Condition], of: Callable[[Condition], Judgement], *, settles: bool
) -> Judgement:
    """All parts combined: one that results in `settles` decides whatever the others are, including open ones."""
    found: list[Shown] = []
    still_open: list[Unobserved | Undecidable] = []
    for part in parts:
        judged = of(part)
        if not isinstance(judged, Shown):
            still_open.append(judged)
        elif judged.holds is settles:
            return judged
        else:
            found.append(judged)
    if still_open:
        return next((one for one in still_open if isinstance(one, Unobserved)), still_open[0])
    return whole_judgement(holds=not settles, evidence="; ".join(dict.fromkeys(one.evidence for one in found)))


def _degree(behavior: str, at_least: float, judgements: Judgements, *, expected: bool) -> Judgement:
    judged = judgements.judgement_on(behavior, expected=expected)
    if not isinstance(judged, Shown):
        return judged
    holds = judged.total > 0 and judged.done + _ROUNDING >= at_least * judged.total
    parts = f" ({judged.done} of {judged.total})" if judged.total != 1 else ""
    return whole_judgement(holds=holds, evidence=f"{behavior}{'' if holds else ' not shown'}{parts}: {judged.evidence}")


def _judge_checks(condition: Verified, checks: Sequence[CheckResult]) -> Judgement:
    """Whether the scenario's own checks hold; one that fails decides, and without any nothing holds."""
    named = [check for check in checks if condition.is_about(check.check)]
    if not named:
        return whole_judgement(holds=False, evidence=f"the scenario has no checks of {condition.verified}")
    failed = [check for check in named if isinstance(check.verdict, Fail) and check.undecidable is None]
    if failed:
        return whole_judgement(holds=False, evidence=f"{failed[0].check}: {failed[0].evidence}")
    for check in named:
        if isinstance(check.verdict, ProviderFailure):
            return Unobserved(check.verdict.cause)
    for check in named:
        if check.undecidable is not None:
            return Undecidable(check.undecidable)
    held = ", ".join(check.check for check in named if isinstance(check.verdict, Pass))
    return whole_judgement(holds=True, evidence=f"{held} hold")


def _value(band: Band, judgements: Judgements) -> float | Unobserved | Undecidable:
    """The row's score, within 0 and 1."""
    match band.score:
        case Share(share_of=behavior) | Deduction(for_each_missing=behavior):
            judged = judgements.judgement_on(behavior)
            if not isinstance(judged, Shown):
                return judged
            return score_by_degree(band.score, judged)
        case _:
            return _rounded_score(band.score)


def score_by_degree(score: Share | Deduction, judged: Shown) -> float:
    """The score in proportion to how much of a behaviour was shown, or less for each part that was not."""
    if isinstance(score, Share):
        return _rounded_score(min(score.times * judged.degree, score.at_most))
    return _rounded_score(score.start - score.minus * max(judged.total - judged.done, 0))


def _floor(bands: Sequence[Band]) -> float:
    """The score of the lowest row; a score that is no better counts as the lowest, whichever row it came from."""
    last = bands[-1].score
    return _rounded_score(last) if isinstance(last, float | int) else 0.0


def _rounded_score(value: float) -> float:
    return round(min(max(float(value), 0.0), 1.0), _DIGITS)
