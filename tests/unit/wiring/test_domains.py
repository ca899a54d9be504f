"""Domains by entry point: what is installed, what each brings, and that nothing else is asked where one is named."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest

from bundled import small_profile
from commands import sirocco
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.errors import ConfigError
from sirocco.wiring import agents, domains, plugins, profile_source
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.connection import Reach, connection


@dataclass
class Point:
    """An entry point of an installed package."""

    name: str
    made: object
    value: str = "their_package:DOMAIN"
    dist: object = None

    def load(self):
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


class Echo:
    """Answers with what it was made of."""

    isolation = "none"

    def __init__(self, name, published, numbers) -> None:
        self.made_of = (name, published, numbers)


class OneAgent:
    names = ("echo",)

    def numbers(self, name):
        return {"times": 3.0}

    def agent(self, name, published=frozenset(), **numbers):
        return Echo(name, published, numbers)


class Served:
    def __init__(self, arguments) -> None:
        self.arguments = arguments
        self.url = "dsn://here"
        self.files = {"SERVICEFILE": "[all]"} if arguments["is_static"] else {}
        self.is_open = False

    @asynccontextmanager
    async def open(self):
        self.is_open = True
        yield


class Server:
    def in_process_provider(self, versions, clock):
        return ("plain", versions)

    def served_provider(self, versions, clock, **arguments):
        return Served({"versions": versions, **arguments})


@dataclass
class Files:
    """A domain of something that is no cluster, with no more than the wiring asks for."""

    environment_type: str = "folder"
    profiles: Mapping[str, str] = field(default_factory=dict)
    reference_agents = OneAgent()
    equipment = SimpleNamespace(variables=("SERVICEFILE",), role="You keep a folder.")

    @property
    def providers(self):
        return {"server": Server()}


@pytest.fixture
def installed(monkeypatch):
    """Installs domains for the length of a test."""

    def install(*points):
        domains.domain_for.cache_clear()
        monkeypatch.setattr(domains, "entry_points", lambda group: points if group == domains.GROUP else ())

    yield install
    domains.domain_for.cache_clear()


@pytest.fixture(scope="module")
def profile():
    return replace(small_profile(), domain=Files())


def test_one_that_does_not_load_is_named_and_in_nobodys_way(installed):
    installed(Point("kubernetes-cluster", KUBERNETES), Point("broken", ImportError("no module")))
    found = {one.environment_type: one for one in domains.installed_domains()}
    assert found["kubernetes-cluster"].domain is KUBERNETES
    assert (found["broken"].domain, "no module" in found["broken"].problem) == (None, True)
    assert domains.usable_domains() == (KUBERNETES,)
    assert profile_source.profile_folder("kubernetes_operations").is_dir()
    with pytest.raises(ConfigError, match="repair their_package"):
        domains.domain_for("broken")


def test_a_profile_is_found_by_its_name_whichever_domain_brings_it(installed, tmp_path):
    installed(Point("folder", Files(profiles={"tidiness": str(tmp_path)})), Point("kubernetes-cluster", KUBERNETES))
    assert profile_source.profile_folder("tidiness") == tmp_path
    with pytest.raises(ConfigError, match="or tidiness or kubernetes_operations"):
        profile_source.profile_folder("elsewhere")
    installed(Point("folder", Files()))
    with pytest.raises(ConfigError, match="contains neither profile"):
        profile_source.profile_folder("kubernetes_operations")


def test_reference_agents_are_those_of_the_profiles_domain(profile):
    made = plugins.agent("ref:echo?times=2", profile)
    assert made.made_of[0] == "echo"
    assert made.made_of[1] == plugins.published_texts(profile)
    assert made.made_of[2] == {"times": 2.0}
    with pytest.raises(ConfigError, match=r"use one of: ref:echo$"):
        plugins.agent("ref:careful", profile)


def test_providers_are_those_of_the_profiles_domain(profile):
    versions = {profile.document.id: profile.document.version}
    assert plugins.own_provider(profile) == ("plain", versions)
    with pytest.raises(ConfigError, match="use server or a URL"):
        plugins.provider("simulator", profile)
    connected = connection(profile, "ref:echo", AgentOptions())
    assert (connected.provider, connected.served) == (("plain", versions), None)


def test_an_agent_elsewhere_is_served_by_the_profiles_domain_and_led_there_by_its_variables(profile, monkeypatch):
    monkeypatch.setenv("SERVICEFILE", "mine")
    with pytest.raises(ConfigError, match="SERVICEFILE is the child's own"):
        agents.agent("cmd:sh", profile.domain, AgentOptions(variables=("SERVICEFILE",)))
    connected = connection(profile, "cmd:sh", AgentOptions(), reach=Reach(is_static=True))
    assert connected.provider is connected.served
    assert connected.served.arguments["listen"] == "127.0.0.1:0"
    assert connected.witnesses[0] == "plain"


async def _opened(connected):
    async with connected.open() as files:
        return {variable: path.read_text() for variable, path in files.items()}


def test_what_leads_to_all_environments_is_written_for_the_whole_run(profile):
    for is_static, wanted in ((True, {"SERVICEFILE": "[all]"}), (False, {})):
        reach = Reach("127.0.0.1:0", is_static=is_static)
        connected = connection(profile, "cmd:sh", AgentOptions(), reach=reach)
        assert asyncio.run(_opened(connected)) == wanted
        assert connected.served.is_open


def test_domain_list_shows_what_each_brings():
    done = sirocco("domain", "list", "--format", "json")
    found = {one["environment_type"]: one for one in json.loads(done.stdout)}["kubernetes-cluster"]
    assert (found["providers"], found["profiles"]) == (["simulator", "cluster"], ["kubernetes_operations"])
    assert {"careful", "naive", "memorizer"} <= set(found["reference_agents"])
    assert found["types"] == len(KUBERNETES.vocabulary.nouns)
    told = sirocco("domain", "list").stdout
    assert "kubernetes-cluster\n" in told
    assert "memorizer" in told


def test_agents_of_several_domains_are_told_apart(installed):
    installed(Point("kubernetes-cluster", KUBERNETES), Point("other", KUBERNETES))
    rows = json.loads(sirocco("agent", "list", "--format", "json").stdout)
    assert {row["environment_type"] for row in rows} == {"kubernetes-cluster"}
    installed(Point("kubernetes-cluster", KUBERNETES))
    rows = json.loads(sirocco("agent", "list", "--format", "json").stdout)
    assert all(set(row) == {"agent", "name", "version", "description"} for row in rows)
