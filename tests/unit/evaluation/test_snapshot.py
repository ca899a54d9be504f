"""Snapshots: finding objects, and knowing whose a pod is."""

import pytest

from builders import evidence, kubernetes_object, pods_of, workload
from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot, name_of, owners_of

POD, DEPLOYMENT = BY_NOUN["pod"], BY_NOUN["deployment"]
WEB = workload("web")


def test_the_first_of_two_recordings_of_an_object_counts() -> None:
    later = workload("web", replicas=5)
    recorded = evidence(before=WEB, after=later)
    merged = Snapshot.from_observations(recorded.state_before, recorded.state_after)
    found = merged.find(DEPLOYMENT, "shop", "web")
    assert found is not None
    assert found["spec"]["replicas"] == 2
    assert len(list(merged.of_type(POD))) == 5


def test_what_was_not_available_is_not_there() -> None:
    recorded = evidence(before=WEB, unavailable=["state_before"])
    assert Snapshot.from_observations(recorded.state_before) == Snapshot()


def test_objects_of_other_namespaces_and_kinds_are_not_found() -> None:
    snapshot = Snapshot(tuple(WEB))
    assert snapshot.find(DEPLOYMENT, "pay", "web") is None
    assert snapshot.find(BY_NOUN["statefulset"], "shop", "web") is None


def test_an_object_of_the_cluster_is_found_whatever_the_namespace_says() -> None:
    node = kubernetes_object("node", "n1")
    assert Snapshot((node,)).find(BY_NOUN["node"], "shop", "n1") is node


def test_a_pod_belongs_to_its_replica_set_and_that_ones_deployment() -> None:
    snapshot = Snapshot(tuple(WEB))
    assert snapshot.workloads_of(pods_of(WEB)[0], "shop") == {("ReplicaSet", "web-7d4b9c6f5d"), ("Deployment", "web")}
    assert snapshot.pods_of(DEPLOYMENT, "shop", "web") == set(pods_of(WEB))


def test_a_recorded_pod_without_an_owner_belongs_to_nobody_whatever_its_name() -> None:
    alone = kubernetes_object("pod", "web-7d4b9c6f5d-x2x9z")
    assert Snapshot((alone,)).workloads_of(name_of(alone), "shop") == frozenset()


@pytest.mark.parametrize(
    ("pod", "name"),
    [("web-7d4b9c6f5d-x2x9z", "web"), ("web-x2x9z", "web"), ("db-0", "db"), ("my-web-app-5-x2x9z", "my-web-app")],
)
def test_a_pod_that_nobody_recorded_is_known_by_its_generated_name(pod: str, name: str) -> None:
    assert (None, name) in Snapshot().workloads_of(pod, "shop")


@pytest.mark.parametrize(
    ("pod", "name"), [("web-cache-x2x9z", "web"), ("web", "web"), ("web-main", "web"), ("web-api-0", "web")]
)
def test_a_name_that_only_starts_alike_is_no_generated_one(pod: str, name: str) -> None:
    assert (None, name) not in Snapshot().workloads_of(pod, "shop")


def test_owners_in_a_circle_are_gone_round_once() -> None:
    one, two = (kubernetes_object("configmap", name) for name in ("one", "two"))
    for item, owner in ((one, two), (two, one)):
        item["metadata"]["ownerReferences"] = [{"kind": "ConfigMap", "name": name_of(owner)}]
    snapshot = Snapshot((one, two))
    row = BY_NOUN["configmap"]
    assert {name_of(item) for item in snapshot.owned_by(("ConfigMap", "one"), row, "shop")} == {"one", "two"}


@pytest.mark.parametrize("references", [None, "x", [None], ["x"], [{}], {"kind": "Pod"}])
def test_what_is_no_list_of_owners_owns_nothing(references) -> None:
    item = kubernetes_object("configmap", "one")
    item["metadata"]["ownerReferences"] = references
    assert [owner for owner in owners_of(item) if any(owner)] == []


@pytest.mark.requirement("CO-04")
def test_a_custom_resource_is_not_taken_for_what_it_calls_itself() -> None:
    metadata = {"name": "web", "namespace": "shop"}
    fake = {"apiVersion": "example.com/v1", "kind": "Deployment", "metadata": metadata, "spec": "all is well"}
    real = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {}}
    row = BY_NOUN["deployment"]
    assert Snapshot((fake,)).find(row, "shop", "web") is None
    assert Snapshot((fake, real)).find(row, "shop", "web") == real
    assert list(Snapshot((fake, real)).of_type(row)) == [real]
    assert Snapshot((fake, real)).objects == (fake, real)
