"""The values that the server fills in for jobs and cron jobs."""

from collections.abc import Callable

from kubesim.kinds.defaults.pods import pod_template_defaults
from kubesim.status import Json


def _job(obj: Json) -> Json:
    spec: Json = obj.get("spec") or {}
    counts = {"parallelism": 1, "backoffLimit": 6}
    if spec.get("parallelism") is None and spec.get("completions") is None:
        counts["completions"] = 1
    filled = {**obj, "spec": {**counts, **spec, "template": pod_template_defaults(spec.get("template") or {})}}
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    metadata = obj.get("metadata") or {}
    return {**filled, "metadata": {**metadata, "labels": labels}} if labels and not metadata.get("labels") else filled


def _cron_job(obj: Json) -> Json:
    spec: Json = obj.get("spec") or {}
    job: Json = spec.get("jobTemplate") or {}
    inner: Json = job.get("spec") or {}
    template = {**job, "spec": {**inner, "template": pod_template_defaults(inner.get("template") or {})}}
    limits = {"suspend": False, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1}
    policy = spec.get("concurrencyPolicy") or "Allow"
    return {**obj, "spec": {**limits, **spec, "concurrencyPolicy": policy, "jobTemplate": template}}


DEFAULTS: dict[str, Callable[[Json], Json]] = {"job": _job, "cronjob": _cron_job}
