"""Objects that the API serves in several versions are the same object in each of them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim.discovery.catalogue import CURRENT_RELEASE, RECORDED_RELEASE, catalogue
from kubesim.kinds.conversion import convert_object, inner_metadata

OLD, NEW = catalogue(RECORDED_RELEASE), catalogue(CURRENT_RELEASE)
PREFIX = "autoscaling.alpha.kubernetes.io/"


def autoscaler(version):
    return (OLD.find("autoscaling", version, "horizontalpodautoscalers")
            or NEW.find("autoscaling", version, "horizontalpodautoscalers"))  # fmt: skip


def hpa(version, **spec):
    return {"kind": "HorizontalPodAutoscaler", "apiVersion": f"autoscaling/{version}", "metadata": {"name": "web"},
            "spec": {"maxReplicas": 3, **spec}, "status": {"currentReplicas": 0, "desiredReplicas": 0}}  # fmt: skip


def test_an_object_in_the_version_asked_for_is_left_alone():
    obj = hpa("v2")
    assert convert_object(obj, autoscaler("v2")) is obj


def test_versions_that_differ_in_name_only_exchange_the_name():
    job = {"kind": "CronJob", "apiVersion": "batch/v1", "metadata": {"name": "a"}, "spec": {"schedule": "@daily"}}
    beta = OLD.find("batch", "v1beta1", "cronjobs")
    assert convert_object(job, beta) == {**job, "apiVersion": "batch/v1beta1"}


def test_a_share_of_the_processor_has_a_field_of_its_own_in_v1():
    new = convert_object(hpa("v1", targetCPUUtilizationPercentage=60), autoscaler("v2"))
    target = {"type": "Utilization", "averageUtilization": 60}
    assert new["spec"]["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    assert convert_object(new, autoscaler("v1"))["spec"] == {"maxReplicas": 3, "targetCPUUtilizationPercentage": 60}


def test_v1_without_a_target_means_eighty_percent():
    new = convert_object(hpa("v1"), autoscaler("v2"))
    assert new["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 80


def test_other_metrics_travel_through_v1_in_an_annotation():
    metrics = [
        {"type": "Pods", "pods": {"metric": {"name": "q"}, "target": {"type": "AverageValue", "averageValue": "10"}}},
        {"type": "External", "external": {"metric": {"name": "e", "selector": {"matchLabels": {"a": "<b>"}}},
                                          "target": {"type": "Value", "value": "3"}}},
    ]  # fmt: skip
    old = convert_object(hpa("v2", metrics=metrics), autoscaler("v1"))
    text = old["metadata"]["annotations"][f"{PREFIX}metrics"]
    assert text.startswith('[{"type":"Pods","pods":{"metricName":"q","targetAverageValue":"10"}}')
    assert "\\u003cb\\u003e" in text
    back = convert_object(old, autoscaler("v2"))
    assert back["spec"]["metrics"] == metrics
    assert "annotations" not in back["metadata"]


def test_behaviour_travels_in_the_inner_types_own_names():
    rules = {"selectPolicy": "Max", "policies": [{"type": "Pods", "value": 2, "periodSeconds": 15}]}
    old = convert_object(hpa("v2", metrics=[], behavior={"scaleUp": rules}), autoscaler("v1"))
    carried = json.loads(old["metadata"]["annotations"][f"{PREFIX}behavior"])
    assert carried["ScaleUp"]["Policies"] == [{"Type": "Pods", "Value": 2, "PeriodSeconds": 15}]
    assert carried["ScaleUp"]["StabilizationWindowSeconds"] is None
    assert carried["ScaleDown"] is None
    assert convert_object(old, autoscaler("v2"))["spec"]["behavior"] == {"scaleUp": rules}


def test_an_annotation_that_is_not_json_is_dropped():
    broken = {**hpa("v1"), "metadata": {"name": "web", "annotations": {f"{PREFIX}metrics": "{", "mine": "x"}}}
    new = convert_object(broken, autoscaler("v2"))
    assert new["metadata"]["annotations"] == {"mine": "x"}
    assert len(new["spec"]["metrics"]) == 1


def test_beta_versions_write_what_is_empty_as_null():
    status = convert_object(hpa("v1"), autoscaler("v2beta2"))["status"]
    assert status == {"currentReplicas": 0, "desiredReplicas": 0, "currentMetrics": None, "conditions": None}
    assert convert_object({**hpa("v2beta2"), "status": status}, autoscaler("v2"))["status"] == {
        "currentReplicas": 0, "desiredReplicas": 0,
    }  # fmt: skip


def test_an_event_has_other_names_in_its_own_group():
    core = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod"},
            "message": "started", "count": 2, "source": {"component": "kubelet"}, "firstTimestamp": None,
            "lastTimestamp": None, "eventTime": None, "reportingComponent": "", "reportingInstance": ""}  # fmt: skip
    group = NEW.find("events.k8s.io", "v1", "events")
    shown = convert_object(core, group)
    assert shown["regarding"] == {"kind": "Pod"}
    assert shown["note"] == "started"
    assert shown["deprecatedCount"] == 2
    assert "reportingController" not in shown
    assert convert_object(shown, NEW.find("", "v1", "events")) == core


@pytest.mark.parametrize(
    ("beta", "final"),
    [
        ({"serviceName": "web", "servicePort": 80}, {"service": {"name": "web", "port": {"number": 80}}}),
        ({"serviceName": "web", "servicePort": "http"}, {"service": {"name": "web", "port": {"name": "http"}}}),
    ],
)
def test_the_backend_of_an_ingress_is_flat_in_beta(beta, final):
    rules = [{"host": "a.example", "http": {"paths": [{"path": "/", "backend": final}]}}]
    new = {"kind": "Ingress", "apiVersion": "networking.k8s.io/v1", "metadata": {},
           "spec": {"defaultBackend": final, "rules": rules}}  # fmt: skip
    old = convert_object(new, OLD.find("networking.k8s.io", "v1beta1", "ingresses"))
    assert old["spec"]["backend"] == beta
    assert old["spec"]["rules"][0]["http"]["paths"][0]["backend"] == beta
    assert convert_object(old, OLD.find("networking.k8s.io", "v1", "ingresses")) == new


def test_annotations_that_stand_for_fields_are_not_metadata_inside_the_server():
    row = NEW.find("apps", "v1", "daemonsets")
    counted = {"metadata": {"name": "a", "annotations": {"deprecated.daemonset.template.generation": "1"}}}
    assert inner_metadata(row, counted) == {"name": "a"}
    other = NEW.find("apps", "v1", "deployments")
    assert inner_metadata(other, counted) == counted["metadata"]


quantities = st.sampled_from(["1", "500m", "2Gi"])
sources = st.one_of(
    st.builds(
        lambda name, value: {
            "type": "Pods",
            "pods": {"metric": {"name": name}, "target": {"type": "AverageValue", "averageValue": value}},
        },
        st.text(min_size=1),
        quantities,
    ),
    st.builds(
        lambda name, value: {
            "type": "Resource",
            "resource": {"name": name, "target": {"type": "AverageValue", "averageValue": value}},
        },
        st.sampled_from(["memory", "cpu"]),
        quantities,
    ),
)


@given(st.lists(sources, min_size=1, max_size=3), st.sampled_from(["v1", "v2beta1", "v2beta2"]))
def test_metrics_survive_a_round_trip_through_any_version(metrics, version):
    new = hpa("v2", metrics=metrics)
    assert convert_object(convert_object(new, autoscaler(version)), autoscaler("v2")) == new
