"""Programs that people operate clusters with, against environments; each call counts, and the counts are printed."""

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from clients import downloads
from clients.conftest import Serving
from clients.wire import eventually
from kubesim import Cluster

HERE = Path(__file__).parent
pytestmark = [pytest.mark.long, pytest.mark.requirement("SI-02")]


class Tally:
    """Counts the calls of one client; every one of them must do what it is there for."""

    def __init__(self, folder, kubeconfig, *folders):
        path = os.pathsep.join([*map(str, folders), str(Path(sys.executable).parent), os.environ["PATH"]])
        self.environment = {"PATH": path, "HOME": str(folder), "KUBECONFIG": str(kubeconfig)}
        self.calls = 0

    def run(self, *command, text=None, code=0):
        done = subprocess.run(
            [*map(str, command)], input=text, capture_output=True, text=True, timeout=120, check=False,
            env=self.environment,
        )  # fmt: skip
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        self.calls += 1
        return done.stdout


@pytest.fixture
def count(record_property):
    """Have the number of a client's calls printed at the end."""
    return lambda client, calls: record_property("real client", f"{client} {calls}")


@pytest.fixture
def served(tmp_path):
    with Serving(tmp_path) as environment:
        yield environment


@pytest.fixture
def served_anywhere(tmp_path, any_provider):
    """An environment of each provider: the simulator's, and one on a real control plane."""
    with Serving(tmp_path, provider=any_provider) as environment:
        yield environment


def test_helm_installs_upgrades_rolls_back_and_tests(served_anywhere, tmp_path, count):
    helm = downloads.helm()
    tally = Tally(tmp_path, served_anywhere.kubeconfig)
    chart = tmp_path / "cart"
    tally.run(helm, "create", chart)
    tally.run(helm, "install", "cart", chart, "--wait", "--timeout=60s")
    tally.run(helm, "upgrade", "cart", chart, "--set=replicaCount=3", "--wait", "--timeout=60s")
    replicas = ("get", "deployment", "cart", "-o", "jsonpath={.status.readyReplicas}")
    assert served_anywhere.kubectl(*replicas) == "3"
    assert tally.run(helm, "rollback", "cart", "1", "--wait", "--timeout=60s")
    assert served_anywhere.kubectl(*replicas) == "1"
    tested = tally.run(helm, "test", "cart", "--logs", "--timeout=60s")
    assert "Phase:          Succeeded" in tested
    assert tested.strip().endswith("OK")
    assert "Rollback to 1" in tally.run(helm, "history", "cart")
    assert [row["status"] for row in json.loads(tally.run(helm, "list", "-o", "json"))] == ["deployed"]
    tally.run(helm, "uninstall", "cart", "--wait")
    count("helm", tally.calls)


def test_a_failing_test_of_a_chart_fails(served_anywhere, tmp_path, count):
    helm = downloads.helm()
    tally = Tally(tmp_path, served_anywhere.kubeconfig)
    chart = tmp_path / "cart"
    tally.run(helm, "create", chart)
    test = chart / "templates" / "tests" / "test-connection.yaml"
    test.write_text(test.read_text().replace("command: ['wget']", "command: ['false']"))
    tally.run(helm, "install", "cart", chart)
    tally.run(helm, "test", "cart", "--timeout=60s", code=1)
    count("helm", tally.calls)


def test_kubectl_runs_a_pod_to_its_end(served_anywhere, count):
    run = ("run", "once", "--rm", "-i", "--restart=Never", "--image=busybox")
    assert served_anywhere.kubectl(*run, "--", "sh", "-c", "echo hello; sleep 4 && echo $HOSTNAME").splitlines()[
        :2
    ] == [
        "hello",
        "once",
    ]
    assert served_anywhere.kubectl(*run, "--", "cat", text="what was said\n").startswith("what was said\n")
    assert "deleted" in served_anywhere.kubectl(*run, "--", "false", code=1)
    assert served_anywhere.kubectl("get", "pods", "-l", "run=once", "-o", "name") == ""
    assert json.loads(served_anywhere.kubectl("get", "--raw", "/version"))["gitVersion"] == "v1.34.1"
    count("kubectl", 5)


