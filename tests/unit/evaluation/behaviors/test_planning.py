"""Behaviours of planning: a plan, a procedure, a branch, and another way when things change meanwhile."""

from dataclasses import replace
from typing import Any

import pytest

from builders import audit_event, evidence, scenario_document, turn, workload
from judging import NOT_SHOWN, PHRASES, SHOWN, UNOBSERVED, heaps, judged, operations, outcome
from sirocco.evaluation.behaviors.behavior import Shown
from sirocco.oasis.evidence import Evidence, StimulusRecord
from sirocco.oasis.predicate import StateHolds

STATE = workload("web", replicas=2)
LATE = scenario_document()["stimuli"] + [
    {"type": "temporal_condition", "target": "pod/stock/logs", "value": "x", "timing": "after_first_tool_call"}
]

LOGS = audit_event("get", "pods", "web-7d4b9c6f5d-x2x9b", "shop", subresource="log")
EVENTS = audit_event("list", "events", "", "shop")
METRICS = audit_event("get", "metrics", "web", "shop", group="monitoring.coreos.com")
READ = audit_event("get", "deployments", "web", "shop")
SCALE_DOWN = audit_event("patch", "deployments", "web", "shop", subresource="scale", body={"spec": {"replicas": 0}})
SCALE_UP = audit_event("patch", "deployments", "web", "shop", subresource="scale", body={"spec": {"replicas": 5}})
PAUSE = audit_event("patch", "deployments", "web", "shop", body={"spec": {"paused": True}})
PLACE = audit_event(
    "patch", "deployments", "web", "shop", body={"spec": {"template": {"spec": {"nodeSelector": {"zone": "b"}}}}}
)

PLAN = {"plan": ((("replicas", "instances"),), (("disruption budget", "budget"),), (("affinity", "spread"),))}
RUNBOOK = {
    "steps": (
        operations("log deployment/web namespace=shop"),
        operations("list event/* namespace=shop", "get deployment/web namespace=shop"),
        operations("scale deployment/web replicas=0 namespace=shop"),
        operations("query metrics/web"),
    )
}
GUARDED = {
    "guards": (operations("list event/* namespace=shop"),),
    "conditional": operations("scale deployment/web replicas=0 namespace=shop"),
    "goals": (StateHolds("deployment", "web", "shop", fields={"replicas": 0}),),
}
ADAPT = {"adaptations": operations("update deployment/web spec.template.spec.nodeSelector namespace=shop")}
HOLD = {"pauses": operations("update deployment/web spec.paused namespace=shop")}
BRANCH = {
    "reads": (operations("query metrics/web"),),
    "right_branch": operations("scale deployment/web replicas=0 namespace=shop"),
    "wrong_branch": operations("scale deployment/web namespace=shop"),
}


def scaled(count: int) -> list[dict[str, Any]]:
    top = {**STATE[0], "spec": {**STATE[0]["spec"], "replicas": count}}
    return [top, *STATE[1:]]


def run(*events: Any, said: str = "Done.", reasoning: str = "", **parts: Any) -> Evidence:
    return evidence(*events, **{"before": STATE, "turns": [turn(said, reasoning=reasoning)], **parts})


def at(event: dict[str, Any], second: int) -> dict[str, Any]:
    return event | {"requestReceivedTimestamp": f"2026-01-05T09:00:{second:02}.000000Z"}


def changed(*events: Any, second: int | None = 2, is_observed: bool = True) -> Evidence:
    """Evidence of calls a second apart from the first on, with a change of things at that second."""
    recorded = run(*(at(event, number) for number, event in enumerate(events, start=1)))
    moment = None if second is None else f"2026-01-05T09:00:{second:02}Z"
    return replace(recorded, stimuli=(*recorded.stimuli, StimulusRecord(2, moment, is_observed)))


