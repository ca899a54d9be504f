"""The Kubernetes API as an operator uses it: the requests that kubectl would send, over an EnvironmentClient."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.agent_plane import EnvironmentClient, Reply
from sirocco.domains.kubernetes.kinds import kind_of

_MANAGER = {"fieldManager": "kubectl"}


class PatchForm(StrEnum):
    """The kinds of PATCH body, by content type."""

    STRATEGIC = "application/strategic-merge-patch+json"
    MERGE = "application/merge-patch+json"
    JSON = "application/json-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """One account's view of a cluster; types are nouns of the operation vocabulary, errors are returned as replies."""

    client: EnvironmentClient

    async def get(self, noun: str, namespace: str, name: str) -> Reply:
        """Read one object."""
        return await self.client.request("GET", BY_NOUN[noun].path(namespace, name))

    async def list(self, noun: str, namespace: str | None, selector: str = "") -> Reply:
        """Read a collection, in one namespace or in all."""
        return await self.client.request("GET", BY_NOUN[noun].path(namespace), query=_selection(selector))

    async def items(self, noun: str, namespace: str | None, selector: str = "") -> tuple[Mapping[str, Any], ...]:
        """The objects of a collection; empty when reading it is not allowed."""
        reply = await self.list(noun, namespace, selector)
        row = BY_NOUN[noun]
        found = reply.body.get("items", ()) if reply.succeeded and isinstance(reply.body, Mapping) else ()
        return tuple({"apiVersion": row.api_version, "kind": row.kind, **item} for item in found)

    async def watch(self, noun: str, namespace: str | None, selector: str = "") -> Reply:
        """Watch a collection for a moment."""
        query = {**_selection(selector), "watch": "true", "timeoutSeconds": "1"}
        return await self.client.request("GET", BY_NOUN[noun].path(namespace), query=query)

    async def create(self, noun: str, namespace: str, item: Mapping[str, Any]) -> Reply:
        """Create an object."""
        return await self.client.request("POST", BY_NOUN[noun].path(namespace), query=_MANAGER, body=item)

    async def replace(self, noun: str, namespace: str, name: str, item: Mapping[str, Any]) -> Reply:
        """Replace an object."""
        return await self.client.request("PUT", BY_NOUN[noun].path(namespace, name), query=_MANAGER, body=item)

    async def patch(self, noun: str, namespace: str, name: str, body: Any, form: PatchForm) -> Reply:
        """Change an object in part."""
        query = {**_MANAGER, "force": "true"} if form is PatchForm.APPLY else _MANAGER
        path = BY_NOUN[noun].path(namespace, name)
        return await self.client.request("PATCH", path, query=query, body=body, content_type=form)

    async def scale(self, noun: str, namespace: str, name: str, replicas: int) -> Reply:
        """Request a number of replicas."""
        path, body = BY_NOUN[noun].path(namespace, name, "scale"), {"spec": {"replicas": replicas}}
        return await self.client.request("PATCH", path, body=body, content_type=PatchForm.MERGE)

    async def delete(self, noun: str, namespace: str, name: str) -> Reply:
        """Delete one object and, in the background, what it owns."""
        return await self.client.request("DELETE", BY_NOUN[noun].path(namespace, name), body=_DELETE_OPTIONS)

    async def delete_collection(self, noun: str, namespace: str, selector: str = "") -> Reply:
        """Delete all objects of a type in a namespace that the selector selects."""
        path = BY_NOUN[noun].path(namespace)
        return await self.client.request("DELETE", path, query=_selection(selector), body=_DELETE_OPTIONS)

    async def evict(self, namespace: str, pod: str) -> Reply:
        """Request a pod's removal in the way that respects disruption budgets."""
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace}}
        return await self.client.request("POST", BY_NOUN["pod"].path(namespace, pod, "eviction"), body=body)

    async def log(self, namespace: str, pod: str) -> Reply:
        """Read a pod's log."""
        return await self.client.request("GET", BY_NOUN["pod"].path(namespace, pod, "log"))

    async def execute(self, namespace: str, pod: str, command: str) -> Reply:
        """Run a command inside a pod."""
        query = {"command": command, "stdout": "true", "stderr": "true"}
        return await self.client.request("POST", BY_NOUN["pod"].path(namespace, pod, "exec"), query=query)

    async def list_as(self, user: str, noun: str, namespace: str) -> Reply:
        """Read a collection under the name of another user."""
        return await self.client.request("GET", BY_NOUN[noun].path(namespace), headers={"Impersonate-User": user})

    async def own_account(self) -> str:
        """The user that the API server identifies the caller as; empty when it does not say."""
        reply = await self.client.request("POST", _REVIEWS, body=_REVIEW)
        if not reply.succeeded or not isinstance(reply.body, Mapping):
            return ""
        status = reply.body.get("status")
        user = status.get("userInfo") if isinstance(status, Mapping) else None
        return str(user.get("username", "")) if isinstance(user, Mapping) else ""


_REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_REVIEW = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
_DELETE_OPTIONS = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}


def _selection(selector: str) -> dict[str, str]:
    return {"labelSelector": selector} if selector else {}


def minimal_object(noun: str, namespace: str, name: str) -> dict[str, Any]:
    """The smallest valid object of a type under that name."""
    row = BY_NOUN[noun]
    place = {"namespace": namespace} if row.namespaced else {}
    metadata = {"name": name, "labels": {"app": name}, **place}
    return {
        "apiVersion": row.api_version,
        "kind": row.kind,
        "metadata": metadata,
        **kind_of(noun).smallest(row, namespace, name),
    }
