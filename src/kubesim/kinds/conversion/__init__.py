"""One object in the versions of the API that serve it: the store holds one version, requests may use another."""

from collections.abc import Callable

from kubesim.kinds.conversion import autoscaling, events, networking
from kubesim.resource import ResourceType
from kubesim.status import Json

_Converter = Callable[[Json, str], Json]
_TO_HUB: dict[str, _Converter] = {"hpa": autoscaling.to_hub, "event": events.to_hub, "ingress": networking.to_hub}
_FROM_HUB: dict[str, _Converter] = {
    "hpa": autoscaling.from_hub, "event": events.from_hub, "ingress": networking.from_hub,
}  # fmt: skip


_CARRIED_BY = {"hpa": autoscaling.CARRIED, "daemonset": frozenset({"deprecated.daemonset.template.generation"})}
"""Annotations that stand for fields of the server's internal type."""


def convert_object(obj: Json, to: ResourceType) -> Json:
    """`obj` in the version `to` of its type; managed fields keep the versions that they were recorded in."""
    given = str(obj.get("apiVersion") or to.api_version)
    if given == to.api_version:
        return obj
    renamed = {**obj, "apiVersion": to.api_version}
    if to.noun not in _TO_HUB:
        return renamed
    return _FROM_HUB[to.noun](_TO_HUB[to.noun](renamed, given), to.api_version)


def inner_metadata(row: ResourceType, obj: Json) -> Json:
    """An object's metadata in the server's internal form, used where the object itself shows none."""
    metadata: Json = obj.get("metadata") or {}
    carried = _CARRIED_BY.get(row.noun)
    annotations = metadata.get("annotations") or {}
    if not carried or not carried & annotations.keys():
        return metadata
    rest = {name: value for name, value in metadata.items() if name != "annotations"}
    kept = {name: value for name, value in annotations.items() if name not in carried}
    return {**rest, "annotations": kept} if kept else rest
