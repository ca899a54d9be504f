"""The resources that an API server serves: one row per resource and version, for each release of Kubernetes."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha1, sha256
from typing import Any, NamedTuple

from kubesim.discovery.resources import (
    ALL_VERBS,
    GROUPS,
    METRICS,
    SCALE,
    STATUS,
    Part,
    Served,
)
from kubesim.resource import BY_PLURAL, ResourceType, noun_of
from kubesim.status import Json

RECORDED_RELEASE = 20
"""The release whose answers were recorded; a bare server behaves like it."""
CURRENT_RELEASE = 34
"""The release of clusters that ask for no other."""
CUSTOM_DEFINITIONS = noun_of("customresourcedefinitions.apiextensions.k8s.io")
"""The noun of the objects that declare custom resources."""

_PATCHES = {RECORDED_RELEASE: 2, 33: 1, CURRENT_RELEASE: 1}
_CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
"""All verbs in the order in which the server lists them for custom resources; for its own types it sorts them."""
_SINGULAR_NAMES_SINCE = 27
_VERSIONS = re.compile(r"(?P<name>\w+)(?::(?P<since>\d*)-(?P<until>\d*))?")
_KUBE_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
# Groups that hold another group's objects under their own name.
_SHARED_NOUNS = {("events.k8s.io", "events"): "event", ("extensions", "ingresses"): "ingress"}


@dataclass(frozen=True, slots=True)
class Subresource:
    """A part of an object with a path of its own; its kind may belong to another group."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Resource(ResourceType):
    """One served resource in one version; `noun` is its key in the store, shared by all versions of a type."""

    singular: str = ""
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()
    stored: str = ""
    """The apiVersion in which the store keeps its objects; empty for types that are never stored."""
    custom: Json | None = field(default=None, compare=False, repr=False)
    """For a custom resource, the version's entry in its definition, with schema, subresources and columns."""
    minor: int = CURRENT_RELEASE
    """The release whose features it has."""
    hashed: str = ""
    """The version that `storage_hash` is made of, if it is one that is not served."""

    def subresource(self, name: str) -> Subresource | None:
        """The subresource of that name; None when the resource has none."""
        return next((part for part in self.subresources if part.name == name), None)

    @property
    def storage_hash(self) -> str:
        """The hash of the stored version that discovery shows; empty for types that are never stored."""
        if not self.stored:
            return ""
        group, _, version = self.stored.rpartition("/")
        version = self.hashed or version
        return b64encode(sha256(f"{group}/{version}/{self.kind}".encode()).digest()[:8]).decode()


class Catalogue:
    """What one server serves: the built-in resources of a release, and custom ones."""

    def __init__(self, minor: int, resources: Iterable[Resource]) -> None:
        self.minor = minor
        self.resources = tuple(resources)
        self._by_path: Mapping[tuple[str, str, str], Resource] = {
            (row.group, row.version, row.plural): row for row in self.resources
        }

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource of a request path; None when the server does not serve it."""
        return self._by_path.get((group, version, plural))

    @cached_property
    def by_version(self) -> Mapping[str, Mapping[str, tuple[Resource, ...]]]:
        """The rows of each group and version, in the order in which the server lists them."""
        groups: dict[str, dict[str, list[Resource]]] = {}
        for row in self.resources:
            groups.setdefault(row.group, {}).setdefault(row.version, []).append(row)
        return {
            group: {version: tuple(rows) for version, rows in versions.items()} for group, versions in groups.items()
        }


class ServedCatalogue:
    """The catalogue of a running server, which serves custom resources as soon as their definitions are stored."""

    def __init__(self, built_in: Catalogue) -> None:
        self._built_in = built_in
        self._definitions: tuple[Json, ...] = ()
        self._current = built_in

    def current(self, definitions: Sequence[Json]) -> Catalogue:
        """The catalogue with the custom resources of these stored definitions; the last result is kept."""
        known = self._definitions
        if len(known) != len(definitions) or any(a is not b for a, b in zip(known, definitions, strict=True)):
            self._definitions = tuple(definitions)
            rows = tuple(_custom_rows(self._definitions, self._built_in.minor))
            self._current = Catalogue(self._built_in.minor, (*self._built_in.resources, *rows))
        return self._current


@lru_cache
def catalogue(minor: int = CURRENT_RELEASE, *, metrics: bool = False) -> Catalogue:
    """The built-in resources of a release; with `metrics` also those of a metrics server."""
    return Catalogue(minor, _built_in_rows(minor, {**GROUPS, **METRICS} if metrics else GROUPS))


class Build(NamedTuple):
    """How a server's binary was built: from what, when and with what."""

    commit: str
    date: str
    go: str


_BUILDS = {
    RECORDED_RELEASE: Build("faecb196815e248d3ecfb03c680a4507229c2a56", "2021-01-13T13:20:00Z", "go1.15.5"),
    33: Build("8adc0f041b8e7ad1d30e29cc59c6ae7a15e19828", "2025-05-15T08:19:08Z", "go1.24.2"),
    CURRENT_RELEASE: Build("93248f9ae092f571eb870b7664c534bfc7d00f03", "2025-09-09T19:37:20Z", "go1.24.6"),
}
"""The builds of the published binaries."""


