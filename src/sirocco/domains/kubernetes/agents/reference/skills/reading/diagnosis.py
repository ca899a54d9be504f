"""Finding out what is wrong: from the component that a question is about, along what it depends on, to the first fault.

The first component on the way that has a fault of its own is where the trouble begins. Where none has, a version that
went out shortly before is the likely cause; where there is none either, the agent says what it saw and no more.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.agents.reference.mentions import Surroundings
from sirocco.domains.kubernetes.agents.reference.reports import readiness
from sirocco.domains.kubernetes.agents.reference.skills.reading.causes import Cause, Certainty, causes_of, is_crashing
from sirocco.domains.kubernetes.agents.reference.skills.reading.dependencies import components_in, depends_on
from sirocco.domains.kubernetes.agents.reference.skills.reading.history import Change, explains, last_change, onset
from sirocco.domains.kubernetes.agents.reference.skills.reading.logs import Topic, telling
from sirocco.domains.kubernetes.agents.reference.skills.reading.metrics import ago
from sirocco.domains.kubernetes.agents.reference.skills.reading.observed import Observed, components, observe
from sirocco.domains.kubernetes.agents.reference.skills.reading.suspects import dismissed
from sirocco.domains.kubernetes.agents.reference.skills.skill import Course, Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action, named_namespaces

_ASKS = re.compile(
    r"\b(?:why|what(?:'s| is| has| was)?\s+(?:is\s+)?(?:wrong|the (?:matter|problem|issue|cause)|going on|happen\w*|"
    r"behind|causing|stands)|root cause|causes?\b|investigat\w*|diagnos\w*|find out|look(?:ing)? (?:into|at)|"
    r"troubleshoot\w*|where does|come from|what (?:would|should|could) (?:you|we|i|one) \w+|bottleneck|to blame|"
    r"check (?:the|its) logs?|go through|how (?:is|are|has|have)\b[^.?!]{0,80}\b(?:doing|been|going|faring)|all right|"
    r"anything to worry|healthy|health of)\b",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"\b(?:crash\w*|fail\w*|errors?|slow\w*|late|stuck|down|unreachable|(?:can't|cannot|can not|no longer) "
    r"(?:reach|connect|talk|start)|no connection|restart(?:s|ing)|spik\w+|lost|degraded|broken|"
    r"hang\w*|unavailable|50\d)\b",
    re.IGNORECASE,
)
_MOST_SIGNALS = 3
_A_MOMENT = 60.0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A cause, the way from the symptom to it, and the change that may have brought it about."""

    chain: tuple[Target, ...]
    cause: Cause
    change: Change | None = None
    began: float | None = None


async def diagnose(situation: Situation) -> Outcome | None:
    """Answer a question about trouble: what is wrong, what shows it, what is not to blame, and what would help.

    A message that only names components is answered too; whatever else it asks for is left to the ordinary way.
    """
    if not _is_only_reading(situation):
        return None
    is_asked = bool(_ASKS.search(situation.prompt) or _TROUBLE.search(situation.prompt))
    subjects = components_in(situation.prompt, tuple(components(situation.known)))
    if not is_asked and not subjects:
        return None
    seen = await observe(situation)
    found = diagnosis(subjects, seen)
    if found is None:
        return None
    for one in subjects:
        await situation.cluster.get(one.noun, one.namespace, one.name)
    for one in found.chain:
        if one.noun == "service":
            await situation.cluster.get("endpoints", one.namespace, one.name)
    answer = (
        *_findings(found, seen),
        *(readiness(one) for one in subjects if one.noun in WORKLOADS),
        *dismissed(situation.prompt, found.cause, found.chain, seen),
        f"I recommend to {found.cause.remedy}; I have changed nothing.",
    )
    named = {one.name for one in subjects}
    is_settled = is_asked or all(each.name in named for each in situation.asked)
    course = Course.SETTLED if is_settled else Course.OPEN
    way = ", then ".join(str(one) for one in found.chain)
    return Outcome(answer, (f"I looked at {way}; the trouble is about {found.cause.topic.value}.",), course)


def diagnosis(subjects: tuple[Target, ...], seen: Observed) -> Diagnosis | None:
    """What is wrong with the subjects, or, where none is named, with anything that is there."""
    for subject in subjects or tuple(components(seen.known)):
        traced = _followed(subject, seen, ())
        if traced:
            return _with_change(traced, seen)
    for subject in subjects:
        traced = _recent_version(subject, seen) or _elsewhere(subject, seen) or _effect(subject, seen)
        if traced:
            return traced
    return None


