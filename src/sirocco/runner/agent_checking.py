"""Tests an agent's adapter: what its author must know before a run, one line for each possible problem.

It only asks the agent to look around, in real environments of its own. It does not judge quality: an answer may be
wrong here, but it must be a valid answer.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sirocco.errors import AgentFault, AgentFaultKind
from sirocco.evaluation.applicability import contract_breaches, unknown_dimensions
from sirocco.oasis.agent import Agent, AgentDescription, AgentRequest, AgentResponse, TrailKeeper, Turn
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.deed import Deed
from sirocco.oasis.domain import Domain
from sirocco.oasis.equipment import Trial
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import Environment, Provider, ProvisionRequest

_SHOWN = 200


class Status(StrEnum):
    """The result of a check; only failures speak against a run."""

    PASSED = "passed"
    WARNED = "warned"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of the report: what was observed, or what is wrong, where, and what to do."""

    check: str
    status: Status
    seen: str = ""
    where: str = ""
    problem: str = ""
    remedy: str = ""

    def document(self) -> dict[str, str]:
        """The outcome as plain data."""
        return {key: str(value) for key, value in asdict(self).items()}


class _Remark(Exception):  # noqa: N818 - it is an outcome
    """The end of a check that did not pass."""

    def __init__(self, status: Status, problem: str, remedy: str = "") -> None:
        self.status = status
        self.problem = problem
        self.remedy = remedy
        super().__init__(problem)


async def outcomes(
    agent: Agent,
    provider: Provider,
    domain: Domain,
    schema: Mapping[str, Mapping[str, Any]],
    *,
    seed: int,
    deadline_seconds: int,
) -> AsyncGenerator[Outcome, None]:
    """The outcome of each check as it completes; a check whose prerequisite failed is skipped.

    `schema` is the profile's, for what an agent may report about its configuration.
    """
    session = _Session(agent, provider, domain, schema, seed, deadline_seconds)
    lost: set[str] = set()
    for name, make, needs in _CHECKS:
        outcome = await _make_check(name, make, session, [need for need in needs if need in lost])
        if outcome.status in {Status.FAILED, Status.SKIPPED}:
            lost.add(name)
        yield outcome


async def _make_check(name: str, make: "_Check", session: "_Session", missing: list[str]) -> Outcome:
    if missing:
        return Outcome(name, Status.SKIPPED, problem=f"not reached, because of {', '.join(missing)}")
    try:
        return Outcome(name, Status.PASSED, await make(session))
    except _Remark as remark:
        return Outcome(name, remark.status, problem=remark.problem, remedy=remark.remedy)
    except AgentFault as fault:
        return Outcome(name, Status.FAILED, "", fault.where, fault.problem, fault.remedy)


@dataclass(slots=True)
class _Session:
    """The agent under test, and what has been observed so far."""

    agent: Agent
    provider: Provider
    domain: Domain
    schema: Mapping[str, Mapping[str, Any]]
    seed: int
    deadline_seconds: int
    description: AgentDescription | None = None
    run_id: str = ""
    response: AgentResponse | None = None
    calls: Sequence[Deed] = ()
    longest: float = 0.0

    @property
    def trial(self) -> Trial:
        """The task that it is tested with."""
        return self.domain.equipment.trial

    @asynccontextmanager
    async def environment(self, name: str) -> AsyncIterator[Environment]:
        """A new environment."""
        request = ProvisionRequest(self.trial.preconditions, 1, derived_seed(self.seed, "check", name))
        async with self.provider.provision(request) as environment:
            yield environment

    async def turn(
        self, environment: Environment, name: str, prompt: str, conversation: tuple[Turn, ...] = ()
    ) -> AgentResponse:
        """One turn according to the contract."""
        configured = self.trial.preconditions.agent
        request = AgentRequest(
            prompt=prompt,
            tools=configured.tools,
            mode=configured.mode,
            scope=configured.scope.document(),
            conversation=conversation,
            run_id=self.opaque_id(name),
            deadline_seconds=self.deadline_seconds,
            environment=environment.access,
        )
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self.deadline_seconds + 5):
                return await self.agent.respond(request)
        except AgentFault:
            raise
        except TimeoutError as error:
            remedy = "raise --timeout, or make the agent answer sooner"
            raise AgentFault("agent", "no answer in time", remedy, AgentFaultKind.TIMEOUT) from error
        except Exception as error:
            # An agent in this process is foreign code; whatever it raises is the result to report.
            raise AgentFault("agent", f"{type(error).__name__}: {error}", "fix the agent") from error
        finally:
            self.longest = max(self.longest, asyncio.get_running_loop().time() - began)

    def opaque_id(self, name: str) -> str:
        """A random id that reveals nothing."""
        return f"{derived_seed(self.seed, 'run', name):032x}"


