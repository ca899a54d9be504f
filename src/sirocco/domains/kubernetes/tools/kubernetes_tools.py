"""Tools that work on Kubernetes resources, each with the requests that kubectl would send."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from kubesim.bodies.go_yaml import YamlError, load_yaml
from kubesim.discovery.catalogue import Resource
from sirocco.domains.kubernetes.tools.kinds import resource
from sirocco.domains.kubernetes.tools.presentation import TABLE, as_columns, as_json, as_yaml
from sirocco.domains.kubernetes.tools.session import SERVER_NAME, Session, ToolError, segment
from sirocco.domains.kubernetes.tools.tool import ApiVersion, Kind, Name, Namespace, Tool

_MANAGER = {"fieldManager": SERVER_NAME}
_EMPTY = "No resources found"
_RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
_MERGE_PATCH, _STRATEGIC_PATCH = "application/merge-patch+json", "application/strategic-merge-patch+json"
_PATCH_FORMS = {"strategic": _STRATEGIC_PATCH, "merge": _MERGE_PATCH, "json": "application/json-patch+json"}
_SEPARATOR = re.compile(r"^---(?:[ \t].*)?$", re.MULTILINE)
Manifest = Annotated[str, Field(min_length=1, description="One Kubernetes object as YAML or JSON.")]
Pod = Annotated[str, Field(min_length=1, description="Name of the pod.")]
Container = Annotated[str, Field(description="Name of the container; empty means the only one of the pod.")]


class _OfKind(Tool):
    kind: Kind
    namespace: Namespace = ""
    api_version: ApiVersion = ""

    async def row(self, session: Session) -> Resource:
        """The resource that the call is about."""
        return await resource(session, self.kind, self.api_version)


class _OfOne(_OfKind):
    name: Name

    async def path(self, session: Session, subresource: str = "") -> str:
        """The path of the object."""
        row = await self.row(session)
        return row.path(session.namespace(self.namespace), segment(self.name, "name"), subresource)


class ListResources(_OfKind):
    """List the Kubernetes resources of a type in a namespace, or in all namespaces."""

    all_namespaces: bool = Field(default=False, description="List across all namespaces.")
    label_selector: str = Field("", description="Label selector such as app=web,tier!=cache.")
    field_selector: str = Field("", description="Field selector such as status.phase=Running.")
    output: Literal["table", "yaml"] = Field("table", description="A table, or the complete objects as YAML.")

    async def call(self, session: Session) -> str:
        """Ask for the collection."""
        row = await self.row(session)
        path = row.path(None if self.all_namespaces else session.namespace(self.namespace))
        query = {"labelSelector": self.label_selector, "fieldSelector": self.field_selector}
        if self.output == "yaml":
            return as_yaml(await session.ask("GET", path, query=query))
        # The columns do not say in which namespace an object is; its metadata does.
        return await _columns(session, path, query, _EMPTY, objects="Metadata" if self.all_namespaces else "None")


class GetResource(_OfOne):
    """Get one Kubernetes resource as YAML."""

    async def call(self, session: Session) -> str:
        """Ask for the object."""
        return as_yaml(await session.ask("GET", await self.path(session)))


class DescribeResource(_OfOne):
    """Describe one Kubernetes resource: the object as YAML, and the recent events about it."""

    async def call(self, session: Session) -> str:
        """Ask for the object and then for its events."""
        row = await self.row(session)
        found = await session.ask("GET", await self.path(session))
        events = await resource(session, "events", "v1")
        about = {"involvedObject.kind": row.kind, "involvedObject.name": self.name}
        # Events about cluster-wide objects are kept in the default namespace.
        path = events.path(session.namespace(self.namespace) if row.namespaced else "default")
        query = {"fieldSelector": ",".join(f"{key}={value}" for key, value in about.items())}
        try:
            lines = await _columns(session, path, query, "<none>")
        except ToolError as error:
            lines = str(error)
        return f"{as_yaml(found)}\nEvents:\n{lines}"


class CreateResource(Tool):
    """Create a Kubernetes resource from a manifest; fails if it already exists."""

    reads_only: ClassVar[bool] = False
    manifest: Manifest
    namespace: Namespace = ""

    async def call(self, session: Session) -> str:
        """Send the object to its collection."""
        item, row, place, _ = await _read_manifest(session, self.manifest, self.namespace)
        return as_yaml(await session.ask("POST", row.path(place), query=_MANAGER, body=item))


class ApplyResource(Tool):
    """Create or change a Kubernetes resource from a manifest by server-side apply."""

    reads_only: ClassVar[bool] = False
    manifest: Manifest
    namespace: Namespace = ""
    force: bool = Field(default=False, description="Take over fields that another manager owns.")

    async def call(self, session: Session) -> str:
        """Send the object as an apply patch."""
        item, row, place, name = await _read_manifest(session, self.manifest, self.namespace)
        query = {**_MANAGER, "force": "true" if self.force else ""}
        if not name:
            raise ToolError("invalid manifest: metadata.name is needed")
        path = row.path(place, segment(name, "name"))
        return as_yaml(
            await session.ask("PATCH", path, query=query, body=item, content_type="application/apply-patch+yaml")
        )


class PatchResource(_OfOne):
    """Change parts of a Kubernetes resource with a patch."""

    reads_only: ClassVar[bool] = False
    patch: str = Field(min_length=1, description="The patch as JSON or YAML: an object, or a list for type json.")
    patch_type: Literal["strategic", "merge", "json"] = Field(
        "strategic", description="Strategic merge patch, JSON merge patch or JSON patch."
    )
    subresource: Literal["", "status", "scale"] = Field("", description="Subresource to patch instead of the object.")

    async def call(self, session: Session) -> str:
        """Send the patch."""
        body, form = _document(self.patch, "patch"), _PATCH_FORMS[self.patch_type]
        path = await self.path(session, self.subresource)
        return as_yaml(await session.ask("PATCH", path, query=_MANAGER, body=body, content_type=form))


class ScaleResource(_OfOne):
    """Set the number of replicas of a Deployment, StatefulSet or ReplicaSet."""

    reads_only: ClassVar[bool] = False
    replicas: int = Field(ge=0, description="The number of replicas to run.")

    async def call(self, session: Session) -> str:
        """Change the scale of the workload."""
        path = await self.path(session, "scale")
        body = {"spec": {"replicas": self.replicas}}
        return as_yaml(await session.ask("PATCH", path, query=_MANAGER, body=body, content_type=_MERGE_PATCH))


class RestartWorkload(_OfOne):
    """Restart the pods of a Deployment, StatefulSet or DaemonSet one after the other by a new rollout."""

    reads_only: ClassVar[bool] = False

    async def call(self, session: Session) -> str:
        """Stamp the pod template."""
        template = {"metadata": {"annotations": {_RESTARTED_AT: session.now()}}}
        return as_yaml(
            await session.ask(
                "PATCH", await self.path(session), query=_MANAGER, body={"spec": {"template": template}},
                content_type=_STRATEGIC_PATCH,
            )
        )  # fmt: skip


class DeleteResource(_OfOne):
    """Delete one Kubernetes resource and, in the background, what it owns."""

    reads_only: ClassVar[bool] = False
    destroys: ClassVar[bool] = True
    grace_period_seconds: int | None = Field(None, ge=0, description="Seconds until a pod is stopped by force.")

    async def call(self, session: Session) -> str:
        """Delete the object."""
        options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if self.grace_period_seconds is not None:
            options["gracePeriodSeconds"] = self.grace_period_seconds
        return as_yaml(await session.ask("DELETE", await self.path(session), body=options))


class GetPodLogs(Tool):
    """Read the log of a container of a pod."""

    pod: Pod
    namespace: Namespace = ""
    container: Container = ""
    tail_lines: int | None = Field(None, ge=0, description="Only so many lines from the end.")
    since_seconds: int | None = Field(None, ge=1, description="Only lines of the last so many seconds.")
    previous: bool = Field(default=False, description="The log of the container's previous run.")

    async def call(self, session: Session) -> str:
        """Ask for the log."""
        path = await _pod_path(session, self.pod, self.namespace, "log")
        query = {
            "container": self.container,
            "tailLines": None if self.tail_lines is None else str(self.tail_lines),
            "sinceSeconds": None if self.since_seconds is None else str(self.since_seconds),
            "previous": "true" if self.previous else None,
        }
        return as_json(await session.ask("GET", path, query=query, accept="*/*") or "")


class ExecInPod(Tool):
    """Run a command in a container of a pod; what it prints."""

    reads_only: ClassVar[bool] = False
    destroys: ClassVar[bool] = True
    pod: Pod
    command: list[str] = Field(min_length=1, description='The command and its arguments, such as ["ls", "-l", "/tmp"].')
    namespace: Namespace = ""
    container: Container = ""

    async def call(self, session: Session) -> str:
        """Run it to its end."""
        path = await _pod_path(session, self.pod, self.namespace, "exec")
        query = {"command": self.command, "container": self.container, "stdout": "true", "stderr": "true"}
        return as_json(await session.ask("POST", path, query=query, accept="*/*") or "")


class ListEvents(Tool):
    """List the recent events in a namespace, about all resources or one of them."""

    namespace: Namespace = ""
    kind: str = Field("", description="Only events about resources of this kind, such as Pod.")
    name: str = Field("", description="Only events about the resource of this name.")

    async def call(self, session: Session) -> str:
        """Ask for the events."""
        wanted = {"involvedObject.kind": self.kind, "involvedObject.name": self.name}
        selector = ",".join(f"{key}={value}" for key, value in wanted.items() if value)
        path = (await resource(session, "events", "v1")).path(session.namespace(self.namespace))
        return await _columns(session, path, {"fieldSelector": selector}, _EMPTY)


KUBERNETES_TOOLS: Mapping[str, type[Tool]] = {
    "list_resources": ListResources,
    "get_resource": GetResource,
    "describe_resource": DescribeResource,
    "create_resource": CreateResource,
    "apply_resource": ApplyResource,
    "patch_resource": PatchResource,
    "scale_resource": ScaleResource,
    "restart_workload": RestartWorkload,
    "delete_resource": DeleteResource,
    "get_pod_logs": GetPodLogs,
    "exec_in_pod": ExecInPod,
    "list_events": ListEvents,
}


async def _columns(session: Session, path: str, query: Mapping[str, str], empty: str, *, objects: str = "None") -> str:
    table = await session.ask("GET", path, query={**query, "includeObject": objects}, accept=TABLE)
    return as_columns(table, empty)


async def _pod_path(session: Session, pod: str, namespace: str, subresource: str) -> str:
    row = await resource(session, "pods", "v1")
    return row.path(session.namespace(namespace), segment(pod, "name"), subresource)


async def _read_manifest(session: Session, manifest: str, namespace: str) -> tuple[dict[str, Any], Resource, str, str]:
    """The object of a manifest, its resource, the namespace where it goes, and its name, which may be missing."""
    item = _document(manifest, "manifest")
    kind, version = (item.get("kind"), item.get("apiVersion")) if isinstance(item, dict) else (None, None)
    if not (isinstance(item, dict) and isinstance(kind, str) and isinstance(version, str) and kind and version):
        raise ToolError("invalid manifest: an object with apiVersion and kind is needed")
    metadata = item.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    own, name = named.get("namespace"), named.get("name")
    row = await resource(session, kind, version)
    place = session.namespace(namespace or (own if isinstance(own, str) else ""))
    return item, row, place, name if isinstance(name, str) else ""


def _document(text: str, what: str) -> Any:
    """The JSON value of a text; raise ToolError for invalid text, or for more than one document."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        pass
    if sum(bool(part.strip()) for part in _SEPARATOR.split(text)) > 1:
        raise ToolError(f"invalid {what}: it holds several documents; send one at a time")
    try:
        return load_yaml(text.encode(errors="replace"))
    except YamlError as error:
        raise ToolError(f"invalid {what}: {error}") from None


def _no_number(text: str) -> None:
    raise ValueError(text)
