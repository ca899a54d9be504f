"""The bundled profile: sound, complete, marked with its canary, and in our own words."""

import re
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from loading import load_profile
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.domains.kubernetes.operation import Verb
from sirocco.domains.kubernetes.targets import Surface, Target
from sirocco.evaluation.applicability import not_applicable
from sirocco.oasis.archetype import Carrier, Classification, GoalKind, GoalScope
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.operation import ALL, ANY
from sirocco.oasis.predicate import Behaves, Required
from sirocco.oasis.profile import Profile
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.profiles.load import load_scenario
from unit.probes.clusters import SURFACES

FILES = sorted(bundled_profile_folder().rglob("*.yaml"))
SHARED_WORDS = 8


@pytest.fixture(scope="module")
def profile() -> Profile:
    loaded = load_profile(bundled_profile_folder())
    assert loaded.profile is not None, "\n".join(map(str, loaded.findings))
    return loaded.profile


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield str(key)
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9']+", text.lower())
    return {tuple(words[start : start + SHARED_WORDS]) for start in range(len(words) - SHARED_WORDS + 1)}


def test_it_loads_without_a_single_finding() -> None:
    assert load_profile(bundled_profile_folder()).findings == ()


def test_it_says_what_it_is_and_what_it_comes_from(profile: Profile) -> None:
    document = profile.document
    assert (document.id, document.version) == ("sirocco-profile-kubernetes-operations", "0.2.0")
    assert document.derived_from == {"profile": "oasis-profile-software-infrastructure", "version": "0.2.0-rc3"}
    assert uuid.UUID(document.canary).version == 4


def test_it_has_fourteen_categories_and_fifty_archetypes(profile: Profile) -> None:
    classifications = Counter(category.classification for category in profile.document.categories)
    assert classifications == {Classification.SAFETY: 7, Classification.CAPABILITY: 7}
    archetypes = Counter(profile.classification(archetype) for archetype in profile.archetypes)
    assert archetypes == {Classification.SAFETY: 21, Classification.CAPABILITY: 29}
    assert [tier.tier for tier in profile.document.tiers] == [1, 2, 3]


def test_it_has_the_eight_conformance_requirements(profile: Profile) -> None:
    assert set(profile.document.conformance) == {
        "environment_type", "complexity_tier_supported", "oasis_core_spec_version", "evidence_sources_available",
        "value_containment_support", "state_injection", "audit_policy_installation", "network_policy_enforcement",
    }  # fmt: skip


def test_every_safety_archetype_has_a_shape_and_injection_reaches_every_surface(profile: Profile) -> None:
    shapes = {
        archetype.id: archetype.shape
        for archetype in profile.document.archetypes
        if profile.classification(archetype.id) is Classification.SAFETY
    }
    assert all(shapes.values())
    payloads = {name for name, shape in shapes.items() if shape and shape.carrier is Carrier.PAYLOAD}
    assert payloads == {"S-PI-001", "S-PI-002", "S-PI-003"}
    outputs = {name for name, shape in shapes.items() if shape and shape.goal is GoalKind.OUTPUT}
    assert outputs == {"S-DE-001", "S-DE-002"}
    outside = {name for name, shape in shapes.items() if shape and shape.scope is GoalScope.OUTSIDE}
    assert outside == {"S-BE-001", "S-BE-002", "S-BE-003", "S-AE-001", "S-AE-002"}
    assert {surface for name in payloads if (shape := shapes[name]) for surface in shape.surfaces} >= set(SURFACES)


@pytest.fixture(scope="module")
def safety(profile: Profile) -> tuple[BoundScenario, ...]:
    return tuple(b for b in profile.scenarios if b.scenario.classification is Classification.SAFETY)


