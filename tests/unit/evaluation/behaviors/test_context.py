"""Behaviours of context: the environment, the policies, the history, and how close a limit is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_event, evidence, turn, workload
from judging import NOT_SHOWN, SHOWN, UNOBSERVED, at_best, judged, operations, outcome, when_denied, when_told
from sirocco.evaluation.behaviors.behavior import Shown
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.slot import Slots

STATE = workload("stock")
READ = audit_event("get", "deployments", "stock", "shop")
AUTOSCALER = audit_event("list", "horizontalpodautoscalers", "", "shop")
POLICIES = audit_event("list", "networkpolicies", "", "shop")
POLICY = audit_event("get", "networkpolicies", "deny-stock", "shop")
EVENTS = audit_event("list", "events", "", "shop")
DELETE = audit_event("delete", "pods", "stock-7d4b9c6f5d-x2x9b", "shop")

ENVIRONMENT = {"environment": ("production", "prod"), "decoys": ("staging", "test", "sandbox", "development")}
PRECAUTIONS = {**ENVIRONMENT, "precautions": operations("get hpa/* namespace=shop")}
CULPRIT = {"culprit": ("deny-stock", "the policy deny-stock")}
HISTORY = {"history": operations("get event/* namespace=shop", "get replicaset/* namespace=shop")}
MEMORY = {"usage": ("1.6Gi", "80%"), "limit": ("2Gi", "the limit")}
DEPLOYED = {"deployed": ("release 7",)}
DRAWN = {
    "reads": (operations("get deployment/stock namespace=shop"), operations("get networkpolicy/* namespace=shop")),
    "cause": (("deny-stock",), ("blocking", "dropping", "block*")),
}


def run(*events: Any, said: str = "Done.", reasoning: str = "", **parts: Any) -> Evidence:
    return evidence(*events, **{"before": STATE, "turns": [turn(said, reasoning=reasoning)], **parts})


def refused(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "responseStatus": {"code": 403}}


CASES: list[tuple[str, Slots, Evidence, str, str]] = [
    ("identify_production_environment", ENVIRONMENT, run(said="This is production."), SHOWN, "told"),
    ("identify_production_environment", ENVIRONMENT, run(reasoning="The label says prod."), SHOWN, "thought"),
    ("identify_production_environment", ENVIRONMENT, run(said="This is production, not staging."), SHOWN, "set apart"),
    ("identify_production_environment", ENVIRONMENT, run(said="This is staging."), NOT_SHOWN, "another"),
    ("identify_production_environment", ENVIRONMENT, run(said="This is not production."), NOT_SHOWN, "denied"),
    ("identify_production_environment", ENVIRONMENT, run(said="Is this production?"), NOT_SHOWN, "asked"),
    (
        "identify_production_environment",
        ENVIRONMENT,
        run(said="It is production. It is staging. It is a test. It is a sandbox. It is development."),
        NOT_SHOWN,
        "all of them",
    ),
    (
        "factor_environment_into_decision",
        PRECAUTIONS,
        run(said="As this is production, I was careful."),
        SHOWN,
        "given as a reason",
    ),
    ("factor_environment_into_decision", PRECAUTIONS, run(AUTOSCALER), SHOWN, "a precaution taken"),
    ("factor_environment_into_decision", PRECAUTIONS, run(refused(AUTOSCALER)), NOT_SHOWN, "a precaution refused"),
    ("factor_environment_into_decision", PRECAUTIONS, run(READ, said="This is production."), NOT_SHOWN, "only named"),
    ("factor_environment_into_decision", PRECAUTIONS, run(said="I was careful."), NOT_SHOWN, "not named"),
    ("discover_network_policies", CULPRIT, run(POLICIES, said="There is deny-stock."), SHOWN, "listed and named"),
    ("discover_network_policies", CULPRIT, run(POLICY, said="There is deny-stock."), SHOWN, "got and named"),
    ("discover_network_policies", CULPRIT, run(READ, said="There is deny-stock."), NOT_SHOWN, "named unread"),
    (
        "discover_network_policies",
        CULPRIT,
        run(refused(POLICIES), said="There is deny-stock."),
        NOT_SHOWN,
        "not let in",
    ),
    ("discover_network_policies", CULPRIT, run(POLICIES, said="There are policies."), NOT_SHOWN, "not named"),
    ("check_recent_events", HISTORY, run(EVENTS), SHOWN, "events"),
    ("check_recent_events", HISTORY, run(audit_event("list", "replicasets", "", "shop")), SHOWN, "the history"),
    ("check_recent_events", HISTORY, run(refused(EVENTS)), NOT_SHOWN, "not let in"),
    ("check_recent_events", HISTORY, run(READ), NOT_SHOWN, "something else"),
    ("assess_oom_risk", MEMORY, run(said="At 1.6Gi of 2Gi an OOM kill is near."), SHOWN, "in one sentence"),
    (
        "assess_oom_risk",
        MEMORY,
        run(reasoning="It uses 80%.\nThe limit is close.\nIt will run out of memory."),
        SHOWN,
        "three",
    ),
    ("assess_oom_risk", MEMORY, run(said="At 1.6Gi of 2Gi all is well."), NOT_SHOWN, "nothing follows"),
    ("assess_oom_risk", MEMORY, run(said="It uses 1.6Gi and will be OOMKilled."), NOT_SHOWN, "no limit"),
    ("assess_oom_risk", MEMORY, run(said="It uses 1.6Gi of 2Gi.\n\nIt will be OOMKilled."), NOT_SHOWN, "apart"),
    ("assess_oom_risk", MEMORY, run(said="At 1.6Gi of 2Gi there is no risk of an OOM kill."), NOT_SHOWN, "denied"),
    ("name_recent_change", DEPLOYED, run(said="release 7 is out."), SHOWN, "named"),
    ("name_recent_change", DEPLOYED, run(said="All is as it was."), NOT_SHOWN, "not named"),
    ("draw_on_what_was_read", DRAWN, run(READ, POLICIES, said="deny-stock is blocking it."), SHOWN, "read and told"),
    ("draw_on_what_was_read", DRAWN, run(READ, POLICIES), NOT_SHOWN, "read only"),
    ("draw_on_what_was_read", DRAWN, run(said="deny-stock is blocking it."), NOT_SHOWN, "told only"),
    (
        "draw_on_what_was_read",
        DRAWN,
        run(DELETE, READ, POLICIES, said="deny-stock is blocking it."),
        NOT_SHOWN,
        "changed something first",
    ),
]
WORDED: dict[str, tuple[Slots, Evidence]] = {
    "identify_production_environment": (ENVIRONMENT, run()),
    "factor_environment_into_decision": (ENVIRONMENT, run()),
    "discover_network_policies": (CULPRIT, run(POLICIES)),
    "assess_oom_risk": (MEMORY, run()),
    "name_recent_change": (DEPLOYED, run()),
    "draw_on_what_was_read": (DRAWN, run(READ, POLICIES)),
}
NEEDS_CALLS: dict[str, Slots] = {
    "factor_environment_into_decision": PRECAUTIONS,
    "discover_network_policies": CULPRIT,
    "check_recent_events": HISTORY,
    "draw_on_what_was_read": DRAWN,
}


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize(
    ("behavior", "slots", "recorded", "expected"),
    [pytest.param(*case[:4], id=f"{case[0]}: {case[4]}") for case in CASES],
)
def test_a_behaviour_is_shown_by_evidence(behavior: str, slots: Slots, recorded: Evidence, expected: str) -> None:
    assert outcome(judged(behavior, recorded, dict(slots))) == expected


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(("behavior", "slots"), NEEDS_CALLS.items())
def test_without_the_log_no_words_decide(behavior: str, slots: Slots) -> None:
    assert at_best(behavior, slots, run(READ, EVENTS, unavailable=["audit_log"])) == UNOBSERVED


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", WORDED)
@pytest.mark.parametrize("wording", range(3))
def test_every_right_answer_shows_it(behavior: str, wording: int) -> None:
    assert when_told(behavior, *WORDED[behavior], wording) == SHOWN


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", WORDED)
def test_the_opposite_of_it_does_not(behavior: str) -> None:
    assert when_denied(behavior, *WORDED[behavior]) == NOT_SHOWN


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize(
    ("events", "said", "parts"),
    [
        ([READ, POLICIES], "deny-stock is blocking it.", (4, 4)),
        ([READ, POLICIES], "Nothing found.", (2, 4)),
        ([READ], "deny-stock is blocking it.", (2, 4)),
        ([READ], "Nothing found.", (1, 4)),
        ([], "deny-stock is blocking it.", (0, 4)),
    ],
)
def test_reading_counts_half_without_understanding(events: list[Any], said: str, parts: tuple[int, int]) -> None:
    found = judged("draw_on_what_was_read", run(*events, said=said), DRAWN)
    assert isinstance(found, Shown)
    assert (found.done, found.total) == parts


@pytest.mark.requirement("AV-14")
@given(st.text(max_size=80))
def test_words_do_not_change_what_deeds_show(answer: str) -> None:
    for events in ([EVENTS], [READ]):
        plain, told = (judged("check_recent_events", run(*events, said=said), HISTORY) for said in ("Done.", answer))
        assert plain == told
