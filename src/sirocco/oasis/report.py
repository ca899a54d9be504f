"""Results on their way into a report: one unit, the core, and the two statements that every report carries."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from sirocco.oasis.agent import AgentDescription
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.participation import Participation
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.provider import Conformance
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.tier_evidence import TierEvidence
from sirocco.oasis.verdict import Evaluation, Fail, Pass, ProviderFailure, Verdict

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
INTERRUPTED = "the run was interrupted"
SAME_TIER_STATEMENT = "Scores are only comparable between evaluations at the same tier."


def capability_note(*, skipped: int, is_selection: bool) -> str:
    """Why there are no capability scores."""
    if skipped:
        return f"none of the {skipped} capability scenarios could be run; they are listed as skipped"
    if is_selection:
        return "no capability scenario was selected"
    return "this profile has no capability scenarios for this agent"


@dataclass(frozen=True, slots=True)
class Trials:
    """Several runs of one scenario, by unit: the result of each, and which of them decided."""

    statuses: Mapping[str, str | None]
    decided_by: str
    score: float | None = None

    def document(self) -> dict[str, Any]:
        """The runs in the form of a report; the rate is that of failures among the judged ones."""
        judged = [status for status in self.statuses.values() if status in {"PASS", "FAIL"}]
        failed = judged.count("FAIL")
        return {
            "runs": len(self.statuses),
            "passed": judged.count("PASS"),
            "failed": failed,
            "failure_rate": round(failed / len(judged), 6) if judged else None,
            "decided_by": self.decided_by,
            "units": dict(self.statuses),
        }


class SeedSource(StrEnum):
    """Where the seed of a run came from."""

    GIVEN = "given"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Session:
    """The facts about the agent's session in one unit's run; reported, never scored."""

    id: str | None = None
    observed_models: tuple[str, ...] = ()
    steps: int = 0
    moments: tuple[str, ...] = ()
    """The start times of its steps, in order."""
    tokens: int | None = None
    output_tokens: int | None = None
    """The tokens that the agent wrote, if it reports them separately."""
    cost: float | None = None

    @property
    def observed_model(self) -> str | None:
        """The model that answered; if it changed within the session, all of them."""
        return ", ".join(self.observed_models) or None


@dataclass(frozen=True, slots=True)
class UnitResult:
    """One scenario or probe, run and judged; `trials` is the combined outcome of several runs of a scenario.

    `custom` marks a scenario that does not belong to the profile.
    """

    unit: str
    bound: BoundScenario
    evidence: Evidence
    evaluation: Evaluation
    agent_fault: str | None = None
    trials: Trials | None = None
    custom: bool = False
    participation: Participation | None = None
    """How the agent took part; no verdict depends on it (SI-12)."""
    session: Session = Session()

    def outline(self) -> "UnitResult":
        """The result with only an outline of its evidence: what phases keep until the report is made."""
        return replace(self, evidence=self.evidence.outline())

    @property
    def verdict(self) -> Verdict:
        """The primary archetype's verdict; it says something about the agent only if the unit is judged."""
        return self.evaluation.verdict

    @property
    def is_judged(self) -> bool:
        """Whether the agent ran long enough to be judged; an observed violation stands whatever came after.

        The lowest band is not a violation: an agent that broke off has not been scored.
        """
        if self.agent_fault is None or isinstance(self.verdict, ProviderFailure):
            return True
        is_safety = self.bound.scenario.classification is Classification.SAFETY
        return is_safety and isinstance(self.verdict, Fail)

    @property
    def status(self) -> str | None:
        """The verdict's status; None if an agent fault left none, or if nothing can decide."""
        return self.verdict.status if self.is_judged and self.evaluation.undecidable is None else None

    @property
    def score(self) -> float | None:
        """The score of a capability run; None for a safety run, and if a fault or a missing contract left none."""
        if self.trials is not None:
            return self.trials.score
        return self.evaluation.score.value if self.is_judged and self.evaluation.score else None


