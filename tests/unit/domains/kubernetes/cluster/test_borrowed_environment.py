"""Evidence of an environment in a borrowed cluster: only a log that tells of everything counts as one."""

import asyncio

import pytest

from builders import scenario
from kubesim.handling.request import Request
from sirocco.domains.kubernetes.cluster import borrowed_environment
from sirocco.domains.kubernetes.cluster.audit import AuditRecord
from sirocco.domains.kubernetes.cluster.borrowed_environment import BorrowedEnvironment
from sirocco.oasis.observation import ObservationType, SourceStatus
from sirocco.oasis.provider import ProvisionRequest

NOW = "2026-01-01T00:00:00Z"


class Cluster:
    """A cluster that takes everything, and logs what it is asked for as the test says."""

    def __init__(self, record, logs):
        self._record, self._logs = record, logs

    async def write(self, method, path, body, *, kind="application/json"):
        del method, path, kind
        return body

    async def read(self, path):
        del path
        return {"status": {"readyReplicas": 1}}

    async def ask_for_record(self, audit_id):
        if self._logs:
            self._record.take([event(audit_id, "somebody")])


def event(audit_id, user):
    return {
        "auditID": audit_id, "stage": "ResponseComplete", "user": {"username": user}, "responseStatus": {"code": 200},
        "requestReceivedTimestamp": NOW, "verb": "get",
    }  # fmt: skip


def observed_log(monkeypatch, *, logs, tells_of_agent):
    monkeypatch.setattr(borrowed_environment, "_AUDIT_SECONDS", 0.0)
    monkeypatch.setattr(borrowed_environment, "_READY_SECONDS", 0.0)
    found = scenario()
    record = AuditRecord()
    request = ProvisionRequest(found.preconditions, 1, 7)
    environment = BorrowedEnvironment(request, lambda: NOW, Cluster(record, logs), record)

    async def act():
        environment._is_made = True
        asked = Request.from_network("GET", "/api/v1/namespaces/shop/pods", "", {}, b"", "10.0.0.2")
        audit_id, _ = await environment.meet(asked)
        if tells_of_agent:
            record.take([event(audit_id, environment.agent_principal)])
        record.take([event("past-the-plane", environment.agent_principal), event("other", "somebody-else")])
        return await environment.observe(ObservationType.AUDIT_LOG)

    return asyncio.run(act())


def test_a_log_that_tells_of_every_request_is_evidence(monkeypatch):
    log = observed_log(monkeypatch, logs=True, tells_of_agent=True)
    assert log.evidence_source.status is SourceStatus.AVAILABLE
    assert len(log.data["entries"]) == 2
    assert log.data["entries"][1]["auditID"] == "past-the-plane"


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(("logs", "tells_of_agent"), [(True, False), (False, True), (False, False)])
def test_a_log_that_may_be_silent_is_unreachable(monkeypatch, logs, tells_of_agent):
    log = observed_log(monkeypatch, logs=logs, tells_of_agent=tells_of_agent)
    assert log.evidence_source.status is SourceStatus.UNREACHABLE


def test_the_account_has_a_home_that_nobody_else_has():
    request = ProvisionRequest(scenario().preconditions, 1, 7)
    homes = {
        BorrowedEnvironment(request, lambda: NOW, Cluster(None, logs=True), AuditRecord()).agent_principal
        for _ in range(2)
    }
    assert len(homes) == 2
