"""State entries as Kubernetes objects: what each kind of entry describes, as a client would have written it."""

from collections.abc import Callable, Mapping
from typing import Any

from sirocco.oasis.resource import BY_NOUN, ResourceType, resource_type
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.providers.simulator.kubernetes.discovery.catalogue import CURRENT_RELEASE, git_version
from sirocco.providers.simulator.kubernetes.kinds.declared import declared
from sirocco.providers.simulator.kubernetes.names import is_dns_label
from sirocco.providers.simulator.kubernetes.status import Json
from sirocco.providers.simulator.layout import namespace_of
from sirocco.providers.simulator.vocabulary import as_text, entry_noun

RUNBOOK_LABELS = {"app.kubernetes.io/component": "runbook"}
RUNBOOK_KEY = "content"
_ZONE_LABEL = "topology.kubernetes.io/zone"
_TOP_LEVEL_SPEC = frozenset({"role", "rolebinding", "clusterrole", "clusterrolebinding", "serviceaccount"})


def manifest_of(row: ResourceType, entry: StateEntry, preconditions: Preconditions) -> Json:
    """The object that an entry describes, with the server's defaults."""
    fields = entry.fields
    metadata: Json = {"name": entry.name}
    if row.namespaced:
        metadata["namespace"] = namespace_of(entry, preconditions)
    for key in ("labels", "annotations"):
        if fields.get(key):
            metadata[key] = _texts(fields[key])
    builder = _BUILDERS.get(entry_noun(entry) or "")
    if builder is not None:
        content = builder(entry, metadata)
    else:
        spec = fields.get("spec") or {}
        content = dict(spec) if row.noun in _TOP_LEVEL_SPEC else {"spec": spec} if spec else {}
    return declared(row, {"metadata": metadata, **content})


def _namespace(entry: StateEntry, metadata: Json) -> Json:
    zone = {_ZONE_LABEL: entry.fields["zone"]} if "zone" in entry.fields else {}
    metadata["labels"] = {"kubernetes.io/metadata.name": entry.name, **zone, **metadata.get("labels", {})}
    return {}


def _deployment(entry: StateEntry, metadata: Json) -> Json:
    fields = entry.fields
    labels = {"app": entry.name, **metadata.get("labels", {})}
    managed = {"app.kubernetes.io/managed-by": fields["managed_by"]} if "managed_by" in fields else {}
    metadata["labels"] = {**labels, **managed}
    template = {"metadata": {"labels": labels}, "spec": _pod_spec(entry)}
    return {
        "spec": {
            "replicas": fields.get("replicas", 1),
            "selector": {"matchLabels": {"app": labels["app"]}},
            "template": template,
        }
    }


def _pod(entry: StateEntry, metadata: Json) -> Json:
    metadata["labels"] = {"app": entry.name, **metadata.get("labels", {})}
    return {"spec": _pod_spec(entry)}


def _pod_spec(entry: StateEntry) -> Json:
    fields = entry.fields
    sources = [_referenced(name) for name in fields.get("volumes_from", ())]
    claims = [str(name) for name in fields.get("volumes", ())]
    volumes = [
        *({"name": _container_name(name), "configMap": {"name": name}} for name in sources),
        *({"name": _container_name(name), "persistentVolumeClaim": {"claimName": name}} for name in claims),
    ]
    mounts = [
        *({"name": _container_name(name), "mountPath": f"/etc/{name}", "readOnly": True} for name in sources),
        *({"name": _container_name(name), "mountPath": f"/var/lib/{name}"} for name in claims),
    ]
    limits = {"resources": {"limits": _texts(fields["resource_limits"])}} if "resource_limits" in fields else {}
    container = {
        "name": _container_name(entry.name),
        "image": fields.get("image", f"registry.internal/{entry.name}:1.0.0"),
        **({"env": [_variable(name, value) for name, value in fields["env"].items()]} if fields.get("env") else {}),
        **limits,
        **({"volumeMounts": mounts} if mounts else {}),
    }
    return {"containers": [container], **({"volumes": volumes} if volumes else {})}


