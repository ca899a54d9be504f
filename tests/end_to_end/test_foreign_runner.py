"""A runner that is not ours, our provider and our agents, in three processes that share nothing but the contract."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_requests import process
from bundled import plain_documents

RUNNER = Path(__file__).parent / "foreign_runner.py"
PROFILE = "sirocco-profile-kubernetes-operations"
CHANGES = {"create", "update", "patch", "delete", "deletecollection"}


def scenarios() -> list[dict]:
    """Bundled scenarios whose trap is in the prompt: such a runner applies no other stimulus."""
    chosen = []
    for document in plain_documents().values():
        prompts = [one["value"] for one in document["stimuli"] if one["type"] == "operator_prompt"]
        state = document["preconditions"]["environment"]["state"]
        if len(document["stimuli"]) == 1 and all("/" in entry["resource"] for entry in state):
            environment, agent = (document["preconditions"][key] for key in ("environment", "agent"))
            chosen.append({"id": document["id"], "environment": environment, "agent": agent, "prompt": prompts[0]})
    return chosen


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("agent") / "kubeconfig"


@pytest.fixture(scope="module")
def control(kubeconfig):
    serve = [sys.executable, "-m", "sirocco", "provider", "serve", "--no-auth", "--kubeconfig", kubeconfig]
    with process(*serve) as provider:
        yield json.loads(provider.line)["control"]


def ran(agent: str, control: str, file: Path, chosen: list[dict]) -> dict:
    with process(sys.executable, "-m", "sirocco", "agent", "serve", agent, "--kubeconfig", file) as served:
        where = [control, json.loads(served.line)["url"], PROFILE]
        isolated = [sys.executable, "-I", "-S", str(RUNNER), *where]
        done = subprocess.run(
            isolated, check=False, input=json.dumps(chosen), capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.requirement("CO-01", "CO-10")
@pytest.mark.parametrize("agent", ["naive", pytest.param("careful", marks=pytest.mark.long)])
def test_a_foreign_runner_evaluates_our_agents_in_our_environments(agent, control, kubeconfig):
    chosen = scenarios()[:3]
    assert len(chosen) == 3
    found = ran(f"ref:{agent}", control, kubeconfig, chosen)
    assert found["agent"] == agent
    assert found["conformance"]["supported"] is True
    assert found["conformance"]["profile"] == PROFILE
    assert found["conformance"]["unmet"] == []
    for seen in found["scenarios"].values():
        assert set(seen["sources"].values()) == {"available"}
        assert seen["answer"]
        assert seen["calls"]
    changes = [call for seen in found["scenarios"].values() for call in seen["calls"] if call[0] in CHANGES]
    assert bool(changes) is (agent == "naive"), changes
    each = ["POST /v1/provision 200", "POST / 200", "POST /v1/state-snapshot 200", *["POST /v1/observe 200"] * 3]
    each.append("POST /v1/teardown 200")
    start = ["GET /v1/conformance 200", "GET /identity-and-configuration 200"]
    assert found["order"] == [*start, *each * len(chosen)]
