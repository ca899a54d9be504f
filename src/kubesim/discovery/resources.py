"""The built-in resources of Kubernetes as data: which group serves what, and in which releases."""

from dataclasses import dataclass

from kubesim.conventions import READ_VERBS, WRITE_VERBS

ALL_VERBS = tuple(sorted((*READ_VERBS, *WRITE_VERBS)))
_CREATE = ("create",)
_PART = ("get", "patch", "update")
_PROXY = ("create", "delete", "get", "patch", "update")
_STREAM = ("create", "get")


@dataclass(frozen=True, slots=True)
class Part:
    """A subresource: `kind` if it differs from the parent's, `of` if that kind belongs to another group."""

    name: str
    verbs: tuple[str, ...] = _PART
    kind: str = ""
    of: str = ""
    since: int = 0
    until: int = 99
    version: str = ""
    """The only version of the parent that has it; all of them if empty."""


@dataclass(frozen=True, slots=True)
class Served:
    """One resource of a group; `versions` in order of preference, each as `v1`, `v1:21-` or `v1beta1:-24`."""

    plural: str
    kind: str
    short: tuple[str, ...] = ()
    versions: str = "v1"
    parts: tuple[Part, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    namespaced: bool = True
    stored: str = ""
    """The apiVersion in etcd, if it is not the preferred one; discovery shows it as a hash."""
    collection_since: int = 0
    """The first release that can delete the collection."""
    hashed: str = ""
    """The version that discovery hashes, if it is one that is not served."""


STATUS = Part("status")
SCALE = Part("scale", kind="Scale", of="autoscaling/v1")
_STATUS = (STATUS,)
_SCALED = (SCALE, STATUS)
_ALL = ("all",)
_EXTENSIONS = ("api-extensions",)
_BETA = "v1 v1beta1:-21"
_BETA_LONG = "v1:21- v1beta1:-24"


def _store(
    plural: str, kind: str, short: tuple[str, ...] = (), versions: str = "v1", parts: tuple[Part, ...] = (),
    categories: tuple[str, ...] = (), verbs: tuple[str, ...] = ALL_VERBS, stored: str = "",
    collection_since: int = 0, hashed: str = "",
) -> Served:  # fmt: skip
    return Served(plural, kind, short, versions, parts, categories, verbs, namespaced=False, stored=stored,
                  collection_since=collection_since, hashed=hashed)  # fmt: skip


def _review(plural: str, kind: str, versions: str = _BETA, *, namespaced: bool = False) -> Served:
    return Served(plural, kind, versions=versions, verbs=_CREATE, namespaced=namespaced)


GROUPS: dict[str, tuple[Served, ...]] = {
    "": (
        Served("bindings", "Binding", verbs=_CREATE),
        _store("componentstatuses", "ComponentStatus", ("cs",), verbs=("get", "list")),
        Served("configmaps", "ConfigMap", ("cm",)),
        Served("endpoints", "Endpoints", ("ep",)),
        Served("events", "Event", ("ev",)),
        Served("limitranges", "LimitRange", ("limits",)),
        _store("namespaces", "Namespace", ("ns",), parts=(Part("finalize", ("update",)), STATUS),
                 collection_since=99),
        _store("nodes", "Node", ("no",), parts=(Part("proxy", _PROXY, "NodeProxyOptions"), STATUS)),
        Served("persistentvolumeclaims", "PersistentVolumeClaim", ("pvc",), parts=_STATUS),
        _store("persistentvolumes", "PersistentVolume", ("pv",), parts=_STATUS),
        Served("pods", "Pod", ("po",), categories=_ALL, parts=(
            Part("attach", _STREAM, "PodAttachOptions"),
            Part("binding", _CREATE, "Binding"),
            Part("ephemeralcontainers", since=23),
            Part("eviction", _CREATE, "Eviction", "policy/v1beta1", until=21),
            Part("eviction", _CREATE, "Eviction", "policy/v1", since=22),
            Part("exec", _STREAM, "PodExecOptions"),
            Part("log", ("get",)),
            Part("portforward", _STREAM, "PodPortForwardOptions"),
            Part("proxy", _PROXY, "PodProxyOptions"),
            Part("resize", since=33),
            STATUS,
        )),
        Served("podtemplates", "PodTemplate"),
        Served("replicationcontrollers", "ReplicationController", ("rc",), parts=_SCALED, categories=_ALL),
        Served("resourcequotas", "ResourceQuota", ("quota",), parts=_STATUS),
        Served("secrets", "Secret"),
        Served("serviceaccounts", "ServiceAccount", ("sa",),
               parts=(Part("token", _CREATE, "TokenRequest", "authentication.k8s.io/v1"),)),
        Served("services", "Service", ("svc",), categories=_ALL, collection_since=23,
               parts=(Part("proxy", _PROXY, "ServiceProxyOptions"), STATUS)),
    ),
    "apiregistration.k8s.io": (
        _store("apiservices", "APIService", (), _BETA, _STATUS, _EXTENSIONS,
                 stored="apiregistration.k8s.io/v1beta1"),
    ),
    "apps": (
        Served("controllerrevisions", "ControllerRevision"),
        Served("daemonsets", "DaemonSet", ("ds",), parts=_STATUS, categories=_ALL),
        Served("deployments", "Deployment", ("deploy",), parts=_SCALED, categories=_ALL),
        Served("replicasets", "ReplicaSet", ("rs",), parts=_SCALED, categories=_ALL),
        Served("statefulsets", "StatefulSet", ("sts",), parts=_SCALED, categories=_ALL),
    ),
    "events.k8s.io": (Served("events", "Event", ("ev",), "v1 v1beta1:-24", stored="v1"),),
    "authentication.k8s.io": (
        _review("selfsubjectreviews", "SelfSubjectReview", "v1:28-"),
        _review("tokenreviews", "TokenReview"),
    ),
    "authorization.k8s.io": (
        _review("localsubjectaccessreviews", "LocalSubjectAccessReview", namespaced=True),
        _review("selfsubjectaccessreviews", "SelfSubjectAccessReview"),
        _review("selfsubjectrulesreviews", "SelfSubjectRulesReview"),
        _review("subjectaccessreviews", "SubjectAccessReview"),
    ),
    "autoscaling": (
        Served("horizontalpodautoscalers", "HorizontalPodAutoscaler", ("hpa",),
               "v2:23- v1 v2beta1:-24 v2beta2:-25", _STATUS, _ALL),
    ),
    "batch": (
        Served("cronjobs", "CronJob", ("cj",), _BETA_LONG, _STATUS, _ALL),
        Served("jobs", "Job", parts=_STATUS, categories=_ALL),
    ),
    "certificates.k8s.io": (
        _store("certificatesigningrequests", "CertificateSigningRequest", ("csr",), _BETA,
                 (Part("approval"), STATUS), stored="certificates.k8s.io/v1beta1"),
    ),
    "networking.k8s.io": (
        _store("ingressclasses", "IngressClass", (), _BETA, stored="networking.k8s.io/v1beta1"),
        Served("ingresses", "Ingress", ("ing",), _BETA, _STATUS, stored="networking.k8s.io/v1beta1"),
        _store("ipaddresses", "IPAddress", ("ip",), "v1:33-"),
        Served("networkpolicies", "NetworkPolicy", ("netpol",)),
        _store("servicecidrs", "ServiceCIDR", (), "v1:33-", _STATUS),
    ),
    "extensions": (
        Served("ingresses", "Ingress", ("ing",), "v1beta1:-21", _STATUS, stored="networking.k8s.io/v1beta1"),
    ),
    "policy": (
        Served("poddisruptionbudgets", "PodDisruptionBudget", ("pdb",), _BETA_LONG, _STATUS),
        _store("podsecuritypolicies", "PodSecurityPolicy", ("psp",), "v1beta1:-24"),
    ),
    "rbac.authorization.k8s.io": (
        _store("clusterrolebindings", "ClusterRoleBinding", (), _BETA),
        _store("clusterroles", "ClusterRole", (), _BETA),
        Served("rolebindings", "RoleBinding", (), _BETA),
        Served("roles", "Role", (), _BETA),
    ),
    "storage.k8s.io": (
        _store("csidrivers", "CSIDriver", (), _BETA, stored="storage.k8s.io/v1beta1"),
        _store("csinodes", "CSINode", (), _BETA),
        Served("csistoragecapacities", "CSIStorageCapacity", (), "v1:24- v1beta1:21-26"),
        _store("storageclasses", "StorageClass", ("sc",), _BETA),
        _store("volumeattachments", "VolumeAttachment", (), _BETA, (Part("status", version="v1"),)),
        _store("volumeattributesclasses", "VolumeAttributesClass", ("vac",), "v1:34-", hashed="v1beta1"),
    ),
    "admissionregistration.k8s.io": (
        _store("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", (), _BETA, (), _EXTENSIONS,
                 stored="admissionregistration.k8s.io/v1beta1"),
        _store("validatingadmissionpolicies", "ValidatingAdmissionPolicy", (), "v1:30-", _STATUS, _EXTENSIONS),
        _store("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", (), "v1:30-",
                 categories=_EXTENSIONS),
        _store("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", (), _BETA, (), _EXTENSIONS,
                 stored="admissionregistration.k8s.io/v1beta1"),
    ),
    "apiextensions.k8s.io": (
        _store("customresourcedefinitions", "CustomResourceDefinition", ("crd", "crds"), _BETA, _STATUS, _EXTENSIONS,
                 stored="apiextensions.k8s.io/v1beta1"),
    ),
    "scheduling.k8s.io": (_store("priorityclasses", "PriorityClass", ("pc",), _BETA),),
    "coordination.k8s.io": (Served("leases", "Lease", (), _BETA, stored="coordination.k8s.io/v1beta1"),),
    "node.k8s.io": (_store("runtimeclasses", "RuntimeClass", (), "v1 v1beta1:-24", stored="node.k8s.io/v1beta1"),),
    "discovery.k8s.io": (Served("endpointslices", "EndpointSlice", (), _BETA_LONG),),
    "resource.k8s.io": (
        _store("deviceclasses", "DeviceClass", (), "v1:34-", hashed="v1beta2"),
        Served("resourceclaims", "ResourceClaim", (), "v1:34-", _STATUS, hashed="v1beta2"),
        Served("resourceclaimtemplates", "ResourceClaimTemplate", (), "v1:34-", hashed="v1beta2"),
        _store("resourceslices", "ResourceSlice", (), "v1:34-", hashed="v1beta2"),
    ),
    "flowcontrol.apiserver.k8s.io": (
        _store("flowschemas", "FlowSchema", (), "v1:29- v1beta3:26-31 v1beta2:23-28 v1beta1:-25", _STATUS),
        _store("prioritylevelconfigurations", "PriorityLevelConfiguration", (),
                 "v1:29- v1beta3:26-31 v1beta2:23-28 v1beta1:-25", _STATUS),
    ),
}  # fmt: skip
"""Groups in the order in which a server lists them; resources by name, also as it lists them."""

METRICS: dict[str, tuple[Served, ...]] = {
    "metrics.k8s.io": (
        _store("nodes", "NodeMetrics", (), "v1beta1", verbs=("get", "list")),
        Served("pods", "PodMetrics", versions="v1beta1", verbs=("get", "list")),
    ),
}
"""What a cluster with a metrics server serves in addition; its objects are measured on request."""
