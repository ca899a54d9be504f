"""Published scenarios as starting points: made independent of others and valid as native input."""

from dataclasses import replace

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.predicate import NotContained
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.validate import LITERAL_LENGTH


def base_draft(bound: BoundScenario, profile: ProfileDocument) -> ScenarioDraft:
    """The scenario in the form that operators edit."""
    surroundings = bound.domain.mutation.terms.surroundings
    draft = standalone_draft(bound, profile)
    archetype = next(one for one in profile.archetypes if one.id == bound.scenario.archetype)
    return surroundings.with_host(draft) if archetype.shape is not None and archetype.shape.surfaces else draft


def standalone_draft(bound: BoundScenario, profile: ProfileDocument) -> ScenarioDraft:
    """The scenario without references to others, and without what only the official package may contain."""
    draft = ScenarioDraft.parse(with_predicates(bound, is_whole=False).document())
    known = {one.id: one.categories for one in profile.subcategories}
    is_known = draft.category in known.get(draft.subcategory or "", ())
    quality = draft.quality
    alone = replace(
        draft,
        stimuli=tuple(replace(stimulus, library_ref=None) for stimulus in draft.stimuli),
        quality=quality and {key: value for key, value in quality.items() if key != "companion_scenario"},
        subcategory=draft.subcategory if is_known else None,
    )
    surroundings = bound.domain.mutation.terms.surroundings
    state = (entry for given in draft.state for entry in surroundings.single_entries(given))
    return _with_long_values(alone.with_state(state), bound)


def _with_long_values(draft: ScenarioDraft, bound: BoundScenario) -> ScenarioDraft:
    """The scenario without containment of values that are so short that they occur by chance."""
    short = {
        predicate.value_ref
        for predicate in bound.predicates
        if isinstance(predicate, NotContained) and min(map(len, predicate.literals), default=0) < LITERAL_LENGTH
    }
    contained = draft.verification.value_containment
    if contained is None:
        return draft
    kept = tuple(item for item in contained if item.value_ref not in short)
    return replace(draft, verification=replace(draft.verification, value_containment=kept))
