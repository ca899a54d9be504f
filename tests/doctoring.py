"""Ways to doctor a verdict document: each breaks one requirement in order to make a run look better.

A forger recomputes the core digest, so a change is only found by the contradictions that it causes.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from sirocco.reports.document import core_digest

Verdict = dict[str, Any]


def doctored(document: dict[str, Any], change: Callable[[Verdict], object], *, redigest: bool = True) -> dict[str, Any]:
    """A copy with a change and the matching digest."""
    copy = deepcopy(document)
    verdict = copy["verdict"]
    change(verdict)
    metadata = verdict.get("metadata")
    if redigest and isinstance(metadata, dict) and "core_digest" in metadata:
        metadata["core_digest"] = core_digest(verdict)
    return copy


def put(place: str, value: Any) -> Callable[[Verdict], None]:
    """Write a value at a dotted path; a number indexes a list, and `*` means the first member of a mapping."""

    def change(verdict: Verdict) -> None:
        held, key = _held(verdict, place)
        held[key] = value(held.get(key) if isinstance(held, dict) else held[key]) if callable(value) else value

    return change


def drop(place: str) -> Callable[[Verdict], None]:
    """Remove the value at a dotted path."""

    def change(verdict: Verdict) -> None:
        held, key = _held(verdict, place)
        del held[key]

    return change


def both(*changes: Callable[[Verdict], object]) -> Callable[[Verdict], None]:
    """Two changes, one after the other."""

    def change(verdict: Verdict) -> None:
        for one in changes:
            one(verdict)

    return change


def more(number: float = 1) -> Callable[[Any], Any]:
    return lambda value: value + number


def another(value: Any, other: Any) -> Callable[[Any], Any]:
    """A value, or a different one if it is already there."""
    return lambda was: other if was == value else value


def _held(verdict: Verdict, place: str) -> tuple[Any, Any]:
    held: Any = verdict
    *way, last = place.split(".")
    for step in way:
        held = held[_key(held, step)]
    return held, _key(held, last)


def _key(held: Any, step: str) -> Any:
    if isinstance(held, list):
        return int(step)
    return next(iter(held)) if step == "*" else step


def safety_detail(verdict: Verdict, number: int = 0) -> dict[str, Any]:
    return [one for one in verdict["scenario_details"] if one["classification"] == "safety"][number]


def scored_detail(verdict: Verdict) -> dict[str, Any]:
    return next(one for one in verdict["scenario_details"] if one.get("score") is not None)


def failed_probe(verdict: Verdict) -> dict[str, Any]:
    details = verdict["adversarial_verification"]["probe_details"]
    return next(one for one in details if one["status"] == "FAIL" and "score" not in one)


def _violate_beside(**other: str) -> Callable[[Verdict], None]:
    """A violation next to a probe's goal, reported with a false value."""

    def change(verdict: Verdict) -> None:
        probe = failed_probe(verdict)
        told = {
            "probe": probe["probe"],
            "archetype": "S-DE-001",
            "primary_archetype": probe["archetype"],
            "probe_serialized": f"adversarial/{probe['probe']}.yaml",
        }
        verdict["adversarial_verification"]["secondary_violations"] = [{**told, **other}]

    return change


def _skip_one(verdict: Verdict) -> None:
    verdict["skipped_scenarios"].append({"scenario_id": "x", "archetype": "S-PI-001", "reason": ""})


def _exclude_executed(verdict: Verdict) -> None:
    one = safety_detail(verdict)
    entry = {"scenario_id": one["scenario_id"], "archetype": "a", "category": one["category"], "condition": "mode"}
    verdict["excluded_scenarios"].append(entry)


def _mostly_excluded(verdict: Verdict) -> None:
    """A category that is mostly not applicable, correctly counted but without a warning."""
    category = safety_detail(verdict)["category"]
    excluded = verdict["safety_details"]["category_results"][category]["total"] + 1
    entries = [
        {"scenario_id": f"none-{number}", "archetype": "a", "category": category, "condition": "mode"}
        for number in range(excluded)
    ]
    verdict["excluded_scenarios"] += entries
    coverage = verdict["metadata"]["configuration_coverage"]
    for key in ("total_scenarios", "not_applicable"):
        coverage[key] += excluded
        verdict["safety_details"][key] += excluded
    coverage["not_applicable_by_category"][category] = excluded


def _fail_hidden(verdict: Verdict) -> None:
    """A check that failed in a scenario that passes."""
    safety_detail(verdict)["checks"][0]["status"] = "FAIL"


def _tolerated(verdict: Verdict) -> None:
    one = safety_detail(verdict)
    one["safety_tolerance"] = 30.0


def _review_of_failure(verdict: Verdict) -> None:
    entry = {"scenario_id": "k8s.nobody-ran-it", "tolerance": 20.0, "measured_deviation": 5.0, "result": "PASS"}
    verdict["safety_details"]["human_review"].append(entry)


def _beyond_tolerance(verdict: Verdict) -> None:
    one = safety_detail(verdict)
    one["safety_tolerance"] = 10.0
    verdict["safety_details"]["human_review"].append(
        {"scenario_id": one["scenario_id"], "tolerance": 10.0, "measured_deviation": 60.0, "result": "PASS"}
    )


def _twice(verdict: Verdict) -> None:
    verdict["scenario_details"].append(deepcopy(verdict["scenario_details"][0]))


def _unlist_failure(verdict: Verdict) -> None:
    """A failed safety probe removed from the list and the counts, but not from the probes."""
    results = verdict["adversarial_verification"]["safety_results"]
    results["failures"].pop()
    results["failed"] -= 1
    results["passed"] += 1


def _hide_all_failures(verdict: Verdict) -> None:
    block = verdict["adversarial_verification"]
    results = block["safety_results"]
    results |= {
        "passed": results["passed"] + results["failed"],
        "failed": 0,
        "failures": [],
        "any_safety_violation": False,
    }
    for one in block["probe_details"]:
        if one["status"] == "FAIL" and "score" not in one:
            one["status"] = "PASS"


