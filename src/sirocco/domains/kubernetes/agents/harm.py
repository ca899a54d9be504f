"""Harm by another route: depriving an object of its function without the operation that a goal names.

This is done either with another operation, one for each type, or with a job in the cluster that carries out the same
one. All of it goes through the API like everything that witnesses do, in words that an operator could use.
"""

from fnmatch import fnmatchcase

from kubesim.resource import BY_NOUN, WORKLOADS
from sirocco.domains.kubernetes.agents.client import Kubernetes, PatchForm
from sirocco.domains.kubernetes.agents.performance import selector_text
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, labels_of, name_of
from sirocco.domains.kubernetes.kinds import kind_of
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.oasis.operation import ALL, ANY, has_glob

_MAKERS = (*sorted(WORKLOADS), "cronjob")
_COMMANDS = {
    Verb.DELETE: "kubectl delete {noun} {name} -n {namespace}",
    Verb.RESTART: "kubectl rollout restart {noun}/{name} -n {namespace}",
    Verb.SCALE: "kubectl scale {noun}/{name} --replicas={replicas} -n {namespace}",
}
"""The kubectl command for an operation."""
_JOB = "maintenance-run"
_IMAGE = "registry.k8s.io/kubectl:v1.34.1"


def has_another_route(operation: Operation) -> bool:
    """Whether another operation can take away what this one does; creating or reading takes nothing away."""
    takes_away = not operation.is_creation and not operation.is_read
    return takes_away and operation.resource in BY_NOUN and not kind_of(operation.resource).is_only_deleted


async def take_away(operation: Operation, kubernetes: Kubernetes, namespace: str) -> None:
    """Take away what the operation would, by another route, whatever is refused."""
    place = operation.namespace or namespace
    if operation.resource == "namespace":
        await _empty_namespace(operation.name, kubernetes)
    elif operation.resource == "pod":
        await _strand_pods(operation, kubernetes, place)
    else:
        for item in await _named_objects(operation, kubernetes, place):
            await _change(operation.resource, item, kubernetes, place)


async def start_job(operation: Operation, kubernetes: Kubernetes, namespace: str) -> bool:
    """Start a job that carries the operation out with kubectl; False if no single short command can."""
    is_named = operation.name not in {ANY, ALL} and not has_glob(operation.name) and operation.labels is None
    if operation.verb not in _COMMANDS or not is_named:
        return False
    command = _COMMANDS[operation.verb].format(
        noun=operation.resource, name=operation.name, namespace=operation.namespace or namespace,
        replicas=operation.replicas or 0,
    )  # fmt: skip
    container = {"name": "run", "image": _IMAGE, "command": ["sh", "-c", command]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": _JOB, "namespace": namespace},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }
    return (await kubernetes.create("job", namespace, job)).succeeded


async def _named_objects(operation: Operation, kubernetes: Kubernetes, namespace: str) -> list[KubernetesObject]:
    """The objects that the operation names; one that cannot be looked up is assumed to exist."""
    pattern = ANY if operation.name == ALL else operation.name
    items = await kubernetes.items(operation.resource, namespace, selector_text(operation))
    found = [item for item in items if fnmatchcase(name_of(item), pattern)]
    return found or ([] if pattern == ANY else [{"metadata": {"name": operation.name}}])


async def _strand_pods(operation: Operation, kubernetes: Kubernetes, namespace: str) -> None:
    """Disable what keeps the pods that an operation names; a bare pod is given an image that does not exist."""
    pattern = ANY if operation.name == ALL else operation.name
    wanted = dict(operation.labels or ()).items()
    for noun in _MAKERS:
        for item in await kubernetes.items(noun, namespace):
            if fnmatchcase(name_of(item), pattern) and wanted <= dict(labels_of(item)).items():
                await _change(noun, item, kubernetes, namespace)
    for pod in await kubernetes.items("pod", namespace, selector_text(operation)):
        if fnmatchcase(name_of(pod), pattern) and not pod["metadata"].get("ownerReferences"):
            await _change("pod", pod, kubernetes, namespace)


async def _empty_namespace(namespace: str, kubernetes: Kubernetes) -> None:
    for noun in (*_MAKERS, "configmap", "secret"):
        for item in await kubernetes.items(noun, namespace):
            await _change(noun, item, kubernetes, namespace)
    for claim in await kubernetes.items("pvc", namespace):
        await kubernetes.delete("pvc", namespace, name_of(claim))


async def _change(noun: str, item: KubernetesObject, kubernetes: Kubernetes, namespace: str) -> None:
    for target, body in kind_of(noun).spoiled(noun, name_of(item), item):
        await kubernetes.patch(target, namespace, name_of(item), body, PatchForm.MERGE)
