"""A declared cluster and a real one kept in sync: what is declared is sent there, and what becomes of it comes back.

Nodes, services and stimuli work on the store of the declared cluster. It holds what etcd holds: every change there is
applied here in order as it happens, and what is written here is sent there unless somebody else has changed it since.
"""

import asyncio
import time
from collections.abc import Mapping

from kubesim.resource import BY_NOUN, SERVICE_NOUNS, ResourceType
from kubesim.status import Json
from kubesim.store import Key, Store, key_of
from sirocco.domains.kubernetes.cluster.control_plane import ControlPlane, Operator
from sirocco.domains.kubernetes.cluster.etcd import Entry, Etcd
from sirocco.domains.kubernetes.cluster.registry import (
    ADDRESSES,
    REVISIONS,
    address_objects,
    found_object,
    is_kept_by_server,
    object_key,
    of_revision,
    revision_bytes,
    revision_object,
    stored_form,
)
from sirocco.errors import FaultKind, ProviderFault

_WITH_REVISIONS = ("statefulset", "daemonset")
_ATTEMPTS = 5
_STEP_SECONDS = 0.003


class Mirror:
    """One declared cluster in sync with the real one, for as long as `watch` runs."""

    def __init__(self, store: Store, plane: ControlPlane) -> None:
        self._store, self._plane = store, plane
        self._etcd: Etcd = plane.etcd()
        self._known: dict[Key, tuple[str, Json | None, int]] = {}
        """The place of each object in etcd, its content when last seen there, and its revision."""
        self._by_path: dict[str, Key] = {}
        self._pushed = store.version
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.changed = asyncio.Event()
        """Set when something came from the real cluster."""
        self.revision = 0
        self.last_change = time.monotonic()

    async def put_everything(self, operator: Operator) -> None:
        """Replace whatever was there by the declared cluster, and follow what becomes of it."""
        whole = [(row, obj) for row, obj in self._store.whole_content() if is_kept_by_server(row, obj)]
        services = [obj for row, obj in whole if row.noun == "service"]
        entries = {object_key(row, obj): stored_form(row, obj) for row, obj in whole}
        entries |= {object_key(ADDRESSES, obj): stored_form(ADDRESSES, obj) for obj in address_objects(services)}
        self.revision = await self._plane.reset(entries.items())
        for row, obj in whole:
            self._note(row, key_of(row, obj), obj, self.revision)
        await self._put_revisions(operator)
        self._pushed = self._store.version
        self._task = asyncio.create_task(self._follow(self.revision))

    async def _put_revisions(self, operator: Operator) -> None:
        """Give stateful and daemon sets the revisions that their controllers would make, and mark the pods of each."""
        put: list[tuple[str, bytes]] = []
        changed: list[tuple[ResourceType, Json]] = []
        for row in (BY_NOUN[noun] for noun in _WITH_REVISIONS):
            for obj in self._store.items(row.noun):
                key = key_of(row, obj)
                if key not in self._known:
                    continue
                told = await operator.request("GET", row.path(key.namespace, key.name))
                revision = revision_object(row, {**told, "metadata": obj["metadata"]})
                put.append((object_key(REVISIONS, revision), revision_bytes(revision)))
                pods = [pod for pod in self._store.items("pod", key.namespace) if _is_owned(pod, obj)]
                changed += [(BY_NOUN["pod"], of_revision(BY_NOUN["pod"], pod, revision)) for pod in pods]
                if row.noun == "statefulset":
                    changed.append((row, of_revision(row, obj, revision)))
        if not put:
            return
        self.revision = await self._etcd.write(
            [*put, *((object_key(row, obj), stored_form(row, obj)) for row, obj in changed)]
        )
        for row, obj in changed:
            self._take(row, obj, self.revision)

    async def push(self) -> None:
        """Send what was written here; what somebody else has changed since comes back as they left it."""
        async with self._writing:
            for _ in range(_ATTEMPTS):
                changes, self._pushed = self._store.changes(self._pushed), self._store.version
                keys = dict.fromkeys(change.key for change in changes if change.key.noun not in SERVICE_NOUNS)
                if not keys:
                    return
                for key in keys:
                    await self._push_one(key)
            # What is still new is sent next time: somebody writes faster than this.

    async def _push_one(self, key: Key) -> None:
        obj = self._store.content(*key)
        path, seen, revision = self._known.get(key, ("", None, 0))
        if obj is seen:
            return
        row = BY_NOUN.get(key.noun)
        if row is None or (obj is not None and not is_kept_by_server(row, obj)):
            return
        path = path or object_key(row, obj or {"metadata": {"name": key.name, "namespace": key.namespace}})
        written = await self._etcd.replace(path, stored_form(row, obj) if obj is not None else None, revision)
        if written is None:
            return
        self.last_change = time.monotonic()
        if obj is None:
            self._known[key] = (path, None, 0)
            self._by_path.pop(path, None)
        elif self._store.content(*key) is obj:
            self._take(row, obj, written)
        else:
            self._note(row, key, obj, written)

    def _take(self, row: ResourceType, obj: Json, revision: int) -> None:
        """Hold an object at its revision in etcd."""
        mirrored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}
        is_caught_up = self._pushed == self._store.version
        self._store.mirror(row, mirrored)
        self._note(row, key_of(row, mirrored), mirrored, revision)
        if is_caught_up:
            self._pushed = self._store.version

    def _note(self, row: ResourceType, key: Key, obj: Json, revision: int) -> None:
        path = object_key(row, obj)
        self._known[key] = (path, obj, revision)
        self._by_path[path] = key

    async def _follow(self, revision: int) -> None:
        async for entries in self._etcd.watch(revision):
            for entry in entries:
                self._take_over(entry)
        raise ProviderFault("etcd", "its watch has ended", "see its log", FaultKind.LOST)

    def _take_over(self, entry: Entry) -> None:
        """Take over one change, unless it came from here; what the server keeps renewing changes nothing."""
        self.revision = max(self.revision, entry.revision)
        if self._plane.is_volatile(entry.key):
            return
        self.changed.set()
        key = self._by_path.get(entry.key)
        known = self._known[key] if key is not None else None
        if known is not None and known[2] >= entry.revision:
            return
        self.last_change = time.monotonic()
        if entry.value is None:
            if key is not None:
                self._take_away(entry.key, key)
            return
        told = found_object(entry)
        if told is not None:
            row, obj = told
            self._store.mirror(row, obj)
            self._known[key_of(row, obj)] = (entry.key, obj, entry.revision)
            self._by_path[entry.key] = key_of(row, obj)

    def _take_away(self, path: str, key: Key) -> None:
        found = self._store.content(*key)
        self._known[key] = (path, None, 0)
        del self._by_path[path]
        row = BY_NOUN.get(key.noun)
        if found is not None:
            self._store.remove(row or ResourceType(key.noun, "", "", namespaced=bool(key.namespace)), found)

    async def put_beside(self, path: str, value: bytes) -> None:
        """Put something into etcd that is not part of the declared cluster; it comes back like anything else there."""
        await self._etcd.write([(path, value)])

    async def catch_up(self) -> None:
        """Wait until everything that is there now has arrived here."""
        wanted = await self._etcd.revision()
        while self.revision < wanted:
            if self._task is None or self._task.done():
                raise ProviderFault("etcd", "its watch has ended", "see its log", FaultKind.LOST)
            await asyncio.sleep(_STEP_SECONDS)

    def revisions(self) -> Mapping[Key, int]:
        """The revision at which each object was last changed."""
        return {key: revision for key, (_, obj, revision) in self._known.items() if obj is not None}

    async def close(self) -> None:
        """Stop following."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._etcd.close()


def _is_owned(pod: Json, owner: Json) -> bool:
    references = pod["metadata"].get("ownerReferences") or ()
    return any(one.get("uid") == owner["metadata"]["uid"] for one in references)
