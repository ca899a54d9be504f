"""Traces, dashboards, GitOps, pipelines and migrations as their own clients ask for them."""

from typing import Any

import pytest

from service_builders import Asked

TRACE = "0123456789abcdef0123456789abcdef"


def span(
    number: int, service: str, operation: str, milliseconds: int, parent: int | None = None, **tags: Any
) -> dict[str, Any]:
    return {
        "spanID": f"{number:016x}", **({"parentSpanID": f"{parent:016x}"} if parent else {}), "serviceName": service,
        "operationName": operation, "startTime": 1_709_279_000_000_000, "duration": milliseconds * 1000, "tags": tags,
    }  # fmt: skip


@pytest.fixture
def traced(asked: Asked) -> Asked:
    slow = [span(1, "gateway", "GET /orders", 8200), span(2, "orders", "SELECT", 8000, 1, error=True, rows=7)]
    asked.put("traces", "slow-request-abc123", {"traceID": TRACE, "spans": slow})
    asked.put("traces", "quick", {"traceID": "f" * 32, "spans": [span(3, "gateway", "GET /health", 2)]})
    asked.put("traces", "hidden", {"traceID": "e" * 32, "spans": [span(4, "ledger", "POST /", 2)]}, namespace="vault")
    return asked


@pytest.mark.parametrize("name", [TRACE, TRACE.lstrip("0"), "slow-request-abc123", "abc123", TRACE.upper()])
def test_a_trace_is_found_by_id_or_name(traced: Asked, name: str) -> None:
    (trace,) = traced.ask(f"traces/api/traces/{name}").body["data"]
    assert trace["traceID"] == TRACE
    root, child = trace["spans"]
    assert root["references"] == []
    assert child["references"] == [{"refType": "CHILD_OF", "traceID": TRACE, "spanID": root["spanID"]}]
    assert trace["processes"][child["processID"]]["serviceName"] == "orders"
    assert child["tags"] == [
        {"key": "error", "type": "bool", "value": True},
        {"key": "rows", "type": "int64", "value": 7},
    ]
    assert traced.event["objectRef"]["name"] == "slow-request-abc123"


def test_services_and_operations_are_those_that_may_be_seen(traced: Asked) -> None:
    assert traced.ask("traces/api/services").body["data"] == ["gateway", "orders"]
    assert traced.ask("traces/api/services/gateway/operations").body["data"] == ["GET /health", "GET /orders"]
    assert traced.ask("traces/api/operations", {"service": "orders"}).body["data"] == [
        {"name": "SELECT", "spanKind": "server"}
    ]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({}, 2), ({"operation": "GET /health"}, 1), ({"minDuration": "1s"}, 1), ({"maxDuration": "100ms"}, 1),
        ({"limit": "1"}, 1), ({"start": "1709279000000001"}, 0), ({"end": "1"}, 0), ({"tags": '{"error":"true"}'}, 0),
    ],
)  # fmt: skip
def test_traces_are_searched(traced: Asked, query: dict[str, str], count: int) -> None:
    response = traced.ask("traces/api/traces", {"service": "gateway", **query})
    assert (response.status, len(response.body["data"])) == (200, count)
    assert traced.event["verb"] == "list"


def test_tags_are_searched_too(traced: Asked) -> None:
    assert (
        len(traced.ask("traces/api/traces", {"service": "orders", "tags": '{"error":"true","rows":"7"}'}).body["data"])
        == 1
    )
    assert len(traced.ask("traces/api/traces", {"service": "orders", "tag": "rows:7"}).body["data"]) == 1


@pytest.mark.parametrize(
    ("path", "query", "status", "message"),
    [
        ("api/traces", {}, 400, "parameter 'service' is required"),
        ("api/traces", {"service": "gateway", "limit": "many"}, 400, "unable to parse param 'limit'"),
        ("api/traces", {"service": "gateway", "minDuration": "long"}, 400, "unable to parse param 'minDuration'"),
        ("api/traces", {"service": "gateway", "tags": "x"}, 400, "malformed 'tags' parameter"),
        ("api/traces/absent", {}, 404, "trace not found"),
        ("api/traces/hidden", {}, 403, "Forbidden (user=reader, verb=get, resource=traces, namespace=vault)"),
    ],
)
def test_jaeger_refuses_in_its_envelope(
    traced: Asked, path: str, query: dict[str, str], status: int, message: str
) -> None:
    response = traced.ask(f"traces/{path}", query)
    (error,) = response.body["errors"]
    assert (response.status, response.body["data"], error["code"]) == (status, None, status)
    assert message in error["msg"]


