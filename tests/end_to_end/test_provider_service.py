"""A provider in one process, its runner in another: the same verdicts, typed faults, and nothing left behind."""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
import yaml

from bundled import SMALL
from commands import sirocco

BODY = {"scenario_id": "x", "environment": {"type": "kubernetes-cluster", "state": [{"resource": "configmap/a", "namespace": "shop", "data": {"a": "1"}}]},
        "agent": {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["shop"]}}, "tier": 1}  # fmt: skip


class Service:
    """`sirocco provider serve` in a separate process."""

    def __init__(self, *arguments, temporary=None):
        environment = {**os.environ, **({"TMPDIR": str(temporary)} if temporary else {})}
        command = [sys.executable, "-m", "sirocco", "provider", "serve", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        self.line = self.process.stdout.readline()
        self.where = json.loads(self.line) if self.line else {}

    @property
    def control(self):
        return self.where["control"]

    def call(self, operation, body=None, token=None):
        parts = urlsplit(self.control)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        headers = {"Authorization": f"Bearer {token or self.where['control_token']}"}
        connection.request("POST" if body is not None else "GET", f"/v1/{operation}", json.dumps(body), headers)
        answer = connection.getresponse()
        try:
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@contextmanager
def serving(*arguments, temporary=None):
    service = Service(*arguments, temporary=temporary)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.end(signal.SIGKILL)
        service.process.stdout.close()
        service.process.stderr.close()


@pytest.fixture(scope="module")
def service():
    with serving() as running:
        yield running


def agent_answer(provisioned):
    """What the agent's endpoint answers to its token; 0 when nobody is there."""
    parts = urlsplit(provisioned["agent_endpoint"])
    context = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection(parts.hostname, parts.port, context=context, timeout=30)
    token = provisioned["agent_credentials"]["token"]
    try:
        connection.request(
            "GET", f"{parts.path}/api/v1/namespaces/shop/configmaps/a", headers={"Authorization": f"Bearer {token}"}
        )
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def test_one_line_says_where_everything_is(service):
    assert set(service.where) == {"agent", "control", "control_token"}
    assert service.where["agent"].startswith("https://127.0.0.1:")
    assert service.where["control"].startswith("http://127.0.0.1:")
    assert len(service.where["control_token"]) > 30


@pytest.mark.requirement("CO-01")
def test_the_check_passes_against_our_own_service(service, monkeypatch):
    monkeypatch.setenv("SIROCCO_PROVIDER_TOKEN", service.where["control_token"])
    done = sirocco("provider", "check", service.control, "--format", "json")
    answer = json.loads(done.stdout)
    assert (done.code, answer["conformant"]) == (0, True)
    assert answer["summary"]["failed"] == answer["summary"]["skipped"] == 0
    assert answer["summary"]["passed"] == len(answer["checks"]) > 20


def test_the_check_of_something_else_says_what_is_wrong_with_it(service):
    done = sirocco("provider", "check", service.where["agent"].replace("https", "http"), "--timeout", "5s")
    assert done.code == 3
    assert "failed  conformance" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("agent", ["naive", pytest.param("careful", marks=pytest.mark.long)])
def test_a_run_over_the_service_gives_the_same_core_as_one_in_process(service, tmp_path, agent, monkeypatch):
    options = ("run", *SMALL, "--agent", f"ref:{agent}", "--adversarial", "off", "--seed", "5")
    here = sirocco(*options, "--out", tmp_path / "here")
    monkeypatch.setenv("SIROCCO_PROVIDER_TOKEN", service.where["control_token"])
    there = sirocco(*options, "--provider", service.control, "--out", tmp_path / "there")
    assert here.code == there.code == {"naive": 1, "careful": 0}[agent], there.stderr
    assert (tmp_path / "here" / "core.yaml").read_text() == (tmp_path / "there" / "core.yaml").read_text()
    details = [
        yaml.safe_load((tmp_path / place / "verdict.yaml").read_text())["verdict"] for place in ("here", "there")
    ]
    kept = [
        [
            {k: v for k, v in one.items() if k not in {"stimuli", "non_scoring_metadata"}}
            for one in verdict["scenario_details"]
        ]
        for verdict in details
    ]
    assert kept[0] == kept[1]
    assert all(verdict["metadata"]["environment"]["tier_evidence"]["verified"] for verdict in details)
    assert service.where["control_token"] not in (tmp_path / "there" / "run.yaml").read_text()
    assert sirocco("replay", tmp_path / "there").code == 0


def test_a_run_with_the_wrong_token_or_none_ends_as_a_provider_failure_without_a_verdict(service, tmp_path):
    done = sirocco(
        "run",
        "--agent",
        "ref:careful",
        "--provider",
        service.control,
        "--provider-token",
        "wrong",
        "--out",
        tmp_path / "r",
    )
    assert done.code == 4
    assert "401: the control token is missing or wrong" in done.stderr
    assert not (tmp_path / "r" / "verdict.yaml").exists()


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(("fault", "code"), [("unreachable", 4), ("truncated", 4), ("versions", 3)])
def test_a_drill_ends_as_what_it_is(tmp_path, fault, code):
    with serving("--fault", fault, "--no-auth") as broken:
        options = (*SMALL, "--agent", "ref:careful", "--provider", broken.control, "--adversarial", "off")
        done = sirocco("run", *options, "--out", tmp_path / "r")
    assert done.code == code, done.stderr
    verdict = tmp_path / "r" / "verdict.yaml"
    assert verdict.exists() is (fault != "versions")
    if verdict.exists():
        assert yaml.safe_load(verdict.read_text())["verdict"]["safety"] == "PROVIDER_FAILURE"


@pytest.mark.requirement("CO-07")
def test_after_a_kill_and_a_restart_nothing_is_left_behind(tmp_path):
    ports = ("--agent-listen", f"127.0.0.1:{free_port()}", "--control-listen", f"127.0.0.1:{free_port()}")
    with serving(*ports, temporary=tmp_path) as first:
        status, provisioned = first.call("provision", BODY)
        assert status == 200
        assert agent_answer(provisioned) == 200
        first.end(signal.SIGKILL)
    assert list(tmp_path.iterdir()) == []
    assert agent_answer(provisioned) == 0
    with serving(*ports, temporary=tmp_path) as second:
        assert second.where["control"] == first.where["control"]
        assert second.where["control_token"] != first.where["control_token"]
        asked = {"environment_id": provisioned["environment_id"], "observation_type": "audit_log"}
        assert second.call("observe", asked, token=first.where["control_token"])[0] == 401
        status, answer = second.call("observe", asked)
        assert (status, "not found" in answer["message"]) == (404, True)
        assert second.call("teardown", {"environment_id": provisioned["environment_id"]})[0] == 404
        assert agent_answer(provisioned) == 0
        code, _, err = second.end(signal.SIGTERM)
        assert (code, err) == (0, "")


def test_an_open_control_plane_is_refused_where_others_can_reach_it():
    done = sirocco("provider", "serve", "--no-auth", "--control-listen", "0.0.0.0:0")
    assert done.code == 2
    assert "--no-auth" in done.stderr


def test_a_file_for_agents_that_cannot_be_written_is_named():
    done = sirocco("provider", "serve", "--kubeconfig", "/no/such/folder/file")
    assert done.code == 2
    assert "/no/such/folder/file: No such file or directory" in done.stderr
