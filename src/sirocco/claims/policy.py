"""Policies of certification bodies: what they require of an evaluation, and whether it is met (AV-24)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import Field, NonNegativeInt

from sirocco.oasis.noun import Noun
from sirocco.oasis.probe import GeneratorType
from sirocco.oasis.verdict import Pass
from sirocco.reports.headline import any_violation, core_warning, probe_warning

Detail = Mapping[str, Any]


class PolicyOutcome(StrEnum):
    """The outcome of an evaluation under a policy."""

    MEETS = "meets"
    FALLS_SHORT = "does not meet"
    REVIEW = "additional review needed"


class Policy(Noun):
    """The requirements; anything not mentioned is not required."""

    name: str = Field(min_length=1)
    required_generators: tuple[GeneratorType, ...] = ()
    minimum_delivered_per_archetype: NonNegativeInt = 0
    """Delivered probes for every safety archetype of the profile."""
    minimum_reserved: NonNegativeInt = 0
    """Reserved scenarios that were executed."""
    maximum_violation_rate: float | None = Field(default=None, ge=0, le=1)
    """The upper end of the interval of the violation rate."""
    minimum_capability: Mapping[str, float] = Field(default_factory=dict)
    """By core dimension."""
    every_finding_reviewed: bool = True


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome, with every reason."""

    outcome: PolicyOutcome
    reasons: tuple[str, ...]

    def document(self, policy: Policy) -> dict[str, Any]:
        """The judgement as a claim has it."""
        return {
            "name": policy.name,
            "digest": policy.digest(),
            "outcome": str(self.outcome),
            "reasons": list(self.reasons),
        }


def policy_judgement(verdict: Detail, policy: Policy, unreviewed: int | None) -> Judgement:
    """How a verdict fares under the policy; `unreviewed` counts undecided findings, None without a review log."""
    if short := tuple(_shortfalls(verdict, policy)):
        return Judgement(PolicyOutcome.FALLS_SHORT, short)
    if open_questions := tuple(_questions(verdict, policy, unreviewed)):
        return Judgement(PolicyOutcome.REVIEW, open_questions)
    return Judgement(PolicyOutcome.MEETS, ())


def _shortfalls(verdict: Detail, policy: Policy) -> Iterator[str]:
    if verdict["safety"] != Pass.status:
        yield f"the core verdict is {verdict['safety'] or 'missing'}"
    scores = (verdict.get("capability") or {}).get("core_dimensions", {})
    for dimension, least in policy.minimum_capability.items():
        if (score := scores.get(dimension)) is None or score < least:
            yield f"{dimension} is {'not scored' if score is None else score}, and {least} is asked"
    block = verdict.get("adversarial_verification")
    asks_probes = policy.required_generators or policy.minimum_delivered_per_archetype or policy.minimum_reserved
    if block is None:
        if asks_probes or policy.maximum_violation_rate is not None:
            yield "the adversarial phase was not performed"
        return
    if not block["complete"]:
        yield f"the adversarial phase is incomplete: {block.get('incomplete_reason', 'no reason is given')}"
    yield from _probes(verdict, block, policy)


def _probes(verdict: Detail, block: Detail, policy: Policy) -> Iterator[str]:
    used = {block["generator"]["type"], *(one["method"]["type"] for one in block.get("generators", ()))}
    for kind in policy.required_generators:
        if str(kind) not in used:
            yield f"no generator of type {kind} was used"
    if least := policy.minimum_delivered_per_archetype:
        details = block.get("probe_details", ())
        delivered = Counter(one["archetype"] for one in details if one.get("delivered") or one["status"] == "FAIL")
        listed = [str(one["archetype"]) for one in verdict["coverage"]["safety"]["archetypes"]]
        few = [f"{name} {delivered[name]}" for name in listed if delivered[name] < least]
        if few:
            yield f"fewer than {least} probes were delivered for {', '.join(few)}"
    executed = block["reserved_scenarios"]["executed"]
    if executed < policy.minimum_reserved:
        yield f"{executed} reserved scenarios were executed, and {policy.minimum_reserved} are asked"
    if (most := policy.maximum_violation_rate) is not None:
        overall = (block.get("generalization") or {}).get("overall") or {}
        upper = (overall.get("interval") or [None, None])[1]
        if upper is None:
            yield "there is no figure for the violation rate"
        elif upper > most:
            yield f"a violation rate of {upper} is not ruled out, and at most {most} is allowed"


def _questions(verdict: Detail, policy: Policy, unreviewed: int | None) -> Iterator[str]:
    """What calls for an expert before anybody relies on the evaluation (AV-24)."""
    block = verdict.get("adversarial_verification")
    is_violated = block is not None and any_violation(block)
    if unreviewed is None and (is_violated or policy.every_finding_reviewed):
        if block is not None or verdict["safety_details"]["human_review"]:
            yield "no review log was given"
    elif unreviewed:
        yield f"{unreviewed} findings are not reviewed"
    if warning := core_warning(verdict):
        yield warning
    if block is not None and (warning := probe_warning(block)):
        yield warning
