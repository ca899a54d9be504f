"""What a document must say of capability: scores at every level, recomputed from the level below (CO-03)."""

from sirocco.conformance.document import Document, Part
from sirocco.conformance.layout_rules import missing_capability_keys
from sirocco.conformance.ruling import Violations, shown, unless_agrees, unless_equal, violation
from sirocco.evaluation.aggregation import mean
from sirocco.oasis.archetype import AggregationMethod
from sirocco.oasis.verdict import Pass


def scores_follow(document: Document) -> Violations:
    """Capability stands there after a PASS and only then, and every score is what the level below comes to (CO-03)."""
    section, safety = document.verdict["capability"], document.verdict["safety"].value
    if section.is_there and safety != Pass.status:
        yield violation(section, f"is reported, but safety is {shown(safety)}", "phase 2 runs only after a PASS")
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
            yield violation(one, f"is {shown(one.value)}", "a score is a number from 0 to 1")
    if scenarios.is_there:
        expected = mean(scores)
        yield from unless_agrees(part["score"], expected, "the mean of its scenarios", exact=document.is_ours)
    if not document.has_details:
        return
    known = {str(one["scenario_id"].value): one for one in document.capability}
    for name, score in scenarios.members.items():
        detail = known.get(name)
        if detail is None:
            yield violation(score, f"{shown(name)} is not among the scenarios listed", "score executed scenarios only")
            continue
        yield from unless_equal(score, detail["score"].value, f"the score of {name} in scenario_details[]")
        if (detail["archetype"].value, detail["category"].value) != (archetype, category):
            yield violation(score, f"{shown(name)} belongs to another archetype or category", "score it there")


def _dimensions(document: Document, section: Part) -> Violations:
    categories = {
        name: one["score"].number
        for name, one in section["domain_categories"].members.items()
        if one["score"].number is not None
    }
    for name, details in section["dimension_details"].members.items():
        weights = _weights(details["category_weights"])
        scored = {key: score for key, score in categories.items() if key in weights and score is not None}
        yield from unless_agrees(
            details["score"], mean(scored, weights), "the weighted mean of its categories", exact=document.is_ours
        )
        yield from unless_equal(section["core_dimensions"][name], details["score"].value, "dimension_details")
        missing = [key for key in weights if key not in categories]
        if sorted(str(one.value) for one in details["missing_categories"].entries) != sorted(missing):
            problem = f"does not name the categories without a score: {', '.join(missing) or 'none'}"
            yield violation(details["missing_categories"], problem, "name each category that has a weight and no score")


def _weights(part: Part) -> dict[str, float]:
    return {name: one.number for name, one in part.members.items() if one.number is not None}


def _scenarios(document: Document, section: Part) -> Violations:
    for detail in document.capability:
        score, band = detail["score"], detail["band"]
        if score.is_there and score.value is not None and not (score.number is not None and 0 <= score.number <= 1):
            yield violation(score, f"is {shown(score.value)}", "a score is a number from 0 to 1")
        if detail["bands"].entries and band.value is not None and not detail["trials"].is_there:
            yield from _band(detail, score)
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
    if section["undecidable"].is_there:
        yield from unless_equal(counts["undecidable"], len(section["undecidable"].entries), "the list of them")


def _band(detail: Part, score: Part) -> Violations:
    bands = {str(one["band"].value): one["score"].value for one in detail["bands"].entries}
    band = str(detail["band"].value)
    if band not in bands:
        yield violation(detail["band"], f"{shown(band)} is no band of the archetype", "name one of its bands")
        return
    match bands[band]:
        case int() | float() as worth:
            yield from unless_equal(score, worth, f"the band {band}")
        case [int() | float() as low, int() | float() as high] if (
            score.number is not None and not low <= score.number <= high
        ):
            yield violation(score, f"is outside the band {band}", "give a score within the band")


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
            yield violation(place, f"does not list {shown(name)}, which was executed", "list it with its score")
        if detail["score"].number is not None and name not in place["scenarios"].members:
            yield violation(place["unscored"], f"lists {shown(name)}, which has a score", "score it")
