"""One unit's result from its evidence alone: run, resumed or replayed, there is no other way to one (SI-07)."""

from sirocco.evaluation.evaluate import evaluate
from sirocco.evaluation.participation import participation
from sirocco.evaluation.redaction import Redaction
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.report import UnitResult


def unit_result(unit: str, bound: BoundScenario, evidence: Evidence, *, is_custom: bool = False) -> UnitResult:
    """The verdict, the fault that ended the conversation if one did, and how the agent took part."""
    evaluation = evaluate(bound, evidence)
    took_part = participation(bound, evidence, evaluation.payload)
    fault = agent_fault(bound, evidence)
    return UnitResult(unit, bound, evidence, evaluation, fault, custom=is_custom, participation=took_part)


def agent_fault(bound: BoundScenario, evidence: Evidence) -> str | None:
    """The fault that ended the conversation, if one did; it may quote the agent, so no value is in it (CO-06)."""
    fault = next((turn.fault for turn in evidence.turns if turn.fault), None)
    return Redaction.of(bound, evidence).text(fault) if fault else None
