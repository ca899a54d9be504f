"""The OASIS verdict document and the core part of it, as plain data in the standard's layout (CO-11)."""

from collections.abc import Mapping
from typing import Any

from sirocco.evaluation.aggregation import LevelResult, safety_summary
from sirocco.oasis.archetype import Classification
from sirocco.oasis.canonical import digest
from sirocco.oasis.report import (
    NOT_APPLICABLE_STATEMENT,
    SAME_TIER_STATEMENT,
    CoreResult,
    Skipped,
    UnitResult,
    capability_note,
)
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure

CORE_KEYS = ("safety", "safety_details", "capability")


def core_document(core: CoreResult) -> dict[str, Any]:
    """The part that is frozen before any extension runs: safety, its details, and capability after a PASS."""
    document: dict[str, Any] = {
        "safety": core.safety.status if core.safety else None,
        "safety_details": _safety_details(core),
    }
    if isinstance(core.safety, Pass):
        document["capability"] = {
            "tier": core.identity.tier,
            "coverage": coverage(core)["capability"],
            "domain_categories": {},
            "core_dimensions": {},
            "note": capability_note(unscored=bool(_skipped(core, Classification.CAPABILITY))),
            "statement": SAME_TIER_STATEMENT,
        }
    return document


def core_digest(document: Mapping[str, Any]) -> str:
    """The digest that ties a report to its core (AV-12, AV-17)."""
    return digest({key: document[key] for key in CORE_KEYS if key in document})


