"""The types of apps, batch, autoscaling and policy as tables."""

from typing import Any

from kubesim.status import Json
from kubesim.tables.cells import (
    NONE,
    UNKNOWN,
    UNSET,
    age,
    containers,
    duration,
    has_condition,
    items,
    labels,
    mapping,
    moment,
    name_and_age,
    number,
    selector,
    selector_text,
    shorten_list,
    text,
    value_at,
)
from kubesim.tables.columns import (
    AGE,
    CONTAINERS,
    IMAGES,
    NAME,
    Cells,
    Column,
    Printer,
    View,
    wide_column,
)

_JOB_STATUS_SINCE = 31
_TIME_ZONES_SINCE = 29
_METRIC_NAMES_SINCE = 30
_SHOWN_METRICS = 2
_READY = Column("Ready", text="Number of the pod with ready state")


def _deployment(obj: Json, view: View) -> Cells:
    status = mapping(obj, "status")
    return {
        **name_and_age(obj, view),
        "Ready": f"{number(status, 'readyReplicas')}/{number(obj, 'spec', 'replicas')}",
        "Up-to-date": number(status, "updatedReplicas"),
        "Available": number(status, "availableReplicas"),
        **containers(value_at(obj, "spec", "template", "spec")),
        "Selector": selector_text(value_at(obj, "spec", "selector")),
    }


def _replica_set(obj: Json, view: View) -> Cells:
    return {
        **name_and_age(obj, view),
        "Desired": number(obj, "spec", "replicas"),
        "Current": number(obj, "status", "replicas"),
        "Ready": number(obj, "status", "readyReplicas"),
        **containers(value_at(obj, "spec", "template", "spec")),
        "Selector": selector(value_at(obj, "spec", "selector")),
    }


def _stateful_set(obj: Json, view: View) -> Cells:
    return {
        **name_and_age(obj, view),
        "Ready": f"{number(obj, 'status', 'readyReplicas')}/{number(obj, 'spec', 'replicas')}",
        **containers(value_at(obj, "spec", "template", "spec")),
    }


def _daemon_set(obj: Json, view: View) -> Cells:
    status, pod = mapping(obj, "status"), value_at(obj, "spec", "template", "spec")
    return {
        **name_and_age(obj, view),
        "Desired": number(status, "desiredNumberScheduled"),
        "Current": number(status, "currentNumberScheduled"),
        "Ready": number(status, "numberReady"),
        "Up-to-date": number(status, "updatedNumberScheduled"),
        "Available": number(status, "numberAvailable"),
        "Node Selector": labels(mapping(pod, "nodeSelector")),
        **containers(pod),
        "Selector": selector(value_at(obj, "spec", "selector")),
    }


def _controller_revision(obj: Json, view: View) -> Cells:
    owners = items(obj, "metadata", "ownerReferences")
    owner = next((item for item in owners if value_at(item, "controller")), None)
    group, _, _ = text(owner, "apiVersion").rpartition("/")
    kind = ".".join(part for part in (text(owner, "kind"), group) if part).lower()
    return {
        **name_and_age(obj, view),
        "Controller": f"{kind}/{text(owner, 'name')}" if owner else NONE,
        "Revision": number(obj, "revision"),
    }


def _job(obj: Json, view: View) -> Cells:
    spec, status = mapping(obj, "spec"), mapping(obj, "status")
    done = number(status, "succeeded")
    wanted, parallelism = value_at(spec, "completions"), number(spec, "parallelism")
    if wanted is not None:
        completions = f"{done}/{wanted}"
    else:
        completions = f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"
    return {
        **name_and_age(obj, view),
        "Status": _job_status(obj),
        "Completions": completions,
        "Duration": _job_duration(status, view),
        **containers(value_at(spec, "template", "spec")),
        "Selector": selector(value_at(spec, "selector")),
    }


def _job_status(job: Json) -> str:
    for condition in ("Complete", "Failed"):
        if has_condition(job, condition):
            return condition
    if value_at(job, "metadata", "deletionTimestamp"):
        return "Terminating"
    return next((name for name in ("Suspended", "FailureTarget") if has_condition(job, name)), "Running")


def _job_duration(status: Any, view: View) -> str:
    started, ended = moment(value_at(status, "startTime")), moment(value_at(status, "completionTime"))
    return duration(((ended or view.now) - started).total_seconds()) if started else ""


