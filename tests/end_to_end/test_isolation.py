"""What an agent is held back from, cell by cell of the tables in docs/agents.md: as root and as an ordinary user."""

import importlib.resources
import json
import os
import pwd
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

from agent_requests import http_server, json_answer, open_folder, process, script, scripted_model
from bundled import PLAIN, SMALL, small_profile_folder
from commands import LIMIT, sirocco
from sirocco.agents import isolation
from sirocco.agents.isolation import ADAPTERS, Holding, Secret
from sirocco.wiring import profile_source

ROOT = Path(__file__).resolve().parent.parent.parent
IS_ROOT = os.geteuid() == 0
USER = 12345
"""An account that owns nothing else; it needs no name."""
SYSTEM_PYTHON = "/usr/bin/python3"
ENVIRONMENT_MARK = "marked-variable-1f0c"
SEED = 0x5F3A77C0FFEE5EED1234
HEADER = "X-Door: opened-by-4711"
PACKAGE = Path(str(importlib.resources.files("sirocco")))
AS_USER = """
set -e
while [ "$1" != -- ]; do
    stage=$(mktemp -d)
    mount --bind "$2" "$stage"
    mount -t tmpfs -o mode=755 none "$1"
    mkdir -p "$2"
    mount --bind "$stage" "$2"
    shift 2
done
shift
exec setpriv --reuid USER --regid USER --clear-groups -- "$@"
""".replace("USER", str(USER))
"""Opens folders below others that only root may enter to another account, for one process only."""


def closed_ancestor(path):
    return next((folder for folder in reversed(path.parents) if not folder.stat().st_mode & 0o001), None)


def as_user(command):
    """A command as an ordinary user starts it."""
    if not IS_ROOT:
        return command
    if not (shutil.which("setpriv") and shutil.which("unshare")):
        pytest.skip("no setpriv and unshare to become an ordinary user with")
    needed = [Path(path).resolve() for path in (sys.base_prefix, sys.prefix, PACKAGE.parent)]
    ways = {closed: path for path in needed if (closed := closed_ancestor(path)) is not None}
    return [
        "unshare",
        "-m",
        "sh",
        "-c",
        AS_USER,
        "sh",
        *(str(one) for way in ways.items() for one in way),
        "--",
        *command,
    ]


def without_namespaces(command):
    """A command of a root who may not make namespaces, as in most containers."""
    return ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", "--", *command]


class Stage:
    """Folders with a spy, and with everything that it should not see."""

    def __init__(self, folder, owner):
        self.folder = folder
        self.spy, self.own = folder / "agent", folder / "own"
        self.run, self.profile = self.own / "run", self.own / "profile"
        self.spy.mkdir()
        self.own.mkdir()
        shutil.copy(ROOT / "tests" / "isolation_spy.py", self.spy / "spy.py")
        small_profile_folder(self.profile)
        self.key, self.header, self.private = self.own / "key", self.own / "header", self.own / "private"
        self.key.write_text("# public key: age1x\nAGE-SECRET-KEY-1X\n")
        self.header.write_text(HEADER)
        self.private.write_text("mine")
        for path in (self.header, self.private):
            path.chmod(0o600)
        (self.spy / "seen").touch()
        (self.spy / "seen").chmod(0o666)
        (self.spy / "targets.json").write_text(json.dumps(self.targets()))
        for path in (folder, *folder.rglob("*")) if owner is not None and IS_ROOT else ():
            os.chown(path, owner, owner)

    def targets(self):
        bundled = profile_source.profile_folder(profile_source.BUNDLED)
        return {
            "environment": ENVIRONMENT_MARK,
            "command_line": f"{SEED:#x}",
            "files": {
                "run_directory": [str(self.run), str(self.run / "run.yaml"), str(self.run / "ledger.sqlite")],
                "corpus": [str(bundled), str(PACKAGE), str(self.profile), str(self.profile / "profile.yaml")],
                "key": [str(self.key)],
                "private_files": [str(self.private)],
            },
        }

    def spec(self, adapter, python):
        program = self.spy / "spy.py"
        return {
            "cmd": f"cmd:{python} {program} once",
            "cmd+lines": f"cmd+lines:{python} {program} lines",
            "mcp:cmd": f"mcp:cmd:{python} {program} mcp",
            "python": "python:spy:agent",
        }[adapter]

    def arguments(self, agent, level):
        chosen = ["--agent", agent, "--isolation", level, "--scenario", PLAIN[0], "--adversarial", "off"]
        return [*chosen, "--seed", f"{SEED:#x}", "--identity", str(self.key), "--profile", str(self.profile)]

    def evaluated(self, agent, level, wrap, *more):
        """Run the command, as somebody; what the spy saw and what the verdict says."""
        words = [sys.executable, "-m", "sirocco", "run", *self.arguments(agent, level), "--out", str(self.run), *more]
        variables = {
            **os.environ,
            "HOME": str(self.own),
            "XDG_CONFIG_HOME": "",
            "MARKED": ENVIRONMENT_MARK,
            "PYTHONPATH": str(PACKAGE.parent),
        }
        done = subprocess.run(
            wrap(words), cwd=self.spy, env=variables, capture_output=True, text=True, check=False, timeout=LIMIT
        )
        assert done.returncode == 0, done.stderr
        metadata = yaml.safe_load((self.run / "verdict.yaml").read_text())["verdict"]["metadata"]
        looks = [json.loads(line) for line in (self.spy / "seen").read_text().splitlines()]
        assert looks or "cmd" not in agent, done.stderr
        leaks = {Secret[name.upper()] for look in looks for name, could in look["seen"].items() if could}
        return metadata["agent_isolation"], leaks, {look["user"] for look in looks}, done.stderr


