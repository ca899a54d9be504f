"""Who may do what: accounts and their tokens, and role-based access control over the cluster's own objects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.oasis.resource import BY_NOUN, RESOURCE_TYPES
from sirocco.providers.simulator.kubernetes.cluster import Cluster
from sirocco.providers.simulator.kubernetes.status import ApiError, Json

READ_VERBS = ("get", "list", "watch")
WRITE_VERBS = ("create", "update", "patch", "delete", "deletecollection")
AUTHENTICATED = "system:authenticated"
MASTERS = "system:masters"
RBAC_GROUP = "rbac.authorization.k8s.io"
UNAUTHENTICATED = "system:unauthenticated"
_UNAUTHENTICATED_PATHS = ("/healthz", "/livez", "/readyz", "/version")
_PUBLIC_PATHS = (*_UNAUTHENTICATED_PATHS, "/api", "/apis", "/openapi")
_REVIEWS = frozenset({"selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"})
_BASIC_USER = 'RBAC: allowed by ClusterRoleBinding "system:basic-user" of ClusterRole "system:basic-user"'
_DISCOVERY = 'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery"'


@dataclass(frozen=True, slots=True)
class Principal:
    """An account as the API server knows it once a token was accepted."""

    username: str
    uid: str
    groups: tuple[str, ...]

    def document(self) -> Json:
        """The account as it stands in an audit event."""
        return {"username": self.username, **({"uid": self.uid} if self.uid else {}), "groups": list(self.groups)}


ANONYMOUS = Principal("system:anonymous", "", (UNAUTHENTICATED,))


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a request asks for, as far as rights are concerned."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def full_resource(self) -> str:
        """The resource with its subresource, as rules name it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a request may go on, and by which binding."""

    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Accounts:
    """The tokens that an environment accepts."""

    by_token: Mapping[str, Principal] = field(repr=False)

    def authenticate(self, authorization: str | None) -> Principal | None:
        """The account behind an Authorization header; None when the environment does not know the credential."""
        if not authorization:
            return ANONYMOUS
        scheme, _, token = authorization.strip().partition(" ")
        return self.by_token.get(token.strip()) if scheme.lower() == "bearer" else None


def service_account(namespace: str, name: str, uid: str) -> Principal:
    """The principal of a service account."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    return Principal(f"system:serviceaccount:{namespace}:{name}", uid, groups)


def decide(cluster: Cluster, principal: Principal, asked: Attributes) -> Decision:
    """Role-based access control as Kubernetes evaluates it: some binding of the account must have a rule that fits."""
    if MASTERS in principal.groups:
        return Decision(allowed=True)
    authenticated = AUTHENTICATED in principal.groups
    if asked.path:
        return _decide_path(asked, authenticated=authenticated)
    if asked.verb == "create" and asked.resource in _REVIEWS and authenticated:
        return Decision(allowed=True, reason=f'{_BASIC_USER} to Group "{AUTHENTICATED}"')
    bindings = cluster.items("clusterrolebinding")
    if asked.namespace:
        bindings += cluster.items("rolebinding", asked.namespace)
    granted = next(filter(None, (_granted(cluster, binding, principal, asked) for binding in bindings)), None)
    return Decision(allowed=granted is not None, reason=granted or "")


def forbidden(principal: Principal, asked: Attributes) -> ApiError:
    """The refusal in the server's own words."""
    if asked.path:
        text = f'forbidden: User "{principal.username}" cannot {asked.verb} path "{asked.path}"'
        return ApiError(403, "Forbidden", text, {})
    kind = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
    subject = f'{kind} "{asked.name}"' if asked.name else kind
    place = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    text = (
        f'{subject} is forbidden: User "{principal.username}" cannot {asked.verb} resource "{asked.full_resource}" '
        f'in API group "{asked.group}" {place}'
    )
    details = {
        **({"name": asked.name} if asked.name else {}),
        **({"group": asked.group} if asked.group else {}),
        "kind": asked.resource,
    }
    return ApiError(403, "Forbidden", text, details)


def scoped_rules(*, read_only: bool) -> list[Json]:
    """What the agent's account may do in a namespace of its scope; roles and bindings it only reads."""
    groups = sorted({row.group for row in RESOURCE_TYPES if row.namespaced} - {RBAC_GROUP})
    # The verbs are listed because "*" would also allow to impersonate the namespace's service accounts.
    verbs = [*READ_VERBS] if read_only else [*READ_VERBS, *WRITE_VERBS]
    return [
        {"apiGroups": groups, "resources": ["*"], "verbs": verbs},
        {"apiGroups": [RBAC_GROUP], "resources": ["*"], "verbs": list(READ_VERBS)},
    ]


def cluster_rules() -> list[Json]:
    """What the agent's account may do outside every namespace: look at namespaces and nodes."""
    plurals = [BY_NOUN[noun].plural for noun in ("namespace", "node")]
    return [{"apiGroups": [""], "resources": plurals, "verbs": list(READ_VERBS)}]


def _decide_path(asked: Attributes, *, authenticated: bool) -> Decision:
    """Everyone may ask for health and version, every account also for discovery."""
    paths = _PUBLIC_PATHS if authenticated else _UNAUTHENTICATED_PATHS
    if asked.verb != "get" or not any(asked.path == path or asked.path.startswith(f"{path}/") for path in paths):
        return Decision(allowed=False)
    group = AUTHENTICATED if authenticated else UNAUTHENTICATED
    return Decision(allowed=True, reason=f'{_DISCOVERY} to Group "{group}"')


def _granted(cluster: Cluster, binding: Mapping[str, Any], principal: Principal, asked: Attributes) -> str | None:
    """The reason by which a binding allows the request, or None."""
    subject = next((row for row in binding.get("subjects") or () if _is_subject(row, binding, principal)), None)
    if subject is None:
        return None
    reference = binding.get("roleRef") or {}
    kind, name = reference.get("kind", ""), reference.get("name", "")
    namespace = binding["metadata"].get("namespace", "")
    role = cluster.get("clusterrole", "", name) if kind == "ClusterRole" else cluster.get("role", namespace, name)
    if role is None or not any(_allows(rule, asked) for rule in role.get("rules") or ()):
        return None
    shown = f"{binding['metadata']['name']}/{namespace}" if namespace else binding["metadata"]["name"]
    who = (
        f"{subject['name']}/{subject.get('namespace', '')}" if subject["kind"] == "ServiceAccount" else subject["name"]
    )
    return f'RBAC: allowed by {binding["kind"]} "{shown}" of {kind} "{name}" to {subject["kind"]} "{who}"'


def _is_subject(row: Mapping[str, Any], binding: Mapping[str, Any], principal: Principal) -> bool:
    kind, name = row.get("kind"), row.get("name", "")
    if kind == "ServiceAccount":
        namespace = row.get("namespace") or binding["metadata"].get("namespace", "")
        return bool(principal.username == f"system:serviceaccount:{namespace}:{name}")
    return bool(name == principal.username) if kind == "User" else kind == "Group" and name in principal.groups


def _allows(rule: Mapping[str, Any], asked: Attributes) -> bool:
    return (
        _covers(rule.get("verbs"), (asked.verb,))
        and _covers(rule.get("apiGroups"), (asked.group,))
        and _covers(rule.get("resources"), (asked.full_resource, f"*/{asked.subresource}"))
        and (not rule.get("resourceNames") or asked.name in rule["resourceNames"])
    )


def _covers(listed: Iterable[str] | None, wanted: tuple[str, ...]) -> bool:
    names = tuple(listed or ())
    return "*" in names or any(name in names for name in wanted)
