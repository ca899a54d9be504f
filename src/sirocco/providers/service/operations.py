"""The operations of the provider contract on live environments: request bodies in, answers out."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.domain import Domain
from sirocco.oasis.observation import Observation, ObservationType
from sirocco.oasis.provider import Conformance
from sirocco.oasis.wire import Wire
from sirocco.providers.service import presentation, requests
from sirocco.providers.service.differences import object_diff, state_diff
from sirocco.providers.service.refusals import BadRequest
from sirocco.providers.service.registry import Live, Registry

Json = Mapping[str, Any]
STATE_DIFF = "state_diff"
EXTENSIONS = ("plan", "reactions", "response_content", "seed", "stimuli", "triggers")
"""The supported extensions of the standard, by the names that clients ask for."""


class Operations:
    """The operations that runners can request; raise BadRequest for a malformed request."""

    def __init__(self, registry: Registry, clock: Callable[[], str], domain: Domain) -> None:
        self._registry = registry
        self._domain = domain
        self._wire = domain.wire
        self._clock = clock

    async def conformance(self, profile: str) -> dict[str, Any]:
        """The provider's declaration, with the service's additions."""
        declared = await self._registry.provider.conformance(profile)
        return {**declared.document(), **_with_extensions(declared), "extensions": list(EXTENSIONS)}

    async def plan(self, body: Json) -> dict[str, Any]:
        """The parts of a scenario that cannot be established, determined before anything is set up (CO-15)."""
        return {
            "unsupported": list(
                self._registry.provider.unsupported_demands(
                    requests.planned_scenario(body, self._domain.environment_type)
                )
            )
        }

    async def provision(self, body: Json) -> dict[str, Any]:
        """A new environment and the agent's access to it; all values of the credentials are texts."""
        request = requests.provision_request(body, self._domain.environment_type, secrets.randbits(128))
        live = await self._registry.open(request)
        access = live.environment.access
        document = access.document()
        answer: dict[str, Any] = {
            "environment_id": live.id,
            "status": "ready",
            "agent_principal": live.environment.agent_principal,
            "agent_source": live.environment.agent_source,
            "resolved_namespaces": dict(live.environment.resolved_namespaces),
            "registered_values": self._wire.registered_values(live.before, request.preconditions.environment.state),
        }
        if access.served:
            answer["agent_endpoint"] = access.served.server
        for key in ("services", "mcp"):
            if key in document:
                answer[key] = document[key]
        return {**answer, "agent_credentials": self._wire.credentials(access)}

    async def inject_state(self, body: Json) -> dict[str, Any]:
        """Further state, or a stimulus, now or at a trigger."""
        live = self._find_live(body)
        asked = requests.injection(body)
        if asked.stimulus is not None:
            await live.environment.inject(asked.stimulus, asked.trigger)
        else:
            await live.environment.establish(asked.state, asked.trigger)
        if asked.trigger is None:
            return {"status": "applied"}
        return {"status": "armed", "trigger_id": secrets.token_hex(8), "trigger": {"timing": asked.trigger}}

    async def observe(self, body: Json) -> dict[str, Any]:
        """One observation with its source."""
        live = self._find_live(body)
        kind = _observation_type(body.get("observation_type"), self._domain.environment_type)
        parameters = body.get("parameters") or {}
        if not isinstance(parameters, Mapping):
            raise BadRequest("parameters is not an object")
        looked_at = ObservationType.RESOURCE_STATE if kind == STATE_DIFF else ObservationType(kind)
        observation = await live.environment.observe(looked_at)
        return {
            "environment_id": live.id,
            "timestamp": observation.timestamp,
            "observation_type": kind,
            "data": _data(kind, live, observation, parameters, self._domain),
            "evidence_source": {
                "type": observation.evidence_source.type,
                "status": str(observation.evidence_source.status),
            },
        }

    async def state_snapshot(self, body: Json) -> dict[str, Any]:
        """All objects, or the requested ones, given as `Kind/name` or as objects with kind and name."""
        live = self._find_live(body)
        observation = await live.environment.observe(ObservationType.RESOURCE_STATE)
        if problem := self._domain.record.problem(observation):
            raise ProviderFault("state-snapshot", problem, "ask again", FaultKind.UNREACHABLE)
        objects = observation.data["objects"]
        wanted = body.get("resources") or []
        if not isinstance(wanted, list):
            raise BadRequest("resources is not a list")
        elements = [self._wire.object_document(item) for item in objects]
        if wanted:
            elements = [_element(objects, item, live, self._wire) for item in wanted]
        return {"environment_id": live.id, "timestamp": self._clock(), "resources": elements}

    async def teardown(self, body: Json) -> dict[str, Any]:
        """Tear an environment down; repeating this is no error."""
        await self._registry.close(_identity(body))
        return {"status": "destroyed"}

    def _find_live(self, body: Json) -> Live:
        return self._registry.find(_identity(body))


