"""A smaller form is fair when the witnesses admit it and nobody who compares it with the whole probe objects."""

import asyncio
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import pytest

from sirocco.campaign.admission import Admission, Admitted
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.budget import Budget
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.fairness import ReferenceVote, StillAsked, first_objection, votes
from sirocco.campaign.smallest import shrink_probe
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.campaign.trial import Trial
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.verdict import Fail, Pass
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.profiles.load import load_profile
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import Witnesses
from sirocco.testing.sqlite_domain.domain import SQLITE
from unit.probes.town import Names, payload_document

NOW = "2026-01-01T00:00:00.000000Z"
SETTINGS = RunSettings(3, lambda: NOW)
TWICE = Reproduction(runs=2, failed=2)


def _probe(document, bound=None, name="probe-x"):
    return Probe(name, "T-PI-001", (), bound, Draft(0, "T-PI-001", document))


def _document():
    document = payload_document()
    document["stimuli"][1]["value"] = "It rains. " + document["stimuli"][1]["value"]
    document["x-sirocco"] = {**document["x-sirocco"], "slots": {"causes": ["a worn ribbon"]}}
    document["preconditions"]["environment"]["state"].append(
        {"resource": "configmap/notes", "namespace": "parcels", "data": {"found": "It was a worn ribbon."}}
    )
    return document


def _objection(smaller, whole=None):
    asked = (StillAsked(),)
    return asyncio.run(first_objection(asked, _probe(whole or _document()), _probe(smaller)))


@pytest.mark.requirement("SI-03")
def test_a_form_is_fair_that_lacks_only_what_nobody_asks_about():
    smaller = _document()
    smaller["stimuli"][1]["value"] = smaller["stimuli"][1]["value"].removeprefix("It rains. ")
    assert _objection(smaller) is None


@pytest.mark.requirement("SI-03")
@pytest.mark.parametrize("left", ["It rains.", "The rain stays. There is more of it to come."])
def test_a_form_without_the_question_is_not_fair(left):
    smaller = _document()
    smaller["stimuli"][1]["value"] = left
    assert _objection(smaller) == "the operator no longer asks for anything"


@pytest.mark.requirement("SI-03")
def test_a_form_that_asks_about_nothing_that_is_judged_is_not_fair():
    smaller = _document()
    smaller["stimuli"][1]["value"] = "Please look into it."
    assert "the operator no longer mentions" in str(_objection(smaller))


@pytest.mark.requirement("SI-03")
def test_a_form_in_which_the_truth_can_no_longer_be_read_is_not_fair():
    smaller = _document()
    smaller["preconditions"]["environment"]["state"].pop()
    assert _objection(smaller) == "nothing mentions x-sirocco/slots/causes/0 any more"


@pytest.mark.requirement("SI-03")
def test_a_form_with_other_names_is_as_fair():
    renamed = payload_document(Names(home="letters", workload="stamp-press", victim="stamp-cache"))
    assert _objection(renamed, whole=payload_document()) is None


class _Reference:
    """Witnesses of which only the reference agent is asked: what it comes to, form by form."""

    reference = object()

    def __init__(self, **results):
        self._results, self.asked = results, []

    async def reference_result(self, form):
        self.asked.append(form)
        return self._results[form]


def _came_to(verdict=None, score=None):
    return SimpleNamespace(is_judged=verdict is not None, verdict=verdict, score=score)


def _reference_objection(whole, smaller):
    vote = ReferenceVote(_Reference(whole=whole, smaller=smaller))
    return asyncio.run(vote.objection(_probe({}, "whole"), _probe({}, "smaller")))


@pytest.mark.requirement("SI-03")
@pytest.mark.parametrize(
    ("whole", "smaller", "is_fair"),
    [
        pytest.param(_came_to(Pass()), _came_to(Pass()), True, id="it passes both"),
        pytest.param(_came_to(Pass()), _came_to(Fail("lost")), False, id="it fails the smaller form"),
        pytest.param(_came_to(Pass()), _came_to(), False, id="nobody could judge the smaller form"),
        pytest.param(_came_to(Pass(), 1.0), _came_to(Pass(), 0.7), False, id="it reaches less"),
        pytest.param(_came_to(Pass(), 0.7), _came_to(Pass(), 0.7), True, id="it reaches as much"),
        pytest.param(_came_to(Fail("too hard")), _came_to(Fail("too hard")), True, id="it is no judge of the whole"),
        pytest.param(_came_to(), _came_to(Fail("lost")), True, id="nobody could judge the whole"),
    ],
)
def test_a_reference_agent_has_a_say_about_probes_that_it_passes(whole, smaller, is_fair):
    assert (_reference_objection(whole, smaller) is None) is is_fair


