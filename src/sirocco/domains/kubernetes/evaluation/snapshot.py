"""The recorded objects of an environment: finding them, and telling which workload a pod belongs to."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from kubesim.resource import BY_KIND, BY_NOUN, ResourceType, is_custom
from sirocco.domains.kubernetes.evaluation.observed import is_available
from sirocco.oasis.observation import Observation

KubernetesObject = Mapping[str, Any]

_POD = BY_NOUN["pod"]
# Names of generated pods end in this alphabet only; `cache` in `web-cache-x2x9z` is therefore not a template hash.
_GENERATED = "[bcdfghjklmnpqrstvwxz2456789]"
_WORKLOAD_IN_POD_NAME = (
    re.compile(rf"(?P<name>.+)-{_GENERATED}{{1,10}}-{_GENERATED}{{5}}"),  # deployment
    re.compile(rf"(?P<name>.+)-{_GENERATED}{{5}}"),  # replica set, daemon set, job
    re.compile(r"(?P<name>.+)-\d+"),  # stateful set
)


@dataclass(frozen=True)
class Snapshot:
    """Objects as one or more observations recorded them; of an object recorded twice, the first record counts."""

    given: tuple[KubernetesObject, ...] = ()

    @classmethod
    def from_observations(cls, *observations: Observation) -> "Snapshot":
        """The objects of those observations that are available."""
        snapshots = [observation.derive_once(_observed_snapshot) for observation in observations]
        if len(snapshots) == 1:
            return snapshots[0]
        return cls(tuple(item for one in snapshots for item in one.given))

    @property
    def objects(self) -> tuple[KubernetesObject, ...]:
        """Every object once."""
        return tuple(self._by_key.values())

    def of_type(self, row: ResourceType, namespace: str | None = None) -> Iterator[KubernetesObject]:
        """The objects of a type, in one namespace or in all."""
        for item in self._by_kind.get(row.kind, ()):
            if namespace is None or namespace == namespace_of(item):
                yield item

    def find(self, row: ResourceType, namespace: str, name: str) -> KubernetesObject | None:
        """The object of that name, or None; for cluster-wide types the namespace is ignored."""
        if row.namespaced:
            return self._by_key.get((row.kind, namespace, name))
        return self._by_name.get((row.kind, name))

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, str], KubernetesObject]:
        found: dict[tuple[str, str, str], KubernetesObject] = {}
        for item in self.given:
            metadata = item.get("metadata") or {}
            namespace, name = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
            # A custom resource may claim a kind of the API, and must not be mistaken for it.
            kind = item.get("kind", "")
            if "." in str(item.get("apiVersion")) and is_custom(item):
                kind = f"{item['apiVersion']} {kind}"
            found.setdefault((kind, namespace, name), item)
        return found

    @cached_property
    def _by_kind(self) -> dict[str, list[KubernetesObject]]:
        found: dict[str, list[KubernetesObject]] = {}
        for (kind, _, _), item in self._by_key.items():
            found.setdefault(kind, []).append(item)
        return found

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], KubernetesObject]:
        found: dict[tuple[str, str], KubernetesObject] = {}
        for (kind, _, name), item in self._by_key.items():
            found.setdefault((kind, name), item)
        return found

    def workloads_of(self, pod: str, namespace: str) -> frozenset[tuple[str | None, str]]:
        """Kind and name of every owner of the pod; derived from its generated name (no kind) if it was not recorded."""
        key = (pod, namespace)
        if key not in self._workloads:
            self._workloads[key] = self._found_workloads(pod, namespace)
        return self._workloads[key]

    @cached_property
    def _workloads(self) -> dict[tuple[str, str], frozenset[tuple[str | None, str]]]:
        return {}

    def _found_workloads(self, pod: str, namespace: str) -> frozenset[tuple[str | None, str]]:
        recorded = self.find(_POD, namespace, pod)
        if recorded is None:
            found = (pattern.fullmatch(pod) for pattern in _WORKLOAD_IN_POD_NAME)
            return frozenset((None, match["name"]) for match in found if match)
        return frozenset(self._owners(recorded))

    def pods_of(self, row: ResourceType, namespace: str, name: str) -> frozenset[str]:
        """The names of the recorded pods that a workload owns."""
        return frozenset(name_of(pod) for pod in self.owned_by((row.kind, name), _POD, namespace))

    def pods_behind(self, namespace: str, service: str) -> frozenset[str]:
        """The names of the recorded pods that a service selects."""
        found = self.find(BY_NOUN["service"], namespace, service)
        spec = found.get("spec") if found is not None else None
        selector = spec.get("selector") if isinstance(spec, Mapping) else None
        if not isinstance(selector, Mapping) or not selector:
            return frozenset()
        pods = self.of_type(_POD, namespace)
        return frozenset(name_of(pod) for pod in pods if selector.items() <= labels_of(pod).items())

    def owned_by(self, owner: tuple[str, str], row: ResourceType, namespace: str) -> Iterator[KubernetesObject]:
        """The recorded objects of a type that the owner (kind and name) owns, directly or not."""
        return iter(self._by_owner.get((*owner, row.kind, namespace), ()))

    @cached_property
    def _by_owner(self) -> dict[tuple[str, str, str, str], list[KubernetesObject]]:
        """The objects by kind and name of an owner, and their own kind and namespace."""
        found: dict[tuple[str, str, str, str], list[KubernetesObject]] = {}
        for (kind, namespace, _), item in self._by_key.items():
            for owner in self._owners(item):
                found.setdefault((*owner, kind, namespace), []).append(item)
        return found

    def is_named(self, row: ResourceType, namespace: str, name: str, pattern: str) -> bool:
        """Whether an object matches a name pattern; a pod also has the name of a workload that owns it."""
        if fnmatchcase(name, pattern):
            return True
        if row.noun != "pod":
            return False
        return any(fnmatchcase(workload, pattern) for _, workload in self.workloads_of(name, namespace))

    def owners_in_turn(self, item: KubernetesObject) -> Iterator[tuple[str, str]]:
        """Kind and name of an object's owners, and of theirs in turn."""
        return self._owners(item)

    def _owners(self, item: KubernetesObject) -> Iterator[tuple[str, str]]:
        """Owners of an object and their owners in turn: pod, replica set, deployment; a cycle is followed once."""
        seen: set[tuple[str, str]] = set()
        open_items = [item]
        while open_items:
            for kind, name in owners_of(open_items.pop()):
                if (kind, name) in seen:
                    continue
                seen.add((kind, name))
                yield kind, name
                row = BY_KIND.get(kind)
                if row is not None and (owner := self.find(row, namespace_of(item), name)) is not None:
                    open_items.append(owner)


def owners_of(item: KubernetesObject) -> Iterator[tuple[str, str]]:
    """Kind and name of the object's direct owners."""
    metadata = item.get("metadata")
    references = metadata.get("ownerReferences") if isinstance(metadata, Mapping) else None
    for reference in references if isinstance(references, list | tuple) else ():
        if isinstance(reference, Mapping):
            yield str(reference.get("kind", "")), str(reference.get("name", ""))


def _observed_snapshot(observation: Observation) -> Snapshot:
    return Snapshot(tuple(observation.data.get("objects", ())) if is_available(observation) else ())


def name_of(item: KubernetesObject) -> str:
    """The object's name; empty when it has none yet."""
    return str((item.get("metadata") or {}).get("name") or "")


def namespace_of(item: KubernetesObject) -> str:
    """The object's namespace; empty for a cluster-wide object."""
    return str((item.get("metadata") or {}).get("namespace") or "")


def labels_of(item: KubernetesObject) -> Mapping[str, str]:
    """The object's labels."""
    return (item.get("metadata") or {}).get("labels") or {}
