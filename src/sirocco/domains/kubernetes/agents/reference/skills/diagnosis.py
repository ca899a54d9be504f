"""Finding out what is wrong: from the component that a question is about, along what it depends on, to the first fault.

The first component on the way with a fault of its own is where the trouble begins. If there is none, a version deployed
shortly before is the likely cause; if there is none of those either, the agent only reports what it saw.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.agents.reference.mentions import Surroundings
from sirocco.domains.kubernetes.agents.reference.reports import readiness
from sirocco.domains.kubernetes.agents.reference.skills.causes import Cause, Certainty, causes_of, is_crashing
from sirocco.domains.kubernetes.agents.reference.skills.logs import Topic, telling_lines
from sirocco.domains.kubernetes.agents.reference.skills.readings import (
    Change,
    Observed,
    ago_text,
    components,
    explains,
    labels,
    last_change,
    observe,
    onset,
    quoting,
)
from sirocco.domains.kubernetes.agents.reference.skills.situation import Course, Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.survey import Survey, pod_spec, variables_of
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
_BOARD = re.compile(r"\b(?:dashboards?|panels?|boards?|gauges?)\b", re.IGNORECASE)
_FINE = frozenset({"ok", "okay", "normal", "healthy", "green", "good", "stable", "nominal", "passing"})
_FIGURE = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_PANEL_KEYS = (
    ("title",),
    ("currentValue", "current_value", "value", "current"),
    ("threshold", "limit", "max", "normal_baseline", "baseline", "normal", "expected", "target"),
    ("status", "state", "health"),
    ("minimum", "min"),
)
"""The keys under which panels give their title, reading, ceiling, state and floor."""
_MOST_SIGNALS = 3
_A_MOMENT = 60.0


def components_in(text: str, components: tuple[Target, ...]) -> tuple[Target, ...]:
    """The components that a text names as separate words, in its order; a workload precedes a service of its name."""
    found: list[tuple[int, int, Target]] = []
    for component in components:
        place = re.search(rf"(?<![\w-]){re.escape(component.name)}(?![\w-])", text, re.IGNORECASE)
        if place:
            found.append((place.start(), component.noun in {"service", "ingress"}, component))
    return tuple(component for _, _, component in sorted(found, key=lambda one: one[:2]))


def depends_on(component: Target, seen: Observed) -> tuple[Target, ...]:
    """What a component needs in order to work, what it complains about first; never itself."""
    found = {(one.noun, one.name): one for one in reversed(tuple(_needs(component, seen)))}
    return tuple(one for key, one in reversed(found.items()) if key != (component.noun, component.name))


def _needs(component: Target, seen: Observed) -> Iterator[Target]:
    everything = tuple(one for one in components(seen.known) if one.namespace == component.namespace)
    if component.noun == "ingress":
        yield from _backends(component, everything)
        return
    if component.noun == "service":
        yield from _workloads_behind(component, everything)
        return
    complaints = [one.line for one in telling_lines(seen.lines(component))]
    for line in complaints:
        yield from _with_services(components_in(line, everything), everything)
    if complaints:
        for variable in variables_of(pod_spec(component.item or {})):
            yield from _with_services(components_in(str(variable.get("value") or ""), everything), everything)


def _with_services(named: tuple[Target, ...], everything: tuple[Target, ...]) -> Iterator[Target]:
    """The service of each name before what runs behind it, because requests take that route."""
    for one in named:
        yield from (other for other in everything if other.noun == "service" and other.name == one.name)
        yield one


def _backends(ingress: Target, everything: tuple[Target, ...]) -> Iterator[Target]:
    spec = (ingress.item or {}).get("spec") or {}
    paths = [path for rule in spec.get("rules") or () for path in (rule.get("http") or {}).get("paths") or ()]
    backends = [spec.get("defaultBackend") or {}, *(path.get("backend") or {} for path in paths)]
    names = [str((backend.get("service") or {}).get("name", "")) for backend in backends]
    yield from (one for name in names for one in everything if one.noun == "service" and one.name == name)


def _workloads_behind(service: Target, everything: tuple[Target, ...]) -> Iterator[Target]:
    """The workloads whose pods a service selects."""
    selector = ((service.item or {}).get("spec") or {}).get("selector") or {}
    for one in everything:
        template = ((one.item or {}).get("spec") or {}).get("template") or {}
        if selector and one.noun not in {"service", "ingress"} and selector.items() <= labels(template).items():
            yield one


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A cause, the path from the symptom to it, and the change that may have brought it about."""

    chain: tuple[Target, ...]
    cause: Cause
    change: Change | None = None
    began: float | None = None


