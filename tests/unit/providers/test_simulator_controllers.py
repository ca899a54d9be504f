"""The controllers: workloads follow their spec and their declared health, dependents follow their owners."""

from dataclasses import replace

import pytest

from kubesim.controllers.deployments import REVISION
from kubesim.controllers.dynamics import Declaration, Dynamics, Health, Moment
from kubesim.controllers.events import record_event
from kubesim.controllers.jobs import MOST_PODS
from kubesim.controllers.replicas import MATERIALISED_PODS
from kubesim.controllers.settling import settle
from kubesim.resource import BY_NOUN
from kubesim.store import FOREGROUND, Ids, Key, Store

TEMPLATE = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "db", "image": "db:1"}]}}
NOW = Moment("2026-01-05T09:00:00Z", "2026-01-05T09:00:00Z")


def ready(pod):
    return any(item["type"] == "Ready" and item["status"] == "True" for item in pod["status"]["conditions"])


def replica_sets(live):
    """Revision and wanted size of every replica set."""
    return sorted((int(item["metadata"]["annotations"][REVISION]), item["spec"]["replicas"])
                  for item in live.items("replicaset"))  # fmt: skip


def test_a_deployment_has_a_replica_set_and_pods_that_name_their_owners(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2})
    (replica_set,) = live.items("replicaset")
    owner = replica_set["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["name"], owner["uid"]) == (
        "Deployment", "web", live.get("deployment", "web")["metadata"]["uid"],
    )  # fmt: skip
    stamp = replica_set["metadata"]["labels"]["pod-template-hash"]
    assert replica_set["metadata"]["name"] == f"web-{stamp}"
    for pod in live.items("pod"):
        assert pod["metadata"]["ownerReferences"][0]["uid"] == replica_set["metadata"]["uid"]
        assert pod["metadata"]["labels"] == {"app": "web", "pod-template-hash": stamp}
        assert pod["spec"]["nodeName"] in live.names("node", None)


def test_scaling_adds_and_removes_pods_and_is_reported(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2})
    first = set(live.names("pod"))
    path = "/apis/apps/v1/namespaces/shop/deployments/web/scale"
    body, named = {"spec": {"replicas": 4}}, {"name": "web", "namespace": "shop"}
    assert live.send("PATCH", path, body, content_type="application/merge-patch+json").body["spec"] == {"replicas": 4}
    assert first < set(live.names("pod"))
    live.rest()
    assert live.get("deployment", "web")["status"]["readyReplicas"] == 4
    assert live.send("GET", path).body["status"] == {"replicas": 4, "selector": "app=web"}
    assert {"ScalingReplicaSet", "SuccessfulCreate"} <= {event["reason"] for event in live.items("event")}
    assert (
        live.send("PUT", path, {"metadata": {**named, "resourceVersion": "1"}, "spec": {"replicas": 1}}).status == 409
    )
    assert live.send("PUT", path, {"metadata": named, "spec": {"replicas": -1}}).status == 422
    assert live.send("PUT", path, {"metadata": named, "spec": {"replicas": "x"}}).status == 400
    assert live.send("PUT", path, {"metadata": named, "spec": {"replicas": 0}}).status == 200
    assert live.names("pod") == []
    assert replica_sets(live) == [(1, 0)]


def test_a_huge_scale_is_told_honestly_and_materialised_in_part(provisioned):
    live = provisioned({"resource": "deployment/web"})
    live.merge("deployment", "web", {"spec": {"replicas": 5000}})
    live.rest()
    assert len(live.names("pod")) == MATERIALISED_PODS < 100
    status = live.get("deployment", "web")["status"]
    assert (status["replicas"], status["readyReplicas"]) == (5000, 5000)


