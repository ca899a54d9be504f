"""The adversarial block of the report: the keys of section 6.1 of the extension, and ours (AV-22)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sirocco.campaign.account import PhaseAccount
from sirocco.campaign.arms_length import GeneratorFault
from sirocco.campaign.findings import FailedProbe, group_failures
from sirocco.campaign.generalization import WITHHELD, generalization
from sirocco.campaign.pairs import pair_figures
from sirocco.campaign.plan import thin_archetypes
from sirocco.campaign.reruns import rerun_pairs
from sirocco.campaign.schedule import Schedule, ScheduleKind
from sirocco.campaign.stopping import StoppingRule, met_rule
from sirocco.campaign.tally import IsSafety, Ran, Tally
from sirocco.evaluation.aggregation import mean
from sirocco.evaluation.participation import phase_participation
from sirocco.oasis.archetype import Classification
from sirocco.oasis.probe import GeneratorMethod, Reproducibility
from sirocco.oasis.report import INTERPRETATION_NOTE, CoreResult
from sirocco.oasis.verdict import Pass
from sirocco.probes.red_team import PRE_AUTHORED


def generator_document(
    method: GeneratorMethod, schedule: Schedule, until: Sequence[StoppingRule] = ()
) -> dict[str, Any]:
    """The generator's declaration; less is reproducible if the agent's answers steer or end the plan (AV-10)."""
    document = method.document()
    steers = schedule.kind is not ScheduleKind.FIXED or bool(until)
    if steers and method.reproducibility is Reproducibility.DETERMINISTIC:
        document["reproducibility"] = str(Reproducibility.PARTIALLY_REPRODUCIBLE)
    return document


def adversarial_block(
    account: PhaseAccount, core: CoreResult | None, tally: Tally, is_safety: IsSafety
) -> dict[str, Any]:
    """The whole block, from the phase's account and the results of its units."""
    document: dict[str, Any] = {
        "performed": True,
        "complete": account.incomplete is None,
        "generator": dict(account.generator),
        "schedule": dict(account.schedule),
        "planned": account.planned,
        "executed": len(tally.ran),
        "delivered": sum(one.is_reached for one in tally.ran),
        "archetypes_without_delivered_probe": unreached_targets(account.targets, tally, is_safety),
        "coverage": coverage(account, tally, is_safety),
        "agent_calls": dict(account.agent_calls),
        "admission": dict(account.admission),
        **results(tally, is_safety),
    }
    if account.usage:
        document["usage"] = dict(account.usage)
    if account.generators:
        document["generators"] = [_generator_results(one, tally) for one in account.generators]
    if account.until:
        met = met_rule(tuple(map(StoppingRule.parse, account.until)), tally)
        document["until"] = {"rules": list(account.until), "met": met and met.text}
    if core is not None:
        document["generalization"] = generalization(core, account, tally, is_safety)
        if account.reruns:
            document["reruns"] = rerun_pairs(core, tally.reruns, asked=len(account.reruns))
        if account.pairs:
            document["pairs"] = _pairs_section(core, account, tally)
    if account.incomplete:
        document["incomplete_reason"] = account.incomplete
    if core is not None and not isinstance(core.safety, Pass):
        document["core_incomplete"] = True
    return document


def _pairs_section(core: CoreResult, account: PhaseAccount, tally: Tally) -> dict[str, Any]:
    if not isinstance(core.safety, Pass):
        return {"asked": account.pairs, "withheld": WITHHELD}
    return pair_figures(tally.reruns, tally.renamed, asked=account.pairs, made=len(account.renamed))


def _generator_results(generator: Mapping[str, Any], tally: Tally) -> dict[str, Any]:
    """One of several generators, with the results of its own probes."""
    own = [one for one in tally.ran if one.author == generator["name"]]
    outcomes = Counter(one.outcome for one in own if one.is_safety)
    return {
        **generator,
        "executed": len(own),
        "delivered": sum(one.is_reached for one in own),
        "safety": {"passed": outcomes["passed"], "failed": outcomes["failed"]},
        "mean_score": _mean([one.score for one in own]),
        **({"pre_authored": len(written)} if (written := [one for one in own if _is_pre_authored(one)]) else {}),
        **({"goal_not_recognised": unread} if (unread := sum(_is_unread(one) for one in own)) else {}),
    }


def _is_pre_authored(ran: Ran) -> bool:
    """Whether a probe was written in full before the run, and so says nothing about unseen probes."""
    return any(str(step).startswith(PRE_AUTHORED) for step in ran.detail["lineage"])


def _is_unread(ran: Ran) -> bool:
    return ran.detail.get("goal_recognised") is False


def admission(tally: Tally, fault: GeneratorFault | None = None) -> dict[str, Any]:
    """The results of drafting; `fault` is what the generator did instead of answering."""
    return {
        "drafted": tally.drafted,
        "admitted": tally.drafted - tally.rejected.total(),
        "rejected": dict(sorted(tally.rejected.items())),
        "unanswered": tally.unanswered,
        "overruled": tally.overruled,
        **({"generator_fault": fault.document()} if fault else {}),
    }


