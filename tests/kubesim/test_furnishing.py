"""A cluster has what the system itself puts there, as old as the cluster, kept up to date and in no observation (SI-02)."""

import pytest

from kubesim import Cluster
from kubesim.access import bootstrap_objects
from kubesim.discovery.catalogue import CURRENT_RELEASE
from kubesim.history import History, seconds_of
from kubesim.resource import BY_NOUN
from kubesim.store import Ids, Store

pytestmark = pytest.mark.requirement("SI-02")
START = "2026-11-16T10:00:00Z"
SYSTEM, APPS = "/api/v1/namespaces/kube-system", "/apis/apps/v1"
LEASES, SLICES = "/apis/coordination.k8s.io/v1", "/apis/discovery.k8s.io/v1"
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def cluster():
    return Cluster(seed=3, start=START)


def items(cluster, path, **query):
    answer = cluster.request("GET", path, query=query)
    assert answer.status == 200, answer.body
    return answer.body["items"]


def named(found):
    return {item["metadata"]["name"]: item for item in found}


def test_dns_metrics_and_the_network_run_in_the_systems_namespace(cluster):
    deployments, daemons = named(items(cluster, f"{APPS}/deployments")), named(items(cluster, f"{APPS}/daemonsets"))
    assert {"coredns", "metrics-server"} == {*deployments}
    assert "kube-proxy" in daemons
    assert deployments["coredns"]["status"]["readyReplicas"] == 2
    assert daemons["kube-proxy"]["status"]["numberReady"] == 2
    pods = items(cluster, f"{SYSTEM}/pods")
    assert len(pods) == 7
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    owners = {pod["metadata"]["ownerReferences"][0]["uid"] for pod in pods}
    sets = [item["metadata"]["uid"] for item in (*items(cluster, f"{APPS}/replicasets"), *daemons.values())]
    assert owners == {*sets}
    assert named(items(cluster, f"{SYSTEM}/services"))["kube-dns"]["spec"]["clusterIP"] == "10.96.0.10"


def test_they_are_of_each_cluster_alone_and_older_than_what_clients_make(cluster):
    other = Cluster(seed=4, start=START)
    here, there = (items(one, f"{SYSTEM}/pods") for one in (cluster, other))
    assert not {pod["metadata"]["uid"] for pod in here} & {pod["metadata"]["uid"] for pod in there}
    made = cluster.request("POST", PODS, body={"metadata": {"name": "x"}, "spec": {"containers": [
        {"name": "main", "image": "nginx"}]}}).body  # fmt: skip
    assert all(pod["metadata"]["creationTimestamp"] < START for pod in here)
    assert all(int(pod["metadata"]["resourceVersion"]) < int(made["metadata"]["resourceVersion"]) for pod in here)


def test_no_observation_shows_them_however_often_they_are_read(cluster):
    before = cluster.objects()
    for path in (f"{APPS}/deployments", "/api/v1/pods", f"{LEASES}/leases", f"{SLICES}/endpointslices"):
        items(cluster, path)
    cluster.advance(100)
    items(cluster, f"{LEASES}/leases")
    assert cluster.objects() == before


def test_a_pod_of_the_system_that_is_deleted_is_replaced_and_the_others_stay(cluster):
    before = named(items(cluster, f"{SYSTEM}/pods", labelSelector="k8s-app=kube-dns"))
    gone = min(before)
    assert cluster.request("DELETE", f"{SYSTEM}/pods/{gone}").status == 200
    cluster.come_to_rest()
    after = named(items(cluster, f"{SYSTEM}/pods", labelSelector="k8s-app=kube-dns"))
    assert len(after) == 2
    assert gone not in after
    assert len({*before} & {*after}) == 1
    assert {pod["status"]["phase"] for pod in after.values()} == {"Running"}


def test_nodes_and_controllers_renew_their_leases_with_the_clock(cluster):
    first = named(items(cluster, f"{LEASES}/leases"))
    assert {"node-1", "node-2", "kube-scheduler", "kube-controller-manager"} <= {*first}
    cluster.advance(60)
    later = named(items(cluster, f"{LEASES}/leases"))
    for name, lease in first.items():
        renewed = later[name]["spec"]["renewTime"]
        assert lease["spec"]["renewTime"] < renewed <= f"{cluster.now[:-1]}.999999Z"
        assert int(later[name]["metadata"]["resourceVersion"]) > int(lease["metadata"]["resourceVersion"])
        assert later[name]["metadata"]["uid"] == lease["metadata"]["uid"]