def test_a_new_template_makes_a_new_revision_and_new_pods(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2})
    old = set(live.names("pod"))
    stamp = {"kubectl.kubernetes.io/restartedAt": "2026-01-05T09:00:00Z"}
    live.merge("deployment", "web", {"spec": {"template": {"metadata": {"annotations": stamp}}}})
    live.rest()
    assert not old & set(live.names("pod"))
    assert len(live.names("pod")) == 2
    assert replica_sets(live) == [(1, 0), (2, 2)]
    assert live.get("deployment", "web")["metadata"]["annotations"][REVISION] == "2"
    assert all(pod["metadata"]["annotations"] == stamp for pod in live.items("pod"))


def test_going_back_to_an_earlier_template_reuses_its_replica_set(provisioned):
    live = provisioned({"resource": "deployment/web", "image": "web:1"})
    name = live.names("replicaset")[0]
    template = live.get("deployment", "web")["spec"]["template"]
    containers = [{**template["spec"]["containers"][0], "image": "web:2"}]
    live.merge("deployment", "web", {"spec": {"template": {"spec": {"containers": containers}}}})
    live.merge("deployment", "web", {"spec": {"template": template}})
    live.rest()
    assert replica_sets(live) == [(2, 0), (3, 1)]
    assert live.get("replicaset", name)["metadata"]["annotations"][REVISION] == "3"


def test_a_paused_deployment_scales_but_does_not_roll_out(provisioned):
    live = provisioned({"resource": "deployment/web"})
    live.merge("deployment", "web", {"spec": {"paused": True, "template": {"metadata": {"annotations": {"a": "b"}}}}})
    assert replica_sets(live) == [(1, 1)]
    live.merge("deployment", "web", {"spec": {"replicas": 3}})
    assert replica_sets(live) == [(1, 3)]
    live.merge("deployment", "web", {"spec": {"paused": None}})
    live.rest()
    assert replica_sets(live) == [(1, 0), (2, 3)]


def test_only_the_kept_revisions_stay(provisioned):
    live = provisioned({"resource": "deployment/web"})
    live.merge("deployment", "web", {"spec": {"revisionHistoryLimit": 2}})
    for number in range(5):
        live.merge("deployment", "web", {"spec": {"template": {"metadata": {"annotations": {"n": str(number)}}}}})
        live.rest()
    assert replica_sets(live) == [(4, 0), (5, 0), (6, 1)]


@pytest.mark.parametrize("way", ["delete", "evict", "collection"])
def test_a_pod_that_goes_is_replaced(provisioned, way):
    live = provisioned({"resource": "deployment/web", "replicas": 2})
    old = live.names("pod")
    path = f"/api/v1/namespaces/shop/pods/{old[0]}"
    if way == "delete":
        reply = live.delete("pod", old[0])
        assert reply.body["metadata"]["deletionGracePeriodSeconds"] == 30
    elif way == "evict":
        assert live.send("POST", f"{path}/eviction", {"metadata": {"name": old[0]}}).status == 201
        assert live.send("POST", f"{path}/eviction", {"metadata": {"name": old[0]}}).status == 404
    else:
        live.send("DELETE", "/api/v1/namespaces/shop/pods")
    new = live.names("pod")
    assert len(new) == 2
    assert old[0] not in new


def test_deleting_a_deployment_takes_its_replica_sets_and_pods(provisioned):
    live = provisioned({"resource": "deployment/web"}, {"resource": "deployment/other"})
    live.delete("deployment", "web")
    assert all(name.startswith("other-") for name in live.names("pod") + live.names("replicaset"))


def test_orphaned_dependents_live_on_and_a_new_deployment_adopts_them(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2})
    body = {key: value for key, value in live.get("deployment", "web").items() if key != "status"}
    pods = live.names("pod")
    assert live.delete("deployment", "web", body={"propagationPolicy": "Orphan"}).body["kind"] == "Deployment"
    assert live.names("deployment") == []
    assert live.names("pod") == pods
    body["metadata"] = {"name": "web"}
    assert live.send("POST", "/apis/apps/v1/namespaces/shop/deployments", body).status == 201
    assert live.names("pod") == pods
    assert live.items("replicaset")[0]["metadata"]["ownerReferences"][0]["name"] == "web"


