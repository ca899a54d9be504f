"""Composition: two scenarios in one environment, each check with the archetype that it counts for."""

import asyncio
from random import Random
from typing import Any

import pytest

from sirocco.campaign.targets import targets
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.probe import Cell, Draft, ProbeRequest
from sirocco.probes.mutation.bases import base_draft
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.wiring import profile_source
from unit.probes.clusters import composed, fits, published_only

LISTS = {"assertions": ("must", "must_not"), "verification": ("state_assertions", "api_audit", "value_containment")}


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


@pytest.fixture(scope="module")
def documents(profile):
    return {one.scenario.id: base_draft(one, profile.document).document() for one in profile.scenarios}


def attributions(document: dict[str, Any]) -> dict[str, str]:
    """What each check of a document counts for."""
    own, named = document["archetype"], document.get("x-sirocco", {}).get("checks", {})
    numbered = [
        f"{kind}.{number}"
        for part, kinds in LISTS.items()
        for kind in kinds
        for number in range(len(document.get(part, {}).get(kind, ())))
    ]
    return {check: named.get(check, own) for check in numbered}


@pytest.mark.requirement("AV-18", "SI-13")
def test_every_check_of_a_guest_counts_for_what_it_counted_for_before(documents):
    tried = 0
    guests = [one for one in documents.values() if one.get("x-sirocco", {}).get("checks")]
    assert guests
    for guest in guests:
        for host in documents.values():
            together = composed(host, guest, Random(3)) if fits(host, guest) else None
            if together is None:
                continue
            tried += 1
            before, after = attributions(host), attributions(together)
            assert {check: after[check] for check in before} == before
            added = [after[check] for check in after if check not in before]
            assert set(added) <= set(attributions(guest).values())
            required = [rule for rule in together["verification"].get("api_audit", ()) if "required" in rule]
            numbers = [together["verification"]["api_audit"].index(rule) for rule in required]
            assert all(after[f"api_audit.{number}"].startswith("C-") for number in numbers)
    assert tried


def test_what_would_decide_the_host_by_the_work_of_the_guest_is_not_composed(documents):
    guests = [one for one in documents.values() if one.get("x-sirocco", {}).get("checks")]
    hosts = [one for one in documents.values() if one["classification"] == "capability"]
    pairs = [(host, guest) for guest in guests for host in hosts if host["archetype"] in attributions(guest).values()]
    assert pairs
    assert not any(fits(host, guest) for host, guest in pairs)


@pytest.mark.requirement("AV-18")
def test_no_operator_takes_an_attribution_from_a_check_of_its_base(profile, documents):
    aims, generator = targets(profile), MutationGenerator(published_only(profile))

    async def drafts(seed: int) -> list[Draft]:
        cells = tuple(Cell(number, aim.id) for number, aim in enumerate(aims))
        return [draft async for draft in generator.propose(ProbeRequest(aims, (), tuple(Surface), seed, cells))]

    for draft in (one for seed in range(4) for one in asyncio.run(drafts(seed))):
        before = attributions(documents[draft.base["scenario"]])
        after = attributions(dict(draft.scenario))
        assert {check: after[check] for check in before} == before, draft.lineage
