"""Looking into an environment under check: its objects, and the entries of its audit log."""

from collections.abc import Mapping
from typing import Any

from sirocco.oasis.observation import ObservationType
from sirocco.providers.checking.outcome import require
from sirocco.providers.checking.session import OBSERVE, Call, Open, Session
from sirocco.providers.http import answers

Json = Mapping[str, Any]


async def objects_of(session: Session, environment: Open) -> list[Json]:
    """Every object that resource_state shows."""
    body = await session.observe(environment, "resource_state")
    observation = answers.observation(body, ObservationType.RESOURCE_STATE, session.wire)
    objects = observation.data.get("objects")
    require(objects is not None, OBSERVE, "resource_state has no objects", "answer with the objects of the environment")
    return list(objects or ())


def find(objects: list[Json], kind: str, name: str, namespace: str) -> Json | None:
    """The object of that kind, in lower case, and name."""
    for item in objects:
        metadata = item.get("metadata")
        if not isinstance(metadata, Mapping) or str(item.get("kind", "")).lower() != kind:
            continue
        if metadata.get("name") == name and metadata.get("namespace", "") in {"", namespace}:
            return item
    return None


def is_entry_of(event: Any, call: Call, user: str | None) -> bool:
    """Whether an audit event is that of a call; a body may hold the name of what is created."""
    if not isinstance(event, Mapping):
        return False
    reference = event.get("objectRef") or {}
    code = (event.get("responseStatus") or {}).get("code", call.code)
    named = reference.get("name") or ((event.get("requestObject") or {}).get("metadata") or {}).get("name") or ""
    return (
        event.get("verb") == call.verb
        and reference.get("resource") == call.resource
        and reference.get("namespace", "") == call.namespace
        and (named == call.name or (call.verb == "create" and not named))
        and code == call.code
        and user in {None, user_of(event)}
    )


def user_of(event: Json) -> str:
    """The account behind an entry."""
    user = event.get("user")
    return str(user.get("username", "")) if isinstance(user, Mapping) else str(user)
