"""What the server refuses in roles and bindings."""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import all_invalid, invalid, not_supported, required
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import (
    metadata_causes,
    metadata_update_causes,
    selector_causes,
)
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.names import dns_subdomain_problems, path_segment_problems
from kubesim.selection import is_selector
from kubesim.status import Cause, Json

_GROUP = "rbac.authorization.k8s.io"
_REFERENCED = {"rolebinding": ["Role", "ClusterRole"], "clusterrolebinding": ["ClusterRole"]}
_SUBJECTS = ["ServiceAccount", "User", "Group"]


def _role(row: Resource, obj: Json) -> list[Cause]:
    causes = metadata_causes(row, obj["metadata"], namespaced=row.namespaced)
    for index, rule in enumerate(obj.get("rules") or ()):
        causes += _rule_causes(rule, f"rules[{index}]", namespaced=row.namespaced)
    return [*causes, *_aggregation_causes(obj.get("aggregationRule"))]


def _rule_causes(rule: Json, path: str, *, namespaced: bool) -> list[Cause]:
    causes = [] if rule.get("verbs") else [required(f"{path}.verbs", "verbs must contain at least one value")]
    if urls := rule.get("nonResourceURLs"):
        place = f"{path}.nonResourceURLs"
        if namespaced:
            causes.append(invalid(place, urls, "namespaced rules cannot apply to non-resource URLs"))
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            words = "rules cannot apply to both regular resources and non-resource URLs"
            causes.append(invalid(place, urls, words))
        return causes
    if not rule.get("apiGroups"):
        causes.append(required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        causes.append(required(f"{path}.resources", "resource rules must supply at least one resource"))
    return causes


def _aggregation_causes(rule: Json | None) -> list[Cause]:
    if rule is None:
        return []
    path, selectors = "aggregationRule.clusterRoleSelectors", rule.get("clusterRoleSelectors")
    if not selectors:
        return [required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")]
    causes = []
    for index, selector in enumerate(selectors):
        causes += selector_causes(selector, f"{path}[{index}]")
        if not is_selector(selector):  # the server shows the selector that it could not make
            causes.append(invalid(f"{path}[{index}]", None, "invalid label selector."))
    return causes


def _binding(row: Resource, obj: Json) -> list[Cause]:
    causes = metadata_causes(row, obj["metadata"], namespaced=row.namespaced)
    reference = obj.get("roleRef") or {}
    group, kind, name = (reference.get(field, "") for field in ("apiGroup", "kind", "name"))
    if group != _GROUP:
        causes.append(not_supported("roleRef.apiGroup", group, [_GROUP]))
    if kind not in _REFERENCED[row.noun]:
        causes.append(not_supported("roleRef.kind", kind, _REFERENCED[row.noun]))
    causes += all_invalid("roleRef.name", name, path_segment_problems(name)) if name else [required("roleRef.name")]
    for index, subject in enumerate(obj.get("subjects") or ()):
        causes += _subject_causes(subject, f"subjects[{index}]", namespaced=row.namespaced)
    return causes


def _subject_causes(subject: Json, path: str, *, namespaced: bool) -> list[Cause]:
    kind, name, group = (subject.get(field, "") for field in ("kind", "name", "apiGroup"))
    causes = [] if name else [required(f"{path}.name")]
    if kind == "ServiceAccount":
        if name:
            causes += all_invalid(f"{path}.name", name, dns_subdomain_problems(name))
        if group:
            causes.append(not_supported(f"{path}.apiGroup", group, [""]))
        if not namespaced and not subject.get("namespace"):
            causes.append(required(f"{path}.namespace"))
    elif kind not in _SUBJECTS:
        causes.append(not_supported(f"{path}.kind", kind, _SUBJECTS))
    elif group != _GROUP:
        causes.append(not_supported(f"{path}.apiGroup", group, [_GROUP]))
    return causes


def _role_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    """The server checks the rules of a changed role or binding twice."""
    return [*_role(row, new), *_role(row, new), *metadata_update_causes(new["metadata"], old["metadata"])]


def _binding_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    causes = [*_binding(row, new), *_binding(row, new), *metadata_update_causes(new["metadata"], old["metadata"])]
    reference, given = (GoValue("rbac.RoleRef", obj.get("roleRef") or {}) for obj in (new, old))
    return causes if reference == given else [*causes, invalid("roleRef", reference, "cannot change roleRef")]


CREATION: dict[str, CreationRule] = {
    "role": _role,
    "clusterrole": _role,
    "rolebinding": _binding,
    "clusterrolebinding": _binding,
}
UPDATE: dict[str, UpdateRule] = {
    "role": _role_update,
    "clusterrole": _role_update,
    "rolebinding": _binding_update,
    "clusterrolebinding": _binding_update,
}
