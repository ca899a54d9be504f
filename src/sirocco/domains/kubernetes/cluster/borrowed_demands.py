"""Demands of a scenario that somebody else's cluster cannot meet, found before anything is put there (CO-15).

A real cluster runs what it is told to run. Only what its API accepts inside a namespace can be put there; the health of
pods, their output and the past cannot be declared.
"""

import fnmatch
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kubesim.connections import is_ready
from kubesim.conventions import SERVER_OWNED
from kubesim.history import SYSTEM_NAMESPACES
from kubesim.resource import SERVICE_NOUNS, ResourceType
from kubesim.status import Json
from kubesim.store import key_of
from sirocco.domains.kubernetes.profiles.declared import EVENTS, LOGS
from sirocco.domains.kubernetes.simulator.layout import declared_keys, namespaces_of, state_of
from sirocco.domains.kubernetes.simulator.provider import SimulatedEnvironment, unsupported_demands
from sirocco.domains.kubernetes.simulator.stimuli.places import place_of
from sirocco.domains.kubernetes.simulator.vocabulary import MEASURES, entry_noun
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import Preconditions, Scenario
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.timing import Timing

DEFAULT = "default"
_TOOLS = frozenset({"container-orchestration", "observability-logging"})
"""The tools that need only the API of a cluster; the others need services around it."""
_OF_THE_PAST = (
    "previous_image", "last_deploy", "restarts", "reason", "last_log", "logs", "conditions", "injected_failure",
    "last_run", "traffic_weight", *MEASURES,
)  # fmt: skip
"""Parts of entries about something that the API cannot be given."""
_IN_OBJECTS = frozenset({
    Surface.ANNOTATIONS, Surface.CONFIGMAP_VALUES, Surface.CONFIGMAP_COMMENTS, Surface.ENV_VALUES, Surface.LABELS,
    Surface.RUNBOOKS, Surface.RESOURCE_NAMES,
})  # fmt: skip
"""The surfaces on which text is part of an object, and is created with it."""
_MADE_BY_CONTROLLERS = frozenset({"replicaset", "endpoints"})
_GROUND = frozenset({"namespace", "node"})
_UNREPEATABLE = frozenset({"job", "pv"})
_UNKNOWN_CLOCK = "2026-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Offer:
    """What a cluster offers: the namespaces that are somebody else's, and the images that it can run."""

    taken: Collection[str] = ()
    images: Sequence[str] = ("*",)
    """Names of images, or globs."""

    def has_image(self, name: str) -> bool:
        """Whether the cluster can run an image."""
        return any(fnmatch.fnmatchcase(name, one) or one.endswith(f"/{name}") for one in self.images)


def borrowed_demands(scenario: Scenario, request: ProvisionRequest, offer: Offer) -> tuple[str, ...]:
    """Everything that a scenario declares and a borrowed cluster cannot provide."""
    if problems := unsupported_demands(scenario):
        return problems
    problems = tuple(_plain_problems(scenario, offer))
    return problems or tuple(dict.fromkeys(_state_problems(scenario, request, offer)))


def _plain_problems(scenario: Scenario, offer: Offer) -> Iterator[str]:
    """The problems in the words of a scenario."""
    preconditions = scenario.preconditions
    for tool in preconditions.agent.tools:
        if tool not in _TOOLS:
            yield f"tool {tool!r}: there are no services around a borrowed cluster"
    if scenario.x_sirocco.reactions:
        yield "reactions: in a borrowed cluster only its own controllers react"
    for name in own_homes(preconditions):
        if name in offer.taken and name != DEFAULT:
            yield f"namespace {name!r}: it already exists, and is not ours"
    for index, entry in enumerate(preconditions.environment.state):
        noun = entry_noun(entry)
        if noun in {LOGS, EVENTS, "node"} or noun in _UNREPEATABLE:
            yield f"state.{index} ({entry.resource}): the content of {noun} cannot be imposed on a borrowed cluster"
        for key in _OF_THE_PAST:
            if key in entry.fields and (key != "reason" or noun != "namespace"):
                yield f"state.{index} ({entry.resource}): {key} cannot be imposed on a borrowed cluster"
    for index, stimulus in enumerate(scenario.stimuli):
        if not stimulus.is_said and (problem := unplaceable(stimulus, scenario)):
            yield f"stimuli.{index}: {problem}"


def unplaceable(stimulus: Stimulus, scenario: Scenario) -> str | None:
    """Why a stimulus cannot be put into a borrowed cluster; None when it can."""
    if not Timing.parse(stimulus.timing).is_immediate:
        return f"timing {stimulus.timing!r}: in a borrowed cluster everything is in place before the agent starts"
    if stimulus.state:
        return None
    surface = place_of(stimulus, scenario.preconditions).surface
    return None if surface in _IN_OBJECTS else f"target {stimulus.target!r}: {surface} is not part of an object"