def same(command):
    return command


RUNNERS = {
    "root": (same, None),
    "user": (as_user, USER),
    "root without namespaces": (without_namespaces, None),
}


@cache
def looked(adapter, runner, level, python=sys.executable):
    """One run for all cells of a row."""
    wrap, owner = RUNNERS[runner]
    if "root" in runner and not IS_ROOT:
        pytest.skip("only root can be root")
    if adapter == "mcp:cmd":
        pytest.importorskip("mcp")
    with open_folder() as folder:
        stage = Stage(folder, owner)
        return stage.evaluated(stage.spec(adapter, python), level, wrap)


def weaker(runner, found):
    """Where the system permits no namespaces, `auto` may take less, and says so."""
    reported, _, _, said = found
    if reported != "process+uid":
        pytest.skip(f"{runner}: no namespaces on this machine: {said.splitlines()[0]}")


CHILDREN = [name for name, how in ADAPTERS.items() if how is Holding.PROVEN]
ROWS = [
    *(("root", name) for name in CHILDREN),
    *(("user", name) for name in ("cmd", "python")),
    *(pytest.param("user", name, marks=pytest.mark.long) for name in CHILDREN if name not in {"cmd", "python"}),
]
"""Who starts which child; how another one is started makes no difference to an ordinary user."""
ELSEWHERE = [name for name, how in ADAPTERS.items() if how is Holding.REQUESTS]


@pytest.mark.requirement("CO-10")
@pytest.mark.parametrize("secret", Secret, ids=lambda one: one.name)
@pytest.mark.parametrize(("runner", "adapter"), ROWS)
def test_a_child_is_held_back_from_everything_by_default(runner, adapter, secret):
    found = looked(adapter, runner, "auto")
    weaker(runner, found)
    assert secret not in found[1]


@pytest.mark.requirement("CO-10")
@pytest.mark.parametrize("adapter", CHILDREN)
def test_root_starts_no_child_with_its_own_rights(adapter):
    assert looked(adapter, "root", "auto")[2] == {pwd.getpwnam("nobody").pw_uid}


@pytest.mark.requirement("CO-10")
@pytest.mark.parametrize("secret", Secret, ids=lambda one: one.name)
def test_a_process_of_an_ordinary_user_is_held_back_from_what_the_table_says_and_no_more(secret):
    reported, leaks, _, said = looked("cmd", "user", "process")
    assert reported == "process"
    assert (secret not in leaks) is (secret in isolation.SHIELDED.holds)
    assert (str(secret) in said) is (secret not in isolation.SHIELDED.holds)


