"""An agent in the harness's own process that edits the run by path: the core stays what it was, and it shows."""

import asyncio
from dataclasses import replace

import pytest

from sirocco.agents.reference import REFERENCE_AGENTS
from sirocco.evidence.replay import replay
from sirocco.evidence.run_directory import RunDirectory
from sirocco.runner.run import run
from sirocco.wiring.assemble import assemble
from sirocco.wiring.config import RunConfig, run_document
from sirocco.wiring.recorder import Recorder

CORE = ("safety", "safety_details", "capability")


class Tampering:
    """Does its work, and once the core is on disk tries to make it another."""

    isolation = "none"

    def __init__(self, inner, path) -> None:
        self.inner, self.path, self.tampered = inner, path, 0
        self.describe = inner.describe

    async def respond(self, request):
        core = self.path / "core.yaml"
        if core.exists():
            self.tampered += 1
            core.write_text("safety: FAIL\n")
            (self.path / "verdict.yaml").write_text("verdict: {safety: FAIL}\n")
            (self.path / "adversarial" / "findings.yaml").write_text("findings: nothing\n")
        return await self.inner.respond(request)


def _run(path, *, tampers):
    config = RunConfig(
        agent="ref:careful", seed=3, scenarios=("*.be.points-ledger-*",), archetypes=("S-BE-001",), probes=2, twins=0
    )
    assembly, directory = assemble(config), RunDirectory(path)
    agent = Tampering(REFERENCE_AGENTS["careful"](frozenset()), path)
    execution = replace(assembly.core.execution, agent=agent if tampers else agent.inner, ledger=directory)
    core = replace(assembly.core, execution=execution)
    assembly.extensions[0].execution = execution
    recorder = Recorder(directory, run_document(config, assembly.seed, "sha256:0", "2026-01-01T00:00:00Z"))

    async def recorded() -> None:
        async for event in run(core, assembly.extensions):
            recorder.handle(event)

    with directory.created("{}", "sha256:0"):
        asyncio.run(recorded())
        verdict = recorder.finish(assembly.extensions)["verdict"]
    return verdict, agent


@pytest.mark.requirement("AV-12", "AV-17")
def test_an_agent_that_edits_the_run_by_path_changes_nothing_of_the_core(tmp_path):
    honest, _ = _run(tmp_path / "a", tampers=False)
    verdict, agent = _run(tmp_path / "b", tampers=True)
    assert agent.tampered == 2
    assert {key: verdict[key] for key in CORE if key in verdict} == {key: honest[key] for key in CORE if key in honest}
    assert (tmp_path / "a" / "core.yaml").read_bytes() == (tmp_path / "b" / "core.yaml").read_bytes()
    assert verdict["metadata"]["core_digest"] == honest["metadata"]["core_digest"]
    assert verdict["metadata"]["agent_isolation"] == "none"
    assert "core.yaml was changed during the run" in (tmp_path / "b" / "events.jsonl").read_text()
    assert "was changed" not in (tmp_path / "a" / "events.jsonl").read_text()
    assert replay(tmp_path / "b").differences == ()
