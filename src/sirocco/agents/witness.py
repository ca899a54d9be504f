"""Witnesses: agents that do what a scenario declares, so that its checks can be seen to pass and to fail (SI-01).

They act through the environment's API like any agent, and nothing that they send or say tells what they are (SI-02).
"""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from sirocco.agents.changes import concrete_paths, value_at
from sirocco.agents.kubernetes import Kubernetes
from sirocco.agents.performance import perform, selector_text
from sirocco.errors import AgentFault
from sirocco.evaluation.snapshot import name_of
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.bound_scenario import BoundScenario, Forbidden, NotContained, Required, StateHolds
from sirocco.oasis.operation import ALL, ANY, Operation, Verb, has_glob, takes
from sirocco.oasis.resource import BY_NOUN, RESOURCE_TYPES, SERVICE_NOUNS, WORKLOADS, resource_type
from sirocco.oasis.scenario import OutputChannel

__all__ = ["Attempt", "DestroyEverything", "Nothing", "Safe", "Violation", "perform"]

_VALUE_REF = re.compile(r"(?P<kind>[a-z]+)/(?P<name>.+?)\.(?P<part>data|stringData|env)\.(?P<key>.+)")
_KEPT_BY_THE_CLUSTER = frozenset({"event", "endpoints", "lease"})
_DONE = "The work is done."


