"""An agent of ours behind the contract, over real HTTP: what other runners send, well or badly."""

import asyncio
import http.client
import json
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from builders import provision_request
from sirocco.agents.service import BODY_LIMIT
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.domains.kubernetes.serving import ServedSimulator
from sirocco.errors import AgentFault
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentResponse
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.clock import utc_now
from sirocco.wiring.serving import served_agent

STATE = [{"resource": "deployment/web", "namespace": "shop", "replicas": 2}]
PLAIN = {"prompt": "Hello", "tools": None, "mode": "autonomous", "scope": {"namespaces": ["shop"]}}
"""All that oasisctl sends."""


class Toy:
    isolation = "none"

    def __init__(self):
        self.requests = []

    async def describe(self):
        return AgentDescription(identity=AgentIdentity(name="toy", version="1"))

    async def respond(self, request):
        self.requests.append(request)
        if request.prompt == "raise":
            raise ValueError("broken")
        if request.prompt == "fault":
            raise AgentFault("toy", "out of order", "repair it")
        reply = await request.environment.client.request("GET", "/api/v1/namespaces/shop/pods")
        return AgentResponse(final_answer=f"{reply.status} {len(reply.body['items'])}")


class Keeper(Toy):
    async def audit_trail(self, run_id):
        return ({"run": run_id},)


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


class Loop:
    """An event loop in a thread, in which things are served."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    @contextmanager
    def opened(self, manager):
        value = self.run(manager.__aenter__())
        try:
            yield value
        finally:
            self.run(manager.__aexit__(None, None, None))

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()


@pytest.fixture
def loop():
    running = Loop()
    yield running
    running.close()


def call(url, method="POST", path="/", body=None, headers=None):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    try:
        connection.request(method, path, content, headers or {})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_a_turn_acts_in_the_environment_that_the_request_hands_over(loop, profile):
    served = ServedSimulator(plugins.profile_versions(profile), utc_now, listen="127.0.0.1:0")
    agent = Toy()
    with (
        loop.opened(served.open()),
        loop.opened(served.provision(provision_request(*STATE, namespaces=["shop"]))) as environment,
        loop.opened(served_agent(agent, "127.0.0.1:0", KUBERNETES)) as url,
    ):
        access = environment.access.document()
        whole = call(
            url,
            body={**PLAIN, "environment": access, "run_id": "r", "conversation": [{"role": "user", "content": "x"}]},
        )
        by_parts = call(
            url,
            body={
                **PLAIN,
                "environment": {
                    **access,
                    "kubernetes": {key: access["kubernetes"][key] for key in ("server", "namespace")},
                },
            },
        )
        by_file = call(
            url, body={**PLAIN, "environment": {"kubernetes": {"kubeconfig": access["kubernetes"]["kubeconfig"]}}}
        )
        wrong = call(url, body={**PLAIN, "environment": {**access, "token": "wrong"}})
        unusable = call(url, body={**PLAIN, "environment": {"kubernetes": {"server": "https://127.0.0.1:1"}}})
    assert whole == by_parts == by_file == (200, {"final_answer": "200 2", "reasoning": ""})
    assert wrong[0] == 500
    assert unusable[0] == 500
    assert "token" in unusable[1]["error"]
    request = agent.requests[0]
    assert (request.run_id, request.conversation[0].content, request.environment.namespace) == ("r", "x", "shop")
    assert request.environment.services["metrics"] == "/services/metrics"
    assert request.environment.document() == access


def test_a_runner_that_hands_over_nothing_is_answered_or_leads_to_a_kubeconfig(loop, profile, tmp_path):
    served = ServedSimulator(plugins.profile_versions(profile), utc_now, listen="127.0.0.1:0")
    file = tmp_path / "kubeconfig"
    with (
        loop.opened(served.open()),
        loop.opened(served.provision(provision_request(*STATE, namespaces=["shop"]))) as environment,
        loop.opened(served_agent(Toy(), "127.0.0.1:0", KUBERNETES)) as without,
        loop.opened(served_agent(Toy(), "127.0.0.1:0", KUBERNETES, file)) as url,
    ):
        status, said = call(without, body=PLAIN)
        absent = call(url, body=PLAIN)
        file.write_text(environment.access.served.files["KUBECONFIG"])
        found = call(url, body=PLAIN)
    assert (status, said["actions"]) == (200, [])
    assert "no way into an environment" in said["final_answer"]
    assert absent[0] == 500
    assert found == (200, {"final_answer": "200 2", "reasoning": ""})


def test_who_it_is_and_what_it_kept(loop):
    with (
        loop.opened(served_agent(Keeper(), "127.0.0.1:0", KUBERNETES)) as url,
        loop.opened(served_agent(Toy(), "127.0.0.1:0", KUBERNETES)) as plain,
    ):
        assert call(url, "GET", "/identity-and-configuration")[1]["identity"]["name"] == "toy"
        assert call(url, "GET", "/agents/a/identity-and-configuration")[0] == 200
        assert call(url, "GET", "/audit-trail?run_id=r1") == (200, {"audit_trail": [{"run": "r1"}]})
        assert call(url, "GET", "/audit-trail")[0] == 400
        assert call(plain, "GET", "/audit-trail?run_id=r1")[0] == 404
        assert call(plain, "GET", "/")[0] == 404
        assert call(plain, "PUT", "/", {})[0] == 405


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        ([], 400, "not a JSON object"),
        ({}, 400, "prompt must be a string"),
        ({"prompt": 3}, 400, "prompt must be a string"),
        ({"prompt": "x", "tools": "y"}, 400, "tools must be of type list"),
        ({"prompt": "x", "scope": []}, 400, "scope must be of type dict"),
        ({"prompt": "x", "conversation": [3]}, 400, "a role and a content"),
        ({"prompt": "raise"}, 500, "ValueError: broken"),
        ({"prompt": "fault"}, 500, "out of order; repair it"),
        (b"x" * (BODY_LIMIT + 1), 413, "longer than"),
    ],
)
def test_whatever_is_wrong_is_said_in_words(loop, body, status, said):
    environment = {"token": "t", "kubernetes": {"server": "https://127.0.0.1:1/x", "namespace": "shop"}}
    if isinstance(body, dict):
        body = {**body, "environment": environment}
    with loop.opened(served_agent(Toy(), "127.0.0.1:0", KUBERNETES)) as url:
        found, answer = call(url, body=body)
        assert call(url, "GET", "/identity-and-configuration")[0] == 200
    assert (found, said in answer["error"]) == (status, True), answer


def test_any_agent_can_be_served(loop, profile):
    agent = plugins.agent("ref:careful", profile)
    with loop.opened(served_agent(agent, "127.0.0.1:0", KUBERNETES)) as url:
        assert call(url, "GET", "/identity-and-configuration")[1]["identity"]["name"] == "careful"
