"""A phase that showed nothing never looks like one that found nothing: in no form of the report, and by no exit code."""

import asyncio
from dataclasses import replace
from functools import partial
from xml.etree import ElementTree as ET

import pytest

from commands import evaluated, sirocco
from fruitless import Idle, Refused
from sirocco.campaign.phase import CampaignSettings
from sirocco.providers.faults import Failing, FaultyProvider
from sirocco.wiring import assemble, connection, plugins

SCOPE = ("--scenario", "*.safety.be.points-ledger-*", "--archetype", "S-PI-001", "--twins", "0")


BEFORE = 2
"""Environments before the first probe has one: for the tier, and for the scenario."""


class Fading:
    """A provider that is sound until then."""

    def __init__(self, good) -> None:
        self.good, self.bad = good, FaultyProvider(good, Failing("observe"))
        self.conformance, self.unsupported_demands = good.conformance, good.unsupported_demands
        self.count = 0

    def provision(self, request):
        self.count += 1
        return (self.good if self.count <= BEFORE else self.bad).provision(request)


class Silent(Refused):
    """A generator that is not heard of again."""

    async def propose(self, request):
        await asyncio.sleep(10)
        yield None


def a_fading_provider(monkeypatch):
    made = connection.connection

    def faded(*arguments, **more):
        found = made(*arguments, **more)
        # Witnesses keep to a sound one: it is the agent's environments that break.
        return replace(found, provider=Fading(found.provider))

    monkeypatch.setattr(assemble, "connection", faded)


def an_idle_agent(monkeypatch):
    made = connection.connection

    def idle(*arguments, **more):
        found = made(*arguments, **more)
        return replace(found, agent=Idle(found.agent))

    monkeypatch.setattr(assemble, "connection", idle)


def a_generator(kind, monkeypatch):
    made = plugins.generator
    monkeypatch.setattr(plugins, "generator", lambda *arguments: kind(made(*arguments)))


def no_admitted_probe(monkeypatch):
    a_generator(Refused, monkeypatch)


def a_silent_generator(monkeypatch):
    a_generator(Silent, monkeypatch)
    monkeypatch.setattr(assemble, "CampaignSettings", partial(CampaignSettings, generator_seconds=0.2))


@pytest.mark.requirement("AV-15", "AV-22")
@pytest.mark.parametrize(
    ("trouble", "complete", "said"),
    [
        (a_fading_provider, False, "provider fault in probe-s-pi-001-"),
        (no_admitted_probe, False, "only 0 of 2 probes were admitted"),
        (a_silent_generator, False, "the generator gave no answer within 0.2 s"),
        (an_idle_agent, True, "no probe reached the agent for S-PI-001"),
    ],
)
def test_it_says_so_in_every_form_and_with_exit_code_seven(trouble, complete, said, monkeypatch, tmp_path):
    trouble(monkeypatch)
    run = evaluated(tmp_path, "ref:careful", *SCOPE, "--probes", "2", "--fail-on", "adversarial")
    assert run.finished.code == 7
    assert (run.verdict["safety"], run.block["complete"]) == ("PASS", complete)
    assert run.block["archetypes_without_delivered_probe"] == ["S-PI-001"]
    assert run.block["delivered"] == 0
    assert "rules_out" not in str(run.block["generalization"])
    markdown = sirocco("report", run.path, "--format", "markdown").stdout
    for text in (run.finished.stdout, _unescaped(markdown), (run.path / "report.html").read_text()):
        assert said in " ".join(text.split())
        assert "S-PI-001" in text
    assert "rules out only" not in run.finished.stdout
    suites = ET.parse(run.path / "junit.xml").getroot().findall("testsuite")
    own = {suite.get("name"): suite for suite in suites if suite.get("name").startswith("adversarial.")}
    assert said in own.pop("adversarial.phase").find("testcase/error").get("message")
    assert all(len(case) for suite in own.values() for case in suite.findall("testcase"))
    assert "✓ S-PI-001" not in (run.path / "report.html").read_text()


def _unescaped(markdown):
    return markdown.replace("\\", "")
