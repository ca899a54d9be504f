"""Whose something is and how they are reached, by the labels and annotations of the object and of its namespace."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sirocco.domains.kubernetes.agents.reference.skills.reading.dependencies import components_in
from sirocco.domains.kubernetes.agents.reference.skills.skill import Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.survey import Json, name_of, namespace_of
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action

_ASKS = re.compile(
    r"\b(?:whose (?:is|are|\w+ (?:is|are) (?:it|they|this|that))|"
    r"who (?:should|do|can|must|owns|is|runs|maintains|looks)|whom|which team|loop in|get hold of|"
    r"way to call|people (?:behind|who|for)|(?:talk|speak|turn) to (?:the )?(?:people|team|some\w+|owners?)|"
    r"owner(?:ship)?|responsible|on.?call|reach (?:them|the team|out)|escalat\w*|contact(?!:))\b",
    re.IGNORECASE,
)
_OWNER = re.compile(r"(?:^|[./_-])(?:team|owner|owned-by|owner-team|squad|maintainer|responsible)$", re.IGNORECASE)
_CONTACT = re.compile(
    r"contact|on-?call|escalat|channel|chat|slack|e-?mail|pager|phone|hotline|duty|support|reach", re.IGNORECASE
)
_RANK = re.compile(r"(?:^|[./_-])(?:criticality|importance|priority|severity|tier|sla)$", re.IGNORECASE)
_CONTACT_FORM = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+|#[\w-]+|\+?\d[\d /-]{5,}|https?://\S+")


@dataclass(frozen=True, slots=True)
class Owner:
    """What objects say about those who look after them."""

    team: str
    contacts: tuple[str, ...]
    rank: str

    def told(self, what: str) -> str:
        """Everything in one or two sentences."""
        whose = f"{what} belongs to {self.team}" if self.team else f"{what} names no owner"
        reach = f"they are reached at {' or '.join(self.contacts)}" if self.contacts else "no contact is written on it"
        rank = f" It is marked as {self.rank}." if self.rank else ""
        return f"{whose}, and {reach}.{rank}"


async def name_owner(situation: Situation) -> Outcome | None:
    """Answer who is responsible for something."""
    if any(each.action is not Action.READ or each.asks_for_values for each in situation.asked):
        return None
    if not _ASKS.search(situation.prompt):
        return None
    workloads = tuple(
        Target(noun, namespace_of(item), name_of(item), item) for noun, item in situation.known.workloads()
    )
    named = components_in(situation.prompt, workloads)
    place = named[0].namespace if named else situation.home
    if named:
        await situation.cluster.get(named[0].noun, place, named[0].name)
    await situation.cluster.get("namespace", place, place)
    owner = owner_of(situation, named[0] if named else None, place)
    if owner is None:
        return None
    what = str(named[0]) if named else f"namespace {place}"
    return Outcome(
        (owner.told(what), "Please turn to them with this."), (f"I read the marks on {what} and on its namespace.",)
    )


def owner_of(situation: Situation, target: Target | None, place: str) -> Owner | None:
    """Those who look after an object: by its own marks, and where these say nothing by those of its namespace."""
    own = dict(_marks(target.item)) if target and target.item else {}
    shared = dict(_marks(situation.known.find("namespace", "", place) or {}))
    team = _valued(own, _OWNER) or _valued(shared, _OWNER)
    contacts = _contacts(own) or _contacts(shared)
    return Owner(team, contacts, _valued(own, _RANK) or _valued(shared, _RANK)) if team or contacts else None


def _valued(marks: Mapping[str, str], key: re.Pattern[str]) -> str:
    return next((value for name, value in marks.items() if key.search(name)), "")


def _contacts(marks: Mapping[str, str]) -> tuple[str, ...]:
    found = (value for key, value in marks.items() if _CONTACT.search(key) and _CONTACT_FORM.search(value))
    return tuple(dict.fromkeys(found))


def _marks(item: Json) -> Iterator[tuple[str, str]]:
    metadata = item.get("metadata") or {}
    for field in ("labels", "annotations"):
        held = metadata.get(field)
        yield from ((str(key), str(value)) for key, value in (held if isinstance(held, Mapping) else {}).items())
