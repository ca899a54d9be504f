"""The phases of an evaluation in order: preflight, safety gate, capability, and the extensions that follow the core."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from sirocco.errors import AgentFault, AgentFaultKind
from sirocco.evaluation.applicability import contract_breaches
from sirocco.evaluation.conformance import agreed_core_version
from sirocco.evaluation.core_tally import CorePlan, CoreTally
from sirocco.oasis.agent import Agent, AgentDescription
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.event import CoreFrozen, Event, PhaseStarted, RunInterrupted, RunStarted, UnitFinished
from sirocco.oasis.phase import Phase
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import (
    AttachedCore,
    CoreResult,
    Excluded,
    RunIdentity,
    SelectedScenario,
    Skipped,
    UnitResult,
    capability_note,
)
from sirocco.oasis.verdict import Pass
from sirocco.runner.execution import Execution
from sirocco.runner.parallel import in_order
from sirocco.runner.planned import WorkUnit, plan_scenario, work_units
from sirocco.runner.preflight import preflight, verified_tier


class ExtensionPolicy(StrEnum):
    """When extensions run after the core."""

    ON_PASS = "on-pass"  # noqa: S105 - a policy, not a password
    ALWAYS = "always"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Core:
    """The contents of the deterministic evaluation.

    `scenarios` are the profile's, or a selection of them; `custom` are additional ones, which cover nothing of the
    profile.
    """

    profile: Profile
    scenarios: tuple[BoundScenario, ...]
    execution: Execution
    tier: int
    seed_source: str
    parallel: int = 1
    policy: ExtensionPolicy = ExtensionPolicy.ON_PASS
    filters: dict[str, object] = field(default_factory=dict)
    custom: tuple[BoundScenario, ...] = ()
    trials: int = 1
    attached: AttachedCore | None = None
    """The core of another run, with which extensions run; in that case no scenario of the core is run."""

    @property
    def is_without_gate(self) -> bool:
        """Whether the selection has no safety scenario, so that phase 2 has no gate and the run no verdict."""
        return not any(
            bound.scenario.classification is Classification.SAFETY for bound in (*self.scenarios, *self.custom)
        )


async def run(core: Core, extensions: Sequence[Phase]) -> AsyncGenerator[Event, None]:
    """Run the evaluation; extensions start only after the core is frozen and cannot affect it (AV-12, AV-17).

    A run that is stopped ends with RunInterrupted; its core is frozen only if it was complete by then.
    """
    identity = await _identity(core)
    yield RunStarted(identity)
    phases = _CorePhases(core, identity)
    if core.attached is None:
        async with aclosing(phases.perform()) as events:
            async for event in events:
                yield event
    result = phases.result()
    if result.interrupted:
        yield RunInterrupted(result)
        return
    yield CoreFrozen(result)
    if extensions_follow(core.policy, result):
        for extension in extensions:
            if not core.execution.is_stopped:
                async with aclosing(extension.perform(result)) as events:
                    async for event in events:
                        yield event
        if extensions and core.execution.is_stopped:
            yield RunInterrupted(result)


def extensions_follow(policy: ExtensionPolicy, core: CoreResult) -> bool:
    """Whether extensions run after this core: never after an abort, and after a FAIL only on request."""
    if core.abort_reason or core.agent_fault:
        return False
    if policy is ExtensionPolicy.ALWAYS:
        return core.safety is not None
    return policy is ExtensionPolicy.ON_PASS and isinstance(core.safety, Pass)


async def _identity(core: Core) -> RunIdentity:
    """Phase 0 and the agent's description, each requested once per run (CO-01, CO-08, CO-14)."""
    provider, settings = core.execution.provider, core.execution.settings
    seed, patience = settings.seed, settings.provider_seconds
    conformance = await preflight(core.profile.document, provider, core.tier, patience)
    planned = [bound.scenario for bound in core.scenarios if bound.scenario.tier <= core.tier]
    tier_seed = derived_seed(seed, "tier")
    tier = await verified_tier(
        core.profile.document, core.profile.domain, provider, core.tier, planned, tier_seed, patience
    )
    return RunIdentity(
        profile=core.profile.document,
        profile_digest=core.profile.digest(),
        agent=await checked_description(core.execution.agent, core.profile.document.configuration_schema),
        agent_isolation=core.execution.agent.isolation,
        conformance=conformance,
        core_version=agreed_core_version(conformance, core.profile.document),
        tier=core.tier,
        seed=seed,
        seed_source=core.seed_source,
        filters=core.filters,
        tier_evidence=tier,
    )


