"""Volume claims: bound when they are new, and held while a pod mounts them."""

from sirocco.providers.simulator.controllers.rows import CLAIM
from sirocco.providers.simulator.kubernetes.cluster import Cluster, is_being_deleted
from sirocco.providers.simulator.kubernetes.status import Json

PVC_PROTECTION = "kubernetes.io/pvc-protection"


def keep_claims(cluster: Cluster, namespace: str) -> None:
    """Bind new claims; let a deleted one go when no pod mounts it any more."""
    for claim in cluster.items("pvc", namespace):
        metadata = claim["metadata"]
        if is_being_deleted(claim):
            finalizers = metadata.get("finalizers") or []
            if PVC_PROTECTION in finalizers and not _is_mounted(cluster, namespace, metadata["name"]):
                rest = [name for name in finalizers if name != PVC_PROTECTION]
                cluster.put(CLAIM, {**claim, "metadata": {**metadata, "finalizers": rest}})
        elif (claim.get("status") or {}).get("phase") == "Pending":
            _bind(cluster, claim)


def _bind(cluster: Cluster, claim: Json) -> None:
    metadata, spec = claim["metadata"], claim["spec"]
    capacity = (spec.get("resources") or {}).get("requests") or {}
    status = {"phase": "Bound", "accessModes": spec.get("accessModes", []), "capacity": capacity}
    bound = {"storageClassName": "standard", **spec, "volumeName": f"pvc-{metadata['uid']}"}
    cluster.update(CLAIM, claim, {**claim, "spec": bound, "status": status})


def _is_mounted(cluster: Cluster, namespace: str, claim: str) -> bool:
    return any(
        (volume.get("persistentVolumeClaim") or {}).get("claimName") == claim
        for pod in cluster.items("pod", namespace)
        for volume in pod["spec"].get("volumes") or ()
    )
