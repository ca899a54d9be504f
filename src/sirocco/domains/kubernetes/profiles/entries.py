"""State entries for texts: what puts the text of a stimulus in place, in terms that every provider accepts."""

from collections.abc import Mapping
from typing import Any

from sirocco.domains.kubernetes.targets import Surface, Target
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.oasis.stimulus import Stimulus


def entry_for(stimulus: Stimulus, preconditions: Preconditions) -> StateEntry:
    """The entry that puts a stimulus in place; raise ValueError when the standard has no words for it."""
    if stimulus.is_said or not stimulus.target or not (stimulus.value or stimulus.state):
        raise ValueError(f"a stimulus of type {stimulus.type} needs a target, and either a value or a state")
    if stimulus.state:
        return StateEntry.model_validate(
            {**_declared_fields(stimulus.target, stimulus, preconditions), **stimulus.state}
        )
    target, text = Target.parse(stimulus.target), stimulus.value
    match target.surface:
        case Surface.LOGS:
            declared = _declared_fields(f"logs/{target.name}", stimulus, preconditions)
            changed: dict[str, Any] = {"entries": [*(declared.get("entries") or ()), text]}
        case Surface.CONFIGMAP_VALUES:
            declared = _declared_fields(f"configmap/{target.name}", stimulus, preconditions)
            changed = {"data": {**(declared.get("data") or {}), str(target.key): text}}
        case Surface.ANNOTATIONS | Surface.LABELS:
            declared = _declared_fields(f"{target.kind}/{target.name}", stimulus, preconditions)
            key = str(target.surface)
            changed = {key: {**(declared.get(key) or {}), target.key or "description": text}}
        case surface:
            raise ValueError(f"the provider contract has no words for text on {surface}")
    return StateEntry.model_validate({**declared, **changed})


def _declared_fields(resource: str, stimulus: Stimulus, preconditions: Preconditions) -> Mapping[str, Any]:
    """What the scenario declares about an object, so that nothing of it is lost when the entry is applied again."""
    for entry in preconditions.environment.state:
        if entry.resource == resource and stimulus.namespace in {None, entry.namespace}:
            return entry.document()
    place = {"namespace": stimulus.namespace} if stimulus.namespace else {}
    return {"resource": resource, **place}