class _Witness:
    """What all witnesses share: a neutral identity, and that they act in the first turn of a conversation only."""

    isolation = "none"

    async def describe(self) -> AgentDescription:
        """Identity and configuration."""
        return AgentDescription(identity=AgentIdentity(name="operator", version="1.0"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Act once; later turns only say so."""
        if any(turn.role == "assistant" for turn in request.conversation):
            return AgentResponse(final_answer="There is nothing to add.")
        return await self.act(request)

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Do what this witness is for."""
        raise NotImplementedError


class Nothing(_Witness):
    """Does nothing."""

    async def act(self, request: AgentRequest) -> AgentResponse:  # noqa: ARG002 - it acts the same on any request
        """Answer without a single call."""
        return AgentResponse(final_answer="I have not changed anything.")


class Safe(_Witness):
    """Does the prompt's legitimate task and nothing else."""

    def __init__(self, bound: BoundScenario) -> None:
        self.bound = bound

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Perform the task; raise AgentFault naming an operation of it that the environment does not carry out."""
        environment = request.environment
        for operation in self.bound.task:
            replies = await perform(operation, environment.client, namespace=environment.namespace)
            if not replies or not all(reply.succeeded for reply in replies):
                answers = ", ".join(str(reply.status) for reply in replies) or "nothing to act on"
                problem = f"the environment does not carry it out ({answers})"
                raise AgentFault(f"task operation {operation}", problem, "correct the task or what is declared for it")
        return AgentResponse(final_answer=_DONE)


class Violation(_Witness):
    """Does what the scenario forbids, in the course of the task: the goal's operation, or telling the goal's value."""

    def __init__(self, bound: BoundScenario) -> None:
        self.bound = bound

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Reach the goal by the environment's own API."""
        goal, environment = self.bound.goal, request.environment
        if goal is None:
            raise AgentFault(self.bound.scenario.id, "no goal is declared", "declare one under x-sirocco.goal")
        for operation in self.bound.task:
            await perform(operation, environment.client, namespace=environment.namespace)
        if goal.operation is not None:
            await perform(goal.operation, environment.client, namespace=environment.namespace)
            return AgentResponse(final_answer=_DONE)
        return await self._tell(str(goal.value_ref), request)

    async def _tell(self, value_ref: str, request: AgentRequest) -> AgentResponse:
        """Let the value out through every channel that a check of it watches."""
        kubernetes = Kubernetes(request.environment.client)
        value = await self._value(value_ref, kubernetes, request.environment.namespace)
        channels = {
            channel
            for predicate in self.bound.predicates
            if isinstance(predicate, NotContained) and predicate.value_ref == value_ref
            for channel in predicate.channels
        } or {OutputChannel.AGENT_RESPONSE}
        if OutputChannel.TOOL_CALL_PARAMETERS in channels:
            path = BY_NOUN["configmap"].path(request.environment.namespace)
            await kubernetes.client.request("GET", path, query={"fieldSelector": f"metadata.name={value}"})
        told = f"It is {value}"
        return AgentResponse(
            final_answer=told if OutputChannel.AGENT_RESPONSE in channels else _DONE,
            reasoning=told if OutputChannel.REASONING_TRACE in channels else "",
        )

    async def _value(self, value_ref: str, kubernetes: Kubernetes, default: str) -> str:
        found = _VALUE_REF.fullmatch(value_ref)
        row = resource_type(found["kind"]) if found else None
        if found and row:
            for namespace in dict.fromkeys((*scenario_namespaces(self.bound), default)):
                item = (await kubernetes.get(row.noun, namespace, found["name"])).body
                value = await _read_value(item, found["part"], found["key"], kubernetes, namespace)
                if value is not None:
                    return value
        raise AgentFault(value_ref, "the API does not show the value", "declare it where the agent can read it")


async def _read_value(item: Any, part: str, key: str, kubernetes: Kubernetes, namespace: str) -> str | None:
    """A value of an object, through references to secrets and configmaps too; None when it is not there."""
    if part != "env":
        stored = value_at(item, ("data", key))
        if not isinstance(stored, str):
            return None
        return b64decode(stored).decode(errors="replace") if item.get("kind") == "Secret" else stored
    for pod in (("spec",), ("spec", "template", "spec")):
        for path in concrete_paths(item, (*pod, "containers", "*", "env", "*")):
            variable = value_at(item, path)
            if variable.get("name") == key:
                return await _variable(variable, kubernetes, namespace)
    return None


async def _variable(variable: Mapping[str, Any], kubernetes: Kubernetes, namespace: str) -> str | None:
    if isinstance(variable.get("value"), str):
        return str(variable["value"])
    for form, noun in (("secretKeyRef", "secret"), ("configMapKeyRef", "configmap")):
        reference = value_at(variable, ("valueFrom", form))
        if isinstance(reference, Mapping):
            item = (await kubernetes.get(noun, namespace, str(reference.get("name")))).body
            return await _read_value(item, "data", str(reference.get("key")), kubernetes, namespace)
    return None


class DestroyEverything(_Witness):
    """Deletes all that it can reach in every namespace that the scenario names, and the namespaces."""

    def __init__(self, bound: BoundScenario) -> None:
        self.bound = bound

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Delete what is listed and what is declared, type by type; refusals are no obstacle."""
        kubernetes = Kubernetes(request.environment.client)
        namespaces = tuple(dict.fromkeys((*scenario_namespaces(self.bound), request.environment.namespace)))
        for namespace in namespaces:
            for row in RESOURCE_TYPES:
                if row.namespaced and row.noun not in _KEPT_BY_THE_CLUSTER:
                    listed = map(name_of, await kubernetes.items(row.noun, namespace))
                    declared = _declared_names(self.bound, row.noun, namespace)
                    for name in dict.fromkeys((*listed, *declared)):
                        await kubernetes.delete(row.noun, namespace, name)
        for namespace in namespaces:
            await kubernetes.delete("namespace", namespace, namespace)
        return AgentResponse(final_answer=_DONE)


class Attempt(_Witness):
    """Performs one forbidden pattern, made concrete against what exists, else against what the scenario declares."""

    def __init__(self, operation: Operation, bound: BoundScenario) -> None:
        self.operation = operation
        self.bound = bound

    async def act(self, request: AgentRequest) -> AgentResponse:
        """Perform the pattern once for each object that it takes."""
        environment = request.environment
        for operation in await self._concrete(Kubernetes(environment.client), environment.namespace):
            await perform(operation, environment.client, namespace=environment.namespace)
        return AgentResponse(final_answer=_DONE)

    async def _concrete(self, kubernetes: Kubernetes, default: str) -> tuple[Operation, ...]:
        pattern = self.operation
        if pattern.verb is Verb.AUTHENTICATE:
            return (pattern,)
        verb = pattern.verb
        if verb is Verb.ANY:
            verb = Verb.PATCH if pattern.path else Verb.SCALE if pattern.replicas is not None else Verb.DELETE
            verb = verb if pattern.resource == ANY or takes(pattern.resource, verb) else Verb.GET
        noun = self._noun(verb)
        namespace = self._namespace(noun, default)
        operation = replace(
            pattern, verb=verb, resource=noun, namespace=namespace if BY_NOUN[noun].namespaced else None
        )
        if not (has_glob(pattern.name) or pattern.name in {ANY, ALL}):
            return (operation,)
        is_broad = pattern.name == ALL or pattern.labels is not None or pattern.any_labels
        if is_broad and verb in {Verb.DELETE, Verb.DELETECOLLECTION, Verb.LIST, Verb.WATCH, Verb.GET}:
            return (operation,)
        names = await self._candidates(kubernetes, operation, namespace)
        chosen = names if is_broad else names[:1]
        return tuple(replace(operation, name=name, labels=None, any_labels=False) for name in chosen)

    async def _candidates(self, kubernetes: Kubernetes, operation: Operation, namespace: str) -> list[str]:
        """Names that the pattern could mean: existing ones, else declared ones, else one made up after the pattern."""
        pattern = ANY if operation.name == ALL else operation.name
        if operation.verb is Verb.CREATE:
            return [_name_after(pattern)]
        names = list(_declared_names(self.bound, operation.resource, namespace))
        if operation.resource not in SERVICE_NOUNS:
            items = await kubernetes.items(operation.resource, namespace, selector_text(operation))
            names = [name_of(item) for item in items] or names
        return [name for name in names if fnmatchcase(name, pattern)] or [_name_after(pattern)]

    def _noun(self, verb: Verb) -> str:
        """The pattern's type; where it leaves that open, one that the verb takes, declared in its namespace."""
        if self.operation.resource != ANY:
            return self.operation.resource
        if verb in {Verb.LOG, Verb.EXEC}:
            return "pod"
        declared = (noun for noun, _, place in _declared(self.bound) if takes(noun, verb) and self._is_place(place))
        others = (noun for noun in ("configmap", "deployment", *sorted(SERVICE_NOUNS)) if takes(noun, verb))
        return next(declared, next(others, "configmap"))

    def _namespace(self, noun: str, default: str) -> str:
        """The pattern's namespace; where it leaves that open, one where the scenario declares such an object."""
        pattern = self.operation.namespace
        if pattern is not None and not has_glob(pattern):
            return pattern
        fitting = (
            namespace
            for declared, name, namespace in _declared(self.bound)
            if declared == noun and fnmatchcase(name, ANY if self.operation.name == ALL else self.operation.name)
        )
        known = (*fitting, default, *scenario_namespaces(self.bound))
        return next((namespace for namespace in known if namespace and self._is_place(namespace)), default)

    def _is_place(self, namespace: str) -> bool:
        return self.operation.namespace is None or fnmatchcase(namespace, self.operation.namespace)


def scenario_namespaces(bound: BoundScenario) -> tuple[str, ...]:
    """Every namespace that the scenario names, in declared state, scope, stimuli, checks, goal or task."""
    scenario = bound.scenario
    predicates = bound.predicates
    operations = [predicate.operation for predicate in predicates if isinstance(predicate, Forbidden | Required)]
    operations += [*bound.task, *([bound.goal.operation] if bound.goal and bound.goal.operation else [])]
    named = [
        *scenario.preconditions.agent.scope.namespaces,
        *(namespace for _, _, namespace in _declared(bound)),
        *(name for noun, name, _ in _declared(bound) if noun == "namespace"),
        *(stimulus.namespace for stimulus in scenario.stimuli),
        *(operation.target_namespace for operation in operations),
        *(predicate.namespace for predicate in predicates if isinstance(predicate, StateHolds)),
    ]
    return tuple(dict.fromkeys(name for name in named if name and name not in {ANY, ALL} and not has_glob(name)))


def _declared(bound: BoundScenario) -> Iterator[tuple[str, str, str]]:
    """Noun, name and namespace of every object that the scenario declares; a workload also stands for its pods."""
    preconditions = bound.scenario.preconditions
    default = next(iter(preconditions.agent.scope.namespaces), "")
    for entry in preconditions.environment.state:
        row = resource_type("configmap" if entry.kind == "runbook" else entry.kind)
        if row is not None and entry.name:
            namespace = (entry.namespace or default) if row.namespaced else ""
            yield row.noun, entry.name, namespace
            if row.noun in WORKLOADS:
                yield "pod", entry.name, namespace


def _name_after(pattern: str) -> str:
    return re.sub(r"\*+|\?", lambda wildcard: "1" if wildcard[0] == "?" else "extra", pattern)


def _declared_names(bound: BoundScenario, noun: str, namespace: str) -> tuple[str, ...]:
    return tuple(name for declared, name, place in _declared(bound) if (declared, place) == (noun, namespace))
