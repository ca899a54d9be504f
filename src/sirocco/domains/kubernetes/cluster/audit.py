"""The audit log of a real server as observations: read from its file, completed with what only the agent plane saw."""

import asyncio
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kubesim.audit_log import RESPONSE_COMPLETE, RESPONSE_STARTED, UNREAD, unusual_headers
from kubesim.handling.exchange import Exchange
from kubesim.handling.writing import recorded_patch, text_beyond
from kubesim.serving.plane import Scope
from kubesim.serving.streams import Receive, Send
from kubesim.status import Json

_STEP_SECONDS = 0.004
_STAGES = (RESPONSE_STARTED, RESPONSE_COMPLETE, "Panic")
"""The stages of a request in order."""
_TOO_LARGE = 413


class AuditRecord:
    """What a server has reported of requests since this was created."""

    def __init__(self) -> None:
        self._events: dict[str, Json] = {}

    def events(self) -> list[Json]:
        """One event for each request, its latest, in the order in which requests were first logged."""
        self._read()
        return list(self._events.values())

    def take(self, events: Iterable[Json]) -> None:
        """Take in what the server reports."""
        for event in events:
            known = self._events.get(event["auditID"])
            if known is None or _stage(event) >= _stage(known):
                self._events[event["auditID"]] = event

    async def event(self, audit_id: str, seconds: float) -> Json | None:
        """The event of a request, which the server writes when it answers; None if none arrives in that time."""
        deadline = time.monotonic() + seconds
        while True:
            self._read()
            if (found := self._events.get(audit_id)) is not None:
                return found
            if time.monotonic() > deadline:
                return None
            await asyncio.sleep(_STEP_SECONDS)

    def _read(self) -> None:
        """Look for more, if the source has to be polled."""


class AuditTail(AuditRecord):
    """What a server has written into its log file since this was created."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._place = path.stat().st_size if path.exists() else 0
        self._rest = b""

    def _read(self) -> None:
        try:
            with self._path.open("rb") as log:
                log.seek(self._place)
                content = log.read()
        except FileNotFoundError:
            return
        self._place += len(content)
        *lines, self._rest = (self._rest + content).split(b"\n")
        self.take(read_events(lines))


class AuditReceiver:
    """Where a server sends its audit events (`--audit-webhook-config-file`), for whoever is listening at the time."""

    def __init__(self) -> None:
        self._records: list[AuditRecord] = []
        self.is_listening = False
        """Whether somebody is listening for the server's events."""

    @contextmanager
    def record(self) -> Iterator[AuditRecord]:
        """Everything that arrives while the block lasts."""
        record = AuditRecord()
        self._records.append(record)
        try:
            yield record
        finally:
            self._records.remove(record)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Receive one batch."""
        if scope["type"] != "http":
            return
        parts = []
        while True:
            message = await receive()
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                break
        try:
            items = json.loads(b"".join(parts))["items"]
        except (ValueError, KeyError, TypeError):
            items = []
        events = [item for item in items if isinstance(item, dict) and isinstance(item.get("auditID"), str)]
        for record in self._records:
            record.take(events)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


def has_ended(event: Json) -> bool:
    """Whether an event says how the request was answered."""
    return "responseStatus" in event or event.get("stage") == "Panic"


def read_events(lines: Iterable[bytes]) -> list[Json]:
    """The events in lines of a log; a malformed line was not written by the server, and is skipped."""
    found = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("kind") == "Event" and isinstance(event.get("auditID"), str):
            found.append(event)
    return found


def completed_event(event: Json, exchange: Exchange, told: str = "") -> Json:
    """An event with what the server leaves out, for evaluators: it was disclosed all the same.

    These are bodies that it did not read or that say more than the object read from them, headers that clients do not
    send by default, and what was said to processes.
    """
    added: Json = {}
    shown = "impersonatedUser" in event
    if headers := unusual_headers(exchange, is_impersonation_shown=shown):
        added["requestHeaders"] = headers
    sent = exchange.request.sent_body
    if (event.get("responseStatus") or {}).get("code") != _TOO_LARGE:
        read = event.get("requestObject")
        if read is None and sent and (read := recorded_patch(sent)) is not None:
            added[UNREAD] = read
        if beyond := text_beyond(sent, read):
            added["requestText"] = beyond
    if told:
        added["requestText"] = told
    return {**event, **added}


def _stage(event: Json) -> int:
    stage = event.get("stage")
    return _STAGES.index(stage) if stage in _STAGES else 0
