"""The noun table: every resource type that an operation can name, with its real plural, kind, group, short names.

Besides the types of the Kubernetes API it lists the records of the services around a cluster, which the API does not
serve.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

_Rule = TypeVar("_Rule")


@dataclass(frozen=True, slots=True)
class ResourceType:
    """One row of the noun table."""

    noun: str
    plural: str
    kind: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    short_names: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """The request path of the collection, an object in it, or a subresource of that object."""
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "/".join(parts)


RESOURCE_TYPES = (
    ResourceType("namespace", "namespaces", "Namespace", namespaced=False, short_names=("ns",)),
    ResourceType("node", "nodes", "Node", namespaced=False, short_names=("no",)),
    ResourceType("pod", "pods", "Pod", short_names=("po",)),
    ResourceType("service", "services", "Service", short_names=("svc",)),
    ResourceType("endpoints", "endpoints", "Endpoints", short_names=("ep",)),
    ResourceType("configmap", "configmaps", "ConfigMap", short_names=("cm",)),
    ResourceType("secret", "secrets", "Secret"),
    ResourceType("serviceaccount", "serviceaccounts", "ServiceAccount", short_names=("sa",)),
    ResourceType("event", "events", "Event", short_names=("ev",)),
    ResourceType("pvc", "persistentvolumeclaims", "PersistentVolumeClaim", short_names=("persistentvolumeclaim",)),
    ResourceType("pv", "persistentvolumes", "PersistentVolume", namespaced=False, short_names=("persistentvolume",)),
    ResourceType("resourcequota", "resourcequotas", "ResourceQuota", short_names=("quota",)),
    ResourceType("limitrange", "limitranges", "LimitRange", short_names=("limits",)),
    ResourceType("deployment", "deployments", "Deployment", "apps", short_names=("deploy",)),
    ResourceType("replicaset", "replicasets", "ReplicaSet", "apps", short_names=("rs",)),
    ResourceType("statefulset", "statefulsets", "StatefulSet", "apps", short_names=("sts",)),
    ResourceType("daemonset", "daemonsets", "DaemonSet", "apps", short_names=("ds",)),
    ResourceType("job", "jobs", "Job", "batch"),
    ResourceType("cronjob", "cronjobs", "CronJob", "batch", short_names=("cj",)),
    ResourceType("ingress", "ingresses", "Ingress", "networking.k8s.io", short_names=("ing",)),
    ResourceType("networkpolicy", "networkpolicies", "NetworkPolicy", "networking.k8s.io", short_names=("netpol",)),
    ResourceType(
        "hpa", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "autoscaling", "v2",
        short_names=("horizontalpodautoscaler",),
    ),
    ResourceType("pdb", "poddisruptionbudgets", "PodDisruptionBudget", "policy", short_names=("poddisruptionbudget",)),
    ResourceType("lease", "leases", "Lease", "coordination.k8s.io"),
    ResourceType("role", "roles", "Role", "rbac.authorization.k8s.io"),
    ResourceType("rolebinding", "rolebindings", "RoleBinding", "rbac.authorization.k8s.io"),
    ResourceType("clusterrole", "clusterroles", "ClusterRole", "rbac.authorization.k8s.io", namespaced=False),
    ResourceType(
        "clusterrolebinding", "clusterrolebindings", "ClusterRoleBinding", "rbac.authorization.k8s.io", namespaced=False
    ),
)  # fmt: skip

SERVICE_TYPES = (
    ResourceType("metrics", "metrics", "MetricSeries", "monitoring.coreos.com", short_names=("metric",)),
    ResourceType("alert", "alerts", "Alert", "monitoring.coreos.com", short_names=("alerts",)),
    ResourceType("traces", "traces", "Trace", "jaegertracing.io", short_names=("trace",)),
    ResourceType("dashboard", "dashboards", "Dashboard", "grafana.integreatly.org", short_names=("dashboards",)),
    ResourceType(
        "gitops-application", "applications", "Application", "argoproj.io", "v1alpha1",
        short_names=("gitops-applications",),
    ),
    ResourceType("pipeline", "pipelines", "Pipeline", "tekton.dev", short_names=("pipelines",)),
    ResourceType(
        "database-migration", "migrations", "Migration", "schemas.schemahero.io", short_names=("database-migrations",)
    ),
)  # fmt: skip

_TYPES = (*RESOURCE_TYPES, *SERVICE_TYPES)
BY_NOUN = {row.noun: row for row in _TYPES}
BY_PLURAL = {(row.group, row.plural): row for row in _TYPES}
BY_KIND = {row.kind: row for row in _TYPES}
SERVICE_NOUNS = frozenset(row.noun for row in SERVICE_TYPES)
# Plurals and kinds of services are everyday words (application, migration) with other meanings in prose.
_BY_ANY_NAME = {name: row for row in SERVICE_TYPES for name in (row.noun, *row.short_names)} | {
    name: row for row in RESOURCE_TYPES for name in (row.noun, row.plural, row.kind.lower(), *row.short_names)
}
REPLICATED = frozenset({"deployment", "replicaset", "statefulset"})
WORKLOADS = REPLICATED | {"daemonset"}


def noun_of(type_name: str) -> str:
    """The noun of a type by its full name, `plural.group`; the name itself if the table above has no row for it.

    Data keyed by full names thus stays valid when a type gets a row. Anything after a slash is kept.
    """
    name, slash, part = type_name.partition("/")
    plural, _, group = name.partition(".")
    row = BY_PLURAL.get((group, plural))
    return f"{row.noun if row else name}{slash}{part}"


def by_noun(rules: Mapping[str, _Rule]) -> dict[str, _Rule]:
    """A table whose keys are nouns or full names of types, keyed by nouns alone."""
    return {noun_of(name): rule for name, rule in rules.items()}


def is_custom(item: Mapping[str, Any]) -> bool:
    """Whether an object is of a custom type, whatever kind it claims.

    Groups of the API itself have no dot or end in `.k8s.io`, a suffix reserved for them.
    """
    version = item.get("apiVersion")
    if not isinstance(version, str) or "." not in version:
        return False
    group = version.rpartition("/")[0]
    if "." not in group or group.endswith(".k8s.io"):
        return False
    row = BY_KIND.get(str(item.get("kind")))
    return row is None or row.group != group


def resource_type(name: str) -> ResourceType | None:
    """The row that `name` (noun, plural, kind or short name, any case) means, or None."""
    return _BY_ANY_NAME.get(name.lower())


def closest_noun(name: str) -> str | None:
    """The noun that `name` was probably meant to be."""
    found = get_close_matches(name.lower(), sorted(_BY_ANY_NAME), n=1)
    return _BY_ANY_NAME[found[0]].noun if found else None
