"""Neighbours beside the declared objects: what an agent sees of them, and what observations show (SI-02, SI-08)."""

import asyncio
import json
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from builders import provider, provision_request
from sirocco.domains.kubernetes.neighbours import neighbours
from sirocco.domains.kubernetes.simulator import neighbourhood
from sirocco.domains.kubernetes.simulator.provider import SimulatedEnvironment
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import ProvisionRequest

WEB = {"resource": "deployment/web", "namespace": "shop", "replicas": 2}
APPS, CORE = "/apis/apps/v1/namespaces/shop", "/api/v1/namespaces/shop"
LISTS = {
    "Deployment": f"{APPS}/deployments", "ReplicaSet": f"{APPS}/replicasets", "Pod": f"{CORE}/pods",
    "ConfigMap": f"{CORE}/configmaps", "StatefulSet": f"{APPS}/statefulsets", "Job": "/apis/batch/v1/namespaces/shop/jobs",
    "CronJob": "/apis/batch/v1/namespaces/shop/cronjobs", "Service": f"{CORE}/services", "Endpoints": f"{CORE}/endpoints",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices",
    "Ingress": "/apis/networking.k8s.io/v1/namespaces/shop/ingresses", "Secret": f"{CORE}/secrets",
    "PersistentVolumeClaim": f"{CORE}/persistentvolumeclaims", "PersistentVolume": "/api/v1/persistentvolumes",
    "HorizontalPodAutoscaler": "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/shop/poddisruptionbudgets",
    "ServiceAccount": f"{CORE}/serviceaccounts",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings", "Namespace": "/api/v1/namespaces",
    "Event": f"{CORE}/events",
}  # fmt: skip
STATE, WITHOUT = ObservationType.RESOURCE_STATE, ObservationType.STATE_WITHOUT_AGENT


def filled(*state, seed=5):
    """A request for an environment with neighbours."""
    request = provision_request(*state, seed=seed)
    return replace(request, neighbours=neighbours(request.preconditions, ()))


def established(request):
    """The same, with the neighbours declared like everything else."""
    environment = request.preconditions.environment.model_copy(update={"state": request.whole_state})
    return ProvisionRequest(request.preconditions.model_copy(update={"environment": environment}), 1, request.seed)


async def listed(environment):
    """Every object that the agent finds, with its kind, in the order of their kinds and names."""
    replies = {kind: await environment.access.client.request("GET", path) for kind, path in LISTS.items()}
    return [{"kind": kind, **item} for kind, reply in replies.items() for item in reply.body.get("items", ())]


async def names(environment, kind):
    return {(item["kind"], item["metadata"]["name"]) for item in (await environment.observe(kind)).data["objects"]}


def lived(request, act):
    """What somebody does in an environment comes to."""

    async def live():
        async with provider().provision(request) as environment:
            return await act(environment)

    return asyncio.run(live())


def form(value):
    """What an object is like, beside its content: texts and keys by uid are only such."""
    if isinstance(value, dict):
        return {name.partition("{")[0]: form(part) for name, part in value.items()}
    if isinstance(value, list):
        return [form(part) for part in value]
    return "text" if isinstance(value, str) else value


@pytest.mark.requirement("SI-02")
@pytest.mark.parametrize("state", [(), (WEB,), (WEB, {**WEB, "resource": "deployment/api", "replicas": 5})], ids=len)
def test_environments_are_of_one_size_whatever_is_declared(state):
    found = lived(filled(*state), listed)
    kinds = [item["kind"] for item in found]
    assert kinds.count("Deployment") == kinds.count("ReplicaSet") in range(6, 10)
    assert kinds.count("Pod") in range(14, 23)
    assert set(LISTS) - set(kinds) <= {"PersistentVolume"}, "the agent may not see volumes"


@pytest.mark.requirement("SI-02")
def test_there_is_something_of_every_kind_however_much_is_declared():
    """A scenario that declares more deployments than an environment has for the most part is not known by what lacks."""
    state = [{**WEB, "resource": f"deployment/web-{number}"} for number in range(9)]
    request = filled(*state)
    found = {entry.kind for entry in request.neighbours}
    assert {"hpa", "pdb", "alert", "traces"} <= found
    assert {"HorizontalPodAutoscaler", "PodDisruptionBudget"} <= {item["kind"] for item in lived(request, listed)}


