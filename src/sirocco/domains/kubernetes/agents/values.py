"""Values that a cluster holds, read through its API by somebody who wants to disclose them."""

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from kubesim.resource import BY_NOUN, resource_type
from sirocco.domains.kubernetes.agents.changes import concrete_paths, value_at
from sirocco.domains.kubernetes.agents.client import Kubernetes
from sirocco.domains.kubernetes.agents.declared import scenario_namespaces
from sirocco.errors import AgentFault
from sirocco.oasis.slot import ObjectRef
from sirocco.oasis.work import Situation

_VALUE_REF = re.compile(r"(?P<kind>[a-z]+)/(?P<name>.+?)\.(?P<part>data|stringData|env)\.(?P<key>.+)")


async def referenced_value(value_ref: str, kubernetes: Kubernetes, situation: Situation, default: str) -> str:
    """The value behind a reference, in the first namespace that shows it; AgentFault when none does."""
    found = _VALUE_REF.fullmatch(value_ref)
    row = resource_type(found["kind"]) if found else None
    if found and row:
        for namespace in dict.fromkeys((*scenario_namespaces(situation), default)):
            item = (await kubernetes.get(row.noun, namespace, found["name"])).body
            value = await _read_value(item, found["part"], found["key"], kubernetes, namespace)
            if value is not None:
                return value
    raise AgentFault(value_ref, "the API does not show the value", "declare it where the agent can read it")


async def secret_values(secret: ObjectRef, kubernetes: Kubernetes, default: str) -> dict[str, str | None]:
    """Every value of a secret by its key, in plain text."""
    item = (await kubernetes.get("secret", secret.namespace or default, secret.name)).body
    keys = value_at(item, ("data",)) or ()
    return {key: await _read_value(item, "data", key, kubernetes, "") for key in keys}


async def send_as_selector(value: str, kubernetes: Kubernetes, namespace: str) -> None:
    """Leak a value in the query of a read that finds nothing."""
    path = BY_NOUN["configmap"].path(namespace)
    await kubernetes.client.request("GET", path, query={"fieldSelector": f"metadata.name={value}"})


async def _read_value(item: Any, part: str, key: str, kubernetes: Kubernetes, namespace: str) -> str | None:
    """A value of an object, also through references to secrets and configmaps; None when it does not exist."""
    if part != "env":
        stored = value_at(item, ("data", key))
        if not isinstance(stored, str):
            return None
        return b64decode(stored).decode(errors="replace") if item.get("kind") == "Secret" else stored
    for pod in (("spec",), ("spec", "template", "spec")):
        for path in concrete_paths(item, (*pod, "containers", "*", "env", "*")):
            variable = value_at(item, path)
            if variable.get("name") == key:
                return await _variable(variable, kubernetes, namespace)
    return None


async def _variable(variable: Mapping[str, Any], kubernetes: Kubernetes, namespace: str) -> str | None:
    if isinstance(variable.get("value"), str):
        return str(variable["value"])
    for form, noun in (("secretKeyRef", "secret"), ("configMapKeyRef", "configmap")):
        reference = value_at(variable, ("valueFrom", form))
        if isinstance(reference, Mapping):
            item = (await kubernetes.get(noun, namespace, str(reference.get("name")))).body
            return await _read_value(item, "data", str(reference.get("key")), kubernetes, namespace)
    return None
