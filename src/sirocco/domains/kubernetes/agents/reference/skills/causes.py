"""What can be wrong with one component, judging by the state of its pods, its configuration, log, metrics.

Each rule looks at one kind of fault and describes it in a clause. Those that name the fault itself come before those
that only show that there is one.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kubesim.types.quantity import amount_of
from sirocco.domains.kubernetes.agents.reference.skills.logs import Family, Topic, family_of, telling_lines
from sirocco.domains.kubernetes.agents.reference.skills.readings import Observed, Series, ago_text, labels
from sirocco.domains.kubernetes.agents.reference.survey import (
    UNUSABLE_IMAGE,
    Json,
    is_ready,
    name_of,
    namespace_of,
    pod_spec,
    variables_of,
)
from sirocco.domains.kubernetes.agents.reference.targets import Target

_KILLED = 137
_CLOSE = 0.6
"""The share of a limit from which growing use should be reported."""


class Certainty(StrEnum):
    """How certain a cause is; each value opens the sentence that states it."""

    FAULT = "I found the root cause"
    WARNING = "This needs attention"
    LIKELY = "The likely cause"
    EFFECT = "What I see is an effect, and its cause is not certain"


@dataclass(frozen=True, slots=True)
class Cause:
    """A fault: what it is about, where, as a clause, what shows it, and what would help."""

    topic: Topic
    component: Target
    statement: str
    shown: str
    remedy: str
    certainty: Certainty = Certainty.FAULT

    @property
    def is_direct(self) -> bool:
        """Whether it is the fault itself, rather than the effect of one elsewhere."""
        return self.certainty in {Certainty.FAULT, Certainty.WARNING}

    def cause_sentence(self) -> str:
        """The cause as a sentence."""
        return f"{self.certainty}: {self.statement}; {self.shown}."


Rule = Callable[[Target, Observed], Iterator[Cause]]


def causes_of(component: Target, seen: Observed) -> tuple[Cause, ...]:
    """Everything that is wrong with a component, most informative first."""
    rules = ADDRESS_RULES if component.noun in {"service", "ingress"} else RULES
    found = [cause for rule in rules for cause in rule(component, seen)]
    return tuple(sorted(found, key=lambda cause: not cause.is_direct))


def missing_configuration(component: Target, seen: Observed) -> Iterator[Cause]:
    """Variables that come from a missing key, and settings from a missing configmap."""
    place = component.namespace
    for variable in variables_of(pod_spec(component.item or {})):
        reference = (variable.get("valueFrom") or {}).get("configMapKeyRef") or {}
        if not reference or reference.get("optional"):
            continue
        holder = seen.known.find("configmap", place, str(reference.get("name", "")))
        name, key = reference.get("name"), reference.get("key")
        if holder is None:
            yield Cause(
                Topic.CONFIGURATION, component, f"the configmap {name} does not exist",
                f"{component.name} reads {key} from it", f"create the configmap {name} with the key {key}",
            )  # fmt: skip
        elif key not in (holder.get("data") or {}):
            yield Cause(
                Topic.CONFIGURATION, component, f"the key {key} is missing in the configmap {name}",
                f"{component.name} takes its variable {variable.get('name')} from it, and cannot start without",
                f"add {key} to the configmap {name} and let the pods start again",
            )  # fmt: skip


def unusable_image(component: Target, seen: Observed) -> Iterator[Cause]:
    """Containers that wait for an image that cannot be pulled."""
    for _, status in _statuses(component, seen, "containerStatuses", "initContainerStatuses"):
        waiting = (status.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in UNUSABLE_IMAGE:
            said = _quoted_warning(seen, component, r"manifest|not found|pull|unauthori")
            yield Cause(
                Topic.IMAGE, component,
                f"the image {status.get('image')} cannot be pulled from the registry ({waiting['reason']})",
                f"the events say {said}" if said else f"container {status.get('name')} waits for it",
                "set the image to a tag that exists, or push the one that is missing",
            )  # fmt: skip


def failing_first_container(component: Target, seen: Observed) -> Iterator[Cause]:
    """A container that has to finish before the others start, and does not."""
    for pod, status in _statuses(component, seen, "initContainerStatuses"):
        last = _terminated_state(status)
        if status.get("ready") or not last or last.get("exitCode") == 0:
            continue
        lines = telling_lines(seen.first_logs.get(name_of(pod), "").splitlines())
        quote = next((quote for one in lines if (quote := seen.quoting.quoted_text(one.line))), "")
        family = lines[0].family if lines else None
        meaning = f", {family.meaning}" if family else ""
        yield Cause(
            Topic.STARTUP, component,
            f"the init container {status.get('name')} of {component.name} failed{meaning}",
            f"it ends with exit code {last.get('exitCode')}" + (f" and says {quote}" if quote else ""),
            f"repair what {status.get('name')} does; the pods start once it ends well",
        )  # fmt: skip


def killed_for_memory(component: Target, seen: Observed) -> Iterator[Cause]:
    """Containers that the kernel kills because they need more memory than they may have."""
    for _, status in _statuses(component, seen, "containerStatuses"):
        last = _terminated_state(status)
        if last.get("reason") == "OOMKilled" or last.get("exitCode") == _KILLED:
            limit = _memory_limit(component.item or {})
            allowed = f" at its limit of {limit}" if limit else ""
            growing = any(_is_memory(one) and one.is_growing for one in seen.series_about(component))
            more = ", and its memory usage has been growing steadily, as with a memory leak" if growing else ""
            yield Cause(
                Topic.MEMORY, component,
                f"{component.name} runs out of memory: its container was killed{allowed} "
                f"(OOMKilled, exit code 137){more}",
                f"it was restarted {status.get('restartCount', 0)} times",
                "find what takes the memory, and raise the memory limit until that is done",
            )  # fmt: skip


def not_placed(component: Target, seen: Observed) -> Iterator[Cause]:
    """Pods that no node accepts, for the scheduler's reason or because of a claim without a volume."""
    waiting = [pod for pod in seen.pods(component) if (pod.get("status") or {}).get("phase") == "Pending"]
    unplaced = [pod for pod in waiting if not (pod.get("spec") or {}).get("nodeName")]
    if not unplaced:
        return
    for claim in _claims(component, seen):
        wanted_class = (claim.get("spec") or {}).get("storageClassName", "(default)")
        if (claim.get("status") or {}).get("phase") != "Bound":
            yield Cause(
                Topic.STORAGE, component,
                f"the volume claim {name_of(claim)} is not bound, so {component.name} waits for its storage",
                f"the claim asks for the storage class {wanted_class}",
                "see that the storage class can provide the volume",
            )  # fmt: skip
    said = " ".join(seen.warnings(component))
    if "nsufficient" in said:
        what = " and ".join(dict.fromkeys(word.lower() for word in re.findall(r"Insufficient ([\w/-]+)", said)))
        wanted = ", ".join(f"{amount} of {name}" for name, amount in _requests(component.item or {}).items())
        yield Cause(
            Topic.SCHEDULING, component,
            f"the pod cannot be scheduled: no node has enough {what} for it (insufficient {what})",
            f"each pod asks for {wanted}" if wanted else "the scheduler says so in an event",
            f"lower the request for {what}, or add a node that has it",
        )  # fmt: skip
    quote = _quoted_warning(seen, component, r"nodes are available|schedul|quota|claim")
    if quote:
        yield Cause(
            Topic.SCHEDULING, component, f"the pod of {component.name} cannot be scheduled",
            f"the scheduler says {quote}", "remove what keeps it from being placed",
        )  # fmt: skip


