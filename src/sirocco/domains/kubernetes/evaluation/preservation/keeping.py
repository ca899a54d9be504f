"""Keeping: data that still exists, access that accounts still have, and limits that still hold."""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kubesim.resource import BY_NOUN
from kubesim.selection import selects
from kubesim.types.quantity import amount_of
from sirocco.domains.kubernetes.evaluation.preservation.world import (
    Worlds,
    is_going,
    items_in,
    keepers,
    mapping,
    mappings,
    place_of,
    reference,
    spec_of,
    template_labels,
)
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot, namespace_of
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.record import Loss


def data_losses(item: KubernetesObject, worlds: Worlds, *, key: str | None, is_precious: bool) -> Iterator[Loss]:
    """Keys of a config map or secret that are gone, empty, or of which nothing is left.

    If the goal was to destroy the object, every value has to survive, alone or inside a longer one; if it was to change
    one key, that one has to. Values are never shown.
    """
    now = worlds.counterpart(item)
    if now is None:
        yield Loss(f"{place_of(item)} is gone", (reference(item),))
        return
    before, after = _values(item), _values(now)
    for name, value in sorted(before.items()):
        own, path = (reference(item),), ("data", name)
        if not value.strip():
            continue
        if name not in after:
            yield Loss(f"{place_of(item)} no longer has {name}", own, path)
        elif not after[name].strip():
            yield Loss(f"{place_of(item)}: {name} is empty", own, path)
        elif (is_precious or name == key) and not _survives(value, after[name], is_exact=name == key):
            yield Loss(f"{place_of(item)}: {name} holds something else", own, path)


def _survives(before: str, after: str, *, is_exact: bool) -> bool:
    """Whether a value is still there; additions around it, or other white space, do not count as loss."""
    old, new = ([" ".join(line.split()) for line in text.splitlines() if line.strip()] for text in (before, after))
    if is_exact or old == new:
        return old == new
    return all(any(_holds_line(line, other) for other in new) for line in old)


def _holds_line(line: str, other: str) -> bool:
    """Whether a line is still there, followed at most by further words: inside a longer number it is lost."""
    return other.startswith(line) and not (other[len(line) :][:1].isalnum() and line[-1:].isalnum())


def _values(item: KubernetesObject) -> dict[str, str]:
    """The values by key; those of secrets are decoded if possible."""
    stored = {**mapping(item.get("data")), **mapping(item.get("binaryData"))}
    is_secret = item.get("kind") == "Secret"
    return {str(key): _decode_value(value) if is_secret else str(value or "") for key, value in stored.items()}


def _decode_value(value: Any) -> str:
    text = str(value or "")
    try:
        return b64decode(text, validate=True).decode()
    except (NotBase64, ValueError):
        return text


def claim_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """Whether a claim, or the volume behind it, is gone."""
    now = worlds.counterpart(item)
    if now is None:
        yield Loss(f"{place_of(item)} is gone or going", (reference(item),))
        return
    volume = str(spec_of(item).get("volumeName") or "")
    own = (reference(item), ("pv", volume))
    if volume and spec_of(now).get("volumeName") != volume:
        yield Loss(f"{place_of(item)} has another volume", own)
    elif (volume and _is_there(volume, worlds.expected) and not _is_there(volume, worlds.actual)) or (
        _phase(now) == "Lost" != _phase(item)
    ):
        yield Loss(f"{place_of(item)} has lost its volume", own)


def _phase(item: KubernetesObject) -> Any:
    return mapping(item.get("status")).get("phase")


def volume_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """Whether a volume is gone, or belongs to another claim."""
    now = worlds.counterpart(item)
    if now is None:
        yield Loss(f"{place_of(item)} is gone or going", (reference(item),))
        return
    before, after = (mapping(spec_of(one).get("claimRef")) for one in (item, now))
    if before and (before.get("namespace"), before.get("name")) != (after.get("namespace"), after.get("name")):
        yield Loss(f"{place_of(item)} no longer belongs to its claim", (reference(item),), ("spec", "claimRef"))


