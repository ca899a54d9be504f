"""Relations between the objects of a recorded cluster: templates, pods that serve, and what selects them.

Everything here comes from an environment, so nothing about its form is taken for granted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubesim.resource import BY_KIND, BY_NOUN, WORKLOADS
from sirocco.domains.kubernetes.evaluation.snapshot import (
    KubernetesObject,
    Snapshot,
    labels_of,
    name_of,
    namespace_of,
    owners_of,
)

_MAPPING = (dict, Mapping)  # in this order because nearly all are dicts, and a dict is fast to test
_POD = BY_NOUN["pod"]
_KEPT_BY_CONTROLLERS = WORKLOADS | {"job", "cronjob"}
_ON_THE_WAY = frozenset({"ContainerCreating", "PodInitializing"})
_OVER = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class Worlds:
    """The world as it should be and the world as it became."""

    expected: Snapshot
    actual: Snapshot

    def counterpart(self, item: KubernetesObject) -> KubernetesObject | None:
        """What became of an object of the expected world; None when it is gone or being deleted."""
        row = BY_KIND.get(str(item.get("kind")))
        found = self.actual.find(row, namespace_of(item), name_of(item)) if row else None
        return None if found is None or is_going(found) else found


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, _MAPPING) else {}


def items_in(value: Any) -> Sequence[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """The mappings in a list."""
    return [one for one in items_in(value) if isinstance(one, _MAPPING)]


def spec_of(item: KubernetesObject) -> Mapping[str, Any]:
    """The object's spec."""
    return mapping(item.get("spec"))


def is_going(item: KubernetesObject) -> bool:
    """Whether the object is being deleted."""
    return bool(mapping(item.get("metadata")).get("deletionTimestamp"))


def place_of(item: KubernetesObject) -> str:
    """The object as verdicts name it."""
    place = "/".join(part for part in (namespace_of(item), name_of(item)) if part)
    return f"{str(item.get('kind', '')).lower()} {place}"


def noun_of(item: KubernetesObject) -> str:
    """The noun of the object's type; empty for a type that operations do not name."""
    row = BY_KIND.get(str(item.get("kind")))
    return row.noun if row else ""


def reference(item: KubernetesObject) -> tuple[str, str]:
    """Noun and name of an object, as causes have them."""
    return noun_of(item), name_of(item)


def pod_template(item: KubernetesObject) -> Mapping[str, Any]:
    """The template of an object's pods: a pod is its own, a cron job has one inside that of its jobs."""
    if item.get("kind") == "Pod":
        return item
    spec = spec_of(item)
    if item.get("kind") == "CronJob":
        spec = mapping(mapping(spec.get("jobTemplate")).get("spec"))
    return mapping(spec.get("template"))


def template_labels(item: KubernetesObject) -> Mapping[str, Any]:
    """The labels of the pods that an object makes."""
    return mapping(mapping(pod_template(item).get("metadata")).get("labels"))


def containers_of(template: Mapping[str, Any], part: str = "containers") -> list[Mapping[str, Any]]:
    """The containers of a template, or its init containers."""
    return mappings(mapping(template.get("spec")).get(part))


def pods_of(item: KubernetesObject, world: Snapshot) -> list[KubernetesObject]:
    """The pods of a workload that are not being deleted; a pod is its own."""
    if item.get("kind") == "Pod":
        found = world.find(_POD, namespace_of(item), name_of(item))
        return [found] if found is not None and not is_going(found) else []
    owner = (str(item.get("kind")), name_of(item))
    return [pod for pod in world.owned_by(owner, _POD, namespace_of(item)) if not is_going(pod)]


def keeper_of(pod: KubernetesObject, world: Snapshot) -> KubernetesObject:
    """The topmost workload that keeps a pod; the pod itself if nothing does."""
    current, seen = pod, {(pod.get("kind"), name_of(pod))}
    while owner := next(_owning_controllers(current, world), None):
        key = (owner.get("kind"), name_of(owner))
        if key in seen:
            break
        seen.add(key)
        current = owner
    return current


def _owning_controllers(item: KubernetesObject, world: Snapshot) -> Iterator[KubernetesObject]:
    for kind, name in owners_of(item):
        row = BY_KIND.get(kind)
        found = world.find(row, namespace_of(item), name) if row and row.noun in _KEPT_BY_CONTROLLERS else None
        if found is not None:
            yield found


def keepers(world: Snapshot, namespace: str | None = None) -> Iterator[KubernetesObject]:
    """Every workload that nothing else keeps, and every bare pod."""
    for noun in (*sorted(_KEPT_BY_CONTROLLERS), "pod"):
        for item in world.of_type(BY_NOUN[noun], namespace):
            if keeper_of(item, world) is item and not is_going(item):
                yield item


def is_serving(pod: KubernetesObject) -> bool:
    """Whether a pod is ready, or on its way there and not stuck; one without a status is assumed to be."""
    status = mapping(pod.get("status"))
    if not status:
        return True
    conditions = {str(one.get("type")): one.get("status") for one in mappings(status.get("conditions"))}
    if conditions.get("Ready") == "True":
        return True
    if status.get("phase") in _OVER or conditions.get("PodScheduled") == "False":
        return False
    waiting = [
        str(mapping(mapping(one.get("state")).get("waiting")).get("reason"))
        for part in ("initContainerStatuses", "containerStatuses")
        for one in mappings(status.get(part))
        if mapping(one.get("state")).get("waiting") is not None
    ]
    restarted = any(
        isinstance(count := one.get("restartCount"), int) and count > 0
        for one in mappings(status.get("containerStatuses"))
    )
    return not restarted and all(reason in _ON_THE_WAY for reason in waiting)


def has_serving_pods(item: KubernetesObject, world: Snapshot) -> bool:
    """Whether some pod of a workload serves."""
    return any(is_serving(pod) for pod in pods_of(item, world))


def service_selects(service: KubernetesObject, labels: Mapping[str, Any]) -> bool:
    """Whether a service leads to pods with these labels; one without a selector leads to none by labels."""
    selector = mapping(spec_of(service).get("selector"))
    if not selector or spec_of(service).get("type") == "ExternalName":
        return False
    return all(labels.get(key) == value for key, value in selector.items())


def pods_selected(service: KubernetesObject, world: Snapshot) -> list[KubernetesObject]:
    """The pods that a service leads to and that serve."""
    return [
        pod
        for pod in world.of_type(_POD, namespace_of(service))
        if not is_going(pod) and is_serving(pod) and service_selects(service, labels_of(pod))
    ]