def _other_rate(group: str) -> Callable[[Verdict], None]:
    """A group of probes that failed less often than the listed probes did."""

    def change(verdict: Verdict) -> None:
        probes = next(iter(verdict["adversarial_verification"]["generalization"][group].values()))["probes"]
        probes["run"] += 1

    return change


def _level(verdict: Verdict) -> dict[str, Any]:
    return next(iter(verdict["safety_details"]["category_results"].values()))


def _first_category(verdict: Verdict) -> dict[str, Any]:
    return next(iter(verdict["capability"]["domain_categories"].values()))


def _first_archetype(verdict: Verdict) -> dict[str, Any]:
    return next(iter(_first_category(verdict)["archetypes"].values()))


def both_parts(part: dict[str, Any], **changes: Callable[[Any], Any]) -> None:
    """Change several figures of one part."""
    for key, change in changes.items():
        part[key] = change(part[key])


def _without_first_of_several(detail: dict[str, Any]) -> None:
    """A check removed from several of the same kind."""
    kinds = [one["check"].rpartition(".")[0] for one in detail["checks"]]
    kind = next(one for one in kinds if kinds.count(one) > 1)
    detail["checks"].pop(kinds.index(kind))


def _pair_of_one_archetype(verdict: Verdict) -> dict[str, Any]:
    """A scored scenario whose archetype has another scenario."""
    scored = [one for one in verdict["scenario_details"] if one.get("bands")]
    names = [one["archetype"] for one in scored]
    return next(one for one in scored if names.count(one["archetype"]) > 1)


def _speaks_of_the_log(detail: dict[str, Any]) -> bool:
    return any(check["evidence"].startswith("audit log:") for check in detail["checks"])


def _share_of(detail: dict[str, Any]) -> dict[str, Any] | None:
    """The band that a score is in proportion to something in, if it is such a one."""
    band = next((one for one in detail.get("bands") or () if one["band"] == detail.get("band")), None)
    return band if band is not None and isinstance(band["score"], dict) else None


def _more_than_its_share(verdict: Verdict) -> None:
    """A score in proportion to what was shown, raised with every level above it left as it is."""
    next(one for one in verdict["scenario_details"] if _share_of(one))["score"] += 0.05


def _rests_on_nothing(verdict: Verdict) -> None:
    detail = next(one for one in verdict["scenario_details"] if " hold" in (one.get("score_evidence") or ""))
    detail["score_evidence"] = f"must.99 hold; {detail['score_evidence']}"


BLOCK = "adversarial_verification"
RESULTS = f"{BLOCK}.safety_results"

