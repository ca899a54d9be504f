"""What every draft of capability goes through, so that a published answer or task is not the right one."""

import asyncio
import re
from random import Random

import pytest

from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.archetype import Classification
from sirocco.oasis.probe import Cell, Draft, ProbeRequest
from sirocco.probes.mutation.bases import base_draft
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.wiring import profile_source
from unit.probes.clusters import BY_NAME, names, operations, prompts

PROFILE = profile_source.required_profile(profile_source.BUNDLED)[0]
SCORED = [one for one in PROFILE.scenarios if one.scenario.classification is Classification.CAPABILITY]


def document(part: str):
    bound = next(one for one in SCORED if part in one.scenario.id)
    return base_draft(bound, PROFILE.document).document(), PROFILE.archetypes[bound.scenario.archetype]


def changed(operator: str, part: str, choice: str):
    base, _ = document(part)
    return BY_NAME[operator].apply(base, choice, Random(1))


def choices(operator: str, part: str) -> tuple[str, ...]:
    return BY_NAME[operator].choices(*document(part))


@pytest.mark.requirement("AV-16")
def test_figures_change_where_they_are_said_set_and_checked():
    probe = changed("figures", "booking-settings", "1")
    (hold,) = re.findall(r"hold_minutes=(\d+)", " ".join(prompts(probe)))
    (guests,) = re.findall(r"max_guests=(\d+)", " ".join(prompts(probe)))
    assert {hold, guests}.isdisjoint({"20", "8", "15", "6"})
    assert f"data.hold_minutes={hold} " in probe["assertions"]["must"][0]["action"]
    assert f"data.max_guests={guests} " in probe["x-sirocco"]["task"][2]
    expected = probe["verification"]["state_assertions"][0]["data"]
    assert expected == {"currency": "EUR", "hold_minutes": hold, "max_guests": guests,
                        "welcome_text": "Good to have you here"}  # fmt: skip


@pytest.mark.requirement("AV-16")
def test_a_figure_of_a_procedure_changes_in_it_and_stays_in_proportion():
    for choice in choices("figures", "kiln-heat"):
        probe = changed("figures", "kiln-heat", choice)
        runbook = next(one for one in probe["preconditions"]["environment"]["state"] if "steps" in one)
        assert "scale kiln-control to 3 replicas" in runbook["steps"][1]
        assert "above 80%" in runbook["steps"][1]
        assert probe["verification"]["state_assertions"][0]["replicas"] == 3
        assert probe["x-sirocco"]["slots"]["goals"][0]["replicas"] == 3
        assert {one.replicas for one in operations(probe) if one.replicas} == {3}


@pytest.mark.requirement("AV-16")
def test_versions_change_together_and_keep_their_order():
    state = changed("figures", "parcel-tracker", "2")["preconditions"]["environment"]["state"]
    tracker = next(one for one in state if one["resource"] == "deployment/parcel-tracker")
    assert (tracker["current_image"], tracker["previous_image"]) == ("parcel-tracker:10.1.0", "parcel-tracker:10.0.6")
    assert changed("figures", "parcel-tracker", "2")["x-sirocco"]["slots"]["cause"][0][1:] == [
        "parcel-tracker:10.1.0",
        "10.1.0",
    ]


def test_what_the_state_alone_decides_keeps_its_figures():
    base, _ = document("label-printer-load")
    probe = changed("figures", "label-printer-load", "1")
    assert probe["x-sirocco"]["slots"] == base["x-sirocco"]["slots"]
    assert prompts(probe) == prompts(base)


@pytest.mark.requirement("AV-16")
def test_an_open_question_keeps_the_subject_and_none_of_the_symptoms():
    for choice in choices("question", "tag-that-was-never-pushed"):
        (asked,) = prompts(changed("question", "tag-that-was-never-pushed", choice))
        assert "parcel-sorter" in asked
        assert not {"pods", "come", "morning"} & set(asked.lower().split())


@pytest.mark.parametrize(
    "part",
    [
        pytest.param("busy-node", id="the operator suspects something else"),
        pytest.param("booking-settings", id="the operator says what to do"),
        pytest.param("whose-lighthouse", id="the operator asks for something else"),
        pytest.param("sync-worker", id="there are several turns"),
    ],
)
def test_what_the_operator_has_to_say_is_no_open_question(part: str):
    assert choices("question", part) == ()


@pytest.mark.requirement("AV-16")
def test_every_draft_of_capability_has_other_names():
    archetypes = tuple(PROFILE.archetypes[one] for one in dict.fromkeys(one.scenario.archetype for one in SCORED))
    techniques = ("reword", "noise", "benign_twin")
    cells = [Cell(number, one.id, techniques[number % 3]) for number, one in enumerate(archetypes * 3)]
    request = ProbeRequest(archetypes, (), tuple(Surface), 5, tuple(cells))

    async def proposed() -> list[Draft]:
        return [draft async for draft in MutationGenerator(PROFILE).propose(request)]

    drafts = asyncio.run(proposed())
    published = {name for one in SCORED for name in names(base_draft(one, PROFILE.document).document()) if "-" in name}
    assert len(drafts) > len(archetypes) * 2
    for draft in drafts:
        is_fresh = draft.lineage[0].startswith("situation(")
        assert is_fresh or "rename" in draft.lineage, draft.lineage
        assert len(draft.lineage) <= 4 + is_fresh
        kept = {entry["resource"].partition("/")[2] for entry in draft.scenario["preconditions"]["environment"]["state"]
                if entry["resource"].startswith("deployment/")} & published  # fmt: skip
        assert not kept


def test_no_operator_against_learning_is_a_technique_that_a_plan_asks_for():
    offers = MutationGenerator(PROFILE).offers(tuple(PROFILE.archetypes.values()))
    assert {"open_question", "other_figures"}.isdisjoint(offer.technique for offer in offers)
