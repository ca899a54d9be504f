"""What skills share: what a message is about and wants, the health of a workload, and making a change.

To make a change is to ask the rules, change, wait, check and report.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.agents.client import PatchForm
from sirocco.domains.kubernetes.agents.reference.deeds import carry_out, replicas_of
from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.reports import CONFIDENTIAL
from sirocco.domains.kubernetes.agents.reference.rules import mode_without_changes, required_approval
from sirocco.domains.kubernetes.agents.reference.skills.context import owner_of
from sirocco.domains.kubernetes.agents.reference.skills.situation import Situation
from sirocco.domains.kubernetes.agents.reference.survey import (
    Json,
    Survey,
    container_states,
    is_ready,
    labels_of,
    lacks_image,
    name_of,
    namespace_of,
    pod_spec,
)
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action, Request, named_namespaces

_REPAIR = re.compile(
    r"\b(?:fix(?:es)?|repair|remediate|resolve|recover|heal|restore|mend|cure|troubleshoot|handle|"
    r"(?:take care|get rid) of|deal with|(?:you|please) look after|sort\b[^.!?]{0,20}\bout|do something about|"
    r"get\b[^.!?]{0,40}\b(?:running|working|back|healthy|going|up)|"
    r"(?:need|want)\b[^.!?]{0,30}\b"
    r"(?:back (?:on|up|in|running|working)|up (?:again|and running)|working|running|healthy)|"
    r"bring\b[^.!?]{0,40}\b(?:back|up)|make\b[^.!?]{0,30}\b(?:work|run|healthy)|put\b[^.!?]{0,20}\bright)\b",
    re.IGNORECASE,
)
_HANDS_OFF = re.compile(
    r"\b(?:do not|don't|without|never)\s+(?:\w+\s+){0,3}?"
    r"(?:fix\w*|chang\w*|touch\w*|repair\w*|act\w*|modify\w*|restart\w*)\b"
    r"(?!\s+(?:anything|nothing)\s+else)",
    re.IGNORECASE,
)
_LOAD = r"(?:load|traffic|demand|volume|requests?|orders?|throughput|users?|visitors?|capacity|usage|jobs?)"
_TIMES = {
    "twice": 2.0,
    "double": 2.0,
    "doubles": 2.0,
    "triple": 3.0,
    "triples": 3.0,
    "three times": 3.0,
    "four times": 4.0,
}
_FACTOR = re.compile(
    rf"\b(?:(?P<times>\d+(?:\.\d+)?)\s*(?:x|times|-?fold)|(?P<word>{'|'.join(_TIMES)}))\b[^.!?]{{0,40}}?\b{_LOAD}\b|"
    rf"\b{_LOAD}\b[^.!?]{{0,40}}?\b(?P<grows>doubles?|triples?)\b",
    re.IGNORECASE,
)
_TAKE_EFFECT = re.compile(
    r"\b(?:picks?\b[^.!?]{0,20}\bup|takes? effect|"
    r"(?:runs?|starts?|works?|running) with (?:the new|it\b|that\b|them\b)|uses? the new|using the new|"
    r"loads? the new|reads? the new|becomes? effective|goes? live)\b",
    re.IGNORECASE,
)
_DRAWN = re.compile(r"(?:-[a-z0-9]{8,10})?-[a-z0-9]{4,5}$")
"""The suffix that a controller gives to the name of a pod."""
_WORDS = re.compile(r"[a-z0-9]+")
_PASSING = re.compile(
    r"\b(?:transient|temporar\w+|intermittent\w*|momentar\w+|retry later|try again later)\b", re.IGNORECASE
)
_PATIENCE = 24
"""How many times a rollout is checked before it counts as stuck."""
_STUCK = 8
"""How many checks in a row may show the same before that."""


def wants_repair(text: str) -> bool:
    """Whether something broken is to be repaired, and not only looked at."""
    return bool(_REPAIR.search(text)) and not _HANDS_OFF.search(text)


def wanted_factor(text: str) -> float | None:
    """By what factor the present load is to grow."""
    found = _FACTOR.search(text)
    if found is None:
        return None
    return float(found["times"]) if found["times"] else _TIMES[(found["word"] or found["grows"]).lower()]


def wants_effect(text: str) -> bool:
    """Whether a new setting has to reach what is running."""
    return bool(_TAKE_EFFECT.search(text))


def subjects(situation: Situation) -> tuple[Target, ...]:
    """The workloads that the message names, or else the pods; earlier messages count only when it names none."""
    earlier = [turn.content for turn in reversed(situation.conversation) if turn.role == "user"]
    for text in (situation.prompt, *earlier):
        if found := named_in(text, situation):
            return found
    return ()


def named_in(text: str, situation: Situation) -> tuple[Target, ...]:
    """What a text names, most exact first; nothing when it points to a namespace outside the scope."""
    known = situation.known
    places = named_namespaces(text, known.surroundings())
    if any(place not in situation.namespaces for place in places):
        return ()
    for candidates in (tuple(_workloads(known)), tuple(_pods(known))):
        inside = [(names, target) for names, target in candidates if not places or target.namespace in places]
        if found := _things_named(text, inside):
            return found
    return ()


def _workloads(known: Survey) -> Iterator[tuple[str, Target]]:
    for noun, item in known.workloads():
        yield name_of(item), Target(noun, namespace_of(item), name_of(item), item)


def _pods(known: Survey) -> Iterator[tuple[str, Target]]:
    for pod in known.objects.get("pod", ()):
        yield base_name(pod), Target("pod", namespace_of(pod), name_of(pod), pod)


def base_name(pod: Json) -> str:
    """A pod's name without the suffix added by its controller."""
    return _DRAWN.sub("", name_of(pod)) if (pod.get("metadata") or {}).get("ownerReferences") else name_of(pod)


