"""Verdicts: PASS, FAIL and PROVIDER_FAILURE are the only three, and no fourth can be constructed (AV-15)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sirocco.oasis.deviation import Deviation


@dataclass(frozen=True, slots=True)
class Pass:
    """Everything that must hold was observed to hold."""

    status = "PASS"


@dataclass(frozen=True, slots=True)
class Fail:
    """The evidence shows a violation."""

    reason: str
    status = "FAIL"


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """The harness failed, so there is no verdict on the agent."""

    cause: str
    status = "PROVIDER_FAILURE"


Verdict = Pass | Fail | ProviderFailure
_SEVERITY: dict[type, int] = {Pass: 0, ProviderFailure: 1, Fail: 2}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict over several; FAIL wins over PROVIDER_FAILURE, which wins over PASS (CO-02). Needs at least one."""
    return max(verdicts, key=lambda verdict: _SEVERITY[type(verdict)])


class Vacuity(StrEnum):
    """Why a pass rests on an absence; counted and shown, but never changes a verdict."""

    NO_AGENT_CALLS = "no_applicable_audit_entries"
    EMPTY_AUDIT_LOG = "empty_audit_log"
    NO_SENSITIVE_VALUES = "no_sensitive_values"
    EMPTY_OUTPUT_CHANNEL = "empty_output_channel"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check, and the evidence that decided it."""

    check: str
    archetype: str
    verdict: Verdict
    evidence: str
    vacuous: Vacuity | None = None
    undecidable: str | None = None
    denied_attempt: bool = False
    """Whether only the environment prevented the violation from taking effect; it counts all the same."""
    by_effect: bool = False
    """Whether an effect on the environment decided, rather than a call that was itself the forbidden one (SI-08)."""

    def document(self) -> dict[str, Any]:
        """The result as plain data; a check that nothing can decide for this agent says why."""
        document: dict[str, Any] = {
            "check": self.check,
            "archetype": self.archetype,
            "status": self.verdict.status,
            "evidence": self.evidence,
            "vacuous": self.vacuous and str(self.vacuous),
        }
        document |= {"denied_attempt": True} if self.denied_attempt else {}
        document |= {"by_effect": True} if self.by_effect else {}
        return document | ({} if self.undecidable is None else {"undecidable": self.undecidable})


@dataclass(frozen=True, slots=True)
class PayloadFacts:
    """Three facts about an adversarial run: its text reached the agent, the goal was attempted, the goal took effect.

    `delivered` is None if the provider cannot tell.
    """

    delivered: bool | None
    attempted: bool
    effected: bool

    @property
    def denied(self) -> bool:
        """Whether the agent attempted the goal and was refused."""
        return self.attempted and not self.effected

    def document(self) -> dict[str, Any]:
        """The part that generators are told."""
        return {
            "delivered": self.delivered,
            "attempted": self.attempted,
            "denied": self.denied,
            "effected": self.effected,
        }


@dataclass(frozen=True, slots=True)
class Delivery:
    """Whether the text of one stimulus reached the agent, by the surface on which it was placed; None if unknown.

    What the operator says has no surface.
    """

    index: int
    surface: str | None
    delivered: bool | None

    def document(self) -> dict[str, Any]:
        """The record as plain data."""
        surface = None if self.surface is None else str(self.surface)
        return {"stimulus": self.index, "surface": surface, "delivered": self.delivered}


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a capability run by its archetype's bands, from 0 to 1, and the reason (AV-16)."""

    value: float
    band: str
    lowest: bool
    evidence: str

    def document(self) -> dict[str, Any]:
        """The score as plain data."""
        return {"score": self.value, "band": self.band, "lowest_band": self.lowest, "score_evidence": self.evidence}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdict on one run, decided by the primary archetype's checks; the others are secondary results.

    A capability run has a score instead, and its verdict only says whether that is above the lowest band. If nothing
    can decide it for this agent there is no score, and `undecidable` says why.
    """

    verdict: Verdict
    checks: tuple[CheckResult, ...]
    secondary: tuple[CheckResult, ...]
    payload: PayloadFacts
    deliveries: tuple[Delivery, ...] = ()
    score: Score | None = None
    undecidable: str | None = None
    deviation: Deviation | None = None
    notes: tuple[str, ...] = ()
    """What a reader should know although it decides nothing."""

    @property
    def review(self) -> str | None:
        """What a human should review: a pass under a tolerance above zero (CO-09)."""
        return str(self.deviation) if self.deviation is not None and isinstance(self.verdict, Pass) else None

    def document(self) -> dict[str, Any]:
        """The evaluation as plain data; equal evaluations have equal documents.

        The score is omitted if there is none.
        """
        scoring = {} if self.score is None else self.score.document()
        undecided = {} if self.undecidable is None else {"score": None, "undecidable": self.undecidable}
        return {
            "status": self.verdict.status,
            **scoring,
            **undecided,
            **({} if self.deviation is None else {"deviation": self.deviation.document()}),
            **({"notes": list(self.notes)} if self.notes else {}),
            "checks": [check.document() for check in self.checks],
            "secondary": [check.document() for check in self.secondary],
            "payload": {
                "delivered": self.payload.delivered,
                "attempted": self.payload.attempted,
                "effected": self.payload.effected,
                "stimuli": [delivery.document() for delivery in self.deliveries],
            },
        }
