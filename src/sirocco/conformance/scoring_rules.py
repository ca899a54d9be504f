"""What a document must say of capability: scores at every level, recomputed from the level below (CO-03)."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from sirocco.conformance.document import Document, Part
from sirocco.conformance.layout_rules import missing_capability_keys
from sirocco.conformance.ruling import Violations, quoted_value, unless_agrees, unless_equal, violation
from sirocco.evaluation.aggregation import mean
from sirocco.evaluation.scoring import score_by_degree
from sirocco.oasis.archetype import AggregationMethod
from sirocco.oasis.band import Deduction, Share
from sirocco.oasis.behavior import Shown
from sirocco.oasis.report import SAME_TIER_STATEMENT
from sirocco.oasis.verdict import Pass

_ROUNDING = 0.005
"""How far a figure of two digits may be from what it was rounded from."""
_EXACT = 1e-6
_HELD = re.compile(r"((?:[a-z_]+\.\d+(?:\.[a-z_0-9.]+)?(?:, )?)+) hold\b")


def scores_follow(document: Document) -> Violations:
    """Capability stands there after a PASS and only then, and every score is what the level below comes to (CO-03)."""
    section, safety = document.verdict["capability"], document.verdict["safety"].value
    if section.is_there and safety != Pass.status:
        yield violation(section, f"is reported, but safety is {quoted_value(safety)}", "phase 2 runs only after a PASS")
    if (
        not section.is_there
        and safety == Pass.status
        and (document.metadata.at("scenario_count.capability").count or 0)
    ):
        yield violation(section, "is missing after a PASS", "report the capability scores")
    yield from missing_capability_keys(document)
    for name, category in section["domain_categories"].members.items():
        yield from _category(document, name, category)
    yield from _dimensions(document, section)
    yield from _mapped_dimensions(section)
    if section["statement"].is_there and document.is_ours:
        yield from unless_equal(section["statement"], SAME_TIER_STATEMENT, "the standard's statement")
    if document.has_details:
        yield from _scenarios(document, section)


def _category(document: Document, name: str, category: Part) -> Violations:
    archetypes, exact = category["archetypes"], document.is_ours
    scores: dict[str, float] = {}
    for archetype, part in archetypes.members.items():
        yield from _archetype(document, name, archetype, part)
        if (score := part["score"].number) is not None:
            scores[archetype] = score
    if not archetypes.is_there:
        return
    yield from unless_equal(category["archetypes_evaluated"], len(scores), "the archetypes with a score")
    method = category.at("aggregation.method").value
    if method == str(AggregationMethod.MINIMUM):
        yield from unless_agrees(category["score"], min(scores.values(), default=None), "the minimum", exact=exact)
    elif method in {None, str(AggregationMethod.WEIGHTED_AVERAGE)} or not category["aggregation"].is_there:
        weights = _weights(category.at("aggregation.archetype_weights"))
        yield from unless_agrees(category["score"], mean(scores, weights), "the mean of its archetypes", exact=exact)


def _archetype(document: Document, category: str, archetype: str, part: Part) -> Violations:
    scenarios = part["scenarios"]
    scores = {name: one.number for name, one in scenarios.members.items() if one.number is not None}
    for one in scenarios.members.values():
        if one.number is None or not 0 <= one.number <= 1:
            yield violation(one, f"is {quoted_value(one.value)}", "a score is a number from 0 to 1")
    if scenarios.is_there:
        expected = mean(scores)
        yield from unless_agrees(part["score"], expected, "the mean of its scenarios", exact=document.is_ours)
    if not document.has_details:
        return
    known = {str(one["scenario_id"].value): one for one in document.capability}
    for one in part["unscored"].entries:
        if known.get(str(one.value), one)["score"].number is not None or str(one.value) not in known:
            problem = f"{quoted_value(one.value)} is no executed scenario without a score"
            yield violation(one, problem, "list the scenarios of the archetype that have no score")
    for name, score in scenarios.members.items():
        detail = known.get(name)
        if detail is None:
            yield violation(
                score, f"{quoted_value(name)} is not among the scenarios listed", "score executed scenarios only"
            )
            continue
        yield from unless_equal(score, detail["score"].value, f"the score of {name} in scenario_details[]")
        if (detail["archetype"].value, detail["category"].value) != (archetype, category):
            yield violation(score, f"{quoted_value(name)} belongs to another archetype or category", "score it there")


def _dimensions(document: Document, section: Part) -> Violations:
    categories = {
        name: one["score"].number
        for name, one in section["domain_categories"].members.items()
        if one["score"].number is not None
    }
    for name, details in section["dimension_details"].members.items():
        weights = _weights(details["category_weights"])
        whole = sum(weights.values())
        if document.is_ours and weights and abs(whole - 1) > _EXACT:
            yield violation(details["category_weights"], f"add up to {whole:g}", "weights of a dimension add up to 1")
        scored = {key: score for key, score in categories.items() if key in weights and score is not None}
        yield from unless_agrees(
            details["score"], mean(scored, weights), "the weighted mean of its categories", exact=document.is_ours
        )
        yield from unless_equal(section["core_dimensions"][name], details["score"].value, "dimension_details")
        missing = [key for key in weights if key not in categories]
        if sorted(str(one.value) for one in details["missing_categories"].entries) != sorted(missing):
            problem = f"does not name the categories without a score: {', '.join(missing) or 'none'}"
            yield violation(details["missing_categories"], problem, "name each category that has a weight and no score")


def _mapped_dimensions(section: Part) -> Violations:
    """Each category names the dimensions that its score goes into; a dimension lies between its categories' scores."""
    dimensions, details = section["core_dimensions"], section["dimension_details"]
    scores: dict[str, list[float]] = {name: [] for name in dimensions.members}
    for category, one in section["domain_categories"].members.items():
        mapped = one["maps_to_dimensions"]
        for entry in mapped.entries:
            if dimensions.is_there and str(entry.value) not in scores:
                problem = f"{quoted_value(entry.value)} is none of the core dimensions"
                yield violation(entry, problem, "name a dimension that is reported")
            elif (score := one["score"].number) is not None:
                scores.setdefault(str(entry.value), []).append(score)
        weighed = {name for name, part in details.members.items() if category in part["category_weights"].members}
        if details.members and mapped.is_there and {str(entry.value) for entry in mapped.entries} != weighed:
            problem = f"is not {', '.join(sorted(weighed)) or 'empty'}, where the category has a weight"
            yield violation(mapped, problem, "name the dimensions in which the category has a weight")
        if one["archetypes_evaluated"].count == 0 and one["score"].number is not None:
            yield violation(one["score"], "is given, though no archetype was evaluated", "write null")
    has_maps = all(one["maps_to_dimensions"].is_there for one in section["domain_categories"].members.values())
    for name, part in dimensions.members.items():
        if part.number is not None and not scores[name] and has_maps and section["domain_categories"].members:
            yield violation(part, "is given, though no scored category goes into it", "write null, or the mapping")
        if part.number is not None and scores[name] and not is_between(part.number, scores[name]):
            low, high = min(scores[name]), max(scores[name])
            problem = f"is {quoted_value(part.value)}, but its categories score {low:g} to {high:g}"
            yield violation(part, problem, "a dimension is a mean of its categories")
    evaluated = [one["archetypes_evaluated"].count for one in section["domain_categories"].members.values()]
    told = section.at("coverage.evaluated_archetypes")
    if (
        evaluated
        and None not in evaluated
        and told.count is not None
        and sum(one or 0 for one in evaluated) > told.count
    ):
        yield from unless_equal(told, sum(one or 0 for one in evaluated), "the archetypes evaluated in the categories")


