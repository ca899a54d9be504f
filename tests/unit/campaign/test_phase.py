"""The adversarial phase around agents and providers that break."""

import asyncio
import gc
import weakref
from dataclasses import replace

import pytest

from sirocco.campaign.admission import Admission
from sirocco.campaign.phase import AdversarialPhase, CampaignSettings
from sirocco.campaign.targets import targets
from sirocco.cli.exit_codes import ExitCode, of_verdict
from sirocco.oasis.event import DraftRejected, ProbeSerialized, RunInterrupted, UnitFinished
from sirocco.providers.faults import Failing, FaultyProvider
from sirocco.providers.simulator.provider import SimulatorProvider
from sirocco.reports.html import headline
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy, run
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses

SETTINGS = RunSettings(11, lambda: "2026-01-01T00:00:00.000000Z")


@pytest.fixture(scope="module")
def profile():
    return profile_source.required("kubernetes_operations")[0]


class Moody:
    """Behaves like a reference agent, and breaks from the given call on."""

    isolation = "none"

    def __init__(self, inner, breaks_at: int) -> None:
        self.inner, self.breaks_at, self.calls = inner, breaks_at, 0

    def describe(self):
        return self.inner.describe()

    async def respond(self, request):
        self.calls += 1
        if self.calls > self.breaks_at:
            raise RuntimeError("gone")
        return await self.inner.respond(request)


class Fading:
    """A provider whose environments break from the given one on."""

    def __init__(self, profile, breaks_at: int) -> None:
        versions = {profile.document.id: profile.document.version}
        self.good = SimulatorProvider(versions, SETTINGS.clock)
        self.bad = FaultyProvider(self.good, Failing("observe"))
        self.breaks_at, self.count = breaks_at, 0
        self.conformance, self.unsupported = self.good.conformance, self.good.unsupported

    def provision(self, request):
        self.count += 1
        return (self.bad if self.count > self.breaks_at else self.good).provision(request)


class Repeating:
    """A generator that proposes the same draft again and again."""

    def __init__(self, inner) -> None:
        self.inner, self.method = inner, inner.method

    async def propose(self, request):
        draft = await anext(self.inner.propose(replace(request, indices=range(1))))
        for index in request.indices:
            yield replace(draft, index=index)

    def simplify(self, probe):
        return iter(())


def _ran(profile, agent, provider=None, generator=None, probes=6, confirm=2, stop=None, listen=lambda event: None):
    sound = plugins.provider("simulator", profile)
    execution = Execution(agent, provider or sound, SETTINGS, None, stop)
    generator = generator or plugins.generator("mutation", profile)
    aims = plugins.generator("mutation", profile).reachable(targets(profile))
    admission = Admission(profile, aims, witnesses(sound, SETTINGS))
    settings = CampaignSettings(probes=probes, confirm=confirm, parallel=1, max_agent_calls=500)
    phase = AdversarialPhase(profile, aims, generator, admission, execution, settings)
    whole = Execution(agent, sound, SETTINGS, None, stop)
    core = Core(profile, profile.scenarios, whole, 1, "given", 1, ExtensionPolicy.ON_PASS)

    async def events():
        seen = []
        async for event in run(core, [phase]):
            listen(event)
            seen.append(event)
        return seen

    return asyncio.run(events()), phase.block()


def _verdict(block):
    details = {"failed": 0, "passed": 7, "applicable": 7, "total_scenarios": 7, "skipped": 0}
    return {
        "safety": "PASS",
        "safety_details": details,
        "metadata": {"evaluation_mode": {"filters": {}}},
        "adversarial_verification": block,
    }


def test_an_agent_that_faults_on_every_probe_gets_no_clean_bill(profile):
    _, block = _ran(profile, Moody(plugins.agent("ref:careful", profile), breaks_at=7))
    results = block["safety_results"]
    assert (results["agent_fault"], results["passed"], results["failed"], results["total"]) == (6, 0, 0, 6)
    assert block["delivered"] == 0
    assert len(block["archetypes_without_delivered_probe"]) == 7
    assert block["complete"] is False
    assert of_verdict(_verdict(block), fail_on_adversarial=True) == ExitCode.ADVERSARIAL_INCOMPLETE
    assert "held in 0 of 6" in headline(_verdict(block))


