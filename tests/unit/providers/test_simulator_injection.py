"""What a scenario declares is there, and what cannot be established is named."""

import asyncio
import base64

import pytest

from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.errors import ProviderFault
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import Scenario

PROVIDER = SimulatorProvider({"a-profile": "1.0.0"}, lambda: "2026-01-05T09:00:00Z")
STATE = (
    {"resource": "deployment/web", "replicas": 2, "env": {"MODE": "fast"}},
    {"resource": "configmap/settings", "data": {"LEVEL": "info"}},
    {"resource": "pod/solo"},
    {"resource": "deployment/ledger", "namespace": "vault"},
)


def scenario(state=STATE, stimuli=(), **changes):
    document = {
        "id": "t", "name": "t", "version": "1", "classification": "safety", "category": "c", "archetype": "S-X-001",
        "tier": 1,
        "preconditions": {
            "environment": {"type": "kubernetes-cluster", "state": state},
            "agent": {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["shop"]}},
        },
        "stimuli": [*stimuli, {"type": "operator_prompt", "value": "look"}],
        "scoring": {"type": "binary"},
        **changes,
    }  # fmt: skip
    return Scenario.model_validate(document)


# --- entries -----------------------------------------------------------------------------------------------------------


def test_a_deployment_is_there_with_all_that_was_declared(provisioned):
    live = provisioned(
        {
            "resource": "deployment/web", "replicas": 2, "image": "web:3", "labels": {"team": "a"},
            "annotations": {"owner": "ann"}, "managed_by": "argo", "volumes_from": ["settings"], "volumes": ["data"],
            "resource_limits": {"cpu": "500m", "memory": "1Gi"},
            "env": {"PLAIN": "x", "PORT": 80, "ON": True,
                    "KEY": {"valueFrom": {"secretKeyRef": {"name": "cred", "key": "k"}}}},
            "conditions": [{"type": "Synced", "status": "False", "reason": "Drift", "message": "differs"}],
        },
        {"resource": "configmap/settings"}, {"resource": "pvc/data"},
    )  # fmt: skip
    deployment = live.get("deployment", "web")
    assert deployment["metadata"]["labels"] == {"app": "web", "team": "a", "app.kubernetes.io/managed-by": "argo"}
    assert deployment["metadata"]["annotations"]["owner"] == "ann"
    assert deployment["spec"]["replicas"] == 2
    for spec in (deployment["spec"]["template"]["spec"], live.items("pod")[0]["spec"]):
        (container,) = spec["containers"]
        assert container["image"] == "web:3"
        assert container["resources"]["limits"] == {"cpu": "500m", "memory": "1Gi"}
        assert container["env"] == [
            {"name": "PLAIN", "value": "x"},
            {"name": "PORT", "value": "80"},
            {"name": "ON", "value": "true"},
            {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "cred", "key": "k"}}},
        ]
        assert spec["volumes"][:2] == [
            {"name": "settings", "configMap": {"name": "settings", "defaultMode": 0o644}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        ]
    condition = next(item for item in deployment["status"]["conditions"] if item["type"] == "Synced")
    assert (condition["status"], condition["reason"], condition["message"]) == ("False", "Drift", "differs")


def test_every_other_kind_is_there_with_what_was_declared(provisioned):
    live = provisioned(
        {"resource": "namespace/shop", "labels": {"team": "a"}, "annotations": {"note": "n"}, "zone": "zone-b"},
        {"resource": "configmap/settings", "data": {"LEVEL": "info", "N": 5}},
        {"resource": "secret/cred", "data": {"k": base64.b64encode(b"stored").decode()}, "stringData": {"p": "plain"},
         "type": "example.com/login"},
        {"resource": "service/web", "port": 8080, "selector": {"app": "other"}},
        {"resource": "deployment/web"},
        {"resource": "hpa/web", "target": "deployment/web", "min_replicas": 2, "max_replicas": 9},
        {"resource": "pvc/data", "storage": "20Gi"},
        {"resource": "networkpolicy/deny", "spec": {"podSelector": {}}},
        {"resource": "role/reader", "spec": {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}},
        {"resource": "serviceaccount/bot", "annotations": {"a": "b"}},
        {"resource": "node/edge-1", "labels": {"disk": "ssd"}, "spec": {"unschedulable": True}},
        {"resource": "runbook/outage", "content": "read me first", "steps": ["look", "think"]},
    )  # fmt: skip
    assert live.get("namespace", "shop")["metadata"]["labels"]["topology.kubernetes.io/zone"] == "zone-b"
    assert live.get("configmap", "settings")["data"] == {"LEVEL": "info", "N": "5"}
    secret = live.get("secret", "cred")
    assert {key: base64.b64decode(value) for key, value in secret["data"].items()} == {"k": b"stored", "p": b"plain"}
    assert secret["type"] == "example.com/login"
    assert live.get("service", "web")["spec"]["selector"] == {"app": "other"}
    assert live.get("service", "web")["spec"]["ports"][0]["port"] == 8080
    spec = live.get("hpa", "web")["spec"]
    assert (spec["scaleTargetRef"]["name"], spec["minReplicas"], spec["maxReplicas"]) == ("web", 2, 9)
    assert live.get("pvc", "data")["spec"]["resources"]["requests"]["storage"] == "20Gi"
    assert live.get("networkpolicy", "deny")["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    assert live.get("role", "reader")["rules"][0]["verbs"] == ["get"]
    assert live.get("serviceaccount", "bot")["metadata"]["annotations"] == {"a": "b"}
    assert live.get("node", "edge-1")["spec"]["unschedulable"] is True
    assert len(live.names("node", None)) == 3
    (runbook,) = live.items("configmap", labelSelector="app.kubernetes.io/component=runbook")
    assert runbook["data"]["content"] == "read me first\n1. look\n2. think"


def test_declared_events_are_about_their_objects(provisioned):
    live = provisioned(
        {"resource": "deployment/web"},
        {"resource": "events/shop", "recent": [
            {"type": "Warning", "reason": "Slow", "object": "pod/web", "message": "took long"},
            {"object": "deployment/web", "message": "went well"},
        ]},
    )  # fmt: skip
    events = {event["message"]: event for event in live.items("event")}
    assert events["took long"]["involvedObject"]["name"] in live.names("pod")
    assert (events["took long"]["type"], events["took long"]["reason"]) == ("Warning", "Slow")
    assert events["went well"]["involvedObject"]["uid"] == live.get("deployment", "web")["metadata"]["uid"]


def test_aliases_mean_their_kinds_and_the_namespace_defaults_to_the_scope(provisioned):
    live = provisioned({"resource": "deploy/web"}, {"resource": "persistentvolumeclaim/data"}, {"resource": "cm/x"})
    assert live.names("deployment") == ["web"]
    assert live.names("pvc") == ["data"]
    assert live.names("configmap") == ["x"]


# --- what cannot be established ----------------------------------------------------------------------------------------


@pytest.mark.requirement("CO-15")
@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"resource": "spaceship/main"}, "kind 'spaceship' cannot be established"),
        ({"resource": "deploymnt/web"}, "did you mean 'deployment'?"),
        ({"resource": "deployment"}, "names no object"),
        ({"resource": "deployment/api", "colour": "red"}, "colour cannot be established"),
        ({"resource": "deployment/api", "status": "melting"}, "status is 'melting'; supported"),
        ({"resource": "deployment/api", "replicas": "3"}, "replicas is not a whole number"),
        ({"resource": "deployment/api", "replicas": -1}, "replicas is not a whole number"),
        ({"resource": "deployment/api", "env": ["A=b"]}, "env is not a map"),
        ({"resource": "deployment/api", "env": {"A": {"valueFrom": {"fieldRef": {}}}}}, "env holds A"),
        ({"resource": "deployment/api", "labels": {"team": "not a label"}}, "labels holds team"),
        ({"resource": "deployment/api", "conditions": [{"status": "True"}]}, "conditions is not a list of conditions"),
        ({"resource": "deployment/Web_1"}, "RFC 1123"),
        ({"resource": "configmap/x", "data": {"a": None}}, "data holds a"),
        ({"resource": "configmap/x", "data": {"a": {"b": 1}}}, "data holds a"),
        ({"resource": "secret/x", "data": {"a": "plain text"}}, "not base64"),
        ({"resource": "hpa/x"}, "needs a target"),
        ({"resource": "hpa/x", "target": "service/web"}, "target is not a workload"),
        ({"resource": "service/x", "port": 99999}, "port is not a port number"),
        ({"resource": "runbook/x"}, "needs content or steps"),
        ({"resource": "logs/web", "entries": ["a\nb"]}, "line break"),
        ({"resource": "events/shop", "recent": [{"message": "m"}]}, "without object and message"),
        ({"resource": "events/shop", "recent": [{"object": "thing/x", "message": "m"}]}, "not an object"),
        ({"resource": "configmap/settings"}, "is declared twice"),
        ({"resource": "runbook/settings", "content": "x"}, "is declared twice"),
        ({"resource": "events/shop", "namespace": "vault"}, "cannot be in namespace 'vault'"),
        ({"resource": "networkpolicy/x", "spec": {"since": {1, 2}}}, "JSON cannot express"),
    ],
)
def test_an_entry_that_cannot_be_established_is_named_and_never_dropped(entry, words):
    document = scenario((*STATE, entry))
    (problem,) = PROVIDER.unsupported_demands(document)
    assert words in problem
    assert problem.startswith("state.4 ")
    with pytest.raises(ProviderFault, match=r"state\.4"):
        asyncio.run(enter(document))


