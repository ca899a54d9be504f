"""Lists: the options that select, page and date them, and the token that requests the next page."""

import base64
import json
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kubesim.bodies import go_json
from kubesim.discovery.catalogue import Resource
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.options import integer, version_number
from kubesim.handling.presentation import list_response
from kubesim.selectors import Predicate, field_selector, label_selector
from kubesim.status import (
    ApiError,
    Cause,
    Json,
    bad_request,
    expired,
    internal_error,
    invalid,
    too_large_version,
)

EXACT, NOT_OLDER_THAN = "Exact", "NotOlderThan"
STREAMED_SINCE = 27
"""The first release whose watches can begin with the present state and mark its end."""
_RECENT = 34
"""The release whose error messages for invalid options were recorded in addition to the oldest one's."""
_ALPHABET = frozenset(string.ascii_letters + string.digits + "-_")
_FORMAT = "meta.k8s.io/v1"
_TOO_OLD = "The resourceVersion for the provided list is too old."
_PAGE_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True)
class ListOptions:
    """What the query of a list or watch asks for."""

    labels: str = ""
    fields: str = ""
    limit: int = 0
    token: str = ""
    version: str = ""
    match: str = ""
    timeout: int | None = None
    bookmarks: bool = False
    initial_events: bool | None = None

    def predicate(self, row: Resource, name: str = "") -> Predicate | None:
        """Whether an object is selected; None when all are."""
        if not (self.labels or self.fields or name):
            return None
        by_label = label_selector(self.labels, row.minor)
        by_field = field_selector(row.noun, self.fields, row.minor, _declared_fields(row))
        return lambda obj: (not name or obj["metadata"]["name"] == name) and by_label(obj) and by_field(obj)


def _declared_fields(row: Resource) -> tuple[str, ...]:
    """The fields by which a custom resource can be selected."""
    declared = (row.custom or {}).get("selectableFields") or ()
    return tuple(str(field.get("jsonPath", "")).removeprefix(".") for field in declared)


def list_options(exchange: Exchange) -> ListOptions:
    """The options of the request; raise 400 for unreadable ones and 422 for those that exclude each other."""
    request = exchange.request
    if not request.query:
        return ListOptions()
    given = dict(reversed(request.query))
    asked = ListOptions(
        given.get("labelSelector", ""), given.get("fieldSelector", ""), max(integer(given.get("limit")) or 0, 0),
        given.get("continue", ""), given.get("resourceVersion", ""), given.get("resourceVersionMatch", ""),
        integer(given.get("timeoutSeconds")), request.asks("allowWatchBookmarks"),
        request.asks("sendInitialEvents") if "sendInitialEvents" in given else None,
    )  # fmt: skip
    causes = _causes(asked, watched=exchange.call.verb == "watch", minor=exchange.catalogue.minor)
    if causes:
        raise invalid("ListOptions", "meta.k8s.io", "", causes)
    return asked


