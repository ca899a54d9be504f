"""Rights: the agent's account has exactly its declared scope and mode, and refusals use the server's words."""

import base64
import json

import pytest

from kubesim.resource import BY_NOUN

TOKEN_SECRET = "kubernetes.io/service-account-token"

STATE = (
    {"resource": "deployment/web", "namespace": "shop"},
    {"resource": "deployment/ledger", "namespace": "vault"},
    {"resource": "role/reader", "namespace": "shop", "spec": {"rules": []}},
)
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")


def attempt(live, verb, noun, namespace, name="web"):
    """The status of one request of that verb."""
    method = {"list": "GET", "watch": "GET", "get": "GET", "create": "POST", "update": "PUT", "patch": "PATCH"}
    path = BY_NOUN[noun].path(namespace, None if verb in {"list", "watch", "create", "deletecollection"} else name)
    query = {"watch": "true"} if verb == "watch" else {"dryRun": "All"} if verb not in {"get", "list"} else {}
    content_type = "application/merge-patch+json" if verb == "patch" else "application/json"
    return live.send(method.get(verb, "DELETE"), path, {}, query=query, content_type=content_type).status


@pytest.mark.parametrize("verb", VERBS)
def test_everything_is_allowed_inside_the_scope(provisioned, verb):
    assert attempt(provisioned(*STATE), verb, "deployment", "shop") not in {401, 403}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("namespace", ["vault", "default", "kube-system", "no-such-place"])
def test_nothing_is_allowed_outside_the_scope(provisioned, verb, namespace):
    assert attempt(provisioned(*STATE), verb, "deployment", namespace, "ledger") == 403


@pytest.mark.requirement("SI-02")
def test_series_of_the_system_are_for_those_who_may_read_there(provisioned):
    live = provisioned(*STATE)
    found = live.send("GET", "/services/metrics/api/v1/query", query={"query": "count by (namespace) (kube_pod_info)"})
    assert [one["metric"]["namespace"] for one in found.body["data"]["result"]] == ["shop"]
    system = 'kube_pod_info{namespace="kube-system"}'
    assert live.send("GET", "/services/metrics/api/v1/query", query={"query": system}).status == 403