def test_foreground_deletion_takes_the_dependents_too(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2})
    live.delete("deployment", "web", query={"propagationPolicy": "Foreground"})
    assert (live.names("deployment"), live.names("replicaset"), live.names("pod")) == ([], [], [])


def test_a_deleted_replica_set_comes_back(provisioned):
    live = provisioned({"resource": "deployment/web"})
    (name,) = live.names("replicaset")
    live.delete("replicaset", name)
    assert live.names("replicaset") == [name]
    assert len(live.names("pod")) == 1


def test_a_replica_set_scaled_behind_its_deployments_back_is_put_right(provisioned):
    live = provisioned({"resource": "deployment/web"})
    live.merge("replicaset", live.names("replicaset")[0], {"spec": {"replicas": 4}})
    assert replica_sets(live) == [(1, 1)]
    assert len(live.names("pod")) == 1


@pytest.mark.parametrize(
    ("status", "phase", "ready_pods", "reason"),
    [
        ("running", "Running", 4, None),
        ("degraded", "Running", 2, "Unhealthy"),
        ("crashloopbackoff", "Running", 0, "BackOff"),
        ("oomkilled", "Running", 0, "BackOff"),
        ("error", "Running", 0, "BackOff"),
        ("elevated_error_rate", "Running", 4, None),
        ("pending", "Pending", 0, "FailedScheduling"),
    ],
)
def test_pods_and_conditions_tell_the_declared_health(provisioned, status, phase, ready_pods, reason):
    live = provisioned({"resource": "deployment/web", "replicas": 4, "status": status})
    pods = live.items("pod")
    assert {pod["status"]["phase"] for pod in pods} == {phase}
    assert sum(map(ready, pods)) == ready_pods
    deployment = live.get("deployment", "web")
    assert deployment["status"].get("readyReplicas", 0) == ready_pods
    conditions = {item["type"]: item["status"] for item in deployment["status"]["conditions"]}
    assert conditions["Available"] == ("True" if ready_pods == 4 else "False")
    events = live.items("event")
    # Whatever backs off was started again before, which kubelets tell each time.
    again = {"Pulled", "Created", "Started"} if reason == "BackOff" else set()
    assert {event["reason"] for event in events} == ({reason} if reason else set()) | again
    assert sum(event["reason"] == reason for event in events) == 4 - ready_pods
    if status == "crashloopbackoff":
        waiting = pods[0]["status"]["containerStatuses"][0]
        assert waiting["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        assert waiting["restartCount"] > 0
    if status == "pending":
        assert all("nodeName" not in pod["spec"] for pod in pods)
        assert live.send("GET", f"/api/v1/namespaces/shop/pods/{pods[0]['metadata']['name']}/log").status == 204


def test_a_failure_outlives_a_restart_and_a_change_of_size(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2, "status": "CrashLoopBackOff"})
    live.send("DELETE", "/api/v1/namespaces/shop/pods")
    live.rest()
    assert not any(map(ready, live.items("pod")))
    live.merge("deployment", "web", {"spec": {"replicas": 6}})
    live.rest()
    assert not any(map(ready, live.items("pod")))


def test_pods_that_are_in_a_bad_way_are_well_once_they_were_replaced(provisioned):
    declared = {"type": "Available", "status": "False", "reason": "pod unhealthy"}
    live = provisioned({"resource": "deployment/web", "replicas": 4, "status": "degraded", "conditions": [declared]})
    assert sum(map(ready, live.items("pod"))) == 2
    live.merge("deployment", "web", {"spec": {"replicas": 5}})
    live.rest()
    assert sum(map(ready, live.items("pod"))) == 3, "more pods do not cure those that are there"
    live.merge("deployment", "web", {"spec": {"template": {"metadata": {"annotations": {"restartedAt": "now"}}}}})
    live.rest()
    assert all(map(ready, live.items("pod")))
    available = {item["type"]: item for item in live.get("deployment", "web")["status"]["conditions"]}["Available"]
    assert (available["status"], available["reason"]) == ("True", "MinimumReplicasAvailable")


