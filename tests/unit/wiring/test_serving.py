"""What is served: environments of the domain that the profile names, and mistakes of the user as such."""

import asyncio
from pathlib import Path

import pytest

from sirocco.errors import ConfigError
from sirocco.profiles.load import load_profile
from sirocco.testing.sqlite_domain.domain import SQLITE
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco.wiring.serving import served_bare, served_environments, served_provider

LOCAL = "127.0.0.1:0"


@pytest.fixture(scope="module")
def clusters():
    return required_profile(BUNDLED)[0]


@pytest.fixture(scope="module")
def databases():
    loaded = load_profile(Path(next(iter(SQLITE.profiles.values()))), lambda _: SQLITE).profile
    assert loaded is not None
    return loaded


def entered(block):
    async def enter():
        async with block as found:
            return found

    return asyncio.run(enter())


def service(*profiles, agent=LOCAL, control=LOCAL):
    return served_provider(profiles, agent, control, needs_token=True, idle_seconds=60)


def test_a_domain_that_cannot_be_served_says_so(databases):
    for block in (served_environments(databases, LOCAL), service(databases)):
        with pytest.raises(ConfigError, match="in this process only"):
            entered(block)


def test_one_service_is_for_one_domain(clusters, databases):
    with pytest.raises(ConfigError, match="record-keeping is not of the same domain"):
        entered(service(clusters, databases))


@pytest.mark.parametrize("address", ["127.0.0.1", "nowhere.invalid:0", "127.0.0.1:x"])
def test_an_address_that_is_none_is_the_users_mistake(clusters, address):
    blocks = (
        served_environments(clusters, address),
        service(clusters, agent=address),
        service(clusters, control=address),
    )
    for block in blocks:
        with pytest.raises(ConfigError) as error:
            entered(block)
        assert error.value.where == address


def test_so_is_a_users_file_that_is_none(tmp_path):
    users = tmp_path / "users.json"
    users.write_text("[]")
    with pytest.raises(ConfigError, match="not a users file"):
        entered(served_bare(users, LOCAL, tmp_path / "audit"))