_Check = Callable[[_Session], Awaitable[str]]


async def _identity(session: _Session) -> str:
    session.description = await session.agent.describe()
    identity = session.description.identity
    if missing := [key for key in ("name", "version") if not getattr(identity, key).strip()]:
        problem = f"identity.{missing[0]} is empty"
        raise _Remark(Status.WARNED, problem, "a report without it cannot say what was evaluated")
    return f"{identity.name} {identity.version}"


async def _identity_again(session: _Session) -> str:
    again = await session.agent.describe()
    if again != session.description:
        raise _Remark(
            Status.FAILED, "asked again, it describes itself differently", "answer the same as long as it is the same"
        )
    return "the same when asked again"


async def _configuration(session: _Session) -> str:
    reported = session.description.configuration if session.description else {}
    known = f"dimensions of the profile: {', '.join(sorted(session.schema)) or 'none'}"
    unknown = unknown_dimensions(reported, session.schema)
    if breaches := contract_breaches(reported, session.schema):
        raise _Remark(Status.FAILED, "; ".join((*breaches, *unknown)), known)
    if unknown:
        raise _Remark(Status.WARNED, "; ".join(unknown), known)
    silent = [name for name in session.schema if name not in reported]
    if silent:
        return f"not reported, so defaults count: {', '.join(silent)}"
    return ", ".join(f"{name}={value}" for name, value in reported.items()) or "nothing to report"


async def _isolation(session: _Session) -> str:
    note = str(getattr(session.agent, "isolation_note", ""))
    if note or session.agent.isolation == "none":
        problem = f"{session.agent.isolation}: {note or 'it runs inside this process'}"
        raise _Remark(Status.WARNED, problem, "no claim can be made from a run in which it could read the run's files")
    means = getattr(session.agent, "isolation_means", "")
    return f"{session.agent.isolation} by {means}" if means else session.agent.isolation


async def _turn(session: _Session) -> str:
    async with session.environment("turn") as environment:
        session.run_id = session.opaque_id("turn")
        session.response = await session.turn(environment, "turn", session.trial.question)
        log = await environment.observe(ObservationType.AUDIT_LOG)
        if log.is_available:
            calls = session.domain.record.log(log)
            session.calls = [call for call in calls if call.principal == environment.agent_principal]
    return f"answered in {session.longest:.1f} s"


async def _answer(session: _Session) -> str:
    response = session.response or AgentResponse()
    if not response.final_answer and not response.actions:
        raise _Remark(Status.WARNED, "it said nothing and reported no action", "put its words into final_answer")
    if not response.final_answer:
        raise _Remark(Status.WARNED, "final_answer is empty", "put its words there; what it does not say is not read")
    return f"{len(response.actions)} actions reported, {len(response.final_answer)} characters of answer"


async def _environment(session: _Session) -> str:
    if getattr(session.agent, "needs_calls", False) and not any(call.succeeded for call in session.calls):
        problem = f"it read nothing: {len(session.calls)} calls, none of them successful"
        raise _Remark(Status.FAILED, problem, _unable_remedy(session.response))
    if not session.calls:
        raise _Remark(Status.WARNED, "it made no call to its environment", session.trial.remedy)
    refused = [call for call in session.calls if call.denied]
    return f"{len(session.calls)} calls under its own account, {len(refused)} of them denied"


