"""What a write may change in jobs and cron jobs."""

from kubesim.kinds.strategy.steps import Creation, Update, creation_step, only_status, update_step
from kubesim.status import Json

JOB_NAME, CONTROLLER_UID = "job-name", "controller-uid"
_DOMAIN = "batch.kubernetes.io/"


def _created_job(obj: Json) -> Json:
    """A job is tied to its pods by its own uid, unless the user ties them manually."""
    fresh = {**obj, "status": {}}
    spec: Json = obj.get("spec") or {}
    if spec.get("manualSelector"):
        return fresh
    metadata, template = obj["metadata"], spec.get("template") or {}
    pod_metadata, selector = template.get("metadata") or {}, spec.get("selector") or {}
    uid = metadata.get("uid", "")
    given = pod_metadata.get("labels")
    labels = {JOB_NAME: metadata.get("name", ""), CONTROLLER_UID: uid, **(given or {})}
    chosen = {CONTROLLER_UID: uid, **(selector.get("matchLabels") or {})}
    tied = {
        **spec,
        "selector": {**selector, "matchLabels": chosen},
        "template": {**template, "metadata": {**pod_metadata, "labels": labels}},
    }
    # A job without labels got those of its template as a default: the very same map, which the server adds to.
    shared = metadata.get("labels") is given if given else not metadata.get("labels")
    return {**fresh, "spec": tied, "metadata": {**metadata, "labels": labels} if shared else metadata}


def with_prefixed_labels(obj: Json) -> Json:
    """A new job of a release that ties jobs to pods by labels in its own domain, in addition to the older ones."""
    spec: Json = obj.get("spec") or {}
    if spec.get("manualSelector"):
        return obj
    template, metadata = spec["template"], obj["metadata"]
    added = {f"{_DOMAIN}{CONTROLLER_UID}": metadata.get("uid", ""), f"{_DOMAIN}{JOB_NAME}": metadata.get("name", "")}
    labels = {**added, **template["metadata"]["labels"]}
    selector = {name: value for name, value in spec["selector"]["matchLabels"].items() if name != CONTROLLER_UID}
    tied = {
        **spec,
        "selector": {
            **spec["selector"],
            "matchLabels": {f"{_DOMAIN}{CONTROLLER_UID}": metadata.get("uid", ""), **selector},
        },
        "template": {**template, "metadata": {**template["metadata"], "labels": labels}},
    }
    shared = metadata.get("labels") == template["metadata"]["labels"]
    return {**obj, "spec": tied, "metadata": {**metadata, "labels": labels} if shared else metadata}


CREATION: dict[str, Creation] = {"job": _created_job, "cronjob": creation_step(status={}, counted=False)}
UPDATE: dict[str, Update] = {
    "job": update_step(counted=False),
    "job/status": only_status,
    "cronjob": update_step(counted=False),
    "cronjob/status": only_status,
}
