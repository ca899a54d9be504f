"""What the server refuses in a container's environment: variables, fields of its pod, its resources."""

from collections.abc import Collection, Sequence

from kubesim.kinds.validation.fields import all_invalid, invalid, not_supported, required
from kubesim.kinds.validation.resources import amount
from kubesim.names import (
    config_key_problems,
    dns_subdomain_problems,
    environment_name_problems,
    qualified_name_problems,
)
from kubesim.status import Cause, Json

_ENV_FIELDS = ("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
               "status.hostIP", "status.podIP", "status.podIPs")  # fmt: skip
_FILE_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_CONVERTIBLE_FIELDS = {*_ENV_FIELDS, *_FILE_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase"}
_RESOURCE_FIELDS = ("limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
                    "requests.ephemeral-storage", "requests.memory")  # fmt: skip
_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def environment_causes(variables: Sequence[Json], path: str) -> list[Cause]:
    """The environment variables of a container."""
    causes: list[Cause] = []
    for index, variable in enumerate(variables):
        place, name = f"{path}[{index}]", variable.get("name", "")
        if name:
            causes += all_invalid(f"{place}.name", name, environment_name_problems(name))
        else:
            causes.append(required(f"{place}.name"))
        if "valueFrom" in variable:
            causes += _source_causes(variable, f"{place}.valueFrom")
    return causes


def _source_causes(variable: Json, path: str) -> list[Cause]:
    source = variable["valueFrom"] or {}
    causes: list[Cause] = []
    if "fieldRef" in source:
        causes += field_reference_causes(source["fieldRef"], _ENV_FIELDS, f"{path}.fieldRef")
    if "resourceFieldRef" in source:
        causes += resource_reference_causes(source["resourceFieldRef"], f"{path}.resourceFieldRef", volume=False)
    for field in ("configMapKeyRef", "secretKeyRef"):
        if field in source:
            causes += _key_reference_causes(source[field], f"{path}.{field}")
    if not source:
        words = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        causes.append(invalid(path, "", words))
    elif variable.get("value"):
        causes.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif len(source) > 1:
        causes.append(invalid(path, "", "may not have more than one field specified at a time"))
    return causes


def _key_reference_causes(reference: Json, path: str) -> list[Cause]:
    name, key = reference.get("name", ""), reference.get("key", "")
    causes = all_invalid(f"{path}.name", name, dns_subdomain_problems(name))
    if not key:
        return [*causes, required(f"{path}.key")]
    return [*causes, *all_invalid(f"{path}.key", key, config_key_problems(key))]


def file_field_reference_causes(reference: Json, path: str) -> list[Cause]:
    """A field of the pod that a file shows."""
    return field_reference_causes(reference, _FILE_FIELDS, path)


def field_reference_causes(reference: Json, known: Collection[str], path: str) -> list[Cause]:
    """A field of the pod that its containers can see."""
    version, field = reference.get("apiVersion", ""), reference.get("fieldPath", "")
    for name, value in (("apiVersion", version), ("fieldPath", field)):
        if not value:
            return [required(f"{path}.{name}")]
    start, mark, rest = field.partition("['")
    subscripted = bool(start and mark and rest.endswith("']"))
    problem = ""
    if version != "v1":
        problem = f"unsupported pod version: {version}"
    elif subscripted and start not in {"metadata.annotations", "metadata.labels"}:
        problem = f"field label does not support subscript: {field}"
    elif not subscripted and field not in _CONVERTIBLE_FIELDS and field != "spec.host":
        problem = f"field label not supported: {field}"
    if problem:
        return [invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {problem}")]
    if subscripted:
        key = rest.removesuffix("']")
        return all_invalid(path, key, qualified_name_problems(key.lower() if start.endswith("annotations") else key))
    internal = "spec.nodeName" if field == "spec.host" else field
    return [] if internal in known else [not_supported(f"{path}.fieldPath", internal, sorted(known))]


def resource_reference_causes(reference: Json, path: str, *, volume: bool) -> list[Cause]:
    """A container's request or limit that its containers can see."""
    name = reference.get("resource", "")
    causes: list[Cause] = []
    if volume and not reference.get("containerName"):
        causes.append(required(f"{path}.containerName"))
    elif not name:
        causes.append(required(f"{path}.resource"))
    elif name not in _RESOURCE_FIELDS:
        causes.append(not_supported(f"{path}.resource", name, _RESOURCE_FIELDS))
    divisor = str(reference.get("divisor", "0"))
    if amount(divisor) == 0:
        return causes
    kind = name.partition(".")[2]
    if kind == "cpu" and divisor not in {"1m", "1"}:
        words = "only divisor's values 1m and 1 are supported with the cpu resource"
        causes.append(invalid(f"{path}.divisor", name, words))
    if kind in {"memory", "ephemeral-storage"} and divisor not in _DIVISORS:
        what = "memory" if kind == "memory" else "local ephemeral storage"
        words = f"only divisor's values {', '.join(_DIVISORS)} are supported with the {what} resource"
        causes.append(invalid(f"{path}.divisor", name, words))
    return causes


def environment_from_causes(sources: Sequence[Json], path: str) -> list[Cause]:
    """Config maps and secrets whose keys all become variables."""
    causes: list[Cause] = []
    for index, source in enumerate(sources):
        place, prefix = f"{path}[{index}]", source.get("prefix", "")
        if prefix:
            causes += all_invalid(f"{place}.prefix", prefix, environment_name_problems(prefix))
        given = [field for field in ("configMapRef", "secretRef") if field in source]
        for field in given:
            name = (source[field] or {}).get("name", "")
            if not name:
                causes.append(required(f"{place}.{field}.name"))
            else:
                masked = f"{name[:-2]}a" if name.endswith("-") else name
                causes += all_invalid(f"{place}.{field}.name", name, dns_subdomain_problems(masked))
        if not given:
            causes.append(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(given) > 1:
            causes.append(invalid(path, "", "may not have more than one field specified at a time"))
    return causes