def _things_named(text: str, candidates: list[tuple[str, Target]]) -> tuple[Target, ...]:
    """Things whose names a text spells out, with any separators; of overlapping names, the longer one."""
    words = " ".join(_WORDS.findall(text.lower()))
    spelled = [(" ".join(_WORDS.findall(name.lower())), target) for name, target in candidates]
    found = [(name, target) for name, target in spelled if name and re.search(rf"\b{re.escape(name)}\b", words)]
    longest = [
        (name, target)
        for name, target in found
        if not any(other != name and other.startswith(f"{name} ") for other, _ in found)
    ]
    return tuple(target for _, target in sorted(longest, key=lambda one: words.find(one[0])))


class Trouble(StrEnum):
    """The kinds of pod failure that require different remedies."""

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
    is_passing: bool = False
    """Whether the log calls the fault temporary."""

    @property
    def is_well(self) -> bool:
        """Whether all pods exist and are ready."""
        return self.trouble is Trouble.NONE and self.ready >= self.wanted


def health_of(target: Target, pods: Sequence[Json], log: Iterable[str] = ()) -> Health:
    """The health of something that runs; `pods` are its own."""
    lines = list(log)
    ready = sum(is_ready(pod) for pod in pods)
    wanted = 1 if target.noun == "pod" else wanted_replicas(target.item or {}, len(pods))
    ailing = [pod for pod in pods if not is_ready(pod)]
    otherwise = Trouble.NOT_READY if ailing or ready < wanted else Trouble.NONE
    telling: list[Trouble] = [found for pod in ailing if (found := _trouble_of(pod)) is not Trouble.NOT_READY]
    trouble = telling[0] if telling else otherwise
    sentence = _sentence(target, trouble, ailing, ready, wanted, lines)
    passing = any(_PASSING.search(line) for line in lines)
    return Health(trouble, ready, wanted, sentence, passing)


def wanted_replicas(item: Json, otherwise: int) -> int:
    """How many pods there should be."""
    spec, status = item.get("spec") or {}, item.get("status") or {}
    return int(spec.get("replicas", status.get("desiredNumberScheduled", otherwise)))


def memory_limit(target: Target) -> str:
    """The memory limit of the first container that has one."""
    return _resource(target, "limits", "memory")


def requested_amount(target: Target, what: str) -> str:
    """How much of something the first container requests."""
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
    if _scheduling_problem(pod):
        return Trouble.UNSCHEDULABLE
    return Trouble.CRASH if reasons & {"CrashLoopBackOff", "Error"} else Trouble.NOT_READY


def _scheduling_problem(pod: Json) -> str:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    messages = (str(one.get("message", "")) for one in conditions if one.get("reason") == "Unschedulable")
    return next(messages, "")


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
            message = next((found for pod in ailing if (found := _scheduling_problem(pod))), "").rstrip(".")
            return f"Pods of {name} are stuck in Pending, as the scheduler says: {message}; {count}."
        case Trouble.CRASH:
            last = f" Its log ends with: {lines[-1].rstrip('.')}." if lines else ""
            return f"{name} keeps crashing; {count}.{last}"
        case Trouble.NOT_READY:
            return f"{name} is degraded: {count}, the others are up but unhealthy."


@dataclass(frozen=True, slots=True)
class Step:
    """A considered change: made, or not made and for which reason."""

    what: str
    done: bool
    why_not: str = ""
    is_refused: bool = False
    """Whether a rule refused it, and not the cluster."""

    def __str__(self) -> str:
        if self.done:
            return f"Done: {self.what}."
        return (
            f"I did not {self.what}: {self.why_not}." if self.is_refused else f"Not done: {self.what}. {self.why_not}"
        )


async def attempt(situation: Situation, request: Request, target: Target, why: str) -> Step:
    """Carry out a request on one object, unless a rule forbids it."""
    exact = replace(request, kinds=(target.noun,), name=target.name, namespace=target.namespace, everything=False)

    async def send() -> Reply:
        deeds = await carry_out(exact, situation.known, situation.cluster, situation.home)
        return deeds[0].reply if deeds else Reply(404, {"message": "There is no such object."})

    return await attempt_by(situation, request, target, change_text(request, target), why, send)


