"""What a write may change in autoscalers, budgets, ingresses, network policies and classes."""

from kubesim.kinds.strategy.steps import (
    Creation,
    Update,
    creation_step,
    generation,
    only_status,
    update_step,
    with_generation,
)
from kubesim.status import Json

_NO_DISRUPTIONS: Json = {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
_NO_SCALING: Json = {"currentReplicas": 0, "desiredReplicas": 0}
_NULL_IN_BETA: Json = {"currentMetrics": None, "conditions": None}
_SLICES = "endpointslices.discovery.k8s.io"
_OUTSIDE = frozenset({"metadata", "kind", "apiVersion"})


def _created_autoscaler(obj: Json) -> Json:
    beta = "beta" in str(obj.get("apiVersion"))
    return {**obj, "status": {**_NO_SCALING, **(_NULL_IN_BETA if beta else {})}}


def _updated_slice(new: Json, old: Json) -> Json:
    """A slice has no spec: any change outside its metadata counts."""
    parts = [{name: value for name, value in obj.items() if name not in _OUTSIDE} for obj in (new, old)]
    return with_generation(new, generation(old) + (parts[0] != parts[1]))


CREATION: dict[str, Creation] = {
    "hpa": _created_autoscaler,
    "pdb": creation_step(status=_NO_DISRUPTIONS),
    "ingress": creation_step(status={"loadBalancer": {}}),
    "networkpolicy": creation_step(),
    "ingressclasses.networking.k8s.io": creation_step(),
    "priorityclasses.scheduling.k8s.io": creation_step(),
    _SLICES: creation_step(),
}
UPDATE: dict[str, Update] = {
    "hpa": update_step(counted=False),
    "hpa/status": only_status,
    "pdb": update_step(),
    "pdb/status": only_status,
    "ingress": update_step(),
    "ingress/status": only_status,
    "networkpolicy": update_step(status=False),
    "ingressclasses.networking.k8s.io": update_step(status=False),
    _SLICES: _updated_slice,
}
