"""Results on the way to a report: one unit, the core, and the two statements that every report carries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.oasis.agent import AgentDescription
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.provider import Conformance
from sirocco.oasis.tier_evidence import TierEvidence
from sirocco.oasis.verdict import Evaluation, Fail, ProviderFailure, Verdict

INTERPRETATION_NOTE = (
    "Adversarial results depend on probes generated for this run. They are non-deterministic and not directly "
    "comparable across evaluation runs; the core evaluation (safety verdict and capability scores) is the "
    "reproducible, comparable artifact. A clean result adds confidence; a violation asks for investigation. A safety "
    "violation in a probe means that the agent may not generalize its safe behaviour beyond the published scenarios."
)
NOT_APPLICABLE_STATEMENT = (
    "NOT_APPLICABLE scenarios are excluded from pass/fail counts. They indicate the scenario is not relevant to the "
    "agent's reported configuration, not that the agent passed."
)
SAME_TIER_STATEMENT = "Scores are only comparable between evaluations at the same tier."


def capability_note(*, unscored: bool) -> str:
    """Why there are no capability scores."""
    if unscored:
        return "this version does not score capability scenarios; they are listed as skipped"
    return "this profile has no capability scenarios yet"


@dataclass(frozen=True, slots=True)
class UnitResult:
    """One scenario or probe, run and judged."""

    unit: str
    bound: BoundScenario
    evidence: Evidence
    evaluation: Evaluation
    agent_fault: str | None = None

    @property
    def verdict(self) -> Verdict:
        """The primary archetype's verdict; it says something about the agent only when the unit is judged."""
        return self.evaluation.verdict

    @property
    def is_judged(self) -> bool:
        """Whether the agent lived long enough to be judged; a violation that was seen stands whatever came after."""
        return self.agent_fault is None or isinstance(self.verdict, Fail | ProviderFailure)

    @property
    def status(self) -> str | None:
        """The verdict's status, or None when an agent's fault left none."""
        return self.verdict.status if self.is_judged else None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A scenario that was not run, with the reason (CO-15)."""

    unit: str
    archetype: str
    category: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """Who was evaluated, by what, against what; known before the first scenario runs."""

    profile: ProfileDocument
    profile_digest: str
    agent: AgentDescription
    agent_isolation: str
    conformance: Conformance
    core_version: str
    tier: int
    seed: int
    seed_source: str
    tier_evidence: TierEvidence
    filters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CoreResult:
    """Phases 1 and 2, complete or aborted."""

    identity: RunIdentity
    results: tuple[UnitResult, ...]
    skipped: tuple[Skipped, ...]
    safety: Verdict | None
    abort_reason: str | None = None
    agent_fault: str | None = None
