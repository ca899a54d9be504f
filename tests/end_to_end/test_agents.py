"""Agents of every kind from the command line, in processes of their own: the same verdicts, typed ends, working examples."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from agent_requests import free_port, http_server, json_answer, open_folder, process, script, scripted_model
from bundled import PLAIN, SMALL
from commands import sirocco

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples" / "agents"
CORE = (*SMALL, "--adversarial", "off", "--seed", "5")
OBEDIENT = """
import json, sys, subprocess
request = json.load(sys.stdin)
if "prompt" not in request:
    sys.exit(1)
print(json.dumps({"final_answer": "I looked and did nothing."}))
"""


def needs(*programs):
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not on this machine: {', '.join(missing)}")


@contextmanager
def served(*arguments):
    with process(sys.executable, "-m", "sirocco", "agent", "serve", *arguments) as running:
        yield json.loads(running.line)["url"]


def verdict(folder):
    return yaml.safe_load((folder / "verdict.yaml").read_text())["verdict"]


def core(folder):
    """What was found; why something is not decidable is said in words that are about the adapter."""
    found = yaml.safe_load((folder / "core.yaml").read_text())
    found.get("capability", {}).pop("undecidable", None)
    return found


@pytest.fixture(scope="module")
def in_process(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in-process")
    for agent in ("careful", "naive"):
        done = sirocco("run", "--agent", f"ref:{agent}", *CORE, "--out", folder / agent)
        assert done.code == {"careful": 0, "naive": 1}[agent], done.stderr
    return folder


@pytest.mark.parametrize(
    ("agent", "extra"),
    [
        pytest.param("careful", ("--static-endpoint",), id="careful, static endpoint"),
        pytest.param("naive", (), id="naive, own endpoints"),
        pytest.param("careful", (), marks=pytest.mark.long, id="careful, own endpoints"),
        pytest.param("naive", ("--static-endpoint",), marks=pytest.mark.long, id="naive, static endpoint"),
    ],
)
def test_an_agent_behind_http_gets_the_verdicts_that_it_gets_in_process(in_process, tmp_path, agent, extra):
    with served(f"ref:{agent}") as url:
        done = sirocco("run", "--agent", url, *CORE, *extra, "--out", tmp_path / "run")
    assert done.code == {"careful": 0, "naive": 1}[agent], done.stderr
    assert core(tmp_path / "run") == core(in_process / agent)
    assert verdict(tmp_path / "run")["metadata"]["agent_isolation"] == "network"
    assert ("kubeconfig for the whole run:" in done.stderr) is bool(extra)
    assert sirocco("replay", tmp_path / "run").code == 0


def test_runner_provider_and_agent_are_three_processes(in_process, tmp_path):
    provider = process(sys.executable, "-m", "sirocco", "provider", "serve", "--no-auth")
    with provider as running, served("ref:naive") as url:
        control = json.loads(running.line)["control"]
        done = sirocco("run", "--agent", url, "--provider", control, *CORE, "--out", tmp_path / "run")
    assert done.code == 1, done.stderr
    assert core(tmp_path / "run") == core(in_process / "naive")


def test_a_served_agent_ends_when_it_is_told_to():
    command = [sys.executable, "-m", "sirocco", "agent", "serve", "ref:careful"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert json.loads(running.stdout.readline())["url"].startswith("http://127.0.0.1:")
    running.send_signal(signal.SIGTERM)
    _, errors = running.communicate(timeout=30)
    assert (running.returncode, errors) == (0, "")


def one_scenario(tmp_path, agent, *more):
    chosen = ("--scenario", PLAIN[0], "--out", tmp_path / "run")
    return sirocco("run", "--agent", agent, *CORE, *chosen, *more)


def test_a_command_is_evaluated(tmp_path):
    with open_folder() as folder:
        (folder / "agent.py").write_text(OBEDIENT)
        done = one_scenario(tmp_path, f"cmd:/usr/bin/env python3 {folder / 'agent.py'}")
    assert done.code == 0, done.stderr
    assert verdict(tmp_path / "run")["metadata"]["agent_isolation"].startswith("process")


@pytest.mark.parametrize(
    ("text", "said"),
    [("echo nonsense", "not JSON"), ("echo '{}'; exit 9", "exit code 9"), ("""echo '{"actions": 1}'""", "not a list")],
)
def test_a_command_that_breaks_its_contract_ends_the_run_with_5_and_no_safety_verdict(tmp_path, text, said):
    with open_folder() as folder:
        done = one_scenario(tmp_path, f"cmd:{script(folder, f'#!/bin/sh{chr(10)}cat >/dev/null{chr(10)}{text}')}")
    assert done.code == 5, done.stderr
    found = verdict(tmp_path / "run")
    assert found["safety"] is None
    assert said in found["metadata"]["abort_reason"]


@pytest.mark.parametrize(
    ("agent", "code"),
    [
        ("http://127.0.0.1:1", 5),
        ("cmd:/no/such/program", 5),
        ("mcp:http://127.0.0.1:1/mcp", 5),
        ("python:no_such_module:x", 5),
        ("cmd:", 2),
        ("nonsense", 2),
        ("model:nobody:x", 2),
    ],
)
def test_an_agent_that_is_not_there_or_no_agent_at_all(tmp_path, agent, code):
    done = one_scenario(tmp_path, agent)
    assert done.code == code
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "verdict.yaml").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process under another account")
def test_a_child_sees_neither_the_run_nor_the_users_own_kubeconfig(monkeypatch):
    with open_folder() as folder:
        out, own, seen = folder / "run", folder / "home" / ".kube" / "config", folder / "seen"
        own.parent.mkdir(parents=True)
        own.write_text("the user's own")
        own.chmod(0o600)
        seen.touch()
        seen.chmod(0o666)
        text = f"""#!/bin/sh
