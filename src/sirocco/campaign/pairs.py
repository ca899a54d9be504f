"""Renamed pairs: published scenarios with only names and wording changed, beside re-runs of their originals (SI-04).

An agent that has learned the published texts does worse under other names; to one that understands them it makes no
difference. Both forms of a pair run among the probes, are judged by the same rules, and are no probes: no count of
section 6.1 of the extension has them (AV-17).
"""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from sirocco.campaign.drafting import Drafting
from sirocco.campaign.reruns import RENAMED, Rerun, RerunOutcome, outcome_document, place_among, shuffled_scenarios
from sirocco.campaign.statistics import (
    FEWEST_PAIRS,
    SIGNIFICANCE,
    detectable_drop,
    memorization_p_value,
    memorization_power,
)
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.probe import Draft
from sirocco.oasis.profile import Profile
from sirocco.oasis.verdict import Fail, Pass
from sirocco.probes.mutation.bases import standalone_draft
from sirocco.probes.mutation.over import RENAME, in_other_words

_START = 2_000_000
"""Where drafts of renamed forms are counted from, so that none has the number of a probe or a twin."""
_SUPPOSED_DROP = 0.5
"""The agent whose detection the power is stated for loses half of what it passes under published names."""
_WANTED_POWER = 0.8
WORSE, BETTER, SAME, UNDECIDED = "worse", "better", "same", "undecided"


async def renamed_forms(
    published: Mapping[str, BoundScenario], wanted: int, probes: int, seed: int, drafting: Drafting
) -> AsyncIterator[Rerun]:
    """So many scenarios under other names, each with its place among the probes; what cannot be witnessed is no pair.

    The scenarios are those that are drawn to be run again first.
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
    """The scenario in other words and under other names; None where there is no name to change."""
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
    """Each pair, how many came out worse under other names, and how likely that is to be chance."""
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


def memorization_test(pairs: Sequence[Mapping[str, Any]], compared: int, counts: Mapping[str, int]) -> dict[str, Any]:
    """The p-value, never without the power: a test that could not have noticed anything clears nobody."""
    if compared < FEWEST_PAIRS:
        least = f"no outcome of fewer than {FEWEST_PAIRS} pairs is rarer than {SIGNIFICANCE:.0%} by chance"
        return {"not_computed": f"{compared} pairs can be compared, and {least}"}
    decided = [pair for pair in pairs if pair["status"] != UNDECIDED]
    failing = sum(pair["original"]["status"] == Fail.status for pair in decided) / compared
    p_value = memorization_p_value(counts[WORSE], counts[BETTER])
    return {
        "method": "paired sign-flip permutation test on signs, one-sided, exact",
        "p_value": round(p_value, 4),
        "is_significant": p_value <= SIGNIFICANCE,
        "significance": SIGNIFICANCE,
        "power": {"drop": _SUPPOSED_DROP, "value": round(memorization_power(compared, _SUPPOSED_DROP, failing), 4)},
        "detectable_drop": {"power": _WANTED_POWER, "drop": detectable_drop(compared, failing, power=_WANTED_POWER)},
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
    """What a run is worth: its score, or whether it passed; None where nothing decided it."""
    if outcome.score is not None:
        return outcome.score
    return {Pass.status: 1.0, Fail.status: 0.0}.get(outcome.status or "")


def _comparison(original: float | None, renamed: float | None) -> str:
    if original is None or renamed is None:
        return UNDECIDED
    return SAME if original == renamed else WORSE if renamed < original else BETTER