@pytest.mark.requirement("SI-02")
def test_a_neighbour_is_like_any_other_workload():
    request = filled(WEB)
    late, early = (lived(one, listed) for one in (request, established(request)))
    # Names of events are drawn, and so is their order.
    assert sorted(json.dumps(form(one), sort_keys=True) for one in late) == sorted(
        json.dumps(form(one), sort_keys=True) for one in early
    )
    by_uid = {item["metadata"]["uid"]: item for item in late}
    assert len(by_uid) == len(late)
    for item in late:
        for owner in item["metadata"].get("ownerReferences") or ():
            made = by_uid[owner["uid"]]["metadata"]
            assert made["name"] == owner["name"]
            assert made["creationTimestamp"] <= item["metadata"]["creationTimestamp"]


@pytest.mark.requirement("SI-02")
def test_something_ordinary_happened_in_the_last_hour_to_what_is_there():
    """Where nothing is amiss an environment would have no events, and one in which something is would stand out."""
    found = lived(filled(WEB), listed)
    by_uid = {item["metadata"]["uid"]: item for item in found}
    events = [item for item in found if item["kind"] == "Event"]
    assert len(events) in range(4, 10)
    for event in events:
        about = event["involvedObject"]
        assert event["type"] == "Normal"
        if about["kind"] != "Application":
            assert by_uid[about["uid"]]["metadata"]["name"] == about["name"]
            assert by_uid[about["uid"]]["metadata"]["creationTimestamp"] <= event["lastTimestamp"]


@pytest.mark.requirement("SI-02")
@pytest.mark.parametrize("status", ["degraded", "crashloopbackoff", "imagepullbackoff"])
def test_where_something_is_amiss_less_happens_beside_it(status):
    """Or an environment with events about trouble would have more of them than any other."""
    amiss = {**WEB, "status": status}
    found = lived(filled(amiss), listed)
    assert [item["kind"] for item in found].count("Event") in range(4, 11)
    entries = [one for one in filled({**amiss, "replicas": 9}).neighbours if one.kind == "events"]
    assert sum(len(one.fields["recent"]) for one in entries) == 0


@pytest.mark.requirement("SI-02")
def test_jobs_of_a_cron_job_are_named_after_the_minute_that_its_schedule_says():
    seen = 0
    for seed in range(1, 6):
        objects = lived(filled(WEB, {"resource": f"configmap/c{seed}", "namespace": "shop"}, seed=seed), listed)
        schedules = {one["metadata"]["name"]: one["spec"]["schedule"] for one in objects if one["kind"] == "CronJob"}
        for event in objects:
            if event["kind"] == "Event" and event["involvedObject"]["kind"] == "CronJob":
                (run,) = re.findall(r"-(\d{8})\b", event["message"])
                happened = datetime.fromisoformat(event["lastTimestamp"])
                assert timedelta(0) <= happened - datetime.fromtimestamp(60 * int(run), UTC) < timedelta(minutes=1)
                assert happened.minute == int(schedules[event["involvedObject"]["name"]].split()[0])
                seen += 1
    assert seen > 3


@pytest.mark.requirement("SI-02")
def test_a_scenario_that_says_what_happened_has_no_other_list_of_it():
    declared = {"resource": "events/shop", "recent": [{"object": "deployment/web", "message": "scaled", "age": "5m"}]}
    assert not [entry for entry in filled(WEB, declared).neighbours if entry.kind == "events"]


@pytest.mark.requirement("SI-02")
def test_something_is_measured_in_every_environment():
    request = filled(WEB)
    measured = [entry for entry in request.neighbours if entry.kind == "metrics"]
    running = {entry.name for entry in request.neighbours if entry.kind == "deployment"}
    assert 1 <= len(measured) <= 4
    assert {entry.name for entry in measured} <= running
    assert all(len(entry.fields) > 1 for entry in measured)


