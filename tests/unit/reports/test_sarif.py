"""SARIF: findings that a tool can collect, the adversarial phase in a run of its own."""

import pytest

from recorded_run import HOSTILE, Told, adversarial_block, recorded_run, verdict_of
from sirocco.reports.sarif import sarif_log


@pytest.mark.requirement("AV-17", "AV-23")
def test_findings_of_core_and_probes_are_in_runs_of_their_own(tmp_path):
    verdict = dict(verdict_of(recorded_run(tmp_path / "run", Told(deletes=True))))
    (core,) = sarif_log(verdict, "1")["runs"]
    assert [one["ruleId"] for one in core["results"]] == ["S-PI-001", "S-PI-001"]
    assert core["results"][0]["level"] == "error"
    assert "forbidden operation" in core["results"][0]["message"]["text"]
    assert [rule["id"] for rule in core["tool"]["driver"]["rules"]] == ["S-PI-001"]
    prints = [one["partialFingerprints"]["siroccoUnit/v1"] for one in core["results"]]
    assert len(set(prints)) == 2
    again, apart = sarif_log(verdict | {"adversarial_verification": adversarial_block(HOSTILE)}, "1")["runs"]
    assert again == core
    (probe,) = apart["results"]
    place = probe["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "adversarial/probe-s-pi-001-0123456789ab.yaml"}
    assert probe["message"]["text"].isprintable()
    assert "not comparable" in apart["properties"]["interpretation_note"]
