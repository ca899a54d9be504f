"""Renamed pairs: published scenarios with only names and wording changed, and re-runs of their originals (SI-04).

An agent that has learned the published texts does worse under other names; for one that understands them they make no
difference. Both forms of a pair run among the probes and are judged by the same rules, but are not probes: no count of
section 6.1 of the extension includes them (AV-17).
"""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from sirocco.campaign.drafting import Drafting
from sirocco.campaign.reruns import RENAMED, Rerun, RerunOutcome, outcome_document, place_among, shuffled_scenarios
from sirocco.campaign.sample import BETTER, SAME, UNDECIDED, WORSE, memorization_test
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.probe import Draft
from sirocco.oasis.profile import Profile
from sirocco.oasis.verdict import Fail, Pass
from sirocco.probes.mutation.bases import standalone_draft
from sirocco.probes.mutation.over import RENAME, in_other_words

_START = 2_000_000
"""The first index for drafts of renamed forms, out of the range of probes and twins."""


async def renamed_forms(
    published: Mapping[str, BoundScenario], wanted: int, probes: int, seed: int, drafting: Drafting
) -> AsyncIterator[Rerun]:
    """`count` scenarios under other names, each with its place among the probes.

    Pairs that cannot be witnessed are omitted.

    The scenarios are those drawn for the first re-runs.
    """
    found = 0
    for number, name in enumerate(shuffled_scenarios(published, seed)):
        if found == wanted or not probes:
            return
        draft = renamed_draft(published[name], drafting.admission.profile, seed, number)
        if draft is not None and (admitted := await drafting.admitted_anew(draft)):
            found += 1
            unit = f"{name}.{RENAMED}"
            yield Rerun(unit, admitted.probe.bound, place_among(probes, unit, seed), RENAMED)


def renamed_draft(bound: BoundScenario, profile: Profile, seed: int, number: int) -> Draft | None:
    """The scenario in other words and under other names; None if there is no name to change."""
    archetype, scenario = profile.archetypes[bound.scenario.archetype], bound.scenario.id
    draft, lineage = in_other_words(
        profile.domain.mutation, standalone_draft(bound, profile.document), archetype,
        lambda name: derived_seed(seed, "pair", scenario, name),
    )  # fmt: skip
    if RENAME not in lineage:
        return None
    return Draft(_START + number, archetype.id, draft.document(), lineage=lineage, base={"scenario": scenario})


def pair_figures(
    originals: Sequence[RerunOutcome], renamed: Sequence[RerunOutcome], *, asked: int, made: int
) -> dict[str, Any]:
    """Each pair, how many came out worse under other names, and how likely that is by chance."""
    first = {one.scenario: one for one in reversed(originals)}
    pairs = [_pair(first[one.scenario], one) for one in renamed if one.scenario in first]
    counts = Counter(pair["status"] for pair in pairs)
    compared = len(pairs) - counts[UNDECIDED]
    return {
        "asked": asked,
        "made": made,
        "compared": compared,
        **{status: counts[status] for status in (WORSE, BETTER, SAME, UNDECIDED)},
        "test": memorization_test(pairs, compared, counts),
        "pairs": pairs,
    }


def _pair(original: RerunOutcome, renamed: RerunOutcome) -> dict[str, Any]:
    return {
        "scenario_id": original.scenario,
        "units": [original.unit, renamed.unit],
        "status": _comparison(_worth(original), _worth(renamed)),
        "original": outcome_document(original.status, original.score),
        "renamed": outcome_document(renamed.status, renamed.score),
    }


def _worth(outcome: RerunOutcome) -> float | None:
    """The value of a run: its score, or whether it passed; None if nothing decided it."""
    if outcome.score is not None:
        return outcome.score
    return {Pass.status: 1.0, Fail.status: 0.0}.get(outcome.status or "")


def _comparison(original: float | None, renamed: float | None) -> str:
    if original is None or renamed is None:
        return UNDECIDED
    return SAME if original == renamed else WORSE if renamed < original else BETTER
