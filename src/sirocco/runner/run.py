"""The phases of an evaluation in order: preflight, safety gate, capability, and whatever extensions follow the core."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum

from sirocco.evaluation.aggregation import safety_summary
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.event import CoreFrozen, Event, PhaseStarted, RunStarted, UnitFinished
from sirocco.oasis.phase import Phase
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import CoreResult, RunIdentity, Skipped, UnitResult, capability_note
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure
from sirocco.runner.execution import Execution
from sirocco.runner.parallel import in_order
from sirocco.runner.preflight import CORE_VERSION, preflight, verified_tier
from sirocco.runner.readable import reasons_to_skip


class ExtensionPolicy(StrEnum):
    """When extensions run after the core."""

    ON_PASS = "on-pass"  # noqa: S105 - a policy, not a password
    ALWAYS = "always"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Core:
    """What the deterministic evaluation consists of."""

    profile: Profile
    scenarios: tuple[BoundScenario, ...]
    execution: Execution
    tier: int
    seed_source: str
    parallel: int = 1
    policy: ExtensionPolicy = ExtensionPolicy.ON_PASS
    filters: dict[str, object] = field(default_factory=dict)


async def run(core: Core, extensions: Sequence[Phase]) -> AsyncGenerator[Event, None]:
    """Run the evaluation; extensions start only when the core is frozen and can reach nothing of it (AV-12, AV-17)."""
    identity = await _identity(core)
    yield RunStarted(identity)
    phases = _CorePhases(core, identity)
    async with aclosing(phases.perform()) as events:
        async for event in events:
            yield event
    result = phases.result()
    yield CoreFrozen(result)
    if extensions_follow(core.policy, result):
        for extension in extensions:
            async with aclosing(extension.perform(result)) as events:
                async for event in events:
                    yield event


def extensions_follow(policy: ExtensionPolicy, core: CoreResult) -> bool:
    """Whether extensions run after this core: never after an abort, after a FAIL only when asked for."""
    if core.abort_reason or core.agent_fault:
        return False
    if policy is ExtensionPolicy.ALWAYS:
        return core.safety is not None
    return policy is ExtensionPolicy.ON_PASS and isinstance(core.safety, Pass)


async def _identity(core: Core) -> RunIdentity:
    """Phase 0 and the agent's description, each asked once per run (CO-01, CO-08, CO-14)."""
    provider, seed = core.execution.provider, core.execution.settings.seed
    conformance = await preflight(core.profile.document, provider, core.tier)
    planned = [bound.scenario for bound in core.scenarios if bound.scenario.tier <= core.tier]
    tier = await verified_tier(core.profile.document, provider, core.tier, planned, derived_seed(seed, "tier"))
    return RunIdentity(
        profile=core.profile.document,
        profile_digest=core.profile.digest(),
        agent=await core.execution.agent.describe(),
        agent_isolation=core.execution.agent.isolation,
        conformance=conformance,
        core_version=CORE_VERSION,
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
        self.results: list[UnitResult] = []
        self.skipped: list[Skipped] = []
        self.abort_reason: str | None = None
        self.agent_fault: str | None = None

    async def perform(self) -> AsyncGenerator[Event, None]:
        """Phase 1 through all applicable scenarios (CO-02), then phase 2 after a PASS (CO-03)."""
        safety = self._runnable(Classification.SAFETY)
        yield PhaseStarted("safety", len(safety))
        async with aclosing(self._units(safety)) as events:
            async for event in events:
                yield event
        if isinstance(self.result().safety, Pass):
            before = len(self.skipped)
            runnable = self._runnable(Classification.CAPABILITY)
            yield PhaseStarted("capability", len(runnable), capability_note(unscored=len(self.skipped) > before))

    def _runnable(self, classification: Classification) -> list[BoundScenario]:
        """Scenarios that the provider can establish; the others are skipped with the reason, never in part (CO-15)."""
        runnable = []
        for bound in self.core.scenarios:
            scenario = bound.scenario
            if scenario.classification is not classification:
                continue
            reasons = reasons_to_skip(scenario, self.core.execution.provider)
            if scenario.tier > self.core.tier:
                reasons = (f"it needs tier {scenario.tier}", *reasons)
            if reasons:
                reason = "; ".join(reasons)
                self.skipped.append(Skipped(scenario.id, scenario.archetype, scenario.category, reason))
            else:
                runnable.append(bound)
        return runnable

    async def _units(self, scenarios: list[BoundScenario]) -> AsyncGenerator[Event, None]:
        """Run scenarios without stopping at a FAIL; a provider fault or a second agent fault ends the run at once."""

        async def execute(bound: BoundScenario) -> UnitResult:
            return await self.core.execution.execute(bound.scenario.id, bound)

        async with aclosing(in_order(execute, scenarios, self.core.parallel)) as results:
            async for result in results:
                self.results.append(result)
                yield UnitFinished("scenario", result)
                if isinstance(result.verdict, ProviderFailure):
                    self.abort_reason = f"{result.unit}: {result.verdict.cause}"
                    return
                if not result.is_judged:
                    self.agent_fault = f"{result.unit}: {result.agent_fault}"
                    return

    def result(self) -> CoreResult:
        """The core as far as it has come; without results, or after an agent fault with no violation, no verdict."""
        safety = safety_summary(self.results).overall
        if self.agent_fault and not isinstance(safety, Fail):
            safety = None
        return CoreResult(
            self.identity, tuple(self.results), tuple(self.skipped), safety, self.abort_reason, self.agent_fault
        )
