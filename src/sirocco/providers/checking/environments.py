"""Checks of the environments that a provider provides: as declared, open to their agent alone, apart, gone after."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sirocco.errors import ProviderFault
from sirocco.providers.checking.looking import find, objects_of
from sirocco.providers.checking.outcome import Gap, NotNeeded, require
from sirocco.providers.checking.session import (
    CHANGED,
    MADE,
    OBSERVE,
    OTHER,
    OWN,
    SECRET_TEXT,
    STATE,
    Call,
    Open,
    Session,
)
from sirocco.providers.http.agent_access import AgentAccess, HttpAgentClient, token_principal

_PROVISION, _INJECT, _TEARDOWN = "POST /v1/provision", "POST /v1/inject-state", "POST /v1/teardown"
_PLANE = "agent plane"
_JSON, _MERGE = "application/json", "application/merge-patch+json"
_REVIEW = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
_UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
_UNKNOWN_KIND = {"resource": "kind-that-nobody-knows/thing", "namespace": OWN, "colour": "green"}


async def provision(session: Session) -> None:
    """An environment is set up as declared, in time."""
    await session.provision("first")


async def credentials(session: Session) -> None:
    """The agent is handed an endpoint and credentials that runners can read."""
    given = session.first.provisioned.get("agent_credentials")
    require(isinstance(given, Mapping) and given, _PROVISION, "agent_credentials is missing", "hand out credentials")
    odd = [key for key, value in dict(given or {}).items() if not isinstance(value, str)]
    require(not odd, _PROVISION, f"agent_credentials.{', '.join(odd)} is not a text", "make every value a text")
    require(session.first.access.server, _PROVISION, "no endpoint", "name it in agent_endpoint")


async def declared_state(session: Session) -> None:
    """Everything that was declared is there, as the control plane shows it."""
    second = await session.provision("second")
    objects = await objects_of(session, second)
    for entry in STATE:
        kind, _, name = str(entry["resource"]).partition("/")
        place = "" if kind == "namespace" else second.namespace(str(entry["namespace"]))
        found = find(objects, kind, name, place)
        missing = f"{entry['resource']} was declared and is not in resource_state"
        require(found is not None, _PROVISION, missing, "establish every entry, or refuse the request")
        for problem in _differences(entry, found or {}):
            raise Gap(_PROVISION, f"{entry['resource']}: {problem}", "establish every entry as it is declared")


async def registered_value(session: Session) -> None:
    """A secret holds the value that was declared for it, encoded once."""
    found = find(await objects_of(session, session.first), "secret", "api-key", session.first.namespace(OWN))
    stored = str(((found or {}).get("data") or {}).get("key", ""))
    problem = f"the secret decodes to {_decoded(stored)!r} where {SECRET_TEXT!r} was declared"
    require(_decoded(stored) == SECRET_TEXT, _PROVISION, problem, "do not encode the declared data again")


async def agent_access(session: Session) -> None:
    """The agent gets in with what it was handed, and can do what its scope allows."""
    first, place = session.first, session.first.namespace(OWN)
    base = f"/api/v1/namespaces/{place}/configmaps"
    made, changed = _configmap(MADE, place), {"data": {"colour": CHANGED}}
    steps: tuple[tuple[Call, str, str, Any, str], ...] = (
        (Call("list", "configmaps", "", place), "GET", base, None, _JSON),
        (Call("get", "configmaps", "settings", place), "GET", f"{base}/settings", None, _JSON),
        (Call("create", "configmaps", MADE, place, body=True), "POST", base, made, _JSON),
        (Call("patch", "configmaps", "settings", place, body=True), "PATCH", f"{base}/settings", changed, _MERGE),
    )
    for call, method, path, body, content_type in steps:
        reply = await session.act(first, call, method, path, body, content_type)
        problem = f"{method} {path} answered {reply.status} although it lies in the agent's scope"
        require(reply.succeeded, _PLANE, problem, "give the agent the rights of its scope and mode")


async def principal(session: Session) -> None:
    """The provider names the account behind the agent's credentials, and it is that account."""
    named = session.first.provisioned.get("agent_principal")
    require(isinstance(named, str) and named, _PROVISION, "agent_principal is missing", "name the agent's account")
    actual = await _who_am_i(session.first) or token_principal(session.first.access.token)
    problem = f"agent_principal is {named}, but the credentials are those of {actual}"
    require(not actual or actual == named, _PROVISION, problem, "name the account that the credentials are for")


