"""What the server refuses in the volumes of a pod."""

from collections.abc import Callable, Sequence

from kubesim.kinds.validation.environment import (
    file_field_reference_causes,
    resource_reference_causes,
)
from kubesim.kinds.validation.fields import (
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from kubesim.kinds.validation.paths import (
    back_step_causes,
    descending_causes,
    unreserved_causes,
)
from kubesim.kinds.validation.resources import amount
from kubesim.names import dns_label_problems, dns_subdomain_problems, range_words
from kubesim.status import Cause, Json

_HOST_PATHS = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_MODE_WORDS = "must be a number between 0 and 0777 (octal), both inclusive"
_PUBLISH_REFERENCE = "nodePublishSecretRef "  # with the space that the server's path has
_AZURE_CACHING, _AZURE_KINDS = ("None", "ReadOnly", "ReadWrite"), ("Dedicated", "Managed", "Shared")
_AZURE_MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_AZURE_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_MOST = "may not specify more than 1 volume type"
SourceCheck = Callable[[Json, str], list[Cause]]


def volumes_causes(volumes: Sequence[Json], path: str, pod_name: str = "") -> tuple[dict[str, Json], list[Cause]]:
    """The valid volumes of a pod by name, and what is wrong with the others; a template's pods have no name yet."""
    good: dict[str, Json] = {}
    causes: list[Cause] = []
    made = {f"{pod_name}-{volume.get('name', '')}" for volume in volumes if pod_name and "ephemeral" in volume}
    for index, volume in enumerate(volumes):
        place, name = f"{path}[{index}]", volume.get("name", "")
        found = source_causes(volume, place)
        found += all_invalid(f"{place}.name", name, dns_label_problems(name)) if name else [required(f"{place}.name")]
        if name in good:
            found.append(duplicate(f"{place}.name", name))
        if found:
            causes += found
        else:
            good[name] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
        if claim in made:
            words = "must not reference a PVC that gets created for an ephemeral volume"
            causes.append(invalid(f"{place}.persistentVolumeClaim.claimName", claim, words))
    return good, causes


def source_causes(volume: Json, path: str, sources: Sequence[tuple[str, SourceCheck]] | None = None) -> list[Cause]:
    """Where a volume comes from: exactly one of the known sources."""
    causes: list[Cause] = []
    found = False
    for field, check in _SOURCES if sources is None else sources:
        if volume.get(field) is None:
            continue
        if found:
            causes.append(forbidden(f"{path}.{_FIELD_OF_SECOND.get(field, field)}", _MOST))
        else:
            causes += check(volume[field], f"{path}.{_FIELD_OF_CONTENT.get(field, field)}")
        found = True
    return causes if found else [*causes, required(path, "must specify a volume type")]


def needs(*fields: str) -> SourceCheck:
    """A check that the fields are not empty; a dotted one is checked only if its parent is present."""

    def check(source: Json, path: str) -> list[Cause]:
        causes = []
        for field in fields:
            outer, _, inner = field.partition(".")
            if (inner and source.get(outer) is not None and not source[outer].get(inner)) or (
                not inner and not source.get(field)
            ):
                causes.append(required(f"{path}.{field}"))
        return causes

    return check


def host_path_causes(source: Json, path: str) -> list[Cause]:
    """A directory or file of the node."""
    target, kind = source.get("path", ""), source.get("type", "")
    if not target:
        return [required(f"{path}.path")]
    causes = back_step_causes(target, f"{path}.path")
    return [*causes, *([] if kind in _HOST_PATHS else [not_supported(f"{path}.type", kind, _HOST_PATHS)])]


def nfs_causes(source: Json, path: str) -> list[Cause]:
    """An exported directory."""
    causes = needs("server", "path")(source, path)
    target = source.get("path", "")
    if not target.startswith("/"):
        causes.append(invalid(f"{path}.path", target, "must be an absolute path"))
    return causes


def disk_causes(field: str) -> SourceCheck:
    """A cloud's disk, identified by the named field."""

    def check(source: Json, path: str) -> list[Cause]:
        causes = needs(field)(source, path)
        if not 0 <= source.get("partition", 0) <= 255:
            causes.append(invalid(f"{path}.partition", source["partition"], range_words(1, 255)))
        return causes

    return check


def _empty_dir_causes(source: Json, path: str) -> list[Cause]:
    if amount(str(source.get("sizeLimit", "0"))) < 0:
        return [forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")]
    return []


def _git_causes(source: Json, path: str) -> list[Cause]:
    return [*needs("repository")(source, path), *descending_causes(source.get("directory", ""), f"{path}.directory")]


def _keyed_causes(field: str) -> SourceCheck:
    def check(source: Json, path: str) -> list[Cause]:
        causes = [*needs(field)(source, path), *_mode_causes(source.get("defaultMode"), f"{path}.defaultMode")]
        for index, item in enumerate(source.get("items") or ()):
            causes += _item_causes(item, f"{path}.items[{index}]")
        return causes

    return check


def _mode_causes(mode: int | None, path: str) -> list[Cause]:
    return [invalid(path, mode, _MODE_WORDS)] if mode is not None and not 0 <= mode <= 0o777 else []


def _item_causes(item: Json, path: str) -> list[Cause]:
    causes = needs("key", "path")(item, path)
    causes += unreserved_causes(item.get("path", ""), f"{path}.path")
    return [*causes, *_mode_causes(item.get("mode"), f"{path}.mode")]


def _downward_causes(source: Json, path: str) -> list[Cause]:
    causes = _mode_causes(source.get("defaultMode"), f"{path}.defaultMode")
    for item in source.get("items") or ():
        causes += _downward_file_causes(item, path)
    return causes


def _downward_file_causes(item: Json, path: str) -> list[Cause]:
    causes = needs("path")(item, path)
    causes += unreserved_causes(item.get("path", ""), f"{path}.path")
    if "fieldRef" in item:
        causes += file_field_reference_causes(item["fieldRef"], f"{path}.fieldRef")
        if "resourceFieldRef" in item:
            words = "fieldRef and resourceFieldRef can not be specified simultaneously"
            causes.append(invalid(path, "resource", words))
    elif "resourceFieldRef" in item:
        causes += resource_reference_causes(item["resourceFieldRef"], f"{path}.resourceFieldRef", volume=True)
    else:
        causes.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    return [*causes, *_mode_causes(item.get("mode"), f"{path}.mode")]


def _projected_causes(source: Json, path: str) -> list[Cause]:
    causes = _mode_causes(source.get("defaultMode"), f"{path}.defaultMode")
    taken: set[str] = set()
    for index, row in enumerate(source.get("sources") or ()):
        causes += _projection_causes(row, taken, f"{path}.sources[{index}]", path)
    return causes


def _projection_causes(row: Json, taken: set[str], place: str, path: str) -> list[Cause]:
    causes: list[Cause] = []
    for field in ("secret", "configMap"):
        if field not in row:
            continue
        name = row[field].get("name", "")
        if not name:
            causes.append(required(f"{place}.{field}.name"))
        for index, item in enumerate(row[field].get("items") or ()):
            causes += _item_causes(item, f"{place}.{field}.items[{index}]")
            causes += _taken_causes(item.get("path", ""), name, taken, path)
    for item in (row.get("downwardAPI") or {}).get("items") or ():
        causes += _downward_file_causes(item, f"{place}.downwardAPI")
        causes += _taken_causes(item.get("path", ""), item.get("path", ""), taken, path)
    if "serviceAccountToken" in row:
        token = row["serviceAccountToken"]
        seconds, where = token.get("expirationSeconds", 0), f"{place}.serviceAccountToken.expirationSeconds"
        if seconds < 600:
            causes.append(invalid(where, seconds, "may not specify a duration less than 10 minutes"))
        if seconds > 2**32:
            causes.append(invalid(where, seconds, "may not specify a duration larger than 2^32 seconds"))
        if not token.get("path"):
            causes.append(required(f"{path}.path"))
    if len(row) > 1:
        causes.append(forbidden(place, _MOST))
    return causes


def _taken_causes(target: str, shown: str, taken: set[str], path: str) -> list[Cause]:
    if not target:
        return []
    if target in taken:
        return [invalid(path, shown, "conflicting duplicate paths")]
    taken.add(target)
    return []


def flocker_causes(source: Json, path: str) -> list[Cause]:
    """A dataset of Flocker."""
    name, uuid = source.get("datasetName", ""), source.get("datasetUUID", "")
    causes = []
    if not name and not uuid:
        causes.append(required(path, "one of datasetName and datasetUUID is required"))
    if name and uuid:
        causes.append(invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
    if "/" in name:
        causes.append(invalid(f"{path}.datasetName", name, "must not contain '/'"))
    return causes


def fibre_channel_causes(source: Json, path: str) -> list[Cause]:
    """A disk of a storage network."""
    names, ids, unit = source.get("targetWWNs") or [], source.get("wwids") or [], source.get("lun")
    causes = []
    if not names and not ids:
        causes.append(required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both"))
    if names and ids:
        causes.append(invalid(f"{path}.targetWWNs", names, "targetWWNs and wwids can not be specified simultaneously"))
    if names and unit is None:
        causes.append(required(f"{path}.lun", "lun is required if targetWWNs is specified"))
    elif names and unit is not None and not 0 <= unit <= 255:
        causes.append(invalid(f"{path}.lun", unit, range_words(0, 255)))
    return causes


def iscsi_causes(source: Json, path: str) -> list[Cause]:
    """A disk of a storage network over TCP."""
    causes = needs("targetPortal", "iqn")(source, path)
    name, unit = source.get("iqn", ""), source.get("lun", 0)
    if name and not name.startswith(("iqn", "eui", "naa")):
        causes.append(invalid(f"{path}.iqn", name, "must be valid format starting with iqn, eui, or naa"))
    if not 0 <= unit <= 255:
        causes.append(invalid(f"{path}.lun", unit, range_words(0, 255)))
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and "secretRef" not in source:
        causes.append(required(f"{path}.secretRef"))
    return causes


def flex_causes(source: Json, path: str) -> list[Cause]:
    """A volume of a plugin on the node."""
    causes = needs("driver")(source, path)
    for key in source.get("options") or {}:
        domain = f".{key.partition('/')[0].lower()}"
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            words = "kubernetes.io and k8s.io namespaces are reserved"
            causes.append(invalid(f"{path}.options[{key}]", key, words))
    return causes


def storageos_causes(*secret_fields: str) -> SourceCheck:
    """A volume of StorageOS, with the required parts of its secret."""

    def check(source: Json, path: str) -> list[Cause]:
        causes = needs("volumeName")(source, path)
        for field in ("volumeName", "volumeNamespace"):
            if source.get(field):
                causes += all_invalid(f"{path}.{field}", source[field], dns_label_problems(source[field]))
        return [*causes, *needs(*secret_fields)(source, path)]

    return check


def driver_causes(driver: str, path: str) -> list[Cause]:
    """The name of a storage driver."""
    causes = [] if driver else [required(path)]
    if len(driver) > 63:
        causes.append(too_long(path, 63))
    return [*causes, *all_invalid(path, driver, dns_subdomain_problems(driver.lower()))]


def _csi_causes(source: Json, path: str) -> list[Cause]:
    causes = driver_causes(source.get("driver", ""), f"{path}.driver")
    if source.get("nodePublishSecretRef") is None:
        return causes
    name = source["nodePublishSecretRef"].get("name", "")
    if not name:
        return [*causes, required(f"{path}.{_PUBLISH_REFERENCE}.name")]
    return [*causes, *all_invalid(f"{path}.name", name, dns_subdomain_problems(name))]


def csi_volume_causes(source: Json, path: str) -> list[Cause]:
    """A persistent volume of a storage driver."""
    causes = [*driver_causes(source.get("driver", ""), f"{path}.driver"), *needs("volumeHandle")(source, path)]
    for field, place in (
        ("controllerPublishSecretRef", "controllerPublishSecretRef"),
        ("controllerExpandSecretRef", "controllerExpandSecretRef"),
        ("nodePublishSecretRef", _PUBLISH_REFERENCE),
    ):
        for part in ("name", "namespace") if source.get(field) is not None else ():
            value = source[field].get(part, "")
            if value:
                causes += all_invalid(f"{path}.{part}", value, dns_label_problems(value))
            else:
                causes.append(required(f"{path}.{place}.{part}"))
    return causes


def quobyte_causes(source: Json, path: str) -> list[Cause]:
    """A volume of Quobyte, which its registry finds."""
    registry, words = source.get("registry", ""), "must be a host:port pair or multiple pairs separated by commas"
    causes: list[Cause] = []
    if not registry:
        causes.append(required(f"{path}.registry", words))
    elif len(source.get("tenant", "")) > 64:
        causes.append(required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters"))
    else:
        wrong = [pair for pair in registry.split(",") if pair.count(":") != 1]
        causes += [invalid(f"{path}.registry", registry, words) for _ in wrong]
    return [*causes, *needs("volume")(source, path)]


def azure_disk_causes(source: Json, path: str) -> list[Cause]:
    """An Azure disk, whose address depends on its kind."""
    causes = needs("diskName", "diskURI")(source, path)
    caching, kind, place = source.get("cachingMode"), source.get("kind"), source.get("diskURI", "")
    if caching is not None and caching not in _AZURE_CACHING:
        causes.append(not_supported(f"{path}.cachingMode", caching, _AZURE_CACHING))
    if kind is not None and kind not in _AZURE_KINDS:
        causes.append(not_supported(f"{path}.kind", kind, _AZURE_KINDS))
    if kind == "Managed" and not place.startswith("/subscriptions/"):
        causes.append(not_supported(f"{path}.diskURI", place, (_AZURE_MANAGED,)))
    if kind not in {None, "Managed"} and not place.startswith("https://"):
        causes.append(not_supported(f"{path}.diskURI", place, (_AZURE_BLOB,)))
    return causes


_FIELD_OF_SECOND = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
_FIELD_OF_CONTENT = {"gcePersistentDisk": "persistentDisk"}
_SOURCES: tuple[tuple[str, SourceCheck], ...] = (
    ("emptyDir", _empty_dir_causes),
    ("hostPath", host_path_causes),
    ("gitRepo", _git_causes),
    ("gcePersistentDisk", disk_causes("pdName")),
    ("awsElasticBlockStore", disk_causes("volumeID")),
    ("secret", _keyed_causes("secretName")),
    ("nfs", nfs_causes),
    ("iscsi", iscsi_causes),
    ("glusterfs", needs("endpoints", "path")),
    ("flocker", flocker_causes),
    ("persistentVolumeClaim", needs("claimName")),
    ("rbd", needs("monitors", "image")),
    ("cinder", needs("volumeID", "secretRef.name")),
    ("cephfs", needs("monitors")),
    ("quobyte", quobyte_causes),
    ("downwardAPI", _downward_causes),
    ("fc", fibre_channel_causes),
    ("flexVolume", flex_causes),
    ("configMap", _keyed_causes("name")),
    ("azureFile", needs("secretName", "shareName")),
    ("vsphereVolume", needs("volumePath")),
    ("photonPersistentDisk", needs("pdID")),
    ("portworxVolume", needs("volumeID")),
    ("azureDisk", azure_disk_causes),
    ("storageos", storageos_causes("secretRef.name")),
    ("projected", _projected_causes),
    ("scaleIO", needs("gateway", "system", "volumeName")),
    ("csi", _csi_causes),
    ("ephemeral", needs()),
    ("image", needs()),
)
