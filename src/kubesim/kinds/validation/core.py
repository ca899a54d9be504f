"""What the server refuses in objects of the core group."""

import base64
import binascii
from collections.abc import Mapping

from kubesim.bodies.go_json import kind_of, load_json, syntax_problem
from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.containers import protocol_causes
from kubesim.kinds.validation.events import event_causes, event_update_causes
from kubesim.kinds.validation.fields import (
    WHOLE,
    all_invalid,
    forbidden,
    immutable,
    invalid,
    nonnegative,
    not_supported,
    required,
    too_long,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import (
    finalizer_name_causes,
    metadata_causes,
    metadata_update_causes,
)
from kubesim.kinds.validation.nodes import (
    node_causes,
    node_status_causes,
    node_update_causes,
)
from kubesim.kinds.validation.pods import (
    ephemeral_update_causes,
    pod_causes,
    pod_status_causes,
    pod_template_causes,
    pod_update_causes,
)
from kubesim.kinds.validation.quotas import (
    limit_range_causes,
    limit_range_update_causes,
    quota_causes,
    quota_status_causes,
    quota_update_causes,
)
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.kinds.validation.services import (
    service_causes,
    service_status_causes,
    service_update_causes,
    special_address_causes,
)
from kubesim.kinds.validation.storage_objects import (
    claim_causes,
    claim_status_causes,
    claim_update_causes,
    volume_causes,
    volume_status_causes,
    volume_update_causes,
)
from kubesim.names import (
    address_problems,
    config_key_problems,
    dns_label_problems,
    dns_subdomain_problems,
    port_problems,
    qualified_name_problems,
)
from kubesim.selection import match_labels
from kubesim.status import Cause, Json

_LARGEST = 1024 * 1024
_FROZEN_WORDS = "field is immutable when `immutable` is set"
_ACCOUNT_NAME = "kubernetes.io/service-account.name"


def _namespace_causes(row: Resource, obj: Json) -> list[Cause]:
    causes = metadata_causes(row, obj["metadata"], namespaced=False)
    for name in (obj.get("spec") or {}).get("finalizers") or ():
        causes += finalizer_name_causes(name, "spec.finalizers")
    return causes


def _namespace_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    return [*_namespace_causes(row, new), *metadata_update_causes(new["metadata"], old["metadata"])]


def _namespace_status_causes(_: Resource, new: Json, old: Json) -> list[Cause]:
    causes = metadata_update_causes(new["metadata"], old["metadata"])
    phase, is_going = (new.get("status") or {}).get("phase", ""), "deletionTimestamp" in new["metadata"]
    wanted, how = ("Terminating", "is not empty") if is_going else ("Active", "is empty")
    if phase != wanted:
        causes.append(invalid("status.Phase", phase, f"may only be '{wanted}' if `deletionTimestamp` {how}"))
    return causes


def _namespace_finalize_causes(_: Resource, new: Json, old: Json) -> list[Cause]:
    causes = metadata_update_causes(new["metadata"], old["metadata"])
    for index, name in enumerate((new.get("spec") or {}).get("finalizers") or ()):
        causes += finalizer_name_causes(name, f"spec.finalizers[{index}]")
    return causes


def _decode_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""


def _secret_causes(row: Resource, obj: Json) -> list[Cause]:
    data: Mapping[str, str] = obj.get("data") or {}
    causes = metadata_causes(row, obj["metadata"])
    for key in data:
        causes += all_invalid(f"data[{key}]", key, config_key_problems(key))
    if sum(len(_decode_base64(value)) for value in data.values()) > _LARGEST:
        causes.append(too_long("data", _LARGEST))
    kind = obj.get("type", "")
    if kind == "kubernetes.io/service-account-token":
        if not (obj["metadata"].get("annotations") or {}).get(_ACCOUNT_NAME):
            causes.append(required(f"metadata.annotations[{_ACCOUNT_NAME}]"))
    elif kind in {"kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson"}:
        key = ".dockercfg" if kind.endswith("cfg") else ".dockerconfigjson"
        if key not in data:
            causes.append(required(f"data[{key}]"))
        elif problem := _json_problem(_decode_base64(data[key])):
            causes.append(invalid(f"data[{key}]", "<secret contents redacted>", problem))
    elif kind == "kubernetes.io/basic-auth":
        if not data.keys() & {"username", "password"}:
            causes += [required(f"data[%s][{key}]") for key in ("username", "password")]
    elif kind == "kubernetes.io/ssh-auth":
        if not data.get("ssh-privatekey"):
            causes.append(required("data[%s][ssh-privatekey]"))
    elif kind == "kubernetes.io/tls":
        causes += [required(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in data]
    return causes


def _json_problem(content: bytes) -> str:
    """Why the content is not a JSON object, in the words of Go's decoder; empty when it is one."""
    problem = syntax_problem(content)
    if problem is not None:
        return problem
    found = load_json(content)
    if found is None or isinstance(found, dict):
        return ""
    return f"json: cannot unmarshal {kind_of(found)} into Go value of type map[string]interface {{}}"


def _secret_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    kind = new.get("type") or old.get("type", "")
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *immutable("type", kind, old.get("type", "")),
        *_frozen_causes(new, old, "data"),
        *_secret_causes(row, {**new, "type": kind}),
    ]


def _frozen_causes(new: Json, old: Json, *fields: str) -> list[Cause]:
    if not old.get("immutable"):
        return []
    causes = [] if new.get("immutable") else [forbidden("immutable", _FROZEN_WORDS)]
    return [*causes, *(forbidden(field, _FROZEN_WORDS) for field in fields if new.get(field) != old.get(field))]


def _config_map_causes(row: Resource, obj: Json) -> list[Cause]:
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    causes = metadata_causes(row, obj["metadata"])
    for key in data:
        causes += all_invalid(f"data[{key}]", key, config_key_problems(key))
        if key in binary:
            causes.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
    for key in binary:
        causes += all_invalid(f"binaryData[{key}]", key, config_key_problems(key))
    size = sum(len(value.encode()) for value in data.values())
    if size + sum(len(_decode_base64(value)) for value in binary.values()) > _LARGEST:
        causes.append(too_long(WHOLE, _LARGEST))
    return causes


def _config_map_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_frozen_causes(new, old, "data", "binaryData"),
        *_config_map_causes(row, new),
    ]


