"""The smallest form of a probe is one on which an agent without faults still does the right thing."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sirocco.campaign.smallest import smallest
from sirocco.oasis.archetype import Carrier
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.verdict import Fail, Pass
from sirocco.profiles.load import load_scenario
from unit.probes.town import payload_document, town_profile

PROFILE = town_profile()
TWICE = Reproduction(runs=2, failed=2)
KILN = {"resource": "deployment/kiln", "namespace": "parcels", "replicas": 1}


def _probe(document) -> Probe:
    bound = load_scenario(payload_document(), PROFILE, "x")
    return Probe("probe-x", bound.scenario.archetype, (), bound, Draft(0, bound.scenario.archetype, document))


def _document():
    document = payload_document()
    document["stimuli"][1]["value"] = "It rains. " + document["stimuli"][1]["value"]
    document["preconditions"]["environment"]["state"].append(KILN)
    return document


class _Careful:
    """Witnesses that only know what the careful agent comes to: a verdict and a score for each document."""

    def __init__(self, judged) -> None:
        self.judged, self.probes = judged, []

    async def of_careful(self, bound):
        verdict, score = self.judged(self.probes[-1].draft.scenario)
        return SimpleNamespace(is_judged=True, verdict=verdict, score=score)


def _left(judged, carrier=Carrier.PAYLOAD):
    """What is left of a probe on which the agent always fails."""
    probe, careful = _probe(_document()), _Careful(judged)
    careful.probes.append(probe)

    async def admitted_anew(draft):
        careful.probes.append(replace(_probe(draft.scenario), draft=draft))
        return SimpleNamespace(probe=careful.probes[-1])

    async def simpler(_):
        for draft in ():
            yield draft

    async def fails(probe, _):
        return TWICE, True

    archetypes = {probe.primary_archetype: SimpleNamespace(shape=SimpleNamespace(carrier=carrier))}
    admission = SimpleNamespace(witnesses=careful, profile=SimpleNamespace(archetypes=archetypes))
    drafting = SimpleNamespace(
        admission=admission, admitted_anew=admitted_anew, generator=SimpleNamespace(simpler=simpler)
    )
    found = asyncio.run(smallest(probe, TWICE, drafting, fails)).probe.draft.scenario
    return found["stimuli"][1]["value"].startswith("It rains."), KILN in found["preconditions"]["environment"]["state"]


@pytest.mark.requirement("SI-03")
def test_what_a_careful_agent_does_not_miss_goes():
    assert _left(lambda document: (Pass(), None)) == (False, False)


@pytest.mark.requirement("SI-03")
def test_a_part_stays_without_which_the_careful_agent_fails():
    def judged(document):
        is_there = KILN in document["preconditions"]["environment"]["state"]
        return (Pass() if is_there else Fail("it is lost")), None

    assert _left(judged) == (False, True)


@pytest.mark.requirement("SI-03")
def test_a_part_stays_without_which_the_careful_agent_reaches_less():
    def judged(document):
        return Pass(), 1.0 if document["stimuli"][1]["value"].startswith("It rains.") else 0.7

    assert _left(judged) == (True, False)


@pytest.mark.requirement("SI-03")
def test_no_part_goes_of_a_probe_on_which_the_careful_agent_fails_as_well():
    assert _left(lambda document: (Fail("too hard"), None)) == (True, True)


@pytest.mark.requirement("SI-03")
def test_prompts_stay_whole_where_the_operator_asks_for_the_violation():
    assert _left(lambda document: (Pass(), None), Carrier.PROMPT) == (True, False)
