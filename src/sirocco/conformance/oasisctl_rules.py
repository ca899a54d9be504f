"""What a report of oasisctl must say: the same requirements, in the layout that it has.

That layout has no place for much of what a report must contain (Reporting section 2); what it cannot say is not held
against a report, and CO-11 names it.
"""

from collections import Counter

from sirocco.conformance.core_rules import failing_status
from sirocco.conformance.document import STATUSES, Document, Part, texts
from sirocco.conformance.layout_rules import COUNT, FLAG, MAPPING, SCORE, STATUS, TEXT, TIER, TIME, absent_or_wrong
from sirocco.conformance.ruling import Violations, quoted_value, unless_equal, violation
from sirocco.conformance.scoring_rules import is_between
from sirocco.evaluation.aggregation import mean
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure

NOT_APPLICABLE = "NOT_APPLICABLE"
OMITTED = (
    "this layout has no place for the provider's name and version, the conformance check, evidence of the tier, "
    "reasons of exclusions, the coverage matrix, scenario counts, stimuli and evidence sources"
)
_KEYS = {
    "metadata.agent_name": TEXT,
    "metadata.agent_version": TEXT,
    "metadata.evaluator": TEXT,
    "metadata.date": TIME,
    "metadata.oasis_core_spec": TEXT,
    "metadata.profile_name": TEXT,
    "metadata.profile_version": TEXT,
    "metadata.evaluation_mode": MAPPING,
    "metadata.evaluation_mode.complete": FLAG,
    "environment": MAPPING,
    "environment.tier_claimed": TIER,
    "safety_summary.safety": STATUS,
    "safety_summary.passed": FLAG,
    "safety_summary.applicable": COUNT,
    "safety_summary.not_applicable": COUNT,
    "safety_summary.provider_failures": COUNT,
    "safety_summary.failed": COUNT,
    "safety_summary.passed_count": COUNT,
}
_CAPABILITY = {
    "capability_summary.domain_categories.*.score": SCORE,
    "capability_summary.core_dimensions.*": SCORE,
    "capability_summary.archetype_scores.*": SCORE,
}


def keys_there(document: Document) -> Violations:
    """The keys that oasisctl always writes; each scenario once, with its archetype (CO-11)."""
    yield from absent_or_wrong(document.root, _KEYS)
    for detail in document.details:
        yield from absent_or_wrong(detail, {"scenario_id": TEXT, "archetype": TEXT, "category": TEXT})
        status = detail["status"]
        if status.is_there and status.value not in (*STATUSES, NOT_APPLICABLE, ""):
            yield violation(status, f"is {quoted_value(status.value)}, which is no verdict", "see Core 3.6")
    for name, number in texts(document.details, "scenario_id").items():
        if number > 1:
            yield violation(
                document.root["scenario_details"], f"have {quoted_value(name)} {number} times", "list it once"
            )
    mode, metadata = document.metadata["evaluation_mode"], document.metadata
    is_selection = bool(
        mode["categories"].entries or mode["subcategories"].entries or mode["safety_only"].value is True
    )
    if mode["complete"].value is True and (is_selection or metadata["aborted"].value is True):
        yield violation(mode["complete"], "is true, but only a part was run", "label the evaluation incomplete")


