"""Watches: what changed after a version of the store, as long as the client listens."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from kubesim.bodies.decoding import normalize_value
from kubesim.conventions import with_times_of
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.lists import STREAMED_SINCE, ListOptions, list_options
from kubesim.handling.negotiation import JSON, PROTOBUF, Wanted, not_acceptable
from kubesim.handling.options import version_number
from kubesim.handling.presentation import form, present_object, with_managers
from kubesim.kinds.conversion import convert_object
from kubesim.status import Json, expired
from kubesim.store import Change
from kubesim.surroundings import Conversation, Execution, Forwarding

ADDED, MODIFIED, DELETED, BOOKMARK, ERROR = "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"
_LAST_BOOKMARK = 2
"""Seconds before its end at which a watch sends a last bookmark; a shorter watch sends none."""
_INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


class Watch:
    """An open watch: call `pending` repeatedly, then `close`, which puts it into the audit log."""

    def __init__(self, exchange: Exchange, asked: ListOptions, wanted: Wanted) -> None:
        self._exchange = exchange
        self._asked = asked
        self._wanted = wanted
        row = exchange.row
        self._namespace = (exchange.call.namespace or None) if row.namespaced else None
        self._matches = asked.predicate(row, exchange.call.name)
        self._position = version_number(asked.version) if asked.version else 0
        self._queue: list[Json] = []
        self._sent_table = False
        self._opened = exchange.store.version
        self.on_close: Callable[[], None] = lambda: None
        self.is_over = False
        """Whether nothing more will come."""
        self.timeout = asked.timeout
        """Seconds after which the server ends the watch."""
        self._begin()

    def pending(self) -> list[Json]:
        """The events since the last call."""
        if self.is_over:
            events, self._queue = self._queue, []
            return events
        events, self._queue = self._queue, []
        store = self._exchange.store
        for change in store.changes(self._position):
            self._position = change.version
            event = self._event(change)
            if event is not None:
                events.append(event)
        self._position = max(self._position, store.version)
        return events

    def close(self) -> list[Json]:
        """End the watch; the last events, with the bookmark from which a client can continue."""
        if self.on_close is _closed:
            return []
        last = self.pending()
        if self._asked.bookmarks and not self.is_over and (self.timeout is None or self.timeout > _LAST_BOOKMARK):
            noun = self._exchange.row.noun
            seen = [change for change in self._exchange.store.changes(self._opened) if change.key.noun == noun]
            # What has not changed since has no newer version to continue from.
            last += [self._bookmark(seen[-1].version)] if seen else []
        finish, self.on_close = self.on_close, _closed
        self.is_over = True
        finish()
        return last

    def _begin(self) -> None:
        """Queue what a watch starts with: the present state, or the error that the requested version is too old."""
        store, asked = self._exchange.store, self._asked
        streams = asked.initial_events if self._exchange.catalogue.minor >= STREAMED_SINCE else None
        if streams:
            self._queue = self._state()
            if asked.bookmarks:
                self._queue.append(self._bookmark(store.version, _INITIAL_EVENTS_END))
        elif streams is False and self._position == 0:
            self._position = store.version
        elif self._position == 0:
            self._queue = self._state()
        elif self._position < store.oldest:
            text = f"too old resource version: {self._position} ({store.oldest})"
            self._queue = [{"type": ERROR, "object": expired(text).body}]
            self.is_over = True

    def _state(self) -> list[Json]:
        store = self._exchange.store
        self._position = store.version
        items: Iterable[Json] = store.items(self._exchange.row.noun, self._namespace)
        if self._matches is not None:
            items = filter(self._matches, items)
        return [self._shown_object(ADDED, item) for item in items]

    def _event(self, change: Change) -> Json | None:
        """What a change means to this watch: an object that no longer matches counts as deleted."""
        key = change.key
        if key.noun != self._exchange.row.noun or (self._namespace is not None and key.namespace != self._namespace):
            return None
        was = change.old is not None and self._is_chosen(change.old)
        if change.new is not None and self._is_chosen(change.new):
            return self._shown_object(MODIFIED if was else ADDED, change.new)
        if not was or change.old is None:
            return None
        last = {**change.old["metadata"], "resourceVersion": str(change.version)}
        return self._shown_object(DELETED, {**change.old, "metadata": last})

    def _is_chosen(self, obj: Json) -> bool:
        return self._matches is None or self._matches(obj)

    def _shown_object(self, kind: str, obj: Json) -> Json:
        exchange = self._exchange
        shown = with_managers(exchange, convert_object(obj, exchange.row))
        if self._wanted.kind:
            shown = present_object(exchange, self._wanted, shown, with_columns=not self._sent_table)
            self._sent_table = True
        return {"type": kind, "object": shown}

    def _bookmark(self, version: int, annotations: Json | None = None) -> Json:
        """An object without content that tells the client up to which version it knows everything."""
        row = self._exchange.row
        metadata: Json = with_times_of(row.minor, {"resourceVersion": str(version), "creationTimestamp": None})
        if annotations:
            metadata["annotations"] = annotations
        named = {"kind": row.kind, "apiVersion": row.api_version}
        empty = normalize_value(self._exchange.type, {**named, "metadata": metadata})
        return {"type": BOOKMARK, "object": {**empty, **named, "metadata": metadata}}


def watch(exchange: Exchange) -> Response:
    """Open a watch."""
    wanted = form(exchange)
    asked = list_options(exchange)
    if wanted.media_type != JSON:
        streamed = ", ".join(f"{name};stream=watch" for name in (JSON, PROTOBUF))
        raise not_acceptable(f"only the following media types are accepted: {streamed}")
    return Response(200, Watch(exchange, asked, wanted))


def whole_response(response: Response) -> Response:
    """The answer for a client that takes a stream whole: a watch as its events so far, a command as its output."""
    body = response.body
    if isinstance(body, Watch):
        return replace(response, body=[*body.pending(), *body.close()])
    if isinstance(body, Conversation):
        body = body.answer("")
    if isinstance(body, Execution):
        return replace(response, status=200, body=f"{body.stdout}{body.stderr}")
    if isinstance(body, Forwarding):
        body.end("")
        return replace(response, status=200, body="")
    return response


def _closed() -> None:
    """The effect of closing a closed watch."""
