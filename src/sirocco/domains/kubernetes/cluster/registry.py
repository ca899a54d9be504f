"""Objects as a kube-apiserver keeps them in etcd: their keys, their form, and their types."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from kubesim.discovery.catalogue import CURRENT_RELEASE, catalogue
from kubesim.resource import BY_KIND, SERVICE_NOUNS, ResourceType
from kubesim.status import Json
from kubesim.store import Key, key_of
from sirocco.domains.kubernetes.cluster.control_plane import REGISTRY
from sirocco.domains.kubernetes.cluster.etcd import Entry

_FOLDERS = {
    "node": "minions",
    "service": "services/specs",
    "endpoints": "services/endpoints",
    "ingress": "ingress",
    "replicationcontroller": "controllers",
}
"""Where the server keeps types under a name other than their plural, for historical reasons."""
_OF_CONTROLLERS = frozenset({"endpointslices.discovery.k8s.io", "lease", "controllerrevisions.apps"})
"""What controllers derive from the rest, and renew: the real ones do."""
_PUBLISHED = "kube-root-ca.crt"
_REVISION_HASH = "controller-revision-hash"
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
REVISIONS = ResourceType("controllerrevisions.apps", "controllerrevisions", "ControllerRevision", "apps")
ADDRESSES = ResourceType(
    "ipaddresses.networking.k8s.io", "ipaddresses", "IPAddress", "networking.k8s.io", namespaced=False
)


def is_kept_by_server(row: ResourceType, obj: Json) -> bool:
    """Whether a declared object is put into a real cluster; services and the real controllers have theirs elsewhere."""
    name = obj["metadata"]["name"]
    is_published = row.noun == "configmap" and name == _PUBLISHED
    is_server = row.noun in {"service", "endpoints"} and name == "kubernetes"
    return row.noun not in SERVICE_NOUNS | _OF_CONTROLLERS and not is_published and not is_server


def registry_key(row: ResourceType, key: Key) -> str:
    """The key of an object in etcd."""
    folder = _FOLDERS.get(row.noun, row.plural)
    if _is_custom_group(row.group):
        folder = f"{row.group}/{row.plural}"
    return f"{REGISTRY}{folder}/{key.namespace}/{key.name}" if key.namespace else f"{REGISTRY}{folder}/{key.name}"


def stored_form(row: ResourceType, obj: Json) -> bytes:
    """The bytes that etcd holds of an object: its version is that of the key."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in {"resourceVersion", "selfLink"}}
    named = {"kind": obj.get("kind") or row.kind, "apiVersion": obj.get("apiVersion") or row.api_version}
    return json.dumps({**named, **obj, "metadata": metadata}, ensure_ascii=False).encode(errors="replace")


def found_object(entry: Entry) -> tuple[ResourceType, Json] | None:
    """The object in an entry that has a value, with its type; None if the value is not an object."""
    try:
        obj = json.loads(entry.value or b"")
        group, _, version = obj["apiVersion"].rpartition("/")
        kind, metadata = obj["kind"], {**obj["metadata"], "resourceVersion": str(entry.revision)}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    row = _types().get((group, kind)) or _custom_type(entry.key, group, version, kind, metadata)
    return (row, {**obj, "metadata": metadata}) if row else None


@cache
def _types() -> Mapping[tuple[str, str], ResourceType]:
    """The server's own types by group and kind; for those in the noun table, its rows."""
    served: dict[tuple[str, str], ResourceType] = {}
    for row in catalogue(CURRENT_RELEASE, metrics=True).resources:
        served.setdefault((row.group, row.kind), row)
    known = {(row.group, row.kind): row for row in BY_KIND.values()}
    own = {(row.group, row.kind): row for row in (REVISIONS, ADDRESSES)}
    return {**own, **served, **known}


def _custom_type(key: str, group: str, version: str, kind: str, metadata: Mapping[str, Any]) -> ResourceType | None:
    """The type of a custom object, whose plural the key contains."""
    parts = key.removeprefix(REGISTRY).split("/")
    if len(parts) < 3 or parts[0] != group:
        return None
    return ResourceType(f"{parts[1]}.{group}", parts[1], kind, group, version, namespaced="namespace" in metadata)


