"""The same environment without the agent: it begins alike, meets the same events at the same times, and lasts as long."""

import asyncio

import pytest

from builders import TIME, provider, provision_request
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.reaction import Reaction
from sirocco.oasis.stimulus import Stimulus

WEB = {"resource": "deployment/web", "namespace": "shop", "replicas": 2}
SETTINGS = {"resource": "configmap/settings", "namespace": "shop", "data": {"LEVEL": "info"}}
HPA = {"resource": "hpa/web", "namespace": "shop", "target": "deployment/web", "min_replicas": 1, "max_replicas": 4}
PATH = "/api/v1/namespaces/shop/configmaps"
MERGE, JSON = "application/merge-patch+json", "application/json"
NOTE = Stimulus.model_validate(
    {"type": "environmental_state", "target": "configmap/settings", "namespace": "shop", "state": {"data": {"LEVEL": "warn"}}}
)  # fmt: skip


def lived(*calls, state=(WEB, SETTINGS, HPA), stimuli=(), reactions=()):
    """What an environment holds after the calls, and what it would hold without them, by kind and name."""
    request = provision_request(*state)
    declared = tuple(Reaction.model_validate(one) for one in reactions)
    request = ProvisionRequest(request.preconditions, 1, request.seed, declared)

    async def live():
        async with provider().provision(request) as environment:
            for stimulus, trigger in stimuli:
                await environment.inject(stimulus, trigger)
            before = await environment.observe(ObservationType.RESOURCE_STATE)
            for method, path, body in calls:
                reply = await environment.access.client.request(
                    method, path, body=body, content_type=JSON if method == "POST" else MERGE
                )
                assert reply.succeeded, reply
            after = await environment.observe(ObservationType.RESOURCE_STATE)
            return before, after, await environment.observe(ObservationType.STATE_WITHOUT_AGENT)

    return [named(one) for one in asyncio.run(live())]


def named(observation):
    assert observation.is_available
    return {(item["kind"], item["metadata"]["name"]): item for item in observation.data["objects"]}


def level(world):
    return world["ConfigMap", "settings"]["data"]["LEVEL"]


@pytest.mark.requirement("SI-08")
@pytest.mark.parametrize("state", [(WEB, SETTINGS, HPA), (SETTINGS,)], ids=["something is due", "nothing is due"])
def test_nothing_but_the_agents_work_differs(state):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine"}}
    before, after, without = lived(("POST", PATH, body), ("PATCH", f"{PATH}/settings", {"data": {"LEVEL": "debug"}}),
                                   state=state)  # fmt: skip
    assert without == before
    assert after.keys() - without.keys() == {("ConfigMap", "mine")}
    assert [key for key in without if without[key] != after[key]] == [("ConfigMap", "settings")]


@pytest.mark.requirement("SI-08")
@pytest.mark.parametrize("trigger", [None, "after_first_tool_call", "on_second_query", "at_2s", "after_first_write"])
def test_a_stimulus_happens_without_the_agent_too_at_its_recorded_time(trigger):
    calls = [("GET", f"{PATH}/settings", None)] * 4 + [("PATCH", "/apis/apps/v1/namespaces/shop/deployments/web/scale",
             {"spec": {"replicas": 3}})]  # fmt: skip
    _, after, without = lived(*calls, stimuli=[(NOTE, trigger)])
    assert level(after) == level(without) == "warn"
    assert without["Deployment", "web"]["spec"]["replicas"] == 2


@pytest.mark.requirement("SI-08")
def test_a_stimulus_whose_time_never_came_happens_in_neither_world():
    _, after, without = lived(("GET", f"{PATH}/settings", None), stimuli=[(NOTE, "at_30s")])
    assert level(after) == level(without) == "info"


@pytest.mark.requirement("SI-08")
@pytest.mark.parametrize(
    "when", ["scale deployment/web namespace=shop", {"write": 1}, {"after": "1s"}], ids=["operation", "write", "time"]
)
def test_a_reaction_to_the_agent_is_not_its_work(when):
    entry = {"resource": "configmap/settings", "namespace": "shop", "data": {"LEVEL": "error"}}
    scale = ("PATCH", "/apis/apps/v1/namespaces/shop/deployments/web/scale", {"spec": {"replicas": 3}})
    look = ("GET", f"{PATH}/settings", None)
    _, after, without = lived(look, scale, look, look, reactions=[{"when": when, "then": {"set": entry}}])
    assert level(after) == level(without) == "error"
    assert without["Deployment", "web"]["spec"]["replicas"] == 2


@pytest.mark.requirement("SI-08")
def test_what_the_agent_sets_in_motion_has_come_to_its_end():
    bounds = {"spec": {"minReplicas": 1, "maxReplicas": 1}}
    path = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web"
    _, after, without = lived(("PATCH", path, bounds))
    assert after["Deployment", "web"]["spec"]["replicas"] == 1
    assert without["Deployment", "web"]["spec"]["replicas"] == 2


def test_it_leaves_the_environment_itself_alone():
    async def live():
        async with provider().provision(provision_request(WEB, SETTINGS)) as environment:
            await environment.access.client.request("GET", PATH)
            for _ in range(2):
                assert (await environment.observe(ObservationType.STATE_WITHOUT_AGENT)).timestamp == TIME
            return [
                await environment.observe(one) for one in (ObservationType.AUDIT_LOG, ObservationType.RESPONSE_CONTENT)
            ]

    log, returned = asyncio.run(live())
    assert len(log.data["entries"]) == len(returned.data["bodies"]) == 1
