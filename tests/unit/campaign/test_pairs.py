"""Renamed pairs: published scenarios under other names beside their originals, in no count, with an honest test."""

import asyncio
from dataclasses import replace

import pytest

from bundled import small_profile
from remembered import witnesses_remembered
from sirocco.campaign.account import PhaseAccount, Recount
from sirocco.campaign.admission import Admission
from sirocco.campaign.block import adversarial_block
from sirocco.campaign.pairs import pair_figures, renamed_draft
from sirocco.campaign.phase import AdversarialPhase, CampaignSettings
from sirocco.campaign.reruns import RerunOutcome
from sirocco.campaign.targets import targets
from sirocco.evaluation.participation import judged_participation
from sirocco.oasis.archetype import Classification
from sirocco.oasis.event import CoreFrozen, UnitFinished, Warned
from sirocco.reports.document import verdict_document
from sirocco.reports.headline import pair_result
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy, run
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins
from sirocco.wiring.assemble import witnesses

SETTINGS = RunSettings(11, lambda: "2026-01-01T00:00:00.000000Z")
PROBES, PAIRS = 3, 6
CALLS = 14
TEST_KEYS = {"p_value", "power", "detectable_drop"}


@pytest.fixture(autouse=True)
def known_witnesses():
    """What a phase does with its probes is looked at here, and many phases draw the same ones."""
    with witnesses_remembered():
        yield


@pytest.fixture(scope="module")
def profile():
    return small_profile()


def _performed(profile, agent, pairs=PAIRS, calls=500, policy=ExtensionPolicy.ON_PASS):
    provider = plugins.provider("simulator", profile)
    execution = Execution(plugins.agent(agent, profile), provider, SETTINGS)
    generator, aims = plugins.generator("mutation", profile), targets(profile, ("S-PI-001", "S-BE-001"))
    admission = Admission(
        profile, aims, witnesses(provider, SETTINGS, profile.domain), method=generator.method, seed=SETTINGS.seed
    )
    wanted = CampaignSettings(probes=PROBES, confirm=0, parallel=1, max_agent_calls=calls, reruns=1, pairs=pairs)
    phase = AdversarialPhase(profile, aims, generator, admission, execution, wanted)
    core = Core(profile, profile.scenarios, execution, 1, "given", policy=policy)

    async def events():
        return [event async for event in run(core, [phase])]

    return asyncio.run(events()), phase


@pytest.fixture(scope="module")
def memorizer(profile):
    return _performed(profile, "ref:memorizer")


@pytest.fixture(scope="module")
def careful(profile):
    return _performed(profile, "ref:careful")


def _units(events, kind):
    return [event.result for event in events if isinstance(event, UnitFinished) and event.kind == kind]


@pytest.mark.requirement("SI-04")
def test_an_agent_that_learned_the_published_texts_does_worse_under_other_names(memorizer, careful):
    learned, honest = (phase.block()["pairs"] for _, phase in (memorizer, careful))
    assert learned["compared"] == honest["compared"] == PAIRS
    assert (learned["worse"], learned["better"]) == (PAIRS, 0)
    assert (honest["worse"], honest["same"]) == (0, PAIRS)
    assert learned["test"]["is_significant"]
    assert learned["test"]["p_value"] == pytest.approx(0.5**PAIRS, abs=1e-4)
    assert not honest["test"]["is_significant"]


@pytest.mark.requirement("SI-04")
def test_a_p_value_never_stands_without_the_power_of_the_test(memorizer, careful):
    for _, phase in (memorizer, careful):
        block = phase.block()
        assert block["pairs"]["test"].keys() >= TEST_KEYS
        assert "power" in pair_result(block)
        assert "p " in pair_result(block)


@pytest.mark.requirement("AV-12", "AV-17", "AV-22")
def test_pairs_are_in_no_count_of_probes_and_not_in_the_core(profile, memorizer):
    events, phase = memorizer
    block = phase.block()
    assert block["executed"] == block["probe_summary"]["total_probes"] == len(block["probe_details"]) == PROBES
    assert block["safety_results"]["total"] == PROBES
    assert len(block["safety_results"]["failures"]) == block["safety_results"]["failed"] <= PROBES
    assert not any(str(one).count("renamed") for one in (block["findings"], block["safety_results"]))
    frozen = next(event for event in events if isinstance(event, CoreFrozen))
    assert {one.unit for one in frozen.core.results} == {one.scenario.id for one in profile.scenarios}
    before = events[: events.index(frozen)]
    assert not _units(before, "renamed")
    assert len(_units(events, "renamed")) == PAIRS


def test_each_renamed_form_has_a_rerun_of_its_original_and_the_probes_stay_the_same(profile, careful):
    events, phase = careful
    originals = {one.unit.removesuffix(".rerun-1") for one in _units(events, "rerun")}
    assert {one.unit.removesuffix(".renamed") for one in _units(events, "renamed")} <= originals
    _, without = _performed(profile, "ref:careful", pairs=0)
    assert without.block()["probe_details"] == phase.block()["probe_details"]
    assert "pairs" not in without.block()
    assert pair_result(without.block()) is None


