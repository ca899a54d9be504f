"""Volume claims: bound when they are new, and held while a pod mounts them."""

from kubesim.controllers.dynamics import Dynamics, Health, Moment
from kubesim.controllers.rows import CLAIM, VOLUME
from kubesim.status import Json
from kubesim.store import Store, is_being_deleted

PVC_PROTECTION = "kubernetes.io/pvc-protection"
STORAGE_CLASS = "standard"
"""The class of claims that name none."""
PROVISIONER = "cluster.local/nfs-subdir-external-provisioner"
"""The provisioner that makes volumes for claims of that class as soon as they exist."""
_SHARES = "10.0.0.20"


def keep_claims(dynamics: Dynamics, namespace: str, moment: Moment) -> None:
    """Bind new claims; let a deleted one go once no pod mounts it, with its volume."""
    store = dynamics.store
    for claim in store.present("pvc", namespace):
        metadata = claim["metadata"]
        if is_being_deleted(claim):
            finalizers = metadata.get("finalizers") or []
            if PVC_PROTECTION in finalizers and not _is_mounted(store, namespace, metadata["name"]):
                rest = [name for name in finalizers if name != PVC_PROTECTION]
                store.put(CLAIM, {**claim, "metadata": {**metadata, "finalizers": rest}})
        elif (claim.get("status") or {}).get("phase") == "Pending" and not _is_left_pending(dynamics, claim):
            _bind(store, claim, moment)


def _is_left_pending(dynamics: Dynamics, claim: Json) -> bool:
    return dynamics.declaration(claim).health is Health.PENDING


def release_volumes(store: Store, moment: Moment) -> None:
    """Delete volumes that were made for a removed claim; release the others."""
    for volume in store.items("pv"):
        claim = volume["spec"].get("claimRef") or {}
        bound = (volume.get("status") or {}).get("phase") == "Bound"
        if not claim or not bound or store.by_uid(claim.get("uid", "")) is not None or "uid" not in claim:
            continue
        if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            store.delete(VOLUME, volume, moment.now)
        else:
            store.update(VOLUME, volume, {**volume, "status": {**volume["status"], "phase": "Released"}})


def _bind(store: Store, claim: Json, moment: Moment) -> None:
    spec, volume = claim["spec"], _volume(store, claim, moment)
    capacity = (spec.get("resources") or {}).get("requests") or {}
    status = {"phase": "Bound", "accessModes": spec.get("accessModes", []), "capacity": capacity}
    bound = {"storageClassName": STORAGE_CLASS, **spec, "volumeName": volume["metadata"]["name"]}
    store.update(CLAIM, claim, {**claim, "spec": bound, "status": status})


def _volume(store: Store, claim: Json, moment: Moment) -> Json:
    """The volume that is reserved for a claim, or else a new one."""
    metadata, spec = claim["metadata"], claim["spec"]
    reference = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "name": metadata["name"],
                 "namespace": metadata["namespace"], "uid": metadata["uid"]}  # fmt: skip
    for volume in store.items("pv"):
        kept = volume["spec"].get("claimRef") or {}
        if (kept.get("name"), kept.get("namespace")) == (metadata["name"], metadata["namespace"]) and "uid" not in kept:
            bound = {**volume, "spec": {**volume["spec"], "claimRef": reference}, "status": {"phase": "Bound"}}
            return store.update(VOLUME, volume, bound)
    name = f"{metadata['namespace']}-{metadata['name']}-pvc-{metadata['uid']}"
    manifest = {
        "kind": "PersistentVolume",
        "apiVersion": "v1",
        "metadata": {"name": f"pvc-{metadata['uid']}",
                     "annotations": {"pv.kubernetes.io/provisioned-by": PROVISIONER}},
        "spec": {
            "capacity": (spec.get("resources") or {}).get("requests") or {},
            "accessModes": spec.get("accessModes", []), "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec.get("storageClassName", STORAGE_CLASS), "volumeMode": "Filesystem",
            "claimRef": reference, "nfs": {"server": _SHARES, "path": f"/export/{name}"},
        },
        "status": {"phase": "Bound"},
    }  # fmt: skip
    return store.create(VOLUME, manifest, moment.now)


def _is_mounted(store: Store, namespace: str, claim: str) -> bool:
    return any(
        (volume.get("persistentVolumeClaim") or {}).get("claimName") == claim
        for pod in store.present("pod", namespace)
        for volume in pod["spec"].get("volumes") or ()
    )
