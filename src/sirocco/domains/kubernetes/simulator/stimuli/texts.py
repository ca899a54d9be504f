"""Objects with a text on one of their surfaces: pure functions, for checking at plan time and for placing."""

from collections.abc import Callable, Mapping
from typing import Any

from kubesim.status import Json
from sirocco.domains.kubernetes.simulator.manifests import RUNBOOK_KEY
from sirocco.domains.kubernetes.simulator.stimuli.places import Place
from sirocco.domains.kubernetes.targets import Surface

_ANNOTATION, _ALERT_ANNOTATION, _PANEL = "description", "description", "Notes"


def with_text(obj: Json, place: Place, text: str) -> Json:
    """The object with the text; only for surfaces that are part of an object."""
    return _WRITERS[place.surface](obj, place, text)


def is_part_of_object(surface: Surface) -> bool:
    """Whether a text on the surface is stored in the object itself."""
    return surface in _WRITERS


def _annotation(obj: Json, place: Place, text: str) -> Json:
    return _in_metadata(obj, place, "annotations", {place.detail or _ANNOTATION: text})


def _label(obj: Json, place: Place, text: str) -> Json:
    return _in_metadata(obj, place, "labels", {str(place.detail): text})


def _in_metadata(obj: Json, place: Place, field: str, added: Mapping[str, str]) -> Json:
    """On the object itself, or on the template of the pods that are meant."""
    if not place.on_pods:
        return {**obj, "metadata": _with_added(obj["metadata"], field, added)}
    template = obj["spec"]["template"]
    changed = {**template, "metadata": _with_added(template.get("metadata") or {}, field, added)}
    return {**obj, "spec": {**obj["spec"], "template": changed}}


def _with_added(owner: Mapping[str, Any], field: str, added: Mapping[str, Any]) -> Json:
    return {**owner, field: {**(owner.get(field) or {}), **added}}


def _configmap_value(obj: Json, place: Place, text: str) -> Json:
    return _with_added(obj, "data", {str(place.detail): text})


def _configmap_comment(obj: Json, place: Place, text: str) -> Json:
    """The first line of a value that is a file, such as properties, YAML or a script."""
    known = (obj.get("data") or {}).get(str(place.detail), "")
    line = text.removesuffix("\n")
    return _with_added(obj, "data", {str(place.detail): f"# {line}\n{known}"})


def _runbook(obj: Json, _place: Place, text: str) -> Json:
    """The payload is the runbook, or its last paragraph if there is one already."""
    known = (obj.get("data") or {}).get(RUNBOOK_KEY, "")
    return _with_added(obj, "data", {RUNBOOK_KEY: f"{known}\n{text}" if known else text})


def _variable(obj: Json, place: Place, text: str) -> Json:
    """In the first container, of the template if there is one, from which the controllers replace the pods."""
    spec = obj["spec"]
    if "template" not in spec:
        return {**obj, "spec": _with_variable(spec, str(place.detail), text)}
    template = spec["template"]
    changed = {**template, "spec": _with_variable(template["spec"], str(place.detail), text)}
    return {**obj, "spec": {**spec, "template": changed}}


def _with_variable(spec: Json, name: str, text: str) -> Json:
    first, *rest = spec["containers"]
    known = first.get("env") or []
    changed = [{"name": name, "value": text} if item["name"] == name else item for item in known]
    if not any(item["name"] == name for item in known):
        changed.append({"name": name, "value": text})
    return {**spec, "containers": [{**first, "env": changed}, *rest]}


def _alert_annotation(obj: Json, place: Place, text: str) -> Json:
    return {**obj, "spec": _with_added(obj["spec"], "annotations", {place.detail or _ALERT_ANNOTATION: text})}


def _metric_label(obj: Json, place: Place, text: str) -> Json:
    """On every series of the metrics."""
    series = [_with_added(one, "labels", {str(place.detail): text}) for one in obj["spec"].get("series") or ()]
    return {**obj, "spec": {**obj["spec"], "series": series}}


def _dashboard_title(obj: Json, _place: Place, text: str) -> Json:
    return {**obj, "spec": {**obj["spec"], "title": text}}


def _dashboard_panel(obj: Json, place: Place, text: str) -> Json:
    """The description of the panel with that title, or a panel of its own that shows nothing but text."""
    panels = list(obj["spec"].get("panels") or ())
    title = place.detail or _PANEL
    found = next((index for index, panel in enumerate(panels) if panel.get("title") == title), None)
    if found is not None:
        panels[found] = {**panels[found], "description": text}
    else:
        number = max((panel["id"] for panel in panels if isinstance(panel.get("id"), int)), default=0) + 1
        content = {"mode": "markdown", "content": text}
        panels.append({"id": number, "title": title, "type": "text", "options": content})
    return {**obj, "spec": {**obj["spec"], "panels": panels}}


def _trace_attribute(obj: Json, place: Place, text: str) -> Json:
    """On the first span, which a reader of the trace sees first."""
    spans = [
        _with_added(span, "tags", {str(place.detail): text}) if number == 0 else span
        for number, span in enumerate(obj["spec"].get("spans") or ())
    ]
    return {**obj, "spec": {**obj["spec"], "spans": spans}}


def _pipeline_log(obj: Json, _place: Place, text: str) -> Json:
    lines = [*(obj["spec"].get("logs") or ()), text.removesuffix("\n")]
    return {**obj, "spec": {**obj["spec"], "logs": lines}}


def _gitops_message(obj: Json, _place: Place, text: str) -> Json:
    status = obj.get("status") or {}
    phase = {"phase": "Running"} | (status.get("operationState") or {})
    return {**obj, "status": {**status, "operationState": {**phase, "message": text}}}


_WRITERS: Mapping[Surface, Callable[[Json, Place, str], Json]] = {
    Surface.ANNOTATIONS: _annotation,
    Surface.LABELS: _label,
    Surface.CONFIGMAP_VALUES: _configmap_value,
    Surface.CONFIGMAP_COMMENTS: _configmap_comment,
    Surface.RUNBOOKS: _runbook,
    Surface.ENV_VALUES: _variable,
    Surface.ALERT_ANNOTATIONS: _alert_annotation,
    Surface.METRIC_LABELS: _metric_label,
    Surface.DASHBOARD_TITLES: _dashboard_title,
    Surface.DASHBOARD_PANELS: _dashboard_panel,
    Surface.TRACE_ATTRIBUTES: _trace_attribute,
    Surface.CI_LOGS: _pipeline_log,
    Surface.GITOPS_MESSAGES: _gitops_message,
}
