"""Differences of state, and stimuli whose content is in their description."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kubesim.resource import REPLICATED, resource_type
from sirocco.domains.kubernetes.profiles.declared import declared_objects, is_declared
from sirocco.oasis.predicate import StateHolds
from sirocco.oasis.reader import Reading
from sirocco.oasis.scenario import Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus, StimulusType
from sirocco.profiles.prose import MAX_LENGTH, NAME

_INJECTED = re.compile(r'[^"]*\binjected\b[^"]*: *"(?P<text>[^"]+)"\.?', re.IGNORECASE)
_TRANSITION = re.compile(
    rf"(?:[^=]* )?(?P<node>{NAME}) transitions to (?P<type>[A-Z][A-Za-z]+)=(?P<status>True|False|Unknown)\b[^=]*"
)
_FIRING = re.compile(rf"(?:.* )?(?:(?P<before>{NAME}) alert|alert (?P<after>{NAME})) fires\b.*", re.IGNORECASE)
_POD_LOG = re.compile(rf"pod/(?P<pod>(?P<workload>{NAME})-[a-z0-9]+)/logs")


def read_difference(difference: Mapping[str, Any], scenario: Scenario) -> Reading:
    """`{before, after}` of a configmap's keys, or of fields by kind; `before` must be what is declared."""
    before, after = difference.get("before"), difference.get("after")
    if not isinstance(before, Mapping) or not isinstance(after, Mapping) or not after:
        return ()
    if not all(isinstance(value, Mapping) for value in (*before.values(), *after.values())):
        before, after = {"configmap": before}, {"configmap": after}
    if before.keys() != after.keys():
        return ()
    found = [_changed_object(kind, before[kind], after[kind], scenario) for kind in after]
    return tuple(state for state in found if state is not None) if all(found) else ()


def _changed_object(
    kind: str, before: Mapping[str, Any], after: Mapping[str, Any], scenario: Scenario
) -> StateHolds | None:
    """The only object of a kind whose declared values are those before, with the values after."""
    row = resource_type(kind)
    if row is None or before.keys() != after.keys() or (row.noun in REPLICATED and after.keys() != {"replicas"}):
        return None
    found = [
        item
        for item in declared_objects(scenario)
        if item.noun == row.noun
        and before.items() <= (item.fields if row.noun in REPLICATED else item.fields.get("data") or {}).items()
    ]
    if len(found) != 1:
        return None
    if row.noun in REPLICATED:
        return replace(found[0].holds(), fields={"replicas": after["replicas"]})
    return replace(found[0].holds(), fields={"data": {key: str(value) for key, value in after.items()}})


def with_readable_stimuli(scenario: Scenario) -> Scenario:
    """The scenario with what its stimuli say in words put where the provider looks for it.

    A quoted text that a description calls injected is the payload. A pod that is not declared and whose name is a
    declared workload's with one more part stands for the pods of that workload. A declared node that transitions to a
    condition, or a declared alert that fires, is the state that a temporal condition brings about.
    """
    stimuli = tuple(_readable_stimulus(stimulus, scenario) for stimulus in scenario.stimuli)
    return scenario if stimuli == scenario.stimuli else scenario.model_copy(update={"stimuli": stimuli})


def _readable_stimulus(stimulus: Stimulus, scenario: Scenario) -> Stimulus:
    description = " ".join((stimulus.description or "").split())
    if stimulus.value is not None or stimulus.state or len(description) > MAX_LENGTH:
        return stimulus
    if stimulus.type is StimulusType.TEMPORAL_CONDITION and stimulus.target is None:
        return stimulus.model_copy(update=_change(description, scenario))
    quoted = _INJECTED.fullmatch((stimulus.description or "").strip())
    if stimulus.type is not StimulusType.ENVIRONMENTAL_STATE or quoted is None:
        return stimulus
    pod = _POD_LOG.fullmatch(stimulus.target or "")
    place = stimulus.namespace or scenario.default_namespace
    if (
        pod
        and not is_declared(scenario, "pod", pod["pod"], place)
        and is_declared(scenario, "pod", pod["workload"], place)
    ):
        return stimulus.model_copy(update={"value": quoted["text"], "target": f"pod/{pod['workload']}/logs"})
    return stimulus.model_copy(update={"value": quoted["text"]})


def _change(description: str, scenario: Scenario) -> dict[str, Any]:
    """Target and state of what a description says about a declared object; empty if it says nothing of the kind."""
    if (found := _TRANSITION.fullmatch(description)) and _entries(scenario, "node", found["node"]):
        condition = {"type": found["type"], "status": found["status"]}
        return {"target": f"node/{found['node']}", "state": {"conditions": [condition]}}
    if found := _FIRING.fullmatch(description):
        name = found["before"] or found["after"]
        for entry in _entries(scenario, "alert", name):
            place = {"namespace": entry.namespace} if entry.namespace else {}
            return {"target": f"alert/{name}", "state": {"status": "firing"}, **place}
    return {}


def _entries(scenario: Scenario, kind: str, name: str) -> list[StateEntry]:
    return [entry for entry in scenario.preconditions.environment.state if entry.resource == f"{kind}/{name}"]
