"""A campaign of the bundled profile put together for `sirocco bench campaign`."""

from dataclasses import dataclass

from sirocco.campaign.admission import Admission
from sirocco.campaign.phase import AdversarialPhase, CampaignSettings
from sirocco.campaign.speed import Clock, DraftingSpeed, Instant, measured_drafting, probe_moments
from sirocco.campaign.targets import targets
from sirocco.domains.kubernetes.simulator.speed import resident
from sirocco.oasis.profile import Profile
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import utc_now


@dataclass(frozen=True, slots=True)
class PhaseSpeed:
    """Seconds until each probe was done, and megabytes held at half time and in the end."""

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
    """Drafting and admitting, as a run does it."""
    generator, aims, settings = plugins.generator("mutation", profile), targets(profile), RunSettings(seed, utc_now)
    admission = _admission(profile, settings)
    return await measured_drafting(generator, admission, aims, clock, probes=probes, seed=seed)


async def campaign_phase(profile: Profile, clock: Clock, *, probes: int, seed: int) -> PhaseSpeed:
    """A whole phase against an agent that answers at once."""
    settings = RunSettings(seed, utc_now)
    provider = plugins.provider("simulator", profile)
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