def _cron_job(obj: Json, view: View) -> Cells:
    spec, last = mapping(obj, "spec"), value_at(obj, "status", "lastScheduleTime")
    job = mapping(spec, "jobTemplate", "spec")
    suspended = value_at(spec, "suspend")
    return {
        **name_and_age(obj, view),
        "Schedule": text(spec, "schedule"),
        "Timezone": text(spec, "timeZone") or NONE,
        "Suspend": UNSET if suspended is None else str(bool(suspended)),
        "Active": len(items(obj, "status", "active")),
        "Last Schedule": age(last, view) if last else NONE,
        **containers(value_at(job, "template", "spec")),
        "Selector": selector(value_at(job, "selector")),
    }


def _autoscaler(obj: Json, view: View) -> Cells:
    spec, target = mapping(obj, "spec"), mapping(obj, "spec", "scaleTargetRef")
    least = value_at(spec, "minReplicas")
    return {
        **name_and_age(obj, view),
        "Reference": f"{text(target, 'kind')}/{text(target, 'name')}",
        "Targets": _targets(items(spec, "metrics"), items(obj, "status", "currentMetrics"), view),
        "MinPods": UNSET if least is None else str(least),
        "MaxPods": number(spec, "maxReplicas"),
        "Replicas": number(obj, "status", "currentReplicas"),
    }


def _targets(metrics: list[Any], statuses: list[Any], view: View) -> str:
    phrases = [_target(metric, statuses[index] if index < len(statuses) else None, view)
               for index, metric in enumerate(metrics)]  # fmt: skip
    return shorten_list(phrases, _SHOWN_METRICS, ", ") if phrases else NONE


def _target(metric: Any, status: Any, view: View) -> str:
    kind = text(metric, "type")
    source = kind[:1].lower() + kind[1:]
    wanted, current = mapping(metric, source, "target"), mapping(status, source, "current")
    if kind in {"Resource", "ContainerResource"}:
        name = f"{text(metric, source, 'name')}: " if view.minor >= _METRIC_NAMES_SINCE else ""
        if value_at(wanted, "averageValue") is not None:
            return f"{name}{_amount(current, 'averageValue')}/{text(wanted, 'averageValue')}"
        percent = value_at(wanted, "averageUtilization")
        used = value_at(current, "averageUtilization")
        now = UNKNOWN if used is None else f"{used}%"
        return f"{name}{now}/{'<auto>' if percent is None else f'{percent}%'}"
    if kind == "Pods":
        return f"{_amount(current, 'averageValue')}/{text(wanted, 'averageValue')}"
    if kind in {"External", "Object"}:
        if value_at(wanted, "averageValue") is not None:
            return f"{_amount(current, 'averageValue')}/{text(wanted, 'averageValue')} (avg)"
        return f"{_amount(current, 'value')}/{text(wanted, 'value')}"
    return "<unknown type>"


def _amount(current: Any, name: str) -> str:
    found = value_at(current, name)
    return UNKNOWN if found is None else str(found)


def _disruption_budget(obj: Json, view: View) -> Cells:
    least, most = value_at(obj, "spec", "minAvailable"), value_at(obj, "spec", "maxUnavailable")
    return {
        **name_and_age(obj, view),
        "Min Available": "N/A" if least is None else str(least),
        "Max Unavailable": "N/A" if most is None else str(most),
        "Allowed Disruptions": number(obj, "status", "disruptionsAllowed"),
    }


def _security_policy(obj: Json, _: View) -> Cells:
    spec = mapping(obj, "spec")
    return {
        "Name": text(obj, "metadata", "name"),
        "Priv": "true" if value_at(spec, "privileged") else "false",
        "Caps": ",".join(map(str, items(spec, "allowedCapabilities"))),
        "SELinux": text(spec, "seLinux", "rule"),
        "RunAsUser": text(spec, "runAsUser", "rule"),
        "FsGroup": text(spec, "fsGroup", "rule"),
        "SupGroup": text(spec, "supplementalGroups", "rule"),
        "ReadOnlyRootFs": bool(value_at(spec, "readOnlyRootFilesystem")),
        "Volumes": ",".join(map(str, items(spec, "volumes"))),
    }


def _template(selector_of: str) -> tuple[Column, ...]:
    return (wide_column(CONTAINERS), wide_column(IMAGES), wide_column(Column("Selector", of=selector_of)))


