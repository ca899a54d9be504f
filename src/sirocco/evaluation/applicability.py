"""The effect of an agent's reported configuration on a scenario: it is left out, or judged with the matching block.

A scenario that does not apply is excluded and has no verdict (CO-08). Values are compared as JSON values: true is not
1, and a dimension that is a list matches if one value is in common.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sirocco.errors import ConfigError
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.scenario import Scenario

Configuration = Mapping[str, Any]
Schema = Mapping[str, Mapping[str, Any]]
_BLOCK, _BOOLEAN, _LIST = "conditional.", "boolean", "list"


def not_applicable(scenario: Scenario, configuration: Configuration, schema: Schema) -> str | None:
    """Why the scenario does not apply to an agent with this configuration; None if it does.

    Every dimension that decides something in the scenario must be known, by report or by the schema's default, so that
    no agent is judged by half of the assertions.
    """
    known = _effective_configuration(configuration, schema)
    conditions = [scenario.applicability, *(block.when for block in scenario.assertions.conditional)]
    for name in sorted({name for condition in conditions for name in condition}):
        if name not in known:
            return f"the agent does not report {name}, and it has no default"
    for name, wanted in sorted(scenario.applicability.items()):
        if not _is_met(wanted, known[name], schema.get(name, {})):
            return f"it is for {name} {_alternatives_text(wanted)}; the agent reports {_alternatives_text(known[name])}"
    return None


def contract_breaches(configuration: Configuration, schema: Schema) -> tuple[str, ...]:
    """The reported values that their dimensions do not allow, in words.

    They would meet no condition, so an agent could avoid any scenario by reporting nonsense.
    """
    return tuple(
        f"configuration.{name} is {_json_text(value)}, not {_allowed_values_text(schema[name])}"
        for name, value in configuration.items()
        if name in schema and not _is_of(value, schema[name])
    )


def unknown_dimensions(configuration: Configuration, schema: Schema) -> tuple[str, ...]:
    """Reported dimensions that the profile does not ask for, in words; they decide nothing."""
    return tuple(
        f"the agent reports {name}, which is not a dimension of the profile"
        for name in configuration
        if name not in schema
    )


def _is_of(value: Any, dimension: Mapping[str, Any]) -> bool:
    """Whether a dimension allows the value: a boolean, one of its values, or a list of them."""
    kind, values = dimension.get("type"), dimension.get("values")
    if kind == _BOOLEAN:
        return isinstance(value, bool)
    if not isinstance(values, list | tuple):
        return True
    return set(map(_json_text, _as_list(value) if kind == _LIST else [value])) <= set(map(_json_text, values))


def _allowed_values_text(dimension: Mapping[str, Any]) -> str:
    kind, values = dimension.get("type"), dimension.get("values")
    if kind == _BOOLEAN:
        return "true or false"
    return ("a list of " if kind == _LIST else "one of ") + ", ".join(map(_json_text, _as_list(values)))


def configured_scenario(bound: BoundScenario, configuration: Configuration, schema: Schema) -> BoundScenario:
    """The scenario as it is judged for an agent: with the checks of the one block that matches, or of none."""
    known = _effective_configuration(configuration, schema)
    matching = [number for number, block in enumerate(bound.conditional) if _matches(block.when, known, schema)]
    if len(matching) > 1:
        problem = "conditional blocks {} and {} both match the agent's configuration".format(*matching)
        raise ConfigError(bound.scenario.id, problem, "make their conditions exclude each other")
    return with_block(bound, matching[0] if matching else None)


def with_block(bound: BoundScenario, number: int | None) -> BoundScenario:
    """The scenario with the checks of one of its blocks, or of none, added to the others."""
    own = tuple(check for check in bound.checks if not check.id.startswith(_BLOCK))
    return replace(bound, checks=own if number is None else (*own, *bound.conditional[number].checks))


def applied_block(bound: BoundScenario) -> int | None:
    """The number of the block whose checks were added."""
    return next((int(check.id.split(".")[1]) for check in bound.checks if check.id.startswith(_BLOCK)), None)


def _effective_configuration(configuration: Configuration, schema: Schema) -> dict[str, Any]:
    """The known configuration of the agent: what it reports, and otherwise the schema's defaults."""
    defaults = {name: dimension["default"] for name, dimension in schema.items() if "default" in dimension}
    return {**defaults, **configuration}


def _matches(when: Mapping[str, Any], known: Mapping[str, Any], schema: Schema) -> bool:
    return all(name in known and _is_met(wanted, known[name], schema.get(name, {})) for name, wanted in when.items())


def _is_met(wanted: Any, reported: Any, dimension: Mapping[str, Any]) -> bool:
    """Whether a reported value is among the accepted ones.

    Lists match by a common value, only in a dimension of lists.
    """
    values = _as_list(reported) if dimension.get("type") == _LIST else [reported]
    return not set(map(_json_text, _as_list(wanted))).isdisjoint(map(_json_text, values))


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _json_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _alternatives_text(value: Any) -> str:
    return " or ".join(one if isinstance(one, str) else _json_text(one) for one in _as_list(value)) or "nothing"
