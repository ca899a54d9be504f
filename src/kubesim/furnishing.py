"""What every cluster has beside what was declared: objects that the system itself puts in place.

They are completed when somebody reads them, and no observation shows them as long as nobody changed them.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from kubesim.history import History, stamp
from kubesim.resource import BY_NOUN, ResourceType
from kubesim.status import Json
from kubesim.store import Store, key_of

AUTHORITY = "kube-root-ca.crt"
_CONFIG_MAP = BY_NOUN["configmap"]
_SERVICE, _ENDPOINTS = BY_NOUN["service"], BY_NOUN["endpoints"]
_DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)
_API_ADDRESS, _API_PORT = "10.96.0.1", 6443


@dataclass(frozen=True, slots=True)
class Furnishing:
    """The system's own objects in one cluster."""

    store: Store
    seed: int
    past: History
    authority: Callable[[], str]
    """Gives the certificate of the cluster's authority, which takes a while."""

    def lay(self, namespaces: Iterable[str]) -> None:
        """Put them in place for these namespaces."""
        bundles = {name: {AUTHORITY: _bundle(name)} for name in namespaces}
        self.store.lay(_CONFIG_MAP, bundles, self._with_authority)
        for row, obj in _api_service():
            if self.store.content(row.noun, "default", "kubernetes") is None:
                self.store.lay(row, {"default": {"kubernetes": obj}}, self._complete(row))

    def keep(self, namespace: str, now: str) -> None:
        """Publish the authority again in a namespace that has it no more, or is new."""
        if self.store.content(_CONFIG_MAP.noun, namespace, AUTHORITY) is None:
            obj = self._with_authority(_bundle(namespace), now)
            self.store.lay(_CONFIG_MAP, {namespace: {AUTHORITY: obj}}, self._with_authority)

    def _with_authority(self, obj: Json, made: str = "") -> Json:
        if "data" in obj:
            return obj
        complete = self._furnish_object(_CONFIG_MAP, obj, made)
        return {**complete, "data": {"ca.crt": self.authority()}}

    def _complete(self, row: ResourceType) -> Callable[[Json], Json]:
        return lambda obj: self._furnish_object(row, obj)

    def _furnish_object(self, row: ResourceType, obj: Json, made: str = "") -> Json:
        """An object with what the server writes into its metadata, which follows from the seed and its place."""
        key = key_of(row, obj)
        digits = hashlib.sha256(f"{self.seed}/{'/'.join(key)}/{made}".encode()).hexdigest()
        uid = f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"
        born = self.past.birth("namespace", {"name": key.namespace}, None) + 1
        version = self.past.version_at(born, self.store.version) if not made else self.store.version
        own = {"uid": uid, "resourceVersion": str(version), "creationTimestamp": made or stamp(born)}
        return {**obj, "metadata": {**obj["metadata"], **own}}


@lru_cache(512)
def _bundle(namespace: str) -> Json:
    metadata = {
        "name": AUTHORITY, "namespace": namespace, "annotations": {"kubernetes.io/description": _DESCRIPTION},
    }  # fmt: skip
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}


@lru_cache(1)
def _api_service() -> tuple[tuple[ResourceType, Json], ...]:
    """The service by which pods reach the API server, and where it leads."""
    metadata = {
        "name": "kubernetes", "namespace": "default", "labels": {"component": "apiserver", "provider": "kubernetes"},
    }  # fmt: skip
    spec = {
        "clusterIP": _API_ADDRESS, "clusterIPs": [_API_ADDRESS], "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "sessionAffinity": "None", "type": "ClusterIP",
        "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": _API_PORT}],
    }  # fmt: skip
    mirrored = {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}
    subset = {"addresses": [{"ip": "10.0.0.10"}], "ports": [{"name": "https", "port": _API_PORT, "protocol": "TCP"}]}
    place = {"name": "kubernetes", "namespace": "default"}
    return (
        (_SERVICE, {"kind": "Service", "apiVersion": "v1", "metadata": metadata, "spec": spec,
                    "status": {"loadBalancer": {}}}),
        (_ENDPOINTS, {"kind": "Endpoints", "apiVersion": "v1", "metadata": {**place, **mirrored}, "subsets": [subset]}),
    )  # fmt: skip
