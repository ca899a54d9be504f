"""The state of one simulated cluster: a typed store of objects, and what was declared about its workloads.

Nothing here reads a clock, draws a number or touches the disk: the caller passes the time, and ids follow from the
environment's seed. Objects are plain JSON data and are never changed once stored; a change stores a new one, so that
answers, audit events and observations can hold on to them without copying.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from sirocco.oasis.canonical import canonical_json, derived_seed
from sirocco.oasis.resource import BY_NOUN, ResourceType
from sirocco.providers.simulator.kubernetes.kinds import WITH_GENERATION
from sirocco.providers.simulator.kubernetes.status import Json

FOREGROUND, BACKGROUND, ORPHAN = "Foreground", "Background", "Orphan"
FOREGROUND_FINALIZER, ORPHAN_FINALIZER = "foregroundDeletion", "orphan"
_PROPAGATION_FINALIZERS = {FOREGROUND: FOREGROUND_FINALIZER, ORPHAN: ORPHAN_FINALIZER}
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


class Key(NamedTuple):
    """Where an object stands: its type's noun, its namespace (empty for cluster-wide types) and its name."""

    noun: str
    namespace: str
    name: str


class Health(StrEnum):
    """How a workload's pods fare, as a scenario declares it."""

    RUNNING = "running"
    DEGRADED = "degraded"
    CRASHLOOPBACKOFF = "crashloopbackoff"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is true of a workload whatever its controller does: its health, and conditions beside the usual ones."""

    health: Health = Health.RUNNING
    conditions: tuple[Mapping[str, Any], ...] = ()


class Ids:
    """Ids that look drawn by chance and follow from the environment's seed alone (SI-02)."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._drawn = 0

    def number(self) -> int:
        """The next 128 bits."""
        self._drawn += 1
        return derived_seed(self._seed, self._drawn)

    def uid(self) -> str:
        """A version 4 UUID."""
        text = f"{self.number():032x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{'89ab'[int(text[16], 16) % 4]}{text[17:20]}-{text[20:]}"

    def suffix(self, length: int = 5) -> str:
        """The random end of a generated name."""
        return _spelled(self.number(), length)


