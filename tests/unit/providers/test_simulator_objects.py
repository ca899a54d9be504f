"""Objects through the API: their life, their versions, and the refusals in the server's own words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesim.access import MASTERS, Authenticator, Principal
from kubesim.audit_log import AuditLog
from kubesim.bare import BareWorld
from kubesim.controllers.dynamics import Dynamics
from kubesim.handling.request import Request
from kubesim.resource import RESOURCE_TYPES
from kubesim.server import KubernetesApi
from kubesim.store import Ids, Store
from kubesim.world import EnvironmentTime, World
from sirocco.domains.kubernetes.simulator.stimuli.interventions import Interventions
from sirocco.domains.kubernetes.simulator.stimuli.placement import Stage
from sirocco.domains.kubernetes.simulator.stimuli.stimulation import Stimulation
from sirocco.oasis.scenario import Preconditions

CONFIGMAPS = "/api/v1/namespaces/shop/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"


def configmap(name="settings", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def deployment(name="web", **spec):
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "app", "image": "app:1.0"}]}}
    spec = {"selector": {"matchLabels": {"app": name}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def test_an_object_is_created_read_changed_and_deleted_with_new_versions(provisioned):
    live = provisioned()
    made = live.send("POST", CONFIGMAPS, configmap(a="1"))
    assert made.status == 201
    metadata = made.body["metadata"]
    assert metadata["namespace"] == "shop"
    assert metadata["uid"]
    assert metadata["creationTimestamp"] == "2026-01-05T08:00:01Z"
    changed = live.merge("configmap", "settings", {"data": {"a": "2", "b": "3"}})
    assert changed.body["data"] == {"a": "2", "b": "3"}
    assert int(changed.body["metadata"]["resourceVersion"]) > int(metadata["resourceVersion"])
    assert changed.body["metadata"]["uid"] == metadata["uid"]
    gone = live.delete("configmap", "settings")
    assert gone.body["details"] == {"name": "settings", "kind": "configmaps", "uid": metadata["uid"]}
    again = live.send("GET", f"{CONFIGMAPS}/settings")
    assert again.status == 404
    assert again.body["message"] == 'configmaps "settings" not found'


_ONCE = {"template": {"spec": {"containers": [{"name": "app", "image": "app:1.0"}], "restartPolicy": "Never"}}}
_WORKLOAD = {"spec": {key: value for key, value in deployment("one")["spec"].items() if key != "replicas"}}
_LEAST = {
    "daemonset": _WORKLOAD, "deployment": _WORKLOAD, "replicaset": _WORKLOAD, "statefulset": _WORKLOAD,
    "cronjob": {"spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": _ONCE}}},
    "event": {"involvedObject": {"namespace": "shop"}},
    "hpa": {"spec": {"maxReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}},
    "ingress": {"spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}},
    "job": {"spec": _ONCE},
    "pod": {"spec": {"containers": [{"name": "app", "image": "app:1.0"}]}},
    "pvc": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
    "service": {"spec": {"ports": [{"port": 80}]}},
}  # fmt: skip
"""What an object of a type must have beside its name."""


@pytest.mark.parametrize("row", [row for row in RESOURCE_TYPES if row.namespaced], ids=lambda row: row.noun)
def test_every_namespaced_type_is_served_generically(provisioned, row):
    live = provisioned(namespaces=("shop",))
    made = live.send("POST", row.path("shop"), {"metadata": {"name": "one"}, **_LEAST.get(row.noun, {})})
    if row.group == "rbac.authorization.k8s.io":
        assert made.status == 403
        return
    assert made.status == 201, made.body
    assert (made.body["kind"], made.body["apiVersion"]) == (row.kind, row.api_version)
    listed = live.send("GET", row.path("shop"))
    assert (listed.body["kind"], listed.body["apiVersion"]) == (f"{row.kind}List", row.api_version)
    assert "one" in [item["metadata"]["name"] for item in listed.body["items"]]
    assert live.delete(row.noun, "one").status == 200


def test_a_stale_put_conflicts_and_a_put_without_version_goes_through(provisioned):
    live = provisioned({"resource": "configmap/settings", "data": {"a": "1"}})
    known = live.get("configmap", "settings")
    live.merge("configmap", "settings", {"data": {"a": "2"}})
    stale = live.send("PUT", f"{CONFIGMAPS}/settings", known)
    assert stale.status == 409
    assert stale.body["reason"] == "Conflict"
    assert "the object has been modified" in stale.body["message"]
    assert live.send("PUT", f"{CONFIGMAPS}/settings", configmap(a="3")).status == 200
    assert live.get("configmap", "settings")["data"] == {"a": "3"}


def test_a_put_of_another_object_of_the_same_name_conflicts(provisioned):
    live = provisioned({"resource": "configmap/settings"})
    body = configmap(a="1")
    body["metadata"]["uid"] = "00000000-0000-0000-0000-000000000009"
    assert live.send("PUT", f"{CONFIGMAPS}/settings", body).status == 409


def test_a_change_that_changes_nothing_keeps_the_version(provisioned):
    live = provisioned({"resource": "configmap/settings", "data": {"a": "1"}})
    before = live.get("configmap", "settings")["metadata"]["resourceVersion"]
    assert live.merge("configmap", "settings", {"data": {"a": "1"}}).status == 200
    assert live.get("configmap", "settings")["metadata"]["resourceVersion"] == before


def test_the_generation_counts_changes_of_the_spec_only(provisioned):
    live = provisioned({"resource": "deployment/web"})
    assert live.get("deployment", "web")["metadata"]["generation"] == 1
    live.merge("deployment", "web", {"metadata": {"labels": {"note": "x"}}})
    assert live.get("deployment", "web")["metadata"]["generation"] == 1
    live.merge("deployment", "web", {"spec": {"replicas": 2}})
    assert live.get("deployment", "web")["metadata"]["generation"] == 2
    assert live.get("deployment", "web")["status"]["observedGeneration"] == 2


def test_status_cannot_be_written_through_the_main_resource(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2})
    live.merge("deployment", "web", {"status": {"readyReplicas": 99}})
    assert live.get("deployment", "web")["status"]["readyReplicas"] == 2


def test_a_second_object_of_a_name_already_exists(provisioned):
    live = provisioned({"resource": "configmap/settings"})
    reply = live.send("POST", CONFIGMAPS, configmap())
    assert (reply.status, reply.body["message"]) == (409, 'configmaps "settings" already exists')


def test_a_generated_name_gets_a_suffix(provisioned):
    live = provisioned()
    reply = live.send("POST", CONFIGMAPS, {"metadata": {"generateName": "run-"}})
    assert reply.body["metadata"]["name"].startswith("run-")
    assert len(reply.body["metadata"]["name"]) == len("run-") + 5


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        (CONFIGMAPS, {"metadata": {"name": "Upper"}}, 422, "a lowercase RFC 1123 subdomain must consist of"),
        (CONFIGMAPS, {}, 422, "name or generateName is required"),
        (CONFIGMAPS, [], 400, "couldn't get version/kind"),
        (CONFIGMAPS, {"kind": "Pood", "metadata": {"name": "x"}}, 400, 'no kind "Pood" is registered'),
        (CONFIGMAPS, {"metadata": {"name": "x"}, "data": {"a": 1}}, 400, "cannot be handled as a ConfigMap"),
        (CONFIGMAPS, {"metadata": {"name": "x", "labels": {"a": "b c"}}}, 422, "a valid label must be"),
        (CONFIGMAPS, {"metadata": {"name": "x", "namespace": "other"}}, 400, "does not match the namespace sent"),
        (DEPLOYMENTS, deployment(replicas=-1), 422, "must be greater than or equal to 0"),
        (DEPLOYMENTS, deployment(replicas="many"), 400, "cannot unmarshal string into Go struct"),
        (DEPLOYMENTS, deployment(selector={"matchLabels": {"app": "other"}}), 422, "`selector` does not match"),
        ("/api/v1/namespaces/shop/pods", {"metadata": {"name": "x"}, "spec": {}}, 422, "spec.containers: Required"),
        ("/api/v1/namespaces/shop/secrets", {"metadata": {"name": "x"}, "data": {"a": "%"}}, 400, "illegal base64"),
        ("/api/v1/namespaces/shop/nonsense", {"metadata": {"name": "x"}}, 403, 'cannot create resource "nonsense"'),
    ],
)
def test_a_body_that_the_server_would_refuse_is_refused_with_its_words(provisioned, path, body, status, words):
    reply = provisioned().send("POST", path, body)
    assert reply.status == status
    assert reply.body["kind"] == "Status"
    assert reply.body["code"] == status
    assert words in reply.body["message"]


def test_what_cannot_change_in_place_is_refused(provisioned):
    live = provisioned({"resource": "deployment/web"}, {"resource": "pod/job-runner"}, {"resource": "pvc/data"})
    selector = live.merge("deployment", "web", {"spec": {"selector": {"matchLabels": {"app": "other"}}}})
    assert selector.status == 422
    assert "field is immutable" in selector.body["message"]
    pod = live.merge("pod", "job-runner", {"spec": {"restartPolicy": "Never"}})
    assert "pod updates may not change fields" in pod.body["message"]
    assert live.merge("pvc", "data", {"spec": {"volumeName": "other"}}).status == 422
    assert live.merge("configmap", "absent", {"data": {}}).status == 404


@pytest.mark.parametrize(
    ("method", "path", "options", "status"),
    [
        ("PUT", CONFIGMAPS, {}, 405),
        ("POST", f"{CONFIGMAPS}/settings", {}, 405),
        ("PATCH", f"{CONFIGMAPS}/settings", {"content_type": "application/json"}, 415),
        ("POST", CONFIGMAPS, {"content_type": "text/plain"}, 415),
        ("GET", f"{CONFIGMAPS}?labelSelector=a%3Db%3Dc", {}, 400),
        ("GET", f"{CONFIGMAPS}?limit=abc", {}, 400),
        ("POST", f"{CONFIGMAPS}?dryRun=Some", {}, 422),
        ("DELETE", f"{CONFIGMAPS}/settings", {}, 500),
        ("GET", "/api/v1/pods/settings", {}, 403),
        ("GET", "/apis/apps/v2/namespaces/shop/deployments", {}, 404),
    ],
)
def test_a_request_that_the_server_would_not_take_gets_its_code(provisioned, method, path, options, status):
    live = provisioned({"resource": "configmap/settings"})
    assert live.send(method, path, configmap("new"), **options).status == status


def _scale(name, replicas):
    return {"metadata": {"name": name, "namespace": "shop"}, "spec": {"replicas": replicas}}


def _eviction(name):
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}


@pytest.mark.parametrize("verb", ["create", "update", "patch", "delete", "scale", "evict", "collection"])
def test_a_dry_run_answers_and_changes_nothing(provisioned, verb):
    live = provisioned({"resource": "configmap/settings", "data": {"a": "1"}}, {"resource": "deployment/web"})
    before = live.objects()
    dry = {"query": {"dryRun": "All"}}
    pod = live.names("pod")[0]
    reply = {
        "create": lambda: live.send("POST", CONFIGMAPS, configmap("new"), **dry),
        "update": lambda: live.send("PUT", f"{CONFIGMAPS}/settings", configmap(a="9"), **dry),
        "patch": lambda: live.merge("configmap", "settings", {"data": {"a": "9"}}, **dry),
        "delete": lambda: live.delete("configmap", "settings", body={"dryRun": ["All"]}),
        "scale": lambda: live.send("PUT", f"{DEPLOYMENTS}/web/scale", _scale("web", 9), **dry),
        "evict": lambda: live.send("POST", f"/api/v1/namespaces/shop/pods/{pod}/eviction", _eviction(pod), **dry),
        "collection": lambda: live.send("DELETE", CONFIGMAPS, **dry),
    }[verb]()
    assert reply.succeeded, reply
    assert live.objects() == before


def test_lists_cover_one_namespace_and_items_carry_no_kind(provisioned):
    live = provisioned({"resource": "configmap/b"}, {"resource": "configmap/a"}, namespaces=("shop", "till"))
    live.send("POST", "/api/v1/namespaces/till/configmaps", configmap("c"))
    listed = live.send("GET", CONFIGMAPS).body
    assert [item["metadata"]["name"] for item in listed["items"]] == ["a", "b", "kube-root-ca.crt"]
    assert all("kind" not in item for item in listed["items"])
    assert listed["metadata"]["resourceVersion"]


def test_nodes_and_namespaces_are_listed_over_the_whole_cluster(provisioned):
    live = provisioned({"resource": "deployment/web", "namespace": "elsewhere"})
    assert len(live.names("node", None)) == 3
    assert {"default", "kube-system", "shop", "elsewhere"} <= set(live.names("namespace", None))


def test_a_watch_answers_with_what_is_there(provisioned):
    live = provisioned({"resource": "configmap/a"}, {"resource": "configmap/b"})
    reply = live.send("GET", CONFIGMAPS, query={"watch": "true", "fieldSelector": "metadata.name=b"})
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in reply.body] == [("ADDED", "b")]
    assert reply.body[0]["object"]["kind"] == "ConfigMap"


def test_a_collection_is_deleted_by_selector(provisioned):
    live = provisioned({"resource": "configmap/a", "labels": {"tier": "x"}}, {"resource": "configmap/b"})
    reply = live.send("DELETE", CONFIGMAPS, query={"labelSelector": "tier=x"})
    assert [item["metadata"]["name"] for item in reply.body["items"]] == ["a"]
    assert live.names("configmap") == ["b"]


def test_deletion_waits_for_finalizers(provisioned):
    live = provisioned()
    body = configmap("held")
    body["metadata"]["finalizers"] = ["example.com/keep"]
    live.send("POST", CONFIGMAPS, body)
    marked = live.delete("configmap", "held").body
    assert marked["kind"] == "ConfigMap"
    assert "deletionTimestamp" in marked["metadata"]
    assert live.get("configmap", "held")
    live.merge("configmap", "held", {"metadata": {"finalizers": None}})
    assert live.send("GET", f"{CONFIGMAPS}/held").status == 404


def test_deletion_keeps_its_preconditions(provisioned):
    live = provisioned({"resource": "configmap/settings"})
    wrong = live.delete("configmap", "settings", body={"preconditions": {"uid": "other"}})
    assert wrong.status == 409
    assert "does not match the UID in record" in wrong.body["message"]
    uid = live.get("configmap", "settings")["metadata"]["uid"]
    assert live.delete("configmap", "settings", body={"preconditions": {"uid": uid}}).status == 200


def test_protected_namespaces_and_terminating_ones(admin):
    assert admin.handle(_request("DELETE", "/api/v1/namespaces/default")).status == 403
    held = admin.handle(_request("POST", "/api/v1/namespaces", {"metadata": {"name": "going"}}))
    assert held.status == 201
    assert admin.handle(_request("DELETE", "/api/v1/namespaces/going")).body["status"]["phase"] == "Terminating"
    late = admin.handle(_request("POST", "/api/v1/namespaces/going/configmaps", configmap("late")))
    assert late.status == 403
    assert "because it is being terminated" in late.body["message"]


def test_logs_take_the_usual_options(provisioned):
    live = provisioned({"resource": "deployment/web"}, {"resource": "logs/web", "entries": ["one", "two", "three"]})
    path = f"/api/v1/namespaces/shop/pods/{live.names('pod')[0]}/log"
    assert live.send("GET", path).body == "one\ntwo\nthree\n"
    assert live.send("GET", path, query={"tailLines": "2"}).body == "two\nthree\n"
    assert live.send("GET", path, query={"tailLines": "0"}).body == ""
    assert live.send("GET", path, query={"limitBytes": "5"}).body == "one\nt"
    stamped = live.send("GET", path, query={"timestamps": "true", "tailLines": "1"}).body
    assert stamped.endswith(" three\n")
    assert stamped.startswith("2026-")
    assert live.send("GET", path, query={"container": "other"}).status == 400
    assert live.send("GET", path, query={"previous": "true"}).status == 400
    assert live.send("GET", path, query={"tailLines": "-1"}).status == 422


def test_exec_is_recorded(provisioned):
    live = provisioned({"resource": "deployment/web"})
    path = f"/api/v1/namespaces/shop/pods/{live.names('pod')[0]}/exec?command=env&command=-0"
    reply = live.send("POST", path)
    assert reply.status == 200
    event = live.events()[-1]
    assert event["objectRef"]["subresource"] == "exec"
    assert event["requestURI"] == path


def test_an_access_review_says_what_the_account_may_do(provisioned):
    live = provisioned()
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

    def allowed(**attributes):
        return live.send("POST", path, {"spec": {"resourceAttributes": attributes}}).body["status"]["allowed"]

    assert allowed(verb="delete", group="apps", resource="deployments", namespace="shop")
    assert not allowed(verb="delete", group="apps", resource="deployments", namespace="default")
    assert live.send("POST", path, {"spec": {}}).status == 422


@pytest.fixture
def admin():
    """The bare API, without controllers, for an account that may do everything."""
    return _bare_api()


def _bare_api():
    accounts = Authenticator({"t": Principal("root", "u", (MASTERS, "system:authenticated"))})
    api = KubernetesApi(Store(Ids(3)), accounts, AuditLog(), BareWorld(lambda: "2026-01-05T09:00:00.000000Z"))
    for name in ("default", "shop"):
        api.handle(_request("POST", "/api/v1/namespaces", {"metadata": {"name": name}}))
    return api


def _request(method, path, body=None, content_type="application/json", **query):
    return Request.in_process(method, path, query, body, content_type, {"Authorization": "Bearer t"}, "10.0.0.2")


_REFERENCE = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": True}
_STATUS = {"conditions": [{"type": "Ready", "status": "True"}], "replicas": 1, "readyReplicas": 1, "phase": "Running",
           "containerStatuses": [{"restartCount": 0}]}  # fmt: skip
_CONTAINER = {"name": "app", "image": "app:1.0", "env": [{"name": "A", "value": "b"}], "ports": [{"containerPort": 80}]}
_VOLUME = {"name": "v", "persistentVolumeClaim": {"claimName": "d"}}
_POD_SPEC = {"containers": [_CONTAINER], "volumes": [_VOLUME], "nodeName": "n"}
_VALID = {
    "metadata": {
        "name": "web", "namespace": "shop", "labels": {"app": "web"}, "annotations": {"a": "b"}, "finalizers": ["x/y"],
        "ownerReferences": [_REFERENCE], "uid": "u", "resourceVersion": "5", "generateName": "w-",
    },
    "spec": {
        "replicas": 2, "paused": False, "selector": {"matchLabels": {"app": "web"}}, "revisionHistoryLimit": 2,
        "template": {"metadata": {"labels": {"app": "web"}, "annotations": {"a": "b"}}, "spec": _POD_SPEC},
        "strategy": {"type": "RollingUpdate"}, **_POD_SPEC, "ports": [{"port": 80, "targetPort": 8080}],
        "resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"], "finalizers": ["kubernetes"],
        "resourceAttributes": {"verb": "get", "resource": "pods"}, "terminationGracePeriodSeconds": 1,
    },
    "status": _STATUS,
    "data": {"a": "Yg=="},
    "rules": [{"verbs": ["get"], "resources": ["pods"], "apiGroups": [""]}],
    "subjects": [{"kind": "User", "name": "u"}],
    "roleRef": {"kind": "Role", "name": "r"},
    "preconditions": {"uid": "u"}, "dryRun": [], "gracePeriodSeconds": 3, "deleteOptions": {"gracePeriodSeconds": 1},
}  # fmt: skip
_JUNK = st.sampled_from(
    [None, True, -1, 0, 10**12, 1.5, "", "x", "all", [], [None], [1], ["x"], [[]], [{}], {}, {"x": 1}]
)
_TYPES = ["application/json", "application/merge-patch+json", "application/strategic-merge-patch+json",
          "application/json-patch+json", "application/apply-patch+yaml"]  # fmt: skip


def _paths(value, prefix=()):
    yield prefix
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from _paths(item, (*prefix, key))


def _replaced(value, path, junk):
    if not path:
        return junk
    if isinstance(value, dict):
        return {**value, path[0]: _replaced(value[path[0]], path[1:], junk)}
    return [*value[: path[0]], _replaced(value[path[0]], path[1:], junk), *value[path[0] + 1 :]]


@st.composite
def _bodies(draw):
    """An object that is right but for one place, or a JSON patch that puts something odd into one place."""
    path = draw(st.sampled_from(list(_paths(_VALID))))
    junk = draw(_JUNK)
    if draw(st.booleans()):
        operation = {"op": draw(st.sampled_from(["add", "replace", "remove", "test", "move", 5])), "value": junk}
        operation |= {
            "path": "".join(f"/{part}" for part in path),
            "from": draw(st.sampled_from(["/spec", "/x", None])),
        }
        return [operation]
    kept = draw(st.sets(st.sampled_from(sorted(_VALID))))
    broken = _replaced(_VALID, path, junk)
    return {key: value for key, value in broken.items() if key not in kept} if isinstance(broken, dict) else broken


def _world(store):
    """Controllers around a cluster in which nothing was declared."""
    declared = Preconditions.model_validate(
        {"environment": {"type": "kubernetes-cluster"},
         "agent": {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["shop"]}}}
    )  # fmt: skip
    dynamics, time = Dynamics(store), EnvironmentTime("2026-01-05T09:00:00+00:00")
    stage = Stage(dynamics, Interventions(store), declared)
    return World(dynamics, time, Stimulation(stage, time.present, time.present))


@settings(max_examples=2 * settings.default.max_examples)
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "PATCH", "DELETE"]),
    row=st.sampled_from(RESOURCE_TYPES),
    name=st.sampled_from(["", "web", "web"]),
    subresource=st.sampled_from(["", "", "", "scale", "status", "log", "eviction", "exec"]),
    body=_bodies(),
    content_type=st.sampled_from(_TYPES),
)
def test_no_request_breaks_the_server_or_keeps_its_controllers_busy(method, row, name, subresource, body, content_type):
    store = Store(Ids(3))
    api = KubernetesApi(
        store,
        Authenticator({"t": Principal("root", "u", (MASTERS, "system:authenticated"))}),
        AuditLog(),
        _world(store),
    )
    api.handle(_request("POST", "/api/v1/namespaces", {"metadata": {"name": "shop"}}))
    api.handle(_request("POST", DEPLOYMENTS, deployment()))
    api.handle(_request("POST", row.path("shop"), {**_VALID, "metadata": {"name": "web"}}))
    api.handle(_request(method, row.path("shop", name, subresource if name else None), body, content_type))
    assert not store.take_unsettled()
    for noun_path in (DEPLOYMENTS, "/api/v1/namespaces/shop/pods", "/api/v1/namespaces"):
        assert api.handle(_request("GET", noun_path)).status == 200


@given(path=st.text(alphabet="/abcpis?.%=&1v namespaces", max_size=40), method=st.text(max_size=8))
def test_no_path_breaks_the_server(path, method):
    reply = _bare_api().handle(_request(method, path))
    assert 200 <= reply.status < 500
