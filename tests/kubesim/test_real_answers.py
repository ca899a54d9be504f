"""Answers that a real server and its kubelets give, where clients or agents could tell ours by another (SI-02)."""

import io
import ssl
import tarfile
import urllib.request

import pytest

from kubesim import Cluster
from kubesim.programs import execute_command
from kubesim.resource import BY_NOUN
from kubesim.store import Ids, Store

pytestmark = pytest.mark.requirement("SI-02")
PODS = "/api/v1/namespaces/default/pods"
APPLY = "application/apply-patch+yaml"
DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/web"


@pytest.fixture
def cluster():
    return Cluster(seed=3, start="2026-01-05T10:00:00Z")


def pod(image="nginx"):
    return {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "main", "image": image}]}}


def test_the_log_of_a_container_that_is_being_created_is_refused(cluster):
    assert cluster.request("POST", PODS, body=pod()).status == 201
    refused = cluster.request("GET", f"{PODS}/x/log")
    assert (refused.status, refused.body["reason"]) == (400, "BadRequest")
    assert refused.body["message"] == 'container "main" in pod "x" is waiting to start: ContainerCreating'
    cluster.come_to_rest()
    assert cluster.request("GET", f"{PODS}/x/log").status == 200


def test_who_applies_a_whole_object_does_not_come_to_own_its_status(cluster):
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    whole = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec,
             "status": {"replicas": 7}}  # fmt: skip
    query = {"fieldManager": "me"}
    applied = cluster.request("PATCH", DEPLOYMENT, body=whole, content_type=APPLY, query=query)
    assert applied.status == 201, applied.body
    owned = {entry["manager"]: entry["fieldsV1"] for entry in applied.body["metadata"]["managedFields"]}
    assert "f:spec" in owned["me"]
    assert "f:status" not in owned["me"]
    again = cluster.request("PATCH", f"{DEPLOYMENT}/status", body={**whole, "spec": None}, content_type=APPLY,
                            query={**query, "force": "true"})  # fmt: skip
    fields = [entry["fieldsV1"] for entry in again.body["metadata"]["managedFields"] if entry["manager"] == "me"]
    assert any("f:status" in entry for entry in fields)


def test_a_kubelet_says_that_it_is_well_and_which_pods_it_runs(cluster):
    assert cluster.request("GET", "/api/v1/nodes/node-1/proxy/healthz").body == "ok"
    listed = cluster.request("GET", "/api/v1/nodes/node-1/proxy/pods").body
    assert {item["spec"]["nodeName"] for item in listed["items"]} == {"node-1"}
    assert cluster.request("GET", "/api/v1/nodes/node-1/proxy/nothing").status == 404


def test_tar_packs_the_files_of_a_container_and_unpacks_none():
    settings = {"metadata": {"name": "settings", "namespace": "shop", "uid": "u"}, "data": {"colour": "gr\u00fcn"}}
    store = Store(Ids(0))
    store.write(BY_NOUN["configmap"], settings)
    mounts = [{"name": "settings", "mountPath": "/etc/settings"}]
    here = {
        "metadata": {"name": "x", "namespace": "shop"},
        "spec": {"containers": [{"name": "main", "volumeMounts": mounts}],
                 "volumes": [{"name": "settings", "configMap": {"name": "settings"}}]},
    }  # fmt: skip
    packed = execute_command(store, here, "main", ["tar", "cf", "-", "/etc/settings"])
    with tarfile.open(fileobj=io.BytesIO(packed.stdout.encode())) as archive:
        (member,) = archive.getmembers()
        assert (member.name, archive.extractfile(member).read().decode()) == ("etc/settings/colour", "gr\u00fcn")
    missing = execute_command(store, here, "main", ["tar", "cf", "-", "/nowhere"])
    assert (missing.exit_code, "Cannot stat" in missing.stderr) == (2, True)
    refused = execute_command(store, here, "main", ["tar", "-xmf", "-", "-C", "/tmp"])
    assert (refused.exit_code, "Read-only file system" in refused.stderr) == (1, True)


def test_the_published_authority_is_the_one_that_a_served_cluster_has(cluster):
    with cluster:
        bundle = cluster.request("GET", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt").body["data"]["ca.crt"]
        assert bundle == cluster.authority


def test_time_does_not_leap_while_somebody_watches():
    """A rollout that cannot succeed is given up after ten minutes; a watch of three seconds must not bring that on."""
    cluster = Cluster(seed=3, start="2026-01-05T10:00:00Z", nodes=0)
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}
    body = {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}
    assert cluster.request("POST", DEPLOYMENT.removesuffix("/web"), body=body).status == 201
    with cluster:
        before = cluster.now
        trust = ssl.create_default_context(cadata=cluster.authority)
        asked = urllib.request.Request(f"{cluster.url}{PODS}?watch=1&timeoutSeconds=3",
                                       headers={"Authorization": f"Bearer {cluster.token}"})  # fmt: skip
        with urllib.request.urlopen(asked, context=trust) as answer:
            answer.read()
        passed = int(cluster.now[17:19]) - int(before[17:19])
    assert cluster.now[:16] == before[:16]
    assert 3 <= passed <= 5
