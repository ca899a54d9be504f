"""The objects that an API server makes at its first start, besides roles and priority classes, from a data file.

Flow schemas and priority levels, the registrations of the server's own groups, and the range of service addresses: the
file holds what a real server made, without identity and time.
"""

import json
from collections.abc import Container, Iterable
from functools import lru_cache
from importlib.resources import files

from kubesim.canonical import derived_seed
from kubesim.discovery.catalogue import catalogue
from kubesim.resource import ResourceType, noun_of
from kubesim.status import Json
from kubesim.store import Ids, Layer

_DATA = "founding.json"
_SINCE = 33
"""The first release that the file covers; earlier ones are not offered as environments."""
_FIRST_VERSION = 300
"""Resource versions of roles and priority classes are below it."""
FLOW_SCHEMAS = noun_of("flowschemas.flowcontrol.apiserver.k8s.io")
PRIORITY_LEVELS = noun_of("prioritylevelconfigurations.flowcontrol.apiserver.k8s.io")


@lru_cache(maxsize=8)
def founding_objects(minor: int, created: str) -> Layer:
    """The objects of a release, dated to a given time, in a layer that clusters share."""
    if minor < _SINCE:
        return {}
    served = {(row.api_version, row.kind): row for row in catalogue(minor).resources}
    groups = {(row.group, row.version) for row in catalogue(minor, metrics=True).resources}
    ids = Ids(derived_seed(0, f"founding {minor} {created}"))
    layer: dict[ResourceType, dict[str, dict[str, Json]]] = {}
    for number, obj in enumerate(_documents(), start=_FIRST_VERSION):
        if obj["kind"] == "APIService" and not _is_served(obj["spec"], groups):
            continue
        row = served[obj["apiVersion"], obj["kind"]]
        metadata = {**obj["metadata"], "uid": ids.uid(), "resourceVersion": str(number), "creationTimestamp": created}
        layer.setdefault(row, {}).setdefault("", {})[metadata["name"]] = {**obj, "metadata": metadata}
    return dict(layer)


def _is_served(spec: Json, groups: Container[tuple[str, str]]) -> bool:
    return (spec.get("group", ""), spec["version"]) in groups


def _documents() -> Iterable[Json]:
    found: list[Json] = json.loads(files(__package__).joinpath(_DATA).read_text("utf-8"))
    return found