cat >/dev/null
{{ ls {out}; cat {out}/run.yaml {own} "$HOME/.kube/config"; echo "$KUBECONFIG"; grep -c certificate "$KUBECONFIG"; }} >>{seen} 2>&1
echo '{{}}'
"""
        agent = script(folder, text)
        monkeypatch.setenv("HOME", str(folder / "home"))
        monkeypatch.setenv("KUBECONFIG", str(own))
        done = sirocco("run", "--agent", f"cmd:{agent}", *CORE, "--scenario", PLAIN[0], "--out", out)
        said, isolation = seen.read_text(), verdict(out)["metadata"]["agent_isolation"]
    assert done.code == 0, done.stderr
    assert isolation == "process+uid"
    assert said.count("Permission denied") >= 3 * said.count("/kubeconfig\n") > 0
    assert "the user's own" not in said
    assert str(own) not in [line for line in said.splitlines() if "denied" not in line]


def test_variables_and_headers_reach_the_agent_and_their_values_no_file(tmp_path):
    description = {"identity": {"name": "toy", "version": "1"}}
    answer = lambda method, *_: json_answer(description if method == "GET" else {"final_answer": "No."})()  # noqa: E731
    with http_server(answer) as server:
        done = one_scenario(tmp_path, server.url, "--agent-header", "Authorization: Bearer s3cret-value")
    assert done.code == 0, done.stderr
    assert all(seen.headers["Authorization"] == "Bearer s3cret-value" for seen in server.seen)
    assert [seen.path for seen in server.seen if seen.method == "GET"].count("/identity-and-configuration") == 1
    for file in (tmp_path / "run").rglob("*"):
        assert not file.is_file() or b"s3cret-value" not in file.read_bytes()


@pytest.mark.requirement("SI-02")
def test_nothing_that_an_agent_behind_http_receives_names_the_evaluation(tmp_path):
    description = {"identity": {"name": "toy", "version": "1"}}
    answer = lambda method, *_: json_answer(description if method == "GET" else {})()  # noqa: E731
    with http_server(answer) as server:
        done = sirocco("run", "--agent", server.url, *CORE, "--out", tmp_path / "run")
    assert done.code in {0, 1}, done.stderr
    received = json.dumps([[seen.path, seen.headers, seen.body.decode()] for seen in server.seen]).lower()
    for word in ("sirocco", "oasis", "probe", "scenario", "witness", "canary", "adversarial", "reserved"):
        assert word not in received, word
    bodies = [json.loads(seen.body) for seen in server.seen if seen.method == "POST"]
    assert len({body["run_id"] for body in bodies}) == len({body["environment"]["token"] for body in bodies})
    assert all({"server", "kubeconfig", "namespace"} == set(body["environment"]["kubernetes"]) for body in bodies)


def test_a_model_is_evaluated_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_API_KEY", "k-1")
    with scripted_model({"calls": [["list_resources", {"kind": "pods"}]]}, "Done: I only looked.") as endpoint:
        done = one_scenario(tmp_path, "model:toy:m-1", "--model-url", endpoint.url)
        assert {one["authorization"] for one in endpoint.requests()} == {"Bearer k-1"}
    assert done.code == 0, done.stderr
    found = verdict(tmp_path / "run")["metadata"]
    assert (found["agent"], found["agent_isolation"]) == ("m-1", "network")


def test_check_tells_what_is_wrong_and_ends_with_5(tmp_path):
    with http_server(
        lambda method, *_: (200, b'{"identity": {"name": "x"}}' if method == "GET" else b'{"actions": {}}')
    ) as server:
        done = sirocco("agent", "check", server.url, "--format", "json")
    answer = json.loads(done.stdout)
    assert (done.code, answer["usable"]) == (5, False)
    failed = {one["check"]: one["problem"] for one in answer["checks"] if one["status"] == "failed"}
    assert failed == {"identity": "identity.version is missing", "turn": "actions is an object, not a list"}


@pytest.fixture
def example_check(monkeypatch):
    """Checks the example that a specification names, from the folder of the project or another."""

    def check(spec, *, folder=ROOT):
        monkeypatch.chdir(folder)
        done = sirocco("agent", "check", spec, "--format", "json")
        answer = json.loads(done.stdout)
        statuses = {one["check"]: one["status"] for one in answer["checks"]}
        assert (done.code, answer["usable"]) == (0, True), answer
        assert (statuses["turn"], statuses["environment"], statuses["stateless"]) == ("passed",) * 3, answer
        return {one["check"]: one["seen"] for one in answer["checks"]}

    return check


def test_the_example_behind_http(example_check):
    port = free_port()
    with process(sys.executable, EXAMPLES / "http_agent.py", port) as running:
        assert example_check(running.line)["identity"] == "pod-counter 1.0.0"


@needs("sh", "jq", "kubectl")
def test_the_example_in_the_shell(example_check):
    assert example_check("cmd:examples/agents/command_agent.sh")["identity"] == "pod-counter-sh 1.0.0"


@needs("node")
def test_the_example_in_javascript(example_check):
    assert example_check("cmd+lines:node examples/agents/lines_agent.mjs")["identity"] == "pod-counter-js 1.0.0"


def test_the_example_in_python(example_check):
    assert example_check("python:python_agent:make", folder=EXAMPLES)["identity"] == "pod-counter-py 1.0.0"


@pytest.mark.long
def test_the_example_behind_mcp(example_check):
    spec = f"mcp:cmd:{sys.executable} examples/agents/mcp_agent.py"
    assert example_check(spec)["identity"] == "pod-counter-mcp 1.0.0"
