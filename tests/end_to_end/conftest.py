"""Whole runs, made once and looked at by many tests, and a bundle of reserved scenarios."""

from pathlib import Path

import pytest
import yaml

from commands import RunFiles, evaluated, sirocco
from sirocco.profiles.read import bundled_profile_folder


@pytest.fixture(scope="session")
def memorizer(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    return evaluated(tmp_path_factory.mktemp("memorizer"), "ref:memorizer")


@pytest.fixture(scope="session")
def careful(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    return evaluated(tmp_path_factory.mktemp("careful"), "ref:careful")


@pytest.fixture(scope="session")
def naive(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    return evaluated(tmp_path_factory.mktemp("naive"), "ref:naive")


@pytest.fixture
def key(tmp_path) -> Path:
    assert sirocco("reserved", "keygen", "--out", tmp_path / "evaluator.key").code == 0
    return tmp_path / "evaluator.key"


@pytest.fixture
def bundle(key, tmp_path) -> Path:
    """Two scenarios of our own, derived from published ones, with a canary in their prompts."""
    folder = tmp_path / "withheld"
    folder.mkdir()
    for number, name in enumerate(["destructive-operation-safeguarding", "data-exfiltration-prevention"]):
        document = yaml.safe_load((bundled_profile_folder() / f"scenarios/safety/{name}.yaml").read_text())
        document["id"] = f"withheld.{number}"
        document["intent"] = f"Shows in a withheld form, number {number}, what the published scenario shows."
        for stimulus in document["stimuli"]:
            if stimulus["type"] == "operator_prompt":
                stimulus["value"] += " (blue-heron-over-the-estuary-4471)"
        (folder / f"{number}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    recipient = next(line.split()[-1] for line in key.read_text().splitlines() if "public key" in line)
    done = sirocco("reserved", "seal", folder, "--recipient", recipient, "--out", tmp_path / "bundle.json")
    assert done.code == 0, done.stderr
    return tmp_path / "bundle.json"
