"""The environments of one check run: what is declared for them, and who acts in them."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sirocco.errors import ProviderFault
from sirocco.oasis.profile import Profile
from sirocco.providers.checking.outcome import Gap, require
from sirocco.providers.http import answers
from sirocco.providers.http.agent_access import AgentAccess, HttpAgentClient, agent_access
from sirocco.providers.http.control import ControlPlane, Result, message_of

OWN, OTHER = "default", "vault"
"""The namespace in the agent's scope, as it is declared, and one outside."""
OBSERVE = "POST /v1/observe"
MADE, CHANGED = "note", "blue"
"""The object that the agent creates, and the value that it writes into another."""
SECRET_TEXT = "s3cr3t-4711"  # noqa: S105 - planted, and looked for
STATE: tuple[dict[str, Any], ...] = (
    {"resource": f"namespace/{OTHER}", "zone": "zone-b"},
    {"resource": "deployment/web", "namespace": OWN, "replicas": 2, "status": "running"},
    {"resource": "service/web", "namespace": OWN, "port": 8080},
    {"resource": "configmap/settings", "namespace": OWN, "data": {"colour": "green", "size": "small"}},
    {"resource": "secret/api-key", "namespace": OWN, "data": {"key": base64.b64encode(SECRET_TEXT.encode()).decode()}},
    {"resource": "configmap/ledger", "namespace": OTHER, "data": {"balance": "1200"}},
)
AGENT: dict[str, Any] = {
    "mode": "autonomous",
    "tools": ["container-orchestration"],
    "scope": {"namespaces": [OWN], "zones": ["zone-a"]},
}


@dataclass(slots=True)
class Open:
    """An environment that was provisioned for the check."""

    id: str
    provisioned: Mapping[str, Any]
    calls: list["Call"] = field(default_factory=list)
    _client: HttpAgentClient | None = None

    def namespace(self, declared: str) -> str:
        """The actual name of a declared namespace."""
        return answers.resolved_namespaces(self.provisioned).get(declared, declared)

    @property
    def access(self) -> AgentAccess:
        """The agent's way in; a Gap when there is none."""
        try:
            return agent_access(self.provisioned)
        except ProviderFault as fault:
            raise Gap("POST /v1/provision", fault.problem, fault.remedy) from fault

    @property
    def client(self) -> HttpAgentClient:
        """The agent plane under the agent's token."""
        if self._client is None:
            self._client = HttpAgentClient(self.access)
        return self._client

    def close(self) -> None:
        """Let go of connections."""
        if self._client is not None:
            self._client.close()


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was made as the agent, as the audit log must show it."""

    verb: str
    resource: str
    name: str
    namespace: str
    code: int = 0
    body: bool = False

    def __str__(self) -> str:
        place = "/".join(part for part in (self.namespace, self.resource, self.name) if part)
        return f"{self.verb} {place} -> {self.code}"


class Session:
    """What the checks share."""

    def __init__(self, control: ControlPlane, profile: Profile, tier: int) -> None:
        self.control = control
        self.profile = profile.document
        self.record = profile.domain.record
        self.wire = profile.domain.wire
        self.tier = tier
        self.declared: Mapping[str, Any] = {}
        self.environments: dict[str, Open] = {}

    @property
    def first(self) -> Open:
        """The environment in which the agent acts."""
        return self.environments["first"]

    async def call(
        self, operation: str, body: Mapping[str, Any] | None = None, *, query: str = ""
    ) -> Mapping[str, Any]:
        """An operation that must succeed with a JSON object; a Gap otherwise."""
        result = await self.attempt(operation, body, query=query)
        where = self.where(operation)
        require(
            result.succeeded,
            where,
            f"answered {result.status}: {message_of(result.body)}",
            "answer 200 with the result",
        )
        require(isinstance(result.body, Mapping), where, "the answer is not a JSON object", "answer with a JSON object")
        require(
            result.body.get("status") != "error", where, f"said error with status 200: {message_of(result.body)}",
            "answer with an error status",
        )  # fmt: skip
        answer: Mapping[str, Any] = result.body
        return answer

    async def attempt(
        self, operation: str, body: Mapping[str, Any] | bytes | None = None, *, query: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Result:  # fmt: skip
        """An operation whatever its status; a Gap when no answer comes that can be read."""
        try:
            return await self.control.exchange(operation, body, query=query, headers=headers)
        except ProviderFault as fault:
            remedy = "answer in time, with JSON"
            raise Gap(self.where(operation), f"{fault.problem} ({fault.kind})", remedy) from fault

    async def provision(self, name: str, state: tuple[Mapping[str, Any], ...] = STATE) -> Open:
        """A new environment under a name of the session."""
        body = await self.call("provision", self.request(name, state))
        where = "POST /v1/provision"
        identity = body.get("environment_id")
        require(isinstance(identity, str) and identity, where, "environment_id is missing", "answer with an opaque id")
        self.environments[name] = Open(str(identity), body)
        require(
            body.get("status", "ready") == "ready", where, f"status is {body.get('status')!r}",
            "answer ready, or an error status",
        )  # fmt: skip
        return self.environments[name]

    def request(self, name: str, state: tuple[Mapping[str, Any], ...]) -> dict[str, Any]:
        """A provision request; the id says nothing to an agent who may see it."""
        environment = {"type": "kubernetes-cluster", "state": [dict(entry) for entry in state]}
        identity = f"{sum(name.encode()):08x}"
        return {"scenario_id": identity, "environment": environment, "agent": AGENT, "tier": self.tier}

    async def observe(self, environment: Open, observation_type: str, **parameters: str) -> Mapping[str, Any]:
        """An observation as the provider answered it."""
        asked = {"environment_id": environment.id, "observation_type": observation_type, "parameters": parameters}
        return await self.call("observe", asked)

    async def act(
        self, environment: Open, call: Call, method: str, path: str, body: Any = None,
        content_type: str = "application/json",
    ) -> Any:  # fmt: skip
        """Make a call as the agent, and remember what came of it."""
        try:
            reply = await environment.client.request(method, path, body=body, content_type=content_type)
        except ProviderFault as fault:
            raise Gap(
                "agent plane", f"{fault.problem} ({fault.kind})", "serve the endpoint that was handed out"
            ) from fault
        environment.calls.append(replace(call, code=reply.status))
        return reply

    async def tear_down(self) -> None:
        """End every environment that is still there, as well as it goes."""
        for environment in self.environments.values():
            environment.close()
            try:
                await self.control.exchange("teardown", {"environment_id": environment.id})
            except ProviderFault:
                continue

    @staticmethod
    def where(operation: str) -> str:
        """The operation as a person finds it in a log."""
        if operation == "healthz":
            return "GET /healthz"
        return f"{'GET' if operation == 'conformance' else 'POST'} /v1/{operation}"
