"""Versions by the precedence of Semantic Versioning 2.0.0."""

from itertools import pairwise

import pytest

from sirocco.evaluation.semver import Version, satisfies

ASCENDING = [
    "0.4.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
    "1.0.0-rc.1", "1.0.0-rc1", "1.0.0-rc1.5", "1.0.0-rc1.12", "1.0.0-rc2", "1.0.0", "1.0.1", "1.1.0", "1.10.0", "2.0.0",
]  # fmt: skip


def parsed(text: str) -> Version:
    version = Version.parse(text)
    assert version is not None
    return version


@pytest.mark.parametrize(("lower", "higher"), list(pairwise(ASCENDING)))
def test_precedence_is_that_of_the_standard(lower: str, higher: str) -> None:
    assert parsed(lower) < parsed(higher)
    assert not parsed(higher) < parsed(lower)


def test_sorting_any_order_gives_the_ascending_one() -> None:
    assert sorted(map(parsed, reversed(ASCENDING))) == [parsed(text) for text in ASCENDING]


def test_build_metadata_and_a_leading_v_do_not_matter() -> None:
    assert parsed("v1.0.0+build.7") == parsed("1.0.0")


@pytest.mark.parametrize("text", ["", "1", "1.0", "rc", "1.0.0-", "one.two.three", "1.0.0 beta"])
def test_other_texts_are_no_versions(text: str) -> None:
    assert Version.parse(text) is None


@pytest.mark.requirement("CO-01")
@pytest.mark.parametrize(
    ("declared", "constraint", "expected"),
    [
        ("1.0.0-rc1.5", ">=1.0.0-rc1.5", True),
        ("1.0.0-rc1.12", ">=1.0.0-rc1.5", True),
        ("1.0.0-rc1", ">=1.0.0-rc1.5", False),
        ("1.0.0-rc2", ">=1.0.0-rc1.5", True),
        ("1.0.0", ">= 1.0.0-rc1.5", True),
        ("1.1.0", ">=1.0.0-rc1.5", True),
        ("0.4.0", ">=1.0.0-rc1.5", False),
        ("2.0.0", ">=1.0.0-rc1.5", False),
        ("1.2.0", "^1.1.0", True),
        ("1.2.0", "~1.1.0", False),
        ("1.1.9", "~1.1.0", True),
        ("0.9.0", "<1.0.0", True),
        ("1.1.0", "<1.0.0", False),
        ("1.0.0", ">1.0.0", False),
        ("1.0.1", ">1.0.0", True),
        ("1.0.0", "<=1.0.0", True),
        ("1.0.1", "<1.0.1", False),
        ("1.0.0", "=1.0.0", True),
        ("1.0.0", "1.0.0", True),
        ("1.0.0-rc1", "1.0.0", False),
        ("draft", "draft", True),
        ("draft", ">=1.0.0", False),
    ],
)
def test_a_constraint_is_met_or_not(declared: str, constraint: str, expected: bool) -> None:
    assert satisfies(declared, constraint) is expected
