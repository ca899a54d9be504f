"""The provider: a fresh database for each environment, with the agent's connection and a separate control plane.

Every statement on the agent's connection is one entry of the log: what was sent, what it does according to the engine,
the rows that it changed or would have changed, and the outcome. The environment has its own clock, by which each
statement takes one second; equal seeds give equal environments.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sirocco import __version__
from sirocco.errors import FaultKind, OperationError, ProviderFault
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.oasis.provider import CORE_VERSIONS, Conformance, Environment, ProvisionRequest, UnmetRequirement
from sirocco.oasis.reaction import Cue, Reaction
from sirocco.oasis.scenario import Preconditions, Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.timing import Occasion, Timing
from sirocco.testing.sqlite_domain.database import Act, Database, Execution, Outcome, quote_name
from sirocco.testing.sqlite_domain.declared import (
    ENVIRONMENT_TYPE,
    Target,
    columns_of,
    default_namespace,
    entry_problems,
    grants_of,
    namespace_of,
    namespaces_of,
    permission,
    problems_of,
    role_of,
    rows_of,
    table_named,
)
from sirocco.testing.sqlite_domain.operation import ROLE, TABLE, VIEW, Operation, Surface, Verb
from sirocco.testing.sqlite_domain.statements import covers_execution

PROVIDER_NAME = "sirocco-sqlite"
SUPPORTED_TIER = 3
_SOURCES = {
    ObservationType.AUDIT_LOG: "statement_log",
    ObservationType.RESOURCE_STATE: "database",
    ObservationType.RESPONSE_CONTENT: "result_record",
    ObservationType.STIMULI: "stimulus_record",
    ObservationType.STATE_WITHOUT_AGENT: "database_without_agent",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a statement: a result, or an error in the engine's own words."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    error: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether the statement was carried out."""
        return not self.error

    @property
    def status(self) -> str:
        """The outcome in a word, or the database's own message."""
        return self.error or "ok"

    @property
    def records(self) -> list[dict[str, Any]]:
        """The rows by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def document(self) -> dict[str, Any]:
        """The answer in the form of the record."""
        return (
            {"error": self.error} if self.error else {"columns": list(self.columns), "rows": list(map(list, self.rows))}
        )


class Session:
    """The agent's connection, which only executes statements under its role, one at a time."""

    __slots__ = ("__weakref__", "_send")

    def __init__(self, send: Callable[[str, tuple[Any, ...]], Answer]) -> None:
        self._send = send

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Answer:
        """Execute one statement; a refusal by the database is an answer, not an exception."""
        answer = self._send(str(statement), tuple(map(_sendable_value, parameters)))
        # An agent that keeps sending statements must still reach its deadline.
        await asyncio.sleep(0)
        return answer


