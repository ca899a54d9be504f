"""Agents that know the published scenarios by heart and nothing else: they recite answers and replay tasks.

Each guesses the published scenario from the words of the prompt. Their scores on probes show what memorizing earns.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sirocco.agents.answers import right_answer
from sirocco.domains.kubernetes.agent_plane import EnvironmentClient
from sirocco.domains.kubernetes.agents.bookkeeping import Bookkeeper
from sirocco.domains.kubernetes.agents.client import Kubernetes
from sirocco.domains.kubernetes.agents.performance import perform
from sirocco.domains.kubernetes.evaluation.snapshot import name_of
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.errors import AgentFault
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.operation import ALL, ANY

_WORD = re.compile(r"[a-z]{3,}")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_LOOKED_AT = ("pod", "event", "deployment", "configmap", "service", "hpa", "networkpolicy", "namespace", "node", "pvc")
_ASKED = (
    *(Operation(Verb.LIST, noun, ANY) for noun in _LOOKED_AT),
    Operation(Verb.LOG, "pod", ANY),
    *(Operation(Verb.QUERY, noun, ANY) for noun in ("metrics", "traces", "dashboard", "alert")),
)
_SUCCESS = "All of this is done: the change was applied successfully, and everything is healthy again."


class _Learned:
    """The base of these agents: finds the published scenario most similar to the prompt; its identity is neutral."""

    isolation = "none"

    def __init__(self, published: Iterable[BoundScenario]) -> None:
        self._published = tuple(published)

    async def describe(self) -> AgentDescription:
        """Identity and configuration."""
        return AgentDescription(identity=AgentIdentity(name="operator", version="1.0"))

    def recognized(self, prompt: str) -> BoundScenario:
        """The published scenario with the most words in common, where rare words count for more."""
        spread = Counter(word for bound in self._published for word in _words_of(bound))
        asked = set(_WORD.findall(prompt.lower()))

        def likeness(bound: BoundScenario) -> float:
            known = _words_of(bound)
            return sum(1 / spread[word] for word in asked & known) / (1 + len(known)) ** 0.5

        return max(self._published, key=lambda bound: (likeness(bound), bound.scenario.id))


class Reciter(_Learned):
    """Looks at everything, and recites what is published of the scenario: its description and its right answer."""

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Look around, and recite."""
        learned = self.recognized(request.prompt)
        await _look_around(request.environment.client, request.environment.namespace)
        return AgentResponse(final_answer=f"{learned.scenario.description}\n\n{right_answer(learned)}")


class BorrowingReciter(_Learned):
    """Recites with names borrowed from the prompt, each before the recital: the most that words alone can achieve."""

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Look around, repeat the names of the prompt, and recite without published names."""
        learned = self.recognized(request.prompt)
        await _look_around(request.environment.client, request.environment.namespace)
        known = {entry.name for entry in learned.scenario.preconditions.environment.state if entry.name}
        borrowed = [name for name in _NAME.findall(request.prompt) if name not in known]
        about = f"For {', '.join(borrowed[:3])} in {request.environment.namespace}, this is what I found."
        names = dict.fromkeys(known, borrowed[0] if borrowed else request.environment.namespace)
        recited = _in_names(f"{learned.scenario.description}\n\n{right_answer(learned)}", names)
        return AgentResponse(final_answer=f"{about} {recited}")


class Replayer(_Learned):
    """Performs the published task, unchanged, and claims success."""

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Look around, replay the task, recite and claim."""
        learned = self.recognized(request.prompt)
        environment = request.environment
        books = Bookkeeper(environment.client, learned.slots.get("triggers"))
        names = await self.names(learned, books, environment.namespace)
        for operation in learned.task:
            await _carry_out(_renamed(operation, names), books, environment.namespace)
        answer = _in_names(f"{right_answer(learned)}\n\n{_SUCCESS}", names)
        return AgentResponse(final_answer=answer, audit_trail=tuple(books.entries))

    async def names(self, _learned: BoundScenario, _client: EnvironmentClient, _namespace: str) -> Mapping[str, str]:
        """The replacements of published names: none here."""
        return {}


class AdaptingReplayer(Replayer):
    """A replayer that replaces the published names with those that it finds, kind by kind, in order."""

    async def names(self, learned: BoundScenario, client: EnvironmentClient, namespace: str) -> Mapping[str, str]:
        """The published names of each kind, each with the name at the same position in the environment."""
        scope = learned.scenario.preconditions.agent.scope.namespaces
        found = dict.fromkeys(scope[:1], namespace)
        declared: dict[str, list[str]] = {}
        for entry in learned.scenario.preconditions.environment.state:
            declared.setdefault(entry.kind, []).append(entry.name)
        kubernetes = Kubernetes(client)
        for kind in _LOOKED_AT:
            if kind in declared and kind not in {"namespace", "event"}:
                present = [name_of(item) for item in await kubernetes.items(kind, namespace)]
                found |= dict(zip(declared[kind], present, strict=False))
        return found


async def _look_around(client: EnvironmentClient, namespace: str) -> None:
    for operation in _ASKED:
        await _carry_out(operation, client, namespace)


async def _carry_out(operation: Operation, client: EnvironmentClient, namespace: str) -> None:
    try:
        await perform(operation, client, namespace=namespace)
    except AgentFault:
        return


def _renamed(operation: Operation, names: Mapping[str, str]) -> Operation:
    name = operation.name if operation.name in {ANY, ALL} else names.get(operation.name, operation.name)
    place = operation.namespace and names.get(operation.namespace, operation.namespace)
    return replace(operation, name=name, namespace=place)


def _in_names(text: str, names: Mapping[str, str]) -> str:
    for old in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", names[old], text)
    return text


def _words_of(bound: BoundScenario) -> set[str]:
    return {word for prompt in bound.scenario.prompts for word in _WORD.findall(prompt.lower())}
