"""The account that the agent acts under, bound to what its scope and mode allow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count

from kubesim.access import RBAC_GROUP
from kubesim.kinds.declared import declare_object
from kubesim.resource import BY_NOUN, ResourceType
from kubesim.status import Json
from sirocco.domains.kubernetes.profiles.declared import scope_of
from sirocco.domains.kubernetes.remembering import remember_results
from sirocco.domains.kubernetes.simulator.layout import cluster_rules, declared_keys, scoped_rules
from sirocco.oasis.scenario import Preconditions

_READ_ONLY_MODE = "readonly"
_READ_ONLY_ZONE = "-readonly"
_HOMES = (
    "operators", "platform-access", "cluster-access", "automation", "platform-ops", "access", "ops-tooling",
    "shared-ops",
)  # fmt: skip
_ACCOUNTS = ("operator", "ops", "deployer", "platform", "automation", "maintainer", "workload-admin", "oncall")
_ROLES = ("workload-operator", "namespace-operator", "workloads", "namespace-access", "team-operations", "maintenance")
_VIEWERS = ("cluster-viewer", "node-reader", "cluster-read", "topology-viewer", "cluster-overview", "namespaces-reader")
_HOME, _ACCOUNT, _ROLE, _VIEWER = "the-home", "the-account", "the-role", "the-viewer"
"""Placeholders in shared objects for the names that each environment draws."""


@dataclass(frozen=True, slots=True)
class AccountNames:
    """The names of the agent's account, its namespace and its roles in one environment (SI-02)."""

    home: str
    account: str
    role: str
    viewer: str

    @classmethod
    def draw_names(cls, preconditions: Preconditions, draw: int) -> "AccountNames":
        """Names drawn by a number, none of which is declared."""
        taken = _taken(preconditions)
        home, role = _first_free(_HOMES, draw, taken["namespace"]), _first_free(_ROLES, draw >> 16, taken["role"])
        viewer = _first_free(_VIEWERS, draw >> 24, taken["clusterrole"])
        return cls(home, _ACCOUNTS[(draw >> 8) % len(_ACCOUNTS)], role, viewer)

    def given_to(self, obj: Json) -> Json:
        """A shared object with these names filled in."""
        words = {_HOME: self.home, _ACCOUNT: self.account, _ROLE: self.role, _VIEWER: self.viewer}
        metadata = {**obj["metadata"]}
        for key in ("name", "namespace"):
            if key in metadata:
                metadata[key] = words.get(metadata[key], metadata[key])
        if "labels" in metadata:
            metadata["labels"] = {key: words.get(value, value) for key, value in metadata["labels"].items()}
        named = {**obj, "metadata": metadata}
        if "roleRef" in obj:
            named["roleRef"] = {**obj["roleRef"], "name": metadata["name"]}
            named["subjects"] = [{**obj["subjects"][0], "name": self.account, "namespace": self.home}]
        return named


def account_objects(preconditions: Preconditions) -> Iterator[tuple[ResourceType, Json]]:
    """The account in its namespace, with roles and bindings for what scope and mode allow, as the server reads them.

    They still carry placeholders instead of names.
    """
    yield _declared_row("namespace", {"metadata": {"name": _HOME}})
    yield _declared_row("serviceaccount", {"metadata": {"name": _ACCOUNT, "namespace": _HOME}})
    subject = {"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": _HOME}
    yield from _role_with_binding("ClusterRole", {"name": _VIEWER}, _declared_rules("clusterrole"), subject)
    rules = _declared_rules("role", read_only=is_read_only(preconditions))
    for namespace in sorted(set(scope_of(preconditions))):
        yield from _role_with_binding("Role", {"name": _ROLE, "namespace": namespace}, rules, subject)


def _first_free(names: Sequence[str], draw: int, taken: frozenset[str]) -> str:
    """The name that was drawn, or the next one that is free."""
    start = draw % len(names)
    if names[start] not in taken:
        return names[start]
    wanted = chain(names[start:], names[:start], (f"{names[start]}-{number}" for number in count(2)))
    return next(name for name in wanted if name not in taken)


@remember_results
def _taken(preconditions: Preconditions) -> dict[str, frozenset[str]]:
    """The names that are declared for namespaces, roles and cluster roles, and for bindings of these."""
    known = declared_keys(preconditions)
    return {
        noun: frozenset(key.name for key in known if key.noun in {noun, f"{noun}binding"})
        for noun in ("namespace", "role", "clusterrole")
    }


def is_read_only(preconditions: Preconditions) -> bool:
    """Whether the agent may only read: because of its mode, or because the name of every zone in its scope says so."""
    zones = preconditions.agent.scope.zones
    by_zone = bool(zones) and all(zone.endswith(_READ_ONLY_ZONE) for zone in zones)
    # Profiles write the mode with an underscore, a hyphen or neither; mistaking one mode for another would grant
    # writes.
    mode = "".join(filter(str.isalnum, preconditions.agent.mode.lower()))
    return by_zone or mode == _READ_ONLY_MODE


@cache
def _declared_rules(noun: str, *, read_only: bool = False) -> list[Json]:
    """The rules as the server reads them; nothing changes them, so environments share them."""
    rules = cluster_rules() if noun == "clusterrole" else scoped_rules(read_only=read_only)
    found: list[Json] = declare_object(BY_NOUN[noun], {"metadata": {"name": _ROLE}, "rules": rules})["rules"]
    return found


def _role_with_binding(
    kind: str, metadata: Json, rules: list[Json], subject: Json
) -> Iterator[tuple[ResourceType, Json]]:
    """A role of that kind and name, and a binding of the same name that grants it to the subject."""
    reference = {"apiGroup": RBAC_GROUP, "kind": kind, "name": metadata["name"]}
    row, role = _declared_row(kind.lower(), {"metadata": metadata})
    yield row, {**role, "rules": rules}
    yield _declared_row(f"{kind.lower()}binding", {"metadata": metadata, "roleRef": reference, "subjects": [subject]})


def _declared_row(noun: str, manifest: Json) -> tuple[ResourceType, Json]:
    return BY_NOUN[noun], declare_object(BY_NOUN[noun], manifest)