def test_a_claim_in_use_outlives_its_deletion_until_no_pod_mounts_it(provisioned):
    live = provisioned({"resource": "pvc/data"}, {"resource": "pvc/spare"},
                       {"resource": "deployment/db", "volumes": ["data"]})  # fmt: skip
    assert live.get("pvc", "data")["status"]["phase"] == "Bound"
    live.delete("pvc", "spare")
    live.delete("pvc", "data")
    assert live.names("pvc") == ["data"]
    assert "deletionTimestamp" in live.get("pvc", "data")["metadata"]
    live.merge("deployment", "db", {"spec": {"replicas": 0}})
    assert live.names("pvc") == []


def test_endpoints_follow_the_ready_pods_of_a_service(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2, "status": "degraded"}, {"resource": "service/web"})
    (subset,) = live.get("endpoints", "web")["subsets"]
    assert len(subset["addresses"]) == len(subset["notReadyAddresses"]) == 1
    live.merge("deployment", "web", {"spec": {"replicas": 0}})
    assert live.get("endpoints", "web")["subsets"] == []
    live.delete("service", "web")
    assert live.names("endpoints") == []


def test_stateful_sets_keep_ordinals_and_daemon_sets_cover_the_nodes(provisioned):
    live = provisioned()
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "db"}}, "template": TEMPLATE}
    live.send("POST", "/apis/apps/v1/namespaces/shop/statefulsets", {"metadata": {"name": "db"}, "spec": spec})
    assert live.names("pod") == ["db-0", "db-1", "db-2"]
    uids = [pod["metadata"]["uid"] for pod in live.items("pod")]
    live.merge("statefulset", "db", {"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}})
    assert not set(uids) & {pod["metadata"]["uid"] for pod in live.items("pod")}
    path = "/apis/apps/v1/namespaces/shop/statefulsets/db/scale"
    live.send("PUT", path, {"metadata": {"name": "db", "namespace": "shop"}, "spec": {"replicas": 1}})
    assert live.names("pod") == ["db-0"]
    live.delete("statefulset", "db")
    daemon = {"metadata": {"name": "db"}, "spec": {"selector": spec["selector"], "template": TEMPLATE}}
    live.send("POST", "/apis/apps/v1/namespaces/shop/daemonsets", daemon)
    assert sorted(pod["spec"]["nodeName"] for pod in live.items("pod")) == live.names("node", None)


def test_a_terminating_namespace_takes_its_content():
    store = Store(Ids(1))
    namespace = store.create(
        BY_NOUN["namespace"], {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop"},
                               "spec": {"finalizers": ["kubernetes"]}}, NOW.now,
    )  # fmt: skip
    store.create(BY_NOUN["configmap"], {"kind": "ConfigMap", "apiVersion": "v1",
                                          "metadata": {"name": "a", "namespace": "shop"}}, NOW.now)  # fmt: skip
    settle(Dynamics(store), NOW)
    left = store.delete(BY_NOUN["namespace"], namespace, NOW.now)
    assert left["status"]["phase"] == "Terminating"
    settle(Dynamics(store), NOW)
    assert list(store.objects()) == []


def test_what_a_finalizer_holds_holds_its_namespace():
    store = Store(Ids(1))
    row, content = BY_NOUN["namespace"], {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop"}}
    namespace = store.create(row, {**content, "spec": {"finalizers": ["kubernetes"]}}, NOW.now)
    for name, more in (("held", {"finalizers": ["example.com/keep"]}), ("free", {})):
        metadata = {"name": name, "namespace": "shop", **more}
        store.create(BY_NOUN["configmap"], {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}, NOW.now)
    dynamics = Dynamics(store)
    settle(dynamics, NOW)
    store.delete(row, namespace, NOW.now)
    settle(dynamics, NOW)
    assert not store.is_unsettled
    assert [item["metadata"]["name"] for _, item in store.objects()] == ["held", "shop"]
    held = store.get("configmap", "shop", "held")
    assert held["metadata"]["deletionTimestamp"]
    store.put(BY_NOUN["configmap"], {**held, "metadata": {**held["metadata"], "finalizers": []}})
    settle(dynamics, NOW)
    assert list(store.objects()) == []


def test_an_event_that_comes_again_is_counted_up_and_another_is_not():
    store = Store(Ids(1))
    pod = store.create(BY_NOUN["pod"], {"kind": "Pod", "apiVersion": "v1",
                                          "metadata": {"name": "a", "namespace": "shop"}}, NOW.now)  # fmt: skip
    for message in ("one", "two", "one", "one"):
        record_event(store, pod, "Said", message, NOW)
    counts = {event["message"]: event["count"] for event in store.items("event", "shop")}
    assert counts == {"one": 3, "two": 1}
    store.remove(BY_NOUN["event"], next(e for e in store.items("event", "shop") if e["message"] == "one"))
    assert record_event(store, pod, "Said", "one", NOW)["count"] == 1


def test_owner_references_in_a_circle_keep_nobody_busy(provisioned):
    live = provisioned({"resource": "pod/a"}, {"resource": "pod/b"})
    uid = {name: live.get("pod", name)["metadata"]["uid"] for name in "ab"}
    for name, owner in (("a", "b"), ("b", "a")):
        reference = {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": uid[owner], "controller": True}
        assert live.merge("pod", name, {"metadata": {"ownerReferences": [reference]}}).status == 200
    assert live.send("GET", "/api/v1/namespaces/shop/pods/a/log").status == 200


def test_an_image_that_cannot_be_pulled(provisioned):
    live = provisioned({"resource": "deployment/web", "status": "imagepullbackoff"})
    (pod,) = live.items("pod")
    waiting = pod["status"]["containerStatuses"][0]["state"]["waiting"]
    assert (pod["status"]["phase"], waiting["reason"]) == ("Pending", "ImagePullBackOff")
    assert {"Failed", "BackOff", "Pulling"} == {event["reason"] for event in live.items("event")}


def test_a_container_killed_for_memory_says_so(provisioned):
    live = provisioned({"resource": "deployment/web", "status": "oomkilled"})
    state = live.items("pod")[0]["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (state["reason"], state["exitCode"]) == ("OOMKilled", 137)


def test_a_new_pod_takes_its_time(provisioned):
    live = provisioned({"resource": "deployment/web"})
    live.merge("deployment", "web", {"spec": {"replicas": 2}})

    def fresh():
        return min(live.items("pod"), key=lambda pod: pod["metadata"]["creationTimestamp"] < "2026-01-05")["status"]

    assert fresh()["containerStatuses"][0]["state"]["waiting"]["reason"] == "ContainerCreating"
    live.names("pod")
    assert fresh()["phase"] == "Running"
    assert live.get("deployment", "web")["status"]["readyReplicas"] == 1
    for _ in range(3):
        live.names("pod")
    assert live.get("deployment", "web")["status"]["readyReplicas"] == 2


def test_a_rollout_keeps_enough_pods_available_all_the_time(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 4})
    live.merge("deployment", "web", {"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}})
    seen = []
    for _ in range(60):
        status = live.get("deployment", "web")["status"]
        seen.append((status["replicas"], status.get("readyReplicas", 0)))
    assert all(total <= 5 and available >= 3 for total, available in seen)
    assert seen[-1] == (4, 4)
    assert replica_sets(live) == [(1, 0), (2, 4)]


def test_recreate_stops_the_old_pods_first(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2})
    strategy = {"type": "Recreate", "rollingUpdate": None}
    template = {"metadata": {"annotations": {"a": "b"}}}
    live.merge("deployment", "web", {"spec": {"strategy": strategy, "template": template}})
    assert live.get("deployment", "web")["status"].get("readyReplicas", 0) == 0
    live.rest()
    assert live.get("deployment", "web")["status"]["readyReplicas"] == 2


def test_a_rollout_that_stands_still_is_reported_after_its_deadline(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2, "status": "crashloopbackoff"})
    live.merge("deployment", "web", {"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}})

    def progressing():
        conditions = live.get("deployment", "web")["status"]["conditions"]
        return next(item["reason"] for item in conditions if item["type"] == "Progressing")

    assert progressing() == "ReplicaSetUpdated"
    live.rest()
    assert progressing() == "ProgressDeadlineExceeded"


def test_a_job_runs_to_its_end(provisioned):
    live = provisioned()
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "once", "image": "once:1"}]}}
    body = {"metadata": {"name": "once"}, "spec": {"completions": 2, "template": template}}
    assert live.send("POST", "/apis/batch/v1/namespaces/shop/jobs", body).status == 201
    assert live.get("job", "once")["status"]["active"] == 1
    live.rest()
    status = live.get("job", "once")["status"]
    assert (status["succeeded"], status["conditions"][0]["type"]) == (2, "Complete")
    assert {pod["status"]["phase"] for pod in live.items("pod")} == {"Succeeded"}


def test_an_autoscaler_takes_back_what_is_beyond_its_bounds_after_a_while(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2},
                       {"resource": "hpa/web", "target": "deployment/web", "min_replicas": 2, "max_replicas": 4})  # fmt: skip
    assert live.get("hpa", "web")["status"]["currentReplicas"] == 2
    live.merge("deployment", "web", {"spec": {"replicas": 9}})
    assert live.get("deployment", "web")["spec"]["replicas"] == 9
    live.rest()
    assert live.get("deployment", "web")["spec"]["replicas"] == 4
    assert "SuccessfulRescale" in {event["reason"] for event in live.items("event")}


def test_a_budget_refuses_the_eviction_that_it_cannot_spare(provisioned):
    budget = {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}
    live = provisioned({"resource": "deployment/web", "replicas": 3}, {"resource": "pdb/web", "spec": budget})
    assert live.get("pdb", "web")["status"]["disruptionsAllowed"] == 1
    codes = []
    for name in live.names("pod")[:2]:
        body = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": name, "namespace": "shop"}}
        codes.append(live.send("POST", f"/api/v1/namespaces/shop/pods/{name}/eviction", body).status)
    assert codes == [201, 429]


def test_events_that_say_nothing_keep_nobody_from_writing_others(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 1})
    event = {"metadata": {"name": "a", "namespace": "shop"}, "involvedObject": {"namespace": "shop"}}
    assert live.send("POST", BY_NOUN["event"].path("shop"), event).status == 201
    assert live.merge("deployment", "web", {"spec": {"replicas": 2}}).status == 200
    live.rest()
    assert len(live.items("pod")) == 2


