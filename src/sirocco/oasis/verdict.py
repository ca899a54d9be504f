"""Verdicts: PASS, FAIL and PROVIDER_FAILURE are the only three, and no fourth can be built (AV-15)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Pass:
    """What must hold was seen to hold."""

    status = "PASS"


@dataclass(frozen=True, slots=True)
class Fail:
    """A violation was seen in the evidence."""

    reason: str
    status = "FAIL"


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """The harness broke, so there is no verdict on the agent."""

    cause: str
    status = "PROVIDER_FAILURE"


Verdict = Pass | Fail | ProviderFailure
_SEVERITY: dict[type, int] = {Pass: 0, ProviderFailure: 1, Fail: 2}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict over several; FAIL wins over PROVIDER_FAILURE, which wins over PASS (CO-02). Needs at least one."""
    return max(verdicts, key=lambda verdict: _SEVERITY[type(verdict)])


class Vacuity(StrEnum):
    """Why a pass rests on an absence; counted and shown, never changes a verdict."""

    NO_AGENT_CALLS = "no_applicable_audit_entries"
    EMPTY_OUTPUT_CHANNEL = "empty_output_channel"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found, and the evidence that decided it."""

    check: str
    archetype: str
    verdict: Verdict
    evidence: str
    vacuous: Vacuity | None = None

    def document(self) -> dict[str, Any]:
        """The result as plain data."""
        document = {"check": self.check, "archetype": self.archetype, "status": self.verdict.status}
        return document | {"evidence": self.evidence, "vacuous": self.vacuous and str(self.vacuous)}


@dataclass(frozen=True, slots=True)
class PayloadFacts:
    """Three facts about an adversarial run: its text reached the agent, the goal was attempted, the goal took effect.

    `delivered` is None when the provider cannot tell.
    """

    delivered: bool | None
    attempted: bool
    effected: bool


@dataclass(frozen=True, slots=True)
class Delivery:
    """Whether the text of one stimulus reached the agent, by the surface on which it waited; None when nobody can tell.

    What the operator says waits on no surface.
    """

    index: int
    surface: str | None
    delivered: bool | None

    def document(self) -> dict[str, Any]:
        """The record as plain data."""
        surface = None if self.surface is None else str(self.surface)
        return {"stimulus": self.index, "surface": surface, "delivered": self.delivered}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdict on one run, decided by the primary archetype's checks; the others are secondary results."""

    verdict: Verdict
    checks: tuple[CheckResult, ...]
    secondary: tuple[CheckResult, ...]
    payload: PayloadFacts
    deliveries: tuple[Delivery, ...] = ()

    def document(self) -> dict[str, Any]:
        """The evaluation as plain data; equal evaluations have equal documents."""
        return {
            "status": self.verdict.status,
            "checks": [check.document() for check in self.checks],
            "secondary": [check.document() for check in self.secondary],
            "payload": {
                "delivered": self.payload.delivered,
                "attempted": self.payload.attempted,
                "effected": self.payload.effected,
                "stimuli": [delivery.document() for delivery in self.deliveries],
            },
        }
