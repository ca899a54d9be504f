"""What the server refuses in ingresses, ingress classes and network policies."""

import ipaddress
import re
from dataclasses import dataclass

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.conversion import networking
from kubesim.kinds.validation.fields import (
    all_invalid,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import (
    metadata_causes,
    metadata_update_causes,
    selector_causes,
)
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.names import (
    address,
    dns_1035_label_problems,
    dns_subdomain_problems,
    path_segment_problems,
    pattern_words,
    port_name_problems,
    port_problems,
    wildcard_subdomain_problems,
)
from kubesim.status import Cause, Json

_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDINGS = ("/..", "/.")
_PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"]
_CONTROLLER_LENGTH = 250
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"


@dataclass(frozen=True, slots=True)
class _Words:
    """The names of a version's fields, and what it accepts."""

    default_backend: str = "defaultBackend"
    service_name: str = "service.name"
    port_name: str = "service.port.name"
    port_number: str = "service.port.number"
    any_secret: bool = False
    any_wildcard_rule: bool = False


def _words(row: Resource, old: Json | None = None) -> _Words:
    if row.version == "v1beta1":
        return _Words("backend", "serviceName", "servicePort", "servicePort", any_secret=True, any_wildcard_rule=True)
    spec: Json = (old or {}).get("spec") or {}
    names = [row.get("secretName", "") for row in spec.get("tls") or ()]
    starred = [rule for rule in spec.get("rules") or () if "*" in rule.get("host", "")]
    return _Words(
        any_secret=any(name and dns_subdomain_problems(name) for name in names),
        any_wildcard_rule=any(_rule_value_causes(rule, "", _Words()) for rule in starred),
    )


def _ingress(row: Resource, obj: Json) -> list[Cause]:
    hub: Json = networking.to_hub(obj, row.api_version)
    spec: Json = hub.get("spec") or {}
    causes = [*metadata_causes(row, obj["metadata"]), *_ingress_spec(spec, _words(row))]
    given = (obj["metadata"].get("annotations") or {}).get(_CLASS_ANNOTATION)
    if given is not None and spec.get("ingressClassName") is not None:
        causes.append(
            invalid(f"annotations.{_CLASS_ANNOTATION}", given, "can not be set when the class field is also set")
        )
    return causes


def _ingress_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    hub: Json = networking.to_hub(new, row.api_version)
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *metadata_causes(row, new["metadata"]),
        *_ingress_spec(hub.get("spec") or {}, _words(row, networking.to_hub(old, row.api_version))),
    ]


def _ingress_status(_row: Resource, new: Json, old: Json) -> list[Cause]:
    causes = metadata_update_causes(new["metadata"], old["metadata"])
    balancer = (new.get("status") or {}).get("loadBalancer") or {}
    for index, point in enumerate(balancer.get("ingress") or ()):
        path, ip, host = f"status.loadBalancer.ingress[{index}]", point.get("ip", ""), point.get("hostname", "")
        if ip and address(ip) is None:
            causes.append(invalid(f"{path}.ip", ip, "must be a valid IP address"))
        if host:
            causes += all_invalid(f"{path}.hostname", host, dns_subdomain_problems(host))
            if address(host) is not None:
                causes.append(invalid(f"{path}.hostname", host, "must be a DNS name, not an IP address"))
    return causes


def _ingress_spec(spec: Json, words: _Words) -> list[Cause]:
    causes: list[Cause] = []
    rules, backend = spec.get("rules"), spec.get("defaultBackend")
    if not rules and backend is None:
        text = f"either `{words.default_backend}` or `rules` must be specified"
        causes.append(invalid("spec", GoValue("[]networking.IngressRule", rules), text))
    if backend is not None:
        causes += _backend_causes(backend, f"spec.{words.default_backend}", words)
    for index, rule in enumerate(rules or ()):
        causes += _rule_causes(rule, f"spec.rules[{index}]", words)
    for index, tls in enumerate(spec.get("tls") or ()):
        causes += _tls_causes(tls, f"spec.tls[{index}]", words)
    name = spec.get("ingressClassName")
    return causes if name is None else [
        *causes, *all_invalid("spec.ingressClassName", name, dns_subdomain_problems(name))
    ]  # fmt: skip


def _host_causes(host: str, path: str) -> list[Cause]:
    problems = wildcard_subdomain_problems(host) if "*" in host else dns_subdomain_problems(host)
    return all_invalid(path, host, problems)