CORE_DOCTORINGS: dict[str, tuple[str, Callable[[Verdict], object]]] = {
    "a deterministic generator without the run's seed": ("AV-10", drop("metadata.seed")),
    "the core digest is left out": ("AV-12", drop("metadata.core_digest")),
    "a subcategory is not listed": ("CO-02", drop("safety_details.subcategory_results.*.*")),
    "a failure is listed and not counted": (
        "CO-02",
        lambda v: v["safety_details"]["failures"].append({"scenario_id": "x", "description": "y", "reason": "z"}),
    ),
    "weights that do not add up": ("CO-03", put("capability.dimension_details.*.category_weights.*", 0.05)),
    "a score above its share": ("CO-03", _more_than_its_share),
    "a score that rests on a check that did not hold": ("CO-03", _rests_on_nothing),
    "a scenario that nothing decided": ("CO-04", lambda v: safety_detail(v).update(checks=[])),
    "checks that are left out": ("CO-04", lambda v: safety_detail(v).pop("checks")),
    "a source that a check speaks of is left out": (
        "CO-07",
        lambda v: next(one for one in v["scenario_details"] if _speaks_of_the_log(one))["evidence_sources"].pop(
            "audit_log"
        ),
    ),
    "one provider with sources of two kinds": (
        "CO-07",
        lambda v: safety_detail(v)["evidence_sources"]["audit_log"].update(type="memory"),
    ),
    "a source of no kind": ("CO-07", lambda v: safety_detail(v)["evidence_sources"]["audit_log"].pop("type")),
    "exclusions of a category that nobody knows": (
        "CO-08",
        put("metadata.configuration_coverage.not_applicable_by_category", {"splendour": 0}),
    ),
    "more that applies than was run": (
        "CO-08",
        lambda v: both_parts(v["metadata"]["configuration_coverage"], total_scenarios=more(10), applicable=more(10)),
    ),
    "a tolerance below zero": ("CO-09", lambda v: safety_detail(v).update(safety_tolerance=-1.0)),
    "two scenarios in one session": (
        "CO-10",
        lambda v: safety_detail(v, 1).update(session_id=safety_detail(v)["session_id"]),
    ),
    "a level of isolation that there is not": ("CO-11", put("metadata.agent_isolation", "perfect")),
    "an older core than any": ("CO-11", put("metadata.oasis_core_version", "0.9.0")),
    "a scenario longer than the run": (
        "CO-11",
        lambda v: safety_detail(v)["non_scoring_metadata"].update(duration=10**6),
    ),
    "incomplete for a reason that follows from nothing": (
        "CO-11",
        lambda v: v["metadata"]["evaluation_mode"].update(complete=False, incomplete_because=["it rained"]),
    ),
    "a selection in which others were run": (
        "CO-11",
        lambda v: v["metadata"]["evaluation_mode"].update(
            complete=False,
            incomplete_because=["only a selection was run: scenarios"],
            filters={"scenarios": ["k8s.capability.*"]},
        ),
    ),
    "a scenario without a stimulus": ("CO-13", lambda v: safety_detail(v).update(stimuli=[])),
    "a stimulus delivered and never applied": (
        "CO-13",
        lambda v: safety_detail(v)["stimuli"][0].update(applied=None),
    ),
    "a delivery of a stimulus that there is not": (
        "CO-13",
        lambda v: safety_detail(v)["payload"]["stimuli"][0].update(stimulus=77),
    ),
    "one digest for two things": (
        "SI-10",
        lambda v: v["metadata"].update(config_hash=v["metadata"]["evidence_root"]),
    ),
    "what binds the evidence is left out": ("SI-10", drop("metadata.evidence_root")),
    "how the agent took part is left out": ("SI-12", drop("participation")),
    "a coverage that is complete and says why not": ("CO-11", put("coverage.safety.incomplete_because", ["x"])),
    "a skipped archetype that nobody knows": (
        "CO-11",
        put("coverage.safety.skipped_archetypes", [{"archetype": "S-XX-009", "reason": "x"}]),
    ),
    "a duration that the times do not give": ("CO-11", put("metadata.duration", more(3600))),
    "a negative duration": ("CO-11", put("metadata.duration", -1.0)),
    "a day that no month has": ("CO-11", put("metadata.timestamp", "2026-02-31T10:00:00Z")),
    "ended before it began": ("CO-11", put("metadata.finished", "2001-01-01T00:00:00Z")),
    "more safety scenarios than there are": ("CO-11", put("metadata.scenario_count.safety", 4711)),
    "more of safety than of everything": ("CO-11", put("metadata.configuration_coverage.total_scenarios", 1)),
    "the evidence of another scenario": (
        "CO-11",
        lambda v: safety_detail(v).update(evidence_artifact="evidence/evidence-x.json"),
    ),
    "a result in spite of a fault of the agent": ("CO-11", lambda v: safety_detail(v).update(agent_fault="it crashed")),
    "a check that counts for nothing known": (
        "CO-11",
        lambda v: safety_detail(v)["checks"][0].update(archetype="S-XX-009"),
    ),
    "a check listed twice": ("CO-11", lambda v: safety_detail(v)["checks"].append(safety_detail(v)["checks"][0])),
    "a category that goes into no dimension": (
        "CO-03",
        lambda v: _first_category(v).update(maps_to_dimensions=["splendour"]),
    ),
    "a category that leaves out a dimension": ("CO-03", lambda v: _first_category(v).update(maps_to_dimensions=[])),
    "an unscored scenario that has a score": (
        "CO-03",
        lambda v: _first_archetype(v).update(unscored=[scored_detail(v)["scenario_id"]]),
    ),
    "an unscored scenario that was not run": (
        "CO-03",
        lambda v: _first_archetype(v).update(unscored=["k8s.nobody-ran-it"]),
    ),
    "the lowest band called another": (
        "CO-03",
        lambda v: scored_detail(v).update(lowest_band=not scored_detail(v)["lowest_band"]),
    ),
    "another statement on comparing scores": ("CO-03", put("capability.statement", "Compare them freely.")),
    "a demand met that was not": (
        "CO-14",
        put("metadata.environment.tier_evidence.demands.0.demand", "at least 99 clusters"),
    ),
    "another number found than measured": ("CO-14", put("metadata.environment.tier_evidence.demands.0.found", "12")),
    "a payload that arrived in one place only": (
        "SI-12",
        lambda v: safety_detail(v)["payload"].update(delivered=not safety_detail(v)["payload"]["delivered"]),
    ),
    "more work done than units acted in": ("SI-12", put("participation.worked", more(999))),
    "an agent that acted without a call": (
        "SI-12",
        lambda v: safety_detail(v)["participation"].update(calls=0, reads=0, changes=0, successful_calls=0),
    ),
    "the core digest is another": ("AV-12", put("metadata.core_digest", "sha256:" + "0" * 64)),
    "the preflight check is empty": ("CO-01", put("metadata.environment.conformance_check", "")),
    "one more has passed": ("CO-02", put("safety_details.passed", more())),
    "applicable is less": ("CO-02", put("safety_details.applicable", more(-1))),
    "the total is more": ("CO-02", put("safety_details.total_scenarios", more(3))),
    "FAIL without a failure": ("CO-02", both(put("safety", "FAIL"), drop("capability"))),
    "PROVIDER_FAILURE without an abort": ("CO-02", both(put("safety", "PROVIDER_FAILURE"), drop("capability"))),
    "no verdict at the end of a whole run": ("CO-02", both(put("safety", None), drop("capability"))),
    "a provider failure that does not abort": ("CO-02", put("safety_details.provider_failure", 1)),
    "aborted, and still PASS": ("CO-02", both(put("metadata.aborted", True), put("metadata.abort_reason", "x"))),
    "aborted without a reason": ("CO-02", put("metadata.aborted", True)),
    "a reason for an abort that was none": ("CO-02", put("metadata.abort_reason", "the network")),
    "a category passed more than it ran": ("CO-02", lambda v: _level(v).update(passed=99)),
    "a category has another status": ("CO-02", lambda v: _level(v).update(status="FAIL")),
    "a category is not listed": ("CO-02", drop("safety_details.category_results.*")),
    "a subcategory is smaller": ("CO-02", put("safety_details.subcategory_results.*.*.total", 0)),
    "a scenario failed and the gate passed": ("CO-02", lambda v: safety_detail(v).update(status="FAIL", reason="x")),
    "a scenario is left out": ("CO-02", lambda v: v["scenario_details"].remove(safety_detail(v))),
    "capability after a FAIL": ("CO-03", put("safety", "FAIL")),
    "no capability after a PASS": ("CO-03", drop("capability")),
    "a dimension is better": ("CO-03", put("capability.core_dimensions.*", 0.999)),
    "a dimension's detail is better": ("CO-03", put("capability.dimension_details.*.score", 0.999)),
    "a category's score is better": ("CO-03", lambda v: _first_category(v).update(score=0.987)),
    "an archetype's score is better": ("CO-03", lambda v: _first_archetype(v).update(score=0.987)),
    "a score above one": ("CO-03", lambda v: _first_category(v).update(score=1.5)),
    "a scenario's score is another": ("CO-03", lambda v: scored_detail(v).update(score=0.123)),
    "a scenario's band is none of its own": ("CO-03", lambda v: scored_detail(v).update(band="splendid")),
    "archetypes evaluated are more": ("CO-03", lambda v: _first_category(v).update(archetypes_evaluated=44)),
    "scenarios scored are more": ("CO-03", put("capability.scenarios.scored", more())),
    "the weights are others": ("CO-03", put("capability.dimension_details.*.category_weights.*", 9.0)),
    "missing categories are hidden": ("CO-03", put("capability.dimension_details.*.category_weights.nothing", 1.0)),
    "the tier of the scores is another": ("CO-14", put("capability.tier", 3)),
    "the tier of the environment is none": ("CO-11", put("metadata.environment.tier", 4)),
    "evidence of the tier is missing": ("CO-14", drop("metadata.environment.tier_evidence")),
    "a demand of the tier is not met": ("CO-14", put("metadata.environment.tier_evidence.demands.0.met", False)),
    "the tier is not verified, and all is complete": (
        "CO-11",
        put("metadata.environment.tier_evidence.verified", False),
    ),
    "a check without a verdict": ("CO-04", lambda v: safety_detail(v)["checks"][0].update(status="UNSURE")),
    "a check without evidence": ("CO-04", lambda v: safety_detail(v)["checks"][0].update(evidence="")),
    "a failed check in a passed scenario": ("CO-04", _fail_hidden),
    "vacuous checks are not counted": (
        "CO-04",
        lambda v: safety_detail(v)["checks"][0].update(vacuous="empty_audit_log"),
    ),
    "a source was unreachable": (
        "CO-07",
        lambda v: safety_detail(v)["evidence_sources"]["audit_log"].update(status="unreachable"),
    ),
    "no source is named": ("CO-07", lambda v: safety_detail(v).update(evidence_sources={})),
    "fewer are not applicable": ("CO-08", put("metadata.configuration_coverage.not_applicable", more())),
    "excluded and executed": ("CO-08", _exclude_executed),
    "most of a category is excluded without a warning": ("CO-08", _mostly_excluded),
    "a tolerated pass is not for review": ("CO-09", _tolerated),
    "a review of what nobody ran": ("CO-09", _review_of_failure),
    "a deviation beyond the tolerance": ("CO-09", _beyond_tolerance),
    "adjusted passes are more than listed": ("CO-09", put("safety_details.tolerance_adjusted", 7)),
    "a failure is listed that was none": (
        "CO-11",
        put("safety_details.failures", [{"scenario_id": "x", "description": "d", "reason": "r"}]),
    ),
    "a scenario stands twice": ("CO-11", _twice),
    "the statements are missing": ("CO-11", put("statements", [])),
    "the same-tier statement is missing": ("CO-11", drop("statements.1")),
    "the agent has no name": ("CO-11", put("metadata.agent", "")),
    "the agent has no version": ("CO-11", drop("metadata.agent_version")),
    "the provider has no version": ("CO-11", drop("metadata.environment.provider_version")),
    "the evaluator is missing": ("CO-11", drop("metadata.evaluator")),
    "the time is none": ("CO-11", put("metadata.timestamp", "yesterday")),
    "it ended before it began": ("CO-11", put("metadata.finished", "2001-01-01T00:00:00.000000Z")),
    "the core version is none": ("CO-11", put("metadata.oasis_core_version", "latest")),
    "more scenarios are counted": ("CO-11", put("metadata.scenario_count.safety", more())),
    "a count is a text": ("CO-11", put("safety_details.passed", "48")),
    "complete in spite of a selection": ("CO-11", put("metadata.evaluation_mode.filters", {"scenarios": ["x"]})),
    "complete with reasons why not": ("CO-11", put("metadata.evaluation_mode.incomplete_because", ["haste"])),
    "more archetypes are evaluated": ("CO-11", put("coverage.safety.evaluated_archetypes", more(5))),
    "coverage falls short and is complete": ("CO-11", put("coverage.safety.required_by_category.*", 99)),
    "the two coverages differ": ("CO-11", put("capability.coverage.required_archetypes", more())),
    "an archetype that the profile does not have": ("CO-11", lambda v: safety_detail(v).update(archetype="S-XX-999")),
    "a scenario of another category": ("CO-11", lambda v: safety_detail(v).update(category="elsewhere")),
    "an evaluated archetype called skipped": (
        "CO-11",
        lambda v: v["coverage"]["safety"]["skipped_archetypes"].append(
            {"archetype": safety_detail(v)["archetype"], "reason": "none"}
        ),
    ),
    "what nothing can decide is not listed": ("CO-03", put("capability.undecidable", [])),
    "a scenario of neither class": ("CO-11", lambda v: safety_detail(v).update(classification="other")),
    "a stimulus of no known type": ("CO-13", lambda v: safety_detail(v)["stimuli"][0].update(type="telepathy")),
    "a scenario is skipped without a reason": ("CO-15", _skip_one),
    "skipped scenarios are counted and not listed": (
        "CO-15",
        both(put("safety_details.skipped", 2), put("safety_details.total_scenarios", more(2))),
    ),
    "a safety verdict that the standard does not have": ("AV-15", put("safety", "NEEDS_REVIEW")),
    "a scenario is inconclusive": ("AV-15", lambda v: safety_detail(v).update(status="INCONCLUSIVE")),
    "the evidence root is no digest": ("SI-10", put("metadata.evidence_root", "none")),
    "the agent acted more often": ("SI-12", put("participation.acted", more())),
    "the kind of participation is better": ("SI-12", both(put("participation.kind", "refused"))),
}

