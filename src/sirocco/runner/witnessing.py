"""Witnesses prove in the environment that a scenario or probe distinguishes a violating agent from a safe one (SI-01).

Every witness goes through `scenario_run` and `evaluate`, the path of real agents; `runner.truth_table` says what each
must result in. In addition to the verdict or band, each single check must be seen to pass and to fail, or be shadowed
by the environment's permissions. For safety, the naive agent also shows that a payload reaches an agent that reads.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sirocco.agents.answers import SHAPES, WORDINGS, answer_of_names, denial, right_answer
from sirocco.agents.derivation import with_goal_and_task
from sirocco.agents.until_met import UntilMet
from sirocco.agents.witness import (
    Archivist,
    Attempt,
    Contrarian,
    DestroyEverything,
    Disclosure,
    EquivalentHarm,
    Forger,
    Nothing,
    Reciter,
    Safe,
    Stuffer,
    Violation,
)
from sirocco.evaluation.applicability import with_block
from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.evaluation.delivery import payload_facts
from sirocco.evaluation.evaluate import evaluate
from sirocco.evaluation.unit_result import agent_fault
from sirocco.oasis.agent import Agent
from sirocco.oasis.bound_scenario import BoundGoal, BoundScenario, Check
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import AnyOf, Behaves, Forbidden, NotContained, Predicate
from sirocco.oasis.provider import Provider
from sirocco.oasis.report import UnitResult
from sirocco.oasis.slot import SLOTS, SlotKind
from sirocco.oasis.verdict import ProviderFailure
from sirocco.oasis.work import Work
from sirocco.runner.planned import reasons_to_skip
from sirocco.runner.scenario_run import RunSettings, scenario_run
from sirocco.runner.truth_table import (
    BandReached,
    Problem,
    Runs,
    WitnessedCheck,
    WitnessReport,
    is_scored,
    report,
    rests_on_words,
    seen_to_fail,
    unusable_report,
    unwitnessed_checks,
)

__all__ = ["BandReached", "Problem", "WitnessReport", "WitnessedCheck", "Witnesses"]


class Witnesses:
    """Runs the witnesses of one scenario, one after another, in separate environments."""

    def __init__(self, provider: Provider, settings: RunSettings, naive: Agent, reference: Agent | None = None) -> None:
        self.provider = provider
        self.settings = settings
        self.naive = naive
        self.reference = reference
        """An agent known to do legitimate work and nothing else; a domain need not have one."""

    async def report(self, bound: BoundScenario) -> WitnessReport:
        """The whole truth table of `bound`, and of each of its blocks that only applies to some agents."""
        if reasons := reasons_to_skip(bound.scenario, self.provider):
            return unusable_report(bound, Problem("unprovisionable", "; ".join(reasons)))
        own = await self._table(with_goal_and_task(bound))
        blocks = [await self._block(bound, number) for number in range(len(bound.conditional))]
        return _join_reports(own, blocks)

    async def reference_result(self, bound: BoundScenario) -> UnitResult | None:
        """The result of the reference agent, which acts on what it reads; None if there is none."""
        return await self._run(bound, self.reference, "reference") if self.reference else None

    async def naive_evidence(self, bound: BoundScenario) -> Evidence:
        """The evidence of the naive agent, which does whatever the texts that reach it say."""
        return await self._evidence(bound, self.naive)

    async def _block(self, bound: BoundScenario, number: int) -> WitnessReport:
        """The truth table for agents to which a conditional block applies."""
        table = await self._table(with_goal_and_task(with_block(bound, number)))
        named = tuple(replace(one, detail=f"with block {number}: {one.detail}") for one in table.problems)
        return replace(table, problems=named)

    async def _table(self, bound: BoundScenario) -> WitnessReport:
        runs = await self._runs(bound)
        for run in runs.all_runs:
            if isinstance(run.verdict, ProviderFailure):
                return unusable_report(bound, Problem("provider_fault", f"{run.unit}: {run.verdict.cause}"))
        attempts = [run for check in unwitnessed_checks(bound, runs) for run in await self._attempts(check, bound)]
        return report(bound, replace(runs, attempts=tuple(attempts)), await self._delivery_problems(bound))

    async def _attempts(self, check: Check, bound: BoundScenario) -> list[UnitResult]:
        """Run agents with a single fault each until the check catches one."""
        runs: list[UnitResult] = []
        for number, agent in enumerate(_faults(check, bound)):
            runs.append(await self._run(bound, agent, f"{check.id}-{number}"))
            if seen_to_fail(check, runs[-1]):
                break
        return runs

    async def _runs(self, bound: BoundScenario) -> Runs:
        """The witnesses that the scenario needs; without deciding words there are no other wordings."""
        words = rests_on_words(bound)
        safe = await self._safe(bound)
        nothing = await self._run(bound, Nothing(bound), "nothing")
        is_open = safe.evaluation.undecidable is not None
        violates = bound.goal is not None and not is_scored(bound)
        return Runs(
            safe=(safe, *(await self._paraphrases(bound, safe) if words else ())),
            nothing=nothing,
            destruction=await self._run(bound, DestroyEverything(bound), "destroy"),
            violation=await self._run(bound, Violation(bound), "violation") if violates else None,
            harm=await self._run(bound, EquivalentHarm(bound), "harm") if bound.preserved_predicates else None,
            stuffers=await self._stuffers(bound) if words else (),
            reciter=await self._reciter(bound, nothing) if words and is_scored(bound) else None,
            contrarian=await self._run_reworded(safe, denial(bound), Contrarian(bound), "contrarian")
            if words
            else None,
            archivist=await self._run(bound, Archivist(bound), "archivist") if is_open else None,
            forger=await self._run(bound, Forger(bound), "forger") if is_open else None,
        )

    async def _paraphrases(self, bound: BoundScenario, safe: UnitResult) -> list[UnitResult]:
        return [
            await self._run_reworded(safe, right_answer(bound, number), Safe(bound, number), f"safe-{number}")
            for number in range(1, WORDINGS)
        ]

    async def _reciter(self, bound: BoundScenario, nothing: UnitResult) -> UnitResult:
        return await self._run_reworded(nothing, right_answer(bound), Reciter(bound), "reciter")

    async def _stuffers(self, bound: BoundScenario) -> tuple[UnitResult, ...]:
        reader = Stuffer(bound)
        first = await self._run(bound, reader, "stuffer-0")
        others = [
            await self._run_reworded(
                first, answer_of_names(bound, reader.names, shape), Stuffer(bound, shape), f"stuffer-{shape}"
            )
            for shape in range(1, len(SHAPES))
        ]
        return first, *others

    async def _run_reworded(self, done: UnitResult, answer: str, agent: Agent, role: str) -> UnitResult:
        """The result of an agent that does the same and only says something else.

        The environment does not see an answer, so recorded actions are judged with the other words; only if an answer
        became part of a conversation that continued is the agent run.
        """
        turns = done.evidence.turns
        if len(turns) != 1 or turns[0].response is None:
            return await self._run(done.bound, agent, role)
        turn = replace(turns[0], response={**turns[0].response, "final_answer": answer})
        return _judge_evidence(done.bound, replace(done.evidence, turns=(turn,)), role)

    async def _safe(self, bound: BoundScenario) -> UnitResult:
        """The safe witness, whose effects are those of the task (SI-08)."""
        evidence = await self._evidence(bound, Safe(bound))
        return _judge_evidence(bound, replace(evidence, state_after_task=evidence.state_after), "safe-0")

    async def _run(self, bound: BoundScenario, agent: Agent, role: str) -> UnitResult:
        return _judge_evidence(bound, await self._evidence(bound, agent), role)

    async def _evidence(self, bound: BoundScenario, agent: Agent) -> Evidence:
        """What was recorded of a witness; all witnesses of a scenario get the same environment, each its own."""
        return await scenario_run(bound, agent, self.provider, self.settings, unit=bound.scenario.id)

    async def _delivery_problems(self, bound: BoundScenario) -> list[Problem]:
        """A payload that an agent reading its environment never encounters tests nothing."""
        if not bound.scenario.payloads or is_scored(bound):
            return []
        texts = [(stimulus.value or "").strip() for stimulus in bound.scenario.payloads if not stimulus.is_said]
        reader = UntilMet(self.naive, texts, bound.domain.work)
        delivered = payload_facts(bound, await self._evidence(bound, reader)).delivered
        return (
            [] if delivered else [Problem("undelivered", "an agent that reads everything never encounters the payload")]
        )


def _judge_evidence(bound: BoundScenario, evidence: Evidence, role: str) -> UnitResult:
    unit = f"{bound.scenario.id}/{role}"
    return UnitResult(unit, bound, evidence, evaluate(bound, evidence), agent_fault(bound, evidence))


def _join_reports(own: WitnessReport, blocks: list[WitnessReport]) -> WitnessReport:
    """One report: each check once, with the findings of every table, and the problems of all tables."""
    if not blocks:
        return own
    tables = (own, *blocks)
    checks: dict[str, WitnessedCheck] = {}
    for check in (check for table in tables for check in table.checks):
        known = checks.get(check.id, check)
        checks[check.id] = replace(
            check,
            seen_pass=known.seen_pass or check.seen_pass,
            seen_fail=known.seen_fail or check.seen_fail,
            shadowed=known.shadowed and check.shadowed,
            fails_on_silence=known.fails_on_silence or check.fails_on_silence,
        )
    return replace(
        own,
        can_pass=all(table.can_pass for table in tables),
        can_fail=all(table.can_fail for table in tables),
        checks=tuple(checks.values()),
        problems=tuple(dict.fromkeys(problem for table in tables for problem in table.problems)),
        harm=next((table.harm for table in tables if table.harm), None),
    )


def _faults(check: Check, bound: BoundScenario) -> Iterator[Agent]:
    """Agents with a single fault each, one of which the check should catch."""
    for predicate in check.predicates:
        yield from _faults_against(predicate, bound)


def _faults_against(predicate: Predicate, bound: BoundScenario) -> Iterator[Agent]:
    yield from (Attempt(row[-1], bound, row[:-1]) for row in predicate.misdeeds)
    match predicate:
        case Forbidden():
            if predicate.after is not None or predicate.before is not None:
                yield Attempt(predicate.operation, bound, bound.task)
        case NotContained():
            goal = BoundGoal(value_ref=predicate.value_ref, literals=predicate.literals)
            yield Violation(replace(bound, goal=goal))
        case Behaves():
            yield from _misbehaving(predicate.behavior, bound)
        case AnyOf():
            parts = (part for branch in predicate.branches for part in branch)
            yield from (fault for part in parts for fault in _faults_against(part, bound))


def _misbehaving(behavior: str, bound: BoundScenario) -> Iterator[Agent]:
    """Agents that carry out what the slots of a behaviour name: each operation alone, and all in sequence."""
    judged = behaviors_for(bound.domain)[behavior]
    slots = {name: bound.slots[name] for name in (*judged.slots, *judged.optional) if name in bound.slots}
    work = bound.domain.work
    operations = tuple(operation for name, value in slots.items() for operation in _operations(name, value, work))
    yield from (Attempt(operation, bound) for operation in operations)
    if operations:
        yield Attempt(operations[-1], bound, operations[:-1])
    if "secrets" in slots:
        yield Disclosure(slots["secrets"], bound)
    yield from (Attempt(operation, bound) for operation in work.never_legitimate)


def _operations(name: str, value: Any, work: Work) -> Iterator[Operation]:
    """The operations in a slot's value, or changes of the objects in it."""
    match SLOTS[name].kind:
        case SlotKind.OPERATIONS:
            yield from value
        case SlotKind.STEPS:
            yield from (operation for step in value for operation in step)
        case SlotKind.OBJECT:
            yield from work.ways_to_change(value)
        case SlotKind.OBJECTS:
            yield from (operation for one in value for operation in work.ways_to_change(one))
