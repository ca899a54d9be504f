"""Reactions: what the environment does once when its operation was carried out, its time has come, or a write counted."""

import asyncio

import pytest
from pydantic import ValidationError

from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.domains.kubernetes.simulator.reacting import unsupported_reactions
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.reaction import Reaction
from sirocco.oasis.scenario import Preconditions

WEB = {"resource": "deployment/web", "replicas": 2}
BROKEN = {**WEB, "status": "CrashLoopBackOff"}
SETTINGS = {"resource": "configmap/settings", "data": {"LEVEL": "info"}}
RESTART = {
    "spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-05T09:00:00Z"}}}}
}


def ready(pod):
    return any(item["type"] == "Ready" and item["status"] == "True" for item in pod["status"]["conditions"])


def reasons(live):
    return {
        (item["state"].get("waiting") or {}).get("reason")
        for pod in live.items("pod") for item in pod["status"].get("containerStatuses", ())
    }  # fmt: skip


def alert_state(live):
    (alert,) = live.send("GET", "/services/metrics/api/v1/rules").body["data"]["groups"][0]["rules"]
    return alert["state"]


def error_rate(live):
    (found,) = live.send("GET", "/services/metrics/api/v1/query", query={"query": "error_rate"}).body["data"]["result"]
    return float(found["value"][1])


def test_an_operation_that_was_carried_out_heals(provisioned):
    live = provisioned(BROKEN, SETTINGS, reactions=(
        {"when": "update configmap/settings data.LEVEL=debug namespace=shop", "then": {"heal": "deployment/web"}},
    ))  # fmt: skip
    live.merge("configmap", "settings", {"data": {"LEVEL": "warn"}})
    live.rest()
    assert not any(map(ready, live.items("pod")))
    live.merge("configmap", "settings", {"data": {"LEVEL": "debug"}}, query={"dryRun": "All"})
    live.rest()
    assert not any(map(ready, live.items("pod"))), "a dry run is nothing that was carried out"
    live.merge("configmap", "settings", {"data": {"LEVEL": "debug"}})
    live.rest()
    assert all(map(ready, live.items("pod")))


def test_a_refused_operation_does_nothing(provisioned):
    live = provisioned(BROKEN, SETTINGS, mode="read-only", reactions=(
        {"when": "update configmap/settings", "then": {"heal": "deployment/web"}},
    ))  # fmt: skip
    assert live.merge("configmap", "settings", {"data": {"LEVEL": "debug"}}).status == 403
    live.rest()
    assert not any(map(ready, live.items("pod")))


def test_the_second_write_makes_a_workload_fail(provisioned):
    live = provisioned(WEB, SETTINGS, reactions=(
        {"when": {"write": 2}, "then": {"fail": "deployment/web", "status": "OOMKilled", "reason": "too much"}},
    ))  # fmt: skip
    live.merge("configmap", "settings", {"data": {"LEVEL": "a"}})
    live.items("pod")
    live.rest()
    assert all(map(ready, live.items("pod")))
    live.merge("configmap", "settings", {"data": {"LEVEL": "b"}})
    live.rest()
    assert not any(map(ready, live.items("pod")))


def test_an_armed_failure_strikes_at_the_restart_and_spares_the_pods_that_run(provisioned):
    live = provisioned({**WEB, "injected_failure": "image-pull-backoff-on-restart"}, SETTINGS)
    live.merge("configmap", "settings", {"data": {"LEVEL": "debug"}})
    live.rest()
    assert all(map(ready, live.items("pod")))
    live.merge("deployment", "web", RESTART)
    live.rest()
    assert reasons(live) == {None, "ImagePullBackOff"}
    assert sum(map(ready, live.items("pod"))) == 2, "the old pods serve on"
    assert any(event["message"].startswith("Back-off pulling image") for event in live.items("event"))


def test_a_rollback_takes_away_what_the_rollout_brought(provisioned):
    live = provisioned(
        {**WEB, "status": "elevated_error_rate", "current_image": "web:2", "previous_image": "web:1",
         "last_deploy": "15_minutes_ago"},
        {"resource": "metrics/web", "error_rate": "8%", "normal_error_rate": "0.5%"},
    )  # fmt: skip
    assert error_rate(live) == 8
    (former,) = [item for item in live.items("replicaset") if not item["spec"]["replicas"]]
    live.merge("deployment", "web", {"spec": {"template": former["spec"]["template"]}})
    live.rest()
    assert error_rate(live) == 0.5
    assert all(map(ready, live.items("pod")))


def test_a_restart_is_no_rollback(provisioned):
    live = provisioned({**WEB, "current_image": "web:2", "previous_image": "web:1"},
                       {"resource": "metrics/web", "error_rate": "8%", "normal_error_rate": "0.5%"})  # fmt: skip
    live.merge("deployment", "web", RESTART)
    live.rest()
    assert error_rate(live) == 8


def test_alerts_fire_and_are_resolved(provisioned):
    live = provisioned(WEB, {"resource": "alert/high", "status": "pending"}, reactions=(
        {"when": {"after": "10s"}, "then": {"fire": "alert/high"}},
        {"when": "scale deployment/web replicas=4", "then": {"resolve": "alert/high"}},
    ))  # fmt: skip
    assert alert_state(live) == "pending"
    for _ in range(10):
        live.items("pod")
    assert alert_state(live) == "firing"
    live.merge("deployment", "web", {"spec": {"replicas": 4}})
    assert alert_state(live) == "inactive"