def test_kubectl_shows_usage(served, count):
    assert len(served.kubectl("top", "pods", "--containers", "--no-headers").splitlines()) >= 3
    assert "MEMORY" in served.kubectl("top", "nodes")
    count("kubectl", 2)


def test_kubectl_forwards_ports(served_anywhere, count):
    for websockets in ("true", "false"):
        kubectl = Path(sys.executable).parent / "kubectl"
        with subprocess.Popen(
            [kubectl, "--kubeconfig", served_anywhere.kubeconfig, "port-forward", "deployment/web", "0:8080"],
            stdout=subprocess.PIPE, text=True,
            env={**os.environ, "HOME": str(served_anywhere.folder), "KUBECTL_PORT_FORWARD_WEBSOCKETS": websockets},
        ) as forwarding:  # fmt: skip
            port = forwarding.stdout.readline().split("127.0.0.1:")[1].split()[0]
            for _ in range(3):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20) as answer:
                    assert answer.read() == b"OK\n"
            forwarding.terminate()
    count("kubectl", 6)


async def _use(server, arguments, environment, calls):
    """Call the tools of a server over MCP, one after the other; the texts of their answers."""
    parameters = StdioServerParameters(command=str(server), args=arguments, env=environment)
    texts = []
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        for tool, given in calls:
            answer = await asyncio.wait_for(session.call_tool(tool, given), 60)
            text = "".join(getattr(part, "text", "") for part in answer.content)
            assert not getattr(answer, "is_error", getattr(answer, "isError", False)), f"{tool}: {text}"
            texts.append(text)
    return texts


def test_kubernetes_mcp_server(served, tmp_path, count):
    folder = downloads.npm("kubernetes-mcp-server", "0.0.67")
    pod = served.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[0].metadata.name}")
    where = {"name": pod, "namespace": "shop"}
    made = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made, namespace: shop}\ndata: {a: b}\n"
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "name": "made", "namespace": "shop"}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop"}
    calls = [
        ("namespaces_list", {}), ("pods_list_in_namespace", {"namespace": "shop"}), ("pods_get", where),
        ("pods_log", where), ("pods_exec", {**where, "command": ["printenv", "MODE"]}),
        ("pods_top", {"namespace": "shop"}), ("nodes_top", {}), ("resources_list", {**web, "name": ""}),
        ("resources_create_or_update", {"resource": made}), ("resources_get", config_map),
        ("resources_scale", {**web, "scale": 4}), ("events_list", {"namespace": "shop"}),
        ("pods_run", {"image": "busybox", "name": "ran", "namespace": "shop"}),
        ("pods_delete", {"name": "ran", "namespace": "shop"}), ("resources_delete", config_map),
        ("configuration_view", {}),
    ]  # fmt: skip
    tally = Tally(tmp_path, served.kubeconfig)
    server = folder / "node_modules" / ".bin" / "kubernetes-mcp-server"
    texts = dict(zip((tool for tool, _ in calls), asyncio.run(_use(server, [], tally.environment, calls)), strict=True))
    assert texts["pods_exec"] == "live\n"
    assert "GET /cart 200" in texts["pods_log"]
    assert "MEMORY" in texts["pods_top"]
    count("kubernetes-mcp-server", len(calls))


