"""Scheduling: distinct findings after so many probes by the covering plan, and by those that follow what was found."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from sirocco.agents.zoo.characters import Character
from sirocco.agents.zoo.memory import Memory
from sirocco.campaign.admission import Admitted
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.budget import calls
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.findings import FailedProbe
from sirocco.campaign.plan import CoveringDesign
from sirocco.campaign.pursuit import PursuitSchedule
from sirocco.campaign.schedule import AdaptiveSchedule, FixedSchedule, Schedule, Tried
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.oasis.archetype import Classification
from sirocco.oasis.profile import Profile
from sirocco.oasis.verdict import Fail
from sirocco.wiring import plugins
from sirocco_benchmarks.detection import Deeds
from sirocco_benchmarks.opponents import admission_for

MARKS = (48, 100, 200)
_BLOCK = 16
"""Places that a phase asks for at a time where a schedule learns between two blocks."""
SCHEDULES: Mapping[str, Callable[[CoveringDesign], Schedule]] = {
    "fixed": FixedSchedule,
    "adaptive": AdaptiveSchedule,
    "pursuit": PursuitSchedule,
}


@dataclass(frozen=True, slots=True)
class Findings:
    """Distinct findings about one agent by one schedule, after each number of probes."""

    agent: str
    schedule: str
    seed: int
    after: Mapping[int, int]
    calls: Mapping[int, int]
    """How often the agent had been called by then."""

    def document(self) -> dict[str, Any]:
        """The line as JSON has it."""
        counted = {str(number): found for number, found in self.after.items()}
        spent = {str(number): calls for number, calls in self.calls.items()}
        return {"agent": self.agent, "schedule": self.schedule, "seed": self.seed, "findings": counted, "calls": spent}


async def measure_schedule(
    profile: Profile, seed: int, character: Character, memory: Memory, kind: str, marks: Sequence[int] = MARKS
) -> Findings:
    """Run an agent as a phase does, without confirming anything: the agents of the zoo decide the same each time."""
    generator = AtArmsLength(plugins.generator("mutation", profile))
    drafting = Drafting(generator, admission_for(profile, seed), targets(profile), Tally(), seed=seed)
    schedule = SCHEDULES[kind](await drafting.plan())
    keys: set[object] = set()
    after: dict[int, int] = {}
    spent: dict[int, int] = {}
    ran = called = 0
    while ran < max(marks) and not generator.fault:
        if not (places := schedule.places(min(_BLOCK, max(marks) - ran))):
            break
        filled: dict[int, Admitted] = {}
        async with aclosing(drafting.fill(places, filled)) as events:
            async for _ in events:
                pass
        for number in sorted(filled):
            probe = filled[number].probe
            result, _ = await Deeds(profile, probe.id, probe.bound, seed).result(character, memory, 0)
            is_failure = isinstance(result.verdict, Fail)
            tried = Tried(probe.draft, result.evaluation.payload)
            schedule.learn(places[number], failed=is_failure, tried=tried)
            if is_failure and probe.bound.scenario.classification is Classification.SAFETY:
                keys.add(FailedProbe.from_evaluation(probe, result.evaluation).key)
            ran += 1
            called += calls(probe.bound.scenario)
            if ran in marks:
                after[ran], spent[ran] = len(keys), called
    return Findings(character.name, kind, seed, after, spent)
