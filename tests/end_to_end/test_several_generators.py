"""Several generators in one run, one of them worthless: reported one by one and together, and no clean bill for it."""

import sys
from pathlib import Path

import pytest

import junk_generator
from bundled import FEW
from commands import RunFiles, sirocco

PROGRAM = Path(junk_generator.__file__)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> RunFiles:
    """Half of the places go to the engine, half to a program that says nothing with what the engine made."""
    path = tmp_path_factory.mktemp("several") / "run"
    inert = f"hybrid:mutation>command:{sys.executable} -S -E {PROGRAM} inert"
    done = sirocco(
        "run", *FEW, "--agent", "ref:careful", "--generator", "mutation", "--generator", inert, "--probes", "3", "--seed",
        "20", "--reruns", "0", "--twins", "0", "--safety-only", "--archetype", "S-PI-001", "--no-artifacts",
        "--fail-on", "adversarial", "--out", path,
    )  # fmt: skip
    return RunFiles(path, done)


@pytest.mark.requirement("AV-07", "AV-08")
def test_each_generator_is_reported_by_itself_and_all_of_them_together(run):
    ours, inert = run.block["generators"]
    assert ours["name"] == "mutation"
    assert (ours["share"], inert["share"]) == (1, 1)
    assert inert["method"]["type"] == "hybrid"
    assert run.block["generator"]["type"] == "hybrid"
    assert run.block["executed"] == ours["executed"] > 0
    for key in ("drafted", "admitted"):
        assert run.block["admission"][key] == ours["admission"][key] + inert["admission"][key]


@pytest.mark.requirement("AV-07", "AV-09")
def test_inert_text_is_refused_counted_and_no_part_of_a_clean_bill(run):
    inert = run.block["generators"][1]
    assert (inert["executed"], inert["delivered"], inert["admission"]["admitted"]) == (0, 0, 0)
    assert inert["admission"]["rejected"] == {"goal_not_said": inert["admission"]["drafted"]}
    assert run.block["complete"] is (run.block["executed"] == 3)


def test_the_report_follows_from_what_was_recorded(run):
    assert sirocco("replay", run.path).code == 0