@pytest.fixture
def charted(asked: Asked) -> Asked:
    panels = [
        {"id": 1, "title": "Request Rate", "type": "graph", "currentValue": "1200 req/s"},
        {"id": 2, "title": "Errors"},
    ]
    asked.put("dashboard", "overview", {"uid": "abc", "title": "Team Overview", "tags": ["infra"], "panels": panels})
    asked.put("dashboard", "secret", {"uid": "xyz", "title": "Vault", "tags": [], "panels": []}, namespace="vault")
    return asked


@pytest.mark.parametrize(
    ("query", "found"),
    [({}, ["abc"]), ({"query": "team"}, ["abc"]), ({"query": "vault"}, None), ({"tag": "infra"}, ["abc"]), ({"tag": "x"}, []),
     ({"type": "dash-folder"}, []), ({"dashboardUIDs": "abc,def"}, ["abc"])],
)  # fmt: skip
def test_dashboards_are_searched(charted: Asked, query: dict[str, str], found: list[str] | None) -> None:
    response = charted.ask("dashboards/api/search", query)
    if found is None:
        assert (response.status, response.body["title"]) == (403, "Access denied")
    else:
        assert [hit["uid"] for hit in response.body] == found


@pytest.mark.parametrize("uid", ["abc", "overview"])
def test_a_dashboard_has_its_panels_as_declared(charted: Asked, uid: str) -> None:
    response = charted.ask(f"dashboards/api/dashboards/uid/{uid}")
    dashboard = response.body["dashboard"]
    assert (dashboard["title"], dashboard["uid"], response.body["meta"]["folderTitle"]) == (
        "Team Overview",
        "abc",
        "shop",
    )
    assert [panel["title"] for panel in dashboard["panels"]] == ["Request Rate", "Errors"]
    assert dashboard["panels"][0]["currentValue"] == "1200 req/s"
    assert charted.event["objectRef"] == {
        "resource": "dashboards", "namespace": "shop", "name": "overview", "apiGroup": "grafana.integreatly.org", "apiVersion": "v1",
    }  # fmt: skip
    assert charted.event["responseObject"]["spec"]["title"] == "Team Overview"


def test_dashboards_are_saved_and_deleted_by_whoever_may(charted: Asked) -> None:
    body = {"dashboard": {"uid": "new", "title": "New", "panels": [{"title": "A"}, "junk"]}, "folderUid": "shop"}
    assert charted.ask("dashboards/api/dashboards/db", method="POST", body=body).status == 403
    assert charted.ask("dashboards/api/dashboards/db", method="POST", body=body, token="writer").status == 200
    assert charted.event["verb"] == "create"
    assert charted.ask("dashboards/api/dashboards/db", method="POST", body=body, token="writer").status == 412
    again = {**body, "overwrite": True, "dashboard": {"uid": "new", "title": "Newer"}}
    assert charted.ask("dashboards/api/dashboards/db", method="POST", body=again, token="writer").body["version"] == 2
    assert charted.event["verb"] == "update"
    assert charted.ask("dashboards/api/dashboards/uid/new").body["dashboard"]["title"] == "Newer"
    assert charted.ask("dashboards/api/dashboards/uid/new", method="DELETE").status == 403
    assert charted.ask("dashboards/api/dashboards/uid/new", method="DELETE", token="writer").status == 200
    assert charted.ask("dashboards/api/dashboards/uid/new").body == {"message": "Dashboard not found"}


@pytest.mark.parametrize(
    "body",
    [{}, {"dashboard": 1}, {"dashboard": {"title": ""}}, {"dashboard": {"title": "x", "uid": "../../etc"}}, [], "text"],
)
def test_a_dashboard_that_cannot_be_is_refused(charted: Asked, body: Any) -> None:
    assert charted.ask("dashboards/api/dashboards/db", method="POST", body=body, token="writer").status == 400


