"""The core group's types as tables, except pods."""

from typing import Any

from kubesim.status import Json
from kubesim.tables.cells import (
    NONE,
    UNKNOWN,
    UNSET,
    age,
    containers,
    has_condition,
    items,
    labels,
    mapping,
    name_and_age,
    number,
    shorten_list,
    text,
    value_at,
)
from kubesim.tables.columns import (
    AGE,
    CONTAINERS,
    IMAGES,
    NAME,
    Cells,
    Column,
    Printer,
    View,
    wide_column,
)

_ROLE_LABEL = "node-role.kubernetes.io/"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_ATTRIBUTE_CLASSES_SINCE = 29
_QUOTA_AGE_LAST_SINCE = 33
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def _namespace(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "Status": text(obj, "status", "phase")}


def _secret(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "Type": text(obj, "type"), "Data": len(mapping(obj, "data"))}


def _config_map(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "Data": len(mapping(obj, "data")) + len(mapping(obj, "binaryData"))}


def _service_account(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "Secrets": len(items(obj, "secrets"))}


def _pod_template(obj: Json, _: View) -> Cells:
    return {
        "Name": text(obj, "metadata", "name"),
        **containers(value_at(obj, "template", "spec")),
        "Pod Labels": labels(mapping(obj, "template", "metadata", "labels")),
    }


def _replication_controller(obj: Json, view: View) -> Cells:
    return {
        **name_and_age(obj, view),
        "Desired": number(obj, "spec", "replicas"),
        "Current": number(obj, "status", "replicas"),
        "Ready": number(obj, "status", "readyReplicas"),
        **containers(value_at(obj, "spec", "template", "spec")),
        "Selector": labels(mapping(obj, "spec", "selector")),
    }


def _service(obj: Json, view: View) -> Cells:
    spec = mapping(obj, "spec")
    return {
        **name_and_age(obj, view),
        "Type": text(spec, "type"),
        "Cluster-IP": next((str(ip) for ip in items(spec, "clusterIPs")), NONE),
        "External-IP": _external_ip(obj),
        "Port(s)": ",".join(map(_port, items(spec, "ports"))) or NONE,
        "Selector": labels(mapping(spec, "selector")),
    }


def _external_ip(service: Json) -> str:
    kind, listed = text(service, "spec", "type"), list(map(str, items(service, "spec", "externalIPs")))
    if kind in {"ClusterIP", "NodePort"}:
        return ",".join(listed) or NONE
    if kind == "LoadBalancer":
        balanced = load_balancers(service)
        return ",".join([*([balanced] if balanced else ()), *listed]) or "<pending>"
    return text(service, "spec", "externalName") if kind == "ExternalName" else UNKNOWN


def load_balancers(obj: Json) -> str:
    """The addresses under which a load balancer serves a service or an ingress."""
    entries = items(obj, "status", "loadBalancer", "ingress")
    return ",".join(sorted({text(item, "ip") or text(item, "hostname") for item in entries} - {""}))


def _port(port: Any) -> str:
    node_port = number(port, "nodePort")
    return f"{number(port, 'port')}{f':{node_port}' if node_port > 0 else ''}/{text(port, 'protocol')}"


def _endpoints(obj: Json, view: View) -> Cells:
    listed = []
    for subset in items(obj, "subsets"):
        addresses = [text(item, "ip") for item in items(subset, "addresses")]
        ports = items(subset, "ports")
        if not ports:
            listed += addresses
        for port in ports:
            listed += [_host_port(address, number(port, "port")) for address in addresses]
    empty = "" if items(obj, "subsets") else NONE
    return {**name_and_age(obj, view), "Endpoints": shorten_list(listed) or empty}


def _host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _node(obj: Json, view: View) -> Cells:
    info = mapping(obj, "status", "nodeInfo")
    return {
        **name_and_age(obj, view),
        "Status": ",".join(_node_status(obj)),
        "Roles": ",".join(_roles(obj)) or NONE,
        "Version": text(info, "kubeletVersion"),
        "Internal-IP": _address(obj, "InternalIP"),
        "External-IP": _address(obj, "ExternalIP"),
        "OS-Image": text(info, "osImage") or UNKNOWN,
        "Kernel-Version": text(info, "kernelVersion") or UNKNOWN,
        "Container-Runtime": text(info, "containerRuntimeVersion") or UNKNOWN,
    }


def _node_status(node: Json) -> list[str]:
    is_known = any(text(item, "type") == "Ready" for item in items(node, "status", "conditions"))
    ready = ("Ready" if has_condition(node, "Ready") else "NotReady") if is_known else "Unknown"
    return [ready, *(["SchedulingDisabled"] if value_at(node, "spec", "unschedulable") else ())]


def _roles(node: Json) -> list[str]:
    found = set()
    for key, value in mapping(node, "metadata", "labels").items():
        if key.startswith(_ROLE_LABEL):
            found.add(key.removeprefix(_ROLE_LABEL))
        elif key == "kubernetes.io/role":
            found.add(str(value))
    return sorted(found - {""})


