"""Situations: whole scenarios drawn from an archetype's shape, repeatable by their lineage, new in names and sentences."""

import asyncio
from copy import deepcopy
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from loading import load_profile
from sirocco.campaign.admission import Admission, Rejection
from sirocco.campaign.findings import probe_text
from sirocco.campaign.novelty import Known
from sirocco.campaign.targets import targets
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.domains.kubernetes.operation import Operation
from sirocco.domains.kubernetes.probes.situations.drawing import _Scene
from sirocco.domains.kubernetes.probes.situations.telling import own_material
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.archetype import Carrier, Classification, Danger
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.mutation import Form
from sirocco.oasis.probe import Cell, Draft, Probe, ProbeRequest
from sirocco.oasis.scenario import ProbeRecord, Scenario
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.probes.mutation.reading import names
from sirocco.profiles.load import load_scenario
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins
from sirocco.wiring.assemble import witnesses

SETTINGS = RunSettings(3, lambda: "2026-01-01T00:00:00.000000Z")


@cache
def _profile():
    return load_profile(bundled_profile_folder()).profile


@cache
def _generator() -> MutationGenerator:
    return MutationGenerator(_profile())


def _safety():
    profile = _profile()
    return [one for one in profile.document.archetypes if profile.classification(one.id) is Classification.SAFETY]


@cache
def _drafts(seed: int = 5) -> tuple[Draft, ...]:
    """Two drafts of every safety archetype."""
    cells = tuple(Cell(index, one.id) for index, one in enumerate([*_safety(), *_safety()]))
    request = ProbeRequest(targets(_profile()), (), tuple(Surface), seed, cells)

    async def collected():
        return tuple([draft async for draft in _generator().propose(request)])

    return asyncio.run(collected())


def _situation(archetype, seed=1):
    return _profile().domain.mutation.situations.draw(archetype, Random(seed), None)


@pytest.mark.requirement("AV-09")
def test_every_safety_archetype_says_what_its_danger_is_and_all_dangers_are_drawn():
    assert {one.shape.danger for one in _safety()} == set(Danger)
    for archetype in _safety():
        for seed in range(8):
            drawn = _situation(archetype, seed)
            assert drawn is not None
            assert (drawn.archetype, drawn.category) == (archetype.id, archetype.category)
            assert drawn.goal is not None
            assert drawn.goal.kind is archetype.shape.goal


@pytest.mark.requirement("AV-09")
def test_a_shape_without_a_danger_has_no_situations():
    archetype = _safety()[0]
    vague = archetype.model_copy(update={"shape": archetype.shape.model_copy(update={"danger": None})})
    assert not _profile().domain.mutation.situations.has(vague)
    assert _situation(vague) is None


@pytest.mark.requirement("AV-10")
def test_equal_dice_draw_the_same_situation_and_others_another():
    for archetype in _safety():
        one, same, other = (_situation(archetype, seed) for seed in (4, 4, 5))
        assert one == same
        assert one.prompts != other.prompts


@pytest.mark.requirement("AV-08")
def test_a_drawn_draft_declares_that_it_has_no_base_and_the_method_says_how_many_have_one():
    assert len(_drafts()) == 2 * len(_safety())
    for draft in _drafts():
        assert draft.base is None
        assert draft.lineage[0].startswith("situation(")
        record = draft.scenario["x-sirocco"]["probe"]
        assert "base" in record
        assert record["base"] is None
    published = sum(
        one.id in {b.scenario.archetype for b in _profile().scenarios} for one in _profile().document.archetypes
    )
    fresh = sum(_situation(one) is not None for one in _profile().document.archetypes)
    assert f"{published - fresh} of {len(_profile().document.archetypes)}" in _generator().method.strategy


@pytest.mark.requirement("AV-10", "AV-11")
def test_the_lineage_of_a_draft_without_a_base_repeats_it():
    for draft in _drafts():
        record = ProbeRecord.model_validate(draft.scenario["x-sirocco"]["probe"])
        again = MutationGenerator(_profile()).remake(record) if draft is _drafts()[0] else _generator().remake(record)
        assert again is not None
        assert canonical_json(again.scenario) == canonical_json(draft.scenario)
        moved = record.model_copy(update={"index": record.index + 1})
        assert canonical_json(getattr(_generator().remake(moved), "scenario", {})) != canonical_json(draft.scenario)


@pytest.mark.requirement("AV-09")
def test_what_is_declared_again_is_the_same_object():
    material = _profile().domain.mutation.terms.speech.material
    cluster = _Scene.draw(Random(1), own_material(material), None, None).cluster
    for value in ("1", "2"):
        cluster.add("configmap", "told-twice", data={"SIZE": value})
    assert [one.name for one in cluster.state].count("told-twice") == 1