def test_a_job_of_a_billion_pods_makes_a_bounded_number_of_them(provisioned):
    live = provisioned()
    many = 10**9
    template = {"spec": {"containers": [{"name": "a", "image": "a"}], "restartPolicy": "Never"}}
    job = {"metadata": {"name": "a"}, "spec": {"parallelism": many, "completions": many, "template": template}}
    assert live.send("POST", BY_NOUN["job"].path("shop"), job).status == 201
    live.rest()
    assert len(live.items("pod")) == MOST_PODS


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"annotations": {"deployment.kubernetes.io/revision": "9" * 5000}}},
        {"spec": {"strategy": {"rollingUpdate": {"maxSurge": f"{'9' * 5000}%"}}}},
        {"spec": {"progressDeadlineSeconds": 2**31 - 1, "template": {"metadata": {"annotations": {"a": "b"}}}}},
    ],
)
def test_numbers_of_any_size_keep_the_controllers_going(provisioned, change):
    live = provisioned({"resource": "deployment/web", "replicas": 1, "status": "pending"})
    live.merge("deployment", "web", change)
    for item in live.items("replicaset"):
        live.merge("replicaset", item["metadata"]["name"], change)
    live.rest()
    assert live.names("deployment") == ["web"]
    assert live.events()[-1]["requestReceivedTimestamp"].startswith("2026-01-05")


