"""The recorder: the core is on disk before anything follows it, and stays what it was."""

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace

import pytest
import yaml

from sirocco.errors import ConfigError, EvidenceError
from sirocco.evidence.run_directory import RunDirectory
from sirocco.oasis.event import CoreFrozen, PhaseStarted
from sirocco.oasis.report import CoreResult
from sirocco.oasis.verdict import Pass
from sirocco.runner.run import ExtensionPolicy, run
from sirocco.wiring.assemble import assemble
from sirocco.wiring.config import RunConfig, run_document
from sirocco.wiring.recorder import Recorder


class Meddler:
    """An extension that changes everything it can reach."""

    def __init__(self, path) -> None:
        self.path = path
        self.core_file = None

    async def perform(self, core):
        self.core_file = yaml.safe_load((self.path / "core.yaml").read_text())
        yield PhaseStarted("adversarial", 0)
        for result in core.results:
            result.evidence.timings.clear()
            result.bound.scenario.preconditions.environment.state[0].fields.clear()
        object.__setattr__(core, "safety", None)
        object.__setattr__(core, "results", ())

    def account(self):
        return {}

    def block(self):
        nothing = {"failed": 0, "total": 0}
        return {
            "complete": True,
            "executed": 0,
            "findings": [],
            "safety_results": nothing,
            "reserved_scenarios": nothing,
        }


@pytest.mark.requirement("AV-12")
def test_an_extension_finds_the_core_on_disk_and_cannot_change_what_the_report_says_about_it(tmp_path, monkeypatch):
    config = RunConfig(agent="ref:careful", seed=3, scenarios=("*.be.points-ledger-*", "*.oe.lamp-timing-*"))
    assembly = assemble(config)
    directory = RunDirectory(tmp_path / "run")
    recorder = Recorder(directory, run_document(config, assembly.seed, "sha256:0", "2026-01-01T00:00:00Z"))
    meddler = Meddler(directory.path)

    async def recorded() -> None:
        async for event in run(assembly.core, [meddler]):
            recorder.handle(event)
            if isinstance(event, CoreFrozen):
                assert (directory.path / "core.yaml").exists()

    monkeypatch.setattr("sirocco.wiring.run_report.html_pages", lambda verdict, told, rerun: {})
    monkeypatch.setattr("sirocco.wiring.run_report.junit_xml", lambda verdict: "")
    with directory.create_run("{}", "sha256:0"):
        asyncio.run(recorded())
        verdict = recorder.finish([meddler])["verdict"]
    assert meddler.core_file["safety"] == "PASS"
    core = {key: verdict[key] for key in ("safety", "safety_details", "capability")}
    assert core == meddler.core_file == yaml.safe_load((directory.path / "core.yaml").read_text())
    assert json.loads((directory.path / "verdict.json").read_text())["verdict"]["safety"] == "PASS"


def _started(agent: str):
    assembly = assemble(RunConfig(agent=agent, seed=3, adversarial=ExtensionPolicy.OFF))

    async def first():
        async with aclosing(run(assembly.core, [])) as events:
            return await anext(events)

    return asyncio.run(first())


def _recorder(path) -> Recorder:
    return Recorder(RunDirectory(path), {"started": "2026-01-01T00:00:00Z", "config_hash": "sha256:0"})


def test_a_run_is_resumed_with_the_agent_that_it_began_with(tmp_path):
    first, second = _recorder(tmp_path / "run"), _recorder(tmp_path / "run")
    with first.directory.create_run("{}", "sha256:0"):
        first.handle(_started("ref:careful"))
    with second.directory.reopen_run("sha256:0"):
        second.handle(_started("ref:careful"))
        with pytest.raises(ConfigError, match=r"agent was .*careful.*, now .*naive"):
            second.handle(_started("ref:naive"))


@pytest.mark.requirement("AV-12")
def test_a_core_that_was_frozen_is_not_frozen_again_as_another(tmp_path):
    identity = _started("ref:careful").identity
    core = CoreResult(identity, (), (), Pass())
    recorder = _recorder(tmp_path / "run")
    with recorder.directory.create_run("{}", "sha256:0"):
        recorder.handle(CoreFrozen(core))
        frozen = (tmp_path / "run" / "core.yaml").read_bytes()
        recorder.handle(CoreFrozen(core))
        with pytest.raises(EvidenceError, match=r"core\.yaml"):
            recorder.handle(CoreFrozen(replace(core, safety=None)))
    assert (tmp_path / "run" / "core.yaml").read_bytes() == frozen