def _address(node: Json, kind: str) -> str:
    addresses = items(node, "status", "addresses")
    return next((text(item, "address") for item in addresses if text(item, "type") == kind), NONE)


def _event(obj: Json, view: View) -> Cells:
    first = age(value_at(obj, "firstTimestamp") or value_at(obj, "eventTime"), view)
    last = age(value_at(obj, "lastTimestamp"), view) if value_at(obj, "lastTimestamp") else first
    count = number(obj, "count") or 1
    if value_at(obj, "series") is not None:
        last = age(value_at(obj, "series", "lastObservedTime"), view)
        count = number(obj, "series", "count") + 1
    involved = mapping(obj, "involvedObject")
    kind, name = text(involved, "kind").lower(), text(involved, "name")
    component = text(obj, "source", "component") or text(obj, "reportingComponent")
    host = text(obj, "source", "host") or text(obj, "reportingInstance")
    return {
        "Last Seen": last,
        "Type": text(obj, "type"),
        "Reason": text(obj, "reason"),
        "Object": f"{kind}/{name}" if name else kind,
        "Subobject": text(involved, "fieldPath"),
        "Source": f"{component}, {host}" if host else component,
        "Message": text(obj, "message").strip(),
        "First Seen": first,
        "Count": count,
        "Name": text(obj, "metadata", "name"),
    }


def _volume(obj: Json, view: View) -> Cells:
    spec = mapping(obj, "spec")
    claim = value_at(spec, "claimRef")
    return {
        **name_and_age(obj, view),
        "Capacity": text(spec, "capacity", "storage") or "0",
        "Access Modes": _access_modes(items(spec, "accessModes")),
        "Reclaim Policy": text(spec, "persistentVolumeReclaimPolicy"),
        "Status": _volume_phase(obj),
        "Claim": f"{text(claim, 'namespace')}/{text(claim, 'name')}" if claim is not None else "",
        "StorageClass": _storage_class(obj),
        "VolumeAttributesClass": _attributes_class(spec),
        "Reason": text(obj, "status", "reason"),
        "VolumeMode": text(spec, "volumeMode") or UNSET,
    }


def _claim(obj: Json, view: View) -> Cells:
    spec, is_bound = mapping(obj, "spec"), bool(value_at(obj, "spec", "volumeName"))
    return {
        **name_and_age(obj, view),
        "Status": _volume_phase(obj),
        "Volume": text(spec, "volumeName"),
        "Capacity": (text(obj, "status", "capacity", "storage") or "0") if is_bound else "",
        "Access Modes": _access_modes(items(obj, "status", "accessModes")) if is_bound else "",
        "StorageClass": _storage_class(obj),
        "VolumeAttributesClass": _attributes_class(spec),
        "VolumeMode": text(spec, "volumeMode") or UNSET,
    }


