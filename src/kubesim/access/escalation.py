"""Nobody gives away rights that they do not have: the checks on new and changed roles and bindings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubesim.access.principal import MASTERS, Principal
from kubesim.access.rbac import (
    RBAC_GROUP,
    Attributes,
    Rule,
    aggregate_errors,
    covers_path,
    decide,
    grants,
    refusal,
    rules_of_role,
)
from kubesim.bodies.go_text import go_quote
from kubesim.discovery.catalogue import Resource
from kubesim.resource import ResourceType
from kubesim.status import ApiError, Json, internal_error
from kubesim.store import Store

_ROLES = frozenset({"role", "clusterrole"})
_BINDINGS = frozenset({"rolebinding", "clusterrolebinding"})
_PLURALS = {"Role": "roles", "ClusterRole": "clusterroles"}
_BINDING_NAMED_SINCE = 34
"""The first release known to name the binding's own type when its role does not exist."""
_COLLECTED = ("ownerReferences", "finalizers", "managedFields", "selfLink")
_FULL_AUTHORITY: Sequence[Rule] = (
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
)
_NAMES = {"apiGroups": "APIGroups", "resources": "Resources", "nonResourceURLs": "NonResourceURLs",
          "resourceNames": "ResourceNames", "verbs": "Verbs"}  # fmt: skip


def require_no_escalation(
    store: Store, principal: Principal, resource: Resource, obj: Json, old: Json | None, *,
    namespace: str = "", name: str = "",
) -> None:  # fmt: skip
    """Raise 403 when a role or binding would give rights beyond its author's, 404 when its role is unknown.

    The server checks this before it validates the object or compares versions. `namespace` and `name` are those of the
    request path: a new object has no name there. Other types pass.
    """
    if resource.noun not in _ROLES | _BINDINGS or MASTERS in principal.groups:
        return
    if old is not None and _only_changes_for_collection(obj, old):
        return
    if resource.noun in _ROLES:
        asked = Attributes("escalate", RBAC_GROUP, resource.plural, namespace=namespace, name=name)
        if not decide(store, principal, asked).allowed:
            _require_role(store, principal, resource, obj, old, namespace)
        return
    role = obj.get("roleRef") or {}
    kind, referred = role.get("kind", ""), role.get("name", "")
    if kind not in _PLURALS:
        raise internal_error(f"unsupported role reference kind: {go_quote(kind)}")
    plural = _PLURALS[kind]
    asked = Attributes("bind", role.get("apiGroup", ""), plural, namespace=namespace, name=referred)
    if decide(store, principal, asked).allowed:
        return
    rules = rules_of_role(store, role, namespace)
    if rules is None:
        missed = resource.plural if resource.minor >= _BINDING_NAMED_SINCE else plural
        details = {"name": referred, "group": RBAC_GROUP, "kind": missed}
        raise ApiError(404, "NotFound", f"{missed}.{RBAC_GROUP} {go_quote(referred)} not found", details)
    if problem := _escalation(store, principal, namespace, rules):
        raise refusal(RBAC_GROUP, resource.plural, obj["metadata"].get("name", ""), problem)


def _require_role(
    store: Store, principal: Principal, resource: ResourceType, obj: Json, old: Json | None, namespace: str
) -> None:
    problem = _escalation(store, principal, namespace, obj.get("rules") or ())
    # An aggregation rule can gather anything.
    gathers = _aggregates(obj) or (old is not None and _aggregates(old))
    if not problem and gathers and _escalation(store, principal, namespace, _FULL_AUTHORITY):
        problem = "must have cluster-admin privileges to use the aggregationRule"
    if problem:
        raise refusal(RBAC_GROUP, resource.plural, obj["metadata"].get("name", ""), problem)


def _aggregates(role: Mapping[str, Any]) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _escalation(store: Store, principal: Principal, namespace: str, rules: Sequence[Rule]) -> str:
    """Why an account may not give these rules away; empty when it has all of them itself."""
    own: list[Rule] = []
    missing_roles = []
    for grant in grants(store, principal, namespace):
        own += grant.rules
        if grant.missing:
            missing_roles.append(grant.missing.replace(f".{RBAC_GROUP}", f"s.{RBAC_GROUP}", 1))
    lacking = [part for rule in rules for part in _parts(rule) if not any(_covers(mine, part) for mine in own)]
    if not lacking:
        return ""
    groups = " ".join(go_quote(group) for group in principal.groups)
    listed = "\n".join(sorted({_rule_text(rule) for rule in _compact_rules(lacking)}))
    text = (
        f"user {go_quote(principal.username)} (groups=[{groups}]) is attempting to grant RBAC permissions not "
        f"currently held:\n{listed}"
    )
    return f"{text}; resolution errors: [{aggregate_errors(missing_roles)}]" if missing_roles else text


def _parts(rule: Rule) -> Iterator[Json]:
    """The rule split up: one verb on one resource or path each."""
    verbs = rule.get("verbs") or ()
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            for verb in verbs:
                part: Json = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                names = rule.get("resourceNames") or ()
                yield from ({**part, "resourceNames": [name]} for name in names) if names else (part,)
    for path in rule.get("nonResourceURLs") or ():
        yield from ({"nonResourceURLs": [path], "verbs": [verb]} for verb in verbs)


def _covers(mine: Rule, part: Json) -> bool:
    verbs, groups, resources = (mine.get(key) or () for key in ("verbs", "apiGroups", "resources"))
    names, paths = mine.get("resourceNames") or (), mine.get("nonResourceURLs") or ()
    return (
        ("*" in verbs or part["verbs"][0] in verbs)
        and all("*" in groups or group in groups for group in part.get("apiGroups", ()))
        and all(_covers_resource(resources, resource) for resource in part.get("resources", ()))
        and (not names or ("resourceNames" in part and part["resourceNames"][0] in names))
        and all(any(covers_path(pattern, path) for pattern in paths) for path in part.get("nonResourceURLs", ()))
    )


def _covers_resource(resources: Sequence[str], resource: str) -> bool:
    _, slash, subresource = resource.partition("/")
    return "*" in resources or resource in resources or bool(slash and f"*/{subresource}" in resources)


def _compact_rules(parts: Sequence[Json]) -> Iterator[Json]:
    """Merge parts that differ only by their verb."""
    together: dict[tuple[str, ...], Json] = {}
    for part in parts:
        if "nonResourceURLs" in part:
            yield part
            continue
        key = (part["apiGroups"][0], part["resources"][0], *part.get("resourceNames", ()))
        known = together.setdefault(key, {**part, "verbs": []})
        known["verbs"].append(part["verbs"][0])
    yield from together.values()


def _rule_text(rule: Json) -> str:
    lists = ((label, rule[key]) for key, label in _NAMES.items() if rule.get(key))
    return "{" + ", ".join(f"{label}:[{' '.join(go_quote(name) for name in names)}]" for label, names in lists) + "}"


def _only_changes_for_collection(obj: Json, old: Json) -> bool:
    """Whether nothing changes except what the garbage collector writes."""

    def without_collected(document: Json) -> Json:
        metadata = {key: value for key, value in document["metadata"].items() if key not in _COLLECTED}
        return {**document, "metadata": metadata}

    return without_collected(obj) == without_collected(old)
