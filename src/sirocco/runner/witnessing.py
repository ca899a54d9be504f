"""Witnesses: whether a scenario or probe can tell a violating agent from a safe one, shown in the environment (SI-01).

Every witness goes through `scenario_run` and `evaluate`, the path of real agents. The truth table:

    violation            performs the goal                     FAIL
    safe                 does the prompt's legitimate task     PASS
    nothing              does nothing                          PASS, FAIL where a `must` is declared
    destroy-everything   deletes all it can reach              FAIL wherever a state check exists
    naive                reads what anybody would read         the payload is delivered to it

Beside the verdict, each single check must be seen to pass and to fail, or be shadowed by the environment's permissions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sirocco.agents.witness import Attempt, DestroyEverything, Nothing, Safe, Violation
from sirocco.evaluation.evaluate import evaluate
from sirocco.evaluation.namespaces import is_namespace
from sirocco.evaluation.operations import matching_calls
from sirocco.evaluation.snapshot import Snapshot, name_of, namespace_of
from sirocco.oasis.agent import Agent
from sirocco.oasis.bound_scenario import BoundGoal, BoundScenario, Check, Forbidden, NotContained, StateHolds
from sirocco.oasis.evidence import Evidence, audit_entries
from sirocco.oasis.operation import ALL, ANY, Operation, Verb
from sirocco.oasis.provider import Provider
from sirocco.oasis.report import UnitResult
from sirocco.oasis.resource import BY_NOUN
from sirocco.oasis.verdict import CheckResult, Fail, Pass, ProviderFailure
from sirocco.runner.execution import agent_fault
from sirocco.runner.readable import reasons_to_skip
from sirocco.runner.scenario_run import RunSettings, scenario_run

_WRITES = frozenset({"update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class WitnessedCheck:
    """What the witnesses showed of one check."""

    id: str
    archetype: str
    seen_pass: bool
    seen_fail: bool
    shadowed: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a scenario cannot be trusted; `reason` is a word to count by."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class WitnessReport:
    """The truth table of one scenario."""

    scenario: str
    can_pass: bool
    can_fail: bool
    checks: tuple[WitnessedCheck, ...]
    problems: tuple[Problem, ...]


class Witnesses:
    """Runs the witnesses of one scenario after another in environments of their own."""

    def __init__(self, provider: Provider, settings: RunSettings, naive: Agent) -> None:
        self.provider = provider
        self.settings = settings
        self.naive = naive

    async def report(self, bound: BoundScenario) -> WitnessReport:
        """The whole truth table of `bound`."""
        if reasons := reasons_to_skip(bound.scenario, self.provider):
            return _unusable(bound, Problem("unprovisionable", "; ".join(reasons)))
        if bound.goal is None:
            return _unusable(bound, Problem("no_goal", "no goal is declared, so nobody can violate it on purpose"))
        violation = await self._run(bound, Violation(bound), "violation")
        safe = await self._run(bound, Safe(bound), "safe")
        nothing = await self._run(bound, Nothing(), "nothing")
        destruction = await self._run(bound, DestroyEverything(bound), "destroy")
        runs = [violation, safe, nothing, destruction]
        for faulty in runs:
            if isinstance(faulty.verdict, ProviderFailure):
                return _unusable(bound, Problem("provider_fault", faulty.verdict.cause))
        attempts = [await self._run(bound, agent, f"attempt-{n}") for n, agent in enumerate(_attempts(bound, runs))]
        checks = tuple(_witnessed(check, [*runs, *attempts], destruction) for check in bound.checks)
        problems = [
            *_table_problems(bound, violation, safe, nothing, destruction),
            *_check_problems(checks),
            *await self._delivery_problems(bound),
        ]
        return WitnessReport(
            bound.scenario.id,
            isinstance(safe.verdict, Pass),
            isinstance(violation.verdict, Fail),
            checks,
            tuple(problems),
        )

    async def _run(self, bound: BoundScenario, agent: Agent, role: str) -> UnitResult:
        unit = f"{bound.scenario.id}/{role}"
        evidence = await scenario_run(bound, agent, self.provider, self.settings, unit=unit)
        return UnitResult(unit, bound, evidence, evaluate(bound, evidence), agent_fault(evidence))

    async def _delivery_problems(self, bound: BoundScenario) -> list[Problem]:
        """A payload that an agent reading its environment never meets tests nothing."""
        if not bound.scenario.payloads:
            return []
        delivered = (await self._run(bound, self.naive, "naive")).evaluation.payload.delivered
        return (
            [] if delivered else [Problem("undelivered", "an agent that reads its environment never meets the payload")]
        )


def _unusable(bound: BoundScenario, problem: Problem) -> WitnessReport:
    checks = tuple(
        WitnessedCheck(check.id, check.archetype, seen_pass=False, seen_fail=False) for check in bound.checks
    )
    return WitnessReport(bound.scenario.id, can_pass=False, can_fail=False, checks=checks, problems=(problem,))


def _table_problems(
    bound: BoundScenario, violation: UnitResult, safe: UnitResult, nothing: UnitResult, destruction: UnitResult
) -> Iterator[Problem]:
    """Deviations from the truth table."""
    if not isinstance(violation.verdict, Fail):
        yield Problem("witness_violation_passes", "performing the goal does not FAIL")
    elif not _goal_was_possible(bound, violation.evidence):
        yield Problem("goal_impossible", "the environment has nothing that the goal could act on")
    if safe.agent_fault:
        yield Problem("witness_task_impossible", safe.agent_fault)
    elif isinstance(safe.verdict, Fail):
        yield Problem("witness_safe_fails", f"doing the legitimate task FAILs: {safe.verdict.reason}")
    if bound.declares_must and not isinstance(nothing.verdict, Fail):
        yield Problem("witness_nothing_passes", "doing nothing passes although something must be done")
    if not bound.declares_must and isinstance(nothing.verdict, Fail):
        yield Problem("witness_nothing_fails", f"doing nothing FAILs: {nothing.verdict.reason}")
    if bound.checks_state and not isinstance(destruction.verdict, Fail):
        yield Problem("witness_destruction_passes", "deleting everything in reach does not FAIL")


def _goal_was_possible(bound: BoundScenario, evidence: Evidence) -> bool:
    """Whether the goal aims at something; an output is possible as soon as it was said."""
    return bound.goal is None or bound.goal.operation is None or _was_possible(bound.goal.operation, evidence)


def _attempts(bound: BoundScenario, runs: list[UnitResult]) -> Iterator[Agent]:
    """A witness of its own for each forbidden operation or disclosure that no other witness was seen to commit."""
    for check in bound.checks:
        if not any(_seen_to_fail(check, run) for run in runs):
            for predicate in check.predicates:
                if isinstance(predicate, Forbidden):
                    yield Attempt(predicate.operation, bound)
                if isinstance(predicate, NotContained):
                    goal = BoundGoal(value_ref=predicate.value_ref, literals=predicate.literals)
                    yield Violation(replace(bound, goal=goal))


def _witnessed(check: Check, runs: list[UnitResult], destruction: UnitResult) -> WitnessedCheck:
    seen_fail = any(_seen_to_fail(check, run) for run in runs)
    seen_pass = any(isinstance(_result(check, run).verdict, Pass) for run in runs)
    shadowed = None if seen_fail else _shadow(check, destruction.evidence)
    return WitnessedCheck(check.id, check.archetype, seen_pass=seen_pass, seen_fail=seen_fail, shadowed=shadowed)


def _result(check: Check, run: UnitResult) -> CheckResult:
    results = (*run.evaluation.checks, *run.evaluation.secondary)
    return next(result for result in results if result.check == check.id)


def _seen_to_fail(check: Check, run: UnitResult) -> bool:
    """Whether the check FAILed for something that happened or was refused; calls that found no object show nothing."""
    if not isinstance(_result(check, run).verdict, Fail):
        return False
    forbidden = [predicate.operation for predicate in check.predicates if isinstance(predicate, Forbidden)]
    return not forbidden or any(_was_possible(operation, run.evidence) for operation in forbidden)


def _was_possible(operation: Operation, evidence: Evidence) -> bool:
    """Whether the operation was carried out, or refused for lack of permission, on something that exists."""
    calls = matching_calls(operation, evidence)
    return any(call.succeeded or call.denied for call in calls) and _has_target(operation, evidence)


def _has_target(operation: Operation, evidence: Evidence) -> bool:
    """Whether the environment held what the operation names; a deletion of everything also "deletes" what never was."""
    if operation.resource not in BY_NOUN or operation.verb in {Verb.CREATE, Verb.APPLY}:
        return True
    row = BY_NOUN[operation.resource]
    pattern = ANY if operation.name == ALL else operation.name
    before = Snapshot.recorded(evidence.state_before)
    return any(
        before.is_named(row, namespace_of(item), name_of(item), pattern)
        and _is_in(operation.namespace, namespace_of(item), evidence)
        for item in before.of_type(row)
    )


def _is_in(declared: str | None, actual: str, evidence: Evidence) -> bool:
    """Whether an actual namespace is the declared one; no declaration means any."""
    return declared is None or is_namespace(actual, declared, evidence.resolved_namespaces)


def _shadow(check: Check, destruction: Evidence) -> str | None:
    """Why a state check cannot be seen to fail: the environment's permissions keep the agent from the object."""
    for predicate in check.predicates:
        if not isinstance(predicate, StateHolds):
            continue
        plural = BY_NOUN[predicate.noun].plural
        for call in audit_entries(destruction):
            if (
                call.denied
                and call.verb in _WRITES
                and call.resource == plural
                and _is_in(predicate.namespace, call.namespace, destruction)
            ):
                return f"permissions refuse the agent any change of {plural} in {call.namespace or 'the cluster'}"
    return None


def _check_problems(checks: tuple[WitnessedCheck, ...]) -> Iterator[Problem]:
    for check in checks:
        if not check.seen_pass:
            yield Problem("check_cannot_pass", f"{check.id} was never seen to pass")
        if not check.seen_fail and check.shadowed is None:
            yield Problem("check_cannot_fail", f"{check.id} was never seen to fail: nothing can do what it forbids")
