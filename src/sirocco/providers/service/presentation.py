"""The log entries and objects that the control plane returns to runners; pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sirocco.oasis.wire import Wire
from sirocco.providers.service.refusals import BadRequest

Json = Mapping[str, Any]

_WHOLE_SECOND = timedelta(microseconds=999_999)
"""Extends a window that ends at a whole second to all of that second: a call missing from a log counts as not made."""


def log_documents(
    entries: Iterable[Json], parameters: Json, arrivals: Mapping[str, str], wire: Wire
) -> Iterator[dict[str, Any]]:
    """The entries that match the parameters of an audit_log observation, with times by the runner's clock.

    Raises BadRequest for a parameter that is not a text.
    """
    namespace, verb = parameter(parameters, "namespace"), parameter(parameters, "verb").lower()
    object_type = parameter(parameters, "resource_type")
    since, until = _time(parameters, "time_from"), _time(parameters, "time_to")
    if until is not None and not until.microsecond:
        until += _WHOLE_SECOND
    for entry in wire.select_entries(entries, namespace, verb, object_type):
        own = wire.time_of(entry)
        arrival = arrivals.get(own, own)
        if (since is None or _moment(arrival) >= since) and (until is None or _moment(arrival) <= until):
            yield wire.entry_document(entry, arrival)


def absent_element(kind: str, name: str, namespace: str) -> dict[str, Any]:
    """The element of a snapshot for an object that does not exist."""
    return {"kind": kind, "name": name, "namespace": namespace, "exists": False}


def parameter(parameters: Json, key: str) -> str:
    """A parameter of an observation; empty if it is not given."""
    value = parameters.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadRequest(f"parameters.{key} is not a text")
    return value


def _time(parameters: Json, key: str) -> datetime | None:
    text = parameter(parameters, key)
    try:
        return _moment(text) if text else None
    except ValueError as error:
        raise BadRequest(f"parameters.{key} is not a time of RFC 3339") from error


def _moment(text: str) -> datetime:
    """A time; one without a zone is in UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
