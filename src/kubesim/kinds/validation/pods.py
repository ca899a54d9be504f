"""What the server refuses in pods and pod templates."""

from collections.abc import Mapping, Sequence

from kubesim.bodies.go_text import go_quote
from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.containers import (
    all_containers,
    containers_causes,
    ephemeral_containers_causes,
    image_space_causes,
    init_containers_causes,
)
from kubesim.kinds.validation.fields import (
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubesim.kinds.validation.go_comparison import semantically_equal
from kubesim.kinds.validation.go_difference import go_difference
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import (
    annotation_causes,
    label_causes,
    metadata_causes,
    metadata_update_causes,
)
from kubesim.kinds.validation.resources import requirements_causes
from kubesim.kinds.validation.scheduling import (
    added_toleration_causes,
    affinity_causes,
    spread_causes,
    toleration_causes,
)
from kubesim.kinds.validation.security import (
    APPARMOR_CONTAINER,
    apparmor_causes,
    pod_security_context_causes,
    seccomp_annotation_causes,
    seccomp_mismatch_causes,
)
from kubesim.kinds.validation.volumes import volumes_causes
from kubesim.names import (
    address,
    address_problems,
    dns_label_problems,
    dns_subdomain_problems,
    qualified_name_problems,
    range_words,
)
from kubesim.status import Cause, Json

_LARGEST = 2**31 - 1
_MIRROR = "kubernetes.io/config.mirror"
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_UPDATE_WORDS = (
    "pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, "
    "`spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)"
)


def pod_template_causes(template: Json, path: str) -> list[Cause]:
    """The pod template of a workload."""
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    annotations = metadata.get("annotations") or {}
    causes = [
        *label_causes(metadata.get("labels"), f"{path}.labels"),
        *annotation_causes(annotations, f"{path}.annotations"),
        *pod_annotation_causes(annotations, spec, f"{path}.annotations"),
        *pod_spec_causes(spec, f"{path}.spec"),
        *_seccomp_causes(annotations, spec, f"{path}.spec"),
    ]
    if spec.get("ephemeralContainers"):
        words = "ephemeral containers not allowed in pod template"
        causes.append(forbidden(f"{path}.spec.ephemeralContainers", words))
    return causes


def pod_spec_causes(spec: Json, path: str, pod_name: str = "", minor: int = 0) -> list[Cause]:
    """The spec of a pod or of a template, in the server's order."""
    normal, init = spec.get("containers") or (), spec.get("initContainers") or ()
    volumes, causes = volumes_causes(spec.get("volumes") or (), f"{path}.volumes", pod_name)
    causes += containers_causes(normal, volumes, f"{path}.containers")
    causes += init_containers_causes(init, normal, volumes, f"{path}.initContainers")
    causes += ephemeral_containers_causes(
        spec.get("ephemeralContainers") or (), [*normal, *init], volumes, f"{path}.ephemeralContainers", minor
    )
    causes += _one_of(spec.get("restartPolicy", ""), ("Always", "OnFailure", "Never"), f"{path}.restartPolicy")
    causes += _one_of(spec.get("dnsPolicy", ""), _DNS_POLICIES, f"{path}.dnsPolicy")
    causes += label_causes(spec.get("nodeSelector"), f"{path}.nodeSelector")
    causes += pod_security_context_causes(spec, path)
    causes += affinity_causes(spec.get("affinity"), f"{path}.affinity")
    causes += _dns_causes(spec, f"{path}.dnsConfig")
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        kind = gate.get("conditionType", "")
        place = f"{path}.readinessGates[{index}].conditionType"
        causes += all_invalid(place, kind, qualified_name_problems(kind))
    causes += spread_causes(spec.get("topologySpreadConstraints") or (), f"{path}.topologySpreadConstraints")
    return [*causes, *_simple_field_causes(spec, path)]


def _simple_field_causes(spec: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    for field in ("serviceAccountName", "nodeName"):
        if spec.get(field):
            causes += all_invalid(f"{path}.{field}", spec[field], dns_subdomain_problems(spec[field]))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _LARGEST:
        causes.append(invalid(f"{path}.activeDeadlineSeconds", deadline, range_words(1, _LARGEST)))
    for field in ("hostname", "subdomain"):
        if spec.get(field):
            causes += all_invalid(f"{path}.{field}", spec[field], dns_label_problems(spec[field]))
    causes += toleration_causes(spec.get("tolerations") or (), f"{path}.tolerations")
    for alias in spec.get("hostAliases") or ():
        if address(alias.get("ip", "")) is None:
            causes.append(invalid(f"{path}.hostAliases.ip", alias.get("ip", ""), "must be valid IP address"))
        for name in alias.get("hostnames") or ():
            causes += all_invalid(f"{path}.hostAliases.hostnames", name, dns_subdomain_problems(name))
    if spec.get("priorityClassName"):
        name = spec["priorityClassName"]
        causes += all_invalid(f"{path}.priorityClassName", name, dns_subdomain_problems(name))
    if "runtimeClassName" in spec:
        name = spec["runtimeClassName"]
        causes += all_invalid(f"{path}.runtimeClassName", name, dns_subdomain_problems(name))
    if "preemptionPolicy" in spec:
        known = ("PreemptLowerPriority", "Never")
        causes += _one_of(spec["preemptionPolicy"], known, f"{path}.preemptionPolicy")
    if "overhead" in spec:
        causes += requirements_causes({"limits": spec["overhead"]}, f"{path}.overhead")
    return causes


def _one_of(value: str, known: Sequence[str], path: str) -> list[Cause]:
    if value in known:
        return []
    return [not_supported(path, value, known) if value else required(path)]


def _dns_causes(spec: Json, path: str) -> list[Cause]:
    config: Json | None = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            words = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{path}.nameservers", words)]
    if config is None:
        return []
    causes = []
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > 3:
        causes.append(invalid(f"{path}.nameservers", servers, "must not have more than 3 nameservers"))
    for index, server in enumerate(servers):
        if address(server) is None:
            causes.append(invalid(f"{path}.nameservers[{index}]", server, "must be valid IP address"))
    if len(searches) > 6:
        causes.append(invalid(f"{path}.searches", searches, "must not have more than 6 search paths"))
    if len(" ".join(searches)) > 256:
        words = "must not have more than 256 characters (including spaces) in the search list"
        causes.append(invalid(f"{path}.searches", searches, words))
    for index, search in enumerate(searches):
        name = search.removesuffix(".")
        causes += all_invalid(f"{path}.searches[{index}]", name, dns_subdomain_problems(name))
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            causes.append(required(f"{path}.options[{index}]", "must not be empty"))
    return causes


def pod_annotation_causes(annotations: Mapping[str, str], spec: Json, path: str) -> list[Cause]:
    """Annotations that mean something for pods."""
    causes: list[Cause] = []
    if _MIRROR in annotations and not spec.get("nodeName"):
        words = "must set spec.nodeName if mirror pod annotation is set"
        causes.append(invalid(f"{path}[{_MIRROR}]", annotations[_MIRROR], words))
    names = [container.get("name", "") for container in all_containers(spec)]
    return [
        *causes,
        *seccomp_annotation_causes(dict(annotations), path),
        *apparmor_causes(dict(annotations), names, path),
    ]


def _seccomp_causes(annotations: Mapping[str, str], spec: Json, path: str) -> list[Cause]:
    placed = [
        (f"{path}.{field}[{index}]", container)
        for field in ("initContainers", "containers", "ephemeralContainers")
        for index, container in enumerate(spec.get(field) or ())
    ]
    return seccomp_mismatch_causes(dict(annotations), spec, placed)


def _metadata_and_spec_causes(row: Resource, pod: Json) -> list[Cause]:
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    causes = [
        *metadata_causes(row, metadata),
        *pod_annotation_causes(metadata.get("annotations") or {}, spec, "metadata.annotations"),
        *pod_spec_causes(spec, "spec", metadata.get("name", ""), row.minor),
    ]
    if not spec.get("serviceAccountName"):
        causes += [
            forbidden(
                f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken",
                "must not be specified when serviceAccountName is not set",
            )
            for index, volume in enumerate(spec.get("volumes") or ())
            for number, source in enumerate((volume.get("projected") or {}).get("sources") or ())
            if "serviceAccountToken" in source
        ]
    for field in ("containers", "initContainers"):
        causes += image_space_causes(spec.get(field) or (), f"spec.{field}")
    return causes


def pod_causes(row: Resource, pod: Json) -> list[Cause]:
    """A new pod."""
    spec = pod.get("spec") or {}
    causes = _metadata_and_spec_causes(row, pod)
    if spec.get("ephemeralContainers"):
        causes.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    return [*causes, *_seccomp_causes(pod["metadata"].get("annotations") or {}, spec, "spec")]


def pod_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a pod, whose spec is fixed except for images, the deadline and added tolerations."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    causes = [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_metadata_and_spec_causes(row, new),
        *_annotation_change_causes(new, old),
    ]
    for field in ("containers", "initContainers"):
        found, stop = _container_change_causes(spec.get(field) or (), before.get(field) or (), f"spec.{field}")
        causes += found
        if stop:
            return causes
    deadline, earlier = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if deadline is not None and not 0 <= deadline <= _LARGEST:
        return [*causes, invalid("spec.activeDeadlineSeconds", deadline, range_words(0, _LARGEST))]
    if deadline is not None and earlier is not None and earlier < deadline:
        words = "must be less than or equal to previous value"
        return [*causes, invalid("spec.activeDeadlineSeconds", deadline, words)]
    if deadline is None and earlier is not None:
        words = "must not update from a positive integer to nil value"
        causes.append(invalid("spec.activeDeadlineSeconds", None, words))
    causes += added_toleration_causes(
        spec.get("tolerations") or (), before.get("tolerations") or (), "spec.tolerations"
    )
    fixed = _fixed_part(spec, before)
    if not semantically_equal("core.PodSpec", fixed, before):
        causes.append(forbidden("spec", f"{_UPDATE_WORDS}\n{go_difference('core.PodSpec', fixed, before)}"))
    return causes


def _fixed_part(spec: Json, before: Json) -> Json:
    """`spec` with its mutable parts as they were before."""
    fixed = {key: value for key, value in spec.items() if key not in {"activeDeadlineSeconds", "tolerations"}}
    for field in ("containers", "initContainers"):
        if field in spec:
            olds = before.get(field) or ()
            fixed[field] = [
                {**{key: value for key, value in new.items() if key != "image"}, **_part(earlier, "image")}
                for new, earlier in zip(spec[field], olds, strict=True)
            ]
    return fixed | {key: before[key] for key in ("activeDeadlineSeconds", "tolerations") if key in before}


def _part(value: Json, key: str) -> Json:
    return {key: value[key]} if key in value else {}


def _container_change_causes(new: Sequence[Json], old: Sequence[Json], path: str) -> tuple[list[Cause], bool]:
    if len(new) != len(old):
        return [forbidden(path, "pod updates may not add or remove containers")], True
    causes: list[Cause] = []
    for index, container in enumerate(new):
        image = container.get("image", "")
        if not image:
            causes.append(required(f"{path}[{index}].image"))
        if image != image.strip():
            words = "must not have leading or trailing whitespace"
            causes.append(invalid(f"{path}[{index}].image", image, words))
    return causes, False


def _annotation_change_causes(new: Json, old: Json) -> list[Cause]:
    after, before = new["metadata"].get("annotations") or {}, old["metadata"].get("annotations") or {}
    causes = []
    for key, value in before.items():
        if after.get(key) == value:
            continue
        if key.startswith(APPARMOR_CONTAINER):
            causes.append(forbidden(f"metadata.annotations[{key}]", "may not remove or update AppArmor annotations"))
        if key == _MIRROR:
            causes.append(forbidden(f"metadata.annotations[{key}]", "may not remove or update mirror pod annotation"))
    for key in after:
        if key in before:
            continue
        if key.startswith(APPARMOR_CONTAINER):
            causes.append(forbidden(f"metadata.annotations[{key}]", "may not add AppArmor annotations"))
        if key == _MIRROR:
            causes.append(forbidden(f"metadata.annotations[{key}]", "may not add mirror pod annotation"))
    return [*causes, *pod_annotation_causes(after, new.get("spec") or {}, "metadata.annotations")]


def pod_status_causes(_: Resource, new: Json, old: Json) -> list[Cause]:
    """A change of a pod's status."""
    status, before = new.get("status") or {}, old.get("status") or {}
    causes = [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_annotation_change_causes(new, old),
        *_condition_causes(status.get("conditions") or ()),
    ]
    nominated = status.get("nominatedNodeName", "")
    if nominated and nominated != before.get("nominatedNodeName", ""):
        causes += all_invalid("status.nominatedNodeName", nominated, dns_subdomain_problems(nominated))
    policy = (old.get("spec") or {}).get("restartPolicy", "")
    for field in ("containerStatuses", "initContainerStatuses"):
        causes += _state_causes(status.get(field) or (), before.get(field) or (), policy, f"status.{field}")
    found = _address_causes(status)
    return [*causes, *found] if found and not _address_causes(before) else causes


def _condition_causes(conditions: Sequence[Json]) -> list[Cause]:
    return [
        invalid(f"metadata.conditions[{index}].Type", kind, problem)
        for index, condition in enumerate(conditions)
        if (kind := condition.get("type", "")) not in {"PodScheduled", "Ready", "Initialized"}
        for problem in qualified_name_problems(kind)
    ]


def _state_causes(new: Sequence[Json], old: Sequence[Json], policy: str, path: str) -> list[Cause]:
    """A terminated container stays terminated if nothing restarts it."""
    if policy == "Always":
        return []
    causes = []
    for index, earlier in enumerate(old):
        ended = (earlier.get("state") or {}).get("terminated")
        if ended is None or (ended.get("exitCode", 0) != 0 and policy == "OnFailure"):
            continue
        for later in new:
            if later.get("name") == earlier.get("name") and "terminated" not in (later.get("state") or {}):
                words = "may not be transitioned to non-terminated state"
                causes.append(forbidden(f"{path}[{index}].state", words))
    return causes


def _address_causes(status: Json) -> list[Cause]:
    given = status.get("podIPs") or []
    texts = [row.get("ip", "") for row in given]
    causes = []
    for index, text in enumerate(texts):
        causes += all_invalid(f"status.podIPs[{index}]", text, address_problems(text))
    if len(texts) < 2 or causes:
        return causes
    families = {found.version for text in texts if (found := address(text)) is not None}
    if len(families) < 2 or len(texts) > 2:
        words = "may specify no more than one IP for each IP family"
        causes.append(invalid("status.podIPs", GoValue("[]core.PodIP", given), words))
    for index, text in enumerate(texts):
        if text in texts[:index]:
            causes.append(duplicate(f"status.podIPs[{index}]", GoValue("core.PodIP", given[index])))
    return causes


def ephemeral_update_causes(row: Resource, new: Json, old: Json) -> list[Cause]:
    """Debug containers can be added to a pod, but never changed or removed."""
    spec, path = new.get("spec") or {}, "spec.ephemeralContainers"
    others = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes") or ()}
    given = spec.get("ephemeralContainers") or ()
    causes = ephemeral_containers_causes(given, others, volumes, path, row.minor)
    after = {container.get("name", ""): container for container in given}
    for earlier in (old.get("spec") or {}).get("ephemeralContainers") or ():
        name = earlier.get("name", "")
        if name not in after:
            causes.append(forbidden(path, f"existing ephemeral containers {go_quote(name)} may not be removed\n"))
        elif not semantically_equal("core.EphemeralContainer", earlier, after[name]):
            difference = go_difference("core.EphemeralContainer", earlier, after[name])
            words = f"existing ephemeral containers {go_quote(name)} may not be changed\n{difference}"
            causes.append(forbidden(path, words))
    return causes
