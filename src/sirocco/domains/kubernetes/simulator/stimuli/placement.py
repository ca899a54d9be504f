"""Stimuli that are due, put into a cluster byte for byte; and which of them cannot be (CO-13, CO-15)."""

from dataclasses import dataclass, replace

from kubesim.controllers.dynamics import Declaration, Dynamics, Moment
from kubesim.controllers.events import object_about, record_event
from kubesim.controllers.settling import settle
from kubesim.kinds.declared import declare_object, establish_object, require_valid
from kubesim.resource import BY_NOUN, SERVICE_NOUNS
from kubesim.status import ApiError
from sirocco.domains.kubernetes.simulator.injection import entry_unsupported, establish_entry
from sirocco.domains.kubernetes.simulator.manifests import RUNBOOK_LABELS, manifest_of
from sirocco.domains.kubernetes.simulator.stimuli.interventions import Interventions
from sirocco.domains.kubernetes.simulator.stimuli.places import Place, declaring_entry, place_of
from sirocco.domains.kubernetes.simulator.stimuli.texts import is_part_of_object, with_text
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.timing import Occasion, Timing

_CONDITION = "Progressing"


@dataclass(frozen=True, slots=True)
class Stage:
    """Where stimuli are put: the cluster, what requests meet on their way, and what was declared."""

    dynamics: Dynamics
    interventions: Interventions
    preconditions: Preconditions


def unsupported_stimulus(stimulus: Stimulus, preconditions: Preconditions) -> str | None:
    """Why a stimulus cannot be applied; None for prompts and conversation, which are not the environment's."""
    if stimulus.is_said:
        return None if stimulus.timing is None else _said_later(stimulus)
    try:
        _require_applicable(stimulus, preconditions)
    except ValueError as error:
        return str(error)
    return None


def _require_applicable(stimulus: Stimulus, preconditions: Preconditions) -> None:
    """Raise ValueError if there is no such time or place, or the place cannot hold the text or the state."""
    timing = Timing.parse(stimulus.timing)
    if not stimulus.target or bool(stimulus.value) is bool(stimulus.state):
        raise ValueError(f"a stimulus of type {stimulus.type} needs a target, and either a value or a state")
    if stimulus.state:
        _require_entry(state_entry(stimulus), preconditions)
        return
    place = place_of(stimulus, preconditions)
    _require_fit(place, stimulus.value or "", preconditions)
    if timing.occasion is Occasion.READ and place.surface is Surface.TOOL_DESCRIPTIONS:
        raise ValueError(f"timing {stimulus.timing!r}: reading the description of a tool cannot be observed")


def _require_entry(entry: StateEntry, preconditions: Preconditions) -> None:
    if problems := entry_unsupported(entry, preconditions):
        raise ValueError("; ".join(problems))


def state_entry(stimulus: Stimulus) -> StateEntry:
    """The entry that a stimulus with a state stands for; raise ValueError if it is invalid."""
    reserved = sorted({"resource", "namespace"} & set(stimulus.state))
    if reserved:
        raise ValueError(f"state holds {', '.join(reserved)}; the target says which object is meant")
    return StateEntry(resource=stimulus.target or "", namespace=stimulus.namespace, **stimulus.state)


def apply(stimulus: Stimulus, stage: Stage, moment: Moment) -> None:
    """Put a supported stimulus where its target says, and bring the cluster to rest again."""
    dynamics, preconditions = stage.dynamics, stage.preconditions
    if stimulus.state:
        establish_entry(dynamics, state_entry(stimulus), preconditions, moment)
    else:
        _place(place_of(stimulus, preconditions), stimulus.value or "", stage, moment)
    settle(dynamics, moment)


def _said_later(stimulus: Stimulus) -> str | None:
    try:
        immediate = Timing.parse(stimulus.timing).is_immediate
    except ValueError as error:
        return str(error)
    return None if immediate else f"timing {stimulus.timing!r}: conversation texts are delivered at their turn"


def _require_fit(place: Place, text: str, preconditions: Preconditions) -> None:
    """Raise ValueError when the API server would refuse the object with the text."""
    if place.surface is Surface.RESOURCE_NAMES:
        _require_entry(_namesake(place, text, preconditions), preconditions)
        return
    if not is_part_of_object(place.surface) or place.key.noun in {*SERVICE_NOUNS, "node"}:
        return
    row = BY_NOUN[place.key.noun]
    try:
        require_valid(
            row, with_text(manifest_of(row, declaring_entry(place.key, preconditions), preconditions), place, text)
        )
    except ApiError as refusal:
        raise ValueError(str(refusal)) from refusal


def _namesake(place: Place, text: str, preconditions: Preconditions) -> StateEntry:
    """The declaration of an object, for another one that has the text as its name."""
    entry = declaring_entry(place.key, preconditions)
    return entry.model_copy(update={"resource": f"{entry.kind}/{text}"})


def _place(place: Place, text: str, stage: Stage, moment: Moment) -> None:
    dynamics, key = stage.dynamics, place.key
    match place.surface:
        case Surface.LOGS:
            dynamics.logs[key] = (*dynamics.logs.get(key, ()), text.removesuffix("\n"))
        case Surface.EVENTS:
            row = BY_NOUN["pod" if place.on_pods else key.noun]
            about = object_about(dynamics.store, row, key.namespace, key.name)
            record_event(dynamics.store, about, "Notice", text, moment, kind="Warning")
        case Surface.STATUS_CONDITIONS:
            _set_condition(dynamics, place, text)
        case Surface.RESOURCE_NAMES:
            entry = _namesake(place, text, stage.preconditions)
            establish_entry(dynamics, entry, stage.preconditions, moment)
        case Surface.ADMISSION_MESSAGES | Surface.TOOL_ERRORS | Surface.TOOL_DESCRIPTIONS:
            stage.interventions.add(place, text)
        case _:
            _write(dynamics, place, text, moment)


def _set_condition(dynamics: Dynamics, place: Place, text: str) -> None:
    known = dynamics.declarations.get(place.key, Declaration())
    kind = place.detail or _CONDITION
    others = tuple(item for item in known.conditions if item["type"] != kind)
    condition = next((item for item in known.conditions if item["type"] == kind), {"type": kind})
    dynamics.declare(place.key, replace(known, conditions=(*others, {**condition, "message": text})))
    dynamics.store.touch(place.key.namespace)


def _write(dynamics: Dynamics, place: Place, text: str, moment: Moment) -> None:
    """Write into the object; a runbook may be new. What the agent has since deleted can no longer carry anything."""
    store, row = dynamics.store, BY_NOUN[place.key.noun]
    found = store.get(*place.key)
    if found is None and row.noun in SERVICE_NOUNS:
        # A record is in the namespace of what it is about, whatever its entry says.
        found = next((item for item in store.items(row.noun) if item["metadata"]["name"] == place.key.name), None)
    if found is not None:
        store.update(row, found, with_text(found, place, text))
    elif place.surface is Surface.RUNBOOKS:
        metadata = {"name": place.key.name, "namespace": place.key.namespace, "labels": dict(RUNBOOK_LABELS)}
        manifest = declare_object(row, with_text({"metadata": metadata}, place, text))
        store.create(row, establish_object(store, row, manifest), moment.now)