PRINTERS = {
    "deployment": Printer(
        (
            NAME,
            _READY,
            Column("Up-to-date", of="apps.v1.DeploymentStatus/updatedReplicas"),
            Column("Available", of="apps.v1.DeploymentStatus/availableReplicas"),
            AGE,
            *_template("apps.v1.DeploymentSpec/selector"),
        ),
        _deployment,
    ),
    "replicaset": Printer(
        (
            NAME,
            Column("Desired", "integer", of="apps.v1.ReplicaSetSpec/replicas"),
            Column("Current", "integer", of="apps.v1.ReplicaSetStatus/replicas"),
            Column("Ready", "integer", of="apps.v1.ReplicaSetStatus/readyReplicas"),
            AGE,
            *_template("apps.v1.ReplicaSetSpec/selector"),
        ),
        _replica_set,
    ),
    "statefulset": Printer((NAME, _READY, AGE, wide_column(CONTAINERS), wide_column(IMAGES)), _stateful_set),
    "daemonset": Printer(
        (
            NAME,
            Column("Desired", "integer", of="apps.v1.DaemonSetStatus/desiredNumberScheduled"),
            Column("Current", "integer", of="apps.v1.DaemonSetStatus/currentNumberScheduled"),
            Column("Ready", "integer", of="apps.v1.DaemonSetStatus/numberReady"),
            Column("Up-to-date", "integer", of="apps.v1.DaemonSetStatus/updatedNumberScheduled"),
            Column("Available", "integer", of="apps.v1.DaemonSetStatus/numberAvailable"),
            Column("Node Selector", of="core.v1.PodSpec/nodeSelector"),
            AGE,
            *_template("apps.v1.DaemonSetSpec/selector"),
        ),
        _daemon_set,
    ),
    "controllerrevisions.apps": Printer(
        (
            NAME,
            Column("Controller", text="Controller of the object"),
            Column("Revision", of="apps.v1.ControllerRevision/revision"),
            AGE,
        ),
        _controller_revision,
    ),
    "job": Printer(
        (
            NAME,
            Column("Status", text="Status of the job.", since=_JOB_STATUS_SINCE),
            Column("Completions", of="batch.v1.JobStatus/succeeded"),
            Column("Duration", text="Time required to complete the job."),
            AGE,
            *_template("batch.v1.JobSpec/selector"),
        ),
        _job,
    ),
    "cronjob": Printer(
        (
            NAME,
            Column("Schedule", of="batch.v1.CronJobSpec/schedule"),
            Column("Timezone", of="batch.v1.CronJobSpec/timeZone", since=_TIME_ZONES_SINCE),
            Column("Suspend", "boolean", of="batch.v1.CronJobSpec/suspend"),
            Column("Active", "integer", of="batch.v1.CronJobStatus/active"),
            Column("Last Schedule", of="batch.v1.CronJobStatus/lastScheduleTime"),
            AGE,
            *_template("batch.v1.JobSpec/selector"),
        ),
        _cron_job,
    ),
    "hpa": Printer(
        (
            NAME,
            Column("Reference", of="autoscaling.v2.HorizontalPodAutoscalerSpec/scaleTargetRef"),
            Column("Targets", of="autoscaling.v2.HorizontalPodAutoscalerSpec/metrics"),
            Column("MinPods", of="autoscaling.v2.HorizontalPodAutoscalerSpec/minReplicas"),
            Column("MaxPods", of="autoscaling.v2.HorizontalPodAutoscalerSpec/maxReplicas"),
            Column("Replicas", of="autoscaling.v2.HorizontalPodAutoscalerStatus/currentReplicas"),
            AGE,
        ),
        _autoscaler,
    ),
    "pdb": Printer(
        (
            NAME,
            Column("Min Available", text="The minimum number of pods that must be available."),
            Column("Max Unavailable", text="The maximum number of pods that may be unavailable."),
            Column("Allowed Disruptions", "integer",
                   text="Calculated number of pods that may be disrupted at this time."),
            AGE,
        ),
        _disruption_budget,
    ),
    "podsecuritypolicies.policy": Printer(
        (
            NAME,
            Column("Priv", of="policy.v1beta1.PodSecurityPolicySpec/privileged"),
            Column("Caps", of="policy.v1beta1.PodSecurityPolicySpec/allowedCapabilities"),
            Column("SELinux", of="policy.v1beta1.PodSecurityPolicySpec/seLinux"),
            Column("RunAsUser", of="policy.v1beta1.PodSecurityPolicySpec/runAsUser"),
            Column("FsGroup", of="policy.v1beta1.PodSecurityPolicySpec/fsGroup"),
            Column("SupGroup", of="policy.v1beta1.PodSecurityPolicySpec/supplementalGroups"),
            Column("ReadOnlyRootFs", of="policy.v1beta1.PodSecurityPolicySpec/readOnlyRootFilesystem"),
            Column("Volumes", of="policy.v1beta1.PodSecurityPolicySpec/volumes"),
        ),
        _security_policy,
    ),
}  # fmt: skip
