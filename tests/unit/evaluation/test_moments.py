"""Which calls came after a change of things: by the environment's own times, and by how the change was to come."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_event, bound, evidence, scenario_document
from sirocco.domains.kubernetes.evaluation.calls import agent_calls
from sirocco.evaluation.moments import came_about, follows, untold_change
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence, StimulusRecord

CHANGE = 2
ZONES = st.integers(-720, 840).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def scenario(timing: str | None) -> BoundScenario:
    late: dict[str, Any] = {"type": "temporal_condition", "target": "pod/stock/logs", "value": "x"}
    late |= {"timing": timing} if timing else {}
    return bound(stimuli=[*scenario_document()["stimuli"], late])


def recorded(received: str, applied: str | None) -> Evidence:
    event = audit_event("get", "deployments", "web", "shop") | {"requestReceivedTimestamp": received}
    found = evidence(event)
    return replace(found, stimuli=(*found.stimuli, StimulusRecord(CHANGE, applied)))


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(
    ("timing", "received", "applied", "expected"),
    [
        pytest.param("after_first_tool_call", "2026-01-05T09:00:02Z", "2026-01-05T09:00:01Z", True, id="later"),
        pytest.param("after_first_tool_call", "2026-01-05T09:00:01Z", "2026-01-05T09:00:02Z", False, id="earlier"),
        pytest.param(
            "after_first_tool_call", "2026-01-05T09:00:01.000000Z", "2026-01-05T09:00:01Z", False, id="what set it off"
        ),
        pytest.param(
            "on_first_query", "2026-01-05T09:00:01.000000Z", "2026-01-05T09:00:01Z", True, id="what it came upon"
        ),
        pytest.param(
            "after_first_tool_call", "2026-01-05T10:00:01+01:00", "2026-01-05T09:00:00Z", True, id="another zone"
        ),
        pytest.param("at_30s", "2026-01-05T09:00:02.1Z", "2026-01-05T09:00:01.9Z", True, id="a little later"),
        pytest.param("at_30s", "2026-01-05T09:00:01.9Z", "2026-01-05T09:00:02.1Z", False, id="a little earlier"),
        pytest.param("at_30s", "2026-01-05T09:00:01.10Z", "2026-01-05T09:00:01.09Z", True, id="a fraction later"),
        pytest.param("at_30s", "2026-01-05T09:00:01.2Z", "2026-01-05T09:00:01.123456789Z", True, id="fewer digits"),
        pytest.param(
            "after_first_tool_call",
            "2026-01-05T09:00:01.000000002Z",
            "2026-01-05T09:00:01.000000001Z",
            True,
            id="a nanosecond later",
        ),
        pytest.param(
            "after_first_tool_call",
            "2026-01-05T09:00:01.0000000019Z",
            "2026-01-05T09:00:01.0000000011Z",
            False,
            id="less than a nanosecond later",
        ),
        pytest.param("some_day", "2026-01-05T09:00:01Z", "2026-01-05T09:00:01Z", False, id="a timing nobody knows"),
        pytest.param("after_first_tool_call", "", "2026-01-05T09:00:01Z", False, id="a call without a time"),
        pytest.param("after_first_tool_call", "2026-01-05T09:00:02", "2026-01-05T09:00:01Z", False, id="no zone"),
        pytest.param("after_first_tool_call", "2026-01-05T09:00:02Z", "yesterday", False, id="no time"),
        pytest.param("after_first_tool_call", "2026-01-05T09:00:02Z", None, False, id="never"),
    ],
)
def test_a_call_follows_a_change_that_it_already_met(
    timing: str, received: str, applied: str | None, expected: bool
) -> None:
    found = recorded(received, applied)
    assert follows(agent_calls(found)[0], CHANGE, scenario(timing), found) is expected


@pytest.mark.parametrize("last", ["1900-02-28", "2000-02-29", "2023-02-28", "2024-02-29", "2100-02-28"])
def test_one_moment_is_the_same_in_every_zone_also_at_the_end_of_february(last: str) -> None:
    found = recorded(f"{last}T23:30:00.5-01:00", f"{last[:4]}-03-01T00:30:00.500Z")
    call = agent_calls(found)[0]
    assert follows(call, CHANGE, scenario("on_first_query"), found)
    assert not follows(call, CHANGE, scenario("after_first_tool_call"), found)
    elsewhere = recorded(f"{last[:4]}-03-01T06:15:00.5+05:45", f"{last}T23:30:00.5-01:00")
    assert follows(agent_calls(elsewhere)[0], CHANGE, scenario("on_first_query"), elsewhere)
    assert not follows(agent_calls(elsewhere)[0], CHANGE, scenario("after_first_tool_call"), elsewhere)


@given(st.datetimes(timezones=ZONES), st.datetimes(timezones=ZONES))
def test_times_are_compared_as_clocks_compare_them(call: datetime, change: datetime) -> None:
    found = recorded(call.isoformat(), change.isoformat())
    assert follows(agent_calls(found)[0], CHANGE, scenario("after_first_tool_call"), found) is (call > change)


@pytest.mark.requirement("CO-13")
def test_what_was_in_place_before_did_not_come_about() -> None:
    found = recorded("2026-01-05T09:00:02Z", "2026-01-05T09:00:01Z")
    assert came_about(scenario("after_first_tool_call"), found) == (CHANGE,)
    assert came_about(scenario("some_day"), found) == (CHANGE,)
    assert came_about(scenario(None), found) == ()
    assert came_about(scenario("after_first_tool_call"), recorded("2026-01-05T09:00:02Z", None)) == ()


CAN_I = audit_event("create", "selfsubjectaccessreviews", "", "", group="authorization.k8s.io", code=201)
WRITE = audit_event("delete", "deployments", "web", "shop")


@pytest.mark.requirement("CO-04")
@pytest.mark.parametrize(
    "timing", ["after_first_tool_call", "on_second_query", "after_first_write", "at_30s", "some_day"]
)
@pytest.mark.parametrize("events", [[], [CAN_I], [WRITE, WRITE, CAN_I]])
def test_no_call_of_the_agent_makes_a_change_one_that_nobody_knows_of(
    timing: str, events: list[dict[str, Any]]
) -> None:
    found = replace(evidence(*events), stimuli=(StimulusRecord(CHANGE, None),))
    assert untold_change(scenario(timing), found) is None
    on_record = replace(found, stimuli=(StimulusRecord(CHANGE, "2026-01-05T09:00:01Z"),))
    assert untold_change(scenario(timing), on_record) is None


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("events", [[], [CAN_I], [WRITE]])
def test_what_the_environment_could_not_be_asked_about_is_unknown_whatever_the_agent_did(
    events: list[dict[str, Any]],
) -> None:
    found = replace(evidence(*events), stimuli=(StimulusRecord(CHANGE, None, is_observed=False),))
    assert untold_change(scenario("after_first_write"), found) is not None
    assert untold_change(scenario("at_provision"), found) is None
    assert untold_change(scenario("after_first_write"), replace(found, stimuli=())) is not None
