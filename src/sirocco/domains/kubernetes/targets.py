"""Targets of stimuli: the places in a cluster and its services where text can wait, and how a target names one."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from kubesim.resource import resource_type
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.errors import OperationError
from sirocco.oasis.noun import Noun
from sirocco.oasis.operation import ANY


class Surface(StrEnum):
    """A place in the environment where an agent comes across text during ordinary work."""

    LOGS = "logs"
    EVENTS = "events"
    ANNOTATIONS = "annotations"
    CONFIGMAP_VALUES = "configmap_values"
    STATUS_CONDITIONS = "status_conditions"
    ENV_VALUES = "env_values"
    RUNBOOKS = "runbooks"
    LABELS = "labels"
    RESOURCE_NAMES = "resource_names"
    CONFIGMAP_COMMENTS = "configmap_comments"
    ADMISSION_MESSAGES = "admission_messages"
    TOOL_ERRORS = "tool_errors"
    ALERT_ANNOTATIONS = "alert_annotations"
    METRIC_LABELS = "metric_labels"
    DASHBOARD_TITLES = "dashboard_titles"
    DASHBOARD_PANELS = "dashboard_panels"
    TRACE_ATTRIBUTES = "trace_attributes"
    CI_LOGS = "ci_logs"
    GITOPS_MESSAGES = "gitops_messages"
    TOOL_DESCRIPTIONS = "tool_descriptions"


TOOL = "tool"
RUNBOOK = "runbook"


class _Key(StrEnum):
    """Whether a target continues after the surface."""

    NONE = ""
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class _Form:
    """How the target of a surface is written: `kind/name/segment[/key]`."""

    surface: Surface
    segment: str
    kind: str = "KIND"
    """The one kind that it is for; KIND if any kind without a more specific form for the segment will do."""
    key: _Key = _Key.NONE
    called: str = "KEY"

    def __str__(self) -> str:
        key = {_Key.NONE: "", _Key.OPTIONAL: f"[/{self.called}]", _Key.REQUIRED: f"/{self.called}"}[self.key]
        return f"{self.kind}/NAME" + (f"/{self.segment}{key}" if self.segment else "")


_FORMS = (
    _Form(Surface.LOGS, "logs"),
    _Form(Surface.EVENTS, "events"),
    _Form(Surface.ANNOTATIONS, "annotations", key=_Key.OPTIONAL),
    _Form(Surface.CONFIGMAP_VALUES, "data", key=_Key.REQUIRED),
    _Form(Surface.STATUS_CONDITIONS, "conditions", key=_Key.OPTIONAL, called="TYPE"),
    _Form(Surface.ENV_VALUES, "env", key=_Key.REQUIRED, called="VARIABLE"),
    _Form(Surface.RUNBOOKS, "", RUNBOOK),
    _Form(Surface.LABELS, "labels", key=_Key.REQUIRED),
    _Form(Surface.RESOURCE_NAMES, "name"),
    _Form(Surface.CONFIGMAP_COMMENTS, "comments", key=_Key.REQUIRED),
    _Form(Surface.ADMISSION_MESSAGES, "admission", key=_Key.OPTIONAL, called="warning|refusal"),
    _Form(Surface.TOOL_ERRORS, "error"),
    _Form(Surface.ALERT_ANNOTATIONS, "annotations", "alert", _Key.OPTIONAL),
    _Form(Surface.METRIC_LABELS, "labels", "metrics", _Key.REQUIRED),
    _Form(Surface.DASHBOARD_TITLES, "title", "dashboard"),
    _Form(Surface.DASHBOARD_PANELS, "panels", "dashboard", _Key.OPTIONAL, "PANEL"),
    _Form(Surface.TRACE_ATTRIBUTES, "attributes", "traces", _Key.REQUIRED),
    _Form(Surface.CI_LOGS, "logs", "pipeline"),
    _Form(Surface.GITOPS_MESSAGES, "message", "gitops-application"),
    _Form(Surface.TOOL_DESCRIPTIONS, "description", TOOL),
)
_EXAMPLES = {
    Surface.LOGS: "pod/NAME/logs or deployment/NAME/logs",
    Surface.CONFIGMAP_VALUES: "configmap/NAME/data/KEY",
    Surface.CONFIGMAP_COMMENTS: "configmap/NAME/comments/KEY",
    Surface.STATUS_CONDITIONS: "deployment/NAME/conditions[/TYPE]",
    Surface.ENV_VALUES: "deployment/NAME/env/VARIABLE",
}
TARGET_FORMS = {form.surface: _EXAMPLES.get(form.surface, str(form)) for form in _FORMS}
_BY_SURFACE = {form.surface: form for form in _FORMS}
_BY_WORDS = {(form.kind, form.segment): form for form in _FORMS}
# The standard's library puts the tool's interface type before the target of its output.
_INTERFACES = {
    "observability-dashboards": "dashboard",
    "observability-tracing": "traces",
    "ci-cd": "pipeline",
    "gitops": "gitops-application",
}
_ALERTS = ("observability-metrics", "alerts")
# The place for text in the output of a read of such an object: surface, and key if one is needed.
_OUTPUTS = {
    RUNBOOK: (Surface.RUNBOOKS, None),
    "alert": (Surface.ALERT_ANNOTATIONS, None),
    "metrics": (Surface.METRIC_LABELS, "note"),
    "dashboard": (Surface.DASHBOARD_TITLES, None),
    "traces": (Surface.TRACE_ATTRIBUTES, "note"),
    "pipeline": (Surface.CI_LOGS, None),
    "gitops-application": (Surface.GITOPS_MESSAGES, None),
}


class Target(Noun):
    """A parsed stimulus target: the object, the surface on it and the key there.

    Besides `kind/name/surface[/key]` and `runbook/name`, a target may name a read whose output carries the text: an
    operation such as `log pod/web` or `get dashboard/main`, or a tool of the standard's vocabulary with what it shows,
    such as `ci-cd/build/logs`. It means the surface of that object which the read shows, and is printed as such.
    """

    kind: str
    name: str
    surface: Surface
    key: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a target; raise ValueError with the accepted forms."""
        if " " in text.partition("/")[0]:
            return cls._of_operation(text)
        kind, _, rest = text.partition("/")
        name, _, rest = rest.partition("/")
        segment, _, key = rest.partition("/")
        if (kind, name) == _ALERTS and segment:
            return cls._of_output("alert", segment)
        if kind in _INTERFACES and name and segment in {"", "logs"}:
            return cls._of_output(_INTERFACES[kind], name)
        form = _BY_WORDS.get((_noun(kind), segment)) or _BY_WORDS.get(("KIND", segment))
        if not name or form is None:
            forms = "; ".join(TARGET_FORMS.values())
            raise ValueError(f"target {text!r} names no surface; use one of: {forms}")
        if form.key is _Key.REQUIRED and not key:
            raise ValueError(f"target {text!r} needs a key; use {TARGET_FORMS[form.surface]}")
        if form.key is _Key.NONE and key:
            raise ValueError(f"target {text!r} has text after the surface; use {TARGET_FORMS[form.surface]}")
        return cls(kind=kind, name=name, surface=form.surface, key=key or None)

    @classmethod
    def _of_operation(cls, text: str) -> Self:
        try:
            operation = Operation.parse(text)
        except OperationError as error:
            raise ValueError(f"target {text!r}: {error.problem}; {error.remedy}") from error
        if not operation.is_read or operation.name == ANY or operation.namespace is not None:
            raise ValueError(f"target {text!r} is not a read of a single object; write <verb> <type>/<name>")
        if operation.verb is Verb.LOG:
            return cls.parse(f"{operation.resource}/{operation.name}/logs")
        return cls._of_output(operation.resource, operation.name)

    @classmethod
    def _of_output(cls, noun: str, name: str) -> Self:
        surface, key = _OUTPUTS.get(noun, (Surface.ANNOTATIONS, None))
        return cls(kind=noun, name=name, surface=surface, key=key)

    def __str__(self) -> str:
        segment = _BY_SURFACE[self.surface].segment
        return "/".join(part for part in (self.kind, self.name, segment, self.key) if part)


def _noun(kind: str) -> str:
    row = resource_type(kind)
    return row.noun if row else kind
