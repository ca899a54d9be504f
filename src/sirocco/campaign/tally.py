"""The counts of a campaign so far; a probe that did not fail only takes one line."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sirocco.campaign.budget import calls
from sirocco.campaign.findings import FailedProbe, file_name, secondary_violations, violations_beside
from sirocco.campaign.plan import FIXED_ARM
from sirocco.campaign.reruns import RENAMED, RerunOutcome
from sirocco.oasis.archetype import Classification
from sirocco.oasis.participation import Participation
from sirocco.oasis.probe import Author, Draft, Nothing, Probe, Usage
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, worst

IsSafety = Callable[[str], bool]
"""Whether an archetype is one of safety."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a report says about one executed probe; the probe and its evidence are on disk."""

    archetype: str
    technique: str | None
    surfaces: frozenset[str]
    """The surfaces of the texts that reached the agent."""
    is_safety: bool
    is_composition: bool
    is_reached: bool
    outcome: str
    score: float | None
    detail: Mapping[str, Any]
    participation: Participation | None = None
    novelty: float = 1.0
    arm: str = FIXED_ARM
    author: str = ""
    """The author whose generator made it."""
    mode: tuple[str, tuple[str, ...], str] | None = None
    """What makes two failures one finding: archetype, violated checks and surface; None if it did not fail."""

    @property
    def is_telling(self) -> bool:
        """Whether the probe says something about the violation rate: a pass does only if its payload was delivered."""
        return self.outcome == "failed" or (self.outcome == "passed" and self.is_reached)

    @classmethod
    def from_result(
        cls,
        probe: Probe,
        result: UnitResult,
        novelty: float,
        arm: str = FIXED_ARM,
        *,
        is_recognised: bool = True,
        author: str = "",
    ) -> "Ran":
        """The line about a probe; a pass whose texts were not recognized as asking for the goal shows no delivery."""
        draft, detail, found = probe.draft, _detail(probe, result, novelty), outcome(result)
        is_shown = is_recognised or found == "failed"
        if not is_recognised:
            detail |= {"goal_recognised": False} if is_shown else {"delivered": None, "goal_recognised": False}
        return cls(
            probe.primary_archetype,
            draft.technique,
            frozenset(str(one.surface) for one in result.evaluation.deliveries if one.surface and one.delivered),
            probe.bound.scenario.classification is Classification.SAFETY,
            bool(probe.secondary_archetypes),
            is_shown and has_reached_agent(result),
            found,
            result.score,
            {**detail, **({} if arm == FIXED_ARM else {"arm": arm})},
            result.participation,
            novelty,
            arm,
            author=author,
        )


@dataclass(slots=True)
class AuthorTally:
    """The results of one author's drafts, and their usage."""

    drafted: int = 0
    unanswered: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    model_versions: set[str] = field(default_factory=set)

    def document(self) -> dict[str, Any]:
        """The counts as plain data; `model_versions` as the answers said."""
        return {
            "drafted": self.drafted,
            "admitted": self.drafted - self.rejected.total(),
            "rejected": dict(sorted(self.rejected.items())),
            "unanswered": self.unanswered,
            **({"usage": used} if (used := self.usage.document()) else {}),
            **({"model_versions": sorted(self.model_versions)} if self.model_versions else {}),
        }


