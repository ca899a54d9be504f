"""The generator: one draft per index, the same for everyone, anchored to what was asked for."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loading import load_profile
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.domains.kubernetes.operation import Operation, covers
from sirocco.domains.kubernetes.targets import Surface, Target
from sirocco.errors import InvalidInput
from sirocco.oasis.canonical import canonical_json, digest
from sirocco.oasis.probe import Cell, Draft, GeneratorMethod, GeneratorType, Probe, ProbeRequest, Reproducibility
from sirocco.probes.mutation.generator import MutationGenerator, Step
from sirocco.profiles.load import load_scenario
from unit.probes.clusters import BY_NAME, published_only, renameable, residue, texts
from unit.probes.town import boundary_document, magnitude_document, town_profile

PROFILE = town_profile()
GENERATOR = MutationGenerator(PROFILE)
TARGETS = PROFILE.document.archetypes
BASES = {bound.scenario.id: bound.scenario.document() for bound in PROFILE.scenarios}
BLIND_WORDS = ("sirocco", "oasis", "probe", "scenario", "witness", "canary")


def _proposed(indices, seed, targets=TARGETS, surfaces=tuple(Surface), generator=GENERATOR) -> tuple[Draft, ...]:
    """Drafts for plain cells, the reachable targets in turn."""
    aims = generator.reachable(targets)
    cells = tuple(Cell(index, aims[index % len(aims)].id) for index in indices) if aims else ()
    return _cells(cells, seed, targets, surfaces, generator)


def _cells(cells, seed, targets=TARGETS, surfaces=tuple(Surface), generator=GENERATOR) -> tuple[Draft, ...]:
    async def collected():
        return tuple([draft async for draft in generator.propose(ProbeRequest(targets, (), surfaces, seed, cells))])

    return asyncio.run(collected())


@cache
def _drafts(number=40, seed=7) -> tuple[Draft, ...]:
    """The first drafts of a seed for all targets; nobody changes them."""
    return _proposed(range(number), seed)


def _texts(drafts) -> list[str]:
    return [canonical_json(draft.scenario) for draft in drafts]


def _probe(draft: Draft) -> Probe:
    bound = load_scenario(draft.scenario, PROFILE, "draft")
    return Probe(draft.scenario["id"], draft.primary_archetype, (), bound, draft)


@pytest.mark.requirement("AV-08")
def test_the_method_is_declared_with_base_and_strategy():
    method = GENERATOR.method
    assert method.type is GeneratorType.MUTATION
    assert method.reproducibility is Reproducibility.DETERMINISTIC
    assert method.base == {"profile": "town", "version": "0.1.0", "digest": PROFILE.digest()}
    assert method.strategy
    assert GeneratorMethod.model_validate(method.document()) == method


@given(st.integers(0, 2**128 - 1), st.integers(0, 12), st.integers(0, 12))
@settings(max_examples=8)
@pytest.mark.requirement("AV-10")
def test_a_draft_depends_on_seed_and_index_alone(seed, first, second):
    low, high = sorted((first, second))
    whole = _texts(_proposed(range(13), seed))
    assert _texts(_proposed(range(low, high), seed)) == whole[low:high]
    assert _texts(_proposed(range(high, low, -1), seed, generator=MutationGenerator(PROFILE))) == whole[high:low:-1]


@pytest.mark.requirement("AV-10")
def test_drafts_are_the_same_bytes_under_any_hash_seed():
    code = (
        "from unit.probes.test_generator import _drafts, _texts\n"
        "from sirocco.oasis.canonical import digest\n"
        "print(digest(_texts(_drafts(16))))"
    )
    root = Path(__file__).resolve().parents[2]
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join([str(root), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    # This process has drawn a hash seed of its own.
    assert printed.strip() == digest(_texts(_drafts(16)))


def test_another_seed_gives_other_drafts():
    assert not set(_texts(_drafts(8, seed=7))) & set(_texts(_drafts(8, seed=8)))


@pytest.mark.requirement("AV-09")
def test_targets_take_turns_and_those_without_a_base_are_left_out():
    reachable = GENERATOR.reachable(TARGETS)
    assert [archetype.id for archetype in reachable] == ["T-PI-001", "T-BE-001", "T-DE-001", "T-BR-001"]
    drafts = _drafts()[:8]
    assert [draft.primary_archetype for draft in drafts] == [archetype.id for archetype in reachable] * 2
    assert [draft.index for draft in drafts] == list(range(8))
    only = tuple(archetype for archetype in TARGETS if archetype.id == "T-BR-002")
    assert _proposed(range(8), 7, only) == ()


@pytest.mark.requirement("AV-09")
def test_nothing_is_drafted_for_what_is_no_target():
    only = tuple(archetype for archetype in TARGETS if archetype.id == "T-PI-001")
    drafts = _cells((Cell(0, "T-BE-001"), Cell(1, "T-PI-001")), 7, only)
    assert [draft.primary_archetype for draft in drafts] == ["T-PI-001"]


def test_a_cell_gets_the_technique_and_the_surface_that_it_asks_for():
    offers = GENERATOR.offers(TARGETS)
    assert len(offers) == len(set(offers))
    assert {offer.archetype for offer in offers} == {archetype.id for archetype in GENERATOR.reachable(TARGETS)}
    for index, offer in enumerate(offers[::7]):
        cell = Cell(index, offer.archetype, offer.technique, offer.surface)
        (draft,) = _cells((cell,), 7)
        assert (draft.index, draft.primary_archetype) == (index, offer.archetype)
        assert draft.technique == offer.technique
        assert offer.surface in {None, draft.surface}
        assert any(BY_NAME[Step.parse(step).operator].technique == offer.technique for step in draft.lineage)
        assert 1 <= len(draft.lineage) <= 4
    assert _cells((Cell(0, "T-BE-001", "transplant"), Cell(1, "T-PI-001", "no such technique")), 7) == ()


def test_only_surfaces_that_were_asked_for_are_used():
    target = tuple(archetype for archetype in TARGETS if archetype.id == "T-PI-001")
    drafts = _proposed(range(6), 7, target, (Surface.EVENTS, Surface.RUNBOOKS))
    assert {_surface(draft) for draft in drafts} == {Surface.EVENTS, Surface.RUNBOOKS}


def test_prompt_archetypes_never_get_a_payload():
    for draft in _drafts():
        if draft.primary_archetype != "T-PI-001":
            assert not any("target" in stimulus for stimulus in draft.scenario["stimuli"])
            assert not any(step.startswith("transplant") for step in draft.lineage)


def test_every_draft_has_a_lineage_of_one_to_four_steps():
    assert all(1 <= len(draft.lineage) <= 4 for draft in _drafts(80))


@pytest.mark.parametrize("seed", [7, 2**127 + 5])
def test_every_draft_is_a_valid_scenario_whose_goal_is_forbidden(seed):
    for draft in _drafts(40, seed):
        bound = load_scenario(draft.scenario, PROFILE, "draft")
        goal = draft.scenario["x-sirocco"]["goal"]
        if "operation" in goal:
            forbidden = [item["action"] for item in draft.scenario["assertions"]["must_not"]]
            operation = Operation.parse(goal["operation"])
            assert any(covers(Operation.parse(action), operation) for action in forbidden)
        else:
            contained = [item["value_ref"] for item in draft.scenario["verification"]["value_containment"]]
            assert goal["output"] in contained
        base = BASES[draft.base["scenario"]]
        for key in ("classification", "category", "archetype", "tier", "version", "scoring"):
            assert draft.scenario[key] == base[key]
        assert len(bound.scenario.prompts) >= len([s for s in base["stimuli"] if s["type"] == "operator_prompt"])
        if "rename" in draft.lineage:
            assert residue(draft.scenario, renameable(base)) == ()


@pytest.mark.requirement("AV-11")
def test_a_draft_records_where_it_came_from():
    draft = _drafts(1, seed=255)[0]
    record = draft.scenario["x-sirocco"]["probe"]
    assert record["primary_archetype"] == draft.primary_archetype == "T-PI-001"
    assert record["secondary_archetypes"] == []
    assert record["generator"] == GENERATOR.method.document()
    assert (record["seed"], record["index"]) == ("0xff", 0)
    assert record["base"] == {**GENERATOR.method.base, "scenario": "town.safety.pi.note-001"} == draft.base
    assert tuple(record["lineage"]) == draft.lineage
    assert draft.scenario["id"].startswith("probe-t-pi-001-")
    assert "companion_scenario" not in draft.scenario["quality"]


@pytest.mark.requirement("AV-02")
def test_a_library_stimulus_is_written_out():
    document = boundary_document()
    document["stimuli"][0]["library_ref"] = "OP-ORDER"
    with_library = PROFILE.document.model_copy(
        update={"stimuli": {"OP-ORDER": PROFILE.scenarios[1].scenario.stimuli[0]}}
    )
    profile = type(PROFILE)(with_library, (), domain=PROFILE.domain)
    profile = type(PROFILE)(with_library, (load_scenario(document, profile, "x"),), domain=PROFILE.domain)
    drafts = _proposed(range(4), 7, generator=MutationGenerator(profile))
    assert drafts
    assert all("library_ref" not in stimulus for draft in drafts for stimulus in draft.scenario["stimuli"])


@pytest.mark.requirement("SI-02")
def test_nothing_that_reaches_the_agent_tells_a_draft_from_a_scenario():
    for draft in _drafts():
        shown = {**draft.scenario, "x-sirocco": {}, "name": "", "intent": "", "description": ""}
        said = " ".join(texts(shown)).lower()
        assert not any(word in said for word in BLIND_WORDS)
        assert draft.scenario["id"] not in said


def test_simplifying_leaves_out_one_operator_at_a_time():
    draft = next(draft for draft in _drafts() if len(draft.lineage) == 3)
    simpler = list(GENERATOR.simplify(_probe(draft)))
    shorter = {tuple(step for step in draft.lineage if step != left_out) for left_out in draft.lineage}
    assert shorter & {one.lineage for one in simpler}
    assert all(len(one.lineage) <= len(draft.lineage) for one in simpler)
    sizes = [len(text) for text in _texts(simpler)]
    assert sizes == sorted(sizes)
    assert _texts(simpler) == _texts(MutationGenerator(PROFILE).simplify(_probe(draft)))
    for one in simpler:
        assert (one.index, one.primary_archetype, one.base) == (draft.index, draft.primary_archetype, draft.base)


def test_simplifying_comes_to_an_end():
    draft = next(draft for draft in _drafts() if len(draft.lineage) > 2)
    for _ in range(60):
        simpler = next((one for one in GENERATOR.simplify(_probe(draft)) if _loads(one)), None)
        if simpler is None:
            return
        draft = simpler
    pytest.fail("it can always be made simpler")


def test_a_probe_whose_base_is_gone_cannot_become_simpler():
    draft = next(draft for draft in _drafts() if len(draft.lineage) > 1)
    assert list(MutationGenerator(town_profile(magnitude_document())).simplify(_probe(_of_another_base(draft)))) == []


def test_a_lineage_with_an_unknown_step_cannot_become_simpler():
    draft = next(draft for draft in _drafts() if len(draft.lineage) > 1)
    extension = draft.scenario["x-sirocco"]
    record = {**extension["probe"], "lineage": [*draft.lineage, "shuffle(2)"]}
    unknown = replace(draft, scenario={**draft.scenario, "x-sirocco": {**extension, "probe": record}})
    assert list(GENERATOR.simplify(_probe(unknown))) == []


def test_a_step_is_read_as_it_is_written():
    for text in ("rename", "reword(hand-over)", "transplant(env_values)"):
        assert str(Step.parse(text)) == text


def test_every_draft_of_the_bundled_profile_loads_and_keeps_no_old_name():
    profile = load_profile(bundled_profile_folder()).profile
    bases = {bound.scenario.id: bound.scenario.document() for bound in profile.scenarios}
    generator = MutationGenerator(published_only(profile))
    targets = profile.document.archetypes
    assert {archetype.id for archetype in generator.reachable(targets)} == {b["archetype"] for b in bases.values()}
    for draft in _proposed(range(70), 3, targets, generator=generator):
        load_scenario(draft.scenario, profile, "draft")
        if "rename" in draft.lineage:
            assert residue(draft.scenario, renameable(bases[draft.base["scenario"]])) == ()


def _loads(draft: Draft) -> bool:
    try:
        load_scenario(draft.scenario, PROFILE, "draft")
    except InvalidInput:
        return False
    return True


def _surface(draft: Draft) -> Surface:
    payload = next(stimulus for stimulus in draft.scenario["stimuli"] if "target" in stimulus)
    return Target.parse(payload["target"]).surface


def _of_another_base(draft: Draft) -> Draft:
    extension = draft.scenario["x-sirocco"]
    record = {**extension["probe"], "base": {**extension["probe"]["base"], "scenario": "gone"}}
    return Draft(draft.index, draft.primary_archetype, {**draft.scenario, "x-sirocco": {**extension, "probe": record}})
