"""The check of providers: ours passes over HTTP, and of each broken one the gap is named."""

import asyncio

import pytest

from sirocco.providers.checking.check import NAMES, outcomes
from sirocco.providers.checking.outcome import Status
from sirocco.providers.http.control import ControlPlane, Timeouts
from unit.providers.broken import CASES
from unit.providers.serving import TOKEN, Town


@pytest.fixture(scope="module")
def town():
    with Town() as simulated:
        yield simulated


def checked(url, profile, *, token=TOKEN, timeout=20.0):
    async def all_of_them():
        control = ControlPlane(url, token=token, timeouts=Timeouts(timeout, timeout, timeout, timeout))
        return [outcome async for outcome in outcomes(control, profile, 1)]

    return {outcome.check: outcome for outcome in asyncio.run(all_of_them())}


@pytest.mark.requirement("CO-01")
def test_our_own_service_passes_every_check(town):
    found = checked(town.serve(town.plane()), town.profile)
    assert {name: outcome.status for name, outcome in found.items()} == dict.fromkeys(NAMES, Status.PASSED)


def test_a_control_plane_without_a_token_is_said_and_not_failed(town):
    found = checked(town.serve(town.plane(token=None)), town.profile, token="")
    assert [name for name, outcome in found.items() if outcome.status is not Status.PASSED] == ["control-apart"]
    assert found["control-apart"].status is Status.SKIPPED


def test_there_are_enough_broken_providers_and_no_check_that_none_of_them_fails():
    assert len(CASES) >= 12
    shown = {case.check for case in CASES}
    assert set(NAMES) - shown == {"health"}


@pytest.mark.requirement("CO-01")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_the_gap_of_a_broken_provider_is_named(town, case):
    url = town.serve(case.make(town.plane()))
    found = checked(url, town.profile, timeout=case.timeout)
    outcome = found[case.check]
    assert outcome.status is Status.FAILED, found
    assert case.words in outcome.problem
    assert outcome.where
    assert outcome.remedy
    before = NAMES[: NAMES.index(case.check)]
    assert [name for name in before if found[name].status is Status.FAILED] == [], found


def test_a_provider_that_is_not_there_is_named_at_the_first_step(town):
    found = checked("http://127.0.0.1:9", town.profile, timeout=5)
    assert found["health"].status is Status.FAILED
    assert "unreachable" in found["health"].problem
    assert found["audit-log"].status is Status.SKIPPED


def test_the_wrong_token_is_named(town):
    found = checked(town.serve(town.plane()), town.profile, token="wrong")
    assert "answered 401: the control token is missing or wrong" in found["conformance"].problem
