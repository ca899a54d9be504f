"""Proposals for reserved scenarios: made by the mutation engine or from reviewed findings, far from public ones.

Proposals already have witnesses; a person refines them, and `sirocco reserved seal` runs the witnesses again.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

from sirocco.campaign.admission import Admission, Admitted
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.novelty import Known
from sirocco.campaign.schedule import FixedSchedule
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.profile import Profile
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.load import load_scenario, load_scenario_file
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import Witnesses
from sirocco.wiring import plugins
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import Seed

_CANDIDATES = 3
"""The number of drafts made for each proposal; the one farthest from the public corpus is taken."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A scenario that could be reserved, and its distance to every published one of its archetype."""

    category: str
    archetype: str
    novelty: float
    document: dict[str, Any] = field(repr=False)

    @classmethod
    def from_scenario(cls, bound: BoundScenario, novelty: float) -> "Proposal":
        """A proposal with a separate id, without traces of where it was made."""
        document = with_predicates(bound).document()
        document.get("x-sirocco", {}).pop("probe", None)
        archetype, name = bound.scenario.archetype, digest(document).removeprefix("sha256:")[:10]
        category = bound.scenario.category
        return cls(category, archetype, novelty, document | {"id": f"draft.{archetype.lower()}.{name}"})

    @property
    def file_name(self) -> str:
        """The name of its file."""
        return f"{self.document['id']}.yaml"


async def proposals(
    profile: Profile, wanted: int, seed: Seed, archetypes: Sequence[str], findings: Sequence[Path], size: int = 1
) -> list[Proposal]:
    """As many proposals as possible, alternating over categories and archetypes, those farthest from the public first.

    With a size, each belongs to a set of that many of one archetype: tracers, to be distributed among evaluators.
    """
    known = Known((bound.scenario for bound in profile.scenarios), profile.domain.declarations)
    found = [bound for file in findings for bound in load_scenario_file(file, profile).scenarios]
    if size > 1:  # a set needs candidates of one archetype, so the archetypes are drawn first
        aims = sorted(aim.id for aim in targets(profile, archetypes, ()))
        archetypes = Random(seed.value).sample(aims, min(wanted, len(aims)))  # noqa: S311 - repeatable on purpose
    made = await _admitted_probes(profile, _CANDIDATES * wanted * size, seed, archetypes)
    candidates = [*found, *(one.probe.bound for one in made)]
    rows = [Proposal.from_scenario(bound, known.to_published(bound.scenario)) for bound in candidates]
    return await _balanced_choice(rows, wanted, size, profile, Random(seed.value))  # noqa: S311 - repeatable on purpose


async def _balanced_choice(
    rows: Iterable[Proposal], wanted: int, size: int, profile: Profile, dice: Random
) -> list[Proposal]:
    """The farthest sound set of each archetype first, then the second of each, and so on."""
    settings = RunSettings(Seed.choose(None).value, utc_now)
    judges = witnesses(plugins.own_provider(profile), settings, profile.domain)
    waiting = [iter(own) for own in archetypes_by_turns(rows, dice)]
    sets: list[list[Proposal]] = []
    while waiting and len(sets) < wanted:
        own = waiting.pop(0)
        found = await _next_sound(own, size, profile, judges)
        if len(found) == size:
            sets.append(found)
            waiting.append(own)
    return [one for found in sets for one in found]


def archetypes_by_turns(rows: Iterable[Proposal], dice: Random) -> list[list[Proposal]]:
    """The proposals of each archetype, farthest first.

    One archetype of each category comes before a second one of any, so that even a few proposals span many categories.
    """
    categories: dict[str, dict[str, dict[str, Proposal]]] = {}
    for row in sorted(rows, key=lambda one: (-one.novelty, one.document["id"])):
        categories.setdefault(row.category, {}).setdefault(row.archetype, {})[row.document["id"]] = row
    drawn = [list(categories[name].values()) for name in dice.sample(sorted(categories), len(categories))]
    return [list(own.values()) for turn in zip_longest(*drawn) for own in turn if own]


async def _next_sound(rows: Iterator[Proposal], size: int, profile: Profile, judges: Witnesses) -> list[Proposal]:
    """The next of them that parse as scenarios and whose witnesses show that they can pass and fail."""
    found: list[Proposal] = []
    while len(found) < size and (row := next(rows, None)) is not None:
        bound = load_scenario(row.document, profile, row.file_name)
        if not (await judges.report(bound)).problems:
            found.append(row)
    return found


async def _admitted_probes(profile: Profile, wanted: int, seed: Seed, archetypes: Sequence[str]) -> list[Admitted]:
    generator = plugins.generator("mutation", profile)
    aims = targets(profile, archetypes, ())
    sound = witnesses(plugins.own_provider(profile), RunSettings(seed.value, utc_now), profile.domain)
    admission = Admission(profile, aims, sound, method=generator.method, seed=seed.value)
    drafting = Drafting(AtArmsLength(generator), admission, aims, Tally(), seed=seed.value, parallel=4)
    filled: dict[int, Admitted] = {}
    places = FixedSchedule(await drafting.plan()).places(wanted)
    async with aclosing(drafting.fill(places, filled)) as events:
        async for _ in events:
            pass
    return [filled[number] for number in sorted(filled)]
