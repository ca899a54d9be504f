"""The account that a pod runs under, and the volume that gives its containers a token for it."""

import zlib

from kubesim.status import Json
from kubesim.store import Store, spell_number

_DEFAULT = "default"
_MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_NAME = "kube-api-access-"
_NAMESPACE = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
_SOURCES = [
    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {"downwardAPI": {"items": [_NAMESPACE]}},
]


def with_account(store: Store, pod: Json, namespace: str = "") -> Json:
    """The pod with its account, and with a token unless it or the account opts out.

    A server whose namespaces have no default account runs without the controller that makes them and without this
    plugin, as in tests of operators; a pod there is left unchanged.
    """
    spec, place = pod.get("spec") or {}, pod["metadata"].get("namespace") or namespace
    if store.content("serviceaccount", place, _DEFAULT) is None:
        return pod
    name = spec.get("serviceAccountName") or _DEFAULT
    spec = {**spec, "serviceAccountName": name, "serviceAccount": name}
    account = store.content("serviceaccount", place, name) or {}
    wanted = spec.get("automountServiceAccountToken", account.get("automountServiceAccountToken"))
    return {**pod, "spec": spec if wanted is False else _with_token(store, pod, spec)}


def _with_token(store: Store, pod: Json, spec: Json) -> Json:
    """The spec with a volume that holds token, authority and namespace, where containers have none of their own."""
    drawn = zlib.crc32(f"{pod['metadata'].get('name')}/{store.version}".encode())
    name = f"{_NAME}{spell_number(drawn, 5)}"
    mount = {"name": name, "readOnly": True, "mountPath": _MOUNT}
    mounted = {
        part: [_with_mount(container, mount) for container in spec[part]]
        for part in ("initContainers", "containers") if spec.get(part)
    }  # fmt: skip
    volume = {"name": name, "projected": {"sources": _SOURCES, "defaultMode": 420}}
    return {**spec, **mounted, "volumes": [*(spec.get("volumes") or ()), volume]}


def _with_mount(container: Json, mount: Json) -> Json:
    mounts = container.get("volumeMounts") or []
    if any(one.get("mountPath") == _MOUNT for one in mounts):
        return container
    return {**container, "volumeMounts": [*mounts, mount]}
