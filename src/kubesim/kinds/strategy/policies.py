"""What a write may change in autoscalers, budgets, ingresses, network policies and classes."""

from kubesim.kinds.strategy.steps import (
    Creation,
    Update,
    created,
    generation,
    only_status,
    updated,
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
    """A slice has no spec: all but its metadata counts."""
    parts = [{name: value for name, value in obj.items() if name not in _OUTSIDE} for obj in (new, old)]
    return with_generation(new, generation(old) + (parts[0] != parts[1]))


CREATION: dict[str, Creation] = {
    "hpa": _created_autoscaler,
    "pdb": created(status=_NO_DISRUPTIONS),
    "ingress": created(status={"loadBalancer": {}}),
    "networkpolicy": created(),
    "ingressclasses.networking.k8s.io": created(),
    "priorityclasses.scheduling.k8s.io": created(),
    _SLICES: created(),
}
UPDATE: dict[str, Update] = {
    "hpa": updated(counted=False),
    "hpa/status": only_status,
    "pdb": updated(),
    "pdb/status": only_status,
    "ingress": updated(),
    "ingress/status": only_status,
    "networkpolicy": updated(status=False),
    "ingressclasses.networking.k8s.io": updated(status=False),
    _SLICES: _updated_slice,
}
