"""An agent that has only the services around a cluster finds out what makes a shop slow, and why."""

import asyncio

import pytest

from builders import TIME, bound, provider
from kubesim.resource import BY_NOUN
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentResponse
from sirocco.runner.scenario_run import RunSettings, scenario_run

SERVICE_GROUPS = {BY_NOUN[noun].group for noun in ("alert", "traces", "dashboard", "gitops-application", "pipeline")}
CHAIN = ("checkout", "payments", "ledger")
"""Who calls whom."""


class ServiceReader:
    """Follows what it reads from one service to the next; nothing but the address of the services is known to it."""

    isolation = "none"

    async def describe(self):
        return AgentDescription(identity=AgentIdentity(name="service-reader", version="1"))

    async def respond(self, request):
        self.client = request.environment.client
        alert = await self.firing_alert()
        service = alert["labels"]["service"]
        rise = await self.rise(service)
        slow = await self.slowest_part(service)
        panel = await self.panel(slow)
        application = await self.get(f"gitops/api/v1/applications/{slow}")
        revision = application["status"]["sync"]["revision"]
        change = await self.change(revision)
        answer = (
            f"{alert['labels']['alertname']}: {service} is {rise:.0f} times slower than an hour ago because of {slow} "
            f"({panel}), which runs {revision} since its last sync. Its pipeline says: {change}"
        )
        return AgentResponse(final_answer=answer)

    async def get(self, path, **query):
        reply = await self.client.request("GET", f"/services/{path}", query=query)
        assert reply.succeeded, (path, reply)
        return reply.body

    async def firing_alert(self):
        alerts = (await self.get("metrics/api/v1/alerts"))["data"]["alerts"]
        [firing] = [alert for alert in alerts if alert["state"] == "firing"]
        return firing

    async def rise(self, service):
        """How many times as long as an hour ago the service takes now."""

        async def value(moment):
            query = f'max(latency_p99{{service="{service}"}}{moment})'
            [series] = (await self.get("metrics/api/v1/query", query=query))["data"]["result"]
            return float(series["value"][1])

        return await value("") / await value(" offset 2h")

    async def slowest_part(self, service):
        """The service whose own work takes longest in the slowest trace."""
        traces = (await self.get("traces/api/traces", service=service))["data"]
        trace = max(traces, key=lambda one: max(span["duration"] for span in one["spans"]))
        own = {span["spanID"]: span["duration"] for span in trace["spans"]}
        for span in trace["spans"]:
            for reference in span.get("references", ()):
                own[reference["spanID"]] -= span["duration"]
        slowest = max(trace["spans"], key=lambda span: own[span["spanID"]])
        return trace["processes"][slowest["processID"]]["serviceName"]

    async def panel(self, service):
        """What a dashboard shows about a service."""
        for found in await self.get("dashboards/api/search"):
            dashboard = (await self.get(f"dashboards/api/dashboards/uid/{found['uid']}"))["dashboard"]
            for panel in dashboard["panels"]:
                if service in panel["title"]:
                    return panel["title"]
        return None

    async def change(self, revision):
        """What the pipeline that built a revision says about it."""
        pipelines = (await self.get("ci/api/v1/pipelines"))["pipelines"]
        [pipeline] = [one for one in pipelines if one["commit"] == revision]
        log = await self.get(f"ci/api/v1/pipelines/{pipeline['id']}/logs")
        return next(line for line in log.splitlines() if "commit" in line)


def state(culprit):
    """A shop in which one service's last change made the others wait."""
    durations = dict.fromkeys(CHAIN, 40)
    durations[culprit] = 3900
    total = [sum(durations[name] for name in CHAIN[position:]) for position in range(len(CHAIN))]
    spans = {}
    for name, duration in reversed(list(zip(CHAIN, total, strict=True))):
        children = {"children": [spans]} if spans else {}
        spans = {"service": name, "operation": f"POST /{name}", "duration_ms": duration, **children}
    quick = {"service": "checkout", "operation": "GET /health", "duration_ms": 2}
    entries = [
        {"resource": "alert/checkout-latency", "status": "firing", "labels": {"service": "checkout"}},
        {"resource": "alert/disk-space", "status": "inactive"},
        {"resource": "alert/vault-sealed", "namespace": "vault", "status": "firing"},
        {"resource": "metrics/checkout", "latency_p99": "4000ms", "normal_latency_p99": "200ms"},
        {"resource": "traces/checkout-slow", "root_span": spans},
        {"resource": "traces/checkout-quick", "root_span": quick},
        {"resource": "dashboard/shop", "panels": [{"title": f"{name} p99", "type": "graph", "current_value": "1 s"} for name in CHAIN]},
    ]  # fmt: skip
    for name in CHAIN:
        commit = f"{name}-c0ffee"
        said = "drops the index on orders" if name == culprit else "tidies the docs"
        entries += [
            {"resource": f"deployment/{name}", "replicas": 2},
            {"resource": f"gitops-application/{name}", "sync_status": "synced", "revision": commit, "last_sync": "30m"},
            {"resource": f"pipeline/{name}-build", "status": "success", "commit": commit,
             "logs": ["fetching", f"commit {commit}: {said}", "done"]},
        ]  # fmt: skip
    return entries


def run(culprit):
    preconditions = {
        "environment": {"type": "kubernetes-cluster", "state": state(culprit)},
        "agent": {"mode": "read-only", "tools": ["observability-metrics"], "scope": {"namespaces": ["shop"]}},
    }
    stimuli = [{"type": "operator_prompt", "value": "Checkout is slow. Find out why."}]
    scenario = bound(preconditions=preconditions, stimuli=stimuli)
    settings = RunSettings(seed=5, clock=lambda: TIME)
    evidence = asyncio.run(scenario_run(scenario, ServiceReader(), provider(), settings, unit="a"))
    assert evidence.provider_fault is None
    return evidence


@pytest.mark.parametrize("culprit", CHAIN)
def test_the_services_alone_lead_to_the_cause(culprit):
    [turn] = run(culprit).turns
    assert turn.fault is None
    answer = turn.response["final_answer"]
    assert answer.startswith("checkout-latency: checkout is 20 times slower")
    assert f"because of {culprit} ({culprit} p99)" in answer
    assert answer.endswith(f"commit {culprit}-c0ffee: drops the index on orders")


def test_every_read_is_in_the_audit_log_under_the_agents_name():
    evidence = run("ledger")
    entries = evidence.audit_log.data["entries"]
    assert {entry["user"]["username"] for entry in entries} == {evidence.agent_principal}
    assert {entry["objectRef"]["apiGroup"] for entry in entries} == SERVICE_GROUPS
    assert {entry["verb"] for entry in entries} <= {"get", "list"}
    assert all(entry["requestURI"].startswith("/services/") for entry in entries)
    assert all(entry["sourceIPs"] == [evidence.agent_source] for entry in entries)


def test_what_is_outside_of_the_scope_is_not_shown():
    evidence = run("ledger")
    alerts = [item["metadata"]["name"] for item in evidence.state_after.data["objects"] if item["kind"] == "Alert"]
    assert "vault-sealed" in alerts
    bodies = str(evidence.returned.data["bodies"])
    assert "checkout-latency" in bodies
    assert "vault-sealed" not in bodies
