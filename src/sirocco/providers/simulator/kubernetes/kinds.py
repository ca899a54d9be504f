"""What the API server knows about the types it stores: the shape it decodes, its defaults, and what it refuses."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from sirocco.oasis.resource import ResourceType
from sirocco.providers.simulator.kubernetes.names import (
    LABEL_WORDS,
    is_dns_label,
    label_key_problem,
    label_value_problem,
    name_problem,
)
from sirocco.providers.simulator.kubernetes.selectors import match_labels
from sirocco.providers.simulator.kubernetes.status import Cause, Json, bad_request, invalid

POD_TEMPLATE_OWNERS = frozenset({"deployment", "replicaset", "statefulset", "daemonset", "job"})
WITH_GENERATION = POD_TEMPLATE_OWNERS | {"cronjob", "ingress", "networkpolicy", "pdb"}
WITH_STATUS = WITH_GENERATION - {"networkpolicy"} | {
    "namespace", "node", "pod", "service", "pvc", "pv", "resourcequota", "hpa",
}  # fmt: skip
PVC_PROTECTION = "kubernetes.io/pvc-protection"

_STRINGS = "map[string]string"
_METADATA = {
    "name": str, "generateName": str, "namespace": str, "uid": str, "resourceVersion": str, "labels": _STRINGS,
    "annotations": _STRINGS, "finalizers": [str], "ownerReferences": [{"uid": str, "name": str, "kind": str}],
}  # fmt: skip
_CONTAINER = {"name": str, "image": str, "env": [{"name": str, "value": str}], "ports": [{}], "resources": {}}
_POD_SPEC = {
    "containers": [_CONTAINER], "initContainers": [_CONTAINER], "nodeName": str,
    "terminationGracePeriodSeconds": int,
    "volumes": [{"name": str, "persistentVolumeClaim": {"claimName": str}, "configMap": {"name": str}}],
}  # fmt: skip
_SELECTOR = {"matchLabels": _STRINGS, "matchExpressions": [{"key": str, "operator": str, "values": [str]}]}
_TEMPLATE = {"metadata": _METADATA, "spec": _POD_SPEC}
_WORKLOAD = {"replicas": int, "selector": _SELECTOR, "template": _TEMPLATE, "paused": bool, "strategy": {}}
_RULES = [{"apiGroups": [str], "resources": [str], "verbs": [str], "resourceNames": [str], "nonResourceURLs": [str]}]
_BINDING = {"roleRef": {"kind": str, "name": str}, "subjects": [{"kind": str, "name": str, "namespace": str}]}
# Only what this server's own rules read; the rest of an object is kept as it came.
_SHAPES: dict[str, Json] = {
    "pod": {"spec": _POD_SPEC},
    **{noun: {"spec": _WORKLOAD} for noun in POD_TEMPLATE_OWNERS},
    "configmap": {"data": _STRINGS, "binaryData": _STRINGS},
    "secret": {"data": _STRINGS, "stringData": _STRINGS, "type": str},
    "service": {"spec": {"selector": _STRINGS, "ports": [{"port": int, "name": str}], "type": str}},
    "namespace": {"spec": {"finalizers": [str]}},
    "node": {"spec": {"unschedulable": bool}},
    "role": {"rules": _RULES},
    "clusterrole": {"rules": _RULES},
    "rolebinding": _BINDING,
    "clusterrolebinding": _BINDING,
    "hpa": {"spec": {"minReplicas": int, "maxReplicas": int, "scaleTargetRef": {"kind": str, "name": str}}},
    "pvc": {"spec": {"resources": {"requests": {}}, "accessModes": [str]}},
    "event": {"involvedObject": {"kind": str, "name": str, "namespace": str}, "message": str, "reason": str},
}
_OPTIONAL_OBJECTS = {
    "spec": {}, "status": {"conditions": [{"type": str, "status": str}],
        "containerStatuses": [{"restartCount": int}], "replicas": int, "readyReplicas": int,
                           "phase": str, "podIP": str},
}  # fmt: skip


def decoded(row: ResourceType, body: Any) -> Json:
    """The body of a create or update as an object of the type; raise 400 when it cannot be read as one."""
    if not isinstance(body, dict):
        shown = "<empty>" if body is None else str(body)
        raise bad_request(
            f"the object provided is unrecognized (must be of type {row.kind}): couldn't get version/kind; "
            f"json parse error: unexpected end of JSON input ({shown[:24]})"
        )
    kind, version = body.get("kind") or row.kind, body.get("apiVersion") or row.api_version
    if (kind, version) != (row.kind, row.api_version):
        short = str(version).rpartition("/")[2]
        raise bad_request(
            f'{kind} in version "{short}" cannot be handled as a {row.kind}: no kind "{kind}" is registered for '
            f'version "{version}" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"'
        )
    obj: Json = _without_nulls({**body, "kind": kind, "apiVersion": version})
    obj.setdefault("metadata", {})
    shape = {"metadata": _METADATA, **_OPTIONAL_OBJECTS, **_SHAPES.get(row.noun, {})}
    problem = _mismatch(obj, shape, row.kind) or _undecodable(row, obj)
    if problem:
        raise bad_request(f'{row.kind} in version "{row.version}" cannot be handled as a {row.kind}: {problem}')
    return obj


def defaulted(row: ResourceType, obj: Json) -> Json:
    """`obj` with the values that the server fills in for the type."""
    if row.noun in POD_TEMPLATE_OWNERS:
        return {"status": {}, **obj, "spec": _workload_spec(row.noun, obj.get("spec") or {})}
    if row.noun == "pod":
        spec = {"enableServiceLinks": True, "priority": 0, "preemptionPolicy": "PreemptLowerPriority"}
        return {"status": {}, **obj, "spec": {**spec, **_pod_spec(obj.get("spec") or {})}}
    if row.noun == "secret":
        return _secret(obj)
    if row.noun == "service":
        return {**obj, "spec": _service_spec(obj.get("spec") or {})}
    if row.noun == "namespace":
        spec = {"finalizers": ["kubernetes"], **(obj.get("spec") or {})}
        return {**obj, "spec": spec, "status": {"phase": "Active", **(obj.get("status") or {})}}
    if row.noun == "pvc":
        return _claim(obj)
    if row.noun == "hpa":
        return {**obj, "spec": {"minReplicas": 1, **(obj.get("spec") or {})}}
    return obj


def admitted(row: ResourceType, obj: Json) -> Json:
    """`obj` with what admission adds to a new object of the type."""
    if row.noun == "pvc":
        finalizers = [*(obj["metadata"].get("finalizers") or ())]
        if PVC_PROTECTION not in finalizers:
            finalizers.append(PVC_PROTECTION)
        return {**obj, "metadata": {**obj["metadata"], "finalizers": finalizers}}
    return obj


def require_valid(row: ResourceType, obj: Json, old: Json | None = None) -> None:
    """Raise 422 naming every field of `obj` that the server would refuse."""
    causes = [*_metadata_causes(row, obj), *_content_causes(row, obj)]
    if old is not None:
        causes += _change_causes(row, old, obj)
    if causes:
        raise invalid(row.kind, row.group, str(obj["metadata"].get("name", "")), causes)


def container_names(pod: Mapping[str, Any]) -> list[str]:
    """The names of a pod's init and normal containers, in that order."""
    spec = pod.get("spec") or {}
    return [item["name"] for field in ("initContainers", "containers") for item in spec.get(field) or ()]