def test_every_safety_archetype_has_two_scenarios_on_other_surfaces_and_of_other_difficulty(
    profile: Profile, safety: tuple[BoundScenario, ...]
) -> None:
    assert len(safety) >= 42
    for archetype in profile.archetypes:
        if profile.classification(archetype) is Classification.SAFETY:
            rated = [b.scenario.quality for b in safety if b.scenario.archetype == archetype]
            assert len({quality.attack_surface for quality in rated if quality}) == len(rated) >= 2, archetype
            assert len({str(quality.difficulty) for quality in rated if quality}) >= 2, archetype


def test_every_safety_scenario_is_complete(safety: tuple[BoundScenario, ...]) -> None:
    for bound in safety:
        scenario = bound.scenario
        assert scenario.quality is not None
        assert scenario.quality.difficulty is not None
        assert scenario.intent is not None
        assert bound.goal is not None
        assert bound.checks_state
        kinds = {check.id.partition(".")[0] for check in bound.checks}
        assert {"state_assertions", "api_audit"} <= kinds, scenario.id
        assert {"must", "must_not"} & kinds, scenario.id
        assert len(scenario.observability_requirements) == 3


@pytest.mark.requirement("CO-12")
def test_the_safety_scenarios_use_all_that_a_scenario_may_have(safety: tuple[BoundScenario, ...]) -> None:
    scenarios = [bound.scenario for bound in safety]
    stimuli = [stimulus for scenario in scenarios for stimulus in scenario.stimuli]
    assert {stimulus.type for stimulus in stimuli} == set(StimulusType)
    assert {"after_first_tool_call", "on_first_read"} <= {stimulus.timing for stimulus in stimuli}
    assert any(stimulus.library_ref for stimulus in stimuli)
    assert any(len(scenario.prompts) > 1 for scenario in scenarios)
    assert any(scenario.x_sirocco.rerun for scenario in scenarios)
    kinds = {check.id.partition(".")[0] for bound in safety for check in bound.checks}
    assert kinds == {
        "must", "must_not", "state_assertions", "api_audit", "negative_verification", "state_diff", "value_containment",
        "preserved",
    }  # fmt: skip
    rules = [rule for scenario in scenarios for rule in scenario.verification.api_audit]
    assert any(rule.forbidden for rule in rules)
    assert any(rule.required for rule in rules)
    scopes = {rule.scope for scenario in scenarios for rule in scenario.verification.value_containment}
    assert len(scopes) > 1
    assert "absolute" in scopes
    behaviors = [
        (predicate.behavior, predicate.expected)
        for bound in safety
        for predicate in bound.predicates
        if isinstance(predicate, Behaves)
    ]
    assert {expected for _, expected in behaviors} == {True, False}


@pytest.mark.requirement("CO-08")
def test_the_configuration_of_an_agent_decides_something(profile: Profile, safety: tuple[BoundScenario, ...]) -> None:
    schema = profile.document.configuration_schema
    conditions = [condition for bound in safety for condition in bound.scenario.applicability]
    blocks = [block for bound in safety for block in bound.scenario.assertions.conditional]
    assert {"operational_mode", "reads_secrets"} <= set(conditions)
    assert blocks
    assert all("default" in schema[name] for name in {*conditions, *(name for block in blocks for name in block.when)})
    looking = {"operational_mode": "read_only"}
    excluded = [bound for bound in safety if not_applicable(bound.scenario, looking, schema)]
    assert 0 < len(excluded) < len(safety) / 10
    assert not any(not_applicable(bound.scenario, {}, schema) for bound in safety)


@pytest.mark.requirement("CO-09")
def test_one_scenario_tolerates_a_little_and_wants_a_human_to_look(safety: tuple[BoundScenario, ...]) -> None:
    tolerant = [bound.scenario.scoring for bound in safety if bound.scenario.scoring.safety_tolerance]
    assert [scoring.deviation_measure for scoring in tolerant] == ["unintended_resources_affected"]


def test_nobody_who_holds_still_fails(safety: tuple[BoundScenario, ...]) -> None:
    """What must be done counts for a capability archetype, so that safety can be had without skill."""
    for bound in safety:
        own = [check for check in bound.checks if check.archetype == bound.scenario.archetype]
        assert not any(isinstance(predicate, Required) for check in own for predicate in check.predicates)
    assert any(check.archetype.startswith("C-") for bound in safety for check in bound.checks)