def selecting_nobody(component: Target, seen: Observed) -> Iterator[Cause]:
    """A service whose selector matches no pod although pods that it could mean exist."""
    selector = ((component.item or {}).get("spec") or {}).get("selector") or {}
    if not selector or seen.pods(component):
        return
    wanted = ", ".join(f"{key}={value}" for key, value in selector.items())
    meant = _likely_pods(component, seen)
    have = ", ".join(f"{key}={labels(meant)[key]}" for key in selector if meant and key in labels(meant))
    remedy = f"change the selector of the service {component.name} to {have}" if have else "correct the selector"
    yield Cause(
        Topic.NETWORK, component,
        f"the selector of the service {component.name} ({wanted}) matches no pod, so it has no endpoints",
        f"the pods have the label {have}" if have else "there are no pods that it could mean",
        f"{remedy}, so that it matches the pods" if have else remedy,
    )  # fmt: skip


def complaints(component: Target, seen: Observed) -> Iterator[Cause]:
    """The complaints in its own log, or the last words of a container that ended.

    A container that ends again and again names its fault with its gravest line, whether or not such lines are known.
    """
    lines = [*seen.lines(component), *_last_words(component, seen)]
    ends = is_crashing(component, seen)
    for one in telling_lines(lines):
        quote = seen.quoting.quoted_text(one.line)
        if quote is None:
            continue
        times = f" ({one.count} times)" if one.count > 1 else ""
        is_fault = one.is_direct or (ends and one.is_grave and one.family is None)
        unknown = "the container ends with an error" if is_fault else "the log tells of an error"
        family = one.family or Family(Topic.UNKNOWN, re.compile(""), unknown, "look at that error")
        yield Cause(
            family.topic, component, f"in {component.name} {family.meaning}", f"the log says {quote}{times}",
            family.remedy, Certainty.FAULT if is_fault else Certainty.EFFECT,
        )  # fmt: skip


