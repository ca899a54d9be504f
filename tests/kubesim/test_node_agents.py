"""Nodes in a cluster whose controllers run elsewhere: what they do with pods that somebody else made."""

import pytest

from kubesim.assembly import Foundation
from kubesim.controllers.dynamics import Declaration, Health
from kubesim.controllers.node_agents import run_node_agents
from kubesim.nodes import node
from kubesim.resource import BY_NOUN
from kubesim.store import Key

NOW = "2026-03-01T10:00:00Z"
POD, DEPLOYMENT, REPLICA_SET, NODE = (BY_NOUN[noun] for noun in ("pod", "deployment", "replicaset", "node"))


@pytest.fixture
def foundation():
    made = Foundation(3, NOW)
    made.store.create(NODE, node("worker-1", "zone-a", kubelet="v1.34.1"), NOW)
    made.store.create(BY_NOUN["namespace"], {"kind": "Namespace", "metadata": {"name": "shop"}}, NOW)
    made.dynamics.settle_elsewhere = lambda moment: run_node_agents(made.dynamics, moment)
    return made


def bring_on(foundation, seconds):
    foundation.time.go_to(foundation.time.seconds + seconds)
    run_node_agents(foundation.dynamics, foundation.time.present())


def a_pod(foundation, name="web-abcde", owner=None, **metadata):
    spec = {"containers": [{"name": "web", "image": "web:1"}], "restartPolicy": "Always"}
    references = [{"kind": "ReplicaSet", "name": "web", "uid": owner, "controller": True}] if owner else []
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "shop", "ownerReferences": references, **metadata},
        "spec": spec,
        "status": {"phase": "Pending"},
    }
    return foundation.store.create(POD, pod, NOW)


def pod_now(foundation, name="web-abcde"):
    return foundation.store.get("pod", "shop", name)


def test_a_new_pod_gets_a_node_starts_and_becomes_ready(foundation):
    a_pod(foundation)
    bring_on(foundation, 0)
    assert pod_now(foundation)["spec"]["nodeName"] == "worker-1"
    assert pod_now(foundation)["status"]["phase"] == "Pending"
    bring_on(foundation, 6)
    assert pod_now(foundation)["status"]["phase"] == "Running"
    assert pod_now(foundation)["status"]["containerStatuses"][0]["ready"]


def test_a_pod_fares_as_was_declared_of_the_workload_that_it_belongs_to(foundation):
    replicas = {"kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 1}}
    owner = foundation.store.create(REPLICA_SET, replicas, NOW)
    foundation.dynamics.declare(Key("replicaset", "shop", "web"), Declaration(Health.CRASHLOOPBACKOFF))
    a_pod(foundation, owner=owner["metadata"]["uid"])
    bring_on(foundation, 0)
    bring_on(foundation, 6)
    waiting = pod_now(foundation)["status"]["containerStatuses"][0]["state"]["waiting"]
    assert waiting["reason"] == "CrashLoopBackOff"


def test_it_makes_no_pods_and_deletes_none_of_those_that_a_controller_keeps(foundation):
    replicas = {"kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "shop"},
                "spec": {"replicas": 3, "template": {"spec": {"containers": []}}}}  # fmt: skip
    owner = foundation.store.create(REPLICA_SET, replicas, NOW)
    a_pod(foundation, owner=owner["metadata"]["uid"])
    bring_on(foundation, 6)
    assert len(foundation.store.items("pod", "shop")) == 1


def test_a_deleted_pod_goes_and_one_that_a_finalizer_holds_has_ended(foundation):
    deletion = {"deletionTimestamp": NOW, "deletionGracePeriodSeconds": 30}
    for name, held in (("plain", []), ("held", ["batch.kubernetes.io/job-tracking"])):
        pod = a_pod(foundation, name)
        metadata = {**pod["metadata"], **deletion, **({"finalizers": held} if held else {})}
        foundation.store.write(POD, {**pod, "metadata": metadata})
    bring_on(foundation, 1)
    assert pod_now(foundation, "plain") is None
    held = pod_now(foundation, "held")
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    assert held["status"]["phase"] == "Failed"


def test_declared_conditions_are_laid_over_what_a_controller_elsewhere_reports(foundation):
    made = {"kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 1}}
    deployment = foundation.store.create(DEPLOYMENT, made, NOW)
    reported = {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}
    foundation.store.report(DEPLOYMENT, deployment, {"conditions": [reported]})
    held = Declaration(conditions=({"type": "RecoveryHeld", "message": "ask first"},))
    foundation.dynamics.declare(Key("deployment", "shop", "web"), held)
    bring_on(foundation, 1)
    found = foundation.store.get("deployment", "shop", "web")["status"]["conditions"]
    assert found[0] == reported
    assert (found[1]["type"], found[1]["message"], found[1]["status"]) == ("RecoveryHeld", "ask first", "True")
    version = foundation.store.version
    foundation.store.touch("shop")
    bring_on(foundation, 1)
    assert foundation.store.version == version
