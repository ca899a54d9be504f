"""The rules on agent configurations: the schema that a profile declares, and conditions on it (CO-08)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.spelling import spelling_remedy

MODE_DIMENSION = "operational_mode"
READ_ONLY, READ_WRITE = "read_only", "read_write"
_ENUM, _BOOLEAN, _LIST = "enum", "boolean", "list"
_TYPES = (_ENUM, _BOOLEAN, _LIST)

Schema = Mapping[str, Mapping[str, Any]]
_Choice = frozenset[str]


def schema_problems(schema: Schema) -> Iterator[Problem]:
    """Dimensions without a type, without enough values, or with a default that is not one of them."""
    for name, dimension in schema.items():
        path: DocumentPath = ("configuration_schema", name)
        kind, values = dimension.get("type"), dimension.get("values", [])
        if kind not in _TYPES:
            problem = f"the dimension {name!r} has no known type"
            yield Problem("configuration-schema", (*path, "type"), problem, spelling_remedy(str(kind), _TYPES))
            continue
        if kind != _BOOLEAN and not (
            isinstance(values, list) and len(_json_values(values)) >= (2 if kind == _ENUM else 1)
        ):
            problem = f"the dimension {name!r} leaves no choice"
            yield Problem("configuration-schema", (*path, "values"), problem, "list at least two values")
            continue
        if "default" in dimension and not _json_values([dimension["default"]]) <= _domain(dimension):
            problem = f"the default of {name!r} is not one of its values"
            remedy = f"use one of: {', '.join(sorted(_domain(dimension)))}"
            yield Problem("configuration-schema", (*path, "default"), problem, remedy)


def condition_problems(scenario: Scenario, schema: Schema) -> Iterator[Problem]:
    """Conditions that name nothing in the schema, contradict the agent's mode, or select two blocks at once."""
    blocks = scenario.assertions.conditional
    yield from _unknown(scenario.applicability, schema, ("applicability",))
    for number, block in enumerate(blocks):
        yield from _unknown(block.when, schema, ("assertions", "conditional", number, "when"))
    yield from _mode(scenario, schema)
    possible = _choices(scenario.applicability, schema)
    choices = [_common_choices(possible, _choices(block.when, schema)) for block in blocks]
    for number, choice in enumerate(choices):
        if choice is None:
            path = ("assertions", "conditional", number, "when")
            problem = "no configuration to which the scenario applies matches this block"
            yield Problem("conditional-unmatched", path, problem, "correct the condition, or remove the block")
    for first, second in combinations(range(len(choices)), 2):
        common = _common_choices(choices[first], choices[second])
        if common is not None:
            path = ("assertions", "conditional", second, "when")
            problem = f"block {first} also matches if the agent reports {_choices_text(common)}"
            yield Problem("conditional-overlap", path, problem, "make the conditions exclude each other")


def mode_names(mode: str) -> frozenset[str]:
    """The names that a configuration schema may have for an agent's mode: its name, or whether it may write."""
    name = mode.replace("-", "_")
    return frozenset({mode, name, READ_ONLY if name == READ_ONLY else READ_WRITE})


def modes(schema: Schema) -> tuple[str, ...]:
    """The values of the mode dimension, if the schema has one."""
    values = schema.get(MODE_DIMENSION, {}).get("values", [])
    return tuple(str(value) for value in values) if isinstance(values, list) else ()


def _mode(scenario: Scenario, schema: Schema) -> Iterator[Problem]:
    wanted = scenario.applicability.get(MODE_DIMENSION)
    mode = scenario.preconditions.agent.mode
    if wanted is not None and MODE_DIMENSION in schema and not mode_names(mode) & set(map(str, _as_sequence(wanted))):
        modes = ", ".join(map(str, _as_sequence(wanted)))
        problem = f"the scenario applies to {modes} agents and puts this one in mode {mode!r}"
        path: DocumentPath = ("applicability", MODE_DIMENSION)
        yield Problem("applicability-mode", path, problem, "change the condition, or preconditions.agent.mode")


def _unknown(conditions: Mapping[str, Any], schema: Schema, path: DocumentPath) -> Iterator[Problem]:
    for name, wanted in conditions.items():
        if name not in schema:
            problem = f"the configuration schema has no dimension {name!r}"
            remedy = spelling_remedy(name, schema) if schema else "declare it in the profile's configuration schema"
            yield Problem("applicability-unknown", (*path, name), problem, remedy)
            continue
        domain = _domain(schema[name])
        for value in _as_sequence(wanted):
            if not _json_values([value]) <= domain:
                problem = f"{json.dumps(value)} is not a value of the dimension {name!r}"
                yield Problem(
                    "applicability-unknown", (*path, name), problem, spelling_remedy(json.dumps(value), domain)
                )


def _choices(conditions: Mapping[str, Any], schema: Schema) -> dict[str, _Choice]:
    """For every dimension in a condition, its possible values; a list may contain any combination."""
    return {
        name: _json_values(_as_sequence(wanted)) & _domain(schema[name])
        for name, wanted in conditions.items()
        if name in schema and schema[name].get("type") != _LIST
    }


def _common_choices(
    first: Mapping[str, _Choice] | None, second: Mapping[str, _Choice] | None
) -> dict[str, _Choice] | None:
    """The values that satisfy two sets of conditions; dimensions are independent, so this covers the whole space."""
    if first is None or second is None:
        return None
    common = {
        name: first.get(name, second.get(name, frozenset())) & second.get(name, first.get(name, frozenset()))
        for name in {**first, **second}
    }
    return common if all(common.values()) else None


def _domain(dimension: Mapping[str, Any]) -> _Choice:
    values = [False, True] if dimension.get("type") == _BOOLEAN else dimension.get("values", [])
    return _json_values(values if isinstance(values, list) else [])


def _as_sequence(wanted: Any) -> Sequence[Any]:
    return wanted if isinstance(wanted, list | tuple) else [wanted]


def _json_values(values: Sequence[Any]) -> _Choice:
    """Values as JSON values, where true is not 1."""
    return frozenset(value if isinstance(value, str) else json.dumps(value) for value in values)


def _choices_text(choices: Mapping[str, _Choice]) -> str:
    return ", ".join(f"{name}={min(values)}" for name, values in sorted(choices.items())) or "anything"
