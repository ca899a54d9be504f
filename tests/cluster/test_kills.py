"""Runs that are killed at any moment: none of their processes stays, and none of their namespaces after a clean-up."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from cluster.users_cluster import BYSTANDER, CONTEXT, acted_out

pytestmark = pytest.mark.long
KILLS = 10
LONGEST = 25.0
"""Seconds: a run has started a control plane and is several scenarios in by then, unless the machine is very busy."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A user's cluster."""
    with acted_out(tmp_path_factory.mktemp("user")) as cluster:
        yield cluster


def descendants(root):
    """The processes that come from one, itself included, by their ids and when they started."""
    parents = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            words = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = (int(words[1]), words[19])
    found, fresh = {}, {root}
    while fresh:
        found |= {one: parents[one][1] for one in fresh if one in parents}
        fresh = {one for one, (parent, _) in parents.items() if parent in fresh}
    return found


def living(processes):
    """Those of some processes that are still there, and not another under the same id."""
    left = set()
    for process, started in processes.items():
        with suppress(OSError):
            words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            if words[19] == started and words[0] != "Z":
                left.add(process)
    return left


def killed_run(words, seconds):
    """Start a run, kill it after some time; every process that it had started."""
    run = subprocess.Popen([sys.executable, "-m", "sirocco", "run", *map(str, words)], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
    time.sleep(seconds)
    processes = descendants(run.pid)
    assert run.poll() is None, "the run ended before it could be killed"
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    return processes


def require_end_of(processes):
    deadline = time.monotonic() + 20
    while living(processes) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert living(processes) == set()


def moments(seed):
    draw = random.Random(seed)
    return [draw.uniform(0.2, LONGEST) for _ in range(KILLS)]


def test_a_run_on_control_planes_of_its_own_leaves_no_process(tmp_path):
    most = 0
    for number, moment in enumerate(moments(23)):
        words = ["--agent", "ref:careful", "--provider", "cluster", "--out", tmp_path / f"run-{number}", "--seed", "7"]
        processes = killed_run(words, moment)
        most = max(most, len(processes))
        require_end_of(processes)
    # etcd, server and controllers: otherwise every run was killed too early for this to say anything.
    assert most >= 4


def test_a_run_in_a_users_cluster_leaves_no_process_and_no_namespace(cluster, tmp_path):
    before, claimed = asyncio.run(cluster.namespaces()), 0
    for number, moment in enumerate(moments(24)):
        words = [
            "--agent", "ref:careful", "--provider", "cluster", "--kubeconfig", cluster.kubeconfig, "--context", CONTEXT,
            "--audit-log", cluster.audit_log, "--image", "*", "--seed", "7", "--out", tmp_path / f"run-{number}",
        ]  # fmt: skip
        processes = killed_run(words, moment)
        require_end_of(processes)
        claimed += asyncio.run(cluster.namespaces()) != before
        clean = [sys.executable, "-m", "sirocco", "env", "clean", "--kubeconfig", cluster.kubeconfig, "--context",
                 CONTEXT]  # fmt: skip
        subprocess.run(list(map(str, clean)), capture_output=True, text=True, check=True)
        deadline = time.monotonic() + 30
        while (left := asyncio.run(cluster.namespaces())) != before and time.monotonic() < deadline:
            time.sleep(0.1)
        assert left == before
    assert BYSTANDER in before
    assert claimed