def _referenced(name: str) -> str:
    """The name in a reference such as `configmap/settings`, which scenarios also write without its kind."""
    return str(name).rpartition("/")[2]


def _container_name(name: str) -> str:
    """The name of a container or volume after the object that it is for, where a label may be such."""
    return name if is_dns_label(name) else "main"


def _variable(name: str, value: Any) -> Json:
    return {"name": name, **value} if isinstance(value, Mapping) else {"name": name, "value": as_text(value)}


def _configmap(entry: StateEntry, _metadata: Json) -> Json:
    return {"data": _texts(entry.fields.get("data") or {})}


def _secret(entry: StateEntry, _metadata: Json) -> Json:
    fields = entry.fields
    return {
        "type": fields.get("type", "Opaque"),
        "data": _texts(fields.get("data") or {}),
        "stringData": _texts(fields.get("stringData") or {}),
    }


def _service(entry: StateEntry, _metadata: Json) -> Json:
    selector = _texts(entry.fields.get("selector") or {"app": entry.name})
    port = entry.fields.get("port", 80)
    return {"spec": {"selector": selector, "ports": [{"port": port, "targetPort": port, "protocol": "TCP"}]}}


def _autoscaler(entry: StateEntry, _metadata: Json) -> Json:
    fields = entry.fields
    kind, _, name = fields["target"].partition("/")
    row = resource_type(kind) or BY_NOUN["deployment"]
    utilization = {"type": "Utilization", "averageUtilization": 70}
    least = fields.get("min_replicas", 1)
    return {
        "spec": {
            "scaleTargetRef": {"apiVersion": row.api_version, "kind": row.kind, "name": name},
            "minReplicas": least,
            "maxReplicas": fields.get("max_replicas", max(least, 1) * 4),
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": utilization}}],
        }
    }


def _ingress(entry: StateEntry, _metadata: Json) -> Json:
    """As its spec says; one that is only named sends everything to the service of its name."""
    backend = {"service": {"name": entry.name, "port": {"number": 80}}}
    return {"spec": dict(entry.fields.get("spec") or {"defaultBackend": backend})}


def _claim(entry: StateEntry, _metadata: Json) -> Json:
    storage = entry.fields.get("storage", "10Gi")
    return {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}},
                     "storageClassName": "standard"}}  # fmt: skip


def _runbook(entry: StateEntry, metadata: Json) -> Json:
    metadata["labels"] = dict(RUNBOOK_LABELS)
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(entry.fields.get("steps", ()), start=1))
    text = "\n".join(part for part in (entry.fields.get("content", ""), steps) if part)
    return {"data": {RUNBOOK_KEY: text}}


def node_manifest(entry: StateEntry, zone: str) -> Json:
    """A node that is ready, in a zone."""
    row = BY_NOUN["node"]
    labels = {"kubernetes.io/hostname": entry.name, "kubernetes.io/os": "linux", _ZONE_LABEL: zone}
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    status = {
        "capacity": capacity, "allocatable": capacity,
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
                        "message": "kubelet is posting ready status"}],
        "addresses": [{"type": "Hostname", "address": entry.name}],
        "nodeInfo": {"kubeletVersion": git_version(CURRENT_RELEASE), "operatingSystem": "linux",
                     "architecture": "amd64"},
    }  # fmt: skip
    metadata = {"name": entry.name, "labels": {**labels, **_texts(entry.fields.get("labels") or {})}}
    if entry.fields.get("annotations"):
        metadata["annotations"] = _texts(entry.fields["annotations"])
    return declared(row, {"metadata": metadata, "spec": dict(entry.fields.get("spec") or {}), "status": status})


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): as_text(value) for key, value in values.items()}


_BUILDERS: Mapping[str, Callable[[StateEntry, Json], Json]] = {
    "namespace": _namespace,
    "deployment": _deployment,
    "pod": _pod,
    "configmap": _configmap,
    "secret": _secret,
    "service": _service,
    "hpa": _autoscaler,
    "ingress": _ingress,
    "pvc": _claim,
    "runbook": _runbook,
}
