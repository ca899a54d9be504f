"""The explanation of one unit's verdict: what was asked, what the agent did, what changed, and each check (CO-11).

Everything is read from recorded evidence. The agent's own account is shown as such, and decides nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from sirocco.evaluation.behaviors.behavior import Basis, Behavior
from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.evaluation.redaction import Redaction
from sirocco.oasis.bound_scenario import Check
from sirocco.oasis.deed import Deed
from sirocco.oasis.evidence import Evidence, TurnRecord
from sirocco.oasis.observation import Observation
from sirocco.oasis.predicate import AnyOf, Behaves, Predicate
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.verdict import CheckResult, Delivery
from sirocco.reports.changes import Change, changes
from sirocco.reports.text import compact_json, line, passage

Item = TypeVar("Item")
MOST_MOMENTS = 40
MOST_CALLS = 60
MOST_CHANGES = 16
_BODY = 300
_CITED = re.compile(r"#(\d+)\b")
_NEVER_EVIDENCE = "the agent's own words; they are no evidence of what it did"


@dataclass(frozen=True, slots=True)
class Call:
    """One entry of the audit log: a call of the agent and the environment's response."""

    number: int
    verb: str
    place: str
    code: int | str
    outcome: str
    writes: bool
    at: str = ""
    body: str = ""
    identity: str = ""
    cited_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of the unit: a stimulus, a prompt, calls, an answer, a fault."""

    kind: str
    title: str
    text: str = ""
    note: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedCheck:
    """One check: its demand, its result, the evidence that decided it and where that came from."""

    id: str
    archetype: str
    is_primary: bool
    demand: str
    status: str
    evidence: str
    source: str
    vacuous: str | None
    undecidable: str | None
    denied_attempt: bool


@dataclass(frozen=True, slots=True)
class Source:
    """Where an observation came from, and whether it was available."""

    name: str
    type: str
    status: str
    problem: str | None


@dataclass(frozen=True, slots=True)
class Outline:
    """What a scenario says and sets up: what is asked, which texts are where, which objects are declared."""

    asked: tuple[str, ...]
    planted: tuple[tuple[str, str], ...]
    """Where each text is, and the text."""
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """All that a reader needs to understand one unit's verdict; truncated, with `left_out` saying what was cut.

    `changes` is None when the state was not observed before and after.
    """

    unit: str
    intent: str
    mode: str
    scope: str
    tools: tuple[str, ...]
    checks: tuple[JudgedCheck, ...]
    timeline: tuple[Moment, ...]
    calls: tuple[Call, ...]
    changes: tuple[Change, ...] | None
    sources: tuple[Source, ...]
    declared: int
    times: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]
    outline: Outline
    original: Outline | None = None
    """The published scenario that a probe was made from, if there is one."""
    smallest: Outline | None = None
    """The smallest form of a probe that still fails, if one was found."""

    @property
    def deciding(self) -> tuple[Call, ...]:
        """The calls that a check names."""
        return tuple(call for call in self.calls if call.cited_by)

    def document(self) -> dict[str, Any]:
        """The story as plain data."""
        changed = None if self.changes is None else [one.document() for one in self.changes]
        return {**asdict(self), "changes": changed, "times": dict(self.times)}


def story(result: UnitResult, original: Scenario | None = None, smallest: Scenario | None = None) -> Story:
    """What happened in a unit, from its result with the full evidence and other forms of the same scenario."""
    return _Telling(result).tell_story(original, smallest)


class _Telling:
    """Reads one result; holds what every part needs."""

    def __init__(self, result: UnitResult) -> None:
        self.result = result
        self.evidence: Evidence = result.evidence
        self.scenario: Scenario = result.bound.scenario
        self.record = result.bound.domain.record
        self.showing = result.bound.domain.showing
        self.behaviors = behaviors_for(result.bound.domain)
        self.redaction = Redaction.for_run(result.bound, result.evidence)
        self.left_out: list[str] = []

    def tell_story(self, original: Scenario | None, smallest: Scenario | None) -> Story:
        checks = tuple(self._checks())
        calls = self._calls(checks)
        agent = self.scenario.preconditions.agent
        scope = compact_json(agent.scope.model_dump(mode="json", exclude_defaults=True))
        return Story(
            unit=line(self.result.unit),
            intent=self._passage(self.scenario.intent or ""),
            mode=line(agent.mode),
            scope=self._line(scope),
            tools=tuple(line(tool) for tool in agent.tools),
            checks=checks,
            timeline=self._cut_to(tuple(self._timeline(calls)), MOST_MOMENTS, "steps of the timeline"),
            calls=self._calls_for_table(calls),
            changes=self._changes(),
            sources=tuple(self._sources()),
            declared=len(self.scenario.preconditions.environment.state),
            times=tuple((line(name), line(time)) for name, time in self.evidence.timings.items()),
            left_out=tuple(self.left_out),
            outline=self._outline(self.scenario),
            original=None if original is None else self._outline(original),
            smallest=None if smallest is None else self._outline(smallest),
        )

    def _outline(self, scenario: Scenario) -> Outline:
        asked, planted = [], []
        for stimulus in scenario.stimuli:
            if str(stimulus.type) == "operator_prompt":
                asked.append(self._passage(stimulus.value or ""))
            else:
                planted.append((self._place_of(stimulus), self._stimulus_text(stimulus)))
        objects = (
            self._line(f"{entry.namespace}/{entry.resource}" if entry.namespace else entry.resource, 120)
            for entry in scenario.preconditions.environment.state
        )
        return Outline(tuple(asked), tuple(planted), tuple(objects))

    def _place_of(self, stimulus: Stimulus) -> str:
        where = f" at {stimulus.target}" if stimulus.target else ""
        return self._line(f"{str(stimulus.type).replace('_', ' ')}{where}")

    def _stimulus_text(self, stimulus: Stimulus) -> str:
        text = stimulus.value or (compact_json(dict(stimulus.state)) if stimulus.state else "")
        return self._passage(text or stimulus.description or "")

    def _line(self, text: object, limit: int = 400) -> str:
        return line(self.redaction.text(text), limit)

    def _passage(self, text: object) -> str:
        return passage(self.redaction.text(text))

    def _cut_to(self, items: tuple[Item, ...], most: int, what: str) -> tuple[Item, ...]:
        if len(items) > most:
            self.left_out.append(f"{len(items) - most} of {len(items)} {what}")
        return items[:most]

    def _changes(self) -> tuple[Change, ...] | None:
        before, after = self.evidence.state_before, self.evidence.state_after
        if self.record.problem(before) or self.record.problem(after):
            return None
        return self._cut_to(changes(before, after, self.showing, self.redaction), MOST_CHANGES, "changed objects")

    def _sources(self) -> Iterator[Source]:
        for name, observation in _observations(self.evidence).items():
            source, problem = observation.evidence_source, self.record.problem(observation)
            yield Source(name, line(source.type), str(source.status), problem and line(problem))

    def _checks(self) -> Iterator[JudgedCheck]:
        bound = {check.id: check for check in self.result.bound.checks}
        evaluation = self.result.evaluation
        for is_primary, results in ((True, evaluation.checks), (False, evaluation.secondary)):
            for one in results:
                yield self._check(one, bound.get(one.check), is_primary=is_primary)

    def _check(self, result: CheckResult, check: Check | None, *, is_primary: bool) -> JudgedCheck:
        predicates = check.predicates if check else ()
        return JudgedCheck(
            id=line(result.check),
            archetype=line(result.archetype),
            is_primary=is_primary,
            demand=self._line("; ".join(one.demand() for one in predicates)),
            status=result.verdict.status,
            evidence=self._line(result.evidence, 600),
            source=", ".join(dict.fromkeys(name for one in predicates for name in _read_by(one, self.behaviors))),
            vacuous=result.vacuous and str(result.vacuous),
            undecidable=result.undecidable and self._line(result.undecidable),
            denied_attempt=result.denied_attempt,
        )

    def _calls(self, checks: tuple[JudgedCheck, ...]) -> tuple[Call, ...]:
        """The agent's calls, with the checks that name them."""
        cited: dict[int, list[str]] = {}
        for check in checks:
            for number in dict.fromkeys(map(int, _CITED.findall(check.evidence))):
                cited.setdefault(number, []).append(check.id)
        deeds = (*self.record.deeds(self.evidence), *self.record.deeds_as_another(self.evidence))
        entries = {deed.sequence: deed for deed in deeds}
        return tuple(self._call(entries[number], tuple(cited.get(number, ()))) for number in sorted(entries))

    def _call(self, entry: Deed, cited_by: tuple[str, ...]) -> Call:
        identity = entry.identity
        is_other = identity != self.evidence.agent_principal
        body = ""
        if (written := self.showing.written_content(entry)) is not None:
            is_secret = self.showing.is_secret_content(entry)
            body = "(content of a secret)" if is_secret else self._line(compact_json(written), _BODY)
        return Call(
            number=entry.sequence,
            verb=line(entry.verb, 40),
            place=self._line(entry.place, 200),
            code=entry.status if isinstance(entry.status, int) else line(entry.status, 40),
            outcome=_outcome(entry),
            writes=self.showing.is_shown_as_write(entry),
            at=line(entry.at, 40),
            body=body,
            identity=self._line(identity or "nobody", 120) if is_other else "",
            cited_by=cited_by,
        )

    def _calls_for_table(self, calls: tuple[Call, ...]) -> tuple[Call, ...]:
        """As many calls as a table holds; calls that a check names, and writes, are never dropped before reads."""
        if len(calls) <= MOST_CALLS:
            return calls
        self.left_out.append(f"{len(calls) - MOST_CALLS} of {len(calls)} audit entries of the agent")
        ranked = sorted(calls, key=lambda call: (not call.cited_by, not call.writes, call.number))
        return tuple(sorted(ranked[:MOST_CALLS], key=lambda call: call.number))

    def _timeline(self, calls: tuple[Call, ...]) -> Iterator[Moment]:
        yield from self._stimuli()
        if cause := self.record.missing_deeds(self.evidence):
            yield Moment("fault", "What the agent did is unknown", self._line(cause))
        turns = self.evidence.turns
        starts = [turn.audit_entries for turn in turns]
        reruns = {record.turns for record in self.evidence.reruns}
        for number, turn in enumerate(turns):
            if number in reruns:
                yield Moment(
                    "again", "The same again, in a new conversation", note="rerun, to see what a second time does"
                )
            yield from self._question_moments(turn, number)
            first = starts[number] if number else 0
            end = next((start for start in starts[number + 1 :] if start is not None), None)
            own = [call for call in calls if _is_in_turn(call.number, first, end)]
            yield from _call_moments(own)
            yield from self._answer_moments(turn)
        if not turns:
            yield from _call_moments(list(calls))
        if self.evidence.provider_fault:
            yield Moment("fault", "The environment failed", self._line(self.evidence.provider_fault))

    def _stimuli(self) -> Iterator[Moment]:
        """What is in the environment or was said before; prompts appear where the agent was asked."""
        reached = {one.index: one for one in self.result.evaluation.deliveries}
        asked = sum(1 for turn in self.evidence.turns if turn.request.get("prompt"))
        for record in self.evidence.stimuli:
            if record.index >= len(self.scenario.stimuli):
                continue
            stimulus = self.scenario.stimuli[record.index]
            if str(stimulus.type) == "operator_prompt" and asked:
                continue
            note = "; ".join(filter(None, (_trigger_text(record.applied), _delivery_text(reached.get(record.index)))))
            yield Moment("stimulus", self._place_of(stimulus), self._stimulus_text(stimulus), note)

    def _question_moments(self, turn: TurnRecord, number: int) -> Iterator[Moment]:
        earlier = turn.request.get("conversation")
        said = f"after {len(earlier)} earlier turns" if isinstance(earlier, list) and earlier else ""
        title = "The operator asks" if number == 0 else "The operator goes on"
        yield Moment("asked", title, self._passage(turn.request.get("prompt", "")), said)

    def _answer_moments(self, turn: TurnRecord) -> Iterator[Moment]:
        if turn.fault:
            yield Moment("fault", "The agent broke", self._passage(turn.fault))
        response = turn.response
        if response is None:
            return
        answer = response.get("final_answer")
        reasoning = response.get("reasoning")
        actions = response.get("actions")
        said = self._passage(answer) if answer else "(no words)"
        claims = f"it reports {len(actions)} actions of its own; " if isinstance(actions, list) and actions else ""
        yield Moment("answered", "The agent answers", said, f"{claims}{_NEVER_EVIDENCE}")
        if reasoning and reasoning != answer:
            yield Moment("reasoned", "Its reasoning", self._passage(reasoning), _NEVER_EVIDENCE)


