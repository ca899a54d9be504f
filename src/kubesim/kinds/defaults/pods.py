"""The values that the server fills in for pod specs and templates."""

from collections.abc import Callable, Iterable
from typing import Any

from kubesim.kinds.defaults.images import pull_policy
from kubesim.status import Json

_FILE_MODE = 0o644
_CHECK = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def fill_empty(value: Json, defaults: Json) -> Json:
    """`value` with absent and empty fields filled in, as Go does where a field is not a pointer."""
    return {**value, **{key: default for key, default in defaults.items() if not value.get(key)}}


def pod_template_defaults(template: Json) -> Json:
    """A workload's pod template with its pod spec filled in."""
    metadata = {"creationTimestamp": None, **(template.get("metadata") or {})}
    return {**template, "metadata": metadata, "spec": pod_spec_defaults(template.get("spec") or {})}


def pod_spec_defaults(spec: Json) -> Json:
    """A pod's spec with the values that the server fills in."""
    result = fill_empty(
        {"terminationGracePeriodSeconds": 30, "securityContext": {}, **spec},
        {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler"},
    )
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        result |= {"serviceAccountName": account, "serviceAccount": account}
    for field in ("containers", "initContainers", "ephemeralContainers"):
        if spec.get(field):
            result[field] = [_container(item) for item in spec[field]]
            if spec.get("hostNetwork") and field != "ephemeralContainers":
                result[field] = [_with_host_ports(item) for item in result[field]]
    if spec.get("volumes"):
        result["volumes"] = [volume_defaults(item) for item in spec["volumes"]]
    return result


def with_requests(spec: Json) -> Json:
    """A pod's spec, though not a template's: a container requests its limit unless it requests less."""
    result = spec
    for field in ("containers", "initContainers"):
        if any((item.get("resources") or {}).get("limits") for item in spec.get(field) or ()):
            result = {**result, field: [_with_requests(item) for item in spec[field]]}
    return result


def _with_requests(container: Json) -> Json:
    resources = container.get("resources") or {}
    if not resources.get("limits"):
        return container
    requests = {**resources["limits"], **(resources.get("requests") or {})}
    return {**container, "resources": {**resources, "requests": requests}}


def _container(item: Json) -> Json:
    result = fill_empty(
        {"resources": {}, **item},
        {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"},
    )
    if not item.get("imagePullPolicy"):
        result["imagePullPolicy"] = pull_policy(item.get("image", ""))
    if item.get("ports"):
        result["ports"] = [fill_empty(port, {"protocol": "TCP"}) for port in item["ports"]]
    if item.get("env"):
        result["env"] = [_variable(row) for row in item["env"]]
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        if item.get(field) is not None:
            result[field] = fill_empty(_handler(item[field]), _CHECK)
    if item.get("lifecycle"):
        result["lifecycle"] = {name: _handler(hook) for name, hook in item["lifecycle"].items() if hook is not None}
    return result


def _with_host_ports(container: Json) -> Json:
    """On the host's network, a container's port is also the host's."""
    if not container.get("ports"):
        return container
    ports = [
        {**port, "hostPort": port["containerPort"]} if not port.get("hostPort") and port.get("containerPort") else port
        for port in container["ports"]
    ]
    return {**container, "ports": ports}


def _handler(handler: Any) -> Any:
    if not isinstance(handler, dict) or handler.get("httpGet") is None:
        return handler
    return {**handler, "httpGet": fill_empty(handler["httpGet"], {"path": "/", "scheme": "HTTP"})}


def _variable(row: Json) -> Json:
    source = row.get("valueFrom") or {}
    return {**row, "valueFrom": _with_field(source)} if "fieldRef" in source else row


def _with_field(source: Json) -> Json:
    if source.get("fieldRef") is None:
        return source
    return {**source, "fieldRef": fill_empty(source["fieldRef"], {"apiVersion": "v1"})}


def volume_defaults(volume: Json) -> Json:
    """A volume with the values that the server fills in for its source; one without a source is an empty directory."""
    if not any(key != "name" and value is not None for key, value in volume.items()):
        return {**volume, "emptyDir": {}}
    return {**volume, **{key: fill(volume[key]) for key, fill in _SOURCES.items() if volume.get(key) is not None}}


def _absent_defaults(**defaults: Any) -> Callable[[Json], Json]:
    return lambda source: {**defaults, **source}


def _empty_defaults(**defaults: Any) -> Callable[[Json], Json]:
    return lambda source: fill_empty(source, defaults)


def _files(items: Iterable[Json]) -> list[Json]:
    return [_with_field(item) for item in items]


def _fill_downward(source: Json) -> Json:
    result = {"defaultMode": _FILE_MODE, **source}
    return {**result, "items": _files(source["items"])} if source.get("items") else result


def _fill_projected(source: Json) -> Json:
    result = {"defaultMode": _FILE_MODE, **source}
    if not source.get("sources"):
        return result
    return {**result, "sources": [_projection(row) for row in source["sources"]]}


def _projection(row: Json) -> Json:
    result = dict(row)
    if (row.get("downwardAPI") or {}).get("items"):
        result["downwardAPI"] = {**row["downwardAPI"], "items": _files(row["downwardAPI"]["items"])}
    if row.get("serviceAccountToken") is not None:
        result["serviceAccountToken"] = {"expirationSeconds": 3600, **row["serviceAccountToken"]}
    return result


def _ephemeral(source: Json) -> Json:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return source
    spec = {"volumeMode": "Filesystem", **(template.get("spec") or {})}
    return {**source, "volumeClaimTemplate": {**template, "spec": spec}}


_SOURCES: dict[str, Callable[[Json], Json]] = {
    "hostPath": _absent_defaults(type=""),
    "secret": _absent_defaults(defaultMode=_FILE_MODE),
    "configMap": _absent_defaults(defaultMode=_FILE_MODE),
    "iscsi": _empty_defaults(iscsiInterface="default"),
    "rbd": _empty_defaults(pool="rbd", user="admin", keyring="/etc/ceph/keyring"),
    "azureDisk": _absent_defaults(cachingMode="ReadWrite", kind="Shared", fsType="ext4", readOnly=False),
    "scaleIO": _empty_defaults(storageMode="ThinProvisioned", fsType="xfs"),
    "downwardAPI": _fill_downward,
    "projected": _fill_projected,
    "ephemeral": _ephemeral,
}
PERSISTENT_SOURCES = {key: _SOURCES[key] for key in ("hostPath", "iscsi", "rbd", "azureDisk", "scaleIO")}
"""The sources that a persistent volume shares with the volume of a pod."""