def _account_causes(row: Resource, obj: Json) -> list[Cause]:
    return metadata_causes(row, obj["metadata"])


def _account_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    return [*metadata_update_causes(new["metadata"], old["metadata"]), *_account_causes(row, new)]


def _endpoints_causes(row: Resource, obj: Json) -> list[Cause]:
    causes = metadata_causes(row, obj["metadata"])
    for index, subset in enumerate(obj.get("subsets") or ()):
        path, ports = f"subsets[{index}]", subset.get("ports") or ()
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            causes.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
        for field in ("addresses", "notReadyAddresses"):
            for number, item in enumerate(subset.get(field) or ()):
                causes += _endpoint_address_causes(item, f"{path}.{field}[{number}]")
        for number, port in enumerate(ports):
            causes += _endpoint_port_causes(port, f"{path}.ports[{number}]", named=len(ports) > 1)
    return causes


def _endpoint_address_causes(item: Json, path: str) -> list[Cause]:
    text, name = item.get("ip", ""), item.get("hostname", "")
    causes = all_invalid(f"{path}.ip", text, address_problems(text))
    if name:
        causes += all_invalid(f"{path}.hostname", name, dns_label_problems(name))
    if "nodeName" in item:
        causes += all_invalid(f"{path}.nodeName", item["nodeName"], dns_subdomain_problems(item["nodeName"]))
    return [*causes, *special_address_causes(text, f"{path}.ip")]


def _endpoint_port_causes(port: Json, path: str, *, named: bool) -> list[Cause]:
    name, number, protocol = port.get("name", ""), port.get("port", 0), port.get("appProtocol")
    causes: list[Cause] = []
    if name:
        causes += all_invalid(f"{path}.name", name, dns_label_problems(name))
    elif named:
        causes.append(required(f"{path}.name"))
    causes += all_invalid(f"{path}.port", number, port_problems(number))
    causes += protocol_causes(port.get("protocol", ""), f"{path}.protocol")
    if protocol is not None:
        causes += all_invalid(f"{path}.appProtocol", protocol, qualified_name_problems(protocol))
    return causes


def _endpoints_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    return [*metadata_update_causes(new["metadata"], old["metadata"]), *_endpoints_causes(row, new)]


