"""A control plane of our own: started once, used for one environment after the other, with nothing left in between.

etcd and kube-apiserver keep running; each environment gets new controllers. A controller that is killed before its
objects vanish cannot react to their vanishing one by one, and one that starts sees a whole cluster at rest, never a
cluster that is being set up. Starting takes a second of processor time, so the next controllers start while the present
ones work, and wait for a lease.
"""

import asyncio
import json
import secrets
import shutil
import ssl
import time
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from kubesim.access.signing import ISSUER, Signer
from kubesim.serving.certificates import Authority
from kubesim.serving.kubeconfig import kubeconfig
from sirocco.domains.kubernetes.agent_access import AgentAccess
from sirocco.domains.kubernetes.cluster.etcd import Entry, Etcd
from sirocco.domains.kubernetes.cluster.programs import Child, Programs, free_port, scratch_folder
from sirocco.errors import FaultKind, ProviderFault
from sirocco.providers.http.connection import Answer, Connections, Unanswered

REGISTRY = "/registry/"
SERVICE_RANGE = "10.96.0.0/12"
_HOST = "127.0.0.1"
_START_SECONDS = 90.0
_STEP_SECONDS = 0.02
_TIMEOUT = 30.0
_FOUNDED = "2026-01-01T00:00:00Z"
_OPERATORS = "system:masters"
OWN_USERS = ("system:sirocco", "system:kube-controller-manager", "system:apiserver")
"""The accounts that are never an agent: ours, the controllers' and the server's own; nobody else gets their tokens."""
_LEASE = f"apiserver-{sha256(b'controllers').hexdigest()[:32]}"
"""What controllers wait for: among the servers' own leases, of which there is one for each server."""
_LEASE_KEY = f"/registry/leases/kube-system/{_LEASE}"
_HELD = {
    "kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
    "metadata": {
        "name": _LEASE, "namespace": "kube-system", "uid": "7c0f4a3e-52d1-4d0c-9b7e-1f6f0f2f9b11",
        "creationTimestamp": _FOUNDED,
    },
    "spec": {"holderIdentity": "nobody", "leaseDurationSeconds": 30 * 24 * 3600},
}  # fmt: skip
_VOLATILE = ("/registry/leases/kube-system/apiserver-", "/registry/masterleases/")
"""What the server keeps renewing in every environment."""
_CONTROLLERS = (
    "deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
    "job-controller", "replicationcontroller-controller", "garbage-collector-controller", "namespace-controller",
    "disruption-controller", "endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller",
    "serviceaccount-controller", "root-ca-certificate-publisher-controller", "resourcequota-controller",
    "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
    "ttl-after-finished-controller", "clusterrole-aggregation-controller",
)  # fmt: skip
"""Controllers that need neither a cloud nor a clock of their own; the node agent does schedules, autoscalers and
volumes."""
_AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "None", "users": list(OWN_USERS)}, {"level": "RequestResponse"}],
}