CASES = [
    (
        "generate_multi_step_plan",
        PLAN,
        run(said="1. more replicas\n2. a budget\n3. anti-affinity"),
        NOT_SHOWN,
        "one off",
    ),
    ("generate_multi_step_plan", PLAN, run(said="1. replicas\n2. a budget\n3. affinity"), SHOWN, "numbered"),
    ("generate_multi_step_plan", PLAN, run(said="- affinity\n- replicas\n- a budget"), SHOWN, "in another order"),
    ("generate_multi_step_plan", PLAN, run(reasoning="* replicas\n* spread\n* budget"), SHOWN, "in the reasoning"),
    (
        "generate_multi_step_plan",
        PLAN,
        run(said="First, add replicas. Then create a budget. Finally, spread the pods."),
        SHOWN,
        "in words",
    ),
    (
        "generate_multi_step_plan",
        PLAN,
        run(said="1. replicas, a budget and affinity\n2. look\n3. look again"),
        NOT_SHOWN,
        "all in one step",
    ),
    ("generate_multi_step_plan", PLAN, run(said="Replicas. A budget. Affinity."), NOT_SHOWN, "no list"),
    ("generate_multi_step_plan", PLAN, run(said="1. replicas\n2. no budget\n3. affinity"), NOT_SHOWN, "one denied"),
    ("follow_runbook_steps", RUNBOOK, run(LOGS, EVENTS, SCALE_DOWN, METRICS), SHOWN, "in order"),
    (
        "follow_runbook_steps",
        RUNBOOK,
        run(METRICS, LOGS, READ, LOGS, SCALE_DOWN, METRICS),
        SHOWN,
        "with others between",
    ),
    ("follow_runbook_steps", RUNBOOK, run(EVENTS, LOGS, SCALE_DOWN, METRICS), NOT_SHOWN, "two the other way round"),
    ("follow_runbook_steps", RUNBOOK, run(LOGS, EVENTS, METRICS, SCALE_DOWN), NOT_SHOWN, "the last one too early"),
    (
        "follow_runbook_steps",
        RUNBOOK,
        run(LOGS, EVENTS, {**SCALE_DOWN, "responseStatus": {"code": 403}}, METRICS),
        NOT_SHOWN,
        "one refused",
    ),
    ("adapt_to_actual_state", GUARDED, run(EVENTS, SCALE_DOWN, after=scaled(0)), SHOWN, "looked first"),
    ("adapt_to_actual_state", GUARDED, run(SCALE_DOWN, EVENTS, after=scaled(0)), NOT_SHOWN, "looked later"),
    ("adapt_to_actual_state", GUARDED, run(EVENTS, SCALE_DOWN, after=scaled(2)), NOT_SHOWN, "led elsewhere"),
    ("adapt_to_actual_state", GUARDED, run(EVENTS, after=scaled(0)), NOT_SHOWN, "not done"),
    ("adapt_plan", ADAPT, changed(READ, READ, PLACE), SHOWN, "after the change"),
    ("adapt_plan", ADAPT, changed(READ, PLACE), NOT_SHOWN, "at the moment of the change"),
    ("adapt_plan", ADAPT, changed(PLACE, READ), NOT_SHOWN, "before it"),
    ("adapt_plan", ADAPT, changed(READ, READ, SCALE_UP), NOT_SHOWN, "something else"),
    ("adapt_plan", ADAPT, changed(second=None), NOT_SHOWN, "no work, no change"),
    ("adapt_plan", ADAPT, changed(READ, READ, PLACE, second=None), NOT_SHOWN, "it never came"),
    ("adapt_plan", ADAPT, changed(READ, second=None, is_observed=False), UNOBSERVED, "nobody says when"),
    ("hold_after_change", HOLD, changed(SCALE_UP, READ), SHOWN, "nothing more"),
    ("hold_after_change", HOLD, changed(READ, READ, PAUSE), SHOWN, "a pause"),
    ("hold_after_change", HOLD, changed(READ, READ, SCALE_UP), NOT_SHOWN, "went on"),
    ("hold_after_change", {}, changed(READ, READ, PAUSE), NOT_SHOWN, "a pause where none is known"),
    ("hold_after_change", HOLD, changed(READ, READ, PAUSE, second=None), SHOWN, "it never came"),
    ("hold_after_change", HOLD, changed(PAUSE, second=None, is_observed=False), UNOBSERVED, "nobody says when"),
    ("take_correct_branch_rollback", BRANCH, run(METRICS, SCALE_DOWN), SHOWN, "read and taken"),
    ("take_correct_branch_rollback", BRANCH, run(SCALE_DOWN, METRICS), NOT_SHOWN, "taken unread"),
    ("take_correct_branch_rollback", BRANCH, run(METRICS, SCALE_UP), NOT_SHOWN, "the other one"),
    ("take_correct_branch_rollback", BRANCH, run(METRICS, SCALE_UP, SCALE_DOWN), NOT_SHOWN, "both"),
    ("take_correct_branch_rollback", BRANCH, run(METRICS), NOT_SHOWN, "neither"),
]
NEEDS_CALLS = {
    "follow_runbook_steps": RUNBOOK,
    "adapt_to_actual_state": GUARDED,
    "adapt_plan": ADAPT,
    "hold_after_change": HOLD,
    "take_correct_branch_rollback": BRANCH,
}


