"""`sirocco provider serve --bare`: starts, stops, refuses in words, and agrees with recordings through a real connection."""

import json
import signal
import ssl
import subprocess
import sys
import threading
import urllib.request

import pytest

from clients.commands_that_serve import ended, started
from commands import StillRunning, sirocco, sirocco_process

USERS = {"admin": {"token": "tok", "username": "root", "uid": "u-1", "groups": ["system:masters"]}}


@pytest.fixture
def users(tmp_path):
    path = tmp_path / "users.json"
    path.write_text(json.dumps(USERS))
    return path


def served_at(process):
    line = process.stdout.readline()
    assert line, process.stderr.read()
    return json.loads(line)["agent"]


def get(url, path):
    request = urllib.request.Request(url + path, headers={"Authorization": "Bearer tok", "Audit-ID": "mine"})
    with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=20) as answer:
        return json.load(answer)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_it_serves_until_a_signal_ends_it(users, tmp_path, number):
    audit = tmp_path / "audit.jsonl"
    with started("provider", "serve", "--bare", "--users", users, "--audit-file", audit) as process:
        names = [item["metadata"]["name"] for item in get(served_at(process), "/api/v1/namespaces")["items"]]
        assert ended(process, number) == (0, "", "")
    assert names == ["default", "kube-node-lease", "kube-public", "kube-system"]
    [event] = map(json.loads, audit.read_text().splitlines())
    assert (event["auditID"], event["verb"], event["user"]["username"]) == ("mine", "list", "root")


def test_a_signal_ends_open_watches_and_records_them(users, tmp_path):
    audit = tmp_path / "audit.jsonl"
    with started("provider", "serve", "--bare", "--users", users, "--audit-file", audit) as process:
        request = urllib.request.Request(
            f"{served_at(process)}/api/v1/namespaces?watch=true", headers={"Authorization": "Bearer tok"}
        )
        with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=20) as answer:
            assert json.loads(answer.readline())["type"] == "ADDED"
            assert ended(process, signal.SIGTERM) == (0, "", "")
    assert [json.loads(line)["verb"] for line in audit.read_text().splitlines()] == ["watch"]


@pytest.mark.parametrize(("text", "words"), [
    ("{", "the whole: Invalid JSON"), ("[]", "the whole: Input should be an object"), ("null", "the whole: Input should be an object"),
    ("{}", "it has no users"), ('{"a": "b"}', "a: Input should be an object"), ('{"a": {}}', "a.token: Field required"),
    ('{"a": {"token": 5, "username": "x"}}', "a.token: Input should be a valid string"),
    ('{"a": {"token": "t", "username": "x", "groups": "y"}}', "a.groups: Input should be a valid array"),
    ('{"a": {"token": "t", "username": "x"}, "b": {"token": "t", "username": "y"}}', "two users have the same token"),
    ("\udcff", "the whole: Invalid JSON"),
])  # fmt: skip
def test_a_wrong_users_file_is_named_in_words(users, tmp_path, text, words):
    users.write_bytes(text.encode(errors="surrogateescape"))
    done = sirocco("provider", "serve", "--bare", "--users", users, "--audit-file", tmp_path / "audit.jsonl")
    assert done.code == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("arguments", "words"), [
    (["--bare"], "--users and --audit-file missing"),
    (["--bare", "--users", "/no/such/file"], "does not exist"),
])  # fmt: skip
def test_missing_options_are_named(arguments, words):
    done = sirocco("provider", "serve", *arguments)
    assert done.code == 2
    assert words in done.stderr


def test_a_command_that_does_not_end_fails_its_test_instead_of_holding_it_up(users, tmp_path, monkeypatch):
    monkeypatch.setattr("commands.LIMIT", 3)
    with pytest.raises(subprocess.TimeoutExpired):
        sirocco_process("provider", "serve", "--bare", "--users", users, "--audit-file", tmp_path / "audit.jsonl")
    monkeypatch.setattr("commands.LIMIT", 0.1)
    monkeypatch.setattr("commands.main", threading.Event().wait)
    with pytest.raises(StillRunning):
        sirocco("--version")


@pytest.mark.parametrize("area", [pytest.param("watch", marks=pytest.mark.long), "auth"])
def test_recorded_cases_agree_through_the_real_server(recordings, tmp_path, area):
    audit = tmp_path / "audit.jsonl"
    with started("provider", "serve", "--bare", "--users", recordings / "users.json", "--audit-file", audit) as process:
        command = [sys.executable, recordings / "compare.py", recordings / "cases" / area, "--base", served_at(process), "--users",
                   recordings / "users.json", "--create-namespaces", "--audit-log", audit, "--quiet"]  # fmt: skip
        compared = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert ended(process) == (0, "", "")
    header, *_, total = [line.split() for line in compared.stdout.splitlines() if line.strip()]
    agreed = dict(zip(header[1:], map(int, total[1:]), strict=True))
    assert agreed["steps"] > 10
    assert agreed["status"] >= 0.97 * agreed["steps"], compared.stdout
    assert agreed["body"] >= 0.9 * agreed["steps"], compared.stdout
    assert agreed["audit"] >= 0.97 * agreed["steps"], compared.stdout