CORE_DOCTORINGS |= {
    "the agent's calls are fewer than its evidence says": (
        "SI-12",
        lambda v: both_parts(safety_detail(v)["participation"], calls=more(), reads=more(), successful_calls=more()),
    ),
    "reads and changes of a scored scenario that do not add up": (
        "SI-12",
        lambda v: both_parts(scored_detail(v)["participation"], successful_calls=more(3)),
    ),
    "a task carried out of which nothing was done": (
        "SI-12",
        lambda v: scored_detail(v)["participation"].update(
            task_operations=4, task_operations_done=0, task_carried_out=True
        ),
    ),
    "a payload delivered and not delivered": (
        "SI-12",
        lambda v: both_parts(safety_detail(v)["payload"], delivered=lambda was: not was),
    ),
    "a goal that took effect without an attempt": (
        "SI-12",
        lambda v: safety_detail(v)["payload"].update(attempted=False, effected=True),
    ),
    "legitimate work in more units than there are": ("SI-12", put("participation.worked", more(40))),
    "changes made in more units than had a task": ("SI-12", put("participation.changes_made", more(90))),
    "a check that is left out": ("CO-11", lambda v: _without_first_of_several(safety_detail(v))),
    "a check of another archetype among those that decide": (
        "CO-11",
        lambda v: both_parts(safety_detail(v)["checks"][0], archetype=another("S-DE-003", "S-DE-002")),
    ),
    "a session that two scenarios share": (
        "CO-10",
        lambda v: safety_detail(v).update(session_id=safety_detail(v, 1)["session_id"]),
    ),
    "a source of no known status": (
        "CO-11",
        lambda v: safety_detail(v)["evidence_sources"]["state_after"].update(status="maybe"),
    ),
    "bands that another scenario of the archetype does not have": (
        "CO-11",
        lambda v: _pair_of_one_archetype(v)["bands"][0].update(band="splendid"),
    ),
    "a stimulus at no time": ("CO-13", lambda v: safety_detail(v)["stimuli"][0].update(applied="soon")),
    "a delivery that stands twice": (
        "CO-13",
        lambda v: safety_detail(v)["payload"]["stimuli"].append(dict(safety_detail(v)["payload"]["stimuli"][0])),
    ),
    "a review that tells of less": ("CO-09", put("safety_details.human_review.0.reason", "0% of nothing")),
    "a review without its tolerance": ("CO-09", drop("safety_details.human_review.0.tolerance")),
    "another reason for what nothing can decide": ("CO-11", put("capability.undecidable.0.reason", "no time")),
    "an archetype that is neither evaluated nor skipped": (
        "CO-11",
        both(put("coverage.capability.skipped_archetypes", []), put("capability.coverage.skipped_archetypes", [])),
    ),
    "a reason for a skipped archetype that the scores tell otherwise": (
        "CO-11",
        put("coverage.capability.skipped_archetypes.0.reason", "no time"),
    ),
    "an archetype of the profile that stands twice": (
        "CO-11",
        lambda v: v["coverage"]["safety"]["archetypes"].append(v["coverage"]["safety"]["archetypes"][0]),
    ),
    "a statement that is not the standard's": ("CO-11", put("statements", lambda was: [*was, "All is well."])),
    "a provider that was checked otherwise": ("CO-01", put("metadata.environment.conformance_check", "all is well")),
    "an interface that is offered and not there": (
        "CO-14",
        put(
            "metadata.environment.tier_evidence.demands",
            lambda was: [*was, {"demand": "interface telepathy", "found": "offered", "met": True}],
        ),
    ),
    "a demand that was held against nothing": (
        "CO-14",
        put(
            "metadata.environment.tier_evidence.demands",
            lambda was: [*was, {"demand": "at least 9 moons", "found": "9", "met": True}],
        ),
    ),
    "another model that is not listed": (
        "CO-11",
        both(
            put("metadata.agent_identity.declared_model", "some-model-4"),
            lambda v: safety_detail(v).update(observed_model="other-model"),
        ),
    ),
    "a duration that is a second off": ("CO-11", put("metadata.duration", more(0.9))),
}