class SqliteProvider:
    """Provides databases (implements `oasis.provider.Provider`)."""

    def __init__(self, profiles: Mapping[str, str], clock: Callable[[], str]) -> None:
        self._profiles = dict(profiles)
        self._clock = clock

    async def conformance(self, profile: str) -> Conformance:
        """The provider's declaration for a profile (CO-01)."""
        known = profile in self._profiles
        reason = f"{profile!r} is not served; served: {', '.join(sorted(self._profiles))}"
        return Conformance(
            provider=PROVIDER_NAME,
            provider_version=__version__,
            oasis_core_spec_versions=CORE_VERSIONS,
            profile=profile,
            profile_version=self._profiles.get(profile, ""),
            supported=known,
            requirements={
                "environment_type": ENVIRONMENT_TYPE,
                "complexity_tier_supported": SUPPORTED_TIER,
                "oasis_core_spec_version": list(CORE_VERSIONS),
                "evidence_sources_available": [
                    "audit_log",
                    "resource_state",
                    "state_without_agent",
                    "value_containment",
                ],
                "value_containment_support": True,
                "state_injection": True,
            },
            unmet_requirements=() if known else (UnmetRequirement(requirement="profile", reason=reason),),
        )

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """What a scenario declares but the provider cannot establish (CO-15)."""
        preconditions = scenario.preconditions
        tier = (f"tier {scenario.tier}",) if scenario.tier > SUPPORTED_TIER else ()
        waiting = (one for one in scenario.stimuli if not one.is_said)
        stimuli = (problem for one in waiting if (problem := _stimulus_problem(one, one.timing, preconditions)))
        return (*tier, *problems_of(preconditions), *stimuli, *_reaction_problems(scenario.x_sirocco.reactions))

    def provision(self, request: ProvisionRequest) -> AbstractAsyncContextManager[Environment]:
        """A fresh environment for the duration of the block."""
        return self._provision_environment(request)

    @asynccontextmanager
    async def _provision_environment(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        problems = (*problems_of(request.preconditions), *_reaction_problems(request.reactions))
        if problems:
            remedy = "ask `unsupported_demands` at plan time"
            raise ProviderFault("provision", "; ".join(problems), remedy, FaultKind.UNSUPPORTED)
        environment = SqliteEnvironment(request, self._clock)
        try:
            yield environment
        finally:
            environment.tear_down()


@dataclass(slots=True)
class _Armed:
    """An addition to the environment, and when it is made: at once, at a time, or at an occasion."""

    what: Stimulus | tuple[StateEntry, ...]
    trigger: str | None
    timing: Timing
    count: int = 0
    applied: str | None = None


@dataclass(slots=True)
class _Expected:
    """A reaction that has not happened yet."""

    reaction: Reaction
    operation: Operation | None = field(default=None)


class SqliteEnvironment:
    """One live database (implements `oasis.provider.Environment`)."""

    def __init__(self, request: ProvisionRequest, clock: Callable[[], str]) -> None:
        self._request = request
        self._preconditions = request.preconditions
        self._clock = clock
        self._start = datetime.fromisoformat(clock())
        self._seconds = 0
        self._database = Database(namespaces_of(self._preconditions))
        self._entries: list[dict[str, Any]] = []
        self._returned: list[dict[str, Any]] = []
        self._stimuli: list[_Armed] = []
        self._history: list[Stimulus | tuple[StateEntry, ...]] = []
        self._writes = 0
        self._expected = [_read_expectation(reaction) for reaction in request.reactions]
        self._is_live = True
        self._allows = permission(grants_of(self._preconditions))
        for entry in self._preconditions.environment.state:
            self._put(entry)
        self._access = EnvironmentAccess(
            id=f"{derived_seed(request.seed, 'environment'):032x}"[:20],
            type=ENVIRONMENT_TYPE,
            namespace=default_namespace(self._preconditions),
            token="",
            client=Session(self._answer),
        )

    @property
    def access(self) -> EnvironmentAccess:
        """The agent's access, which is its connection."""
        return self._access

    @property
    def agent_principal(self) -> str:
        """The role whose statements are the agent's."""
        return role_of(self._preconditions)

    @property
    def agent_source(self) -> str:
        """A connection inside the process has no address."""
        return ""

    @property
    def resolved_namespaces(self) -> Mapping[str, str]:
        """Declared namespaces keep their names."""
        return {name: name for name in namespaces_of(self._preconditions)}

    @property
    def offers_comparison(self) -> bool:
        """True: the environment follows from its request, so it can be set up again without the agent."""
        return True

    async def inject(self, stimulus: Stimulus, trigger: str | None = None) -> None:
        """Put a payload in place, now or at a trigger; whatever `unsupported_demands` names is refused here, too."""
        self._require_live("inject")
        problem = _stimulus_problem(stimulus, trigger, self._preconditions)
        if problem:
            raise ProviderFault("inject", problem, "ask `unsupported_demands` at plan time", FaultKind.UNSUPPORTED)
        self._arm(stimulus, trigger)

    async def establish(self, state: tuple[StateEntry, ...], trigger: str | None = None) -> None:
        """Put further entries in place, now or at a trigger; none of them if one cannot be (CO-15)."""
        self._require_live("inject")
        problems = [problem for entry in state for problem in self._further_problems(entry)]
        if problems:
            raise ProviderFault("inject", "; ".join(problems), "declare the objects that exist", FaultKind.UNSUPPORTED)
        self._arm(state, trigger)

    async def observe(self, observation_type: ObservationType) -> Observation:
        """The log, every object in a fixed order, the answers to statements, or when stimuli were applied."""
        self._require_live("observe")
        data: dict[str, Any]
        match observation_type:
            case ObservationType.AUDIT_LOG:
                data = {"entries": [dict(entry) for entry in self._entries]}
            case ObservationType.RESOURCE_STATE:
                data = {"objects": self._database.objects()}
            case ObservationType.RESPONSE_CONTENT:
                data = {"bodies": list(self._returned)}
            case ObservationType.STIMULI:
                data = {"stimuli": [{"trigger": one.trigger, "applied": one.applied} for one in self._stimuli]}
            case ObservationType.STATE_WITHOUT_AGENT:
                data = {"objects": self._objects_without_agent()}
        source = EvidenceSource(_SOURCES[observation_type], SourceStatus.AVAILABLE)
        return Observation(observation_type, self._clock(), source, data)

    def tear_down(self) -> None:
        """End the environment, which cannot be reached afterwards."""
        self._is_live = False
        self._database.close()

    def _objects_without_agent(self) -> list[dict[str, Any]]:
        """The objects of the same environment with its stimuli and reactions, but without the agent (SI-08)."""
        other = SqliteEnvironment(self._request, self._start.isoformat)
        try:
            for what in self._history:
                other._apply(what)
            return other._database.objects()
        finally:
            other.tear_down()

    def _answer(self, statement: str, parameters: tuple[Any, ...]) -> Answer:
        """Execute a statement by the agent, with everything that is due before and after it."""
        self._require_live("execute")
        self._seconds += 1
        intended = self._database.acts_of(statement, parameters)
        self._apply_due(lambda timing: not timing.afterwards, intended, None)
        execution = self._database.execute(statement, parameters, self._allows)
        answer = Answer(execution.columns, execution.rows, execution.message)
        self._entries.append(self._entry(statement, parameters, execution))
        self._returned.append(answer.document())
        self._apply_due(lambda timing: timing.afterwards, intended, execution)
        self._react(execution)
        return answer

    def _entry(self, statement: str, parameters: tuple[Any, ...], execution: Execution) -> dict[str, Any]:
        return {
            "sequence": len(self._entries),
            "time": self._now(),
            "principal": self.agent_principal,
            "statement": statement,
            "parameters": list(parameters),
            "acts": [act.document() for act in execution.acts],
            "changes": [change.document() for change in execution.changes],
            "emptied": [{"resource": f"table/{table}", "namespace": place} for place, table in execution.emptied],
            "outcome": str(execution.outcome),
            "message": execution.message,
            "returned": len(execution.rows),
        }

    def _now(self) -> str:
        return (self._start + timedelta(seconds=self._seconds)).isoformat().replace("+00:00", "Z")

    # Stimuli and reactions

    def _arm(self, what: Stimulus | tuple[StateEntry, ...], trigger: str | None) -> None:
        armed = _Armed(what, trigger, Timing.parse(trigger))
        self._stimuli.append(armed)
        if armed.timing.is_immediate:
            self._apply_armed(armed)

    def _apply_due(self, is_now: Callable[[Timing], bool], acts: tuple[Act, ...], execution: Execution | None) -> None:
        """Apply what is due by now or due at the current statement."""
        for armed in self._stimuli:
            timing = armed.timing
            if armed.applied is not None or not is_now(timing):
                continue
            if timing.occasion is not None:
                armed.count += _is_occasion(timing.occasion, armed, acts, execution)
            is_time = timing.seconds is not None and self._seconds >= timing.seconds
            if is_time or (timing.occasion is not None and armed.count >= timing.number):
                self._apply_armed(armed)

    def _apply_armed(self, armed: _Armed) -> None:
        armed.applied = self._now()
        self._apply(armed.what)

    def _react(self, execution: Execution) -> None:
        """Carry out the reactions to the statement, to its number among writes, or to the time."""
        is_write = execution.outcome is Outcome.OK and any(act.verb is not Verb.SELECT for act in execution.acts)
        self._writes += is_write
        for expected in list(self._expected):
            cue = expected.reaction.when
            if isinstance(cue, Cue):
                has_come = cue.write is not None and self._writes >= cue.write
                has_come = has_come or (cue.seconds is not None and self._seconds >= cue.seconds)
            else:
                is_done = execution.outcome is Outcome.OK and expected.operation is not None
                has_come = is_done and covers_execution(expected.operation, execution) if expected.operation else False
            if has_come:
                self._expected.remove(expected)
                self._apply((StateEntry.model_validate(expected.reaction.then.set),))

    def _apply(self, what: Stimulus | tuple[StateEntry, ...]) -> None:
        self._history.append(what)
        if isinstance(what, Stimulus):
            self._put_stimulus(what)
        else:
            for entry in what:
                self._put(entry)

    def _put_stimulus(self, stimulus: Stimulus) -> None:
        target = Target.parse(stimulus.target or "")
        namespace = self._place_of(target, stimulus)
        text = stimulus.value or ""
        if target.surface is Surface.ROW_VALUES:
            self._database.put_value(namespace, target.table, target.row, target.key or "", text)
        elif target.surface is Surface.OBJECT_COMMENTS:
            self._database.put_comment(namespace, target.table, text)
        else:
            self._database.put_view(namespace, text, f"SELECT * FROM {quote_name(target.table)}")

    def _place_of(self, target: Target, stimulus: Stimulus) -> str:
        declared = table_named(self._preconditions, target.table, stimulus.namespace)
        fallback = stimulus.namespace or default_namespace(self._preconditions)
        return namespace_of(declared, self._preconditions) if declared else fallback

    def _put(self, entry: StateEntry) -> None:
        namespace, fields = namespace_of(entry, self._preconditions), entry.fields
        if entry.kind == TABLE:
            self._database.put_table(namespace, entry.name, columns_of(entry), rows_of(entry))
        elif entry.kind == VIEW:
            self._database.put_view(namespace, entry.name, str(fields["query"]))
        if "comment" in fields and entry.kind != ROLE:
            self._database.put_comment(namespace, entry.name, str(fields["comment"]))

    def _further_problems(self, entry: StateEntry) -> Iterator[str]:
        yield from entry_problems(entry)
        if entry.kind == ROLE:
            yield "who the agent is cannot change while it works"
        if namespace_of(entry, self._preconditions) not in self._database.namespaces:
            yield f"there is no namespace {entry.namespace!r}"

    def _require_live(self, operation: str) -> None:
        if not self._is_live:
            problem, remedy = "the environment was torn down", "use it inside its block only"
            raise ProviderFault(operation, problem, remedy, FaultKind.LOST)


def _is_occasion(occasion: Occasion, armed: _Armed, acts: tuple[Act, ...], execution: Execution | None) -> bool:
    """Whether a statement counts towards the number after which a stimulus is due."""
    match occasion:
        case Occasion.TOOL_CALL:
            return bool(acts)
        case Occasion.QUERY:
            return bool(acts) and all(act.verb is Verb.SELECT for act in acts)
        case Occasion.READ:
            return any(_shows(act, armed.what) for act in acts)
        case Occasion.WRITE:
            is_done = execution is not None and execution.outcome is Outcome.OK
            return is_done and any(act.verb is not Verb.SELECT for act in acts)


def _shows(act: Act, what: Stimulus | tuple[StateEntry, ...]) -> bool:
    """Whether an action of a statement shows the place of an addition."""
    if act.verb is not Verb.SELECT:
        return False
    if isinstance(what, Stimulus):
        readings = Target.parse(what.target or "").readings
        return any(act.name == one.name and one.column in {None, act.column} for one in readings)
    return any(act.name == entry.name for entry in what)


def _stimulus_problem(stimulus: Stimulus, trigger: str | None, preconditions: Preconditions) -> str | None:
    """Why a stimulus cannot be applied; None if it can."""
    if stimulus.is_said:
        return f"a stimulus of type {stimulus.type} is not put into an environment"
    if stimulus.state or not stimulus.value:
        return "a stimulus in a database is a text with a target"
    try:
        Timing.parse(trigger)
        target = Target.parse(stimulus.target or "")
    except ValueError as error:
        return str(error)
    if target.kind == VIEW:
        is_known = any(one.resource == f"{VIEW}/{target.name}" for one in preconditions.environment.state)
        return None if is_known else f"target {stimulus.target!r} is on a view that is not declared"
    table = table_named(preconditions, target.table, stimulus.namespace)
    if table is None:
        return f"target {stimulus.target!r} is on a table that is not declared"
    if target.surface is Surface.ROW_VALUES:
        columns = columns_of(table)
        keys = {str(row.get(next(iter(columns), ""))) for row in rows_of(table)}
        if target.row not in keys or target.key not in columns:
            return f"target {stimulus.target!r} is on a row or column that is not declared"
    return None


def _reaction_problems(reactions: Sequence[Reaction]) -> Iterator[str]:
    for index, reaction in enumerate(reactions):
        if reaction.then.set is None:
            yield f"reactions.{index}: a database knows no {reaction.then.kind}; use set"
        elif problem := next(entry_problems(StateEntry.model_validate(reaction.then.set)), None):
            yield f"reactions.{index}: {problem}"
        try:
            _read_expectation(reaction)
        except OperationError as error:
            yield f"reactions.{index}: {error.problem}"


def _read_expectation(reaction: Reaction) -> _Expected:
    return _Expected(reaction, Operation.parse(reaction.when) if isinstance(reaction.when, str) else None)


def _sendable_value(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else str(value)
