"""What the server refuses in nodes."""

from collections.abc import Sequence

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import WHOLE, duplicate, forbidden, invalid, value_text
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import (
    label_name_causes,
    metadata_causes,
    metadata_update_causes,
)
from kubesim.kinds.validation.resources import quantity_causes
from kubesim.kinds.validation.scheduling import taint_effect_causes
from kubesim.kinds.validation.services import is_network
from kubesim.names import label_value_problems
from kubesim.status import Cause, Json

_CHANGEABLE = frozenset({"podCIDR", "podCIDRs", "providerID", "configSource", "unschedulable", "taints"})


def node_causes(row: Resource, node: Json) -> list[Cause]:
    """A new node."""
    spec = node.get("spec") or {}
    ranges = spec.get("podCIDRs") or []
    causes = [
        *metadata_causes(row, node["metadata"], namespaced=False),
        *_taint_causes(spec.get("taints") or ()),
        *_resource_causes(node),
    ]
    causes += [
        invalid(f"spec.podCIDRs[{index}]", ranges, "must be valid CIDR")
        for index, text in enumerate(ranges)
        if not is_network(text)
    ]
    if len(ranges) > 1:
        if len({":" in text for text in ranges}) < 2 or len(ranges) > 2:
            words = "may specify no more than one CIDR for each IP family"
            causes.append(invalid("spec.podCIDRs", ranges, words))
        causes += [
            duplicate(f"spec.podCIDRs[{index}]", text) for index, text in enumerate(ranges) if text in ranges[:index]
        ]
    return causes


def _taint_causes(taints: Sequence[Json]) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        path, value = f"metadata.taints[{index}]", taint.get("value", "")
        causes += label_name_causes(taint.get("key", ""), f"{path}.key")
        problems = label_value_problems(value)
        if problems:
            causes.append(invalid(f"{path}.value", value, ";".join(problems)))
        causes += taint_effect_causes(taint.get("effect", ""), f"{path}.effect")
        key = (taint.get("key", ""), taint.get("effect", ""))
        if key in seen:
            value = value_text(GoValue("core.Taint", taint))
            text = f"Duplicate value: {value}: taints must be unique by key and effect pair"
            causes.append(Cause("FieldValueDuplicate", text, path))
        seen.add(key)
    return causes


def _resource_causes(node: Json) -> list[Cause]:
    status = node.get("status") or {}
    return [
        cause
        for part in ("capacity", "allocatable")
        for name, given in (status.get(part) or {}).items()
        for cause in quantity_causes(name, given, f"status.{part}.{name}")
    ]


def node_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a node."""
    return [*node_causes(row, new), *node_status_causes(row, new, old)]


def node_status_causes(_: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a node's status, checked like a change of the node."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    causes = [*metadata_update_causes(new["metadata"], old["metadata"]), *_resource_causes(new)]
    addresses = (new.get("status") or {}).get("addresses") or ()
    causes += [
        duplicate(f"status.addresses[{index}]", GoValue("core.NodeAddress", item))
        for index, item in enumerate(addresses)
        if item in addresses[:index]
    ]
    given, earlier = spec.get("podCIDRs") or [], before.get("podCIDRs") or []
    words = 'node updates may not change podCIDR except from "" to valid'
    if earlier and len(given) != len(earlier):
        causes.append(forbidden("spec.podCIDRs", words))
    elif earlier:
        causes += [forbidden("spec.podCIDRs", words) for one, other in zip(given, earlier, strict=True) if one != other]
    if before.get("providerID") and before["providerID"] != spec.get("providerID", ""):
        words = 'node updates may not change providerID except from "" to valid'
        causes.append(forbidden("spec.providerID", words))
    causes += _taint_causes(spec.get("taints") or ())
    once = {"podCIDR", "podCIDRs"} if earlier else set()
    once |= {"providerID"} if before.get("providerID") else set()
    fixed, was = (
        {key: value for key, value in part.items() if key in once or key not in _CHANGEABLE} for part in (spec, before)
    )
    if fixed != was:
        words = (
            "node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig "
            "feature gate is enabled)"
        )
        causes.append(forbidden(WHOLE, words))
    return causes
