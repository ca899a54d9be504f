"""The server's discovery documents: its groups, versions and resources, in the plain and in the aggregated form."""

from collections.abc import Iterable
from typing import Any

from kubesim.conventions import with_times_of
from kubesim.discovery.catalogue import Catalogue, Resource, Subresource
from kubesim.status import Json

_AGGREGATED_SINCE = 26
_AGGREGATED_V2_SINCE = 30
_BETA_UNTIL = 34
"""The first release known to have dropped the beta of the aggregated form."""
_PLAIN = "application/json"


def answer(catalogue: Catalogue, path: str, accept: str, server_address: str = "") -> tuple[Json, str] | None:
    """The discovery document of a path and its content type; None for other paths."""
    parts = path.removeprefix("/").removesuffix("/").split("/")
    if parts in (["api"], ["apis"]):
        if version := _aggregated_version(catalogue.minor, accept):
            return _aggregated_discovery(catalogue, parts[0], version)
        document = _group_list(catalogue) if parts == ["apis"] else _core_versions(catalogue, server_address)
        return document, _PLAIN
    if parts[0] == "api" and len(parts) == 2:
        return _find_resource_list(catalogue, "", parts[1])
    if parts[0] == "apis" and parts[1] and len(parts) == 2:
        versions = catalogue.by_version.get(parts[1])
        return ({"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1], versions)}, _PLAIN) if versions else None
    if parts[0] == "apis" and parts[1] and len(parts) == 3:
        return _find_resource_list(catalogue, parts[1], parts[2])
    return None


def _find_resource_list(catalogue: Catalogue, group: str, version: str) -> tuple[Json, str] | None:
    rows = catalogue.by_version.get(group, {}).get(version)
    return (_resource_list(group, version, rows), _PLAIN) if rows else None


def _core_versions(catalogue: Catalogue, server_address: str) -> Json:
    address = {"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}
    return {"kind": "APIVersions", "versions": list(catalogue.by_version[""]), "serverAddressByClientCIDRs": [address]}


def _group_list(catalogue: Catalogue) -> Json:
    groups = [_group(name, versions) for name, versions in catalogue.by_version.items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _group(name: str, versions: Iterable[str]) -> Json:
    rows = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": rows, "preferredVersion": rows[0]}


def _resource_list(group: str, version: str, rows: Iterable[Resource]) -> Json:
    resources = [entry for row in rows for entry in (_resource(row), *(_part(row, part) for part in row.subresources))]
    group_version = f"{group}/{version}" if group else version
    # The documents of the two oldest groups carry no apiVersion, for clients older than that field.
    named = {"kind": "APIResourceList", **({} if group in {"", "extensions"} else {"apiVersion": "v1"})}
    return {**named, "groupVersion": group_version, "resources": resources}


def _resource(row: Resource) -> Json:
    return _without_empty({
        "name": row.plural, "singularName": row.singular, "namespaced": row.namespaced, "kind": row.kind,
        "verbs": list(row.verbs), "shortNames": list(row.short_names), "categories": list(row.categories),
        "storageVersionHash": row.storage_hash,
    })  # fmt: skip


def _part(row: Resource, part: Subresource) -> Json:
    return _without_empty({
        "name": f"{row.plural}/{part.name}", "singularName": "", "namespaced": row.namespaced, "group": part.group,
        "version": part.version, "kind": part.kind, "verbs": list(part.verbs),
    })  # fmt: skip


def _without_empty(document: Json) -> Json:
    return {key: value for key, value in document.items() if value or key in {"singularName", "namespaced"}}


def _aggregated_version(minor: int, accept: str) -> str:
    """The first version of the aggregated form that a client accepts and the release has; empty for the plain form."""
    known = {"v2beta1": _AGGREGATED_SINCE, "v2": _AGGREGATED_V2_SINCE}
    for choice in accept.split(","):
        media_type, *parameters = (part.strip() for part in choice.split(";"))
        asked = dict(part.split("=", 1) for part in parameters if "=" in part)
        if media_type == _PLAIN and "as" not in asked:
            return ""
        if asked.get("as") == "APIGroupDiscoveryList" and asked.get("g") == "apidiscovery.k8s.io":
            version = asked.get("v", "")
            if minor >= known.get(version, minor + 1) and (version != "v2beta1" or minor < _BETA_UNTIL):
                return version
    return ""


def _aggregated_discovery(catalogue: Catalogue, root: str, version: str) -> tuple[Json, str]:
    groups = [(name, versions) for name, versions in catalogue.by_version.items() if bool(name) is (root == "apis")]
    items = [
        {
            "metadata": {**({"name": name} if name else {}), "creationTimestamp": None},
            "versions": [
                {"version": served, "resources": [_aggregated_resource(row) for row in rows], "freshness": "Current"}
                for served, rows in versions.items()
            ],
        }
        for name, versions in groups
    ]
    document = {
        "kind": "APIGroupDiscoveryList", "apiVersion": f"apidiscovery.k8s.io/{version}", "metadata": {}, "items": items
    }  # fmt: skip
    document = with_times_of(catalogue.minor, document)
    return document, f"{_PLAIN};g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"


def _aggregated_resource(row: Resource) -> Json:
    # A kind of the document's own group and version is given by its name alone.
    kind: dict[str, Any] = {"group": "", "version": "", "kind": row.kind}
    document = {
        "resource": row.plural, "responseKind": kind, "scope": "Namespaced" if row.namespaced else "Cluster",
        "singularResource": row.singular, "verbs": list(row.verbs), "shortNames": list(row.short_names),
        "categories": list(row.categories),
        "subresources": [
            {
                "subresource": part.name,
                "responseKind": {"group": part.group, "version": part.version, "kind": part.kind},
                "verbs": list(part.verbs),
            }
            for part in row.subresources
        ],
    }  # fmt: skip
    return {key: value for key, value in document.items() if value}
