"""The core of an oasisctl report, in the layout of the standard's verdict document.

That runner reports less than ours: what it leaves out is zero or empty here, and nothing is made up.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sirocco.evaluation.aggregation import (
    ArchetypeScore,
    CapabilitySummary,
    CategoryScore,
    DimensionScore,
    ScoringRules,
)
from sirocco.evaluation.coverage import Coverage
from sirocco.oasis.archetype import Aggregation, AggregationMethod, Classification
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.report import SAME_TIER_STATEMENT
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Vacuity

NOT_APPLICABLE = "NOT_APPLICABLE"
_PLAIN = Aggregation(method=AggregationMethod.WEIGHTED_AVERAGE)
Detail = Mapping[str, Any]


def translated_core(report: Detail, profile: ProfileDocument) -> tuple[dict[str, Any], list[str]]:
    """Safety, its details and capability after a PASS, and why that core is incomplete."""
    metadata = report["metadata"]
    verdict = None if metadata.get("aborted") else report["safety_summary"]["safety"]
    core = {"safety": verdict, "safety_details": _safety_details(report, profile)}
    if verdict == Pass.status:
        core["capability"] = _capability(report, profile)
    is_complete = metadata["evaluation_mode"]["complete"]
    return core, [] if is_complete else [str(metadata.get("evaluation_note") or "only a selection was run")]


def _scenarios(report: Detail, profile: ProfileDocument, classification: Classification) -> list[Detail]:
    categories = {one.id for one in profile.categories if one.classification is classification}
    return [one for one in report["scenario_details"] if one["category"] in categories]


def _capability(report: Detail, profile: ProfileDocument) -> dict[str, Any]:
    """Scores as reported, with the profile's rules; a note if the report has none."""
    ran = _scenarios(report, profile, Classification.CAPABILITY)
    applicable = [one for one in ran if one.get("status") != NOT_APPLICABLE]
    summary = report.get("capability_summary")
    archetypes = Counter(one["category"] for one in {one["archetype"]: one for one in applicable}.values())
    section = {
        "tier": int(report["environment"]["tier_claimed"]),
        "coverage": Coverage(archetypes, {}, {}).document(),
        **_scores(summary or {}, applicable, profile).document(),
        "scenarios": {
            "total": len(applicable),
            "scored": len(applicable) if summary else 0,
            "undecidable": 0,
            "skipped": 0,
            "not_applicable": len(ran) - len(applicable),
        },
        "undecidable": [],
        "statement": SAME_TIER_STATEMENT,
    }
    return section if summary else {**section, "note": "the attached report has no capability scores"}


def _scores(summary: Detail, ran: Sequence[Detail], profile: ProfileDocument) -> CapabilitySummary:
    rules, scores = ScoringRules.from_profile(profile), summary.get("archetype_scores") or {}
    categories = {
        name: CategoryScore(
            one["score"],
            rules.aggregations.get(name, _PLAIN),
            {
                archetype: ArchetypeScore(
                    scores.get(archetype),
                    {each["scenario_id"]: each["score"] for each in ran if each["archetype"] == archetype},
                )
                for archetype in dict.fromkeys(each["archetype"] for each in ran if each["category"] == name)
            },
            tuple(one.get("maps_to_dimensions") or ()),
        )
        for name, one in (summary.get("domain_categories") or {}).items()
    }
    dimensions = {
        name: DimensionScore(score, rules.dimensions.get(name, {}), ())
        for name, score in (summary.get("core_dimensions") or {}).items()
    }
    return CapabilitySummary(categories, dimensions)


def _safety_details(report: Detail, profile: ProfileDocument) -> dict[str, Any]:
    """The standard's safety section, recounted from an oasisctl report's scenarios."""
    own = _scenarios(report, profile, Classification.SAFETY)
    applicable = [one for one in own if one.get("status") != NOT_APPLICABLE]
    failed = [one for one in applicable if one.get("status") == Fail.status]
    broken = [one for one in applicable if one.get("status") == ProviderFailure.status]
    return {
        "total_scenarios": len(own),
        "applicable": len(applicable),
        "not_applicable": len(own) - len(applicable),
        "passed": sum(one.get("status") == Pass.status for one in applicable),
        "failed": len(failed),
        "provider_failure": len(broken),
        "agent_fault": sum(one.get("status") is None for one in applicable),
        "skipped": 0,
        "tolerance_adjusted": 0,
        "vacuous_checks": sum(
            bool(check.get("vacuous")) for one in own for check in one.get("assertion_results") or ()
        ),
        "vacuity": {str(reason): 0 for reason in Vacuity},
        "failures": [
            {"scenario_id": one["scenario_id"], "description": one["scenario_id"], "reason": _reason(one)}
            for one in failed
        ],
        "provider_failures": [{"scenario_id": one["scenario_id"], "cause": _reason(one)} for one in broken],
        "category_results": {name: _level(applicable, name) for name in dict.fromkeys(one["category"] for one in own)},
        "subcategory_results": {},
        "human_review": [],
    }


def _level(details: Sequence[Detail], category: str) -> dict[str, Any]:
    statuses = Counter(one.get("status") for one in details if one["category"] == category)
    worst = next((one for one in (Fail.status, ProviderFailure.status, Pass.status) if statuses[one]), None)
    return {
        "status": worst,
        "total": statuses.total(),
        "passed": statuses[Pass.status],
        "failed": statuses[Fail.status],
        "provider_failure": statuses[ProviderFailure.status],
        "agent_fault": statuses[None],
    }


def _reason(detail: Detail) -> str:
    told = [*(detail.get("errors") or ()), *(one for one in detail.get("evidence") or () if not one.startswith("PASS"))]
    return str(told[0]) if told else "the report gives no reason"
