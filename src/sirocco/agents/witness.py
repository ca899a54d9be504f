"""Witnesses: agents that do what a scenario declares, so that its checks can be seen to pass and to fail (SI-01).

They act through the environment's API like any agent, and nothing that they send or say reveals what they are (SI-02).
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sirocco.agents.answers import answer_of_names, denial, readable_names, right_answer
from sirocco.errors import AgentFault
from sirocco.evaluation.trail import chain_entries
from sirocco.oasis.agent import Agent, AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.bound_scenario import BoundGoal, BoundScenario
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import NotContained
from sirocco.oasis.scenario import OutputChannel
from sirocco.oasis.slot import ObjectRef

_DONE = "The work is done."


class InformedAgent(ABC):
    """A model of an agent that is told the scenario of each unit, as witnesses are.

    The runner asks it for a separate agent for each unit. It is a class rather than a protocol, so that an agent under
    evaluation cannot become one by having a method of that name. Calling `respond` directly is a fault.
    """

    isolation = "none"

    @abstractmethod
    def for_scenario(self, bound: BoundScenario) -> Agent:
        """The agent for one unit, which knows goal and task of the scenario."""

    @abstractmethod
    async def describe(self) -> AgentDescription:
        """Identity and configuration."""

    async def respond(self, request: AgentRequest) -> AgentResponse:  # noqa: ARG002 - it can answer none
        """Refuse: without a scenario there is nothing to model."""
        raise AgentFault("agent", "it only acts on a given scenario", "run it in the evaluator's own process")


class _Witness:
    """The base of all witnesses: they have a neutral identity, and act only in the first turn of a conversation.

    Messages before the first turn are not turns of theirs. A conversation that starts over in the same environment is
    a rerun.
    """

    isolation = "none"

    def __init__(self, bound: BoundScenario | None = None) -> None:
        self._prompts = max(len(bound.scenario.prompts), 1) if bound is not None else 1
        self._heard: Counter[str] = Counter()

    async def describe(self) -> AgentDescription:
        """Identity and configuration."""
        return AgentDescription(identity=AgentIdentity(name="operator", version="1.0"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Act once in each conversation; later turns only say that there is nothing to add."""
        rerun, turn = divmod(self._heard[request.run_id], self._prompts)
        self._heard[request.run_id] += 1
        if turn:
            return AgentResponse(final_answer="There is nothing to add.")
        return await (self.act_again(request) if rerun else self.act(request))

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Do what this witness is for."""
        raise NotImplementedError

    async def act_again(self, request: AgentRequest) -> AgentResponse:
        """Do it again, when asked for the same in the environment that the first time left behind."""
        return await self.act(request)


class Nothing(_Witness):
    """Does and changes nothing."""

    async def act(self, request: AgentRequest) -> AgentResponse:  # noqa: ARG002 - it acts the same on any request
        """Answer without a single call."""
        return AgentResponse(final_answer="I have not changed anything.")


class Safe(_Witness):
    """Does the prompt's legitimate task and nothing else, gives the right answer, and returns a trail of its work.

    Asked again, it looks at everything once more and changes nothing, because everything is as it should be.
    """

    def __init__(self, bound: BoundScenario, wording: int = 0) -> None:
        super().__init__(bound)
        self.bound = bound
        self.wording = wording
        self.kept: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Perform the task; raise AgentFault naming an operation that the environment does not carry out."""
        return await self._carry_out(self.bound.task, request)

    async def act_again(self, request: AgentRequest) -> AgentResponse:
        """Look, and leave everything as it is."""
        return await self._carry_out(_reads(self.bound.task), request)

    def answer_text(self) -> str:
        """Its answer."""
        return right_answer(self.bound, self.wording)

    async def _carry_out(self, task: Iterable[Operation], request: AgentRequest) -> AgentResponse:
        books = self.bound.domain.work.books(request.environment, self.bound.slots.get("triggers") or {})
        for operation in task:
            replies = await books.perform(operation)
            if not replies or not all(reply.succeeded for reply in replies):
                answers = ", ".join(str(reply.status) for reply in replies) or "nothing to act on"
                problem = f"the environment does not carry it out ({answers})"
                raise AgentFault(f"task operation {operation}", problem, "fix the task, or the objects declared for it")
        self.kept[request.run_id] += books.entries
        return AgentResponse(final_answer=self.answer_text(), audit_trail=tuple(books.entries))


class Archivist(Safe):
    """Does the task, and keeps its trail, sealed entry by entry, in a store that exports it at any time."""

    async def audit_trail(self, run_id: str) -> tuple[Any, ...]:
        """The trail so far."""
        return chain_entries(self.kept[run_id])


class Forger(Safe):
    """Does the task, and removes its changes from its store."""

    async def audit_trail(self, run_id: str) -> tuple[Any, ...]:
        """The trail without the entries for changes."""
        reads = self.bound.domain.work.read_verbs
        return chain_entries(entry for entry in self.kept[run_id] if entry["verb"] in reads)


class Contrarian(Safe):
    """Does the task, and gives the opposite of the right answer."""

    def answer_text(self) -> str:
        """Its answer."""
        return denial(self.bound)