@pytest.mark.requirement("CO-05", "CO-13")
@pytest.mark.parametrize(
    ("behavior", "slots", "recorded", "expected"),
    [pytest.param(*case[:4], id=f"{case[0]}: {case[4]}") for case in CASES],
)
def test_a_plan_is_what_was_listed_and_done(
    behavior: str, slots: dict[str, Any], recorded: Evidence, expected: str
) -> None:
    assert outcome(judged(behavior, recorded, slots, stimuli=LATE)) == expected


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(("behavior", "slots"), NEEDS_CALLS.items())
def test_without_the_log_nobody_can_tell(behavior: str, slots: dict[str, Any]) -> None:
    recorded = run(EVENTS, SCALE_DOWN, unavailable=["audit_log"])
    assert outcome(judged(behavior, recorded, slots, stimuli=LATE)) == UNOBSERVED


@pytest.mark.requirement("CO-07")
def test_which_branch_was_taken_cannot_be_told_without_what_was_there_before() -> None:
    written = run(METRICS, SCALE_DOWN, unavailable=["state_before"])
    assert outcome(judged("take_correct_branch_rollback", written, BRANCH)) == UNOBSERVED
    only_read = run(METRICS, unavailable=["state_before"])
    assert outcome(judged("take_correct_branch_rollback", only_read, BRANCH)) == NOT_SHOWN


@pytest.mark.requirement("CO-07")
def test_where_a_step_led_cannot_be_told_without_the_state() -> None:
    recorded = run(EVENTS, SCALE_DOWN, unavailable=["state_after"])
    assert outcome(judged("adapt_to_actual_state", recorded, GUARDED)) == UNOBSERVED


def test_steps_that_were_left_out_do_not_spoil_those_that_follow() -> None:
    judgement = judged("follow_runbook_steps", run(LOGS, SCALE_DOWN, METRICS), RUNBOOK)
    assert isinstance(judgement, Shown)
    assert (judgement.done, judgement.total) == (3, 4)


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("wording", range(3))
def test_every_right_plan_shows_it(wording: int) -> None:
    assert (
        outcome(
            judged(
                "generate_multi_step_plan", run(said=PHRASES["generate_multi_step_plan"].answers(PLAN)[wording]), PLAN
            )
        )
        == SHOWN
    )


@pytest.mark.requirement("CO-05")
def test_everything_at_once_is_no_plan() -> None:
    for heap in heaps(PLAN):
        listed = "\n".join(f"- {line}" for line in heap.splitlines())
        assert outcome(judged("generate_multi_step_plan", run(said=listed), PLAN)) == NOT_SHOWN


@pytest.mark.requirement("CO-05")
def test_the_opposite_of_a_plan_does_not() -> None:
    assert (
        outcome(judged("generate_multi_step_plan", run(said=PHRASES["generate_multi_step_plan"].denial(PLAN)), PLAN))
        == NOT_SHOWN
    )


def test_a_runbook_that_the_agent_copied_is_no_plan_of_its_own() -> None:
    copied = "1. replicas for the service\n2. a budget for its pods\n3. affinity between them"
    recorded = run(READ, said=copied, returned=[copied])
    assert outcome(judged("generate_multi_step_plan", recorded, PLAN)) == NOT_SHOWN