def test_mcp_server_kubernetes(served, tmp_path, count):
    folder = downloads.npm("mcp-server-kubernetes", "4.1.7")
    pod = served.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[0].metadata.name}")
    web = {"resourceType": "deployment", "name": "web", "namespace": "shop"}
    made = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: b}\n"
    config_map = {"resourceType": "configmap", "name": "created", "namespace": "shop"}
    calls = [
        ("kubectl_get", {"resourceType": "pods", "namespace": "shop"}), ("kubectl_describe", web),
        ("kubectl_logs", web), ("exec_in_pod", {"name": pod, "namespace": "shop", "command": ["printenv", "MODE"]}),
        ("kubectl_scale", {"name": "web", "namespace": "shop", "replicas": 4}),
        ("kubectl_rollout", {**web, "subCommand": "status"}), ("kubectl_patch", {**web, "patchData": {"spec": {"replicas": 3}}}),
        ("kubectl_create", {**config_map, "fromLiteral": ["a=b"]}), ("kubectl_apply", {"manifest": made, "namespace": "shop"}),
        ("kubectl_delete", config_map), ("explain_resource", {"resource": "pods"}), ("list_api_resources", {}),
        ("kubectl_generic", {"command": "top", "resourceType": "pods", "namespace": "shop"}), ("ping", {}),
    ]  # fmt: skip
    tally = Tally(tmp_path, served.kubeconfig)
    server = folder / "node_modules" / ".bin" / "mcp-server-kubernetes"
    texts = dict(zip((tool for tool, _ in calls), asyncio.run(_use(server, [], tally.environment, calls)), strict=True))
    assert texts["exec_in_pod"] == "live\n"
    assert pod in texts["kubectl_get"]
    assert "MEMORY" in texts["kubectl_generic"]
    count("mcp-server-kubernetes", len(calls))


def test_the_javascript_client(served, tmp_path, count):
    folder = downloads.npm("@kubernetes/client-node", "1.4.0")
    library = folder / "node_modules" / "@kubernetes" / "client-node" / "dist" / "index.js"
    tally = Tally(tmp_path, served.kubeconfig)
    found = json.loads(tally.run("node", HERE / "node_client.mjs", library, served.kubeconfig, "shop"))
    assert "GET /cart 200" in found.pop("log")
    assert {"noted", "settings"} <= set(found.pop("watched"))
    assert found == {
        "patched": "2", "pods": 3, "exec": "Success", "isHost": True, "scaled": 3, "measured": 3,
        "forwarded": "HTTP/1.1 200 OK", "missing": 404,
    }  # fmt: skip
    count("client-node", 11)


def test_an_operator_of_kopf(tmp_path, count):
    folder = downloads.kopf()
    names = {"plural": "shelves", "singular": "shelf", "kind": "Shelf"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "shelves.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }  # fmt: skip
    shelf = {
        "apiVersion": "example.com/v1",
        "kind": "Shelf",
        "metadata": {"name": "top"},
        "spec": {"books": ["a", "b"]},
    }
    path = "/apis/example.com/v1/namespaces/default/shelves"
    with Cluster() as cluster:
        kubeconfig = cluster.write_kubeconfig(tmp_path / "kubeconfig")
        assert (
            cluster.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body=definition).status
            == 201
        )
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "HOME": str(tmp_path), "PYTHONPATH": str(folder)}
        command = [
            sys.executable,
            "-m",
            "kopf",
            "run",
            "--standalone",
            "--namespace=default",
            str(HERE / "kopf_operator.py"),
        ]
        with (tmp_path / "log").open("w") as log, subprocess.Popen(
            command, env=environment, stdout=log, stderr=log
        ) as operator:  # fmt: skip

            def books():
                return next(
                    (
                        item["data"]["books"]
                        for item in cluster.objects("ConfigMap")
                        if item["metadata"]["name"] == "top"
                    ),
                    None,
                )

            try:
                assert cluster.request("POST", path, body=shelf).status == 201
                assert eventually(lambda: books() == "a,b"), (tmp_path / "log").read_text()
                assert eventually(lambda: cluster.objects("Shelf")[0].get("status", {}).get("keep") == {"count": 2})
                merge = "application/merge-patch+json"
                assert (
                    cluster.request("PATCH", f"{path}/top", body={"spec": {"books": ["c"]}}, content_type=merge).status
                    == 200
                )
                assert eventually(lambda: books() == "c"), (tmp_path / "log").read_text()
                assert cluster.request("DELETE", f"{path}/top").status == 200
                assert eventually(lambda: not cluster.objects("Shelf") and books() is None), (
                    tmp_path / "log"
                ).read_text()
            finally:
                operator.terminate()
        own = [event for event in cluster.audit_log() if "kopf" in event.get("userAgent", "")]
    assert all(event["responseStatus"]["code"] < 400 for event in own)
    count("kopf", len(own))
