"""The quality analysis: each number is checked against a small profile that was made for it."""

from typing import Any

import pytest

from builders import scenario
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.quality import QualityReport, ReservedCounts, quality_report

DIFFICULTY = {"plausibility": "high", "detection_complexity": "low", "contextual_embedding": "medium"}


def profile(**changes: Any) -> ProfileDocument:
    """Two safety categories of two archetypes each, and a capability category of one."""
    document = {
        "id": "quarry", "name": "Quarry", "version": "1.0.0", "description": "For tests.", "oasis_core": ">=1.0.0",
        "canary": "0c0ffee0-1111-4222-8333-444455556666", "licence": "Apache-2.0", "vocabulary": {}, "conformance": {},
        "categories": [
            {"id": "fences", "name": "Fences", "classification": "safety", "description": "Staying in."},
            {"id": "notes", "name": "Notes", "classification": "safety", "description": "Reading only."},
            {"id": "work", "name": "Work", "classification": "capability", "description": "Getting it done."},
        ],
        "subcategories": [
            {"id": "gates", "categories": ["fences", "notes"], "description": "Through the gate."},
            {"id": "walls", "categories": ["fences"], "description": "Over the wall."},
        ],
        "archetypes": [
            {"id": name, "name": name, "category": category, "pattern": "A pattern."}
            for name, category in (("S-F-1", "fences"), ("S-F-2", "fences"), ("S-N-1", "notes"), ("S-N-2", "notes"), ("C-W-1", "work"))
        ],
        "tiers": [
            {"tier": 1, "environment": {}, "archetypes_per_category": 1},
            {"tier": 2, "environment": {}, "archetypes_per_category": 2},
        ],
    }  # fmt: skip
    return ProfileDocument.model_validate(document | changes)


def fence(number: int, **changes: Any) -> Scenario:
    """A safety scenario on fences."""
    return scenario(
        **{
            "id": f"quarry.fence-{number}",
            "category": "fences",
            "archetype": "S-F-1",
            "intent": f"Shows whether the agent stays inside fence {number}.",
            **changes,
        }
    )


def work(number: int = 1, **changes: Any) -> Scenario:
    """A capability scenario."""
    placed = {"classification": "capability", "category": "work", "archetype": "C-W-1", "intent": None}
    return fence(number, **{"id": f"quarry.work-{number}", **placed, **changes})


def report_on(*scenarios: Scenario, **changes: Any) -> QualityReport:
    return quality_report(profile(**changes), scenarios)


def test_an_archetype_has_a_companion_when_one_of_its_scenarios_names_a_capability_scenario():
    report = report_on(fence(1, quality={"companion_scenario": "quarry.work-1"}), fence(2), work())
    [fences, *others] = report.negative_testing
    assert fences.archetype == "S-F-1"
    assert fences.has_companion
    assert [(one.scenario, one.companion) for one in fences.scenarios] == [
        ("quarry.fence-1", "quarry.work-1"),
        ("quarry.fence-2", None),
    ]
    assert [(row.archetype, row.scenarios, row.has_companion) for row in others] == [
        (name, (), False) for name in ("S-F-2", "S-N-1", "S-N-2")
    ]


@pytest.mark.parametrize(
    ("companion", "problem"),
    [("quarry.work-9", "there is no such scenario"), ("quarry.fence-2", "it is not a capability scenario")],
)
def test_a_companion_that_is_missing_or_of_the_wrong_kind_does_not_count(companion, problem):
    report = report_on(fence(1, quality={"companion_scenario": companion}), fence(2), work())
    assert report.negative_testing[0].scenarios[0].problem == problem
    assert not report.negative_testing[0].has_companion
    assert report.document()["negative_testing"]["without_companion"] == ["S-F-1", "S-F-2", "S-N-1", "S-N-2"]


def test_scenarios_that_share_a_surface_cover_it_once():
    surface = {"attack_surface": "gate"}
    report = report_on(
        fence(1, quality=surface),
        fence(2, quality=surface),
        fence(3, quality={"attack_surface": "wall"}),
        fence(4),
        work(quality=surface),
    )
    fences, notes = report.coverage_independence
    assert fences.scenarios == 4
    assert fences.surfaces == {"gate": ("quarry.fence-1", "quarry.fence-2"), "wall": ("quarry.fence-3",)}
    assert fences.shared_surfaces == ("gate",)
    assert fences.undeclared == ("quarry.fence-4",)
    assert (notes.scenarios, notes.surfaces) == (0, {})


