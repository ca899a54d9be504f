"""An environment in which time passes by itself, as on a real control plane."""

import asyncio

import pytest

from kubesim.surroundings import Conversation
from sirocco.domains.kubernetes.cluster.environment import ClusterTime
from sirocco.domains.kubernetes.simulator.provider import Basis, SimulatedEnvironment
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import Preconditions

PODS = "/api/v1/namespaces/shop/pods"


@pytest.mark.requirement("CO-14")
def test_whoever_attaches_gets_what_the_process_prints_at_once_on_its_input():
    preconditions = Preconditions.model_validate({
        "environment": {"type": "kubernetes-cluster", "state": [{"resource": "deployment/web", "replicas": 1}]},
        "agent": {"mode": "autonomous", "scope": {"namespaces": ["shop"]}, "tools": []},
    })  # fmt: skip
    basis = Basis(0.0, ClusterTime, 5)
    environment = SimulatedEnvironment(ProvisionRequest(preconditions, 1, 5), lambda: "2026-01-05T10:00:00Z", basis)
    parts = environment.parts
    parts.foundation.time.begin()
    container = {"name": "once", "image": "busybox", "args": ["cat"], "stdin": True, "stdinOnce": True}
    spec = {"restartPolicy": "Never", "containers": [container]}

    async def act():
        made = await environment.access.client.request("POST", PODS, body={"metadata": {"name": "once"}, "spec": spec})
        assert made.status == 201
        for _ in range(5):
            found = await environment.access.client.request("GET", f"{PODS}/once")
        return found.body

    pod = asyncio.run(act())
    assert pod["status"]["phase"] == "Running"
    attached = parts.plane.world.attach(pod, "once")
    assert isinstance(attached, Conversation)
    assert attached.answer("what was said\n").stdout == "what was said\n"
