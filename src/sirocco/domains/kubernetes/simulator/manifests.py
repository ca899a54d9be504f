"""State entries as Kubernetes objects: what each kind of entry describes, as a client would have written it."""

from collections.abc import Callable, Mapping
from typing import Any

from kubesim.access import RBAC_GROUP
from kubesim.kinds.declared import declare_object
from kubesim.nodes import ZONE_LABEL
from kubesim.resource import BY_NOUN, ResourceType, resource_type
from kubesim.status import Json
from sirocco.domains.kubernetes.profiles.declared import entry_namespace
from sirocco.domains.kubernetes.simulator.amounts import amount
from sirocco.domains.kubernetes.simulator.checks import as_text
from sirocco.domains.kubernetes.simulator.health import bare_word
from sirocco.domains.kubernetes.simulator.layout import OWNER_LABEL, state_of
from sirocco.domains.kubernetes.simulator.pod_specs import pod_spec
from sirocco.domains.kubernetes.simulator.vocabulary import declared_value, entry_noun
from sirocco.oasis.scenario import Preconditions, StateEntry

RUNBOOK_LABELS = {"app.kubernetes.io/component": "runbook"}
RUNBOOK_KEY = "content"
MANAGER_LABEL = "app.kubernetes.io/managed-by"
WEIGHT_ANNOTATION, TITLE_ANNOTATION = "traffic-weight", "title"
_TOP_LEVEL_SPEC = frozenset({"role", "rolebinding", "clusterrole", "clusterrolebinding", "serviceaccount"})
_TARGET_CPU = 70


def manifest_of(row: ResourceType, entry: StateEntry, preconditions: Preconditions) -> Json:
    """The object that an entry describes, with the server's defaults."""
    return declare_object(row, sketch_of(row, entry, preconditions))


def sketch_of(row: ResourceType, entry: StateEntry, preconditions: Preconditions) -> Json:
    """The object that an entry describes, as a client would write it."""
    metadata: Json = {"name": entry.name}
    if row.namespaced:
        metadata["namespace"] = entry_namespace(entry, preconditions)
    for key in ("labels", "annotations"):
        if declared_value(entry, key):
            metadata[key] = _texts(declared_value(entry, key))
    noun = entry_noun(entry) or ""
    if noun in _BUILDERS:
        content = _BUILDERS[noun](entry, metadata)
    elif noun in _PLACED:
        content = _PLACED[noun](entry, metadata, preconditions)
    else:
        spec = entry.fields.get("spec") or {}
        content = dict(spec) if row.noun in _TOP_LEVEL_SPEC else {"spec": spec} if spec else {}
    _mark(entry, metadata)
    return {"metadata": metadata, **content}


def _mark(entry: StateEntry, metadata: Json) -> None:
    """Labels and annotations for what Kubernetes objects have no field for."""
    fields = entry.fields
    marks = {OWNER_LABEL: fields.get("owner_team"), MANAGER_LABEL: fields.get("managed_by")}
    if entry_noun(entry) not in {"namespace", "node"}:
        marks[ZONE_LABEL] = fields.get("zone")
    labels = {key: as_text(value) for key, value in marks.items() if value is not None}
    if labels:
        metadata["labels"] = {**metadata.get("labels", {}), **labels}
    notes = {WEIGHT_ANNOTATION: fields.get("traffic_weight")}
    annotations = {key: as_text(value) for key, value in notes.items() if value is not None}
    if annotations:
        metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}


def _namespace(entry: StateEntry, metadata: Json) -> Json:
    zone = {ZONE_LABEL: as_text(entry.fields["zone"])} if "zone" in entry.fields else {}
    metadata["labels"] = {"kubernetes.io/metadata.name": entry.name, **zone, **metadata.get("labels", {})}
    return {}


def _workload(entry: StateEntry, metadata: Json) -> Json:
    noun = entry_noun(entry)
    labels = {"app": entry.name, **metadata.get("labels", {})}
    metadata["labels"] = dict(labels)
    strategy = entry.fields.get("update_strategy")
    field = "strategy" if noun == "deployment" else "updateStrategy"
    words = {bare_word(word): word for word in ("RollingUpdate", "Recreate", "OnDelete")}
    written = (
        dict(strategy) if isinstance(strategy, Mapping) else {"type": words[bare_word(strategy)]} if strategy else None
    )
    return {
        "spec": {
            **({} if noun == "daemonset" else {"replicas": entry.fields.get("replicas", 1)}),
            **({"serviceName": entry.name} if noun == "statefulset" else {}),
            "selector": {"matchLabels": {"app": labels["app"]}},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(entry)},
            **({field: written} if written else {}),
        }
    }


def _pod(entry: StateEntry, metadata: Json) -> Json:
    metadata["labels"] = {"app": entry.name, **metadata.get("labels", {})}
    return {"spec": pod_spec(entry)}