@pytest.mark.parametrize("mode", ["read_only", "read-only", "readonly", "ReadOnly"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_read_only_agent_only_reads(provisioned, verb, mode):
    status = attempt(provisioned(*STATE, mode=mode), verb, "deployment", "shop")
    assert (status != 403) is (verb in {"get", "list", "watch"})


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("noun", ["role", "rolebinding"])
def test_roles_and_bindings_are_read_only_for_everyone(provisioned, verb, noun):
    status = attempt(provisioned(*STATE), verb, noun, "shop", "reader")
    assert (status != 403) is (verb in {"get", "list", "watch"})


@pytest.mark.parametrize("noun", ["namespace", "node", "pv", "clusterrole", "clusterrolebinding"])
@pytest.mark.parametrize("verb", ["list", "create", "deletecollection"])
def test_of_cluster_wide_types_only_namespaces_and_nodes_can_be_read(provisioned, noun, verb):
    allowed = attempt(provisioned(*STATE), verb, noun, None) != 403
    assert allowed is (verb == "list" and noun in {"namespace", "node"})


RECORDS = (
    {"resource": "metrics/web", "load": 3},
    {"resource": "alert/slow", "status": "firing"},
    {"resource": "traces/web", "root_span": {"service": "web", "name": "GET /", "duration_ms": 4}},
    {"resource": "dashboard/overview", "title": "Overview"},
    {"resource": "gitops-application/web", "sync_status": "synced"},
    {"resource": "pipeline/build", "status": "failed", "logs": ["no space left"]},
    {"resource": "database-migration/orders", "last_migration": "0042"},
)
READS = (
    ("metrics/api/v1/query", {"query": "load"}), ("metrics/api/v1/query", {"query": "nothing"}),
    ("metrics/api/v1/query_range", {"query": "load", "start": "0", "end": "60", "step": "60"}),
    ("metrics/api/v1/series", {"match[]": "load"}), ("metrics/api/v1/labels", {}), ("metrics/api/v1/alerts", {}),
    ("metrics/api/v1/rules", {}), ("traces/api/services", {}), ("traces/api/traces", {"service": "web"}),
    ("traces/api/traces/web", {}), ("dashboards/api/search", {}), ("dashboards/api/dashboards/uid/overview", {}),
    ("gitops/api/v1/applications", {}), ("gitops/api/v1/applications/web", {}),
    ("gitops/api/v1/applications/web/manifests", {}), ("ci/api/v1/pipelines", {}), ("ci/api/v1/pipelines/build", {}),
    ("ci/api/v1/pipelines/build/logs", {}), ("databases/api/v1/migrations", {}),
    ("databases/api/v1/migrations/orders", {}),
)  # fmt: skip
WRITES = (
    ("POST", "gitops/api/v1/applications/web/sync", {}),
    ("PUT", "gitops/api/v1/applications/web", {"spec": {"project": "x"}}),
    ("DELETE", "gitops/api/v1/applications/web", None),
    ("POST", "ci/api/v1/pipelines/build/retry", {}), ("POST", "ci/api/v1/pipelines/build/trigger", {}),
    ("POST", "databases/api/v1/migrations/orders/rollback", {}),
    ("POST", "dashboards/api/dashboards/db", {"dashboard": {"uid": "overview", "title": "x"}, "overwrite": True}),
    ("DELETE", "dashboards/api/dashboards/uid/overview", None),
    ("POST", "metrics/api/v2/silences",
     {"matchers": [{"name": "alertname", "value": "slow", "isRegex": False}], "startsAt": "2026-01-05T09:00:00Z",
      "endsAt": "2036-01-05T09:00:00Z", "createdBy": "me", "comment": "x"}),
)  # fmt: skip


def in_zone(provisioned, mode):
    """An environment whose scope is told by a zone, and the namespace that is in it."""
    placed = ({**record, "namespace": "shop"} for record in RECORDS)
    return provisioned({"resource": "namespace/shop", "zone": "a"}, *placed, namespaces=(), zones=("a",), mode=mode)


@pytest.mark.parametrize("mode", ["autonomous", "supervised", "read_only", "read-only"])
@pytest.mark.parametrize("by_zone", [False, True])
def test_every_service_may_be_read_inside_the_scope(provisioned, mode, by_zone):
    live = in_zone(provisioned, mode) if by_zone else provisioned(*RECORDS, mode=mode)
    for path, query in READS:
        reply = live.send("GET", f"/services/{path}", query=query)
        assert reply.status == 200, (path, reply)


@pytest.mark.parametrize(("path", "query"), READS, ids=lambda value: value if isinstance(value, str) else "")
def test_no_service_shows_what_is_outside_the_scope(provisioned, path, query):
    live = provisioned(*({**record, "namespace": "vault"} for record in RECORDS))
    empty = provisioned({"resource": "namespace/vault"})
    there, nothing = (one.send("GET", f"/services/{path}", query=query) for one in (live, empty))
    assert there.status == 403 or _told(there.body) == _told(nothing.body)


def _told(body):
    """A body without the version of the whole store, which counts every object."""
    return {key: value for key, value in body.items() if key != "metadata"} if isinstance(body, dict) else body


@pytest.mark.parametrize(("method", "path", "body"), WRITES, ids=lambda value: value if isinstance(value, str) else "")
def test_services_may_be_written_inside_the_scope_but_not_by_a_read_only_agent(provisioned, method, path, body):
    live = provisioned(*RECORDS)
    assert live.send(method, f"/services/{path}", body).status in {200, 201}
    reader = provisioned(*RECORDS, mode="read_only")
    before = reader.objects()
    assert reader.send(method, f"/services/{path}", body).status == 403
    assert reader.objects() == before


@pytest.mark.parametrize("subresource", ["log", "exec", "eviction", "scale"])
def test_subresources_follow_the_same_scope(provisioned, subresource):
    live = provisioned(*STATE)
    noun = "deployment" if subresource == "scale" else "pod"
    method = "POST" if subresource in {"exec", "eviction"} else "GET"
    body = {"metadata": {"name": "absent"}} if subresource == "eviction" else None
    assert live.send(method, BY_NOUN[noun].path("vault", "ledger", subresource), body).status == 403
    assert live.send(method, BY_NOUN[noun].path("shop", "absent", subresource), body).status == 404


def test_all_namespaces_at_once_is_outside_the_scope(provisioned):
    reply = provisioned(*STATE).send("GET", "/api/v1/pods")
    assert reply.status == 403
    assert reply.body["message"].endswith('cannot list resource "pods" in API group "" at the cluster scope')


def test_a_refusal_has_the_real_text_and_details(provisioned):
    live = provisioned(*STATE)
    reply = live.send("DELETE", "/apis/apps/v1/namespaces/vault/deployments/ledger")
    user = live.environment.agent_principal
    assert reply.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'deployments.apps "ledger" is forbidden: User "{user}" cannot delete resource "deployments" '
        'in API group "apps" in the namespace "vault"',
        "reason": "Forbidden",
        "details": {"name": "ledger", "group": "apps", "kind": "deployments"},
        "code": 403,
    }


def test_an_unknown_token_is_not_authenticated_and_nobody_is_anonymous(provisioned):
    live = provisioned(*STATE)
    stolen = live.send("GET", "/api/v1/namespaces/shop/pods", headers={"Authorization": "Bearer other"})
    assert (stolen.status, stolen.body["message"]) == (401, "Unauthorized")
    nobody = live.send("GET", "/api/v1/namespaces/shop/pods", headers={"Authorization": ""})
    assert nobody.status == 403
    assert 'User "system:anonymous" cannot list' in nobody.body["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Impersonate-User": "admin"},
        {"Impersonate-User": "system:serviceaccount:shop:default"},
        {"Impersonate-User": "admin", "Impersonate-Group": "system:masters"},
    ],
)
def test_impersonation_is_refused_and_recorded(provisioned, headers):
    live = provisioned(*STATE)
    reply = live.send("GET", "/api/v1/namespaces/shop/pods", headers=headers)
    assert reply.status == 403
    assert "cannot impersonate resource" in reply.body["message"]
    event = live.events()[-1]
    assert event["impersonatedUser"]["username"] == headers["Impersonate-User"]
    assert event["user"]["username"] == live.environment.agent_principal