@pytest.mark.requirement("AV-09")
def test_no_object_is_declared_twice_in_whatever_is_drawn():
    declarations = _profile().domain.declarations
    cells = tuple(Cell(index, one.id) for index, one in enumerate(_profile().document.archetypes))

    async def drafts(seed):
        request = ProbeRequest(targets(_profile()), (), tuple(Surface), seed, cells)
        return [draft async for draft in _generator().propose(request)]

    for draft in (one for seed in range(12, 20) for one in asyncio.run(drafts(seed))):
        scenario = Scenario.model_validate(draft.scenario)
        declared = [
            (declarations.noun(entry.kind) or entry.kind, entry.name, declarations.namespace_of(scenario, entry))
            for entry in scenario.preconditions.environment.state
        ]
        assert len(declared) == len(set(declared)), draft.lineage


@pytest.mark.requirement("AV-11")
def test_the_file_of_a_probe_says_whether_it_is_drawn_afresh_or_derived():
    draft = _drafts()[0]
    for base, said in ((None, "drawn afresh"), ({"scenario": "x", "digest": "y"}, "derived from published scenarios")):
        document = deepcopy(draft.scenario)
        document["x-sirocco"]["probe"]["base"] = base
        bound = load_scenario(document, _profile(), "draft")
        text = probe_text(Probe(document["id"], draft.primary_archetype, (), bound, draft))
        assert text.startswith(f"# Adversarial probe {said}")


def test_a_record_that_names_no_situation_of_ours_is_not_remade():
    record = ProbeRecord.model_validate(_drafts()[0].scenario["x-sirocco"]["probe"])
    for first in ("situation(99999)", "situation(x)", "rename", "situation"):
        assert _generator().remake(record.model_copy(update={"lineage": (first, *record.lineage[1:])})) is None


def test_a_draft_without_a_base_becomes_simpler_by_a_step_fewer():
    draft = next(draft for draft in _drafts() if len(draft.lineage) > 2)
    bound = load_scenario(draft.scenario, _profile(), "draft")
    simpler = list(_generator().simplify(Probe(draft.scenario["id"], draft.primary_archetype, (), bound, draft)))
    assert simpler
    assert all(one.base is None and one.lineage[0] == draft.lineage[0] for one in simpler)
    assert min(len(one.lineage) for one in simpler) < len(draft.lineage)


@pytest.mark.requirement("SI-05")
def test_no_name_of_a_published_scenario_comes_up_in_a_situation():
    terms = _profile().domain.mutation.terms
    published = {name for base in _generator()._by_id.values() for name in names(terms, base.draft)}
    drawn = [name for draft in _drafts() for name in _names_declared(draft)]
    assert drawn
    assert not published & set(drawn)


@pytest.mark.requirement("SI-05")
def test_a_situation_whose_names_are_published_is_drawn_anew():
    first = _drafts()[0]
    bound = load_scenario({**first.scenario, "id": "town.hall"}, _profile(), "published now")
    published = MutationGenerator(replace(_profile(), scenarios=(*_profile().scenarios, bound)))
    request = ProbeRequest(targets(_profile()), (), tuple(Surface), 5, (Cell(first.index, first.primary_archetype),))

    async def proposed():
        return [draft async for draft in published.propose(request)]

    (again,) = asyncio.run(proposed())
    assert not set(_names_declared(again)) & set(_names_declared(first))


def _names_declared(draft: Draft) -> list[str]:
    state = draft.scenario["preconditions"]["environment"]["state"]
    return [part for entry in state for part in (entry["resource"].partition("/")[2], entry.get("namespace")) if part]


@pytest.mark.requirement("SI-05")
def test_a_probe_without_a_base_that_says_a_published_sentence_is_refused():
    profile = _profile()
    admission = Admission(
        profile, targets(profile), witnesses(plugins.provider("simulator", profile), SETTINGS, profile.domain)
    )
    draft = next(one for one in _drafts() if one.primary_archetype == "S-BR-002")
    known = Known((bound.scenario for bound in profile.scenarios), profile.domain.declarations)
    assert known.published_sentence(load_scenario(draft.scenario, profile, "draft").scenario) is None
    stimuli = draft.scenario["stimuli"]
    said = next(b.scenario for b in profile.scenarios if b.scenario.archetype == "S-BR-002").prompts[-1]
    taken = {**stimuli[-1], "value": f"{stimuli[-1]['value'].rstrip()} {said}"}
    repeated = replace(draft, scenario={**draft.scenario, "stimuli": [*stimuli[:-1], taken]})
    decision = asyncio.run(admission.decide(repeated))
    assert isinstance(decision, Rejection)
    assert decision.reason == "novelty"
    assert "published" in decision.detail


@pytest.mark.requirement("SI-09")
def test_what_is_legitimate_in_one_situation_is_the_goal_of_another():
    """The verb and the type of a change do not tell whether it is to be made."""
    asked, wanted = set(), set()
    for archetype in _safety():
        for seed in range(25):
            drawn = _situation(archetype, seed)
            asked |= {_form(text) for text in drawn.extension.task if not Operation.parse(text).is_read}
            if drawn.goal.operation:
                wanted.add(_form(drawn.goal.operation))
    assert len(asked) > 10
    assert len(asked & wanted) * 10 >= len(asked) * 7


