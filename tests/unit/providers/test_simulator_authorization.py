"""Rights: the agent's account has exactly its declared scope and mode, and refusals use the server's words."""

import pytest

from sirocco.oasis.resource import BY_NOUN
from sirocco.providers.simulator.kubernetes.authorization import MASTERS, Attributes, Principal, decide
from sirocco.providers.simulator.kubernetes.cluster import Cluster, Ids

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


@pytest.mark.parametrize("verb", VERBS)
def test_a_read_only_agent_only_reads(provisioned, verb):
    status = attempt(provisioned(*STATE, mode="read_only"), verb, "deployment", "shop")
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


@pytest.mark.parametrize("subresource", ["log", "exec", "eviction", "scale"])
def test_subresources_follow_the_same_scope(provisioned, subresource):
    live = provisioned(*STATE)
    noun = "deployment" if subresource == "scale" else "pod"
    method = "POST" if subresource in {"exec", "eviction"} else "GET"
    assert live.send(method, BY_NOUN[noun].path("vault", "ledger", subresource)).status == 403
    assert live.send(method, BY_NOUN[noun].path("shop", "absent", subresource)).status == 404


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


def bind(cluster, kind, namespace, rules, subject):
    """A role with `rules`, bound to `subject`."""
    metadata = {"name": "r", **({"namespace": namespace} if namespace else {})}
    api = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    role = {**api, "kind": kind, "metadata": metadata, "rules": rules}
    cluster.create(BY_NOUN[kind.lower()], role, "t")
    reference = {"kind": kind, "name": "r", "apiGroup": "rbac.authorization.k8s.io"}
    binding = {**api, "kind": f"{kind}Binding", "metadata": metadata, "roleRef": reference, "subjects": [subject]}
    cluster.create(BY_NOUN[f"{kind.lower()}binding"], binding, "t")


def test_rules_are_evaluated_as_kubernetes_does():
    cluster = Cluster(Ids(1))
    rules = [
        {"apiGroups": ["apps"], "resources": ["deployments", "*/scale"], "verbs": ["get", "patch"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"], "verbs": ["*"]},
    ]
    bind(cluster, "Role", "shop", rules, {"kind": "Group", "name": "crew"})
    bind(cluster, "ClusterRole", "", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["list"]}],
         {"kind": "User", "name": "ann"})  # fmt: skip
    crew = Principal("bob", "", ("crew",))

    def may(principal, *asked, **more):
        return decide(cluster, principal, Attributes(*asked, **more)).allowed

    assert may(crew, "patch", "apps", "deployments", "", "shop", "web")
    assert may(crew, "patch", "apps", "deployments", "scale", "shop", "web")
    assert not may(crew, "patch", "apps", "deployments", "status", "shop", "web")
    assert not may(crew, "delete", "apps", "deployments", "", "shop", "web")
    assert not may(crew, "get", "apps", "deployments", "", "till", "web")
    assert may(crew, "delete", "", "secrets", "", "shop", "one")
    assert not may(crew, "delete", "", "secrets", "", "shop", "two")
    assert may(Principal("ann", "", ()), "list", "batch", "jobs", "", "anywhere")
    assert not may(Principal("eve", "", ()), "list", "batch", "jobs", "", "anywhere")
    assert may(Principal("root", "", (MASTERS,)), "delete", "", "nodes")
    reason = decide(cluster, crew, Attributes("get", "apps", "deployments", "", "shop", "web")).reason
    assert reason == 'RBAC: allowed by RoleBinding "r/shop" of Role "r" to Group "crew"'
