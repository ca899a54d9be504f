"""What the server refuses in the security settings of pods and containers."""

import re
from collections.abc import Sequence

from kubesim.kinds.validation.fields import (
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.paths import descending_causes
from kubesim.names import id_problems
from kubesim.status import Cause, Json

_SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
SYSCTL = rf"({_SYSCTL_SEGMENT}\.)*{_SYSCTL_SEGMENT}"
_SECCOMP_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_SECCOMP_LOCAL = "localhost/"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
APPARMOR_CONTAINER = "container.apparmor.security.beta.kubernetes.io/"


def security_context_causes(context: Json | None, path: str) -> list[Cause]:
    """The security context of a container; this server allows privileged ones."""
    if context is None:
        return []
    causes: list[Cause] = []
    for field in ("runAsUser", "runAsGroup"):
        if field in context:
            causes += all_invalid(f"{path}.{field}", context[field], id_problems(context[field]))
    if context.get("procMount", "Default") not in {"Default", "Unmasked"}:
        causes.append(not_supported(f"{path}.procMount", context["procMount"], ("Default", "Unmasked")))
    causes += _seccomp_causes(context.get("seccompProfile"), f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        shown = GoValue("core.SecurityContext", context)
        if context.get("privileged"):
            words = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            causes.append(invalid(path, shown, words))
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            words = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            causes.append(invalid(path, shown, words))
    return causes


def pod_security_context_causes(spec: Json, path: str) -> list[Cause]:
    """The security context of a pod, including the host namespaces that it shares; `path` is the spec's."""
    context: Json = spec.get("securityContext") or {}
    place = f"{path}.securityContext"
    causes = _host_network_causes(spec, path)
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        if field in context:
            causes += all_invalid(f"{place}.{field}", context[field], id_problems(context[field]))
    for index, number in enumerate(context.get("supplementalGroups") or ()):
        causes += all_invalid(f"{place}.supplementalGroups[{index}]", number, id_problems(number))
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        words = "ShareProcessNamespace and HostPID cannot both be enabled"
        causes.append(invalid(f"{place}.shareProcessNamespace", value=True, detail=words))
    causes += _sysctl_causes(context.get("sysctls") or (), f"{place}.sysctls")
    policy = context.get("fsGroupChangePolicy", "Always")
    if policy not in {"Always", "OnRootMismatch"}:
        causes.append(not_supported(f"{place}.fsGroupChangePolicy", policy, ("Always", "OnRootMismatch")))
    return [*causes, *_seccomp_causes(context.get("seccompProfile"), f"{place}.seccompProfile")]


def _host_network_causes(spec: Json, path: str) -> list[Cause]:
    if not spec.get("hostNetwork"):
        return []
    return [
        invalid(
            f"{path}.containers[{index}].ports[{number}].containerPort",
            port.get("containerPort", 0),
            "must match `hostPort` when `hostNetwork` is true",
        )
        for index, container in enumerate(spec.get("containers") or ())
        for number, port in enumerate(container.get("ports") or ())
        if port.get("hostPort", 0) != port.get("containerPort", 0)
    ]


def _sysctl_causes(settings: Sequence[Json], path: str) -> list[Cause]:
    causes = []
    names: set[str] = set()
    for index, setting in enumerate(settings):
        place, name = f"{path}[{index}].name", setting.get("name", "")
        if not name:
            causes.append(required(place))
        elif len(name) > 253 or not re.fullmatch(SYSCTL, name):
            causes.append(invalid(place, name, f"must have at most 253 characters and match regex {SYSCTL}"))
        elif name in names:
            causes.append(duplicate(place, name))
        names.add(name)
    return causes


def _seccomp_causes(profile: Json | None, path: str) -> list[Cause]:
    if profile is None:
        return []
    kind = profile.get("type", "")
    causes: list[Cause] = []
    if not kind:
        causes.append(required(f"{path}.type", "type is required when seccompProfile is set"))
    elif kind not in _SECCOMP_TYPES:
        causes.append(not_supported(f"{path}.type", kind, _SECCOMP_TYPES))
    local = profile.get("localhostProfile")
    if kind == "Localhost":
        if local is None:
            causes.append(required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost"))
        else:
            causes += descending_causes(local, f"{path}.localhostProfile")
    elif local is not None:
        shown = GoValue("core.SeccompProfile", profile)
        causes.append(invalid(f"{path}.localhostProfile", shown, "can only be set when seccomp type is Localhost"))
    return causes


def seccomp_annotation_causes(annotations: Json, path: str) -> list[Cause]:
    """Seccomp profiles as annotations, which older clients still send."""
    causes: list[Cause] = []
    keys = [key for key in annotations if key.startswith(SECCOMP_CONTAINER)]
    for key in [*([SECCOMP_POD] if SECCOMP_POD in annotations else ()), *keys]:
        value = annotations[key]
        if value.startswith(_SECCOMP_LOCAL):
            causes += descending_causes(value.removeprefix(_SECCOMP_LOCAL), f"{path}.{key}")
        elif value not in {"runtime/default", "docker/default", "unconfined"}:
            causes.append(invalid(f"{path}.{key}", value, "must be a valid seccomp profile"))
    return causes


def seccomp_mismatch_causes(annotations: Json, spec: Json, containers: Sequence[tuple[str, Json]]) -> list[Cause]:
    """Profiles given both as annotation and as field must agree."""
    given = [(SECCOMP_POD, "spec.securityContext", spec.get("securityContext") or {})]
    given += [
        (
            f"{SECCOMP_CONTAINER}{container.get('name', '')}",
            f"{path}.securityContext",
            container.get("securityContext") or {},
        )
        for path, container in containers
    ]
    return [
        cause
        for key, path, context in given
        if key in annotations and "seccompProfile" in context
        for cause in _mismatch(annotations[key], context["seccompProfile"], f"{path}.seccompProfile")
    ]


def _mismatch(annotation: str, profile: Json, path: str) -> list[Cause]:
    kind = profile.get("type", "")
    accepted = {
        "Unconfined": annotation == "unconfined",
        "RuntimeDefault": annotation in {"runtime/default", "docker/default"},
        "Localhost": annotation.startswith(_SECCOMP_LOCAL),
    }
    if not accepted.get(kind, True):
        return [forbidden(f"{path}.type", "seccomp type in annotation and field must match")]
    if kind == "Localhost" and annotation.removeprefix(_SECCOMP_LOCAL) != profile.get("localhostProfile"):
        return [forbidden(f"{path}.localhostProfile", "seccomp profile in annotation and field must match")]
    return []


def apparmor_causes(annotations: Json, names: Sequence[str], path: str) -> list[Cause]:
    """AppArmor profiles, which older clients send as annotations; `names` are the pod's containers."""
    causes = []
    for key, value in annotations.items():
        if not key.startswith(APPARMOR_CONTAINER):
            continue
        name = key.removeprefix(APPARMOR_CONTAINER)
        if name not in names:
            causes.append(invalid(f"{path}[{key}]", name, "container not found"))
        if value not in {"", "runtime/default", "unconfined"} and not value.startswith(_SECCOMP_LOCAL):
            causes.append(invalid(f"{path}[{key}]", value, f'invalid AppArmor profile name: "{value}"'))
    return causes
