"""The quotas of a namespace: what an object uses, and whether there is room for it.

A quota counts once its status says how much is allowed, which is a controller's job.
"""

from collections.abc import Collection, Mapping
from typing import Any

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.admission.classes import storage_class_of
from kubesim.kinds.admission.refusal import admission_refusal
from kubesim.kinds.validation.quality import qos_class
from kubesim.kinds.validation.resources import is_extended, is_huge_pages, is_native
from kubesim.status import Json
from kubesim.store import Store
from kubesim.types.quantity import Quantity, quantity

_COMPUTE = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
_POD = _COMPUTE | {
    "pods", "count/pods", "ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage",
}  # fmt: skip
_CLASS_MARK = ".storageclass.storage.k8s.io/"
_COUNTED_BY_NAME = frozenset({"configmaps", "resourcequotas", "replicationcontrollers", "secrets"})
Usage = dict[str, Quantity]


def charge_quotas(store: Store, resource: Resource, obj: Json, old: Json | None) -> list[tuple[Json, Json]]:
    """The quotas that a write changes, each before and after; raise 403 when one has no room."""
    namespace = obj["metadata"].get("namespace", "")
    found = [item for item in store.items("resourcequota", namespace) if (item.get("status") or {}).get("hard")]
    if not found or (old is not None and resource.noun not in {"service", "pvc"}):
        return []
    pertinent = []
    for item in found:
        names = matching_names(resource, item["status"]["hard"])
        if not names or not _in_scope(resource, item, obj):
            continue
        missing = _unstated_requests(resource, obj, names)
        if missing:
            why = f"failed quota: {item['metadata']['name']}: must specify {','.join(missing)}"
            raise admission_refusal(resource, obj, why)
        unknown = [name for name in names if name not in (item["status"].get("used") or {})]
        if unknown:
            why = f"status unknown for quota: {item['metadata']['name']}, resources: {','.join(sorted(names))}"
            raise admission_refusal(resource, obj, why)
        pertinent.append(item)
    before = usage(resource, old) if old is not None else {}
    asked = {
        name: value - before[name] if name in before else value
        for name, value in usage(resource, obj).items()
        if value > before.get(name, Quantity(0))
    }
    return [(item, _charge_quota(resource, obj, item, asked)) for item in pertinent] if asked else []


def _charge_quota(resource: Resource, obj: Json, quota: Json, asked: Usage) -> Json:
    status = quota["status"]
    hard, used = status["hard"], status.get("used") or {}
    wanted = {name: value for name, value in asked.items() if name in hard}
    after = {name: quantity(used.get(name, "0")) + value for name, value in wanted.items()}
    exceeded = sorted(name for name, value in after.items() if value > quantity(hard[name]))
    if exceeded:
        requested, usual, limited = (
            ",".join(f"{name}={values.get(name, '0')}" for name in exceeded) for values in (wanted, used, hard)
        )
        name = quota["metadata"]["name"]
        why = f"exceeded quota: {name}, requested: {requested}, used: {usual}, limited: {limited}"
        raise admission_refusal(resource, obj, why)
    return {**quota, "status": {**status, "used": {**used, **{name: str(value) for name, value in after.items()}}}}


def usage(resource: Resource, obj: Mapping[str, Any]) -> Usage:
    """How much of what quotas count an object uses."""
    plural = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    result = {f"count/{plural}": Quantity(1)}
    spec = obj.get("spec") or {}
    if resource.noun == "pod":
        ended = (obj.get("status") or {}).get("phase") in {"Failed", "Succeeded"}
        return result if ended else result | _pod_usage(spec)
    if resource.noun == "service":
        ports = Quantity(len(spec.get("ports") or ()))
        result["services"] = Quantity(1)
        if spec.get("type") in {"NodePort", "LoadBalancer"}:
            result["services.nodeports"] = ports
        if spec.get("type") == "LoadBalancer":
            result["services.loadbalancers"] = Quantity(1)
    if resource.noun == "pvc":
        result["persistentvolumeclaims"] = Quantity(1)
        storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
        if storage:
            result["requests.storage"] = quantity(storage)
        name = storage_class_of(dict(obj))
        if name:
            result |= {
                f"{name}{_CLASS_MARK}{key}": value for key, value in result.items() if not key.startswith("count/")
            }
    if not resource.group and resource.plural in _COUNTED_BY_NAME:
        result[resource.plural] = Quantity(1)
    return result


