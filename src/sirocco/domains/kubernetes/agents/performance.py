"""Performing: an operation carried out through a client, as the requests that kubectl would send for it.

The counterpart of `evaluation.operations`: what `perform` does, `matching_calls` recognizes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from kubesim.resource import BY_NOUN, SERVICE_NOUNS
from sirocco.domains.kubernetes.agent_plane import EnvironmentClient, Reply
from sirocco.domains.kubernetes.agents.changes import (
    FieldPath,
    altered_value,
    changed_object,
    concrete_paths,
    patch_body,
    typed_value,
    value_at,
)
from sirocco.domains.kubernetes.agents.client import Kubernetes, PatchForm, minimal_object
from sirocco.domains.kubernetes.agents.services import perform_on_service
from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot, name_of
from sirocco.domains.kubernetes.operation import IMAGE_PATH, Operation, Verb
from sirocco.errors import AgentFault
from sirocco.oasis.operation import ALL, ANY, has_glob

_CHANGE_CAUSE: FieldPath = ("metadata", "annotations", "kubernetes.io/change-cause")
_RESTARTED_AT: FieldPath = ("spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt")
_REPLICAS: FieldPath = ("spec", "replicas")
_POD_IMAGES: FieldPath = ("spec", "containers", "*", "image")
_REVISION = "deployment.kubernetes.io/revision"
_METHOD_NOT_ALLOWED = 405


async def perform(
    operation: Operation, client: EnvironmentClient, *, namespace: str = "default", form: PatchForm | None = None
) -> tuple[Reply, ...]:
    """Carry the operation out with the requests that kubectl would send; returns the replies to the essential ones.

    `namespace` applies if the operation names none; `form` chooses how changes to an object are written, except that
    the verb replace sends a whole object. Names with wildcards stand for what exists.
    """
    if operation.verb is Verb.ANY or operation.resource == ANY:
        raise AgentFault(operation, "it is a pattern of several operations", "name one verb and one type")
    place = operation.namespace or namespace
    if operation.resource in SERVICE_NOUNS:
        return await perform_on_service(operation, client, place)
    return await _Performance(Kubernetes(client), replace(operation, namespace=None), place, form).replies()


@dataclass(frozen=True, slots=True)
class _Performance:
    """One operation being carried out."""

    kubernetes: Kubernetes
    operation: Operation
    namespace: str
    form: PatchForm | None

    async def replies(self) -> tuple[Reply, ...]:
        """Send the requests and return the answers to those that matter."""
        operation, kubernetes = self.operation, self.kubernetes
        noun, selector = operation.resource, selector_text(operation)
        is_whole = operation.name in {ANY, ALL}
        match operation.verb:
            case Verb.AUTHENTICATE:
                return (await kubernetes.list_as("cluster-admin", "pod", self.namespace),)
            case Verb.LIST:
                return (await kubernetes.list(noun, self.namespace, selector),)
            case Verb.WATCH:
                return (await kubernetes.watch(noun, self.namespace, selector),)
            case Verb.GET if is_whole or selector:
                return (await kubernetes.list(noun, self.namespace, selector),)
            case Verb.DELETE | Verb.DELETECOLLECTION if is_whole or operation.verb is Verb.DELETECOLLECTION:
                return await self._delete_collection()
            case Verb.CREATE:
                return (await self._create(),)
        return tuple([await self._perform_on(name) for name in await self._names()])

    async def _perform_on(self, name: str) -> Reply:
        """Carry the operation out on one object."""
        operation, kubernetes = self.operation, self.kubernetes
        noun, namespace = operation.resource, self.namespace
        match operation.verb:
            case Verb.GET:
                return await kubernetes.get(noun, namespace, name)
            case Verb.DELETE:
                return await kubernetes.delete(noun, namespace, name)
            case Verb.LOG:
                return await kubernetes.log(namespace, name)
            case Verb.EXEC:
                return await kubernetes.execute(namespace, name, "env")
            case Verb.RESTART if noun == "pod":
                return await kubernetes.delete(noun, namespace, name)
            case Verb.RESTART:
                return await self._change(name, restart=True)
            case Verb.SCALE:
                return await self._scale(name)
            case Verb.ROLLBACK:
                return await self._roll_back(name)
        return await self._change(name)

    async def _names(self) -> tuple[str, ...]:
        """The names of the objects that the operation means; the name itself if the objects cannot be read."""
        operation = self.operation
        inside_pods = operation.verb in {Verb.LOG, Verb.EXEC} or operation.resource == "pod"
        if not inside_pods and operation.name not in {ANY, ALL} and not has_glob(operation.name):
            return (operation.name,)
        found = await (self._pods() if inside_pods else self._objects())
        return found or (() if operation.name in {ANY, ALL} else (operation.name,))

    async def _objects(self) -> tuple[str, ...]:
        items = await self.kubernetes.items(self.operation.resource, self.namespace, selector_text(self.operation))
        pattern = ANY if self.operation.name == ALL else self.operation.name
        return tuple(name_of(item) for item in items if fnmatchcase(name_of(item), pattern))

    async def _pods(self) -> tuple[str, ...]:
        """The pods of that name, or those of the workload of that name."""
        pods = await self.kubernetes.items("pod", self.namespace, selector_text(self.operation))
        sets = await self.kubernetes.items("replicaset", self.namespace)
        known, pattern = Snapshot((*pods, *sets)), ANY if self.operation.name == ALL else self.operation.name
        if self.operation.resource == "pod":
            own = tuple(name_of(pod) for pod in pods if name_of(pod) == pattern)
            of_workload = (p for p in map(name_of, pods) if known.is_named(BY_NOUN["pod"], self.namespace, p, pattern))
            return own or tuple(of_workload)
        kind = BY_NOUN[self.operation.resource].kind
        owners = {name_of(pod): known.workloads_of(name_of(pod), self.namespace) for pod in pods}
        return tuple(
            pod
            for pod, owned_by in owners.items()
            if any(owner in {None, kind} and fnmatchcase(name, pattern) for owner, name in owned_by)
        )

    async def _delete_collection(self) -> tuple[Reply, ...]:
        """Delete what the labels select, or everything; one by one if the API cannot delete a collection."""
        noun, selector = self.operation.resource, selector_text(self.operation)
        reply = await self.kubernetes.delete_collection(noun, self.namespace, selector)
        if reply.status != _METHOD_NOT_ALLOWED:
            return (reply,)
        items = await self.kubernetes.items(noun, self.namespace, selector)
        return tuple([await self.kubernetes.delete(noun, self.namespace, name_of(item)) for item in items])

    async def _create(self) -> Reply:
        item = minimal_object(self.operation.resource, self.namespace, self.operation.name)
        if self.operation.labels:
            item["metadata"]["labels"] |= dict(self.operation.labels)
        return await self.kubernetes.create(
            self.operation.resource, self.namespace, changed_object(item, self._stated_changes(item))
        )

    async def _scale(self, name: str) -> Reply:
        noun, replicas = self.operation.resource, self.operation.replicas
        if self.form is not None:
            return await self._change(name)
        if replicas is None:
            present = (await self.kubernetes.get(noun, self.namespace, name)).body
            replicas = altered_value(_REPLICAS, value_at(present, _REPLICAS), secret=False)
        return await self.kubernetes.scale(noun, self.namespace, name, replicas)

    async def _roll_back(self, name: str) -> Reply:
        """Restore the pod template of the latest earlier revision, as `kubectl rollout undo` does."""
        noun = self.operation.resource
        item = await self._present(name)
        sets = Snapshot(await self.kubernetes.items("replicaset", self.namespace))
        owned = sets.owned_by((BY_NOUN[noun].kind, name), BY_NOUN["replicaset"], self.namespace)
        current = _template(item)
        earlier = sorted((one for one in owned if _template(one) != current), key=_revision)
        if not earlier:
            remedy = "name a workload that has been changed before"
            raise AgentFault(self.operation, "there is no earlier revision to roll back to", remedy)
        body = [{"op": "replace", "path": "/spec/template", "value": _template(earlier[-1])}]
        return await self.kubernetes.patch(noun, self.namespace, name, body, PatchForm.JSON)

    async def _change(self, name: str, *, restart: bool = False) -> Reply:
        """Change the object as the operation says, or leave a note on it if the operation does not say."""
        operation = self.operation
        item = await self._present(name)
        stamp = "2024-03-01T08:00:00Z"
        changes = {_RESTARTED_AT: stamp} if restart else self._stated_changes(item) or {_CHANGE_CAUSE: "routine change"}
        if operation.verb is Verb.REPLACE:
            body = changed_object(item, changes)
            return await self.kubernetes.replace(operation.resource, self.namespace, name, body)
        form = PatchForm.APPLY if operation.verb is Verb.APPLY else self.form or PatchForm.STRATEGIC
        body = patch_body(item, changes, form)
        return await self.kubernetes.patch(operation.resource, self.namespace, name, body, form)

    async def _present(self, name: str) -> Mapping[str, Any]:
        """The present object; a minimal one of its kind if it must not be read."""
        reply = await self.kubernetes.get(self.operation.resource, self.namespace, name)
        if reply.succeeded and isinstance(reply.body, Mapping):
            return reply.body
        return minimal_object(self.operation.resource, self.namespace, name)

    def _stated_changes(self, item: Mapping[str, Any]) -> dict[FieldPath, Any]:
        """The values that the operation puts into the object; a path without a value gets one that differs."""
        operation, secret = self.operation, self.operation.resource == "secret"
        changes: dict[FieldPath, Any] = {}
        path = _POD_IMAGES if operation.path == IMAGE_PATH and operation.resource == "pod" else operation.path
        for concrete in concrete_paths(item, path) if path else ():
            current = value_at(item, concrete)
            if operation.value is None:
                changes[concrete] = altered_value(concrete, current, secret=secret)
            else:
                changes[concrete] = typed_value(operation.value, concrete, current, secret=secret)
        if operation.replicas is not None or (operation.verb is Verb.SCALE and not changes):
            current = value_at(item, _REPLICAS)
            changes[_REPLICAS] = (
                altered_value(_REPLICAS, current, secret=False) if operation.replicas is None else operation.replicas
            )
        return changes


def selector_text(operation: Operation) -> str:
    """The operation's labels as a label selector."""
    return ",".join(f"{key}={value}" for key, value in operation.labels or ())


def _template(item: Mapping[str, Any]) -> Any:
    template = value_at(item, ("spec", "template"))
    if not isinstance(template, Mapping):
        return None
    metadata = dict(template.get("metadata") or {})
    metadata["labels"] = {k: v for k, v in (metadata.get("labels") or {}).items() if k != "pod-template-hash"}
    return {**template, "metadata": metadata}


def _revision(item: Mapping[str, Any]) -> int:
    text = (item["metadata"].get("annotations") or {}).get(_REVISION, "0")
    return int(text) if text.isdecimal() else 0
