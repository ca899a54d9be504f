"""What a document must say of the core: the safety gate with its counts, what was left out, and whether it is whole."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from sirocco.conformance.document import STATUSES, Document, Part, texts
from sirocco.conformance.ruling import (
    Violation,
    Violations,
    quoted_value,
    unless_agrees,
    unless_equal,
    unless_text,
    violation,
)
from sirocco.evaluation.semver import Version
from sirocco.oasis.archetype import Classification
from sirocco.oasis.report import NOT_APPLICABLE_STATEMENT, SAME_TIER_STATEMENT
from sirocco.oasis.stimulus import StimulusType
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Vacuity
from sirocco.reports.document import COMPARED, NOT_COMPARED

_COUNTS = {
    "passed": Pass.status,
    "failed": Fail.status,
    "provider_failure": ProviderFailure.status,
    "agent_fault": None,
}
_LISTED = (
    ("failures", "failed", Fail.status),
    ("provider_failures", "provider_failure", ProviderFailure.status),
)
_DEMAND = re.compile(r"at (?P<bound>least|most) (?P<number>\d{1,9}) (?P<what>\w+)")
_INTERFACE = "interface "
_THOUSANDTHS = 0.002
_NUMBER = r"(\d+|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_SHARE = re.compile(rf"\b{_NUMBER} of (?:the )?{_NUMBER}\b")
_UNMET = re.compile(rf"\b{_NUMBER} (?:are |were )?unmet\b")
_NOT_CHECKED = re.compile(r"\bnot (?:done|made|asked|checked|performed|supported)\b|\bskipped\b|\bfailed\b")
_CONFORMING = re.compile(r"\d+ requirements of the profile checked, none unmet")
_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%?\s*")


def preflight_shown(document: Document) -> Violations:
    """What the provider was asked before the first scenario, and answered (CO-01)."""
    told = document.metadata.at("environment.conformance_check")
    yield from unless_text(told, "say which requirements of the profile were checked, and what the provider answered")
    if told.text is not None and not document.is_ours and _speaks_of_a_gap(told.text):
        yield violation(told, f"tells of a gap: {quoted_value(told.value)}", "a gap ends the run before a verdict")
    if document.is_ours and told.text is not None and not _CONFORMING.fullmatch(told.text):
        yield violation(told, "is not what Sirocco writes of a provider that conforms", "a run without that is refused")

    compared = document.metadata.at("environment.comparison")
    if document.is_ours and compared.is_there and compared.value not in (COMPARED, NOT_COMPARED):
        yield violation(compared, "is not what Sirocco writes of a comparison", f"write {COMPARED!r} or the opposite")


def _speaks_of_a_gap(text: str) -> bool:
    """Whether somebody's words about the preflight check say that it was not made, or that something was unmet."""
    shares = _SHARE.findall(text.lower())
    unmet = [number for number in _UNMET.findall(text.lower()) if number not in {"0", "no", "zero", "none"}]
    return bool(_NOT_CHECKED.search(text.lower()) or unmet or any(some != every for some, every in shares))


def gate_follows_from_scenarios(document: Document) -> Violations:
    """FAIL wins over PROVIDER_FAILURE, that over PASS, at every level; counts add up (CO-02)."""
    details = document.verdict["safety_details"]
    counts = {key: details[key].count or 0 for key in _COUNTS}
    yield from _sum_of_counts(document, details, counts)
    if document.has_details:
        statuses = Counter(one["status"].value for one in document.safety)
        yield from unless_equal(details["applicable"], len(document.safety), "the safety scenarios listed")
        for key, status in _COUNTS.items():
            yield from unless_equal(details[key], statuses[status], "the safety scenarios listed")
    for key, count, status in _LISTED:
        yield from _failure_list(document, details, key, count, status)
    yield from _overall(document, counts)
    yield from _levels(document)
    yield from _abort_consistency(document, counts)


def _sum_of_counts(document: Document, details: Part, counts: dict[str, int]) -> Violations:
    applicable, outcomes = details["applicable"], sum(counts.values())
    is_short = document.is_broken_off and outcomes <= (applicable.count or 0) and not document.is_ours
    if applicable.count is not None and not is_short:
        yield from unless_equal(applicable, outcomes, "passed, failed, provider_failure and agent_fault counts")
    parts = [details[key] for key in ("applicable", "not_applicable")]
    if all(part.count is not None for part in parts):
        whole = sum(part.count or 0 for part in parts) + (details["skipped"].count or 0)
        yield from unless_equal(details["total_scenarios"], whole, "applicable, not applicable and skipped counts")


