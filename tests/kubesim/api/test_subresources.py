"""Parts of objects with paths of their own: scale, eviction under a budget, binding, logs, and what is refused there."""

import pytest

PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
BUDGETS = "/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets"
MERGE = "application/merge-patch+json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
EVICTION = {"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "p"}}


@pytest.fixture
def workload(bare):
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    assert bare.send("POST", DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": spec}).status == 201
    metadata = {"name": "p", "labels": {"app": "web"}}
    assert bare.send("POST", PODS, {"metadata": metadata, "spec": template["spec"]}).status == 201
    return bare


def scale(replicas, **metadata):
    return {"metadata": {"name": "web", "namespace": "default", **metadata}, "spec": {"replicas": replicas}}


def test_a_scale_changes_the_replicas_and_nothing_else(workload):
    assert workload.send("GET", f"{DEPLOYMENTS}/web/scale").body["status"] == {"replicas": 0, "selector": "app=web"}
    assert workload.send("PUT", f"{DEPLOYMENTS}/web/scale", scale(3)).body["spec"] == {"replicas": 3}
    patched = workload.send("PATCH", f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 2}}, MERGE)
    assert patched.body["spec"] == {"replicas": 2}
    stored = workload.send("GET", f"{DEPLOYMENTS}/web").body
    assert (stored["spec"]["replicas"], stored["metadata"]["generation"]) == (2, 3)
    assert workload.events()[-3]["requestObject"]["spec"] == {"replicas": 3}


@pytest.mark.parametrize(
    ("body", "status"),
    [(scale(-1), 422), (scale(2, resourceVersion="1"), 409), (scale(2, uid="x"), 409), (scale(2, name="x"), 400)],
)
def test_a_scale_that_does_not_fit_is_refused(workload, body, status):
    assert workload.send("PUT", f"{DEPLOYMENTS}/web/scale", body).status == status


def test_a_negative_scale_is_refused_as_a_scale(workload):
    refused = workload.send("PUT", f"{DEPLOYMENTS}/web/scale", scale(-1)).body
    assert (refused["details"]["kind"], refused["details"]["group"]) == ("Scale", "autoscaling")


def test_an_eviction_keeps_the_budget(workload):
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}
    assert workload.send("POST", BUDGETS, budget).status == 201
    workload.send("PATCH", f"{PODS}/p/status", {"status": {"phase": "Running"}}, MERGE)
    early = workload.send("POST", f"{PODS}/p/eviction", EVICTION)
    assert (early.status, "still being processed" in early.body["details"]["causes"][0]["message"]) == (429, True)
    status = {"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1}
    workload.send("PATCH", f"{BUDGETS}/b/status", {"status": status}, MERGE)
    late = workload.send("POST", f"{PODS}/p/eviction", EVICTION)
    assert late.body["details"]["causes"][0]["message"].endswith("needs 1 healthy pods and has 1 currently")
    workload.send("PATCH", f"{BUDGETS}/b/status", {"status": {"disruptionsAllowed": 1}}, MERGE)
    assert workload.send("POST", f"{PODS}/p/eviction?dryRun=All", EVICTION).status == 201
    assert workload.send("POST", f"{PODS}/p/eviction", EVICTION).status == 201
    assert workload.send("GET", f"{PODS}/p").status == 404
    assert workload.send("GET", f"{BUDGETS}/b").body["status"]["disruptionsAllowed"] == 0


def test_a_pod_is_bound_once(workload):
    body = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    assert workload.send("POST", f"{PODS}/p/binding", body).status == 201
    bound = workload.send("GET", f"{PODS}/p").body
    assert bound["spec"]["nodeName"] == "n"
    assert bound["status"]["conditions"][0]["type"] == "PodScheduled"
    again = workload.send("POST", f"{PODS}/p/binding", body)
    assert (again.status, again.body["details"]["kind"]) == (409, "pods/binding")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"{PODS}/p/log", 204),
        ("GET", f"{PODS}/p/log?container=x", 400),
        ("GET", f"{PODS}/p/log?tailLines=-1", 422),
        ("GET", f"{PODS}/p/log?sinceTime=yesterday", 400),
        ("GET", f"{PODS}/p/exec?command=ls", 400),
        ("GET", f"{PODS}/none/exec?command=ls", 404),
        ("GET", f"{PODS}/p/proxy/", 400),
        ("GET", f"{PODS}/p/nothing", 404),
        ("GET", f"{PODS}/p/log/more", 404),
        ("DELETE", f"{PODS}/p/status", 405),
        ("POST", f"{DEPLOYMENTS}/web/scale", 405),
        ("GET", f"{DEPLOYMENTS}/none/scale", 404),
    ],
)
def test_each_subresource_answers_in_its_own_way(workload, method, path, status):
    assert workload.send(method, path).status == status


def test_a_part_of_an_object_makes_no_table(workload):
    assert workload.send("GET", f"{DEPLOYMENTS}/web", accept=TABLE).body["kind"] == "Table"
    assert workload.send("GET", f"{DEPLOYMENTS}/web/status", accept=TABLE).status == 406
