"""The Prometheus API around its queries: forms, ranges, labels, alerts, silences, and what the cluster shows."""

from typing import Any

import pytest

from kubesim.resource import BY_NOUN
from service_builders import NOW, Asked

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def shop(asked: Asked) -> Asked:
    asked.series("web", "error_rate", (-3600, 0.5), (-1200, 8.0))
    asked.series("ledger", "error_rate", (-3600, 1.0), namespace="vault")
    labels = {"alertname": "high-memory", "severity": "warning", "namespace": "shop"}
    spec = {"expr": "memory > 9", "labels": labels, "annotations": {"summary": "memory is high"}}
    asked.put("alert", "high-memory", spec, {"state": "firing", "activeAt": "2024-03-01T07:50:00Z"})
    asked.put("alert", "quiet", {"expr": "x > 1", "labels": {}, "annotations": {}}, {"state": "inactive"})
    return asked


def test_a_query_may_come_as_a_form(shop: Asked) -> None:
    response = shop.ask(
        "metrics/api/v1/query", method="POST", body="query=error_rate&time=1709276400", content_type=FORM
    )
    assert response.status == 200
    assert response.body["data"]["result"][0]["value"] == [1709276400, "0.5"]
    assert shop.event["verb"] == "get"
    assert shop.event["requestObject"] == {"query": "error_rate", "time": "1709276400"}


def test_a_range_query_has_a_value_for_every_step(shop: Asked) -> None:
    asked = {"query": "error_rate", "start": "2024-03-01T07:30:00Z", "end": str(NOW), "step": "10m"}
    response = shop.ask("metrics/api/v1/query_range", asked)
    (one,) = response.body["data"]["result"]
    assert response.body["data"]["resultType"] == "matrix"
    assert one["metric"] == {"__name__": "error_rate", "namespace": "shop", "service": "web"}
    assert [value for _, value in one["values"]] == ["0.5", "8", "8", "8"]
    assert [time for time, _ in one["values"]] == [NOW - 1800, NOW - 1200, NOW - 600, NOW]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"start": ""}, 'invalid parameter "start": cannot parse "" to a valid timestamp'),
        ({"start": "yesterday"}, 'cannot parse "yesterday" to a valid timestamp'),
        ({"start": "nan"}, 'cannot parse "nan" to a valid timestamp'),
        ({"start": "1e300"}, 'cannot parse "1e300"'),
        ({"end": "0"}, "end timestamp must not be before start time"),
        ({"step": "0"}, "zero or negative query resolution step widths are not accepted"),
        ({"step": "-5"}, "zero or negative query resolution step widths are not accepted"),
        ({"step": "soon"}, 'cannot parse "soon" to a valid duration'),
        ({"step": "inf"}, 'cannot parse "inf" to a valid duration'),
        ({"step": "1ms"}, "exceeded maximum resolution of 11,000 points per timeseries"),
        ({"query": "error_rate[5m]"}, "for range query, must be Scalar or instant Vector"),
        ({"query": "("}, "parse error"),
    ],
)
def test_a_range_query_that_makes_no_sense_is_bad_data(shop: Asked, change: dict[str, str], problem: str) -> None:
    asked = {"query": "error_rate", "start": str(NOW - 600), "end": str(NOW), "step": "60", **change}
    response = shop.ask("metrics/api/v1/query_range", asked)
    assert (response.status, response.body["errorType"]) == (400, "bad_data")
    assert problem in response.body["error"]


def test_series_and_labels_are_those_that_may_be_seen(shop: Asked) -> None:
    found = shop.ask("metrics/api/v1/series", {"match[]": "error_rate"}).body["data"]
    assert found == [{"__name__": "error_rate", "namespace": "shop", "service": "web"}]
    assert shop.ask("metrics/api/v1/label/service/values").body["data"] == ["web"]
    assert "alertname" in shop.ask("metrics/api/v1/labels").body["data"]
    assert shop.ask("metrics/api/v1/series").body["error"] == "no match[] parameter provided"
    assert shop.ask("metrics/api/v1/series", {"match[]": "sum(x)"}).status == 400
    assert "error_rate" in shop.ask("metrics/api/v1/metadata").body["data"]