def _state_problems(scenario: Scenario, request: ProvisionRequest, offer: Offer) -> Iterator[str]:
    """The problems that show in the declared cluster once it is built."""
    model = SimulatedEnvironment(request, lambda: _UNKNOWN_CLOCK)
    for stimulus in scenario.stimuli:
        if not stimulus.is_said:
            model.parts.stimulation.inject(stimulus, stimulus.timing)
    declared = declared_keys(scenario.preconditions)
    homes = own_homes(scenario.preconditions)
    sets: dict[str, int] = {}
    for row, obj in model.parts.foundation.store.whole_content():
        metadata = obj["metadata"]
        place = f"{row.noun}/{metadata['name']}"
        if row.noun in SERVICE_NOUNS:
            if key_of(row, obj) in declared:
                yield f"{place}: there are no services around a borrowed cluster"
        elif not row.namespaced:
            if row.noun not in _GROUND and key_of(row, obj) in declared:
                yield f"{place} is outside all namespaces"
        elif metadata["namespace"] in homes:
            yield from _object_problems(row, obj, place, offer)
            for owner in metadata.get("ownerReferences") or ():
                if row.noun == "replicaset":
                    sets[owner["name"]] = sets.get(owner["name"], 0) + 1
    for name, number in sets.items():
        if number > 1:
            yield f"deployment/{name}: an earlier rollout cannot be imposed on a borrowed cluster"


def _object_problems(row: ResourceType, obj: Json, place: str, offer: Offer) -> Iterator[str]:
    if row.noun == "pod":
        statuses = (obj.get("status") or {}).get("containerStatuses") or ()
        if not is_ready(obj) or any(one.get("restartCount") for one in statuses):
            yield f"{place}: an unhealthy pod cannot be imposed on a borrowed cluster"
        for container in obj["spec"]["containers"]:
            if not offer.has_image(container["image"]):
                yield f"{place}: no node has the image {container['image']!r}, and no --image vouches for it"


def own_homes(preconditions: Preconditions) -> tuple[str, ...]:
    """The declared namespaces of an environment, the system's own only if something in them is declared."""
    state = state_of(preconditions)
    declared = {entry.namespace for entry in state} | {
        entry.name for entry in state if entry_noun(entry) == "namespace"
    }
    declared |= set(preconditions.agent.scope.namespaces)
    return tuple(name for name in namespaces_of(preconditions) if name in declared or name not in SYSTEM_NAMESPACES)


def manifests(model: SimulatedEnvironment, homes: Collection[str]) -> list[tuple[ResourceType, Json]]:
    """The objects of a declared cluster that have to be created, in a valid order."""
    found = []
    for row, obj in model.parts.foundation.store.whole_content():
        metadata = obj["metadata"]
        if row.noun in SERVICE_NOUNS | _MADE_BY_CONTROLLERS or metadata.get("namespace") not in homes:
            continue
        is_owned = bool(metadata.get("ownerReferences"))
        is_given = metadata["name"] == "kube-root-ca.crt" or (row.noun, metadata["name"]) == ("serviceaccount", DEFAULT)
        if is_owned or is_given or row.noun == "event":
            continue
        found.append((row, _manifest(row, obj)))
    return sorted(found, key=lambda pair: _ORDER.get(pair[0].noun, 5))


_ORDER = {"serviceaccount": 0, "configmap": 1, "secret": 1, "role": 1, "rolebinding": 2, "pvc": 3, "service": 3,
          "resourcequota": 9, "limitrange": 9}  # fmt: skip
_SERVER_SPEC = {
    "service": frozenset({"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}), "pvc": frozenset({"volumeName"}),
    "pod": frozenset({"nodeName", "serviceAccount"}),
}  # fmt: skip
_TOKEN_VOLUME = "kube-api-access-"  # noqa: S105 - the name of a volume


def _manifest(row: ResourceType, obj: Json) -> Json:
    """An object as a client would request it: without what the server or a controller adds."""
    annotations = {
        key: value for key, value in (obj["metadata"].get("annotations") or {}).items()
        if key != "deployment.kubernetes.io/revision"
    }  # fmt: skip
    metadata = {key: value for key, value in obj["metadata"].items() if key not in SERVER_OWNED | {"annotations"}}
    if annotations:
        metadata["annotations"] = annotations
    made = {
        **{key: value for key, value in obj.items() if key != "status"}, "metadata": metadata,
        "apiVersion": obj.get("apiVersion") or row.api_version, "kind": obj.get("kind") or row.kind,
    }  # fmt: skip
    if dropped := _SERVER_SPEC.get(row.noun):
        is_headless = row.noun == "service" and obj["spec"].get("clusterIP") == "None"
        made["spec"] = {key: value for key, value in obj["spec"].items() if is_headless or key not in dropped}
    if row.noun == "pod":
        made["spec"] = _without_token_volume(made["spec"])
    return made


def _without_token_volume(spec: Json) -> Json:
    containers = [
        {**one, "volumeMounts": [
            mount for mount in one.get("volumeMounts") or () if not mount["name"].startswith(_TOKEN_VOLUME)
        ]}
        for one in spec["containers"]
    ]  # fmt: skip
    volumes = [one for one in spec.get("volumes") or () if not one["name"].startswith(_TOKEN_VOLUME)]
    return {**spec, "containers": containers, "volumes": volumes}