def _pod_usage(spec: Mapping[str, Any]) -> Usage:
    requests, limits = (_total(spec, part) for part in ("requests", "limits"))
    return {"pods": Quantity(1), **_named_usage(requests, limits)}


def _total(spec: Mapping[str, Any], part: str) -> Usage:
    total: Usage = {}
    for container in spec.get("containers") or ():
        for name, value in ((container.get("resources") or {}).get(part) or {}).items():
            total[name] = total[name] + quantity(value) if name in total else quantity(value)
    for container in spec.get("initContainers") or ():
        for name, value in ((container.get("resources") or {}).get(part) or {}).items():
            total[name] = max(total.get(name, Quantity(0)), quantity(value))
    return total


def _named_usage(requests: Usage, limits: Usage) -> Usage:
    result: Usage = {}
    for name in ("cpu", "memory", "ephemeral-storage"):
        if name in requests:
            result |= {name: requests[name], f"requests.{name}": requests[name]}
        if name in limits:
            result[f"limits.{name}"] = limits[name]
    for name, value in requests.items():
        if is_huge_pages(name):
            result |= {name: value, f"requests.{name}": value}
        elif is_extended(name):
            result[f"requests.{name}"] = value
    return result


def matching_names(resource: Resource, names: Collection[str]) -> list[str]:
    """Those of a quota's resources that objects of the type can use."""
    if resource.noun == "pod":
        return [
            name
            for name in names
            if name in _POD
            or name.startswith(("hugepages-", "requests.hugepages-"))
            or (not is_native(name) and name.startswith("requests."))
        ]
    known = {*usage(resource, {"metadata": {}})}
    if resource.noun == "service":
        known |= {"services.nodeports", "services.loadbalancers"}
    if resource.noun == "pvc":
        known.add("requests.storage")
        marks = tuple(f"{_CLASS_MARK}{name}" for name in ("persistentvolumeclaims", "requests.storage"))
        return [name for name in names if name in known or name.endswith(marks)]
    return [name for name in names if name in known]


def _unstated_requests(resource: Resource, obj: Json, names: Collection[str]) -> list[str]:
    """What every container must request because a quota counts it."""
    if resource.noun != "pod":
        return []
    needed = _COMPUTE & {*names}
    missing: set[str] = set()
    spec = obj.get("spec") or {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        requests, limits = (
            {name: quantity(value) for name, value in (resources.get(part) or {}).items()}
            for part in ("requests", "limits")
        )
        missing |= needed - {*_named_usage(requests, limits)}
    return sorted(missing)


def _in_scope(resource: Resource, quota: Json, obj: Json) -> bool:
    spec = quota.get("spec") or {}
    rows = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    rows += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    return all(resource.noun == "pod" and _matches(row, obj.get("spec") or {}) for row in rows)


def _matches(row: Json, spec: Json) -> bool:
    scope = row.get("scopeName")
    if scope in {"Terminating", "NotTerminating"}:
        return (spec.get("activeDeadlineSeconds", -1) >= 0) is (scope == "Terminating")
    if scope in {"BestEffort", "NotBestEffort"}:
        return (qos_class(spec) == "BestEffort") is (scope == "BestEffort")
    name, operator, values = spec.get("priorityClassName", ""), row.get("operator"), row.get("values") or ()
    if scope != "PriorityClass":
        return False
    if operator in {"Exists", "DoesNotExist"}:
        return bool(name) is (operator == "Exists")
    return (name in values) is (operator == "In")
