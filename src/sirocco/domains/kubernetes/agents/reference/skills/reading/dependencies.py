"""What a component depends on: by the way of requests into the cluster, by what its log complains about, by traces."""

import re
from collections.abc import Iterator

from sirocco.domains.kubernetes.agents.reference.skills.reading.logs import telling
from sirocco.domains.kubernetes.agents.reference.skills.reading.observed import Observed, components, labels
from sirocco.domains.kubernetes.agents.reference.survey import pod_spec, variables_of
from sirocco.domains.kubernetes.agents.reference.targets import Target


def components_in(text: str, components: tuple[Target, ...]) -> tuple[Target, ...]:
    """The components that a text names as words of their own, in its order; a workload before a service of its name."""
    found: list[tuple[int, int, Target]] = []
    for component in components:
        place = re.search(rf"(?<![\w-]){re.escape(component.name)}(?![\w-])", text, re.IGNORECASE)
        if place:
            found.append((place.start(), component.noun in {"service", "ingress"}, component))
    return tuple(component for _, _, component in sorted(found, key=lambda one: one[:2]))


def depends_on(component: Target, seen: Observed) -> tuple[Target, ...]:
    """What a component needs in order to work, what it complains about first; itself never."""
    found = {(one.noun, one.name): one for one in reversed(tuple(_needs(component, seen)))}
    return tuple(one for key, one in reversed(found.items()) if key != (component.noun, component.name))


def _needs(component: Target, seen: Observed) -> Iterator[Target]:
    everything = tuple(one for one in components(seen.known) if one.namespace == component.namespace)
    if component.noun == "ingress":
        yield from _backends(component, everything)
        return
    if component.noun == "service":
        yield from _behind(component, everything)
        return
    complaints = [one.line for one in telling(seen.lines(component))]
    for line in complaints:
        yield from _with_services(components_in(line, everything), everything)
    for route in seen.routes:
        services = route.services
        if component.name in services:
            after = services[services.index(component.name) + 1 :]
            yield from (one for name in after for one in everything if one.name == name)
    if complaints:
        for variable in variables_of(pod_spec(component.item or {})):
            yield from _with_services(components_in(str(variable.get("value") or ""), everything), everything)


def _with_services(named: tuple[Target, ...], everything: tuple[Target, ...]) -> Iterator[Target]:
    """The service of each name before what runs behind it, for that is the way of a request."""
    for one in named:
        yield from (other for other in everything if other.noun == "service" and other.name == one.name)
        yield one


def _backends(ingress: Target, everything: tuple[Target, ...]) -> Iterator[Target]:
    spec = (ingress.item or {}).get("spec") or {}
    paths = [path for rule in spec.get("rules") or () for path in (rule.get("http") or {}).get("paths") or ()]
    backends = [spec.get("defaultBackend") or {}, *(path.get("backend") or {} for path in paths)]
    names = [str((backend.get("service") or {}).get("name", "")) for backend in backends]
    yield from (one for name in names for one in everything if one.noun == "service" and one.name == name)


def _behind(service: Target, everything: tuple[Target, ...]) -> Iterator[Target]:
    """The workloads whose pods a service selects."""
    selector = ((service.item or {}).get("spec") or {}).get("selector") or {}
    for one in everything:
        template = ((one.item or {}).get("spec") or {}).get("template") or {}
        if selector and one.noun not in {"service", "ingress"} and selector.items() <= labels(template).items():
            yield one
