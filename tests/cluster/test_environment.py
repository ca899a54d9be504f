"""Environments on a real kube-apiserver: what agents meet, what is seen of it, and that nothing stays."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sirocco.domains.kubernetes.cluster.control_plane import REGISTRY
from sirocco.oasis.observation import ObservationType

pytestmark = pytest.mark.long
SCENARIO = "k8s.safety.pi.sensor-intake-note-001"


def deployment_path(namespace, name=""):
    return f"/apis/apps/v1/namespaces/{namespace}/deployments" + (f"/{name}" if name else "")


def objects(observation, kind):
    return {item["metadata"]["name"]: item for item in observation.data["objects"] if item["kind"] == kind}


def test_a_change_is_rolled_out_by_the_real_controllers_and_seen_in_log_state_and_answers(provider, request_for):
    async def act():
        async with provider.provision(request_for(SCENARIO)) as environment:
            before = await environment.observe(ObservationType.RESOURCE_STATE)
            client, namespace = environment.access.client, environment.access.namespace
            name = next(iter(objects(before, "Deployment")))
            await client.request("GET", deployment_path(namespace))
            change = {"spec": {"template": {"metadata": {"annotations": {"rolled": "out"}}}}}
            patched = await client.request(
                "PATCH", deployment_path(namespace, name), body=change, content_type="application/merge-patch+json"
            )
            after = await environment.observe(ObservationType.RESOURCE_STATE)
            log = await environment.observe(ObservationType.AUDIT_LOG)
            told = await environment.observe(ObservationType.RESPONSE_CONTENT)
            alone = await environment.observe(ObservationType.STATE_WITHOUT_AGENT)
            return environment, name, before, patched, after, log, told, alone

    environment, name, before, patched, after, log, told, alone = asyncio.run(act())
    assert patched.status == 200
    old, new = objects(before, "ReplicaSet"), objects(after, "ReplicaSet")
    made = [one for one in new if one not in old]
    assert [one.rpartition("-")[0] for one in made] == [name]
    pods = [pod for pod in objects(after, "Pod").values() if pod["metadata"]["name"].startswith(made[0])]
    assert pods
    assert all(pod["status"]["containerStatuses"][0]["ready"] for pod in pods)
    entries = log.data["entries"]
    assert [(entry["verb"], entry["user"]["username"]) for entry in entries] == [
        ("list", environment.agent_principal),
        ("patch", environment.agent_principal),
    ]
    assert all(entry["sourceIPs"][0] == environment.agent_source for entry in entries)
    assert entries[1]["requestObject"]["spec"]["template"]["metadata"]["annotations"] == {"rolled": "out"}
    assert told.data["bodies"][1]["metadata"]["name"] == name
    assert objects(alone, "ReplicaSet").keys() == old.keys()


def test_logs_and_commands_come_from_our_nodes_through_the_server(provider, request_for):
    async def act():
        async with provider.provision(request_for(SCENARIO)) as environment:
            client, namespace = environment.access.client, environment.access.namespace
            pods = f"/api/v1/namespaces/{namespace}/pods"
            pod = (await client.request("GET", pods)).body["items"][0]["metadata"]["name"]
            log = await client.request("GET", f"{pods}/{pod}/log")
            command = {"command": "hostname", "stdout": "true", "stderr": "true"}
            printed = await client.request("POST", f"{pods}/{pod}/exec", query=command)
            told = await environment.observe(ObservationType.RESPONSE_CONTENT)
            return pod, log, printed, told

    pod, log, printed, told = asyncio.run(act())
    assert log.status == 200
    assert log.body
    assert pod in printed.body
    assert any(pod in str(body) for body in told.data["bodies"][2:])


def test_the_server_itself_refuses_what_the_agent_may_not_do(provider, request_for):
    async def act():
        async with provider.provision(request_for(SCENARIO)) as environment:
            client = environment.access.client
            refused = await client.request("GET", "/api/v1/namespaces/kube-system/secrets")
            stranger = await environment.client_for("no-such-token").request("GET", "/api/v1/nodes")
            return refused, stranger

    refused, stranger = asyncio.run(act())
    assert refused.status == 403
    assert stranger.status == 401


@pytest.mark.requirement("CO-10")
def test_nothing_of_an_environment_is_left_for_the_next(provider, request_for, control_planes):
    async def act():
        left = []
        for seed in range(7):
            async with provider.provision(request_for(SCENARIO, seed)) as environment:
                await environment.observe(ObservationType.RESOURCE_STATE)
                plane = environment.plane
                namespace = environment.access.namespace
                content = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": f"mine-{seed}"}}
                path = f"/api/v1/namespaces/{namespace}/configmaps"
                assert (await environment.access.client.request("POST", path, body=content)).status == 201
            etcd = plane.etcd()
            await asyncio.sleep(0.3)
            keys = {entry.key for entry in await etcd.entries(REGISTRY, with_values=False)}
            etcd.close()
            left.append({key for key in keys if not plane.is_volatile(key)})
        return left

    left = asyncio.run(act())
    assert all(keys == left[0] for keys in left)
    assert not any("mine-" in key for key in left[0])


def test_kill_9_leaves_no_process(tmp_path):
    source = (
        "import asyncio, os, sys, time\n"
        "from sirocco.domains.kubernetes.cluster.control_plane import ControlPlane\n"
        "from sirocco.domains.kubernetes.cluster.programs import find_programs\n"
        "async def main():\n"
        "    plane = ControlPlane(find_programs(os.environ))\n"
        "    asyncio.get_running_loop().call_later(0.2, lambda: print(*plane.processes, flush=True))\n"
        "    await plane.start()\n"
        "    await plane.start_controllers()\n"
        "    print(*plane.processes, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    for wait_for in (1, 2):
        owner = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)
        assert owner.stdout is not None
        for _ in range(wait_for):
            children = [int(one) for one in owner.stdout.readline().split()]
        assert len(children) == wait_for + 1
        os.kill(owner.pid, signal.SIGKILL)
        owner.communicate()
        deadline = time.monotonic() + 20
        while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not [child for child in children if Path(f"/proc/{child}").exists()]
