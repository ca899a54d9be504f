"""`sirocco env up` as a person uses it: in a terminal, in a pipe, with a command, and with mistakes."""

import json
import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from clients.commands_that_serve import SIROCCO, ended, started
from commands import sirocco

SCENARIO = "k8s.safety.br.tile-renderer-flood-001"
KUBECTL = shutil.which("kubectl", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


def kubeconfig_from(process):
    """The document that a piped command writes."""
    text = ""
    while not text.endswith("\n}\n"):
        line = process.stdout.readline()
        assert line, process.stderr.read()
        text += line
    return text


def kubectl(kubeconfig, *arguments):
    done = subprocess.run(
        [KUBECTL, "--kubeconfig", str(kubeconfig), *arguments], capture_output=True, text=True, timeout=40, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_in_a_pipe_standard_output_is_the_kubeconfig(tmp_path, number):
    with started("env", "up", SCENARIO) as process:
        config = tmp_path / "kubeconfig"
        config.write_text(kubeconfig_from(process))
        assert yaml.safe_load(config.read_text())["kind"] == "Config"
        assert "tile-renderer" in kubectl(config, "get", "pods")
        kubectl(config, "label", "deployment", "tile-renderer", "seen=yes")
        code, rest, err = ended(process, number)
    assert (code, rest) == (0, "")
    assert "requests in the audit log" in err
    assert "200 patch" in err


def test_a_kubeconfig_file_is_for_its_owner_alone_and_follows_from_the_seed(tmp_path):
    accounts = []
    for number in range(2):
        path, copy = tmp_path / f"kubeconfig-{number}", tmp_path / f"copy-{number}"
        done = sirocco("env", "up", SCENARIO, "--seed", "5", "--kubeconfig", path, "--", "cp", "-p", path, copy)
        assert done.code == 0, done.stderr
        assert copy.stat().st_mode & 0o077 == 0
        accounts.append(json.loads(copy.read_text())["users"][0]["name"])
    assert accounts[0] == accounts[1]


def listing(folder):
    """A command that lists the deployments into a file, and the file."""
    file = folder / "deployments"
    return ("--", "sh", "-c", f"{KUBECTL} get deployments -o name >{file}"), file


def test_a_command_finds_its_kubeconfig_and_gives_the_exit_code(tmp_path):
    command, listed = listing(tmp_path)
    done = sirocco("env", "up", SCENARIO, *command)
    assert done.code == 0, done.stderr
    assert "deployment.apps/tile-renderer\n" in listed.read_text()
    assert sirocco("env", "up", SCENARIO, "--", "sh", "-c", "test -s $KUBECONFIG && exit 7").code == 7
    assert sirocco("env", "up", SCENARIO, "--", "sh", "-c", "kill -9 $$").code == 137


def test_an_interrupt_is_the_commands_own_business():
    script = "trap 'exit 3' INT; echo ready; while :; do sleep 0.05; done"
    with started("env", "up", SCENARIO, "--", "sh", "-c", script, start_new_session=True) as process:
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 3
    assert "Traceback" not in err


def test_the_command_ends_with_its_environment():
    with started("env", "up", SCENARIO, "--", "sh", "-c", "echo ready; exec sleep 60") as process:
        assert process.stdout.readline() == "ready\n"
        assert ended(process, signal.SIGTERM)[0] == 128 + signal.SIGTERM


def test_in_a_terminal_a_person_is_told_what_to_type():
    parent, child = pty.openpty()
    process = subprocess.Popen([*SIROCCO, "env", "up", SCENARIO], stdin=child, stdout=child, stderr=child, start_new_session=True,
                               env={**os.environ, "TERM": "xterm", "COLUMNS": "60"})  # fmt: skip
    os.close(child)
    try:
        shown = read_until(parent, "Ctrl-C ends it.")
        assert "/services/NAME" in shown.replace("\r\n", "")
        line = next(line.strip() for line in shown.splitlines() if "export KUBECONFIG=" in line)
        config = line.removeprefix("export KUBECONFIG=")
        assert "tile-renderer" in kubectl(config, "get", "pods")
        os.killpg(process.pid, signal.SIGINT)
        shown = read_until(parent, "in the audit log")
        assert process.wait(20) == 0
        assert "Traceback" not in shown
        assert not Path(config).exists()
    finally:
        process.kill()
        process.wait()
        os.close(parent)


def read_until(terminal, text):
    shown, limit = "", time.monotonic() + 30
    while text not in shown and time.monotonic() < limit:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
    assert text in shown, shown
    return shown


def test_what_cannot_be_evaluated_yet_can_be_set_up(package, tmp_path):
    folder = package
    scenario = "infra.capability.da.multi-signal-correlation-001"
    command, listed = listing(tmp_path)
    done = sirocco("env", "up", scenario, "--profile", folder, *command)
    assert done.code == 0, done.stderr
    assert "deployment.apps/api-service" in listed.read_text().splitlines()


@pytest.mark.parametrize(("arguments", "words"), [
    (["nonsense"], "'nonsense' is neither a scenario of the profile nor a file; `sirocco profile show` lists the scenarios"),
    (["k8s.safety.br.tile-renderer"], f"did you mean {SCENARIO!r}?"),
    ([SCENARIO, "--listen", "nowhere"], "nowhere: not an address of the form host:port"),
    ([SCENARIO, "--listen", "127.0.0.1:99999"], "127.0.0.1:99999: cannot listen there"),
    ([SCENARIO, "--kubeconfig", "/no/such/folder/file"], "/no/such/folder/file: No such file or directory"),
    ([SCENARIO, "--", "no-such-command"], "no-such-command: cannot be run: No such file or directory"),
    ([SCENARIO, "--profile", "nothing"], "nothing"),
    ([SCENARIO, "--seed", "x"], "'x' is not a number"),
], ids=lambda value: " ".join(value[-2:]) if isinstance(value, list) else "")  # fmt: skip
def test_mistakes_are_named_in_words(arguments, words):
    done = sirocco("env", "up", *arguments)
    assert done.code == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_an_address_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = sirocco("env", "up", SCENARIO, "--listen", address)
    assert done.code == 2
    assert f"{address}: cannot listen there: Address already in use" in done.stderr
