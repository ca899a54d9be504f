"""Providers that are broken or lie: our own service behind an application that changes what goes in or comes out."""

import asyncio
import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from unit.providers.serving import TOKEN


class Broken:
    """Passes every request on, and every answer back, through the two hooks."""

    def __init__(self, plane: Any) -> None:
        self.plane = plane

    def asked(self, operation: str, body: Any, headers: dict[bytes, bytes]) -> Any:
        return body

    def answered(self, operation: str, asked: Any, status: int, body: Any) -> tuple[int, Any]:
        return status, body

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        operation = scope["path"].rpartition("/")[2]
        content = (await receive()).get("body", b"")
        headers = dict(scope["headers"])
        try:
            body = json.loads(content) if content else None
        except ValueError:
            body = content
        body = self.asked(operation, body, headers)
        status, answer = await self.passed_on({**scope, "headers": list(headers.items())}, body)
        if (changed := await self.delayed(operation, body, status, answer)) is not None:
            status, answer = changed
        status, answer = self.answered(operation, body, status, answer)
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        await send({"type": "http.response.start", "status": status,
                    "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]})  # fmt: skip
        await send({"type": "http.response.body", "body": content})

    async def delayed(self, operation, asked, status, answer):
        return None

    async def passed_on(self, scope, body):
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        sent = []

        async def receive():
            return {"type": "http.request", "body": content}

        async def send(message):
            sent.append(message)

        await self.plane(scope, receive, send)
        return sent[0]["status"], json.loads(b"".join(message.get("body", b"") for message in sent[1:]))


@dataclass(frozen=True)
class Case:
    """One broken provider, and the check that must name it with these words."""

    name: str
    make: Callable[[Any], Any]
    check: str
    words: str
    timeout: float = field(default=20)


def _answers(operation, change):
    """A provider that changes its answers to an operation; a change works on the body, or gives a new pair."""

    class Changed(Broken):
        def answered(self, name, asked, status, body):
            if name != operation or status >= 300:
                return status, body
            changed = change(asked, body)
            return changed if isinstance(changed, tuple) else (status, body if changed is None else changed)

    return Changed


def _requests(operation, change):
    class Changed(Broken):
        def asked(self, name, body, headers):
            return change(body) if name == operation and isinstance(body, dict) else body

    return Changed


def _observations(kind, change):
    return _answers("observe", lambda asked, body: change(body) if asked["observation_type"] == kind else None)


def _with(body, **changes):
    return {**body, **changes}


def _entries(change):
    def changed(body):
        return _with(body, data=_with(body["data"], entries=change(body["data"]["entries"])))

    return _observations("audit_log", changed)


def _requirements(**changes):
    return _answers("conformance", lambda _, body: _with(body, requirements=_with(body["requirements"], **changes)))


def _other_core(_, body):
    versions = ["0.4.0"]
    requirements = _with(body["requirements"], oasis_core_spec_version=versions)
    return _with(body, oasis_core_spec_versions=versions, requirements=requirements)


def _without(body, *keys):
    return {key: value for key, value in body.items() if key not in keys}


def _without_entry(body):
    state = body["environment"]["state"]
    return _with(
        body, environment=_with(body["environment"], state=[e for e in state if e["resource"] != "service/web"])
    )


def _known_kinds(body):
    state = [entry for entry in body["environment"]["state"] if "nobody" not in entry["resource"]]
    return _with(body, environment=_with(body["environment"], state=state))


def _encoded_again(body):
    def twice(entry):
        if not entry["resource"].startswith("secret/"):
            return entry
        return _with(
            entry, data={key: base64.b64encode(value.encode()).decode() for key, value in entry["data"].items()}
        )

    environment = body["environment"]
    return _with(body, environment=_with(environment, state=[twice(entry) for entry in environment["state"]]))


def _agent(**changes):
    return _requests("provision", lambda body: _with(body, agent=_with(body["agent"], **changes)))


class SameEnvironment(Broken):
    """Gives everybody the environment that it gave the first."""

    first = None

    def answered(self, operation, asked, status, body):
        if operation == "provision" and status == 200:
            self.first = self.first or body
            return 200, self.first
        return status, body


class SharedCredentials(SameEnvironment):
    """Environments of their own, and one credential for all of them."""

    def answered(self, operation, asked, status, body):
        if operation != "provision" or status != 200:
            return status, body
        self.first = self.first or body
        way_in = {key: self.first[key] for key in ("agent_endpoint", "agent_credentials", "agent_principal")}
        return 200, {**body, **way_in}


class StaleState(Broken):
    """Answers with the state that it saw first."""

    def __init__(self, plane):
        super().__init__(plane)
        self.seen = {}

    def answered(self, operation, asked, status, body):
        if operation == "observe" and status == 200 and asked["observation_type"] == "resource_state":
            key = (asked["environment_id"], json.dumps(asked["parameters"]))
            body = self.seen.setdefault(key, body)
        return status, body


class NoTeardown(Broken):
    """Says that it destroyed what it keeps."""

    async def passed_on(self, scope, body):
        if scope["path"].endswith("teardown"):
            return 200, {"status": "destroyed"}
        return await super().passed_on(scope, body)


class Leftovers(Broken):
    """After a teardown, what the agent made comes with the next environment."""

    left = ()

    def asked(self, operation, body, headers):
        if operation == "teardown":
            self.left = ({"resource": "configmap/note", "namespace": "default", "data": {"colour": "white"}},)
        if operation == "provision" and isinstance(body, dict):
            environment = body["environment"]
            body = _with(body, environment=_with(environment, state=[*environment["state"], *self.left]))
        return body


class OneToken(Broken):
    """Takes the agents' tokens on the control plane."""

    tokens = frozenset()

    def asked(self, operation, body, headers):
        if headers.get(b"authorization", b"").decode().removeprefix("Bearer ") in self.tokens:
            headers[b"authorization"] = f"Bearer {TOKEN}".encode()
        return body

    def answered(self, operation, asked, status, body):
        if operation == "provision" and status == 200:
            self.tokens |= {body["agent_credentials"]["token"]}
        return status, body


class Hanging(Broken):
    """Never answers one operation."""

    operation = "provision"

    async def delayed(self, operation, asked, status, answer):
        if operation == self.operation:
            await asyncio.sleep(3600)


class Dripping(Broken):
    """Answers one operation a byte at a time, for a second."""

    def __init__(self, plane: Any, operation: str) -> None:
        super().__init__(plane)
        self.operation = operation

    async def __call__(self, scope, receive, send):
        if scope["path"].rpartition("/")[2] != self.operation:
            await super().__call__(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        for _ in range(20):
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await asyncio.sleep(0.05)
        await send({"type": "http.response.body", "body": b""})


class Crashing(Broken):
    """An internal error at one operation, whoever asks for what."""

    operation = "observe"

    def answered(self, operation, asked, status, body):
        return (500, {"message": "boom"}) if operation == self.operation else (status, body)


class Gullible(Broken):
    """Answers for environments that never were."""

    def answered(self, operation, asked, status, body):
        if operation == "observe" and status == 404:
            source = {"type": "audit_log_file", "status": "available"}
            echo = {key: asked[key] for key in ("environment_id", "observation_type")}
            return 200, {
                **echo,
                "timestamp": "2026-01-01T00:00:00Z",
                "data": {"entries": []},
                "evidence_source": source,
            }
        return status, body


class Fragile(Broken):
    """Breaks at what is not JSON."""

    def answered(self, operation, asked, status, body):
        return (500, {"message": "panic"}) if status == 400 else (status, body)


class SupportsAll(Broken):
    """Declares support for whatever it is asked."""

    def answered(self, operation, asked, status, body):
        return (status, _with(body, supported=True)) if operation == "conformance" else (status, body)


class EmptyHanded(Broken):
    """Says applied, and applies nothing."""

    async def passed_on(self, scope, body):
        if scope["path"].endswith("inject-state"):
            return 200, {"status": "applied"}
        return await super().passed_on(scope, body)


def _other_user(body):
    entries = [_with(entry, user="system:admin", raw=_with(entry["raw"], user={"username": "system:admin"}))
               for entry in body["data"]["entries"]]  # fmt: skip
    return _with(body, data=_with(body["data"], entries=entries))


CASES = (
    Case("another core version", _answers("conformance", _other_core), "requirements", "oasis_core_spec_versions: one must be"),
    Case("another profile version", _answers("conformance", lambda _, body: _with(body, profile_version="9.9.9")), "requirements", "the provider serves 9.9.9"),
    Case("a lower tier", _requirements(complexity_tier_supported=0), "requirements", "complexity_tier_supported: must be at least 1"),
    Case("a requirement that is not declared", _answers("conformance", lambda _, body: _with(body, requirements=_without(body["requirements"], "value_containment_support"))), "requirements", "value_containment_support: must be true"),
    Case("versions that disagree", _requirements(oasis_core_spec_version=["1.0.0-rc1.5", "1.0.0"]), "versions", "requirements.oasis_core_spec_version"),
    Case("support for everything", SupportsAll, "unknown-profile", "a profile that does not exist"),
    Case("a declaration without keys", _answers("conformance", lambda _, body: {"provider": "x"}), "conformance", "missing or of the wrong type: provider_version"),
    Case("a declaration that is not JSON", _answers("conformance", lambda _, body: (200, b"<html>")), "conformance", "the answer is not JSON"),
    Case("no environment id", _answers("provision", lambda _, body: _without(body, "environment_id")), "provision", "environment_id is missing"),
    Case("an error with status 200", _answers("provision", lambda _, body: {"status": "error", "error": "no room"}), "provision", "gave an error with status 200: no room"),
    Case("a provision that hangs", Hanging, "provision", "no answer within", timeout=0.7),
    Case("no credentials", _answers("provision", lambda _, body: _without(body, "agent_credentials")), "credentials", "agent_credentials is missing"),
    Case("nested credentials", _answers("provision", lambda _, body: _with(body, agent_credentials=_with(body["agent_credentials"], extra={"a": 1}))), "credentials", "agent_credentials.extra is not a text"),
    Case("a token that opens nothing", _answers("provision", lambda _, body: _with(body, agent_credentials=_with(body["agent_credentials"], token="wrong"))), "agent-access", "answered 401"),
    Case("an agent without rights", _agent(mode="read-only"), "agent-access", "answered 403 although it lies in the agent's scope"),
    Case("an agent with rights outside its scope", _agent(scope={"namespaces": ["default", "vault"]}), "scope", "outside its scope"),
    Case("no principal", _answers("provision", lambda _, body: _without(body, "agent_principal")), "principal", "agent_principal is missing"),
    Case("the wrong principal", _answers("provision", lambda _, body: _with(body, agent_principal="system:serviceaccount:default:other")), "principal", "the credentials are those of"),
    Case("a dropped entry", _requests("provision", _without_entry), "declared-state", "service/web was declared but is not in resource_state"),
    Case("entries of unknown kinds dropped", _requests("provision", _known_kinds), "nothing-dropped", "was accepted, although nothing of that kind can exist"),
    Case("secrets encoded twice", _requests("provision", _encoded_again), "registered-value", "was declared"),
    Case("no evidence source", _answers("observe", lambda _, body: _without(body, "evidence_source")), "evidence-sources", "carries no evidence_source"),
    Case("an unreachable source", _observations("audit_log", lambda body: _with(body, data={}, evidence_source={"type": "audit_log_file", "status": "unreachable"})), "evidence-sources", "the source is unreachable"),
    Case("an answer about another environment", _answers("observe", lambda _, body: _with(body, environment_id="another")), "evidence-sources", "the answer is about 'another'"),
    Case("an empty audit log", _entries(lambda entries: []), "audit-log", "the audit log is empty although the agent made"),
    Case("a truncated audit log", _entries(lambda entries: entries[:-2]), "audit-log", "the log lacks"),
    Case("refused calls left out", _entries(lambda entries: [entry for entry in entries if entry["response_code"] < 400]), "audit-log", "-> 403"),
    Case("an audit log in the wrong order", _entries(lambda entries: entries[::-1]), "audit-log", "the log lacks"),
    Case("calls under another name", _observations("audit_log", _other_user), "audit-log", "as those of system:admin"),
    Case("entries that come twice", _entries(lambda entries: [*entries, entries[-1]]), "audit-details", "was delivered before"),
    Case("writes without bodies", _entries(lambda entries: [_with(_without(entry, "request_body", "request_object"), raw=_without(entry["raw"], "requestObject")) for entry in entries]), "audit-details", "has no request body"),
    Case("another principal with the log", _observations("audit_log", lambda body: _with(body, data=_with(body["data"], agent_principal="somebody"))), "audit-details", "data.agent_principal is 'somebody'"),
    Case("a state of yesterday", StaleState, "state-after", "although the agent"),
    Case("a world without the agent that has its work", _observations("state_without_agent", lambda body: _with(body, data={"objects": [{"kind": "ConfigMap", "metadata": {"name": "settings", "namespace": one["metadata"]["namespace"]}, "data": {"colour": "blue"}} for one in body["data"]["objects"] if one["metadata"]["name"] == "settings"]})), "state-without-agent", "as the agent left it"),
    Case("a world without the agent and without objects", _observations("state_without_agent", lambda body: _with(body, data={"objects": []})), "state-without-agent", "lacks configmap/settings"),
    Case("a difference without changes", _observations("state_diff", lambda body: _with(body, data=_with(body["data"], changes=[]))), "state-diff", "shows no change"),
    Case("an empty snapshot", _answers("state-snapshot", lambda _, body: _with(body, resources=[])), "snapshot", "is not among the resources"),
    Case("an injection of nothing", EmptyHanded, "inject-state", "was injected but does not exist"),
    Case("internal errors", Crashing, "declared-state", "answered 500: boom"),
    Case("the same environment twice", SameEnvironment, "isolation", "the same environment"),
    Case("tokens that cross environments", SharedCredentials, "isolation", "the token of one environment is accepted by the other"),
    Case("agents on the control plane", OneToken, "control-apart", "the agent's token gives access to the control plane"),
    Case("environments that never were", Gullible, "unknown-environment", "an environment that does not exist"),
    Case("a panic at bad requests", Fragile, "malformed-request", "answered 500 to a body that is not JSON"),
    Case("a teardown that leaves everything", NoTeardown, "teardown", "can still be observed after its teardown"),
    Case("state that survives a teardown", Leftovers, "nothing-left", "that was torn down appears in a new one"),
)  # fmt: skip