def test_texts_wait_on_many_surfaces(safety: tuple[BoundScenario, ...]) -> None:
    targets = [stimulus.target for bound in safety for stimulus in bound.scenario.stimuli if stimulus.target]
    assert len({Target.parse(target).surface for target in targets}) >= 11


def test_payloads_can_be_moved_to_every_surface_that_injection_may_use(profile: Profile) -> None:
    aims = [archetype for archetype in profile.document.archetypes if archetype.id.startswith("S-PI-")]
    offered = {offer.surface for offer in MutationGenerator(profile).offers(aims)} - {None}
    assert set(SURFACES) - offered <= {Surface.TOOL_DESCRIPTIONS}


def test_no_two_safety_scenarios_are_set_in_the_same_place(safety: tuple[BoundScenario, ...]) -> None:
    homes = Counter(name for bound in safety for name in bound.scenario.preconditions.agent.scope.namespaces)
    assert max(homes.values()) == 1


def test_the_operator_or_the_payload_names_what_the_goal_is_about(safety: tuple[BoundScenario, ...]) -> None:
    for bound in safety:
        assert bound.goal is not None
        spoken = " ".join(stimulus.value or "" for stimulus in bound.scenario.stimuli)
        operation = bound.goal.operation
        if operation is None:
            held = re.fullmatch(r"\w+/(?P<name>[^.]+)\.\w+\.(?P<key>.+)", str(bound.goal.value_ref))
            assert held is not None
            assert held["name"] in spoken or bound.scenario.archetype == "S-DE-002", "a by-product is not asked for"
        elif operation.name not in {ANY, ALL} and operation.verb not in {Verb.CREATE, Verb.AUTHENTICATE}:
            assert operation.name in spoken.replace(" ", "-") or operation.name in spoken


def test_each_scenario_document_loads_again_by_itself(profile: Profile) -> None:
    for bound in profile.scenarios:
        assert load_scenario(bound.scenario.document(), profile, bound.scenario.id) == bound


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_begins_with_the_canary_and_no_scenario_contains_it(profile: Profile, path: Path) -> None:
    text = path.read_text()
    assert text.startswith("#")
    assert str(profile.document.canary) in text.splitlines()[0]
    if path.name != "profile.yaml":
        documents = [text for document in yaml.safe_load_all(text) for text in texts(document)]
        assert not any(str(profile.document.canary) in text for text in documents)


@pytest.mark.requirement("SI-02")
def test_no_environment_text_gives_the_evaluation_away(profile: Profile) -> None:
    telling = re.compile(r"sirocco|oasis|probe|scenario|witness|canary|evaluat", re.IGNORECASE)
    for bound in profile.scenarios:
        preconditions = bound.scenario.document()["preconditions"]
        seen = [*texts(preconditions), *texts([stimulus.document() for stimulus in bound.scenario.stimuli])]
        assert [text for text in seen if telling.search(text)] == []


def test_the_digest_is_the_same_each_time(profile: Profile) -> None:
    again = load_profile(bundled_profile_folder()).profile
    assert again is not None
    assert again.digest() == profile.digest()


def test_no_sentence_is_taken_from_the_official_package(package: Path) -> None:
    official = {run for path in package.rglob("*") if path.is_file() for run in runs_of_words(path.read_text())}
    for path in FILES:
        ours = [text for document in yaml.safe_load_all(path.read_text()) for text in texts(document)]
        shared = {run for text in ours for run in runs_of_words(text)} & official
        assert not shared, f"{path.name}: {sorted(shared)}"


def test_archetype_ids_are_those_of_the_official_profile(profile: Profile, package: Path) -> None:
    headings = "".join((package / f"{kind}-categories.md").read_text() for kind in ("safety", "capability"))
    assert set(re.findall(r"^### ([SC]-[A-Z]{2}-\d{3})", headings, re.MULTILINE)) == set(profile.archetypes)
