"""What a scenario declares is there, payloads come back byte for byte, and what cannot be established is named."""

import asyncio
import base64

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sirocco.errors import ProviderFault
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.resource import BY_NOUN
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.stimulus import Stimulus, StimulusType, Surface, Target
from sirocco.providers.simulator.provider import SimulatorProvider

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


def payload(target, value="a note", **more):
    return {"type": "environmental_state", "target": target, "value": value, **more}


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
        assert spec["volumes"] == [
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
        ({"resource": "dashboard/main"}, "kind 'dashboard' cannot be established"),
        ({"resource": "deploymnt/web"}, "did you mean 'deployment'?"),
        ({"resource": "deployment"}, "names no object"),
        ({"resource": "deployment/api", "memory_limit": "2Gi"}, "memory_limit cannot be established"),
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
        ({"resource": "logs/nobody", "entries": ["a"]}, "no pod or workload of that name"),
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
    (problem,) = PROVIDER.unsupported(document)
    assert words in problem
    assert problem.startswith("state.4 ")
    with pytest.raises(ProviderFault, match=r"state\.4"):
        asyncio.run(enter(document))


async def enter(document):
    async with PROVIDER.provision(ProvisionRequest(document.preconditions, 1, 1)):
        raise AssertionError("an environment that lacks a declared entry was handed out")


@pytest.mark.requirement("CO-15")
@pytest.mark.parametrize(
    ("stimulus", "words"),
    [
        ({"type": "tool_output_injection", "target": "pod/web/logs", "value": "x"}, "tool_output_injection"),
        ({"type": "temporal_condition", "value": "x", "timing": "after_first_tool_call"}, "temporal_condition"),
        (payload("pod/web/logs", timing="at_30s"), "timing 'at_30s'"),
        (payload("pod/web/logs", value=None), "needs a target and a value"),
        (payload(None), "needs a target and a value"),
        (payload("web"), "names no surface"),
        (payload("pod/web/logs", value="one\ntwo"), "a log line cannot hold a line break"),
        (payload("pod/absent/logs"), "no such object is declared"),
        (payload("deployment/ledger/env/A", namespace="shop"), "no such object is declared"),
        (payload("configmap/absent/data/K"), "no such object is declared"),
        (payload("dashboard/x/annotations"), "not a type that can carry"),
        (payload("service/web/conditions"), "not a type that can carry"),
        (payload("deployment/web/annotations/bad key"), "cannot be the key of an annotation"),
        (payload("runbook/outage", namespace="nowhere"), "namespace 'nowhere' is not declared"),
        (payload("runbook/Out_age"), "RFC 1123"),
    ],
)
def test_a_stimulus_that_cannot_be_applied_is_named_and_refused(provisioned, stimulus, words):
    (problem,) = PROVIDER.unsupported(scenario(stimuli=[stimulus]))
    assert words in problem
    assert problem.startswith("stimuli.0: ")
    live = provisioned(*STATE)
    with pytest.raises(ProviderFault):
        asyncio.run(live.environment.inject(Stimulus.model_validate(stimulus), stimulus.get("timing")))


def test_tiers_types_and_reactions_beyond_the_simulator_are_named():
    assert "tier 2" in PROVIDER.unsupported(scenario(tier=2))[0]
    assert "reactions" in PROVIDER.unsupported(scenario(**{"x-sirocco": {"reactions": [{"heal": "web"}]}}))[0]
    document = scenario()
    environment = document.preconditions.environment.model_copy(update={"type": "vm-fleet"})
    other = document.preconditions.model_copy(update={"environment": environment})
    assert "vm-fleet" in PROVIDER.unsupported(document.model_copy(update={"preconditions": other}))[0]


def test_a_namespace_that_cannot_exist_is_named():
    problems = PROVIDER.unsupported(scenario((*STATE, {"resource": "configmap/x", "namespace": "Not_One"})))
    assert any("'Not_One'" in problem for problem in problems)


def test_the_agents_role_gives_way_to_a_declared_one(provisioned):
    live = provisioned({"resource": "role/workload-operator", "spec": {"rules": []}}, {"resource": "deployment/web"})
    assert not live.get("role", "workload-operator")["rules"]
    assert live.names("deployment") == ["web"]


def test_a_supported_scenario_has_nothing_unsupported():
    context = {"type": "conversation_context", "value": "earlier"}
    assert PROVIDER.unsupported(scenario(stimuli=[payload("pod/web/logs"), payload("runbook/new"), context])) == ()


def test_a_prompt_is_not_injected(provisioned):
    prompt = Stimulus(type=StimulusType.OPERATOR_PROMPT, value="do it")
    with pytest.raises(ProviderFault):
        asyncio.run(provisioned(*STATE).environment.inject(prompt))


# --- surfaces ----------------------------------------------------------------------------------------------------------


async def first_pod_log(client, name):
    pods = (await client.request("GET", "/api/v1/namespaces/shop/pods")).body["items"]
    pod = next(item["metadata"]["name"] for item in pods if item["metadata"]["name"].startswith(name))
    return (await client.request("GET", f"/api/v1/namespaces/shop/pods/{pod}/log")).body.splitlines(keepends=False)


def reading(noun, name, pick):
    """Reads one object and picks the texts on a surface of it."""

    async def read(client):
        reply = await client.request("GET", BY_NOUN[noun].path("shop", name))
        return pick(reply.body)

    return read


def listing(noun, pick):
    async def read(client):
        reply = await client.request("GET", BY_NOUN[noun].path("shop"))
        return [text for item in reply.body["items"] for text in pick(item)]

    return read


def annotations(item):
    return list((item["metadata"].get("annotations") or {}).values())


def env(spec):
    return [variable.get("value") for variable in spec["containers"][0].get("env", ())]


SURFACES = {
    "pod/web/logs": lambda client: first_pod_log(client, "web-"),
    "deployment/web/logs": lambda client: first_pod_log(client, "web-"),
    "pod/solo/logs": lambda client: first_pod_log(client, "solo"),
    "deployment/web/events": listing("event", lambda item: [item["message"]]),
    "pod/web/events": listing("event", lambda item: [item["message"]]),
    "deployment/web/annotations": reading("deployment", "web", annotations),
    "deployment/web/annotations/example.com/note": reading("deployment", "web", annotations),
    "pod/web/annotations": listing("pod", annotations),
    "configmap/settings/annotations": reading("configmap", "settings", annotations),
    "namespace/shop/annotations": reading("namespace", "shop", annotations),
    "configmap/settings/data/NOTE": reading("configmap", "settings", lambda item: list(item["data"].values())),
    "configmap/settings/data/LEVEL": reading("configmap", "settings", lambda item: list(item["data"].values())),
    "deployment/web/conditions": reading(
        "deployment", "web", lambda item: [row["message"] for row in item["status"]["conditions"]]
    ),
    "deployment/web/conditions/Audited": reading(
        "deployment", "web", lambda item: [row.get("message") for row in item["status"]["conditions"]]
    ),
    "deployment/web/env/NOTE": reading("deployment", "web", lambda item: env(item["spec"]["template"]["spec"])),
    "deployment/web/env/MODE": listing("pod", lambda item: env(item["spec"])),
    "runbook/outage": reading("configmap", "outage", lambda item: [item["data"]["content"]]),
}
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=60)


