"""Bands to scores: the first row that is met, and no score where what would decide is not known."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from builders import bound, evidence
from sirocco.errors import ConfigError
from sirocco.evaluation.behaviors.behavior import (
    Basis,
    Behavior,
    Judgement,
    Shown,
    Undecidable,
    Unobserved,
    whole_judgement,
)
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.scoring import Judgements, band_score
from sirocco.oasis.band import Band
from sirocco.oasis.verdict import CheckResult, Fail, Pass, ProviderFailure, Score, Verdict

YES, NO = whole_judgement(holds=True, evidence="seen"), whole_judgement(holds=False, evidence="not seen")
HALF, NONE, EMPTY = Shown(1, 2, "one of two"), Shown(0, 4, "none of four"), Shown(0, 0, "nothing to do")
HIDDEN, OPEN = Unobserved("no log"), Undecidable("no store")
FACTS = Facts(bound(), evidence())
BANDS = TypeAdapter(tuple[Band, ...])


def bands(*rows: Mapping[str, Any]) -> tuple[Band, ...]:
    """Rows and the lowest one below them."""
    return BANDS.validate_python([*rows, {"band": "lowest", "score": 0.0}])


def judgements(**found: Judgement) -> Judgements:
    return Judgements(FACTS, {name: Behavior(name, Basis.ACTION, (), lambda _, j=j: j) for name, j in found.items()})


def result(rows: tuple[Band, ...], *checks: CheckResult, **found: Judgement) -> Score | Unobserved | Undecidable:
    return band_score(rows, judgements(**found), checks)


def score(rows: tuple[Band, ...], *checks: CheckResult, **found: Judgement) -> Score:
    given = result(rows, *checks, **found)
    assert isinstance(given, Score)
    return given


def check(name: str, verdict: Verdict, undecidable: str | None = None) -> CheckResult:
    return CheckResult(name, "C-OE-001", verdict, "evidence", None, undecidable)


THREE = bands({"band": "top", "score": 1.0, "when": {"all": ["a", "b"]}}, {"band": "middle", "score": 0.5, "when": "a"})


@pytest.mark.requirement("AV-16")
@pytest.mark.parametrize(
    ("a", "b", "band", "value", "lowest"),
    [
        pytest.param(YES, YES, "top", 1.0, False, id="the first row that is met wins"),
        pytest.param(YES, NO, "middle", 0.5, False, id="the next one otherwise"),
        pytest.param(NO, YES, "lowest", 0.0, True, id="the last one when nothing is met"),
        pytest.param(NO, HIDDEN, "lowest", 0.0, True, id="what cannot change it need not be known"),
        pytest.param(NO, OPEN, "lowest", 0.0, True, id="what cannot change it need not be decidable"),
        pytest.param(EMPTY, YES, "lowest", 0.0, True, id="nothing out of nothing is not shown"),
        pytest.param(HALF, YES, "lowest", 0.0, True, id="half is not the whole"),
    ],
)
def test_rows_are_tried_from_the_top(a: Judgement, b: Judgement, band: str, value: float, lowest: bool) -> None:
    given = score(THREE, a=a, b=b)
    assert (given.band, given.value, given.lowest) == (band, value, lowest)


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"a": YES, "b": HIDDEN}, HIDDEN),
        ({"a": HIDDEN, "b": YES}, HIDDEN),
        ({"a": YES, "b": OPEN}, OPEN),
        ({"a": OPEN, "b": HIDDEN}, HIDDEN),
        ({"a": HIDDEN, "b": OPEN}, HIDDEN),
    ],
)
def test_a_row_that_hangs_on_the_unknown_is_never_passed_over(
    found: dict[str, Judgement], expected: Unobserved | Undecidable
) -> None:
    assert result(THREE, **found) == expected


CONDITIONS = [
    pytest.param({"behavior": "a", "at_least": 0.5}, {"a": HALF}, True, id="half is enough"),
    pytest.param({"behavior": "a", "at_least": 0.51}, {"a": HALF}, False, id="half is not enough"),
    pytest.param({"behavior": "a", "at_least": 0.333333}, {"a": Shown(1, 3, "")}, True, id="a third as one writes it"),
    pytest.param({"behavior": "a", "at_least": 0.5}, {"a": EMPTY}, False, id="no parts at all"),
    pytest.param({"any": ["a", "b"]}, {"a": NO, "b": YES}, True, id="one of them"),
    pytest.param({"any": ["a", "b"]}, {"a": NO, "b": NO}, False, id="none of them"),
    pytest.param({"any": ["a", "b"]}, {"a": HIDDEN, "b": YES}, True, id="one is known, that is enough"),
    pytest.param({"no": "a"}, {"a": NO}, True, id="not shown"),
    pytest.param({"no": "a"}, {"a": YES}, False, id="shown"),
    pytest.param({"no": {"any": ["a", "b"]}}, {"a": HIDDEN, "b": YES}, False, id="settled inside a denial"),
    pytest.param({"all": ["a", {"no": "b"}]}, {"a": HIDDEN, "b": YES}, False, id="settled by a denial"),
]


@pytest.mark.parametrize(("condition", "found", "met"), CONDITIONS)
def test_conditions(condition: Any, found: dict[str, Judgement], met: bool) -> None:
    rows = bands({"band": "top", "score": 1.0, "when": condition})
    assert score(rows, **found).band == ("top" if met else "lowest")


def test_a_denial_of_the_unknown_is_unknown() -> None:
    rows = bands({"band": "top", "score": 1.0, "when": {"no": "a"}})
    assert result(rows, a=HIDDEN) == HIDDEN
    assert result(rows, a=OPEN) == OPEN


PASSED, FAILED = check("must.0", Pass()), check("state_assertions.0", Fail("gone"))
BROKEN = check("api_audit.0", ProviderFailure("no log"))
OPENED = check("must.1", Fail("open"), "no store")


@pytest.mark.parametrize(
    ("part", "checks", "expected"),
    [
        pytest.param("assertions", [PASSED, FAILED], True, id="only the assertions"),
        pytest.param("verification", [PASSED, FAILED], False, id="only the verification"),
        pytest.param("all", [PASSED, FAILED], False, id="both"),
        pytest.param("all", [PASSED], True, id="all there are"),
        pytest.param("verification", [PASSED], False, id="where there are none, none holds"),
        pytest.param("verification", [FAILED, BROKEN], False, id="what failed settles it"),
        pytest.param("verification", [BROKEN], Unobserved("no log"), id="unknown"),
        pytest.param("assertions", [PASSED, OPENED], Undecidable("no store"), id="undecidable"),
        pytest.param("all", [OPENED, BROKEN], Unobserved("no log"), id="unknown before undecidable"),
        pytest.param("assertions", [OPENED, check("must_not.0", Fail("done"))], False, id="seen to fail beside it"),
        pytest.param(
            "assertions", [check("conditional.0.must.0", Fail("not done"))], False, id="of a conditional block"
        ),
    ],
)
def test_the_scenarios_own_checks(part: str, checks: list[CheckResult], expected: Any) -> None:
    given = result(bands({"band": "top", "score": 1.0, "when": {"verified": part}}), *checks)
    if isinstance(expected, bool):
        assert isinstance(given, Score)
        assert given.lowest is not expected
    else:
        assert given == expected


@pytest.mark.requirement("AV-16")
@pytest.mark.parametrize(
    ("form", "judged", "value"),
    [
        ({"share_of": "a"}, HALF, 0.5),
        ({"share_of": "a", "times": 0.6}, Shown(3, 4, ""), 0.45),
        ({"share_of": "a", "at_most": 0.9}, YES, 0.9),
        ({"share_of": "a"}, Shown(7, 3, "more than asked for"), 1.0),
        ({"share_of": "a"}, Shown(1, 3, ""), 0.333333),
        ({"minus": 0.25, "for_each_missing": "a"}, Shown(3, 4, ""), 0.75),
        ({"minus": 0.25, "for_each_missing": "a"}, Shown(0, 9, ""), 0.0),
        ({"minus": 0.25, "for_each_missing": "a"}, Shown(5, 4, "more than asked for"), 1.0),
        ({"from": 0.8, "minus": 0.1, "for_each_missing": "a"}, Shown(3, 4, ""), 0.7),
    ],
)
def test_scores_in_proportion(form: dict[str, Any], judged: Shown, value: float) -> None:
    rows = bands({"band": "in proportion", "score": form, "when": {"any": ["b"]}})
    assert score(rows, a=judged, b=YES).value == value


@pytest.mark.parametrize("missing", [HIDDEN, OPEN])
def test_a_score_in_proportion_to_the_unknown_is_none(missing: Unobserved | Undecidable) -> None:
    rows = bands({"band": "in proportion", "score": {"share_of": "a"}, "when": "b"})
    assert result(rows, a=missing, b=YES) == missing
    assert score(rows, a=missing, b=NO).lowest


def test_a_score_that_is_no_better_than_the_lowest_counts_as_the_lowest() -> None:
    rows = bands({"band": "traced", "score": {"minus": 0.25, "for_each_missing": "a"}, "when": "b"})
    assert score(rows, a=NONE, b=YES).lowest
    assert score(rows, a=NONE, b=YES).band == "traced"
    assert not score(rows, a=Shown(1, 4, ""), b=YES).lowest


def test_below_a_last_row_in_proportion_only_nothing_counts_as_the_lowest() -> None:
    deduction = {"minus": 0.25, "for_each_missing": "a"}
    rows = BANDS.validate_python(
        [{"band": "traced", "score": deduction, "when": "b"}, {"band": "rest", "score": {"share_of": "a"}}]
    )
    assert score(rows, a=NONE, b=YES).lowest
    assert not score(rows, a=Shown(1, 4, ""), b=YES).lowest
    assert score(rows, a=HALF, b=NO).lowest


def test_the_score_says_what_decided_it_and_for_the_lowest_what_was_missing() -> None:
    assert score(THREE, a=YES, b=YES).evidence == "a: seen; b: seen"
    assert score(THREE, a=NO, b=YES).evidence == "a not shown: not seen"
    rows = bands({"band": "top", "score": 1.0, "when": {"behavior": "a", "at_least": 0.5}})
    assert score(rows, a=HALF).evidence == "a (1 of 2): one of two"


def test_each_behaviour_is_judged_once_and_only_when_it_is_needed() -> None:
    asked: list[str] = []

    def judge(name: str, found: Judgement) -> Behavior:
        return Behavior(name, Basis.ACTION, (), lambda _: asked.append(name) or found)

    made = Judgements(FACTS, {"a": judge("a", YES), "b": judge("b", NO), "c": judge("c", YES)})
    rows = bands(
        {"band": "top", "score": 1.0, "when": {"all": ["a", "b"]}},
        {"band": "middle", "score": {"share_of": "a"}, "when": "a"},
        {"band": "low", "score": 0.1, "when": "c"},
    )
    assert isinstance(band_score(rows, made, ()), Score)
    assert asked == ["a", "b"]


def test_a_behaviour_that_nothing_defines_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ConfigError, match="'c'"):
        result(bands({"band": "top", "score": 1.0, "when": "c"}), a=YES)


def test_where_no_row_is_met_the_score_is_zero() -> None:
    rows = BANDS.validate_python([{"band": "top", "score": 1.0, "when": "a"}])
    assert (score(rows, a=NO).value, score(rows, a=NO).lowest) == (0.0, True)
    assert score(rows, a=NO).evidence == "a not shown: not seen"
    assert score((), a=YES).lowest
    assert score((), a=YES).evidence == "the archetype has no bands"


JUDGED = st.one_of(st.builds(Shown, st.integers(0, 5), st.integers(0, 5), st.just("")), st.sampled_from([HIDDEN, OPEN]))
NAMES = ("a", "b", "c", "d")
CONDITION = st.recursive(
    st.one_of(
        st.sampled_from(NAMES),
        st.builds(lambda name, share: {"behavior": name, "at_least": share}, st.sampled_from(NAMES), st.floats(0.1, 1)),
    ),
    lambda inner: st.one_of(
        st.builds(lambda parts: {"all": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"any": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda part: {"no": part}, inner),
    ),
    max_leaves=6,
)
FORM = st.one_of(
    st.floats(0, 1),
    st.builds(lambda name, most: {"share_of": name, "at_most": most}, st.sampled_from(NAMES), st.floats(0.1, 1)),
    st.builds(lambda name, less: {"minus": less, "for_each_missing": name}, st.sampled_from(NAMES), st.floats(0.1, 1)),
)
ROWS = st.lists(
    st.builds(lambda form, when: {"band": "row", "score": form, "when": when}, FORM, CONDITION), max_size=4
).map(lambda rows: bands(*rows))
FOUND = st.fixed_dictionaries(dict.fromkeys(NAMES, JUDGED))


@pytest.mark.requirement("AV-16")
@given(ROWS, FOUND)
def test_every_score_lies_within_zero_and_one_and_is_the_same_each_time(
    rows: tuple[Band, ...], found: dict[str, Judgement]
) -> None:
    given_score = result(rows, **found)
    assert given_score == result(rows, **found)
    if isinstance(given_score, Score):
        assert 0.0 <= given_score.value <= 1.0


@pytest.mark.requirement("CO-07")
@given(ROWS, FOUND, FOUND)
def test_a_score_holds_whatever_the_unknown_would_have_been(
    rows: tuple[Band, ...], found: dict[str, Judgement], truth: dict[str, Judgement]
) -> None:
    given_score = result(rows, **found)
    if isinstance(given_score, Score):
        known = {name: judged if isinstance(judged, Shown) else truth[name] for name, judged in found.items()}
        again = result(rows, **known)
        assert isinstance(again, Score)
        assert (again.value, again.band) == (given_score.value, given_score.band)


@given(CONDITION, FOUND)
def test_the_order_of_the_parts_of_a_condition_decides_nothing(condition: Any, found: dict[str, Judgement]) -> None:
    def turned(part: Any) -> Any:
        if isinstance(part, str) or "behavior" in part:
            return part
        key, inner = next(iter(part.items()))
        return {key: turned(inner) if key == "no" else [turned(one) for one in reversed(inner)]}

    def outcome(when: Any) -> Any:
        given_score = result(bands({"band": "top", "score": 1.0, "when": when}), **found)
        return given_score.band if isinstance(given_score, Score) else given_score

    assert outcome(condition) == outcome(turned(condition))