class ControlPlane:
    """etcd, kube-apiserver and, while there is an environment, kube-controller-manager."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self.folder = scratch_folder()
        self.authority = Authority.from_seed(secrets.randbits(128), _FOUNDED)
        self._tokens = {name: secrets.token_urlsafe(24) for name in ("operator", "controllers")}
        self._etcd_port, self.port = free_port(), free_port()
        self._children: list[Child] = []
        self._controllers: Child | None = None
        self._standby: Child | None = None
        self._baseline: dict[str, bytes] = {}
        self._context: ssl.SSLContext | None = None
        self.token_seed = secrets.randbits(128)
        """The seed of the key that signs tokens of accounts, for the server and for its stand-ins here."""
        self._write_files()

    @property
    def audit_log(self) -> Path:
        """Where the server writes its audit log."""
        return self.folder / "audit.log"

    @property
    def node_socket(self) -> Path:
        """Where the server connects to nodes, whatever their address."""
        return self.folder / "nodes.sock"

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of its processes."""
        return tuple(child.pid for child in (*self._children, self._controllers, self._standby) if child is not None)

    @property
    def is_alive(self) -> bool:
        """Whether the permanent processes are still running."""
        return bool(self._children) and not any(child.has_ended for child in self._children)

    def origin(self) -> tuple[str, int, ssl.SSLContext]:
        """The server's address, and its certificate authority."""
        if self._context is None:
            self._context = ssl.create_default_context(cadata=self.authority.certificate)
        return _HOST, self.port, self._context

    def etcd(self) -> Etcd:
        """A client to its etcd, for one event loop."""
        return Etcd(self._etcd_port)

    def client(self) -> "Operator":
        """A client with every right, for one event loop."""
        return Operator(self._access())

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        programs, folder = self._programs, self.folder
        self._children.append(Child(programs.etcd, self._etcd_arguments(), folder / "etcd.log"))
        self._children.append(Child(programs.apiserver, self._server_arguments(), folder / "kube-apiserver.log"))
        operator, deadline = self.client(), time.monotonic() + _START_SECONDS
        try:
            while not await operator.is_ready():
                self._require_children()
                if time.monotonic() > deadline:
                    words = self._children[-1].last_words
                    raise _start_fault(f"kube-apiserver is not ready after {_START_SECONDS:g} s: {words}")
                await asyncio.sleep(_STEP_SECONDS * 5)
        finally:
            operator.close()
        etcd = self.etcd()
        try:
            # Roles and flow schemas are written after the server is ready: the baseline is complete once it stops
            # growing.
            self._baseline = {entry.key: entry.value or b"" for entry in await _settled(etcd)}
            await etcd.write([_held_lease()])
        finally:
            etcd.close()
        self.prepare_controllers()

    def prepare_controllers(self) -> None:
        """Start controllers that wait until they are needed."""
        if self._standby is None or self._standby.has_ended:
            log = self.folder / "kube-controller-manager.log"
            self._standby = Child(self._programs.controllers, self._controller_arguments(), log)

    async def start_controllers(self) -> None:
        """Have the controllers manage what is there."""
        self.prepare_controllers()
        self._controllers, self._standby = self._standby, None
        etcd = self.etcd()
        try:
            await etcd.write((), [_LEASE_KEY])
        finally:
            etcd.close()

    def require_controllers(self) -> None:
        """Raise ProviderFault, with their last words, when the controllers have ended."""
        if self._controllers is None or self._controllers.has_ended:
            words = self._controllers.last_words if self._controllers else ""
            raise _start_fault(f"kube-controller-manager has ended: {words}")

    def stop_controllers(self) -> None:
        """End the controllers at once."""
        if self._controllers is not None:
            self._controllers.kill()
            self._controllers = None

    async def reset(self, objects: Iterable[tuple[str, bytes]] = ()) -> int:
        """Leave only what the server itself made, and these objects; returns the revision since which that holds.

        The controllers must have been stopped.
        """
        self._require_children()
        etcd, wanted = self.etcd(), dict(objects)
        try:
            found = {entry.key: entry.value for entry in await etcd.entries(REGISTRY) if _is_steady(entry.key)}
            kept = {key: value for key, value in self._baseline.items() if _is_steady(key)}
            put = {key: value for key, value in kept.items() if found.get(key) != value and key not in wanted}
            gone = [key for key in found if key not in kept and key not in wanted]
            return await etcd.write([*put.items(), *wanted.items(), _held_lease()], gone)
        finally:
            etcd.close()

    def is_volatile(self, key: str) -> bool:
        """Whether an entry is one that the server keeps renewing, or not an object at all."""
        return not key.startswith(REGISTRY) or not _is_steady(key)

    def stop(self) -> None:
        """End all of it, and leave no files."""
        self.stop_controllers()
        for child in (self._standby, *reversed(self._children)):
            if child is not None:
                child.kill()
        self._standby = None
        self._children.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _require_children(self) -> None:
        for child in self._children:
            if child.has_ended:
                raise _start_fault(f"{child.name} has ended: {child.last_words}")

    def _access(self, who: str = "operator") -> AgentAccess:
        return AgentAccess(
            server=f"https://{_HOST}:{self.port}",
            authority=self.authority.certificate,
            token=self._tokens[who],
            namespace="default",
            kubeconfig="",
        )

    def _write_files(self) -> None:
        identity = self.authority.issue((_HOST, "localhost"))
        operator, manager, _ = OWN_USERS
        through_socket = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": str(self.node_socket)}}}
        egress = {
            "apiVersion": "apiserver.k8s.io/v1beta1",
            "kind": "EgressSelectorConfiguration",
            # Nodes and pods are in the first network, webhooks at an address in the second.
            "egressSelections": [{"name": name, "connection": through_socket} for name in ("cluster", "controlplane")],
        }
        access = self._access("controllers")
        files: Mapping[str, str] = {
            "ca.crt": self.authority.certificate,
            "server.crt": identity.certificate,
            "server.key": identity.key,
            "accounts.key": Signer(self.token_seed).private_key_text(),
            "tokens.csv": "".join(
                f'{self._tokens[who]},{user},{user},"{_OPERATORS}"\n'
                for who, user in (("operator", operator), ("controllers", manager))
            ),
            "audit-policy.yaml": json.dumps(_AUDIT_POLICY),
            "egress.yaml": json.dumps(egress),
            "controllers.kubeconfig": kubeconfig(access.server, access.authority, access.token, "default"),
        }
        for name, text in files.items():
            path = self.folder / name
            path.touch(mode=0o600)
            path.write_text(text)

    def _etcd_arguments(self) -> list[str]:
        peer, own = f"http://{_HOST}:{free_port()}", f"http://{_HOST}:{self._etcd_port}"
        return [
            f"--data-dir={self.folder / 'etcd'}", f"--listen-client-urls={own}", f"--advertise-client-urls={own}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}",
            "--max-txn-ops=10000", "--max-request-bytes=67108864", "--log-level=error", "--snapshot-count=1000",
            "--auto-compaction-mode=revision", "--auto-compaction-retention=20000",
        ]  # fmt: skip

    def _server_arguments(self) -> list[str]:
        folder = self.folder
        return [
            f"--etcd-servers=http://{_HOST}:{self._etcd_port}", f"--bind-address={_HOST}",
            f"--secure-port={self.port}", f"--tls-cert-file={folder / 'server.crt'}",
            f"--tls-private-key-file={folder / 'server.key'}", f"--token-auth-file={folder / 'tokens.csv'}",
            "--authorization-mode=RBAC", f"--service-cluster-ip-range={SERVICE_RANGE}",
            f"--service-account-issuer={ISSUER}",
            f"--service-account-key-file={folder / 'accounts.key'}",
            f"--service-account-signing-key-file={folder / 'accounts.key'}",
            f"--audit-policy-file={folder / 'audit-policy.yaml'}", f"--audit-log-path={self.audit_log}",
            "--audit-log-mode=blocking", "--audit-log-maxsize=100000",
            f"--egress-selector-config-file={folder / 'egress.yaml'}", "--allow-privileged=true",
            # What is in etcd is then what everybody can read: the declared state is put there with its history.
            "--storage-media-type=application/json", "--endpoint-reconciler-type=none", "--profiling=false",
            f"--cert-dir={folder}", "--event-ttl=24h",
        ]  # fmt: skip

    def _controller_arguments(self) -> list[str]:
        return [
            f"--kubeconfig={self.folder / 'controllers.kubeconfig'}", "--secure-port=0", "--leader-elect=true",
            f"--leader-elect-resource-name={_LEASE}", "--leader-elect-resource-namespace=kube-system",
            # Whoever holds the lease keeps it; those who want it look often.
            "--leader-elect-lease-duration=720h", "--leader-elect-renew-deadline=700h",
            "--leader-elect-retry-period=100ms",
            f"--controllers={','.join(_CONTROLLERS)}", f"--root-ca-file={self.folder / 'ca.crt'}",
            "--kube-api-qps=2000", "--kube-api-burst=4000", "--profiling=false", "--min-resync-period=12h",
        ]  # fmt: skip


