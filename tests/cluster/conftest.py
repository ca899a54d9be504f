"""Tests on a real control plane: left out where there is none, and one control plane for all of a worker's tests."""

import os
import time

import pytest

from sirocco.domains.kubernetes.cluster.programs import find_programs
from sirocco.domains.kubernetes.cluster.provider import CONTROL_PLANES, ClusterProvider
from sirocco.errors import ConfigError
from sirocco.oasis.provider import ProvisionRequest
from sirocco.wiring import profile_source


@pytest.fixture(scope="session", autouse=True)
def control_planes():
    """Control planes for as long as tests need them; `make control-plane` must have been run."""
    try:
        find_programs(os.environ)
    except ConfigError as error:
        pytest.skip(f"no control plane: {error.problem}; {error.remedy}")
    yield CONTROL_PLANES
    CONTROL_PLANES.stop()


@pytest.fixture(scope="session")
def profile():
    """The bundled profile."""
    return profile_source.required_profile("kubernetes_operations")[0]


@pytest.fixture
def provider():
    """A provider of environments on a real control plane."""
    return ClusterProvider({}, lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))


@pytest.fixture
def request_for(profile):
    """What the environment of a scenario is asked for with."""

    def ask(identity, seed=7):
        bound = next(one for one in profile.scenarios if one.scenario.id == identity)
        return ProvisionRequest.for_scenario(bound.scenario, bound.domain.declarations, seed)

    return ask
