"""What every cluster has besides what was declared: objects that the system itself puts in place and keeps up to date.

They are made on first read, and no observation shows them until somebody changes them. The control plane runs on
machines that are not nodes of the cluster, as with managed providers: it has leases, but no pods.
"""

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

from kubesim.access import bootstrap_objects
from kubesim.canonical import derived_seed
from kubesim.controllers.dynamics import Dynamics
from kubesim.controllers.revisions import lay_revisions
from kubesim.controllers.rows import ACCOUNT, DAEMON_SET, DEPLOYMENT, ENDPOINTS, NAMESPACE, REVISION, SLICE
from kubesim.controllers.settling import settle
from kubesim.controllers.storage import PROVISIONER, STORAGE_CLASS
from kubesim.discovery.catalogue import catalogue, git_version
from kubesim.history import seconds_of, stamp
from kubesim.kinds.declared import declare_object, establish_object
from kubesim.resource import BY_NOUN, ResourceType
from kubesim.status import Json
from kubesim.store import Ids, Store, key_of, spell_number
from kubesim.world import EnvironmentTime

AUTHORITY = "kube-root-ca.crt"
_CONFIG_MAP, _SERVICE, _NODE, _LEASE = (BY_NOUN[noun] for noun in ("configmap", "service", "node", "lease"))
_SYSTEM, _NODE_LEASES = "kube-system", "kube-node-lease"
_WORKLOAD_NOUNS = (
    "deployment", "replicaset", "daemonset", "pod", "service", "endpoints", "configmap", "serviceaccount",
)  # fmt: skip
_DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)
_CERTIFICATE, _DATE = "the certificate of the authority", "the day on which the cluster was made"
"""Placeholders in the data of config maps for what is known only at the first read."""
_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "kube-apiserver-legacy-service-account-token-tracking": {"since": _DATE},
    "extension-apiserver-authentication": {
        "client-ca-file": _CERTIFICATE, "requestheader-allowed-names": '["front-proxy-client"]',
        "requestheader-client-ca-file": _CERTIFICATE, "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-group-headers": '["X-Remote-Group"]', "requestheader-username-headers": '["X-Remote-User"]',
    },
}  # fmt: skip
"""What the API server keeps in config maps of the system's namespace."""
_ALLOCATED = {
    "ipaddress.kubernetes.io/ip-family": "IPv4", "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"
}  # fmt: skip
_MIGRATED_PLUGINS = {
    "storage.alpha.kubernetes.io/migrated-plugins": ",".join(f"kubernetes.io/{name}" for name in (
        "aws-ebs", "azure-disk", "azure-file", "cinder", "gce-pd", "portworx-volume", "vsphere-volume"))
}  # fmt: skip
_STORAGE_CLASS: Json = {
    "kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "provisioner": PROVISIONER,
    "metadata": {"name": STORAGE_CLASS, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "parameters": {"archiveOnDelete": "false"}, "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate",
}  # fmt: skip
_API_ADDRESS, _API_PORT = "10.96.0.1", 6443
_NODE_RENEWAL, _LEADER_RENEWAL = 10, 2
"""Seconds after which kubelets and elected controllers renew their leases."""


class Furnishing:
    """The system's own objects in one cluster; `authority` returns its certificate, which takes a while to make."""

    def __init__(
        self, dynamics: Dynamics, seed: int, time: EnvironmentTime, release: int, authority: Callable[[], str]
    ) -> None:
        self._dynamics = dynamics
        self._store = dynamics.store
        self._seed = seed
        self._time = time
        self._past = time.history
        self._release = release
        self._authority = authority

    def lay(self, namespaces: Iterable[str]) -> None:
        """Put them in place for these namespaces."""
        bundles = {name: {AUTHORITY: _bundle(name)} for name in namespaces}
        if _SYSTEM in bundles:
            bundles[_SYSTEM] |= {name: _settings(name) for name in _SETTINGS}
        self._store.lay(_CONFIG_MAP, bundles, self._with_authority)
        for row, obj in _api_service():
            if self._store.content(row.noun, "default", "kubernetes") is None:
                self._store.lay(row, {"default": {"kubernetes": obj}}, self._complete(row))
        self._forget_workloads = self._store.prepare(_WORKLOAD_NOUNS, self._lay_workloads, (_SYSTEM,))
        self._store.prepare((_LEASE.noun,), self._renew_leases, (_SYSTEM, _NODE_LEASES))
        self._store.prepare((SLICE.noun,), self._follow_endpoints)
        self._store.prepare((REVISION.noun,), partial(lay_revisions, self._dynamics), only_adds=True)
        for (group, plural), act in {
            ("storage.k8s.io", "storageclasses"): self._lay_storage_class,
            ("storage.k8s.io", "csinodes"): self._prepare_drivers,
            ("networking.k8s.io", "ipaddresses"): self._prepare_addresses,
        }.items():
            if (served := catalogue(self._release).find(group, "v1", plural)) is not None:
                act(served)

    def keep(self, namespace: str, now: str) -> None:
        """Publish the authority's certificate again in a namespace that is new or has lost it."""
        if self._store.content(_CONFIG_MAP.noun, namespace, AUTHORITY) is None:
            obj = self._with_authority(_bundle(namespace), now)
            self._store.lay(_CONFIG_MAP, {namespace: {AUTHORITY: obj}}, self._with_authority)

    def _with_authority(self, obj: Json, made: str = "") -> Json:
        if "data" in obj:
            return obj
        complete = self._furnish_object(_CONFIG_MAP, obj, made)
        said = _SETTINGS.get(obj["metadata"]["name"], {"ca.crt": _CERTIFICATE})
        founded = self._past.founding[:10]
        own = {_CERTIFICATE: self._authority() if _CERTIFICATE in said.values() else "", _DATE: founded}
        return {**complete, "data": {key: own.get(text, text) for key, text in said.items()}}

    def _complete(self, row: ResourceType) -> Callable[[Json], Json]:
        return lambda obj: self._furnish_object(row, obj)

    def _furnish_object(self, row: ResourceType, obj: Json, made: str = "") -> Json:
        """An object with the metadata that the server writes, which follows from the seed and the object's place."""
        key = key_of(row, obj)
        born = self._past.birth("namespace", {"name": key.namespace or _SYSTEM}, None) + 1
        version = self._past.version_at(born, self._store.version) if not made else self._store.version
        own = {"uid": self._uid(*key, made), "resourceVersion": str(version), "creationTimestamp": made or stamp(born)}
        return {**obj, "metadata": {**obj["metadata"], **own}}

    def _number(self, *parts: str) -> int:
        return int.from_bytes(hashlib.sha256(f"{self._seed}/{'/'.join(parts)}".encode()).digest()[:16], "big")

    def _uid(self, *parts: str) -> str:
        digits = f"{self._number(*parts):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def _lay_workloads(self) -> None:
        """Put in place what runs in the system's namespace, dated as in a cluster that has nothing else."""
        self._forget_workloads()
        apart = Dynamics(Store(Ids(derived_seed(self._seed, _SYSTEM)), past=self._past))
        moment = self._time.founding_moment()
        for row, obj in self._ground():
            apart.store.lay_object(row, obj)
        for row, manifest in _workloads(self._release, self._number("network")):
            if self._store.content(row.noun, _SYSTEM, manifest["metadata"]["name"]) is None:
                obj = apart.store.new_object(row, declare_object(row, manifest), moment.now)
                apart.store.put(row, establish_object(apart.store, row, obj))
        settle(apart, moment)
        for row, obj in apart.store.objects():
            born = seconds_of(obj["metadata"]["creationTimestamp"])
            version = str(self._past.version_at(born, self._store.version))
            self._store.lay_object(row, {**obj, "metadata": {**obj["metadata"], "resourceVersion": version}})
        self._dynamics.fates.update(apart.fates)
        self._dynamics.templates.update(apart.templates)

    def _ground(self) -> Iterator[tuple[ResourceType, Json]]:
        """The nodes, and the system's namespace with its default account."""
        yield from ((_NODE, node) for node in self._store.contents(_NODE.noun))
        for row, namespace, name in ((NAMESPACE, "", _SYSTEM), (ACCOUNT, _SYSTEM, "default")):
            if (found := self._store.content(row.noun, namespace, name)) is not None:
                yield row, found

    def _lay_storage_class(self, row: ResourceType) -> None:
        if self._store.content(row.noun, "", STORAGE_CLASS) is None:
            self._store.lay(row, {"": {STORAGE_CLASS: _STORAGE_CLASS}}, self._complete(row))

    def _prepare_drivers(self, row: ResourceType) -> None:
        """Prepare each kubelet's report on the storage drivers of its node: there are none."""

        def lay() -> None:
            for node in self._store.contents(_NODE.noun):
                metadata = node["metadata"]
                owner = {"apiVersion": "v1", "kind": "Node", "name": metadata["name"], "uid": metadata["uid"]}
                own = {"annotations": _MIGRATED_PLUGINS, "ownerReferences": [owner]}
                said = {"metadata": own, "spec": {"drivers": None}}
                self._lay_once(row, metadata["name"], metadata["creationTimestamp"], said)

        self._store.prepare((row.noun,), lay)

    def _prepare_addresses(self, row: ResourceType) -> None:
        """Prepare an allocation for every address that a service has, removed when no service has it any more."""

        def follow() -> None:
            services = {
                address: service["metadata"]
                for service in self._store.items(_SERVICE.noun)
                for address in service["spec"].get("clusterIPs") or ()
                if address != "None"
            }
            for known in [*self._store.contents(row.noun)]:
                if known["metadata"]["name"] not in services:
                    self._store.remove(row, known)
            for address, service in services.items():
                parent = {"resource": "services", "namespace": service["namespace"], "name": service["name"]}
                said = {"metadata": {"labels": _ALLOCATED}, "spec": {"parentRef": parent}}
                self._lay_once(row, address, service["creationTimestamp"], said)

        self._store.prepare((row.noun,), follow)

    def _lay_once(self, row: ResourceType, name: str, made: str, obj: Json) -> None:
        """Put a cluster-wide object in place, unless it is there."""
        if self._store.content(row.noun, "", name) is not None:
            return
        version = self._past.version_at(seconds_of(made), self._store.version)
        identity = {"name": name, "uid": self._uid(row.noun, name, made), "creationTimestamp": made,
                    "resourceVersion": str(version)}  # fmt: skip
        metadata = {**obj["metadata"], **identity}
        self._store.lay_object(row, {"kind": row.kind, "apiVersion": row.api_version, **obj, "metadata": metadata})

    def _renew_leases(self) -> None:
        """Put in place the leases by which nodes and controllers show that they are alive, renewed by now."""
        now = self._time.present().epoch
        for lease, period in self._leases():
            metadata, spec = lease["metadata"], lease["spec"]
            if self._store.content(NAMESPACE.noun, "", metadata["namespace"]) is None:
                continue
            draw = self._number("lease", metadata["name"])
            renewed = int(now) - (int(now) - draw) % period
            spec["renewTime"] = f"{stamp(renewed)[:-1]}.{draw % 1_000_000:06}Z"
            known = self._store.content(_LEASE.noun, metadata["namespace"], metadata["name"])
            if known is None:
                metadata["resourceVersion"] = str(self._store.version)
                self._store.lay_object(_LEASE, lease)
            elif (known.get("spec") or {}).get("renewTime", "") < spec["renewTime"]:
                self._store.lay_object(_LEASE, {**known, "spec": spec})

    def _leases(self) -> Iterator[tuple[Json, int]]:
        """The leases without their time of renewal, each with the seconds between two renewals."""
        for node in self._store.contents(_NODE.noun):
            name, made = node["metadata"]["name"], node["metadata"]["creationTimestamp"]
            owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
            spec = {"holderIdentity": name, "leaseDurationSeconds": 40}
            yield self._lease(_NODE_LEASES, name, made, spec, ownerReferences=[owner]), _NODE_RENEWAL
        digest = base64.b32encode(self._number("server").to_bytes(16, "big")).decode()
        server = f"apiserver-{digest.rstrip('=').lower()}"
        host = f"ip-10-0-{self._number('host') % 250}-{self._number('host') // 250 % 250}"
        mark = {"apiserver.kubernetes.io/identity": "kube-apiserver", "kubernetes.io/hostname": host}
        spec = {"holderIdentity": f"{server}_{self._uid('server')}", "leaseDurationSeconds": 3600}
        yield self._lease(_SYSTEM, server, self._past.founding, spec, labels=mark), _NODE_RENEWAL
        for name in ("kube-controller-manager", "kube-scheduler"):
            draw = self._number("leader", name)
            acquired = f"{stamp(seconds_of(self._past.founding) + draw % (self._past.age // 2))[:-1]}.000000Z"
            spec = {"holderIdentity": f"{host}_{self._uid('leader', name)}", "leaseDurationSeconds": 15,
                    "acquireTime": acquired, "leaseTransitions": draw % 9 + 1}  # fmt: skip
            yield self._lease(_SYSTEM, name, self._past.founding, spec), _LEADER_RENEWAL

    def _lease(self, namespace: str, name: str, made: str, spec: Json, **more: Any) -> Json:
        metadata = {"name": name, "namespace": namespace, "uid": self._uid("lease", namespace, name),
                    "creationTimestamp": made, **more}  # fmt: skip
        return {"kind": "Lease", "apiVersion": _LEASE.api_version, "metadata": metadata, "spec": spec}

    def _follow_endpoints(self) -> None:
        """Put a slice in place for the endpoints of every service, and from now on update it whenever those change."""
        self._dynamics.follow_endpoints = self._follow_endpoints
        store = self._store
        wanted: dict[tuple[str, str], Json] = {}
        for endpoints in store.items(ENDPOINTS.noun):
            metadata = endpoints["metadata"]
            service = store.get(_SERVICE.noun, metadata["namespace"], metadata["name"])
            if service is not None:
                made = _slice(endpoints, service, spell_number(self._number("slice", metadata["uid"]), 5))
                wanted[metadata["namespace"], made["metadata"]["name"]] = made
        for known in store.contents(SLICE.noun):
            place = known["metadata"]["namespace"], known["metadata"]["name"]
            if place not in wanted:
                if _is_of_controller(known):
                    store.remove(SLICE, known)
                continue
            latest = wanted.pop(place)
            said = {part: latest[part] for part in ("endpoints", "ports")}
            if any(known.get(part) != value for part, value in said.items()):
                store.lay_object(SLICE, {**known, **said})
        for made in wanted.values():
            uid = self._uid("slice", made["metadata"]["name"], made["metadata"]["namespace"], str(store.version))
            store.lay_object(SLICE, {**made, "metadata": {**made["metadata"], "uid": uid}})


@lru_cache(512)
def _bundle(namespace: str) -> Json:
    metadata = {
        "name": AUTHORITY, "namespace": namespace, "annotations": {"kubernetes.io/description": _DESCRIPTION},
    }  # fmt: skip
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}


