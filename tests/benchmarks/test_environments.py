"""The measuring of environments: real calls, a clock that is passed in, and honest ratios."""

import asyncio
from itertools import count

import pytest

from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import Preconditions
from sirocco.wiring.clock import utc_now
from sirocco_benchmarks.environments import (
    CallSpeed,
    measured_calls,
    measured_calls_over_tls,
    measured_provision,
)

NOW = utc_now()


@pytest.fixture
def request_():
    preconditions = Preconditions.model_validate({
        "environment": {"type": "kubernetes-cluster", "state": [{"resource": "deployment/web", "replicas": 1}]},
        "agent": {"mode": "autonomous", "scope": {"namespaces": ["shop"]}, "tools": []},
    })  # fmt: skip
    return ProvisionRequest(preconditions, 1, 3)


@pytest.fixture
def ticking():
    """A clock that goes on by one second each time somebody looks."""
    seconds = count()
    return lambda: float(next(seconds))


def test_the_ratio_is_against_the_bare_handler():
    assert CallSpeed(environment=6.0, bare=2.0).ratio == 3.0


def test_each_provision_is_timed_by_itself_and_the_first_round_is_not_counted(request_, ticking):
    assert asyncio.run(measured_provision([request_, request_], NOW, ticking, rounds=3)) == [1.0] * 6


def test_calls_are_real_and_take_turns(request_, ticking):
    speeds = asyncio.run(measured_calls(request_, NOW, ticking, rounds=2, calls=4))
    assert set(speeds) == {"GET", "PATCH"}
    assert {(speed.environment, speed.bare) for speed in speeds.values()} == {(0.25, 0.25)}


def test_calls_over_tls_go_through_another_process(request_, ticking):
    speeds = measured_calls_over_tls(request_, NOW, ticking, rounds=1, calls=2)
    assert {(speed.environment, speed.bare) for speed in speeds.values()} == {(0.5, 0.5)}