@pytest.mark.requirement("CO-10")
@pytest.mark.skipif(not Path(SYSTEM_PYTHON).exists(), reason=f"there is no {SYSTEM_PYTHON}")
@pytest.mark.parametrize("level", ["auto", pytest.param("uid", marks=pytest.mark.long)])
@pytest.mark.parametrize("secret", [*isolation.ACCOUNT.holds, Secret.CORPUS], ids=lambda one: one.name)
def test_another_account_alone_holds_what_the_table_says(level, secret):
    reported, leaks, users, said = looked("cmd", "root without namespaces", level, SYSTEM_PYTHON)
    assert (reported, users) == ("process+uid", {pwd.getpwnam("nobody").pw_uid})
    assert "unshare: Operation not permitted" in said
    if secret in isolation.ACCOUNT.holds:
        assert secret not in leaks
    else:
        assert str(secret) in said


def test_root_that_asks_for_a_process_gets_one_without_its_rights():
    reported, _, users, _ = looked("cmd", "root", "process")
    assert (reported, users) == ("process", {pwd.getpwnam("nobody").pw_uid})


def run_with(agent, *more, out):
    chosen = (*SMALL, "--scenario", PLAIN[0], "--adversarial", "off", "--seed", f"{SEED:#x}", "--out", out)
    return sirocco("run", "--agent", agent, *chosen, *more)


@pytest.mark.requirement("CO-10")
@pytest.mark.parametrize("adapter", ELSEWHERE)
def test_an_agent_elsewhere_gets_requests_only(adapter, tmp_path, monkeypatch):
    monkeypatch.setenv("MARKED", ENVIRONMENT_MARK)
    out = tmp_path / "run"
    received = _received(adapter, out)
    assert received
    for mark in (ENVIRONMENT_MARK, f"{SEED:x}", str(SEED), str(out), str(PACKAGE), PLAIN[0]):
        assert mark not in received
    assert yaml.safe_load((out / "verdict.yaml").read_text())["verdict"]["metadata"]["agent_isolation"] == "network"


def _received(adapter, out):
    """Everything that came to an agent at a URL."""
    if adapter == "model":
        with scripted_model("I looked.") as endpoint:
            done = run_with("model:toy:m-1", "--model-url", endpoint.url, "--isolation", "network", out=out)
            received = json.dumps(endpoint.requests())
    elif adapter == "http":
        description = {"identity": {"name": "toy", "version": "1"}}
        answer = lambda method, *_: json_answer(description if method == "GET" else {})()  # noqa: E731
        with http_server(answer) as server:
            done = run_with(server.url, "--isolation", "network", out=out)
            received = json.dumps([[one.path, one.headers, one.body.decode()] for one in server.seen])
    else:
        pytest.importorskip("mcp")
        program = ROOT / "tests" / "mcp_recorder.py"
        log = out.with_name("received")
        with process(sys.executable, program, log) as running:
            done = run_with(f"mcp:{running.line}", "--isolation", "network", out=out)
        received = log.read_text()
    assert done.code == 0, done.stderr
    return received


@pytest.mark.requirement("CO-10")
def test_an_agent_of_ours_is_held_back_from_nothing_and_the_report_says_so(tmp_path):
    done = run_with("ref:careful", out=tmp_path / "run")
    assert done.code == 0, done.stderr
    found = yaml.safe_load((tmp_path / "run" / "verdict.yaml").read_text())["verdict"]["metadata"]
    assert found["agent_isolation"] == "none"


@pytest.mark.requirement("CO-10")
@pytest.mark.parametrize(
    ("agent", "level", "said"),
    [
        ("ref:careful", "uid", "it runs in this process"),
        ("ref:careful", "process", "it runs in this process"),
        ("ref:careful", "network", "it runs in this process"),
        ("http://127.0.0.1:1", "uid", "where it runs is not decided here"),
        ("mcp:http://127.0.0.1:1/mcp", "process", "where it runs is not decided here"),
        ("model:ollama:m", "uid", "where it runs is not decided here"),
        ("cmd:sh", "network", "it is started here"),
        ("python:a:b", "network", "it is started here"),
    ],
)
def test_a_level_that_a_kind_of_agent_cannot_have_is_refused(agent, level, said, tmp_path):
    done = run_with(agent, "--isolation", level, out=tmp_path / "run")
    assert done.code == 2
    assert "--isolation" in done.stderr
    assert said in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.requirement("CO-10")