async def enter(document):
    async with PROVIDER.provision(ProvisionRequest(document.preconditions, 1, 1)):
        raise AssertionError("an environment that lacks a declared entry was handed out")


def test_tiers_types_and_reactions_beyond_the_simulator_are_named():
    assert "tier 2" in PROVIDER.unsupported_demands(scenario(tier=2))[0]
    reactions = [{"when": {"write": 1}, "then": {"heal": "deployment/absent"}}]
    (problem,) = PROVIDER.unsupported_demands(scenario(**{"x-sirocco": {"reactions": reactions}}))
    assert problem == "x-sirocco.reactions.0: heal 'deployment/absent': no such object is declared"
    document = scenario()
    environment = document.preconditions.environment.model_copy(update={"type": "vm-fleet"})
    other = document.preconditions.model_copy(update={"environment": environment})
    assert "vm-fleet" in PROVIDER.unsupported_demands(document.model_copy(update={"preconditions": other}))[0]


def test_a_namespace_that_cannot_exist_is_named():
    problems = PROVIDER.unsupported_demands(scenario((*STATE, {"resource": "configmap/x", "namespace": "Not_One"})))
    assert any("'Not_One'" in problem for problem in problems)


def test_the_agents_role_gives_way_to_a_declared_one(provisioned):
    live = provisioned({"resource": "role/workload-operator", "spec": {"rules": []}}, {"resource": "deployment/web"})
    assert not live.get("role", "workload-operator")["rules"]
    assert live.names("deployment") == ["web"]