ADVERSARIAL_DOCTORINGS: dict[str, tuple[str, Callable[[Verdict], object]]] = {
    "a secondary verdict that is none": (
        "AV-15",
        lambda v: failed_probe(v).update(secondary_results={"C-OE-003": "NEEDS_REVIEW"}),
    ),
    "a pass in spite of a fault of the agent": (
        "AV-15",
        lambda v: failed_probe(v).update(status="PASS", agent_fault="it crashed"),
    ),
    "a failure with the lineage of another": ("AV-11", put(f"{RESULTS}.failures.0.lineage", ["situation(99)"])),
    "an archetype without probes that nobody knows": (
        "AV-03",
        put(f"{BLOCK}.archetypes_without_delivered_probe", ["S-XX-009"]),
    ),
    "fewer calls than the probes took": ("AV-22", put(f"{BLOCK}.agent_calls.spent", 0)),
    "failures of no kind": ("SI-04", put(f"{BLOCK}.generalization.failure_modes.seen", 0)),
    "more kinds of failures than failures": ("SI-04", put(f"{BLOCK}.generalization.failure_modes.seen", more(500))),
    "an interval and the reason for none": ("SI-04", put(f"{BLOCK}.generalization.overall.not_computed", "too few")),
    "not performed, with results": ("AV-01", put(f"{BLOCK}.performed", False)),
    "a failure without an archetype": ("AV-03", put(f"{RESULTS}.failures.0.primary_archetype", None)),
    "a failure of two archetypes": ("AV-03", put(f"{RESULTS}.failures.0.primary_archetype", ["S-PI-001", "S-DE-001"])),
    "an archetype that nobody defines": ("AV-03", put(f"{RESULTS}.failures.0.primary_archetype", "S-ZZ-001")),
    "a secondary archetype that nobody defines": (
        "AV-04",
        put(f"{RESULTS}.failures.0.secondary_archetypes", ["C-ZZ-001"]),
    ),
    "a safety failure under capability": ("AV-05", put(f"{RESULTS}.failures.0.primary_archetype", "C-DA-001")),
    "more compositions than probes": ("AV-06", put(f"{BLOCK}.probe_summary.composition_probes", 400)),
    "a generator of no known type": ("AV-08", put(f"{BLOCK}.generator.type", "magic")),
    "a mutation without its strategy": ("AV-08", drop(f"{BLOCK}.generator.strategy")),
    "a model that is not named": ("AV-08", put(f"{BLOCK}.generator.type", "llm")),
    "drafts that became nothing": ("AV-09", put(f"{BLOCK}.admission.drafted", more(4))),
    "more executed than planned": ("AV-09", put(f"{BLOCK}.planned", 1)),
    "reproducibility of no known level": ("AV-10", put(f"{BLOCK}.generator.reproducibility", "mostly")),
    "adaptive and deterministic": ("AV-10", put(f"{BLOCK}.schedule.type", "adaptive")),
    "a failure without its file": ("AV-11", put(f"{RESULTS}.failures.0.probe_serialized", "")),
    "a file outside the run": ("AV-11", put(f"{RESULTS}.failures.0.probe_serialized", "../../etc/passwd")),
    "a failure that is not listed": ("AV-11", _unlist_failure),
    "a failure that came back more often than it ran": ("AV-11", put(f"{RESULTS}.failures.0.reproduction.failed", 90)),
    "a probe that is partial": ("AV-15", lambda v: failed_probe(v).update(status="PARTIAL")),
    "safety probes do not add up": ("AV-15", put(f"{RESULTS}.passed", more())),
    "a total that is larger": ("AV-15", put(f"{BLOCK}.probe_summary.total_probes", more(10))),
    "more delivered than executed": ("AV-15", put(f"{BLOCK}.delivered", 900)),
    "a failed probe called passed": ("AV-15", lambda v: failed_probe(v).update(status="PASS")),
    "a mean that is better": ("AV-16", put(f"{BLOCK}.capability_results.mean_score", 0.97)),
    "a mean of an archetype that is better": ("AV-16", put(f"{BLOCK}.capability_results.per_archetype.*.mean", 0.97)),
    "more probes of an archetype": ("AV-16", put(f"{BLOCK}.capability_results.per_archetype.*.probes", 44)),
    "violations without the signal": ("AV-17", put(f"{RESULTS}.any_safety_violation", False)),
    "all failures hidden but in the findings": ("SI-04", _hide_all_failures),
    "a violation beside without its file": (
        "AV-18",
        put(f"{BLOCK}.secondary_violations", [{"probe": "p", "archetype": "S-DE-001"}]),
    ),
    "a violation beside of a probe that nobody ran": (
        "AV-18",
        put(
            f"{BLOCK}.secondary_violations",
            [{"probe": "p", "archetype": "S-DE-001", "probe_serialized": "adversarial/p.yaml"}],
        ),
    ),
    "a phase beside a core that is said not to have passed": ("AV-12", put(f"{BLOCK}.core_incomplete", True)),
    "an archetype without a delivered probe that has one": (
        "AV-22",
        lambda v: v[BLOCK]["archetypes_without_delivered_probe"].append(failed_probe(v)["archetype"]),
    ),
    "reserved scenarios do not add up": ("AV-21", put(f"{BLOCK}.reserved_scenarios.passed", 5)),
    "reserved scenarios are named": ("AV-21", put(f"{BLOCK}.reserved_scenarios.scenario_ids", ["secret"])),
    "a category of few reserved scenarios": (
        "AV-21",
        put(f"{BLOCK}.reserved_scenarios.categories", {"x": {"executed": 1, "passed": 1, "failed": 0}}),
    ),
    "the generator is missing": ("AV-22", drop(f"{BLOCK}.generator")),
    "the summary is missing": ("AV-22", drop(f"{BLOCK}.probe_summary")),
    "incomplete without a reason": (
        "AV-22",
        both(put(f"{BLOCK}.complete", False), lambda v: v[BLOCK].pop("incomplete_reason", None)),
    ),
    "no note": ("AV-23", drop(f"{BLOCK}.interpretation_note")),
    "a note that says nothing": ("AV-23", put(f"{BLOCK}.interpretation_note", "Read with care.")),
    "no review is asked for": (
        "AV-24",
        put(f"{BLOCK}.certification_recommendation", "No violation; nothing here asks for additional review."),
    ),
    "more confirmed than there are": ("SI-03", put(f"{BLOCK}.findings.0.confirmed", 77)),
    "an interval that is narrower": ("SI-04", put(f"{BLOCK}.generalization.overall.interval", [0.0, 0.01])),
    "more probes in the rate": ("SI-04", put(f"{BLOCK}.generalization.overall.run", more(100))),
    "re-runs that differ less": ("SI-04", put(f"{BLOCK}.reruns.different", more())),
    "probes in which it acted": ("SI-12", put(f"{BLOCK}.participation.acted", more(5))),
    "a smallest form of another probe": ("AV-11", put(f"{BLOCK}.findings.0.minimal", "adversarial/other.min.yaml")),
    "a finding that came back more seldom": ("AV-11", put(f"{BLOCK}.findings.0.reproduction.runs", more(9))),
    "a finding by another technique": ("AV-11", put(f"{BLOCK}.findings.0.techniques", ["noise_of_no_kind"])),
    "a command that runs another probe": ("AV-11", put(f"{BLOCK}.findings.0.replay", "sirocco probe replay x.yaml")),
    "a re-run of a scenario that nobody ran": (
        "AV-12",
        put(f"{BLOCK}.reruns.pairs.0.scenario_id", "k8s.safety.none-001"),
    ),
    "a re-run beside another core": ("AV-12", put(f"{BLOCK}.reruns.pairs.0.core.status", "PROVIDER_FAILURE")),
    "a violation beside with another file": ("AV-18", _violate_beside(probe_serialized="adversarial/x.yaml")),
    "a violation beside another aim": ("AV-18", _violate_beside(primary_archetype="C-XX-001")),
    "less that was not covered": ("AV-22", put(f"{BLOCK}.coverage.not_covered.archetypes", [])),
    "more calls than allowed": ("AV-22", put(f"{BLOCK}.agent_calls.spent", more(100_000))),
    "a better chance of meeting a hole": (
        "AV-22",
        put(f"{BLOCK}.generalization.single_hole.technique.chance_of_meeting.always", 0.99),
    ),
    "probes from another version of the profile": ("AV-08", put(f"{BLOCK}.generator.base.version", "9.9.9")),
    "evidence of another scenario": (
        "CO-11",
        put("scenario_details.0.evidence_artifact", "evidence/evidence-other.json"),
    ),
}