def test_alerts_and_rules(shop: Asked) -> None:
    (alert,) = shop.ask("metrics/api/v1/alerts").body["data"]["alerts"]
    assert (alert["state"], alert["labels"]["alertname"], alert["activeAt"]) == (
        "firing", "high-memory", "2024-03-01T07:50:00Z",
    )  # fmt: skip
    assert alert["annotations"] == {"summary": "memory is high"}
    (group,) = shop.ask("metrics/api/v1/rules").body["data"]["groups"]
    assert {rule["name"]: rule["state"] for rule in group["rules"]} == {"high-memory": "firing", "quiet": "inactive"}
    assert shop.event["verb"] == "list"
    assert [item["metadata"]["name"] for item in shop.event["responseObject"]["items"]] == ["high-memory", "quiet"]


def test_a_query_for_an_alert_is_on_record_as_a_read_of_it(shop: Asked) -> None:
    (one,) = shop.query('ALERTS{alertname="high-memory",alertstate="firing"}')
    assert one["value"][1] == "1"
    assert shop.event["objectRef"] == {
        "resource": "alerts", "namespace": "shop", "name": "high-memory", "apiGroup": "monitoring.coreos.com", "apiVersion": "v1",
    }  # fmt: skip


def silence(value: str, **more: Any) -> dict[str, Any]:
    return {
        "matchers": [{"name": "alertname", "value": value, **more}],
        "endsAt": "2024-03-01T10:00:00Z",
        "comment": "noise",
    }


def test_a_silence_lies_on_the_alerts_that_it_matches(shop: Asked) -> None:
    body = silence("high-.*", isRegex=True)
    response = shop.ask("metrics/api/v2/silences", method="POST", body=body, token="writer")
    assert response.status == 200
    stored = shop.store.get("alert", "shop", "high-memory")
    assert stored is not None
    assert stored["status"]["silencedUntil"] == "2024-03-01T10:00:00Z"
    event = shop.event
    assert (event["verb"], event["objectRef"]["name"], event["objectRef"]["subresource"]) == (
        "create", "high-memory", "silence",
    )  # fmt: skip
    assert event["requestObject"] == body
    (shown,) = shop.ask("metrics/api/v2/alerts").body
    assert shown["status"] == {"state": "suppressed", "silencedBy": [response.body["silenceID"]], "inhibitedBy": []}
    (listed,) = shop.ask("metrics/api/v2/silences").body
    assert (listed["comment"], listed["status"]) == ("noise", {"state": "active"})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400), ({"matchers": []}, 400), ({"matchers": ["x"]}, 400), ({"matchers": [{"name": 1, "value": 2}]}, 400),
        (silence("(", isRegex=True), 400), ({**silence("a"), "endsAt": "later"}, 400), (silence("nothing"), 200),
        ("text", 400), ([1], 400),
    ],
)  # fmt: skip
def test_a_silence_that_cannot_be_is_refused(shop: Asked, body: Any, status: int) -> None:
    assert shop.ask("metrics/api/v2/silences", method="POST", body=body, token="writer").status == status


def test_a_silence_may_spare_what_its_matcher_names(shop: Asked) -> None:
    body = silence("high-memory", isEqual=False)
    assert shop.ask("metrics/api/v2/silences", method="POST", body=body, token="writer").status == 200
    silent = [alert["metadata"]["name"] for alert in shop.store.items("alert") if "silencedUntil" in alert["status"]]
    assert silent == ["quiet"]


def test_whoever_only_reads_silences_nothing(shop: Asked) -> None:
    response = shop.ask("metrics/api/v2/silences", method="POST", body=silence("high-memory"))
    assert (response.status, response.body["errorType"]) == (403, "forbidden")
    assert shop.event["objectRef"]["subresource"] == "silence"
    stored = shop.store.get("alert", "shop", "high-memory")
    assert stored is not None
    assert "silencedUntil" not in stored["status"]


