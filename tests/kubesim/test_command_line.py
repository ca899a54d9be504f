"""`kubesim serve`, started as people start it."""

import json
import re
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64decode
from contextlib import contextmanager
from pathlib import Path

import pytest

from kubesim.command_line import main

COMMAND = [sys.executable, "-c", "from kubesim.command_line import main; main()"]


@contextmanager
def serving(*arguments):
    process = subprocess.Popen(
        [*COMMAND, "serve", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                break
        yield process, "".join(lines)
    finally:
        process.kill()
        process.communicate()


def asked(kubeconfig, path):
    entry = kubeconfig["clusters"][0]["cluster"]
    context = ssl.create_default_context(cadata=b64decode(entry["certificate-authority-data"]).decode())
    token = kubeconfig["users"][0]["user"]["token"]
    request = urllib.request.Request(entry["server"] + path, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        return json.load(answer)


def test_a_scratch_cluster_says_how_to_use_it_and_ends_cleanly_when_it_is_told_to(tmp_path):
    file = tmp_path / "kubeconfig"
    with serving("--kubeconfig", file, "--nodes", 3, "--start", "2026-01-31T12:00:00Z") as (process, said):
        assert f"export KUBECONFIG={file}" in said
        nodes = asked(json.loads(file.read_text()), "/api/v1/nodes")["items"]
        assert [node["metadata"]["name"] for node in nodes] == ["node-1", "node-2", "node-3"]
        process.send_signal(signal.SIGTERM)
        assert (process.wait(30), process.stderr.read()) == (0, "")


def test_without_a_file_the_kubeconfig_is_a_temporary_one_that_goes_with_an_interrupt():
    with serving() as (process, said):
        (file,) = re.findall(r"export KUBECONFIG=(\S+)", said)
        assert asked(json.loads(Path(file).read_text()), "/version")["minor"] == "34"
        process.send_signal(signal.SIGINT)
        assert (process.wait(30), process.stderr.read()) == (0, "")
    assert not Path(file).exists()


def test_a_bare_server_takes_the_users_of_a_file(tmp_path, recordings):
    audit = tmp_path / "audit.jsonl"
    with serving("--bare", "--users", recordings / "users.json", "--audit-file", audit) as (process, said):
        (url,) = re.findall(r"https://[\d.:]+\d", said)
        context = ssl._create_unverified_context()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{url}/api/v1/pods", context=context, timeout=30)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert [json.loads(line)["responseStatus"]["code"] for line in audit.read_text().splitlines()] == [403]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--listen", "nowhere"], "kubesim: nowhere: not an address"),
        (["--start", "noon"], "kubesim: start: not a time"),
        (["--kubeconfig", "/nonexistent/kubeconfig"], "kubesim: /nonexistent/kubeconfig: cannot be written"),
        (["--bare"], "--bare needs --users and --audit-file"),
    ],
)
def test_a_mistake_is_said_in_a_line(arguments, words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["kubesim", "serve", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
