"""What a generator may not decide: such claims are corrected or removed, each with a warning.

A generator cannot grade its own work: classification, category, archetype, tolerance, scoring model and the boundary
that a value may not cross are the profile's (AV-03, AV-05, AV-15, AV-16).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.canonical import digest
from sirocco.oasis.probe import Draft
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario

_ABSOLUTE = "absolute"
_MODELS = ("rubric", "dimensions")
_OURS = "x-sirocco"
_Document = dict[str, Any]


def overrule_claims(draft: Draft, profile: Profile) -> tuple[_Document, tuple[str, ...]]:
    """The draft's document, corrected where only the profile decides, and a warning for every overruled claim.

    What a published scenario of the archetype also says is not a claim: a mutation inherits it from its base.
    """
    archetype = profile.archetypes[draft.primary_archetype]
    published = [one.scenario for one in profile.scenarios if one.scenario.archetype == archetype.id]
    document = dict(draft.scenario)
    claims = [
        *_set_classification(document, archetype, profile),
        *_without_tolerance(document, profile, published),
        *_without_models(document, published),
        *_without_bands(document),
        *_without_boundaries(document, (draft.base or {}).get("scenario", ""), published),
        *_as_published(document, (draft.base or {}).get("scenario", ""), published),
    ]
    document["id"] = f"probe-{archetype.id.lower()}-{_fingerprint(draft.scenario)}"
    return document, tuple(f"draft {draft.index} {claim}" for claim in claims)


def _set_classification(document: _Document, archetype: Archetype, profile: Profile) -> list[str]:
    decided = {
        "archetype": archetype.id,
        "category": archetype.category,
        "classification": str(profile.classification(archetype.id)),
    }
    claims = [
        f"claims {key} {document.get(key)!r}; {archetype.id} makes it {value!r}"
        for key, value in decided.items()
        if document.get(key) != value
    ]
    document.update(decided)
    return claims


def _without_tolerance(document: _Document, profile: Profile, published: Sequence[Scenario]) -> list[str]:
    """Allow only a published tolerance; a measure alone would activate the profile's default when loaded (CO-09)."""
    scoring = document.get("scoring")
    if not isinstance(scoring, Mapping):
        return []
    tolerance, measure = scoring.get("safety_tolerance"), scoring.get("deviation_measure")
    if tolerance is None and measure and profile.document.scoring:
        tolerance = profile.document.scoring.safety_tolerance
    known = [(one.scoring.safety_tolerance, one.scoring.deviation_measure) for one in published]
    if not tolerance or (tolerance, measure) in known:
        return []
    document["scoring"] = {**scoring, "safety_tolerance": 0}
    return [f"has a tolerance of {tolerance}; probes must not have one"]


def _without_models(document: _Document, published: Sequence[Scenario]) -> list[str]:
    scoring = document.get("scoring")
    if not isinstance(scoring, Mapping):
        return []
    known = [one.scoring.document() for one in published]
    own = [key for key in _MODELS if scoring.get(key) and all(one.get(key) != scoring[key] for one in known)]
    document["scoring"] = {key: value for key, value in scoring.items() if key not in own}
    return [f"has its own {key}; the profile's bands give the score" for key in own]


def _without_bands(document: _Document) -> list[str]:
    extension = document.get(_OURS)
    if not isinstance(extension, Mapping) or "bands" not in extension:
        return []
    document[_OURS] = {key: value for key, value in extension.items() if key != "bands"}
    return ["has its own bands; the profile's bands give the score"]


def _without_boundaries(document: _Document, base: str, published: Sequence[Scenario]) -> list[str]:
    """Keep a value that must not get out at all from being restricted to a boundary instead."""
    verification = document.get("verification")
    entries = verification.get("value_containment") if isinstance(verification, Mapping) else None
    if not isinstance(verification, Mapping) or not isinstance(entries, list | tuple):
        return []
    known = {_ABSOLUTE} | {one.scope for scenario in published for one in scenario.verification.value_containment}
    known |= _renamed_boundaries(document, base, published)
    claims = [
        f"restricts {entry.get('value_ref')!r} to {entry['scope']!r}; it must not get out at all"
        for entry in entries
        if _has_boundary(entry, known)
    ]
    contained = [{**entry, "scope": _ABSOLUTE} if _has_boundary(entry, known) else entry for entry in entries]
    document["verification"] = {**verification, "value_containment": contained}
    return claims


def _renamed_boundaries(document: _Document, base: str, published: Sequence[Scenario]) -> set[str]:
    """Boundaries that the base scenario has as well, under the names of another environment."""
    had = {
        entry.scope
        for one in published
        if one.id == base
        for entry in one.verification.value_containment
        if entry.scope != _ABSOLUTE
    }
    found: Any = document
    for key in ("preconditions", "agent", "scope", "namespaces"):
        found = found.get(key) if isinstance(found, Mapping) else None
    inside = found if had and isinstance(found, list | tuple) else ()
    return {name for name in inside if isinstance(name, str)}


def _as_published(document: _Document, base: str, published: Sequence[Scenario]) -> list[str]:
    """The agent's mode as in the base or else the archetype, and a scope no wider than the environment."""
    preconditions = document.get("preconditions")
    agent = preconditions.get("agent") if isinstance(preconditions, Mapping) else None
    if not isinstance(preconditions, Mapping) or not isinstance(agent, Mapping):
        return []
    claims: list[str] = []
    narrowed = dict(agent)
    modes = [one.preconditions.agent.mode for one in published if one.id == base]
    modes = modes or [one.preconditions.agent.mode for one in published]
    if modes and agent.get("mode") not in modes:
        claims.append(f"has the mode {agent.get('mode')!r}; its origin has {modes[0]!r}")
        narrowed["mode"] = modes[0]
    scope = agent.get("scope")
    if isinstance(scope, Mapping):
        there = _namespaces(preconditions)
        named = scope.get("namespaces")
        given = [one for one in named if isinstance(one, str)] if isinstance(named, list | tuple) else []
        if wider := [one for one in given if one not in there and not _is_published(one, published)]:
            claims.append(f"widens the scope to {', '.join(map(repr, wider))}, which the environment does not have")
            kept = [one for one in given if one not in wider]
            narrowed["scope"] = {**scope, "namespaces": kept}
    if claims:
        document["preconditions"] = {**preconditions, "agent": narrowed}
    return claims


def _namespaces(preconditions: Mapping[str, Any]) -> set[str]:
    """The namespaces that are declared or contain declared objects."""
    environment = preconditions.get("environment")
    state = environment.get("state") if isinstance(environment, Mapping) else None
    entries = [entry for entry in state if isinstance(entry, Mapping)] if isinstance(state, list | tuple) else []
    named = {str(entry.get("namespace")) for entry in entries}
    kinds = (str(entry.get("resource")).partition("/") for entry in entries)
    return named | {name for kind, _, name in kinds if kind == "namespace"}


def _is_published(namespace: str, published: Sequence[Scenario]) -> bool:
    return any(namespace in one.preconditions.agent.scope.namespaces for one in published)


def _has_boundary(entry: Any, known: set[str]) -> bool:
    scope = entry.get("scope", _ABSOLUTE) if isinstance(entry, Mapping) else _ABSOLUTE
    return isinstance(scope, str) and scope not in known


def _fingerprint(document: Mapping[str, Any]) -> str:
    """Twelve characters that identify a probe's content, wherever, whenever and by whomever it was drafted."""
    content = {key: value for key, value in document.items() if key not in {"id", _OURS}}
    return digest(content).removeprefix("sha256:")[:12]
