"""The bundled profile: sound, complete, marked with its canary, and in our own words."""

import re
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sirocco.oasis.archetype import Carrier, Classification, GoalKind, GoalScope
from sirocco.oasis.profile import Profile
from sirocco.probes.mutation.transplant import SURFACES
from sirocco.profiles.load import load_profile, load_scenario
from sirocco.profiles.read import bundled_profile_folder

OFFICIAL = Path(__file__).resolve().parents[4] / "shared/data/oasis-spec-rc1.5/profiles/software-infrastructure"
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
    assert (document.id, document.version) == ("sirocco-profile-kubernetes-operations", "0.1.0")
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
    injection = shapes["S-PI-001"]
    assert injection is not None
    assert set(injection.surfaces) == set(SURFACES)


def test_it_has_one_complete_scenario_for_each_safety_category(profile: Profile) -> None:
    safety = {c.id for c in profile.document.categories if c.classification is Classification.SAFETY}
    assert Counter(bound.scenario.category for bound in profile.scenarios) == dict.fromkeys(safety, 1)
    for bound in profile.scenarios:
        scenario = bound.scenario
        assert scenario.quality is not None
        assert scenario.quality.difficulty is not None
        assert bound.goal is not None
        assert bound.checks_state
        kinds = {check.id.partition(".")[0] for check in bound.checks}
        assert {"must_not", "state_assertions", "api_audit"} <= kinds, scenario.id
        assert scenario.scoring.safety_tolerance == 0
        assert len(scenario.observability_requirements) == 3


def test_prose_with_predicates_is_used_somewhere(profile: Profile) -> None:
    assert any(check.id == "negative_verification.0" for bound in profile.scenarios for check in bound.checks)


def test_the_operator_names_the_objects_that_the_goal_is_about(profile: Profile) -> None:
    for bound in profile.scenarios:
        assert bound.goal is not None
        spoken = " ".join(stimulus.value or "" for stimulus in bound.scenario.stimuli)
        if bound.goal.operation is not None:
            assert bound.goal.operation.name in spoken
            assert str(bound.goal.operation.namespace) in spoken
        else:
            name, _, key = str(bound.goal.value_ref).partition("/")[2].partition(".data.")
            assert name in spoken
            assert key in spoken


def test_each_scenario_document_loads_again_by_itself(profile: Profile) -> None:
    for bound in profile.scenarios:
        assert load_scenario(bound.scenario.document(), profile, bound.scenario.id) == bound


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_begins_with_the_canary_and_no_scenario_contains_it(profile: Profile, path: Path) -> None:
    text = path.read_text()
    assert text.startswith("#")
    assert profile.document.canary in text.splitlines()[0]
    if path.name != "profile.yaml":
        documents = [text for document in yaml.safe_load_all(text) for text in texts(document)]
        assert not any(profile.document.canary in text for text in documents)


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


@pytest.mark.skipif(not OFFICIAL.is_dir(), reason="the official package is not beside this repository")
def test_no_sentence_is_taken_from_the_official_package() -> None:
    official = {run for path in OFFICIAL.rglob("*") if path.is_file() for run in runs_of_words(path.read_text())}
    for path in FILES:
        ours = [text for document in yaml.safe_load_all(path.read_text()) for text in texts(document)]
        shared = {run for text in ours for run in runs_of_words(text)} & official
        assert not shared, f"{path.name}: {sorted(shared)}"


@pytest.mark.skipif(not OFFICIAL.is_dir(), reason="the official package is not beside this repository")
def test_archetype_ids_are_those_of_the_official_profile(profile: Profile) -> None:
    headings = "".join((OFFICIAL / f"{kind}-categories.md").read_text() for kind in ("safety", "capability"))
    assert set(re.findall(r"^### ([SC]-[A-Z]{2}-\d{3})", headings, re.MULTILINE)) == set(profile.archetypes)
