"""Environments in a cluster of the user's, acted out with a second real control plane whose other contents are watched."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from cluster.users_cluster import BYSTANDER, CONTEXT, ReportingPlane, acted_out
from sirocco.domains.kubernetes.cluster.borrowed import OWNER_LABEL, BorrowedCluster
from sirocco.domains.kubernetes.cluster.borrowed_provider import BorrowedProvider, Borrowing, owner_access
from sirocco.errors import ProviderFault
from sirocco.oasis.observation import ObservationType, SourceStatus
from sirocco.wiring.clock import utc_now

pytestmark = pytest.mark.long
SCENARIO = "k8s.capability.oe.booking-settings-001"
HOME = "reservations"
METRICS = "observability-metrics"
MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The user's cluster, for all tests here."""
    with acted_out(tmp_path_factory.mktemp("user")) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def _without_traces_of_other_tests(cluster):
    """Namespaces take a while to go away."""
    asyncio.run(cluster.wait_for(BYSTANDER))


@pytest.fixture
def borrowed(cluster, profile):
    """A provider that borrows it, told that it can pull every image."""
    options = {
        "kubeconfig": str(cluster.kubeconfig), "context": CONTEXT, "audit_log": str(cluster.audit_log), "image": "*",
    }  # fmt: skip
    versions = {profile.document.id: profile.document.version}
    return BorrowedProvider(Borrowing.from_options(options), versions, utc_now, listen="127.0.0.1:0")


def settings_path(namespace):
    return f"/api/v1/namespaces/{namespace}/configmaps/booking-settings"


def test_nothing_outside_the_runs_own_namespaces_is_written(cluster, borrowed, request_for):
    since = cluster.audit_log.stat().st_size

    async def act():
        before = await cluster.contents(HOME)
        async with borrowed.provision(request_for(SCENARIO)) as environment:
            client = environment.access.client
            start = await environment.observe(ObservationType.RESOURCE_STATE)
            own = {item["metadata"]["name"] for item in start.data["objects"] if item["kind"] == "Namespace"}
            account = environment.agent_principal.split(":")[2]
            read = await client.request("GET", settings_path(HOME))
            change = {"data": {"hold_minutes": "20"}}
            changed = await client.request("PATCH", settings_path(HOME), body=change, content_type=MERGE)
            refused = await client.request("GET", settings_path(BYSTANDER))
            log = await environment.observe(ObservationType.AUDIT_LOG)
            after = await environment.observe(ObservationType.RESOURCE_STATE)
            during = await cluster.contents(HOME, account)
        for _ in range(600):
            left = await cluster.namespaces()
            if not {HOME, account} & left:
                break
            await asyncio.sleep(0.1)
        return environment, before, during, own, account, read, changed, refused, log, after, left

    environment, before, during, own, account, read, changed, refused, log, after, left = asyncio.run(act())
    assert own == {HOME}
    assert {key: value for key, value in during.items() if key in before or "ipaddresses" not in key} == before
    written = {
        (event["objectRef"].get("namespace", event["objectRef"].get("name")), event["objectRef"]["resource"])
        for event in cluster.writes(since)
        if event["objectRef"]["resource"] != "selfsubjectaccessreviews"
    }
    assert {place for place, _ in written} == {HOME, account}, written
    assert left.isdisjoint({HOME, account})
    assert [read.status, changed.status, refused.status] == [200, 200, 403]
    entries = log.data["entries"]
    assert [(entry["verb"], entry["user"]["username"]) for entry in entries] == [
        (verb, environment.agent_principal) for verb in ("get", "patch", "get")
    ]
    assert entries[1]["requestObject"] == {"data": {"hold_minutes": "20"}}
    settings = [item for item in after.data["objects"] if item["metadata"]["name"] == "booking-settings"]
    assert [item["data"]["hold_minutes"] for item in settings] == ["20"]


@pytest.mark.requirement("CO-15")
def test_what_cannot_be_given_to_it_is_found_when_it_is_planned(cluster, borrowed, profile):
    problems = {bound.scenario.id: borrowed.unsupported_demands(bound.scenario) for bound in profile.scenarios}
    assert problems[SCENARIO] == ()
    assert 10 < sum(not found for found in problems.values()) < len(problems)
    with_metrics = [one.scenario for one in profile.scenarios if METRICS in one.scenario.preconditions.agent.tools]
    assert all(f"tool '{METRICS}'" in " ".join(problems[scenario.id]) for scenario in with_metrics)


def test_a_namespace_that_was_there_before_is_left_alone(cluster, borrowed, request_for):
    async def act():
        operator = cluster.plane.client()
        await operator.request("POST", "/api/v1/namespaces", {"metadata": {"name": HOME}})
        before = await cluster.contents()
        try:
            with pytest.raises(ProviderFault, match="already exists and is left alone"):
                async with borrowed.provision(request_for(SCENARIO)):
                    pass
            await asyncio.sleep(0.5)
            after = {key: value for key, value in (await cluster.contents()).items() if key in before}
        finally:
            await operator.request("DELETE", f"/api/v1/namespaces/{HOME}")
            operator.close()
        return before, after

    before, after = asyncio.run(act())
    assert after == before


@pytest.mark.requirement("CO-07")
def test_a_log_that_is_not_written_any_more_is_not_an_empty_one(cluster, borrowed, request_for, monkeypatch, tmp_path):
    monkeypatch.setattr("sirocco.domains.kubernetes.cluster.borrowed_environment._AUDIT_SECONDS", 1.0)
    silent = tmp_path / "audit.log"
    silent.touch()
    options = {
        "kubeconfig": str(cluster.kubeconfig), "context": CONTEXT, "audit_log": str(silent), "image": "*",
    }  # fmt: skip
    deaf = BorrowedProvider(Borrowing.from_options(options), {}, utc_now, listen="127.0.0.1:0")

    async def act():
        async with deaf.provision(request_for(SCENARIO)) as environment:
            return await environment.observe(ObservationType.AUDIT_LOG)

    assert asyncio.run(act()).evidence_source.status is SourceStatus.UNREACHABLE


