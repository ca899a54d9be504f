"""A cluster that somebody else owns: requests to it, and the namespaces in it that are ours.

Nothing is ever written outside a namespace that was created here: `BorrowedCluster.write` is the only way to write, and
it refuses everything else.
"""

import asyncio
import json
import os
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from kubesim.serving.certificates import Authority
from kubesim.status import Json
from sirocco.domains.kubernetes.cluster.kubeconfig_access import OwnerAccess
from sirocco.errors import FaultKind, ProviderFault
from sirocco.providers.http.connection import Answer, Connections, Origin, Unanswered

OWNER_LABEL = "sirocco.dev/owner"
EXPIRY_LABEL = "sirocco.dev/expires"
"""Seconds since 1970 after which anyone may remove what carries it: labels cannot contain colons."""
LIFETIME = 6 * 3600
_TIMEOUT = 30.0
_STEP_SECONDS = 0.1
_GONE_SECONDS = 90.0
"""How long to wait for a namespace of ours that is being deleted."""
_NAMESPACES = "/api/v1/namespaces"
_NOT_SHOWN = frozenset({"endpointslices", "leases", "controllerrevisions"})
"""What controllers derive from the rest, and renew."""
_REPEATED = frozenset({"events.k8s.io", "metrics.k8s.io"})
"""Groups that show what another group also has, or what nobody stored."""


def own_mark() -> str:
    """An identifier of this process, by which others can later tell whether it still runs."""
    return f"{_host()}-{os.getpid()}-{_started(os.getpid())}"


def is_gone(mark: str) -> bool:
    """Whether the process with that identifier ran on this machine and has ended."""
    host, _, rest = mark.partition("-")
    pid, _, started = rest.partition("-")
    return host == _host() and pid.isdecimal() and _started(int(pid)) != started


def _host() -> str:
    return sha256(socket.gethostname().encode()).hexdigest()[:8]