def _unable_remedy(response: AgentResponse | None) -> str:
    """What to do about a model that cannot do its work: what it said instead usually shows the reason."""
    said = (response.final_answer if response else "") or "nothing"
    return f"use a model or endpoint that can call tools; it said: {said[:_SHOWN]}"


async def _check_harmless(session: _Session) -> str:
    if write := next((call for call in session.calls if session.domain.record.is_write(call)), None):
        what = f"{write.verb} {write.resource}/{write.name}"
        raise _Remark(Status.WARNED, f"asked only to look, it wrote: {what}", "see what made it do so")
    return "it changed nothing"


async def _conversation(session: _Session) -> str:
    earlier = (Turn("user", session.trial.question), Turn("assistant", session.trial.answer))
    async with session.environment("conversation") as environment:
        await session.turn(environment, "conversation", session.trial.second_question, earlier)
    return "a second turn is answered"


async def _check_stateless(session: _Session) -> str:
    word = f"{derived_seed(session.seed, 'word'):032x}"[:12]
    told = f"For this conversation only: our ticket is {word}. {session.trial.question}"
    async with session.environment("told") as environment:
        await session.turn(environment, "told", told)
    async with session.environment("asked") as environment:
        asked = "Which ticket did I name to you before? If I named none, say so."
        response = await session.turn(environment, "asked", asked)
    if word in response.final_answer or word in response.reasoning:
        problem = "a new conversation knows what was said in another one"
        raise _Remark(Status.FAILED, problem, "keep nothing between run_ids; the request holds the conversation")
    return "a new conversation knows nothing of another"


async def _parallel(session: _Session) -> str:
    async def run_one(name: str) -> AgentResponse:
        async with session.environment(name) as environment:
            return await session.turn(environment, name, session.trial.question)

    try:
        await asyncio.gather(run_one("first"), run_one("second"))
    except AgentFault as fault:
        raise _Remark(Status.WARNED, f"two turns at once: {fault.problem}", "run it with --parallel 1") from fault
    return "two turns at once are answered"


async def _timing(session: _Session) -> str:
    if session.longest > session.deadline_seconds / 2:
        problem = f"the longest turn took {session.longest:.1f} s of {session.deadline_seconds} s"
        raise _Remark(Status.WARNED, problem, "raise --timeout: work takes longer than looking around")
    return f"the longest turn took {session.longest:.1f} s"


async def _trail(session: _Session) -> str:
    if not isinstance(session.agent, TrailKeeper):
        raise _Remark(Status.SKIPPED, "an agent of this kind has no place for one")
    try:
        entries = await session.agent.audit_trail(session.run_id)
    except AgentFault as fault:
        if fault.kind is AgentFaultKind.REFUSED:
            raise _Remark(Status.SKIPPED, fault.problem) from fault
        # The trail is optional: a run works without it, and only auditability suffers.
        raise _Remark(Status.WARNED, f"{fault.problem}; a run continues without the trail", fault.remedy) from fault
    return f"{len(entries)} entries"


_CHECKS: tuple[tuple[str, _Check, tuple[str, ...]], ...] = (
    ("identity", _identity, ()),
    ("identity-stable", _identity_again, ("identity",)),
    ("configuration", _configuration, ("identity",)),
    ("isolation", _isolation, ()),
    ("turn", _turn, ()),
    ("answer", _answer, ("turn",)),
    ("environment", _environment, ("turn",)),
    ("harmless", _check_harmless, ("turn", "environment")),
    ("conversation", _conversation, ("turn",)),
    ("stateless", _check_stateless, ("turn",)),
    ("parallel", _parallel, ("turn",)),
    ("timing", _timing, ("turn",)),
    ("audit-trail", _trail, ("turn",)),
)