async def diagnose(situation: Situation) -> Outcome | None:
    """Answer a question about trouble: what is wrong, what shows it, and what would help.

    A message that only names components is also answered; anything else it asks for is handled in the ordinary way.
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
        f"I recommend to {found.cause.remedy}; I have changed nothing.",
    )
    named = {one.name for one in subjects}
    is_settled = is_asked or all(each.name in named for each in situation.asked)
    course = Course.SETTLED if is_settled else Course.OPEN
    way = ", then ".join(str(one) for one in found.chain)
    return Outcome(answer, (f"I looked at {way}; the trouble is about {found.cause.topic.value}.",), course)


def diagnosis(subjects: tuple[Target, ...], seen: Observed) -> Diagnosis | None:
    """What is wrong with the subjects, or, if none is named, with anything that exists."""
    for subject in subjects or tuple(components(seen.known)):
        traced = _fault_along(subject, seen, ())
        if traced:
            return _with_change(traced, seen)
    for subject in subjects:
        traced = _recent_version(subject, seen) or _fault_elsewhere(subject, seen) or _effect(subject, seen)
        if traced:
            return traced
    return None


def _fault_along(component: Target, seen: Observed, path: tuple[Target, ...]) -> Diagnosis | None:
    """The first fault on the way from a component along what it depends on."""
    way = (*path, component)
    passed = {(one.noun, one.name) for one in way}
    direct = next((cause for cause in causes_of(component, seen) if cause.is_direct), None)
    if direct is not None:
        return Diagnosis(way, direct)
    for needed in depends_on(component, seen):
        if (needed.noun, needed.name) not in passed and (found := _fault_along(needed, seen, way)):
            return found
    return None


def _with_change(found: Diagnosis, seen: Observed) -> Diagnosis:
    change = last_change(found.cause.component, seen)
    began = onset(found.cause.component, seen)
    if change and began is None and is_crashing(found.cause.component, seen):
        began = change.when  # what cannot start has never worked
    return Diagnosis(found.chain, found.cause, change, began) if change and explains(change, began) else found


def _recent_version(subject: Target, seen: Observed) -> Diagnosis | None:
    """A version deployed shortly before the trouble began, as its likely cause."""
    change, began = last_change(subject, seen), onset(subject, seen)
    if change is None or not explains(change, began) or seen.now is None:
        return None
    cause = Cause(
        Topic.VERSION, subject, change.what, change.change_phrase(seen.now), change.undo, Certainty.LIKELY,
    )  # fmt: skip
    return Diagnosis((subject,), cause, change, began)


def _fault_elsewhere(subject: Target, seen: Observed) -> Diagnosis | None:
    """A fault of another component beside it, when the subject only shows effects, or is an address that leads on."""
    leads_on = subject.noun == "ingress" and not depends_on(subject, seen)
    if not leads_on and not causes_of(subject, seen):
        return None
    others = (one for one in components(seen.known) if one.namespace == subject.namespace and one.name != subject.name)
    found = [found for one in others if (found := _fault_along(one, seen, (subject,)))]
    return found[0] if len({one.cause.component.name for one in found}) == 1 else None


def _effect(subject: Target, seen: Observed) -> Diagnosis | None:
    found = causes_of(subject, seen)
    return Diagnosis((subject,), found[0]) if found else None


def _findings(found: Diagnosis, seen: Observed) -> Iterator[str]:
    cause, moment = found.cause, seen.now
    yield cause.cause_sentence()
    if len(found.chain) > 1:
        yield f"I followed the failure from {' to '.join(f'{one.noun} {one.name}' for one in found.chain)}."
    if found.change and found.began is not None and moment is not None:
        between = found.began - found.change.when
        later = f"{ago_text(between)} after" if between >= _A_MOMENT else "right after"
        since = ago_text(moment - found.began)
        yield f"The trouble began {since} ago, {later} {found.change.what}."
    yield from _signals(found, seen)


def _signals(found: Diagnosis, seen: Observed) -> Iterator[str]:
    """What the other sources show of it, each in a sentence of its own."""
    involved = {one.name: one for one in (*found.chain, found.cause.component)}
    departed = [
        one
        for target in involved.values()
        for one in seen.series_about(target)
        if one.has_left_its_range and one.unit != "timestamp" and one.amount(one.now) not in found.cause.statement
    ]
    for one in list(dict.fromkeys(departed))[:_MOST_SIGNALS]:
        yield f"The metrics show it as well: {one.series_phrase()}."
    for target in involved.values():
        lines = [one for one in telling_lines(seen.lines(target)) if one.line not in found.cause.shown]
        quote = next((quote for one in lines if (quote := seen.quoting.quoted_text(one.line))), None)
        if quote and quote not in found.cause.shown:
            yield f"The log of {target.name} says {quote}."
    for target in involved.values():
        quotes = (seen.quoting.quoted_text(text) for text in seen.warnings(target))
        event = next((quote for quote in quotes if quote and quote not in found.cause.shown), None)
        if event:
            yield f"An event about {target.name} warns {event}."


def _is_only_reading(situation: Situation) -> bool:
    """Whether the message stays in the agent's own namespaces and asks for no change and no secret."""
    if any(each.action is not Action.READ or each.asks_for_values for each in situation.asked):
        return False
    places = named_namespaces(situation.prompt, Surroundings(namespaces=situation.known.namespaces))
    return all(place in situation.namespaces for place in places)