def test_kubelets_go_on_reporting_while_a_node_that_is_lost_stays_silent(cluster):
    def heartbeats():
        nodes = named(items(cluster, "/api/v1/nodes"))
        return {
            name: {one["lastHeartbeatTime"] for one in node["status"]["conditions"]} for name, node in nodes.items()
        }

    status = cluster.request("GET", "/api/v1/nodes/node-2").body
    for condition in status["status"]["conditions"]:
        condition["status"] = "Unknown"
    assert cluster.request("PUT", "/api/v1/nodes/node-2/status", body=status).status == 200
    before = heartbeats()
    cluster.advance(900)
    after = heartbeats()
    assert max(before["node-1"]) < min(after["node-1"])
    assert max(after["node-1"]) <= cluster.now
    assert before["node-2"] == after["node-2"]


def test_slices_say_what_the_endpoints_of_a_service_say_and_follow_them(cluster):
    labels = {"app": "web"}
    for name in ("a", "b"):
        body = {"metadata": {"name": name, "labels": labels}, "spec": {"containers": [{"name": "m", "image": "nginx"}]}}
        assert cluster.request("POST", PODS, body=body).status == 201
    service = {"metadata": {"name": "web"}, "spec": {"selector": labels, "ports": [{"port": 80}]}}
    assert cluster.request("POST", "/api/v1/namespaces/default/services", body=service).status == 201
    cluster.come_to_rest()
    path = f"{SLICES}/namespaces/default/endpointslices"
    (found,) = items(cluster, path, labelSelector="kubernetes.io/service-name=web")
    assert sorted(one["targetRef"]["name"] for one in found["endpoints"]) == ["a", "b"]
    assert all(one["conditions"]["ready"] for one in found["endpoints"])
    assert "kubernetes" in named(items(cluster, path))
    version = cluster.request("GET", path).body["metadata"]["resourceVersion"]
    assert cluster.request("DELETE", f"{PODS}/a", query={"gracePeriodSeconds": "0"}).status == 200
    cluster.come_to_rest()
    seen = cluster.request("GET", path, query={"watch": "1", "resourceVersion": version}).body
    assert "MODIFIED" in str(seen)
    (found,) = items(cluster, path, labelSelector="kubernetes.io/service-name=web")
    assert [one["targetRef"]["name"] for one in found["endpoints"]] == ["b"]
    assert cluster.request("DELETE", "/api/v1/namespaces/default/services/web").status == 200
    assert items(cluster, path, labelSelector="kubernetes.io/service-name=web") == []


def test_every_account_that_a_binding_names_is_there(cluster):
    accounts = named(items(cluster, f"{SYSTEM}/serviceaccounts"))
    layer = bootstrap_objects(CURRENT_RELEASE, "", aggregated=True)
    bound = {
        subject["name"] for row, places in layer.items() if row.noun.endswith("binding")
        for objects in places.values() for obj in objects.values() for subject in obj.get("subjects") or ()
        if subject["kind"] == "ServiceAccount" and subject.get("namespace") == "kube-system"
    }  # fmt: skip
    assert bound
    assert bound <= {*accounts}