def test_a_dashboard_is_not_saved_where_the_account_may_not(charted: Asked) -> None:
    body = {"dashboard": {"title": "x", "uid": "x"}, "folderUid": "vault"}
    assert charted.ask("dashboards/api/dashboards/db", method="POST", body=body, token="writer").status == 403
    assert charted.event["objectRef"]["namespace"] == "vault"


def deployment(asked: Asked, replicas: int = 2, image: str = "web:1") -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": image}]}}
    status = {"replicas": replicas, "availableReplicas": replicas, "updatedReplicas": replicas}
    return asked.add("deployment", "web", "shop", spec={"replicas": replicas, "template": template}, status=status)


@pytest.fixture
def managed(asked: Asked) -> Asked:
    spec = deployment(asked)["spec"]
    source = {"repoURL": "git@example.com:infra.git", "path": "apps/web", "targetRevision": "HEAD"}
    desired = [{"kind": "Deployment", "namespace": "shop", "name": "web", "spec": spec}]
    application = {"source": source, "destination": {"namespace": "shop"}, "syncPolicy": {}, "desired": desired}
    asked.put("gitops-application", "web", application, {"sync": {"status": "Synced", "revision": "abc"}})
    asked.put(
        "gitops-application", "vault", {**application, "desired": []}, {"sync": {"status": "Synced"}}, namespace="vault"
    )
    return asked


def test_applications_are_listed_and_shown(managed: Asked) -> None:
    (listed,) = managed.ask("gitops/api/v1/applications").body["items"]
    shown = managed.ask("gitops/api/v1/applications/web").body
    assert listed["metadata"]["name"] == shown["metadata"]["name"] == "web"
    assert shown["spec"]["source"]["path"] == "apps/web"
    assert "desired" not in shown["spec"]
    assert shown["status"]["sync"] == {"status": "Synced", "revision": "abc"}
    assert managed.ask("gitops/api/v1/applications", {"repo": "elsewhere"}).body["items"] == []
    assert managed.ask("gitops/api/v1/applications", {"selector": "team=nobody"}).body["items"] == []
    assert len(managed.ask("gitops/api/v1/applications", {"selector": "team!=nobody"}).body["items"]) == 1
    tree = managed.ask("gitops/api/v1/applications/web/resource-tree").body["nodes"]
    assert [(node["kind"], node["name"], node["health"]["status"]) for node in tree] == [
        ("Deployment", "web", "Healthy")
    ]
    assert len(managed.ask("gitops/api/v1/applications/web/manifests").body["manifests"]) == 1


def test_argo_refuses_as_its_gateway_does(managed: Asked) -> None:
    absent = managed.ask("gitops/api/v1/applications/absent")
    assert (absent.status, absent.body["code"], absent.body["error"]) == (
        404,
        5,
        'applications.argoproj.io "absent" not found',
    )
    unread = managed.ask("gitops/api/v1/applications", {"selector": "team in"})
    assert (unread.status, unread.body["code"]) == (400, 3)
    denied = managed.ask("gitops/api/v1/applications/vault")
    assert (denied.status, denied.body["code"]) == (403, 7)
    assert denied.body["message"].startswith("permission denied: ")


def test_only_whoever_writes_syncs(managed: Asked) -> None:
    path = "gitops/api/v1/applications/web/sync"
    assert managed.ask(path, method="POST", body={}).status == 403
    assert managed.event["objectRef"]["subresource"] == "sync"
    assert managed.ask(path, method="POST", body={"revision": "def"}, token="writer").status == 200
    assert (managed.event["verb"], managed.event["requestObject"]) == ("create", {"revision": "def"})
    state = managed.ask("gitops/api/v1/applications/web").body["status"]["operationState"]
    assert (state["phase"], state["operation"]["sync"]) == ("Succeeded", {"revision": "def"})


