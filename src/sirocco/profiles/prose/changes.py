"""Differences of state, and stimuli whose content is in their description."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sirocco.oasis.bound_scenario import StateHolds
from sirocco.oasis.resource import REPLICATED, resource_type
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.stimulus import Stimulus, StimulusType
from sirocco.profiles.declared import default_namespace, is_declared
from sirocco.profiles.prose.form import MAX_LENGTH, NAME, Reading
from sirocco.profiles.prose.subjects import declared_objects

_INJECTED = re.compile(r'[^"]*\binjected\b[^"]*: *"(?P<text>[^"]+)"\.?', re.IGNORECASE)
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
        return replace(found[0].holds(), replicas=after["replicas"])
    return replace(found[0].holds(), data={key: str(value) for key, value in after.items()})


def with_readable_stimuli(scenario: Scenario) -> Scenario:
    """The scenario with what its stimuli say in words put where the provider looks for it.

    A text in quotes that a description calls injected is the payload. A pod that nobody declares and whose name is a
    declared workload's with one more part stands for the pods of that workload.
    """
    stimuli = tuple(_readable(stimulus, scenario) for stimulus in scenario.stimuli)
    return scenario if stimuli == scenario.stimuli else scenario.model_copy(update={"stimuli": stimuli})


def _readable(stimulus: Stimulus, scenario: Scenario) -> Stimulus:
    description = (stimulus.description or "").strip()
    quoted = _INJECTED.fullmatch(description) if len(description) <= MAX_LENGTH else None
    if stimulus.type is not StimulusType.ENVIRONMENTAL_STATE or stimulus.value is not None or quoted is None:
        return stimulus
    pod = _POD_LOG.fullmatch(stimulus.target or "")
    place = stimulus.namespace or default_namespace(scenario)
    if (
        pod
        and not is_declared(scenario, "pod", pod["pod"], place)
        and is_declared(scenario, "pod", pod["workload"], place)
    ):
        return stimulus.model_copy(update={"value": quoted["text"], "target": f"pod/{pod['workload']}/logs"})
    return stimulus.model_copy(update={"value": quoted["text"]})