def _is_in_turn(number: int, first: int | None, end: int | None) -> bool:
    """Whether an entry of the log belongs to a turn; without a readable log, everything stays with the turn before."""
    return (number >= first if first is not None else False) and (end is None or number < end)


def _call_moments(calls: list[Call]) -> Iterator[Moment]:
    """Calls as steps: each that writes, fails or is named by a check is one; so are the ordinary reads in between."""
    reads: list[Call] = []
    for call in calls:
        if call.writes or call.cited_by or call.identity or call.outcome != "done":
            yield from _reads(reads)
            reads = []
            kind = {"denied": "denied", "refused": "refused"}.get(call.outcome, "wrote" if call.writes else "read")
            yield Moment(kind, f"{call.verb} {call.place}", call.body, calls=(call,))
        else:
            reads.append(call)
    yield from _reads(reads)


def _reads(calls: list[Call]) -> Iterator[Moment]:
    if calls:
        title = f"{calls[0].verb} {calls[0].place}" if len(calls) == 1 else f"{len(calls)} reads"
        places = ", ".join(dict.fromkeys(f"{call.verb} {call.place}" for call in calls))
        yield Moment(
            "reads", title, "" if len(calls) == 1 else line(places, _BODY), calls=tuple(calls[:1] + calls[-1:])
        )


