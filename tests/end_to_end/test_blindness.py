"""Nothing that reaches an agent tells a probe from a scenario, or names either (SI-02)."""

import asyncio
import json
import re

import pytest

from sirocco.agents.witness import Nothing
from sirocco.campaign.admission import Admission, Admitted
from sirocco.campaign.targets import targets
from sirocco.domains.kubernetes.probes.places import KEYS
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.agent import AgentRequest, AgentResponse
from sirocco.oasis.probe import Cell, ProbeRequest
from sirocco.runner.scenario_run import RunSettings, scenario_run
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses

TELLING = ("sirocco", "oasis", "probe", "scenario", "witness", "canary", "adversarial", "evaluat", "reserved")


class Curious:
    """Records every byte that it can get hold of: its request and the answer to every read it can think of."""

    isolation = "none"

    def __init__(self, inner) -> None:
        self.inner = inner
        self.seen: list[str] = []

    async def respond(self, request: AgentRequest) -> AgentResponse:
        self.seen.append(json.dumps(request.document()))
        client = request.environment.client
        for path in ("/api/v1/namespaces", "/api/v1/nodes", "/api", "/version"):
            self.seen.append(json.dumps((await client.request("GET", path)).body))
        for namespace in request.scope["namespaces"]:
            for kind in ("pods", "configmaps", "secrets", "events", "serviceaccounts", "services"):
                reply = await client.request("GET", f"/api/v1/namespaces/{namespace}/{kind}")
                self.seen.append(json.dumps(reply.body))
            for path in ("apis/apps/v1", "apis/rbac.authorization.k8s.io/v1"):
                for kind in ("deployments", "replicasets", "roles", "rolebindings"):
                    reply = await client.request("GET", f"/{path}/namespaces/{namespace}/{kind}")
                    self.seen.append(json.dumps(reply.body))
        return await self.inner.respond(request)


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


async def _probes(profile, provider, settings):
    generator, aims = plugins.generator("mutation", profile), targets(profile)
    admission = Admission(profile, aims, witnesses(provider, settings, profile.domain))
    reached = generator.reachable(aims)
    cells = tuple(Cell(index, reached[index % len(reached)].id) for index in range(21))
    request = ProbeRequest(reached, (), tuple(Surface), settings.seed, cells)
    decisions = [await admission.decide(draft) async for draft in generator.propose(request)]
    return [decision.probe.bound for decision in decisions if isinstance(decision, Admitted)]


async def _everything_seen(profile) -> tuple[dict[str, list[str]], set[tuple[str, str]]]:
    """What reaches an agent in each unit, and what probes declare: keys of labels and annotations, and kinds.

    Kinds stand as the controllers that report on objects of them.
    """
    settings = RunSettings(7, lambda: "2026-01-01T00:00:00.000000Z")
    provider = plugins.provider("simulator", profile)
    seen, declared = {}, set()
    probes = await _probes(profile, provider, settings)
    for bound in probes:
        for entry in bound.scenario.document()["preconditions"]["environment"]["state"]:
            declared |= {("label", key) for key in entry.get("labels", ())}
            declared |= {("annotation", key) for key in entry.get("annotations", ())}
            declared.add(("component", f"{entry['resource'].partition('/')[0]}-controller"))
    for number, bound in enumerate([*probes, *profile.scenarios]):
        # What somebody writes who obeys is seen in all probes, and in as many scenarios.
        agent = Curious(plugins.agent("ref:naive", profile) if number < 2 * len(probes) else Nothing())
        await scenario_run(bound, agent, provider, settings, unit=bound.scenario.id)
        seen[bound.scenario.id] = agent.seen
    return seen, declared


@pytest.fixture(scope="module")
def seen_and_declared(profile):
    return asyncio.run(_everything_seen(profile))


@pytest.fixture(scope="module")
def everything_seen(seen_and_declared):
    return seen_and_declared[0]


@pytest.mark.requirement("SI-02")
def test_no_byte_names_the_evaluation(everything_seen):
    assert len(everything_seen) > 20
    for texts in everything_seen.values():
        for text in texts:
            for word in TELLING:
                assert word not in text.lower().replace("lastprobetime", ""), text  # of every condition of a pod


@pytest.mark.requirement("SI-02")
def test_no_byte_holds_an_id_of_ours_or_the_profile_canary(everything_seen, profile):
    for unit, texts in everything_seen.items():
        together = "\n".join(texts)
        assert unit not in together
        assert profile.document.canary not in together
        assert all(archetype not in together for archetype in profile.archetypes)


@pytest.mark.requirement("SI-02")
def test_requests_of_scenarios_and_probes_have_the_same_form(everything_seen):
    def form(text: str) -> str:
        document = json.loads(text)
        environment = document["environment"]
        return json.dumps(
            [
                sorted(document),
                sorted(environment),
                len(document["run_id"]),
                len(environment["id"]),
                len(environment["token"]),
            ]
        )

    assert len({form(texts[0]) for texts in everything_seen.values()}) == 1


def _marks(value):
    """What set-up leaves on objects beside their content: who wrote fields, label and annotation keys, who reports."""
    if isinstance(value, list):
        for item in value:
            yield from _marks(item)
    if isinstance(value, dict):
        metadata = value.get("metadata")
        if isinstance(metadata, dict):
            yield from (("label", key) for key in metadata.get("labels") or ())
            yield from (("annotation", key) for key in metadata.get("annotations") or ())
            yield from (("metadata", key) for key in metadata)
            yield from (("manager", entry.get("manager")) for entry in metadata.get("managedFields") or ())
        if "involvedObject" in value:
            yield "component", (value.get("source") or {}).get("component")
        for item in value.values():
            yield from _marks(item)


@pytest.mark.requirement("SI-02")
def test_set_up_leaves_the_same_marks_in_scenarios_and_probes(seen_and_declared, profile):
    everything_seen, declared = seen_and_declared
    published = {bound.scenario.id for bound in profile.scenarios}
    marks = {
        unit: {mark for text in texts[1:] for mark in _marks(json.loads(text))}
        for unit, texts in everything_seen.items()
    }
    of_scenarios = set().union(*(marks[unit] for unit in marks if unit in published))
    probes = marks.keys() - published
    # What the operator speaks of is content.
    of_probes = {mark for unit in probes for mark in marks[unit] if str(mark[1]) not in everything_seen[unit][0]}
    assert ("label", "app") in of_scenarios
    # Every runbook is labelled as one, in a scenario that has one as in a probe; under which key a text waits is content.
    content = {("label", key) for key in ("app.kubernetes.io/component", *KEYS[Surface.LABELS])}
    content |= {("annotation", key) for key in KEYS[Surface.ANNOTATIONS]}
    # The agent's own writes, from a client that does not name itself.
    content |= {("manager", "unknown")}
    # What a scenario declares is content as well, and so are reports of the controllers of what it declares; set-up must
    # add nothing to it.
    assert of_probes <= of_scenarios | content | declared


@pytest.mark.requirement("SI-02")
def test_no_two_environments_share_an_id(everything_seen):
    uuid = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    owner: dict[str, str] = {}
    for unit, texts in everything_seen.items():
        for uid in set(uuid.findall("\n".join(texts))):
            assert owner.setdefault(uid, unit) == unit
    assert len(owner) > 100