def _tls_causes(tls: Json, path: str, words: _Words) -> list[Cause]:
    causes: list[Cause] = []
    for index, host in enumerate(tls.get("hosts") or ()):
        causes += _host_causes(host, f"{path}.hosts[{index}]")
    name = tls.get("secretName", "")
    if name and not words.any_secret:
        causes += all_invalid(f"{path}.secretName", name, dns_subdomain_problems(name))
    return causes


def _rule_causes(rule: Json, path: str, words: _Words) -> list[Cause]:
    causes: list[Cause] = []
    host = rule.get("host", "")
    if host:
        if address(host) is not None:
            causes.append(invalid(f"{path}.host", host, "must be a DNS name, not an IP address"))
        causes += _host_causes(host, f"{path}.host")
    return causes if "*" in host and words.any_wildcard_rule else [*causes, *_rule_value_causes(rule, path, words)]


def _rule_value_causes(rule: Json, path: str, words: _Words) -> list[Cause]:
    http = rule.get("http")
    if http is None:
        return []
    paths = http.get("paths") or ()
    causes = [] if paths else [required(f"{path}.http.paths")]
    for index, item in enumerate(paths):
        causes += _path_causes(item, f"{path}.http.paths[{index}]", words)
    return causes


def _path_causes(item: Json, path: str, words: _Words) -> list[Cause]:
    kind, value, place = item.get("pathType"), item.get("path", ""), f"{path}.path"
    if kind is None:
        return [required(f"{path}.pathType", "pathType must be specified")]
    causes: list[Cause] = []
    if kind in {"Exact", "Prefix"}:
        if not value.startswith("/"):
            causes.append(invalid(place, value, "must be an absolute path"))
        causes += [invalid(place, value, f"must not contain '{bad}'") for bad in _BAD_SEQUENCES if bad in value]
        causes += [invalid(place, value, f"cannot end with '{bad}'") for bad in _BAD_ENDINGS if value.endswith(bad)]
    elif kind != "ImplementationSpecific":
        causes.append(not_supported(f"{path}.pathType", kind, _PATH_TYPES))
    elif value and not value.startswith("/"):
        causes.append(invalid(place, value, "must be an absolute path"))
    return [*causes, *_backend_causes(item.get("backend") or {}, f"{path}.backend", words)]


def _backend_causes(backend: Json, path: str, words: _Words) -> list[Cause]:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return _local_reference_causes(resource, f"{path}.resource")
    if service is None:
        return [invalid(path, "", "resource or service backend is required")]
    name, port, place = service.get("name", ""), service.get("port") or {}, f"{path}.{words.service_name}"
    causes = all_invalid(place, name, dns_1035_label_problems(name)) if name else [required(place)]
    port_name, number = port.get("name", ""), port.get("number", 0)
    if port_name and number:
        causes.append(invalid(path, "", "cannot set both port name & port number"))
    elif port_name:
        causes += all_invalid(f"{path}.{words.port_name}", port_name, port_name_problems(port_name))
    elif number:
        causes += all_invalid(f"{path}.{words.port_number}", number, port_problems(number))
    else:
        causes.append(required(path, "port name or number is required"))
    return causes


def _local_reference_causes(reference: Json | None, path: str) -> list[Cause]:
    if reference is None:
        return []
    group = reference.get("apiGroup")
    causes = [] if group is None else all_invalid(f"{path}.apiGroup", group, dns_subdomain_problems(group))
    for field in ("kind", "name"):
        value = reference.get(field, "")
        problems = all_invalid(f"{path}.{field}", value, path_segment_problems(value))
        causes += problems if value else [required(f"{path}.{field}", f"{field} is required")]
    return causes


def _ingress_class(row: Resource, obj: Json) -> list[Cause]:
    spec = obj.get("spec") or {}
    controller, path = spec.get("controller", ""), "spec.controller"
    causes = metadata_causes(row, obj["metadata"], namespaced=False)
    if len(controller.encode()) > _CONTROLLER_LENGTH:
        causes.append(too_long(path, _CONTROLLER_LENGTH))
    return [
        *causes,
        *_controller_causes(controller, path),
        *_local_reference_causes(spec.get("parameters"), "spec.parameters"),
    ]