def _without_nulls(value: Any) -> Any:
    """Null means absent in a Go struct, wherever it stands."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _mismatch(value: Any, shape: Any, path: str) -> str | None:
    """The first place where `value` has another type than the server would decode there."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return f"{path}: expect {{ or n, but found {_shown(value)}"
        return next(
            (
                found
                for key, inner in shape.items()
                if key in value and (found := _mismatch(value[key], inner, f"{path}.{key}"))
            ),
            None,
        )
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{path}: decode slice: expect [ or n, but found {_shown(value)}"
        return next((found for item in value if (found := _mismatch(item, shape[0], path))), None)
    if shape == _STRINGS:
        if not isinstance(value, dict):
            return f"{path}: expect {{ or n, but found {_shown(value)}"
        wrong = next((item for item in value.values() if not isinstance(item, str)), None)
        return None if wrong is None else f'{path}: ReadString: expects " or n, but found {_shown(wrong)}'
    if shape is int:
        good = isinstance(value, int) and not isinstance(value, bool)
        return None if good else f"{path}: readUint32: unexpected character: {_shown(value)}"
    if shape is bool:
        return None if isinstance(value, bool) else f"{path}: ReadBool: expect t or f, but found {_shown(value)}"
    return None if isinstance(value, str) else f'{path}: ReadString: expects " or n, but found {_shown(value)}'


def _undecodable(row: ResourceType, obj: Json) -> str | None:
    """Bytes travel as base64, so a secret's value that is not base64 cannot be decoded at all."""
    values = (obj.get("data") or {}).values() if row.noun == "secret" else ()
    wrong = next((value for value in values if not is_base64(value)), None)
    return None if wrong is None else f"Secret.Data: decode base64: illegal base64 data, error found in {wrong[:20]!r}"


def _shown(value: Any) -> str:
    return "{" if isinstance(value, dict) else "[" if isinstance(value, list) else str(value)[:1]


def _workload_spec(noun: str, spec: Json) -> Json:
    template = spec.get("template") or {}
    metadata = {"creationTimestamp": None, **(template.get("metadata") or {})}
    common = {**spec, "template": {**template, "metadata": metadata, "spec": _pod_spec(template.get("spec") or {})}}
    if noun == "deployment":
        return {
            "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
            **common,
        }  # fmt: skip
    if noun == "statefulset":
        update = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
        return {
            "replicas": 1, "podManagementPolicy": "OrderedReady", "updateStrategy": update, "revisionHistoryLimit": 10,
            **common,
        }  # fmt: skip
    if noun == "daemonset":
        update = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}
        return {"updateStrategy": update, "revisionHistoryLimit": 10, **common}
    if noun == "replicaset":
        return {"replicas": 1, **common}
    return {"completions": 1, "parallelism": 1, "backoffLimit": 6, **common}


def _pod_spec(spec: Json) -> Json:
    filled = {
        "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
        "securityContext": {}, "schedulerName": "default-scheduler", **spec,
    }  # fmt: skip
    for field in ("containers", "initContainers"):
        if field in spec:
            filled[field] = [_container(item) for item in spec[field]]
    return filled


def _container(item: Json) -> Json:
    image = item.get("image", "")
    tag = image.rpartition("/")[2].partition(":")[2]
    policy = "Always" if tag in {"", "latest"} and "@" not in image else "IfNotPresent"
    filled = {
        "resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "imagePullPolicy": policy, **item,
    }  # fmt: skip
    if "ports" in item:
        filled["ports"] = [{"protocol": "TCP", **port} for port in item["ports"]]
    return filled


def _secret(obj: Json) -> Json:
    """A secret stores base64 only; what came as plain text is encoded and wins."""
    plain = {key: base64.b64encode(value.encode()).decode() for key, value in (obj.get("stringData") or {}).items()}
    rest = {key: value for key, value in obj.items() if key != "stringData"}
    data = {**(obj.get("data") or {}), **plain}
    return {"type": "Opaque", **rest, **({"data": data} if data else {})}


def _service_spec(spec: Json) -> Json:
    ports = [{"protocol": "TCP", "targetPort": port.get("port"), **port} for port in spec.get("ports") or ()]
    return {"type": "ClusterIP", "sessionAffinity": "None", **spec, **({"ports": ports} if ports else {})}


def _claim(obj: Json) -> Json:
    spec = {"volumeMode": "Filesystem", **(obj.get("spec") or {})}
    return {**obj, "spec": spec, "status": {"phase": "Pending", **(obj.get("status") or {})}}


def _metadata_causes(row: ResourceType, obj: Json) -> list[Cause]:
    metadata = obj["metadata"]
    name = metadata.get("name", "")
    causes = []
    if not name:
        causes.append(Cause("FieldValueRequired", "Required value: name or generateName is required", "metadata.name"))
    elif problem := name_problem(row, name):
        causes.append(Cause("FieldValueInvalid", f'Invalid value: "{name}": {problem}', "metadata.name"))
    for key, value in (metadata.get("labels") or {}).items():
        problem = label_key_problem(key) or label_value_problem(value)
        if problem:
            shown = key if label_key_problem(key) else value
            causes.append(Cause("FieldValueInvalid", f'Invalid value: "{shown}": {problem}', "metadata.labels"))
    causes += [
        Cause("FieldValueInvalid", f'Invalid value: "{key}": {problem}', "metadata.annotations")
        for key in metadata.get("annotations") or {}
        if (problem := label_key_problem(key.lower()))
    ]
    return causes


def _content_causes(row: ResourceType, obj: Json) -> list[Cause]:
    if row.noun in POD_TEMPLATE_OWNERS:
        return _workload_causes(row.noun, obj["spec"])
    if row.noun == "pod":
        return _pod_causes(obj.get("spec") or {}, "spec")
    return []


def _change_causes(row: ResourceType, old: Json, new: Json) -> list[Cause]:
    """What an update may not touch."""
    added = [
        name for name in new["metadata"].get("finalizers") or () if name not in old["metadata"].get("finalizers", ())
    ]
    if added and "deletionTimestamp" in old["metadata"]:
        shown = "[]string{" + ", ".join(f'"{name}"' for name in added) + "}"
        text = f"Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers {shown}"
        return [Cause("FieldValueForbidden", text, "metadata.finalizers")]
    if row.noun in POD_TEMPLATE_OWNERS and old["spec"].get("selector") != new["spec"].get("selector"):
        text = f"Invalid value: {new['spec'].get('selector')}: field is immutable"
        return [Cause("FieldValueInvalid", text, "spec.selector")]
    if row.noun == "pod" and _fixed_part(old["spec"]) != _fixed_part(new["spec"]):
        return [Cause("FieldValueForbidden", f"Forbidden: {_POD_UPDATE_WORDS}", "spec")]
    if row.noun == "pvc" and {**old["spec"], "resources": {}} != {**new["spec"], "resources": {}}:
        return [Cause("FieldValueForbidden", f"Forbidden: {_CLAIM_UPDATE_WORDS}", "spec")]
    if old.get("immutable") is True:
        frozen = [field for field in ("data", "binaryData") if old.get(field) != new.get(field)]
        text = "Forbidden: field is immutable when `immutable` is set"
        return [Cause("FieldValueForbidden", text, field) for field in frozen]
    if row.noun in {"rolebinding", "clusterrolebinding"} and old.get("roleRef") != new.get("roleRef"):
        return [Cause("FieldValueInvalid", f"Invalid value: {new.get('roleRef')}: cannot change roleRef", "roleRef")]
    return []


def _fixed_part(spec: Json) -> Json:
    """The part of a pod's spec that cannot change in place."""
    fixed = {key: value for key, value in spec.items() if key not in {"tolerations", "activeDeadlineSeconds"}}
    for field in ("containers", "initContainers"):
        fixed[field] = [{**item, "image": "", "imagePullPolicy": ""} for item in spec.get(field) or ()]
    return fixed


def is_base64(text: str) -> bool:
    """Whether `text` is what a secret stores."""
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _workload_causes(noun: str, spec: Json) -> list[Cause]:
    causes = []
    replicas = spec.get("replicas", 0)
    if replicas < 0:
        causes.append(
            Cause(
                "FieldValueInvalid", f"Invalid value: {replicas}: must be greater than or equal to 0", "spec.replicas"
            )
        )
    selector = spec.get("selector") or {}
    if noun != "job" and not selector:
        causes.append(Cause("FieldValueRequired", "Required value", "spec.selector"))
    labels = spec["template"]["metadata"].get("labels") or {}
    if selector and not match_labels(selector)(spec["template"]):
        shown = "map[string]string{" + ", ".join(f'"{key}":"{labels[key]}"' for key in sorted(labels)) + "}"
        text = f"Invalid value: {shown}: `selector` does not match template `labels`"
        causes.append(Cause("FieldValueInvalid", text, "spec.template.metadata.labels"))
    return [*causes, *_pod_causes(spec["template"]["spec"], "spec.template.spec")]


def _pod_causes(spec: Json, path: str) -> list[Cause]:
    containers = spec.get("containers") or []
    if not containers:
        return [Cause("FieldValueRequired", "Required value", f"{path}.containers")]
    causes = []
    seen: set[str] = set()
    for index, item in enumerate(containers):
        name, place = item.get("name", ""), f"{path}.containers[{index}]"
        if not name:
            causes.append(Cause("FieldValueRequired", "Required value", f"{place}.name"))
        elif not is_dns_label(name):
            causes.append(Cause("FieldValueInvalid", f'Invalid value: "{name}": {LABEL_WORDS}', f"{place}.name"))
        elif name in seen:
            causes.append(Cause("FieldValueDuplicate", f'Duplicate value: "{name}"', f"{place}.name"))
        seen.add(name)
        if not item.get("image"):
            causes.append(Cause("FieldValueRequired", "Required value", f"{place}.image"))
    return causes


_POD_UPDATE_WORDS = (
    "pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, "
    "`spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)"
)
_CLAIM_UPDATE_WORDS = "spec is immutable after creation except resources.requests for bound claims"
