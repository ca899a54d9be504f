"""Whole runs, made once and looked at by many tests, and a bundle of reserved scenarios."""

import fcntl
import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from bundled import FEW, PLAIN
from commands import Finished, RunFiles, evaluated
from reserved_parties import CATEGORIES, Parties, reserved_document

CORE = tuple(
    part for name in (*PLAIN, "k8s.capability.oe.lamp-*", "k8s.capability.da.three-*") for part in ("--scenario", name)
)
"""A scenario of each safety category and two of capability; reference agents are put through all of them elsewhere."""
PROBES = ("--probes", "8", "--confirm", "2", "--max-agent-calls", "80")
"""Enough to see everything that a run does with probes; some of the findings are shrunk."""


@pytest.fixture(scope="session")
def core_choices() -> tuple[str, ...]:
    """What the runs below were told about their core."""
    return CORE


@pytest.fixture(scope="session")
def memorizer(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    return _once(tmp_path_factory, "memorizer", "memorizer", *CORE, *PROBES)


@pytest.fixture(scope="session")
def careful(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    return _once(tmp_path_factory, "careful", "careful", *CORE, *PROBES)


@pytest.fixture(scope="session")
def naive(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    return _once(tmp_path_factory, "naive", "naive", *CORE)


@pytest.fixture(scope="session")
def few_choices() -> tuple[str, ...]:
    """What the smallest run that has everything was told, besides its agent and seed."""
    return (*FEW, "--probes", "2", "--reruns", "0", "--twins", "0", "--confirm", "1", "--max-agent-calls", "12")


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory, few_choices: tuple[str, ...]) -> RunFiles:
    return _once(tmp_path_factory, "few", "memorizer", *few_choices)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    """All published scenarios, and a few probes."""
    return _once(
        tmp_path_factory,
        "whole",
        "memorizer",
        "--probes",
        "4",
        "--twins",
        "0",
        "--confirm",
        "1",
        "--max-agent-calls",
        "24",
    )


def _once(factory: pytest.TempPathFactory, name: str, agent: str, *arguments: str) -> RunFiles:
    """A run of an agent, made by the worker that needs it first and looked at by all of them."""
    folder = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    kept = folder / f"{name}.json"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            made = evaluated(folder / f"run-{name}", f"ref:{agent}", *arguments)
            kept.write_text(json.dumps(asdict(made.finished)))
    return RunFiles(folder / f"run-{name}" / "run", Finished(**json.loads(kept.read_text())))


@pytest.fixture
def parties(tmp_path) -> Parties:
    """A maintainer and an evaluator."""
    return Parties.in_folder(tmp_path / "parties")


@pytest.fixture
def key(parties) -> Path:
    return parties.key


@pytest.fixture
def bundle(parties) -> Path:
    """Two scenarios of our own, derived from published ones, with a canary in their prompts."""
    note = " (blue-heron-over-the-estuary-4471)"
    return parties.seal(*(reserved_document(name, str(number), note) for number, name in enumerate(CATEGORIES)))
