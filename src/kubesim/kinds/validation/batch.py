"""What the server refuses in jobs and cron jobs."""

from kubesim.bodies.go_text import go_quote
from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.apps import mismatch_causes, selector_value
from kubesim.kinds.validation.fields import (
    immutable,
    invalid,
    nonnegative,
    not_supported,
    required,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import (
    metadata_causes,
    metadata_update_causes,
    selector_causes,
)
from kubesim.kinds.validation.pods import pod_template_causes
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.kinds.validation.schedules import schedule_problem
from kubesim.selection import is_selector, selects
from kubesim.status import Cause, Json

_COUNTS = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
_CRON_JOB_NAME_LENGTH = 52
_TEMPLATE_LABELS = "spec.template.metadata.labels"
_GENERATED_LABELS = {"controller-uid", "job-name"}


def _job(row: Resource, obj: Json) -> list[Cause]:
    metadata = obj["metadata"]
    if {
        name.rpartition("/")[2] for name in metadata.get("labels") or ()
    } == _GENERATED_LABELS:  # the server copies them once everything is checked
        metadata = {**metadata, "labels": None}
    return [
        *metadata_causes(row, metadata),
        *_generated_selector_causes(obj),
        *_job_spec(obj.get("spec") or {}),
    ]


def _generated_selector_causes(obj: Json) -> list[Cause]:
    """The labels that tie a job to its pods, unless the user ties them."""
    spec, metadata = obj.get("spec") or {}, obj["metadata"]
    selector = spec.get("selector")
    if spec.get("manualSelector") or selector is None:
        return []
    expected = {"controller-uid": metadata.get("uid", ""), "job-name": metadata.get("name", "")}
    causes = [] if metadata.get("uid") else [required("metadata.uid")]
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    for key, value in expected.items():
        path, words = f"{_TEMPLATE_LABELS}[{key}]", f"must be '{value}'"
        if key not in (labels or {}):
            causes.append(required(path, words))
        elif (labels or {})[key] != value:
            causes.append(invalid(path, GoValue("map[string]string", labels), words))
    prefixed = {f"batch.kubernetes.io/{key}": value for key, value in expected.items()}
    if is_selector(selector) and not selects(selector, {**expected, **prefixed}):
        causes.append(invalid("spec.selector", selector_value(selector), "`selector` not auto-generated"))
    return causes


def _job_spec(spec: Json) -> list[Cause]:
    selector = spec.get("selector")
    causes = _template_spec_causes(spec, "spec")
    causes += [required("spec.selector")] if selector is None else selector_causes(selector, "spec.selector")
    return [*causes, *mismatch_causes(spec)] if selector is None or is_selector(selector) else causes


def _template_spec_causes(spec: Json, path: str) -> list[Cause]:
    """The rules for a job and for the job inside a cron job."""
    causes = [cause for name in _COUNTS for cause in nonnegative(f"{path}.{name}", spec.get(name))]
    template = spec.get("template") or {}
    causes += pod_template_causes(template, f"{path}.template")
    policy, place = (template.get("spec") or {}).get("restartPolicy", ""), f"{path}.template.spec.restartPolicy"
    if policy in {"Always", ""}:
        causes.append(required(place, f"valid values: {go_quote('OnFailure')}, {go_quote('Never')}"))
    elif policy not in {"OnFailure", "Never"}:
        causes.append(not_supported(place, policy, ["OnFailure", "Never"]))
    return causes


def _job_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    spec, given = new.get("spec") or {}, old.get("spec") or {}
    return [
        *_job(row, new),
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_job_spec(spec),
        *immutable("spec.completions", spec.get("completions"), given.get("completions")),
        *immutable("spec.selector", selector_value(spec.get("selector")), selector_value(given.get("selector"))),
        *immutable("spec.template", _template(spec), _template(given)),
    ]


def _template(spec: Json) -> GoValue:
    return GoValue("core.PodTemplateSpec", spec.get("template") or {})


def _job_status(_row: Resource, new: Json, old: Json) -> list[Cause]:
    status = new.get("status") or {}
    counts = [cause for name in ("active", "succeeded", "failed") for cause in
              nonnegative(f"status.{name}", status.get(name))]  # fmt: skip
    return [*metadata_update_causes(new["metadata"], old["metadata"]), *counts]


def _cron_job(row: Resource, obj: Json) -> list[Cause]:
    causes = [*metadata_causes(row, obj["metadata"]), *_cron_job_spec(obj.get("spec") or {})]
    name = obj["metadata"].get("name", "")
    if len(name.encode()) > _CRON_JOB_NAME_LENGTH:
        causes.append(invalid("metadata.name", name, "must be no more than 52 characters"))
    return causes


def _cron_job_spec(spec: Json) -> list[Cause]:
    schedule, policy = spec.get("schedule", ""), spec.get("concurrencyPolicy", "")
    causes = []
    if not schedule:
        causes.append(required("spec.schedule"))
    elif problem := schedule_problem(schedule):
        causes.append(invalid("spec.schedule", schedule, problem))
    causes += nonnegative("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    if not policy:
        causes.append(required("spec.concurrencyPolicy"))
    elif policy not in {"Allow", "Forbid", "Replace"}:
        causes.append(not_supported("spec.concurrencyPolicy", policy, ["Allow", "Forbid", "Replace"]))
    causes += _job_template_causes((spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec")
    for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        causes += nonnegative(f"spec.{name}", spec.get(name))
    return causes


def _job_template_causes(job: Json, path: str) -> list[Cause]:
    causes = _template_spec_causes(job, path)
    if job.get("selector") is not None:
        causes.append(invalid(f"{path}.selector", selector_value(job["selector"]), "`selector` will be auto-generated"))
    if job.get("manualSelector"):
        causes.append(not_supported(f"{path}.manualSelector", GoValue("bool", value=True), ["nil", "false"]))
    return causes


def _cron_job_update(_row: Resource, new: Json, old: Json) -> list[Cause]:
    return [*metadata_update_causes(new["metadata"], old["metadata"]), *_cron_job_spec(new.get("spec") or {})]


def _no_problems(_row: Resource, _new: Json, _old: Json) -> list[Cause]:
    """The status of a cron job is accepted unchecked."""
    return []


CREATION: dict[str, CreationRule] = {"job": _job, "cronjob": _cron_job}
UPDATE: dict[str, UpdateRule] = {
    "job": _job_update,
    "job/status": _job_status,
    "cronjob": _cron_job_update,
    "cronjob/status": _no_problems,
}
