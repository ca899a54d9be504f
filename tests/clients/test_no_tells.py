"""Nothing in an environment tells it from a cluster that has been there for months (SI-02)."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from clients.conftest import preconditions
from clients.wire import Street
from kubesim.clock import utc_now
from kubesim.world import EnvironmentTime
from sirocco.domains.kubernetes.simulator.provider import CLOCK_LAG, SimulatorProvider
from sirocco.oasis.provider import ProvisionRequest

pytestmark = pytest.mark.requirement("SI-02")
STATE = [
    {"resource": "deployment/web", "replicas": 4, "image": "registry.internal/web:1.4.0"},
    {"resource": "service/web", "port": 8080},
    {"resource": "configmap/settings", "data": {"colour": "green"}},
]
SHOP, APPS = "/api/v1/namespaces/shop", "/apis/apps/v1/namespaces/shop"
NOW = "2026-01-05T10:00:00.000000Z"


@pytest.fixture(scope="module")
def house():
    with Street(3, state=STATE) as (one,):
        yield one


def read(seed, *paths):
    """What an agent in an environment of that seed reads at these paths."""
    return read_of(STATE, *paths, seed=seed)


def read_of(state, *paths, seed=3):
    """The same of an environment with that state."""

    async def answers():
        request = ProvisionRequest(preconditions(state), 1, seed)
        async with SimulatorProvider({}, lambda: NOW).provision(request) as environment:
            return [(await environment.access.client.request("GET", path)).body for path in paths]

    return asyncio.run(answers())


def born(obj):
    return obj["metadata"]["creationTimestamp"]


def when(text):
    return datetime.fromisoformat(text)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_owners_are_older_than_what_they_made_and_namespaces_than_what_is_in_them(seed):
    paths = ("/api/v1/namespaces", "/api/v1/nodes", f"{APPS}/deployments", f"{APPS}/replicasets", f"{SHOP}/pods")
    namespaces, nodes, deployments, sets, pods = (body["items"] for body in read(seed, *paths))
    own = next(item for item in namespaces if item["metadata"]["name"] == "shop")
    system = next(item for item in namespaces if item["metadata"]["name"] == "kube-system")
    assert born(system) <= min(map(born, nodes)) < born(own) < born(deployments[0]) < born(sets[0])
    assert all(born(sets[0]) < born(pod) <= pod["status"]["startTime"] for pod in pods)
    assert timedelta(days=45) <= when(NOW) - when(born(system)) <= timedelta(days=302)
    assert max(map(born, pods)) < NOW


def test_ages_differ_between_objects_and_between_environments():
    paths = (f"{SHOP}/configmaps/settings", f"{APPS}/deployments/web", f"{SHOP}/services/web")
    here, there = ([*map(born, read(seed, *paths))] for seed in (1, 2))
    assert len({*here, *there}) == 6


def test_a_replica_set_that_never_changed_is_of_the_first_generation():
    deployments, sets = (body["items"] for body in read(2, f"{APPS}/deployments", f"{APPS}/replicasets"))
    assert {one["metadata"]["generation"] for one in (*deployments, *sets)} == {1}
    assert {one["status"]["observedGeneration"] for one in sets} == {1}


def test_lines_of_a_log_have_the_same_times_whenever_they_are_read(house):
    (pod, *_) = house.ask("GET", f"{SHOP}/pods").json["items"]
    path = f"{SHOP}/pods/{pod['metadata']['name']}/log?timestamps=true"
    first = house.ask("GET", path).content.decode()
    for number in range(3):
        house.ask("POST", f"{SHOP}/configmaps", {"metadata": {"name": f"later-{number}"}})
    assert house.ask("GET", path).content.decode() == first
    times = [line.split()[0] for line in first.splitlines()]
    assert times == sorted(times)
    started = when(pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"])
    assert timedelta(0) <= when(times[0]) - started < timedelta(minutes=1)
    assert not any(time.endswith("000000000Z") for time in times)


def test_the_clock_is_never_ahead_of_the_real_one():
    time = EnvironmentTime(NOW, 7, lag=CLOCK_LAG)
    seen = []
    for _ in range(5000):
        seen.append(time.tick()[1])
    time.go_to(1e7)
    seen += [time.tick()[1], time.present().now]
    assert max(seen) < NOW
    assert seen[:-1] == sorted(seen[:-1])
    assert len({*seen}) == len(seen)


def test_what_is_made_now_has_an_age(house):
    made = house.ask("POST", f"{SHOP}/configmaps", {"metadata": {"name": "fresh"}})
    date = datetime.strptime(made.headers["date"], "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC)
    assert when(born(made.json)) == date
    assert date < when(utc_now())


def test_the_authority_is_in_a_namespace_that_nobody_has_touched():
    (published,) = read(4, f"{SHOP}/configmaps/kube-root-ca.crt")
    assert published["data"]["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")
    assert when(born(published)) < when(NOW) - timedelta(days=10)


def test_every_namespace_has_the_authority_that_the_kubeconfig_trusts(house):
    published = house.ask("GET", f"{SHOP}/configmaps/kube-root-ca.crt").json
    assert published["data"]["ca.crt"] == house.access.served.authority
    assert house.ask("DELETE", f"{SHOP}/configmaps/kube-root-ca.crt").status == 200
    again = house.ask("GET", f"{SHOP}/configmaps/kube-root-ca.crt").json
    assert again["metadata"]["uid"] != published["metadata"]["uid"]
    assert again["data"]["ca.crt"] == house.access.served.authority


def test_the_authority_and_the_servers_certificate_are_as_old_as_the_cluster(house):
    authority = x509.load_pem_x509_certificate(house.access.served.authority.encode())
    with house.socket() as wire:
        server = x509.load_der_x509_certificate(wire.getpeercert(binary_form=True))
    for certificate in (authority, server):
        assert when(utc_now()) - certificate.not_valid_before_utc > timedelta(days=44)
        assert certificate.not_valid_after_utc > when(utc_now()) + timedelta(days=30)
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "kubernetes.default.svc" in names.get_values_for_type(x509.DNSName)


def test_nodes_run_the_servers_release_on_machines_of_their_own(house):
    nodes = house.ask("GET", "/api/v1/nodes").json["items"]
    version = house.ask("GET", "/version").json
    for node in nodes:
        info = node["status"]["nodeInfo"]
        assert info["kubeletVersion"] == version["gitVersion"]
        assert all(
            info[key] for key in ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "architecture")
        )
        assert all(one["lastHeartbeatTime"] for one in node["status"]["conditions"])
    assert len({node["status"]["nodeInfo"]["machineID"] for node in nodes}) == len(nodes)
    assert version["gitCommit"] == "93248f9ae092f571eb870b7664c534bfc7d00f03"


def test_pods_are_on_their_nodes_and_have_images_with_digests(house):
    nodes = {node["metadata"]["name"]: node["status"]["addresses"][0]["address"]
             for node in house.ask("GET", "/api/v1/nodes").json["items"]}  # fmt: skip
    for pod in house.ask("GET", f"{SHOP}/pods").json["items"]:
        assert pod["status"]["hostIP"] == nodes[pod["spec"]["nodeName"]]
        (container,) = pod["status"]["containerStatuses"]
        assert container["imageID"].startswith("registry.internal/web@sha256:")
        assert container["containerID"].startswith("containerd://")


def test_what_was_there_before_has_managers(house):
    for path in (
        f"{APPS}/deployments/web",
        f"{SHOP}/services/web",
        f"{SHOP}/configmaps/settings",
        "/api/v1/namespaces/shop",
    ):
        obj = house.ask("GET", path).json
        assert obj["metadata"]["managedFields"], path
        assert all(born(obj) <= entry["time"] < house.environment.now for entry in obj["metadata"]["managedFields"])


def test_nodes_and_accounts_are_called_something_else_in_every_environment():
    names = [tuple(node["metadata"]["name"] for node in read(seed, "/api/v1/nodes")[0]["items"]) for seed in range(12)]
    assert len({*names}) == len(names)
    accounts = {
        json.dumps(
            read(seed, "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings")[0]["items"][0]["subjects"]
        )
        for seed in range(12)
    }
    assert len(accounts) > 6


def test_nodes_keep_something_back_from_pods(house):
    for node in house.ask("GET", "/api/v1/nodes").json["items"]:
        sizes = [int(node["status"][part]["memory"].removesuffix("Ki")) for part in ("capacity", "allocatable")]
        assert sizes[0] - sizes[1] == 100 * 1024


def test_template_hashes_have_only_the_letters_that_digits_become(house):
    """Kubernetes writes a number of 32 bits in decimal, and each digit as one of 27 letters."""
    for item in house.ask("GET", f"{APPS}/replicasets").json["items"]:
        assert re.fullmatch("[456789bcdf]{1,10}", item["metadata"]["labels"]["pod-template-hash"])


def test_containers_took_some_seconds_to_start(house):
    (deployment,) = house.ask("GET", f"{APPS}/deployments?fieldSelector=metadata.name=web").json["items"]
    assert all(one["lastUpdateTime"] > born(deployment) for one in deployment["status"]["conditions"])
    for pod in house.ask("GET", f"{SHOP}/pods?labelSelector=app=web").json["items"]:
        since = {one["type"]: one["lastTransitionTime"] for one in pod["status"]["conditions"]}
        assert born(pod) == since["PodScheduled"] < since["Ready"] == since["PodReadyToStartContainers"]
        assert pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] == since["Ready"]
        assert all(one["lastProbeTime"] is None for one in pod["status"]["conditions"])


def test_heads_of_answers_are_written_as_go_writes_them(house):
    with house.socket() as wire:
        assert wire.version() == "TLSv1.3"
        token = house.access.token
        wire.sendall(f"GET /version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        names = [line.partition(b":")[0] for line in wire.recv(65536).partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]]
    assert names[-2:] == [b"Date", b"Content-Length"]
    assert names[:2] == [b"Audit-Id", b"Cache-Control"]
    assert names[:-2] == sorted(name.title() for name in names[:-2])


def test_requests_fall_under_flow_schemas_by_who_asks_and_for_what(house):
    name = "x-kubernetes-pf-flowschema-uid"
    paths = ("/api", "/version", "/healthz")
    own, again, health = (house.ask("GET", path).headers[name] for path in paths)
    assert own == again != health


def test_a_pods_fields_belong_to_those_who_wrote_them(house):
    """As a real cluster has them: what admission put in belongs to nobody, and the scheduler's report to no kubelet."""
    pod = house.ask("GET", f"{SHOP}/pods").json["items"][0]
    made, reported = pod["metadata"]["managedFields"]
    assert (made["manager"], reported["manager"]) == ("kube-controller-manager", "kubelet")
    spec, status = made["fieldsV1"]["f:spec"], reported["fieldsV1"]["f:status"]
    assert "f:containers" in spec
    assert not {"f:nodeName", "f:tolerations", "f:volumes", "f:priority", "f:serviceAccountName"} & {*spec}
    assert "f:volumeMounts" not in next(iter(spec["f:containers"].values()))
    assert 'k:{"type":"Ready"}' in status["f:conditions"]
    assert not {".", 'k:{"type":"PodScheduled"}'} & {*status["f:conditions"]}
    assert "f:qosClass" not in status


def test_an_autoscaler_tells_the_load_that_it_measured():
    hpa = {"resource": "hpa/web", "target": "deployment/web", "min_replicas": 2, "max_replicas": 6}
    (body,) = read_of([*STATE, hpa], "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web")
    (target,) = (metric["resource"]["target"] for metric in body["spec"]["metrics"])
    (current,) = (metric["resource"]["current"] for metric in body["status"]["currentMetrics"])
    assert 0.9 * target["averageUtilization"] <= current["averageUtilization"] < target["averageUtilization"]
    assert re.fullmatch(r"[1-9][0-9]*m", current["averageValue"])
    active = next(one for one in body["status"]["conditions"] if one["type"] == "ScalingActive")
    assert active["message"].endswith("from cpu resource utilization (percentage of request)")