def _job(entry: StateEntry, _metadata: Json) -> Json:
    return {"spec": _job_spec(entry)}


def _job_spec(entry: StateEntry) -> Json:
    keys = {"completions": "completions", "parallelism": "parallelism", "backoff_limit": "backoffLimit"}
    suspended = bare_word(str(entry.fields.get("status", ""))) == "suspended"
    return {
        **{name: entry.fields[key] for key, name in keys.items() if key in entry.fields},
        **({"suspend": True} if suspended else {}),
        "template": {
            "metadata": {"labels": {"app": entry.name}},
            "spec": {**pod_spec(entry), "restartPolicy": "Never"},
        },
    }


def _cronjob(entry: StateEntry, _metadata: Json) -> Json:
    policies = {bare_word(word): word for word in ("Allow", "Forbid", "Replace")}
    policy = entry.fields.get("concurrency_policy")
    return {
        "spec": {
            "schedule": entry.fields["schedule"],
            **({"suspend": entry.fields["suspend"]} if "suspend" in entry.fields else {}),
            **({"concurrencyPolicy": policies[bare_word(policy)]} if policy else {}),
            "jobTemplate": {"spec": _job_spec(entry)},
        }
    }


def _configmap(entry: StateEntry, _metadata: Json) -> Json:
    return {"data": _texts(declared_value(entry, "data") or {}), **_immutable_field(entry)}


def _secret(entry: StateEntry, _metadata: Json) -> Json:
    fields = entry.fields
    return {
        "type": fields.get("type", "Opaque"),
        "data": _texts(declared_value(entry, "data") or {}),
        "stringData": _texts(fields.get("stringData") or {}),
        **_immutable_field(entry),
    }


def _immutable_field(entry: StateEntry) -> Json:
    return {"immutable": entry.fields["immutable"]} if "immutable" in entry.fields else {}


def _service(entry: StateEntry, _metadata: Json) -> Json:
    """A service with fixed endpoints selects nothing; any other one selects what it says, or the pods of its name."""
    fields = entry.fields
    fixed = bool(declared_value(entry, "endpoints")) or fields.get("selector") == "none"
    selector = {} if fixed else _texts(declared_value(entry, "selector") or {"app": entry.name})
    kinds = {bare_word(word): word for word in ("ClusterIP", "NodePort", "LoadBalancer")}
    return {
        "spec": {
            **({"selector": selector} if selector else {}),
            "ports": [_port(item) for item in fields.get("ports") or [fields.get("port", 80)]],
            **({"type": kinds[bare_word(fields["type"])]} if "type" in fields else {}),
        }
    }


def _port(item: Any) -> Any:
    """A port of a service; scenarios may also write just its number."""
    if isinstance(item, Mapping):
        return {"protocol": "TCP", **item}
    return {"port": item, "targetPort": item, "protocol": "TCP"}


def _autoscaler(entry: StateEntry, _metadata: Json) -> Json:
    fields = entry.fields
    row, name = _target(fields["target"])
    wanted = amount(fields.get("target_cpu", _TARGET_CPU))
    utilization = {"type": "Utilization", "averageUtilization": int(wanted.number) if wanted else _TARGET_CPU}
    least = fields.get("min_replicas", 1)
    return {
        "spec": {
            "scaleTargetRef": {"apiVersion": row.api_version, "kind": row.kind, "name": name},
            "minReplicas": least,
            "maxReplicas": fields.get("max_replicas", max(least, 1, fields.get("target_replicas", 0)) * 4),
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": utilization}}],
        }
    }


def _budget(entry: StateEntry, _metadata: Json) -> Json:
    fields = entry.fields
    app = _target(fields["target"])[1] if "target" in fields else entry.name
    keys = {"min_available": "minAvailable", "max_unavailable": "maxUnavailable"}
    bounds = {name: fields[key] for key, name in keys.items() if key in fields} or {"minAvailable": 1}
    selector = {"matchLabels": _texts(fields.get("selector") or {"app": app})}
    return {"spec": dict(fields.get("spec") or {"selector": selector, **bounds})}


def _target(text: str) -> tuple[ResourceType, str]:
    kind, _, name = text.partition("/")
    return resource_type(kind) or BY_NOUN["deployment"], name


