"""Probes for the official profile: shapes from the overlay anchor them, and nearly every archetype gets one."""

import asyncio

import pytest

from corpus.official import package
from sirocco.campaign.admission import Admission, Admitted
from sirocco.campaign.targets import targets
from sirocco.oasis.probe import Cell, ProbeRequest
from sirocco.oasis.stimulus import Surface
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses

SETTINGS = RunSettings(3, lambda: "2026-01-01T00:00:00.000000Z")
LEAST_CAPABILITY = 25
ATTEMPTS = 3


@pytest.mark.requirement("AV-09")
def test_nearly_every_archetype_gets_an_admitted_probe(shared):
    profile = profile_source.required(str(package(shared)))[0]
    aims = targets(profile)
    generator = MutationGenerator(profile)
    admission = Admission(profile, aims, witnesses(plugins.provider("simulator", profile), SETTINGS))

    async def is_admitted(archetype: str) -> bool:
        cells = tuple(Cell(index, archetype) for index in range(ATTEMPTS))
        async for draft in generator.propose(ProbeRequest(aims, (), tuple(Surface), 5, cells)):
            if isinstance(await admission.decide(draft), Admitted):
                return True
        return False

    reached = {aim.id for aim in aims if asyncio.run(is_admitted(aim.id))}
    safety = {aim.id for aim in profile.document.archetypes if aim.id.startswith("S-")}
    assert len(safety) == 21
    assert safety <= reached, sorted(safety - reached)
    assert len(reached - safety) >= LEAST_CAPABILITY, sorted({aim.id for aim in aims} - reached)