def _is_custom_group(group: str) -> bool:
    return group in {"apiextensions.k8s.io", "apiregistration.k8s.io"} or (
        "." in group and not group.endswith(".k8s.io")
    )


def address_objects(services: Iterable[Json]) -> Iterator[Json]:
    """The objects by which the server knows which addresses of services are taken."""
    for service in services:
        for address in dict.fromkeys(service["spec"].get("clusterIPs") or [service["spec"].get("clusterIP", "")]):
            if address and address != "None":
                metadata = service["metadata"]
                yield {
                    "kind": ADDRESSES.kind,
                    "apiVersion": ADDRESSES.api_version,
                    "metadata": {
                        "name": address,
                        "uid": _derived_uid(metadata["uid"], address),
                        "creationTimestamp": metadata["creationTimestamp"],
                        "labels": {
                            "ipaddress.kubernetes.io/ip-family": "IPv6" if ":" in address else "IPv4",
                            "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
                        },
                    },
                    "spec": {
                        "parentRef": {
                            "group": "", "resource": "services", "namespace": metadata["namespace"],
                            "name": metadata["name"],
                        }
                    },
                }  # fmt: skip


def revision_object(row: ResourceType, owner: Json) -> Json:
    """The revision that the controller of a stateful or daemon set would make of its template, under the same name.

    `owner` must be in the server's own form: the revision has to hold its template byte for byte, or else the
    controller makes another one and replaces every pod.
    """
    template = {**owner["spec"]["template"], "$patch": "replace"}
    data = {"spec": {"template": template}}
    mark = _revision_hash(_go_json(data) + "0")
    metadata = owner["metadata"]
    labels = (owner["spec"]["template"].get("metadata") or {}).get("labels") or {}
    extra = {"controller.kubernetes.io/hash": mark} if row.noun == "statefulset" else {_REVISION_HASH: mark}
    reference = {"apiVersion": row.api_version, "kind": row.kind, "name": metadata["name"], "uid": metadata["uid"]}
    return {
        "kind": REVISIONS.kind,
        "apiVersion": REVISIONS.api_version,
        "metadata": {
            "name": f"{metadata['name']}-{mark}",
            "namespace": metadata["namespace"],
            "uid": _derived_uid(metadata["uid"], mark),
            "creationTimestamp": metadata["creationTimestamp"],
            "labels": {**labels, **extra},
            "ownerReferences": [{**reference, "controller": True, "blockOwnerDeletion": True}],
        },
        "data": data,
        "revision": 1,
    }


def revision_bytes(revision: Json) -> bytes:
    """The stored form of a revision, with its data as the controller writes and compares it."""
    return _go_json(revision).encode(errors="replace")


def _go_json(value: Any) -> str:
    """JSON as Go writes a map: sorted, compact, and safe to embed in HTML."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def of_revision(row: ResourceType, obj: Json, revision: Json) -> Json:
    """A pod marked as belonging to a revision, or a set that has reached it."""
    name = revision["metadata"]["name"]
    if row.noun != "pod":
        return {**obj, "status": {**(obj.get("status") or {}), "currentRevision": name, "updateRevision": name}}
    owner = name.rpartition("-")[0]
    is_stateful = any(one.get("kind") == "StatefulSet" for one in obj["metadata"].get("ownerReferences") or ())
    mark = name if is_stateful else name.removeprefix(f"{owner}-")
    labels = {**(obj["metadata"].get("labels") or {}), _REVISION_HASH: mark}
    return {**obj, "metadata": {**obj["metadata"], "labels": labels}}


def _revision_hash(data: str) -> str:
    """The name of a revision: FNV-1 of its content, as Go's `hash/fnv` computes it, spelled in safe letters."""
    number = 0x811C9DC5
    for byte in data.encode():
        number = (number * 0x01000193 & 0xFFFFFFFF) ^ byte
    return "".join(_LETTERS[code % len(_LETTERS)] for code in str(number).encode())


def _derived_uid(*parts: str) -> str:
    digits = hashlib.sha256("/".join(parts).encode()).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


def object_key(row: ResourceType, obj: Json) -> str:
    """The key of this object in etcd."""
    return registry_key(row, key_of(row, obj))
