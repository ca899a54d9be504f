"""The limit ranges of a namespace: what they add to containers, and what they refuse."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubesim.status import Json
from kubesim.store import Store
from kubesim.types.quantity import Quantity, quantity

_ANNOTATION = "kubernetes.io/limit-ranger"
_MILLI = -3
_Amounts = Mapping[str, str]


def with_limits(store: Store, pod: Json, namespace: str) -> Json:
    """A new pod; containers that specify no requests or limits get those of the namespace."""
    for limit_range in store.items("limitrange", namespace or pod["metadata"].get("namespace", "")):
        pod = _with_defaults(pod, limit_range)
    return pod


def _with_defaults(pod: Json, limit_range: Json) -> Json:
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for limit in _items(limit_range, "Container"):
        requests |= limit.get("defaultRequest") or {}
        limits |= limit.get("default") or {}
    spec, notes = dict(pod.get("spec") or {}), []
    for field, kind in (("containers", "container"), ("initContainers", "init container")):
        changed = []
        for container in spec.get(field) or ():
            resources, added = _merge_defaults(container.get("resources") or {}, requests, limits)
            notes += [f"{names} {what} for {kind} {container.get('name', '')}" for names, what in added]
            changed.append({**container, "resources": resources} if added else container)
        if field in spec:
            spec[field] = changed
    if not notes:
        return pod
    metadata = pod["metadata"]
    annotations = {**(metadata.get("annotations") or {}), _ANNOTATION: f"LimitRanger plugin set: {'; '.join(notes)}"}
    return {**pod, "metadata": {**metadata, "annotations": annotations}, "spec": spec}


def _merge_defaults(resources: Json, requests: _Amounts, limits: _Amounts) -> tuple[Json, list[tuple[str, str]]]:
    result, added = dict(resources), []
    for part, word, given in (("requests", "request", requests), ("limits", "limit", limits)):
        missing = {name: value for name, value in given.items() if name not in (resources.get(part) or {})}
        if missing:
            result[part] = {**(resources.get(part) or {}), **missing}
            added.append((", ".join(sorted(missing)), word))
    return result, added


def _items(limit_range: Json, kind: str) -> Iterator[Json]:
    limits = (limit_range.get("spec") or {}).get("limits") or ()
    return (limit for limit in limits if limit.get("type") == kind)


def limit_problems(store: Store, noun: str, obj: Json) -> list[str]:
    """The problems that the first violated limit range reports about a pod or claim."""
    for limit_range in store.items("limitrange", obj["metadata"].get("namespace", "")):
        found = [*(_pod_problems(limit_range, obj) if noun == "pod" else _claim_problems(limit_range, obj))]
        if found:
            return found
    return []


def _claim_problems(limit_range: Json, claim: Json) -> Iterator[str]:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    for limit in _items(limit_range, "PersistentVolumeClaim"):
        for name, bound in (limit.get("min") or {}).items():
            yield from _minimum_problems("PersistentVolumeClaim", name, bound, requests, {})
        for name, bound in (limit.get("max") or {}).items():
            words = f"maximum {name} usage per PersistentVolumeClaim is {bound}"
            if name not in requests:
                yield f"{words}.  No request is specified"
            elif quantity(requests[name]) > quantity(bound):
                yield f"{words}, but request is {requests[name]}"


def _pod_problems(limit_range: Json, pod: Json) -> Iterator[str]:
    spec = pod.get("spec") or {}
    normal, init = spec.get("containers") or (), spec.get("initContainers") or ()
    for limit in (limit_range.get("spec") or {}).get("limits") or ():
        if limit.get("type") == "Container":
            for container in (*normal, *init):
                yield from _limit_problems("Container", limit, _part(container, "requests"), _part(container, "limits"))
        if limit.get("type") == "Pod":
            sums = [_total(normal, init, part) for part in ("requests", "limits")]
            yield from _limit_problems("Pod", limit, sums[0], sums[1])


def _part(container: Mapping[str, Any], part: str) -> _Amounts:
    found: _Amounts = (container.get("resources") or {}).get(part) or {}
    return found


def _total(normal: Sequence[Json], init: Sequence[Json], part: str) -> dict[str, str]:
    """What all containers request together, or one init container if more; only resources that each of them names."""
    given = [_part(container, part) for container in normal]
    names = {name for amounts in given for name in amounts if all(name in others for others in given)}
    total = {name: _sum([amounts[name] for amounts in given], name) for name in sorted(names)}
    for container in init:
        for name, value in _part(container, part).items():
            if name not in total or quantity(value) > quantity(total[name]):
                total[name] = value
    return total


def _sum(values: Sequence[str], name: str) -> str:
    if name == "cpu":
        return str(Quantity(sum(quantity(value).milli for value in values), _MILLI))
    return str(Quantity(sum(quantity(value).value for value in values)))


def _limit_problems(kind: str, limit: Json, requests: _Amounts, limits: _Amounts) -> Iterator[str]:
    for name, bound in (limit.get("min") or {}).items():
        yield from _minimum_problems(kind, name, bound, requests, limits)
    for name, bound in (limit.get("max") or {}).items():
        yield from _maximum_problems(kind, name, bound, requests, limits)
    for name, bound in (limit.get("maxLimitRequestRatio") or {}).items():
        yield from _ratio(kind, name, bound, requests, limits)


def _minimum_problems(kind: str, name: str, bound: str, requests: _Amounts, limits: _Amounts) -> Iterator[str]:
    words = f"minimum {name} usage per {kind} is {bound}"
    if name not in requests:
        yield f"{words}.  No request is specified"
    elif quantity(requests[name]) < quantity(bound):
        yield f"{words}, but request is {requests[name]}"
    elif name in limits and quantity(limits[name]) < quantity(bound):
        yield f"{words}, but limit is {limits[name]}"


def _maximum_problems(kind: str, name: str, bound: str, requests: _Amounts, limits: _Amounts) -> Iterator[str]:
    words = f"maximum {name} usage per {kind} is {bound}"
    if name not in limits:
        yield f"{words}.  No limit is specified"
    elif quantity(limits[name]) > quantity(bound):
        yield f"{words}, but limit is {limits[name]}"
    elif name in requests and quantity(requests[name]) > quantity(bound):
        yield f"{words}, but request is {requests[name]}"


def _ratio(kind: str, name: str, bound: str, requests: _Amounts, limits: _Amounts) -> Iterator[str]:
    words = f"{name} max limit to request ratio per {kind} is {bound}"
    request, limit = (quantity(amounts.get(name, "0")).nanos for amounts in (requests, limits))
    if not request:
        yield f"{words}, but no request is specified or request is 0"
    elif not limit:
        yield f"{words}, but no limit is specified or limit is 0"
    elif limit * 10**9 > quantity(bound).nanos * request:
        yield f"{words}, but provided ratio is {limit / request:f}"
