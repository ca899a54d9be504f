"""The state of one cluster: a typed store of objects with their versions, owners and deletion.

Nothing here reads a clock, draws a number or touches the disk: the caller passes the time, and ids follow from the
environment's seed. Objects are plain JSON data and are never changed once stored; a change stores a new one, so that
answers, audit events and observations can hold on to them without copying.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from itertools import count, takewhile, tee
from typing import Any, NamedTuple, TypeVar

from kubesim.canonical import canonical_json
from kubesim.conventions import SERVER_OWNED
from kubesim.history import History, seconds_of, stamp
from kubesim.resource import ResourceType
from kubesim.status import Json

FOREGROUND, BACKGROUND, ORPHAN = "Foreground", "Background", "Orphan"
FOREGROUND_FINALIZER, ORPHAN_FINALIZER = "foregroundDeletion", "orphan"
_PROPAGATION_FINALIZERS = {FOREGROUND: FOREGROUND_FINALIZER, ORPHAN: ORPHAN_FINALIZER}
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_HISTORY = 1024
_DRAWN_AT_ONCE = 32
_YOUNG, _CHANGES_A_SECOND = 1000, 3
EVERYTHING, DELETION = "*", "-"
"""Marks for changes in a namespace besides types and their statuses: anything at all, or what is deleted with what."""
_NOT_VERSION, _VERSION_4 = ~((0xF << 76) | (0x3 << 62)), (0x4 << 76) | (0x2 << 62)
_OFTEN_CHANGED = frozenset({"node"})
"""Types that are written again and again, so that an old object has a recent version."""
_WITH_GENERATION = frozenset(
    {"deployment", "replicaset", "statefulset", "daemonset", "replicationcontroller", "ingress", "networkpolicy", "pdb"}
)
_Derived = TypeVar("_Derived")
Places = Mapping[str, Mapping[str, Json]]
"""The objects of a type by namespace and name."""
Layer = Mapping[ResourceType, Places]
"""Objects that many clusters start with and share."""


class Key(NamedTuple):
    """The place of an object: its type's noun, its namespace (empty for cluster-wide types) and its name."""

    noun: str
    namespace: str
    name: str


class Change(NamedTuple):
    """One step of the store: the object at a place before and after."""

    version: int
    key: Key
    old: Json | None
    new: Json | None


class _Preparation(NamedTuple):
    """What is done before objects of a type in these namespaces are read."""

    act: Callable[[], None]
    namespaces: frozenset[str] | None
    only_adds: bool


class Ids:
    """Ids that look random and follow from the environment's seed alone (SI-02)."""

    def __init__(self, seed: int) -> None:
        self._numbers: Iterator[int] = _drawn_numbers(seed)

    def copy(self) -> "Ids":
        """The same ids from here on, drawn separately."""
        other = Ids(0)
        self._numbers, other._numbers = tee(self._numbers)
        return other

    def number(self) -> int:
        """The next 128 bits."""
        return next(self._numbers)

    def uid(self) -> str:
        """A version 4 UUID."""
        text = f"{self.number() & _NOT_VERSION | _VERSION_4:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def suffix(self, length: int = 5) -> str:
        """The random end of a generated name."""
        return spell_number(self.number(), length)


def _drawn_numbers(seed: int) -> Iterator[int]:
    """128-bit numbers, hashed many at a time."""
    for block in count():
        drawn = hashlib.shake_256(b"%d %d" % (seed, block)).digest(16 * _DRAWN_AT_ONCE)
        for place in range(0, len(drawn), 16):
            yield int.from_bytes(drawn[place : place + 16], "big")


