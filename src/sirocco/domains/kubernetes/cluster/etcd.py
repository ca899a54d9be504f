"""etcd as a client sees it through its JSON gateway: ranges, transactions, and watches from a revision on."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sirocco.errors import FaultKind, ProviderFault
from sirocco.providers.http.connection import Connections, Origin, Unanswered

_TIMEOUT = 30.0
_LINE_LIMIT = 256 * 1024 * 1024
_MOST_OPERATIONS = 5000


@dataclass(frozen=True, slots=True)
class Entry:
    """A key at a revision; without a value it was deleted then."""

    key: str
    value: bytes | None
    revision: int


class Etcd:
    """One etcd on loopback."""

    def __init__(self, port: int) -> None:
        self._connections = Connections(Origin.from_url(f"http://127.0.0.1:{port}"), kept=2)
        self._port = port

    async def revision(self) -> int:
        """The revision of the last change."""
        answer = await self._ask("/v3/kv/range", {"key": _encode("/"), "count_only": True})
        return int(answer["header"]["revision"])

    async def entries(self, prefix: str, *, with_values: bool = True) -> list[Entry]:
        """Every key below a prefix."""
        asked = {"key": _encode(prefix), "range_end": _encode(_end_of(prefix)), "keys_only": not with_values}
        answer = await self._ask("/v3/kv/range", asked)
        return [_entry(item) for item in answer.get("kvs", ())]

    async def write(self, put: Iterable[tuple[str, bytes]], delete: Iterable[str] = ()) -> int:
        """Put keys and delete others in one atomic step; returns its revision.

        Only if there is more to delete than fits into one step, the rest is deleted first.
        """
        operations: list[Any] = [
            {"request_put": {"key": _encode(key), "value": base64.b64encode(value).decode()}} for key, value in put
        ]
        if len(operations) > _MOST_OPERATIONS:
            raise ProviderFault("etcd", f"{len(operations)} changes at once", "declare less", FaultKind.FAILED)
        gone: list[Any] = [{"request_delete_range": {"key": _encode(key)}} for key in delete]
        while len(gone) + len(operations) > _MOST_OPERATIONS:
            first, gone = gone[:_MOST_OPERATIONS], gone[_MOST_OPERATIONS:]
            await self._ask("/v3/kv/txn", {"success": first})
        operations += gone
        if not operations:
            return await self.revision()
        answer = await self._ask("/v3/kv/txn", {"success": operations})
        return int(answer["header"]["revision"])

    async def replace(self, key: str, value: bytes | None, revision: int) -> int | None:
        """Put a key, or delete it without a value, if it is still at that revision; the new revision or None.

        Revision 0 stands for a key that does not exist.
        """
        operation = (
            {"request_delete_range": {"key": _encode(key)}}
            if value is None
            else {"request_put": {"key": _encode(key), "value": base64.b64encode(value).decode()}}
        )
        compared = {"key": _encode(key), "target": "MOD", "result": "EQUAL", "mod_revision": str(revision)}
        answer = await self._ask("/v3/kv/txn", {"compare": [compared], "success": [operation]})
        return int(answer["header"]["revision"]) if answer.get("succeeded") else None

    async def watch(self, after: int) -> AsyncIterator[Sequence[Entry]]:
        """The changes after a revision, in order, as they happen."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=_LINE_LIMIT)
        wanted = {"key": _encode("\0"), "range_end": _encode("\0"), "start_revision": str(after + 1)}
        content = json.dumps({"create_request": wanted}).encode()
        head = f"POST /v3/watch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(content)}\r\n\r\n"
        try:
            writer.write(head.encode() + content)
            await reader.readuntil(b"\r\n\r\n")
            async for line in _lines(reader):
                result = json.loads(line).get("result") or {}
                if result.get("canceled"):
                    return
                if events := result.get("events"):
                    yield [_changed(event) for event in events]
        finally:
            writer.transport.abort()

    def close(self) -> None:
        """Close its connections."""
        self._connections.close()

    async def _ask(self, path: str, document: Any) -> Any:
        content = json.dumps(document).encode()
        try:
            answer = await self._connections.request(
                "POST", path, headers={"Content-Type": "application/json"}, content=content, timeout=_TIMEOUT
            )
        except Unanswered as unanswered:
            raise ProviderFault("etcd", unanswered.problem, "see its log", unanswered.kind) from unanswered
        if answer.status != 200:
            problem = answer.content.decode(errors="replace")[:300]
            raise ProviderFault("etcd", problem, "see its log", FaultKind.FAILED)
        return json.loads(answer.content)


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The lines of a chunked answer, until it ends."""
    kept = b""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while size := int((await reader.readuntil(b"\r\n")).strip() or b"0", 16):
            kept += await reader.readexactly(size)
            await reader.readexactly(2)
            *whole, kept = kept.split(b"\n")
            for line in whole:
                if line.strip():
                    yield line


def _changed(event: Any) -> Entry:
    entry = _entry(event["kv"])
    return Entry(entry.key, None, entry.revision) if event.get("type") == "DELETE" else entry


def _entry(item: Any) -> Entry:
    value = base64.b64decode(item.get("value", ""))
    return Entry(base64.b64decode(item["key"]).decode(errors="replace"), value, int(item["mod_revision"]))


def _encode(key: str) -> str:
    return base64.b64encode(key.encode()).decode()


def _end_of(prefix: str) -> str:
    """The first key that is not below a prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
