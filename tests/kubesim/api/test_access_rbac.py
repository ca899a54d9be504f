"""Role-based access control: what a rule covers, what a decision says, and who may give rights away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim.access import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    Attributes,
    Principal,
    bootstrap_objects,
    decide,
    forbidden,
    require_no_escalation,
    service_account,
)
from kubesim.access.rbac import go_quote
from kubesim.discovery.catalogue import RECORDED_RELEASE, catalogue
from kubesim.resource import BY_NOUN
from kubesim.status import ApiError
from kubesim.store import Ids, Store

GROUP = "rbac.authorization.k8s.io"
CREATED = "2026-01-01T00:00:00Z"
ANN = Principal("ann", "u-1", ("crew", AUTHENTICATED))
MANAGER = [{"apiGroups": [GROUP], "resources": ["roles", "rolebindings"], "verbs": ["create", "update"]}]


@pytest.fixture
def store():
    """A cluster with nothing in it but what every cluster starts with."""
    return Store(Ids(1), bootstrap_objects(20, CREATED, aggregated=False))


def role(store, name, rules, namespace=""):
    """Store a role of a namespace, or of the whole cluster."""
    kind = "Role" if namespace else "ClusterRole"
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return store.create(BY_NOUN[kind.lower()], {"kind": kind, "metadata": metadata, "rules": rules}, CREATED)


def binding(name, role_name, *subjects, namespace="", role_kind=None):
    """A binding of a role to subjects such as "User/ann" or "ServiceAccount/bot/shop"."""
    kind = role_kind or ("Role" if namespace else "ClusterRole")
    named = [dict(zip(("kind", "name", "namespace"), text.split("/"), strict=False)) for text in subjects]
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"metadata": metadata, "subjects": named, "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role_name}}


def bind(store, *args, namespace="", **more):
    """Store a binding."""
    noun = "rolebinding" if namespace else "clusterrolebinding"
    return store.create(BY_NOUN[noun], binding(*args, namespace=namespace, **more), CREATED)


def allow(store, *rules, principal="User/ann", namespace="shop"):
    """Bind a new role with these rules."""
    role(store, "r", list(rules), namespace)
    bind(store, "b", "r", principal, namespace=namespace)


@pytest.mark.parametrize(
    ("rule", "asked", "expected"),
    [
        ({"resources": ["pods"]}, Attributes("get", "", "pods", "", "shop", "web"), True),
        ({"resources": ["pods"]}, Attributes("get", "", "pods", "log", "shop", "web"), False),
        ({"resources": ["pods/log"]}, Attributes("get", "", "pods", "log", "shop", "web"), True),
        ({"resources": ["pods/log"]}, Attributes("get", "", "pods", "", "shop", "web"), False),
        ({"resources": ["*/log"]}, Attributes("get", "", "pods", "log", "shop", "web"), True),
        ({"resources": ["*/log"]}, Attributes("get", "", "pods", "", "shop", "web"), False),
        ({"resources": ["pods/*"]}, Attributes("get", "", "pods", "log", "shop", "web"), False),
        ({"resources": ["*"]}, Attributes("get", "", "pods", "log", "shop", "web"), True),
        ({"resources": ["*"], "apiGroups": ["apps"]}, Attributes("get", "", "pods", "", "shop"), False),
        ({"resources": ["pods"], "apiGroups": ["*"]}, Attributes("get", "x.y", "pods", "", "shop"), True),
        ({"resources": ["pods"], "verbs": ["*"]}, Attributes("deletecollection", "", "pods", "", "shop"), True),
        ({"resources": ["pods"], "verbs": ["delete"]}, Attributes("deletecollection", "", "pods", "", "shop"), False),
        ({"resources": ["pods"], "resourceNames": ["web"]}, Attributes("get", "", "pods", "", "shop", "web"), True),
        ({"resources": ["pods"], "resourceNames": ["web"]}, Attributes("get", "", "pods", "", "shop", "db"), False),
        ({"resources": ["pods"], "resourceNames": ["web"]}, Attributes("get", "", "pods", "", "shop"), False),
        ({"resources": ["pods"]}, Attributes("get", "", "pods", "", "till"), False),
        ({"resources": ["pods"]}, Attributes("get", "", "pods"), False),
    ],
)  # fmt: skip
def test_a_rule_covers_what_it_names(store, rule, asked, expected):
    allow(store, {"apiGroups": [""], "verbs": ["get"], **rule})
    assert decide(store, ANN, asked).allowed is expected


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/metrics", "/metrics", True),
        ("/metrics", "/metrics/", False),
        ("/logs/*", "/logs/kubelet", True),
        ("/logs/*", "/logs", False),
        ("/lo*", "/logs", True),
        ("*", "/anything", True),
        ("/a/*/b", "/a/x/b", False),
    ],
)
def test_a_path_is_covered_by_its_name_or_by_a_star_at_the_end(store, pattern, path, expected):
    allow(store, {"nonResourceURLs": [pattern], "verbs": ["get"]}, namespace="")
    assert decide(store, ANN, Attributes("get", path=path)).allowed is expected
    assert not decide(store, ANN, Attributes("post", path=path)).allowed


@pytest.mark.parametrize(
    ("subject", "namespace", "shown"),
    [
        ("User/system:serviceaccount:shop:bot", "shop", 'RoleBinding "b/shop" of Role "r" to User "system:serviceaccount:shop:bot"'),
        ("ServiceAccount/bot/shop", "shop", 'RoleBinding "b/shop" of Role "r" to ServiceAccount "bot/shop"'),
        ("ServiceAccount/bot", "shop", 'RoleBinding "b/shop" of Role "r" to ServiceAccount "bot/shop"'),
        ("Group/system:serviceaccounts:shop", "shop", 'RoleBinding "b/shop" of Role "r" to Group "system:serviceaccounts:shop"'),
        ("ServiceAccount/bot/shop", "", 'ClusterRoleBinding "b" of ClusterRole "r" to ServiceAccount "bot/shop"'),
    ],
)  # fmt: skip
def test_the_reason_names_binding_role_and_subject(store, subject, namespace, shown):
    allow(store, {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}, principal=subject, namespace=namespace)
    decision = decide(store, service_account("shop", "bot", "u"), Attributes("get", "", "pods", "", "shop"))
    assert decision.reason == f"RBAC: allowed by {shown}"
    assert not decide(store, service_account("till", "bot", "u"), Attributes("get", "", "pods", "", "shop")).allowed


def test_the_first_binding_by_name_and_its_first_fitting_subject_decide(store):
    role(store, "r", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}], "shop")
    bind(store, "z", "r", "User/ann", namespace="shop")
    bind(store, "k", "r", "User/eve", "Group/crew", "User/ann", namespace="shop")
    reason = decide(store, ANN, Attributes("get", "", "pods", "", "shop")).reason
    assert reason == 'RBAC: allowed by RoleBinding "k/shop" of Role "r" to Group "crew"'


def test_a_binding_to_nothing_is_told_in_the_refusal(store):
    bind(store, "lost", "nowhere", "User/ann", namespace="shop")
    asked = Attributes("get", "", "nodes", "", "", "n1")
    assert decide(store, ANN, asked).reason == ""
    bind(store, "gone", "none", "User/ann")
    decision = decide(store, ANN, asked)
    assert forbidden(ANN, asked, decision.reason).body["message"] == (
        'nodes "n1" is forbidden: User "ann" cannot get resource "nodes" in API group "" at the cluster scope: '
        'RBAC: clusterrole.rbac.authorization.k8s.io "none" not found'
    )
    both = decide(store, ANN, Attributes("get", "", "pods", "", "shop")).reason
    assert both == (
        'RBAC: [clusterrole.rbac.authorization.k8s.io "none" not found, '
        'role.rbac.authorization.k8s.io "nowhere" not found]'
    )


def test_a_right_goes_with_its_binding_and_its_role(store):
    allow(store, {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]})
    asked = Attributes("get", "", "pods", "", "shop")
    assert decide(store, ANN, asked).allowed
    changed = store.get("role", "shop", "r")
    store.update(BY_NOUN["role"], changed, {**changed, "rules": []})
    assert not decide(store, ANN, asked).allowed
    store.update(BY_NOUN["role"], store.get("role", "shop", "r"), changed)
    assert decide(store, ANN, asked).allowed
    store.remove(BY_NOUN["rolebinding"], store.get("rolebinding", "shop", "b"))
    assert not decide(store, ANN, asked).allowed


def test_everyone_may_ask_for_health_and_only_accounts_for_discovery(store):
    for path in ("/healthz", "/livez", "/readyz", "/version"):
        assert decide(store, ANONYMOUS, Attributes("get", path=path)).allowed
    for path in ("/api", "/api/v1", "/apis", "/apis/apps/v1", "/openapi/v2"):
        assert not decide(store, ANONYMOUS, Attributes("get", path=path)).allowed
        assert decide(store, ANN, Attributes("get", path=path)).allowed
    assert not decide(store, ANN, Attributes("get", path="/metrics")).allowed
    review = Attributes("create", "authorization.k8s.io", "selfsubjectaccessreviews")
    assert decide(store, ANN, review).allowed
    assert not decide(store, ANONYMOUS, review).allowed


def test_shared_objects_become_those_of_a_cluster_when_somebody_reads_one():
    base, asked = bootstrap_objects(20, CREATED, aggregated=False), []

    def owned(row):
        asked.append(row.noun)
        return {
            place: {name: {**item, "metadata": {**item["metadata"], "uid": "own"}} for name, item in objects.items()}
            for place, objects in base[row].items()
        }

    store = Store(Ids(1), base, owned)
    assert decide(store, ANN, Attributes("get", path="/api")).allowed
    assert list(store.objects()) == []
    assert asked == []
    row, before = BY_NOUN["clusterrole"], store.version
    store.create(row, {"metadata": {"name": "mine"}, "rules": []}, CREATED)
    assert asked == []
    # What stood there before is told to those who watch.
    store.create(row, {"metadata": {"name": "view"}, "rules": []}, CREATED)
    assert [change.old and change.old["metadata"]["uid"] for change in store.changes(before)] == [None, "own"]
    assert store.get("clusterrole", "", "system:discovery")["metadata"]["uid"] == "own"
    assert {item["metadata"]["uid"] for item in store.items("clusterrolebinding")} == {"own"}
    assert [item["metadata"]["name"] for _, item in store.objects()] == ["mine", "view"]
    assert asked == ["clusterrole", "clusterrolebinding"]


def test_bootstrap_objects_are_shared_until_they_are_changed(store):
    other = Store(Ids(2), bootstrap_objects(20, CREATED, aggregated=False))
    discovery = store.get("clusterrole", "", "system:discovery")
    assert other.get("clusterrole", "", "system:discovery") is discovery
    assert list(store.objects()) == []
    store.remove(BY_NOUN["clusterrole"], discovery)
    store.update(
        BY_NOUN["clusterrole"],
        store.get("clusterrole", "", "view"),
        {**store.get("clusterrole", "", "view"), "rules": []},
    )
    assert not decide(store, ANN, Attributes("get", path="/api")).allowed
    assert decide(other, ANN, Attributes("get", path="/api")).allowed
    assert [item["metadata"]["name"] for _, item in store.objects()] == ["view"]
    assert other.get("clusterrole", "", "view")["rules"] is None


def test_aggregated_roles_hold_the_rules_of_the_roles_they_select():
    bare, filled = (
        bootstrap_objects(33, CREATED, aggregated=flag)[BY_NOUN["clusterrole"]][""] for flag in (False, True)
    )
    assert bare["admin"]["rules"] is None
    for wide, narrow in (("admin", "edit"), ("edit", "view"), ("view", "system:aggregate-to-view")):
        assert all(rule in filled[wide]["rules"] for rule in filled[narrow]["rules"])
    assert len(filled["admin"]["rules"]) > len(filled["edit"]["rules"]) > len(filled["view"]["rules"])


def test_a_release_has_its_own_rules():
    def reviews(minor):
        rules = bootstrap_objects(minor, CREATED, aggregated=False)[BY_NOUN["clusterrole"]][""]["system:basic-user"][
            "rules"
        ]
        return any("selfsubjectreviews" in rule["resources"] for rule in rules)

    assert not reviews(20)
    assert reviews(33)


def refused(store, noun, obj, old=None, *, principal=ANN, namespace="shop"):
    """The refusal of a role or binding; empty when it is taken."""
    try:
        row = catalogue(RECORDED_RELEASE).find("rbac.authorization.k8s.io", "v1", BY_NOUN[noun].plural)
        require_no_escalation(store, principal, row or BY_NOUN[noun], obj, old, namespace=namespace)
    except ApiError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("own", "given", "lacking"),
    [
        ({"resources": ["pods"], "verbs": ["get", "list"]}, {"resources": ["pods"], "verbs": ["get"]}, ""),
        ({"resources": ["pods"], "verbs": ["*"]}, {"resources": ["pods"], "verbs": ["get", "bind"]}, ""),
        ({"resources": ["pods"], "verbs": ["get"]}, {"resources": ["pods"], "verbs": ["*"]}, '{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'),
        ({"resources": ["pods"], "verbs": ["get"]}, {"resources": ["pods", "secrets"], "verbs": ["get", "list"]},
         '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'),
        ({"resources": ["*/log"], "verbs": ["get"]}, {"resources": ["pods/log"], "verbs": ["get"]}, ""),
        ({"resources": ["*/log"], "verbs": ["get"]}, {"resources": ["pods"], "verbs": ["get"]}, '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'),
        ({"resources": ["pods"], "resourceNames": ["a"], "verbs": ["get"]}, {"resources": ["pods"], "resourceNames": ["a", "b"], "verbs": ["get"]},
         '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'),
        ({"resources": ["pods"], "resourceNames": ["a"], "verbs": ["get"]}, {"resources": ["pods"], "verbs": ["get"]},
         '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'),
        ({"resources": ["pods"], "verbs": ["get"]}, {"resources": ["pods"], "resourceNames": ["a"], "verbs": ["get"]}, ""),
    ],
)  # fmt: skip
def test_nobody_writes_a_role_with_rights_beyond_their_own(store, own, given, lacking):
    allow(store, {"apiGroups": [""], **own})
    error = refused(store, "role", {"metadata": {"name": "new"}, "rules": [{"apiGroups": [""], **given}]})
    if not lacking:
        assert error is None
        return
    assert error.code == 403
    assert error.body["message"] == (
        f'roles.{GROUP} "new" is forbidden: user "ann" (groups=["crew" "{AUTHENTICATED}"]) is attempting to grant RBAC '
        f"permissions not currently held:\n{lacking}"
    )
    assert error.body["details"] == {"name": "new", "group": GROUP, "kind": "roles"}


def test_whoever_may_escalate_or_is_a_master_writes_any_role(store):
    wide = {"metadata": {"name": "new"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}
    assert refused(store, "role", wide)
    assert refused(store, "role", wide, principal=Principal("root", "", (MASTERS,))) is None
    allow(store, {"apiGroups": [GROUP], "resources": ["roles"], "verbs": ["escalate"]})
    assert refused(store, "role", wide) is None
    assert refused(store, "clusterrole", wide, namespace="")


def test_a_role_stays_writable_for_its_garbage_collection_only(store):
    old = {"metadata": {"name": "wide"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}
    collected = {**old, "metadata": {"name": "wide", "finalizers": ["a/b"], "managedFields": [{"manager": "x"}]}}
    assert refused(store, "role", collected, old) is None
    assert refused(store, "role", {**old, "metadata": {"name": "wide", "labels": {"a": "b"}}}, old)


def test_an_aggregation_rule_takes_the_rights_of_an_administrator(store):
    gathering = {
        "metadata": {"name": "all"},
        "rules": [],
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
    }
    error = refused(store, "clusterrole", gathering, namespace="")
    assert str(error).endswith("must have cluster-admin privileges to use the aggregationRule")
    bind(store, "boss", "cluster-admin", "User/ann")
    assert refused(store, "clusterrole", gathering, namespace="") is None


def test_nobody_binds_a_role_with_rights_beyond_their_own(store):
    allow(store, *MANAGER)
    error = refused(
        store, "rolebinding", binding("me", "cluster-admin", "User/ann", namespace="shop", role_kind="ClusterRole")
    )
    assert str(error).startswith(f'rolebindings.{GROUP} "me" is forbidden: user "ann"')
    assert str(error).endswith(
        '\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}'
    )
    assert refused(store, "rolebinding", binding("me", "r", "User/eve", namespace="shop")) is None
    missing = refused(store, "rolebinding", binding("me", "nope", "User/eve", namespace="shop"))
    assert (missing.code, str(missing)) == (404, f'roles.{GROUP} "nope" not found')
    odd = refused(store, "rolebinding", binding("me", "nope", "User/eve", namespace="shop", role_kind="Cook"))
    assert (odd.code, str(odd)) == (500, 'unsupported role reference kind: "Cook"')


def test_the_right_to_bind_a_role_is_enough_to_bind_it_there(store):
    allow(
        store, {"apiGroups": [GROUP], "resources": ["clusterroles"], "resourceNames": ["edit-all"], "verbs": ["bind"]}
    )
    for name in ("edit-all", "other"):
        role(store, name, [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}])
    assert (
        refused(store, "rolebinding", binding("b2", "edit-all", "User/ann", namespace="shop", role_kind="ClusterRole"))
        is None
    )
    assert refused(store, "rolebinding", binding("b2", "other", "User/ann", namespace="shop", role_kind="ClusterRole"))
    assert refused(store, "clusterrolebinding", binding("b2", "edit-all", "User/ann"), namespace="")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a<b>&c", 'User "a&lt;b&gt;&amp;c" cannot'),
        ('say "hi"', 'User "say \\"hi\\"" cannot'),
        ("100%done", 'User "100%!d(MISSING)one" cannot'),
        ("100%%", 'User "100%" cannot'),
        ("tab\t", 'User "tab\\t" cannot'),
    ],
)
def test_a_refusal_prints_odd_names_as_the_server_does(name, shown):
    assert shown in str(forbidden(Principal(name), Attributes("get", "", "pods")))


@given(st.text())
def test_a_quoted_text_stays_on_one_line_between_quotes(text):
    shown = go_quote(text)
    assert shown[0] == shown[-1] == '"'
    assert "\n" not in shown
    assert '"' not in shown[1:-1].replace("\\\\", "").replace('\\"', "")


names = st.sampled_from(["*", "get", "list", "pods", "pods/log", "*/log", "", "apps", "/a", "/a/*", "web"])
rules = st.fixed_dictionaries(
    {},
    optional={
        key: st.lists(names, max_size=3)
        for key in ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    },
)


@given(st.lists(rules, max_size=3), rules, names, names, names)
def test_whoever_may_give_a_rule_away_may_do_what_it_allows(own, given_rule, verb, group, resource):
    store = Store(Ids(1))
    allow(store, *own)
    if refused(store, "role", {"metadata": {"name": "new"}, "rules": [given_rule]}) is None:
        plural, _, subresource = resource.partition("/")
        asked = Attributes(verb, group, plural, subresource, "shop", "web")
        other = Store(Ids(1))
        allow(other, given_rule)
        if decide(other, ANN, asked).allowed:
            assert decide(store, ANN, asked).allowed