@dataclass(frozen=True, slots=True)
class SelectedScenario:
    """The facts that a report needs about a selected scenario, whether or not it was run."""

    id: str
    classification: Classification
    category: str
    archetype: str

    @classmethod
    def from_scenario(cls, scenario: Scenario) -> "SelectedScenario":
        """The outline of a scenario."""
        return cls(scenario.id, scenario.classification, scenario.category, scenario.archetype)

    def document(self) -> dict[str, Any]:
        """The outline as plain data."""
        return {**asdict(self), "classification": str(self.classification)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "SelectedScenario":
        """The outline that `document` gave."""
        return cls(**{**document, "classification": Classification(document["classification"])})


@dataclass(frozen=True, slots=True)
class Skipped:
    """A scenario that was not run, with the reason (CO-15)."""

    unit: str
    archetype: str
    category: str
    reason: str

    def document(self) -> dict[str, Any]:
        """The scenario as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Excluded:
    """A scenario that is NOT_APPLICABLE to the agent's configuration, with the condition; no verdict (CO-08)."""

    unit: str
    archetype: str
    category: str
    condition: str

    def document(self) -> dict[str, Any]:
        """The scenario as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """The evaluated agent, the evaluator and the profile; known before the first scenario runs."""

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
class CoreOutcome:
    """The core's outcome for one published scenario, whichever runner ran it."""

    scenario: str
    archetype: str
    classification: Classification
    status: str | None
    score: float | None = None

    @property
    def has_failed(self) -> bool:
        """Whether the agent failed the scenario."""
        return self.status == Fail.status

    def document(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return {**asdict(self), "classification": str(self.classification)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "CoreOutcome":
        """The outcome that `document` gave."""
        return cls(**{**document, "classification": Classification(document["classification"])})


@dataclass(frozen=True, slots=True)
class AttachedCore:
    """The core of another run, by this or another runner, with which extensions are shown; none of it is run again."""

    source: Mapping[str, str]
    """The origin of the document: its digest, who wrote it and when."""
    frozen: Mapping[str, Any]
    """Safety, its details and capability, in the form of a report."""
    outcomes: tuple[CoreOutcome, ...]
    gaps: tuple[str, ...] = ()
    """Why that core is incomplete."""
    participation: Mapping[str, Any] | None = None

    @property
    def safety(self) -> Verdict:
        """The verdict on the agent; a core without one cannot be attached."""
        return Pass() if self.frozen["safety"] == Pass.status else Fail("the attached core did not pass")

    def document(self) -> dict[str, Any]:
        """The core as plain data."""
        return {
            "source": dict(self.source),
            "frozen": dict(self.frozen),
            "outcomes": [one.document() for one in self.outcomes],
            "gaps": list(self.gaps),
            "participation": self.participation,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "AttachedCore":
        """The core that `document` gave."""
        outcomes = tuple(CoreOutcome.from_document(one) for one in document["outcomes"])
        gaps, participation = tuple(document["gaps"]), document["participation"]
        return cls(document["source"], document["frozen"], outcomes, gaps, participation)


@dataclass(frozen=True, slots=True)
class CoreResult:
    """Phases 1 and 2, complete, aborted or interrupted; `scenarios` are all selected ones of the profile.

    The results contain only an outline of their evidence.
    """

    identity: RunIdentity
    results: tuple[UnitResult, ...]
    skipped: tuple[Skipped, ...]
    safety: Verdict | None
    abort_reason: str | None = None
    agent_fault: str | None = None
    excluded: tuple[Excluded, ...] = ()
    scenarios: tuple[SelectedScenario, ...] = ()
    interrupted: bool = False
    interrupted_in: Classification | None = None
    """The phase in which the core was interrupted; None if it was complete by then."""
    attached: AttachedCore | None = None
    """The core of another run, in place of results of this one."""

    @property
    def outcomes(self) -> tuple[CoreOutcome, ...]:
        """The outcome of each published scenario, from this run or from the attached core."""
        if self.attached is not None:
            return self.attached.outcomes
        published = ((one, one.bound.scenario) for one in self.results if not one.custom)
        return tuple(
            CoreOutcome(scenario.id, scenario.archetype, scenario.classification, one.status, one.score)
            for one, scenario in published
        )

    @property
    def safety_outcomes(self) -> tuple[CoreOutcome, ...]:
        """The outcome of each published safety scenario."""
        return tuple(one for one in self.outcomes if one.classification is Classification.SAFETY)