def change_text(request: Request, target: Target) -> str:
    """A change in words."""
    match request.action:
        case Action.SET if request.value is not None:
            return f"set {request.key} to {request.value} in {target}"
        case Action.SCALE if request.count is not None:
            return f"scale {target} to {request.count.applied(replicas_of(target.item))} replicas"
        case Action.IMAGE:
            return f"run {request.value} in {target}"
    return f"{request.action.value} {target}"


async def attempt_by(
    situation: Situation, request: Request, target: Target, what: str, why: str, send: Callable[[], Awaitable[Reply]]
) -> Step:
    """Make a change in a custom way, unless a rule forbids the equivalent request."""
    reason = situation.objection(request, target)
    if reason:
        return Step(what, done=False, why_not=reason, is_refused=True)
    with because(why):
        reply = await send()
    return Step(what, done=reply.succeeded, why_not="" if reply.succeeded else _reply_text(reply))


async def patch_pods(
    situation: Situation, target: Target, key: str, value: str, spec: Any, what: str, why: str
) -> Step:
    """Change a part of the pods that a workload makes; the rules are asked about `key` and `value`."""
    request = Request(Action.SET, (target.noun,), target.name, target.namespace, key=key, value=value, field="path")
    body = {"spec": {"template": {"spec": spec}}}

    async def send() -> Reply:
        return await situation.cluster.patch(target.noun, target.namespace, target.name, body, PatchForm.STRATEGIC)

    return await attempt_by(situation, request, target, what, why, send)


def _reply_text(reply: Reply) -> str:
    message = reply.body.get("message") if isinstance(reply.body, dict) else None
    return str(message or f"The cluster answered {reply.status}.")


async def look(situation: Situation, target: Target, why: str) -> tuple[Target, Health]:
    """Read an object and its pods again."""
    with because(why):
        reply = await situation.cluster.get(target.noun, target.namespace, target.name)
        pods = await situation.cluster.items("pod", target.namespace)
    item = reply.body if reply.succeeded else None
    fresh = Target(target.noun, target.namespace, target.name, item)
    return fresh, health_of(fresh, own_pods(fresh, pods))


async def settle(situation: Situation, target: Target) -> tuple[Target, Health]:
    """Wait until a workload has done what it was told, or no longer progresses, and return its health then."""
    before: Any = None
    unchanged = 0
    for _ in range(_PATIENCE):
        fresh, health = await look(situation, target, "I want to see whether what I changed took effect")
        if fresh.item is None or (health.is_well and _has_caught_up(fresh.item)):
            break
        shown = (fresh.item.get("status"), health.ready)
        unchanged = unchanged + 1 if shown == before else 0
        if unchanged >= _STUCK:
            break
        before = shown
        with because("I am waiting for the next thing to happen to its pods"):
            await situation.cluster.watch("pod", target.namespace)
    return fresh, health


def _has_caught_up(item: Json) -> bool:
    """Whether the pods of a workload are those of its present definition."""
    metadata, status = item.get("metadata") or {}, item.get("status") or {}
    wanted = wanted_replicas(item, 0)
    if status.get("observedGeneration", 0) < metadata.get("generation", 0):
        return False
    counts = [status.get(key, wanted) for key in ("replicas", "updatedReplicas")]
    return all(count == wanted for count in counts)


def own_pods(target: Target, pods: Iterable[Json]) -> tuple[Json, ...]:
    """The pods of a workload, or the single pod that is meant."""
    inside = [pod for pod in pods if namespace_of(pod) == target.namespace]
    if target.noun == "pod":
        return tuple(pod for pod in inside if name_of(pod) == target.name)
    wanted = (((target.item or {}).get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    leaving = [pod for pod in inside if (pod.get("metadata") or {}).get("deletionTimestamp")]
    return tuple(pod for pod in inside if wanted and pod not in leaving and wanted.items() <= labels_of(pod).items())


def log_of(situation: Situation, target: Target) -> list[str]:
    """The log lines of something that runs, without repetitions and without any that seem to hold a credential."""
    pods = own_pods(target, situation.known.objects.get("pod", ()))
    texts = (situation.known.logs.get((namespace_of(pod), name_of(pod)), "") for pod in pods)
    lines = dict.fromkeys(line.strip() for text in texts for line in text.splitlines() if line.strip())
    return [line for line in lines if not CONFIDENTIAL.search(line)]


def present_health(situation: Situation, target: Target) -> Health:
    """The health of something when the agent looked around."""
    return health_of(target, own_pods(target, situation.known.objects.get("pod", ())), log_of(situation, target))


def is_workload(target: Target) -> bool:
    """Whether something makes pods itself."""
    return target.noun in WORKLOADS


def consent_needed(situation: Situation, request: Request, target: Target) -> bool:
    """Whether a change waits for somebody's approval, because of the mode or the scope."""
    case = situation.case(request, target)
    return bool(mode_without_changes(case) or required_approval(case))


def responsible(situation: Situation, target: Target) -> str:
    """Whom to contact about an object, as it or its namespace says; else the person on call for the place."""
    owner = owner_of(situation, target, target.namespace)
    who = f"team {owner.team}" if owner and owner.team else f"the on-call engineer of {target.namespace}"
    return f"{who} ({owner.contacts[0]})" if owner and owner.contacts else who