def pod(asked: Asked, name: str, namespace: str, owner: dict[str, Any], *, ready: bool) -> None:
    reference = {
        "kind": "ReplicaSet",
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    waiting = {} if ready else {"waiting": {"reason": "CrashLoopBackOff"}}
    containers = [
        {
            "name": "web",
            "restartCount": 3,
            "ready": ready,
            "state": waiting,
            "lastState": {"terminated": {"reason": "OOMKilled"}},
        }
    ]
    created = asked.add(
        "pod", name, namespace,
        spec={"nodeName": "node-1", "containers": [{"name": "web", "resources": {"limits": {"memory": "256Mi", "cpu": "500m"}}}]},
        status={"phase": "Running", "podIP": "10.1.1.1", "conditions": conditions, "containerStatuses": containers},
    )  # fmt: skip
    asked.store.update(
        BY_NOUN["pod"], created, {**created, "metadata": {**created["metadata"], "ownerReferences": [reference]}}
    )


@pytest.fixture
def running(asked: Asked) -> Asked:
    for namespace in ("shop", "vault"):
        owner = asked.add(
            "deployment", "web", namespace, spec={"replicas": 2}, status={"replicas": 2, "availableReplicas": 1}
        )
        reference = {"kind": "Deployment", "name": "web", "uid": owner["metadata"]["uid"], "controller": True}
        replicas = asked.store.create(
            _row("replicaset"),
            {
                "kind": "ReplicaSet",
                "metadata": {"name": "web-1", "namespace": namespace, "ownerReferences": [reference]},
            },
            "2024-02-20T08:00:00Z",
        )
        pod(asked, "web-1-a", namespace, replicas, ready=True)
        pod(asked, "web-1-b", namespace, replicas, ready=False)
    asked.add(
        "node",
        "node-1",
        status={"conditions": [{"type": "DiskPressure", "status": "True"}], "allocatable": {"cpu": "4"}},
    )
    return asked


def _row(noun: str) -> Any:
    return BY_NOUN[noun]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("up", {"web-1-a": 1, "web-1-b": 0}),
        ("kube_pod_status_ready{condition='true'}", {"web-1-a": 1, "web-1-b": 0}),
        ("kube_pod_container_status_restarts_total", {"web-1-a": 3, "web-1-b": 3}),
        ("kube_pod_container_status_waiting_reason{reason='CrashLoopBackOff'}", {"web-1-b": 1}),
        ("kube_pod_container_status_last_terminated_reason{reason='OOMKilled'}", {"web-1-a": 1, "web-1-b": 1}),
        ("kube_pod_container_resource_limits{resource='memory'}", {"web-1-a": 256 * 2**20, "web-1-b": 256 * 2**20}),
        ("kube_pod_status_phase{phase='Running'}", {"web-1-a": 1, "web-1-b": 1}),
        ("kube_deployment_status_replicas_available", {"": 1}),
        ("kube_deployment_spec_replicas - kube_deployment_status_replicas_available", {"": 1}),
    ],
)
def test_the_cluster_shows_in_metrics(running: Asked, query: str, expected: dict[str, float]) -> None:
    found = {one["metric"].get("pod", ""): float(one["value"][1]) for one in running.query(query)}
    assert found == expected
    assert running.event["objectRef"]["name"] == "web"


def test_nodes_show_to_whoever_may_see_nodes(running: Asked) -> None:
    query = {"query": "kube_node_status_condition{condition='DiskPressure',status='true'}"}
    assert running.ask("metrics/api/v1/query", query).status == 403
    rule = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}
    running.store.create(
        _row("clusterrole"), {"kind": "ClusterRole", "metadata": {"name": "n"}, "rules": [rule]}, "2024-02-20T08:00:00Z"
    )
    binding = {
        "kind": "ClusterRoleBinding", "metadata": {"name": "n"}, "subjects": [{"kind": "User", "name": "reader"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "n"},
    }  # fmt: skip
    running.store.create(_row("clusterrolebinding"), binding, "2024-02-20T08:00:00Z")
    (one,) = running.ask("metrics/api/v1/query", query).body["data"]["result"]
    assert (one["metric"]["node"], one["value"][1]) == ("node-1", "1")


def test_targets_tell_who_answers(running: Asked) -> None:
    targets = running.ask("metrics/api/v1/targets").body["data"]["activeTargets"]
    assert {target["labels"]["pod"]: target["health"] for target in targets} == {"web-1-a": "up", "web-1-b": "down"}


@pytest.mark.parametrize("path", ["-/healthy", "-/ready", "api/v1/status/buildinfo"])
def test_whether_it_is_well(shop: Asked, path: str) -> None:
    assert shop.ask(f"metrics/{path}").status == 200
    assert "objectRef" not in shop.event


def test_the_same_question_has_the_same_answer(shop: Asked) -> None:
    text = "sum(rate(error_rate[5m])) by (service)"
    assert shop.query(text) == shop.query(text)