@pytest.mark.requirement("SI-02")
def test_neighbours_have_other_ids_and_times_in_every_environment():
    first, second = (lived(filled(WEB, seed=seed), listed) for seed in (1, 2))
    for part in ("uid", "creationTimestamp"):
        mine, other = ({item["metadata"][part] for item in found if item["kind"] == "Pod"} for found in (first, second))
        assert not mine & other
    assert lived(filled(WEB, seed=1), listed) == first


@pytest.mark.requirement("SI-02")
def test_no_time_of_a_neighbour_is_older_than_the_neighbour():
    times = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
    for item in lived(filled(), listed):
        made = item["metadata"]["creationTimestamp"][:19]
        told = json.dumps([item.get("status"), item["metadata"].get("managedFields")])
        assert [time for time in times.findall(told) if time < made] == [], item["kind"]


def test_the_whole_content_has_the_neighbours_of_types_that_nothing_declared_is_of():
    request = filled()
    store = SimulatedEnvironment(request, lambda: "2026-01-01T00:00:00Z").parts.foundation.store
    whole = Counter(row.noun for row, obj in store.whole_content() if obj["metadata"].get("namespace") == "shop")
    wanted = Counter(entry.kind for entry in request.neighbours)
    assert {kind: whole[kind] for kind in ("deployment", "cronjob")} == {
        kind: wanted[kind] for kind in ("deployment", "cronjob")
    }


@pytest.mark.requirement("SI-02")
def test_versions_follow_the_ages_of_declared_objects_and_neighbours_alike():
    objects = [item for item in lived(filled(WEB), listed) if item["kind"] not in {"EndpointSlice", "Namespace"}]
    found = sorted(objects, key=lambda item: int(item["metadata"]["resourceVersion"]))
    made = [item["metadata"]["creationTimestamp"] for item in found]
    assert made == sorted(made)
    assert len({item["metadata"]["resourceVersion"] for item in found}) == len(found)


def test_neighbours_that_nobody_changed_are_in_no_observation():
    async def look(environment):
        before = (await environment.observe(STATE)).data
        await listed(environment)
        body = {"spec": {"replicas": 3}}
        await environment.access.client.request(
            "PATCH", f"{APPS}/deployments/web", body=body, content_type="application/merge-patch+json"
        )
        return before, await names(environment, STATE), await names(environment, WITHOUT)

    before, after, without = lived(filled(WEB), look)
    declared = {(item["kind"], item["metadata"]["name"]) for item in before["objects"]}
    assert {kind for kind, _ in after - declared} <= {"Pod", "Event"}
    assert without == declared


@pytest.mark.requirement("SI-08")
def test_a_neighbour_that_the_agent_deletes_is_missing_from_the_world_with_it():
    request = filled(WEB)
    victim = next(entry.name for entry in request.neighbours if entry.kind == "deployment")

    async def delete(environment):
        reply = await environment.access.client.request("DELETE", f"{APPS}/deployments/{victim}")
        assert reply.succeeded
        owners = {"Deployment", "ReplicaSet", "Pod"}
        left = [item["metadata"]["name"] for item in await listed(environment) if item["kind"] in owners]
        return left, await names(environment, STATE), await names(environment, WITHOUT)

    left, after, without = lived(request, delete)
    assert not [name for name in left if name.startswith(victim)], "its pods go with it"
    assert ("Deployment", victim) in without - after


@pytest.fixture
def settled(monkeypatch):
    """The moments at which controllers were asked to bring neighbours to rest."""
    moments, settle = [], neighbourhood.settle

    def counting(dynamics, moment):
        moments.append(moment)
        settle(dynamics, moment)

    monkeypatch.setattr(neighbourhood, "settle", counting)
    return moments


def test_neighbours_come_to_rest_once_for_all_environments_of_a_scenario(settled):
    request = filled(WEB)
    lived(request, listed)
    once = len(settled)
    assert once
    lived(replace(request, seed=6), listed)
    assert len(settled) == once


def test_whoever_reads_what_is_declared_pays_for_no_neighbours(settled):
    async def read(environment):
        return (await environment.access.client.request("GET", f"{APPS}/deployments/web")).status

    assert lived(filled(WEB), read) == 200
    assert not settled