@dataclass(slots=True)
class Tally:
    """Counts and failures."""

    drafted: int = 0
    unanswered: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    admitted: set[str] = field(default_factory=set)
    exhausted: list[str] = field(default_factory=list)
    ran: list[Ran] = field(default_factory=list)
    failed: list[FailedProbe] = field(default_factory=list)
    secondary: list[dict[str, Any]] = field(default_factory=list)
    human_review: list[dict[str, Any]] = field(default_factory=list)
    twins: list[Ran] = field(default_factory=list)
    reruns: list[RerunOutcome] = field(default_factory=list)
    """Published scenarios that were run again: not probes, and not in the counts above."""
    renamed: list[RerunOutcome] = field(default_factory=list)
    """The same under other names."""
    by_author: dict[str, AuthorTally] = field(default_factory=dict)
    """Drafts by author."""
    overruled: int = 0
    """Claims of the generator that the profile overruled."""
    provider_fault: bool = False
    incomplete: str | None = None
    again: dict[str, list[bool]] = field(default_factory=dict)
    """For each failed probe, whether the failure recurred, for each of its judged runs."""

    @property
    def usage(self) -> Usage:
        """The total usage of all drafts, and of answers without one."""
        return sum((one.usage for one in self.by_author.values()), Usage())

    def note_nothing(self, answer: Nothing) -> None:
        """Record a cell for which its generator had nothing; these are counted when the request is over."""
        own = self._author_tally(answer.author)
        own.unanswered += 1
        own.usage += answer.usage or Usage()

    def note_draft(self, draft: Draft) -> None:
        """Count a draft, whatever becomes of it."""
        self.drafted += 1
        own = self._author_tally(draft.author)
        own.drafted += 1
        own.usage += draft.usage or Usage()
        if draft.model_version:
            own.model_versions.add(draft.model_version)

    def note_rejection(self, draft: Draft, reason: str) -> None:
        """Count a draft that was refused."""
        self.rejected[reason] += 1
        self._author_tally(draft.author).rejected[reason] += 1

    def _author_tally(self, author: Author | None) -> AuthorTally:
        return self.by_author.setdefault(author.name if author else "", AuthorTally())

    def add_probe(
        self,
        probe: Probe,
        result: UnitResult,
        novelty: float,
        is_safety: IsSafety,
        arm: str = FIXED_ARM,
        *,
        is_recognised: bool = True,
        author: str = "",
    ) -> bool:
        """Count an executed probe.

        Returns whether it is kept for review, as a failure or for a secondary violation (AV-11).

        A violation of another archetype counts, whatever happened afterwards.
        """
        self.ran.append(Ran.from_result(probe, result, novelty, arm, is_recognised=is_recognised, author=author))
        beside = violations_beside(result, is_safety)
        self.secondary += secondary_violations(probe, beside, file_name(probe.id))
        if review := result.evaluation.review:
            entry = {"probe": probe.id, "primary_archetype": probe.primary_archetype, "reason": review}
            self.human_review.append(entry)
        if not _has_failed(result):
            return bool(beside)
        self.failed.append(failure := FailedProbe.from_evaluation(probe, result.evaluation))
        self.ran[-1] = replace(self.ran[-1], mode=failure.key)
        self.again[probe.id] = []
        return True

    def add_confirmation(self, probe: str, result: UnitResult) -> None:
        """Count a repeated run; only a judged one says whether the failure recurred."""
        if result.is_judged and not isinstance(result.verdict, ProviderFailure):
            self.again[probe].append(isinstance(result.verdict, Fail))

    def settle_confirmations(self) -> None:
        """Give each failure its rate."""
        for number, failure in enumerate(self.failed):
            runs = self.again[failure.id]
            self.failed[number] = replace(failure, reproduction=Reproduction(runs=len(runs), failed=sum(runs)))

    def add_rerun(self, kind: str, result: UnitResult) -> None:
        """Record a published scenario that was run again, unchanged or under other names."""
        (self.renamed if kind == RENAMED else self.reruns).append(RerunOutcome.of(result))

    def add_twin(self, probe: Probe, result: UnitResult, novelty: float) -> bool:
        """Count a benign twin; whether it is kept for review."""
        self.twins.append(Ran.from_result(probe, result, novelty))
        return _has_failed(result)


def _has_failed(result: UnitResult) -> bool:
    return isinstance(result.verdict, Fail) and result.is_judged


def has_reached_agent(result: UnitResult) -> bool:
    """Whether the probe put its question to the agent: delivered, and the agent ran long enough to act on it."""
    return result.evaluation.payload.delivered is True and result.is_judged


def outcome(result: UnitResult) -> str:
    """One word for a result."""
    if not result.is_judged:
        return "agent_fault"
    match result.verdict:
        case Pass():
            return "passed"
        case Fail():
            return "failed"
        case ProviderFailure():
            return "provider_failure"


def _detail(probe: Probe, result: UnitResult, novelty: float) -> dict[str, Any]:
    """One line about one probe, with the three facts of its payload."""
    payload, draft = result.evaluation.payload, probe.draft
    return {
        "probe": probe.id,
        "archetype": probe.primary_archetype,
        **({"secondary_archetypes": list(probe.secondary_archetypes)} if probe.secondary_archetypes else {}),
        **({"technique": draft.technique} if draft.technique else {}),
        **({"surface": str(draft.surface)} if draft.surface else {}),
        "status": result.status,
        **({} if result.score is None else {"score": result.score}),
        "lineage": list(draft.lineage),
        "novelty": novelty,
        "delivered": payload.delivered,
        "attempted": payload.attempted,
        "effected": payload.effected,
        "agent_fault": result.agent_fault,
        "agent_calls": calls(probe.bound.scenario),
        "participation": result.participation and result.participation.document(),
        **({"secondary_results": beside} if (beside := _secondary_outcomes(result)) else {}),
    }


def _secondary_outcomes(result: UnitResult) -> dict[str, str]:
    """The results of the archetypes other than the primary one: metadata that decides nothing (AV-04)."""
    checks = result.evaluation.secondary if result.is_judged else ()
    verdicts = {
        name: [one.verdict for one in checks if one.archetype == name] for name in (c.archetype for c in checks)
    }
    return {name: worst(found).status for name, found in verdicts.items()}
