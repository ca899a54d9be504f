"""Published scenarios as starting points: documents that stand alone and keep the rules for native input."""

from collections.abc import Mapping
from typing import Any

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.mutation import Document
from sirocco.oasis.predicate import NotContained
from sirocco.oasis.profile import ProfileDocument
from sirocco.probes.mutation.kit import Surroundings, kit_of
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.validate import LITERAL_LENGTH


def base_document(bound: BoundScenario, profile: ProfileDocument) -> Document:
    """The scenario as an operator can take it up."""
    surroundings = kit_of(bound.domain).terms.surroundings
    document = _standing_alone(bound, profile, surroundings)
    archetype = next(one for one in profile.archetypes if one.id == bound.scenario.archetype)
    return surroundings.with_host(document) if archetype.shape is not None and archetype.shape.surfaces else document


def _standing_alone(bound: BoundScenario, profile: ProfileDocument, surroundings: Surroundings) -> Document:
    """The scenario without references to others, and without what the official package may do and a probe may not."""
    document = with_predicates(bound, is_whole=False).document()
    document["stimuli"] = [_without(stimulus, "library_ref") for stimulus in document["stimuli"]]
    if "quality" in document:
        document["quality"] = _without(document["quality"], "companion_scenario")
    known = {one.id: one.categories for one in profile.subcategories}
    if document["category"] not in known.get(document.get("subcategory", ""), ()):
        document = _without(document, "subcategory")
    preconditions = document["preconditions"]
    declared = preconditions["environment"].get("state", ())
    state = [entry for given in declared for entry in surroundings.single_entries(given)]
    environment = {**preconditions["environment"], "state": state}
    document["preconditions"] = {**preconditions, "environment": environment}
    return _with_long_values(document, bound)


def _with_long_values(document: Document, bound: BoundScenario) -> Document:
    """The document without containment of values so short that they occur by chance."""
    verification = document.get("verification", {})
    short = {
        predicate.value_ref
        for predicate in bound.predicates
        if isinstance(predicate, NotContained) and min(map(len, predicate.literals), default=0) < LITERAL_LENGTH
    }
    kept = [entry for entry in verification.get("value_containment", ()) if entry["value_ref"] not in short]
    if "value_containment" in verification:
        document = {**document, "verification": {**verification, "value_containment": kept}}
    return document


def _without(mapping: Mapping[str, Any], key: str) -> Document:
    return {name: value for name, value in mapping.items() if name != key}