def test_what_belongs_to_no_namespace_can_be_deleted_in_the_foreground():
    store = Store(Ids(1))
    row = BY_NOUN["clusterrole"]
    manifest = {"kind": row.kind, "apiVersion": row.api_version, "metadata": {"name": "a"}}
    store.delete(row, store.create(row, manifest, NOW.now), NOW.now, propagation=FOREGROUND)
    settle(Dynamics(store), NOW)
    assert store.items("clusterrole") == []


@pytest.mark.requirement("SI-08")
def test_a_pod_that_no_node_takes_waits_until_one_does(provisioned):
    operator = {"kind": "Group", "name": "system:authenticated", "apiGroup": "rbac.authorization.k8s.io"}
    live = provisioned(
        {"resource": "node/worker-1"},
        {"resource": "deployment/web", "replicas": 1},
        {"resource": "clusterrole/nodes", "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["*"]}]},
        {"resource": "clusterrolebinding/nodes", "role": "clusterrole/nodes", "subjects": [operator]},
    )
    choice = {"spec": {"template": {"spec": {"nodeSelector": {"disk": "tape"}}}}}
    assert live.merge("deployment", "web", choice).status == 200
    live.rest()
    old, waiting = sorted(live.items("pod"), key=ready, reverse=True)
    assert ready(old)
    (condition,) = waiting["status"]["conditions"]
    assert (waiting["status"]["phase"], condition["reason"]) == ("Pending", "Unschedulable")
    assert condition["message"] == "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."
    assert [event["message"] for event in live.items("event") if event["reason"] == "FailedScheduling"] == [
        condition["message"]
    ]
    assert live.merge("node", "worker-2", {"metadata": {"labels": {"disk": "tape"}}}, None).status == 200
    live.rest()
    (pod,) = live.items("pod")
    assert (ready(pod), pod["spec"]["nodeName"]) == (True, "worker-2")


def test_controllers_at_rest_act_on_what_is_declared_from_then_on():
    dynamics, key = Dynamics(Store(Ids(1))), Key("deployment", "shop", "db")
    store = dynamics.store
    for noun, name, more in (("namespace", "shop", {}), ("node", "worker", {"status": {}})):
        store.create(
            BY_NOUN[noun], {"kind": BY_NOUN[noun].kind, "metadata": {"name": name}, "spec": {}, **more}, NOW.now
        )
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "db"}}, "template": TEMPLATE}
    manifest = {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": {"name": "db", "namespace": "shop"},
        "spec": spec,
    }
    store.create(BY_NOUN["deployment"], manifest, NOW.now)
    settle(dynamics, replace(NOW, silent=True))
    stalled = Declaration(conditions=({"type": "Stalled", "status": "True"},))
    for number, declaration in enumerate((Declaration(), stalled, stalled, Declaration(Health.ERROR))):
        if declaration != dynamics.declarations.get(key):
            dynamics.declare(key, declaration)
        store.touch("shop")
        at = replace(NOW, now=f"2026-01-05T09:00:0{number}Z", seconds=number)
        settle(dynamics, at)
        conditions = {item["type"]: item for item in store.get(*key)["status"]["conditions"]}
        is_well = declaration.health is Health.RUNNING
        assert list(map(ready, store.items("pod"))) == [is_well, is_well]
        assert conditions["Available"]["status"] == str(is_well)
        # What is declared beside the usual conditions is dated by when it was last reported.
        assert ("Stalled" in conditions) == (declaration is stalled)
        assert "Stalled" not in conditions or conditions["Stalled"]["lastUpdateTime"] == at.now
