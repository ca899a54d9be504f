"""Quotas: how much of their limits is used."""

from kubesim.controllers.rows import QUOTA
from kubesim.discovery.catalogue import Resource, catalogue
from kubesim.kinds.admission.quotas import matching_names, usage
from kubesim.status import Json
from kubesim.store import Store
from kubesim.types.quantity import Quantity


def keep_quotas(store: Store, namespace: str) -> None:
    """Count what is in a namespace for each of its quotas."""
    for quota in store.items("resourcequota", namespace):
        hard = (quota.get("spec") or {}).get("hard") or {}
        used: dict[str, Quantity] = dict.fromkeys(hard, Quantity(0))
        for row in _counted_types(hard):
            for item in store.items(row.noun, namespace):
                for name, value in usage(row, item).items():
                    if name in used:
                        used[name] += value
        status = {"hard": hard, "used": {name: str(value) for name, value in used.items()}}
        if quota.get("status") != status:
            store.update(QUOTA, quota, {**quota, "status": status})


def _counted_types(hard: Json) -> list[Resource]:
    """The types whose objects a quota counts."""
    return [row for row in catalogue().resources if row.namespaced and matching_names(row, hard)]
