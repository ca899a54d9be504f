"""What current servers refuse that the oldest recorded one accepts, and how they word what both refuse.

Each rule follows a recorded server of release 1.34 (tests/data/kube-apiserver).
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from zoneinfo import available_timezones

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import forbidden, invalid, json_text, not_supported, too_long, too_many, value_text
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.quality import qos_class
from kubesim.kinds.validation.scheduling import EMPTY_VALUE_WORDS
from kubesim.kinds.validation.security import SYSCTL
from kubesim.names import DNS_LABEL_WORDS, dns_subdomain_problems
from kubesim.resource import WORKLOADS
from kubesim.status import NOTHING_QUOTED, Cause, Json

SINCE = 34
"""The release of the recordings; the behaviour of those in between is not known."""
_NAME_PART = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_NAME_WORDS = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_INIT_ONLY_ALWAYS = "may not be set for init containers without restartPolicy=Always"
_ZONE_WORDS = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ONCE_POD = 'Unsupported value: "ReadWriteOncePod"'
_ONCE_POD_SINCE = 27
"""The first release in which the mode needs no further permission."""
_RESIZABLE = ("cpu", "memory")
_LEVEL = re.compile(r"pod-security\.kubernetes\.io/(?:enforce|warn|audit)")
_LEVELS = ("privileged", "baseline", "restricted")
_OLD_POD_CHANGES = (
    "`spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` "
    "(only additions to existing tolerations)"
)
_ANY_VARIABLE_SINCE = 32
"""The first release in which environment variables may have almost any name."""
_VARIABLE = re.compile(r"\.env\[\d+\]\.name$")
_VARIABLE_WORDS = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_TOO_LONG = re.compile(r" in body should be at most (\d+) chars long$")
_TOO_MANY = re.compile(r" in body should have at most (\d+) items$")
_LIMIT = re.compile(r"(?<= limit) of \S+$")
_RECENT_SETTING = SYSCTL.replace(r"\.)*", r"[\./])*")
_SET_CHANGES = (
    "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
    "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'"
)
_POD_CHANGES = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def recent_creation_causes(resource: Resource, obj: Json) -> list[Cause]:
    """What else a current server refuses in a new object."""
    if resource.minor < SINCE:
        return []
    rule = _RULES.get(resource.noun)
    causes = [*rule(obj.get("spec") or {})] if rule else []
    if resource.noun in WORKLOADS and resource.noun != "pod":
        template = (obj.get("spec") or {}).get("template") or {}
        causes += _pod(template.get("spec") or {}, "spec.template.spec")
    if resource.noun == "namespace":
        causes += _security_levels(obj["metadata"].get("labels") or {})
    return causes


def recent_update_causes(resource: Resource, new: Json, old: Json, subresource: str) -> list[Cause]:
    """What else a current server refuses in a change."""
    if resource.minor < SINCE:
        return []
    if resource.noun == "pod" and subresource == "resize":
        return [*_resize(new.get("spec") or {}, old.get("spec") or {})]
    if subresource:
        return []
    if resource.noun == "pod":
        return [*_pod_change(new.get("spec") or {}, old.get("spec") or {})]
    return recent_creation_causes(resource, new)


def reworded(minor: int, causes: Sequence[Cause]) -> list[Cause]:
    """Causes as a release words them, without those that it does not object to."""
    if minor >= _ONCE_POD_SINCE:
        causes = [cause for cause in causes if not cause.message.startswith(_ONCE_POD)]
    if minor >= _ANY_VARIABLE_SINCE:
        causes = [cause for cause in causes if not (_VARIABLE.search(cause.field) and _is_variable(cause.refused))]
    if minor < SINCE:
        return [replace(cause, message=_LIMIT.sub("", cause.message)) for cause in causes]
    long = {cause.field for cause in causes if _TOO_LONG.search(cause.message)}  # nothing more is said about these
    return [
        _reworded(cause)
        for cause in causes
        if not _is_accepted(cause) and not (cause.field in long and " in body should match " in cause.message)
    ]


def _is_variable(name: object) -> bool:
    return isinstance(name, str) and name.isascii() and name.isprintable() and "=" not in name


def _is_accepted(cause: Cause) -> bool:
    """Whether what the oldest release refuses is accepted today, or is refused for another reason."""
    if cause.message.endswith(SYSCTL):
        return re.fullmatch(_RECENT_SETTING, str(cause.refused)) is not None
    return "xactly 5 fields" in cause.message and "TZ=" in str(cause.refused)


def _reworded(cause: Cause) -> Cause:
    message, refused = cause.message, cause.refused
    if message.endswith("must not be set for init containers"):
        return forbidden(cause.field, _INIT_ONLY_ALWAYS)
    if message.endswith(DNS_LABEL_WORDS) and not dns_subdomain_problems(str(refused)):
        return invalid(cause.field, refused, "must not contain dots")
    if message.endswith(EMPTY_VALUE_WORDS) and isinstance(refused, GoValue):
        return invalid(cause.field, refused.value["value"], EMPTY_VALUE_WORDS)
    if _VARIABLE.search(cause.field) and isinstance(refused, str):
        return invalid(cause.field, refused, _VARIABLE_WORDS)
    if found := _TOO_LONG.search(message):
        return too_long(cause.field, int(found[1]), "may not be more than")
    if found := _TOO_MANY.search(message):
        return too_many(cause.field, len(refused) if isinstance(refused, list) else 0, int(found[1]))
    if " in body must be of type " in message:
        cause = replace(cause, reason="FieldValueTypeInvalid")
    if refused is not NOTHING_QUOTED:
        message = message.replace(value_text(refused), json_text(refused), 1)
    for pattern, written in _AS_JSON:
        message = pattern.sub(written, message)
    for old, new in _WORDS:
        message = message.replace(old, new)
    return replace(cause, message=message, field=cause.field.replace("data[%s]", "data"))


def _listed(found: "re.Match[str]") -> str:
    return json.dumps(json.loads(f"[{found[1]}]"), separators=(",", ":"), ensure_ascii=False)


_AS_JSON: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str] | str], ...] = (
    (re.compile(r"(?<=: )\[\]string\{((?:\"(?:[^\"\\]|\\.)*\"(?:, )?)*)\}"), _listed),
    (re.compile(r"(?<=: )0x0(?=:)"), "0"),
    (re.compile(r"(?<=: )\"null\"(?=: exactly)"), "null"),
    (re.compile(r"Too long: must have at most (\d+) bytes"), r"Too long: may not be more than \1 bytes"),
    (re.compile(r"Expected exactly 5 fields, found (\d+): (.*)$"), r"expected exactly 5 fields, found \1: [\2]"),
    (re.compile(r"not a valid CIDR$"), "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
)  # fmt: skip
"""The earlier text of values that are now written as JSON."""
_WORDS = (
    ("must to greater or equal than 0", "must be greater than or equal to 0"),
    ("loopback range (127.0.0.0/8)", "loopback range (127.0.0.0/8, ::1/128)"),
    (_OLD_POD_CHANGES, _POD_CHANGES),
    ("'replicas', 'template', and 'updateStrategy' are", f"{_SET_CHANGES} are"),
    (SYSCTL, f"^{_RECENT_SETTING}$"),
)  # fmt: skip


def _one_of(path: str, value: object, known: Sequence[str]) -> Iterator[Cause]:
    if value is not None and value not in known:
        yield not_supported(path, value, known)


def _pod(spec: Json, path: str = "spec") -> Iterator[Cause]:
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        if not _NAME_PART.fullmatch(str(gate.get("name", "")).rpartition("/")[2]):
            yield invalid(f"{path}.schedulingGates[{index}]", gate.get("name", ""), _NAME_WORDS)
    system = (spec.get("os") or {}).get("name")
    yield from _one_of(f"{path}.os", system, ("linux", "windows"))
    security = spec.get("securityContext") or {}
    if system == "windows":
        for field in ("runAsUser", "runAsGroup", "fsGroup", "seLinuxOptions", "seccompProfile", "sysctls"):
            if field in security:
                yield forbidden(f"{path}.securityContext.{field}", "cannot be set for a windows pod")
    if spec.get("hostUsers") is False:
        for field in ("hostNetwork", "hostPID", "hostIPC"):
            if spec.get(field):
                yield forbidden(f"{path}.{field}", "when `hostUsers` is false")
    profile = security.get("appArmorProfile") or {}
    known = ("Localhost", "RuntimeDefault", "Unconfined")
    yield from _one_of(f"{path}.securityContext.appArmorProfile.type", profile.get("type"), known)
    groups = security.get("supplementalGroupsPolicy")
    yield from _one_of(f"{path}.securityContext.supplementalGroupsPolicy", groups, ("Merge", "Strict"))
    for field in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(field) or ()):
            yield from _container(container, f"{path}.{field}[{index}]", spec)


def _container(container: Json, path: str, spec: Json) -> Iterator[Cause]:
    for name in _PROBES:
        probe = container.get(name) or {}
        given = [handler for handler in _HANDLERS if probe.get(handler) is not None]
        if len(given) > 1 and given[-1] == "grpc":
            yield forbidden(f"{path}.{name}.grpc", "may not specify more than 1 handler type")
        grace = probe.get("terminationGracePeriodSeconds")
        if name == "readinessProbe" and grace is not None:
            place = f"{path}.{name}.terminationGracePeriodSeconds"
            yield invalid(place, grace, "must not be set for readinessProbes")
    grace = spec.get("terminationGracePeriodSeconds", 30)
    for name in ("postStart", "preStop"):
        seconds = (((container.get("lifecycle") or {}).get(name) or {}).get("sleep") or {}).get("seconds")
        if seconds is not None and not 0 <= seconds <= grace:
            words = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
            yield invalid(f"{path}.lifecycle.{name}.sleep", seconds, words)
    for mount in container.get("volumeMounts") or ():
        if mount.get("recursiveReadOnly", "Disabled") != "Disabled" and not mount.get("readOnly"):
            yield forbidden(f"{path}.volumeMounts.recursiveReadOnly", "may only be specified when readOnly is true")
    for policy in container.get("resizePolicy") or ():
        yield from _one_of(f"{path}.resizePolicy", policy.get("resourceName"), _RESIZABLE)
        yield from _one_of(f"{path}.resizePolicy", policy.get("restartPolicy"), ("NotRequired", "RestartContainer"))


def _pod_change(new: Json, old: Json) -> Iterator[Cause]:
    known = {gate.get("name") for gate in old.get("schedulingGates") or ()}
    for index, gate in enumerate(new.get("schedulingGates") or ()):
        if gate.get("name") not in known:
            words = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", words)


def _resize(new: Json, old: Json) -> Iterator[Cause]:
    before = qos_class(old)
    if qos_class(new) != before:
        yield invalid("spec", before, "Pod QOS Class may not change as a result of resizing")
    others = False
    for index, (one, other) in enumerate(zip(new.get("containers") or (), old.get("containers") or (), strict=False)):
        for part in ("requests", "limits"):
            now, earlier = ((each.get("resources") or {}).get(part) or {} for each in (one, other))
            if set(earlier) & set(_RESIZABLE) - set(now):
                words = f"resource {part} cannot be removed"
                yield forbidden(f"spec.containers[{index}].resources.{part}", words)
            others |= any(now.get(name) != earlier.get(name) for name in {*now, *earlier} - set(_RESIZABLE))
        others |= any(one.get(key) != other.get(key) for key in {*one, *other} - {"resources", "image"})
    if others:
        yield forbidden("spec", "only cpu and memory resources are mutable")


def _job(spec: Json, path: str = "spec") -> Iterator[Cause]:
    is_indexed = spec.get("completionMode") == "Indexed"
    limit = spec.get("backoffLimitPerIndex")
    if limit is not None and not is_indexed:
        yield invalid(f"{path}.backoffLimitPerIndex", limit, "requires indexed completion mode")
    for index, rule in enumerate((spec.get("podFailurePolicy") or {}).get("rules") or ()):
        place = f"{path}.podFailurePolicy.rules[{index}]"
        if rule.get("action") == "FailIndex" and limit is None:
            yield invalid(f"{place}.action", "FailIndex", "requires the backoffLimitPerIndex to be set")
        codes = rule.get("onExitCodes") or {}
        for number, code in enumerate(codes.get("values") or ()):
            if code == 0 and codes.get("operator") == "In":
                yield invalid(f"{place}.onExitCodes.values[{number}]", 0, "must not be 0 for the In operator")
    if (policy := spec.get("successPolicy")) is not None and not is_indexed:
        rules = [
            {"SucceededIndexes": rule.get("succeededIndexes"), "SucceededCount": rule.get("succeededCount")}
            for rule in policy.get("rules") or ()
        ]
        shown = json.dumps({"Rules": rules}, separators=(",", ":"))
        words = f"Invalid value: {shown}: requires indexed completion mode"
        yield Cause("FieldValueInvalid", words, f"{path}.successPolicy")
    replacement = spec.get("podReplacementPolicy")
    yield from _one_of(f"{path}.podReplacementPolicy", replacement, ("Failed", "TerminatingOrFailed"))


def _cron_job(spec: Json) -> Iterator[Cause]:
    schedule, zone = spec.get("schedule"), spec.get("timeZone")
    if "TZ" in str(schedule):
        yield invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
    if zone is None:
        return
    if zone.lower() == "local":
        yield invalid("spec.timeZone", zone, _ZONE_WORDS)
    elif zone not in available_timezones():
        yield invalid("spec.timeZone", zone, f"unknown time zone {zone}")


def _service(spec: Json) -> Iterator[Cause]:
    if spec.get("loadBalancerClass") and spec.get("type") != "LoadBalancer":
        yield forbidden("spec.loadBalancerClass", "may only be used when `type` is 'LoadBalancer'")
    if spec.get("ipFamilyPolicy") == "RequireDualStack":
        words = "this cluster is not configured for dual-stack services"
        yield invalid("spec.ipFamilyPolicy", "RequireDualStack", words)
    yield from _one_of("spec.internalTrafficPolicy", spec.get("internalTrafficPolicy"), ("Cluster", "Local"))
    yield from _one_of("spec.trafficDistribution", spec.get("trafficDistribution"), _DISTRIBUTIONS)


def _fence(spec: Json) -> Iterator[Cause]:
    for way in ("ingress", "egress"):
        for index, rule in enumerate(spec.get(way) or ()):
            for number, port in enumerate(rule.get("ports") or ()):
                first, last = port.get("port"), port.get("endPort")
                if isinstance(first, int) and last is not None and last < first:
                    place = f"spec.{way}[{index}].ports[{number}].endPort"
                    yield invalid(place, first, "must be greater than or equal to `port`")


def _daemon_set(spec: Json) -> Iterator[Cause]:
    rolling = ((spec.get("updateStrategy") or {}).get("rollingUpdate")) or {}
    surge, missing = rolling.get("maxSurge"), rolling.get("maxUnavailable")
    if surge not in {None, 0, "0%"} and missing not in {None, 0, "0%"}:
        place = "spec.updateStrategy.rollingUpdate.maxSurge"
        yield invalid(place, surge, "may not be set when maxUnavailable is non-zero")


def _stateful_set(spec: Json) -> Iterator[Cause]:
    start = (spec.get("ordinals") or {}).get("start", 0)
    if start < 0:
        yield invalid("spec.ordinals.start", start, "must be greater than or equal to 0")


def _budget(spec: Json) -> Iterator[Cause]:
    known = ("AlwaysAllow", "IfHealthyBudget")
    yield from _one_of("spec.unhealthyPodEvictionPolicy", spec.get("unhealthyPodEvictionPolicy"), known)


def _claim(spec: Json) -> Iterator[Cause]:
    modes = spec.get("accessModes") or ()
    for mode in modes:
        yield from _one_of("spec.accessModes", mode, _MODES)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes")


def _security_levels(labels: Mapping[str, str]) -> Iterator[Cause]:
    for name, level in labels.items():
        if _LEVEL.fullmatch(name) and level not in _LEVELS:
            yield invalid(f"metadata.labels[{name}]", level, f"must be one of {', '.join(_LEVELS)}")


_RULES: Mapping[str, Callable[[Json], Iterator[Cause]]] = {
    "pod": _pod, "job": _job, "cronjob": _cron_job, "service": _service, "networkpolicy": _fence,
    "daemonset": _daemon_set, "statefulset": _stateful_set, "pdb": _budget, "pvc": _claim,
}  # fmt: skip
