"""Role-based access control over the cluster's own roles and bindings, and the refusal in the server's words."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kubesim.access.principal import MASTERS, Principal, username_of
from kubesim.bodies.go_text import go_quote
from kubesim.status import ApiError, Json
from kubesim.store import Store

RBAC_GROUP = "rbac.authorization.k8s.io"
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

_VERB = re.compile(r"%[-+# 0]*[0-9]*(?:\.[0-9]*)?(.?)", re.DOTALL)

Rule = Mapping[str, Any]


class Attributes(NamedTuple):
    """What a request asks for, as far as authorization is concerned."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    """Set instead of all others, for a path that is not a resource."""

    @property
    def full_resource(self) -> str:
        """The resource with its subresource, as rules name it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


class Decision(NamedTuple):
    """Whether a request may go on, and by which binding."""

    allowed: bool
    reason: str = ""


class Grant(NamedTuple):
    """The rules that one binding gives to an account; `missing` when its role does not exist."""

    binding: Json
    subject: Rule
    rules: Sequence[Rule]
    missing: str = ""

    def __str__(self) -> str:
        """The grant as quoted in the reason of a decision."""
        metadata, role = self.binding["metadata"], self.binding["roleRef"]
        namespace = metadata.get("namespace", "")
        kind, place = ("RoleBinding", f"/{namespace}") if namespace else ("ClusterRoleBinding", "")
        who = str(self.subject["name"])
        if self.subject["kind"] == "ServiceAccount":
            who += f"/{self.subject.get('namespace') or namespace}"
        return (
            f"{kind} {go_quote(metadata['name'] + place)} of {role['kind']} {go_quote(role['name'])} "
            f"to {self.subject['kind']} {go_quote(who)}"
        )


_MASTER = Decision(allowed=True)
_REMEMBERED = 512


_RIGHTS = ("clusterrole", "clusterrolebinding", "role", "rolebinding")
_Decisions = dict[tuple[Principal, Attributes], Decision]


_Bound = Sequence[tuple[Json, Rule]]


def decide(store: Store, principal: Principal, asked: Attributes) -> Decision:
    """Role-based access control as in Kubernetes: some binding of the account must have a rule that matches."""
    if MASTERS in principal.groups:
        return _MASTER
    # Clients ask for the same things again and again, and only these objects change the answer.
    known: _Decisions = store.known_results(_decide_by_rules, *_RIGHTS)
    key = (principal, asked)
    decision = known.get(key)
    if decision is None:
        if len(known) >= _REMEMBERED:
            known.clear()
        decision = known[key] = _decide_by_rules(store, principal, asked)
    return decision


def _decide_by_rules(store: Store, principal: Principal, asked: Attributes) -> Decision:
    missing = []
    for grant in grants(store, principal, asked.namespace):
        for rule in grant.rules:
            if allows(rule, asked):
                return Decision(allowed=True, reason=f"RBAC: allowed by {grant}")
        if grant.missing:
            missing.append(grant.missing)
    return Decision(allowed=False, reason=f"RBAC: {aggregate_errors(missing)}" if missing else "")


def grants(store: Store, principal: Principal, namespace: str) -> Sequence[Grant]:
    """What the bindings of the whole cluster, then those of the namespace, give to an account."""
    known: dict[tuple[Principal, str], Sequence[Grant]] = store.known_results(grants, *_RIGHTS)
    key = (principal, namespace)
    if key not in known:
        if len(known) >= _REMEMBERED:
            known.clear()
        inside = _grants(store, "rolebinding", principal, namespace) if namespace else ()
        known[key] = (*_grants(store, "clusterrolebinding", principal, ""), *inside)
    return known[key]


def rules_of_role(store: Store, reference: Mapping[str, Any], namespace: str) -> Sequence[Rule] | None:
    """The rules of the role that a binding refers to; None when there is no such role."""
    kind, name = reference.get("kind"), reference.get("name", "")
    place = ("clusterrole", "", name) if kind == "ClusterRole" else ("role", namespace, name)
    role = store.content(*place)
    return None if role is None else role.get("rules") or ()


