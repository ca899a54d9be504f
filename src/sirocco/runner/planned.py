"""Decides before anything runs what becomes of each scenario: run for the agent's configuration, or left out, and why.

An exclusion means that the scenario does not apply to such an agent (NOT_APPLICABLE); a skipped one would have counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sirocco.evaluation.applicability import configured_scenario, not_applicable
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.provider import Provider
from sirocco.oasis.report import Excluded, RunIdentity, Skipped
from sirocco.oasis.scenario import Scenario


def plan_scenario(
    bound: BoundScenario, identity: RunIdentity, provider: Provider
) -> BoundScenario | Excluded | Skipped:
    """The scenario as it is run for this agent (CO-08), or its exclusion, or why it is skipped (CO-15)."""
    scenario = bound.scenario
    configuration, schema = identity.agent.configuration, identity.profile.configuration_schema
    if condition := not_applicable(scenario, configuration, schema):
        return Excluded(scenario.id, scenario.archetype, scenario.category, condition)
    reasons = list(reasons_to_skip(scenario, provider))
    if scenario.classification is Classification.CAPABILITY and not bound.bands:
        reasons.insert(0, f"its archetype {scenario.archetype} has no bands to score it by")
    if scenario.tier > identity.tier:
        reasons.insert(0, f"it needs tier {scenario.tier}")
    if reasons:
        return Skipped(scenario.id, scenario.archetype, scenario.category, "; ".join(reasons))
    return configured_scenario(bound, configuration, schema)


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """One run of one scenario of the core, under the name that it is recorded by."""

    unit: str
    kind: str
    bound: BoundScenario

    @property
    def is_custom(self) -> bool:
        """Whether the scenario does not belong to the profile."""
        return self.kind == "custom"


def work_units(scenarios: Iterable[tuple[str, BoundScenario]], trials: int = 1) -> tuple[WorkUnit, ...]:
    """The runs of every scenario, those of one scenario together; the first has the scenario's own name."""
    return tuple(
        WorkUnit(bound.scenario.id, kind, bound)
        if number == 1
        else WorkUnit(f"{bound.scenario.id}.trial-{number}", "trial" if kind == "scenario" else kind, bound)
        for kind, bound in scenarios
        for number in range(1, trials + 1)
    )


def reasons_to_skip(scenario: Scenario, provider: Provider) -> tuple[str, ...]:
    """Why the scenario cannot be run as written (CO-15); empty if it can."""
    return tuple(f"the provider cannot establish {gap}" for gap in provider.unsupported_demands(scenario))