class Operator:
    """The API with every right, for one event loop."""

    def __init__(self, access: AgentAccess) -> None:
        self._connections = Connections(access.origin(), kept=4)
        self._token = access.token

    async def is_ready(self) -> bool:
        """Whether the server reports that it is ready."""
        try:
            return (await self._ask("GET", "/readyz", None)).status == 200
        except Unanswered:
            return False

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a request; ProviderFault when it is refused."""
        try:
            answer = await self._ask(method, path, body)
        except Unanswered as unanswered:
            raise ProviderFault("kube-apiserver", unanswered.problem, "see its log", unanswered.kind) from unanswered
        if answer.status >= 300:
            problem = f"{method} {path}: {answer.status} {answer.content.decode(errors='replace')[:500]}"
            raise ProviderFault("kube-apiserver", problem, "see its log", FaultKind.FAILED)
        return json.loads(answer.content)

    async def try_write(self) -> None:
        """Send a write that changes nothing, whatever the answer."""
        body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"generateName": "settings-"}}
        await self._ask("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", body)

    async def _ask(self, method: str, path: str, body: Any) -> Answer:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        content = b""
        if body is not None:
            headers["Content-Type"], content = "application/json", json.dumps(body).encode()
        return await self._connections.request(method, path, headers=headers, content=content, timeout=_TIMEOUT)

    def close(self) -> None:
        """Close its connections."""
        self._connections.close()


async def _settled(etcd: Etcd) -> list[Entry]:
    """Everything in etcd, once nothing has been added for a while."""
    found: list[Entry] = []
    for _ in range(100):
        before, found = found, await etcd.entries(REGISTRY)
        if before and [entry.key for entry in before] == [entry.key for entry in found]:
            return found
        await asyncio.sleep(0.3)
    return found


def _held_lease() -> tuple[str, bytes]:
    """The entry that keeps controllers waiting."""
    return _LEASE_KEY, json.dumps(_HELD).encode()


def _is_steady(key: str) -> bool:
    return not key.startswith(_VOLATILE)


def _start_fault(problem: str) -> ProviderFault:
    return ProviderFault("control plane", problem, "see docs/cluster.md", FaultKind.FAILED)