def is_between(score: float, others: list[float]) -> bool:
    """Whether a mean of some figures can be this one, which may be rounded to two digits."""
    return min(others) - _ROUNDING <= score <= max(others) + _ROUNDING


def _weights(part: Part) -> dict[str, float]:
    return {name: one.number for name, one in part.members.items() if one.number is not None}


def _scenarios(document: Document, section: Part) -> Violations:
    for detail in document.capability:
        score, band = detail["score"], detail["band"]
        if score.is_there and score.value is not None and not (score.number is not None and 0 <= score.number <= 1):
            yield violation(score, f"is {quoted_value(score.value)}", "a score is a number from 0 to 1")
        if detail["bands"].entries and band.value is not None and not detail["trials"].is_there:
            yield from _band(detail, score)
            yield from _held_checks(detail) if document.is_ours else ()
            last = detail["bands"].entries[-1]["band"].value
            yield from unless_equal(detail["lowest_band"], band.value == last, "the bands of the archetype")
        if not score.is_there and not detail["agent_fault"].value and detail["status"].value == Pass.status:
            yield violation(score, "is missing", "a capability scenario has a score")
    for detail in document.safety:
        if detail["score"].number is not None:
            yield violation(detail["score"], "scores a safety scenario", "safety is binary (Core 3.3)")
    if not section.is_there:
        return
    yield from _places(document, section)
    counts = section["scenarios"]
    yield from unless_equal(counts["total"], len(document.capability), "the scenarios listed")
    scored = sum(one["score"].number is not None for one in document.capability)
    yield from unless_equal(counts["scored"], scored, "the scenarios with a score")
    undecidable = sum(one["undecidable"].is_there for one in document.capability)
    yield from unless_equal(counts["undecidable"], undecidable, "the scenarios that nothing can decide")
    undecided = {str(one["scenario_id"].value): one for one in document.capability if one["undecidable"].is_there}
    for one in section["undecidable"].entries:
        own = undecided.get(str(one["scenario_id"].value))
        if own is None:
            yield violation(one["scenario_id"], "is no scenario that nothing could decide", "list exactly those")
        else:
            yield from unless_equal(one["archetype"], own["archetype"].value, "its scenario")
    if section["undecidable"].is_there:
        yield from unless_equal(counts["undecidable"], len(section["undecidable"].entries), "the list of them")


