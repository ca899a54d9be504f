"""Scheduling: distinct findings per number of probes by the covering plan, and by schedules that follow findings.

Agents of the zoo that follow a probe nearly always violate it. Its result can therefore also be decided from its texts:
then no probe is witnessed or run, and hundreds of them cost seconds.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from sirocco.agents.zoo.characters import Character
from sirocco.agents.zoo.memory import Memory
from sirocco.agents.zoo.obedient import carrying_texts, encounter
from sirocco.campaign.admission import Admission, Admitted, Fitting, Rejection
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.budget import calls
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.findings import FailedProbe, surface_of
from sirocco.campaign.plan import CoveringDesign
from sirocco.campaign.pursuit import PursuitSchedule
from sirocco.campaign.schedule import AdaptiveSchedule, FixedSchedule, Schedule, Tried
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.oasis.archetype import Classification
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.profile import Profile
from sirocco.oasis.verdict import Fail
from sirocco.wiring import plugins
from sirocco_benchmarks.detection import Deeds
from sirocco_benchmarks.opponents import admission_for

MARKS = (48, 100, 200)
_BLOCK = 16
"""The number of places that a phase requests at a time if a schedule learns between blocks."""
SCHEDULES: Mapping[str, Callable[[CoveringDesign], Schedule]] = {
    "fixed": FixedSchedule,
    "adaptive": AdaptiveSchedule,
    "pursuit": PursuitSchedule,
}
DECIDABLE = ("fixed", "adaptive")
"""The schedules that only need to know whether the agent gave way."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Distinct findings about one agent by one schedule, after each number of probes."""

    agent: str
    schedule: str
    seed: int
    after: Mapping[int, int]
    calls: Mapping[int, int]
    """The number of agent calls by then."""

    def document(self) -> dict[str, Any]:
        """The line as JSON data."""
        counted = {str(number): found for number, found in self.after.items()}
        spent = {str(number): calls for number, calls in self.calls.items()}
        return {"agent": self.agent, "schedule": self.schedule, "seed": self.seed, "findings": counted, "calls": spent}


class _Unwitnessed(Admission):
    """The admission gate of a run, without its witnesses."""

    async def decide(self, draft: Draft, fitting: Fitting | None = None, *, anew: bool = False) -> Admitted | Rejection:
        """Admit everything sound."""
        del fitting, anew
        found = self.valid(draft)
        if isinstance(found, Rejection):
            return found
        bound, warnings = found
        probe = Probe(bound.scenario.id, draft.primary_archetype, draft.secondary_archetypes, bound, draft)
        return Admitted(probe, warnings)


async def decide_schedule(
    profile: Profile, seed: int, character: Character, memory: Memory, kind: str, marks: Sequence[int] = MARKS
) -> Findings:
    """Follow a schedule as a phase does, and count the archetypes and surfaces in which the agent would give way."""
    generator, gate = AtArmsLength(plugins.generator("mutation", profile)), admission_for(profile, seed)
    unwitnessed = _Unwitnessed(profile, targets(profile), gate.witnesses, method=gate.method, seed=seed)
    drafting = Drafting(generator, unwitnessed, targets(profile), Tally(), seed=seed)

    async def try_probe(probe: Probe) -> tuple[bool, object, Tried | None]:
        return _gives_way(probe, character, memory), (probe.primary_archetype, surface_of(probe)), None

    after, spent = await _follow(SCHEDULES[kind](await drafting.plan()), drafting, marks, try_probe)
    return Findings(character.name, kind, seed, after, spent)


def _gives_way(probe: Probe, character: Character, memory: Memory) -> bool:
    """Whether the agent follows a safety probe, assuming that all of its texts reach it."""
    bound = probe.bound
    if bound.goal is None or bound.scenario.classification is not Classification.SAFETY:
        return False
    texts, prompts = carrying_texts(bound, memory.asked), bound.scenario.prompts
    earlier = len(prompts) - 1 if prompts[-1] in texts else 0
    return character.follows(memory, encounter(bound, texts, earlier_turns=earlier, run_id=probe.id))


async def measure_schedule(
    profile: Profile, seed: int, character: Character, memory: Memory, kind: str, marks: Sequence[int] = MARKS
) -> Findings:
    """Run an agent as a phase does, without confirming anything: the agents of the zoo always decide the same way."""
    generator = AtArmsLength(plugins.generator("mutation", profile))
    drafting = Drafting(generator, admission_for(profile, seed), targets(profile), Tally(), seed=seed)

    async def try_probe(probe: Probe) -> tuple[bool, object, Tried | None]:
        result, _ = await Deeds(profile, probe.id, probe.bound, seed).result(character, memory, 0)
        key = FailedProbe.from_evaluation(probe, result.evaluation).key
        return isinstance(result.verdict, Fail), key, Tried(probe.draft, result.evaluation.payload)

    after, spent = await _follow(SCHEDULES[kind](await drafting.plan()), drafting, marks, try_probe)
    return Findings(character.name, kind, seed, after, spent)


async def _follow(
    schedule: Schedule,
    drafting: Drafting,
    marks: Sequence[int],
    try_probe: Callable[[Probe], Awaitable[tuple[bool, object, Tried | None]]],
) -> tuple[dict[int, int], dict[int, int]]:
    """The distinct findings and the agent's calls after each number of probes, given a way to try a probe."""
    keys: set[object] = set()
    after: dict[int, int] = {}
    spent: dict[int, int] = {}
    ran = called = 0
    while ran < max(marks) and not drafting.generator.fault:
        if not (places := schedule.places(min(_BLOCK, max(marks) - ran))):
            break
        filled: dict[int, Admitted] = {}
        async with aclosing(drafting.fill(places, filled)) as events:
            async for _ in events:
                pass
        for number in sorted(filled):
            probe = filled[number].probe
            is_failure, key, tried = await try_probe(probe)
            schedule.learn(places[number], failed=is_failure, tried=tried)
            if is_failure and probe.bound.scenario.classification is Classification.SAFETY:
                keys.add(key)
            ran += 1
            called += calls(probe.bound.scenario)
            if ran in marks:
                after[ran], spent[ran] = len(keys), called
    return after, spent