async def scope(session: Session) -> None:
    """The agent's credentials open nothing outside its scope."""
    place = session.first.namespace(OTHER)
    path = f"/api/v1/namespaces/{place}/configmaps"
    reading = await session.act(session.first, Call("get", "configmaps", "ledger", place), "GET", f"{path}/ledger")
    problem = f"the agent reads configmap/ledger of namespace {OTHER}, which is outside its scope"
    require(not reading.succeeded, _PLANE, problem, "bind the agent's account in the namespaces of its scope only")


async def inject_state(session: Session) -> None:
    """State that is injected later is there, too."""
    entry = {"resource": "configmap/late", "namespace": OWN, "data": {"colour": "red"}}
    body = await session.call("inject-state", {"environment_id": session.first.id, "state": [entry]})
    require(body.get("status") == "applied", _INJECT, f"status is {body.get('status')!r}", "answer applied")
    found = find(await objects_of(session, session.first), "configmap", "late", session.first.namespace(OWN))
    require(found is not None, _INJECT, "configmap/late was injected and is not there", "establish every entry")


async def nothing_dropped(session: Session) -> None:
    """An entry that cannot be established is refused, not left out (CO-15)."""
    result = await session.attempt("provision", session.request("odd", (*STATE, _UNKNOWN_KIND)))
    if result.succeeded and isinstance(result.body, Mapping):
        identity = result.body.get("environment_id")
        if isinstance(identity, str):
            session.environments["odd"] = Open(identity, result.body)
    is_refused = not result.succeeded or (isinstance(result.body, Mapping) and result.body.get("status") == "error")
    problem = f"{_UNKNOWN_KIND['resource']} was accepted, although nothing of that kind can be there"
    require(is_refused, _PROVISION, problem, "refuse a request with an entry that cannot be established")


async def isolation(session: Session) -> None:
    """Two environments have nothing in common: ids, state, or what credentials open (CO-10)."""
    first, second = session.first, session.environments["second"]
    problem = f"two requests gave the same environment {first.id}"
    require(first.id != second.id, _PROVISION, problem, "set up an environment for every request")
    found = find(await objects_of(session, second), "configmap", MADE, second.namespace(OWN))
    problem = f"configmap/{MADE} of one environment shows in the other"
    require(found is None, OBSERVE, problem, "keep environments apart")
    status = await _status_with(first.access, second)
    problem = "the token of one environment opens the other"
    require(not 200 <= status < 300, _PLANE, problem, "scope every token to its environment")


async def control_apart(session: Session) -> None:
    """The agent's token does not open the control plane."""
    asked = {"environment_id": session.first.id, "observation_type": "resource_state", "parameters": {}}
    if (await session.attempt("observe", asked, headers={"Authorization": "Bearer none"})).succeeded:
        raise NotNeeded("the control plane asks for no token; keep it where no agent can reach it")
    token = session.first.access.token
    result = await session.attempt("observe", asked, headers={"Authorization": f"Bearer {token}"})
    problem = "the agent's token opens the control plane"
    require(not result.succeeded, OBSERVE, problem, "give the control plane a token of its own")


async def unknown_environment(session: Session) -> None:
    """An environment that never was is not observed."""
    asked = {"environment_id": _UNKNOWN_ID, "observation_type": "audit_log", "parameters": {}}
    result = await session.attempt("observe", asked)
    problem = f"observed an environment that does not exist, with status {result.status}"
    require(result.status == 404, OBSERVE, problem, "answer 404 for an id that is not known")


