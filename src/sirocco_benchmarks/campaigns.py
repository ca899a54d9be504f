"""The duration of a campaign: drafting and admitting a probe, a whole phase against an instant agent, and growth."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from sirocco.campaign.admission import Admission, Admitted
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.phase import AdversarialPhase, CampaignSettings
from sirocco.campaign.schedule import FixedSchedule
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.oasis.agent import Agent, AgentDescription, AgentRequest, AgentResponse
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.event import Event, UnitFinished
from sirocco.oasis.probe import ProbeGenerator
from sirocco.oasis.profile import Profile
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy, run
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import utc_now
from sirocco_benchmarks.environments import resident

Clock = Callable[[], float]
_BLOCK = 64


class Instant:
    """An agent that answers at once and does nothing, so that only the harness is measured."""

    isolation = "none"

    def __init__(self, described: Agent) -> None:
        self._described = described

    async def describe(self) -> AgentDescription:
        """A description like that of any other agent."""
        return await self._described.describe()

    async def respond(self, _: AgentRequest) -> AgentResponse:
        """Do nothing."""
        return AgentResponse()


@dataclass(frozen=True, slots=True)
class DraftingSpeed:
    """Seconds for all drafts, their number, and how many became probes."""

    seconds: float
    drafted: int
    admitted: int


@dataclass(frozen=True, slots=True)
class PhaseSpeed:
    """Seconds until each probe was done, and megabytes in use at half time and at the end."""

    moments: tuple[float, ...]
    early: float
    late: float

    @property
    def growth(self) -> float:
        """How much longer a probe of the second half took than one of the first."""
        middle = len(self.moments) // 2
        first, last = self.moments[middle - 1] / middle, self.moments[-1] - self.moments[middle - 1]
        return last / (len(self.moments) - middle) / first


async def campaign_drafting(profile: Profile, clock: Clock, *, probes: int, seed: int) -> DraftingSpeed:
    """Drafting and admission as in a run."""
    generator, aims, settings = plugins.generator("mutation", profile), targets(profile), RunSettings(seed, utc_now)
    admission = _admission(profile, settings)
    return await measured_drafting(generator, admission, aims, clock, probes=probes, seed=seed)


async def campaign_phase(profile: Profile, clock: Clock, *, probes: int, seed: int) -> PhaseSpeed:
    """A whole phase against an agent that answers at once."""
    settings = RunSettings(seed, utc_now)
    provider = plugins.own_provider(profile)
    execution = Execution(Instant(plugins.agent("ref:careful", profile)), provider, settings)
    wanted = CampaignSettings(probes, confirm=0, parallel=4, max_agent_calls=4 * probes)
    generator, aims = plugins.generator("mutation", profile), targets(profile)
    phase = AdversarialPhase(profile, aims, generator, _admission(profile, settings), execution, wanted)
    safety = tuple(bound for bound in profile.scenarios if bound.scenario.classification == "safety")
    core = Core(profile, safety[:1], execution, 1, "given", policy=ExtensionPolicy.ALWAYS)
    moments: list[float] = []
    early = 0.0
    async for moment in probe_moments(core, phase, clock):
        moments.append(moment)
        early = resident() if len(moments) == probes // 2 else early
    return PhaseSpeed(tuple(moments), early, resident())


def _admission(profile: Profile, settings: RunSettings) -> Admission:
    sound = witnesses(plugins.own_provider(profile), settings, profile.domain)
    method = plugins.generator("mutation", profile).method
    return Admission(profile, targets(profile), sound, method=method, seed=settings.seed)


async def measured_drafting(
    generator: ProbeGenerator,
    admission: Admission,
    aims: Sequence[Archetype],
    clock: Clock,
    *,
    probes: int,
    seed: int,
) -> DraftingSpeed:
    """Draft and admit the given number of probes, one after the other."""
    tally, admitted = Tally(), 0
    drafting = Drafting(AtArmsLength(generator), admission, aims, tally, seed=seed)
    start = clock()
    schedule = FixedSchedule(await drafting.plan())
    while admitted < probes and (places := schedule.places(min(_BLOCK, probes - admitted))):
        filled: dict[int, Admitted] = {}
        async with aclosing(drafting.fill(places, filled)) as events:
            async for _ in events:
                pass
        admitted += len(filled)
        if not filled:
            break
    return DraftingSpeed(clock() - start, tally.drafted, admitted)


async def probe_moments(core: Core, phase: AdversarialPhase, clock: Clock) -> AsyncIterator[float]:
    """When each probe of the phase was done, measured from its start; the probes are not kept."""
    start: float | None = None
    async with aclosing(run(core, [phase])) as events:
        async for event in events:
            start = clock() if start is None and _is_adversarial(event) else start
            if isinstance(event, UnitFinished) and event.kind == "probe" and start is not None:
                yield clock() - start


def _is_adversarial(event: Event) -> bool:
    return getattr(event, "phase", "") == "adversarial"