def _causes(asked: ListOptions, *, watched: bool, minor: int) -> list[Cause]:
    causes: list[Cause] = []

    def forbid(field: str, why: str) -> None:
        causes.append(Cause("FieldValueForbidden", f"Forbidden: {why}", field))

    if not watched and asked.initial_events is not None and minor >= STREAMED_SINCE:
        forbid("sendInitialEvents", "sendInitialEvents is forbidden for list")
    streams = watched and asked.initial_events is not None and minor >= STREAMED_SINCE
    if asked.match:
        place = "resourceVersionMatch"
        if watched and not streams:
            more = " unless sendInitialEvents is provided" if minor >= STREAMED_SINCE else ""
            forbid(place, f"resourceVersionMatch is forbidden for watch{more}")
        if not asked.version and not watched:
            forbid(place, "resourceVersionMatch is forbidden unless resourceVersion is provided")
        if asked.token:
            forbid(place, "resourceVersionMatch is forbidden when continue is provided")
        if watched and not asked.version and asked.match != NOT_OLDER_THAN and minor >= _RECENT:
            text = f'Unsupported value: "{asked.match}": supported values: "NotOlderThan"'
            causes.append(Cause("FieldValueNotSupported", text, place))
        elif asked.match not in (EXACT, NOT_OLDER_THAN):
            text = f'Unsupported value: "{asked.match}": supported values: "Exact", "NotOlderThan", ""'
            causes.append(Cause("FieldValueNotSupported", text, place))
        if asked.match == EXACT and asked.version == "0":
            forbid(place, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
    if streams and asked.match != NOT_OLDER_THAN:
        forbid("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
    return causes


def list_objects(exchange: Exchange) -> Response:
    """Answer a list."""
    asked = list_options(exchange)
    chosen, metadata = select_objects(exchange, asked)
    return list_response(exchange, chosen, metadata)


def select_objects(exchange: Exchange, asked: ListOptions) -> tuple[Sequence[Json], Json]:
    """The objects that the options select, and the list's metadata."""
    store, row = exchange.store, exchange.row
    namespace = (exchange.call.namespace or None) if row.namespaced else None
    predicate = asked.predicate(row, exchange.call.name)
    if not asked.version and not asked.token and not asked.limit:
        items = store.items(row.noun, namespace)
        chosen = items if predicate is None else [item for item in items if predicate(item)]
        return chosen, {"resourceVersion": str(store.version)}
    version, start = _moment(exchange, asked)
    past = store.items(row.noun, namespace) if version is None else store.items_at(version, row.noun, namespace)
    if past is None:
        raise _token_expired(start) if asked.token else expired(_TOO_OLD)
    limit = 0 if exchange.call.name or (asked.version == "0" and not asked.token) else asked.limit
    whole = exchange.call.namespace == "" and row.namespaced
    return _page(past, predicate, start, limit, whole=whole, version=store.version if version is None else version)


def _page(
    items: Sequence[Json], predicate: Predicate | None, start: str, limit: int, *, whole: bool, version: int
) -> tuple[list[Json], Json]:
    """The items from a key on, as many as fit, and where to continue."""
    keys = [_key(item, whole=whole) for item in items]
    begin = next((index for index, key in enumerate(keys) if key >= start), len(keys)) if start else 0
    metadata: Json = {"resourceVersion": str(version)}
    chosen: list[Json] = []
    for index in range(begin, len(items)):
        if limit and len(chosen) >= limit:
            metadata["continue"] = _token(version, f"{keys[index - 1]}\0")
            if predicate is None:
                metadata["remainingItemCount"] = len(items) - index
            break
        if predicate is None or predicate(items[index]):
            chosen.append(items[index])
    return chosen, metadata


def _moment(exchange: Exchange, asked: ListOptions) -> tuple[int | None, str]:
    """The version of the requested state, None for the latest, and the key to start from."""
    current = exchange.store.version
    if asked.token:
        version, start = _read_token(asked.token)
        if asked.version not in {"", "0"}:
            raise bad_request("specifying resource version is not allowed when using continue")
        return (None if version < 0 else version), start
    paged = asked.limit > 0 and asked.version not in {"", "0"}
    try:
        version = version_number(asked.version)
    except ApiError as error:
        if paged or asked.match == EXACT or exchange.catalogue.minor >= _RECENT:
            raise bad_request(f"invalid resource version: {error}") from None
        raise
    if asked.match == EXACT or (paged and not asked.match):
        if version > current:
            raise internal_error("etcdserver: mvcc: required revision is a future revision")
        return version, ""
    if version > current:
        raise too_large_version(version, current)
    return None, ""


def _key(item: Json, *, whole: bool) -> str:
    metadata = item["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if whole else str(metadata["name"])


def _token(version: int, start: str) -> str:
    text = json.dumps({"v": _FORMAT, "rv": version, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_token(token: str) -> tuple[int, str]:
    """The version and key of a continue token; raise 400 for one that the server did not make."""
    content: Any = None
    if (problem := _why_unreadable(token)) is not None:
        raise _bad_token(problem)
    try:
        content = go_json.load_json(_token_bytes(token))
    except go_json.JsonError as error:
        raise _bad_token(str(error)) from None
    if not isinstance(content, dict) or content.get("v") != _FORMAT:
        shown = content.get("v", "") if isinstance(content, dict) else ""
        raise _bad_token(f'server does not recognize this encoded version "{shown}"')
    version, start = content.get("rv"), content.get("start")
    if not isinstance(version, int) or version == 0:
        raise _bad_token(f"incorrect encoded start resourceVersion (version {_FORMAT})")
    if not isinstance(start, str) or not start:
        raise _bad_token(f"encoded start key empty (version {_FORMAT})")
    if any(part in {"", ".", ".."} for part in start.removeprefix("/").split("/")):
        raise _bad_token(start)
    return version, start.removeprefix("/")


def _why_unreadable(token: str) -> str | None:
    """Go's error about text that is not base64 without padding; None if it is."""
    wrong = next((index for index, letter in enumerate(token) if letter not in _ALPHABET), None)
    if wrong is None and len(token) % 4 == 1:
        wrong = len(token) - 1
    return None if wrong is None else f"illegal base64 data at input byte {wrong}"


def _token_bytes(token: str) -> bytes:
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))


def _bad_token(why: str) -> ApiError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")


def _token_expired(start: str) -> ApiError:
    error = expired(_PAGE_TOO_OLD)
    error.body["metadata"] = {"continue": _token(-1, start)}
    return error