def test_an_audit_log_that_tells_nothing_is_said_before_the_run(cluster, profile, monkeypatch, tmp_path):
    monkeypatch.setattr("sirocco.domains.kubernetes.cluster.borrowed_provider._PROOF_SECONDS", 1.0)
    options = {"kubeconfig": str(cluster.kubeconfig), "context": CONTEXT, "audit_log": str(tmp_path / "none.log")}
    versions = {profile.document.id: profile.document.version}
    provider = BorrowedProvider(Borrowing.from_options(options), versions, utc_now, listen="127.0.0.1:0")
    declared = asyncio.run(provider.conformance(profile.document.id))
    assert not declared.supported
    assert "does not report" in declared.unmet_requirements[0].reason


def test_what_the_servers_webhook_sends_is_evidence_too(cluster, profile, request_for):
    options = {
        "kubeconfig": str(cluster.kubeconfig), "context": CONTEXT, "audit_webhook": ReportingPlane.webhook, "image": "*",
    }  # fmt: skip
    versions = {profile.document.id: profile.document.version}
    provider = BorrowedProvider(Borrowing.from_options(options), versions, utc_now, listen="127.0.0.1:0")

    async def act():
        declared = await provider.conformance(profile.document.id)
        async with provider.provision(request_for(SCENARIO)) as environment:
            await environment.access.client.request("GET", settings_path(HOME))
            change = {"data": {"hold_minutes": "25"}}
            await environment.access.client.request("PATCH", settings_path(HOME), body=change, content_type=MERGE)
            return declared, await environment.observe(ObservationType.AUDIT_LOG)

    declared, log = asyncio.run(act())
    assert declared.supported, declared.unmet_requirements
    assert [(entry["verb"], entry["responseStatus"]["code"]) for entry in log.data["entries"]] == [
        ("get", 200), ("patch", 200)
    ]  # fmt: skip
    assert log.data["entries"][1]["requestObject"] == {"data": {"hold_minutes": "25"}}


def test_a_log_that_tells_of_requests_is_relied_upon(borrowed, profile):
    declared = asyncio.run(borrowed.conformance(profile.document.id))
    assert declared.supported
    assert not declared.offers_comparison


def test_what_a_killed_run_left_is_removed(cluster):
    source = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from sirocco.domains.kubernetes.cluster.borrowed import BorrowedCluster\n"
        "from sirocco.domains.kubernetes.cluster.kubeconfig_access import read_kubeconfig\n"
        "async def main():\n"
        "    cluster = BorrowedCluster(read_kubeconfig(Path(sys.argv[1]), sys.argv[2]))\n"
        "    await cluster.claim(['left-over'])\n"
        "    print('claimed', flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    words = [sys.executable, "-c", source, str(cluster.kubeconfig), CONTEXT]
    owner = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "claimed\n"
    clean = [sys.executable, "-m", "sirocco", "env", "clean", "--kubeconfig", str(cluster.kubeconfig), "--context",
             CONTEXT]  # fmt: skip
    spared = subprocess.run(clean, capture_output=True, text=True, check=True)
    os.kill(owner.pid, signal.SIGKILL)
    owner.communicate()
    removed = subprocess.run(clean, capture_output=True, text=True, check=True)
    assert [spared.stdout, removed.stdout] == ["", "left-over\n"]
    assert {BYSTANDER, "default"} <= asyncio.run(cluster.namespaces())
    assert "left-over" not in asyncio.run(cluster.namespaces())


def test_what_has_expired_is_removed_wherever_it_came_from(cluster):
    async def act():
        operator = cluster.plane.client()
        labels = {OWNER_LABEL: "elsewhere-1-2", "sirocco.dev/expires": str(int(time.time()) - 1)}
        later = {OWNER_LABEL: "elsewhere-1-2", "sirocco.dev/expires": str(int(time.time()) + 99)}
        for name, given in {"old": labels, "young": later}.items():
            await operator.request("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": given}})
        operator.close()
        access = owner_access({"kubeconfig": str(cluster.kubeconfig), "context": CONTEXT})
        borrower = BorrowedCluster(access)
        found = await borrower.clean(), await borrower.clean(everything=True)
        borrower.close()
        return found

    assert asyncio.run(act()) == (["old"], ["young"])


def test_a_whole_run_with_an_honest_agent(cluster, tmp_path):
    words = [
        sys.executable, "-m", "sirocco", "run", "--agent", "ref:careful", "--provider", "cluster", "--kubeconfig",
        str(cluster.kubeconfig), "--context", CONTEXT, "--audit-log", str(cluster.audit_log), "--image", "*",
        "--scenario", SCENARIO, "--scenario", "k8s.safety.pi.lighthouse-label-001", "--adversarial", "off",
        "--out", str(tmp_path / "run"), "--seed", "7",
    ]  # fmt: skip

    async def act():
        process = await asyncio.create_subprocess_exec(
            *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        told, _ = await process.communicate()
        return process.returncode, told.decode()

    code, told = asyncio.run(act())
    assert code == 0, told
    verdict = json.loads((tmp_path / "run" / "verdict.json").read_text())["verdict"]
    assert verdict["safety"] == "PASS"
    assert {HOME}.isdisjoint(asyncio.run(cluster.namespaces()))
