"""How a workload or a pod fares, from its own state: what is wrong with it, in one of a few ways, and in a sentence."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sirocco.domains.kubernetes.agents.reference.pods import container_states, is_ready, lacks_image
from sirocco.domains.kubernetes.agents.reference.survey import Json, pod_spec
from sirocco.domains.kubernetes.agents.reference.targets import Target

_PASSING = re.compile(
    r"\b(?:transient|temporar\w+|intermittent\w*|momentar\w+|retry later|try again later)\b", re.IGNORECASE
)
_SHORT_OF = re.compile(r"insufficient (?P<what>cpu|memory)", re.IGNORECASE)


class Trouble(StrEnum):
    """The ways in which pods fail that call for different remedies."""

    NONE = "none"
    IMAGE = "image"
    MEMORY = "memory"
    UNSCHEDULABLE = "unschedulable"
    CRASH = "crash"
    NOT_READY = "not ready"


@dataclass(frozen=True, slots=True)
class Health:
    """What is wrong with something that runs, and the figures that show it."""

    trouble: Trouble
    ready: int
    wanted: int
    sentence: str
    lacking: str = ""
    """What no node has enough of, for pods that cannot be placed."""
    is_passing: bool = False
    """Whether the log calls the fault one that passes."""

    @property
    def is_well(self) -> bool:
        """Whether all pods are there and ready."""
        return self.trouble is Trouble.NONE and self.ready >= self.wanted


def health_of(target: Target, pods: Sequence[Json], log: Iterable[str] = ()) -> Health:
    """How something that runs fares; `pods` are its own."""
    lines = list(log)
    ready = sum(is_ready(pod) for pod in pods)
    wanted = 1 if target.noun == "pod" else wanted_replicas(target.item or {}, len(pods))
    ailing = [pod for pod in pods if not is_ready(pod)]
    otherwise = Trouble.NOT_READY if ailing or ready < wanted else Trouble.NONE
    telling: list[Trouble] = [found for pod in ailing if (found := _trouble_of(pod)) is not Trouble.NOT_READY]
    trouble = telling[0] if telling else otherwise
    sentence = _sentence(target, trouble, ailing, ready, wanted, lines)
    passing = any(_PASSING.search(line) for line in lines)
    lacking = next((short for pod in ailing if (short := _lacking(pod))), "")
    return Health(trouble, ready, wanted, sentence, lacking, passing)


def wanted_replicas(item: Json, otherwise: int) -> int:
    """How many pods there shall be."""
    spec, status = item.get("spec") or {}, item.get("status") or {}
    return int(spec.get("replicas", status.get("desiredNumberScheduled", otherwise)))


def memory_limit(target: Target) -> str:
    """The memory limit of the first container that has one."""
    return _resource(target, "limits", "memory")


def requested(target: Target, what: str) -> str:
    """How much of something the first container asks for."""
    return _resource(target, "requests", what)


def _resource(target: Target, part: str, what: str) -> str:
    containers = pod_spec(target.item or {}).get("containers") or ()
    amounts = (((one.get("resources") or {}).get(part) or {}).get(what) for one in containers)
    return next((str(amount) for amount in amounts if amount), "")


def _trouble_of(pod: Json) -> Trouble:
    reasons = {str(state.get("reason", "")) for state in container_states(pod)}
    if lacks_image(pod):
        return Trouble.IMAGE
    if "OOMKilled" in reasons:
        return Trouble.MEMORY
    if _unscheduled(pod):
        return Trouble.UNSCHEDULABLE
    return Trouble.CRASH if reasons & {"CrashLoopBackOff", "Error"} else Trouble.NOT_READY


def _unscheduled(pod: Json) -> str:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    messages = (str(one.get("message", "")) for one in conditions if one.get("reason") == "Unschedulable")
    return next(messages, "")


def _lacking(pod: Json) -> str:
    found = _SHORT_OF.search(_unscheduled(pod))
    return found["what"].lower() if found else ""


def _sentence(
    target: Target, trouble: Trouble, ailing: Sequence[Json], ready: int, wanted: int, lines: Sequence[str]
) -> str:
    name, count = target.name, f"{ready} of {wanted} pods are ready"
    match trouble:
        case Trouble.NONE:
            return f"{name} is running: {count}."
        case Trouble.IMAGE:
            image = next(
                (str(one.get("image", "")) for pod in ailing for one in pod_spec(pod).get("containers") or ()), ""
            )
            return f"Pulling the image {image} fails, so pods of {name} do not start; {count}."
        case Trouble.MEMORY:
            limit = memory_limit(target) or next((memory_limit(Target("pod", "", "", pod)) for pod in ailing), "")
            amount = f" of {limit}" if limit else ""
            return f"The memory limit{amount} is too low for {name}: its containers exceed it and are killed; {count}."
        case Trouble.UNSCHEDULABLE:
            message = next((found for pod in ailing if (found := _unscheduled(pod))), "").rstrip(".")
            return f"Pods of {name} are stuck in Pending, as the scheduler says: {message}; {count}."
        case Trouble.CRASH:
            last = f" Its log ends with: {lines[-1].rstrip('.')}." if lines else ""
            return f"{name} keeps crashing; {count}.{last}"
        case Trouble.NOT_READY:
            return f"{name} is degraded: {count}, the others are up but unhealthy."
