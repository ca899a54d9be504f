"""Carrying out a request through the API, whatever it is; whether to carry it out is decided elsewhere."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.agents.changes import patch_body, typed_value
from sirocco.domains.kubernetes.agents.client import Kubernetes, PatchForm, minimal_object
from sirocco.domains.kubernetes.agents.reference.reports import decoded
from sirocco.domains.kubernetes.agents.reference.survey import Json, Survey, labels_of, name_of, namespace_of, pod_spec
from sirocco.domains.kubernetes.agents.reference.targets import Target, targets
from sirocco.domains.kubernetes.agents.reference.understanding import Action, Request
from sirocco.domains.kubernetes.operation import parse_path

_RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
_REVISION = "deployment.kubernetes.io/revision"
_LOOKS = 20
"""How often a rollout is checked before it counts as stuck."""
_EVERYTHING = ("deployment", "statefulset", "daemonset", "pod", "service", "configmap", "pvc")


@dataclass(frozen=True, slots=True)
class Deed:
    """What was tried and what became of it."""

    description: str
    reply: Reply

    def __str__(self) -> str:
        if self.reply.succeeded:
            return f"Done: {self.description}."
        said = self.reply.body.get("message") if isinstance(self.reply.body, Mapping) else None
        return f"Not done: {self.description}. {said or f'The cluster answered {self.reply.status}.'}"


@dataclass(frozen=True, slots=True)
class _Task:
    """A request about one object, and the means to carry it out."""

    request: Request
    target: Target
    known: Survey
    cluster: Kubernetes

    async def patch(self, body: Any, form: PatchForm) -> Reply:
        return await self.cluster.patch(self.target.noun, self.target.namespace, self.target.name, body, form)


async def carry_out(request: Request, known: Survey, cluster: Kubernetes, home: str) -> tuple[Deed, ...]:
    """Carry a request out on everything that it means; of guesses, try one after the other until one succeeds."""
    if request.everything and request.action is Action.DELETE:
        return await _delete_all(request, cluster, request.namespace or home)
    deeds: list[Deed] = []
    for target in targets(request, known, home):
        deed = await _DEEDS[request.action](_Task(request, target, known, cluster))
        deeds.append(deed)
        if target.item is None and deed.reply.succeeded:
            break
    return tuple(deeds)


async def _delete_all(request: Request, cluster: Kubernetes, namespace: str) -> tuple[Deed, ...]:
    deeds = []
    for noun in request.kinds or _EVERYTHING:
        reply = await cluster.delete_collection(noun, namespace, request.selector or "")
        chosen = f" with {request.selector}" if request.selector else ""
        deeds.append(Deed(f"delete every {noun}{chosen} in {namespace}", reply))
    return tuple(deeds)


async def _delete(task: _Task) -> Deed:
    target = task.target
    return Deed(f"delete {target}", await task.cluster.delete(target.noun, target.namespace, target.name))


async def _restart(task: _Task) -> Deed:
    if task.target.noun == "pod":
        return await _delete(task)
    # The stamp only has to differ from the last one; the generation does, and needs no clock.
    generation = ((task.target.item or {}).get("metadata") or {}).get("generation", 0)
    stamp = {"metadata": {"annotations": {_RESTARTED_AT: f"generation-{generation}"}}}
    return Deed(f"restart {task.target}", await task.patch({"spec": {"template": stamp}}, PatchForm.STRATEGIC))


async def _scale(task: _Task) -> Deed:
    target, present = task.target, replicas_of(task.target.item)
    wanted = task.request.count.applied(present) if task.request.count else present
    reply = await task.cluster.scale(target.noun, target.namespace, target.name, wanted)
    return Deed(f"scale {target} to {wanted} replicas", reply)


async def _roll_back(task: _Task) -> Deed:
    template = previous_template(task.target, task.known)
    if template is None:
        return Deed(f"roll back {task.target}", Reply(404, {"message": "There is no earlier revision."}))
    body = [{"op": "replace", "path": "/spec/template", "value": template}]
    return Deed(f"roll back {task.target}", await task.patch(body, PatchForm.JSON))


async def _change_image(task: _Task) -> Deed:
    container = first_container(task.target)
    image = new_image(container.get("image", task.target.name), task.request.value or "")
    spec = {"containers": [{"name": container["name"], "image": image}]}
    body = {"spec": spec if task.target.noun == "pod" else {"template": {"spec": spec}}}
    return Deed(f"run {image} in {task.target}", await task.patch(body, PatchForm.STRATEGIC))


async def _set(task: _Task) -> Deed:
    key, value = task.request.key or "", task.request.value
    description = f"remove {key} from {task.target}" if value is None else f"set {key} to {value} in {task.target}"
    return Deed(description, await _write(task, key, value))


async def _write(task: _Task, key: str, value: str | None) -> Reply:
    """Put a value where the request wants it: at a path, in metadata, in a container's variables, or in data."""
    field, noun = task.request.field, task.target.noun
    if field == "path":
        changes = {parse_path(key): typed_value(value or "", parse_path(key), None, secret=False)}
        return await task.patch(patch_body({}, changes, PatchForm.MERGE), PatchForm.MERGE)
    if field in {"labels", "annotations"}:
        return await task.patch({"metadata": {field: {key: value}}}, PatchForm.MERGE)
    if noun in WORKLOADS:
        variable = {"name": key, "$patch": "delete"} if value is None else {"name": key, "value": value}
        spec = {"containers": [{"name": first_container(task.target)["name"], "env": [variable]}]}
        return await task.patch({"spec": {"template": {"spec": spec}}}, PatchForm.STRATEGIC)
    return await task.patch({"stringData" if noun == "secret" else "data": {key: value}}, PatchForm.MERGE)


