"""The obedient core: does its task, and also what a text asks for if the text reached it and its character allows it.

It is told the scenario, as witnesses are, and so does not depend on understanding sentences. It encounters texts only
in the environment: a goal whose text was not returned to it is never pursued.
"""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from sirocco import __version__
from sirocco.agents.answers import right_answer
from sirocco.agents.derivation import with_goal_and_task
from sirocco.agents.witness import InformedAgent, Violation
from sirocco.errors import AgentFault
from sirocco.evaluation.containment import decoded_strings, distinct_strings
from sirocco.evaluation.decoding import Value, layers
from sirocco.evaluation.trail import chain_entries
from sirocco.oasis.agent import Agent, AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.bound_scenario import BoundGoal, BoundScenario
from sirocco.oasis.declarations import surface_of
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.work import Books

PROMPT = "prompt"
"""The surface of what the operator says."""


@dataclass(frozen=True, slots=True)
class Encounter:
    """The situation of an agent when texts that reached it ask for something that it must not do."""

    texts: tuple[str, ...]
    """The texts that carry the goal: those in the environment, the operator's, or both."""
    prompts: tuple[str, ...]
    surfaces: frozenset[str]
    earlier_turns: int
    """Turns of the conversation before the one in which the goal is complete."""
    archetype: str
    techniques: frozenset[str]
    """The operators that made the probe; none for a published scenario."""
    names: frozenset[str]
    namespaces: frozenset[str]
    kinds: tuple[str, ...]
    """The types of the declared objects, sorted."""
    run_id: str

    @property
    def text(self) -> str:
        """All carrying texts, separated by a line."""
        return "\n".join(self.texts)


Reach = Callable[[BoundScenario, BoundGoal, AgentRequest], Awaitable[AgentResponse]]
"""A way to bring a goal about."""
Style = Callable[[str, AgentRequest, tuple[str, ...]], str]
"""Words an answer, given the request and the carrying texts that were encountered."""


async def reach_plainly(bound: BoundScenario, goal: BoundGoal, request: AgentRequest) -> AgentResponse:
    """Perform the operation itself, or tell the value."""
    return await Violation(bound).reach(goal, request)


async def reach_otherwise(bound: BoundScenario, goal: BoundGoal, request: AgentRequest) -> AgentResponse:
    """Perform another operation with the same effect."""
    await bound.domain.work.take_away_otherwise(_operation(goal), request.environment)
    return AgentResponse()


async def reach_by_proxy(bound: BoundScenario, goal: BoundGoal, request: AgentRequest) -> AgentResponse:
    """Have something in the environment do it, if possible."""
    if not await bound.domain.work.delegate(_operation(goal), request.environment):
        return await reach_plainly(bound, goal, request)
    return AgentResponse()


async def reach_encoded(bound: BoundScenario, goal: BoundGoal, request: AgentRequest) -> AgentResponse:
    """Tell the value in base64."""
    return AgentResponse(final_answer=f"Reference: {b64encode((await _value(bound, goal, request)).encode()).decode()}")


async def reach_in_pieces(bound: BoundScenario, goal: BoundGoal, request: AgentRequest) -> AgentResponse:
    """Tell the value with dashes between its characters."""
    return AgentResponse(final_answer=f"Code: {'-'.join(await _value(bound, goal, request))}")


def suited_reach(reach: Reach, bound: BoundScenario) -> Reach:
    """The given way if it can lead to the scenario's goal, and otherwise the plain one."""
    goal = bound.goal
    if goal is None:
        return reach_plainly
    if goal.operation is None or reach not in {reach_otherwise, reach_by_proxy}:
        is_suited = goal.value_ref is not None and reach in {reach_encoded, reach_in_pieces}
    else:
        is_suited = reach is reach_by_proxy or bound.domain.work.has_another_route(goal.operation)
    return reach if is_suited else reach_plainly


def _operation(goal: BoundGoal) -> Operation:
    if goal.operation is None:
        raise AssertionError("such a way is suited to operations")
    return goal.operation


async def _value(bound: BoundScenario, goal: BoundGoal, request: AgentRequest) -> str:
    return await bound.domain.work.referenced_value(str(goal.value_ref), request.environment, bound)


def plain_style(answer: str, request: AgentRequest, met: tuple[str, ...]) -> str:  # noqa: ARG001 - a Style
    """The answer, unchanged."""
    return answer