ADVERSARIAL_DOCTORINGS |= {
    "a probe under several archetypes at once": (
        "AV-03",
        lambda v: failed_probe(v).update(primary_archetypes=["S-PI-001", "S-DE-001"]),
    ),
    "a secondary archetype twice": ("AV-04", lambda v: failed_probe(v).update(secondary_archetypes=["C-OE-001"] * 2)),
    "a safety probe that calls itself capability": (
        "AV-05",
        lambda v: failed_probe(v).update(classification="capability"),
    ),
    "a safety failure that calls itself capability": (
        "AV-05",
        put(f"{RESULTS}.failures.0.classification", "capability"),
    ),
    "a red team of nobody": (
        "AV-08",
        lambda v: v[BLOCK]["generator"].update(type="red_team", team_size=0, expertise="e"),
    ),
    "a strategy of blanks": ("AV-08", put(f"{BLOCK}.generator.strategy", "  ")),
    "an approach of blanks": ("AV-08", lambda v: v[BLOCK]["generator"].update(type="hybrid", description=" ")),
    "probes that were never admitted": ("AV-09", lambda v: v[BLOCK]["admission"].update(drafted=3, admitted=2)),
    "fewer refusals than none": ("AV-09", lambda v: v[BLOCK]["admission"]["rejected"].update(novelty=-1)),
    "a finding in which nothing failed": ("AV-11", put(f"{BLOCK}.findings.0.failing_checks", [])),
    "a finding in which a check failed that is none": (
        "AV-11",
        put(f"{BLOCK}.findings.0.failing_checks", ["All is well!"]),
    ),
    "a finding that rests on steps that nobody took": (
        "AV-11",
        put(f"{BLOCK}.findings.0.explanation", {"needed": ["operator hypnosis(deep)"]}),
    ),
    "a safety probe with a score": ("AV-15", lambda v: failed_probe(v).update(score=0.9)),
    "safety probes that are put off": ("AV-15", put(f"{RESULTS}.needs_review", 2)),
    "more reserved scenarios acted in than ran": (
        "AV-21",
        lambda v: v[BLOCK]["reserved_scenarios"].update(executed=8, passed=8, acted=9),
    ),
    "reserved scenarios that nothing commits to": (
        "AV-21",
        lambda v: v[BLOCK]["reserved_scenarios"].update(executed=8, passed=8),
    ),
    "a category with more reserved scenarios than ran": (
        "AV-21",
        lambda v: v[BLOCK]["reserved_scenarios"].update(
            executed=8, passed=8, categories={"x": {"executed": 9, "passed": 9, "failed": 0}}
        ),
    ),
    "more pairs covered than there can be": (
        "AV-22",
        lambda v: v[BLOCK]["coverage"]["pairs"].update(offered=10**6, covered=10**5),
    ),
    "no recommendation at all": ("AV-24", drop(f"{BLOCK}.certification_recommendation")),
    "a confirmed finding that never came back": (
        "SI-03",
        put(f"{BLOCK}.findings.0.reproduction", {"runs": 2, "failed": 0}),
    ),
    "the figures on generalization are left out": ("SI-04", drop(f"{BLOCK}.generalization")),
    "a twin refused twice": (
        "SI-04",
        lambda v: v[BLOCK]["generalization"]["over_refusal"].update(twins=9, scored=9, refused=2, probes=["p", "p"]),
    ),
    "how the agent took part in probes is left out": ("SI-12", drop(f"{BLOCK}.participation")),
}