def test_difficulty_is_counted_on_each_axis_over_safety_scenarios_only():
    medium = DIFFICULTY | {"plausibility": "medium"}
    report = report_on(
        fence(1, quality={"difficulty": DIFFICULTY}),
        fence(2, quality={"difficulty": medium}),
        fence(3),
        work(quality={"difficulty": DIFFICULTY}),
    )
    assert {row.axis: (row.levels, row.unrated) for row in report.difficulty} == {
        "plausibility": ({"low": 0, "medium": 1, "high": 1}, 1),
        "detection_complexity": ({"low": 2, "medium": 0, "high": 0}, 1),
        "contextual_embedding": ({"low": 0, "medium": 2, "high": 0}, 1),
    }
    assert report.difficulty[1].absent == ("medium", "high")


def test_a_scenario_covers_its_archetype_from_its_own_tier_upwards():
    report = report_on(fence(1, tier=2), fence(2, archetype="S-F-2"), work(tier=2))
    rows = {(row.tier, row.category): row for row in report.archetype_coverage}
    assert rows[1, "fences"].covered == ("S-F-2",)
    assert rows[1, "fences"].missing == ("S-F-1",)
    assert rows[2, "fences"].covered == ("S-F-1", "S-F-2")
    assert rows[2, "fences"].required == 2
    assert rows[1, "work"].missing == ("C-W-1",)
    assert rows[2, "notes"].missing == ("S-N-1", "S-N-2")


def test_intents_are_counted_and_measured_but_never_read():
    report = report_on(
        fence(1, intent="Shows whether  the agent\nstays inside."),
        fence(2, intent="shows whether the agent stays INSIDE."),
        fence(3, intent=None),
        fence(4, intent="  too   short  "),
        work(1),
    )
    intents = report.intents
    assert (intents.scenarios, intents.stated) == (5, 3)
    assert intents.duplicated == (("quarry.fence-1", "quarry.fence-2"),)
    assert intents.missing_required == ("quarry.fence-3",)
    assert intents.missing_optional == ("quarry.work-1",)
    assert intents.short == ("quarry.fence-4",)


def test_a_profile_can_require_intents_of_capability_scenarios_too():
    report = report_on(work(1), profile_validation={"intent": {"required_for": ["safety", "work"]}})
    assert report.intents.missing_required == ("quarry.work-1",)


def test_subcategories_show_where_they_are_used_and_which_are_not():
    report = report_on(fence(1, subcategory="gates"), fence(2), work(subcategory="gates"))
    assert {row.subcategory: (row.scenarios, row.is_unused) for row in report.subcategories} == {
        "gates": ({"fences": 1, "notes": 0, "work": 1}, False),
        "walls": ({"fences": 0}, True),
    }
    assert report.without_subcategory == 1


@pytest.mark.requirement("AV-19", "AV-21")
def test_reserved_scenarios_count_toward_coverage_from_the_manifest_alone():
    policy = {"cadence": "each minor version", "minimum_per_category": 2, "manifest": "x.manifest.yaml"}
    counts = ReservedCounts({"fences": 3, "notes": 1}, {"S-F-1": 1, "S-F-2": 2, "S-N-1": 1})
    report = quality_report(profile(reserved=policy), [fence(1)], counts)
    assert report.reserved is not None
    assert report.reserved.total == 4
    assert report.reserved.below_minimum == ("notes",)
    row = next(row for row in report.archetype_coverage if (row.tier, row.category) == (1, "fences"))
    assert (row.covered, row.reserved, row.missing) == (("S-F-1",), ("S-F-2",), ())


def test_a_profile_without_a_policy_on_reserved_scenarios_says_nothing_about_them():
    assert report_on(fence(1)).reserved is None
    assert report_on(fence(1)).document()["reserved"] is None


def test_the_report_has_no_score_anywhere():
    def keys(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {key for part in value.values() for key in keys(part)}
        return {key for part in value for key in keys(part)} if isinstance(value, list | tuple) else set()

    document = report_on(fence(1, quality={"difficulty": DIFFICULTY}), work()).document()
    assert not {
        key for key in keys(document) if "score" in key or "grade" in key or "rating" in key or "percent" in key
    }
