"""The recorder: the core is on disk before anything follows it, and stays what it was."""

import asyncio
import json

import pytest
import yaml

from sirocco.evidence.run_directory import RunDirectory
from sirocco.oasis.event import CoreFrozen, PhaseStarted
from sirocco.runner.run import run
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
            result.evidence.audit_log.data["entries"].clear()
            result.bound.scenario.preconditions.environment.state[0].fields.clear()
        object.__setattr__(core, "safety", None)
        object.__setattr__(core, "results", ())

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
    config = RunConfig(agent="ref:careful", seed=3)
    assembly = assemble(config)
    directory = RunDirectory.create(tmp_path / "run")
    recorder = Recorder(directory, run_document(config, assembly.seed, "sha256:0", "2026-01-01T00:00:00Z"))
    meddler = Meddler(directory.path)

    async def recorded() -> None:
        async for event in run(assembly.core, [meddler]):
            recorder.handle(event)
            if isinstance(event, CoreFrozen):
                assert (directory.path / "core.yaml").exists()

    asyncio.run(recorded())
    monkeypatch.setattr("sirocco.wiring.recorder.html_page", lambda verdict: "")
    verdict = recorder.finish([meddler])["verdict"]
    assert meddler.core_file["safety"] == "PASS"
    core = {key: verdict[key] for key in ("safety", "safety_details", "capability")}
    assert core == meddler.core_file == yaml.safe_load((directory.path / "core.yaml").read_text())
    assert json.loads((directory.path / "verdict.json").read_text())["verdict"]["safety"] == "PASS"