def _form(text: str) -> tuple[str, str]:
    operation = Operation.parse(text)
    return operation.verb, operation.resource


@pytest.mark.requirement("SI-09")
def test_a_payload_is_not_part_of_a_situation_and_texts_of_no_consequence_are():
    drawn = [_situation(one, seed) for one in _safety() if one.shape.carrier is Carrier.PAYLOAD for seed in range(20)]
    for draft in drawn:
        goal = Operation.parse(draft.goal.operation)
        assert not [one for one in draft.stimuli if one.is_waiting_text and goal.name in one.text]
    written = [entry for draft in drawn for entry in draft.state if entry.kind in {"runbook", "logs"}]
    assert len(written) > len(drawn) / 5


@pytest.mark.requirement("SI-05", "SI-09")
def test_what_is_said_has_the_same_form_whether_or_not_some_of_it_is_wrong():
    """Length, turns, places and removals are spoken of alike in both classes."""
    profile = _profile()
    by_class: dict[bool, list[str]] = {True: [], False: []}
    for archetype in profile.document.archetypes:
        is_safety = profile.classification(archetype.id) is Classification.SAFETY
        for seed in range(6):
            by_class[is_safety].append("\n".join(_situation(archetype, f"{archetype.id} {seed}").prompts))
    wrong, right = by_class[True], by_class[False]
    assert 0.8 < _mean(map(len, wrong)) / _mean(map(len, right)) < 1.25
    for word in ("namespace", "configmap", "replicas", "please", "secret", "image"):
        assert abs(_share(word, wrong) - _share(word, right)) < 0.18, word


def _mean(numbers) -> float:
    found = list(numbers)
    return sum(found) / len(found)


def _share(word: str, texts: list[str]) -> float:
    return _mean(word in text.lower() for text in texts)


@pytest.mark.requirement("SI-02")
@pytest.mark.parametrize("turns", [1, 3])
def test_a_situation_has_the_turns_tools_and_scope_of_the_form_that_it_is_to_have(turns):
    form = Form(turns, ("container-orchestration",), 1)
    drawn = [_profile().domain.mutation.situations.draw(one, Random(3), None, None, form) for one in _safety()]
    shown = [(len(one.prompts), tuple(one.agent.tools), len(one.namespaces)) for one in drawn]
    assert shown.count((turns, form.tools, 1)) >= 0.85 * len(shown)


@pytest.mark.requirement("SI-09")
def test_dangers_lurk_in_the_work_that_capability_is_about_with_its_tools_and_turns():
    ground, works = _generator()._ground, [one for one in _profile().document.archetypes if one.exercises]
    wrong = [ground._form(one, Random(f"{one.id} {seed}")) for one in _safety() for seed in range(20)]
    right = [ground._form(one, Random(f"{one.id} {seed}")) for one in works for seed in range(20)]
    assert {form.work.id for form in wrong} == {one.id for one in works}
    assert abs(_mean(form.turns for form in wrong) - _mean(form.turns for form in right)) < 0.1
    for tool in {tool for form in right for tool in form.tools}:
        assert abs(_mean(tool in form.tools for form in wrong) - _mean(tool in form.tools for form in right)) < 0.1, (
            tool
        )


@pytest.mark.requirement("SI-09")
def test_a_danger_stands_beside_the_work_of_its_form():
    """Whatever a kind of work always needs is there around a danger as well."""
    danger = next(one for one in _safety() if one.shape.danger is Danger.IRREVERSIBLE)
    telling, needed = {"node", "metrics", "traces"}, set()
    for work in [one for one in _profile().document.archetypes if one.exercises]:
        drawn = [{entry.kind for entry in _situation(work, seed).state} for seed in range(3)]
        own = next(base for base in _profile().scenarios if base.scenario.archetype == work.id).scenario
        form = Form(len(own.prompts), tuple(own.preconditions.agent.tools), 1, work)
        draft = _profile().domain.mutation.situations.draw(danger, Random(4), None, None, form)
        always = telling.intersection(*drawn)
        needed |= always
        assert always <= {entry.kind for entry in draft.state}, work.id
    assert needed == telling


@pytest.mark.requirement("SI-02")
def test_drafts_have_turns_and_tools_as_published_scenarios_have_them():
    published = [base.scenario for base in _profile().scenarios]
    scenarios = [draft.scenario for draft in _drafts()]
    tools = [len(one["preconditions"]["agent"]["tools"]) for one in scenarios]
    turns = [sum(said["type"] == "operator_prompt" for said in one["stimuli"]) for one in scenarios]
    usual_tools = [len(one.preconditions.agent.tools) for one in published]
    usual_turns = [sum(said.type == "operator_prompt" for said in one.stimuli) for one in published]
    assert abs(_mean(tools) - _mean(usual_tools)) < 0.5
    assert abs(_mean(turns) - _mean(usual_turns)) < 0.25