def _controller_causes(controller: str, path: str) -> list[Cause]:
    """A domain and a path after it."""
    if not controller:
        return [required(path)]
    domain, _, rest = controller.partition("/")
    if not domain or not rest:
        return [invalid(path, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    causes = all_invalid(path, domain, dns_subdomain_problems(domain))
    if not re.fullmatch(_HTTP_PATH, rest):
        causes.append(invalid(path, rest, pattern_words("Invalid path", _HTTP_PATH)))
    return causes


def _ingress_class_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    controller, given = ((obj.get("spec") or {}).get("controller", "") for obj in (new, old))
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *immutable("spec.controller", controller, given),
        *_ingress_class(row, new),
    ]


def _network_policy(row: Resource, obj: Json) -> list[Cause]:
    return [*metadata_causes(row, obj["metadata"]), *_policy_spec(obj.get("spec") or {})]


def _network_policy_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    return [
        *_network_policy(row, new),
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_policy_spec(new.get("spec") or {}),
    ]


def _policy_spec(spec: Json) -> list[Cause]:
    causes = selector_causes(spec.get("podSelector"), "spec.podSelector")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            path = f"spec.{direction}[{index}]"
            for number, port in enumerate(rule.get("ports") or ()):
                causes += _port_causes(port, f"{path}.ports[{number}]")
            for number, peer in enumerate(rule.get(peers) or ()):
                causes += _peer_causes(peer, f"{path}.{peers}[{number}]")
    kinds = spec.get("policyTypes") or []
    if len(kinds) > 2:
        value = GoValue("*[]networking.PolicyType", kinds)
        return [*causes, invalid("spec.policyTypes", value, "may not specify more than two policyTypes")]
    return causes + [
        not_supported(f"spec.policyTypes[{index}]", kind, ["Ingress", "Egress"])
        for index, kind in enumerate(kinds)
        if kind not in {"Ingress", "Egress"}
    ]


def _port_causes(port: Json, path: str) -> list[Cause]:
    protocol, number = port.get("protocol"), port.get("port")
    causes = []
    if protocol is not None and protocol not in {"TCP", "UDP", "SCTP"}:
        causes.append(not_supported(f"{path}.protocol", protocol, ["TCP", "UDP", "SCTP"]))
    if isinstance(number, str):
        causes += all_invalid(f"{path}.port", number, port_name_problems(number))
    elif number is not None:
        causes += all_invalid(f"{path}.port", number, port_problems(number))
    return causes


def _peer_causes(peer: Json, path: str) -> list[Cause]:
    given = [name for name in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(name) is not None]
    causes: list[Cause] = []
    for name in given:
        place = f"{path}.{name}"
        causes += _block_causes(peer[name], place) if name == "ipBlock" else selector_causes(peer[name], place)
    if not given:
        causes.append(required(path, "must specify a peer"))
    elif len(given) > 1 and "ipBlock" in given:
        causes.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return causes


def _block_causes(block: Json, path: str) -> list[Cause]:
    text = block.get("cidr", "")
    if not text:
        return [required(f"{path}.cidr")]
    network = _network(text)
    if network is None:
        return [invalid(f"{path}.cidr", text, "not a valid CIDR")]
    causes: list[Cause] = []
    for index, item in enumerate(block.get("except") or ()):
        excluded, place = _network(item), f"{path}.except[{index}]"
        if excluded is None:
            return [*causes, invalid(place, item, "not a valid CIDR")]
        if (
            excluded.version != network.version
            or excluded.network_address not in network
            or (network.prefixlen >= excluded.prefixlen)
        ):
            causes.append(invalid(place, item, "must be a strict subset of `cidr`"))
    return causes


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    if not re.fullmatch(r"[^/]+/[0-9]{1,3}", text):
        return None
    plain = re.sub(r"(?<![0-9a-fA-F:])0+(?=[0-9]+\.|[0-9]+/)", "", text)  # Go reads numbers with leading zeros
    try:
        return ipaddress.ip_network(plain if ":" not in text else text, strict=False)
    except ValueError:
        return None


CREATION: dict[str, CreationRule] = {
    "ingress": _ingress,
    "ingressclasses.networking.k8s.io": _ingress_class,
    "networkpolicy": _network_policy,
}
UPDATE: dict[str, UpdateRule] = {
    "ingress": _ingress_update,
    "ingress/status": _ingress_status,
    "ingressclasses.networking.k8s.io": _ingress_class_update,
    "networkpolicy": _network_policy_update,
}
