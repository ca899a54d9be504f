"""The values that the server fills in for ingresses and network policies."""

from collections.abc import Callable

from kubesim.status import Json


def _network_policy(obj: Json) -> Json:
    spec: Json = dict(obj.get("spec") or {})
    for direction in ("ingress", "egress"):
        if spec.get(direction):
            spec[direction] = [_rule(rule) for rule in spec[direction]]
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    return {**obj, "spec": spec}


def _rule(rule: Json) -> Json:
    if not rule.get("ports"):
        return rule
    return {**rule, "ports": [{"protocol": "TCP", **port} for port in rule["ports"]]}


def _beta_ingress(obj: Json) -> Json:
    spec: Json = obj.get("spec") or {}
    if not spec.get("rules"):
        return obj
    return {**obj, "spec": {**spec, "rules": [_beta_rule(rule) for rule in spec["rules"]]}}


def _beta_rule(rule: Json) -> Json:
    http = rule.get("http") or {}
    if not http.get("paths"):
        return rule
    paths = [{"pathType": "ImplementationSpecific", **path} for path in http["paths"]]
    return {**rule, "http": {**http, "paths": paths}}


DEFAULTS: dict[str, Callable[[Json], Json]] = {
    "networkpolicy": _network_policy,
    "ingress/v1beta1": _beta_ingress,
}
