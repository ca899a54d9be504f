"""The values that the server fills in for horizontal pod autoscalers."""

from collections.abc import Callable

from kubesim.kinds.conversion import autoscaling
from kubesim.status import Json

_PERIOD = 15
_SCALE_UP: Json = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": _PERIOD},
        {"type": "Percent", "value": 100, "periodSeconds": _PERIOD},
    ],
}
_SCALE_DOWN: Json = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": _PERIOD}],
}


def _through_the_hub(version: str) -> Callable[[Json], Json]:
    """What a version has no field for is filled in and normalized on the way through the hub, including annotations."""
    api_version = f"autoscaling/{version}"

    def fill(obj: Json) -> Json:
        spec = {"minReplicas": 1, **(obj.get("spec") or {})}
        if version == "v2beta1" and not spec.get("metrics"):
            spec["metrics"] = [{"type": "Resource", "resource": {
                "name": "cpu", "targetAverageUtilization": autoscaling.DEFAULT_CPU_UTILIZATION}}]  # fmt: skip
        hub = autoscaling.to_hub({**obj, "spec": spec}, api_version)
        return autoscaling.from_hub(hub, api_version)

    return fill


def _nested_defaults(version: str) -> Callable[[Json], Json]:
    api_version = f"autoscaling/{version}"

    def fill(obj: Json) -> Json:
        spec = {"minReplicas": 1, **(obj.get("spec") or {})}
        if not spec.get("metrics"):
            target = {"type": "Utilization", "averageUtilization": autoscaling.DEFAULT_CPU_UTILIZATION}
            spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
        if (behavior := spec.get("behavior")) is not None:
            spec["behavior"] = {
                "scaleUp": {**_SCALE_UP, **(behavior.get("scaleUp") or {})},
                "scaleDown": {**_SCALE_DOWN, **(behavior.get("scaleDown") or {})},
            }
        hub = autoscaling.to_hub({**obj, "spec": spec}, api_version)
        return autoscaling.from_hub(hub, api_version)

    return fill


DEFAULTS: dict[str, Callable[[Json], Json]] = {
    "hpa/v1": _through_the_hub("v1"),
    "hpa/v2beta1": _through_the_hub("v2beta1"),
    "hpa/v2beta2": _nested_defaults("v2beta2"),
    "hpa/v2": _nested_defaults("v2"),
}
