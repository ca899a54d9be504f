"""Which served versions of the API are deprecated, and what the server says to those who use them."""

from dataclasses import dataclass

from kubesim.resource import ResourceType

_REMOVED = 22
_SINCE = {
    ("admissionregistration.k8s.io", "v1beta1"): 16,
    ("apiextensions.k8s.io", "v1beta1"): 16,
    ("apiregistration.k8s.io", "v1beta1"): 19,
    ("authentication.k8s.io", "v1beta1"): 19,
    ("authorization.k8s.io", "v1beta1"): 19,
    ("certificates.k8s.io", "v1beta1"): 19,
    ("coordination.k8s.io", "v1beta1"): 19,
    ("extensions", "v1beta1"): 14,
    ("networking.k8s.io", "v1beta1"): 19,
    ("rbac.authorization.k8s.io", "v1beta1"): 17,
    ("scheduling.k8s.io", "v1beta1"): 14,
    ("storage.k8s.io", "v1beta1"): 19,
}
"""The release since which a version is deprecated in favour of v1."""
_EARLIER = {"CSINode": 17}
_MOVED = {"extensions": "networking.k8s.io"}
_MISNAMED = {"IngressClass": "IngressClassList"}
_CORE = {"ComponentStatus": (19, ""), "Endpoints": (33, "discovery.k8s.io/v1 EndpointSlice")}


@dataclass(frozen=True, slots=True)
class Deprecation:
    """The server's notice about a deprecated resource; `removed` is empty if it is to stay."""

    warning: str
    removed: str


def deprecation(row: ResourceType, minor: int) -> Deprecation | None:
    """The deprecation of a resource in a release; None when it is not deprecated."""
    if not row.group:
        since, replacement = _CORE.get(row.kind, (minor + 1, ""))
        if minor < since:
            return None
        use = f"; use {replacement}" if replacement else ""
        return Deprecation(f"v1 {row.kind} is deprecated in v1.{since}+{use}", "")
    known = _SINCE.get((row.group, row.version))
    since = _EARLIER.get(row.kind, known or 0)
    if known is None or minor < since:
        return None
    replacement = f"{_MOVED.get(row.group, row.group)}/v1 {_MISNAMED.get(row.kind, row.kind)}"
    text = (
        f"{row.api_version} {row.kind} is deprecated in v1.{since}+, unavailable in v1.{_REMOVED}+; use {replacement}"
    )
    return Deprecation(text, f"1.{_REMOVED}")
