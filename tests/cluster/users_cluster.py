"""A user's cluster, acted out: a control plane of its own, an owner with a kubeconfig, nodes that run what they get."""

import asyncio
import base64
import json
import os
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import yaml

from sirocco.domains.kubernetes.cluster.control_plane import REGISTRY, ControlPlane
from sirocco.domains.kubernetes.cluster.programs import find_programs, free_port
from sirocco.errors import ProviderFault

CONTEXT = "acted-out"
OWNER = "system:serviceaccount:kube-system:owner"
BYSTANDER = "payroll"
_NODE = "node-1"


class ReportingPlane(ControlPlane):
    """A control plane that sends its audit events to a webhook in addition."""

    webhook = f"127.0.0.1:{free_port()}"

    def _server_arguments(self):
        target = {"server": f"http://{self.webhook}"}
        document = {
            "clusters": [{"name": "audit", "cluster": target}], "contexts": [{"name": "audit", "context": {"cluster": "audit"}}],
            "current-context": "audit",
        }  # fmt: skip
        path = self.folder / "webhook.kubeconfig"
        path.write_text(yaml.safe_dump(document))
        # Its server reaches the webhook directly, and not by way of nodes that are there for one environment only.
        direct = [one for one in super()._server_arguments() if not one.startswith("--egress-selector")]
        return [*direct, f"--audit-webhook-config-file={path}", "--audit-webhook-batch-max-wait=1s"]


class UsersCluster:
    """What a test asks of it."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.plane, self.kubeconfig = plane, folder / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        return self.plane.audit_log

    async def prepare(self):
        """An owner, and somebody who was there before."""
        operator = self.plane.client()
        account = {"metadata": {"name": "owner"}}
        await operator.request("POST", "/api/v1/namespaces/kube-system/serviceaccounts", account)
        binding = {
            "metadata": {"name": "owner"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "owner", "namespace": "kube-system"}],
        }
        await operator.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
        asked = {"spec": {"expirationSeconds": 7200}}
        path = "/api/v1/namespaces/kube-system/serviceaccounts/owner/token"
        token = (await operator.request("POST", path, asked))["status"]["token"]
        await operator.request("POST", "/api/v1/namespaces", {"metadata": {"name": BYSTANDER}})
        for number in range(3):
            content = {"metadata": {"name": f"wages-{number}"}, "data": {"month": str(number)}}
            await operator.request("POST", f"/api/v1/namespaces/{BYSTANDER}/configmaps", content)
        operator.close()
        authority = base64.b64encode(self.plane.authority.certificate.encode()).decode()
        server = {"server": f"https://127.0.0.1:{self.plane.port}", "certificate-authority-data": authority}
        elsewhere = {**server, "server": "https://cluster.example:6443"}
        document = {
            "clusters": [{"name": "here", "cluster": server}, {"name": "there", "cluster": elsewhere}],
            "users": [{"name": "owner", "user": {"token": token}}],
            "contexts": [
                {"name": CONTEXT, "context": {"cluster": "here", "user": "owner"}},
                {"name": "elsewhere", "context": {"cluster": "there", "user": "owner"}},
            ],
        }
        self.kubeconfig.write_text(yaml.safe_dump(document))

    async def come_to_rest(self):
        """Wait until controllers that have just started have done what they do at first."""
        before, found = None, await self.contents()
        while before != found:
            await asyncio.sleep(2)
            before, found = found, await self.contents()

    async def contents(self, *but):
        """Everything in the cluster that is not in these namespaces, by its place."""
        etcd = self.plane.etcd()
        found = {entry.key: entry.value for entry in await etcd.entries(REGISTRY)}
        etcd.close()
        return {
            key: value for key, value in found.items()
            if not self.plane.is_volatile(key) and not set(key.split("/")) & set(but) and "/events/" not in key
        }  # fmt: skip

    async def namespaces(self):
        """The namespaces that there are, save those that are going away."""
        operator = self.plane.client()
        listed = await operator.request("GET", "/api/v1/namespaces")
        operator.close()
        return {item["metadata"]["name"] for item in listed["items"] if "deletionTimestamp" not in item["metadata"]}

    def writes(self, since=0):
        """What the owner's requests wrote (and not what the server refused), by the cluster's own log from a place on."""
        events = map(json.loads, self.audit_log.read_text()[since:].splitlines())
        return [
            event for event in events
            if event["user"]["username"] == OWNER and event["verb"] not in {"get", "list", "watch"}
            and event["responseStatus"]["code"] < 300
        ]  # fmt: skip

    async def wait_for(self, *standing):
        """Wait until there are no namespaces but these, and those that every cluster has."""
        operator = self.plane.client()
        for _ in range(600):
            names = {
                item["metadata"]["name"] for item in (await operator.request("GET", "/api/v1/namespaces"))["items"]
            }
            if names <= {*standing, "default"} | {name for name in names if name.startswith("kube-")}:
                break
            await asyncio.sleep(0.1)
        operator.close()
        assert names <= {*standing, "default"} | {name for name in names if name.startswith("kube-")}

    async def run_pods(self, done):
        """Run every pod well that is there, until the end."""
        operator = self.plane.client()
        try:
            while not done.is_set():
                for pod in (await operator.request("GET", "/api/v1/pods"))["items"]:
                    with suppress(ProviderFault):
                        await _run_pod(operator, pod)
                await asyncio.sleep(0.1)
        finally:
            operator.close()


@contextmanager
def acted_out(folder):
    """A user's cluster whose nodes run what they get."""
    plane, done = ReportingPlane(find_programs(os.environ)), threading.Event()
    cluster = UsersCluster(plane, folder)
    nodes = threading.Thread(target=lambda: asyncio.run(cluster.run_pods(done)))
    try:
        asyncio.run(plane.start())
        asyncio.run(plane.start_controllers())
        asyncio.run(cluster.prepare())
        asyncio.run(cluster.come_to_rest())
        nodes.start()
        yield cluster
    finally:
        done.set()
        if nodes.is_alive():
            nodes.join()
        plane.stop()


async def _run_pod(operator, pod):
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
    if "deletionTimestamp" in pod["metadata"]:
        await operator.request("DELETE", f"{path}?gracePeriodSeconds=0")
    elif not pod["spec"].get("nodeName"):
        body = {"metadata": {"name": pod["metadata"]["name"]}, "target": {"kind": "Node", "name": _NODE}}
        await operator.request("POST", f"{path}/binding", body)
    elif pod.get("status", {}).get("phase") == "Pending":
        now = pod["metadata"]["creationTimestamp"]
        status = {
            "phase": "Running", "startTime": now,
            "conditions": [{"type": one, "status": "True"} for one in ("Ready", "ContainersReady", "PodScheduled")],
            "containerStatuses": [
                {"name": one["name"], "image": one["image"], "imageID": "", "ready": True, "restartCount": 0,
                 "started": True, "state": {"running": {"startedAt": now}}}
                for one in pod["spec"]["containers"]
            ],
        }  # fmt: skip
        await operator.request("PUT", f"{path}/status", {**pod, "status": status})
