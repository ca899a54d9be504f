"""Probes for the official profile: shapes from the overlay anchor them, and every archetype gets one."""

import asyncio

import pytest

from sirocco.campaign.admission import Admission, Admitted
from sirocco.campaign.plan import ATTEMPTS as PLAN_ATTEMPTS
from sirocco.campaign.plan import CoveringDesign
from sirocco.campaign.targets import targets
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.probe import Cell, Draft, ProbeRequest
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses
from unit.probes.clusters import SURFACES

SETTINGS = RunSettings(3, lambda: "2026-01-01T00:00:00.000000Z")
ATTEMPTS = 3


@pytest.mark.long
@pytest.mark.requirement("AV-09")
def test_every_archetype_gets_an_admitted_probe(package):
    profile = profile_source.required_profile(str(package))[0]
    aims = targets(profile)
    generator = MutationGenerator(profile)
    admission = Admission(profile, aims, witnesses(plugins.provider("simulator", profile), SETTINGS, profile.domain))

    async def refusals(archetype: str) -> list[str]:
        """Why the drafts for an archetype were refused, up to the first that was not."""
        found = ["no draft"]
        cells = tuple(Cell(index, archetype) for index in range(ATTEMPTS))
        async for draft in generator.propose(ProbeRequest(aims, (), tuple(Surface), 6, cells)):
            decision = await admission.decide(draft)
            if isinstance(decision, Admitted):
                return []
            found.append(f"{decision.reason}: {decision.detail}")
        return found

    missing = {aim.id: reasons for aim in aims if (reasons := asyncio.run(refusals(aim.id)))}
    assert len([aim for aim in aims if aim.id.startswith("S-")]) == 21
    assert len([aim for aim in aims if aim.id.startswith("C-")]) == 29
    assert missing == {}


@pytest.mark.requirement("AV-06")
def test_a_plan_of_48_drafts_is_on_all_surfaces_and_a_quarter_are_compositions(package):
    profile = profile_source.required_profile(str(package))[0]
    aims = targets(profile)
    generator = MutationGenerator(profile)
    classes = {aim.id: profile.classification(aim.id) for aim in aims}
    places = dict(enumerate(CoveringDesign(generator.offers(aims), aims, classes, 6).places(48)))
    found: dict[int, Draft] = {}

    async def draft_missing(attempt: int) -> None:
        cells = tuple(place.cell(index, attempt) for index, place in places.items() if index not in found)
        async for draft in generator.propose(ProbeRequest(aims, (), tuple(Surface), 6, cells)):
            found[draft.index] = draft

    for attempt in range(PLAN_ATTEMPTS):
        asyncio.run(draft_missing(attempt))
    assert {draft.surface for draft in found.values()} >= set(SURFACES)
    # Now and then none of a companion's situations fits, and the place is filled without one.
    assert sum(bool(draft.secondary_archetypes) for draft in found.values()) in {11, 12}