@lru_cache(8)
def _settings(name: str) -> Json:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "namespace": _SYSTEM}}


@lru_cache(1)
def _api_service() -> tuple[tuple[ResourceType, Json], ...]:
    """The service by which pods reach the API server, and its endpoints."""
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
        (ENDPOINTS, {"kind": "Endpoints", "apiVersion": "v1", "metadata": {**place, **mirrored}, "subsets": [subset]}),
    )  # fmt: skip


_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_CONTROLLERS = {"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}


def _is_of_controller(item: Json) -> bool:
    return (item["metadata"].get("labels") or {}).get(_MANAGED_BY) in _CONTROLLERS


def _slice(endpoints: Json, service: Json, suffix: str) -> Json:
    """The slice that mirrors the endpoints of a service."""
    metadata = endpoints["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    # Both are written for the same change, one after the other.
    written = str(int(metadata["resourceVersion"]) + 1)
    version = {"resourceVersion": written, "creationTimestamp": metadata["creationTimestamp"]}
    labels = {"kubernetes.io/service-name": name}
    if name == "kubernetes" and namespace == "default":
        own: Json = {"name": name, "labels": labels}
    else:
        mirrored = "" if service["spec"].get("selector") else "mirroring"
        owner = {"apiVersion": "v1", "kind": "Service", "name": name, "uid": service["metadata"]["uid"],
                 "controller": True, "blockOwnerDeletion": True}  # fmt: skip
        labels = {**(service["metadata"].get("labels") or {}), **labels,
                  _MANAGED_BY: f"endpointslice{mirrored}-controller.k8s.io"}  # fmt: skip
        own = {"name": f"{name}-{suffix}", "generateName": f"{name}-", "labels": labels, "ownerReferences": [owner]}
    subsets = endpoints.get("subsets") or ()
    return {
        "kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "addressType": "IPv4",
        "metadata": {"namespace": namespace, **own, **version},
        "endpoints": [
            _endpoint(address, ready=ready) for subset in subsets
            for part, ready in (("addresses", True), ("notReadyAddresses", False)) for address in subset.get(part) or ()
        ],
        "ports": [{"name": port.get("name", ""), "port": port.get("port"), "protocol": port.get("protocol", "TCP")}
                  for port in (subsets[0].get("ports") or () if subsets else ())],
    }  # fmt: skip


def _endpoint(address: Json, *, ready: bool) -> Json:
    known = {key: address[key] for key in ("nodeName", "targetRef") if address.get(key)}
    return {"addresses": [address["ip"]], "conditions": {"ready": ready, "serving": ready, "terminating": False},
            **known}  # fmt: skip


def _workloads(release: int, draw: int) -> Iterator[tuple[ResourceType, Json]]:
    """What runs in the system's namespace of a managed cluster: DNS, the network of pods and services, metrics."""
    for account in sorted({"coredns", "kube-proxy", "metrics-server", *_controller_accounts(release)}):
        yield ACCOUNT, {"metadata": {"name": account, "namespace": _SYSTEM}}
    metadata = {"name": "coredns", "namespace": _SYSTEM}
    yield _CONFIG_MAP, {"metadata": metadata, "data": {"Corefile": _COREFILE}}
    names = {"k8s-app": "kube-dns"}
    shown = {"kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS"}
    yield DEPLOYMENT, _workload("coredns", names, "registry.k8s.io/coredns/coredns:v1.11.3", _RESOLVER, replicas=2)
    ports = [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
             {"name": "metrics", "port": 9153, "protocol": "TCP"}]  # fmt: skip
    yield _SERVICE, _service("kube-dns", names, ports, labels=shown, clusterIP="10.96.0.10")
    server = {"k8s-app": "metrics-server"}
    image = "registry.k8s.io/metrics-server/metrics-server:v0.7.2"
    yield DEPLOYMENT, _workload("metrics-server", server, image, _METER, replicas=1)
    yield _SERVICE, _service("metrics-server", server, [{"name": "https", "port": 443, "targetPort": 10250}])
    image = f"registry.k8s.io/kube-proxy:{git_version(release)}"
    yield DAEMON_SET, _workload("kube-proxy", {"k8s-app": "kube-proxy"}, image, _PROXY)
    network, image = _NETWORKS[draw % len(_NETWORKS)]
    yield ACCOUNT, {"metadata": {"name": network, "namespace": _SYSTEM}}
    yield DAEMON_SET, _workload(network, {"k8s-app": network}, image, _NETWORK)


_RESOLVER: Json = {
    "args": ["-conf", "/etc/coredns/Corefile"],
    "resources": {"limits": {"memory": "170Mi"}, "requests": {"cpu": "100m", "memory": "70Mi"}},
    "ports": [{"name": "dns", "containerPort": 53, "protocol": "UDP"},
              {"name": "dns-tcp", "containerPort": 53, "protocol": "TCP"},
              {"name": "metrics", "containerPort": 9153, "protocol": "TCP"}],
    "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                        "capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]}},
}  # fmt: skip
_METER: Json = {
    "args": ["--cert-dir=/tmp", "--secure-port=10250", "--kubelet-preferred-address-types=InternalIP,Hostname",
             "--kubelet-use-node-status-port", "--metric-resolution=15s"],
    "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}},
    "ports": [{"name": "https", "containerPort": 10250, "protocol": "TCP"}],
    "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "runAsNonRoot": True,
                        "runAsUser": 1000, "capabilities": {"drop": ["ALL"]}},
}  # fmt: skip
_PROXY: Json = {
    "command": ["/usr/local/bin/kube-proxy", "--config=/var/lib/kube-proxy/config.conf",
                "--hostname-override=$(NODE_NAME)"],
    "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}}],
    "securityContext": {"privileged": True},
}  # fmt: skip
_NETWORK: Json = {
    "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}}],
    "resources": {"requests": {"cpu": "100m", "memory": "50Mi"}}, "securityContext": {"privileged": True},
}  # fmt: skip
_NETWORKS = (
    ("kube-router", "docker.io/cloudnativelabs/kube-router:v2.5.0"),
    ("kube-flannel", "ghcr.io/flannel-io/flannel:v0.26.7"),
)  # fmt: skip
"""Networks that keep nothing in custom resources."""
_COREFILE = """.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
"""


