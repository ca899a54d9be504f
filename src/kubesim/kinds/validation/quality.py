"""Quality of service when a node runs short: a class that follows from what a pod's containers request."""

from kubesim.kinds.validation.resources import amount
from kubesim.status import Json

_COMPUTE = ("cpu", "memory")


def qos_class(spec: Json) -> str:
    """The quality-of-service class that the server gives a pod, by what its containers request."""
    requests: set[str] = set()
    limits: set[str] = set()
    guaranteed = True
    sums: dict[tuple[str, str], int] = {}
    whole = [spec] if spec.get("resources") else []  # resources of the pod as a whole replace those of its containers
    for container in whole or [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        resources = container.get("resources") or {}
        for part, found in (("requests", requests), ("limits", limits)):
            given = {
                name: amount(quantity)
                for name, quantity in (resources.get(part) or {}).items()
                if name in _COMPUTE and amount(quantity) > 0
            }
            found.update(given)
            for name, value in given.items():
                sums[part, name] = sums.get((part, name), 0) + value
            if part == "limits" and len(given) < len(_COMPUTE):
                guaranteed = False
    if not requests and not limits:
        return "BestEffort"
    same = all(sums.get(("requests", name)) == sums.get(("limits", name)) for name in requests)
    return "Guaranteed" if guaranteed and same and len(requests) == len(limits) else "Burstable"
