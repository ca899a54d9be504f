"""Scoring: what a capability run is worth by the bands of its archetype, and the evidence for it (AV-16).

Rows are tried from the top and the first whose condition is met gives the score. A condition that hangs on something
unknown stays open unless its other parts settle it, and an open row is never passed over: what would decide and could
not be observed is no score.
"""

from collections.abc import Callable, Mapping, Sequence

from sirocco.errors import ConfigError
from sirocco.evaluation.behaviors.behavior import Basis, Behavior, Judgement, Shown, Undecidable, Unobserved, shown
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.oasis.band import AllOf, Band, Condition, Deduction, NotMet, OneOf, Share, Shows, Verified
from sirocco.oasis.verdict import CheckResult, Fail, Pass, ProviderFailure, Score

_DIGITS = 6
_ROUNDING = 10**-_DIGITS
"""Shares such as two thirds have no exact notation; nothing hangs on less than this."""


class Judgements:
    """What one run shows of each behaviour; judged when it is first asked for, and once."""

    def __init__(self, facts: Facts, behaviors: Mapping[str, Behavior]) -> None:
        self._facts = facts
        self._behaviors = behaviors
        self._made: dict[str, Judgement] = {}

    def of(self, behavior: str) -> Judgement:
        """The judgement on a behaviour; raise ConfigError for one that nobody defined."""
        if behavior not in self._made:
            if behavior not in self._behaviors:
                where = self._facts.bound.scenario.id
                raise ConfigError(where, f"nothing decides the behaviour {behavior!r}", "install what defines it")
            self._made[behavior] = self._behaviors[behavior].judge(self._facts)
        return self._made[behavior]

    def rests_on_words(self, behavior: str) -> bool:
        """Whether only what the agent said can show the behaviour."""
        return self._behaviors[behavior].basis is Basis.WORDS


def scored(
    bands: Sequence[Band], judgements: Judgements, checks: Sequence[CheckResult]
) -> Score | Unobserved | Undecidable:
    """The score by the first row that is met, or why there is none; `checks` are those of the archetype itself.

    Where not even the last row is met, which a profile should not let happen, the score is zero.
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
    return shown(holds=True, evidence="") if band.when is None else _condition(band.when, judgements, checks)


def _condition(condition: Condition, judgements: Judgements, checks: Sequence[CheckResult]) -> Judgement:
    """Whether a condition is met, with the evidence; Unobserved or Undecidable while that is open."""

    def of(part: Condition) -> Judgement:
        return _condition(part, judgements, checks)

    match condition:
        case AllOf():
            return _settled(condition.all, of, settles=False)
        case OneOf():
            return _settled(condition.any, of, settles=True)
        case NotMet():
            found = of(condition.no)
            return shown(holds=not found.holds, evidence=found.evidence) if isinstance(found, Shown) else found
        case Verified():
            return _verified(condition, checks)
        case Shows():
            return _degree(condition.behavior, condition.at_least, judgements)
        case _:
            return _degree(condition, 1.0, judgements)


def _settled(parts: Sequence[Condition], of: Callable[[Condition], Judgement], *, settles: bool) -> Judgement:
    """All parts together: one that comes to `settles` settles it whatever the others are, open ones included."""
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
    return shown(holds=not settles, evidence="; ".join(dict.fromkeys(one.evidence for one in found)))


def _degree(behavior: str, at_least: float, judgements: Judgements) -> Judgement:
    judged = judgements.of(behavior)
    if not isinstance(judged, Shown):
        return judged
    holds = judged.total > 0 and judged.done + _ROUNDING >= at_least * judged.total
    parts = f" ({judged.done} of {judged.total})" if judged.total != 1 else ""
    return shown(holds=holds, evidence=f"{behavior}{'' if holds else ' not shown'}{parts}: {judged.evidence}")


def _verified(condition: Verified, checks: Sequence[CheckResult]) -> Judgement:
    """Whether the scenario's own checks hold; one that fails settles it, and where there is none nothing holds."""
    named = [check for check in checks if condition.is_about(check.check)]
    if not named:
        return shown(holds=False, evidence=f"the scenario has no checks of {condition.verified}")
    failed = [check for check in named if isinstance(check.verdict, Fail) and check.undecidable is None]
    if failed:
        return shown(holds=False, evidence=f"{failed[0].check}: {failed[0].evidence}")
    for check in named:
        if isinstance(check.verdict, ProviderFailure):
            return Unobserved(check.verdict.cause)
    for check in named:
        if check.undecidable is not None:
            return Undecidable(check.undecidable)
    held = ", ".join(check.check for check in named if isinstance(check.verdict, Pass))
    return shown(holds=True, evidence=f"{held} hold")


def _value(band: Band, judgements: Judgements) -> float | Unobserved | Undecidable:
    """The row's score, within 0 and 1."""
    match band.score:
        case Share(share_of=behavior) | Deduction(for_each_missing=behavior):
            judged = judgements.of(behavior)
            if not isinstance(judged, Shown):
                return judged
            return _rounded(_by_degree(band.score, judged))
        case _:
            return _rounded(band.score)


def _by_degree(score: Share | Deduction, judged: Shown) -> float:
    if isinstance(score, Share):
        return min(score.times * judged.degree, score.at_most)
    return score.start - score.minus * max(judged.total - judged.done, 0)


def _floor(bands: Sequence[Band]) -> float:
    """What the lowest row gives; a score that is no better counts as the lowest, by whatever row it came."""
    last = bands[-1].score
    return _rounded(last) if isinstance(last, float | int) else 0.0


def _rounded(value: float) -> float:
    return round(min(max(float(value), 0.0), 1.0), _DIGITS)