def _overall(document: Document, counts: dict[str, int]) -> Violations:
    safety = document.verdict["safety"]
    if not safety.is_there:
        return
    worst = _worst(counts)
    if safety.value == Pass.status and not counts["passed"]:
        yield violation(
            safety, "is PASS, but no scenario passed", "an evaluation without a passed scenario has no PASS"
        )
    elif safety.value == Pass.status and worst != Pass.status:
        yield from unless_equal(safety, worst, "the count of outcomes")
    elif worst == Fail.status:
        yield from unless_equal(safety, Fail.status, "the count of outcomes")
    elif safety.value == Fail.status:
        yield violation(safety, "is FAIL, but no scenario failed", "only a failed scenario makes a FAIL (Core 3.6)")
    elif safety.value == Pass.status and document.is_broken_off and document.metadata["aborted"].value is True:
        yield violation(safety, "is PASS, but the run was aborted", "a run that was broken off has no PASS")
    elif safety.value is None and not document.is_broken_off and counts["passed"]:
        yield violation(safety, "is null, but the run came to its end", f"write {worst}")
    elif safety.value == ProviderFailure.status and document.metadata["aborted"].value is not True:
        yield violation(safety, "is PROVIDER_FAILURE, but the run was not aborted", "set metadata.aborted")


def _worst(counts: dict[str, int]) -> str | None:
    return failing_status(counts["failed"], counts["provider_failure"]) or (Pass.status if counts["passed"] else None)


def failing_status(failed: int, provider_failures: int) -> str | None:
    """What so many failures and faults make of a level: FAIL wins (CO-02); None when there are none."""
    if failed:
        return Fail.status
    return ProviderFailure.status if provider_failures else None


def _levels(document: Document) -> Violations:
    """Categories and subcategories: each adds up, has the worst status, and is what its scenarios come to."""
    details = document.verdict["safety_details"]
    categories = details["category_results"]
    for name, level in categories.members.items():
        own = [one for one in document.safety if one["category"].value == name]
        yield from _level(document, level, own)
    nested = details["subcategory_results"]
    for category, levels in nested.members.items():
        for name, level in levels.members.items():
            own = [
                one for one in document.safety if one["category"].value == category and one["subcategory"].value == name
            ]
            yield from _level(document, level, own)
    if categories.is_there and document.has_details:
        yield from _missing_levels(
            categories, texts(document.safety, "category").keys() - categories.members.keys(), "category"
        )
    if nested.is_there and document.has_details:
        for category in texts(document.safety, "category"):
            own = [one for one in document.safety if one["category"].value == category and one["subcategory"].text]
            missing = texts(own, "subcategory").keys() - nested[category].members.keys()
            yield from _missing_levels(nested[category], missing, "subcategory")
    totals = [level["total"].count for level in categories.members.values()]
    if totals and None not in totals and not document.is_attached:
        yield from unless_equal(details["applicable"], sum(one or 0 for one in totals), "the totals of the categories")


def _missing_levels(part: Part, missing: Iterable[str], what: str) -> Iterator[Violation]:
    for name in sorted(missing):
        yield violation(
            part, f"does not have the {what} {quoted_value(name)}, which was evaluated", "list it with its counts"
        )


def _level(document: Document, level: Part, own: list[Part]) -> Violations:
    counts = {key: level[key].count or 0 for key in _COUNTS}
    yield from unless_equal(level["total"], sum(counts.values()), "its counts")
    if level["status"].is_there:
        yield from unless_equal(level["status"], _worst(counts), "the worst of its counts")
    if document.has_details and document.details:
        statuses = Counter(one["status"].value for one in own)
        for key, status in _COUNTS.items():
            yield from unless_equal(level[key], statuses[status], "the scenarios listed")


def _abort_consistency(document: Document, counts: dict[str, int]) -> Violations:
    """A runtime fault of the provider ends a run, and the document says so (CO-02)."""
    aborted, reason = document.metadata["aborted"], document.metadata["abort_reason"]
    if aborted.value is True:
        yield from unless_text(reason, "say what ended the run")
    elif reason.is_there and reason.value:
        yield violation(reason, "gives a reason, but the run was not aborted", "set metadata.aborted, or leave it out")
    if aborted.value is not True and counts["provider_failure"]:
        yield violation(
            aborted, "is not true, but the provider failed in a scenario", "a runtime provider fault aborts the run"
        )


def every_check_decided(document: Document) -> Violations:
    """Every assertion has a definite verdict, and the scenario's follows from them (CO-04)."""
    for detail in document.details:
        for check in [*detail["checks"].entries, *detail["secondary"].entries]:
            if check["status"].value not in STATUSES:
                yield violation(
                    check["status"], f"is {quoted_value(check['status'].value)}, which is no verdict", _ONE_OF
                )
            yield from unless_text(check["evidence"], "say what evidence decided the check")
        checks = detail["checks"]
        if (
            isinstance(checks.value, list)
            and not checks.entries
            and detail["status"].value in {Pass.status, Fail.status}
        ):
            yield violation(checks, "are none, though the scenario was judged", "list what decided it")
    for detail in document.safety:
        yield from _follows_from_checks(detail)
        yield from _trials(detail)


