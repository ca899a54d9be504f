"""The values that the server fills in for groups with little to fill in: RBAC, discovery, storage, scheduling."""

from collections.abc import Callable

from kubesim.status import Json

_RBAC = "rbac.authorization.k8s.io"


def _binding(obj: Json) -> Json:
    reference: Json = obj.get("roleRef") or {}
    filled = {**obj, "roleRef": {**reference, "apiGroup": reference.get("apiGroup") or _RBAC}}
    if obj.get("subjects"):
        filled["subjects"] = [_subject(subject) for subject in obj["subjects"]]
    return filled


def _subject(subject: Json) -> Json:
    if subject.get("apiGroup") or subject.get("kind") not in {"User", "Group"}:
        return subject
    return {**subject, "apiGroup": _RBAC}


def _endpoint_slice(obj: Json) -> Json:
    if not obj.get("ports"):
        return obj
    return {**obj, "ports": [{"name": "", "protocol": "TCP", **port} for port in obj["ports"]]}


def _storage_class(obj: Json) -> Json:
    return {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate", **obj}


def _csi_driver(obj: Json) -> Json:
    spec: Json = obj.get("spec") or {}
    filled = {"attachRequired": True, "podInfoOnMount": False, "fsGroupPolicy": "ReadWriteOnceWithFSType", **spec}
    return {**obj, "spec": {**filled, "volumeLifecycleModes": spec.get("volumeLifecycleModes") or ["Persistent"]}}


def _priority_class(obj: Json) -> Json:
    return {"preemptionPolicy": "PreemptLowerPriority", **obj}


DEFAULTS: dict[str, Callable[[Json], Json]] = {
    "rolebinding": _binding,
    "clusterrolebinding": _binding,
    "endpointslices.discovery.k8s.io": _endpoint_slice,
    "storageclasses.storage.k8s.io": _storage_class,
    "csidrivers.storage.k8s.io": _csi_driver,
    "priorityclasses.scheduling.k8s.io": _priority_class,
}
