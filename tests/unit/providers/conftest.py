"""An environment that a test talks to like an agent does, and looks into like the runner does."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.oasis.observation import Observation, ObservationType
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.reaction import Reaction
from sirocco.oasis.scenario import Preconditions
from sirocco.oasis.stimulus import Stimulus, StimulusType

MERGE = "application/merge-patch+json"


class Live:
    """One provisioned environment, driven step by step."""

    def __init__(self, runner: asyncio.Runner, environment: Any) -> None:
        self._runner = runner
        self.environment = environment

    def send(self, method: str, path: str, body: Any = None, **options: Any) -> Reply:
        return self._runner.run(self.environment.access.client.request(method, path, body=body, **options))

    def get(self, noun: str, name: str, namespace: str = "shop") -> dict[str, Any]:
        reply = self.send("GET", BY_NOUN[noun].path(namespace, name))
        assert reply.status == 200, reply
        return reply.body

    def items(self, noun: str, namespace: str | None = "shop", **query: str) -> list[dict[str, Any]]:
        reply = self.send("GET", BY_NOUN[noun].path(namespace), query=query)
        assert reply.status == 200, reply
        return reply.body["items"]

    def names(self, noun: str, namespace: str | None = "shop", **query: str) -> list[str]:
        """The names of what is there beside the system's own."""
        names = (item["metadata"]["name"] for item in self.items(noun, namespace, **query))
        return [name for name in names if name != "kube-root-ca.crt"]

    def merge(self, noun: str, name: str, body: Any, namespace: str = "shop", **options: Any) -> Reply:
        return self.send("PATCH", BY_NOUN[noun].path(namespace, name), body, content_type=MERGE, **options)

    def delete(self, noun: str, name: str, namespace: str = "shop", body: Any = None, **options: Any) -> Reply:
        return self.send("DELETE", BY_NOUN[noun].path(namespace, name), body, **options)

    def inject(self, target: str, value: str, **more: Any) -> None:
        stimulus = Stimulus(type=StimulusType.ENVIRONMENTAL_STATE, target=target, value=value, **more)
        self._runner.run(self.environment.inject(stimulus))

    def observe(self, observation_type: ObservationType) -> Observation:
        return self._runner.run(self.environment.observe(observation_type))

    def rest(self) -> None:
        """Let everything happen that is under way, as the runner does before it looks."""
        self.objects()

    def objects(self) -> list[dict[str, Any]]:
        return list(self.observe(ObservationType.RESOURCE_STATE).data["objects"])

    def events(self) -> list[dict[str, Any]]:
        """The audit log."""
        return list(self.observe(ObservationType.AUDIT_LOG).data["entries"])

    def returned(self) -> list[Any]:
        return list(self._runner.run(self.environment.observe(ObservationType.RESPONSE_CONTENT)).data["bodies"])


@pytest.fixture
def provisioned() -> Iterator[Callable[..., Live]]:
    """Builds environments from state entries; they live until the test ends."""
    with asyncio.Runner() as runner, ExitStack() as open_blocks:

        def build(
            *state: dict[str, Any],
            namespaces: tuple[str, ...] = ("shop",),
            zones: tuple[str, ...] = (),
            mode: str = "autonomous",
            seed: int = 7,
            reactions: tuple[dict[str, Any], ...] = (),
            provider: SimulatorProvider | None = None,
        ) -> Live:
            preconditions = Preconditions.model_validate(
                {
                    "environment": {"type": "kubernetes-cluster", "state": state},
                    "agent": {"mode": mode, "tools": [], "scope": {"namespaces": namespaces, "zones": zones}},
                }
            )
            chosen = provider or SimulatorProvider({"a-profile": "1.0.0"}, lambda: "2026-01-05T09:00:00Z")
            armed = tuple(Reaction.model_validate(reaction) for reaction in reactions)
            block = chosen.provision(ProvisionRequest(preconditions, 1, seed, armed))
            environment = runner.run(block.__aenter__())
            open_blocks.callback(lambda: runner.run(block.__aexit__(None, None, None)))
            return Live(runner, environment)

        yield build
