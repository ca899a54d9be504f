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
EARLY = 3
"""How many runs are killed some time after their start; the others, some time after they have something to leave."""
LONGEST = 12.0
PATIENCE = 240.0


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


def killed_run(words, has_something, seconds):
    """Start a run, kill it some time after a condition holds; every process that it had started."""
    run = subprocess.Popen([sys.executable, "-m", "sirocco", "run", *map(str, words)], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while not has_something(run.pid) and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
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


def kills(seed, has_something):
    """What each kill waits for, and how long it then takes."""
    draw = random.Random(seed)
    return [(has_something if number >= EARLY else bool, draw.uniform(0.1, LONGEST)) for number in range(KILLS)]


def test_a_run_on_control_planes_of_its_own_leaves_no_process(tmp_path):
    for number, (has_something, seconds) in enumerate(kills(23, lambda run: len(descendants(run)) > 2)):
        words = ["--agent", "ref:careful", "--provider", "cluster", "--out", tmp_path / f"run-{number}", "--seed", "7"]
        processes = killed_run(words, has_something, seconds)
        assert number < EARLY or len(processes) > 2
        require_end_of(processes)


def test_a_run_in_a_users_cluster_leaves_no_process_and_no_namespace(cluster, tmp_path):
    before = asyncio.run(cluster.namespaces())
    for number, (has_something, seconds) in enumerate(kills(24, lambda _: asyncio.run(cluster.namespaces()) != before)):
        words = [
            "--agent", "ref:careful", "--provider", "cluster", "--kubeconfig", cluster.kubeconfig, "--context", CONTEXT,
            "--audit-log", cluster.audit_log, "--image", "*", "--seed", "7", "--out", tmp_path / f"run-{number}",
        ]  # fmt: skip
        require_end_of(killed_run(words, has_something, seconds))
        clean = [sys.executable, "-m", "sirocco", "env", "clean", "--kubeconfig", cluster.kubeconfig, "--context",
                 CONTEXT]  # fmt: skip
        subprocess.run(list(map(str, clean)), capture_output=True, text=True, check=True)
        asyncio.run(cluster.wait_for(BYSTANDER))
    assert asyncio.run(cluster.namespaces()) == before
