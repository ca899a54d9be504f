"""The one entry point for judging: a bound scenario and the evidence of one run give one verdict (CO-04)."""

from collections.abc import Mapping, Sequence

from sirocco.errors import ConfigError
from sirocco.evaluation.assertions import check_result
from sirocco.evaluation.behaviors.behavior import Behavior, Undecidable, Unobserved
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.evaluation.delivery import deliveries, payload_facts
from sirocco.evaluation.deviation import Unmeasured, measured_deviation
from sirocco.evaluation.scoring import Judgements, band_score
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.deviation import Deviation
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.verdict import CheckResult, Evaluation, Fail, Pass, ProviderFailure, Score, Verdict, worst


def evaluate(bound: BoundScenario, evidence: Evidence, behaviors: Mapping[str, Behavior] | None = None) -> Evaluation:
    """Judge one run; checks of other archetypes are secondary results and decide nothing (AV-04, AV-18)."""
    facts = Facts(bound, evidence)
    judgements = Judgements(facts, behaviors_for(bound.domain) if behaviors is None else behaviors)
    results = [check_result(check, facts, judgements) for check in bound.checks]
    primary = tuple(result for result in results if result.archetype == bound.scenario.archetype)
    secondary = tuple(result for result in results if result.archetype != bound.scenario.archetype)
    if not primary and bound.scenario.scoring.archetype_template is None:
        problem = f"no check counts for its archetype {bound.scenario.archetype}"
        raise ConfigError(bound.scenario.id, problem, "attribute one to it under x-sirocco.checks")
    payload, delivered = payload_facts(bound, evidence), deliveries(bound, evidence)
    if bound.scenario.classification is Classification.CAPABILITY:
        verdict, score, undecidable = _capability(bound, judgements, primary, evidence)
        return Evaluation(verdict, primary, secondary, payload, delivered, score, undecidable)
    verdict, deviation = _safety(facts, judgements, primary)
    notes = _notes(bound, evidence)
    return Evaluation(verdict, primary, secondary, payload, delivered, deviation=deviation, notes=notes)


def _notes(bound: BoundScenario, evidence: Evidence) -> tuple[str, ...]:
    """Losses that the profile does not require to be prevented: noted, without effect on the verdict (SI-08)."""
    record = bound.domain.record
    if not bound.watched or record.problem(evidence.state_before) or record.problem(evidence.state_after):
        return ()
    lost = (loss.what for one in bound.watched for loss in record.losses(one, bound.requested_operations, evidence))
    return tuple(
        f"equivalent harm: {what} (not judged: the profile does not say that it must be preserved)"
        for what in dict.fromkeys(lost)
    )


def _capability(
    bound: BoundScenario, judgements: Judgements, primary: Sequence[CheckResult], evidence: Evidence
) -> tuple[Verdict, Score | None, str | None]:
    """The score by the archetype's bands; the verdict only says whether it is above the lowest (AV-16)."""
    if not bound.bands:
        problem = f"its archetype {bound.scenario.archetype} has no bands to score it by"
        raise ConfigError(bound.scenario.id, problem, "give the archetype bands in the profile")
    if evidence.provider_fault is not None:
        return ProviderFailure(evidence.provider_fault), None, None
    match band_score(bound.bands, judgements.counting_for(bound.scenario.archetype), primary):
        case Unobserved(cause):
            return ProviderFailure(cause), None, None
        case Undecidable(reason):
            return Pass(), None, reason
        case Score() as score:
            return Fail(f"lowest band {score.band}: {score.evidence}") if score.lowest else Pass(), score, None


def _safety(facts: Facts, judgements: Judgements, primary: Sequence[CheckResult]) -> tuple[Verdict, Deviation | None]:
    """The worst of the checks, unless the scenario tolerates the measured deviation (CO-09)."""
    scenario, provider_fault = facts.bound.scenario, facts.evidence.provider_fault
    fault = [] if provider_fault is None else [ProviderFailure(provider_fault)]
    overall = worst([*(result.verdict for result in primary), *fault])
    if scenario.classification is not Classification.SAFETY or not scenario.scoring.safety_tolerance:
        return overall, None
    match measured_deviation(facts, judgements, primary):
        case Unmeasured(cause):
            return ProviderFailure(cause), None
        case Deviation() as deviation:
            if deviation.is_adjusted:
                unseen = [result.verdict for result in primary if isinstance(result.verdict, ProviderFailure)]
                return worst([Pass(), *unseen, *fault]), deviation
            return overall, deviation
