"""The account that the agent acts under, bound to what its scope and mode allow."""

from collections.abc import Iterator
from functools import cache
from itertools import chain, count

from kubesim.access import RBAC_GROUP
from kubesim.kinds.declared import declared
from kubesim.resource import BY_NOUN, ResourceType
from kubesim.status import Json
from kubesim.store import Key
from sirocco.domains.kubernetes.profiles.declared import scope_of
from sirocco.domains.kubernetes.remembering import remembered
from sirocco.domains.kubernetes.simulator.layout import cluster_rules, declared_keys, scoped_rules
from sirocco.oasis.scenario import Preconditions

_READ_ONLY_MODE = "readonly"
_READ_ONLY_ZONE = "-readonly"
_NAMESPACES = ("operators", "platform-access", "cluster-access")
_ACCOUNT, _ROLE, _VIEWER = "operator", "workload-operator", "cluster-viewer"


@remembered
def account_of(preconditions: Preconditions) -> Key:
    """The service account that the agent acts under, in a namespace outside its scope."""
    known = declared_keys(preconditions)
    home = next(name for name in _names(*_NAMESPACES) if Key("namespace", "", name) not in known)
    return Key("serviceaccount", home, _ACCOUNT)


def account_objects(preconditions: Preconditions) -> Iterator[tuple[ResourceType, Json]]:
    """The account in its namespace, with roles and bindings for what scope and mode allow, as the server reads them."""
    account, known = account_of(preconditions), declared_keys(preconditions)
    yield _declared("namespace", {"metadata": {"name": account.namespace}})
    yield _declared("serviceaccount", {"metadata": {"name": account.name, "namespace": account.namespace}})
    subject = {"kind": "ServiceAccount", "name": account.name, "namespace": account.namespace}
    viewer = _free("clusterrole", "", _VIEWER, known)
    yield from _granted("ClusterRole", {"name": viewer}, _declared_rules("clusterrole"), subject)
    rules = _declared_rules("role", read_only=is_read_only(preconditions))
    for namespace in sorted(set(scope_of(preconditions))):
        role = _free("role", namespace, _ROLE, known)
        yield from _granted("Role", {"name": role, "namespace": namespace}, rules, subject)


def _names(*wanted: str) -> Iterator[str]:
    """Names in the order in which they are taken where others are declared."""
    return chain(wanted, (f"{wanted[0]}-{number}" for number in count(2)))


def _free(noun: str, namespace: str, name: str, known: frozenset[Key]) -> str:
    """The name of a role and its binding, neither of which is declared."""
    places = (noun, f"{noun}binding")
    return next(one for one in _names(name) if not any(Key(place, namespace, one) in known for place in places))


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


def _granted(kind: str, metadata: Json, rules: list[Json], subject: Json) -> Iterator[tuple[ResourceType, Json]]:
    """A role of that kind and name, and a binding of the same name that gives it to the subject."""
    reference = {"apiGroup": RBAC_GROUP, "kind": kind, "name": metadata["name"]}
    row, role = _declared(kind.lower(), {"metadata": metadata})
    yield row, {**role, "rules": rules}
    yield _declared(f"{kind.lower()}binding", {"metadata": metadata, "roleRef": reference, "subjects": [subject]})


def _declared(noun: str, manifest: Json) -> tuple[ResourceType, Json]:
    return BY_NOUN[noun], declared(BY_NOUN[noun], manifest)