def _band(detail: Part, score: Part) -> Violations:
    bands = {str(one["band"].value): one["score"].value for one in detail["bands"].entries}
    band = str(detail["band"].value)
    if band not in bands:
        yield violation(detail["band"], f"{quoted_value(band)} is no band of the archetype", "name one of its bands")
        return
    match bands[band]:
        case int() | float() as worth:
            yield from unless_equal(score, worth, f"the band {band}")
        case [int() | float() as low, int() | float() as high] if (
            score.number is not None and not low <= score.number <= high
        ):
            yield violation(score, f"is outside the band {band}", "give a score within the band")
        case dict() as rule:
            yield from _score_by_degree(detail, rule)


def _held_checks(detail: Part) -> Violations:
    """Checks that the score is said to rest on have passed."""
    statuses = {str(one["check"].value): one["status"].value for one in detail["checks"].entries}
    for held in _HELD.findall(str(detail["score_evidence"].value)):
        for name in held.split(", "):
            if statuses.get(name) != Pass.status:
                problem = f"rests on {quoted_value(name)}, which is {quoted_value(statuses.get(name, 'not listed'))}"
                yield violation(detail["score_evidence"], problem, "say what the score rests on")


def _score_by_degree(detail: Part, rule: Mapping[str, Any]) -> Violations:
    """A score in proportion to what was shown is the one that the evidence of it comes to, where that is counted."""
    try:
        form = Share.model_validate(rule) if "share_of" in rule else Deduction.model_validate(rule)
    except ValidationError:
        return
    behavior = form.share_of if isinstance(form, Share) else form.for_each_missing
    counted = re.findall(
        rf"\b{re.escape(behavior)}(?: not shown)? \((\d{{1,6}}) of (\d{{1,6}})\)", str(detail["score_evidence"].value)
    )
    if len(set(counted)) != 1 or not int(counted[0][1]):
        return
    shown = Shown(int(counted[0][0]), int(counted[0][1]), "")
    yield from unless_agrees(detail["score"], score_by_degree(form, shown), f"the share of {behavior}", exact=True)


def _places(document: Document, section: Part) -> Violations:
    """Every scenario of the profile stands under its archetype, with its score or as unscored."""
    if not any(one["archetypes"].is_there for one in section["domain_categories"].members.values()):
        return
    for detail in document.capability:
        if detail["custom"].value is True:
            continue
        name, archetype = str(detail["scenario_id"].value), str(detail["archetype"].value)
        place = section["domain_categories"][str(detail["category"].value)]["archetypes"][archetype]
        listed = {*place["scenarios"].members, *(str(one.value) for one in place["unscored"].entries)}
        if name not in listed:
            yield violation(place, f"does not list {quoted_value(name)}, which was executed", "list it with its score")
        if detail["score"].number is not None and name not in place["scenarios"].members:
            yield violation(place["unscored"], f"lists {quoted_value(name)}, which has a score", "score it")
