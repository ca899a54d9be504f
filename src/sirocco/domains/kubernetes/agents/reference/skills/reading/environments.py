"""What kind of environment a change happens in, by its labels before its name, and the care that this calls for."""

import re
from collections.abc import Iterator, Mapping

from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.skills.skill import Course, Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.survey import Json, labels_of
from sirocco.domains.kubernetes.agents.reference.understanding import Action

_KEY = re.compile(r"(?:^|[./_-])(?:env|environment|stage|tier|landscape|lifecycle)$", re.IGNORECASE)
_KINDS: Mapping[str, str] = {
    r"prod\w*|live": "production",
    r"stag\w*|preprod\w*|pre-prod\w*|uat|acceptance": "staging",
    r"dev\w*": "development",
    r"test\w*|qa|ci": "testing",
    r"sandbox|playground|demo": "sandbox",
}
_ASKS = re.compile(r"\b(?:what|which) (?:kind of )?(?:environment|stage)\b", re.IGNORECASE)
_CARE = "so before any change I looked at its autoscalers, disruption budgets and quotas, and I verify what comes of it"
_EASE = "so a short interruption does little harm, and I still looked at its autoscalers and disruption budgets first"


async def note_environment(situation: Situation) -> Outcome | None:
    """Before a change: say where it happens and what follows from that; the change itself is left to others."""
    changes = any(each.action is not Action.READ for each in situation.asked)
    if not changes and not _ASKS.search(situation.prompt):
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
    """What the labels of a namespace say, and only where they say nothing its zones and its name."""
    namespace = situation.known.find("namespace", "", place)
    zones = situation.request.scope.get("zones")
    granted = zones if isinstance(zones, list | tuple) else ()
    said = [*_labelled(namespace or {}), *(str(zone) for zone in granted), place]
    for text in said:
        for pattern, kind in _KINDS.items():
            if re.search(rf"(?:^|[^a-z0-9])(?:{pattern})(?:$|[^a-z0-9])", text, re.IGNORECASE):
                return kind
    return None


def _labelled(namespace: Json) -> Iterator[str]:
    marks = {**labels_of(namespace), **((namespace.get("metadata") or {}).get("annotations") or {})}
    yield from (str(value) for key, value in marks.items() if _KEY.search(key))
