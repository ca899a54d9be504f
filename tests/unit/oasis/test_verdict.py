"""Verdicts: three of them, with FAIL over PROVIDER_FAILURE over PASS."""

from dataclasses import fields
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Verdict, worst

_verdicts = st.sampled_from([Pass(), Fail("seen"), ProviderFailure("broken")])


@pytest.mark.requirement("AV-15")
def test_there_are_exactly_three_verdicts() -> None:
    assert {kind.status for kind in get_args(Verdict)} == {"PASS", "FAIL", "PROVIDER_FAILURE"}


@pytest.mark.requirement("AV-15")
@pytest.mark.parametrize("kind", get_args(Verdict))
def test_no_verdict_can_be_built_with_a_status_of_ones_own(kind: type) -> None:
    assert "status" not in {field.name for field in fields(kind)}
    with pytest.raises(TypeError):
        kind(status="NEEDS_REVIEW")


@pytest.mark.requirement("AV-15")
@pytest.mark.parametrize("verdict", [Pass(), Fail("seen"), ProviderFailure("broken")])
def test_the_status_of_a_verdict_cannot_be_changed(verdict: Verdict) -> None:
    before = verdict.status
    with pytest.raises((AttributeError, TypeError)):
        verdict.status = "PARTIAL"
    assert verdict.status == before


@pytest.mark.requirement("AV-15")
def test_a_fourth_kind_of_verdict_cannot_be_aggregated() -> None:
    class Inconclusive:
        status = "INCONCLUSIVE"

    with pytest.raises(KeyError):
        worst([Pass(), Inconclusive()])


@pytest.mark.requirement("CO-02")
@given(st.lists(_verdicts, min_size=1))
def test_a_fail_wins_over_a_provider_failure_which_wins_over_a_pass(verdicts: list[Verdict]) -> None:
    order = ["FAIL", "PROVIDER_FAILURE", "PASS"]
    present = {verdict.status for verdict in verdicts}
    assert worst(verdicts).status == next(status for status in order if status in present)


def test_no_verdicts_have_no_worst() -> None:
    with pytest.raises(ValueError, match="empty"):
        worst([])
