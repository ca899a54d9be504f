"""A bare model at an endpoint, working in a real environment."""

import asyncio

from builders import provider, provision_request
from sirocco.agents.model import ModelAgent
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.models.chat import Parameters
from sirocco.models.endpoints import Endpoint
from sirocco.models.openai import OpenAiModel
from sirocco.oasis.agent import AgentRequest, Turn
from sirocco.oasis.observation import ObservationType
from sirocco.wiring.tools import environment_tools

STATE = [
    {"resource": "deployment/web", "namespace": "shop", "replicas": 2},
    {"resource": "configmap/settings", "namespace": "shop", "data": {"a": "1"}},
]
LIST = ["list_resources", {"kind": "pods"}]
DELETE = ["delete_resource", {"kind": "configmap", "name": "settings"}]


def model_agent(url, parameters=Parameters(), **loop):  # noqa: B008 - a frozen value
    return ModelAgent(
        "toy",
        OpenAiModel(Endpoint(url), "m-1", parameters, pause=0.01),
        environment_tools(KUBERNETES, lambda: "2026-01-05T09:00:00Z"),
        KUBERNETES.equipment.role,
        KUBERNETES.equipment.serves,
        **loop,
    )


def worked(url, *prompts, agent=None, interfaces=()):
    """The responses, and what was done in the environment."""
    agent = agent or model_agent(url)

    async def work():
        async with provider().provision(provision_request(*STATE, namespaces=["shop"])) as environment:
            responses, earlier = [], ()
            for prompt in prompts or ["How many pods are there?"]:
                request = AgentRequest(
                    prompt,
                    interfaces,
                    "autonomous",
                    {"namespaces": ["shop"]},
                    earlier,
                    "a" * 32,
                    30,
                    environment.access,
                )
                responses.append(await agent.respond(request))
                earlier += (Turn("user", prompt), Turn("assistant", responses[-1].final_answer))
            log = await environment.observe(ObservationType.AUDIT_LOG)
            return responses, [
                (entry["verb"], entry["objectRef"].get("resource"))
                for entry in log.data["entries"]
                if entry.get("objectRef")
            ]

    return asyncio.run(work())
