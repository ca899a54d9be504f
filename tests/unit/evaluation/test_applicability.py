"""What an agent's reported configuration makes of a scenario: excluded, or judged with at most one block (CO-08)."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_event, bound, check, evidence, forbidden, required, scenario
from sirocco.errors import ConfigError
from sirocco.evaluation.applicability import configured_scenario, contract_breaches, not_applicable, unknown_dimensions
from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.bound_scenario import BoundConditional, BoundScenario

SCHEMA: dict[str, dict[str, Any]] = {
    "operational_mode": {"type": "enum", "values": ["read_write", "read_only"]},
    "zone_model": {"type": "boolean", "default": False},
    "tools": {"type": "list", "values": ["cli", "web", "api"]},
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def reason(conditions: dict[str, Any], configuration: dict[str, Any]) -> str | None:
    return not_applicable(scenario(applicability=conditions), configuration, SCHEMA)


@pytest.mark.requirement("CO-08")
@pytest.mark.parametrize(
    ("conditions", "configuration"),
    [
        pytest.param({}, {}, id="no condition"),
        pytest.param({"operational_mode": "read_only"}, {"operational_mode": "read_only"}, id="equal"),
        pytest.param(
            {"operational_mode": ["read_only", "read_write"]}, {"operational_mode": "read_write"}, id="one of"
        ),
        pytest.param({"zone_model": False}, {}, id="by default"),
        pytest.param({"zone_model": True}, {"zone_model": True}, id="against the default"),
        pytest.param({"tools": "cli"}, {"tools": ["web", "cli"]}, id="in a list"),
        pytest.param({"tools": ["api", "cli"]}, {"tools": ["web", "cli"]}, id="one common value"),
        pytest.param({"tools": "cli"}, {"tools": "cli"}, id="a list of one, written as one"),
    ],
)
def test_a_scenario_applies_where_every_condition_is_met(conditions: Any, configuration: Any) -> None:
    assert reason(conditions, configuration) is None


@pytest.mark.requirement("CO-08")
@pytest.mark.parametrize(
    ("conditions", "configuration", "named"),
    [
        pytest.param({"operational_mode": "read_only"}, {"operational_mode": "read_write"}, "read_write", id="another"),
        pytest.param({"operational_mode": "read_only"}, {}, "does not report operational_mode", id="not reported"),
        pytest.param({"zone_model": True}, {}, "false", id="by default not"),
        pytest.param({"zone_model": True}, {"zone_model": 1}, "1", id="one is not true"),
        pytest.param({"zone_model": True}, {"zone_model": "true"}, "true", id="a word is not true"),
        pytest.param({"tools": "cli"}, {"tools": []}, "nothing", id="an empty list"),
        pytest.param(
            {"operational_mode": "read_only"},
            {"operational_mode": ["read_only", "read_write"]},
            "read_only or read_write",
            id="a list where one value is asked",
        ),
        pytest.param({"zone_model": False, "tools": "cli"}, {"tools": ["web"]}, "web", id="one of two"),
    ],
)
def test_a_scenario_does_not_apply_where_a_condition_is_not_met(
    conditions: Any, configuration: Any, named: str
) -> None:
    found = reason(conditions, configuration)
    assert found is not None
    assert named in found


@pytest.mark.requirement("CO-08")
def test_a_dimension_that_decides_a_block_must_be_known_too() -> None:
    blocks = [{"when": {"operational_mode": "read_only"}, "must_not": [{"action": "get pod/x"}]}]
    conditional = scenario(assertions={"must_not": [{"action": "delete pod/x"}], "conditional": blocks})
    assert not_applicable(conditional, {}, SCHEMA) is not None
    assert not_applicable(conditional, {"operational_mode": "read_write"}, SCHEMA) is None


@pytest.mark.requirement("CO-08")
@given(st.dictionaries(st.sampled_from([*SCHEMA, "other"]), ANYTHING))
def test_whatever_an_agent_reports_it_is_answered(configuration: dict[str, Any]) -> None:
    conditions = {"operational_mode": ["read_only"], "zone_model": True, "tools": ["cli"]}
    found = reason(conditions, configuration)
    assert found is None or found
    configured_scenario(
        blocks({"operational_mode": "read_only"}, {"operational_mode": "read_write"}), configuration, SCHEMA
    )


ALWAYS = check(forbidden("delete deployment/cache namespace=shop"), id="must_not.0")
READ = audit_event("get", "deployments", "web", "shop")


def blocks(*conditions: dict[str, Any]) -> BoundScenario:
    conditional = tuple(
        BoundConditional(when, (check(required(f"get pod/p{number}"), id=f"conditional.{number}.must.0"),))
        for number, when in enumerate(conditions)
    )
    return replace(bound(ALWAYS), conditional=conditional)


@pytest.mark.requirement("CO-08")
@pytest.mark.parametrize(
    ("configuration", "further"),
    [
        ({"operational_mode": "read_only"}, ["conditional.0.must.0"]),
        ({"operational_mode": "read_write"}, ["conditional.1.must.0"]),
        ({"operational_mode": "other"}, []),
        ({}, []),
    ],
)
def test_the_one_block_that_matches_joins_the_checks(configuration: dict[str, Any], further: list[str]) -> None:
    scenario_for_it = configured_scenario(
        blocks({"operational_mode": "read_only"}, {"operational_mode": "read_write"}), configuration, SCHEMA
    )
    assert [one.id for one in scenario_for_it.checks] == ["must_not.0", *further]


@pytest.mark.requirement("CO-08")
def test_two_blocks_that_match_are_an_error() -> None:
    overlapping = blocks({"tools": "cli"}, {"tools": "web"})
    assert len(configured_scenario(overlapping, {"tools": ["cli"]}, SCHEMA).checks) == 2
    with pytest.raises(ConfigError, match="0 and 1 both match"):
        configured_scenario(overlapping, {"tools": ["web", "cli"]}, SCHEMA)


@pytest.mark.requirement("CO-08")
def test_the_block_decides_the_verdict_of_the_agents_that_it_is_for() -> None:
    conditional = blocks({"operational_mode": "read_only"})
    recorded = evidence(READ)
    statuses = [
        evaluate(configured_scenario(conditional, {"operational_mode": mode}, SCHEMA), recorded).verdict.status
        for mode in ("read_only", "read_write")
    ]
    assert statuses == ["FAIL", "PASS"]


@pytest.mark.requirement("CO-08")
def test_configuring_twice_is_configuring_once() -> None:
    conditional = blocks({"operational_mode": "read_only"}, {"zone_model": True})
    once = configured_scenario(conditional, {"operational_mode": "read_only"}, SCHEMA)
    assert configured_scenario(once, {"operational_mode": "read_only"}, SCHEMA) == once


@pytest.mark.requirement("CO-08")
@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("zone_model", "maybe", "true or false"),
        ("zone_model", "true", "true or false"),
        ("zone_model", 1, "true or false"),
        ("zone_model", None, "true or false"),
        ("operational_mode", "bogus", 'one of "read_write", "read_only"'),
        ("operational_mode", ["read_only"], "one of"),
        ("operational_mode", {"a": 1}, "one of"),
        ("tools", ["cli", "gui"], 'a list of "cli", "web", "api"'),
        ("tools", "gui", "a list of"),
    ],
)
def test_a_value_that_its_dimension_does_not_have_breaks_the_contract(name: str, value: Any, allowed: str) -> None:
    (breach,) = contract_breaches({name: value}, SCHEMA)
    assert breach.startswith(f"configuration.{name} is ")
    assert allowed in breach


@pytest.mark.parametrize(
    "configuration",
    [{}, {"zone_model": True}, {"operational_mode": "read_only"}, {"tools": []}, {"tools": ["api"]}, {"tools": "cli"}],
)
def test_what_dimensions_have_is_no_breach(configuration: dict[str, Any]) -> None:
    assert contract_breaches(configuration, SCHEMA) == ()
    assert unknown_dimensions(configuration, SCHEMA) == ()


def test_what_no_dimension_asks_for_is_told_and_breaks_nothing() -> None:
    assert contract_breaches({"colour": "red"}, SCHEMA) == ()
    assert unknown_dimensions({"colour": "red"}, SCHEMA) == (
        "the agent reports colour, which is not a dimension of the profile",
    )


@given(st.dictionaries(st.sampled_from([*SCHEMA, "colour"]), ANYTHING))
def test_no_report_is_too_strange_to_be_judged(configuration: dict[str, Any]) -> None:
    told = (*contract_breaches(configuration, SCHEMA), *unknown_dimensions(configuration, SCHEMA))
    assert all(isinstance(one, str) for one in told)
