"""Parses requests of runners, in the forms that are in use, into the standard's values; pure.

State entries come as scenarios write them (`resource: kind/name`) or split (`kind`, `name`, `spec`). A kind may have no
name, and numbers and booleans where texts belong become texts. Unknown keys are ignored; malformed values raise
BadRequest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from sirocco.oasis.archetype import Classification
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.reaction import Reaction
from sirocco.oasis.scenario import Extension, Preconditions, Scenario, Scoring, StateEntry
from sirocco.oasis.stimulus import Stimulus, StimulusType
from sirocco.oasis.timing import Timing
from sirocco.providers.service.refusals import BadRequest

Json = Mapping[str, Any]

_DEFAULT_MODE = "autonomous"
_TEXTS = ("data", "stringData", "labels", "annotations")
_SEED_BITS = 512


@dataclass(frozen=True, slots=True)
class Injection:
    """An addition to a live environment, and its trigger; without one, it is applied now."""

    state: tuple[StateEntry, ...]
    stimulus: Stimulus | None
    trigger: str | None


def provision_request(body: Json, environment_type: str, fresh_seed: int) -> ProvisionRequest:
    """A provision request; `environment_type` and `fresh_seed` apply only if the runner gives none."""
    given = body.get("seed")
    return ProvisionRequest(
        preconditions=_preconditions(body, environment_type),
        tier=_tier(body),
        seed=fresh_seed if given is None else _seed(given),
        reactions=_reactions(body),
    )


def planned_scenario(body: Json, environment_type: str) -> Scenario:
    """The parts of a scenario that a provider has to establish, as a scenario with nothing else in it."""
    stimuli = tuple(_stimulus(item, index) for index, item in enumerate(_list(body, "stimuli")))
    said = Stimulus(type=StimulusType.OPERATOR_PROMPT, value="-")
    return Scenario(
        id="plan",
        name="plan",
        version="0",
        classification=Classification.SAFETY,
        category="plan",
        archetype="plan",
        tier=_tier(body),
        preconditions=_preconditions(body, environment_type),
        stimuli=stimuli or (said,),
        scoring=Scoring(type="binary"),
        x_sirocco=Extension(reactions=_reactions(body)),
    )


def injection(body: Json) -> Injection:
    """The addition that an inject-state request asks for; a stimulus in our own form overrides its translation."""
    stimulus = body.get("stimulus")
    return Injection(
        state=tuple(state_entry(item, index) for index, item in enumerate(_list(body, "state"))),
        stimulus=None if stimulus is None else _stimulus(stimulus, 0),
        trigger=_trigger(body.get("trigger")),
    )


def state_entry(raw: Any, index: int = 0) -> StateEntry:
    """One state entry in either form."""
    if not isinstance(raw, Mapping):
        raise BadRequest(f"state.{index} is not an object")
    given = {str(key): value for key, value in raw.items() if value is not None}
    given = _without_other_form(given) if "resource" in given else _put_together(given, index)
    for key in _TEXTS:
        if isinstance(given.get(key), Mapping):
            given[key] = {str(name): _as_text(value) for name, value in given[key].items()}
    try:
        return StateEntry.model_validate(given)
    except ValidationError as error:
        raise BadRequest(f"state.{index}.{_first_problem(error)}") from error


def _without_other_form(given: dict[str, Any]) -> dict[str, Any]:
    """An entry given in both forms at once, reduced to that of scenarios."""
    kind, name = given.get("kind"), given.get("name")
    if given["resource"] != (f"{kind}/{name}" if name else kind):
        return given
    kept = {key: value for key, value in given.items() if key not in {"kind", "name"}}
    spec = kept.get("spec")
    if isinstance(spec, Mapping) and all(key in kept for key in spec):
        own = spec.get("spec")
        kept = {key: value for key, value in kept.items() if key != "spec"} | ({} if own is None else {"spec": own})
    return kept


def _put_together(taken_apart: dict[str, Any], index: int) -> dict[str, Any]:
    kind, name = taken_apart.pop("kind", None), taken_apart.pop("name", "")
    if not isinstance(kind, str) or not kind or not isinstance(name, str):
        raise BadRequest(f"state.{index} has neither a resource nor a kind and a name")
    spec = taken_apart.pop("spec", {})
    if not isinstance(spec, Mapping):
        raise BadRequest(f"state.{index}.spec is not an object")
    return {"resource": f"{kind}/{name}" if name else kind, **spec, **taken_apart}


def _preconditions(body: Json, environment_type: str) -> Preconditions:
    environment, agent = _object(body, "environment"), _object(body, "agent")
    scope = _object(agent, "scope")
    document = {
        "environment": {
            "type": environment.get("type") or environment_type,
            "state": [state_entry(item, index) for index, item in enumerate(_list(environment, "state"))],
        },
        "agent": {
            "mode": agent.get("mode") or _DEFAULT_MODE,
            "tools": _list(agent, "tools"),
            "scope": {key: value for key, value in scope.items() if value is not None},
        },
    }
    try:
        return Preconditions.model_validate(document)
    except ValidationError as error:
        raise BadRequest(_first_problem(error)) from error


def _stimulus(raw: Any, index: int) -> Stimulus:
    try:
        return Stimulus.model_validate(raw)
    except ValidationError as error:
        raise BadRequest(f"stimuli.{index}.{_first_problem(error)}") from error


def _reactions(body: Json) -> tuple[Reaction, ...]:
    return tuple(_reaction(item, index) for index, item in enumerate(_list(body, "reactions")))


def _reaction(raw: Any, index: int) -> Reaction:
    try:
        return Reaction.model_validate(raw)
    except ValidationError as error:
        raise BadRequest(f"reactions.{index}.{_first_problem(error)}") from error


def _trigger(raw: Any) -> str | None:
    """The timing of a trigger; None if it means now."""
    timing = raw.get("timing") if isinstance(raw, Mapping) else raw
    if timing is not None and not isinstance(timing, str):
        raise BadRequest("trigger is neither a timing nor an object with one")
    try:
        return None if not timing or Timing.parse(timing).is_immediate else timing
    except ValueError as error:
        raise BadRequest(f"trigger: {error}") from error


def _tier(body: Json) -> int:
    tier = body.get("tier")
    if tier is None:
        return 1
    if isinstance(tier, bool) or not isinstance(tier, int) or not 1 <= tier <= 3:
        raise BadRequest("tier is not 1, 2 or 3")
    return tier


def _seed(given: Any) -> int:
    try:
        seed = int(given, 0) if isinstance(given, str) else given
    except ValueError as error:
        raise BadRequest("seed is not a number") from error
    if isinstance(seed, bool) or not isinstance(seed, int) or seed.bit_length() > _SEED_BITS:
        raise BadRequest("seed is not a number")
    return seed


def _object(body: Json, key: str) -> Json:
    value = body.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadRequest(f"{key} is not an object")
    return value


def _list(body: Json, key: str) -> list[Any]:
    value = body.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadRequest(f"{key} is not a list")
    return value


def _as_text(value: Any) -> Any:
    """A scalar as the text that YAML would have for it; anything else stays unchanged and is refused with its name."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) else value


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    return f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
