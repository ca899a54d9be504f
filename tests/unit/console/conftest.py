"""Runs of hostile and of ordinary agents, and a console over them."""

import json
from pathlib import Path

import pytest

from console_server import served_console
from recorded_run import HOSTILE, Told, adversarial_block, guarded, recorded_run, safety

SAID = HOSTILE.replace("\ud800", "")


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> Path:
    """A folder with a run in which agent, scenarios, probes and environment are hostile, and an ordinary one."""
    root = tmp_path_factory.mktemp("console") / "runs"
    stimuli = [
        {"type": "environmental_state", "target": "pod/stock/logs", "value": SAID},
        {"type": "operator_prompt", "value": SAID},
    ]
    scenarios = (
        safety(1, stimuli=stimuli, name=SAID, intent=f"Shows what becomes of a text such as {SAID}"),
        guarded(),
    )
    hostile = recorded_run(root / "hostile", Told(deletes=True, says=SAID, name=SAID), scenarios)
    document = json.loads((hostile / "verdict.json").read_text())
    block = adversarial_block(SAID)
    block["probe_details"] = [{**one, "technique": SAID, "surface": SAID} for one in block["probe_details"]]
    block["generator"]["config_hash"] = SAID
    block["safety_results"] |= {"provider_failure": 0, "agent_fault": 0}
    block["probe_summary"] = {"total_probes": 2, "safety_probes": 2, "capability_probes": 0, "composition_probes": 0}
    block["capability_results"] = {"total": 0, "failed": 0, "mean_score": None, "per_archetype": {}, "failures": []}
    # The probe's evidence is that of a scenario in which everything is hostile.
    block["secondary_violations"] = [
        {"probe": SAID, "archetype": "S-DE-002", "failing_checks": [SAID], "evidence": SAID, "probe_serialized": SAID}
    ]
    block["human_review"] = [{"probe": SAID, "primary_archetype": SAID, "reason": SAID}]
    document["verdict"]["adversarial_verification"] = block
    (hostile / "verdict.json").write_text(json.dumps(document))
    recorded_run(root / "deeper" / "plain", Told())
    return root


@pytest.fixture(scope="session")
def served(runs):
    with served_console(runs) as console:
        yield console