def _with_extensions(declared: Conformance) -> dict[str, Any]:
    sources = declared.requirements.get("evidence_sources_available")
    requirements = dict(declared.requirements)
    if isinstance(sources, list) and STATE_DIFF not in sources:
        requirements["evidence_sources_available"] = sorted([*sources, STATE_DIFF])
    unmet = [item.document() for item in declared.unmet_requirements]
    return {"requirements": requirements, "unmet_requirements": unmet}


def _data(kind: str, live: Live, observation: Observation, parameters: Json, domain: Domain) -> dict[str, Any]:
    """The data of an observation; without an available source there is none to convert."""
    if domain.record.problem(observation):
        return dict(observation.data)
    wire = domain.wire
    match kind:
        case ObservationType.AUDIT_LOG:
            asked, recorded = _resolve_namespace(live, parameters), observation.data["entries"]
            entries = presentation.log_documents(recorded, asked, live.arrivals, wire)
            return {"entries": list(entries), "agent_principal": live.environment.agent_principal}
        case ObservationType.RESOURCE_STATE:
            return _resource_state(live, observation.data["objects"], parameters, wire)
        case "state_diff":
            kind, name, namespace = _named_object(live, parameters)
            objects = observation.data["objects"]
            if not kind or not name:
                return state_diff(live.before, objects, wire)
            before, after = (wire.find_object(items, kind, name, namespace) for items in (live.before, objects))
            return object_diff(before, after, wire)
        case _:
            return dict(observation.data)


def _resource_state(live: Live, objects: list[Json], parameters: Json, wire: Wire) -> dict[str, Any]:
    kind, name, namespace = _named_object(live, parameters)
    if not kind or not name:
        return {"objects": objects}
    found = wire.find_object(objects, kind, name, namespace)
    if found is None:
        return presentation.absent_element(kind, name, namespace)
    return wire.object_document(found)


def _element(objects: list[Json], wanted: Any, live: Live, wire: Wire) -> dict[str, Any]:
    if isinstance(wanted, str):
        kind, _, name = wanted.partition("/")
        wanted = {"kind": kind, "name": name}
    if not isinstance(wanted, Mapping):
        raise BadRequest("an element of resources is neither a text nor an object")
    kind, name, namespace = _named_object(live, wanted)
    found = wire.find_object(objects, kind, name, namespace)
    return wire.object_document(found) if found else presentation.absent_element(kind, name, namespace)


def _named_object(live: Live, parameters: Json) -> tuple[str, str, str]:
    resolved = _resolve_namespace(live, parameters)
    kind, name, namespace = (presentation.parameter(resolved, key) for key in ("kind", "name", "namespace"))
    return kind, name, namespace


def _resolve_namespace(live: Live, parameters: Json) -> Json:
    """The parameters with the declared namespace replaced by the actual one."""
    namespace = parameters.get("namespace")
    if not isinstance(namespace, str):
        return parameters
    return {**parameters, "namespace": live.environment.resolved_namespaces.get(namespace, namespace)}


def _observation_type(asked: Any, environment_type: str) -> str:
    """The requested type, given by its name or by words that describe it."""
    if not isinstance(asked, str):
        raise BadRequest("observation_type is missing")
    known = {*map(str, ObservationType), STATE_DIFF}
    if asked in known:
        return asked
    found = next((kind for words, kind in _descriptions(environment_type) if words in asked.lower()), None)
    if found is None:
        raise BadRequest(f"observation_type {asked!r} is not one of {', '.join(sorted(known))}")
    return found


def _descriptions(environment_type: str) -> Iterator[tuple[str, str]]:
    """Descriptions of observations and the types they mean; words of the environment type describe its state, too."""
    yield "audit", str(ObservationType.AUDIT_LOG)
    for word in ("resource", *environment_type.split("-")):
        yield f"{word} state", str(ObservationType.RESOURCE_STATE)
    for words in ("state diff", "state comparison", "before/after", "before and after"):
        yield words, STATE_DIFF


def _identity(body: Json) -> str:
    identity = body.get("environment_id")
    if not isinstance(identity, str) or not identity:
        raise BadRequest("environment_id is missing")
    return identity