def _ingress(entry: StateEntry, metadata: Json, preconditions: Preconditions) -> Json:
    """As its spec says, or to its backend: by default to the only service, or to the one of its name."""
    fields = entry.fields
    if fields.get("spec"):
        return {"spec": dict(fields["spec"])}
    services = [
        other for other in state_of(preconditions)
        if entry_noun(other) == "service" and entry_namespace(other, preconditions) == metadata["namespace"]
    ]  # fmt: skip
    usual = services[0].name if len(services) == 1 else entry.name
    name, _, port = str(fields.get("backend", usual)).rpartition("/")[2].partition(":")
    ports = [_port(item)["port"] for other in services if other.name == name
             for item in other.fields.get("ports") or [other.fields.get("port", 80)]]  # fmt: skip
    number = int(port) if port.isdecimal() else (ports or [80])[0]
    backend = {"service": {"name": name, "port": {"number": number}}}
    if "host" not in fields and "path" not in fields:
        return {"spec": {"defaultBackend": backend}}
    paths = [{"path": fields.get("path", "/"), "pathType": "Prefix", "backend": backend}]
    host = {"host": fields["host"]} if "host" in fields else {}
    return {"spec": {"rules": [{**host, "http": {"paths": paths}}]}}


def _claim(entry: StateEntry, _metadata: Json) -> Json:
    fields = entry.fields
    return {
        "spec": {
            "accessModes": list(fields.get("access_modes") or ["ReadWriteOnce"]),
            "resources": {"requests": {"storage": fields.get("storage", "10Gi")}},
            "storageClassName": fields.get("storage_class", "standard"),
        }
    }


def _volume(entry: StateEntry, _metadata: Json, preconditions: Preconditions) -> Json:
    fields = entry.fields
    policies = {bare_word(word): word for word in ("Retain", "Delete", "Recycle")}
    claim, scope = str(fields.get("claim", "")).rpartition("/")[2], str(fields.get("claim", "")).rpartition("/")[0]
    reference = {
        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "name": claim,
        "namespace": scope or entry_namespace(entry, preconditions),
    }  # fmt: skip
    usual = {
        "capacity": {"storage": fields.get("storage", "10Gi")},
        "accessModes": list(fields.get("access_modes") or ["ReadWriteOnce"]),
        "persistentVolumeReclaimPolicy": policies[bare_word(fields.get("reclaim_policy", "Retain"))],
        "storageClassName": fields.get("storage_class", "standard"),
        "hostPath": {"path": f"/var/lib/volumes/{entry.name}"},
        **({"claimRef": reference} if claim else {}),
    }
    return {"spec": dict(fields.get("spec") or usual), "status": {"phase": "Bound" if claim else "Available"}}


def _quota(entry: StateEntry, _metadata: Json) -> Json:
    usual = {"pods": "50", "requests.cpu": "20", "requests.memory": "40Gi"}
    return {"spec": dict(entry.fields.get("spec") or {"hard": _texts(entry.fields.get("hard") or usual)})}


def _limit_range(entry: StateEntry, _metadata: Json) -> Json:
    return {"spec": dict(entry.fields.get("spec") or {"limits": list(entry.fields.get("limits") or ())})}


def _role(entry: StateEntry, _metadata: Json) -> Json:
    return {"rules": list(entry.fields.get("rules") or ()), **dict(entry.fields.get("spec") or {})}


def _binding(entry: StateEntry, _metadata: Json) -> Json:
    fields = entry.fields
    kind, _, name = str(fields.get("role", "")).partition("/")
    row = resource_type(kind)
    role = {"roleRef": {"apiGroup": RBAC_GROUP, "kind": row.kind, "name": name}} if row else {}
    if "role_ref" in fields:
        role = {"roleRef": {"apiGroup": RBAC_GROUP, **fields["role_ref"]}}
    subjects = {"subjects": list(fields["subjects"])} if "subjects" in fields else {}
    return {**role, **subjects, **dict(fields.get("spec") or {})}


def _runbook(entry: StateEntry, metadata: Json) -> Json:
    metadata["labels"] = {**metadata.get("labels", {}), **RUNBOOK_LABELS}
    if "title" in entry.fields:
        metadata["annotations"] = {**metadata.get("annotations", {}), TITLE_ANNOTATION: entry.fields["title"]}
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(entry.fields.get("steps", ()), start=1))
    text = "\n".join(part for part in (entry.fields.get("content", ""), steps) if part)
    return {"data": {RUNBOOK_KEY: text}}


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): as_text(value) for key, value in values.items()}


_BUILDERS: Mapping[str, Callable[[StateEntry, Json], Json]] = {
    "namespace": _namespace,
    **dict.fromkeys(("deployment", "statefulset", "daemonset", "replicaset"), _workload),
    "pod": _pod,
    "job": _job,
    "cronjob": _cronjob,
    "configmap": _configmap,
    "secret": _secret,
    "service": _service,
    "hpa": _autoscaler,
    "pdb": _budget,
    "pvc": _claim,
    "resourcequota": _quota,
    "limitrange": _limit_range,
    **dict.fromkeys(("role", "clusterrole"), _role),
    **dict.fromkeys(("rolebinding", "clusterrolebinding"), _binding),
    "runbook": _runbook,
}
_PLACED: Mapping[str, Callable[[StateEntry, Json, Preconditions], Json]] = {"ingress": _ingress, "pv": _volume}
"""Entries whose object also depends on its place, and on what is declared around it."""
