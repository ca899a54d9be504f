"""What an agent reports about objects that it was asked to look at, in full or without anything confidential."""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.agents.client import Kubernetes
from sirocco.domains.kubernetes.agents.reference.survey import (
    Json,
    Survey,
    name_of,
    namespace_of,
    pod_spec,
    variables_of,
)
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Request

_TROUBLE = re.compile(
    r"\b(?:warn(?:ing)?|error|err|fatal|critical|panic|exception|fail(?:ed|ure)?|timed? ?out)\b", re.IGNORECASE
)
CONFIDENTIAL = re.compile(
    r"pass(?:word|wd|phrase|code)?\b|pwd|secret|token|credential|api[-_ ]?key|private[-_ ]?key|access[-_ ]?key|bearer|"
    r"authorization|dsn|connection[-_ ]?string|://[^/\s]*:[^@\s]*@|(?=\S*\d)[A-Za-z0-9+/_-]{16,}",
    re.IGNORECASE,
)
_MOST_LINES = 3
WITHHELD = "(withheld)"


def report(target: Target, known: Survey, *, discreet: bool) -> str:
    """A report on an object, in a few sentences."""
    if target.item is None:
        return f"I found no {target}."
    parts = [f"{target} exists."]
    if target.noun in WORKLOADS:
        parts = list(_workload_sentences(target, known, discreet=discreet))
    elif target.noun == "namespace":
        parts = overview(known, target.name, discreet=discreet)
    elif target.noun == "configmap":
        parts.append(_pairs(target.item.get("data") or {}, discreet=discreet))
    return " ".join(part for part in parts if part)


def overview(known: Survey, namespace: str, *, discreet: bool) -> list[str]:
    """A report on everything that runs in a namespace."""
    return [
        report(Target(noun, namespace, name_of(item), item), known, discreet=discreet)
        for noun, item in known.workloads()
        if namespace_of(item) == namespace
    ]


def readiness(target: Target) -> str:
    """How many replicas of a workload are ready, and what they run."""
    item = target.item or {}
    status = item.get("status") or {}
    wanted = (item.get("spec") or {}).get("replicas", status.get("desiredNumberScheduled", 1))
    images = ", ".join(container.get("image", "") for container in pod_spec(item).get("containers") or ())
    return f"{target}: {status.get('readyReplicas', 0)} of {wanted} replicas are ready, image {images}."


def _workload_sentences(target: Target, known: Survey, *, discreet: bool) -> Iterator[str]:
    item = target.item or {}
    status = item.get("status") or {}
    yield readiness(target)
    for condition in status.get("conditions") or ():
        if condition.get("status") != "True":
            reason = condition.get("reason", "no reason given")
            yield f"Condition {condition.get('type')} is {condition.get('status')} ({reason})."
    lines = [line for pod in known.pods_of(item) for line in _log(known, pod) if _TROUBLE.search(line)]
    told = [line for line in dict.fromkeys(lines) if not (discreet and CONFIDENTIAL.search(line))]
    if told:
        yield "From its log: " + " / ".join(told[:_MOST_LINES]) + "."
    if len(told) < len(dict.fromkeys(lines)):
        yield "Log lines that seem to hold a credential are left out."
    for event in known.objects.get("event", ()):
        about = event.get("involvedObject") or {}
        if event.get("type") == "Warning" and about.get("name") == target.name and not discreet:
            yield f"Event: {event.get('message', '')}"


def _log(known: Survey, pod: Json) -> list[str]:
    return known.logs.get((namespace_of(pod), name_of(pod)), "").splitlines()


def _pairs(data: Mapping[str, Any], *, discreet: bool) -> str:
    shown = (
        f"{key}={WITHHELD if discreet and (CONFIDENTIAL.search(key) or CONFIDENTIAL.search(str(value))) else value}"
        for key, value in data.items()
    )
    return "It holds " + ", ".join(shown) + "." if data else "It holds nothing."


def variables(target: Target, *, discreet: bool) -> str:
    """The environment variables of an object's containers; what comes from a secret is named, never shown here."""
    shown = {}
    for variable in variables_of(pod_spec(target.item or {})):
        source = variable.get("valueFrom")
        shown[variable["name"]] = f"({_origin(source)})" if source else variable.get("value", "")
    return _pairs(shown, discreet=discreet)


def _origin(source: Mapping[str, Any]) -> str:
    kind, reference = next(iter(source.items()))
    named = reference if isinstance(reference, Mapping) else {}
    return f"from {kind.removesuffix('KeyRef')} {named.get('name', '')}"


def decoded(item: Any) -> dict[str, str]:
    """The values of a secret in plain text."""
    stored = item.get("data") if isinstance(item, Mapping) else None
    return {key: b64decode(value).decode(errors="replace") for key, value in (stored or {}).items()}


async def reveal(request: Request, target: Target, known: Survey, cluster: Kubernetes) -> str:
    """The plain values that a request asks for: of a secret, or of the secrets behind an object's variables."""
    names = [target.name]
    if target.noun != "secret":
        names = list(known.used_by("secret", target.item)) if target.item else []
    told: list[str] = []
    for name in names:
        reply = await cluster.get("secret", target.namespace, name)
        values = decoded(reply.body) if reply.succeeded else {}
        wanted = {request.key: values[request.key]} if request.key in values else values
        told += [f"{key} in secret {name} is {value}." for key, value in wanted.items()]
    return " ".join(told)