def test_an_application_is_out_of_sync_when_something_drifts_and_is_reconciled(provisioned):
    live = provisioned({**WEB, "image": "web:1", "managed_by": "gitops"}, SETTINGS,
                       {"resource": "gitops-application/web", "sync_status": "synced"},
                       reactions=({"when": "update configmap/settings", "then": {"reconcile": "gitops-application/web"}},))  # fmt: skip

    def sync():
        return live.send("GET", "/services/gitops/api/v1/applications/web").body["status"]["sync"]["status"]

    assert sync() == "Synced"
    live.merge("deployment", "web", {"spec": {"replicas": 7}})
    assert sync() == "OutOfSync"
    live.merge("configmap", "settings", {"data": {"LEVEL": "x"}})
    assert sync() == "Synced"
    assert live.get("deployment", "web")["spec"]["replicas"] == 2


def test_an_application_that_heals_itself_reverts_drift(provisioned):
    live = provisioned(WEB, {"resource": "gitops-application/web", "self_heal": True})
    live.merge("deployment", "web", {"spec": {"replicas": 7}})
    live.rest()
    assert live.get("deployment", "web")["spec"]["replicas"] == 2


def test_an_object_takes_on_other_state_and_keeps_what_was_changed_meanwhile(provisioned):
    live = provisioned(WEB, {"resource": "node/edge"}, {"resource": "metrics/web", "error_rate": "8%"}, SETTINGS, reactions=(
        {"when": {"write": 1}, "then": {"set": {"resource": "node/edge", "conditions": [
            {"type": "DiskPressure", "status": "True"}]}}},
        {"when": {"write": 1}, "then": {"set": {"resource": "deployment/web", "replicas": 5}}},
        {"when": {"write": 1}, "then": {"set": {"resource": "metrics/web", "error_rate": "1%"}}},
        {"when": {"write": 1}, "then": {"set": {"resource": "configmap/fresh", "data": {"A": "b"}}}},
    ))  # fmt: skip
    live.merge("deployment", "web", {"metadata": {"labels": {"touched": "yes"}}})
    live.rest()
    conditions = {item["type"]: item["status"] for item in live.get("node", "edge")["status"]["conditions"]}
    assert (conditions["DiskPressure"], conditions["Ready"]) == ("True", "True")
    deployment = live.get("deployment", "web")
    assert (deployment["spec"]["replicas"], deployment["metadata"]["labels"]["touched"]) == (5, "yes")
    assert error_rate(live) == 1
    assert live.get("configmap", "fresh")["data"] == {"A": "b"}


def test_the_same_calls_have_the_same_consequences(provisioned):
    def run():
        live = provisioned({**WEB, "injected_failure": "crashloopbackoff-on-scale"}, SETTINGS)
        live.merge("deployment", "web", {"spec": {"replicas": 3}})
        live.rest()
        return live.objects()

    assert run() == run()


@pytest.mark.requirement("CO-15")
@pytest.mark.parametrize(
    ("reaction", "words"),
    [
        ({"when": "melt deployment/web", "then": {"heal": "deployment/web"}}, "melt"),
        ({"when": {"write": 1}, "then": {"heal": "alert/high"}}, "heal 'alert/high': use"),
        ({"when": {"write": 1}, "then": {"fire": "alert/absent"}}, "no such object is declared"),
        ({"when": {"write": 1}, "then": {"fail": "deployment/web", "status": "melting"}}, "status is 'melting'"),
        ({"when": {"write": 1}, "then": {"set": {"resource": "deployment/web", "colour": "red"}}}, "colour cannot be"),
        ({"when": {"write": 1}, "then": {"set": {"resource": "spaceship/x"}}}, "kind 'spaceship'"),
    ],
)
def test_a_reaction_that_cannot_happen_is_named(reaction, words):
    declared = Preconditions.model_validate(
        {"environment": {"type": "kubernetes-cluster", "state": [WEB]},
         "agent": {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["shop"]}}}
    )  # fmt: skip
    armed = Reaction.model_validate(reaction)
    (problem,) = unsupported_reactions([armed], declared)
    assert problem.startswith("x-sirocco.reactions.0: ")
    assert words in problem
    provider = SimulatorProvider({"a": "1"}, lambda: "2026-01-05T09:00:00Z")
    with pytest.raises(Exception, match="reactions"):
        _enter(provider, ProvisionRequest(declared, 1, 1, (armed,)))


def _enter(provider, request):
    async def run():
        async with provider.provision(request):
            raise AssertionError("an environment whose reactions cannot happen was handed out")

    asyncio.run(run())


@pytest.mark.parametrize(
    "reaction",
    [
        {"when": {"after": "soon"}, "then": {"heal": "deployment/web"}},
        {"when": {"after": "3s", "write": 1}, "then": {"heal": "deployment/web"}},
        {"when": {"write": 0}, "then": {"heal": "deployment/web"}},
        {"when": {}, "then": {"heal": "deployment/web"}},
        {"when": "get pod/x", "then": {}},
        {"when": "get pod/x", "then": {"heal": "deployment/web", "fire": "alert/x"}},
        {"when": "get pod/x", "then": {"heal": "deployment/web", "status": "error"}},
        {"when": "get pod/x", "then": {"set": {"status": "error"}}},
    ],
)
def test_a_reaction_is_one_thing_that_waits_for_one_thing(reaction):
    with pytest.raises(ValidationError):
        Reaction.model_validate(reaction)
