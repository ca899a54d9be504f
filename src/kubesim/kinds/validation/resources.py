"""What the server refuses in names and quantities of compute resources."""

from collections.abc import Mapping

from kubesim.kinds.validation.fields import (
    NEGATIVE_WORDS,
    all_invalid,
    forbidden,
    invalid,
    required,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.names import qualified_name_problems
from kubesim.status import Cause, Json
from kubesim.types.quantity import quantity

_COUNTED = frozenset({
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers",
})  # fmt: skip
_CONTAINER = frozenset({"cpu", "memory", "ephemeral-storage"})
_QUOTA = _COUNTED | _CONTAINER | {
    "requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage", "limits.cpu",
    "limits.memory", "limits.ephemeral-storage",
}  # fmt: skip
_STANDARD = _QUOTA | {"storage"}
_HUGE_PAGES = "hugepages-"


def amount(text: str) -> int:
    """A quantity as a number of billionths, for comparing and adding; an unreadable one is zero."""
    return quantity(text).nanos


def is_huge_pages(name: str) -> bool:
    """Whether it is a size of huge pages."""
    return name.startswith(_HUGE_PAGES)


def is_native(name: str) -> bool:
    """Whether the name belongs to Kubernetes itself."""
    return "/" not in name or "kubernetes.io/" in name


def is_overcommit_allowed(name: str) -> bool:
    """Whether more of it can be promised than exists, so that a limit may exceed the request."""
    return is_native(name) and not is_huge_pages(name)


def _is_quota_huge_pages(name: str) -> bool:
    return is_huge_pages(name) or name.startswith("requests.hugepages-")


def is_extended(name: str) -> bool:
    """Whether it is a resource that a device plugin provides."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not qualified_name_problems(f"requests.{name}")


def is_standard_quota_name(name: str) -> bool:
    """Whether a quota can name it without a domain."""
    return name in _QUOTA or _is_quota_huge_pages(name)


def resource_name_causes(name: str, path: str) -> list[Cause]:
    """The name of any resource."""
    causes = all_invalid(path, name, qualified_name_problems(name))
    if not causes and "/" not in name and name not in _STANDARD and not _is_quota_huge_pages(name):
        causes.append(invalid(path, name, "must be a standard resource type or fully qualified"))
    return causes


def container_resource_name_causes(name: str, path: str) -> list[Cause]:
    """The name of a resource that a container can request."""
    causes = resource_name_causes(name, path)
    if "/" not in name:
        if name not in _CONTAINER and not is_huge_pages(name):
            causes.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        causes.append(invalid(path, name, "doesn't follow extended resource name standard"))
    return causes


def quota_resource_name_causes(name: str, path: str) -> list[Cause]:
    """The name of a resource that a quota can limit."""
    causes = resource_name_causes(name, path)
    if "/" not in name and not is_standard_quota_name(name):
        causes.append(invalid(path, name, "must be a standard resource for quota"))
    return causes


def quantity_causes(name: str, given: str, path: str) -> list[Cause]:
    """An amount of a resource: never negative, and whole if the resource is counted."""
    value = quantity(given)
    causes = [invalid(path, given, NEGATIVE_WORDS)] if value.nanos < 0 else []
    if (name in _COUNTED or is_extended(name)) and value.milli % 1000:
        causes.append(invalid(path, GoValue("resource.Quantity", given), "must be an integer"))
    return causes


def requirements_causes(requirements: Json | None, path: str) -> list[Cause]:
    """The requests and limits of a container."""
    limits: Mapping[str, str] = (requirements or {}).get("limits") or {}
    requests: Mapping[str, str] = (requirements or {}).get("requests") or {}
    causes: list[Cause] = []
    for name, given in limits.items():
        place = f"{path}.limits[{name}]"
        causes += [*container_resource_name_causes(name, place), *quantity_causes(name, given, place)]
    for name, given in requests.items():
        place = f"{path}.requests[{name}]"
        causes += [*container_resource_name_causes(name, place), *quantity_causes(name, given, place)]
        causes += _request_causes(name, given, limits.get(name), path)
    names = {*limits, *requests}
    if any(is_huge_pages(name) for name in names) and not names & {"cpu", "memory"}:
        causes.append(forbidden(path, "HugePages require cpu or memory"))
    return causes


def _request_causes(name: str, request: str, limit: str | None, path: str) -> list[Cause]:
    if limit is None:
        if is_overcommit_allowed(name):
            return []
        return [required(f"{path}.limits", "Limit must be set for non overcommitable resources")]
    if amount(request) != amount(limit) and not is_overcommit_allowed(name):
        return [invalid(f"{path}.requests", request, f"must be equal to {name} limit")]
    if amount(request) > amount(limit):
        return [invalid(f"{path}.requests", request, f"must be less than or equal to {name} limit of {limit}")]
    return []