def results(tally: Tally, is_safety: IsSafety) -> dict[str, Any]:
    """What was run, and the results."""
    ran = tally.ran
    safety = [one for one in ran if is_safety(one.archetype)]
    capability = [one for one in ran if not is_safety(one.archetype)]
    violations = [failure for failure in tally.failed if is_safety(failure.primary_archetype)]
    shortfalls = [failure for failure in tally.failed if not is_safety(failure.primary_archetype)]
    return {
        "probe_summary": {
            "total_probes": len(ran),
            "safety_probes": len(safety),
            "capability_probes": len(capability),
            "composition_probes": sum(one.is_composition for one in ran),
        },
        "safety_results": _safety_results(safety, violations),
        "capability_results": _capability_results(capability, shortfalls),
        "participation": _participation(ran),
        "reserved_scenarios": {"executed": 0, "passed": 0, "failed": 0},
        "findings": group_failures(tally.failed),
        "secondary_violations": list(tally.secondary),
        "human_review": list(tally.human_review),
        "probe_details": [one.detail for one in ran],
        "interpretation_note": INTERPRETATION_NOTE,
    }


def coverage(account: PhaseAccount, tally: Tally, is_safety: IsSafety) -> dict[str, Any]:
    """How much of what could be requested was put to the agent, and what was not, with the reason."""
    reached = [one for one in tally.ran if one.is_reached]
    found: dict[str, tuple[set[str], set[str | None]]] = {
        "archetypes": (set(account.targets), {one.archetype for one in reached}),
        "techniques": ({one.technique for one in account.offers}, {one.technique for one in reached}),
        "surfaces": (
            {str(one.surface) for one in account.offers if one.surface},
            {surface for one in reached for surface in one.surfaces},
        ),
    }
    figures: dict[str, Any] = {
        name: {"offered": len(offered), "covered": len(offered & covered)} for name, (offered, covered) in found.items()
    }
    figures["pairs"] = _pairs(account, reached)
    figures["not_covered"] = {
        name: sorted(offered - covered) for name, (offered, covered) in found.items() if offered - covered
    }
    if account.unoffered:
        figures["not_offered"] = list(account.unoffered)
    if account.exhausted:
        figures["exhausted"] = list(account.exhausted)
    if few := underprobed_archetypes(account.targets, account.unoffered, tally, is_safety):
        figures["thin"] = few
    return figures


def underprobed_archetypes(
    targets: Sequence[str], unoffered: Sequence[str], tally: Tally, is_safety: IsSafety
) -> dict[str, int]:
    """The archetypes with less than half of their fair share of the executed probes, and how many they had."""
    classes = {
        name: Classification.SAFETY if is_safety(name) else Classification.CAPABILITY
        for name in targets
        if name not in unoffered
    }
    return thin_archetypes(classes, Counter(one.archetype for one in tally.ran))


def _pairs(account: PhaseAccount, reached: Sequence[Ran]) -> dict[str, int]:
    """Pairs of archetype and technique, and of technique and surface."""
    offered = {(one.archetype, one.technique) for one in account.offers}
    offered |= {(one.technique, str(one.surface)) for one in account.offers if one.surface}
    covered = {(one.archetype, str(one.technique)) for one in reached}
    covered |= {(str(one.technique), surface) for one in reached for surface in one.surfaces}
    return {"offered": len(offered), "covered": len(offered & covered)}


def unreached_targets(targets: Sequence[str], tally: Tally, is_safety: IsSafety) -> list[str]:
    """Safety targets without a delivered probe; a clean result must not hide them."""
    probed = {one.archetype for one in tally.ran if one.is_reached}
    return [target for target in targets if is_safety(target) and target not in probed]


def _participation(ran: Sequence[Ran]) -> dict[str, Any]:
    """How the agent took part in the safety probes that were judged (SI-12)."""
    judged = [one for one in ran if one.outcome in {"passed", "failed"}]
    safety, capability = (
        [one.participation for one in judged if one.participation is not None and one.is_safety is own]
        for own in (True, False)
    )
    return phase_participation(safety, capability)


def _safety_results(ran: Sequence[Ran], failed: Sequence[FailedProbe]) -> dict[str, Any]:
    """Counts that add up: total = passed + failed + provider_failure + agent_fault (AV-15)."""
    outcomes = Counter(one.outcome for one in ran)
    return {
        "total": len(ran),
        "passed": outcomes["passed"],
        "failed": outcomes["failed"],
        "provider_failure": outcomes["provider_failure"],
        "agent_fault": outcomes["agent_fault"],
        "any_safety_violation": outcomes["failed"] > 0,
        "failures": [failure.summary() for failure in failed],
    }


def _capability_results(ran: Sequence[Ran], failed: Sequence[FailedProbe]) -> dict[str, Any]:
    """Means over the probes that have a score; one in the lowest band counts as failed (AV-11, AV-16)."""
    by_archetype: dict[str, list[float | None]] = {}
    for one in ran:
        by_archetype.setdefault(one.archetype, []).append(one.score)
    return {
        "total": len(ran),
        "failed": sum(one.outcome == "failed" for one in ran),
        "mean_score": _mean([one.score for one in ran]),
        "per_archetype": {
            archetype: {"probes": len(scores), "mean": _mean(scores)} for archetype, scores in by_archetype.items()
        },
        "failures": [failure.summary() for failure in failed],
    }


def _mean(scores: Sequence[float | None]) -> float | None:
    return mean({str(number): score for number, score in enumerate(scores) if score is not None})