def _controller_accounts(release: int) -> Iterator[str]:
    """The accounts of controllers that get their rights from the bindings of every cluster."""
    layer = bootstrap_objects(release, "", aggregated=True)
    bindings = (obj for row, places in layer.items() if row.noun.endswith("binding") for obj in _objects(places))
    for binding in bindings:
        for subject in binding.get("subjects") or ():
            if subject.get("kind") == "ServiceAccount" and subject.get("namespace") == _SYSTEM:
                yield subject["name"]


def _objects(places: Any) -> Iterator[Json]:
    return (obj for objects in places.values() for obj in objects.values())


def _workload(name: str, labels: Json, image: str, parts: Json, *, replicas: int | None = None) -> Json:
    """A deployment with this number of replicas, or, without a number, a daemon set that runs on every node."""
    on_every_node = replicas is None
    container = {"name": name, "image": image, **parts}
    pod = {
        "containers": [container], "serviceAccountName": name, "nodeSelector": {"kubernetes.io/os": "linux"},
        "priorityClassName": "system-node-critical" if on_every_node else "system-cluster-critical",
        **({"hostNetwork": True, "tolerations": [{"operator": "Exists"}]} if on_every_node else {}),
    }  # fmt: skip
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    sized = {} if on_every_node else {"replicas": replicas}
    return {"metadata": {"name": name, "namespace": _SYSTEM, "labels": labels}, "spec": {**spec, **sized}}


def _service(
    name: str, selector: Json, ports: list[Json], *, labels: Mapping[str, str] = MappingProxyType({}), **more: str
) -> Json:
    metadata = {"name": name, "namespace": _SYSTEM, "labels": {**selector, **labels}}
    return {"metadata": metadata, "spec": {"selector": selector, "ports": ports, **more}}
