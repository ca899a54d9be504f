"""Checks of provided environments: set up as declared, open to their agent only, isolated, and gone after teardown."""

from collections.abc import Mapping

from sirocco.errors import ProviderFault
from sirocco.oasis.scenario import StateEntry
from sirocco.providers.checking.looking import find, is_marked, objects_of
from sirocco.providers.checking.outcome import Gap, NotNeeded, require
from sirocco.providers.checking.session import OBSERVE, Open, Session

_PROVISION, _INJECT, _TEARDOWN = "POST /v1/provision", "POST /v1/inject-state", "POST /v1/teardown"
_PLANE = "agent plane"
_UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


async def provision(session: Session) -> None:
    """An environment is set up in time."""
    await session.provision("first")


async def credentials(session: Session) -> None:
    """The agent is handed an endpoint and credentials that runners can read."""
    given = session.first_environment.provisioned.get("agent_credentials")
    require(isinstance(given, Mapping) and given, _PROVISION, "agent_credentials is missing", "hand out credentials")
    odd = [key for key, value in dict(given or {}).items() if not isinstance(value, str)]
    require(not odd, _PROVISION, f"agent_credentials.{', '.join(odd)} is not a text", "make every value a text")
    await session.access(session.first_environment)


async def declared_state(session: Session) -> None:
    """The control plane shows everything that was declared."""
    second = await session.provision("second")
    objects = await objects_of(session, second)
    for entry in session.trial.preconditions.environment.state:
        place = second.namespace(entry.namespace) if entry.namespace else ""
        found = session.wire.find_object(objects, entry.kind, entry.name, place)
        missing = f"{entry.resource} was declared but is not in resource_state"
        require(found is not None, _PROVISION, missing, "establish every entry, or refuse the request")
        for problem in session.wire.differences(entry, found or {}):
            raise Gap(_PROVISION, f"{entry.resource}: {problem}", "establish every entry as it is declared")


async def registered_value(session: Session) -> None:
    """A value that scenarios can refer to equals the declared one, encoded only once."""
    trial, objects = session.trial, await objects_of(session, session.first_environment)
    state = [_resolve_namespace(entry, session.first_environment) for entry in trial.preconditions.environment.state]
    values = session.wire.registered_values(objects, state)
    problem = f"the state registers {sorted(values)} without the value {trial.planted!r}, which was declared"
    is_there = any(trial.planted in forms for forms in values.values())
    require(is_there, _PROVISION, problem, "do not encode the declared data again")


async def agent_access(session: Session) -> None:
    """With the credentials that it was handed, the agent gets in and can do what its scope allows."""
    for operation in session.trial.permitted:
        reply = await session.act(session.first_environment, operation, session.trial.home)
        problem = f"{operation} was answered {reply.status} although it lies in the agent's scope"
        require(reply.succeeded, _PLANE, problem, "give the agent the rights of its scope and mode")


async def principal(session: Session) -> None:
    """The provider names the account to which the agent's credentials actually belong."""
    named = session.first_environment.provisioned.get("agent_principal")
    require(isinstance(named, str) and named, _PROVISION, "agent_principal is missing", "name the agent's account")
    access = await session.access(session.first_environment)
    try:
        actual = await session.domain.work.own_account(access)
    except ProviderFault:
        actual = ""
    actual = actual or session.wire.principal_named_by(access.token)
    problem = f"agent_principal is {named}, but the credentials are those of {actual}"
    require(not actual or actual == named, _PROVISION, problem, "name the account that the credentials are for")


async def scope(session: Session) -> None:
    """The agent's credentials grant nothing outside its scope."""
    trial = session.trial
    reply = await session.act(session.first_environment, trial.refused, trial.outside)
    problem = f"{trial.refused} succeeds in namespace {trial.outside}, which is outside its scope"
    require(not reply.succeeded, _PLANE, problem, "give the agent's account rights in its scope only")


async def inject_state(session: Session) -> None:
    """State that is injected later also appears."""
    entry = session.trial.late
    body = await session.call(
        "inject-state", {"environment_id": session.first_environment.id, "state": [entry.document()]}
    )
    require(body.get("status") == "applied", _INJECT, f"status is {body.get('status')!r}", "answer applied")
    place = session.first_environment.namespace(entry.namespace or "")
    found = session.wire.find_object(
        await objects_of(session, session.first_environment), entry.kind, entry.name, place
    )
    require(found is not None, _INJECT, f"{entry.resource} was injected but does not exist", "establish every entry")


