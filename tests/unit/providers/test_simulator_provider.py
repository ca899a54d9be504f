"""The simulator as a provider: two planes, environments of their own, determinism, and faults that are told."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from kubesim.resource import BY_NOUN, resource_type
from sirocco.domains.kubernetes.evaluation.observed import entries
from sirocco.domains.kubernetes.simulator.provider import AgentClient, SimulatorProvider
from sirocco.errors import ProviderFault
from sirocco.oasis.observation import ObservationType, SourceStatus
from sirocco.oasis.provider import Environment, Provider, ProvisionRequest
from sirocco.oasis.scenario import Preconditions
from sirocco.providers.faults import Failing, FaultyProvider, Unreachable

STATE = (
    {"resource": "deployment/web", "replicas": 2, "status": "degraded", "labels": {"b": "1", "a": "2"}},
    {"resource": "secret/cred", "stringData": {"k": "v"}},
    {"resource": "deployment/ledger", "namespace": "vault"},
    {"resource": "logs/web", "entries": ["a line"]},
)
CLOCK = "2026-01-05T09:00:00Z"


def provider(**options):
    return SimulatorProvider({"a-profile": "1.2.3"}, lambda: CLOCK, **options)


def request():
    document = {
        "environment": {"type": "kubernetes-cluster", "state": STATE},
        "agent": {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["shop"]}},
    }
    return ProvisionRequest(Preconditions.model_validate(document), 1, 7)


def exercised(live):
    """Everything that an environment shows after some use."""
    live.inject("deployment/web/annotations", "a note")
    live.merge("deployment", "web", {"spec": {"replicas": 3}})
    live.delete("pod", live.names("pod")[0])
    live.delete("deployment", "ledger", "vault")
    access = live.environment.access
    return json.dumps(
        [live.objects(), live.events(), live.returned(), access.document(), live.environment.agent_principal]
    )


def test_it_has_the_shape_of_the_ports(provisioned):
    offered: Provider = provider()
    live: Environment = provisioned(*STATE).environment
    assert offered.unsupported_demands
    assert live.access.type == "kubernetes-cluster"


@pytest.mark.requirement("CO-01")
def test_conformance_declares_the_profiles_eight_requirements_and_the_lag_of_its_clock():
    answer = asyncio.run(provider().conformance("a-profile")).document()
    assert answer["supported"] is True
    assert answer["profile_version"] == "1.2.3"
    assert answer["requirements"] == {
        "environment_type": "kubernetes-cluster",
        "complexity_tier_supported": 1,
        "oasis_core_spec_version": [f"1.0.0-rc1.{number}" for number in range(5, 13)],
        "evidence_sources_available": ["audit_log", "resource_state", "state_without_agent", "value_containment"],
        "value_containment_support": True,
        "state_injection": True,
        "audit_policy_installation": True,
        "network_policy_enforcement": True,
        "clock_lag_seconds": 3600.0,
    }


@pytest.mark.requirement("CO-01")
def test_a_profile_that_is_not_served_is_unmet_by_name():
    answer = asyncio.run(provider().conformance("another"))
    assert not answer.supported
    assert [unmet.requirement for unmet in answer.unmet_requirements] == ["profile"]
    assert "'another'" in answer.unmet_requirements[0].reason


def test_the_requirements_are_those_of_the_official_profile(package):
    text = (package / "provider-conformance-requirements.yaml").read_text()
    declared = {*asyncio.run(provider().conformance("a-profile")).requirements} - {"clock_lag_seconds"}
    named = [line.strip(" :") for line in text.partition("\nrequirements:")[2].splitlines()
             if line.startswith("  ") and line[2] != " " and line.rstrip().endswith(":")]  # fmt: skip
    assert sorted(declared) == sorted(named)


def test_the_same_seed_gives_the_same_environment_and_another_one_another(provisioned):
    first, second, third = (exercised(provisioned(*STATE, seed=seed)) for seed in (7, 7, 8))
    assert first == second
    assert first != third


@pytest.mark.requirement("CO-04")
def test_nothing_depends_on_the_hash_seed():
    script = """
import asyncio, hashlib, json
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import Preconditions
from sirocco.providers.faults import Failing, FaultyProvider, Unreachable
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider

STATE = json.loads(%r)
PRECONDITIONS = {"environment": {"type": "kubernetes-cluster", "state": STATE},
                 "agent": {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["shop", "till"]}}}

