"""oasisctl, a runner of the same standard in Go, with our provider and our agents: its verdicts beside ours.

The project neither holds nor installs the program. It is the one that SIROCCO_OASISCTL names, or the one on the path.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_requests import process
from commands import LIMIT, evaluated
from corpus.newer_package import rc1_7_package, rc1_12_package

PAGE = Path(__file__).parents[2] / "docs" / "oasisctl.md"
_BEGIN, _END = "<!-- differences:", "<!-- end of differences -->"
Statuses = tuple[str, str]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def oasisctl() -> str:
    given = os.environ.get("SIROCCO_OASISCTL", "")
    found = shutil.which(given or "oasisctl")
    if found is None and given:
        pytest.fail(f"SIROCCO_OASISCTL names {given}, which is no program")
    if found is None:
        pytest.skip("oasisctl is not installed; put it on the path, or set SIROCCO_OASISCTL to it")
    return found


def differences_explained_for(agent: str) -> dict[str, Statuses]:
    """The rows of the page about an agent: by scenario, the verdict of oasisctl and ours."""
    table = PAGE.read_text().partition(_BEGIN)[2].partition(_END)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if "infra." in line]
    assert all(len(row) == 5 and row[4] for row in rows), "every difference has its reason"
    return {scenario: (theirs, ours) for scenario, about, theirs, ours, _ in rows if about == agent}


def served(*arguments: object) -> Any:
    return process(sys.executable, "-m", "sirocco", *arguments)


def report_of(oasisctl: str, agent: str, package: Path, folder: Path, *options: str) -> dict[str, Any]:
    """What oasisctl reports of an agent that has nothing but a kubeconfig, kept by the provider."""
    kubeconfig, output = folder / "kubeconfig", folder / "oasisctl" / "report.json"
    output.parent.mkdir()
    with (
        served("provider", "serve", "--no-auth", "--profile", package, "--kubeconfig", kubeconfig) as provider,
        served("agent", "serve", f"ref:{agent}", "--kubeconfig", kubeconfig) as asked,
    ):
        command = [
            oasisctl, "run", "--profile", str(package), "--tier", "1", "--safety-only", *options,
            "--provider-url", json.loads(provider.line)["control"], "--agent-url", json.loads(asked.line)["url"],
            "--format", "json", "--output", str(output),
        ]  # fmt: skip
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT)
    assert output.exists(), done.stderr
    return json.loads(output.read_text())


def unattributed(details: list[dict[str, Any]]) -> Iterator[str]:
    """The scenarios in which oasisctl read an audit log and found no call of the agent's account."""
    for detail in details:
        scopes = [one["audit_scope"] for one in detail["assertion_results"] if "audit_scope" in one]
        if not all(scope["agent_principal"] and scope["agent_entries"] for scope in scopes):
            yield detail["scenario_id"]


@pytest.mark.requirement("CO-01", "CO-10")
@pytest.mark.parametrize("agent", ["careful", "naive"])
def test_every_difference_from_our_verdicts_is_explained(
    oasisctl: str, package: Path, tmp_path: Path, agent: str, record_property: Callable[[str, object], None]
) -> None:
    details = report_of(oasisctl, agent, package, tmp_path)["scenario_details"]
    assert [detail["errors"] for detail in details if "errors" in detail] == []
    assert list(unattributed(details)) == []
    theirs = {detail["scenario_id"]: detail["status"] for detail in details}
    run = evaluated(tmp_path, f"ref:{agent}", "--profile", package, "--safety-only", "--adversarial", "off")
    ours = {detail["scenario_id"]: detail["status"] for detail in run.verdict["scenario_details"]}
    assert theirs.keys() == ours.keys()
    assert len(theirs) == 21
    found = {scenario: (theirs[scenario], ours[scenario]) for scenario in ours if theirs[scenario] != ours[scenario]}
    assert found == differences_explained_for(agent)
    record_property("real client", f"oasisctl {len(theirs)}")


@pytest.mark.requirement("CO-01", "CO-12")
@pytest.mark.parametrize(("making", "version"), [(rc1_7_package, "0.2.0-rc3"), (rc1_12_package, "0.3.0-rc1")])
def test_it_takes_our_provider_for_later_versions_of_the_standard(
    oasisctl: str, package: Path, tmp_path: Path, making: Callable[[Path, Path], Path], version: str
) -> None:
    later = making(package, tmp_path / "package")
    report = report_of(oasisctl, "naive", later, tmp_path, "--scenario", "infra.safety.be.zone-violation-*")
    assert report["metadata"]["profile_version"] == version
    assert [detail["status"] for detail in report["scenario_details"]] == ["FAIL"]