def test_how_an_application_is_kept_in_sync_can_be_changed(managed: Asked) -> None:
    path = "gitops/api/v1/applications/web"
    body = {"spec": {"syncPolicy": {"automated": {"selfHeal": True}}, "desired": [], "source": 7}}
    assert managed.ask(path, method="PUT", body=body).status == 403
    assert managed.ask(path, method="PUT", body={"spec": 1}, token="writer").status == 400
    assert managed.ask(path, method="PUT", body=body, token="writer").status == 200
    stored = managed.store.get("gitops-application", "shop", "web")
    assert stored is not None
    assert stored["spec"]["syncPolicy"] == {"automated": {"selfHeal": True}}
    assert stored["spec"]["source"]["path"] == "apps/web"
    assert len(stored["spec"]["desired"]) == 1


@pytest.mark.parametrize(("query", "is_left"), [({}, False), ({"cascade": "false"}, True)])
def test_deleting_an_application_deletes_what_it_manages(
    managed: Asked, query: dict[str, str], *, is_left: bool
) -> None:
    path = "gitops/api/v1/applications/web"
    assert managed.ask(path, query, method="DELETE").status == 403
    assert managed.ask(path, query, method="DELETE", token="writer").status == 200
    assert managed.store.get("gitops-application", "shop", "web") is None
    assert (managed.store.get("deployment", "shop", "web") is not None) is is_left


@pytest.fixture
def built(asked: Asked) -> Asked:
    spec = {
        "ref": "main",
        "commit": "abc",
        "stages": [{"name": "build", "status": "failed"}],
        "logs": ["step 1", "boom <b>"],
    }
    asked.put(
        "pipeline",
        "build-7",
        spec,
        {"state": "failed", "run": 3, "startedAt": "2024-03-01T07:00:00Z", "finishedAt": "x"},
    )
    asked.put("pipeline", "vault-1", spec, {"state": "success"}, namespace="vault")
    asked.put("database-migration", "users", {"migration": "002"}, {"state": "applied", "recordsCreatedSince": 150})
    return asked


def test_pipelines_and_their_logs(built: Asked) -> None:
    listed = built.ask("ci/api/v1/pipelines").body
    assert [(one["id"], one["status"], one["run"]) for one in listed["pipelines"]] == [("build-7", "failed", 3)]
    assert built.ask("ci/api/v1/pipelines", {"status": "success"}).body["total"] == 0
    # Nobody looked for what only another namespace has, so the log must not say so.
    assert "vault" not in str(built.event["objectRef"])
    assert built.ask("ci/api/v1/pipelines", {"status": "running"}).body["total"] == 0
    assert built.ask("ci/api/v1/pipelines/build-7").body["stages"] == [{"name": "build", "status": "failed"}]
    log = built.ask("ci/api/v1/pipelines/build-7/logs")
    assert (log.body, log.headers["Content-Type"]) == ("step 1\nboom <b>\n", "text/plain; charset=utf-8")
    assert (built.event["verb"], built.event["objectRef"]["subresource"]) == ("get", "log")
    assert built.ask("ci/api/v1/pipelines/vault-1/logs").status == 403
    assert built.ask("ci/api/v1/pipelines/none").body == {"message": "404 Pipeline Not Found", "status": 404}


def test_a_pipeline_starts_again_for_whoever_may(built: Asked) -> None:
    path = "ci/api/v1/pipelines/build-7/retry"
    assert built.ask(path, method="POST", body={}).status == 403
    response = built.ask(path, method="POST", body={}, token="writer")
    assert (response.status, response.body["status"], response.body["run"]) == (201, "running", 4)
    assert "finished_at" not in response.body
    assert built.ask(path, method="POST", body={}, token="writer").status == 409
    assert built.ask("ci/api/v1/pipelines/build-7/trigger", method="POST", token="writer").body["run"] == 5


def test_a_migration_is_taken_back_once(built: Asked) -> None:
    assert built.ask("databases/api/v1/migrations").body["migrations"][0]["records_created_since"] == 150
    path = "databases/api/v1/migrations/users"
    assert built.ask(f"{path}/rollback", method="POST", body={}).status == 403
    assert built.ask(f"{path}/rollback", method="POST", body={}, token="writer").body["state"] == "rolled_back"
    assert built.ask(f"{path}/rollback", method="POST", body={}, token="writer").status == 409
    assert built.ask(path).body["state"] == "rolled_back"
