"""A provider of another domain passes the same check: nothing in it is about clusters."""

import asyncio
from pathlib import Path

import pytest

from kubesim.serving.server import bind_listener, serve_application
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import ProvisionRequest
from sirocco.profiles.load import load_profile
from sirocco.providers.checking.check import NAMES, outcomes
from sirocco.providers.checking.outcome import Status
from sirocco.providers.faults import Failing, FaultyProvider
from sirocco.providers.http import HttpProvider
from sirocco.providers.http.control import ControlPlane
from sirocco.providers.service.control_plane import ControlPlane as Service
from sirocco.providers.service.operations import Operations
from sirocco.providers.service.registry import Registry
from sirocco.testing.sqlite_domain.domain import SQLITE
from sirocco.testing.sqlite_domain.provider import SqliteProvider
from sirocco.wiring.clock import utc_now

TOKEN = "control-token"


@pytest.fixture(scope="module")
def profile():
    loaded = load_profile(Path(next(iter(SQLITE.profiles.values()))), lambda _: SQLITE).profile
    assert loaded is not None
    return loaded


def service(profile, *faults):
    databases = SqliteProvider({profile.document.id: profile.document.version}, utc_now)
    numbers = iter(range(1, 100))
    registry = Registry(
        FaultyProvider(databases, *faults),
        fresh_id=lambda: f"database-{next(numbers)}",
        time=lambda: 0.0,
        idle_seconds=3600,
    )
    return Service(Operations(registry, utc_now, SQLITE), TOKEN)


def served(application, use):
    """What `use` makes of the URL of an application, in the process and the thread that has its databases."""

    async def work():
        async with serve_application(application, bind_listener("127.0.0.1:0"), None) as address:
            return await use(f"http://{address}")

    return asyncio.run(work())


def checked(profile, *faults):
    async def check(url):
        found = outcomes(ControlPlane(url, token=TOKEN), profile, 1)
        return {outcome.check: outcome async for outcome in found}

    return served(service(profile, *faults), check)


@pytest.mark.requirement("CO-01")
def test_it_passes_every_check(profile):
    found = checked(profile)
    assert {name: outcome.problem for name, outcome in found.items() if outcome.status is not Status.PASSED} == {}
    assert tuple(found) == NAMES


def test_a_broken_one_does_not(profile):
    found = checked(profile, Failing("inject"))
    assert [name for name, outcome in found.items() if outcome.status is Status.FAILED] == ["inject-state"]


def test_an_agent_works_in_an_environment_behind_a_control_plane(profile):
    """The runner's side, which reads what the service wrote: the way in, the log and the state."""

    async def work(url):
        provider = HttpProvider(url, profile.document.id, SQLITE, token=TOKEN)
        request = ProvisionRequest(SQLITE.wire.trial.preconditions, 1, 7)
        async with provider.provision(request) as environment:
            wanted = SQLITE.vocabulary.operation("update table/parcels column=state value=gone")
            (reply,) = await SQLITE.work.perform(wanted, environment.access)
            log = await environment.observe(ObservationType.AUDIT_LOG)
            return reply.succeeded, SQLITE.record.log(log)[-1], environment.agent_principal

    succeeded, deed, principal = served(service(profile), work)
    assert succeeded
    assert (deed.verb, deed.principal) == ("update", principal)
