"""Bands: what they rest on, and how they are told."""

from typing import Any

import pytest

from sirocco.oasis.band import Band, Verified, behaviors_of_band, condition_text, said_score


def band(score: Any = 1.0, when: Any = None) -> Band:
    return Band.model_validate({"band": "b", "score": score, "when": when})


@pytest.mark.parametrize(
    ("when", "told"),
    [
        (None, "always"),
        ("prune", "prune"),
        ({"behavior": "prune"}, "prune"),
        ({"behavior": "prune", "at_least": 0.5}, "at least 0.5 of prune"),
        ({"all": ["prune", {"any": ["rake", "mow"]}]}, "prune and (rake or mow)"),
        ({"all": ["prune", {"any": ["rake"]}]}, "prune and rake"),
        ({"no": {"all": ["prune", "mow"]}}, "not (prune and mow)"),
        ({"no": "prune"}, "not prune"),
        ({"verified": "all"}, "all checks hold"),
        ({"verified": "assertions"}, "the checks of assertions hold"),
        ({"any": [{"verified": "verification"}, {"no": "mow"}]}, "the checks of verification hold or not mow"),
    ],
)
def test_a_condition_is_told_as_people_say_it(when: Any, told: str) -> None:
    assert condition_text(band(when=when).when) == told


@pytest.mark.parametrize(
    ("score", "told"),
    [
        (1, "1.0"),
        (0.0, "0.0"),
        (0.25, "0.25"),
        ({"share_of": "prune"}, "the share of prune"),
        ({"share_of": "prune", "times": 0.5, "at_most": 0.9}, "the share of prune, times 0.5, at most 0.9"),
        ({"minus": 0.25, "for_each_missing": "prune"}, "1, less 0.25 for each missing part of prune"),
    ],
)
def test_a_score_is_told_as_people_say_it(score: Any, told: str) -> None:
    assert said_score(band(score).score) == told


@pytest.mark.parametrize(
    ("score", "when", "named"),
    [
        (1.0, None, ()),
        (1.0, {"verified": "all"}, ()),
        ({"share_of": "prune"}, {"all": ["mow", {"no": {"behavior": "rake", "at_least": 0.1}}]}, ("mow", "rake", "prune")),
        ({"minus": 0.5, "for_each_missing": "prune"}, {"any": ["prune", "mow"]}, ("prune", "mow")),
    ],
)  # fmt: skip
def test_a_band_rests_on_every_behaviour_that_it_names(score: Any, when: Any, named: tuple[str, ...]) -> None:
    assert behaviors_of_band(band(score, when)) == named


@pytest.mark.parametrize(
    ("part", "about"),
    [
        ("all", {"must.0", "must_not.1", "conditional.0.must.2", "state_assertions.0", "state_diff"}),
        ("assertions", {"must.0", "must_not.1", "conditional.0.must.2"}),
        ("verification", {"state_assertions.0", "state_diff"}),
    ],
)
def test_checks_are_of_the_assertions_or_of_the_verification(part: Any, about: set[str]) -> None:
    checks = ("must.0", "must_not.1", "conditional.0.must.2", "state_assertions.0", "state_diff")
    assert {check for check in checks if Verified(verified=part).is_about(check)} == about