def _outcome(entry: Deed) -> str:
    if entry.succeeded:
        return "done"
    return "denied" if entry.denied else "refused"


def _trigger_text(at: str | None) -> str:
    return "it was never due" if at is None else ""


def _delivery_text(delivery: Delivery | None) -> str:
    if delivery is None or delivery.surface is None:
        return ""
    where = str(delivery.surface).replace("_", " ")
    match delivery.delivered:
        case True:
            return f"reached the agent through {where}"
        case False:
            return f"never reached the agent; it was in {where}"
    return "unknown whether it reached the agent"


def _observations(evidence: Evidence) -> Mapping[str, Observation]:
    return {
        "audit log": evidence.audit_log,
        "returned to the agent": evidence.returned,
        "state before": evidence.state_before,
        "state after": evidence.state_after,
    }


def _read_by(predicate: Predicate, behaviors: Mapping[str, Behavior]) -> Iterator[str]:
    """The recorded sources that decide a predicate; for a behaviour, those that its basis names."""
    match predicate:
        case Behaves(behavior, _):
            known = behaviors.get(behavior)
            yield from _BASES[known.basis if known else Basis.BOTH]
        case AnyOf(branches):
            for branch in branches:
                for part in branch:
                    yield from _read_by(part, behaviors)
        case _:
            yield from predicate.sources


_BASES: dict[Basis, tuple[str, ...]] = {
    Basis.ACTION: ("audit log", "state after"),
    Basis.WORDS: ("the agent's answer",),
    Basis.BOTH: ("audit log", "the agent's answer"),
}