_ONE_OF = f"write one of {', '.join(STATUSES)}"


def _follows_from_checks(detail: Part) -> Violations:
    checks, status = detail["checks"].entries, detail["status"].value
    if not checks or detail["agent_fault"].value is not None or detail["trials"].is_there:
        return
    counts = {key: sum(one["status"].value == own for one in checks) for key, own in _COUNTS.items() if own}
    is_tolerated = (_percent(detail["safety_tolerance"]) or 0) > 0
    if status == Pass.status and (counts["provider_failure"] or (counts["failed"] and not is_tolerated)):
        yield violation(detail["status"], "is PASS, but a check of it did not pass", "the worst check decides")
    if status == Fail.status and not counts["failed"]:
        yield violation(detail["status"], "is FAIL, but none of its checks failed", "the worst check decides")
    if status in {Fail.status, ProviderFailure.status}:
        yield from unless_text(detail["reason"], "say why there is no PASS")


def _trials(detail: Part) -> Violations:
    """Several runs of one scenario: one FAIL is a FAIL."""
    trials = detail["trials"]
    statuses = Counter(one.value for one in trials["units"].members.values())
    if not trials.is_there:
        return
    yield from unless_equal(trials["runs"], statuses.total(), "the runs listed")
    yield from unless_equal(trials["passed"], statuses[Pass.status], "the runs listed")
    yield from unless_equal(trials["failed"], statuses[Fail.status], "the runs listed")
    judged = statuses[Pass.status] + statuses[Fail.status]
    if judged and trials["failure_rate"].number is not None:
        expected = statuses[Fail.status] / judged
        yield from unless_agrees(trials["failure_rate"], expected, "the runs that were judged", exact=False)
    if trials["decided_by"].text is not None and trials["decided_by"].text not in trials["units"].members:
        yield violation(trials["decided_by"], "is none of the runs", "name the run that decided")
    if statuses[Fail.status]:
        yield from unless_equal(detail["status"], Fail.status, "one failed run")


def vacuous_passes_counted(document: Document) -> Violations:
    """Passes that rest on an absence are counted (CO-04)."""
    details = document.verdict["safety_details"]
    if not document.has_details:
        return
    found = Counter(
        check["vacuous"].value for one in document.safety for check in one["checks"].entries if check["vacuous"].value
    )
    yield from unless_equal(details["vacuous_checks"], found.total(), "the checks listed")
    for reason in Vacuity:
        yield from unless_equal(details["vacuity"][str(reason)], found[str(reason)], "the checks listed")


def sources_available(document: Document) -> Violations:
    """A verdict on the agent rests on sources that were available; each observation names its source (CO-07)."""
    for detail in document.details:
        sources = detail["evidence_sources"]
        if not sources.members:
            yield violation(sources, "names no evidence source", "give type and status of each source (Reporting 1.1)")
        for source in sources.members.values():
            if not source["status"].is_there:
                yield violation(source["status"], "is missing", "write available or unreachable")
            elif source["status"].value != "available" and detail["status"].value == Pass.status:
                problem = f"is {quoted_value(source['status'].value)}, but the scenario is PASS"
                yield violation(source["status"], problem, "without the source the scenario is PROVIDER_FAILURE")
    if document.is_ours:
        yield from _sources_of_one_provider(document)


def _sources_of_one_provider(document: Document) -> Violations:
    """The provider's sources are of the same types in every scenario, and a check that speaks of one has it."""
    types: dict[str, Part] = {}
    for detail in document.details:
        for name, source in detail["evidence_sources"].members.items():
            first = types.setdefault(name, source["type"])
            yield from unless_equal(source["type"], first.value, f"the {name} of {first.where}")
        for check in (*detail["checks"].entries, *detail["secondary"].entries):
            said, sources = str(check["evidence"].value), detail["evidence_sources"]
            missing = [name for words, name in _SPOKEN_SOURCES.items() if said.startswith(words)]
            for name in missing:
                if not sources[name].is_there:
                    problem = f"do not have {name}, of which {check['check'].value} speaks"
                    yield violation(sources, problem, "name every source of the evidence")


_SPOKEN_SOURCES = {"audit log:": "audit_log", "state after the run:": "state_after"}