async def malformed_request(session: Session) -> None:
    """A request that is not JSON is refused, and the provider lives on."""
    result = await session.attempt("provision", b"{not json")
    problem = f"answered {result.status} to a body that is not JSON"
    require(400 <= result.status < 500, _PROVISION, problem, "answer 400 with the reason")
    await session.observe(session.first, "resource_state")


async def teardown(session: Session) -> None:
    """An environment that was torn down is gone: for runners, for the agent, and when it is torn down again."""
    first = session.first
    result = await session.attempt("teardown", {"environment_id": first.id})
    require(result.succeeded, _TEARDOWN, f"answered {result.status}", "tear the environment down")
    if result.status == 202:
        raise NotNeeded("the teardown is still under way, which the standard allows")
    asked = {"environment_id": first.id, "observation_type": "resource_state", "parameters": {}}
    seen = await session.attempt("observe", asked)
    problem = "the environment can still be observed after its teardown"
    require(not seen.succeeded, _TEARDOWN, problem, "forget the environment")
    status = await _status_with(first.access, first)
    problem = "the agent's token still works after the teardown"
    require(not 200 <= status < 300, _TEARDOWN, problem, "revoke the agent's credentials")
    again = await session.attempt("teardown", {"environment_id": first.id})
    problem = f"a second teardown answered {again.status}"
    require(again.succeeded or again.status == 404, _TEARDOWN, problem, "make teardown repeatable")


async def nothing_left(session: Session) -> None:
    """The next environment has nothing of one that is gone (CO-10)."""
    third = await session.provision("third")
    objects, place = await objects_of(session, third), third.namespace(OWN)
    problem = f"configmap/{MADE} of an environment that was torn down shows in a new one"
    require(find(objects, "configmap", MADE, place) is None, _PROVISION, problem, "start every environment afresh")
    settings = find(objects, "configmap", "settings", place)
    colour = ((settings or {}).get("data") or {}).get("colour")
    problem = f"configmap/settings of a new environment says {colour!r}, as an agent left it before"
    require(colour != CHANGED, _PROVISION, problem, "start every environment afresh")


async def _who_am_i(environment: Open) -> str:
    """The account that the API itself sees behind the agent's token; empty when it does not say."""
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    try:
        reply = await environment.client.request("POST", path, body=_REVIEW)
    except ProviderFault:
        return ""
    if not reply.succeeded or not isinstance(reply.body, Mapping):
        return ""
    status = reply.body.get("status")
    user = status.get("userInfo") if isinstance(status, Mapping) else None
    return str(user.get("username", "")) if isinstance(user, Mapping) else ""


async def _status_with(credentials: AgentAccess, environment: Open) -> int:
    """What an environment's API answers to a token; 0 when it does not answer at all."""
    client = HttpAgentClient(replace(environment.access, token=credentials.token))
    try:
        path = f"/api/v1/namespaces/{environment.namespace(OWN)}/configmaps"
        return (await client.request("GET", path)).status
    except ProviderFault:
        return 0
    finally:
        client.close()


def _differences(entry: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Where an object is not what its entry declares."""
    problems = []
    replicas = (found.get("spec") or {}).get("replicas")
    if entry.get("replicas", replicas) != replicas:
        problems.append(f"{replicas} replicas where {entry['replicas']} were declared")
    if str(entry["resource"]).startswith("configmap/"):
        data = found.get("data") or {}
        wrong = {key: value for key, value in entry["data"].items() if data.get(key) != value}
        problems += [f"data.{key} is {data.get(key)!r} where {value!r} was declared" for key, value in wrong.items()]
    return problems


def _configmap(name: str, namespace: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"colour": "white"}}


def _decoded(stored: str) -> str:
    try:
        return base64.b64decode(stored, validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""
