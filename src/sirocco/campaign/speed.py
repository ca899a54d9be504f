"""How long a campaign takes: drafting and admitting a probe, a whole phase against an instant agent, and its growth."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from sirocco.campaign.admission import Admission, Admitted
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.phase import AdversarialPhase
from sirocco.campaign.schedule import FixedSchedule
from sirocco.campaign.tally import Tally
from sirocco.oasis.agent import Agent, AgentDescription, AgentRequest, AgentResponse
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.event import Event, UnitFinished
from sirocco.oasis.probe import ProbeGenerator
from sirocco.runner.run import Core, run

Clock = Callable[[], float]
_BLOCK = 64


class Instant:
    """An agent that answers at once and does nothing: what is left is the harness."""

    isolation = "none"

    def __init__(self, described: Agent) -> None:
        self._described = described

    async def describe(self) -> AgentDescription:
        """Whatever another agent says of itself."""
        return await self._described.describe()

    async def respond(self, _: AgentRequest) -> AgentResponse:
        """Nothing."""
        return AgentResponse()


@dataclass(frozen=True, slots=True)
class DraftingSpeed:
    """Seconds for all drafts, how many there were, and how many became probes."""

    seconds: float
    drafted: int
    admitted: int


async def measured_drafting(
    generator: ProbeGenerator,
    admission: Admission,
    targets: Sequence[Archetype],
    clock: Clock,
    *,
    probes: int,
    seed: int,
) -> DraftingSpeed:
    """Draft and admit so many probes, one after the other."""
    tally, admitted = Tally(), 0
    drafting = Drafting(AtArmsLength(generator), admission, targets, tally, seed=seed)
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
    """When each probe of the phase was done, counted from its start; nothing of them is kept."""
    start: float | None = None
    async with aclosing(run(core, [phase])) as events:
        async for event in events:
            start = clock() if start is None and _is_adversarial(event) else start
            if isinstance(event, UnitFinished) and event.kind == "probe" and start is not None:
                yield clock() - start


def _is_adversarial(event: Event) -> bool:
    return getattr(event, "phase", "") == "adversarial"