def is_crashing(component: Target, seen: Observed) -> bool:
    """Whether one of its containers does not run, and ended with an error before."""
    return any(
        (status.get("state") or {}).get("running") is None and _terminated_state(status).get("exitCode", 0) != 0
        for _, status in _statuses(component, seen, "containerStatuses")
    )


def running_into_a_limit(component: Target, seen: Observed) -> Iterator[Cause]:
    """Memory use that grows towards the limit."""
    allowed = _memory_limit(component.item or {})
    limit = amount_of(str(allowed or ""))
    for one in seen.series_about(component):
        if not (_is_memory(one) and one.unit == "bytes" and one.is_growing and limit) or one.now < _CLOSE * limit:
            continue
        (start, first), (end, last) = one.points[0], one.points[-1]
        pace = (last - first) / (end - start)
        left = ago_text((limit - last) / pace) if pace > 0 and limit > last else "no time"
        yield Cause(
            Topic.MEMORY, component,
            f"the memory usage of {component.name} is growing steadily: it rose from {one.amount(first)} to "
            f"{one.amount(last)} in {ago_text(end - start)}, {round(100 * last / limit)}% of its limit of {allowed}",
            f"at this pace it will run out of memory and be OOM-killed in about {left}",
            "look for a leak soon, and restart it or raise the limit before that", Certainty.WARNING,
        )  # fmt: skip
        return


def unready(component: Target, seen: Observed) -> Iterator[Cause]:
    """Pods that exist but are not ready, for whatever reason: the last resort."""
    pods = seen.pods(component)
    bad = [pod for pod in pods if not is_ready(pod)]
    if bad:
        quote = next((quote for text in seen.warnings(component) if (quote := seen.quoting.quoted_text(text))), "")
        yield Cause(
            Topic.UNKNOWN, component, f"{len(bad)} of {len(pods)} pods of {component.name} are not ready",
            f"the events say {quote}" if quote else "their conditions say so",
            "look at what the check for readiness asks", Certainty.EFFECT,
        )  # fmt: skip


RULES: tuple[Rule, ...] = (
    missing_configuration,
    unusable_image,
    failing_first_container,
    killed_for_memory,
    not_placed,
    complaints,
    running_into_a_limit,
    unready,
)
ADDRESS_RULES: tuple[Rule, ...] = (selecting_nobody,)
"""For what has no pods of its own."""


def _statuses(component: Target, seen: Observed, *fields: str) -> Iterator[tuple[Json, Mapping[str, Any]]]:
    """The container statuses of its pods; for containers of the same name only the first."""
    names: set[str] = set()
    for pod in seen.pods(component):
        for field in fields:
            for status in (pod.get("status") or {}).get(field) or ():
                if status.get("name") not in names:
                    names.add(str(status.get("name")))
                    yield pod, status


def _terminated_state(status: Mapping[str, Any]) -> Mapping[str, Any]:
    now = (status.get("state") or {}).get("terminated")
    return now or (status.get("lastState") or {}).get("terminated") or {}


def _last_words(component: Target, seen: Observed) -> Iterator[str]:
    for _, status in _statuses(component, seen, "containerStatuses"):
        message = str(_terminated_state(status).get("message") or "")
        if family_of(message):
            yield message


def _quoted_warning(seen: Observed, component: Target, pattern: str) -> str:
    """The first warning in which a pattern is found, quoted."""
    found = (text for text in seen.warnings(component) if re.search(pattern, text, re.IGNORECASE))
    return next((quote for text in found if (quote := seen.quoting.quoted_text(text))), "")


def _claims(component: Target, seen: Observed) -> Iterator[Json]:
    for name in seen.known.used_by("pvc", component.item or {}):
        claim = seen.known.find("pvc", component.namespace, name)
        if claim is not None:
            yield claim


def _containers(item: Json) -> tuple[Mapping[str, Any], ...]:
    return tuple(pod_spec(item).get("containers") or ())


def _memory_limit(item: Json) -> str:
    limits = (((one.get("resources") or {}).get("limits") or {}).get("memory") for one in _containers(item))
    return next((str(limit) for limit in limits if limit), "")


def _requests(item: Json) -> dict[str, str]:
    found: dict[str, str] = {}
    for container in _containers(item):
        found |= {
            str(key): str(value) for key, value in ((container.get("resources") or {}).get("requests") or {}).items()
        }
    return found


def _is_memory(series: Series) -> bool:
    return "memory" in series.name or "heap" in series.name


def _likely_pods(service: Target, seen: Observed) -> Json | None:
    """A pod of the workload that a service probably means: the one of its name, or of a similar name."""
    for _, item in seen.known.workloads():
        name = name_of(item)
        near = name == service.name or name.startswith(f"{service.name}-") or service.name.startswith(f"{name}-")
        if namespace_of(item) == service.namespace and near:
            return next(iter(seen.known.pods_of(item)), None)
    return None