async def nothing_dropped(session: Session) -> None:
    """An entry that cannot be established is refused, not left out (CO-15)."""
    entry = session.trial.impossible
    result = await session.attempt("provision", session.request("odd", entry))
    if result.succeeded and isinstance(result.body, Mapping):
        identity = result.body.get("environment_id")
        if isinstance(identity, str):
            session.environments["odd"] = Open(identity, result.body)
    is_refused = not result.succeeded or (isinstance(result.body, Mapping) and result.body.get("status") == "error")
    problem = f"{entry.resource} was accepted, although nothing of that kind can exist"
    require(is_refused, _PROVISION, problem, "refuse a request with an entry that cannot be established")


async def isolation(session: Session) -> None:
    """Two environments share neither id nor state, and the credentials of one do not work in the other (CO-10)."""
    first, second, created = session.first_environment, session.environments["second"], session.trial.created
    problem = f"two requests gave the same environment {first.id}"
    require(first.id != second.id, _PROVISION, problem, "set up an environment for every request")
    found = find(session, await objects_of(session, second), created, second)
    require(found is None, OBSERVE, f"{created} of one environment appears in the other", "keep environments apart")
    token = (await session.access(first)).token
    problem = "the token of one environment is accepted by the other"
    require(not await session.opens(token, second), _PLANE, problem, "scope every token to its environment")


async def control_apart(session: Session) -> None:
    """The agent's token does not give access to the control plane."""
    asked = {"environment_id": session.first_environment.id, "observation_type": "resource_state", "parameters": {}}
    if (await session.attempt("observe", asked, headers={"Authorization": "Bearer none"})).succeeded:
        raise NotNeeded("the control plane asks for no token; keep it where no agent can reach it")
    token = (await session.access(session.first_environment)).token
    result = await session.attempt("observe", asked, headers={"Authorization": f"Bearer {token}"})
    problem = "the agent's token gives access to the control plane"
    require(not result.succeeded, OBSERVE, problem, "give the control plane a separate token")


async def unknown_environment(session: Session) -> None:
    """An environment that never existed cannot be observed."""
    asked = {"environment_id": _UNKNOWN_ID, "observation_type": "audit_log", "parameters": {}}
    result = await session.attempt("observe", asked)
    problem = f"observed an environment that does not exist, with status {result.status}"
    require(result.status == 404, OBSERVE, problem, "answer 404 for an id that is not known")


async def malformed_request(session: Session) -> None:
    """A request that is not JSON is refused, and the provider keeps working."""
    result = await session.attempt("provision", b"{not json")
    problem = f"answered {result.status} to a body that is not JSON"
    require(400 <= result.status < 500, _PROVISION, problem, "answer 400 with the reason")
    await session.observe(session.first_environment, "resource_state")


async def teardown(session: Session) -> None:
    """After a teardown the environment is gone for runners and for the agent, and a second teardown is no error."""
    first = session.first_environment
    result = await session.attempt("teardown", {"environment_id": first.id})
    require(result.succeeded, _TEARDOWN, f"answered {result.status}", "tear the environment down")
    if result.status == 202:
        raise NotNeeded("the teardown is still in progress, which the standard allows")
    asked = {"environment_id": first.id, "observation_type": "resource_state", "parameters": {}}
    seen = await session.attempt("observe", asked)
    problem = "the environment can still be observed after its teardown"
    require(not seen.succeeded, _TEARDOWN, problem, "forget the environment")
    token = (await session.access(first)).token
    problem = "the agent's token still works after the teardown"
    require(not await session.opens(token, first), _TEARDOWN, problem, "revoke the agent's credentials")
    again = await session.attempt("teardown", {"environment_id": first.id})
    problem = f"a second teardown answered {again.status}"
    require(again.succeeded or again.status == 404, _TEARDOWN, problem, "make teardown repeatable")


async def nothing_left(session: Session) -> None:
    """A new environment contains nothing from an earlier one (CO-10)."""
    third, trial = await session.provision("third"), session.trial
    objects = await objects_of(session, third)
    problem = f"{trial.created} of an environment that was torn down appears in a new one"
    require(find(session, objects, trial.created, third) is None, _PROVISION, problem, "start every environment afresh")
    changed = find(session, objects, trial.changed, third) or {}
    problem = f"{trial.changed} of a new environment still says {trial.mark!r}, written by an earlier agent"
    require(not is_marked(changed, trial.mark), _PROVISION, problem, "start every environment afresh")


def _resolve_namespace(entry: StateEntry, environment: Open) -> StateEntry:
    """An entry with the declared namespace replaced by the actual one."""
    if entry.namespace is None:
        return entry
    return entry.model_copy(update={"namespace": environment.namespace(entry.namespace)})