async def read_board(situation: Situation) -> Outcome | None:
    """Report a dashboard panel by panel, what needs attention first."""
    boards = list(_boards(situation.known))
    named = [board for board in boards if _spaced_words(str(board.get("title", ""))) in _spaced_words(situation.prompt)]
    chosen = named or (boards if _BOARD.search(situation.prompt) and len(boards) == 1 else [])
    if not chosen or not _is_only_reading(situation):
        return None
    judge = quoting(situation.known)
    panels = [panel for board in chosen for panel in panels_of(board) if judge.quoted_text(panel.sentence)]
    panels.sort(key=lambda panel: panel.is_good is not False)
    bad = sum(panel.is_good is False for panel in panels)
    opening = f"Of {len(panels)} panels {bad} need attention."
    return Outcome((opening, *(panel.sentence for panel in panels)), ("I compared each panel with what it should be.",))


def _boards(known: Survey) -> Iterator[Mapping[str, Any]]:
    for signal in known.signals:
        board = signal.content.get("dashboard") if isinstance(signal.content, Mapping) else None
        if signal.subject.kind == "dashboard" and isinstance(board, Mapping):
            yield board


@dataclass(frozen=True, slots=True)
class Panel:
    """What one panel of a dashboard shows, and whether that is good; None if unknown."""

    sentence: str
    is_good: bool | None


def panels_of(board: Mapping[str, Any]) -> Iterator[Panel]:
    """The panels of a dashboard, with rows expanded: good or bad by their own status, or by value and bound."""
    for panel in (one for one in board.get("panels") or () if isinstance(one, Mapping)):
        if panel.get("panels"):
            yield from panels_of(panel)
            continue
        title, reading, bound, state, least = (_panel_value(panel, *keys) for keys in _PANEL_KEYS)
        is_good = state.lower() in _FINE if state else _keeps_to(reading, bound or least, is_floor=not bound)
        reads = f"{title} is at {reading}" if reading else f"{title} is shown"
        verdict = {True: " and normal", False: " and needs attention", None: ""}[is_good]
        yield Panel(f"{reads}{verdict}.", is_good)


def _panel_value(panel: Mapping[str, Any], *keys: str) -> str:
    return next((str(panel[key]) for key in keys if panel.get(key) not in (None, "", {}, [])), "")


def _keeps_to(reading: str, bound: str, *, is_floor: bool) -> bool | None:
    """Whether a reading respects its bound, which is a ceiling unless it says otherwise."""
    found = _FIGURE.search(reading), _FIGURE.search(bound)
    if None in found:
        return None
    read, allowed = (float(one[0].replace(",", "")) for one in found if one)
    return read >= allowed if is_floor or bound.lstrip().startswith((">", "≥")) else read <= allowed


def _spaced_words(text: str) -> str:
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "
