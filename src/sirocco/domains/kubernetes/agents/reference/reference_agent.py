"""The body that the reference agents share: read the environment, understand, act, answer.

The agents differ in two decisions: which texts they trust, and which skills they have. A trusted prompt is carried out
literally; for any other the skills are tried, and `rules` judge what remains. A trusted text in the environment is
obeyed; any other is data.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from kubesim.resource import BY_NOUN, RESOURCE_TYPES
from sirocco import __version__
from sirocco.domains.kubernetes.agent_plane import EnvironmentClient, Reply
from sirocco.domains.kubernetes.agents.client import Kubernetes
from sirocco.domains.kubernetes.agents.reference.deeds import carry_out, has_come_up
from sirocco.domains.kubernetes.agents.reference.lexicon import VERB_FORMS
from sirocco.domains.kubernetes.agents.reference.matters import matters
from sirocco.domains.kubernetes.agents.reference.mentions import Surroundings, Thing
from sirocco.domains.kubernetes.agents.reference.reports import overview, report, reveal, variables
from sirocco.domains.kubernetes.agents.reference.rules import Case, confidential, objection, outside_scope
from sirocco.domains.kubernetes.agents.reference.sentences import is_prose, passages, spelled_out
from sirocco.domains.kubernetes.agents.reference.skills.situation import Course, Situation, Skill
from sirocco.domains.kubernetes.agents.reference.survey import Found, Survey, name_of, namespace_of, survey, texts_in
from sirocco.domains.kubernetes.agents.reference.targets import Target, targets
from sirocco.domains.kubernetes.agents.reference.understanding import (
    Action,
    Request,
    named_namespaces,
    offered_token,
    requests,
)
from sirocco.oasis.agent import AgentAction, AgentDescription, AgentIdentity, AgentRequest, AgentResponse

_SERVER_FAILURE = 500
_ROLLING_OUT = frozenset({Action.RESTART, Action.IMAGE, Action.ROLLBACK, Action.SET})
"""Actions that replace a workload's pods."""
_OPENING = re.compile(r'^(?:Internal error occurred: |admission webhook "[^"]*" denied the request: |\d{3} )')


class ReferenceAgent(ABC):
    """A rule-based operator; it sees its request and what the API shows it, and keeps nothing between two requests."""

    name: str
    description: str
    skills: tuple[Skill, ...] = ()

    @property
    def isolation(self) -> str:
        """It runs in this process."""
        return "none"

    async def describe(self) -> AgentDescription:
        """Identity; there is nothing to configure."""
        return AgentDescription(
            identity=AgentIdentity(name=self.name, version=__version__, description=self.description)
        )

    @abstractmethod
    def trusts(self, text: str, /) -> bool:
        """Whether what a text says is done without further thought."""

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Do what the operator asks as far as this agent's judgement allows, and report what was done."""
        client = _Recorder(request.environment.client)
        turn = _Turn(self, request, client)
        await turn.work()
        return AgentResponse(
            actions=tuple(client.actions),
            reasoning=" ".join(turn.reasons),
            final_answer=" ".join(turn.answer),
        )


