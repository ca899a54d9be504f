"""Serialized probes on their own: run again to see whether an agent has been fixed, or reduced to what matters."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sirocco.campaign.budget import SHRINKING, Budget
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.findings import violations_beside
from sirocco.campaign.given import GivenProbe
from sirocco.campaign.shrink import Shrunk
from sirocco.campaign.smallest import shrink_probe
from sirocco.campaign.trial import Trial
from sirocco.evaluation.applicability import configured_scenario, not_applicable
from sirocco.oasis.agent import AgentDescription
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.declarations import surface_of
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.stimulus import Surface
from sirocco.oasis.verdict import Fail, ProviderFailure
from sirocco.runner.execution import Execution
from sirocco.runner.planned import reasons_to_skip


class ReplayOutcome(StrEnum):
    """The result of a replayed probe."""

    FIXED = "FIXED"
    STILL_FAILING = "STILL FAILING"
    CANNOT_REPLAY = "CANNOT REPLAY"


@dataclass(frozen=True, slots=True)
class ProbeReplay:
    """One probe's outcome and why."""

    probe: str
    outcome: ReplayOutcome
    reason: str
    remark: str = ""
    """A remark about the document itself."""
    origin: str = ""
    """A remark about the agent that it was found with."""


def fit_probe(
    bound: BoundScenario, agent: AgentDescription, profile: Profile, execution: Execution
) -> BoundScenario | str:
    """The probe as it is judged for this agent (CO-08), or why it cannot be run."""
    schema = profile.document.configuration_schema
    if condition := not_applicable(bound.scenario, agent.configuration, schema):
        return f"not applicable: {condition}"
    if reasons := reasons_to_skip(bound.scenario, execution.provider):
        return "; ".join(reasons)
    return configured_scenario(bound, agent.configuration, schema)


async def replayed_probe(
    name: str, bound: BoundScenario, execution: Execution, agent: AgentDescription, profile: Profile
) -> ProbeReplay:
    """Run the probe once in a fresh environment and return the result."""
    found = fit_probe(bound, agent, profile, execution)
    if isinstance(found, str):
        return ProbeReplay(name, ReplayOutcome.CANNOT_REPLAY, found)
    result = await execution.execute(bound.scenario.id, found)

    def is_safety(archetype: str) -> bool:
        return profile.classification(archetype) is Classification.SAFETY

    # An observed violation stands, whatever broke afterwards.
    if beside := violations_beside(result, is_safety):
        reason = f"violates {beside[0].archetype} besides {bound.scenario.archetype}: {beside[0].evidence}"
        return ProbeReplay(name, ReplayOutcome.STILL_FAILING, reason)
    if result.evaluation.undecidable is not None:
        return ProbeReplay(name, ReplayOutcome.CANNOT_REPLAY, result.evaluation.undecidable)
    if isinstance(result.verdict, ProviderFailure):
        return ProbeReplay(name, ReplayOutcome.CANNOT_REPLAY, result.verdict.cause)
    if not result.is_judged:
        return ProbeReplay(name, ReplayOutcome.CANNOT_REPLAY, result.agent_fault or "")
    if isinstance(result.verdict, Fail):
        return ProbeReplay(name, ReplayOutcome.STILL_FAILING, result.verdict.reason)
    return ProbeReplay(name, ReplayOutcome.FIXED, "every check of the primary archetype holds")


def serialized_draft(bound: BoundScenario, document: Mapping[str, Any]) -> Draft:
    """A serialized probe as the draft that it was; a plain scenario becomes a draft without a record."""
    record = bound.scenario.x_sirocco.probe
    scenario = bound.scenario
    waiting = (surface_of(one, bound.domain.declarations) for one in scenario.payloads)
    surface = next((one for one in waiting if one is not None), None)
    if record is None:
        return Draft(0, scenario.archetype, document, surface=surface)
    return Draft(
        record.index,
        record.primary_archetype,
        document,
        record.secondary_archetypes,
        record.lineage,
        record.base,
        surface=Surface(surface) if surface else None,
    )


@dataclass(frozen=True, slots=True)
class ProbeShrink:
    """The result of shrinking one serialized probe; without a smallest form, the reason."""

    shrunk: Shrunk | None
    reason: str
    agent_calls: int
    remark: str = ""


async def shrunk_probe(
    probe: Probe, given: GivenProbe, drafting: Drafting, execution: Execution, *, runs: int, calls: int
) -> ProbeShrink:
    """Confirm a probe and remove what does not matter, within a number of agent calls.

    The generator's steps are only taken back in an unedited document; what a user wrote into one is what they want to
    see, so it stays.
    """
    budget, ran = Budget(calls), list[UnitResult]()
    if not budget.pays(probe.bound.scenario, SHRINKING):
        return ProbeShrink(None, f"{calls} agent calls are not enough for one run", 0)
    first = await execution.execute(f"{probe.id}.shrinking", probe.bound, kind="shrinking")
    if not isinstance(first.verdict, Fail) or not first.is_judged:
        return ProbeShrink(None, f"it does not fail: {first.status or first.agent_fault}", budget.spent)
    checks = {check.check for check in first.evaluation.checks if isinstance(check.verdict, Fail)}
    trial = Trial(execution, probe.id, frozenset(checks), runs, budget, ran)
    once = Reproduction(runs=1, failed=1)
    found = await shrink_probe(probe, once, drafting, trial, is_as_made=given.is_as_made, kept=given.written)
    return ProbeShrink(found, first.verdict.reason, budget.spent)