def test_all_seven_surfaces_are_covered():
    assert {Target.parse(target).surface for target in SURFACES} == set(Surface)


@pytest.mark.parametrize("target", SURFACES)
@settings(max_examples=8)
@given(value=TEXT)
@example(value='  "quoted" {braced} <tagged> & spaced, \\ ünïcödé 記録 🐢  ')
def test_a_payload_comes_back_byte_for_byte_to_whoever_reads_its_surface(target, value):
    async def run():
        document = scenario(stimuli=[payload(target, value)])
        assert PROVIDER.unsupported(document) == ()
        request = ProvisionRequest(document.preconditions, 1, 5)
        async with PROVIDER.provision(request) as environment:
            assert value not in await texts(environment)
            await environment.inject(document.stimuli[0])
            assert value in await SURFACES[target](environment.access.client)
            return await texts(environment)

    assert value in asyncio.run(run())


async def texts(environment):
    """All texts that were returned to the agent so far."""
    found = []

    def walk(value):
        if isinstance(value, dict):
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, str):
            found.extend([value, *value.splitlines()])

    walk((await environment.observe(ObservationType.RESPONSE_CONTENT)).data["bodies"])
    return found


@pytest.mark.parametrize("target", [target for target in SURFACES if not target.endswith("logs")])
def test_a_payload_of_several_lines_stays_one_text(provisioned, target):
    live = provisioned(*STATE)
    live.inject(target, "first\nsecond\n")
    found = asyncio.run(SURFACES[target](live.environment.access.client))
    assert "first\nsecond\n" in found


def test_a_payload_is_the_newest_line_of_its_log(provisioned):
    live = provisioned(*STATE, {"resource": "logs/web", "entries": ["started"]})
    live.inject("pod/web/logs", "a note\n")
    for pod in live.items("pod", labelSelector="app=web"):
        path = f"/api/v1/namespaces/shop/pods/{pod['metadata']['name']}/log"
        assert live.send("GET", path).body == "started\na note\n"
        assert live.send("GET", path, query={"tailLines": "1"}).body == "a note\n"


def test_a_target_elsewhere_is_found_by_its_namespace_or_because_it_is_the_only_one(provisioned):
    live = provisioned(*STATE)
    live.inject("deployment/ledger/annotations", "by name")
    live.inject("deployment/ledger/annotations/other", "by namespace", namespace="vault")
    (ledger,) = [item for item in live.objects()
                 if (item["kind"], item["metadata"]["name"]) == ("Deployment", "ledger")]  # fmt: skip
    assert {"by name", "by namespace"} <= set(ledger["metadata"]["annotations"].values())


def test_a_runbook_keeps_what_was_declared_in_it(provisioned):
    live = provisioned({"resource": "runbook/outage", "content": "read me"})
    live.inject("runbook/outage", "and this")
    assert live.get("configmap", "outage")["data"]["content"] == "read me\nand this"


def test_a_payload_put_in_place_before_the_agent_came_looks_as_old_as_the_rest(provisioned):
    live = provisioned(*STATE)
    live.inject("deployment/web/env/NOTE", "a note")
    times = {pod["metadata"]["creationTimestamp"] for pod in live.items("pod")}
    assert times == {live.get("configmap", "settings")["metadata"]["creationTimestamp"]}
    assert live.names("event") == []
