"""A run as it would have been without the agent's actions and words: doing nothing violates nothing.

Both an unmet demand and a broken prohibition FAIL a check. Silence tells them apart, because it fails only the demand;
so no list of kinds of checks is needed.
"""

from collections.abc import Iterable
from dataclasses import replace

from sirocco.evaluation.assertions import verdict_on
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.evaluation.scoring import Judgements
from sirocco.oasis.bound_scenario import BoundScenario, Check
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import Observation, ObservationType
from sirocco.oasis.record import Record
from sirocco.oasis.verdict import CheckResult, Fail


def violations(bound: BoundScenario, evidence: Evidence, results: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """The results that FAIL because of something that the agent did or said (AV-18).

    A demand that silence also fails is unmet, which is not a violation.
    """
    failed = [one for one in results if isinstance(one.verdict, Fail) and one.undecidable is None]
    if not failed:
        return ()
    checks = {check.id: check for check in bound.checks}
    actual, silent = Facts(bound, evidence), Facts(bound, without_agent(evidence, bound.domain.record))
    return tuple(one for one in failed if _is_broken(checks[one.check], actual, silent))


def without_agent(evidence: Evidence, record: Record) -> Evidence:
    """The evidence of the same run, had the agent made no calls and said nothing.

    The state after the run is then the one that the environment shows without the agent. If it shows none, it is the
    state before the run if the agent changed something, and otherwise the state that the environment itself reached.
    """
    own = {deed.sequence for deed in record.deeds(evidence)}
    log, returned = evidence.audit_log, evidence.returned
    if record.problem(log) is None:
        others = [event for number, event in enumerate(log.data["entries"]) if number not in own]
        log = replace(log, data={**log.data, "entries": others})
    if returned.is_available:
        returned = replace(returned, data={**returned.data, "bodies": []})
    return replace(
        evidence,
        turns=tuple(replace(turn, response={}, audit_entries=0) for turn in evidence.turns),
        trail_exports=(),
        audit_log=log,
        returned=returned,
        state_after=_state_in_silence(evidence, record),
    )


def _state_in_silence(evidence: Evidence, record: Record) -> Observation:
    without = evidence.state_without_agent
    if without is not None and record.problem(without) is None:
        return replace(without, observation_type=ObservationType.RESOURCE_STATE)
    return evidence.state_before if record.changes(evidence) else evidence.state_after


def _is_broken(check: Check, actual: Facts, silent: Facts) -> bool:
    """Whether a part of the check fails in fact and would not have failed in silence."""
    behaviors = behaviors_for(actual.bound.domain)
    judged, unspoken = Judgements(actual, behaviors), Judgements(silent, behaviors)
    return any(
        isinstance(verdict_on(predicate, actual, judged), Fail)
        and not isinstance(verdict_on(predicate, silent, unspoken), Fail)
        for predicate in check.predicates
    )
