"""What the server refuses in the containers of a pod."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kubesim.kinds.validation.environment import (
    environment_causes,
    environment_from_causes,
)
from kubesim.kinds.validation.fields import (
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    nonnegative,
    not_found,
    not_supported,
    required,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.paths import back_step_causes, descending_causes
from kubesim.kinds.validation.resources import requirements_causes
from kubesim.kinds.validation.security import security_context_causes
from kubesim.names import (
    dns_label_problems,
    header_problems,
    port_name_problems,
    port_problems,
)
from kubesim.status import Cause, Json

PROTOCOLS = ("SCTP", "TCP", "UDP")
_SHARING = ("Bidirectional", "HostToContainer", "None")
_EPHEMERAL_FORBIDDEN = ("ports", "resources", "volumeDevices", "livenessProbe", "readinessProbe", "startupProbe",
                        "lifecycle")  # fmt: skip
_SECURED_SINCE = 22
"""The first release in which a debug container has a security context, as clients set it today."""
Volumes = Mapping[str, Json]
"""The valid volumes of a pod by name."""


def containers_causes(containers: Sequence[Json], volumes: Volumes, path: str, *, init: bool = False) -> list[Cause]:
    """The normal or the init containers of a pod."""
    if not containers:
        return [required(path)]
    causes: list[Cause] = []
    names: set[str] = set()
    for index, container in enumerate(containers):
        causes += _container_causes(container, names, volumes, f"{path}[{index}]")
        names.add(container.get("name", ""))
    # Init containers run one after the other and may use the same host port.
    for group in [[container] for container in containers] if init else [containers]:
        causes += _host_port_causes(group, path)
    return causes


def init_containers_causes(
    containers: Sequence[Json], others: Sequence[Json], volumes: Volumes, path: str
) -> list[Cause]:
    """Init containers, which have no hooks and share the names with the normal ones."""
    causes = containers_causes(containers, volumes, path, init=True) if containers else []
    names = {other.get("name", "") for other in others}
    for index, container in enumerate(containers):
        place, name = f"{path}[{index}]", container.get("name", "")
        if name in names:
            causes.append(duplicate(f"{place}.name", name))
        if name:
            names.add(name)
        for field, kind in (("lifecycle", "Lifecycle"), ("livenessProbe", "Probe"), ("readinessProbe", "Probe"),
                            ("startupProbe", "Probe")):  # fmt: skip
            # One that keeps running beside the others may have probes like them; a server without such containers drops
            # the field.
            if field in container and container.get("restartPolicy") != "Always":
                shown = GoValue(f"core.{kind}", container[field])
                causes.append(invalid(f"{place}.{field}", shown, "must not be set for init containers"))
    return causes


def ephemeral_containers_causes(
    containers: Sequence[Json], others: Sequence[Json], volumes: Volumes, path: str, minor: int
) -> list[Cause]:
    """Containers added to a pod for debugging; `others` are all of its other containers."""
    causes: list[Cause] = []
    refused = (*_EPHEMERAL_FORBIDDEN, *(("securityContext",) if minor < _SECURED_SINCE else ()))
    names = {other.get("name", "") for other in others}
    for index, container in enumerate(containers):
        place, name = f"{path}[{index}]", container.get("name", "")
        target = container.get("targetContainerName", "")
        if target and target not in names:
            causes.append(not_found(f"{place}.targetContainerName", target))
        if not name:
            causes.append(required(place, "ephemeralContainer requires a name"))
            continue
        causes += containers_causes([container], volumes, place)
        causes += image_space_causes([container], place)
        if name in names:
            causes.append(duplicate(f"{place}.name", name))
        names.add(name)
        causes += [
            forbidden(f"{place}.{field}", "cannot be set for an Ephemeral Container")
            for field in refused
            if container.get(field)
        ]
    return causes


def image_space_causes(containers: Sequence[Json], path: str) -> list[Cause]:
    """Images of a pod, though not of a template, must not have spaces around them."""
    return [
        invalid(f"{path}[{index}].image", image, "must not have leading or trailing whitespace")
        for index, container in enumerate(containers)
        if (image := container.get("image", "")) != image.strip()
    ]


def _container_causes(container: Json, names: Collection[str], volumes: Volumes, path: str) -> list[Cause]:
    name = container.get("name", "")
    causes = all_invalid(f"{path}.name", name, dns_label_problems(name)) if name else [required(f"{path}.name")]
    if name in names:
        causes.append(duplicate(f"{path}.name", name))
    if not container.get("image"):
        causes.append(required(f"{path}.image"))
    for hook in ("postStart", "preStop"):
        if hook in (container.get("lifecycle") or {}):
            causes += _handler_causes(container["lifecycle"][hook], f"{path}.lifecycle.{hook}")
    causes += _check_causes(container.get("livenessProbe"), f"{path}.livenessProbe", once=True)
    causes += _check_causes(container.get("startupProbe"), f"{path}.startupProbe", once=True)
    causes += _message_policy_causes(container.get("terminationMessagePolicy", ""), path)
    causes += _check_causes(container.get("readinessProbe"), f"{path}.readinessProbe")
    causes += _port_causes(container.get("ports") or (), f"{path}.ports")
    causes += environment_causes(container.get("env") or (), f"{path}.env")
    causes += environment_from_causes(container.get("envFrom") or (), f"{path}.envFrom")
    causes += _mount_causes(container, volumes, f"{path}.volumeMounts")
    causes += _device_causes(container, volumes, f"{path}.volumeDevices")
    causes += _pull_policy_causes(container.get("imagePullPolicy", ""), f"{path}.imagePullPolicy")
    causes += requirements_causes(container.get("resources"), f"{path}.resources")
    return [*causes, *security_context_causes(container.get("securityContext"), f"{path}.securityContext")]


def _message_policy_causes(policy: str, path: str) -> list[Cause]:
    words = "must be 'File' or 'FallbackToLogsOnError'"
    if policy in {"File", "FallbackToLogsOnError"}:
        return []
    place = f"{path}.terminationMessagePolicy"
    return [invalid(place, policy, words) if policy else required(place, words)]


def _pull_policy_causes(policy: str, path: str) -> list[Cause]:
    if policy in {"Always", "IfNotPresent", "Never"}:
        return []
    return [not_supported(path, policy, ("Always", "IfNotPresent", "Never")) if policy else required(path)]


def _handler_causes(handler: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    found = 0
    for field, check in (("exec", _exec_causes), ("httpGet", _http_causes), ("tcpSocket", _socket_causes)):
        if field not in handler:
            continue
        if found:
            causes.append(forbidden(f"{path}.{field}", "may not specify more than 1 handler type"))
        else:
            causes += check(handler[field] or {}, f"{path}.{field}")
        found = 1
    return (
        causes if found or "grpc" in handler or "sleep" in handler else [required(path, "must specify a handler type")]
    )


def _exec_causes(action: Json, path: str) -> list[Cause]:
    return [] if action.get("command") else [required(f"{path}.command")]


def _http_causes(action: Json, path: str) -> list[Cause]:
    causes = [] if action.get("path") else [required(f"{path}.path")]
    causes += port_or_name_causes(action.get("port", 0), f"{path}.port")
    if action.get("scheme", "") not in {"HTTP", "HTTPS"}:
        causes.append(not_supported(f"{path}.scheme", action.get("scheme", ""), ("HTTP", "HTTPS")))
    for header in action.get("httpHeaders") or ():
        causes += all_invalid(f"{path}.httpHeaders", header.get("name", ""), header_problems(header.get("name", "")))
    return causes


def _socket_causes(action: Json, path: str) -> list[Cause]:
    return port_or_name_causes(action.get("port", 0), f"{path}.port")


def port_or_name_causes(port: int | str, path: str) -> list[Cause]:
    """A port by number or by name."""
    problems = port_name_problems(port) if isinstance(port, str) else port_problems(port)
    return all_invalid(path, port, problems)


def _check_causes(check: Json | None, path: str, *, once: bool = False) -> list[Cause]:
    if check is None:
        return []
    causes = _handler_causes(check, path)
    for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        causes += nonnegative(f"{path}.{field}", check.get(field, 0))
    if once and check.get("successThreshold", 0) != 1:
        causes.append(invalid(f"{path}.successThreshold", check.get("successThreshold", 0), "must be 1"))
    return causes


def _port_causes(ports: Sequence[Json], path: str) -> list[Cause]:
    causes: list[Cause] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        place, name = f"{path}[{index}]", port.get("name", "")
        if name:
            problems = port_name_problems(name)
            causes += all_invalid(f"{place}.name", name, problems)
            if not problems and name in names:
                causes.append(duplicate(f"{place}.name", name))
            elif not problems:
                names.add(name)
        number = port.get("containerPort", 0)
        if number == 0:
            causes.append(required(f"{place}.containerPort"))
        else:
            causes += all_invalid(f"{place}.containerPort", number, port_problems(number))
        if port.get("hostPort", 0):
            causes += all_invalid(f"{place}.hostPort", port["hostPort"], port_problems(port["hostPort"]))
        causes += protocol_causes(port.get("protocol", ""), f"{place}.protocol")
    return causes


def protocol_causes(protocol: str, path: str) -> list[Cause]:
    """The protocol of a port."""
    if protocol in PROTOCOLS:
        return []
    return [not_supported(path, protocol, PROTOCOLS) if protocol else required(path)]


def _host_port_causes(containers: Sequence[Json], path: str) -> list[Cause]:
    causes = []
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort", 0):
                continue
            text = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if text in taken:
                causes.append(duplicate(f"{path}[{index}].ports[{number}].hostPort", text))
            taken.add(text)
    return causes


def _paths(items: Sequence[Json], field: str) -> dict[str, str]:
    return {item.get("name", ""): item.get(field, "") for item in items}


def _mount_causes(container: Json, volumes: Volumes, path: str) -> list[Cause]:
    causes: list[Cause] = []
    devices = _paths(container.get("volumeDevices") or (), "devicePath")
    points: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        place, name, point = f"{path}[{index}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            causes.append(required(f"{place}.name"))
        if name not in volumes:
            causes.append(not_found(f"{place}.name", name))
        if not point:
            causes.append(required(f"{place}.mountPath"))
        if point in points:
            causes.append(invalid(f"{place}.mountPath", point, "must be unique"))
        points.add(point)
        if name in devices:
            causes.append(invalid(f"{place}.name", name, "must not already exist in volumeDevices"))
        if point in devices.values():
            causes.append(invalid(f"{place}.mountPath", point, "must not already exist as a path in volumeDevices"))
        causes += _sub_path_causes(mount, place, path)
        if "mountPropagation" in mount:
            causes += _propagation_causes(mount["mountPropagation"], container, f"{path}.mountPropagation")
    return causes


def _sub_path_causes(mount: Json, place: str, path: str) -> list[Cause]:
    inner, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
    causes = descending_causes(inner, f"{path}.subPath") if inner else []
    if expression:
        if inner:
            words = "subPathExpr and subPath are mutually exclusive"
            causes.append(invalid(f"{place}.subPathExpr", expression, words))
        causes += descending_causes(expression, f"{path}.subPathExpr")
    return causes


def _propagation_causes(mode: str, container: Json, path: str) -> list[Cause]:
    causes = [] if mode in _SHARING else [not_supported(path, mode, _SHARING)]
    if mode == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        causes.append(forbidden(path, "Bidirectional mount propagation is available only to privileged containers"))
    return causes


def _device_causes(container: Json, volumes: Volumes, path: str) -> list[Cause]:
    causes: list[Cause] = []
    mounts = _paths(container.get("volumeMounts") or (), "mountPath")
    places: set[str] = set()
    names: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        here, name, target = f"{path}[{index}]", device.get("name", ""), device.get("devicePath", "")
        if not name:
            causes.append(required(f"{here}.name"))
        if name in names:
            causes.append(invalid(f"{here}.name", name, "must be unique"))
        if name not in volumes:
            causes.append(not_found(f"{here}.name", name))
        elif "persistentVolumeClaim" not in volumes[name]:
            words = "can only use volume source type of PersistentVolumeClaim for block mode"
            causes.append(invalid(f"{here}.name", name, words))
        if not target:
            causes.append(required(f"{here}.devicePath"))
        if target in places:
            causes.append(invalid(f"{here}.devicePath", target, "must be unique"))
        if target and back_step_causes(target, path):
            causes.append(invalid(f"{here}.devicePath", target, "can not contain backsteps ('..')"))
        else:
            places.add(target)
        if name in mounts:
            causes.append(invalid(f"{here}.name", name, "must not already exist in volumeMounts"))
        if target in mounts.values():
            causes.append(invalid(f"{here}.devicePath", target, "must not already exist as a path in volumeMounts"))
        if name:
            names.add(name)
    return causes


def all_containers(spec: Mapping[str, Any]) -> list[Json]:
    """Every container of a pod: init, normal, ephemeral."""
    return [item for field in ("initContainers", "containers", "ephemeralContainers") for item in spec.get(field) or ()]