def exclusions_counted(document: Document) -> Violations:
    """NOT_APPLICABLE is an exclusion with its condition, counted everywhere alike, and warned about (CO-08)."""
    coverage = document.metadata["configuration_coverage"]
    counts = [coverage[key].count for key in ("applicable", "not_applicable")]
    if None not in counts:
        whole = sum(one or 0 for one in counts)
        yield from unless_equal(coverage["total_scenarios"], whole, "applicable and not applicable counts")
    by_category = coverage["not_applicable_by_category"]
    excluded = document.verdict["excluded_scenarios"]
    if by_category.is_there and all(one.count is not None for one in by_category.members.values()):
        total = sum(one.count or 0 for one in by_category.members.values())
        yield from unless_equal(coverage["not_applicable"], total, "the counts by category")
    for name, part in by_category.members.items() if document.has_archetype_list else ():
        if name not in document.archetype_categories.values():
            yield violation(part, f"{quoted_value(name)} is no category of the profile", "count by its categories")
    if excluded.is_there and not document.is_attached:
        yield from _exclusions(document, excluded, coverage)
    yield from _warnings(document, coverage)


def _exclusions(document: Document, excluded: Part, coverage: Part) -> Violations:
    entries, ran = excluded.entries, texts(document.details, "scenario_id")
    yield from _repeated(excluded)
    yield from unless_equal(coverage["not_applicable"], len(entries), "the excluded scenarios listed")
    by_category = texts(entries, "category")
    for name, count in coverage["not_applicable_by_category"].members.items():
        yield from unless_equal(count, by_category[name], "the excluded scenarios listed")
    for one in entries:
        yield from unless_text(one["condition"], "say which condition of the configuration excludes it")
        if str(one["scenario_id"].value) in ran:
            yield violation(one["scenario_id"], "was executed as well", "list it once: excluded or executed")
    safety, capability = (document.verdict.at(at) for at in (_EXCLUDED_SAFETY, _EXCLUDED_CAPABILITY))
    if safety.count is not None and (capability.count is not None or not document.verdict["capability"].is_there):
        told = safety.count + (capability.count or 0)
        if told > len(entries) or (capability.count is not None and told != len(entries)):
            problem = f"with {told} in the summaries, but {len(entries)} are listed as excluded"
            yield violation(safety, problem, "count what is listed")


_EXCLUDED_SAFETY = "safety_details.not_applicable"
_EXCLUDED_CAPABILITY = "capability.scenarios.not_applicable"


def _warnings(document: Document, coverage: Part) -> Violations:
    warned = " ".join(str(one.value) for one in coverage["warnings"].entries)
    for name, level in document.verdict.at("safety_details.category_results").members.items():
        excluded, ran = coverage["not_applicable_by_category"][name].count or 0, level["total"].count
        if ran is not None and excluded > ran and name not in warned:
            problem = f"has no warning, though {excluded} of {excluded + ran} scenarios of {name} are not applicable"
            yield violation(coverage["warnings"], problem, "warn of every safety category that is mostly excluded")
    left_out, total = (
        document.verdict.at(f"safety_details.{key}").count for key in ("not_applicable", "total_scenarios")
    )
    if left_out is not None and total and 2 * left_out > total and not coverage["warnings"].entries:
        problem = (
            f"are none, though {left_out} of {total} safety scenarios, and so most of a category, are not applicable"
        )
        yield violation(coverage["warnings"], problem, "warn of every safety category that is mostly excluded")


def tolerated_passes_reviewed(document: Document) -> Violations:
    """Every pass under a tolerance above zero is listed for human review, and is a PASS (CO-09)."""
    details = document.verdict["safety_details"]
    review = details["human_review"]
    listed = texts(review.entries, "scenario_id")
    known = {str(one["scenario_id"].value): one for one in document.safety}
    for entry in review.entries:
        yield from _review_entry(document, entry, known)
    yield from _repeated(review)
    for name, one in known.items():
        if (one["safety_tolerance"].number or 0) < 0:
            yield violation(one["safety_tolerance"], "is below 0", "a tolerance is a share in percent")
        is_tolerated = (_percent(one["safety_tolerance"]) or 0) > 0
        if document.has_details and is_tolerated and one["status"].value == Pass.status and name not in listed:
            problem = f"does not list {quoted_value(name)}, which passed under a tolerance above zero"
            yield violation(review, problem, "list every pass under a tolerance")
    adjusted = details["tolerance_adjusted"].count
    if adjusted is not None and adjusted > len(review.entries):
        problem = f"is {adjusted}, but {len(review.entries)} are listed for human review"
        yield violation(details["tolerance_adjusted"], problem, "list each tolerance-adjusted pass")
    deviating = sum((_percent(one["measured_deviation"]) or 0) > 0 for one in review.entries)
    if adjusted is not None and adjusted < deviating:
        problem = f"is {adjusted}, but {deviating} that are listed for human review deviate"
        yield violation(details["tolerance_adjusted"], problem, "count each tolerance-adjusted pass")
    if document.has_details and any(one["checks"].is_there for one in document.safety):
        found = sum(_is_adjusted(one) for one in document.safety)
        yield from unless_equal(details["tolerance_adjusted"], found, "the passes listed with a failed check")


def _is_adjusted(detail: Part) -> bool:
    failed = any(one["status"].value == Fail.status for one in detail["checks"].entries)
    return failed and detail["status"].value == Pass.status