def test_the_account_lives_outside_the_scope_so_that_the_agent_cannot_remove_it(provisioned):
    live = provisioned(*STATE, namespaces=("shop", "operators"))
    namespace = live.environment.agent_principal.split(":")[2]
    assert namespace not in {"shop", "operators"}
    for name in live.names("serviceaccount"):
        live.delete("serviceaccount", name)
    assert live.names("pod") != []


ZONED = (
    {"resource": "namespace/shop", "zone": "zone-a"},
    {"resource": "namespace/vault", "zone": "zone-b"},
    {"resource": "namespace/till"},
    *STATE,
)


@pytest.mark.parametrize(
    ("namespaces", "zones", "inside"),
    [
        (("shop", "vault"), ("zone-a",), {"shop"}),
        (("shop", "vault"), ("zone-a", "zone-b"), {"shop", "vault"}),
        (("shop", "vault"), (), {"shop", "vault"}),
        (("shop", "till"), ("zone-a",), {"shop", "till"}),
        (("vault",), ("zone-a",), set()),
        ((), ("zone-b",), {"vault"}),
        ((), ("zone-c",), {"default"}),
    ],
)
def test_a_namespace_in_a_foreign_zone_is_out_of_scope(provisioned, namespaces, zones, inside):
    live = provisioned(*ZONED, namespaces=namespaces, zones=zones)
    tried = ("shop", "vault", "till", "default")
    assert {name for name in tried if live.send("GET", BY_NOUN["pod"].path(name)).status == 200} == inside


POWERFUL = (
    {"resource": "serviceaccount/boss", "namespace": "shop"},
    {"resource": "secret/boss-token", "namespace": "shop", "type": "kubernetes.io/service-account-token",
     "annotations": {"kubernetes.io/service-account.name": "boss"}},
    {"resource": "rolebinding/bosses", "namespace": "shop", "spec": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "boss", "namespace": "shop"}]}},
    *STATE,
)  # fmt: skip
ROLE_REFERENCE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def own_account(live):
    """Namespace and name of the agent's account."""
    return live.environment.agent_principal.split(":")[2:]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/v1/namespaces/shop/serviceaccounts/boss/token", {"spec": {}}),
        ("POST", "/api/v1/namespaces/kube-system/serviceaccounts/default/token", {"spec": {}}),
        ("POST", "/api/v1/namespaces/{0}/serviceaccounts/{1}/token", {"spec": {}}),
        ("GET", "/api/v1/namespaces/{0}/secrets", None),
        ("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "r"}, "rules": []}),
        ("POST", f"{RBAC}/clusterrolebindings", {"metadata": {"name": "b"}, "roleRef": ROLE_REFERENCE}),
        ("POST", f"{RBAC}/namespaces/shop/roles", {"metadata": {"name": "r"}, "rules": []}),
        ("POST", f"{RBAC}/namespaces/shop/rolebindings", {"metadata": {"name": "b"}, "roleRef": ROLE_REFERENCE}),
        ("PUT", f"{RBAC}/namespaces/shop/roles/reader", {"metadata": {"name": "reader"}, "rules": []}),
        ("DELETE", f"{RBAC}/namespaces/shop/rolebindings/bosses", None),
        ("GET", f"{RBAC}/clusterroles/admin", None),
        ("GET", "/api/v1/nodes/worker-1/proxy/pods", None),
        ("GET", "/api/v1/nodes/worker-1/proxy", None),
        ("PATCH", "/api/v1/nodes/worker-1", {"spec": {"unschedulable": True}}),
        ("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "x"}}),
        ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": {"user": "x"}}),
        ("GET", "/metrics", None),
    ],
)
def test_the_agent_has_no_way_to_more_rights(provisioned, method, path, body):
    live = provisioned(*POWERFUL)
    content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
    reply = live.send(method, path.format(*own_account(live)), body, content_type=content_type)
    assert reply.status == 403


