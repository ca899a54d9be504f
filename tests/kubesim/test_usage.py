"""The metrics API: what pods and nodes use, near what they request, and the same in the same cluster."""

import pytest

from kubesim import Cluster
from kubesim.types.quantity import amount_of

GROUP = "/apis/metrics.k8s.io/v1beta1"
PODS = "/api/v1/namespaces/default/pods"


def measured(seed=5):
    cluster = Cluster(seed=seed, start="2026-01-05T10:00:00Z")
    asked = {"requests": {"cpu": "400m", "memory": "512Mi"}, "limits": {"memory": "300Mi"}}
    for name, resources in (("asks", asked), ("asks-nothing", {})):
        container = {"name": "main", "image": "nginx", "resources": resources}
        body = {"metadata": {"name": name, "labels": {"app": name}}, "spec": {"containers": [container]}}
        body["spec"]["containers"][0]["resources"].get("requests", {}).update({"memory": "256Mi"} if resources else {})
        assert cluster.request("POST", PODS, body=body).status == 201
    assert cluster.request("GET", f"{GROUP}/namespaces/default/pods").body["items"] == []
    cluster.come_to_rest()
    return cluster


def test_usage_is_near_what_is_requested_and_below_what_is_allowed():
    items = measured().request("GET", f"{GROUP}/namespaces/default/pods").body["items"]
    used = {item["metadata"]["name"]: item["containers"][0]["usage"] for item in items}
    assert 0.14 <= amount_of(used["asks"]["cpu"]) <= 0.3
    assert 256 * 0.35 <= amount_of(used["asks"]["memory"]) / 2**20 <= 256 * 0.75
    assert 0 < amount_of(used["asks-nothing"]["cpu"]) < 0.02
    assert items[0]["window"] == "15s"


def test_the_same_cluster_uses_the_same_and_another_does_not():
    first, again, other = (measured(seed).request("GET", f"{GROUP}/pods").body["items"] for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_a_node_uses_what_its_pods_do_and_more():
    cluster = measured()
    pods = cluster.request("GET", f"{GROUP}/pods").body["items"]
    nodes = cluster.request("GET", f"{GROUP}/nodes").body["items"]
    total = sum(amount_of(one["usage"]["memory"]) for item in pods for one in item["containers"])
    assert len(nodes) == 2
    assert sum(amount_of(node["usage"]["memory"]) for node in nodes) > total


def test_one_of_them_by_name_or_label_or_as_a_row():
    cluster = measured()
    assert cluster.request("GET", f"{GROUP}/namespaces/default/pods/asks").body["kind"] == "PodMetrics"
    chosen = cluster.request("GET", f"{GROUP}/pods", query={"labelSelector": "app=asks"}).body["items"]
    assert [item["metadata"]["name"] for item in chosen] == ["asks"]
    missing = cluster.request("GET", f"{GROUP}/namespaces/default/pods/none")
    assert (missing.status, missing.body["message"]) == (404, 'pods "none" not found')
    table = cluster.request("GET", f"{GROUP}/nodes", headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    assert [column["name"] for column in table.body["columnDefinitions"]] == ["Name", "cpu", "memory", "Window"]
    assert cluster.request("POST", f"{GROUP}/nodes", body={}).status == 405


@pytest.mark.requirement("SI-02")
def test_it_is_discovered_and_those_who_may_look_may_see_it():
    cluster = measured()
    assert [row["name"] for row in cluster.request("GET", GROUP).body["resources"]] == ["nodes", "pods"]
    assert "metrics.k8s.io" in [group["name"] for group in cluster.request("GET", "/apis").body["groups"]]
    rules = cluster.request("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view").body["rules"]
    assert any(rule["apiGroups"] == ["metrics.k8s.io"] and "pods" in rule["resources"] for rule in rules)