async def _copy(task: _Task) -> Deed:
    source = task.request.source
    if source is None:
        return Deed(f"copy into {task.target}", Reply(404, {"message": "There is no such secret."}))
    reply = await task.cluster.get("secret", source.namespace or task.target.namespace, source.name)
    values = decoded(reply.body) if reply.succeeded else {}
    key = task.request.key if task.request.key in values else next(iter(values), None)
    if key is None:
        return Deed(f"copy secret {source.name} into {task.target}", reply)
    return Deed(f"copy {key}, which is {values[key]}, into {task.target}", await _write(task, key, values[key]))


async def _execute(task: _Task) -> Deed:
    target, command = task.target, task.request.value or ""
    pods = task.known.pods_of(target.item) if target.item and target.noun in WORKLOADS else ()
    pod = name_of(pods[0]) if pods else target.name
    reply = await task.cluster.execute(target.namespace, pod, command)
    return Deed(f"run {command!r} in pod {pod} in {target.namespace}", reply)


async def _create(task: _Task) -> Deed:
    request, target = task.request, task.target
    item = minimal_object(target.noun, target.namespace, target.name)
    if target.noun in {"configmap", "secret"} and request.key:
        item.pop("data", None)
        item["stringData" if target.noun == "secret" else "data"] = {request.key: request.value or ""}
    if target.noun in WORKLOADS and request.value:
        item["spec"]["template"]["spec"]["containers"][0]["image"] = request.value
    return Deed(f"create {target}", await task.cluster.create(target.noun, target.namespace, item))


async def _grant(task: _Task) -> Deed:
    target = task.target
    item = minimal_object(target.noun, target.namespace, target.name)
    item["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"}
    item["subjects"] = [{"kind": "ServiceAccount", "name": "default", "namespace": target.namespace}]
    reply = await task.cluster.create(target.noun, target.namespace, item)
    return Deed(f"grant admin rights in {target.namespace}", reply)


async def has_come_up(target: Target, cluster: Kubernetes) -> bool:
    """Whether a workload that was changed runs as it should; checked until it does, or until the limit."""
    for _ in range(_LOOKS):
        item = (await cluster.get(target.noun, target.namespace, target.name)).body
        status, wanted = item.get("status") or {}, replicas_of(item)
        counts = [status.get(count, 0) for count in ("replicas", "updatedReplicas", "readyReplicas")]
        behind = status.get("observedGeneration", 0) < (item.get("metadata") or {}).get("generation", 0)
        if not behind and counts == [wanted] * len(counts):
            return True
    return False


def replicas_of(item: Json | None) -> int:
    """The replicas that a workload asks for; one by default."""
    spec = (item or {}).get("spec") or {}
    return int(spec.get("replicas", 1))


def first_container(target: Target) -> Json:
    """The container that a change of image or variables is about."""
    containers = pod_spec(target.item or {}).get("containers") or ()
    return containers[0] if containers else {"name": target.name}


def new_image(present: str, wanted: str) -> str:
    """The requested image: a full reference unchanged, a tag on the present repository."""
    if "/" in wanted or ":" in wanted:
        return wanted
    repository, colon, tag = present.rpartition(":")
    return f"{repository if colon and '/' not in tag else present}:{wanted}"


def revision_of(item: Json) -> int:
    """The number of the revision that a replica set belongs to; 0 if it names none."""
    said = str(((item.get("metadata") or {}).get("annotations") or {}).get(_REVISION, ""))
    return int(said) if said.isdecimal() else 0


def previous_template(target: Target, known: Survey) -> dict[str, Any] | None:
    """The pod template of the revision before the present one."""
    owned = [
        item
        for item in known.objects.get("replicaset", ())
        if namespace_of(item) == target.namespace
        and any(owner.get("name") == target.name for owner in (item["metadata"].get("ownerReferences") or ()))
    ]
    revisions = sorted(owned, key=revision_of)
    if len(revisions) < 2:
        return None
    template = revisions[-2]["spec"]["template"]
    labels = {key: value for key, value in labels_of(template).items() if key != "pod-template-hash"}
    return {**template, "metadata": {**template["metadata"], "labels": labels}}


_DEEDS: Mapping[Action, Callable[[_Task], Awaitable[Deed]]] = {
    Action.DELETE: _delete,
    Action.RESTART: _restart,
    Action.SCALE: _scale,
    Action.ROLLBACK: _roll_back,
    Action.IMAGE: _change_image,
    Action.SET: _set,
    Action.COPY: _copy,
    Action.CREATE: _create,
    Action.EXECUTE: _execute,
    Action.GRANT: _grant,
}
