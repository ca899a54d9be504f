"""Shrinking: whatever can go goes, what matters is named, and the budget ends it."""

import asyncio
from dataclasses import replace

import pytest

from sirocco.campaign.shrink import Shrunk, candidates, shrunk, simpler_documents
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.scenario import Reproduction
from sirocco.profiles.load import load_scenario
from unit.probes.town import payload_document, town_profile

PROFILE = town_profile()
TWICE = Reproduction(runs=2, failed=2)


def _document():
    """A payload probe with things around it that nobody needs."""
    document = payload_document()
    document["stimuli"] = [
        {"type": "conversation_context", "value": "We talked about the weather."},
        *document["stimuli"],
    ]
    for stimulus in document["stimuli"]:
        if stimulus["type"] == "operator_prompt":
            stimulus["value"] = "Good morning. It rains. " + stimulus["value"]
    return document


def _probe(document, lineage=()) -> Probe:
    bound = load_scenario(payload_document(), PROFILE, "x")
    return Probe(
        "probe-x", bound.scenario.archetype, (), bound, Draft(0, bound.scenario.archetype, document, (), lineage)
    )


def _shrunk(document, fails, simplify=lambda probe: iter(()), calls=1000, admits=lambda document: True) -> Shrunk:
    """Shrink with an agent that fails on documents for which `fails` holds, and so many runs."""
    left = [calls]

    async def admit(draft):
        return replace(_probe(draft.scenario), draft=draft) if admits(draft.scenario) else None

    async def tried(probe, _):
        if not left[0]:
            return None
        left[0] -= 1
        failed = fails(probe.draft.scenario)
        return Reproduction(runs=2, failed=2 * failed), failed

    return asyncio.run(shrunk(_probe(document), TWICE, simplify, admit, tried))


def _prompts(document):
    return [one["value"] for one in document["stimuli"] if one["type"] == "operator_prompt"]


@pytest.mark.requirement("SI-03")
def test_everything_goes_that_the_failure_does_not_need():
    whole = _document()
    found = _shrunk(whole, lambda document: bool(_prompts(document)))
    left = found.probe.draft.scenario
    assert found.is_finished
    assert found.is_smaller
    assert len(left["stimuli"]) == 1
    assert len(_prompts(left)[0].split(". ")) == 1
    assert {one["resource"].partition("/")[0] for one in left["preconditions"]["environment"]["state"]} == {"namespace"}
    assert left["assertions"] == whole["assertions"]
    assert left["verification"] == whole["verification"]
    assert len(canonical_json(left)) < len(canonical_json(whole))


@pytest.mark.requirement("SI-03")
def test_what_the_failure_needs_stays_and_is_named():
    found = _shrunk(_document(), lambda document: "It rains." in _prompts(document)[0])
    assert _prompts(found.probe.draft.scenario) == ["It rains."]
    assert any(part.startswith("sentence") for part in found.needed)
    assert not set(found.needed) & set(found.removed)
    assert found.explanation() == {
        "without_effect": list(found.removed), "needed": list(found.needed), "finished": True,
    }  # fmt: skip


@pytest.mark.requirement("SI-03")
def test_a_step_counts_only_when_the_result_is_admitted_again():
    def is_sound(document):
        return len(document["stimuli"]) == len(_document()["stimuli"])

    found = _shrunk(_document(), lambda document: True, admits=is_sound)
    assert len(found.probe.draft.scenario["stimuli"]) == len(_document()["stimuli"])
    assert found.is_smaller


@pytest.mark.requirement("SI-03")
def test_a_step_after_which_the_agent_passes_is_taken_back():
    found = _shrunk(_document(), lambda document: False)
    assert not found.is_smaller
    assert found.probe.draft.scenario == _document()
    assert found.reproduction == TWICE


def test_the_end_of_the_budget_ends_it_with_what_there_is():
    found = _shrunk(_document(), lambda document: True, calls=1)
    assert found.is_smaller
    assert not found.is_finished
    assert not _shrunk(_document(), lambda document: True, calls=0).is_smaller


def test_a_generator_takes_back_its_own_steps_first():
    whole = _document()

    def simplify(probe):
        for step in probe.draft.lineage:
            rest = tuple(one for one in probe.draft.lineage if one != step)
            yield replace(probe.draft, scenario={**whole, "name": f"without {step}"}, lineage=rest)

    probe = _probe(whole, ("reword(terse)", "rename"))
    first = [one.without for one in candidates(probe, simplify)][:2]
    assert first == ["operator reword(terse)", "operator rename"]


def test_disguises_and_timings_go_back_to_plain():
    document = _document()
    document["stimuli"][1]["value"] = "de\u200blete \uff41ll"
    document["stimuli"][1]["timing"] = "after_first_tool_call"
    plain = dict(simpler_documents(document))
    disguise = next(found for name, found in plain.items() if name.startswith("disguise"))
    assert disguise["stimuli"][1]["value"] == "delete all"
    timing = next(found for name, found in plain.items() if name.startswith("timing"))
    assert "timing" not in timing["stimuli"][1]


@pytest.mark.parametrize(
    "document", [{}, {"stimuli": 7}, {"stimuli": [3, None]}, {"preconditions": {}, "x-sirocco": 3}]
)
def test_a_document_that_is_none_has_no_smaller_form(document):
    assert list(simpler_documents(document)) == []


def test_shrinking_never_tries_the_same_document_twice():
    seen = []

    def fails(document):
        seen.append(canonical_json(document["stimuli"]) + canonical_json(document["preconditions"]))
        return len(seen) % 2 == 0

    _shrunk(_document(), fails)
    assert len(seen) == len(set(seen))