def _review_entry(document: Document, entry: Part, known: dict[str, Part]) -> Violations:
    yield from unless_text(entry["scenario_id"], "name the scenario")
    for key in ("tolerance", "measured_deviation"):
        if entry[key].value in (None, "") or not entry[key].is_there:
            yield violation(entry[key], "is missing", "say what was tolerated, and what was measured")
    if not entry["result"].is_there:
        yield violation(entry["result"], "is missing", f"write {Pass.status}: only what passed is listed here")
    yield from unless_equal(entry["result"], Pass.status, "a tolerance-adjusted pass")
    tolerance, measured = _percent(entry["tolerance"]), _percent(entry["measured_deviation"])
    if tolerance is not None and measured is not None and measured > tolerance:
        yield violation(entry["measured_deviation"], f"is above the tolerance of {tolerance:g}", "beyond it is a FAIL")
    if tolerance == 0:
        yield violation(entry["tolerance"], "is 0, so there is nothing to review", "list passes above zero only")
    name = str(entry["scenario_id"].value)
    if document.has_details and name not in known:
        yield violation(entry["scenario_id"], f"{quoted_value(name)} was not executed", "list executed scenarios only")
    elif document.has_details:
        own = known[name]
        if own["status"].value != Pass.status:
            yield violation(entry, f"lists {quoted_value(name)}, which is no PASS", "a scenario for review is a PASS")
        declared, found = _percent(own["safety_tolerance"]), own["deviation"]
        if declared is not None and tolerance is not None and declared != tolerance:
            yield from unless_equal(entry["tolerance"], declared, "the scenario's safety_tolerance")
        if found["measured"].is_there:
            yield from unless_equal(entry["measured_deviation"], found["measured"].value, "the scenario's deviation")
            yield from unless_equal(found["tolerance"], declared, "the scenario's safety_tolerance")
            yield from unless_equal(found["tolerance_adjusted"], _is_adjusted(own), "its checks")


def _repeated(part: Part) -> Violations:
    """A list of scenarios names each once."""
    for name, number in texts(part.entries, "scenario_id").items():
        if number > 1:
            yield violation(part, f"lists {quoted_value(name)} {number} times", "list each scenario once")


def _percent(part: Part) -> float | None:
    """A share in percent, as a number or as a text such as `20%`."""
    found = _PERCENT.fullmatch(str(part.value)) if part.is_there and part.value is not None else None
    return float(found[1]) if found else None


def report_is_whole(document: Document) -> Violations:
    """Lists, statements and metadata of a report agree with its scenarios (CO-11)."""
    details = document.verdict["safety_details"]
    for key, count, status in _LISTED:
        yield from _failure_list(document, details, key, count, status)
    version = document.metadata["oasis_core_version"]
    if version.text is not None and Version.parse(version.text) is None:
        yield violation(version, f"{quoted_value(version.value)} is no version", "write a semantic version")
    identity = document.metadata["agent_identity"]
    if identity.is_there:
        others = bool(identity["heterogeneity_detail"].entries)
        yield from unless_equal(identity["heterogeneous"], others, "the list of other models")
        yield from _other_models(document, identity)
    yield from _times(document)
    yield from _scenario_numbers(document)
    if document.has_details:
        yield from _scenarios(document)


def _other_models(document: Document, identity: Part) -> Violations:
    """A scenario that another model answered than the declared one is listed as such."""
    declared = identity["declared_model"].text
    listed = texts(identity["heterogeneity_detail"].entries, "scenario_id")
    for one in document.details:
        seen = one["observed_model"].text
        if (
            declared is not None
            and seen is not None
            and seen != declared
            and str(one["scenario_id"].value) not in listed
        ):
            problem = (
                f"is {quoted_value(seen)}, not the declared {quoted_value(declared)}, and is not listed as another"
            )
            yield violation(one["observed_model"], problem, "list it under agent_identity.heterogeneity_detail")


def _times(document: Document) -> Violations:
    """An evaluation ends after it began, and takes the time between."""
    metadata = document.metadata
    started, finished, duration = metadata["timestamp"].moment, metadata["finished"].moment, metadata["duration"]
    if metadata["finished"].is_there and finished is None:
        yield violation(metadata["finished"], "is no time in ISO 8601", "write when the evaluation ended")
    if started is None or finished is None:
        return
    if finished < started:
        yield violation(metadata["finished"], "is before the start", "write when the evaluation ended")
        return
    elapsed = finished - started
    slack = _THOUSANDTHS if document.is_ours else 1
    if duration.number is not None and abs(duration.number - elapsed) > slack:
        problem = f"is {quoted_value(duration.value)}, but {elapsed:.3f} seconds are between start and end"
        yield violation(duration, problem, "write the seconds from the start to the end")


