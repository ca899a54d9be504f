"""GitOps applications: they notice what differs from their repository, and correct it if asked or configured to."""

from kubesim.controllers.dynamics import Dynamics, Moment
from kubesim.resource import BY_NOUN
from kubesim.services.reconciliation import reconcile
from kubesim.store import Key, Store

_APPLICATION = BY_NOUN["gitops-application"]


def keep_applications(dynamics: Dynamics, namespace: str, moment: Moment) -> None:
    """Have every application that has something in a namespace check it."""
    for application in dynamics.store.present(_APPLICATION.noun):
        places = {item.get("namespace") for item in application["spec"].get("desired") or ()}
        if namespace in {*places, application["metadata"].get("namespace")}:
            reconcile(dynamics.store, application, moment.now)


def ask_for_sync(store: Store, key: Key) -> None:
    """Have an application correct what differs."""
    found = store.get(*key)
    if found is not None:
        store.update(_APPLICATION, found, {**found, "operation": {"sync": {}}})
