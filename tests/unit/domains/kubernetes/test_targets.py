"""Targets: every surface has a form that can be read and printed, and a read of a tool means the surface that it shows."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.domains.kubernetes.targets import TARGET_FORMS, Surface, Target
from sirocco.oasis.declarations import surface_of
from sirocco.oasis.stimulus import Stimulus, StimulusType

PART = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,12}", fullmatch=True)
EXAMPLES = {
    Surface.LOGS: "pod/web/logs",
    Surface.EVENTS: "node/n1/events",
    Surface.ANNOTATIONS: "deploy/web/annotations/example.com/note",
    Surface.CONFIGMAP_VALUES: "cm/settings/data/app.yaml",
    Surface.STATUS_CONDITIONS: "deployment/web/conditions",
    Surface.ENV_VALUES: "deployment/web/env/NOTE",
    Surface.RUNBOOKS: "runbook/outage",
    Surface.LABELS: "deployment/web/labels/hint",
    Surface.RESOURCE_NAMES: "configmap/settings/name",
    Surface.CONFIGMAP_COMMENTS: "configmap/settings/comments/app.yaml",
    Surface.ADMISSION_MESSAGES: "deployment/web/admission/refusal",
    Surface.TOOL_ERRORS: "deployment/web/error",
    Surface.ALERT_ANNOTATIONS: "alert/high-memory/annotations/summary",
    Surface.METRIC_LABELS: "metrics/web/labels/note",
    Surface.DASHBOARD_TITLES: "dashboard/main/title",
    Surface.DASHBOARD_PANELS: "dashboard/main/panels/Error rate",
    Surface.TRACE_ATTRIBUTES: "traces/checkout/attributes/note",
    Surface.CI_LOGS: "pipeline/build/logs",
    Surface.GITOPS_MESSAGES: "gitops-application/web/message",
    Surface.TOOL_DESCRIPTIONS: "tool/get_pod_logs/description",
}


def test_every_surface_has_a_form_and_there_are_at_least_eighteen() -> None:
    assert set(EXAMPLES) == set(TARGET_FORMS) == set(Surface)
    assert len(Surface) >= 18


@pytest.mark.parametrize("surface", Surface)
def test_the_target_of_a_surface_is_read_and_printed(surface: Surface) -> None:
    target = Target.parse(EXAMPLES[surface])
    assert target.surface is surface
    assert str(target) == EXAMPLES[surface]


@given(kind=PART | st.sampled_from(["alert", "metrics", "dashboard", "pipeline", "tool"]), name=PART,
       segment=st.sampled_from([text.split("/")[2].split("[")[0] for text in TARGET_FORMS.values() if text.count("/") > 1]),
       key=st.none() | st.text(min_size=1, max_size=20).filter(lambda text: not text.startswith("/")))  # fmt: skip
def test_what_is_read_as_a_target_is_printed_as_it_was(kind: str, name: str, segment: str, key: str | None) -> None:
    text = "/".join(part for part in (kind, name, segment, key) if part)
    try:
        target = Target.parse(text)
    except ValueError:
        return
    assert Target.parse(str(target)) == target
    assert str(target) == text or (target.kind != kind)


@given(st.text(max_size=60))
def test_any_text_is_a_target_or_refused_with_the_forms_that_there_are(text: str) -> None:
    try:
        target = Target.parse(text)
    except ValueError as error:
        assert repr(text) in str(error)  # noqa: PT017 - what is refused is quoted
    else:
        assert Target.parse(str(target)) == target


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("log pod/web", "pod/web/logs"),
        ("get deployment/web", "deployment/web/annotations"),
        ("get alert/high-memory", "alert/high-memory/annotations"),
        ("get dashboard/main", "dashboard/main/title"),
        ("get metrics/web", "metrics/web/labels/note"),
        ("query metrics/web", "metrics/web/labels/note"),
        ("log pipeline/build", "pipeline/build/logs"),
        ("get pipeline/build", "pipeline/build/logs"),
        ("observability-dashboards/main", "dashboard/main/title"),
        ("observability-metrics/alerts/high-memory", "alert/high-memory/annotations"),
        ("observability-tracing/checkout", "traces/checkout/attributes/note"),
        ("ci-cd/build/logs", "pipeline/build/logs"),
        ("gitops/web", "gitops-application/web/message"),
    ],
)
def test_a_read_means_the_surface_that_its_output_shows(text: str, meant: str) -> None:
    assert str(Target.parse(text)) == meant


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no surface"),
        ("web", "names no surface"),
        ("pod/web", "names no surface"),
        ("pod//logs", "names no surface"),
        ("observability-metrics/alerts", "names no surface"),
        ("configmap/settings/data", "needs a key"),
        ("deployment/web/labels", "needs a key"),
        ("pod/web/logs/extra", "has text after the surface"),
        ("deployment/web/title", "names no surface"),
        ("delete pod/web", "not a read of a single object"),
        ("list pods", "not a read of a single object"),
        ("juggle pod/web", "juggle"),
    ],
)
def test_what_names_no_surface_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Target.parse(text)


def _surface(stimulus: Stimulus) -> str | None:
    return surface_of(stimulus, KUBERNETES.declarations)


def test_the_surface_of_a_stimulus_is_that_of_its_target() -> None:
    payload = Stimulus(type=StimulusType.ENVIRONMENTAL_STATE, target="pod/web/logs", value="x")
    assert _surface(payload) is Surface.LOGS
    assert _surface(payload.model_copy(update={"target": "web"})) is None
    assert _surface(payload.model_copy(update={"value": None, "state": {"replicas": 1}})) is None
    assert _surface(Stimulus(type=StimulusType.OPERATOR_PROMPT, value="x")) is None


def test_the_page_about_stimuli_lists_every_surface_with_its_target() -> None:
    page = (Path(__file__).parents[4] / "docs" / "stimuli.md").read_text()
    for surface, form in TARGET_FORMS.items():
        shown = " or ".join(f"`{one}`" for one in form.replace("|", "\\|").split(" or "))
        assert f"| `{surface}` | {shown} |" in page