def test_only_names_and_words_differ_and_both_forms_are_judged_by_the_same_rules(profile, careful):
    published = {one.scenario.id: one for one in profile.scenarios}
    for result in _units(careful[0], "renamed"):
        original, renamed = published[result.unit.removesuffix(".renamed")].scenario, result.bound.scenario
        assert renamed.x_sirocco.probe is None
        assert [one.type for one in renamed.stimuli] == [one.type for one in original.stimuli]
        assert renamed.prompts != original.prompts
        kinds = [[entry.kind for entry in one.preconditions.environment.state] for one in (original, renamed)]
        assert kinds[0] == kinds[1]
        names = [{entry.name for entry in one.preconditions.environment.state} for one in (original, renamed)]
        assert not names[0] & names[1]
    bound = profile.scenarios[0]
    assert renamed_draft(bound, profile, 3, 0) == renamed_draft(bound, profile, 3, 0)
    assert renamed_draft(bound, profile, 3, 0).scenario != renamed_draft(bound, profile, 4, 0).scenario


@pytest.mark.requirement("SI-07")
def test_the_pairs_follow_again_from_account_and_units(profile, memorizer):
    events, phase = memorizer
    account = PhaseAccount.from_document(phase.account()["campaign"])
    recount = Recount(account, lambda name: profile.classification(name) is Classification.SAFETY, None)
    for event in events:
        if isinstance(event, UnitFinished) and event.kind != "scenario":
            assert recount.add(event.kind, event.result) is None
    recount.settle()
    core = next(event.core for event in events if isinstance(event, CoreFrozen))
    assert adversarial_block(account, core, recount.tally, recount.is_safety) == phase.block()
    renamed = _units(events, "renamed")[0]
    assert "does not list" in recount.add("renamed", replace(renamed, unit="another.renamed"))


def test_pairs_are_paid_for_from_the_same_calls_and_what_cannot_be_made_is_said(profile):
    events, phase = _performed(profile, "ref:careful", pairs=50, calls=CALLS)
    block = phase.block()
    assert block["agent_calls"]["spent"] <= CALLS
    assert "renamed pairs" in block["agent_calls"]["not_reached"]
    assert not block["complete"]
    assert any("of 50 renamed pairs" in event.text for event in events if isinstance(event, Warned))
    assert block["pairs"]["made"] <= len(profile.scenarios)


@pytest.mark.requirement("SI-04")
def test_after_a_core_that_did_not_pass_the_test_is_withheld(profile):
    _, phase = _performed(profile, "ref:naive", policy=ExtensionPolicy.ALWAYS)
    assert set(phase.block()["pairs"]) == {"asked", "withheld"}
    assert "the core did not pass" in pair_result(phase.block())


def _outcome(name, kind, status, score=None):
    return RerunOutcome(f"{name}.{kind}", name, status, score)


@pytest.mark.requirement("SI-04")
def test_too_few_pairs_are_not_tested_and_undecided_ones_do_not_count():
    originals = [_outcome(f"s{n}", "rerun-1", "PASS") for n in range(6)]
    renamed = [_outcome(f"s{n}", "renamed", "FAIL" if n else None) for n in range(5)]
    found = pair_figures(originals, renamed, asked=6, made=5)
    assert (found["compared"], found["worse"], found["undecided"]) == (4, 4, 1)
    assert set(found["test"]) == {"not_computed"}
    assert "No memorization test" in pair_result({"pairs": found})
    scored = [_outcome("c", "rerun-1", "PASS", 1.0)], [_outcome("c", "renamed", "PASS", 0.5)]
    assert pair_figures(*scored, asked=1, made=1)["worse"] == 1


@pytest.mark.requirement("AV-24")
def test_signs_of_memorization_ask_for_review_where_no_probe_was_violated(careful):
    events, phase = careful
    core = next(event.core for event in events if isinstance(event, CoreFrozen))
    frozen = {"safety": "PASS", "safety_details": {}}
    # Three probes are few; what the agent leaves undone in them asks for review by itself, and is not what this is about.
    block = {**phase.block(), "participation": judged_participation(core.results)}
    clean = verdict_document(core, frozen, {}, block)["verdict"]["adversarial_verification"]
    assert "nothing here asks for additional review" in clean["certification_recommendation"]
    test = block["pairs"]["test"] | {"is_significant": True}
    suspect = {**block, "pairs": block["pairs"] | {"test": test}}
    told = verdict_document(core, frozen, {}, suspect)["verdict"]["adversarial_verification"]
    assert told["certification_recommendation"].startswith("Additional review before certification")
    assert "learned published names" in told["certification_recommendation"]
