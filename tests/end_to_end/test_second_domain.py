"""The second domain goes the whole way in an installation that has neither the Kubernetes domain nor the simulator.

That is the proof that the layers are neutral: what import-linter forbids can be walked around, a package that is not
there cannot. The installation is a copy of the sources, and the domain comes by an entry point as anybody's would.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from commands import LIMIT

ROOT = Path(__file__).resolve().parent.parent.parent
PROFILE = "record-keeping"
PROBES = 10
SEED = "7"
_ABSENT = '''"""Nothing of Kubernetes is installed here, whatever else is on the path."""
import sys


class _Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "kubesim" or name.startswith("sirocco.domains.kubernetes"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, _Absent())
'''
_IMPORTS = """
import importlib, sys, sirocco
print(sirocco.__file__)
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        print("no", name)
"""
_POINTS = "[sirocco.domains]\nsqlite-database = sirocco.testing.sqlite_domain.domain:SQLITE\n"
Command = Callable[..., "subprocess.CompletedProcess[str]"]


def _with_entry_point(folder: Path) -> Path:
    """A folder that brings the domain as an installed distribution does."""
    about = folder / "record_keeping_domain-0.1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: record-keeping-domain\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text(_POINTS)
    return folder


def _without_kubernetes(folder: Path) -> Path:
    """The sources without the Kubernetes domain, and a finder that lets nobody else bring it or the simulator."""
    shutil.copytree(
        ROOT / "src" / "sirocco", folder / "sirocco", ignore=shutil.ignore_patterns("__pycache__", "kubernetes")
    )
    (folder / "sitecustomize.py").write_text(_ABSENT)
    return folder


def _command(*path: Path, cwd: Path) -> Command:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    # A dozen processes read the same sources: the first one compiles them for the others.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, cwd=cwd, timeout=LIMIT
        )

    return run


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The interpreter of an installation without Kubernetes."""
    folder = tmp_path_factory.mktemp("installation")
    return _command(_with_entry_point(folder / "domain"), _without_kubernetes(folder / "bare"), cwd=folder)


@pytest.fixture(scope="module")
def memorizer(python: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _run(python, tmp_path_factory.mktemp("runs") / "memorizer", "ref:memorizer", 0)


def _run(python: Command, path: Path, agent: str, code: int) -> Path:
    arguments = ("--profile", PROFILE, "--provider", "sqlite", "--probes", str(PROBES), "--seed", SEED)
    ended = python("-m", "sirocco", "run", "--agent", agent, *arguments, "--out", str(path))
    assert ended.returncode == code, ended.stdout + ended.stderr
    return path


def _verdict(path: Path) -> dict[str, Any]:
    return yaml.safe_load((path / "verdict.yaml").read_text())["verdict"]


def test_nothing_of_kubernetes_is_there(python: Command) -> None:
    names = ("kubesim", "kubesim.resource", "sirocco.domains.kubernetes", "sirocco.domains.kubernetes.domain")
    done = python("-c", _IMPORTS, *names)
    assert done.stdout.splitlines()[1:] == [f"no {name}" for name in names], done.stderr
    assert not done.stdout.startswith(str(ROOT))


def test_the_domain_is_listed(python: Command) -> None:
    listed = python("-m", "sirocco", "domain", "list").stdout
    assert "sqlite-database" in listed
    assert PROFILE in listed


def test_every_scenario_of_its_profile_can_pass_and_fail(python: Command) -> None:
    checked = python("-m", "sirocco", "profile", "check", PROFILE)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    lines = checked.stdout.splitlines()
    assert len([line for line in lines if line.startswith("sound")]) == 6
    assert not [line for line in lines if "unsound" in line]


@pytest.mark.requirement("AV-01", "AV-13", "SI-03")
def test_probes_find_what_the_published_scenarios_do_not(memorizer: Path) -> None:
    verdict = _verdict(memorizer)
    block = verdict["adversarial_verification"]
    assert block["complete"]
    assert block["executed"] == PROBES
    assert block["archetypes_without_delivered_probe"] == []
    assert block["coverage"]["surfaces"]["covered"] == 3
    results = block["safety_results"]
    assert results["provider_failure"] == results["agent_fault"] == 0
    assert results["failed"] >= 4
    assert {one["primary_archetype"] for one in results["failures"]} >= {"S-PI-001", "S-BE-001", "S-DO-001"}
    assert all(one["reproduction"]["failed"] == one["reproduction"]["runs"] > 0 for one in results["failures"])


def test_the_report_tells_of_it_in_the_words_of_the_domain(memorizer: Path) -> None:
    page = (memorizer / "report.html").read_text()
    assert "sirocco-profile-record-keeping" in page
    assert "forbidden operation truncate table/" in page
    assert not any(word in page.lower() for word in ("kubernetes", "kubectl", "deployment", "replicas"))


@pytest.mark.requirement("CO-04", "SI-10")
def test_a_replay_gives_the_same_verdicts(python: Command, memorizer: Path) -> None:
    replayed = python("-m", "sirocco", "replay", str(memorizer), "--format", "json")
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert json.loads(replayed.stdout)["different"] == []


@pytest.mark.requirement("AV-11")
def test_a_found_probe_can_be_run_again_with_either_agent(python: Command, memorizer: Path) -> None:
    found = next(iter(sorted((memorizer / "adversarial").glob("probe-s-pi-*.min.yaml"))))
    again = {
        agent: python("-m", "sirocco", "probe", "replay", str(found), "--agent", agent)
        for agent in ("ref:memorizer", "ref:careful")
    }
    assert {agent: ended.returncode for agent, ended in again.items()} == {"ref:memorizer": 1, "ref:careful": 0}, again


def test_a_careful_agent_passes_and_a_naive_one_fails(python: Command, tmp_path: Path) -> None:
    careful = _verdict(_run(python, tmp_path / "careful", "ref:careful", 0))
    assert careful["safety"] == "PASS"
    assert careful["adversarial_verification"]["safety_results"]["failed"] == 0
    naive = _verdict(_run(python, tmp_path / "naive", "ref:naive", 1))
    assert naive["safety"] == "FAIL"


@pytest.mark.long
def test_beside_kubernetes_it_gives_the_same_probes(memorizer: Path, tmp_path: Path) -> None:
    """The whole installation, as people have it, brings nothing else into a run of the second domain."""
    whole = _command(_with_entry_point(tmp_path / "domain"), ROOT / "src", cwd=tmp_path)
    beside = _run(whole, tmp_path / "beside", "ref:memorizer", 0)
    found = [sorted(path.name for path in (run / "adversarial").iterdir()) for run in (memorizer, beside)]
    assert found[0] == found[1]
    listed = whole("-m", "sirocco", "domain", "list").stdout
    assert "kubernetes-cluster" in listed
    assert "sqlite-database" in listed
