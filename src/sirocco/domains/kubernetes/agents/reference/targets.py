"""From a request to the objects that it means: names and kinds of a text matched with what was found in the cluster."""

from collections.abc import Iterator
from dataclasses import dataclass

from kubesim.resource import BY_NOUN, WORKLOADS
from sirocco.domains.kubernetes.agents.reference.survey import Json, Survey, name_of, namespace_of
from sirocco.domains.kubernetes.agents.reference.understanding import Action, Request

_LIKELY = {Action.SET: ("configmap",), Action.COPY: ("configmap",)}
_NEW = frozenset({Action.CREATE, Action.GRANT})
NEW_BINDING = "operator-admin"
_USED = frozenset({"pvc", "secret", "configmap"})


@dataclass(frozen=True, slots=True)
class Target:
    """One object to act on; `item` is its content if it was found, None if only the text mentions it."""

    noun: str
    namespace: str
    name: str
    item: Json | None = None

    def __str__(self) -> str:
        place = f" in {self.namespace}" if BY_NOUN[self.noun].namespaced else ""
        return f"{self.noun} {self.name}{place}"


def targets(request: Request, survey: Survey, home: str) -> tuple[Target, ...]:
    """The objects that a request means; those that were not found are guesses in order of likelihood."""
    if request.action in _NEW:
        return (Target(request.kinds[0], request.namespace or home, request.name or NEW_BINDING),)
    if request.everything:
        return tuple(_members(request, survey, request.namespace or home))
    if request.name is None:
        return ()
    found = tuple(_found(request, survey, request.name, home))
    return found or tuple(
        Target(noun, request.namespace or home, request.name) for noun in _likely_kinds(request) if noun in BY_NOUN
    )


def _likely_kinds(request: Request) -> tuple[str, ...]:
    return request.kinds or _LIKELY.get(request.action, ("deployment",))


def _members(request: Request, survey: Survey, namespace: str) -> Iterator[Target]:
    kinds = request.kinds or (tuple(sorted(WORKLOADS - {"replicaset"})))
    for noun in kinds:
        for item in survey.objects.get(noun, ()):
            if namespace_of(item) == namespace:
                yield Target(noun, namespace, name_of(item), item)


def _found(request: Request, survey: Survey, name: str, home: str) -> Iterator[Target]:
    """The first interpretation of kind and name under which something exists, in the home namespace first."""
    places = (request.namespace,) if request.namespace else (home, None)
    for place in places:
        for noun in _likely_kinds(request):
            item = survey.find(noun, place if BY_NOUN[noun].namespaced else "", name)
            if item:
                yield Target(noun, namespace_of(item), name, item)
                return
        for noun in _likely_kinds(request):
            belongings = tuple(_belonging(noun, name, place, survey, request.action))
            if belongings:
                yield from belongings
                return


def _belonging(noun: str, name: str, namespace: str | None, survey: Survey, action: Action) -> Iterator[Target]:
    """What belongs to a workload of that name: "the stock pods", "the disk of stock"."""
    for owner, item in survey.workloads():
        if name_of(item) != name or namespace not in {None, namespace_of(item)}:
            continue
        place = namespace_of(item)
        if noun == "pod" and action is Action.DELETE:
            yield from (Target("pod", place, name_of(pod), pod) for pod in survey.pods_of(item))
        elif noun == "pod" or noun in WORKLOADS:
            yield Target(owner, place, name, item)
        elif noun in _USED:
            for used in survey.used_by(noun, item):
                yield Target(noun, place, used, survey.find(noun, place, used))