class Cluster:
    """Every object of one environment by type, namespace and name, with versions, owners and deletion."""

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.version = 1000 + ids.number() % 9000
        self.declarations: dict[Key, Declaration] = {}
        self.logs: dict[Key, tuple[str, ...]] = {}
        self.pod_health: dict[str, Health] = {}
        self._objects: dict[str, dict[str, dict[str, Json]]] = {}
        self._keys: dict[str, Key] = {}
        self._unsettled: set[str] = set()

    def get(self, noun: str, namespace: str, name: str) -> Json | None:
        """The object at that place."""
        return self._objects.get(noun, {}).get(namespace, {}).get(name)

    def by_uid(self, uid: str) -> Json | None:
        """The object with that uid."""
        key = self._keys.get(uid)
        return self.get(*key) if key else None

    def items(self, noun: str, namespace: str | None = None) -> list[Json]:
        """The objects of a type in one namespace, or in all of them, in the order of their names."""
        places = self._objects.get(noun, {})
        chosen = sorted(places) if namespace is None else [namespace] if namespace in places else []
        return [places[place][name] for place in chosen for name in sorted(places[place])]

    def objects(self, namespace: str | None = None) -> Iterator[tuple[ResourceType, Json]]:
        """Every object, type by type."""
        for noun in sorted(self._objects):
            for item in self.items(noun, namespace):
                yield BY_NOUN[noun], item

    def born(self, row: ResourceType, manifest: Json, now: str) -> Json:
        """`manifest` as a new object of the type: with uid, creation time and first generation; not stored yet."""
        metadata = {key: value for key, value in manifest["metadata"].items() if key not in _SERVER_SET}
        metadata |= {"uid": self.ids.uid(), "creationTimestamp": now}
        if row.noun in WITH_GENERATION:
            metadata["generation"] = 1
        return {**manifest, "metadata": metadata}

    def put(self, row: ResourceType, obj: Json) -> Json:
        """Store `obj` under the next resourceVersion; an object whose deletion nothing holds up any more goes away."""
        self.version += 1
        stored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
        key = key_of(row, stored)
        self._unsettled.add(key.namespace)
        if _is_finished(row, stored):
            self._forget(key, stored)
            return obj
        self._objects.setdefault(row.noun, {}).setdefault(key.namespace, {})[key.name] = stored
        self._keys[stored["metadata"]["uid"]] = key
        return stored

    def create(self, row: ResourceType, manifest: Json, now: str) -> Json:
        """Store `manifest` as a new object."""
        return self.put(row, self.born(row, manifest, now))

    def update(self, row: ResourceType, old: Json, new: Json) -> Json:
        """Store `new` in the place of `old`; nothing happens when they are equal."""
        changed = next_state(row, old, new)
        return old if changed is old else self.put(row, changed)

    def delete(
        self, row: ResourceType, obj: Json, now: str, *, grace: int = 0, propagation: str = BACKGROUND
    ) -> Json | None:
        """Delete an object; return it as it stands while finalizers or a grace period hold it, None when it is gone."""
        metadata = obj["metadata"]
        finalizers = [*(metadata.get("finalizers") or ())]
        wanted = _PROPAGATION_FINALIZERS.get(propagation)
        if wanted and wanted not in finalizers:
            finalizers.append(wanted)
        held = bool(finalizers) or grace > 0 or _holds_content(row, obj)
        if not held:
            self._forget(key_of(row, obj), obj)
            self.version += 1
            return None
        if metadata.get("deletionTimestamp") and finalizers == (metadata.get("finalizers") or []):
            return obj
        marked = {**metadata, "deletionTimestamp": now, **({"finalizers": finalizers} if finalizers else {})}
        if row.noun != "namespace":
            marked["deletionGracePeriodSeconds"] = grace
        if "generation" in metadata:
            marked["generation"] = metadata["generation"] + 1
        terminating = {"status": {**obj.get("status", {}), "phase": "Terminating"}} if row.noun == "namespace" else {}
        return self.put(row, {**obj, "metadata": marked, **terminating})

    def remove(self, row: ResourceType, obj: Json) -> None:
        """Take an object out of the store, whatever holds it."""
        self.version += 1
        self._forget(key_of(row, obj), obj)

    def touch(self, namespace: str) -> None:
        """Have the controllers look at a namespace again: what was declared about it changed."""
        self._unsettled.add(namespace)

    def take_unsettled(self) -> list[str]:
        """The namespaces that changed since the last call, empty for cluster-wide types; controllers look at them."""
        taken = sorted(self._unsettled)
        self._unsettled.clear()
        return taken

    def _forget(self, key: Key, obj: Json) -> None:
        self._unsettled.add(key.namespace)
        self._objects.get(key.noun, {}).get(key.namespace, {}).pop(key.name, None)
        uid = obj["metadata"]["uid"]
        self._keys.pop(uid, None)
        self.pod_health.pop(uid, None)


_SERVER_SET = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def key_of(row: ResourceType, obj: Mapping[str, Any]) -> Key:
    """The place of an object."""
    metadata = obj["metadata"]
    return Key(row.noun, metadata.get("namespace", "") if row.namespaced else "", metadata["name"])


def next_state(row: ResourceType, old: Json, new: Json) -> Json:
    """`new` as the next state of `old`: the server's own metadata kept, the generation counted up with the spec."""
    kept = {key: old["metadata"][key] for key in (*_SERVER_SET, "namespace") if key in old["metadata"]}
    metadata = {**{key: value for key, value in new["metadata"].items() if key not in _SERVER_SET}, **kept}
    result = {**new, "metadata": metadata}
    if result == old:
        return old
    if row.noun in WITH_GENERATION and new.get("spec") != old.get("spec"):
        metadata["generation"] = old["metadata"].get("generation", 1) + 1
    return result


def template_hash(template: Mapping[str, Any]) -> str:
    """The hash that names the replica set of a pod template."""
    number = int.from_bytes(hashlib.sha256(canonical_json(template).encode()).digest()[:16], "big")
    return _spelled(number, 10)


def controller_of(obj: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The owner reference of the controller that made the object."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), None)


def owner_reference(row: ResourceType, owner: Mapping[str, Any]) -> Json:
    """The reference by which a controller claims an object."""
    return {
        "apiVersion": row.api_version,
        "kind": row.kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_being_deleted(obj: Mapping[str, Any]) -> bool:
    """Whether deletion was asked for and something still holds the object."""
    return "deletionTimestamp" in obj["metadata"]


def _is_finished(row: ResourceType, obj: Json) -> bool:
    metadata = obj["metadata"]
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("finalizers")
        and not metadata.get("deletionGracePeriodSeconds")
        and not _holds_content(row, obj)
    )


def _holds_content(row: ResourceType, obj: Json) -> bool:
    return row.noun == "namespace" and bool((obj.get("spec") or {}).get("finalizers"))


def _spelled(number: int, length: int) -> str:
    letters = []
    for _ in range(length):
        number, place = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[place])
    return "".join(letters)
