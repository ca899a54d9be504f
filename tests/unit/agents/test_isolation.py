"""Which mechanisms there are on which system, and what is refused."""

import os
import subprocess
import sys

import pytest

from sirocco.agents import isolation
from sirocco.agents.confinement import confinement
from sirocco.agents.isolation import ACCOUNT, NAMESPACES, NOTHING, PROCESS, SEALED_ACCOUNT, SHIELDED, Level
from sirocco.errors import ConfigError

is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process under another account")


@pytest.mark.requirement("CO-10")
@pytest.mark.parametrize(
    ("platform", "root", "known"),
    [
        ("linux", True, (SEALED_ACCOUNT, ACCOUNT)),
        ("linux", False, (NAMESPACES, SHIELDED)),
        ("darwin", True, (ACCOUNT,)),
        ("darwin", False, (PROCESS,)),
        ("win32", False, (PROCESS,)),
    ],
)
def test_what_there_is_on_a_system_the_strongest_first(platform, root, known):
    assert isolation.mechanisms(platform, is_root=root) == known
    assert isolation.candidates(Level.AUTO, platform, is_root=root) == known
    promised = [len(one.holds) for one in known]
    assert promised == sorted(promised, reverse=True)


@pytest.mark.requirement("CO-10")
@pytest.mark.parametrize("platform", ["linux", "darwin"])
@pytest.mark.parametrize("level", [one for one in Level if one is not Level.NONE])
def test_root_never_gives_its_rights_away_by_a_level(platform, level):
    assert all(one.has_account for one in isolation.candidates(level, platform, is_root=True))
    assert isolation.candidates(Level.NONE, platform, is_root=True) == (NOTHING,)


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_user_who_asks_for_a_process_gets_no_more(platform):
    (only,) = isolation.candidates(Level.PROCESS, platform, is_root=False)
    assert only.isolation == "process"


@pytest.mark.requirement("CO-10")
def test_a_user_of_macos_cannot_have_another_account(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 501)
    with pytest.raises(ConfigError, match="uid does not hold here"):
        confinement([], level=Level.UID, platform="darwin")
    found = confinement([], platform="darwin")
    assert found.isolation == "process"
    assert "not kept from: runner's environment variables" in found.note


@is_root
def test_root_of_macos_has_another_account_and_says_what_that_leaves_open(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["sirocco"])
    found = confinement([], platform="darwin")
    assert (found.mechanism, found.isolation) == (ACCOUNT, "process+uid")
    assert "not kept from: corpus and profile, reserved bundles and keys" in found.note


@is_root
@pytest.mark.requirement("CO-10")
def test_a_mechanism_whose_probe_can_read_what_is_promised_does_not_count(monkeypatch, tmp_path):
    monkeypatch.setattr("sirocco.agents.confinement._account", lambda: (0, 0))
    with pytest.raises(ConfigError, match=r"a probe could read .*canary"):
        confinement([], level=Level.UID)


@pytest.mark.requirement("CO-10")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has an interface for it")
def test_the_command_line_of_a_command_ends_after_its_name():
    text = "import sys; from sirocco.cli.command_line import hide_command_line; hide_command_line(); print(open('/proc/self/cmdline').read())"
    words = [sys.executable, "-c", text, "run", "--seed", "0x5f3a", "--agent-header", "A: secret"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip("\0\n").split("\0") == [*words[:4]]