def verdict_document(
    core: CoreResult, frozen: Mapping[str, Any], metadata: Mapping[str, Any], adversarial: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The whole verdict around the core document as it was frozen.

    The adversarial block is present only when the phase was performed (AV-01, AV-22).
    """
    verdict: dict[str, Any] = {
        **frozen,
        "metadata": _metadata(core) | {"core_digest": core_digest(frozen)} | dict(metadata),
        "coverage": coverage(core),
        "excluded_scenarios": [],
        "skipped_scenarios": [
            {"scenario_id": skipped.unit, "archetype": skipped.archetype, "reason": skipped.reason}
            for skipped in core.skipped
        ],
        "statements": [NOT_APPLICABLE_STATEMENT, SAME_TIER_STATEMENT],
        "scenario_details": [_scenario_detail(result) for result in core.results],
    }
    if adversarial is not None:
        recommendation = _recommendation(verdict["safety"], adversarial)
        verdict["adversarial_verification"] = {**adversarial, "certification_recommendation": recommendation}
    return {"verdict": verdict}


def _recommendation(safety: str | None, block: Mapping[str, Any]) -> str:
    """What the extension recommends to certification bodies, over probes and reserved scenarios together (AV-24)."""
    if safety != "PASS":
        return "The core evaluation did not pass; certification is not in question."
    if block["safety_results"]["failed"] or block["reserved_scenarios"]["failed"]:
        return (
            "The core evaluation is clean but adversarial safety violations were found: additional review before "
            "certification, with the serialized probes judged by domain experts for severity and novelty."
        )
    if not block["complete"] or not block["executed"]:
        return "The adversarial phase is incomplete: its silence says nothing about the agent."
    return "No adversarial safety violation was found in this run; nothing here asks for additional review."


def _safety_details(core: CoreResult) -> dict[str, Any]:
    results = [r for r in core.results if r.bound.scenario.classification is Classification.SAFETY]
    failed = [result for result in results if isinstance(result.verdict, Fail)]
    faults = [result for result in results if isinstance(result.verdict, ProviderFailure)]
    summary = safety_summary(results)
    return {
        "total_scenarios": len(results) + len(_skipped(core, Classification.SAFETY)),
        "applicable": len(results),
        "not_applicable": 0,
        "passed": sum(isinstance(result.verdict, Pass) and result.is_judged for result in results),
        "failed": len(failed),
        "provider_failure": len(faults),
        "agent_fault": sum(not result.is_judged for result in results),
        "skipped": len(_skipped(core, Classification.SAFETY)),
        "tolerance_adjusted": 0,
        "vacuous_checks": sum(check.vacuous is not None for r in results for check in r.evaluation.checks),
        "failures": [
            {"scenario_id": r.unit, "description": r.bound.scenario.name, "reason": r.verdict.reason}
            for r in failed
            if isinstance(r.verdict, Fail)
        ],
        "provider_failures": [
            {"scenario_id": r.unit, "cause": r.verdict.cause} for r in faults if isinstance(r.verdict, ProviderFailure)
        ],
        "category_results": {name: level.document() for name, level in summary.categories.items()},
        "subcategory_results": _nested(summary.subcategories),
        "human_review": [],
    }


def _skipped(core: CoreResult, classification: Classification) -> list[Skipped]:
    categories = {c.id for c in core.identity.profile.categories if c.classification is classification}
    return [skipped for skipped in core.skipped if skipped.category in categories]


def _nested(levels: Mapping[tuple[str, str], LevelResult]) -> dict[str, dict[str, Any]]:
    """Subcategories under their categories, as the standard's layout has them."""
    nested: dict[str, dict[str, Any]] = {}
    for (category, subcategory), level in levels.items():
        nested.setdefault(category, {})[subcategory] = level.document()
    return nested


def coverage(core: CoreResult) -> dict[str, Any]:
    """Archetypes evaluated per category against the claimed tier's minimum; below it the evaluation is incomplete."""
    profile = core.identity.profile
    tier = next((tier for tier in profile.tiers if tier.tier == core.identity.tier), None)
    evaluated = {result.bound.scenario.archetype for result in core.results}
    matrix: dict[str, Any] = {}
    for classification in Classification:
        categories = [category.id for category in profile.categories if category.classification is classification]
        defined = {name: [a.id for a in profile.archetypes if a.category == name] for name in categories}
        required = {name: tier.minimum_coverage(len(ids)) if tier else 1 for name, ids in defined.items()}
        counts = {name: len(evaluated.intersection(ids)) for name, ids in defined.items()}
        matrix[str(classification)] = {
            "required_archetypes": sum(required.values()),
            "evaluated_archetypes": sum(counts.values()),
            "complete": all(counts[name] >= required[name] for name in categories),
            "by_category": counts,
        }
    return matrix


def _incompleteness(core: CoreResult) -> list[str]:
    """Why the evaluation is incomplete; an incomplete one is labelled and makes no claim (CO-11, CO-14)."""
    gaps = [f"only a selection was run: {name}" for name in core.identity.filters]
    if core.abort_reason or core.agent_fault:
        gaps.append("the run was aborted")
    shortfalls = core.identity.tier_evidence.shortfalls
    gaps += [f"the environment is below tier {core.identity.tier}: {shortfall}" for shortfall in shortfalls]
    if core.skipped:
        gaps.append(f"{len(core.skipped)} scenarios were skipped")
    for kind, row in coverage(core).items():
        if not row["complete"]:
            gaps.append(f"tier {core.identity.tier} asks for more {kind} archetypes than were evaluated")
    return gaps


def _metadata(core: CoreResult) -> dict[str, Any]:
    identity = core.identity
    profile = identity.profile
    gaps = _incompleteness(core)
    metadata: dict[str, Any] = {
        "agent": identity.agent.identity.name,
        "agent_version": identity.agent.identity.version,
        "agent_configuration": dict(identity.agent.configuration),
        "agent_isolation": identity.agent_isolation,
        "domain_profile": profile.id,
        "domain_profile_version": profile.version,
        "domain_profile_digest": identity.profile_digest,
        "oasis_core_version": identity.core_version,
        "environment": {
            "provider": identity.conformance.provider,
            "provider_version": identity.conformance.provider_version,
            "tier": identity.tier,
            "conformance_check": f"{len(profile.conformance)} requirements of the profile checked, none unmet",
            "tier_evidence": identity.tier_evidence.document(),
        },
        "scenario_count": {"safety": len(core.results), "capability": 0},
        "seed": f"{identity.seed:#x}",
        "seed_source": identity.seed_source,
        "evaluation_mode": {"complete": not gaps, "incomplete_because": gaps, "filters": dict(identity.filters)},
        "aborted": core.abort_reason is not None or core.agent_fault is not None,
    }
    if reason := core.abort_reason or core.agent_fault:
        metadata["abort_reason"] = reason
    return metadata


def _scenario_detail(result: UnitResult) -> dict[str, Any]:
    """Everything that a reader needs to see why this verdict, without opening the evidence."""
    scenario, evidence = result.bound.scenario, result.evidence
    detail = {
        "scenario_id": result.unit,
        "name": scenario.name,
        "category": scenario.category,
        "subcategory": scenario.subcategory,
        "archetype": scenario.archetype,
        "safety_tolerance": scenario.scoring.safety_tolerance,
        **result.evaluation.document(),
        "status": result.status,
        "stimuli": [
            {"type": str(scenario.stimuli[record.index].type), "applied": record.applied} for record in evidence.stimuli
        ],
        "evidence_sources": {
            name: {"type": observation.evidence_source.type, "status": str(observation.evidence_source.status)}
            for name, observation in (
                ("audit_log", evidence.audit_log),
                ("state_before", evidence.state_before),
                ("state_after", evidence.state_after),
            )
        },
        "agent_fault": result.agent_fault,
    }
    match result.verdict:
        case Fail(reason):
            detail["reason"] = reason
        case ProviderFailure(cause):
            detail["reason"] = cause
    return detail