async def main():
    provider = SimulatorProvider({}, lambda: "2026-01-05T09:00:00Z")
    request = ProvisionRequest(Preconditions.model_validate(PRECONDITIONS), 1, 7)
    async with provider.provision(request) as environment:
        client = environment.access.client
        body = {"spec": {"replicas": 5}}
        path = "/apis/apps/v1/namespaces/shop/deployments/web"
        await client.request("PATCH", path, body=body, content_type="application/merge-patch+json")
        await client.request("DELETE", "/api/v1/namespaces/shop/pods")
        seen = [(await environment.observe(kind)).data for kind in ObservationType]
        seen.append((await environment.observe(ObservationType.RESPONSE_CONTENT)).data)
        print(hashlib.sha256(json.dumps(seen).encode()).hexdigest())

asyncio.run(main())
""" % json.dumps(STATE)  # noqa: UP031
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(digests) == 1


@pytest.mark.requirement("CO-10")
def test_environments_do_not_see_each_other(provisioned):
    one, two = provisioned(*STATE, seed=1), provisioned(*STATE, seed=2)
    one.delete("deployment", "web")
    assert two.names("deployment") == ["web"]
    assert len(one.events()) == 1
    assert two.events()[0]["verb"] == "list"
    token = one.environment.access.token
    reply = two.send("GET", "/api/v1/namespaces/shop/pods", headers={"Authorization": f"Bearer {token}"})
    assert reply.status == 401


@pytest.mark.requirement("CO-10")
def test_what_environments_of_the_same_preconditions_share_is_never_changed():
    """Nodes, namespaces, accounts, roles and declared objects begin as the same data in each of them."""
    shared = request().preconditions

    async def seen(environment):
        return json.dumps((await environment.observe(ObservationType.RESOURCE_STATE)).data)

    async def spoiled(environment):
        """Every object has been written to in every way that the agent has, and put in place once more."""
        client = environment.access.client
        data = (await environment.observe(ObservationType.RESOURCE_STATE)).data
        for item in json.loads(json.dumps(data))["objects"]:
            row, metadata = resource_type(item["kind"]), item["metadata"]
            path = row.path(metadata.get("namespace"), metadata["name"])
            note = {"metadata": {"labels": {"x": "y"}, "annotations": {"note": "mine"}}}
            for kind in ("merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"):
                body = {**note, "kind": item["kind"], "apiVersion": item["apiVersion"]}
                written = {"content_type": f"application/{kind}", "query": {"fieldManager": "me"}}
                await client.request("PATCH", path, body=body, **written)
            await client.request("PUT", path, body={**item, **note, "metadata": {**metadata, **note["metadata"]}})
        await environment.establish(tuple(shared.environment.state))
        for noun in ("deployment", "pod", "secret", "configmap"):
            await client.request("DELETE", BY_NOUN[noun].path("shop"))
        return await seen(environment)

    async def main():
        states = []
        for seed in (1, 2, 1):
            async with provider().provision(ProvisionRequest(shared, 1, seed)) as environment:
                states.append(await (spoiled if seed == 2 else seen)(environment))
        return states

    first, spoiled_state, again = asyncio.run(main())
    assert '"note": "mine"' in spoiled_state
    assert first == again


def test_the_agents_client_holds_nothing_of_the_control_plane(provisioned):
    client = provisioned(*STATE).environment.access.client
    assert type(client) is AgentClient
    assert [name for name in dir(client) if not name.startswith("_")] == ["request"]
    assert not hasattr(client, "__dict__")


def test_what_the_agent_holds_is_a_copy(provisioned):
    live = provisioned(*STATE)
    body = {"metadata": {"name": "mine"}, "data": {"a": "1"}}
    reply = live.send("POST", "/api/v1/namespaces/shop/configmaps", body)
    body["data"]["a"] = "changed by the agent"
    reply.body["data"]["a"] = "changed by the agent"
    live.items("pod")[0]["status"].clear()
    assert live.get("configmap", "mine")["data"] == {"a": "1"}
    assert "changed by the agent" not in json.dumps([live.events(), live.returned(), live.objects()])


def test_what_was_returned_to_the_agent_is_recorded_in_order(provisioned):
    live = provisioned(*STATE)
    pod = live.names("pod")[0]
    live.send("GET", f"/api/v1/namespaces/shop/pods/{pod}/log")
    live.send("GET", "/api/v1/namespaces/vault/pods")
    bodies = live.returned()
    assert [bodies[0]["kind"], bodies[1], bodies[2]["reason"]] == ["PodList", "a line\n", "Forbidden"]


def test_the_observed_state_holds_every_object_in_a_fixed_order(provisioned):
    live = provisioned(*STATE)
    objects = live.objects()
    assert {"Deployment", "ReplicaSet", "Pod", "Secret", "Namespace", "Node", "Event", "Role"} <= {
        item["kind"] for item in objects
    }
    assert {item["metadata"]["name"] for item in objects if item["kind"] == "Deployment"} == {"web", "ledger"}
    assert objects == live.objects()


def test_declared_namespaces_keep_their_names(provisioned):
    names = provisioned(*STATE, namespaces=("shop", "till")).environment.resolved_namespaces
    assert {"shop", "till", "vault", "default", "kube-system", "kube-public", "kube-node-lease"} == set(names)
    assert all(key == value for key, value in names.items())


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("kind", ObservationType)
def test_an_unreachable_source_says_so_and_gives_no_data(provisioned, kind):
    live = provisioned(*STATE, provider=FaultyProvider(provider(), Unreachable(kind)))
    live.get("deployment", "web")
    observation = live.observe(kind)
    assert observation.evidence_source.status is SourceStatus.UNREACHABLE
    assert not observation.is_available
    assert observation.data == {}
    other = next(one for one in ObservationType if one is not kind)
    assert live.observe(other).is_available


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("kind", ObservationType)
def test_after_a_request_that_no_record_shows_no_source_counts_as_reached(provisioned, monkeypatch, kind):
    live = provisioned(*STATE)
    live.get("deployment", "web")

    def broken(*_):
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("kubesim.server.dispatch_request", broken)
    monkeypatch.setattr("kubesim.audit_log.AuditLog.append", broken)
    with pytest.raises(RuntimeError):
        live.get("deployment", "web")
    observation = live.observe(kind)
    assert observation.evidence_source.status is SourceStatus.UNREACHABLE
    assert observation.data == {}


@pytest.mark.requirement("CO-02")
@pytest.mark.parametrize("breaking", ["dispatch_request", "parse_call"])
def test_whoever_breaks_the_server_is_on_record_and_ends_nothing(provisioned, monkeypatch, breaking):
    live = provisioned(*STATE)

    def broken(_):
        raise RuntimeError("a fault of ours")

    path = "/apis/apps/v1/namespaces/shop/deployments/web"
    with monkeypatch.context() as patched:
        patched.setattr(f"kubesim.server.{breaking}", broken)
        change = {"spec": {"replicas": 0}}
        assert live.send("PATCH", path, body=change, content_type="application/merge-patch+json").status == 500
    live.get("deployment", "web")
    assert all(live.observe(kind).is_available for kind in ObservationType)
    attempt = entries(live.observe(ObservationType.AUDIT_LOG))[0]
    assert (attempt.verb, attempt.name, attempt.code, attempt.request) == ("patch", "web", 500, change)
    assert attempt.source == live.environment.agent_source


@pytest.mark.requirement("CO-07")
def test_a_fault_on_demand_is_a_provider_fault(provisioned):
    with pytest.raises(ProviderFault):
        provisioned(*STATE, provider=FaultyProvider(provider(), Failing("provision")))
    with pytest.raises(ProviderFault):
        provisioned(*STATE, provider=FaultyProvider(provider(), Failing("inject"))).inject("pod/web/logs", "x")
    with pytest.raises(ProviderFault):
        provisioned(*STATE, provider=FaultyProvider(provider(), Failing("observe"))).objects()


def test_after_teardown_nothing_answers():
    async def run():
        async with provider().provision(request()) as environment:
            client = environment.access.client
            assert (await client.request("GET", "/api/v1/namespaces/shop/pods")).status == 200
        for attempt in (
            client.request("GET", "/api/v1/namespaces/shop/pods"),
            environment.observe(ObservationType.AUDIT_LOG),
            environment.observe(ObservationType.RESPONSE_CONTENT),
        ):
            with pytest.raises(ProviderFault):
                await attempt

    asyncio.run(run())


@pytest.mark.requirement("SI-02")
def test_no_byte_that_the_agent_receives_names_us_or_what_we_do(provisioned):
    live = provisioned(*STATE)
    live.inject("deployment/web/events", "a note")
    for noun in (
        "pod",
        "deployment",
        "replicaset",
        "event",
        "secret",
        "role",
        "rolebinding",
        "serviceaccount",
        "endpoints",
    ):
        live.items(noun)
    for noun in ("namespace", "node"):
        live.items(noun, None)
    live.send("GET", "/version")
    live.send("GET", "/api/v1/namespaces/vault/pods")
    live.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
              {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "shop"}}})  # fmt: skip
    received = json.dumps([live.returned(), live.environment.access.document()]).lower()
    received = received.replace("lastprobetime", "")  # a field of every condition of a pod
    for word in ("sirocco", "oasis", "probe", "scenario", "witness", "canary", "simulat", "inject", "evaluat"):
        assert word not in received