class Store:
    """Every object of one environment by type, namespace and name, with versions, owners and deletion.

    `owned` returns this cluster's version of the shared layer's objects of a type. It is called on first read, because
    most environments end before that. `past` dates what was there before the first client.
    """

    def __init__(
        self,
        ids: Ids,
        base: Layer | None = None,
        owned: Callable[[ResourceType], Places] | None = None,
        past: History | None = None,
    ) -> None:
        base = base or {}
        self.ids = ids
        self._past = past
        self._base: dict[str, Places] = {row.noun: places for row, places in base.items()}
        self._owned = owned
        self._unread = set(self._base) if owned else set()
        self._laid: dict[str, Callable[[Json], Json]] = {}
        self._prepared: dict[str, tuple[_Preparation, ...]] = {}
        self.version = _YOUNG + ids.number() % 9000
        if past is not None:
            # A few changes per second since the cluster was made.
            self.version += past.age * _CHANGES_A_SECOND
        self._objects = _copied(self._base)
        self._written: dict[str, dict[str, dict[str, Json]]] = {}
        """The objects that are not of the shared layer, or that differ from it by now."""
        self._rows: dict[str, ResourceType] = {row.noun: row for row in base}
        self._derived: dict[tuple[Callable[..., Any], tuple[str, ...]], Any] = {}
        self._history: deque[Change] = deque(maxlen=_HISTORY)
        self.oldest = 0
        """The version since which every change is known."""
        self._keys: dict[str, Key] = {}
        self._dated: set[int] = set()
        self._beside: dict[str, dict[str, dict[str, Json]]] = {}
        """The objects that were made on first read and that nobody has changed since."""
        self._is_stirred = False
        """Whether any of those was changed or deleted."""
        self._unsettled: dict[str, set[str]] = {}

    def copy(self) -> "Store":
        """A store with the same objects and the same ids to come, before anything is prepared or put in on first read.

        Objects are shared, because they never change once stored.
        """
        other = copy(self)
        other.ids = self.ids.copy()
        other._unread = set(self._unread)
        other._objects, other._written = _copied(self._objects), _copied(self._written)
        other._base, other._rows = dict(self._base), dict(self._rows)
        other._laid, other._prepared, other._beside, other._derived = {}, {}, {}, {}
        other._history = deque(self._history, maxlen=_HISTORY)
        other._keys, other._dated = dict(self._keys), set(self._dated)
        other._unsettled = {namespace: set(parts) for namespace, parts in self._unsettled.items()}
        return other

    def lay(self, row: ResourceType, places: Places, complete: Callable[[Json], Json]) -> None:
        """Put objects of the system in place, besides those that all clusters share.

        `complete` finishes each of them when it is first read.
        """
        noun = row.noun
        self._rows.setdefault(noun, row)
        self._base[noun] = {**self._base.get(noun, {}), **places}
        self._laid[noun] = complete
        self._unread.add(noun)
        for place, objects in places.items():
            self._objects.setdefault(noun, {}).setdefault(place, {}).update(objects)

    def prepare(
        self,
        nouns: Iterable[str],
        act: Callable[[], None],
        namespaces: Iterable[str] | None = None,
        *,
        only_adds: bool = False,
    ) -> Callable[[], None]:
        """Have `act` put objects of some types in place, or bring them up to date, before they are read.

        What it puts there with `lay_object` costs nothing until somebody reads those namespaces (all, if none are
        given) or, if it `only_adds` objects, until somebody reads more than what is already there. Call the returned
        function when nothing is left to do.
        """
        added = _Preparation(act, frozenset(namespaces) if namespaces is not None else None, only_adds)
        for noun in nouns:
            self._prepared[noun] = (*self._prepared.get(noun, ()), added)
        return lambda: self._forget_preparation(added)

    def _forget_preparation(self, finished: _Preparation) -> None:
        left = {noun: tuple(one for one in ones if one is not finished) for noun, ones in self._prepared.items()}
        self._prepared = {noun: ones for noun, ones in left.items() if ones}

    def lay_object(self, row: ResourceType, obj: Json) -> None:
        """Put a complete object of the system in place; no observation shows it until somebody else writes it.

        Watchers see it change but not appear, since it counts as older than any watch.
        """
        key = key_of(row, obj)
        old = self.content(*key)
        if old is not None:
            self.version += 1
            obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
            self._note(Change(self.version, key, old, obj), key.noun)
        self._rows.setdefault(row.noun, row)
        self._objects.setdefault(row.noun, {}).setdefault(key.namespace, {})[key.name] = obj
        is_written = key.name in self._written.get(row.noun, {}).get(key.namespace, {})
        kept = self._written if is_written else self._beside
        kept.setdefault(row.noun, {}).setdefault(key.namespace, {})[key.name] = obj
        self._keys[obj["metadata"]["uid"]] = key
        self._forget_derived(key.noun)

    def get(self, noun: str, namespace: str, name: str) -> Json | None:
        """The object at that place."""
        if noun in self._prepared:
            self._prepare_reading(noun, namespace, is_there=self.content(noun, namespace, name) is not None)
        found = self._objects.get(noun, {}).get(namespace, {}).get(name)
        if noun in self._unread and found is not None and self._base[noun].get(namespace, {}).get(name) is found:
            complete = self._laid.get(noun)
            if complete is None:
                self._take_over(noun)
            else:
                self._objects[noun][namespace][name] = complete(found)
            return self.content(noun, namespace, name)
        return found

    def content(self, noun: str, namespace: str, name: str) -> Json | None:
        """The object at that place, for callers that do not look at its uid."""
        return self._objects.get(noun, {}).get(namespace, {}).get(name)

    def by_uid(self, uid: str) -> Json | None:
        """The object with that uid."""
        key = self._keys.get(uid)
        return self.get(*key) if key else None

    def items(self, noun: str, namespace: str | None = None) -> list[Json]:
        """The objects of a type in one namespace, or in all of them, in the order of their keys."""
        if noun in self._prepared:
            self._prepare_reading(noun, namespace)
        if noun in self._unread:
            self._take_over(noun)
        return self.contents(noun, namespace)

    def present(self, noun: str, namespace: str | None = None) -> list[Json]:
        """The same for controllers, which need not act on objects that exist only once somebody reads them.

        Such objects are at rest, and stay so until one of them is changed.
        """
        if noun in self._prepared:
            self._prepare_reading(noun, namespace, is_there=not self._is_stirred)
        if noun in self._unread:
            self._take_over(noun)
        return self.contents(noun, namespace)

    def contents(self, noun: str, namespace: str | None = None) -> list[Json]:
        """The same objects, for callers that do not look at their uids."""
        places = self._objects.get(noun)
        if not places:
            return []
        if namespace is None:
            # In the key a slash follows the namespace, and a dash sorts before it.
            return [places[place][name] for place in sorted(places, key=_as_prefix) for name in sorted(places[place])]
        found = places.get(namespace)
        return [found[name] for name in sorted(found)] if found else []

    def items_at(self, version: int, noun: str, namespace: str | None = None) -> list[Json] | None:
        """The objects as they were at an earlier version; None when that is too long ago."""
        if version < self.oldest:
            return None
        undone: dict[Key, Json | None] = {}
        for change in takewhile(lambda change: change.version > version, reversed(self._history)):
            if change.key.noun == noun and namespace in (None, change.key.namespace):
                undone[change.key] = change.old
        if not undone:
            return self.items(noun, namespace)
        found = {_place(item): item for item in self.items(noun, namespace)}
        for key, old in undone.items():
            if old is None:
                found.pop((key.namespace, key.name), None)
            else:
                found[key.namespace, key.name] = old
        return [found[place] for place in sorted(found, key=lambda place: (_as_prefix(place[0]), place[1]))]

    def changes(self, after: int) -> list[Change]:
        """The changes after a version, oldest first."""
        if after >= self.version:
            return []
        later = list(takewhile(lambda change: change.version > after, reversed(self._history)))
        later.reverse()
        return later

    def derive_cached(self, derive: Callable[..., _Derived], *nouns: str) -> _Derived:
        """The result of `derive` for the objects of some types, cached until one of them changes."""
        key = (derive, nouns)
        if key not in self._derived:
            self._derived[key] = derive(*map(self.items, nouns))
        value: _Derived = self._derived[key]
        return value

    def known_results(self, find: Callable[..., Any], *nouns: str) -> dict[Any, Any]:
        """A cache for what `find` has found out about objects of some types; emptied when one of them changes."""
        found: dict[Any, Any] = self._derived.setdefault((find, nouns), {})
        return found

    def derive_in(self, namespace: str, derive: Callable[[list[Json]], _Derived], noun: str) -> _Derived:
        """The same for the objects of a type that are present in one namespace."""
        if noun in self._prepared:
            self._prepare_reading(noun, namespace, is_there=not self._is_stirred)
        found = self.known_results(derive, noun)
        if namespace not in found:
            found[namespace] = derive(self.present(noun, namespace))
        value: _Derived = found[namespace]
        return value

    def objects(self, namespace: str | None = None) -> Iterator[tuple[ResourceType, Json]]:
        """Every object, type by type, except unchanged ones of the shared layer."""
        for noun in sorted(self._written):
            row, places = self._rows[noun], self._written[noun]
            for place in sorted(places, key=_as_prefix) if namespace is None else (namespace,):
                found = places.get(place, {})
                for name in sorted(found):
                    yield row, found[name]

    def whole_content(self) -> Iterator[tuple[ResourceType, Json]]:
        """Every object that a client could read, except unchanged ones of the shared layer."""
        for noun in [*self._prepared]:
            self.items(noun)  # also of a type that has no other objects
        for noun in [*self._rows]:
            for obj in self.items(noun):
                metadata = obj["metadata"]
                shared = self._base.get(noun, {}).get(metadata.get("namespace", ""), {}).get(metadata["name"])
                is_shared = shared is not None and noun not in self._laid
                if not is_shared or metadata["name"] in self._written.get(noun, {}).get(
                    metadata.get("namespace", ""), {}
                ):
                    yield self._rows[noun], obj

    def all_objects(self, namespace: str) -> Iterator[tuple[ResourceType, Json]]:
        """Every object in a namespace, including those made on first read."""
        yield from self.objects(namespace)
        for noun, places in self._beside.items():
            for obj in places.get(namespace, {}).values():
                yield self._rows[noun], obj

    def new_object(self, row: ResourceType, manifest: Json, now: str) -> Json:
        """`manifest` as a new object of the type: with uid, creation time and first generation; not stored yet."""
        metadata = {key: value for key, value in manifest["metadata"].items() if key not in _SET_BY_SERVER}
        if self._past is not None and now == self._past.founding:
            # A volume is made within seconds for the claim that it names.
            maker = controller_of(manifest) or (manifest.get("spec") or {}).get("claimRef") or {}
            born = self._past.birth(row.noun, metadata, self.by_uid(maker.get("uid", "")))
            now = stamp(max(born, self._subjects_birth(manifest)))
        metadata |= {"uid": self.ids.uid(), "creationTimestamp": now}
        if row.noun in _WITH_GENERATION:
            metadata["generation"] = 1
        return {**manifest, "metadata": metadata}

    def _subjects_birth(self, manifest: Json) -> int:
        """The earliest time of a binding: after its youngest account was created, or 0 without accounts."""
        accounts = (
            self.content("serviceaccount", one.get("namespace") or "", one.get("name") or "")
            for one in manifest.get("subjects") or ()
            if one.get("kind") == "ServiceAccount"
        )
        return max((seconds_of(one["metadata"]["creationTimestamp"]) + 1 for one in accounts if one), default=0)

    def put(self, row: ResourceType, obj: Json) -> Json:
        """Store `obj` under the next resourceVersion; an object being deleted goes away once nothing holds it."""
        if _is_finished(row, obj):
            self._forget(key_of(row, obj), obj)
            return obj
        return self.write(row, obj)

    def write(self, row: ResourceType, obj: Json) -> Json:
        """Store `obj` under the next resourceVersion unconditionally."""
        return self._write(row, obj, row.noun)

    def report(self, row: ResourceType, obj: Json, status: Json) -> Json:
        """Store the status that a controller gives an object; only controllers that read the status act on it."""
        return self._write(row, {**obj, "status": status}, status_of(row.noun))

    def _write(self, row: ResourceType, obj: Json, changed: str) -> Json:
        key = key_of(row, obj)
        if key.noun in self._unread:
            self.get(*key)
        self.version += 1
        stored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
        self._note(Change(self.version, key, self.content(*key), stored), changed)
        self._place(row, key, stored)
        return stored

    def mirror(self, row: ResourceType, obj: Json) -> None:
        """Hold an object exactly as another store has it, with its version there."""
        key = key_of(row, obj)
        if key.noun in self._unread:
            self.get(*key)
        self.version += 1
        self._note(Change(self.version, key, self.content(*key), obj), row.noun)
        self._place(row, key, obj)

    def _place(self, row: ResourceType, key: Key, stored: Json) -> None:
        self._rows.setdefault(row.noun, row)
        for objects in (self._objects, self._written):
            objects.setdefault(row.noun, {}).setdefault(key.namespace, {})[key.name] = stored
        self._keys[stored["metadata"]["uid"]] = key
        if self._beside and self._beside.get(row.noun, {}).get(key.namespace, {}).pop(key.name, None) is not None:
            self._is_stirred = True

    def store_initial(self, objects: Iterable[tuple[ResourceType, Json]], now: str) -> None:
        """Store what was there before the recorded history of the cluster begins: complete, and at rest."""
        past = self._past if self._past is not None and now == self._past.founding else None
        for row, manifest in objects:
            self.version += 1
            metadata = {**manifest["metadata"], "uid": self.ids.uid(), "creationTimestamp": now}
            made = self.version
            if past is not None:
                born = max(past.birth(row.noun, metadata, None), self._subjects_birth(manifest))
                metadata["creationTimestamp"] = stamp(born)
                if row.noun not in _OFTEN_CHANGED:
                    made = self._version_at(past, born)
            metadata["resourceVersion"] = str(made)
            stored = {**manifest, "metadata": metadata}
            self._place(row, key_of(row, stored), stored)
        self.oldest = self.version

    def date_versions(self) -> None:
        """Give what predates the first client the resource versions of the times when it was made (SI-02)."""
        for noun, places in self._written.items() if self._past is not None else ():
            for place, objects in places.items() if noun not in _OFTEN_CHANGED else ():
                for name, obj in objects.items():
                    if int(obj["metadata"]["resourceVersion"]) > self.oldest:
                        self._objects[noun][place][name] = objects[name] = self.dated_object(obj)
        self._derived.clear()
        self._history.clear()
        self.oldest = self.version

    def dated_object(self, obj: Json) -> Json:
        """The object with the resource version of its creation time, if the cluster has a past."""
        if self._past is None:
            return obj
        version = self._version_at(self._past, seconds_of(obj["metadata"]["creationTimestamp"]))
        return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(version)}}

    def _version_at(self, past: History, seconds: int) -> int:
        """A resource version for a time in the past; no two objects get the same one."""
        version = past.version_at(seconds, self.version)
        while version in self._dated:
            version += 1
        self._dated.add(version)
        return version

    def create(self, row: ResourceType, manifest: Json, now: str) -> Json:
        """Store `manifest` as a new object."""
        return self.put(row, self.new_object(row, manifest, now))

    def update(self, row: ResourceType, old: Json, new: Json) -> Json:
        """Store `new` in place of `old`; nothing happens when they are equal."""
        changed = next_state(row, old, new)
        return old if changed is old else self.put(row, changed)

    def delete(
        self, row: ResourceType, obj: Json, now: str, *, grace: int = 0, propagation: str = BACKGROUND
    ) -> Json | None:
        """Delete an object; return it as it is while finalizers or a grace period hold it, None when it is gone."""
        metadata = obj["metadata"]
        finalizers = [*(metadata.get("finalizers") or ())]
        wanted = _PROPAGATION_FINALIZERS.get(propagation)
        if wanted and wanted not in finalizers:
            finalizers.append(wanted)
        held = bool(finalizers) or grace > 0 or _holds_content(row, obj)
        if not held:
            self._forget(key_of(row, obj), obj)
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
        """Remove an object from the store, whatever holds it."""
        self._forget(key_of(row, obj), obj)

    def touch(self, namespace: str) -> None:
        """Have the controllers look at everything in a namespace again."""
        self._unsettled.setdefault(namespace, set()).add(EVERYTHING)

    @property
    def is_unsettled(self) -> bool:
        """Whether anything changed since the changes were last taken."""
        return bool(self._unsettled)

    def take_unsettled(self) -> dict[str, set[str]]:
        """What changed since the last call: types, or their statuses, by namespace (empty for cluster-wide types)."""
        taken, self._unsettled = self._unsettled, {}
        return taken

    def _prepare_reading(self, noun: str, namespace: str | None, *, is_there: bool = False) -> None:
        """Prepare the reading of a type in a namespace; `is_there` if only objects already in place are read."""
        for preparation in self._prepared[noun]:
            is_near = namespace is None or preparation.namespaces is None or namespace in preparation.namespaces
            if is_near and not (is_there and preparation.only_adds):
                preparation.act()

    def _take_over(self, noun: str) -> None:
        """Replace the unchanged objects of the shared layer by this cluster's own version."""
        self._unread.discard(noun)
        shared, complete = self._base[noun], self._laid.get(noun)
        own = {} if complete or self._owned is None else self._owned(self._rows[noun])
        for place, objects in self._objects[noun].items():
            for name, obj in shared.get(place, {}).items():
                if objects.get(name) is obj:
                    objects[name] = complete(obj) if complete else own[place][name]

    def _forget(self, key: Key, obj: Json) -> None:
        gone = self._objects.get(key.noun, {}).get(key.namespace, {}).pop(key.name, None)
        if gone is not None:
            self._written.get(key.noun, {}).get(key.namespace, {}).pop(key.name, None)
            if self._beside.get(key.noun, {}).get(key.namespace, {}).pop(key.name, None) is not None:
                self._is_stirred = True
            self.version += 1
            self._note(Change(self.version, key, gone, None), key.noun)
            if key.noun == "namespace":
                # The system's own objects there go without an event.
                for places in self._objects.values():
                    places.pop(key.name, None)
                self._derived.clear()
        uid = obj["metadata"]["uid"]
        self._keys.pop(uid, None)

    def _has_other_owners(self, change: Change) -> bool:
        """Whether an object names other owners than before, or a new one names a missing owner: it may be garbage."""
        owners = change.new["metadata"].get("ownerReferences") if change.new else None
        if not owners:
            return False
        if change.old is not None:
            return bool(owners != change.old["metadata"].get("ownerReferences"))
        return any(owner.get("uid") not in self._keys for owner in owners)

    def _note(self, change: Change, part: str) -> None:
        if len(self._history) == _HISTORY:
            self.oldest = self._history[0].version
        self._history.append(change)
        noun = change.key.noun
        changed = self._unsettled.setdefault(change.key.namespace, set())
        changed.add(part)
        if change.new is None or "deletionTimestamp" in change.new["metadata"] or self._has_other_owners(change):
            changed.add(DELETION)
        self._forget_derived(noun)

    def _forget_derived(self, noun: str) -> None:
        for key in [key for key in self._derived if noun in key[1]] if self._derived else ():
            del self._derived[key]


