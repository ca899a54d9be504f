"""How an admission plugin refuses a request."""

from collections.abc import Sequence

from kubesim.discovery.catalogue import Resource
from kubesim.status import ApiError, Json


def admission_refusal(resource: Resource, obj: Json, why: str) -> ApiError:
    """403 in the words of a plugin; of a name that is still to be generated, only the prefix is known."""
    metadata = obj.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName") or "Unknown"
    plural = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    details = {"name": name, **({"group": resource.group} if resource.group else {}), "kind": resource.plural}
    return ApiError(403, "Forbidden", f'{plural} "{name}" is forbidden: {why}', details)


def join_problems(problems: Sequence[str]) -> str:
    """Several problems in one text, without repetitions."""
    distinct = [*dict.fromkeys(problems)]
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
