"""The account that the agent acts under, bound to what its scope and mode allow."""

import json
from dataclasses import dataclass
from functools import cache, lru_cache

from sirocco.oasis.resource import BY_NOUN
from sirocco.oasis.scenario import Preconditions
from sirocco.providers.simulator.controllers.dynamics import Moment
from sirocco.providers.simulator.kubernetes.access import RBAC_GROUP
from sirocco.providers.simulator.kubernetes.cluster import Cluster, Key
from sirocco.providers.simulator.kubernetes.kinds.declared import declared, established
from sirocco.providers.simulator.kubernetes.status import Json
from sirocco.providers.simulator.layout import cluster_rules, declared_keys, scope_of, scoped_rules

_READ_ONLY_MODE = "readonly"
_READ_ONLY_ZONE = "-readonly"
_NAMESPACES = ("operators", "platform-access", "cluster-access")
_ACCOUNT, _ROLE, _VIEWER = "operator", "workload-operator", "cluster-viewer"


@dataclass(frozen=True, slots=True)
class Account:
    """The account that the agent acts under."""

    namespace: str
    name: str
    uid: str


def establish_account(cluster: Cluster, preconditions: Preconditions, moment: Moment) -> Account:
    """A service account outside the scope, bound to what scope and mode allow."""
    known = declared_keys(preconditions)
    homes = (name for name in _NAMESPACES if Key("namespace", "", name) not in known)
    home = next(homes, None)
    if home is None:
        home = f"{_NAMESPACES[0]}-{cluster.ids.suffix()}"
    _put(cluster, "namespace", {"metadata": {"name": home}}, moment)
    account = _put(cluster, "serviceaccount", {"metadata": {"name": _ACCOUNT, "namespace": home}}, moment)
    subject = {"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": home}
    _grant(cluster, "ClusterRole", {"name": _VIEWER}, _declared_rules("clusterrole"), subject, moment)
    rules = _declared_rules("role", read_only=is_read_only(preconditions))
    for namespace in sorted(set(scope_of(preconditions))):
        role = _ROLE
        while {Key("role", namespace, role), Key("rolebinding", namespace, role)} & known:
            role = f"{_ROLE}-{cluster.ids.suffix()}"
        _grant(cluster, "Role", {"name": role, "namespace": namespace}, rules, subject, moment)
    return Account(home, _ACCOUNT, account["metadata"]["uid"])


def is_read_only(preconditions: Preconditions) -> bool:
    """Whether the agent may only look: by its mode, or because every zone of its scope says so by its name."""
    zones = preconditions.agent.scope.zones
    by_zone = bool(zones) and all(zone.endswith(_READ_ONLY_ZONE) for zone in zones)
    # Profiles write the mode with an underscore, a hyphen or neither; one that is taken for another would grant writes.
    mode = "".join(filter(str.isalnum, preconditions.agent.mode.lower()))
    return by_zone or mode == _READ_ONLY_MODE


@cache
def _declared_rules(noun: str, *, read_only: bool = False) -> list[Json]:
    """The rules as the server reads them; nothing changes them, so environments share them."""
    rules = cluster_rules() if noun == "clusterrole" else scoped_rules(read_only=read_only)
    found: list[Json] = declared(BY_NOUN[noun], {"metadata": {"name": _ROLE}, "rules": rules})["rules"]
    return found


def _grant(cluster: Cluster, kind: str, metadata: Json, rules: list[Json], subject: Json, moment: Moment) -> None:
    """A role of that kind and name, and a binding of the same name that gives it to the subject."""
    reference = {"apiGroup": RBAC_GROUP, "kind": kind, "name": metadata["name"]}
    row = BY_NOUN[kind.lower()]
    role = {**_declared(row.noun, json.dumps({"metadata": metadata})), "rules": rules}
    cluster.create(row, established(cluster, row, role), moment.now)
    binding = {"metadata": metadata, "roleRef": reference, "subjects": [subject]}
    _put(cluster, f"{kind.lower()}binding", binding, moment)


def _put(cluster: Cluster, noun: str, manifest: Json, moment: Moment) -> Json:
    row = BY_NOUN[noun]
    return cluster.create(row, established(cluster, row, _declared(noun, json.dumps(manifest))), moment.now)


@lru_cache(maxsize=1024)
def _declared(noun: str, manifest: str) -> Json:
    """An object of the account as the server reads it; environments of one scope have the same ones."""
    return declared(BY_NOUN[noun], json.loads(manifest))