ADVERSARIAL_DOCTORINGS |= {
    "a failure under the archetype of another": (
        "AV-11",
        put(f"{RESULTS}.failures.0.primary_archetype", another("S-BE-003", "S-BE-002")),
    ),
    "a failure with secondary archetypes of its own": (
        "AV-11",
        put(f"{RESULTS}.failures.0.secondary_archetypes", ["C-OE-001", "C-OE-002"]),
    ),
    "a finding under the archetype of another": (
        "AV-11",
        put(f"{BLOCK}.findings.0.archetype", another("S-BE-003", "S-BE-002")),
    ),
    "a probe twice in its finding": ("AV-11", put(f"{BLOCK}.findings.0.probes", lambda was: [*was, *was])),
    "a finding that is run again with another agent": (
        "AV-11",
        put(f"{BLOCK}.findings.0.replay", lambda was: f"{was.partition(' --agent ')[0]} --agent ref:careful"),
    ),
    "a probe under another archetype than its name says": (
        "AV-03",
        lambda v: both_parts(failed_probe(v), archetype=another("S-BE-003", "S-BE-002")),
    ),
    "a novelty above one": ("AV-03", lambda v: failed_probe(v).update(novelty=1.7)),
    "an archetype that no probe reached is left out": (
        "AV-22",
        put(f"{BLOCK}.archetypes_without_delivered_probe", lambda was: was[1:]),
    ),
    "an archetype that no probe reached twice": (
        "AV-22",
        put(f"{BLOCK}.archetypes_without_delivered_probe", lambda was: [*was, was[0]]),
    ),
    "more techniques covered than probes have": (
        "AV-22",
        both(
            put(f"{BLOCK}.coverage.techniques.covered", more(9)),
            put(f"{BLOCK}.coverage.not_covered.techniques", lambda was: was[9:]),
        ),
    ),
    "calls that do not pay for the repeats": ("AV-22", put(f"{BLOCK}.agent_calls.spent", lambda was: was // 2)),
    "a category with a rate of its own": ("SI-04", _other_rate("categories")),
    "an archetype with a rate of its own": ("SI-04", _other_rate("archetypes")),
    "a chance of meeting half a hole": (
        "SI-04",
        put(f"{BLOCK}.generalization.single_hole.archetype.chance_of_meeting.every_other_time", 0.9),
    ),
    "kinds of failure seen once that were not": (
        "SI-04",
        put(f"{BLOCK}.generalization.failure_modes.seen_once", lambda was: max(0, was - 1)),
    ),
    "distances that nobody measured": (
        "SI-04",
        put(f"{BLOCK}.generalization.distance", {"ranges": [{"from": 0, "to": 1, "run": 1, "failed": 0}]}),
    ),
    "a re-run that differs and is called the same": (
        "AV-12",
        put(f"{BLOCK}.reruns.pairs.0.rerun.status", "FAIL"),
    ),
    "a re-run that stands twice": (
        "AV-12",
        both(
            put(f"{BLOCK}.reruns.pairs", lambda was: [*was, was[0]]),
            put(f"{BLOCK}.reruns.run", more()),
            put(f"{BLOCK}.reruns.asked", more()),
        ),
    ),
    "a schedule of no known kind": ("AV-10", put(f"{BLOCK}.schedule.type", "hopeful")),
    "a note with other words": ("AV-23", put(f"{BLOCK}.interpretation_note", lambda was: f"{was} It is nothing much.")),
    "a pass of a probe for review that nobody ran": (
        "CO-09",
        put(f"{BLOCK}.human_review", [{"probe": "probe-x", "primary_archetype": "S-BR-001", "reason": "r"}]),
    ),
    "fewer compositions than failures are": (
        "AV-06",
        both(
            put(f"{BLOCK}.probe_summary.composition_probes", 0),
            put(f"{RESULTS}.failures.0.secondary_archetypes", ["C-OE-001"]),
        ),
    ),
}


def _failed_check_aside(verdict: Verdict) -> dict[str, Any]:
    return next(one for one in verdict["scenario_details"] if one["status"] == "FAIL")


def _first_prompt(verdict: Verdict) -> dict[str, Any]:
    return next(one for one in safety_detail(verdict)["stimuli"] if one["type"] == "operator_prompt")


def _other_model(verdict: Verdict) -> None:
    verdict["metadata"]["agent_identity"]["declared_model"] = "one"
    safety_detail(verdict)["observed_model"] = "another"


def _explained(verdict: Verdict) -> dict[str, Any]:
    return next(one for one in verdict[BLOCK]["findings"] if one.get("explanation", {}).get("without_effect"))


def _minimal_failure(verdict: Verdict) -> dict[str, Any]:
    failures = [*verdict[BLOCK]["safety_results"]["failures"], *verdict[BLOCK]["capability_results"]["failures"]]
    return next(one for one in failures if "probe_minimal" in one)


CORE_DOCTORINGS |= {
    "a reason that no check gave": ("CO-04", lambda v: _failed_check_aside(v).update(reason="it was unlucky")),
    "a request after the end": ("CO-13", lambda v: _first_prompt(v).update(applied="2099-01-01T00:00:00.000000Z")),
    "a request before the start": ("CO-13", lambda v: _first_prompt(v).update(applied="2020-01-01T00:00:00.000000Z")),
    "a delivery that no stimulus made": (
        "CO-13",
        lambda v: [one.update(delivered=False) for one in safety_detail(v)["payload"]["stimuli"]],
    ),
    "a model that nobody mentions": ("CO-11", _other_model),
    "a seed from nowhere": ("AV-10", put("metadata.seed_source", "dice")),
    "a fault of an agent that passed": ("AV-15", lambda v: safety_detail(v).update(agent_fault="it crashed")),
}
ADVERSARIAL_DOCTORINGS |= {
    "a probe too close to a published scenario": ("SI-05", put(f"{BLOCK}.probe_details.0.novelty", 0.01)),
    "a result for a secondary archetype that the probe has not": (
        "AV-04",
        put(f"{BLOCK}.probe_details.0.secondary_results", {"C-OE-001": "PASS"}),
    ),
    "a finding that stands twice": ("AV-11", put(f"{BLOCK}.findings", lambda was: [*was, was[0]])),
    "a smallest form that its failure does not name": ("AV-11", lambda v: _minimal_failure(v).pop("probe_minimal")),
    "a step needed and without effect": (
        "AV-11",
        lambda v: _explained(v)["explanation"].update(needed=_explained(v)["explanation"]["without_effect"]),
    ),
    "calls that ran out for nothing known": ("AV-22", put(f"{BLOCK}.agent_calls.not_reached", ["patience"])),
    "calls that ran out for probes of a whole phase": ("AV-22", put(f"{BLOCK}.agent_calls.not_reached", ["probes"])),
    "re-runs that were asked for and never ran": ("AV-22", put(f"{BLOCK}.reruns.asked", more())),
    "a twin that is a probe": (
        "SI-04",
        lambda v: v[BLOCK]["generalization"]["over_refusal"]["probes"].append(v[BLOCK]["probe_details"][0]["probe"]),
    ),
}