def _scenario_numbers(document: Document) -> Violations:
    """What was executed is no more than what applies, and that no more than there is."""
    details, counts = document.verdict["safety_details"], document.metadata["scenario_count"]
    coverage = document.metadata["configuration_coverage"]
    yield from _at_most(counts["safety"], details["total_scenarios"])
    yield from _at_most(details["total_scenarios"], coverage["total_scenarios"])
    yield from _at_most(details["not_applicable"], coverage["not_applicable"])
    outcomes = sum(details[key].count or 0 for key in _COUNTS)
    evaluated = sum(
        one["archetypes_evaluated"].count or 0
        for one in document.verdict.at("capability.domain_categories").members.values()
    )
    for part, least, what in (
        (counts["safety"], outcomes, "outcomes of safety scenarios"),
        (counts["capability"], evaluated, "archetypes that were scored"),
    ):
        if part.count is not None and part.count < least and not document.is_attached:
            yield violation(part, f"is below the {least} {what}", "count what was executed")
    executed = [counts[str(kind)].count for kind in Classification]
    applicable = coverage["applicable"].count
    total = sum(one or 0 for one in executed)
    if None not in executed and applicable is not None and total > applicable and not document.is_attached:
        problem = f"comes to {total} scenarios, but {applicable} are applicable"
        yield violation(counts, problem, "count what was executed")


def _at_most(few: Part, many: Part) -> Violations:
    if few.count is not None and many.count is not None and few.count > many.count:
        yield violation(few, f"is above {many.where}, which is {many.count}", "count each scenario once")


def _failure_list(document: Document, details: Part, key: str, count: str, status: str) -> Violations:
    listed = details[key]
    if not listed.is_there:
        return
    yield from unless_equal(details[count], len(listed.entries), f"the list of {key}")
    yield from _repeated(listed)
    told = Counter(
        str(one["scenario_id"].value if isinstance(one.value, dict) else one.value) for one in listed.entries
    )
    if document.has_details and all(isinstance(one.value, dict) for one in listed.entries):
        own = Counter(str(one["scenario_id"].value) for one in document.safety if one["status"].value == status)
        for name in sorted((told - own) | (own - told)):
            problem = f"and the scenarios listed do not agree on {quoted_value(name)}"
            yield violation(listed, problem, f"list exactly the scenarios that are {status}")


def _scenarios(document: Document) -> Violations:
    if document.is_ours:
        both = [NOT_APPLICABLE_STATEMENT, SAME_TIER_STATEMENT]
        yield from unless_equal(document.verdict["statements"], both, "the standard's statements")
    statements = " ".join(str(one.value) for one in document.verdict["statements"].entries)
    for statement in (NOT_APPLICABLE_STATEMENT, SAME_TIER_STATEMENT):
        if statement.rstrip(".") not in statements:
            yield violation(
                document.verdict["statements"], f"lack the statement {statement!r}", "print it in the report"
            )
    for name, number in texts(document.details, "scenario_id").items():
        if number > 1:
            problem = f"have {quoted_value(name)} {number} times"
            yield violation(document.verdict["scenario_details"], problem, "list each scenario once")
    counts = document.metadata["scenario_count"]
    for kind, own in ((Classification.SAFETY, document.safety), (Classification.CAPABILITY, document.capability)):
        yield from unless_equal(counts[str(kind)], len(own), "the scenarios listed")
    for detail in document.details:
        told = document.classification(detail)
        if told not in {str(kind) for kind in Classification}:
            yield violation(detail["classification"], f"{quoted_value(told)} is none", "write safety or capability")
        if detail["status"].value not in (*STATUSES, None):
            yield violation(
                detail["status"], f"is {quoted_value(detail['status'].value)}, which is no verdict", _ONE_OF
            )
        if (
            detail["agent_fault"].text is not None
            and detail["status"].value == Pass.status
            and not detail["trials"].is_there
        ):
            # What an agent violated before it broke stays violated.
            yield violation(detail["agent_fault"], "is given, though the scenario passed", "leave out one of them")
        yield from _checks(document, detail)
        if detail["status"].value is None and detail["score"].number is not None:
            yield violation(detail["score"], "is given, though the scenario has no result", "leave out one of them")
        known = document.archetypes.get(str(detail["archetype"].value))
        if document.has_archetype_list and known != told:
            problem = f"{quoted_value(detail['archetype'].value)} is no {told} archetype of the profile"
            yield violation(detail["archetype"], problem, "name an archetype that the profile defines")
        elif document.has_archetype_list:
            home = document.archetype_categories.get(str(detail["archetype"].value))
            yield from unless_equal(detail["category"], home, "the category of its archetype")


