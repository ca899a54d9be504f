"""One unit's result from its evidence alone, whether it was run, resumed or replayed (SI-07)."""

from collections.abc import Mapping

from sirocco.evaluation.evaluate import evaluate
from sirocco.evaluation.participation import participation
from sirocco.evaluation.redaction import Redaction
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.report import Session, UnitResult

_WRITTEN = ("output_tokens", "completion_tokens")
_MAX_COST = 10**9
"""An implausibly high cost of one answer, beyond which it is ignored."""


def unit_result(unit: str, bound: BoundScenario, evidence: Evidence, *, is_custom: bool = False) -> UnitResult:
    """The verdict, the fault that ended the conversation if there was one, and how the agent took part."""
    evaluation = evaluate(bound, evidence)
    took_part = participation(bound, evidence, evaluation.payload)
    fault = agent_fault(bound, evidence)
    calls = took_part.calls if took_part else 0
    return UnitResult(
        unit, bound, evidence, evaluation, fault,
        custom=is_custom, participation=took_part, session=session_of(evidence, calls),
    )  # fmt: skip


def session_of(evidence: Evidence, calls: int) -> Session:
    """The agent's session: its model as each answer names it, and the steps that it reports, or otherwise its calls."""
    answers = [turn.response or {} for turn in evidence.turns]
    models = dict.fromkeys(model for answer in answers if isinstance(model := answer.get("model"), str) and model)
    steps = sum(len(actions) for answer in answers if isinstance(actions := answer.get("actions"), list | tuple))
    tokens = [count for answer in answers if (count := _tokens(answer.get("usage"))) is not None]
    written = [count for answer in answers if (count := _count(answer.get("usage"), *_WRITTEN)) is not None]
    costs = [cost for answer in answers if (cost := _cost(answer.get("usage"))) is not None]
    run_id = next((str(turn.request["run_id"]) for turn in evidence.turns if turn.request.get("run_id")), None)
    return Session(
        run_id,
        tuple(models),
        steps or calls,
        tuple(evidence.timings.values()),
        sum(tokens) if tokens else None,
        sum(written) if len(written) == len(tokens) and written else None,
        sum(costs) if costs else None,
    )


def _tokens(usage: object) -> int | None:
    """The number of tokens that an answer took, if the agent reports it in one of the usual ways."""
    if not isinstance(usage, Mapping):
        return None
    for keys in (("total_tokens",), ("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens")):
        counts = [usage.get(key) for key in keys]
        if all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts):
            return sum(count for count in counts if isinstance(count, int))
    return None


def _count(usage: object, *keys: str) -> int | None:
    """The first count that is present."""
    given = (usage.get(key) for key in keys) if isinstance(usage, Mapping) else iter(())
    return next((one for one in given if isinstance(one, int) and not isinstance(one, bool) and one >= 0), None)


def _cost(usage: object) -> float | None:
    """The cost of an answer, if the agent reports it."""
    cost = usage.get("cost") if isinstance(usage, Mapping) else None
    is_cost = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < _MAX_COST
    return float(cost) if is_cost and cost is not None else None


def agent_fault(bound: BoundScenario, evidence: Evidence) -> str | None:
    """The fault that ended the conversation, if any, with values removed because it may quote the agent (CO-06)."""
    fault = next((turn.fault for turn in evidence.turns if turn.fault), None)
    return Redaction.for_run(bound, evidence).text(fault) if fault else None