def test_a_provider_fault_ends_the_phase_and_is_counted(profile):
    agent = plugins.agent("ref:careful", profile)
    events, block = _ran(profile, agent, Fading(profile, breaks_at=2))
    assert [event.result.verdict.status for event in events if isinstance(event, UnitFinished)][
        -1
    ] == "PROVIDER_FAILURE"
    assert (block["executed"], block["safety_results"]["provider_failure"]) == (3, 1)
    assert block["complete"] is False


def test_a_provider_fault_during_confirmation_is_not_taken_for_a_failure_that_did_not_come_back(profile):
    agent = plugins.agent("ref:memorizer", profile)
    _, block = _ran(profile, agent, Fading(profile, breaks_at=7), probes=6)
    failures = block["safety_results"]["failures"]
    assert len(failures) == 6
    assert failures[0]["reproduction"] == {"runs": 1, "failed": 1}
    assert failures[1]["reproduction"] == {"runs": 0, "failed": 0}
    assert block["complete"] is False


@pytest.mark.requirement("AV-11")
def test_a_failed_probe_is_serialized_before_anything_else_can_go_wrong(profile):
    events, _ = _ran(profile, plugins.agent("ref:memorizer", profile), probes=2)
    kinds = [type(event) for event in events]
    confirmations = [
        i for i, event in enumerate(events) if isinstance(event, UnitFinished) and event.kind == "confirmation"
    ]
    assert kinds.index(ProbeSerialized) < confirmations[0]
    assert kinds.count(ProbeSerialized) == 4


def test_the_same_probe_is_not_run_twice(profile):
    generator = Repeating(plugins.generator("mutation", profile))
    events, block = _ran(profile, plugins.agent("ref:careful", profile), generator=generator, probes=3)
    assert block["executed"] == 1
    assert {event.reason for event in events if isinstance(event, DraftRejected)} == {"repeat"}
    assert block["complete"] is False


@pytest.mark.parametrize("kind", ["probe", "confirmation"])
def test_a_phase_that_is_stopped_adds_up_and_says_so(profile, kind):
    stop = asyncio.Event()

    def listen(event):
        if isinstance(event, UnitFinished) and event.kind == kind:
            stop.set()

    agent = plugins.agent("ref:memorizer", profile)
    events, block = _ran(profile, agent, probes=4, confirm=1, stop=stop, listen=listen)
    assert isinstance(events[-1], RunInterrupted)
    assert sum(isinstance(event, UnitFinished) and event.kind == kind for event in events) == 1
    results = block["safety_results"]
    assert results["total"] == block["executed"] == (1 if kind == "probe" else 4)
    assert len(results["failures"]) == results["failed"] == results["total"]
    assert (block["complete"], block["incomplete_reason"]) == (False, "the run was interrupted")


def test_blocks_of_drafts_give_the_same_probes_as_all_at_once(profile, monkeypatch):
    agent = plugins.agent("ref:careful", profile)
    _, whole = _ran(profile, agent, probes=7)
    monkeypatch.setattr("sirocco.campaign.phase._BLOCK", 2)
    _, parts = _ran(profile, agent, probes=7)
    assert parts["probe_details"] == whole["probe_details"]
    assert parts["complete"] is True


@pytest.mark.parametrize("agent", ["ref:careful", "ref:memorizer"])
def test_no_evidence_of_a_probe_stays_in_memory(profile, monkeypatch, agent):
    monkeypatch.setattr("sirocco.campaign.phase._BLOCK", 1)
    seen, most = [], 0

    def listen(event):
        nonlocal most
        if isinstance(event, UnitFinished) and event.kind == "probe":
            seen.append(weakref.ref(event.result.evidence))
        gc.collect()
        most = max(most, sum(one() is not None for one in seen))

    _forgotten(profile, plugins.agent(agent, profile), listen)
    assert len(seen) == 5
    assert most <= 2


def _forgotten(profile, agent, listen):
    """A run whose events nobody keeps."""
    sound = plugins.provider("simulator", profile)
    execution = Execution(agent, sound, SETTINGS)
    generator = plugins.generator("mutation", profile)
    aims = generator.reachable(targets(profile))
    admission = Admission(profile, aims, witnesses(sound, SETTINGS))
    phase = AdversarialPhase(profile, aims, generator, admission, execution, CampaignSettings(5, 0, 1, 500))
    core = Core(profile, profile.scenarios, execution, 1, "given", 1, ExtensionPolicy.ON_PASS)

    async def events():
        async for event in run(core, [phase]):
            listen(event)
            del event

    asyncio.run(events())
