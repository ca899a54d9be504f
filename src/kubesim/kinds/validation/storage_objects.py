"""What the server refuses in persistent volumes and claims."""

import posixpath

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import (
    IMMUTABLE_WORDS,
    all_invalid,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
)
from kubesim.kinds.validation.go_comparison import semantically_equal
from kubesim.kinds.validation.go_difference import go_difference
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import (
    metadata_causes,
    metadata_update_causes,
    selector_causes,
)
from kubesim.kinds.validation.paths import back_step_causes
from kubesim.kinds.validation.resources import amount, quantity_causes
from kubesim.kinds.validation.scheduling import node_selector_causes
from kubesim.kinds.validation.volumes import (
    SourceCheck,
    azure_disk_causes,
    csi_volume_causes,
    disk_causes,
    fibre_channel_causes,
    flex_causes,
    flocker_causes,
    host_path_causes,
    iscsi_causes,
    needs,
    nfs_causes,
    quobyte_causes,
    source_causes,
    storageos_causes,
)
from kubesim.names import dns_label_problems, dns_subdomain_problems
from kubesim.status import Cause, Json
from kubesim.types.quantity import quantity

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce")
_RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_VOLUME_MODES = ("Block", "Filesystem")
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_MOUNTABLE = ("gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder",
              "cephfs", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk")  # fmt: skip
_POSITIVE_WORDS = "must be greater than zero"
_CLAIM_WORDS = "spec is immutable after creation except resources.requests for bound claims"


def _local_causes(source: Json, path: str) -> list[Cause]:
    target = source.get("path", "")
    return back_step_causes(target, f"{path}.path") if target else [required(f"{path}.path")]


def _gluster_causes(source: Json, path: str) -> list[Cause]:
    causes = needs("endpoints", "path")(source, path)
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        words = "if the endpointnamespace is set, it must be a valid namespace name"
        return [*causes, invalid(f"{path}.endpointsNamespace", namespace, words)]
    if namespace is None:
        return causes
    return [*causes, *all_invalid(f"{path}.endpointsNamespace", namespace, dns_label_problems(namespace))]


_SOURCES: tuple[tuple[str, SourceCheck], ...] = (
    ("hostPath", host_path_causes),
    ("gcePersistentDisk", disk_causes("pdName")),
    ("awsElasticBlockStore", disk_causes("volumeID")),
    ("glusterfs", _gluster_causes),
    ("flocker", flocker_causes),
    ("nfs", nfs_causes),
    ("rbd", needs("monitors", "image")),
    ("quobyte", quobyte_causes),
    ("cephfs", needs("monitors")),
    ("iscsi", iscsi_causes),
    ("cinder", needs("volumeID", "secretRef.name", "secretRef.namespace")),
    ("fc", fibre_channel_causes),
    ("flexVolume", flex_causes),
    ("azureFile", needs("secretName", "shareName")),
    ("vsphereVolume", needs("volumePath")),
    ("photonPersistentDisk", needs("pdID")),
    ("portworxVolume", needs("volumeID")),
    ("azureDisk", azure_disk_causes),
    ("scaleIO", needs("gateway", "system", "volumeName")),
    ("local", _local_causes),
    ("storageos", storageos_causes("secretRef.name", "secretRef.namespace")),
    ("csi", csi_volume_causes),
)


def volume_causes(row: Resource, volume: Json) -> list[Cause]:
    """A new persistent volume."""
    return [*_volume_causes(row, volume), *_mount_option_causes(volume)]


def _volume_causes(row: Resource, volume: Json) -> list[Cause]:
    spec, path = volume.get("spec") or {}, "spec"
    causes = metadata_causes(row, volume["metadata"], namespaced=False)
    modes, capacity = spec.get("accessModes") or (), spec.get("capacity") or {}
    if not modes:
        causes.append(required(f"{path}.accessModes"))
    causes += _mode_causes(spec, path)
    if not capacity:
        causes.append(required(f"{path}.capacity"))
    if {*capacity} != {"storage"}:
        shown = GoValue("core.ResourceList", spec.get("capacity"))
        causes.append(not_supported(f"{path}.capacity", shown, ("storage",)))
    for name, given in capacity.items():
        causes += _size_causes(given, f"{path}.capacity[{name}]")
        if amount(given) <= 0:
            causes.append(invalid(f"{path}.capacity[{name}]", given, _POSITIVE_WORDS))
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy and policy not in _RECLAIM_POLICIES:
        causes.append(not_supported(f"{path}.persistentVolumeReclaimPolicy", policy, _RECLAIM_POLICIES))
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        place = f"{path}.nodeAffinity.required"
        if affinity.get("required") is None:
            causes.append(required(place, "must specify required node constraints"))
        else:
            causes += node_selector_causes(affinity["required"], place)
    causes += source_causes(spec, path, _SOURCES)
    sources = [field for field, _ in _SOURCES if spec.get(field) is not None]
    if sources[:1] == ["local"] and affinity is None:
        causes.append(required(f"{path}.nodeAffinity", "Local volume requires node affinity"))
    host = (spec.get("hostPath") or {}).get("path", "")
    if host and posixpath.normpath(host) == "/" and policy == "Recycle":
        words = "may not be 'recycle' for a hostPath mount of '/'"
        causes.append(forbidden(f"{path}.persistentVolumeReclaimPolicy", words))
    return [*causes, *_class_causes(spec, path)]


def _mode_causes(spec: Json, path: str) -> list[Cause]:
    return [
        not_supported(f"{path}.accessModes", mode, _ACCESS_MODES)
        for mode in spec.get("accessModes") or ()
        if mode not in _ACCESS_MODES
    ]


def _size_causes(given: str, path: str) -> list[Cause]:
    value = quantity(given).value
    return [invalid(path, value, "must be a valid resource quantity")] if value < 0 else []


def _class_causes(spec: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    name, mode = spec.get("storageClassName", ""), spec.get("volumeMode")
    if name:
        causes += all_invalid(f"{path}.storageClassName", name, dns_subdomain_problems(name))
    if mode is not None and mode not in _VOLUME_MODES:
        causes.append(not_supported(f"{path}.volumeMode", mode, _VOLUME_MODES))
    return causes


def _mount_option_causes(volume: Json) -> list[Cause]:
    if any((volume.get("spec") or {}).get(field) is not None for field in _MOUNTABLE):
        return []
    if _MOUNT_OPTIONS not in (volume["metadata"].get("annotations") or {}):
        return []
    words = "may not specify mount options for this volume type"
    return [forbidden(f"metadata.annotations.{_MOUNT_OPTIONS}", words)]


def volume_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a persistent volume, whose source is fixed."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    causes = [*volume_causes(row, new), *_volume_causes(row, new)]
    expand = "controllerExpandSecretRef"
    if expand not in (before.get("csi") or {expand: 0}) and expand in (spec.get("csi") or {}):
        kept = {key: value for key, value in spec["csi"].items() if key != expand}
        spec = {**spec, "csi": kept}
    source, earlier = (
        {field: item[field] for field, _ in _SOURCES if item.get(field) is not None} for item in (spec, before)
    )
    if not semantically_equal("core.PersistentVolumeSource", source, earlier):
        difference = go_difference("core.PersistentVolumeSource", source, earlier)
        words = f"spec.persistentvolumesource is immutable after creation\n{difference}"
        causes.append(forbidden("spec.persistentvolumesource", words))
    causes += immutable("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))
    if before.get("nodeAffinity") is not None and spec.get("nodeAffinity") != before["nodeAffinity"]:
        shown = GoValue("*core.VolumeNodeAffinity", spec.get("nodeAffinity"))
        causes.append(invalid("nodeAffinity", shown, IMMUTABLE_WORDS))
    return causes


def volume_status_causes(_: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a persistent volume's status."""
    return metadata_update_causes(new["metadata"], old["metadata"])


def claim_causes(row: Resource, claim: Json) -> list[Cause]:
    """A new claim."""
    return [*metadata_causes(row, claim["metadata"]), *claim_spec_causes(claim.get("spec") or {}, "spec")]


def claim_spec_causes(spec: Json, path: str) -> list[Cause]:
    """What a claim asks for."""
    causes: list[Cause] = []
    if not spec.get("accessModes"):
        causes.append(required(f"{path}.accessModes", "at least 1 access mode is required"))
    causes += selector_causes(spec.get("selector"), f"{path}.selector")
    causes += _mode_causes(spec, path)
    requests, place = (spec.get("resources") or {}).get("requests") or {}, f"{path}.resources[storage]"
    if "storage" not in requests:
        causes.append(required(place))
    elif amount(requests["storage"]) <= 0:
        causes.append(invalid(place, requests["storage"], _POSITIVE_WORDS))
    else:
        causes += quantity_causes("storage", requests["storage"], place)
    causes += _class_causes(spec, path)
    source = spec.get("dataSource")
    if source is not None:
        causes += needs("name", "kind")(source, f"{path}.dataSource")
        if not source.get("apiGroup") and source.get("kind") != "PersistentVolumeClaim":
            causes.append(
                Cause("FieldValueInvalid", f'Invalid value: "{source.get("kind", "")}"', f"{path}.dataSource")
            )
    return causes


def claim_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a claim, which can only grow, and only while it is bound."""
    causes = [
        *claim_causes(row, new),
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *claim_causes(row, new),
    ]
    spec, before = dict(new.get("spec") or {}), dict(old.get("spec") or {})
    if not before.get("volumeName") and spec.get("volumeName"):
        before["volumeName"] = spec["volumeName"]
    after_class, before_class = (
        (item["metadata"].get("annotations") or {}).get(_CLASS_ANNOTATION, "") for item in (new, old)
    )
    upgraded = (
        before_class
        and before.get("storageClassName") is None
        and spec.get("storageClassName") == before_class
        and after_class in {"", before_class}
    )
    if upgraded:
        spec.pop("storageClassName")
    else:
        causes += immutable(f"metadata.annotations.{_CLASS_ANNOTATION}", after_class, before_class)
    wanted, had = (((item.get("resources") or {}).get("requests") or {}).get("storage", "0") for item in (spec, before))
    if (new.get("status") or {}).get("phase") == "Bound" and (spec.get("resources") or {}).get("requests"):
        resources = spec["resources"]
        spec["resources"] = {**resources, "requests": {**resources["requests"], "storage": had}}
    if not semantically_equal("core.PersistentVolumeClaimSpec", spec, before):
        difference = go_difference("core.PersistentVolumeClaimSpec", spec, before)
        causes.append(forbidden("spec", f"{_CLAIM_WORDS}\n{difference}"))
    if amount(wanted) < amount(had):
        causes.append(forbidden("spec.resources.requests.storage", "field can not be less than previous value"))
    return [*causes, *immutable("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))]


def claim_status_causes(_: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a claim's status."""
    causes = metadata_update_causes(new["metadata"], old["metadata"])
    if not (new.get("spec") or {}).get("accessModes"):
        causes.append(required("Spec.accessModes"))
    for name, given in ((new.get("status") or {}).get("capacity") or {}).items():
        causes += _size_causes(given, f"status.capacity[{name}]")
    return causes