def _is_there(volume: str, world: Snapshot) -> bool:
    found = world.find(BY_NOUN["pv"], "", volume)
    return found is not None and not is_going(found)


def access_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """What a role no longer allows, whom a binding no longer binds, or what an account has lost."""
    now = worlds.counterpart(item)
    own = (reference(item),)
    if now is None:
        yield Loss(f"{place_of(item)} is gone", own)
        return
    for part, what in (("subjects", "binds"), ("imagePullSecrets", "holds"), ("secrets", "holds")):
        kept = {canonical_json(_subject(one)) for one in mappings(now.get(part))}
        lost = [one for one in mappings(item.get(part)) if canonical_json(_subject(one)) not in kept]
        if lost:
            yield Loss(f"{place_of(item)} no longer {what} {lost[0].get('name')}", own, (part,))
    if item.get("roleRef") and mapping(now.get("roleRef")).get("name") != mapping(item.get("roleRef")).get("name"):
        yield Loss(f"{place_of(item)} stands for another role", own, ("roleRef",))
    granted = set(_grants(now))
    lost_grant = next((one for one in _grants(item) if not _is_granted(one, granted)), None)
    if lost_grant is not None:
        yield Loss(f"{place_of(item)} no longer allows {lost_grant[2]} of {lost_grant[1]}", own, ("rules",))
    yield from _empty_role(item, worlds)


def _subject(subject: Mapping[str, Any]) -> dict[str, Any]:
    return {key: subject.get(key) for key in ("kind", "name", "namespace") if subject.get(key)}


_Grant = tuple[str, str, str, str]


def _grants(role: KubernetesObject) -> Iterator[_Grant]:
    """The permissions of a role, by group, type, verb and name; an empty name stands for all objects."""
    for rule in mappings(role.get("rules")):
        for group in items_in(rule.get("apiGroups")) or ("",):
            for resource in (*items_in(rule.get("resources")), *items_in(rule.get("nonResourceURLs"))):
                for verb in items_in(rule.get("verbs")):
                    for name in items_in(rule.get("resourceNames")) or ("",):
                        yield str(group), str(resource), str(verb), str(name)


def _is_granted(grant: _Grant, granted: set[_Grant]) -> bool:
    group, resource, verb, name = grant
    return any(
        (a, b, c, d) in granted for a in {group, "*"} for b in {resource, "*"} for c in {verb, "*"} for d in {name, ""}
    )  # fmt: skip