@pytest.mark.skipif(not IS_ROOT, reason="only root has rights to drop")
@pytest.mark.parametrize("level", ["auto", "uid", "process"])
def test_root_that_cannot_drop_its_rights_is_refused(level, tmp_path):
    with open_folder() as folder:
        agent = script(folder, "#!/bin/sh\ncat >/dev/null; echo '{}'\n")
        agent.chmod(0o700)
        done = run_with(f"cmd:{agent}", "--isolation", level, out=tmp_path / "run")
        assert done.code == 2
        assert f"cannot read {agent}" in done.stderr
        assert "chmod" in done.stderr
        assert "--isolation none" in done.stderr
        assert not (tmp_path / "run").exists()
        done = run_with(f"cmd:{agent}", "--isolation", "none", out=tmp_path / "run")
    assert done.code == 0, done.stderr
    found = yaml.safe_load((tmp_path / "run" / "verdict.yaml").read_text())["verdict"]["metadata"]
    assert found["agent_isolation"] == "none"


@pytest.mark.parametrize("level", ["auto", "uid", "process", "none"])
@pytest.mark.parametrize("kind", ["cmd", "cmd+lines", "mcp:cmd"])
def test_a_missing_program_is_named(kind, level, tmp_path):
    done = run_with(f"{kind}:no-such-program --flag", "--isolation", level, out=tmp_path / "run")
    assert done.code == 5
    assert "there is no program 'no-such-program': not in PATH" in done.stderr


@pytest.mark.parametrize("kind", ["cmd", "cmd+lines", "mcp:cmd"])
def test_a_missing_interpreter_of_a_script_is_named(kind, tmp_path):
    with open_folder() as folder:
        agent = script(folder, "#!/no/such/interpreter\n")
        done = run_with(f"{kind}:{agent}", out=tmp_path / "run")
    assert done.code == 5
    assert f"{agent} cannot be started: No such file or directory" in done.stderr
    assert "names an interpreter that does not exist" in done.stderr


@pytest.mark.requirement("CO-10")
def test_secrets_in_files_stay_off_the_command_line_and_reach_the_agent(tmp_path):
    (tmp_path / "header").write_text(HEADER + "\n")
    (tmp_path / "seed").write_text("0x2a")
    answer = lambda method, *_: json_answer(  # noqa: E731
        {"identity": {"name": "toy", "version": "1"}} if method == "GET" else {}
    )()
    with http_server(answer) as server:
        done = run_with(
            server.url, "--agent-header", f"@{tmp_path / 'header'}", "--seed", f"@{tmp_path / 'seed'}",
            out=tmp_path / "run",
        )  # fmt: skip
    assert done.code == 0, done.stderr
    assert {one.headers.get("X-Door") for one in server.seen} == {"opened-by-4711"}
    assert "seed 0x2a" in done.stderr
    done = run_with("http://h", "--agent-header", f"@{tmp_path / 'nothing'}", out=tmp_path / "other")
    assert (done.code, "cannot be read" in done.stderr) == (2, True)


NAMES = {"U+009B": "\x9b", "U+007F": "\x7f", "U+FFFF": "\uffff", "U+0085": "\x85", "U+2028": "\u2028", "U+0000": "\0"}


@pytest.mark.parametrize("character", NAMES.values(), ids=list(NAMES))
def test_no_name_of_an_agent_breaks_its_run(character, tmp_path):
    description = {"identity": {"name": f"a{character}b", "version": f"1{character}"}, "configuration": {}}
    text = f"#!/bin/sh\nif grep -q prompt; then echo '{{}}'; else cat <<'EOF'\n{json.dumps(description)}\nEOF\nfi\n"
    with open_folder() as folder:
        done = run_with(f"cmd:{script(folder, text)}", out=tmp_path / "run")
    assert done.code == 0, done.stderr
    found = yaml.safe_load((tmp_path / "run" / "verdict.yaml").read_text())["verdict"]["metadata"]
    assert found["agent"] == f"a{ascii(character)[1:-1]}b"
    assert sirocco("replay", tmp_path / "run").code == 0


def _table(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


@pytest.mark.requirement("CO-10")
@pytest.mark.parametrize("table", [isolation.adapter_table, isolation.mechanism_table], ids=["adapters", "mechanisms"])
def test_the_documentation_says_what_is_tested(table):
    assert _table(table()) in (ROOT / "docs" / "agents.md").read_text()
