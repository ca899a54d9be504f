"""Which objects belong together: a workload with what it uses, what leads to it, and what looks after it."""

from collections.abc import Iterator, Mapping
from typing import Any

from sirocco.domains.kubernetes.agents.reference.survey import Json, Survey, name_of, namespace_of, pod_spec

_USED = ("configmap", "secret", "pvc")


class Kinship:
    """Groups of names; two names are akin when their objects belong together or when one continues the other."""

    def __init__(self, known: Survey) -> None:
        self._first: dict[str, str] = {}
        for one, other in _ties(known):
            self._first[self._root(other)] = self._root(one)

    def are_akin(self, one: str, other: str) -> bool:
        """Whether two names mean things that belong together."""
        first, second = self._root(one), self._root(other)
        return first == second or one.startswith(f"{other}-") or other.startswith(f"{one}-")

    def _root(self, name: str) -> str:
        while self._first.get(name, name) != name:
            name = self._first[name]
        return name


def _ties(known: Survey) -> Iterator[tuple[str, str]]:
    """Pairs of names that belong together."""
    for _, item in known.workloads():
        for noun in _USED:
            yield from ((name_of(item), used) for used in known.used_by(noun, item))
        yield from ((name_of(item), name_of(pod)) for pod in known.pods_of(item))
        for noun in ("service", "pdb", "networkpolicy"):
            for other in known.objects.get(noun, ()):
                if namespace_of(other) == namespace_of(item) and _selects(other, item):
                    yield name_of(item), name_of(other)
    for autoscaler in known.objects.get("hpa", ()):
        target = (autoscaler.get("spec") or {}).get("scaleTargetRef") or {}
        yield str(target.get("name", "")), name_of(autoscaler)
    for ingress in known.objects.get("ingress", ()):
        yield from ((name_of(ingress), name) for name in _services(ingress.get("spec")))


def _selects(item: Json, workload: Json) -> bool:
    """Whether a service, a budget or a policy selects the pods that a workload makes."""
    spec = item.get("spec") or {}
    chosen = spec.get("selector") or spec.get("podSelector") or {}
    wanted = chosen.get("matchLabels", chosen)
    template = (workload.get("spec") or {}).get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    return (
        bool(wanted) and isinstance(wanted, Mapping) and wanted.items() <= labels.items() and bool(pod_spec(workload))
    )


def _services(value: Any) -> Iterator[str]:
    """The names of the services that an ingress leads to, wherever they stand."""
    if isinstance(value, Mapping):
        service = value.get("service")
        if isinstance(service, Mapping):
            yield str(service.get("name", ""))
        for member in value.values():
            yield from _services(member)
    elif isinstance(value, list):
        for member in value:
            yield from _services(member)