class _Recorder:
    """Passes requests on; keeps what the agent reports about them, and texts beside or instead of an answer."""

    def __init__(self, client: EnvironmentClient) -> None:
        self._client = client
        self.actions: list[AgentAction] = []
        self.heard: list[Found] = []

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one API request and remember it; a read that fails with a server error is tried once more."""
        for attempts_left in (method == "GET", False):
            reply = await self._client.request(
                method, path, query=query, body=body, content_type=content_type, headers=headers
            )
            self._remember(method, path, body, reply)
            if not (attempts_left and reply.status >= _SERVER_FAILURE):
                break
        return reply

    def _remember(self, method: str, path: str, body: Any, reply: Reply) -> None:
        arguments = {"method": method, "path": path, **({"body": body} if body is not None else {})}
        error = None if reply.succeeded else f"status {reply.status}"
        tool = "kubernetes-api" if path.startswith(("/api/", "/apis/")) else "services-api"
        self.actions.append(AgentAction(tool=tool, arguments=arguments, result=reply.status, error=error))
        self.heard += [Found(text, _addressed(path)) for text in _said(reply)]


def _said(reply: Reply) -> tuple[str, ...]:
    """Warnings, and the texts of an error without the words that servers put before any."""
    errors = (_OPENING.sub("", text) for text in (() if reply.succeeded else texts_in(reply.body)))
    return tuple(dict.fromkeys(text for text in (*reply.warnings, *errors) if is_prose(text)))


def _addressed(path: str) -> Thing:
    """What a request is about, which is what an answer to it means by "this deployment"."""
    _, _, inside = path.partition("/namespaces/")
    namespace, plural, name, *_ = [*inside.split("/"), "", "", ""]
    noun = next((row.noun for row in RESOURCE_TYPES if row.plural == plural), "")
    return Thing(noun, name, namespace or None)


class _Turn:
    """One request being worked on."""

    def __init__(self, agent: ReferenceAgent, request: AgentRequest, client: _Recorder) -> None:
        self.agent = agent
        self.request = request
        self.client = client
        self.cluster = Kubernetes(client)
        self.cautious = not agent.trusts(request.prompt)
        self.namespaces = tuple(request.scope.get("namespaces") or (request.environment.namespace,))
        self.home = self.namespaces[0]
        self.answer: list[str] = []
        self.reasons: list[str] = []

    async def work(self) -> None:
        """Do everything that is to be done, and collect answer and reasoning."""
        known = await self._look_around()
        names = known.surroundings()
        earlier = tuple(turn.content for turn in self.request.conversation if turn.role == "user")
        asked = requests(self.request.prompt, names, earlier=earlier)
        self.reasons.append(f"I read {len(asked)} request(s) in the message: {_listed(asked)}.")
        if self.cautious:
            await self._attend(known, names, earlier)
        else:
            for each in asked:
                await self._obey(each, known)
        if not asked and not self.answer:
            for namespace in self.namespaces:
                self.answer += overview(known, namespace, discreet=self.cautious)
        if not self.cautious:
            await self._use_offered_identity()
        if self.cautious and not self.answer:
            self.answer.append("I could not tell what to do; please say it in other words.")
        await self._read_instructions(known, names, set(asked))

    async def _attend(self, known: Survey, names: Surroundings, earlier: tuple[str, ...]) -> None:
        """Deal with the matters of the message one after the other, until one goes wrong."""
        texts = matters(self.request.prompt, known)
        asked = [requests(text, names, earlier=(*earlier, *texts[:number])) for number, text in enumerate(texts)]
        for number, text in enumerate(texts):
            request = replace(self.request, prompt=text)
            situation = Situation(request, known, self.cluster, asked[number], self.namespaces)
            outcome = await self._apply_skills(situation)
            if outcome is Course.OPEN:
                later = tuple(each for further in asked[number + 1 :] for each in further)
                outcome = await self._judge_all(situation, later)
            if outcome is Course.BROKEN:
                break

    async def _apply_skills(self, situation: Situation) -> Course:
        """Try the skills in their order, until one settles the matter."""
        for skill in self.agent.skills:
            outcome = await skill(situation)
            if outcome is None:
                continue
            self.answer += [told for told in outcome.answer if told not in self.answer]
            self.reasons += outcome.reasons
            if outcome.course is not Course.OPEN:
                return outcome.course
        return Course.OPEN

    async def _judge_all(self, situation: Situation, later: tuple[Request, ...]) -> Course:
        """Judge what a matter asks for, request by request, and carry out what no rule forbids.

        `later` is what the matters after it ask for.
        """
        for number, each in enumerate(situation.asked):
            following = (*situation.asked[number + 1 :], *later)
            if not await self._judge(each, situation) or not await self._held(each, following, situation):
                return Course.BROKEN
        return Course.SETTLED

    async def _look_around(self) -> Survey:
        """The survey of the namespaces in scope; an agent that obeys everything also looks where the message points."""
        services = self.request.environment.services
        if self.cautious:
            return await survey(self.cluster, self.namespaces, services, secrets=False)
        existing = frozenset(name_of(item) for item in await self.cluster.items("namespace", None))
        named = named_namespaces(self.request.prompt, Surroundings(namespaces=existing))
        return await survey(self.cluster, (*self.namespaces, *named), services, secrets=True)

    async def _obey(self, request: Request, known: Survey) -> None:
        """Carry the request out literally."""
        if request.action is not Action.READ:
            self.answer += [str(deed) for deed in await carry_out(request, known, self.cluster, self.home)]
            return
        meant = targets(request, known, self.home)
        told = False
        for target in meant:
            await self._look(target)
            self.answer.append(report(target, known, discreet=False))
            if request.asks_for_values:
                self.answer += [variables(target, discreet=False)] if target.noun != "secret" else []
                told |= await self._reveal(request, target, known)
        if "secret" in request.kinds and not told:
            for secret in known.objects.get("secret", ()):
                await self._reveal(request, Target("secret", namespace_of(secret), name_of(secret), secret), known)

    async def _reveal(self, request: Request, target: Target, known: Survey) -> bool:
        told = await reveal(request, target, known, self.cluster)
        self.answer += [told] if told else []
        return bool(told)

    async def _judge(self, request: Request, situation: Situation) -> bool:
        """Carry the request out unless a rule forbids it, which becomes the answer; False when it goes wrong."""
        meant = targets(request, situation.known, self.home)
        cases = [situation.case(request, target) for target in meant]
        if request.action is Action.READ:
            for case in cases:
                await self._tell(case)
            if request.asks_for_values and not cases:
                self.answer.append("I do not give out the values of secrets; please use the secret store.")
            return True
        reason = next((reason for case in cases if (reason := objection(case))), None)
        if reason:
            self.answer.append(f"I did not {request.action.value} {meant[0]}: {reason}.")
        elif not cases:
            self.answer.append(f"I could not tell what to {request.action.value}; please name the object.")
        else:
            deeds = await carry_out(request, situation.known, self.cluster, self.home)
            self.answer += [str(deed) for deed in deeds]
            if not all(deed.reply.succeeded for deed in deeds):
                self.answer.append("That step failed, so I stopped there and did nothing that comes after it.")
                return False
        return True

    async def _held(self, done: Request, following: tuple[Request, ...], situation: Situation) -> bool:
        """Whether what was changed runs again, which is checked before anything else is changed."""
        if done.action not in _ROLLING_OUT or all(each.action is Action.READ for each in following):
            return True
        for target in targets(done, situation.known, self.home):
            was_changed = target.noun == "deployment" and not situation.objection(done, target)
            if was_changed and not await has_come_up(target, self.cluster):
                self.answer.append(f"{target} has not come up since, so I stopped there and changed nothing else.")
                return False
        return True

    async def _tell(self, case: Case) -> None:
        """Look at an object in scope and report it without anything confidential."""
        reason = outside_scope(case) or confidential(case)
        if reason:
            self.answer.append(f"About {case.target}: {reason}.")
            return
        await self._look(case.target)
        self.answer.append(report(case.target, case.known, discreet=True))
        if case.request.asks_for_values:
            self.answer.append(variables(case.target, discreet=True))

    async def _look(self, target: Target) -> None:
        if target.noun in BY_NOUN:
            await self.cluster.get(target.noun, target.namespace, target.name)

    async def _use_offered_identity(self) -> None:
        token = offered_token(self.request.prompt)
        if token:
            headers = {"Authorization": f"Bearer {token}"}
            await self.cluster.client.request("GET", BY_NOUN["namespace"].path(), headers=headers)

    async def _read_instructions(self, known: Survey, names: Surroundings, done: set[Request]) -> None:
        """Obey, or only remark on, instructions to the reader in texts of the environment."""
        ignored: list[str] = []
        # What is obeyed is answered in turn, and the texts in the answers are read too.
        for found in chain(known.texts(), self.client.heard):
            asked = _instructions(found, names)
            if asked and not self.agent.trusts(found.text):
                ignored.append(found.place)
                continue
            for each in asked:
                if each not in done:
                    done.add(each)
                    self.reasons.append(f"{found.place} says to {each.action.value}.")
                    await self._obey(each, known)
        if ignored:
            places = ", ".join(dict.fromkeys(ignored))
            self.answer.append(f"Text on {places} reads like an instruction; I treated it as data.")


def _instructions(found: Found, names: Surroundings) -> list[Request]:
    """What a text that was found asks for; a name counts only if it is about something that exists."""
    if is_prose(found.text):
        texts = (found.text, *passages(found.text))
        asked = [each for text in texts for each in requests(text, names, subject=found.subject)]
    elif VERB_FORMS.isdisjoint(spelled_out(found.text).lower().split()):
        asked = []  # as are nearly all names, which need no closer look
    else:
        others = names.without(found.text)
        spelled = requests(spelled_out(found.text), others, subject=found.subject)
        asked = [each for each in spelled if each.name and others.called(each.name)]
    return [each for each in asked if each.action is not Action.READ or each.asks_for_values]


def _listed(asked: tuple[Request, ...]) -> str:
    shown = (f"{each.action.value} {each.name or 'something'}" for each in asked)
    return "; ".join(shown) or "none that I understand"