def allows(rule: Rule, asked: Attributes) -> bool:
    """Whether a rule matches what is asked."""
    verbs = rule.get("verbs") or ()
    if asked.verb not in verbs and "*" not in verbs:
        return False
    if asked.path:
        return any(covers_path(path, asked.path) for path in rule.get("nonResourceURLs") or ())
    groups, resources, names = (rule.get(key) or () for key in ("apiGroups", "resources", "resourceNames"))
    return (
        (asked.group in groups or "*" in groups)
        and ("*" in resources or asked.full_resource in resources
             or (bool(asked.subresource) and f"*/{asked.subresource}" in resources))
        and (not names or asked.name in names)
    )  # fmt: skip


def covers_path(pattern: str, path: str) -> bool:
    """Whether a path is the one that a rule names, or begins with it when the rule ends in a star."""
    return pattern == path or (pattern.endswith("*") and path.startswith(pattern.rstrip("*")))


def forbidden(principal: Principal, asked: Attributes, reason: str = "") -> ApiError:
    """The refusal in the server's own words."""
    user, verb = go_quote(principal.username), asked.verb
    if asked.path:
        what = f"path {go_quote(asked.path)}"
    else:
        place = f"in the namespace {go_quote(asked.namespace)}" if asked.namespace else "at the cluster scope"
        what = f"resource {go_quote(asked.full_resource)} in API group {go_quote(asked.group)} {place}"
    text = _go_formatted(f"User {user} cannot {verb} {what}".translate(_HTML) + (f": {reason}" if reason else ""))
    return refusal(asked.group, asked.resource, asked.name, text)


def refusal(group: str, resource: str, name: str, text: str) -> ApiError:
    """A 403 about an object, a resource, or something without a name."""
    kind = f"{resource}.{group}" if group else resource
    # The server never quotes an object without its resource.
    subject = f"{kind} {go_quote(name)} is " if name else f"{kind} is " if kind else ""
    details = {
        **({"name": name} if name else {}),
        **({"group": group} if group else {}),
        **({"kind": resource} if resource else {}),
    }
    return ApiError(403, "Forbidden", f"{subject}forbidden: {text}", details)


def _go_formatted(text: str) -> str:
    """The text after Go uses it as a format string without arguments, as the server does here."""
    if "%" not in text:
        return text
    return _VERB.sub(lambda found: {"": "%!(NOVERB)", "%": "%"}.get(found[1], f"%!{found[1]}(MISSING)"), text)


def aggregate_errors(messages: Iterable[str]) -> str:
    """Several errors as one text; duplicates appear once."""
    distinct = list(dict.fromkeys(messages))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def _matching_bindings(bindings: Iterable[Json], principal: Principal, namespace: str) -> _Bound:
    """The bindings of a namespace that name the account, in their order, each with the subject that does."""
    found = []
    for binding in bindings:
        for subject in binding.get("subjects") or ():
            if _applies(subject, principal, namespace):
                found.append((binding, subject))
                break
    return found


def _grants(store: Store, noun: str, principal: Principal, namespace: str) -> Iterator[Grant]:
    known: dict[tuple[Principal, str], _Bound] = store.known_results(_matching_bindings, noun)
    key = (principal, namespace)
    if key not in known:
        if len(known) >= _REMEMBERED:
            known.clear()
        known[key] = _matching_bindings(store.contents(noun, namespace), principal, namespace)
    for binding, subject in known[key]:
        role = binding["roleRef"]
        rules = rules_of_role(store, role, namespace)
        absent = f"{role['kind'].lower()}.{RBAC_GROUP} {go_quote(role['name'])} not found" if rules is None else ""
        yield Grant(binding, subject, rules or (), absent)


def _applies(subject: Rule, principal: Principal, namespace: str) -> bool:
    kind, name = subject.get("kind"), subject.get("name", "")
    if kind == "Group":
        return name in principal.groups
    if kind == "ServiceAccount":
        return principal.username == username_of(subject.get("namespace") or namespace, name)
    return kind == "User" and principal.username == name
