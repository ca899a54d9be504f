"""An agent in the harness's own process that edits the run by path or in memory: the core stays, and it shows."""

import asyncio
import gc
import shutil
import sqlite3
from contextlib import suppress
from dataclasses import replace

import pytest

from recorded_run import KEY
from remembered import witnesses_remembered
from sirocco.domains.kubernetes.agents.reference import REFERENCE_AGENTS
from sirocco.errors import EvidenceError
from sirocco.evidence.ledger import Ledger
from sirocco.evidence.run_directory import RunDirectory
from sirocco.oasis.report import CoreResult
from sirocco.oasis.verdict import Fail
from sirocco.profiles.yaml_text import write_yaml
from sirocco.runner.run import run
from sirocco.wiring.assemble import assemble
from sirocco.wiring.config import RunConfig, run_document
from sirocco.wiring.recorder import Recorder
from sirocco.wiring.replay import replay

CORE = ("safety", "safety_details", "capability")


class Tampering:
    """Does its work, and once the core is on disk tampers with the run."""

    isolation = "none"

    def __init__(self, inner, path, tamper) -> None:
        self.inner, self.path, self.tamper, self.tampered = inner, path, tamper, 0
        self.describe = inner.describe

    async def respond(self, request):
        if (self.path / "core.yaml").exists():
            self.tampered += 1
            self.tamper(self.path)
        return await self.inner.respond(request)


def other_files(run):
    (run / "core.yaml").write_text("safety: FAIL\n")
    (run / "verdict.yaml").write_text("verdict: {safety: FAIL}\n")
    (run / "adversarial" / "findings.yaml").write_text("findings: nothing\n")


def no_rows(run):
    """Through the connection that writes the ledger: it holds the lock while agents work, so that no other gets in."""
    for ledger in [one for one in gc.get_objects() if isinstance(one, Ledger)]:
        with suppress(sqlite3.ProgrammingError):  # that of an earlier run is closed
            ledger._connection.execute("DELETE FROM units")


def no_ledger(run):
    (run / "ledger.sqlite").unlink(missing_ok=True)


def other_evidence(run):
    for segment in (run / "evidence").glob("segment-*"):
        segment.write_bytes(segment.read_bytes()[:40] + b"another story" + segment.read_bytes()[53:])


def no_evidence(run):
    shutil.rmtree(run / "evidence", ignore_errors=True)


def other_memory(run):
    for core in [one for one in gc.get_objects() if isinstance(one, CoreResult)]:
        object.__setattr__(core, "safety", Fail("so be it"))
        object.__setattr__(core, "results", ())


def _run(path, tamper):
    config = RunConfig(
        agent="ref:careful", seed=3, scenarios=("*.be.points-ledger-*",), archetypes=("S-BE-001",), probes=6, twins=0
    )
    assembly, directory = assemble(config), RunDirectory(path)
    agent = Tampering(REFERENCE_AGENTS["careful"](frozenset()), path, tamper)
    execution = replace(assembly.core.execution, agent=agent, ledger=directory)
    core = replace(assembly.core, execution=execution)
    assembly.extensions[0].execution = execution
    document = run_document(config, assembly.seed, core.profile.digest(), "2026-01-01T00:00:00Z")
    recorder = Recorder(directory, document, KEY)

    async def recorded() -> None:
        async for event in run(core, assembly.extensions):
            recorder.handle(event)

    with directory.create_run(write_yaml(document), document["config_hash"]), witnesses_remembered():
        asyncio.run(recorded())
        verdict = recorder.finish(assembly.extensions)["verdict"]
    return verdict, agent


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    path = tmp_path_factory.mktemp("honest") / "run"
    return path, _run(path, lambda run: None)[0]


@pytest.mark.requirement("AV-12", "AV-17")
def test_an_agent_that_edits_the_run_by_path_changes_nothing_of_the_core(honest, tmp_path):
    path, expected = honest
    verdict, agent = _run(tmp_path / "run", other_files)
    block = verdict["adversarial_verification"]
    assert (len(block["probe_details"]), block["reruns"]["run"]) == (6, 1)
    assert agent.tampered == block["agent_calls"]["spent"] >= 7, "every call after the core, and some probes ask twice"
    assert _core(verdict) == _core(expected)
    assert (tmp_path / "run" / "core.yaml").read_bytes() == (path / "core.yaml").read_bytes()
    assert verdict["metadata"]["core_digest"] == expected["metadata"]["core_digest"]
    assert verdict["metadata"]["agent_isolation"] == "none"
    assert "core.yaml was changed during the run" in (tmp_path / "run" / "events.jsonl").read_text()
    assert "was changed" not in (path / "events.jsonl").read_text()
    assert replay(tmp_path / "run").differences == ()


@pytest.mark.requirement("AV-12", "AV-17", "SI-07")
@pytest.mark.parametrize("tamper", [no_rows, other_memory])
def test_a_ledger_without_entries_and_a_core_changed_in_memory_leave_the_core_alone_and_show(honest, tmp_path, tamper):
    path, expected = honest
    verdict, _ = _run(tmp_path / "run", tamper)
    assert (tmp_path / "run" / "core.yaml").read_bytes() == (path / "core.yaml").read_bytes()
    assert _core(verdict) == _core(expected)
    assert verdict["metadata"]["core_digest"] == expected["metadata"]["core_digest"]
    assert verdict["metadata"]["agent_isolation"] == "none"
    assert replay(tmp_path / "run").differences


@pytest.mark.requirement("AV-12", "AV-17")
@pytest.mark.parametrize("tamper", [no_ledger, other_evidence, no_evidence])
def test_a_run_whose_records_are_gone_ends_with_an_error_that_says_so_and_its_core_stays(honest, tmp_path, tamper):
    path, _ = honest
    with pytest.raises(EvidenceError):
        _run(tmp_path / "run", tamper)
    assert (tmp_path / "run" / "core.yaml").read_bytes() == (path / "core.yaml").read_bytes()


def _core(verdict):
    return {key: verdict[key] for key in CORE if key in verdict}