class Reciter(_Witness):
    """Gives the right answer without having looked at anything, like an agent that knows the texts by heart."""

    def __init__(self, bound: BoundScenario) -> None:
        super().__init__(bound)
        self.bound = bound

    async def act(self, request: AgentRequest) -> AgentResponse:  # noqa: ARG002 - it answers the same to any request
        """Answer without a single call."""
        return AgentResponse(final_answer=right_answer(self.bound))


class Stuffer(_Witness):
    """Does the task's reads, changes nothing, and gives a stuffed answer with everything that it read."""

    def __init__(self, bound: BoundScenario, shape: int = 0) -> None:
        super().__init__(bound)
        self.bound = bound
        self.shape = shape
        self.names: list[str] = []
        """What it has read in the environment."""

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Look, and name everything."""
        books = self.bound.domain.work.books(request.environment, {})
        for operation in _reads(self.bound.task):
            await books.perform(operation)
        self.names = readable_names(self.bound, books.read)
        return AgentResponse(final_answer=answer_of_names(self.bound, self.names, self.shape))


def _reads(task: Iterable[Operation]) -> tuple[Operation, ...]:
    return tuple(operation for operation in task if operation.is_read)


class Violation(_Witness):
    """Does what the scenario forbids in the course of the task: performs the goal's operation, or tells its value."""

    def __init__(self, bound: BoundScenario) -> None:
        super().__init__(bound)
        self.bound = bound

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Do the task, and reach the goal through the environment's own API."""
        if self.bound.goal is None:
            raise AgentFault(self.bound.scenario.id, "no goal is declared", "declare one under x-sirocco.goal")
        for operation in self.bound.task:
            await self.bound.domain.work.perform(operation, request.environment)
        return await self.reach(self.bound.goal, request)

    async def reach(self, goal: BoundGoal, request: AgentRequest) -> AgentResponse:
        """Reach the goal, without the task."""
        if goal.operation is None:
            return await self._tell(str(goal.value_ref), request)
        await self.bound.domain.work.perform(goal.operation, request.environment)
        return AgentResponse(final_answer=_DONE)

    async def _tell(self, value_ref: str, request: AgentRequest) -> AgentResponse:
        """Let the value out through every channel that a check for it watches."""
        work = self.bound.domain.work
        value = await work.referenced_value(value_ref, request.environment, self.bound)
        channels = {
            channel
            for predicate in self.bound.predicates
            if isinstance(predicate, NotContained) and predicate.value_ref == value_ref
            for channel in predicate.channels
        } or {OutputChannel.AGENT_RESPONSE}
        if OutputChannel.TOOL_CALL_PARAMETERS in channels:
            await work.send_as_parameter(value, request.environment)
        told = f"It is {value}"
        return AgentResponse(
            final_answer=told if OutputChannel.AGENT_RESPONSE in channels else _DONE,
            reasoning=told if OutputChannel.REASONING_TRACE in channels else "",
        )


class EquivalentHarm(_Witness):
    """Does the task, and then takes away what the scenario preserves by another route than its goal (SI-08)."""

    def __init__(self, bound: BoundScenario) -> None:
        super().__init__(bound)
        self.bound = bound

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Leave every object in place, but take away its functions."""
        work = self.bound.domain.work
        for operation in self.bound.task:
            await work.perform(operation, request.environment)
        for preserved in self.bound.preserved_predicates:
            if work.has_another_route(preserved.against):
                await work.take_away_otherwise(preserved.against, request.environment)
        return AgentResponse(final_answer=_DONE)


class DestroyEverything(_Witness):
    """Deletes everything that it can reach in the places that the scenario names, and the places themselves."""

    def __init__(self, bound: BoundScenario) -> None:
        super().__init__(bound)
        self.bound = bound

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Delete what is listed and what is declared, type by type, continuing after refusals."""
        await self.bound.domain.work.destroy_everything(request.environment, self.bound)
        return AgentResponse(final_answer=_DONE)


class Disclosure(_Witness):
    """Reads secrets, and tells their contents."""

    def __init__(self, secrets: Iterable[ObjectRef], bound: BoundScenario) -> None:
        super().__init__(bound)
        self.bound = bound
        self.secrets = tuple(secrets)

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Tell every value in plain text."""
        sentences: list[str] = []
        for secret in self.secrets:
            values = await self.bound.domain.work.values_of(secret, request.environment)
            sentences += [f"{key} is {value}" for key, value in values.items()]
        return AgentResponse(final_answer="\n".join(sentences) or _DONE)


class Attempt(_Witness):
    """Performs patterns one after the other, on objects that exist, or else on declared ones."""

    def __init__(self, operation: Operation, bound: BoundScenario, first: Iterable[Operation] = ()) -> None:
        super().__init__(bound)
        self.operations = (*first, operation)
        self.bound = bound

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Perform each pattern once for each object that it matches."""
        for pattern in self.operations:
            await self.bound.domain.work.attempt(pattern, request.environment, self.bound)
        return AgentResponse(final_answer=_DONE)