def _followed(component: Target, seen: Observed, path: tuple[Target, ...]) -> Diagnosis | None:
    """The first fault on the way from a component along what it depends on."""
    way = (*path, component)
    passed = {(one.noun, one.name) for one in way}
    direct = next((cause for cause in causes_of(component, seen) if cause.is_direct), None)
    if direct is not None:
        return Diagnosis(way, direct)
    for needed in depends_on(component, seen):
        if (needed.noun, needed.name) not in passed and (found := _followed(needed, seen, way)):
            return found
    return None


def _with_change(found: Diagnosis, seen: Observed) -> Diagnosis:
    change = last_change(found.cause.component, seen)
    began = onset(found.cause.component, seen)
    if change and began is None and is_crashing(found.cause.component, seen):
        began = change.when  # what cannot start has not worked since it came
    return Diagnosis(found.chain, found.cause, change, began) if change and explains(change, began) else found


def _recent_version(subject: Target, seen: Observed) -> Diagnosis | None:
    """A version that went out shortly before the trouble began is the likely cause of it."""
    change, began = last_change(subject, seen), onset(subject, seen)
    if change is None or not explains(change, began) or seen.now is None:
        return None
    cause = Cause(
        Topic.VERSION, subject, change.what, change.told(seen.now), change.undo, Certainty.LIKELY,
    )  # fmt: skip
    return Diagnosis((subject,), cause, change, began)


def _elsewhere(subject: Target, seen: Observed) -> Diagnosis | None:
    """A fault of another component beside it, when the subject only shows effects, or is an address that leads on."""
    leads_on = subject.noun == "ingress" and not depends_on(subject, seen)
    if not leads_on and not causes_of(subject, seen):
        return None
    others = (one for one in components(seen.known) if one.namespace == subject.namespace and one.name != subject.name)
    found = [found for one in others if (found := _followed(one, seen, (subject,)))]
    return found[0] if len({one.cause.component.name for one in found}) == 1 else None


def _effect(subject: Target, seen: Observed) -> Diagnosis | None:
    found = causes_of(subject, seen)
    return Diagnosis((subject,), found[0]) if found else None


def _findings(found: Diagnosis, seen: Observed) -> Iterator[str]:
    cause, moment = found.cause, seen.now
    yield cause.told()
    if len(found.chain) > 1:
        yield f"I followed the failure from {' to '.join(f'{one.noun} {one.name}' for one in found.chain)}."
    if found.change and found.began is not None and moment is not None:
        between = found.began - found.change.when
        later = f"{ago(between)} after" if between >= _A_MOMENT else "right after"
        since = ago(moment - found.began)
        yield f"The trouble began {since} ago, {later} {found.change.what}."
    yield from _signals(found, seen)


def _signals(found: Diagnosis, seen: Observed) -> Iterator[str]:
    """What the other sources show of it, each in a sentence of its own."""
    involved = {one.name: one for one in (*found.chain, found.cause.component)}
    departed = [
        one
        for target in involved.values()
        for one in seen.measured(target)
        if one.has_left_its_range and one.unit != "timestamp" and one.amount(one.now) not in found.cause.statement
    ]
    for one in list(dict.fromkeys(departed))[:_MOST_SIGNALS]:
        yield f"The metrics show it as well: {one.told()}."
    for target in involved.values():
        lines = [one for one in telling(seen.lines(target)) if one.line not in found.cause.shown]
        quote = next((quote for one in lines if (quote := seen.quoting.quoted(one.line))), None)
        if quote and quote not in found.cause.shown:
            yield f"The log of {target.name} says {quote}."
    for target in involved.values():
        quotes = (seen.quoting.quoted(text) for text in seen.warnings(target))
        event = next((quote for quote in quotes if quote and quote not in found.cause.shown), None)
        if event:
            yield f"An event about {target.name} warns {event}."
    for route in seen.routes:
        if set(route.services) & set(involved):
            yield route.told()
            return


def _is_only_reading(situation: Situation) -> bool:
    """Whether the message stays in the agent's own namespaces and asks for no change and no secret."""
    if any(each.action is not Action.READ or each.asks_for_values for each in situation.asked):
        return False
    places = named_namespaces(situation.prompt, Surroundings(namespaces=situation.known.namespaces))
    return all(place in situation.namespaces for place in places)