def _checks(document: Document, detail: Part) -> Violations:
    """Each check of a scenario stands once, and counts for an archetype of the profile."""
    for name, number in texts(detail["checks"].entries, "check").items():
        if number > 1:
            yield violation(detail["checks"], f"have {quoted_value(name)} {number} times", "list each check once")
    for check in detail["checks"].entries:
        archetype = check["archetype"]
        if document.has_archetype_list and archetype.is_there and archetype.value not in document.archetypes:
            problem = f"{quoted_value(archetype.value)} is no archetype of the profile"
            yield violation(archetype, problem, "name an archetype that the profile defines")


def incompleteness_labelled(document: Document) -> Violations:
    """An evaluation below its tier's coverage, aborted, or of a selection is labelled incomplete (CO-11)."""
    mode = document.metadata["evaluation_mode"]
    complete, gaps = mode["complete"], mode["incomplete_because"].entries
    for kind in Classification:
        yield from _coverage(document, document.verdict["coverage"][str(kind)])
    yield from _coverage(document, document.verdict.at("capability.coverage"))
    inner, outer = document.verdict.at("capability.coverage"), document.verdict.at("coverage.capability")
    if inner.is_there and outer.is_there:
        for key in inner.members:
            if outer[key].is_there:
                yield from unless_equal(inner[key], outer[key].value, "the coverage matrix")
    if complete.value is True:
        for reason in _reasons_for_incompleteness(document):
            yield violation(complete, f"is true, but {reason}", "label the evaluation incomplete, and say why")
        if gaps:
            yield violation(mode["incomplete_because"], "gives reasons, but the evaluation is complete", "drop either")
    elif complete.value is False and not gaps and document.is_ours:
        yield violation(mode["incomplete_because"], "gives no reason", "say why the evaluation is incomplete")


def _reasons_for_incompleteness(document: Document) -> Iterator[str]:
    verdict = document.verdict
    asked = [Classification.SAFETY]
    if verdict["safety"].value != Fail.status:
        asked.append(Classification.CAPABILITY)
    for kind in asked:
        if verdict["coverage"][str(kind)]["complete"].value is False:
            yield f"the coverage of {kind} archetypes is below the tier's minimum"
    if document.metadata["aborted"].value is True:
        yield "the run was aborted"
    if verdict["skipped_scenarios"].entries:
        yield "scenarios were skipped"
    if document.metadata.at("evaluation_mode.filters").members:
        yield "only a selection was run"
    if document.metadata.at("environment.tier_evidence.verified").value is False:
        yield "the environment is not shown to be of the tier"


def _coverage(document: Document, coverage: Part) -> Violations:
    if coverage["complete"].value is True and coverage["incomplete_because"].entries:
        yield violation(coverage["incomplete_because"], "gives reasons, but the coverage is complete", "drop either")
    done, required = coverage["by_category"].members, coverage["required_by_category"].members
    if not done or not all(one.count is not None for one in [*done.values(), *required.values()]):
        evaluated, least = coverage["evaluated_archetypes"].count, coverage["required_archetypes"].count
        if coverage["complete"].value is True and (evaluated or 0) < (least or 0):
            yield violation(coverage["complete"], "is true, but fewer were evaluated than required", "write false")
        return
    yield from unless_equal(
        coverage["evaluated_archetypes"], sum(one.count or 0 for one in done.values()), "the counts by category"
    )
    short = [name for name, one in required.items() if (done[name].count if name in done else 0) < (one.count or 0)]  # type: ignore[operator]
    yield from unless_equal(
        coverage["required_archetypes"], sum(one.count or 0 for one in required.values()), "the minimum by category"
    )
    if required:
        yield from unless_equal(coverage["complete"], not short, "what was evaluated of what is required")
    if document.is_ours:
        gaps = [
            f"{name}: {done[name].count if name in done else 0} of {required[name].count} archetypes evaluated"
            for name in required
            if name in short
        ]
        yield from unless_equal(coverage["incomplete_because"], gaps, "what was evaluated of what is required")
    yield from _every_archetype_told(coverage)
    if document.has_details:
        yield from _evaluated_archetypes(document, done)
    judged = _judged_archetypes(document) if document.has_details else {}
    for one in coverage["skipped_archetypes"].entries:
        yield from unless_text(one["reason"], "say why the archetype was not evaluated")
        if document.has_archetype_list and str(one["archetype"].value) not in document.archetypes:
            problem = f"{quoted_value(one['archetype'].value)} is no archetype of the profile"
            yield violation(one["archetype"], problem, "name an archetype that the profile defines")
        if str(one["archetype"].value) in judged:
            yield violation(
                one["archetype"], f"{quoted_value(one['archetype'].value)} was evaluated", "list skipped ones only"
            )


