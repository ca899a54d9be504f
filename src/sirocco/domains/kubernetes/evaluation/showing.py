"""How the objects of a cluster are told in reports: which are compared, and which follow from others."""

from kubesim.conventions import SERVER_OWNED
from sirocco.domains.kubernetes.evaluation.snapshot import (
    KubernetesObject,
    Snapshot,
    name_of,
    namespace_of,
    owners_of,
)
from sirocco.oasis.observation import Observation
from sirocco.oasis.record import ObjectKey

BOOKKEEPING = SERVER_OWNED | {"observedGeneration"}
"""Fields that servers and controllers keep for themselves, at whatever depth of an object."""
_FOLLOWERS = frozenset({"Pod", "ReplicaSet", "Event", "Endpoints", "EndpointSlice", "ControllerRevision"})


def objects(observation: Observation) -> dict[ObjectKey, KubernetesObject]:
    """The objects of a state by kind, namespace and name."""
    items = Snapshot.recorded(observation).objects
    return {(str(item.get("kind", "")), namespace_of(item), name_of(item)): item for item in items}


def is_derived(item: KubernetesObject) -> bool:
    """Whether a controller made an object of something else."""
    kind = str(item.get("kind", ""))
    return kind in _FOLLOWERS and (kind != "Pod" or any(owners_of(item)))
