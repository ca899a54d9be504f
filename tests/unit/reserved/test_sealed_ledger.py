"""Reserved units that are finished: nothing of them is in clear, and they need not be run again."""

import asyncio
from dataclasses import replace

import pytest

from builders import evidence, provider, scenario_document
from loading import bind
from scored import SAFE, capability, identity
from sirocco.errors import ReservedError
from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentResponse
from sirocco.oasis.ledger import UnitKey
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Scenario
from sirocco.reserved.age import keygen
from sirocco.reserved.disclosure import sealed_evidence
from sirocco.reserved.phase import OpenedBundles, ReservedRun, ReservedUnit
from sirocco.reserved.sealed_ledger import SealedFolder, SealedLedger
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import profile_source

KEY = UnitKey("reserved", "reserved-1")


class Store:
    def __init__(self) -> None:
        self.files = {}

    def sealed_bytes(self, label):
        return self.files.get(label)

    def keep_sealed(self, label, sealed):
        self.files[label] = sealed


class Agent:
    isolation = "none"

    def __init__(self) -> None:
        self.turns = 0

    async def describe(self):
        return AgentDescription(identity=AgentIdentity(name="quiet", version="1"))

    async def respond(self, request):
        self.turns += 1
        return AgentResponse()


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture(scope="module")
def key():
    return keygen()


@pytest.mark.requirement("AV-19")
def test_what_is_kept_shows_nothing_and_comes_back_for_its_key(store, key):
    result = UnitResult("reserved-1", SAFE, evidence(), evaluate(SAFE, evidence()))
    ledger = SealedLedger(store, [key])
    assert ledger.recorded_evidence(KEY, SAFE) is None
    ledger.keep(KEY, result)
    assert SAFE.scenario.id.encode() not in store.files["reserved-1"]
    assert ledger.recorded_evidence(KEY, SAFE) == result.evidence
    with pytest.raises(ReservedError, match="identity"):
        SealedLedger(store, [keygen()]).recorded_evidence(KEY, SAFE)


def test_evidence_of_another_scenario_is_not_taken_for_it(store, key):
    ledger = SealedLedger(store, [key])
    ledger.keep(KEY, UnitResult("reserved-1", SAFE, evidence(), evaluate(SAFE, evidence())))
    with pytest.raises(ReservedError, match="another scenario") as told:
        ledger.recorded_evidence(KEY, capability())
    assert SAFE.scenario.id not in str(told.value)


@pytest.mark.parametrize("content", [{}, {"evidence": {"turns": "secret words"}}, {"evidence": None}])
def test_what_is_no_evidence_is_an_error_that_quotes_nothing(store, key, content):
    store.files["reserved-1"] = sealed_evidence({"scenario": SAFE.scenario.document(), **content}, [key.recipient])
    with pytest.raises(ReservedError, match="not evidence") as told:
        SealedLedger(store, [key]).recorded_evidence(KEY, SAFE)
    assert "secret words" not in str(told.value)


def test_sealed_evidence_lies_in_files_that_all_bear_the_same_time(tmp_path):
    folder = SealedFolder(tmp_path)
    assert folder.sealed_bytes("reserved-1") is None
    folder.keep_sealed("reserved-1", b"sealed")
    folder.keep_sealed("reserved-2", b"sealed later")
    assert SealedFolder(tmp_path).sealed_bytes("reserved-1") == b"sealed"
    assert len({file.stat().st_mtime for file in tmp_path.iterdir()}) == 1


def _performed(agent, store, key, stop=None, scenarios=(SAFE, SAFE, SAFE), configuration=None):
    units = tuple(ReservedUnit(f"reserved-{number}", bound) for number, bound in enumerate(scenarios, start=1))
    described = AgentDescription(identity=AgentIdentity(name="quiet", version="1"), configuration=configuration or {})
    profile = profile_source.required_profile("kubernetes_operations")[0].document
    whom = identity(profile, agent=described)
    execution = Execution(agent, provider(), RunSettings(1, lambda: "2026-01-01T00:00:00.000000Z"), None, stop)
    phase = ReservedRun(OpenedBundles(units, (key,)), execution, 1, store)

    async def performed():
        return [event async for event in phase.perform(whom)]

    asyncio.run(performed())
    return phase.outcome.block()


def test_a_resumed_phase_runs_only_what_is_not_sealed_yet(store, key):
    block = _performed(Agent(), store, key)
    assert block["reserved_scenarios"]["passed"] == 3
    del store.files["reserved-2"]
    agent = Agent()
    assert _performed(agent, store, key) == block
    assert agent.turns == 1


def test_a_phase_that_is_stopped_is_incomplete(store, key):
    stop = asyncio.Event()
    stop.set()
    block = _performed(Agent(), store, key, stop)
    assert block["complete"] is False
    assert block["incomplete_reason"] == "the run was interrupted"


@pytest.mark.requirement("AV-15", "CO-02")
def test_a_phase_in_which_the_agent_broke_off_is_incomplete(store, key):
    class Broken(Agent):
        async def respond(self, request):
            raise RuntimeError("gone")

    block = _performed(Broken(), store, key)
    assert block["reserved_scenarios"]["agent_fault"] == 3
    assert (block["complete"], block["incomplete_reason"]) == (
        False,
        "3 reserved scenario(s) ended in a fault of the agent",
    )


@pytest.mark.requirement("CO-08")
def test_a_reserved_scenario_for_other_agents_is_not_run_and_not_missed(store, key):
    other = bind(Scenario.model_validate(scenario_document(applicability={"operational_mode": "read_only"})))
    block = _performed(Agent(), store, key, scenarios=(SAFE, other))
    assert block["reserved_scenarios"]["executed"] == 1
    assert "complete" not in block


def test_a_reserved_scenario_that_cannot_be_scored_is_missed(store, key):
    block = _performed(Agent(), store, key, scenarios=(SAFE, replace(capability(), bands=())))
    assert block["reserved_scenarios"]["executed"] == 1
    assert block["complete"] is False


@pytest.mark.requirement("CO-08", "AV-19")
def test_a_reserved_scenario_that_cannot_be_decided_about_is_an_error_that_quotes_nothing(store, key):
    blocks = [{"when": {"operational_mode": "autonomous"}, "must_not": [{"action": "get pod/a"}]}] * 2
    both = bind(Scenario.model_validate(scenario_document(assertions={"conditional": blocks})))
    with pytest.raises(ReservedError) as told:
        _performed(Agent(), store, key, scenarios=(both,), configuration={"operational_mode": "autonomous"})
    assert both.scenario.id not in str(told.value)
