"""Pod specs from state entries: containers, variables, resources, volumes in all the ways that scenarios write them."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubesim.names import is_dns_label
from kubesim.status import Json
from sirocco.domains.kubernetes.simulator.checks import as_text, key_reference
from sirocco.domains.kubernetes.simulator.vocabulary import declared_value
from sirocco.oasis.scenario import StateEntry

_NOT_KUBERNETES = frozenset({"status", "logs"})
"""Keys of a container entry that are not part of a Kubernetes container."""
_AMOUNTS = {
    "memory_limit": ("limits", "memory"), "cpu_limit": ("limits", "cpu"), "memory_request": ("requests", "memory"),
    "cpu_request": ("requests", "cpu"),
}  # fmt: skip


def pod_spec(entry: StateEntry) -> Json:
    """The pods of a workload, or the pod, that an entry describes."""
    volumes, mounts = _volumes(entry)
    declared = list(declared_value(entry, "containers") or ()) or [{"name": container_name(entry.name)}]
    first, *rest = (_container(item, entry) for item in declared)
    main = {
        **first,
        **(
            {"env": [*first.get("env", ()), *_variables(declared_value(entry, "env"))]}
            if declared_value(entry, "env")
            else {}
        ),
        **_resources(first.get("resources"), entry),
        **({"volumeMounts": [*first.get("volumeMounts", ()), *mounts]} if mounts else {}),
        **({"ports": [{"containerPort": entry.fields["port"]}]} if "port" in entry.fields else {}),
    }
    inits = [_container(item, entry) for item in declared_value(entry, "init_containers") or ()]
    account, affinity, node = (declared_value(entry, key) for key in ("service_account", "affinity", "node"))
    return {
        "containers": [main, *rest],
        **({"initContainers": inits} if inits else {}),
        **({"volumes": volumes} if volumes else {}),
        **({"serviceAccountName": account} if account else {}),
        **({"affinity": dict(affinity)} if affinity else {}),
        **({"nodeName": node} if node else {}),
    }


def image_of(entry: StateEntry) -> str:
    """The image that the containers of an entry run now."""
    fields = entry.fields
    return str(fields.get("current_image") or fields.get("image") or f"registry.internal/{entry.name}:1.0.0")


def container_name(name: str) -> str:
    """The name of a container or volume after its object's name, if that is a valid label."""
    return name if is_dns_label(name) else "main"


def _container(item: Mapping[str, Any], entry: StateEntry) -> Json:
    kept = {key: value for key, value in item.items() if key not in _NOT_KUBERNETES}
    variables = {"env": list(_variables(item["env"]))} if item.get("env") else {}
    return {"image": image_of(entry), **kept, **variables}


def _variables(env: Any) -> Iterator[Json]:
    """Variables from a mapping, or from a list like that of a container."""
    listed = [(item["name"], {key: item[key] for key in item if key != "name"}) for item in env] if (
        not isinstance(env, Mapping)
    ) else list(env.items())  # fmt: skip
    for name, value in listed:
        source = key_reference(name, value)
        if source is not None:
            yield {"name": name, "valueFrom": source}
        else:
            yield {"name": name, "value": as_text(value.get("value", "") if isinstance(value, Mapping) else value)}


def _resources(known: Any, entry: StateEntry) -> Json:
    """Limits and requests, in any spelling; a more specific spelling takes precedence over a general one."""
    found: dict[str, dict[str, str]] = {}
    general = (known, declared_value(entry, "resources"))
    maps = {"limits": declared_value(entry, "resource_limits"), "requests": declared_value(entry, "resource_requests")}
    for source in (*general, maps):
        for side, amounts in (source or {}).items():
            found.setdefault(side, {}).update({str(key): as_text(value) for key, value in (amounts or {}).items()})
    for key, (side, what) in _AMOUNTS.items():
        if key in entry.fields:
            found.setdefault(side, {})[what] = as_text(entry.fields[key])
    kept = {side: amounts for side, amounts in found.items() if amounts}
    return {"resources": kept} if kept else {}


def _volumes(entry: StateEntry) -> tuple[list[Json], list[Json]]:
    """The volumes that an entry mounts, and where."""
    sources = [_parse_reference(name) for name in declared_value(entry, "volumes_from") or ()]
    claims = [_parse_reference(name)[1] for name in declared_value(entry, "volumes") or ()]
    volumes = [
        *(_source_volume(kind, name) for kind, name in sources),
        *({"name": container_name(name), "persistentVolumeClaim": {"claimName": name}} for name in claims),
    ]
    mounts: list[Json] = [
        *({"name": container_name(name), "mountPath": f"/etc/{name}", "readOnly": True} for _, name in sources),
        *({"name": container_name(name), "mountPath": f"/var/lib/{name}"} for name in claims),
    ]
    return volumes, mounts


def _source_volume(kind: str, name: str) -> Json:
    content = {"secret": {"secretName": name}} if kind == "secret" else {"configMap": {"name": name}}
    return {"name": container_name(name), **content}


def _parse_reference(text: str) -> tuple[str, str]:
    """Kind and name in a reference such as `configmap/settings`; scenarios may also leave out the kind."""
    kind, _, name = str(text).rpartition("/")
    return kind.lower(), name
