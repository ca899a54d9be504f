"""Seccomp profiles of a pod in both places where clients look for them: annotations and fields."""

from kubesim.kinds.validation.security import SECCOMP_CONTAINER, SECCOMP_POD
from kubesim.status import Json

_BY_TYPE = {"RuntimeDefault": "runtime/default", "Unconfined": "unconfined"}
_BY_ANNOTATION = {
    "runtime/default": "RuntimeDefault", "docker/default": "RuntimeDefault", "unconfined": "Unconfined",
}  # fmt: skip
_LOCAL = "localhost/"


def with_agreeing_profiles(pod: Json) -> Json:
    """`pod` with each profile that it has in one place added in the other."""
    annotations = dict(pod["metadata"].get("annotations") or {})
    spec = pod.get("spec") or {}
    if not any(key.startswith((SECCOMP_POD, SECCOMP_CONTAINER)) for key in annotations) and not _has_profile(spec):
        return pod
    spec = _agree_profile(spec, SECCOMP_POD, annotations)
    for field in ("initContainers", "containers"):
        if field in spec:
            spec = {
                **spec,
                field: [
                    _agree_profile(item, f"{SECCOMP_CONTAINER}{item.get('name', '')}", annotations)
                    for item in spec[field]
                ],
            }
    metadata = {**pod["metadata"], "annotations": annotations} if annotations else pod["metadata"]
    return {**pod, "metadata": metadata, "spec": spec}


def _has_profile(spec: Json) -> bool:
    parts = [spec, *(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    return any("seccompProfile" in (part.get("securityContext") or {}) for part in parts)


def _agree_profile(part: Json, key: str, annotations: dict[str, str]) -> Json:
    """A pod's spec or a container with its profile; the annotation is added in place."""
    context = part.get("securityContext") or {}
    profile = context.get("seccompProfile")
    if profile is not None:
        text = _annotation(profile)
        if key not in annotations and text:
            annotations[key] = text
        return part
    found = _profile(annotations.get(key, ""))
    return {**part, "securityContext": {**context, "seccompProfile": found}} if found else part


def _annotation(profile: Json) -> str:
    if profile.get("type") == "Localhost":
        local = profile.get("localhostProfile")
        return f"{_LOCAL}{local}" if local is not None else ""
    return _BY_TYPE.get(profile.get("type", ""), "")


def _profile(annotation: str) -> Json | None:
    if annotation.startswith(_LOCAL):
        local = annotation.removeprefix(_LOCAL)
        return {"type": "Localhost", "localhostProfile": local} if local else None
    kind = _BY_ANNOTATION.get(annotation)
    return {"type": kind} if kind else None