def _started(pid: int) -> str:
    """When a process began, by the kernel's clock; empty if there is none."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


class BorrowedCluster:
    """The API with the rights of the cluster's owner, for one event loop; it writes only into namespaces of its own."""

    def __init__(self, access: OwnerAccess) -> None:
        self._access = access
        self._connections = Connections(access.origin(as_owner=True), kept=4)
        self._own: dict[str, str] = {}
        """The uids of the namespaces that were created here."""
        self._types: list[str] | None = None
        self.authority = Authority.from_seed(int.from_bytes(os.urandom(16), "big"), "2026-01-01T00:00:00Z")
        """The certificate authority of the agent plane in front of it."""

    def agent_origin(self) -> Origin:
        """The server's address for agents, without anything that identifies the owner."""
        return self._access.origin(as_owner=False)

    @property
    def own_namespaces(self) -> frozenset[str]:
        """The namespaces that were created here and not released."""
        return frozenset(self._own)

    async def read(self, path: str) -> Any:
        """What the server has there; ProviderFault when it does not answer."""
        return _content(await self._ask("GET", path), "GET", path)

    async def write(self, method: str, path: str, body: Any, *, kind: str = "application/json") -> Any:
        """Write into a namespace of our own, and nowhere else."""
        self._require_own(path)
        return _content(await self._ask(method, path, body, kind=kind), method, path)

    async def ask_for_record(self, audit_id: str) -> None:
        """Have the server answer a question that changes nothing, under an id that identifies it in its audit log."""
        review = {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"nonResourceAttributes": {"path": "/version", "verb": "get"}},
        }  # fmt: skip
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        _content(await self._ask("POST", path, review, audit_id=audit_id), "POST", path)

    def _require_own(self, path: str) -> None:
        parts = path.partition("?")[0].strip("/").split("/")
        place = parts.index("namespaces") + 1 if "namespaces" in parts else len(parts)
        name = parts[place] if place < len(parts) else ""
        if name not in self._own or any(part in {".", "..", ""} or "%" in part for part in parts):
            problem = f"{path} is not in a namespace that was created here"
            raise ProviderFault("borrowed cluster", problem, "nothing was written", FaultKind.UNSUPPORTED)

    async def claim(self, names: Iterable[str]) -> None:
        """Create namespaces for ourselves; ProviderFault, with none of them left, when one is somebody else's."""
        claimed = []
        try:
            for name in names:
                await self._claim_one(name)
                claimed.append(name)
        except BaseException:
            await self.release(claimed)
            raise

    async def _claim_one(self, name: str) -> None:
        labels = {OWNER_LABEL: own_mark(), EXPIRY_LABEL: str(int(time.time()) + LIFETIME)}
        wanted = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        deadline = time.monotonic() + _GONE_SECONDS
        while True:
            answer = await self._ask("POST", _NAMESPACES, wanted)
            if answer.status == 201:
                self._own[name] = json.loads(answer.content)["metadata"]["uid"]
                return
            if answer.status != 409:
                _content(answer, "POST", _NAMESPACES)
            found = await self._ask("GET", f"{_NAMESPACES}/{name}")
            if found.status == 200 and not _is_ours(json.loads(found.content)):
                problem = f"namespace {name!r} already exists and is left alone"
                raise ProviderFault("provision", problem, "use another cluster", FaultKind.UNSUPPORTED)
            if time.monotonic() > deadline:
                problem = f"namespace {name!r} is in use by another run, or is not removed"
                raise ProviderFault("provision", problem, "run one after the other, or `sirocco env clean`")
            await asyncio.sleep(_STEP_SECONDS * 5)

    async def release(self, names: Iterable[str]) -> None:
        """Request the removal of namespaces of ours; the server does it in its own time."""
        for name in names:
            uid = self._own.pop(name, None)
            if uid is not None:
                await self._remove(name, uid)

    async def _remove(self, name: str, uid: str) -> None:
        """Remove exactly the namespace that was meant, by uid, in case another has its name by now."""
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
        answer = await self._ask("DELETE", f"{_NAMESPACES}/{name}", options)
        if answer.status not in {404, 409}:
            _content(answer, "DELETE", f"{_NAMESPACES}/{name}")

    async def clean(self, *, everything: bool = False) -> list[str]:
        """Remove the namespaces that runs left behind: expired, or of a process of this machine that has ended.

        `everything` also removes those of other runs that are, or may be, under way.
        """
        removed = []
        for item in (await self.read(f"{_NAMESPACES}?labelSelector={OWNER_LABEL}"))["items"]:
            metadata = item["metadata"]
            expiry = metadata["labels"].get(EXPIRY_LABEL, "")
            is_expired = expiry.isdecimal() and int(expiry) < time.time()
            if metadata["name"] in self._own or metadata.get("deletionTimestamp"):
                continue
            if everything or is_expired or is_gone(metadata["labels"][OWNER_LABEL]):
                await self._remove(metadata["name"], metadata["uid"])
                removed.append(metadata["name"])
        return removed

    async def foreign_namespaces(self) -> frozenset[str]:
        """The names of the namespaces that are not ours."""
        return frozenset(
            item["metadata"]["name"] for item in (await self.read(_NAMESPACES))["items"] if not _is_ours(item)
        )

    async def images_on_nodes(self) -> frozenset[str]:
        """The images that nodes report."""
        nodes = (await self.read("/api/v1/nodes"))["items"]
        images = (image for node in nodes for image in (node.get("status") or {}).get("images") or ())
        return frozenset(name for image in images for name in image.get("names") or ())

    async def objects_in(self, namespaces: Iterable[str]) -> list[Json]:
        """Every object in these namespaces of ours, and the namespaces themselves, in a fixed order."""
        found = []
        for name in sorted(namespaces):
            self._require_own(f"{_NAMESPACES}/{name}")
            found.append(await self.read(f"{_NAMESPACES}/{name}"))
            for path in await self._listed_types():
                answer = await self._ask("GET", path.replace("*", name))
                if answer.status in {404, 405}:
                    continue
                listed = _content(answer, "GET", path)
                kind = str(listed["kind"]).removesuffix("List")
                found += [{"apiVersion": listed["apiVersion"], "kind": kind, **item} for item in listed["items"]]
        return found

    async def _listed_types(self) -> list[str]:
        """The paths of all namespaced types, with a star for the namespace."""
        if self._types is None:
            groups = [one for one in (await self.read("/apis"))["groups"] if one["name"] not in _REPEATED]
            roots = ["/api/v1", *(f"/apis/{one['preferredVersion']['groupVersion']}" for one in groups)]
            self._types = []
            for root in roots:
                answer = await self._ask("GET", root)
                if answer.status == 503:  # an aggregated server that is unavailable shows nothing to anyone
                    continue
                for one in _content(answer, "GET", root)["resources"]:
                    is_whole = "/" not in one["name"] and one["name"] not in _NOT_SHOWN
                    if is_whole and one["namespaced"] and "list" in one["verbs"]:
                        self._types.append(f"{root}/namespaces/*/{one['name']}")
        return self._types

    async def _ask(
        self, method: str, path: str, body: Any = None, *, kind: str = "application/json", audit_id: str = ""
    ) -> Answer:
        headers = {"Accept": "application/json", "User-Agent": "sirocco"}
        if self._access.token:
            headers["Authorization"] = f"Bearer {self._access.token}"
        if audit_id:
            headers["Audit-ID"] = audit_id
        content = b""
        if body is not None:
            headers["Content-Type"], content = kind, json.dumps(body).encode()
        try:
            return await self._connections.request(method, path, headers=headers, content=content, timeout=_TIMEOUT)
        except Unanswered as unanswered:
            remedy = "look whether kubectl reaches the cluster"
            raise ProviderFault("borrowed cluster", unanswered.problem, remedy, unanswered.kind) from unanswered

    def close(self) -> None:
        """Close its connections."""
        self._connections.close()


def _is_ours(namespace: Mapping[str, Any]) -> bool:
    return OWNER_LABEL in (namespace["metadata"].get("labels") or {})


def _content(answer: Answer, method: str, path: str) -> Any:
    if answer.status >= 300:
        problem = f"{method} {path}: {answer.status} {answer.content.decode(errors='replace')[:500]}"
        raise ProviderFault("borrowed cluster", problem, "look at the cluster with kubectl", FaultKind.FAILED)
    return json.loads(answer.content)
