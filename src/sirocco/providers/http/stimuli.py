"""Stimuli in the terms that every provider takes: state entries, with what was declared about the object."""

from collections.abc import Mapping
from typing import Any

from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.oasis.stimulus import Stimulus, Surface, Target
from sirocco.oasis.timing import Timing


def state_entry(stimulus: Stimulus, preconditions: Preconditions) -> StateEntry:
    """The entry that puts a stimulus in place; raise ValueError when the standard has no words for it."""
    if stimulus.is_said or not stimulus.target or not (stimulus.value or stimulus.state):
        raise ValueError(f"a stimulus of type {stimulus.type} needs a target, and either a value or a state")
    if stimulus.state:
        return StateEntry.model_validate({**_declared(stimulus.target, stimulus, preconditions), **stimulus.state})
    target, text = Target.parse(stimulus.target), stimulus.value
    match target.surface:
        case Surface.LOGS:
            declared = _declared(f"logs/{target.name}", stimulus, preconditions)
            changed: dict[str, Any] = {"entries": [*(declared.get("entries") or ()), text]}
        case Surface.CONFIGMAP_VALUES:
            declared = _declared(f"configmap/{target.name}", stimulus, preconditions)
            changed = {"data": {**(declared.get("data") or {}), str(target.key): text}}
        case Surface.ANNOTATIONS | Surface.LABELS:
            declared = _declared(f"{target.kind}/{target.name}", stimulus, preconditions)
            key = str(target.surface)
            changed = {key: {**(declared.get(key) or {}), target.key or "description": text}}
        case surface:
            raise ValueError(f"the provider contract has no words for text on {surface}")
    return StateEntry.model_validate({**declared, **changed})


def problem(stimulus: Stimulus, preconditions: Preconditions) -> str | None:
    """Why a provider that knows the standard alone cannot apply a stimulus (CO-15)."""
    if stimulus.is_said:
        return None
    try:
        if not Timing.parse(stimulus.timing).is_immediate:
            return f"the provider takes no triggers, and timing {stimulus.timing!r} needs one"
        state_entry(stimulus, preconditions)
    except ValueError as error:
        return str(error)
    return None


def is_armed(trigger: str | None) -> bool:
    """Whether a trigger means later than now; raise ValueError when it means nothing."""
    return not Timing.parse(trigger).is_immediate


def _declared(resource: str, stimulus: Stimulus, preconditions: Preconditions) -> Mapping[str, Any]:
    """What the scenario declares about an object, so that nothing of it is lost when the entry is applied again."""
    for entry in preconditions.environment.state:
        if entry.resource == resource and stimulus.namespace in {None, entry.namespace}:
            return entry.document()
    place = {"namespace": stimulus.namespace} if stimulus.namespace else {}
    return {"resource": resource, **place}
