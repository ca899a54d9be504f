"""The GitOps controller: drift shows, a sync or self-healing ends it."""

from typing import Any

import pytest

from kubesim.resource import BY_NOUN
from kubesim.services.reconciliation import covers, health, reconcile
from service_builders import Asked

NOW = "2024-03-01T08:00:00Z"
DEPLOYMENT, APPLICATION = BY_NOUN["deployment"], BY_NOUN["gitops-application"]
SPEC = {"replicas": 2, "template": {"spec": {"containers": [{"name": "web", "image": "web:1"}]}}}


def application(asked: Asked, *, heals: bool = False) -> None:
    policy = {"automated": {"selfHeal": True}} if heals else {}
    desired = [{"kind": "Deployment", "namespace": "shop", "name": "web", "spec": SPEC}]
    asked.put(
        "gitops-application",
        "web",
        {"syncPolicy": policy, "desired": desired},
        {"sync": {"status": "Synced", "revision": "abc"}},
    )


def change(asked: Asked, spec: dict[str, Any]) -> None:
    present = asked.store.get("deployment", "shop", "web")
    assert present is not None
    asked.store.update(DEPLOYMENT, present, {**present, "spec": {**present["spec"], **spec}})


def reconciled(asked: Asked) -> dict[str, Any]:
    present = asked.store.get("gitops-application", "shop", "web")
    assert present is not None
    return reconcile(asked.store, present, NOW)


def replicas(asked: Asked) -> Any:
    present = asked.store.get("deployment", "shop", "web")
    return None if present is None else present["spec"]["replicas"]


@pytest.fixture
def shop(asked: Asked) -> Asked:
    asked.add("deployment", "web", "shop", spec={**SPEC, "paused": False}, status={"availableReplicas": 2})
    return asked


def test_drift_shows_and_stays_without_self_healing(shop: Asked) -> None:
    application(shop)
    assert reconciled(shop)["status"]["sync"]["status"] == "Synced"
    change(shop, {"replicas": 9})
    status = reconciled(shop)["status"]
    assert (status["sync"]["status"], status["resources"][0]["status"], status["health"]["status"]) == (
        "OutOfSync", "OutOfSync", "Progressing",
    )  # fmt: skip
    assert replicas(shop) == 9
    change(shop, {"replicas": 2})
    assert reconciled(shop)["status"]["sync"]["status"] == "Synced"


def test_what_the_repository_does_not_speak_of_is_no_drift(shop: Asked) -> None:
    application(shop)
    change(shop, {"paused": True, "minReadySeconds": 5})
    assert reconciled(shop)["status"]["sync"]["status"] == "Synced"


def test_self_healing_reverts_drift(shop: Asked) -> None:
    application(shop, heals=True)
    change(shop, {"template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}})
    status = reconciled(shop)["status"]
    assert status["sync"]["status"] == "Synced"
    assert status["operationState"]["operation"]["initiatedBy"] == {"automated": True}
    present = shop.store.get("deployment", "shop", "web")
    assert present is not None
    assert present["spec"]["template"] == SPEC["template"]
    assert present["spec"]["paused"] is False


@pytest.mark.parametrize(("asked_for", "expected"), [({"revision": "def"}, 2), ({"dryRun": True}, 9)])
def test_a_sync_is_carried_out_once(shop: Asked, asked_for: dict[str, Any], expected: int) -> None:
    application(shop)
    change(shop, {"replicas": 9})
    present = shop.store.get("gitops-application", "shop", "web")
    assert present is not None
    shop.store.update(APPLICATION, present, {**present, "operation": {"sync": asked_for}})
    stored = reconciled(shop)
    assert replicas(shop) == expected
    assert stored["status"]["operationState"]["phase"] == "Succeeded"
    assert "operation" not in stored
    assert reconciled(shop) is stored


@pytest.mark.parametrize("heals", [False, True])
def test_what_is_gone_is_missing_until_it_is_made_again(shop: Asked, *, heals: bool) -> None:
    application(shop, heals=heals)
    present = shop.store.get("deployment", "shop", "web")
    assert present is not None
    shop.store.remove(DEPLOYMENT, present)
    status = reconciled(shop)["status"]
    assert replicas(shop) == (2 if heals else None)
    assert status["sync"]["status"] == ("Synced" if heals else "OutOfSync")
    assert status["health"]["status"] == ("Progressing" if heals else "Missing")


def test_an_application_that_manages_nothing_stays_as_declared(asked: Asked) -> None:
    asked.put(
        "gitops-application",
        "web",
        {"desired": []},
        {"sync": {"status": "OutOfSync"}, "health": {"status": "Degraded"}},
    )
    assert reconciled(asked)["status"] == {"sync": {"status": "OutOfSync"}, "health": {"status": "Degraded"}}


@pytest.mark.parametrize(
    ("found", "wanted", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True), ({"a": 1}, {"a": 1, "b": 2}, False), ([1, 2], [1], False), ([{"a": 1, "b": 2}], [{"a": 1}], True),
        ("x", "x", True), ({"a": None}, {"a": None}, True), ({}, {"a": None}, False), ([], {}, False), ({}, [], False),
    ],
)  # fmt: skip
def test_covers(found: Any, wanted: Any, *, expected: bool) -> None:
    assert covers(found, wanted) is expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (None, "Missing"),
        ({"spec": {"replicas": 2}, "status": {"availableReplicas": 2}}, "Healthy"),
        ({"spec": {"replicas": 2}, "status": {"availableReplicas": 2, "updatedReplicas": 1}}, "Progressing"),
        ({"spec": {"replicas": 2}, "status": {"conditions": [{"type": "Available", "status": "False"}]}}, "Degraded"),
    ],
)
def test_health(found: Any, expected: str) -> None:
    assert health({"kind": "Deployment"}, found) == expected
    assert health({"kind": "ConfigMap"}, {"data": {}}) == "Healthy"
