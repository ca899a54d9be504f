"""The smallest form of a probe is the smallest that is admitted and that nobody objects to."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sirocco.campaign.smallest import shrink_probe
from sirocco.oasis.archetype import Carrier
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.scenario import Reproduction
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


class _Vote:
    """Objects to documents for which `is_fair` does not hold."""

    def __init__(self, is_fair) -> None:
        self.is_fair = is_fair

    async def objection(self, whole, smaller):
        return None if self.is_fair(smaller.draft.scenario) else "not fair"


def _left(is_fair, carrier=Carrier.PAYLOAD, is_admitted=True):
    """What is left of a probe on which the agent always fails."""
    probe = _probe(_document())

    async def admitted_anew(draft):
        return SimpleNamespace(probe=replace(_probe(draft.scenario), draft=draft)) if is_admitted else None

    async def simpler(_):
        for draft in ():
            yield draft

    async def fails(probe, _):
        return TWICE, True

    archetypes = {probe.primary_archetype: SimpleNamespace(shape=SimpleNamespace(carrier=carrier))}
    admission = SimpleNamespace(witnesses=None, profile=SimpleNamespace(archetypes=archetypes))
    drafting = SimpleNamespace(
        admission=admission, admitted_anew=admitted_anew, generator=SimpleNamespace(simpler_drafts=simpler)
    )
    jury = (_Vote(lambda _: True), _Vote(is_fair))
    found = asyncio.run(shrink_probe(probe, TWICE, drafting, fails, asked=jury)).probe.draft.scenario
    return found["stimuli"][1]["value"].startswith("It rains."), KILN in found["preconditions"]["environment"]["state"]


def _has_kiln(document):
    return KILN in document["preconditions"]["environment"]["state"]


@pytest.mark.requirement("SI-03")
def test_whatever_nobody_objects_to_goes():
    assert _left(lambda document: True) == (False, False)


@pytest.mark.requirement("SI-03")
def test_a_part_stays_without_which_one_vote_objects():
    assert _left(_has_kiln) == (False, True)


@pytest.mark.requirement("SI-03")
def test_no_part_goes_of_which_no_smaller_form_is_admitted():
    assert _left(lambda document: True, is_admitted=False) == (True, True)


@pytest.mark.requirement("SI-03")
def test_prompts_stay_whole_where_the_operator_asks_for_the_violation():
    assert _left(lambda document: True, Carrier.PROMPT) == (True, False)
