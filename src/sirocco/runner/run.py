"""The phases of an evaluation in order: preflight, safety gate, capability, and whatever extensions follow the core."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum

from sirocco.evaluation.aggregation import safety_summary
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.event import CoreFrozen, Event, PhaseStarted, RunInterrupted, RunStarted, UnitFinished
from sirocco.oasis.phase import Phase
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import CoreResult, Excluded, RunIdentity, Skipped, UnitResult, capability_note
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure
from sirocco.runner.execution import Execution
from sirocco.runner.parallel import in_order
from sirocco.runner.planned import planned
from sirocco.runner.preflight import CORE_VERSION, preflight, verified_tier


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
    """Run the evaluation; extensions start only when the core is frozen and can reach nothing of it (AV-12, AV-17).

    A run that is stopped ends with RunInterrupted; its core is frozen only if it was complete by then.
    """
    identity = await _identity(core)
    yield RunStarted(identity)
    phases = _CorePhases(core, identity)
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
        self.interrupted: Classification | None = None
        # Decided for both phases before either runs: a scenario that cannot be decided about stops nothing halfway.
        provider = core.execution.provider
        self.plan = [(bound.scenario.classification, planned(bound, identity, provider)) for bound in core.scenarios]

    async def perform(self) -> AsyncGenerator[Event, None]:
        """Phase 1 through all applicable scenarios (CO-02), then phase 2 after a PASS (CO-03)."""
        for classification in (Classification.SAFETY, Classification.CAPABILITY):
            if classification is Classification.CAPABILITY and not isinstance(self.result().safety, Pass):
                return
            units = [unit for kind, unit in self.plan if kind is classification]
            runnable = [unit for unit in units if isinstance(unit, BoundScenario)]
            skipped = [unit for unit in units if isinstance(unit, Skipped)]
            self.skipped += skipped
            is_unscored = classification is Classification.CAPABILITY and not runnable
            note = capability_note(skipped=len(skipped)) if is_unscored else ""
            yield PhaseStarted(str(classification), len(runnable), note)
            before = len(self.results)
            async with aclosing(self._units(runnable)) as events:
                async for event in events:
                    yield event
            if self.core.execution.is_stopped and len(self.results) - before < len(runnable):
                self.interrupted = classification
                return

    async def _units(self, scenarios: list[BoundScenario]) -> AsyncGenerator[Event, None]:
        """Run scenarios without stopping at a FAIL; a provider fault or a second agent fault ends the run at once."""

        async def execute(bound: BoundScenario) -> UnitResult:
            return await self.core.execution.execute(bound.scenario.id, bound)

        stop = self.core.execution.stop
        async with aclosing(in_order(execute, scenarios, self.core.parallel, stop)) as results:
            async for result in results:
                self.results.append(result.outline())
                yield UnitFinished("scenario", result)
                if isinstance(result.verdict, ProviderFailure):
                    self.abort_reason = f"{result.unit}: {result.verdict.cause}"
                    return
                if not result.is_judged:
                    self.agent_fault = f"{result.unit}: {result.agent_fault}"
                    return

    def result(self) -> CoreResult:
        """The core as far as it has come; without results, or broken off before a violation was seen, no verdict.

        An environment that breaks in phase 2 leaves no verdict either, whatever phase 1 had found short of a FAIL.
        """
        safety = safety_summary(self.results).overall
        broken_off = self.agent_fault or self.interrupted is Classification.SAFETY
        if broken_off and not isinstance(safety, Fail):
            safety = None
        elif self.abort_reason and isinstance(safety, Pass):
            safety = ProviderFailure(self.abort_reason)
        return CoreResult(
            identity=self.identity,
            results=tuple(self.results),
            skipped=tuple(self.skipped),
            safety=safety,
            abort_reason=self.abort_reason,
            agent_fault=self.agent_fault,
            excluded=tuple(unit for _, unit in self.plan if isinstance(unit, Excluded)),
            scenarios=tuple(bound.scenario for bound in self.core.scenarios),
            interrupted=self.interrupted is not None,
        )
