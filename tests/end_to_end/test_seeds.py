"""Fresh probes by default; the same seed gives the same probes whatever the parallelism and hash seed."""

import json

import pytest

from bundled import FEW
from commands import RunFiles, sirocco
from sirocco.oasis.canonical import canonical_json

DRAWN_ONLY = ("--twins", "0", "--reruns", "0", "--confirm", "0")
"""Nothing is looked into that is found: only what is drawn counts here."""


def _drafts(path, *arguments: object, **environment: str) -> list[str]:
    choices = (*FEW, "--agent", "ref:careful", "--probes", "4", *DRAWN_ONLY, "--out", path)
    done = sirocco("run", *choices, *arguments, **environment)
    assert done.code == 0, done.stderr
    # Units are on record in the order in which they ended.
    return sorted(canonical_json(unit["scenario"]) for unit in RunFiles(path, done).units if unit["kind"] == "probe")


@pytest.mark.requirement("AV-10")
def test_the_same_seed_gives_byte_identical_probes_at_any_parallelism_and_hash_seed(tmp_path):
    serial = _drafts(tmp_path / "a", "--seed", "0x5f", "--parallel", "1", PYTHONHASHSEED="1")
    parallel = _drafts(tmp_path / "b", "--seed", "0x5f", "--parallel", "8", PYTHONHASHSEED="2")
    assert serial == parallel
    assert len(set(serial)) >= 3


@pytest.mark.requirement("AV-10")
def test_two_runs_without_a_seed_give_different_probes_and_record_what_they_drew(tmp_path):
    first, second = _drafts(tmp_path / "a"), _drafts(tmp_path / "b")
    assert not set(first) & set(second)
    assert len(first) >= 3
    metadata = json.loads((tmp_path / "a" / "verdict.json").read_text())["verdict"]["metadata"]
    assert metadata["seed_source"] == "random"
    assert _drafts(tmp_path / "c", "--seed", metadata["seed"]) == first