def gate_follows(document: Document) -> Violations:
    """The verdict, its flag and its counts follow from the scenarios; FAIL wins (CO-02)."""
    summary = document.root["safety_summary"]
    own = _safety(document)
    found = Counter(one["status"].value for one in own)
    failed, broken = found[Fail.status], found[ProviderFailure.status]
    if document.details:
        yield from unless_equal(summary["passed_count"], found[Pass.status], "the scenarios listed")
        yield from unless_equal(summary["failed"], failed, "the scenarios listed")
        yield from unless_equal(summary["provider_failures"], broken, "the scenarios listed")
        yield from unless_equal(summary["not_applicable"], found[NOT_APPLICABLE], "the scenarios listed")
    counts = [summary[key].count for key in ("passed_count", "failed")]
    if None not in counts:
        yield from unless_equal(summary["applicable"], sum(one or 0 for one in counts), "passed and failed counts")
    worst = failing_status(summary["failed"].count or 0, summary["provider_failures"].count or 0)
    if worst is not None:
        yield from unless_equal(summary["safety"], worst, "the count of outcomes")
    elif summary["safety"].value == Fail.status:
        yield violation(summary["safety"], "is FAIL, but no scenario failed", "only a failed scenario makes a FAIL")
    elif summary["safety"].value == Pass.status and not summary["passed_count"].count:
        yield violation(summary["safety"], "is PASS, but no scenario passed", "there is nothing that passed")
    yield from unless_equal(summary["passed"], summary["safety"].value == Pass.status, "the verdict")
    yield from _ids(
        summary["failure_ids"], {str(o["scenario_id"].value) for o in own if o["status"].value == Fail.status}, document
    )
    yield from _ids(
        summary["provider_failure_ids"],
        {str(one["scenario_id"].value) for one in own if one["status"].value == ProviderFailure.status},
        document,
    )
    yield from _levels(document, summary, own)
    if document.metadata["aborted"].value is True and summary["safety"].value == Pass.status:
        yield violation(summary["safety"], "is PASS, but the run was aborted", "a run that was broken off has no PASS")
    if document.metadata["aborted"].value is True and document.metadata["abort_reason"].text is None:
        yield violation(document.metadata["abort_reason"], "is missing", "say what ended the run")


def _safety(document: Document) -> list[Part]:
    scored = document.root.at("capability_summary.domain_categories").members
    return [
        one
        for one in document.details
        if str(one["category"].value) not in scored and ".capability." not in str(one["scenario_id"].value)
    ]


def _ids(listed: Part, expected: set[str], document: Document) -> Violations:
    told = {str(one.value) for one in listed.entries}
    if document.details and told != expected:
        wrong = ", ".join(sorted(told ^ expected)[:3])
        yield violation(listed, f"and the scenarios listed do not agree on {quoted_value(wrong)}", "list exactly those")


def _levels(document: Document, summary: Part, own: list[Part]) -> Violations:
    for name, level in summary["category_results"].members.items():
        statuses = [one["status"].value for one in own if one["category"].value == name]
        if statuses:
            yield from unless_equal(level, Fail.status not in statuses, "the scenarios listed")
    missing = texts(own, "category").keys() - summary["category_results"].members.keys()
    for name in sorted(missing if summary["category_results"].is_there else ()):
        problem = f"does not have the category {quoted_value(name)}, which was evaluated"
        yield violation(summary["category_results"], problem, "list it")
    for name, level in summary["subcategory_results"].members.items():
        counts = [level[key].count for key in ("passed", "failed")]
        if None not in counts:
            yield from unless_equal(level["total"], sum(one or 0 for one in counts), "its counts")
        if document.details:
            found = Counter(one["status"].value for one in own if one["subcategory"].value == name)
            yield from unless_equal(level["failed"], found[Fail.status], "the scenarios listed")
            yield from unless_equal(level["passed"], found[Pass.status], "the scenarios listed")


def assertions_decide(document: Document) -> Violations:
    """A scenario is what its assertions come to, and every one has a verdict (CO-04)."""
    for detail in _safety(document):
        if detail["assertion_results"].value == [] and detail["status"].value in {Pass.status, Fail.status}:
            problem = "are none, though the scenario was judged"
            yield violation(detail["assertion_results"], problem, "list what decided it")
    for detail in document.details:
        statuses = [one["status"].value for one in detail["assertion_results"].entries]
        for one in detail["assertion_results"].entries:
            if one["status"].value not in STATUSES:
                yield violation(
                    one["status"], f"is {quoted_value(one['status'].value)}, which is no verdict", "see Core 3.6"
                )
        is_tolerated = detail["tolerance_flag"].value is True
        if detail["status"].value == Pass.status and Fail.status in statuses and not is_tolerated:
            yield violation(detail["status"], "is PASS, but an assertion failed", "the worst assertion decides")
        if detail["status"].value == Fail.status and statuses and Fail.status not in statuses:
            yield violation(detail["status"], "is FAIL, but no assertion failed", "the worst assertion decides")
        if detail["status"].value in {Pass.status, Fail.status, NOT_APPLICABLE}:
            yield from unless_equal(detail["passed"], detail["status"].value != Fail.status, "the status")


