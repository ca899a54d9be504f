"""Ingresses as their beta and final versions write them; the hub is the final one."""

from typing import Any

from kubesim.status import Json

_FINAL = "networking.k8s.io/v1"


def to_hub(ingress: Json, given: str) -> Json:
    """The ingress in the final version's form."""
    return ingress if given == _FINAL else _change_ingress(ingress, "backend", "defaultBackend", _final_backend)


def from_hub(ingress: Json, wanted: str) -> Json:
    """The ingress in the form of the version `wanted`."""
    return ingress if wanted == _FINAL else _change_ingress(ingress, "defaultBackend", "backend", _beta_backend)


def _change_ingress(ingress: Json, old_name: str, new_name: str, backend: Any) -> Json:
    spec: Json = ingress.get("spec") or {}
    changed = {new_name if name == old_name else name: value for name, value in spec.items()}
    if changed.get(new_name) is not None:
        changed[new_name] = backend(changed[new_name])
    if "rules" in changed:
        changed["rules"] = [_with_backends(rule, backend) for rule in changed["rules"] or ()]
    return {**ingress, "spec": changed}


def _with_backends(rule: Json, backend: Any) -> Json:
    if not rule.get("http"):
        return rule
    paths = [{**path, "backend": backend(path.get("backend") or {})} for path in rule["http"].get("paths") or ()]
    return {**rule, "http": {**rule["http"], "paths": paths}}


def _final_backend(backend: Json) -> Json:
    rest = {name: value for name, value in backend.items() if name not in {"serviceName", "servicePort"}}
    name, port = backend.get("serviceName") or "", backend.get("servicePort", 0)
    if not name and port == 0:
        return rest
    chosen = {"name": port} if isinstance(port, str) and port else {"number": port} if port else {}
    return {"service": {"name": name, "port": chosen}, **rest}


def _beta_backend(backend: Json) -> Json:
    service: Json = backend.get("service") or {}
    port: Json = service.get("port") or {}
    rest = {name: value for name, value in backend.items() if name != "service"}
    named = {"serviceName": service["name"]} if service.get("name") else {}
    return {**named, "servicePort": port.get("name") or port.get("number") or 0, **rest}
