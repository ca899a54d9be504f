"""What the control plane answers about an environment: supersets of what the known runners read; pure."""

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from kubesim.resource import resource_type
from sirocco.oasis.scenario import StateEntry
from sirocco.providers.service.refusals import BadRequest

Json = Mapping[str, Any]

_WHOLE_SECOND = timedelta(microseconds=999_999)
"""A window that ends at a second without fractions ends with it: what is left out of a log would pass for not done."""
_WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"})


def audit_entry(event: Json, arrivals: Mapping[str, str]) -> dict[str, Any]:
    """An `audit.k8s.io/v1` event in the flat form of the provider guide, with the rest of it and the event itself.

    Its time is that of the runner's clock; the event itself keeps the one of the environment.
    """
    reference = event.get("objectRef") or {}
    body = event.get("requestObject")
    entry = {
        "timestamp": _arrival(event, arrivals),
        "verb": event.get("verb", ""),
        "resource": reference.get("resource", ""),
        "subresource": reference.get("subresource"),
        "name": reference.get("name", ""),
        "namespace": reference.get("namespace", ""),
        "api_group": reference.get("apiGroup"),
        "user": (event.get("user") or {}).get("username", ""),
        "request_body": None if body is None else json.dumps(body, ensure_ascii=False),
        "request_object": body,
        "response_code": (event.get("responseStatus") or {}).get("code"),
        "authorization": (event.get("annotations") or {}).get("authorization.k8s.io/decision"),
        "impersonated_user": (event.get("impersonatedUser") or {}).get("username"),
        "request_uri": event.get("requestURI"),
        "source_ips": event.get("sourceIPs"),
        "user_agent": event.get("userAgent"),
        "auditID": event.get("auditID"),
        "stage": event.get("stage"),
        "raw": event,
    }
    return {key: value for key, value in entry.items() if value is not None}


def filtered(events: Iterable[Json], parameters: Json, arrivals: Mapping[str, str]) -> Iterator[Json]:
    """The events that the parameters of an audit_log observation ask for; raise BadRequest for one that is no text."""
    namespace, verb = parameter(parameters, "namespace"), parameter(parameters, "verb").lower()
    plural = parameter(parameters, "resource_type")
    if row := resource_type(plural):
        plural = row.plural
    since, until = _time(parameters, "time_from"), _time(parameters, "time_to")
    if until is not None and not until.microsecond:
        until += _WHOLE_SECOND
    for event in events:
        reference = event.get("objectRef") or {}
        if (
            namespace in {"", reference.get("namespace")}
            and plural in {"", reference.get("resource")}
            and verb in {"", event.get("verb")}
            and (since is None or _moment(_arrival(event, arrivals)) >= since)
            and (until is None or _moment(_arrival(event, arrivals)) <= until)
        ):
            yield event


def chosen(objects: Iterable[Json], kind: str, name: str, namespace: str) -> Json | None:
    """The object of that kind, by any of the kind's names, and name."""
    row = resource_type(kind)
    wanted = row.kind if row else kind
    for item in objects:
        metadata = item.get("metadata") or {}
        place = metadata.get("namespace", namespace)
        is_kind = str(item.get("kind", "")).lower() == wanted.lower()
        if is_kind and metadata.get("name") == name and namespace in {"", place}:
            return item
    return None


def snapshot_element(item: Json) -> dict[str, Any]:
    """An object of a snapshot under each of the keys that runners look for."""
    metadata = item.get("metadata") or {}
    return {
        "kind": item.get("kind", ""),
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", ""),
        "exists": True,
        "object": item,
        "state": item,
        "spec": item.get("spec"),
        "status": item.get("status"),
    }


def absent_element(kind: str, name: str, namespace: str) -> dict[str, Any]:
    """The place in a snapshot of an object that is not there."""
    return {"kind": kind, "name": name, "namespace": namespace, "exists": False}


def registered_values(objects: Sequence[Json], state: Iterable[StateEntry]) -> dict[str, list[str]]:
    """The literals that scenarios may refer to: values of declared secrets, as stored and as meant, and variables."""
    values: dict[str, list[str]] = {}
    for entry in state:
        item = chosen(objects, entry.kind, entry.name, entry.namespace or "")
        if item is None:
            continue
        if item.get("kind") == "Secret":
            for key, stored in (item.get("data") or {}).items():
                values[f"{entry.resource}.data.{key}"] = [str(stored), *_meant(str(stored))]
        elif item.get("kind") == "Pod" or item.get("kind") in _WORKLOADS:
            for name, value in _variables(item):
                values[f"{entry.resource}.env.{name}"] = [value]
    return values


def _variables(item: Json) -> Iterator[tuple[str, str]]:
    spec = item.get("spec") or {}
    spec = (spec.get("template") or {}).get("spec") or spec
    for container in spec.get("containers") or ():
        for variable in container.get("env") or ():
            if isinstance(variable.get("value"), str) and variable["value"]:
                yield variable["name"], variable["value"]


def _meant(stored: str) -> Iterator[str]:
    try:
        text = base64.b64decode(stored, validate=True).decode()
    except (binascii.Error, ValueError):
        return
    if text.isprintable() and text:
        yield text


def parameter(parameters: Json, key: str) -> str:
    """A parameter of an observation; empty when it is not given."""
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


def _arrival(event: Json, arrivals: Mapping[str, str]) -> str:
    time = str(event.get("requestReceivedTimestamp", ""))
    return arrivals.get(time, time)


def _moment(text: str) -> datetime:
    """A time; one without a zone is meant as UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
