"""A user's cluster, acted out: a control plane of its own, an owner with a kubeconfig, nodes that run what they get."""

import asyncio
import base64
import json
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import yaml

from sirocco.domains.kubernetes.cluster.control_plane import REGISTRY, ControlPlane
from sirocco.domains.kubernetes.cluster.programs import free_port
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
        return [
            *super()._server_arguments(), f"--audit-webhook-config-file={path}", "--audit-webhook-batch-max-wait=1s",
        ]  # fmt: skip


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

    def writes(self):
        """The places that the owner's requests wrote to, by the cluster's own log."""
        events = map(json.loads, self.audit_log.read_text().splitlines())
        return [
            event for event in events
            if event["user"]["username"] == OWNER and event["verb"] not in {"get", "list", "watch"}
        ]  # fmt: skip

    @asynccontextmanager
    async def nodes(self):
        """Run every pod well that is there, for the length of the block."""
        task = asyncio.create_task(self._run_pods())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _run_pods(self):
        operator = self.plane.client()
        try:
            while True:
                for pod in (await operator.request("GET", "/api/v1/pods"))["items"]:
                    with suppress(ProviderFault):
                        await _run_pod(operator, pod)
                await asyncio.sleep(0.1)
        finally:
            operator.close()


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
