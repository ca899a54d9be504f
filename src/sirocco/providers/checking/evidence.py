"""Checks of a provider's evidence: it is complete, attributed, names its source, and is about what was asked for."""

from collections.abc import Mapping
from typing import Any

from sirocco.oasis.observation import ObservationType, SourceStatus
from sirocco.providers.checking.looking import find, is_entry_of, is_marked, objects_of, user_of
from sirocco.providers.checking.outcome import Gap, NotNeeded, require
from sirocco.providers.checking.session import OBSERVE, Session
from sirocco.providers.http import answers


async def audit_log(session: Session) -> None:
    """Every call of the agent, including refused ones, is in the audit log, in order and under its principal."""
    first, wire = session.first_environment, session.wire
    body = await session.observe(first, "audit_log")
    events = list(answers.observation(body, ObservationType.AUDIT_LOG, wire).data.get("entries", ()))
    made = len(first.calls)
    require(events, OBSERVE, f"the audit log is empty although the agent made {made} calls", "read a real audit log")
    token = (await session.access(first)).token
    named = str(first.provisioned.get("agent_principal") or wire.principal_named_by(token))
    position, missing, users = 0, [], set()
    for call in first.calls:
        found = next(
            (number for number in range(position, len(events)) if is_entry_of(events[number], call, named, wire)), None
        )
        if found is None:
            missing.append(call)
            users |= {user_of(event, wire) for event in events if is_entry_of(event, call, None, wire)} - {named}
        else:
            position = found + 1
    if missing and users:
        problem = f"the agent's calls are in the log as those of {', '.join(sorted(users))}, not of {named}"
        raise Gap(OBSERVE, problem, "declare the account under which the agent's calls are logged")
    problem = f"the log lacks {len(missing)} of the agent's {made} calls: {', '.join(map(str, missing))}"
    require(not missing, OBSERVE, problem, "keep every call in order, including refused ones")


async def audit_details(session: Session) -> None:
    """Entries give what was written and the outcome, appear once, and carry the agent's principal."""
    first = session.first_environment
    body = await session.observe(first, "audit_log")
    observation = answers.observation(body, ObservationType.AUDIT_LOG, session.wire)
    if observation.evidence_source.status is SourceStatus.AVAILABLE:
        problem = session.domain.record.problem(observation)
        require(not problem, OBSERVE, f"{problem}", "deliver each entry once and completely")
    events = observation.data.get("entries", ())
    for call in (one for one in first.calls if one.is_write):
        event: Mapping[str, Any] = next((one for one in events if is_entry_of(one, call, None, session.wire)), {})
        problem = f"the entry of {call} has no request body"
        has_body = session.wire.entry_document(event, "").get("request_body")
        require(has_body, OBSERVE, problem, "log the complete bodies of writes")
    data = body.get("data")
    named = data.get("agent_principal") if isinstance(data, Mapping) else None
    declared = first.provisioned.get("agent_principal")
    problem = f"data.agent_principal is {named!r}, provision said {declared!r}"
    require(named == declared, OBSERVE, problem, "name the same account in both")


async def evidence_sources(session: Session) -> None:
    """Every observation names its source, which is available, and is about what was asked for."""
    first = session.first_environment
    for kind in _declared_sources(session):
        body = await session.observe(first, kind)
        source = body.get("evidence_source")
        problem = f"{kind} carries no evidence_source with type and status"
        is_named = isinstance(source, Mapping) and source.get("type") and source.get("status")
        require(is_named, OBSERVE, problem, "say where the data comes from and whether that was reached")
        status = dict(source or {}).get("status")
        require(status == "available", OBSERVE, f"{kind}: the source is {status}", "make the source readable")
        for key, asked in (("environment_id", first.id), ("observation_type", kind)):
            problem = f"asked for {key} {asked}, the answer is about {body.get(key)!r}"
            require(body.get(key) == asked, OBSERVE, problem, f"answer with the {key} that was asked for")


async def state_after(session: Session) -> None:
    """The state shows what the agent changed."""
    trial, objects = session.trial, await objects_of(session, session.first_environment)
    remedy = "read the live state, not a copy"
    changed = find(session, objects, trial.changed, session.first_environment) or {}
    problem = f"{trial.changed} does not say {trial.mark!r} although the agent changed it"
    require(is_marked(changed, trial.mark), OBSERVE, problem, remedy)
    problem = f"{trial.created} is not in resource_state although the agent created it"
    require(find(session, objects, trial.created, session.first_environment), OBSERVE, problem, remedy)


async def state_diff(session: Session) -> None:
    """The difference from the initial state shows what the agent changed."""
    if "state_diff" not in _declared_sources(session):
        raise NotNeeded("the provider does not declare state_diff, which is optional")
    trial = session.trial
    changed = (
        find(session, await objects_of(session, session.first_environment), trial.changed, session.first_environment)
        or {}
    )
    # Providers name objects as their own state does, not as operations do.
    shown = session.wire.object_document(changed)
    named = {key: str(shown[key]) for key in ("kind", "name", "namespace")}
    body = await session.observe(session.first_environment, "state_diff", **named)
    data = body.get("data")
    changes = data.get("changes") if isinstance(data, Mapping) else None
    problem = f"state_diff shows no change of {trial.changed} although the agent changed it"
    require(changes, OBSERVE, problem, "compare with the state at provisioning, field by field")


async def state_without_agent(session: Session) -> None:
    """The environment without the agent shows what was declared, and nothing that the agent did (SI-08)."""
    if "state_without_agent" not in _declared_sources(session):
        raise NotNeeded("the provider does not declare state_without_agent, which is optional")
    trial = session.trial
    body = await session.observe(session.first_environment, "state_without_agent")
    found = answers.observation(body, ObservationType.STATE_WITHOUT_AGENT, session.wire).data.get("objects")
    require(found is not None, OBSERVE, "state_without_agent has no objects", "answer with all objects of that state")
    objects = list(found or ())
    remedy = "set up the same environment again, without an agent"
    changed = find(session, objects, trial.changed, session.first_environment) or {}
    require(changed, OBSERVE, f"state_without_agent lacks {trial.changed}, which was declared", remedy)
    problem = f"state_without_agent shows {trial.changed} as the agent left it ({trial.mark!r})"
    require(not is_marked(changed, trial.mark), OBSERVE, problem, remedy)
    problem = f"state_without_agent shows {trial.created}, which the agent created"
    require(find(session, objects, trial.created, session.first_environment) is None, OBSERVE, problem, remedy)


async def snapshot(session: Session) -> None:
    """The snapshot lists what exists."""
    body = await session.call("state-snapshot", {"environment_id": session.first_environment.id, "resources": []})
    elements, changed = body.get("resources"), session.trial.changed
    names = {element.get("name") for element in elements or () if isinstance(element, Mapping)}
    remedy = "list every object with kind, name and namespace"
    require(changed.name in names, "POST /v1/state-snapshot", f"{changed} is not among the resources", remedy)


def _declared_sources(session: Session) -> list[str]:
    requirements = session.declared.get("requirements")
    declared = requirements.get("evidence_sources_available") if isinstance(requirements, Mapping) else None
    return [kind for kind in declared or () if kind != "value_containment" and isinstance(kind, str)]