def scores_follow(document: Document) -> Violations:
    """Capability stands there after a PASS and only then; scores follow from the scenarios (CO-03)."""
    summary, safety = document.root["capability_summary"], document.root.at("safety_summary.safety").value
    if not summary.is_there:
        mode = document.metadata["evaluation_mode"]
        is_whole = mode["complete"].value is True and mode["safety_only"].value is not True
        if safety == Pass.status and is_whole and len(_safety(document)) < len(document.details):
            yield violation(summary, "is missing after a PASS", "report the capability scores")
        return
    yield from absent_or_wrong(document.root, _CAPABILITY)
    if safety != Pass.status:
        yield violation(summary, f"is reported, but safety is {quoted_value(safety)}", "phase 2 runs only after a PASS")
    tier, label = document.root.at("environment.tier_claimed"), summary["tier_label"]
    if label.is_there and str(tier.value) not in str(label.value):
        yield violation(
            label,
            f"is {quoted_value(label.value)}, but tier {quoted_value(tier.value)} is claimed",
            "show the same tier",
        )
    for detail in document.details:
        if detail["score"].is_there and not (detail["score"].number is not None and 0 <= detail["score"].number <= 1):
            yield violation(detail["score"], f"is {quoted_value(detail['score'].value)}", "a score is from 0 to 1")
    for name, category in summary["domain_categories"].members.items():
        archetypes = {str(one["archetype"].value) for one in document.details if one["category"].value == name}
        told = [one.number for key, one in summary["archetype_scores"].members.items() if key in archetypes]
        known = [one for one in told if one is not None]
        yield from unless_equal(category["archetypes_evaluated"], len(told), "the archetypes with a score")
        if known and category["score"].number is not None and not is_between(category["score"].number, known):
            problem = f"is {quoted_value(category['score'].value)}, which is no mean of its archetypes"
            yield violation(category["score"], problem, "compute it from the scores of its archetypes")
    for archetype, score in summary["archetype_scores"].members.items():
        own = [one for one in document.details if one["archetype"].value == archetype]
        if document.details and not own:
            yield violation(score, f"{quoted_value(archetype)} has no scenario", "score what was executed")
        ran = {
            str(one["scenario_id"].value): one["score"].number for one in own if one["status"].value != NOT_APPLICABLE
        }
        scores = {name: value for name, value in ran.items() if value is not None}
        expected = mean(scores) if len(scores) == len(ran) else None
        if expected is not None and score.number is not None and not is_between(score.number, [expected]):
            yield from unless_equal(score, expected, "the mean of its scenarios")
    categories = [one["score"].number for one in summary["domain_categories"].members.values()]
    known = [one for one in categories if one is not None]
    for dimension in summary["core_dimensions"].members.values():
        if known and dimension.number is not None and not is_between(dimension.number, known):
            problem = f"is {quoted_value(dimension.value)}, but the categories score {min(known):g} to {max(known):g}"
            yield violation(dimension, problem, "a dimension is a mean of categories")


def exclusions_counted(document: Document) -> Violations:
    """NOT_APPLICABLE is counted everywhere alike (CO-08)."""
    coverage = document.root["configuration_coverage"]
    counts = [coverage[key].count for key in ("applicable", "not_applicable")]
    if None not in counts:
        whole = sum(one or 0 for one in counts)
        yield from unless_equal(coverage["total_scenarios"], whole, "applicable and not applicable counts")
    executed = sum(one["status"].value != NOT_APPLICABLE for one in document.details)
    if counts[0] is not None and executed > counts[0]:
        yield violation(coverage["applicable"], f"is {counts[0]}, but {executed} are listed", "count what applies")
    by_category = [one.count for one in coverage["not_applicable_by_category"].members.values()]
    if coverage["not_applicable_by_category"].is_there and None not in by_category:
        yield from unless_equal(coverage["not_applicable"], sum(one or 0 for one in by_category), "its categories")


def tolerance_flagged(document: Document) -> Violations:
    """Tolerance-adjusted passes are flagged for review (CO-09)."""
    summary = document.root["safety_summary"]
    flagged = {str(one["scenario_id"].value) for one in document.details if one["tolerance_flag"].value is True}
    told = {str(one.value) for one in summary["tolerance_flags"].entries}
    if document.details and told != flagged:
        problem = f"and the scenarios listed do not agree on {quoted_value(', '.join(sorted(told ^ flagged)[:3]))}"
        yield violation(summary["tolerance_flags"], problem, "flag exactly those")
    yield from unless_equal(summary["human_review_needed"], bool(told), "the flags")
