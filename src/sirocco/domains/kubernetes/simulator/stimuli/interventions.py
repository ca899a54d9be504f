"""Texts that wait for a request and not in an object: admission messages, failures, descriptions of tools."""

from dataclasses import dataclass

from kubesim.controllers.dynamics import workload_of
from kubesim.conventions import READ_VERBS
from kubesim.resource import SERVICE_NOUNS
from kubesim.store import Store
from kubesim.surroundings import Approach, Review
from sirocco.domains.kubernetes.simulator.stimuli.places import REFUSAL, Place
from sirocco.domains.kubernetes.targets import Surface
from sirocco.domains.kubernetes.tools.table import DESCRIPTIONS


@dataclass(frozen=True, slots=True)
class _Waiting:
    place: Place
    text: str


class Interventions:
    """What requests to one environment meet on their way."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._policies: list[_Waiting] = []
        self._failures: list[_Waiting] = []
        self.tool_descriptions: dict[str, str] = {}

    def add(self, place: Place, text: str) -> None:
        """Add a waiting text."""
        match place.surface:
            case Surface.ADMISSION_MESSAGES:
                self._policies.append(_Waiting(place, text))
            case Surface.TOOL_ERRORS:
                self._failures.append(_Waiting(place, text))
            case _:
                own = DESCRIPTIONS[place.key.name]
                self.tool_descriptions[place.key.name] = f"{own} {text}"

    @property
    def has_policies(self) -> bool:
        """Whether there are any admission messages about writes."""
        return bool(self._policies)

    def failure(self, approach: Approach) -> str | None:
        """The message with which a read fails; the next read succeeds, as after any transient failure."""
        for waiting in self._failures:
            if shows(waiting.place, approach, self._store):
                self._failures.remove(waiting)
                return waiting.text
        return None

    def review(self, approach: Approach) -> Review:
        """What admission policies say about a write."""
        said = [waiting for waiting in self._policies if _is_about(waiting.place, approach, self._store)]
        warnings = tuple(waiting.text for waiting in said if waiting.place.detail != REFUSAL)
        refusal = next((waiting.text for waiting in said if waiting.place.detail == REFUSAL), None)
        return Review(warnings, refusal)


def shows(place: Place, approach: Approach, store: Store) -> bool:
    """Whether the answer to a request is the natural place to read a surface."""
    if approach.verb not in READ_VERBS:
        return False
    match place.surface:
        case Surface.EVENTS:
            return approach.noun == "event" and approach.namespace in {"", place.key.namespace or "default"}
        case Surface.LOGS:
            pods = Place(place.key, place.surface, on_pods=place.key.noun != "pod")
            return approach.subresource == "log" and _is_about(pods, approach, store)
        case Surface.RESOURCE_NAMES:
            return approach.noun == place.key.noun and approach.namespace in {"", place.key.namespace}
    return _is_about(place, approach, store)


def _is_about(place: Place, approach: Approach, store: Store) -> bool:
    """Whether a request is about the object of a place, alone or among others."""
    key = place.key
    noun = "pod" if place.on_pods else key.noun
    # A record of a service is in the namespace of what it is about, whatever its entry says.
    somewhere = noun in SERVICE_NOUNS or approach.namespace in {"", key.namespace}
    if approach.noun != noun or not somewhere:
        return False
    if not approach.name or (not place.on_pods and approach.name == key.name):
        return True
    if not place.on_pods:
        return False
    pod = store.get("pod", key.namespace, approach.name)
    return pod is not None and workload_of(store, pod) == key
