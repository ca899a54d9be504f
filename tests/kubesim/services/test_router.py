"""The way of a request through the services: who asks, what may be seen, what is on record, and junk of every kind."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim.discovery.catalogue import CURRENT_RELEASE, ServedCatalogue, catalogue
from kubesim.handling.request import Request
from kubesim.resource import BY_NOUN, SERVICE_TYPES
from kubesim.services.router import PRODUCTS
from kubesim.surroundings import Approach
from service_builders import Asked

LISTS = {
    "metrics": "metrics/api/v1/query?query=error_rate",
    "alert": "metrics/api/v1/alerts",
    "traces": "traces/api/services",
    "dashboard": "dashboards/api/search",
    "gitops-application": "gitops/api/v1/applications",
    "pipeline": "ci/api/v1/pipelines",
    "database-migration": "databases/api/v1/migrations",
}
PATHS = sorted(f"{name}/{route.pattern}" for name, product in PRODUCTS.items() for route in product.routes)
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW"]


def filled(asked: Asked) -> Asked:
    """One record of every kind in reach, and one out of it."""
    for namespace in ("shop", "vault"):
        asked.series("web", "error_rate", (-3600, 1.0), namespace=namespace)
        asked.put("alert", "web", {"labels": {}, "annotations": {}}, {"state": "firing"}, namespace)
        spans = [
            {"spanID": "1", "serviceName": "web", "operationName": "GET", "startTime": 1, "duration": 1, "tags": {}}
        ]
        asked.put("traces", "web", {"traceID": "ab", "spans": spans}, namespace=namespace)
        asked.put("dashboard", "web", {"uid": "web", "title": "Web", "tags": [], "panels": []}, namespace=namespace)
        asked.put("gitops-application", "web", {"desired": []}, {"sync": {"status": "Synced"}}, namespace)
        asked.put("pipeline", "web", {"logs": ["x"]}, {"state": "failed"}, namespace)
        asked.put("database-migration", "web", {"migration": "1"}, {"state": "applied"}, namespace)
    return asked


@pytest.mark.parametrize("row", SERVICE_TYPES, ids=lambda row: row.noun)
def test_every_read_is_on_record_under_the_accounts_name(asked: Asked, row: Any) -> None:
    filled(asked)
    assert asked.ask(LISTS[row.noun]).status == 200
    (event,) = asked.log.events()
    assert event["user"]["username"] == "reader"
    assert event["verb"] in {"get", "list"}
    assert (event["objectRef"]["resource"], event["objectRef"]["apiGroup"]) == (row.plural, row.group)
    assert event["objectRef"]["namespace"] == "shop"
    assert event["responseObject"]["kind"] == f"{row.kind}List"
    assert [item["metadata"] for item in event["responseObject"]["items"]] == [{"name": "web", "namespace": "shop"}]
    assert event["annotations"]["authorization.k8s.io/decision"] == "allow"
    assert event["sourceIPs"] == ["10.0.0.2"]


@pytest.mark.parametrize("row", SERVICE_TYPES, ids=lambda row: row.noun)
@pytest.mark.parametrize(("token", "status"), [("", 401), ("wrong", 401), ("nobody", 403)])
def test_whoever_may_not_see_is_refused_and_on_record(asked: Asked, row: Any, token: str, status: int) -> None:
    filled(asked)
    response = asked.ask(LISTS[row.noun], token=token)
    assert response.status == status
    assert asked.event["responseStatus"]["code"] == status
    if status == 403:
        assert asked.event["annotations"]["authorization.k8s.io/decision"] == "forbid"
        assert asked.event["objectRef"]["resource"] == row.plural
        assert "responseObject" not in asked.event


@pytest.mark.parametrize("row", SERVICE_TYPES, ids=lambda row: row.noun)
def test_nothing_of_another_namespace_is_told(asked: Asked, row: Any) -> None:
    filled(asked)
    assert "vault" not in json.dumps(asked.ask(LISTS[row.noun]).body)
    asked.grant("nobody", "vault", ["get", "list"])
    assert "shop" not in json.dumps(asked.ask(LISTS[row.noun], token="nobody").body)
    assert asked.event["objectRef"]["namespace"] == "vault"


def test_a_query_that_names_another_namespace_is_refused_even_if_nothing_is_there(asked: Asked) -> None:
    response = asked.ask("metrics/api/v1/query", {"query": 'anything{namespace="vault"}'})
    assert response.status == 403
    assert asked.event["objectRef"]["namespace"] == "vault"
    assert asked.ask("metrics/api/v1/query", {"query": 'anything{namespace="shop"}'}).status == 200


def test_an_account_may_act_for_another_only_when_it_may(asked: Asked) -> None:
    filled(asked)
    response = asked.ask(LISTS["metrics"], **{"impersonate-user": "writer"})
    assert response.status == 403
    assert asked.event["impersonatedUser"]["username"] == "writer"
    rule = {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"]}
    role = {"kind": "ClusterRole", "metadata": {"name": "i"}, "rules": [rule]}
    asked.store.create(BY_NOUN["clusterrole"], role, "2024-02-20T08:00:00Z")
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "i"}
    binding = {
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "i"},
        "roleRef": reference,
        "subjects": [{"kind": "User", "name": "reader"}],
    }
    asked.store.create(BY_NOUN["clusterrolebinding"], binding, "2024-02-20T08:00:00Z")
    path = "ci/api/v1/pipelines/web/retry"
    assert asked.ask(path, method="POST", body={}).status == 403
    assert asked.ask(path, method="POST", body={}, **{"impersonate-user": "writer"}).status == 201


def test_an_attempt_by_a_method_that_no_product_takes_is_on_record(asked: Asked) -> None:
    filled(asked)
    assert asked.ask("ci/api/v1/pipelines/web", method="DELETE").status == 405
    assert (asked.event["verb"], asked.event["objectRef"]["name"]) == ("delete", "web")


@pytest.mark.requirement("CO-13")
def test_what_happens_at_a_read_is_in_its_answer(asked: Asked) -> None:
    filled(asked)

    def happen(approach: Approach) -> None:
        present = asked.store.get("pipeline", "shop", "web")
        assert present is not None
        asked.store.update(BY_NOUN["pipeline"], present, {**present, "spec": {"logs": ["it happened"]}})

    asked.around.on_arrival = happen
    assert asked.ask("ci/api/v1/pipelines/web/logs").body == "it happened\n"
    assert asked.around.approaches == [Approach("get", "pipeline", "shop", "web", "log")]
    assert len(asked.log.events()) == 1


@pytest.mark.parametrize(
    "path", ["ci/api/v1/pipelines", "ci/api/v1/pipelines/web/retry", "metrics/api/v1/alerts", "traces/api/traces/web"]
)
def test_a_request_that_fails_says_why(asked: Asked, path: str) -> None:
    filled(asked)
    asked.around.on_arrival = lambda _: "the disk is full"
    response = asked.ask(
        path,
        method="POST" if path.endswith("retry") else "GET",
        body={} if path.endswith("retry") else None,
        token="writer",
    )
    assert response.status == 500
    assert "the disk is full" in json.dumps(response.body)
    assert asked.store.get("pipeline", "shop", "web")["status"]["state"] == "failed"


def test_a_refused_request_is_no_arrival(asked: Asked) -> None:
    filled(asked)
    assert asked.ask("ci/api/v1/pipelines/web", {"namespace": "vault"}).status == 403
    assert asked.around.approaches == []


@pytest.mark.parametrize(
    "path",
    [
        "",
        "metrics",
        "metrics/",
        "nothing/api",
        "metrics/../ci/api/v1/pipelines",
        "metrics//api/v1/query",
        "ci/api/v1/pipelines/",
        "traces/api/traces/",
    ],
)
def test_other_paths_are_not_found(asked: Asked, path: str) -> None:
    assert asked.ask(path).status == 404


@pytest.mark.parametrize("row", SERVICE_TYPES, ids=lambda row: row.noun)
def test_a_custom_resource_of_the_same_name_is_stored_apart(row: Any) -> None:
    names = {"plural": row.plural, "kind": row.kind, "singular": row.kind.lower(), "listKind": f"{row.kind}List"}
    version = {"name": row.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    definition = {
        "metadata": {"name": f"{row.plural}.{row.group}"},
        "spec": {"group": row.group, "names": names, "scope": "Namespaced", "versions": [version]},
        "status": {"acceptedNames": names, "conditions": [{"type": "Established", "status": "True"}]},
    }
    found = ServedCatalogue(catalogue(CURRENT_RELEASE)).current([definition]).find(row.group, row.version, row.plural)
    assert found is not None
    assert found.noun != row.noun


def test_a_body_that_is_too_large_is_refused(asked: Asked) -> None:
    headers = {"authorization": "Bearer writer", "content-type": "application/json"}
    content = b"[" + b"1," * 2_000_000 + b"1]"
    response = asked.services.handle(
        Request.from_network("POST", "/services/metrics/api/v2/silences", "", headers, content, "10.0.0.2")
    )
    assert response.status == 413


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
known = st.sampled_from(
    ["dashboard", "spec", "matchers", "endsAt", "revision", "uid", "title", "syncPolicy", "panels", "tags"]
)
bodies = junk | st.dictionaries(known, junk, max_size=4)
parameters = st.sampled_from(
    ["query", "time", "start", "end", "step", "match[]", "service", "limit", "tags", "tag", "namespace", "cascade"]
)


@given(
    st.sampled_from(METHODS), st.sampled_from(PATHS), st.text(max_size=10), st.dictionaries(parameters, st.text(max_size=12), max_size=4),
    bodies, st.sampled_from(["reader", "writer"]),
)  # fmt: skip
def test_junk_is_answered_and_on_record(
    method: str, path: str, segment: str, query: dict[str, str], body: Any, token: str
) -> None:
    asked = filled(Asked())
    response = asked.ask(path.replace("{", "").replace("}", segment), query, method=method, body=body, token=token)
    assert 200 <= response.status < 500
    json.dumps(response.body)
    assert len(asked.log.events()) == 1


@given(
    st.sampled_from(PATHS),
    st.binary(max_size=30),
    st.sampled_from(["application/json", "application/x-www-form-urlencoded", ""]),
)
def test_bytes_are_answered(path: str, content: bytes, content_type: str) -> None:
    asked = filled(Asked())
    headers = {"authorization": "Bearer writer", "content-type": content_type}
    name = path.replace("{", "").replace("}", "")
    response = asked.services.handle(
        Request.from_network("POST", f"/services/{name}", "", headers, content, "10.0.0.2")
    )
    assert 200 <= response.status < 500