_SET_BY_SERVER = (SERVER_OWNED - {"managedFields", "selfLink"}) | {"deletionTimestamp", "deletionGracePeriodSeconds"}
"""What the server ignores in manifests. Field ownership is computed before an object gets here, and a deletion is
requested by a verb of its own."""


def _copied(objects: Mapping[str, Mapping[str, Mapping[str, Json]]]) -> dict[str, dict[str, dict[str, Json]]]:
    return {noun: {place: dict(held) for place, held in places.items()} for noun, places in objects.items()}


def status_of(noun: str) -> str:
    """The mark for a change that a controller made to the status of objects of a type."""
    return f"{noun}/status"


def key_of(row: ResourceType, obj: Mapping[str, Any]) -> Key:
    """The place of an object."""
    metadata = obj["metadata"]
    return Key(row.noun, metadata.get("namespace", "") if row.namespaced else "", metadata["name"])


def next_state(row: ResourceType, old: Json, new: Json) -> Json:
    """`new` as the next state of `old`: the server's own metadata kept, the generation incremented with the spec."""
    kept = {key: value for key, value in old["metadata"].items() if key in _SET_BY_SERVER or key == "namespace"}
    metadata = {**{key: value for key, value in new["metadata"].items() if key not in _SET_BY_SERVER}, **kept}
    result = {**new, "metadata": metadata}
    if result == old:
        return old
    if row.noun in _WITH_GENERATION and new.get("spec") != old.get("spec"):
        metadata["generation"] = old["metadata"].get("generation", 1) + 1
    return result


def _as_prefix(namespace: str) -> str:
    return f"{namespace}/"


def _place(obj: Json) -> tuple[str, str]:
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def template_hash(template: Mapping[str, Any]) -> str:
    """The hash that names the replica set of a pod template: 32 bits, whose decimal digits are written as letters.

    The server reduces the code of each digit modulo the number of letters, so only ten letters ever occur (SI-02).
    """
    number = int.from_bytes(hashlib.sha256(canonical_json(template).encode()).digest()[:4], "big")
    return "".join(_ALPHABET[code % len(_ALPHABET)] for code in str(number).encode())


def controller_of(obj: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The owner reference of the controller that made the object."""
    owners: Iterable[Mapping[str, Any]] = obj["metadata"].get("ownerReferences") or ()
    for owner in owners:
        if owner.get("controller"):
            return owner
    return None


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
    """Whether deletion was requested and something still holds the object."""
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


def spell_number(number: int, length: int) -> str:
    """A number in the letters and digits that generated names are made of."""
    letters = []
    for _ in range(length):
        number, place = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[place])
    return "".join(letters)