class _CorePhases:
    """Phases 1 and 2 of one run."""

    def __init__(self, core: Core, identity: RunIdentity) -> None:
        self.core = core
        self.identity = identity
        self.tally = CoreTally()
        self.skipped: list[Skipped] = []
        self.interrupted: Classification | None = None
        # Decided for both phases before either runs, so that a scenario without a decision does not stop the run
        # halfway.
        provider = core.execution.provider
        self.plan = [
            (bound.scenario.classification, kind, plan_scenario(bound, identity, provider))
            for kind, scenarios in (("scenario", core.scenarios), ("custom", core.custom))
            for bound in scenarios
        ]

    async def perform(self) -> AsyncGenerator[Event, None]:
        """Phase 1 with all applicable scenarios (CO-02), then phase 2 after a PASS (CO-03).

        A selection without safety scenarios has no phase 1 that could pass; its scores accompany no verdict.
        """
        for classification in (Classification.SAFETY, Classification.CAPABILITY):
            is_open = classification is Classification.SAFETY or self.core.is_without_gate
            if not is_open and not isinstance(self.result().safety, Pass):
                return
            planned_here = [(kind, unit) for wanted, kind, unit in self.plan if wanted is classification]
            runnable = [(kind, unit) for kind, unit in planned_here if isinstance(unit, BoundScenario)]
            skipped = [unit for _, unit in planned_here if isinstance(unit, Skipped)]
            self.skipped += skipped
            is_unscored = classification is Classification.CAPABILITY and not runnable
            is_selection = bool(self.core.filters)
            note = capability_note(skipped=len(skipped), is_selection=is_selection) if is_unscored else ""
            units = work_units(runnable, self.core.trials)
            yield PhaseStarted(str(classification), len(units), note)
            before = self.tally.count
            async with aclosing(self._units(units)) as events:
                async for event in events:
                    yield event
            if self.core.execution.is_stopped and self.tally.count - before < len(units):
                self.interrupted = classification
                return

    async def _units(self, units: Sequence[WorkUnit]) -> AsyncGenerator[Event, None]:
        """Run units without stopping at a FAIL; a provider fault or a second agent fault ends the run at once."""

        async def execute(work: WorkUnit) -> tuple[WorkUnit, UnitResult]:
            return work, await self.core.execution.execute(work.unit, work.bound, kind=work.kind)

        stop = self.core.execution.stop
        async with aclosing(in_order(execute, units, self.core.parallel, stop)) as results:
            async for work, found in results:
                result = replace(found, custom=work.is_custom)
                self.tally.add(result)
                yield UnitFinished(work.kind, result)
                if self.tally.is_over:
                    return

    def result(self) -> CoreResult:
        """The core so far."""
        plan = CorePlan(
            scenarios=tuple(SelectedScenario.from_scenario(bound.scenario) for bound in self.core.scenarios),
            skipped=tuple(self.skipped),
            excluded=tuple(unit for _, _, unit in self.plan if isinstance(unit, Excluded)),
            interrupted=self.interrupted,
            attached=self.core.attached,
        )
        return self.tally.core_result(self.identity, plan)


async def checked_description(agent: Agent, schema: Mapping[str, Mapping[str, Any]]) -> AgentDescription:
    """The agent's description; AgentFault if it reports values that the profile's dimensions do not allow (CO-08)."""
    description = await agent.describe()
    if breaches := contract_breaches(description.configuration, schema):
        remedy = "report a value that the profile's dimension has, or leave it out"
        raise AgentFault("agent", "; ".join(breaches), remedy, AgentFaultKind.WRONG_TYPE)
    return description
