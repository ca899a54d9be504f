"""Where a change happens and who owns something, by labels and annotations of objects and of their namespaces."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.skills.diagnosis import components_in
from sirocco.domains.kubernetes.agents.reference.skills.situation import Course, Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.survey import Json, labels_of, name_of, namespace_of
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action

_KEY = re.compile(r"(?:^|[./_-])(?:env|environment|stage|tier|landscape|lifecycle)$", re.IGNORECASE)
_KINDS: Mapping[str, str] = {
    r"prod\w*|live": "production",
    r"stag\w*|preprod\w*|pre-prod\w*|uat|acceptance": "staging",
    r"dev\w*": "development",
    r"test\w*|qa|ci": "testing",
    r"sandbox|playground|demo": "sandbox",
}
_ASKS_WHERE = re.compile(r"\b(?:what|which) (?:kind of )?(?:environment|stage)\b", re.IGNORECASE)
_CARE = "so before any change I looked at its autoscalers, disruption budgets and quotas, and I verify what comes of it"
_EASE = "so a short interruption does little harm, and I still looked at its autoscalers and disruption budgets first"
_ASKS_WHOSE = re.compile(
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
_CONTACT_FORM = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+|#[\w-]+|\+?\d[\d /-]{5,}|https?://\S+")


async def note_environment(situation: Situation) -> Outcome | None:
    """Before a change, say where it happens and what follows from that; the change itself is left to others."""
    changes = any(each.action is not Action.READ for each in situation.asked)
    if not changes and not _ASKS_WHERE.search(situation.prompt):
        return None
    await situation.cluster.get("namespace", situation.home, situation.home)
    if any(each.action is Action.SCALE for each in situation.asked):
        with because("more pods need nodes that can take them"):
            await situation.cluster.items("node", None)
    kind = kind_of_environment(situation, situation.home)
    if kind is None:
        return None
    care = _CARE if kind == "production" else _EASE
    return Outcome((f"Namespace {situation.home} is a {kind} environment, {care}.",), course=Course.OPEN)


def kind_of_environment(situation: Situation, place: str) -> str | None:
    """The environment by the labels of a namespace, or, failing those, by its zones and its name."""
    namespace = situation.known.find("namespace", "", place)
    zones = situation.request.scope.get("zones")
    granted = zones if isinstance(zones, list | tuple) else ()
    said = [*_marked_values(namespace or {}), *(str(zone) for zone in granted), place]
    for text in said:
        for pattern, kind in _KINDS.items():
            if re.search(rf"(?:^|[^a-z0-9])(?:{pattern})(?:$|[^a-z0-9])", text, re.IGNORECASE):
                return kind
    return None


def _marked_values(namespace: Json) -> Iterator[str]:
    marks = {**labels_of(namespace), **((namespace.get("metadata") or {}).get("annotations") or {})}
    yield from (str(value) for key, value in marks.items() if _KEY.search(key))


@dataclass(frozen=True, slots=True)
class Owner:
    """What objects say about those who look after them."""

    team: str
    contacts: tuple[str, ...]

    def owner_sentence(self, what: str) -> str:
        """The owner as one sentence."""
        whose = f"{what} belongs to {self.team}" if self.team else f"{what} names no owner"
        reach = f"they are reached at {' or '.join(self.contacts)}" if self.contacts else "no contact is written on it"
        return f"{whose}, and {reach}."


async def name_owner(situation: Situation) -> Outcome | None:
    """Answer who is responsible for something."""
    if any(each.action is not Action.READ or each.asks_for_values for each in situation.asked):
        return None
    if not _ASKS_WHOSE.search(situation.prompt):
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
        (owner.owner_sentence(what), "Please turn to them with this."),
        (f"I read the marks on {what} and on its namespace.",),
    )


def owner_of(situation: Situation, target: Target | None, place: str) -> Owner | None:
    """Those who look after an object: by its own labels and annotations, or else by those of its namespace."""
    own = dict(_marks(target.item)) if target and target.item else {}
    shared = dict(_marks(situation.known.find("namespace", "", place) or {}))
    team = _value_by_key(own, _OWNER) or _value_by_key(shared, _OWNER)
    contacts = _contacts(own) or _contacts(shared)
    return Owner(team, contacts) if team or contacts else None


def _value_by_key(marks: Mapping[str, str], key: re.Pattern[str]) -> str:
    return next((value for name, value in marks.items() if key.search(name)), "")


def _contacts(marks: Mapping[str, str]) -> tuple[str, ...]:
    found = (value for key, value in marks.items() if _CONTACT.search(key) and _CONTACT_FORM.search(value))
    return tuple(dict.fromkeys(found))


def _marks(item: Json) -> Iterator[tuple[str, str]]:
    metadata = item.get("metadata") or {}
    for field in ("labels", "annotations"):
        held = metadata.get(field)
        yield from ((str(key), str(value)) for key, value in (held if isinstance(held, Mapping) else {}).items())