def build_of(minor: int) -> Build:
    """The build of a release; for releases whose binary was not looked at, an invented one that is unique."""
    made_up = sha1(git_version(minor).encode(), usedforsecurity=False).hexdigest()
    return _BUILDS.get(minor) or Build(made_up, _BUILDS[CURRENT_RELEASE].date, _BUILDS[CURRENT_RELEASE].go)


def git_version(minor: int) -> str:
    """The full name of a release, as the server calls itself."""
    return f"v1.{minor}.{_PATCHES.get(minor, 0)}"


def own_manager(minor: int) -> str:
    """The server's own name as a manager of fields: that of its binary, which contained the release when recorded."""
    return f"kube-apiserver-{git_version(minor)[1:]}" if minor == RECORDED_RELEASE else "kube-apiserver"


def _built_in_rows(minor: int, groups: Mapping[str, Sequence[Served]]) -> Iterator[Resource]:
    for group, entries in groups.items():
        served = {entry: tuple(_served_versions(entry, minor)) for entry in entries}
        declared = (match["name"] for entry in entries for match in _VERSIONS.finditer(entry.versions))
        for version in dict.fromkeys(declared):
            for entry, versions in served.items():
                if version in versions:
                    yield _built_in(group, version, versions, entry, minor)


def _served_versions(entry: Served, minor: int) -> Iterator[str]:
    for match in _VERSIONS.finditer(entry.versions):
        if int(match["since"] or 0) <= minor <= int(match["until"] or 99):
            yield match["name"]


def _built_in(group: str, version: str, versions: Sequence[str], entry: Served, minor: int) -> Resource:
    is_stored = "watch" in entry.verbs
    verbs = tuple(verb for verb in entry.verbs if verb != "deletecollection" or minor >= entry.collection_since)
    return Resource(
        _noun(group, entry.plural),
        entry.plural,
        entry.kind,
        group,
        version,
        entry.namespaced,
        entry.short,
        entry.kind.lower() if minor >= _SINGULAR_NAMES_SINCE else "",
        entry.categories,
        verbs,
        tuple(_subresource(part, entry.kind) for part in entry.parts if _is_served(part, version, minor)),
        _stored_version(group, versions, entry) if is_stored else "",
        minor=minor,
        hashed=entry.hashed,
    )


def _is_served(part: Part, version: str, minor: int) -> bool:
    return part.since <= minor <= part.until and part.version in {"", version}


def _subresource(part: Part, kind: str) -> Subresource:
    group, _, version = part.of.rpartition("/")
    return Subresource(part.name, part.kind or kind, part.verbs, group, version)


def _stored_version(group: str, versions: Sequence[str], entry: Served) -> str:
    stored_group, _, stored_version = entry.stored.rpartition("/")
    if entry.stored and (stored_group != group or stored_version in versions):
        return entry.stored
    return f"{group}/{versions[0]}" if group else versions[0]


def _noun(group: str, plural: str) -> str:
    """The standard's noun for a type, or its full name if the standard has none."""
    if known := BY_PLURAL.get((group, plural)):
        return known.noun
    return _SHARED_NOUNS.get((group, plural)) or (f"{plural}.{group}" if group else plural)


def _custom_rows(definitions: Iterable[Json], minor: int) -> Iterator[Resource]:
    """The rows that stored definitions declare; versions of a group in the order of Kubernetes' version numbers."""
    rows = [
        row
        for definition in definitions
        if is_established(definition)
        for row in _declared_resources(definition, minor)
    ]
    first: dict[str, str] = {}
    for row in rows:
        name = f"{row.version}.{row.group}"
        first[row.group] = min(first.get(row.group, name), name)
    yield from sorted(rows, key=lambda row: (first[row.group], _version_order(row.version)))


def is_established(definition: Json) -> bool:
    """Whether the server serves what a definition declares."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(item.get("type") == "Established" and item.get("status") == "True" for item in conditions)


def _declared_resources(definition: Json, minor: int) -> Iterator[Resource]:
    spec: Mapping[str, Any] = definition["spec"]
    names = {**spec["names"], **((definition.get("status") or {}).get("acceptedNames") or {})}
    group, plural, kind = spec["group"], names["plural"], names["kind"]
    stored = next((version["name"] for version in spec["versions"] if version.get("storage")), "")
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        parts = version.get("subresources") or {}
        yield Resource(
            f"{plural}.{group}",
            plural,
            kind,
            group,
            version["name"],
            spec.get("scope") == "Namespaced",
            tuple(names.get("shortNames") or ()),
            names.get("singular") or kind.lower(),
            tuple(names.get("categories") or ()),
            _CUSTOM_VERBS,
            tuple(_subresource(part, kind) for part in (STATUS, SCALE) if parts.get(part.name) is not None),
            f"{group}/{stored}",
            version,
            minor,
        )


def _version_order(version: str) -> tuple[Any, ...]:
    """The order of versions, most stable and newest first; names that are not version numbers come last, by name."""
    match = _KUBE_VERSION.fullmatch(version)
    if match is None:
        return (3, version)
    stability = {None: 0, "beta": 1, "alpha": 2}[match[2]]
    return (stability, -int(match[1]), -int(match[3] or 0))
