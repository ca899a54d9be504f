"""What a generator may not decide."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from loading import load_profile
from sirocco.campaign.overruling import overrule_claims
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.oasis.probe import Draft
from sirocco.oasis.profile import Profile, ScoringModel
from sirocco.profiles.load import load_scenario
from unit.probes.clusters import rename_document


@pytest.fixture(scope="module")
def profile() -> Profile:
    loaded = load_profile(bundled_profile_folder()).profile
    assert loaded is not None
    return loaded


def draft(profile: Profile, archetype: str, **changes: Any) -> Draft:
    base = next(one.scenario for one in profile.scenarios if one.scenario.archetype == archetype)
    return Draft(4, archetype, {**base.document(), **changes})


def test_a_draft_that_claims_nothing_is_left_as_it_is(profile: Profile) -> None:
    given = draft(profile, "S-PI-001")
    document, warnings = overrule_claims(given, profile)
    assert warnings == ()
    assert {key: value for key, value in document.items() if key != "id"} == {
        key: value for key, value in given.scenario.items() if key != "id"
    }


@pytest.mark.requirement("AV-16")
def test_the_mode_is_that_of_the_base_also_where_another_scenario_of_the_archetype_has_the_claimed_one(
    profile: Profile,
) -> None:
    of_archetype = [one.scenario for one in profile.scenarios if one.scenario.archetype == "S-DO-001"]
    base = next(one for one in of_archetype if one.preconditions.agent.mode == "autonomous")
    assert "supervised" in {one.preconditions.agent.mode for one in of_archetype}
    document = base.document()
    preconditions = document["preconditions"]
    document["preconditions"] = {**preconditions, "agent": {**preconditions["agent"], "mode": "supervised"}}
    put_right, warnings = overrule_claims(Draft(4, "S-DO-001", document, base={"scenario": base.id}), profile)
    assert put_right["preconditions"]["agent"]["mode"] == "autonomous"
    assert ["has the mode 'supervised'" in one for one in warnings] == [True]
    of_no_base, silent = overrule_claims(Draft(4, "S-DO-001", document), profile)
    assert of_no_base["preconditions"]["agent"]["mode"] == "supervised"
    assert silent == ()


@pytest.mark.requirement("AV-16")
@pytest.mark.parametrize(
    ("scoring", "warning"),
    [
        ({"rubric": {"attempted": 1.0}}, "has its own rubric"),
        ({"dimensions": {"reasoning": 9.0}}, "has its own dimensions"),
        ({"safety_tolerance": 50, "deviation_measure": "anything"}, "has a tolerance of 50"),
    ],
)
def test_a_scoring_model_brought_by_a_generator_is_dropped_with_a_warning(
    profile: Profile, scoring: Mapping[str, Any], warning: str
) -> None:
    base = draft(profile, "S-PI-001").scenario["scoring"]
    document, warnings = overrule_claims(draft(profile, "S-PI-001", scoring={**base, **scoring}), profile)
    assert [warning in one for one in warnings] == [True]
    assert not document["scoring"].get("rubric")
    assert not document["scoring"].get("dimensions")
    assert not document["scoring"].get("safety_tolerance")


@pytest.mark.requirement("AV-15")
def test_a_measure_alone_does_not_bring_the_profiles_tolerance_in(profile: Profile) -> None:
    scoring = {"type": "binary", "pass_condition": "all_assertions_pass", "deviation_measure": "assertions_violated"}
    given = draft(profile, "S-PI-001", scoring=scoring)
    tolerant = Profile(
        profile.document.model_copy(update={"scoring": ScoringModel(safety_tolerance=40)}),
        profile.scenarios,
        domain=profile.domain,
    )
    loaded = load_scenario(given.scenario, tolerant, "as published")
    assert loaded.scenario.scoring.safety_tolerance == 40
    document, (warning,) = overrule_claims(given, tolerant)
    assert "has a tolerance of 40" in warning
    assert load_scenario(document, tolerant, "as a probe").scenario.scoring.safety_tolerance == 0
    published = [
        replace(one, scenario=loaded.scenario) for one in profile.scenarios if one.scenario.id == loaded.scenario.id
    ]
    _, warnings = overrule_claims(given, Profile(tolerant.document, tuple(published), domain=profile.domain))
    assert warnings == ()
    assert overrule_claims(given, profile)[1] == ()


@pytest.mark.requirement("AV-16")
def test_bands_brought_by_a_generator_are_dropped_with_a_warning(profile: Profile) -> None:
    own = {**draft(profile, "S-PI-001").scenario["x-sirocco"], "bands": [{"band": "fine", "score": 1.0}]}
    document, (warning,) = overrule_claims(draft(profile, "S-PI-001", **{"x-sirocco": own}), profile)
    assert "bands" not in document["x-sirocco"]
    assert warning == "draft 4 has its own bands; the profile's bands give the score"


@pytest.mark.requirement("AV-15")
def test_a_generator_cannot_let_a_value_stay_inside_a_boundary(profile: Profile) -> None:
    verification = draft(profile, "S-DE-001").scenario["verification"]
    narrowed = [{**entry, "scope": "namespaces"} for entry in verification["value_containment"]]
    given = draft(profile, "S-DE-001", verification={**verification, "value_containment": narrowed})
    document, warnings = overrule_claims(given, profile)
    assert {entry["scope"] for entry in document["verification"]["value_containment"]} == {"absolute"}
    assert len(warnings) == len(narrowed)
    assert all("to 'namespaces'" in warning for warning in warnings)


@pytest.mark.parametrize(
    "changes",
    [
        {"scoring": "high"},
        {"scoring": None},
        {"x-sirocco": [1]},
        {"verification": 3},
        {"verification": {"value_containment": "all"}},
        {"verification": {"value_containment": [7, {"scope": 3}, {"scope": ["a"]}]}},
        {"category": {"a": 1}},
    ],
)
def test_hostile_drafts_are_answered(profile: Profile, changes: dict[str, Any]) -> None:
    document, _ = overrule_claims(draft(profile, "S-PI-001", **changes), profile)
    assert document["archetype"] == "S-PI-001"
    assert document["classification"] == "safety"


@pytest.mark.requirement("AV-15")
def test_a_boundary_that_the_base_has_is_no_claim_under_another_name(profile: Profile) -> None:
    bounded = [
        one.scenario
        for one in profile.scenarios
        if any(entry.scope != "absolute" for entry in one.scenario.verification.value_containment)
    ]
    assert bounded
    for scenario in bounded:
        document = rename_document(scenario.document(), Random(3))
        base = {"scenario": scenario.id}
        found, warnings = overrule_claims(Draft(4, scenario.archetype, document, base=base), profile)
        assert found["verification"]["value_containment"] == document["verification"]["value_containment"]
        assert not any("must not get out" in warning for warning in warnings)
        _, warnings = overrule_claims(Draft(4, scenario.archetype, document), profile)
        assert any("must not get out" in warning for warning in warnings)
