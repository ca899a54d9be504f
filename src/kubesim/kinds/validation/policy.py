"""What the server refuses in pod disruption budgets."""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import invalid, nonnegative
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import selector_causes
from kubesim.kinds.validation.quotients import percent_causes, positive_causes
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.status import Cause, Json

_BOUNDS = ("minAvailable", "maxUnavailable")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def _budget(_row: Resource, obj: Json) -> list[Cause]:
    """The rules of the type leave the metadata to the rules for all types."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    causes = []
    if all(spec.get(name) is not None for name in _BOUNDS):
        value = GoValue("policy.PodDisruptionBudgetSpec", spec)
        causes.append(invalid("spec", value, "minAvailable and maxUnavailable cannot be both set"))
    for name in _BOUNDS:
        if spec.get(name) is not None:
            causes += positive_causes(spec[name], f"spec.{name}")
            causes += percent_causes(spec[name], f"spec.{name}")
    causes += selector_causes(spec.get("selector"), "spec.selector")
    return [*causes, *(cause for name in _COUNTS for cause in nonnegative(f"status.{name}", status.get(name)))]


def _budget_update(row: Resource, new: Json, _old: Json) -> list[Cause]:
    return _budget(row, new)


def _no_problems(_row: Resource, _new: Json, _old: Json) -> list[Cause]:
    """The status of a budget is accepted unchecked."""
    return []


CREATION: dict[str, CreationRule] = {"pdb": _budget}
UPDATE: dict[str, UpdateRule] = {"pdb": _budget_update, "pdb/status": _no_problems}
