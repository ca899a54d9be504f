"""The programs of a control plane: where they are looked for, and that nothing of them outlives their owner."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sirocco.domains.kubernetes.cluster import programs
from sirocco.domains.kubernetes.cluster.programs import Child, cache_folder, find_programs, scratch_folder
from sirocco.errors import ConfigError

NAMES = ("etcd", "kube-apiserver", "kube-controller-manager")


def folder_with(path, *names):
    path.mkdir(exist_ok=True)
    for name in names:
        (path / name).touch()
    return path


def test_programs_are_taken_from_the_folder_that_the_variable_of_envtest_names(tmp_path):
    assets = folder_with(tmp_path / "assets", *NAMES)
    found = find_programs({"KUBEBUILDER_ASSETS": str(assets), "XDG_CACHE_HOME": str(tmp_path / "elsewhere")})
    assert (found.etcd, found.apiserver, found.controllers) == tuple(assets / name for name in NAMES)


def test_without_it_they_are_taken_from_where_they_are_built(tmp_path):
    built = cache_folder({"XDG_CACHE_HOME": str(tmp_path)})
    built.mkdir(parents=True)
    folder_with(built, *NAMES)
    assert (
        find_programs({"XDG_CACHE_HOME": str(tmp_path)}).apiserver == tmp_path / "sirocco/control-plane/kube-apiserver"
    )
    assert cache_folder({"HOME": "/home/me"}) == Path("/home/me/.cache/sirocco/control-plane")


@pytest.mark.requirement("CO-15")
def test_what_is_missing_is_named_with_what_to_do(tmp_path):
    assets = folder_with(tmp_path / "assets", "etcd", "kube-apiserver")
    with pytest.raises(ConfigError, match="has no kube-controller-manager") as raised:
        find_programs({"KUBEBUILDER_ASSETS": str(assets)})
    assert "make control-plane" in raised.value.remedy


def test_a_folder_is_for_its_owner_alone_and_goes_when_the_owner_is_dead(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "_MEMORY", tmp_path)
    own = scratch_folder()
    assert own.stat().st_mode & 0o077 == 0
    dead = scratch_folder()
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    (dead / "owner").write_text(ended.stdout.decode())
    stranger = tmp_path / "sirocco-control-plane-of-somebody"
    stranger.mkdir()
    scratch_folder()
    assert own.exists()
    assert not dead.exists()
    assert stranger.exists()


@pytest.mark.requirement("CO-10")
def test_a_child_ends_with_whoever_started_it_however_that_ends(tmp_path):
    source = (
        "import sys, time; from pathlib import Path\n"
        "from sirocco.domains.kubernetes.cluster.programs import Child\n"
        "child = Child(Path('/bin/sleep'), ['600'], Path(sys.argv[1]))\n"
        "print(child.pid, flush=True); time.sleep(600)\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", source, str(tmp_path / "log")], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    child = int(owner.stdout.readline())
    os.kill(child, 0)
    owner.kill()
    owner.communicate()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and "Z" not in Path(f"/proc/{child}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline, "the child outlives its owner"
        time.sleep(0.02)


def test_the_last_words_of_a_child_that_failed_are_known(tmp_path):
    child = Child(Path("/bin/sh"), ["-c", "echo the flag is wrong >&2; exit 3"], tmp_path / "log")
    deadline = time.monotonic() + 10
    while not child.has_ended and time.monotonic() < deadline:
        time.sleep(0.01)
    assert child.has_ended
    assert child.last_words == "the flag is wrong"
