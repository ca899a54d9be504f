"""The fields that the creator of an object owns."""

from functools import lru_cache
from typing import Any

from kubesim.bodies.normalization import normalize_value
from kubesim.conventions import IDENTITY, SERVER_OWNED
from kubesim.fields.entries import UPDATE, Holding, Managed, Owner
from kubesim.fields.sets import Fields
from kubesim.fields.structures import InconsistentError, Structure, structure_of
from kubesim.fields.values import compared_field
from kubesim.status import Json
from kubesim.types.definitions import Type

NOT_OWNED = SERVER_OWNED | IDENTITY | {"clusterName"}
"""The fields of an object's metadata that belong to no manager; neither do kind and apiVersion."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
ESTABLISHED_SINCE = 21
"""The first release that only environments show: there, even objects that no request created have a maker."""
_CONTROLLERS = "kube-controller-manager"
_KUBELET = "kubelet"
_MADE_BY_CONTROLLERS = frozenset({"Endpoints", "EndpointSlice"})
_REPORTING = {"default-scheduler": "kube-scheduler", _KUBELET: _KUBELET}
"""The field managers of components that send events; all other components belong to the controllers."""
_OF_THEIR_OWN = frozenset({"nginx-ingress-controller", "ingress-controller", "argocd-application-controller"})
_PUBLISHED = frozenset({"default", "kube-root-ca.crt"})
"""What the controllers put into every namespace."""
_ADMITTED = ("nodeName", "preemptionPolicy", "priority", "tolerations")
_TOKEN_MARKS = ("kube-api-access-", '"/var/run/secrets/kubernetes.io/serviceaccount"')
_EMPTY: Json = {}
_STATUS = "f:status"


def changes(structure: Structure, old: Json, new: Json, ignored: frozenset[str] = frozenset()) -> tuple[Fields, Fields]:
    """The ownable fields that `new` changed or added, and those that it removed."""
    sets: tuple[Fields, Fields] = {}, {}
    for key in {**new, **old}:
        if key == "metadata":
            _compare_metadata(structure, old, new, sets)
        elif key not in {"apiVersion", "kind"} and key not in ignored:
            compared_field(structure, key, old, new, sets)
    return sets


def first_owner(type_: Type | None, live: Json, *, manager: str, api_version: str, now: str, minor: int) -> Managed:
    """One owner of everything in an object that has had none so far."""
    try:
        fields, _ = changes(structure_of(type_, minor), empty_object(type_), live)
    except InconsistentError:
        return {}
    return {Owner(manager, UPDATE, api_version): Holding(fields, api_version, now)} if fields else {}


def established_owners(type_: Type | None, live: Json, api_version: str, minor: int) -> Managed:
    """The owners that an object would have if its maker had sent requests."""
    metadata = _mapping(live.get("metadata"))
    made = str(metadata.get("creationTimestamp") or "")
    if metadata.get("ownerReferences") or live.get("kind") in _MADE_BY_CONTROLLERS:
        maker = _CONTROLLERS
    elif live.get("kind") == "Node":
        maker = _KUBELET
    elif live.get("kind") == "Event":
        maker = _teller(str(live.get("reportingComponent") or _mapping(live.get("source")).get("component") or ""))
    elif metadata.get("name") in _PUBLISHED:
        maker = _CONTROLLERS
    else:
        annotations = _mapping(metadata.get("annotations"))
        maker = "kubectl-client-side-apply" if LAST_APPLIED in annotations else "kubectl-create"
    managed = first_owner(type_, live, manager=maker, api_version=api_version, now=made, minor=minor)
    if not managed:
        return managed
    ((owner, holding),) = managed.items()
    if _STATUS not in holding.fields:
        return managed
    observer = _KUBELET if live.get("kind") in {"Pod", "Node"} else _CONTROLLERS
    rest, status = {key: node for key, node in holding.fields.items() if key != _STATUS}, holding.fields[_STATUS]
    if live.get("kind") == "Pod":
        rest, status = _asked_of_pod(rest, live), _reported_of_pod(status)
    return {
        **({owner: Holding(rest, api_version, made)} if rest else {}),
        Owner(observer, UPDATE, api_version, "status"): Holding({_STATUS: status}, api_version, made),
    }


def _teller(component: str) -> str:
    """The field manager that sent an event, by the component that it names."""
    return component if component in _OF_THEIR_OWN else _REPORTING.get(component, _CONTROLLERS)


def _asked_of_pod(fields: Fields, live: Json) -> Fields:
    """What the maker of a pod asked for: neither what admission put in, which nobody owns, nor the pod's node."""
    admitted = {f"f:{name}" for name in _ADMITTED}
    if _mapping(live.get("spec")).get("serviceAccountName") == "default":
        admitted |= {"f:serviceAccount", "f:serviceAccountName"}

    def asked(node: Fields) -> Fields:
        wanted = (key for key in node if key not in admitted and not any(mark in key for mark in _TOKEN_MARKS))
        kept = {key: asked(node[key]) for key in wanted}
        emptied = {key for key, part in kept.items() if node[key] and not {*part} - {"."}}
        return {key: part for key, part in kept.items() if key not in emptied}

    spec = fields.get("f:spec")
    return {**fields, "f:spec": asked(spec)} if spec else fields


def _reported_of_pod(status: Fields) -> Fields:
    """What a kubelet reports: neither the class, which the server computes, nor where the pod was scheduled to."""
    kept = {key: part for key, part in status.items() if key != "f:qosClass"}
    if conditions := kept.get("f:conditions"):
        unreported = {".", 'k:{"type":"PodScheduled"}'}
        kept["f:conditions"] = {key: part for key, part in conditions.items() if key not in unreported}
    return kept


@lru_cache(maxsize=512)
def empty_object(type_: Type | None) -> Json:
    """What an object is compared with when it is created: the fields of the type's zero value in Go."""
    if type_ is None or not type_.name:
        return _EMPTY
    empty: Json = normalize_value(type_, {})
    return empty


def _compare_metadata(structure: Structure, old: Json, new: Json, sets: tuple[Fields, Fields]) -> None:
    element, metadata = structure.field("metadata")
    before, after = _mapping(old.get("metadata")), _mapping(new.get("metadata"))
    below: tuple[Fields, Fields] = {}, {}
    for key in {**after, **before}:
        if key not in NOT_OWNED:
            compared_field(metadata, key, before, after, below)
    for fields, found in zip(sets, below, strict=True):
        if found:
            fields[element] = found


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else _EMPTY
