"""What the server refuses in services."""

import ipaddress
from collections.abc import Sequence

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.containers import port_or_name_causes, protocol_causes
from kubesim.kinds.validation.fields import (
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import (
    label_causes,
    metadata_causes,
    metadata_update_causes,
)
from kubesim.names import (
    address,
    address_problems,
    dns_label_problems,
    dns_subdomain_problems,
    port_problems,
    qualified_name_problems,
)
from kubesim.status import Cause, Json

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_KUBELET_PORT = 10250
_ONE_DAY = 86400
_FIXED_WORDS = "may not change once set"


def is_headless(spec: Json) -> bool:
    """Whether the service has no address of its own."""
    return (spec.get("clusterIPs") or []) == ["None"]


def service_causes(row: Resource, service: Json) -> list[Cause]:
    """A new service."""
    return [*_service_causes(row, service), *_mixed_causes(service, None)]


def _service_causes(row: Resource, service: Json) -> list[Cause]:
    spec: Json = service.get("spec") or {}
    ports = spec.get("ports") or ()
    causes = metadata_causes(row, service["metadata"])
    if not ports and not is_headless(spec) and spec.get("type") != "ExternalName":
        causes.append(required("spec.ports"))
    causes += _type_causes(spec)
    names: set[str] = set()
    for index, port in enumerate(ports):
        causes += _port_causes(port, names, f"spec.ports[{index}]", named=len(ports) > 1)
    causes += label_causes(spec.get("selector"), "spec.selector")
    causes += _affinity_causes(spec)
    causes += _address_causes(spec)
    for index, text in enumerate(spec.get("externalIPs") or ()):
        place = f"spec.externalIPs[{index}]"
        causes += all_invalid(place, text, address_problems(text)) or special_address_causes(text, place)
    kind = spec.get("type", "")
    if not kind:
        causes.append(required("spec.type"))
    elif kind not in _TYPES:
        causes.append(not_supported("spec.type", kind, _TYPES))
    causes += _number_causes(ports, kind)
    return [*causes, *_traffic_causes(service)]


def _type_causes(spec: Json) -> list[Cause]:
    kind = spec.get("type")
    causes: list[Cause] = []
    if kind == "LoadBalancer":
        causes += [
            invalid(
                f"spec.ports[{index}]",
                _KUBELET_PORT,
                f"may not expose port {_KUBELET_PORT} externally since it is used by kubelet",
            )
            for index, port in enumerate(spec.get("ports") or ())
            if port.get("port") == _KUBELET_PORT
        ]
    if kind in {"LoadBalancer", "NodePort"} and is_headless(spec):
        causes.append(invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services"))
    if kind == "ExternalName":
        causes += [
            forbidden(f"spec.{field}", "may not be set for ExternalName services")
            for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy")
            if spec.get(field)
        ]
        name = spec.get("externalName", "").removesuffix(".")
        if name:
            causes += all_invalid("spec.externalName", name, dns_subdomain_problems(name))
        else:
            causes.append(required("spec.externalName"))
    return causes


def _port_causes(port: Json, names: set[str], path: str, *, named: bool) -> list[Cause]:
    name = port.get("name", "")
    causes: list[Cause] = []
    if name:
        causes += all_invalid(f"{path}.name", name, dns_label_problems(name))
        if name in names:
            causes.append(duplicate(f"{path}.name", name))
        names.add(name)
    elif named:
        causes.append(required(f"{path}.name"))
    number = port.get("port", 0)
    causes += all_invalid(f"{path}.port", number, port_problems(number))
    causes += protocol_causes(port.get("protocol", ""), f"{path}.protocol")
    causes += port_or_name_causes(port.get("targetPort", 0), f"{path}.targetPort")
    protocol = port.get("appProtocol")
    if protocol is not None:
        causes += all_invalid(f"{path}.appProtocol", protocol, qualified_name_problems(protocol))
    return causes


def _affinity_causes(spec: Json) -> list[Cause]:
    affinity, config = spec.get("sessionAffinity", ""), spec.get("sessionAffinityConfig")
    path, when = "spec.sessionAffinityConfig", "when session affinity type is ClientIP"
    if not affinity:
        return [required("spec.sessionAffinity")]
    if affinity == "None":
        words = "must not be set when session affinity is None"
        return [forbidden(path, words)] if config is not None else []
    if affinity != "ClientIP":
        return [not_supported("spec.sessionAffinity", affinity, ("ClientIP", "None"))]
    if config is None:
        return [required(path, when)]
    if config.get("clientIP") is None:
        return [required(f"{path}.clientIP", when)]
    seconds = config["clientIP"].get("timeoutSeconds")
    if seconds is None:
        return [required(f"{path}.clientIP.timeoutSeconds", when)]
    if 0 < seconds <= _ONE_DAY:
        return []
    return [invalid(f"{path}.clientIP.timeoutSeconds", seconds, f"must be greater than 0 and less than {_ONE_DAY}")]


def _address_causes(spec: Json) -> list[Cause]:
    if spec.get("type") == "ExternalName":
        return []
    one, many, families = spec.get("clusterIP", ""), spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    causes: list[Cause] = []
    if one and not many:
        causes.append(required("spec.clusterIPs"))
    elif one and many[0] != one:
        causes.append(invalid("spec.clusterIPs", many, "element [0] must match clusterIP"))
    elif many and not one:
        causes.append(invalid("spec.clusterIPs", many, "must be empty when clusterIP is empty"))
    for index, family in enumerate(families):
        if family not in {"IPv4", "IPv6"}:
            causes.append(not_supported(f"spec.ipFamilies[{index}]", family, ("IPv4", "IPv6")))
        if family in families[:index]:
            causes.append(duplicate(f"spec.ipFamilies[{index}]", family))
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _POLICIES:
        causes.append(not_supported("spec.ipFamilyPolicy", policy, _POLICIES))
    return [*causes, *_addresses_causes(many, families)]


def _addresses_causes(many: list[str], families: Sequence[str]) -> list[Cause]:
    causes: list[Cause] = []
    wrong = False
    for index, text in enumerate(many):
        if index == 0 and text == "None":
            if len(many) > 1:
                wrong = True
                causes.append(invalid("spec.clusterIPs", many, "'None' must be the first and only value"))
            continue
        problems = address_problems(text)
        wrong = wrong or bool(problems)
        causes += all_invalid(f"spec.clusterIPs[{index}]", text, problems)
    if len(many) > 2:
        causes.append(invalid("spec.clusterIPs", many, "may only hold up to 2 values"))
    if wrong:
        return causes
    versions = [found.version for text in many if (found := address(text)) is not None]
    if len(many) > 1 and len({*versions}) < 2:
        causes.append(invalid("spec.clusterIPs", many, "may specify no more than one IP for each IP family"))
    for index, (version, family) in enumerate(zip(versions, families, strict=False)):
        if f"IPv{version}" != family:
            words = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            causes.append(invalid(f"spec.clusterIPs[{index}]", many[index], words))
    return causes


def special_address_causes(text: str, path: str) -> list[Cause]:
    """The problems of an address that is unspecified, loopback or link-local."""
    found = address(text)
    if found is None:
        return [invalid(path, text, "must be a valid IP address")]
    causes = []
    if found.is_unspecified:
        causes.append(invalid(path, text, "may not be unspecified (0.0.0.0)"))
    if found.is_loopback:
        causes.append(invalid(path, text, "may not be in the loopback range (127.0.0.0/8)"))
    if found.is_link_local:
        causes.append(invalid(path, text, "may not be in the link-local range (169.254.0.0/16)"))
    if found in ipaddress.ip_network("224.0.0.0/24") or (found.version == 6 and text.lower().startswith("ff02:")):
        causes.append(invalid(path, text, "may not be in the link-local multicast range (224.0.0.0/24)"))
    return causes


def _number_causes(ports: Sequence[Json], kind: str) -> list[Cause]:
    causes: list[Cause] = []
    if kind == "ClusterIP":
        causes += [
            forbidden(f"spec.ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
            for index, port in enumerate(ports)
            if port.get("nodePort")
        ]
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        key = (port.get("protocol", ""), port.get("nodePort", 0))
        if key[1] and key in seen:
            causes.append(duplicate(f"spec.ports[{index}].nodePort", key[1]))
        seen.add(key)
    seen = set()
    for index, port in enumerate(ports):
        key = (port.get("protocol", ""), port.get("port", 0))
        if key in seen:
            shown = GoValue("core.ServicePort", {"protocol": key[0], "port": key[1], "targetPort": 0})
            causes.append(duplicate(f"spec.ports[{index}]", shown))
        seen.add(key)
    return causes


def _traffic_causes(service: Json) -> list[Cause]:
    spec: Json = service.get("spec") or {}
    annotations = service["metadata"].get("annotations") or {}
    ranges = spec.get("loadBalancerSourceRanges") or []
    causes: list[Cause] = []
    if ranges or _SOURCE_RANGES in annotations:
        place = "spec.LoadBalancerSourceRanges" if ranges else f"metadata.annotations[{_SOURCE_RANGES}]"
        text = f"[{' '.join(ranges)}]" if ranges else annotations[_SOURCE_RANGES]
        given = ranges or [part.strip() for part in text.strip().split(",") if text.strip()]
        if spec.get("type") != "LoadBalancer":
            causes.append(forbidden(place, "may only be used when `type` is 'LoadBalancer'"))
        if not all(is_network(part.strip()) for part in given):
            words = "must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 "
            causes.append(invalid(place, text, words))
    if "allocateLoadBalancerNodePorts" in spec and spec.get("type") != "LoadBalancer":
        words = "may only be used when `type` is 'LoadBalancer'"
        causes.append(forbidden("spec.allocateLoadBalancerNodePorts", words))
    policy = spec.get("externalTrafficPolicy", "")
    if policy not in {"", "Cluster", "Local"}:
        words = "ExternalTrafficPolicy must be empty, Cluster or Local"
        causes.append(invalid("spec.externalTrafficPolicy", policy, words))
    port = spec.get("healthCheckNodePort", 0)
    if port < 0:
        causes.append(invalid("spec.healthCheckNodePort", port, "HealthCheckNodePort must be not less than 0"))
    return causes


def is_network(text: str) -> bool:
    """Whether `text` is a range of addresses."""
    base, slash, bits = text.partition("/")
    found = address(base)
    return bool(slash) and found is not None and bits.isdecimal() and int(bits) <= found.max_prefixlen


def _mixed_causes(service: Json, old: Json | None) -> list[Cause]:
    spec = service.get("spec") or {}
    if spec.get("type") != "LoadBalancer" or not _is_mixed(spec) or _is_mixed((old or {}).get("spec") or {}):
        return []
    shown = GoValue("[]core.ServicePort", spec.get("ports"))
    return [invalid("spec.ports", shown, "may not contain more than 1 protocol when type is 'LoadBalancer'")]


def _is_mixed(spec: Json) -> bool:
    return len({port.get("protocol", "") for port in spec.get("ports") or ()}) > 1


def service_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a service, whose address must stay."""
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_address_change_causes(new.get("spec") or {}, old.get("spec") or {}),
        *_service_causes(row, new),
        *_mixed_causes(new, old),
    ]


def _address_change_causes(spec: Json, before: Json) -> list[Cause]:
    if "ExternalName" in {spec.get("type"), before.get("type")} or (is_headless(spec) and is_headless(before)):
        return []
    new, old = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
    shown = GoValue("[]string", spec.get("clusterIPs"))
    if len(new) == len(old):
        return [
            invalid(f"spec.clusterIPs[{index}]", shown, _FIXED_WORDS)
            for index, text in enumerate(old)
            if text != new[index]
        ]
    causes = []
    if not new:
        causes.append(invalid("spec.clusterIPs[0]", shown, "primary clusterIP can not be unset"))
    elif old and new[0] != old[0]:
        causes.append(invalid("spec.clusterIPs[0]", shown, _FIXED_WORDS))
    if len(new) == 1 < len(old) and spec.get("ipFamilyPolicy") != "SingleStack":
        words = "`ipFamilyPolicy` must be set to 'SingleStack' when releasing the secondary clusterIP"
        causes.append(invalid("spec.clusterIPs[0]", shown, words))
    return causes


def service_status_causes(_: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a service's status."""
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *load_balancer_causes((new.get("status") or {}).get("loadBalancer") or {}, "status.loadBalancer"),
    ]


def load_balancer_causes(status: Json, path: str) -> list[Cause]:
    """Where traffic enters a load balancer."""
    causes: list[Cause] = []
    for index, entry in enumerate(status.get("ingress") or ()):
        place, text, name = f"{path}.ingress[{index}]", entry.get("ip", ""), entry.get("hostname", "")
        if text and address(text) is None:
            causes.append(invalid(f"{place}.ip", text, "must be a valid IP address"))
        if name:
            causes += all_invalid(f"{place}.hostname", name, dns_subdomain_problems(name))
            if address(name) is not None:
                causes.append(invalid(f"{place}.hostname", name, "must be a DNS name, not an IP address"))
    return causes
