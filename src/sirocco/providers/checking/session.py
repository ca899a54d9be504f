"""The environments of one run of the checks, as the domain's trial declares them, and the calls made in them."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from sirocco.errors import AgentFault, ProviderFault
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.operation import ALL, ANY, Operation
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import StateEntry
from sirocco.oasis.work import Reply
from sirocco.providers.checking.outcome import Gap, require
from sirocco.providers.http import answers
from sirocco.providers.http.control import ControlPlane, Result, message_of

OBSERVE = "POST /v1/observe"
_ID = "environment-under-test"
"""The id that the agent in a check is shown."""


@dataclass(slots=True)
class Open:
    """An environment provisioned for the checks."""

    id: str
    provisioned: Mapping[str, Any]
    calls: list["Call"] = field(default_factory=list)
    access: EnvironmentAccess | None = None
    """The agent's access, once it has been opened."""

    def namespace(self, declared: str) -> str:
        """The actual name of a declared namespace."""
        return answers.resolved_namespaces(self.provisioned).get(declared, declared)


@dataclass(frozen=True, slots=True)
class Call:
    """One call made as the agent, as the audit log must show it."""

    verb: str
    resource: str
    name: str
    namespace: str
    status: int | str
    is_write: bool

    def __str__(self) -> str:
        place = "/".join(part for part in (self.namespace, self.resource, self.name) if part)
        return f"{self.verb} {place} -> {self.status}"


class Session:
    """The state that the checks share."""

    def __init__(self, control: ControlPlane, profile: Profile, tier: int) -> None:
        self.control = control
        self.profile = profile.document
        self.domain = profile.domain
        self.wire = profile.domain.wire
        self.trial = profile.domain.wire.trial
        self.tier = tier
        self.declared: Mapping[str, Any] = {}
        self.environments: dict[str, Open] = {}
        self._accesses = AsyncExitStack()

    @property
    def first_environment(self) -> Open:
        """The environment in which the agent acts."""
        return self.environments["first"]

    async def call(
        self, operation: str, body: Mapping[str, Any] | None = None, *, query: str = ""
    ) -> Mapping[str, Any]:
        """The result of an operation that must succeed with a JSON object; raise Gap otherwise."""
        result = await self.attempt(operation, body, query=query)
        where = self.request_line(operation)
        require(
            result.succeeded,
            where,
            f"answered {result.status}: {message_of(result.body)}",
            "answer 200 with the result",
        )
        require(isinstance(result.body, Mapping), where, "the answer is not a JSON object", "answer with a JSON object")
        require(
            result.body.get("status") != "error", where, f"gave an error with status 200: {message_of(result.body)}",
            "answer with an error status",
        )  # fmt: skip
        answer: Mapping[str, Any] = result.body
        return answer

    async def attempt(
        self, operation: str, body: Mapping[str, Any] | bytes | None = None, *, query: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Result:  # fmt: skip
        """The result of an operation, whatever its status; raise Gap if there is no readable answer."""
        try:
            return await self.control.exchange(operation, body, query=query, headers=headers)
        except ProviderFault as fault:
            remedy = "answer in time, with JSON"
            raise Gap(self.request_line(operation), f"{fault.problem} ({fault.kind})", remedy) from fault

    async def provision(self, name: str) -> Open:
        """A new environment of the trial, stored under a name in the session."""
        body = await self.call("provision", self.request(name))
        where = "POST /v1/provision"
        identity = body.get("environment_id")
        require(isinstance(identity, str) and identity, where, "environment_id is missing", "answer with an opaque id")
        self.environments[name] = Open(str(identity), body)
        require(
            body.get("status", "ready") == "ready", where, f"status is {body.get('status')!r}",
            "answer ready, or an error status",
        )  # fmt: skip
        return self.environments[name]

    def request(self, name: str, *more: StateEntry) -> dict[str, Any]:
        """A provision request with the trial's entries and more; its id reveals nothing to an agent that may see it."""
        declared = self.trial.preconditions.document()
        state = [*declared["environment"]["state"], *(entry.document() for entry in more)]
        environment = {**declared["environment"], "state": state}
        identity = f"{sum(name.encode()):08x}"
        return {"scenario_id": identity, "environment": environment, "agent": declared["agent"], "tier": self.tier}

    async def observe(self, environment: Open, observation_type: str, **parameters: str) -> Mapping[str, Any]:
        """An observation, as the provider returned it."""
        asked = {"environment_id": environment.id, "observation_type": observation_type, "parameters": parameters}
        return await self.call("observe", asked)

    async def access(self, environment: Open) -> EnvironmentAccess:
        """The agent's access to an environment, as it was handed out; raise Gap if there is none."""
        if environment.access is None:
            way = self.wire.open_access(environment.provisioned, _ID)
            try:
                environment.access = await self._accesses.enter_async_context(way)
            except ProviderFault as fault:
                raise Gap("POST /v1/provision", fault.problem, fault.remedy) from fault
        return environment.access

    async def act(self, environment: Open, operation: str, declared_namespace: str) -> Reply:
        """Carry out an operation as the agent in a declared namespace, and record the call."""
        place = environment.namespace(declared_namespace)
        wanted = self._operation(operation, place)
        try:
            *_, reply = await self.domain.work.perform(wanted, await self.access(environment))
        except ProviderFault as fault:
            remedy = "serve the endpoint that was handed out"
            raise Gap("agent plane", f"{fault.problem} ({fault.kind})", remedy) from fault
        except AgentFault as fault:
            raise Gap("agent plane", fault.problem, "give the agent the rights of its scope and mode") from fault
        name = "" if wanted.name in {ANY, ALL} else wanted.name
        environment.calls.append(
            Call(wanted.verb, wanted.resource, name, place, reply.status, is_write=not wanted.is_read)
        )
        return reply

    async def opens(self, token: str, environment: Open) -> bool:
        """Whether an agent with the given token can read anything in an environment."""
        look = self._operation(self.trial.permitted[0], environment.namespace(self.trial.home))
        try:
            async with self.wire.open_access(environment.provisioned, _ID, token) as access:
                *_, reply = await self.domain.work.perform(look, access)
                return reply.succeeded
        except ProviderFault:
            return False

    def _operation(self, text: str, namespace: str) -> Operation:
        vocabulary = self.domain.vocabulary
        return vocabulary.with_default_namespace(vocabulary.operation(text), namespace)

    async def tear_down(self) -> None:
        """Tear down every environment that is left, ignoring failures."""
        await self._accesses.aclose()
        for environment in self.environments.values():
            try:
                await self.control.exchange("teardown", {"environment_id": environment.id})
            except ProviderFault:
                continue

    @staticmethod
    def request_line(operation: str) -> str:
        """The operation as it appears in a log."""
        if operation == "healthz":
            return "GET /healthz"
        return f"{'GET' if operation == 'conformance' else 'POST'} /v1/{operation}"
