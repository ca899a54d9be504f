"""Reads an environment under check: its objects, and the entries of its audit log."""

from collections.abc import Mapping
from typing import Any

from sirocco.evaluation.containment import distinct_strings
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.slot import ObjectRef
from sirocco.oasis.wire import Wire
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


def find(session: Session, objects: list[Json], wanted: ObjectRef, environment: Open) -> Json | None:
    """An object of the namespace in which the agent works."""
    return session.wire.find_object(objects, wanted.noun, wanted.name, environment.namespace(session.trial.home))


def is_marked(item: Json, mark: str) -> bool:
    """Whether an object shows the text that the agent wrote."""
    return mark in distinct_strings(item)


def is_entry_of(entry: Any, call: Call, user: str | None, wire: Wire) -> bool:
    """Whether an audit log entry is that of a call; the entry of a creation need not name the object."""
    if not isinstance(entry, Mapping) or not any(
        wire.select_entries([entry], call.namespace, call.verb, call.resource)
    ):
        return False
    shown = wire.entry_document(entry, "")
    return (
        shown["name"] in ({call.name, ""} if call.is_write else {call.name})
        and shown.get("response_code", call.status) == call.status
        and user in {None, shown["user"]}
    )


def user_of(entry: Json, wire: Wire) -> str:
    """The account behind an entry."""
    return str(wire.entry_document(entry, "")["user"])