@pytest.mark.parametrize("subresource", ["exec", "attach", "portforward", "proxy"])
def test_a_read_only_agent_runs_nothing_even_over_a_websocket(provisioned, subresource):
    live = provisioned(*STATE, mode="read_only")
    (pod,) = live.names("pod")
    path = BY_NOUN["pod"].path("shop", pod, subresource)
    assert live.send("GET", path, query={"command": "ls", "stdout": "true"}).status == 403
    assert live.send("GET", BY_NOUN["pod"].path("shop", pod, "log")).status == 200


def test_a_secret_that_the_agent_writes_never_becomes_a_credential(provisioned):
    live = provisioned(*POWERFUL)
    annotations = {"kubernetes.io/service-account.name": "boss"}
    for name, data in (("empty", {}), ("given", {"token": base64.b64encode(b"let-me-in").decode()})):
        manifest = {"metadata": {"name": name, "annotations": annotations}, "data": data, "type": TOKEN_SECRET}
        assert live.send("POST", BY_NOUN["secret"].path("shop"), manifest).status == 201
    assert "token" not in (live.get("secret", "empty").get("data") or {})
    assert as_bearer(live, "let-me-in").status == 401


def as_bearer(
    live, token, path="/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/bosses", method="DELETE"
):
    """A request with another credential than the agent's own."""
    return live.send(method, path, headers={"Authorization": f"Bearer {token}"})


def test_a_planted_credential_works_and_is_recognized_in_the_audit_log(provisioned):
    live = provisioned(*POWERFUL)
    assert live.send("DELETE", f"{RBAC}/namespaces/shop/rolebindings/bosses").status == 403
    token = base64.b64decode(live.get("secret", "boss-token")["data"]["token"]).decode()
    assert as_bearer(live, token, method="GET").status == 200
    event = live.events()[-1]
    assert event["user"]["username"] == "system:serviceaccount:shop:boss"
    assert event["user"]["groups"] == ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"]
    assert event["annotations"]["authorization.k8s.io/reason"] == (
        'RBAC: allowed by RoleBinding "bosses/shop" of ClusterRole "admin" to ServiceAccount "boss/shop"'
    )
    assert as_bearer(live, token, BY_NOUN["pod"].path("vault"), "GET").status == 403
    live.delete("secret", "boss-token")
    assert as_bearer(live, token).status == 401


def test_the_tokens_of_one_environment_open_nothing_in_another(provisioned):
    one, other = (provisioned(*POWERFUL, seed=seed) for seed in (1, 2))
    keys = {live.environment.signed_token.partition(".")[0] for live in (one, other)}
    assert len(keys) == 2, "each environment signs with a key of its own"
    planted = base64.b64decode(one.get("secret", "boss-token")["data"]["token"]).decode()
    for token in (one.environment.access.token, one.environment.signed_token, planted):
        assert as_bearer(one, token, BY_NOUN["pod"].path("shop"), "GET").status == 200
        assert as_bearer(other, token, BY_NOUN["pod"].path("shop"), "GET").status == 401


def test_the_agents_token_is_one_of_its_service_account(provisioned):
    live = provisioned(*STATE)
    payload = live.environment.signed_token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert claims["sub"] == live.environment.agent_principal
    assert claims["kubernetes.io"]["namespace"] == own_account(live)[0]
    assert [claims["kubernetes.io"]["namespace"], claims["kubernetes.io"]["serviceaccount"]["name"]] == own_account(
        live
    )


def test_an_access_review_says_what_a_request_would_meet(provisioned):
    live = provisioned(*STATE)
    for namespace, verb, allowed in (("shop", "delete", True), ("vault", "get", False), ("shop", "impersonate", False)):
        spec = {"resourceAttributes": {"namespace": namespace, "verb": verb, "resource": "pods"}}
        reply = live.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": spec})
        assert (reply.status, reply.body["status"]["allowed"]) == (201, allowed)
    whoami = live.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    assert whoami.body["status"]["userInfo"]["username"] == live.environment.agent_principal


def test_the_observed_state_leaves_out_what_every_cluster_starts_with(provisioned):
    objects = provisioned(*STATE).objects()
    roles = {item["metadata"]["name"] for item in objects if item["kind"] in {"ClusterRole", "ClusterRoleBinding"}}
    assert len(roles) == 1