def _access_modes(modes: list[Any]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _volume_phase(obj: Json) -> str:
    return "Terminating" if value_at(obj, "metadata", "deletionTimestamp") else text(obj, "status", "phase")


def _storage_class(obj: Json) -> str:
    annotated = value_at(obj, "metadata", "annotations", _CLASS_ANNOTATION)
    return text(obj, "spec", "storageClassName") if annotated is None else str(annotated)


def _attributes_class(spec: Any) -> str:
    found = value_at(spec, "volumeAttributesClassName")
    return UNSET if found is None else str(found)


def _quota(obj: Json, view: View) -> Cells:
    used, hard = mapping(obj, "status", "used"), mapping(obj, "status", "hard")
    requests: list[str] = []
    limits: list[str] = []
    for name in sorted(hard):
        (limits if name.startswith("limits.") else requests).append(f"{name}: {used.get(name, '0')}/{hard[name]}")
    return {**name_and_age(obj, view), "Request": ", ".join(requests), "Limit": ", ".join(limits)}


def _component(obj: Json, _: View) -> Cells:
    health = next((item for item in items(obj, "conditions") if text(item, "type") == "Healthy"), None)
    status = "Unknown" if health is None else ("Healthy" if text(health, "status") == "True" else "Unhealthy")
    return {
        "Name": text(obj, "metadata", "name"),
        "Status": status,
        "Message": text(health, "message"),
        "Error": text(health, "error"),
    }


_QUOTA_AMOUNTS = (
    Column("Request", text="Request represents a minimum amount of cpu/memory that a container may consume."),
    Column("Limit", text="Limits control the maximum amount of cpu/memory that a container may use independent of "
                         "contention on the node."),
)  # fmt: skip

PRINTERS = {
    "namespace": Printer((NAME, Column("Status", text="The status of the namespace"), AGE), _namespace),
    "secret": Printer(
        (NAME, Column("Type", of="core.v1.Secret/type"), Column("Data", of="core.v1.Secret/data"), AGE), _secret
    ),
    "configmap": Printer((NAME, Column("Data", of="core.v1.ConfigMap/data"), AGE), _config_map),
    "serviceaccount": Printer((NAME, Column("Secrets", of="core.v1.ServiceAccount/secrets"), AGE), _service_account),
    "podtemplates": Printer(
        (NAME, CONTAINERS, IMAGES, Column("Pod Labels", text="The labels for the pod template.")), _pod_template
    ),
    "replicationcontrollers": Printer(
        (
            NAME,
            Column("Desired", "integer", of="core.v1.ReplicationControllerSpec/replicas"),
            Column("Current", "integer", of="core.v1.ReplicationControllerStatus/replicas"),
            Column("Ready", "integer", of="core.v1.ReplicationControllerStatus/readyReplicas"),
            AGE,
            wide_column(CONTAINERS),
            wide_column(IMAGES),
            wide_column(Column("Selector", of="core.v1.ReplicationControllerSpec/selector")),
        ),
        _replication_controller,
    ),
    "service": Printer(
        (
            NAME,
            Column("Type", of="core.v1.ServiceSpec/type"),
            Column("Cluster-IP", of="core.v1.ServiceSpec/clusterIP"),
            Column("External-IP", of="core.v1.ServiceSpec/externalIPs"),
            Column("Port(s)", of="core.v1.ServiceSpec/ports"),
            AGE,
            wide_column(Column("Selector", of="core.v1.ServiceSpec/selector")),
        ),
        _service,
    ),
    "endpoints": Printer((NAME, Column("Endpoints", of="core.v1.Endpoints/subsets"), AGE), _endpoints),
    "node": Printer(
        (
            NAME,
            Column("Status", text="The status of the node"),
            Column("Roles", text="The roles of the node"),
            AGE,
            Column("Version", of="core.v1.NodeSystemInfo/kubeletVersion"),
            wide_column(Column("Internal-IP", of="core.v1.NodeStatus/addresses")),
            wide_column(Column("External-IP", of="core.v1.NodeStatus/addresses")),
            wide_column(Column("OS-Image", of="core.v1.NodeSystemInfo/osImage")),
            wide_column(Column("Kernel-Version", of="core.v1.NodeSystemInfo/kernelVersion")),
            wide_column(Column("Container-Runtime", of="core.v1.NodeSystemInfo/containerRuntimeVersion")),
        ),
        _node,
    ),
    "event": Printer(
        (
            Column("Last Seen", of="core.v1.Event/lastTimestamp"),
            Column("Type", of="core.v1.Event/type"),
            Column("Reason", of="core.v1.Event/reason"),
            Column("Object", of="core.v1.Event/involvedObject"),
            wide_column(Column("Subobject", of="core.v1.ObjectReference/fieldPath")),
            wide_column(Column("Source", of="core.v1.Event/source")),
            Column("Message", of="core.v1.Event/message"),
            wide_column(Column("First Seen", of="core.v1.Event/firstTimestamp")),
            wide_column(Column("Count", of="core.v1.Event/count")),
            wide_column(NAME),
        ),
        _event,
    ),
    "pv": Printer(
        (
            NAME,
            Column("Capacity", of="core.v1.PersistentVolumeSpec/capacity"),
            Column("Access Modes", of="core.v1.PersistentVolumeSpec/accessModes"),
            Column("Reclaim Policy", of="core.v1.PersistentVolumeSpec/persistentVolumeReclaimPolicy"),
            Column("Status", of="core.v1.PersistentVolumeStatus/phase"),
            Column("Claim", of="core.v1.PersistentVolumeSpec/claimRef"),
            Column("StorageClass", text="StorageClass of the pv"),
            Column("VolumeAttributesClass", text="VolumeAttributesClass of the pv", since=_ATTRIBUTE_CLASSES_SINCE),
            Column("Reason", of="core.v1.PersistentVolumeStatus/reason"),
            AGE,
            wide_column(Column("VolumeMode", of="core.v1.PersistentVolumeSpec/volumeMode")),
        ),
        _volume,
    ),
    "pvc": Printer(
        (
            NAME,
            Column("Status", of="core.v1.PersistentVolumeClaimStatus/phase"),
            Column("Volume", of="core.v1.PersistentVolumeClaimSpec/volumeName"),
            Column("Capacity", of="core.v1.PersistentVolumeClaimStatus/capacity"),
            Column("Access Modes", of="core.v1.PersistentVolumeClaimStatus/accessModes"),
            Column("StorageClass", text="StorageClass of the pvc"),
            Column("VolumeAttributesClass", text="VolumeAttributesClass of the pvc", since=_ATTRIBUTE_CLASSES_SINCE),
            AGE,
            wide_column(Column("VolumeMode", of="core.v1.PersistentVolumeClaimSpec/volumeMode")),
        ),
        _claim,
    ),
    "resourcequota": Printer(
        (
            NAME,
            Column(AGE.name, of=AGE.of, until=_QUOTA_AGE_LAST_SINCE - 1),
            *_QUOTA_AMOUNTS,
            Column(AGE.name, of=AGE.of, since=_QUOTA_AGE_LAST_SINCE),
        ),
        _quota,
    ),
    "componentstatuses": Printer(
        (
            NAME,
            Column("Status", text="Status of the component conditions"),
            Column("Message", text="Message of the component conditions"),
            Column("Error", text="Error of the component conditions"),
        ),
        _component,
    ),
}
