"""The bundled overlay: for these texts, complete, in our own words, and as the page about it says."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpus.official import overlay, scenarios
from corpus.overlay_page import PAGE, page
from loading import bind, load_profile
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.overlay import Ruling, text_digest

SHARED_WORDS = 6


@pytest.fixture(scope="module")
def profile(package: Path) -> Profile:
    loaded = load_profile(package)
    assert loaded.profile is not None
    assert loaded.unbound == ()
    return loaded.profile


@pytest.fixture(scope="module")
def capability(profile: Profile) -> list[BoundScenario]:
    return [one for one in profile.scenarios if one.scenario.classification is Classification.CAPABILITY]


@pytest.mark.requirement("CO-04")
def test_all_fifty_can_be_evaluated(profile: Profile, capability: list[BoundScenario]) -> None:
    assert len(profile.scenarios) == 50
    assert len(capability) == 29
    for bound in profile.scenarios:
        assert all(check.predicates for check in bound.checks), bound.scenario.id
        assert bool(bound.bands) is (bound in capability)


def test_every_entry_is_for_a_text_of_the_package(package: Path, profile: Profile) -> None:
    published = {scenario.id: text_digest(scenario) for scenario in scenarios(package)}
    entries = {name: entry.text_digest for name, entry in overlay().scenarios.items()}
    assert entries == published
    scored = {name for name in profile.archetypes if profile.classification(name) is Classification.CAPABILITY}
    assert {name for name, one in overlay().archetypes.items() if one.bands} == scored
    assert {name for name, one in overlay().archetypes.items() if one.shape} == set(profile.archetypes) - scored


@pytest.mark.requirement("AV-16")
def test_a_rubric_that_leaves_something_open_has_a_ruling(capability: list[BoundScenario]) -> None:
    for bound in capability:
        values = (bound.scenario.scoring.rubric or {}).values()
        is_open = 0 not in values or any(isinstance(value, bool | str) or value < 0 for value in values)
        if is_open:
            assert overlay().archetypes[bound.scenario.archetype].rulings, bound.scenario.archetype


def test_every_ruling_is_about_something_that_is_there(capability: list[BoundScenario]) -> None:
    for bound in capability:
        checks = {check.id for check in bound.checks}
        parts = {*bound.scenario.document(), "goal", "task", "slots", "rerun", "reactions"}
        for ruling in overlay().scenarios[bound.scenario.id].rulings:
            for about in ruling.about.split(", "):
                assert about in checks or about.partition(".")[0] in parts, (bound.scenario.id, about)
        for ruling in overlay().archetypes[bound.scenario.archetype].rulings:
            names = {band.band for band in bound.bands}
            assert {about.removeprefix("bands.") for about in ruling.about.split(", ")} <= {"bands", *names}


def _rulings() -> Iterator[Ruling]:
    found = overlay()
    for entry in (*found.scenarios.values(), *found.archetypes.values()):
        yield from entry.rulings


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value, words of a list one by one: a list of words is no sentence."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def test_the_overlay_holds_no_sentence_of_the_package(package: Path) -> None:
    def runs(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"[a-z0-9']+", text.lower())
        return {tuple(words[start : start + SHARED_WORDS]) for start in range(len(words) - SHARED_WORDS + 1)}

    own = {run for ruling in _rulings() for run in runs(f"{ruling.decision} {ruling.reason}")}
    slots = [text for entry in overlay().scenarios.values() for text in _texts(dict(entry.slots)) if "/" not in text]
    own |= {run for text in slots for run in runs(text)}
    published = "\n".join(path.read_text() for path in package.rglob("*") if path.is_file())
    assert own & runs(published) == set()


@pytest.mark.requirement("AV-11")
def test_a_bound_scenario_carries_its_ground_truth_and_binds_again_by_itself(capability: list[BoundScenario]) -> None:
    for bound in capability:
        recorded = with_predicates(bound).document()
        assert "bands" not in recorded["x-sirocco"], "they are the profile's"
        again = bind(Scenario.model_validate(recorded), bands=bound.bands)
        assert again.checks == bound.checks, bound.scenario.id
        assert (again.slots, again.task, again.bands) == (bound.slots, bound.task, bound.bands)
        assert with_predicates(again).document() == recorded


def test_the_page_says_what_the_overlay_says() -> None:
    assert PAGE.read_text() == page(overlay()), "run: PYTHONPATH=src:tests python -m corpus.overlay_page"
