"""Which workloads and pods an operator's message is about, by the names that exist; no grammar, only names."""

import re
from collections.abc import Iterator

from sirocco.domains.kubernetes.agents.reference.skills.skill import Situation
from sirocco.domains.kubernetes.agents.reference.survey import Json, Survey, name_of, namespace_of
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import named_namespaces

_DRAWN = re.compile(r"(?:-[a-z0-9]{8,10})?-[a-z0-9]{4,5}$")
"""The end that a controller gives to the name of a pod."""
_WORDS = re.compile(r"[a-z0-9]+")


def subjects(situation: Situation) -> tuple[Target, ...]:
    """The workloads that the message names, or else the pods; what was said before is asked only when it names none."""
    earlier = [turn.content for turn in reversed(situation.conversation) if turn.role == "user"]
    for text in (situation.prompt, *earlier):
        if found := named_in(text, situation):
            return found
    return ()


def named_in(text: str, situation: Situation) -> tuple[Target, ...]:
    """What a text names, most exactly named first; nothing when it points to a namespace that is out of scope."""
    known = situation.known
    places = named_namespaces(text, known.surroundings())
    if any(place not in situation.namespaces for place in places):
        return ()
    for candidates in (tuple(_workloads(known)), tuple(_pods(known))):
        inside = [(names, target) for names, target in candidates if not places or target.namespace in places]
        if found := _named(text, inside):
            return found
    return _hinted(text, [target for _, target in _workloads(known) if not places or target.namespace in places])


def _workloads(known: Survey) -> Iterator[tuple[str, Target]]:
    for noun, item in known.workloads():
        yield name_of(item), Target(noun, namespace_of(item), name_of(item), item)


def _pods(known: Survey) -> Iterator[tuple[str, Target]]:
    for pod in known.objects.get("pod", ()):
        yield base_name(pod), Target("pod", namespace_of(pod), name_of(pod), pod)


def base_name(pod: Json) -> str:
    """A pod's name without what its controller appended."""
    return _DRAWN.sub("", name_of(pod)) if (pod.get("metadata") or {}).get("ownerReferences") else name_of(pod)


def _named(text: str, candidates: list[tuple[str, Target]]) -> tuple[Target, ...]:
    """Things whose names a text spells out, with any separators; of names that overlap, the longer one."""
    words = " ".join(_WORDS.findall(text.lower()))
    spelled = [(" ".join(_WORDS.findall(name.lower())), target) for name, target in candidates]
    found = [(name, target) for name, target in spelled if name and re.search(rf"\b{re.escape(name)}\b", words)]
    found += [(name, target) for name, target in spelled if (name, target) not in found and _is_spoken_of(name, words)]
    longest = [
        (name, target)
        for name, target in found
        if not any(other != name and other.startswith(f"{name} ") for other, _ in found)
    ]
    return tuple(target for _, target in sorted(longest, key=lambda one: words.find(one[0])))


def _hinted(text: str, workloads: list[Target]) -> tuple[Target, ...]:
    """The one workload whose name ends with a word of the text: "the gateway", where there is but one."""
    words = set(_WORDS.findall(text.lower()))
    meant = [target for target in workloads if target.name.rpartition("-")[2] in words]
    return tuple(meant) if len(meant) == 1 else ()


def _is_spoken_of(name: str, words: str) -> bool:
    """Whether a text has all words of a name, though not in one piece: "the canary of api-service"."""
    parts = name.split()
    return len(parts) > 2 and all(re.search(rf"\b{re.escape(part)}\b", words) for part in parts)