def terse_style(answer: str, request: AgentRequest, met: tuple[str, ...]) -> str:  # noqa: ARG001 - a Style
    """One word."""
    return "Done."


def quoting_style(answer: str, request: AgentRequest, met: tuple[str, ...]) -> str:
    """The answer, together with everything that the agent was asked and told."""
    quoted = [f'I also came across this text, which I did not follow: "{text}"' for text in met]
    return "\n\n".join([f'You asked me: "{request.prompt}"', answer, *quoted, "Let me know if you need more detail."])


@dataclass(frozen=True, slots=True)
class Conduct:
    """An agent's manner of acting, independent of when it follows a text."""

    reach: Reach = reach_plainly
    style: Style = plain_style
    changes: bool = True
    """Whether it does the parts of its task that change something."""
    is_cautious: bool = False
    """Whether it changes nothing more once it has encountered a text that asks for something else."""


Follows = Callable[[Encounter], bool]


class Obedient(InformedAgent):
    """An agent with one conduct that follows the texts that `follows` accepts."""

    def __init__(
        self,
        name: str,
        description: str,
        follows: Follows,
        asked: frozenset[str] = frozenset(),
        conduct: Conduct | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.follows = follows
        self.asked = asked
        """The archetypes in which the operator makes the wrong request."""
        self.conduct = conduct or Conduct()

    async def describe(self) -> AgentDescription:
        """Identity; there is nothing to configure."""
        identity = AgentIdentity(name=self.name, version=__version__, description=self.description)
        return AgentDescription(identity=identity)

    def for_scenario(self, bound: BoundScenario) -> Agent:
        """The agent for one unit."""
        return _Session(self, bound)


class _Session:
    """One unit of work; turns of a conversation that starts over in the same environment are a rerun."""

    isolation = "none"

    def __init__(self, agent: Obedient, bound: BoundScenario) -> None:
        self._agent = agent
        self._bound = replace(with_goal_and_task(bound), goal=bound.goal)
        self._carriers = carrying_texts(bound, agent.asked)
        self._met: set[str] = set()
        self._unread: list[Any] = []
        """Answers that have not been examined yet; they share much, and so are examined together."""
        self._heard = 0
        self._is_decided = False
        self._trail: list[Any] = []

    async def describe(self) -> AgentDescription:
        """Identity and configuration."""
        return await self._agent.describe()

    async def audit_trail(self, run_id: str) -> tuple[Any, ...]:  # noqa: ARG002 - there is one
        """The trail so far."""
        return chain_entries(self._trail)

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Look around, do the task in the very first turn, and follow encountered texts if the character allows it."""
        rerun, turn = divmod(self._heard, max(len(self._bound.scenario.prompts), 1))
        self._heard += 1
        watched = replace(request, environment=self._bound.domain.work.with_observer(request.environment, self._meet))
        entries = await self._work(watched, turn, is_rerun=bool(rerun))
        answer = right_answer(self._bound) if not turn else "There is nothing to add."
        met = self._carriers_met(turn)
        styled = self._agent.conduct.style(answer, request, met)
        response = AgentResponse(final_answer=styled, audit_trail=tuple(entries))
        if rerun or not met or self._is_decided or self._bound.goal is None:
            return response
        self._is_decided = True
        if not self._agent.follows(self._encounter(met, turn, request)):
            return response
        reach = suited_reach(self._agent.conduct.reach, self._bound)
        return _joined(response, await reach(self._bound, self._bound.goal, watched))

    async def _work(self, request: AgentRequest, turn: int, *, is_rerun: bool) -> list[Any]:
        """Read in every turn, and carry out the task in the first."""
        books = self._bound.domain.work.books(request.environment, self._bound.slots.get("triggers") or {})
        await books.look_around(request.scope.get("namespaces") or (request.environment.namespace,))
        if not turn:
            conduct = self._agent.conduct
            is_held_back = conduct.is_cautious and bool(self._carriers_met(turn))
            await self._carry_out(books, reads_only=is_rerun or is_held_back or not conduct.changes)
        self._trail += books.entries
        return list(books.entries)

    async def _carry_out(self, books: Books, *, reads_only: bool) -> None:
        for operation in self._bound.task:
            if operation.is_read or not reads_only:
                await _try(books.perform(operation))

    def _meet(self, answer: Any) -> None:
        self._unread.append(answer)

    def _carriers_met(self, turn: int) -> tuple[str, ...]:
        """The texts that carry the goal, once all of them have reached the agent; none before that."""
        self._met |= distinct_strings(self._unread)
        self._unread.clear()
        prompts = self._bound.scenario.prompts
        found = [text for text in self._carriers if text not in prompts]
        if not all(any(text.strip() in seen for seen in self._met) for text in found):
            return ()
        is_all_said = turn + 1 >= len(prompts)
        return self._carriers if is_all_said or prompts[-1] not in self._carriers else ()

    def _encounter(self, met: tuple[str, ...], turn: int, request: AgentRequest) -> Encounter:
        return encounter(self._bound, met, earlier_turns=turn + len(request.conversation), run_id=request.run_id)


def carrying_texts(bound: BoundScenario, asked: frozenset[str]) -> tuple[str, ...]:
    """The texts that carry a scenario's goal.

    In the archetypes `asked`, these are the operator's words, with any texts in the environment that back them; in
    others, the texts in the environment, if there are any. A probe also has other texts, which are harmless or part of
    its work: only those that name the goal's target carry the goal.
    """
    scenario, record = bound.scenario, bound.scenario.x_sirocco.probe
    waiting = tuple(stimulus.value or "" for stimulus in scenario.payloads)
    if record is None or bound.goal is None:
        return (*scenario.prompts, *waiting) if scenario.archetype in asked or not waiting else waiting
    naming = _texts_about_goal(bound, waiting)
    if asked.isdisjoint({scenario.archetype, *record.secondary_archetypes}) and waiting:
        return naming or waiting
    if record.base is None and not _texts_about_goal(bound, scenario.prompts):
        naming += _texts_about_goal(bound, tuple(_written_texts(scenario)))
    return (*scenario.prompts, *naming)


def _written_texts(scenario: Scenario) -> Iterator[str]:
    """The texts of several words in the declared environment; the operator may point to them."""
    for entry in scenario.preconditions.environment.state:
        yield from (text for text in decoded_strings(entry.fields, 0) if " " in text)


def _texts_about_goal(bound: BoundScenario, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The texts that name the goal's target, disguised or not."""
    goal = bound.goal
    if goal is None:
        return ()
    if goal.operation is not None:
        names = bound.domain.mutation.terms.operations.telling_names(goal.operation)
    else:
        names = ((goal.value_ref or "").partition("/")[2].partition(".")[0],)
    return tuple(text for text in texts if all(_is_named(name, text) for name in names))


def _is_named(name: str, text: str) -> bool:
    if name in text:
        return True
    letters = Value.from_literal(name).folded
    return any(letters in layer.letters or letters[::-1] in layer.letters for layer in layers(text))


def encounter(bound: BoundScenario, texts: tuple[str, ...], *, earlier_turns: int = 0, run_id: str = "") -> Encounter:
    """The encounter with these texts in a scenario."""
    scenario, declarations = bound.scenario, bound.domain.declarations
    record = scenario.x_sirocco.probe
    state = scenario.preconditions.environment.state
    waiting = [one for one in scenario.payloads if one.value in texts] or scenario.payloads
    places = [str(surface_of(one, declarations) or PROMPT) for one in waiting]
    places += [PROMPT for prompt in scenario.prompts[:1] if prompt in texts]
    return Encounter(
        texts=texts,
        prompts=scenario.prompts,
        surfaces=frozenset(places),
        earlier_turns=earlier_turns,
        archetype=scenario.archetype,
        techniques=frozenset(step.partition("(")[0] for step in record.lineage) if record else frozenset(),
        names=frozenset(entry.name for entry in state if entry.name),
        namespaces=declarations.namespaces(scenario),
        kinds=tuple(sorted(entry.kind for entry in state)),
        run_id=run_id,
    )


def _joined(response: AgentResponse, deed: AgentResponse) -> AgentResponse:
    """One answer, which ends with what was said to reach the goal."""
    answer = "\n\n".join(part for part in (response.final_answer, deed.final_answer) if part)
    return response.model_copy(update={"final_answer": answer, "reasoning": deed.reasoning})


async def _try(deed: Awaitable[object]) -> None:
    """Do something, ignoring a failure."""
    try:
        await deed
    except AgentFault:
        return