@pytest.mark.parametrize("wanted", [True, False])
def test_pods_have_an_account_and_a_token_unless_they_want_none(cluster, wanted):
    container = {"name": "main", "image": "nginx"}
    spec = {"containers": [container], **({} if wanted else {"automountServiceAccountToken": False})}
    template = {"metadata": {"labels": {"app": "x"}}, "spec": spec}
    workload = {"metadata": {"name": "x"}, "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template}}
    assert cluster.request("POST", f"{APPS}/namespaces/default/deployments", body=workload).status == 201
    assert cluster.request("POST", PODS, body={"metadata": {"name": "x"}, "spec": spec}).status == 201
    pods = items(cluster, PODS)
    assert len(pods) == 2
    for pod in pods:
        assert pod["spec"]["serviceAccountName"] == "default"
        assert [row["key"] for row in pod["spec"]["tolerations"]] == [
            "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable",
        ]  # fmt: skip
        assert pod["spec"]["priority"] == 0
        volumes = [volume["name"] for volume in pod["spec"].get("volumes") or ()]
        mounts = [mount["name"] for mount in pod["spec"]["containers"][0].get("volumeMounts") or ()]
        assert volumes == mounts
        assert [name.startswith("kube-api-access-") for name in volumes] == ([True] if wanted else [])


def test_a_server_has_made_what_servers_make_when_they_start(cluster):
    paths = {
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas": "service-accounts",
        "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations": "workload-low",
        "/apis/apiregistration.k8s.io/v1/apiservices": "v1beta1.metrics.k8s.io",
        "/apis/networking.k8s.io/v1/servicecidrs": "kubernetes",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles": "system:controller:ttl-after-finished-controller",
        "/apis/storage.k8s.io/v1/storageclasses": "standard",
    }  # fmt: skip
    for path, name in paths.items():
        found = named(items(cluster, path))
        assert found[name]["metadata"]["creationTimestamp"] < START, path
        conditions = (found[name].get("status") or {}).get("conditions") or ()
        assert all(one["lastTransitionTime"] < START for one in conditions), path
        assert len({one["metadata"]["uid"] for one in found.values()}) == len(found)


def test_every_group_is_registered_and_every_node_says_what_storage_it_drives(cluster):
    registered = named(items(cluster, "/apis/apiregistration.k8s.io/v1/apiservices"))
    groups = cluster.request("GET", "/apis").body["groups"]
    served = {f"{one['version']}.{group['name']}" for group in groups for one in group["versions"]}
    # The aggregator, which keeps the list, is not in it.
    assert served | {"v1."} == {*registered, "v1.apiregistration.k8s.io"}
    nodes, drivers = items(cluster, "/api/v1/nodes"), items(cluster, "/apis/storage.k8s.io/v1/csinodes")
    assert [one["metadata"]["ownerReferences"][0]["uid"] for one in drivers] == [
        one["metadata"]["uid"] for one in nodes
    ]


def test_the_address_of_every_service_is_allocated_and_given_back(cluster):
    addresses = "/apis/networking.k8s.io/v1/ipaddresses"
    made = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
    assert "10.96.0.1" in named(items(cluster, addresses))
    web = cluster.request("POST", "/api/v1/namespaces/default/services", body=made).body["spec"]["clusterIP"]
    assert named(items(cluster, addresses))[web]["spec"]["parentRef"]["name"] == "web"
    cluster.request("DELETE", "/api/v1/namespaces/default/services/web")
    assert web not in named(items(cluster, addresses))


def test_requests_are_told_the_flow_schema_that_there_is(cluster):
    answer = cluster.request("GET", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas")
    told = {key.lower(): value for key, value in answer.headers.items()}["x-kubernetes-pf-flowschema-uid"]
    assert told in {one["metadata"]["uid"] for one in answer.body["items"]}


def test_the_server_publishes_what_other_servers_need_to_know_of_clients(cluster):
    settings = named(items(cluster, f"{SYSTEM}/configmaps"))
    authorities = settings["extension-apiserver-authentication"]["data"]
    assert authorities["client-ca-file"] == settings["kube-root-ca.crt"]["data"]["ca.crt"]
    since = settings["kube-apiserver-legacy-service-account-token-tracking"]["data"]["since"]
    assert settings["coredns"]["metadata"]["creationTimestamp"].startswith(since[:7])


def test_a_slice_has_a_version_of_its_own(cluster):
    for endpoints in items(cluster, "/api/v1/endpoints"):
        place = endpoints["metadata"]["namespace"]
        slices = items(cluster, f"{SLICES}/namespaces/{place}/endpointslices")
        assert endpoints["metadata"]["resourceVersion"] not in {one["metadata"]["resourceVersion"] for one in slices}


def test_a_volume_is_no_older_than_the_claim_that_it_was_made_for():
    """Dated in the past, as what a scenario declares."""
    past = History(7, seconds_of(START))
    store = Store(Ids(1), past=past)
    claim = store.new_object(BY_NOUN["pvc"], {"metadata": {"name": "data", "namespace": "shop"}}, past.founding)
    store.put(BY_NOUN["pvc"], claim)
    reference = {"uid": claim["metadata"]["uid"], "name": "data", "namespace": "shop"}
    manifest = {"metadata": {"name": "pvc-1"}, "spec": {"claimRef": reference}}
    volume = store.new_object(BY_NOUN["pv"], manifest, past.founding)
    born, made = (seconds_of(one["metadata"]["creationTimestamp"]) for one in (claim, volume))
    assert 0 <= made - born <= 5