def _every_archetype_told(coverage: Part) -> Violations:
    """An archetype of the profile is evaluated or has a reason why not, and its category has a name."""
    listed = coverage["archetypes"].entries
    for name, number in texts(listed, "archetype").items():
        if number > 1:
            yield violation(coverage["archetypes"], f"have {quoted_value(name)} {number} times", "list each once")
    skipped = coverage["skipped_archetypes"]
    evaluated, left_out = coverage["evaluated_archetypes"].count, len(texts(skipped.entries, "archetype"))
    if listed and evaluated is not None and skipped.is_there and evaluated + left_out != len(listed):
        problem = f"name {left_out} archetypes, but {evaluated} of {len(listed)} were evaluated"
        yield violation(skipped, problem, "give a reason for each that was not evaluated")
    categories = texts(listed, "category").keys()
    for name in sorted(
        categories - coverage["category_names"].members.keys() if coverage["category_names"].is_there else ()
    ):
        yield violation(coverage["category_names"], f"do not have {quoted_value(name)}", "name every category")


def _judged_archetypes(document: Document) -> dict[str, str]:
    """The categories of the archetypes that some scenario of the profile was judged for."""
    judged = [
        one
        for one in document.details
        if one["status"].value in {Pass.status, Fail.status} and one["custom"].value is not True
    ]
    return {str(one["archetype"].value): str(one["category"].value) for one in judged}


def _evaluated_archetypes(document: Document, done: dict[str, Part]) -> Violations:
    by_category = Counter(_judged_archetypes(document).values())
    for name, count in done.items():
        yield from unless_equal(count, by_category[name], "the archetypes of the scenarios listed")


def tier_shown(document: Document) -> Violations:
    """The claimed tier stands everywhere alike, with the evidence for it (CO-14)."""
    environment = document.metadata["environment"]
    evidence = environment["tier_evidence"]
    if not evidence.is_there or not evidence.value:
        yield violation(evidence, "is missing or empty", "say what shows that the environment is of the tier")
    demands = evidence["demands"].entries
    if evidence["verified"].is_there and demands and not evidence["fault"].is_there:
        is_met = all(one["met"].value is not False for one in demands)
        yield from unless_equal(evidence["verified"], is_met, "the list of demands")
    for one in demands if document.is_ours else ():
        yield from _demand(one, evidence)
    for name, number in Counter(str(one.value) for one in evidence["interfaces"].entries).items():
        if number > 1:
            yield violation(evidence["interfaces"], f"have {quoted_value(name)} {number} times", "list each once")
    capability = document.verdict["capability"]
    if capability["tier"].is_there and environment["tier"].is_there:
        yield from unless_equal(capability["tier"], environment["tier"].value, "metadata.environment.tier")


def _demand(demand: Part, evidence: Part) -> Violations:
    """A demand was held against what was counted, or against the interfaces that there were."""
    words = str(demand["demand"].value)
    if words.startswith(_INTERFACE):
        is_offered = words.removeprefix(_INTERFACE) in [one.value for one in evidence["interfaces"].entries]
        yield from unless_equal(demand["found"], "offered" if is_offered else "not offered", "the interfaces listed")
        yield from unless_equal(demand["met"], is_offered, "the interfaces listed")
    wanted = _DEMAND.fullmatch(words)
    found = evidence["measured"][wanted["what"]].count if wanted else None
    if wanted is None:
        return
    if found is None:
        yield from unless_equal(demand["found"], "not measured", "what was measured")
        yield from unless_equal(demand["met"], None, "what was measured")
        return
    yield from unless_equal(demand["found"], str(found), "what was measured")
    if wanted["bound"] == "least":
        yield from unless_equal(demand["met"], found >= int(wanted["number"]), "what was measured")
    else:
        yield from unless_equal(demand["met"], True if found <= int(wanted["number"]) else None, "what was measured")


def omissions_justified(document: Document) -> Violations:
    """A scenario that was not run has its reason, and no result (CO-15)."""
    skipped = document.verdict["skipped_scenarios"]
    yield from _repeated(skipped)
    ran = texts(document.details, "scenario_id")
    for one in skipped.entries:
        yield from unless_text(one["reason"], "say why the scenario could not be run")
        if str(one["scenario_id"].value) in ran:
            yield violation(one["scenario_id"], "was executed as well", "list it once: skipped or executed")
    safety, capability = (document.verdict.at(f"{key}.skipped") for key in ("safety_details", "capability.scenarios"))
    if safety.count is not None and not document.is_attached:
        told = safety.count + (capability.count or 0)
        if told > len(skipped.entries) or (capability.count is not None and told != len(skipped.entries)):
            yield violation(
                safety, f"counts {told}, but {len(skipped.entries)} are listed as skipped", "count the list"
            )


def stimuli_known(document: Document) -> Violations:
    """Stimuli are of the standard's types (CO-13)."""
    kinds = [str(one) for one in StimulusType]
    for detail in document.details:
        for one in detail["stimuli"].entries:
            if isinstance(one.value, dict) and one["type"].value not in kinds:
                yield violation(
                    one["type"], f"{quoted_value(one['type'].value)} is none", f"write one of {', '.join(kinds)}"
                )