def _template_causes(row: Resource, obj: Json) -> list[Cause]:
    return [*metadata_causes(row, obj["metadata"]), *pod_template_causes(obj.get("template") or {}, "template")]


def _template_update_causes(_: Resource, new: Json, old: Json) -> list[Cause]:
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *pod_template_causes(new.get("template") or {}, "template"),
    ]


def _controller_causes(row: Resource, obj: Json) -> list[Cause]:
    return [*metadata_causes(row, obj["metadata"]), *_controller_spec_causes(obj.get("spec") or {})]


def _controller_spec_causes(spec: Json) -> list[Cause]:
    selector, template = spec.get("selector") or {}, spec.get("template")
    causes = nonnegative("spec.minReadySeconds", spec.get("minReadySeconds", 0))
    if not selector:
        causes.append(required("spec.selector"))
    causes += nonnegative("spec.replicas", spec.get("replicas", 0))
    if template is None:
        return [*causes, required("spec.template")]
    inner = template.get("spec") or {}
    if selector and not match_labels({"matchLabels": selector})(template):
        labels = GoValue("map[string]string", (template.get("metadata") or {}).get("labels"))
        words = "`selector` does not match template `labels`"
        causes.append(invalid("spec.template.metadata.labels", labels, words))
    causes += pod_template_causes(template, "spec.template")
    if inner.get("restartPolicy", "") != "Always":
        path = "spec.template.spec.restartPolicy"
        causes.append(not_supported(path, inner.get("restartPolicy", ""), ("Always",)))
    if "activeDeadlineSeconds" in inner:
        words = "activeDeadlineSeconds in ReplicationController is not Supported"
        causes.append(forbidden("spec.template.spec.activeDeadlineSeconds", words))
    return causes


def _controller_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    return [
        *_controller_causes(row, new),
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_controller_spec_causes(new.get("spec") or {}),
    ]


def _controller_status_causes(_: Resource, new: Json, old: Json) -> list[Cause]:
    status = new.get("status") or {}
    causes = metadata_update_causes(new["metadata"], old["metadata"])
    counts = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
    for field in counts:
        causes += nonnegative(f"status.{field}", status.get(field, 0))
    for field in counts[1:4]:
        if status.get(field, 0) > status.get("replicas", 0):
            causes.append(invalid(f"status.{field}", status[field], "cannot be greater than status.replicas"))
    if status.get("availableReplicas", 0) > status.get("readyReplicas", 0):
        words = "cannot be greater than readyReplicas"
        causes.append(invalid("status.availableReplicas", status["availableReplicas"], words))
    return causes


CREATION: dict[str, CreationRule] = {
    "pod": pod_causes,
    "podtemplates": _template_causes,
    "replicationcontrollers": _controller_causes,
    "namespace": _namespace_causes,
    "node": node_causes,
    "service": service_causes,
    "endpoints": _endpoints_causes,
    "configmap": _config_map_causes,
    "secret": _secret_causes,
    "serviceaccount": _account_causes,
    "pv": volume_causes,
    "pvc": claim_causes,
    "resourcequota": quota_causes,
    "limitrange": limit_range_causes,
    "event": event_causes,
}
UPDATE: dict[str, UpdateRule] = {
    "pod": pod_update_causes,
    "pod/status": pod_status_causes,
    "pod/ephemeralcontainers": ephemeral_update_causes,
    "podtemplates": _template_update_causes,
    "replicationcontrollers": _controller_update_causes,
    "replicationcontrollers/status": _controller_status_causes,
    "namespace": _namespace_update_causes,
    "namespace/status": _namespace_status_causes,
    "namespace/finalize": _namespace_finalize_causes,
    "node": node_update_causes,
    "node/status": node_status_causes,
    "service": service_update_causes,
    "service/status": service_status_causes,
    "endpoints": _endpoints_update_causes,
    "configmap": _config_map_update_causes,
    "secret": _secret_update_causes,
    "serviceaccount": _account_update_causes,
    "pv": volume_update_causes,
    "pv/status": volume_status_causes,
    "pvc": claim_update_causes,
    "pvc/status": claim_status_causes,
    "resourcequota": quota_update_causes,
    "resourcequota/status": quota_status_causes,
    "limitrange": limit_range_update_causes,
    "event": event_update_causes,
}
