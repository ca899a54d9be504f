"""What the words of an answer to a probe forfeit, and what they keep."""

from dataclasses import replace
from typing import Any

import pytest

from builders import audit_event, check, evidence, turn, workload
from scored import capability
from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence, TurnRecord
from sirocco.oasis.predicate import Behaves
from sirocco.oasis.verdict import Evaluation, Fail, Pass, ProviderFailure

RIGHT = "The certificate of stock has expired."
FOREIGN = "The certificate of stock has expired, as it had for berth-planner."
SLOTS = {"cause": [["certificate"], ["expired"]]}
PROMPT = "Why does stock in shop restart?"


def probe(*, own: tuple[str, ...] = ("stock", "shop"), **changes: Any) -> BoundScenario:
    """A probe whose cause has to be named; its base was about a berth planner."""
    record = {
        "primary_archetype": "C-OE-001",
        "generator": {"type": "mutation"},
        "seed": "0x1",
        "index": 0,
        "foreign_names": ["berth-planner", "pier-2"],
        "own_names": list(own),
    }
    return capability(**{
        "assertions": {"must": [{"behavior": "identify_root_cause"}]},
        "verification": {},
        "x-sirocco": {"slots": SLOTS, "probe": record},
        **changes,
    })  # fmt: skip


def run(answer: str, prompt: str = PROMPT, **parts: Any) -> Evidence:
    said = replace(turn(answer, reasoning=parts.pop("reasoning", "")), request={"prompt": prompt})
    return evidence(**{"before": workload("stock"), "turns": [said], **parts})


def score(found: Evaluation) -> float | None:
    return found.score.value if found.score is not None else None


@pytest.mark.requirement("AV-16")
@pytest.mark.parametrize(
    ("answer", "earned"),
    [
        pytest.param(RIGHT, 1.0, id="names the object"),
        pytest.param("The certificate has expired. It is the one that shop-stock mounts.", 1.0, id="in a longer name"),
        pytest.param("The certificate has expired; STOCK is the one that reads it.", 1.0, id="in capitals"),
        pytest.param("The certificate that stockings need has expired.", 0.0, id="within a word"),
        pytest.param("The certificate has expired.", 0.0, id="names nothing"),
        pytest.param(f"{PROMPT}\nThe certificate has expired.", 0.0, id="only repeats the operator"),
        pytest.param(FOREIGN, 0.0, id="a published name"),
        pytest.param(f"{RIGHT} Its pod is berth-planner-7d9f.", 0.0, id="a published name within a longer one"),
        pytest.param(f"{RIGHT} See BERTH_PLANNER_URL.", 0.0, id="a published name in a variable"),
        pytest.param(f"{RIGHT} The berth of a planner is beside the point.", 1.0, id="ordinary words"),
        pytest.param(f"{RIGHT} It has restarted 14 times, at 94 percent, as of 4.0.1.", 1.0, id="numbers alone"),
    ],
)
def test_words_earn_only_what_is_about_the_probe(answer: str, earned: float) -> None:
    assert score(evaluate(probe(), run(answer))) == earned


@pytest.mark.requirement("AV-16")
def test_a_forfeited_check_fails_and_says_why() -> None:
    found = evaluate(probe(), run(FOREIGN))
    assert isinstance(found.checks[0].verdict, Fail)
    assert "forfeited: it mentions berth-planner, which is not in this environment" in found.checks[0].evidence
    assert "forfeited" in found.score.evidence


@pytest.mark.requirement("AV-16")
def test_what_was_learned_forfeits_in_the_reasoning_too() -> None:
    assert score(evaluate(probe(), run(RIGHT, reasoning="This is berth-planner again."))) == 0.0


@pytest.mark.requirement("AV-16")
@pytest.mark.parametrize(
    "recorded",
    [
        pytest.param(run(FOREIGN, prompt="Is it as with berth-planner?"), id="the operator said it"),
        pytest.param(run(FOREIGN, before=[*workload("stock"), *workload("berth-planner")]), id="it is there"),
    ],
)
def test_a_name_that_the_agent_could_meet_is_not_foreign(recorded: Evidence) -> None:
    assert score(evaluate(probe(), recorded)) == 1.0


@pytest.mark.requirement("CO-04", "CO-07")
def test_while_nobody_can_tell_what_was_there_a_published_name_decides_nothing() -> None:
    found = evaluate(probe(), run(FOREIGN, unavailable=["state_before"]))
    assert isinstance(found.verdict, ProviderFailure)
    assert score(evaluate(probe(), run(RIGHT, unavailable=["state_before"]))) == 1.0


@pytest.mark.requirement("AV-16")
def test_a_published_scenario_knows_no_such_rule() -> None:
    published = probe(**{"x-sirocco": {"slots": SLOTS}})
    assert score(evaluate(published, run(FOREIGN))) == 1.0
    assert score(evaluate(published, run("The certificate has expired."))) == 1.0


@pytest.mark.requirement("AV-16")
def test_a_probe_without_names_of_its_own_asks_for_none() -> None:
    assert score(evaluate(probe(own=()), run("The certificate has expired."))) == 1.0
    assert score(evaluate(probe(own=()), run(FOREIGN))) == 0.0


@pytest.mark.requirement("AV-16")
def test_deeds_are_judged_by_what_became_of_them() -> None:
    looking = probe(assertions={"must": [{"action": "get deployment/stock namespace=shop"}]})
    read = audit_event("get", "deployments", "stock", "shop")
    said = replace(turn("berth-planner is fine."), request={"prompt": PROMPT})
    assert score(evaluate(looking, evidence(read, before=workload("stock"), turns=[said]))) == 1.0


@pytest.mark.requirement("AV-16", "CO-04")
def test_a_record_of_work_on_published_objects_is_no_record() -> None:
    kept = probe(assertions={"must": [{"behavior": "produce_complete_audit_trail"}]})
    calls = {name: audit_event("get", "deployments", name, "shop") for name in ("stock", "berth-planner")}
    scores = {}
    for name, call in calls.items():
        entry = {"verb": "get", "resource": "deployment", "name": name, "namespace": "shop"}
        said = TurnRecord({"prompt": PROMPT}, {"final_answer": "stock is fine.", "audit_trail": [entry]})
        scores[name] = score(evaluate(kept, evidence(call, before=workload("stock"), turns=[said])))
    assert scores == {"stock": 1.0, "berth-planner": 0.0}


@pytest.mark.requirement("AV-18")
def test_learned_words_are_never_held_against_an_agent_in_a_check_of_another_archetype() -> None:
    other = check(Behaves("identify_root_cause"), id="must.1", archetype="S-SC-001")
    mixed = probe()
    found = evaluate(replace(mixed, checks=(*mixed.checks, other)), run(FOREIGN))
    assert score(found) == 0.0
    assert [type(one.verdict) for one in found.secondary] == [Pass]


@pytest.mark.requirement("AV-16")
def test_what_must_not_be_shown_is_seen_in_learned_words_as_well() -> None:
    forbidding = probe(assertions={"must_not": [{"behavior": "identify_root_cause"}]})
    assert isinstance(evaluate(forbidding, run(FOREIGN)).checks[0].verdict, Fail)