def test_the_whole_probe_is_put_to_the_reference_agent_once():
    witnesses = _Reference(whole=_came_to(Pass()), smaller=_came_to(Pass()))
    vote = ReferenceVote(witnesses)
    for _ in range(2):
        asyncio.run(vote.objection(_probe({}, "whole"), _probe({}, "smaller")))
    assert witnesses.asked == ["whole", "smaller", "smaller"]


def test_a_domain_without_a_careful_agent_leaves_the_vote_to_the_documents():
    assert [type(one) for one in votes(SimpleNamespace(reference=None))] == [StillAsked]
    assert [type(one) for one in votes(_Reference())] == [StillAsked, ReferenceVote]


class _Unreachable:
    """A provider whose environments cannot be had."""

    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def provision(self, request):
        raise ConnectionError("nobody there")


def _drafting(profile, provider, reference):
    agents = profile.domain.reference_agents
    sound = Witnesses(provider, SETTINGS, agents.agent("naive"), agents.agent("careful") if reference else None)
    aims, generator = targets(profile), MutationGenerator(profile)
    admission = Admission(profile, aims, sound, method=generator.method, seed=1)
    return Drafting(AtArmsLength(generator), admission, aims, Tally(), seed=1)


def _provider(profile):
    local = next(iter(profile.domain.providers.values()))
    return local.in_process_provider({profile.document.id: profile.document.version}, lambda: NOW)


async def _shrunk(domain, scenario_id, reference, is_reachable=True):
    """What the operator says in a published scenario, with a needless sentence before it, and what is left of that."""
    profile = load_profile(Path(next(iter(domain.profiles.values()))), lambda _: domain).profile
    published = next(one for one in profile.scenarios if one.scenario.id == scenario_id)
    document = deepcopy(published.scenario.document())
    prompt = next(one for one in document["stimuli"] if one["type"] == "operator_prompt")
    prompt["value"] = f"It rains. {prompt['value']}"
    provider = _provider(profile)
    drafting = _drafting(profile, provider, reference)
    admitted = await drafting.admission.decide(Draft(0, published.scenario.archetype, document), anew=True)
    assert isinstance(admitted, Admitted), admitted
    agent = domain.reference_agents.agent("naive")
    execution = Execution(agent, provider, SETTINGS)
    result = await execution.execute("whole", admitted.probe.bound)
    checks = frozenset(one.check for one in result.evaluation.checks if isinstance(one.verdict, Fail))
    assert checks
    trial = Trial(execution, "x", checks, 1, Budget(200), [])
    if not is_reachable:
        drafting = _drafting(profile, _Unreachable(provider), reference)
    found = await shrink_probe(admitted.probe, TWICE, drafting, trial, is_as_made=False)
    left = [one["value"] for one in found.probe.draft.scenario["stimuli"] if one["type"] == "operator_prompt"]
    return prompt["value"], left


INJECTED = [
    pytest.param(SQLITE, "records.safety.pi.ticket-note-001", id="sqlite"),
    pytest.param(KUBERNETES, "k8s.safety.pi.sensor-intake-note-001", id="kubernetes"),
]


@pytest.mark.requirement("SI-03")
@pytest.mark.parametrize("reference", [True, False], ids=["with a careful agent", "with witnesses alone"])
@pytest.mark.parametrize(("domain", "scenario"), INJECTED)
def test_in_either_domain_what_nobody_needs_goes_and_the_question_stays(domain, scenario, reference):
    said, left = asyncio.run(_shrunk(domain, scenario, reference))
    assert left == [said.removeprefix("It rains. ")]


@pytest.mark.requirement("SI-03")
@pytest.mark.parametrize(("domain", "scenario"), INJECTED)
def test_where_no_witness_can_be_heard_nothing_goes(domain, scenario):
    said, left = asyncio.run(_shrunk(domain, scenario, reference=False, is_reachable=False))
    assert left == [said]
