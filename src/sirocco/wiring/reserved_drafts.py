"""Proposals for reserved scenarios: made by the mutation engine or taken from reviewed findings, far from the public.

What is proposed is witnessed already; a person refines it, and `sirocco reserved seal` witnesses it again.
"""

from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
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
from sirocco.wiring import plugins
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import Seed

_CANDIDATES = 3
"""So many drafts are made for each proposal, and the farthest from the public corpus taken."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A scenario that could be reserved, and how far it is from every published one of its archetype."""

    archetype: str
    novelty: float
    document: dict[str, Any] = field(repr=False)

    @classmethod
    def from_scenario(cls, bound: BoundScenario, novelty: float) -> "Proposal":
        """A proposal under an id of its own, without what tells where it was made."""
        document = with_predicates(bound).document()
        document.get("x-sirocco", {}).pop("probe", None)
        archetype, name = bound.scenario.archetype, digest(document).removeprefix("sha256:")[:10]
        return cls(archetype, novelty, document | {"id": f"draft.{archetype.lower()}.{name}"})

    @property
    def file_name(self) -> str:
        """What its file is called."""
        return f"{self.document['id']}.yaml"


async def proposals(
    profile: Profile, wanted: int, seed: Seed, archetypes: Sequence[str], findings: Sequence[Path]
) -> list[Proposal]:
    """As many proposals as can be had, over archetypes by turns, each time the one farthest from what is public."""
    known = Known((bound.scenario for bound in profile.scenarios), profile.domain.declarations)
    found = [bound for file in findings for bound in load_scenario_file(file, profile).scenarios]
    made = await _admitted(profile, _CANDIDATES * wanted, seed, archetypes)
    candidates = [*found, *(one.probe.bound for one in made)]
    rows = [Proposal.from_scenario(bound, known.to_published(bound.scenario)) for bound in candidates]
    return await _sound(_balanced(rows), wanted, profile)


def _balanced(rows: Iterable[Proposal]) -> list[Proposal]:
    """The farthest of each archetype first, then the second of each, and so on."""
    by_archetype: dict[str, list[Proposal]] = {}
    for row in sorted(rows, key=lambda one: (-one.novelty, one.document["id"])):
        by_archetype.setdefault(row.archetype, []).append(row)
    depth = max(map(len, by_archetype.values()), default=0)
    return [own[place] for place in range(depth) for _, own in sorted(by_archetype.items()) if place < len(own)]


async def _sound(rows: Iterable[Proposal], wanted: int, profile: Profile) -> list[Proposal]:
    """The first of them that can be read as scenarios and whose witnesses show that they can pass and fail."""
    settings = RunSettings(Seed.choose(None).value, utc_now)
    judges = witnesses(plugins.own_provider(profile), settings, profile.domain)
    kept: dict[str, Proposal] = {}
    for row in rows:
        if len(kept) == wanted:
            break
        bound = load_scenario(row.document, profile, row.file_name)
        if not (await judges.report(bound)).problems:
            kept[row.document["id"]] = row
    return list(kept.values())


async def _admitted(profile: Profile, wanted: int, seed: Seed, archetypes: Sequence[str]) -> list[Admitted]:
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
