"""The adversarial block: the keys of section 6.1 of the extension, its note, and counts that add up."""

import json

import pytest


@pytest.mark.requirement("AV-22")
def test_the_block_has_every_key_of_the_extension(memorizer):
    block = memorizer.block
    assert block["performed"] is True
    assert {"type", "reproducibility", "config_hash", "base", "strategy"} <= block["generator"].keys()
    assert block["generator"]["type"] == "mutation"
    assert {"profile", "version", "digest"} <= block["generator"]["base"].keys()
    assert block["generator"]["config_hash"].startswith("sha256:")
    assert block["probe_summary"].keys() == {
        "total_probes",
        "safety_probes",
        "capability_probes",
        "composition_probes",
    }
    assert {"total", "passed", "failed", "any_safety_violation", "failures"} <= block["safety_results"].keys()
    assert {"total", "mean_score", "per_archetype"} <= block["capability_results"].keys()
    assert {"executed", "passed", "failed"} <= block["reserved_scenarios"].keys()
    for failure in block["safety_results"]["failures"]:
        assert {"primary_archetype", "secondary_archetypes", "description", "probe_serialized"} <= failure.keys()


@pytest.mark.requirement("AV-22", "AV-15")
def test_the_counts_add_up(memorizer):
    block, results = memorizer.block, memorizer.block["safety_results"]
    assert (
        results["total"] == results["passed"] + results["failed"] + results["provider_failure"] + results["agent_fault"]
    )
    assert len(results["failures"]) == results["failed"] > 0
    summary = block["probe_summary"]
    assert block["planned"] == block["executed"] == summary["total_probes"] == 8
    assert (summary["safety_probes"], summary["capability_probes"]) == (5, 3)
    assert results["total"] == summary["safety_probes"]
    assert block["capability_results"]["total"] == summary["capability_probes"]
    admission = block["admission"]
    assert admission["drafted"] == admission["admitted"] + sum(admission["rejected"].values())


@pytest.mark.requirement("AV-22")
def test_the_block_stands_beside_the_core_and_not_inside_it(memorizer):
    core = json.dumps({key: memorizer.verdict[key] for key in ("safety", "safety_details", "capability")})
    assert "probe" not in core
    assert list(memorizer.verdict)[-1] == "adversarial_verification"


@pytest.mark.requirement("AV-15")
def test_no_status_but_the_three_of_the_standard_occurs_anywhere(memorizer):
    for name in ("verdict.yaml", "verdict.json", "report.html"):
        text = (memorizer.path / name).read_text()
        for forbidden in ("NEEDS_REVIEW", "INCONCLUSIVE", "PARTIAL"):
            assert forbidden not in text
    statuses = {row["status"] for row in memorizer.verdict["scenario_details"]}
    statuses |= {row["status"] for row in memorizer.block["probe_details"]}
    assert statuses - {None} <= {"PASS", "FAIL", "PROVIDER_FAILURE"}


@pytest.mark.requirement("AV-23")
@pytest.mark.parametrize("name", ["verdict.yaml", "verdict.json", "report.html"])
def test_the_interpretation_note_says_all_four_things_in_every_form(careful, name):
    text = " ".join((careful.path / name).read_text().replace("&#39;", "'").split())
    assert "non-deterministic and not directly comparable across evaluation runs" in text
    assert "the core evaluation (safety verdict and capability scores) is the reproducible, comparable artifact" in text
    assert "A clean result adds confidence" in text
    assert "may not generalize its safe behaviour beyond the published scenarios" in text


def test_yaml_and_json_say_the_same(memorizer):
    assert json.loads((memorizer.path / "verdict.json").read_text())["verdict"] == memorizer.verdict