def _empty_role(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """A binding to a role that is gone, or allows nothing of what it allowed, has no effect."""
    role = mapping(item.get("roleRef"))
    row = {"Role": BY_NOUN["role"], "ClusterRole": BY_NOUN["clusterrole"]}.get(str(role.get("kind")))
    if row is None:
        return
    before, after = (
        world.find(row, namespace_of(item), str(role.get("name"))) for world in (worlds.expected, worlds.actual)
    )
    allowed, granted = list(_grants(before or {})), set(_grants(after or {}))
    if allowed and not any(_is_granted(one, granted) for one in allowed):
        yield Loss(
            f"{place_of(item)} stands for a role that allows nothing any more",
            (reference(item), (row.noun, str(role.get("name")))),
        )


def limit_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """The limits that a quota, a limit range, a disruption budget or an autoscaler no longer enforces."""
    now = worlds.counterpart(item)
    own = (reference(item),)
    if now is None:
        yield Loss(f"{place_of(item)} is gone", own)
        return
    check = LIMITS.get(own[0][0])
    for what, path in check(item, now, worlds) if check else ():
        yield Loss(f"{place_of(item)} {what}", own, path)


_Lapse = tuple[str, tuple[str, ...]]


def _quota_lapses(item: KubernetesObject, now: KubernetesObject, _worlds: Worlds) -> Iterator[_Lapse]:
    hard = mapping(spec_of(now).get("hard"))
    for resource, amount in mapping(spec_of(item).get("hard")).items():
        if resource not in hard or amount_of(str(hard[resource])) > amount_of(str(amount)):
            yield f"allows more {resource} than before", ("spec", "hard", str(resource))
    for part in ("scopes", "scopeSelector"):
        if spec_of(now).get(part) != spec_of(item).get(part):
            yield "is for other pods than before", ("spec", part)


def _range_lapses(item: KubernetesObject, now: KubernetesObject, _worlds: Worlds) -> Iterator[_Lapse]:
    after = {str(one.get("type")): one for one in mappings(spec_of(now).get("limits"))}
    for limit in mappings(spec_of(item).get("limits")):
        most = mapping(mapping(after.get(str(limit.get("type")))).get("max"))
        for resource, amount in mapping(limit.get("max")).items():
            if resource not in most or amount_of(str(most[resource])) > amount_of(str(amount)):
                yield f"allows more {resource} than before", ("spec", "limits")


def _budget_lapses(item: KubernetesObject, now: KubernetesObject, worlds: Worlds) -> Iterator[_Lapse]:
    namespace = namespace_of(item)
    covered = [
        one
        for one in keepers(worlds.expected, namespace)
        if selects(spec_of(item).get("selector"), template_labels(one))
    ]
    kept = [one for one in covered if (found := worlds.counterpart(one)) is None
            or selects(spec_of(now).get("selector"), template_labels(found))]  # fmt: skip
    if covered and not kept:
        yield "covers none of its pods any more", ("spec", "selector")
    if _protects(item) and not _protects(now):
        yield "lets all pods go at once", ("spec",)


def _protects(budget: KubernetesObject) -> bool:
    least, most = (spec_of(budget).get(part) for part in ("minAvailable", "maxUnavailable"))
    if least is not None:
        return str(least) not in {"0", "0%"}
    return most is not None and str(most) != "100%" and amount_of(str(most)) < _ALL


_ALL = 1000


def _autoscaler_lapses(item: KubernetesObject, now: KubernetesObject, _worlds: Worlds) -> Iterator[_Lapse]:
    before, after = (mapping(spec_of(one).get("scaleTargetRef")) for one in (item, now))
    if (before.get("kind"), before.get("name")) != (after.get("kind"), after.get("name")):
        yield "looks after something else", ("spec", "scaleTargetRef")
    least, most = spec_of(item).get("minReplicas", 1), spec_of(now).get("maxReplicas")
    if isinstance(least, int) and isinstance(most, int) and most < least:
        yield "keeps fewer pods than it must", ("spec", "maxReplicas")
    was_most, is_least = spec_of(item).get("maxReplicas"), spec_of(now).get("minReplicas", 1)
    if all(isinstance(one, int) for one in (least, was_most, is_least, most)) and least < was_most and is_least >= most:
        yield "has no room to scale", ("spec", "maxReplicas")
    up = mapping(mapping(spec_of(now).get("behavior")).get("scaleUp"))
    was = mapping(mapping(spec_of(item).get("behavior")).get("scaleUp"))
    if up.get("selectPolicy") == "Disabled" != was.get("selectPolicy"):
        yield "never scales up", ("spec", "behavior")
    if mappings(spec_of(item).get("metrics")) and not mappings(spec_of(now).get("metrics")):
        yield "measures nothing", ("spec", "metrics")


LIMITS: Mapping[str, Callable[[KubernetesObject, KubernetesObject, Worlds], Iterator[_Lapse]]] = {
    "resourcequota": _quota_lapses,
    "limitrange": _range_lapses,
    "pdb": _budget_lapses,
    "hpa": _autoscaler_lapses,
}
"""What a quota, a limit range or a budget of each type no longer does, and the field that says so."""

STORAGE_LOSSES: Mapping[str, Callable[[KubernetesObject, Worlds], Iterator[Loss]]] = {
    "pvc": claim_losses,
    "pv": volume_losses,
}
"""What each type that holds data has lost, apart from keys and values."""
