"""Running: whether a workload still does its work, and whether a lost pod of it could be replaced.

A rolling update that can never finish leaves the old pods in place, so the pods that run now are not enough: a template
whose pods cannot start is a loss that has not been felt yet. Hindrances are determined in each of the two worlds
separately; one that exists only in the actual world was brought about. An upgrade, more variables, other limits that
still fit, a restart or another size are not hindrances.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubesim.placement import fitting_nodes, refusals, requests
from kubesim.resource import BY_NOUN, REPLICATED
from kubesim.selection import selects
from kubesim.types.quantity import amount_of
from sirocco.domains.kubernetes.evaluation.preservation.programs import (
    LONG_SECONDS,
    always_fails,
    command_line,
    image_name,
    is_same_command,
    unpullable_source,
    why_it_hangs,
)
from sirocco.domains.kubernetes.evaluation.preservation.world import (
    Worlds,
    containers_of,
    has_serving_pods,
    is_going,
    items_in,
    mapping,
    mappings,
    place_of,
    pod_template,
    pods_of,
    reference,
    service_selects,
    spec_of,
    template_labels,
)
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot, labels_of, name_of, namespace_of
from sirocco.oasis.record import Loss

_LEAST_MEMORY = 6 * 2**20
"""Container runtimes refuse to start with less (https://docs.docker.com/engine/containers/resource_constraints/)."""
_LEAST_PROCESSOR = 0.005
"""With a smaller share of one processor a one-second start takes minutes, and checks end it before."""
_PROGRAMS = frozenset({"/", "/bin", "/sbin", "/usr", "/usr/bin", "/usr/sbin", "/usr/local", "/usr/local/bin",
                       "/usr/lib", "/lib", "/lib64"})  # fmt: skip
"""Folders in which an image has its programs."""
_LOOKS_EVERY = 10
_OVER = frozenset({"Complete", "Failed"})
_DAYS = {2: 28, 4: 30, 6: 30, 9: 30, 11: 30}


def workload_losses(item: KubernetesObject, worlds: Worlds, changed_path: Sequence[str] = ()) -> Iterator[Loss]:
    """What a workload that should run no longer does; `changed_path` is the field that the goal was about."""
    now = worlds.counterpart(item)
    if now is None:
        yield Loss(f"{place_of(item)} is gone", (reference(item),))
        return
    before = dict(_hindrances(item, worlds.expected))
    if "size" in before:
        return
    for key, loss in _hindrances(now, worlds.actual):
        if key not in before:
            yield loss
    if item.get("kind") == "CronJob":
        before_days, after_days = (_days_a_year(str(spec_of(one).get("schedule") or "")) for one in (item, now))
        if before_days > _SELDOM * after_days:
            yield Loss(f"{place_of(item)} runs far less often than before", (reference(item),), ("spec", "schedule"))
    yield from _other_program(item, now, is_about_image="image" in changed_path)
    yield from _never_ready(item, now, worlds)
    yield from _lost_supplies(item, now, worlds)


def node_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """Whether a node that accepted pods no longer does."""
    now = worlds.counterpart(item)
    if now is None:
        yield Loss(f"{place_of(item)} is gone", (reference(item),))
    elif fitting_nodes({}, [item]) and (not fitting_nodes({}, [now]) or _is_without_room(now)):
        yield Loss(f"{place_of(item)} takes no pods any more", (reference(item),))


def _is_without_room(node: KubernetesObject) -> bool:
    offered = mapping(mapping(node.get("status")).get("allocatable"))
    return any(part in offered and not amount_of(str(offered[part])) for part in ("cpu", "memory", "pods"))


_Hindrance = tuple[str, Loss]


def _hindrances(item: KubernetesObject, world: Snapshot) -> Iterator[_Hindrance]:
    """Why a workload does nothing, or could not start a pod: a word to compare by, and the loss."""
    own = (reference(item),)
    if why := idleness(item):
        yield "size", Loss(f"{place_of(item)} {why}", own, ("spec",))
        return
    yield from _placement_hindrances(item, world)
    yield from _affinity_hindrances(item, world)
    yield from _unresolved_needs(item, world)
    yield from _not_admitted(item, world)
    for why in _start_hindrances(item):
        yield why, Loss(f"{place_of(item)}: {why}", own, ("spec", "template"))
    if _keeps_pods(item) and not has_serving_pods(item, world):
        yield "pods", Loss(f"{place_of(item)} has no pod that serves", own, ("status",))


def idleness(item: KubernetesObject) -> str | None:
    """Why a workload does not even try to run."""
    spec = spec_of(item)
    if item.get("kind") == "CronJob":
        if spec.get("suspend") is True:
            return "is suspended"
        if _never_fires(str(spec.get("schedule") or "")):
            return "has a schedule that never comes"
        if _is_short(spec.get("startingDeadlineSeconds")):
            return "has too little time to start"
        return idleness({"kind": "Job", "spec": mapping(mapping(spec.get("jobTemplate")).get("spec"))})
    if item.get("kind") == "Job":
        if any(one.get("type") in _OVER for one in mappings(mapping(item.get("status")).get("conditions"))):
            return "is over"
        if spec.get("suspend") is True:
            return "is suspended"
        if _is_short(spec.get("activeDeadlineSeconds")):
            return "has too little time to work"
        if spec.get("completions") == 0:
            return "has nothing to complete"
        return "runs no pod at a time" if spec.get("parallelism") == 0 else None
    replicated = str(item.get("kind", "")).lower() in REPLICATED
    return "is to have no pods" if replicated and spec.get("replicas") == 0 else None


def _is_short(seconds: Any) -> bool:
    """Whether a period is over before the controller, which looks every ten seconds, has seen it."""
    return isinstance(seconds, int) and seconds < _LOOKS_EVERY


def _never_fires(schedule: str) -> bool:
    """Whether none of the days of a schedule exist in its months; an additional weekday would make up for that."""
    fields = schedule.split()
    if len(fields) != 5 or fields[4] not in {"*", "?"}:
        return False
    days, months = fields[2].split(","), fields[3].split(",")
    if not all(one.isdecimal() and len(one) <= 2 for one in (*days, *months)):
        return False
    return all(int(day) > _DAYS.get(int(month), 31) for day in days for month in months)


_SELDOM = 10
"""A tenth of the days or fewer is as good as never; changing daily to weekly is a decision."""
_WORDS_FOR_DAYS = {"@yearly": 1, "@annually": 1, "@monthly": 12, "@weekly": 52}


def _days_a_year(schedule: str) -> float:
    """Roughly how many days of a year a schedule is due; anything beyond numbers and lists counts as every day."""
    fields = schedule.split()
    if len(fields) != 5:
        return _WORDS_FOR_DAYS.get(schedule.strip(), 365)
    day, month, weekday = (
        len(set(text.split(","))) if all(one.isdecimal() for one in text.split(",")) else None for text in fields[2:]
    )
    share = (month or 12) / 12
    # Days of the month and of the week add up.
    days = (12 * day if day else 0) + (52 * weekday if weekday else 0) if day or weekday else 365
    return days * share


def _keeps_pods(item: KubernetesObject) -> bool:
    return item.get("kind") in {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Pod"}


def _placement_hindrances(item: KubernetesObject, world: Snapshot) -> Iterator[_Hindrance]:
    """Whether no node accepts the pods, or no scheduler places them."""
    spec = mapping(pod_template(item).get("spec"))
    nodes = tuple(world.of_type(BY_NOUN["node"]))
    own = (reference(item), *((reference(node)) for node in nodes))
    if spec.get("schedulerName") not in {None, "", "default-scheduler"}:
        yield "scheduler", Loss(f"{place_of(item)}: no such scheduler places its pods", own, ("spec", "template"))
    if spec.get("runtimeClassName") and not _is_used_by_others(str(spec["runtimeClassName"]), item, world):
        yield "runtime", Loss(f"{place_of(item)}: no node is known to have its runtime", own, ("spec", "template"))
    for constraint in mappings(spec.get("topologySpreadConstraints")):
        key = constraint.get("topologyKey")
        is_strict = constraint.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule"
        if nodes and is_strict and not any(key in labels_of(node) for node in nodes):
            yield f"spread/{key}", Loss(f"{place_of(item)}: no node has the mark {key}", own, ("spec", "template"))
    if items_in(spec.get("schedulingGates")) and not spec.get("nodeName"):
        yield "gates", Loss(f"{place_of(item)}: its pods wait for a scheduling gate", own, ("spec", "template"))
    if item.get("kind") == "Pod" and spec.get("nodeName"):
        return
    if spec.get("nodeName") and spec["nodeName"] not in {name_of(node) for node in nodes}:
        yield "node", Loss(f"{place_of(item)}: there is no node {spec['nodeName']}", own, ("spec", "template"))
    if nodes and not fitting_nodes(spec, nodes):
        yield "nodes", Loss(f"{place_of(item)}: {refusals(spec, nodes)}", own, ("spec", "template"))


def _is_used_by_others(runtime: str, item: KubernetesObject, world: Snapshot) -> bool:
    mine = {name_of(pod) for pod in pods_of(item, world)}
    pods = (pod for pod in world.of_type(BY_NOUN["pod"]) if name_of(pod) not in mine)
    return any(spec_of(pod).get("runtimeClassName") == runtime for pod in pods)


def _affinity_hindrances(item: KubernetesObject, world: Snapshot) -> Iterator[_Hindrance]:
    """Whether the pods must be near pods that do not exist, or away from pods that are everywhere."""
    affinity = mapping(mapping(pod_template(item).get("spec")).get("affinity"))
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    own, path = (reference(item),), ("spec", "template")
    for term in mappings(mapping(affinity.get("podAffinity")).get(required)):
        is_own = selects(term.get("labelSelector"), template_labels(item))
        if not is_own and not _nodes_with(term, item, world):
            yield "near", Loss(f"{place_of(item)}: its pods must be near pods that there are not", own, path)
    for term in mappings(mapping(affinity.get("podAntiAffinity")).get(required)):
        key, taken = str(term.get("topologyKey")), _nodes_with(term, item, world)
        nodes = [(name_of(node), labels_of(node).get(key)) for node in world.of_type(BY_NOUN["node"])]
        closed = {place for name, place in nodes if name in taken and place is not None}
        if nodes and all(place in closed for _, place in nodes):
            yield "away", Loss(f"{place_of(item)}: its pods must be away from pods that are everywhere", own, path)


def _nodes_with(term: Mapping[str, Any], item: KubernetesObject, world: Snapshot) -> set[str]:
    """The nodes of other pods that an affinity term is about, in its own namespace unless it names some."""
    places = [str(one) for one in items_in(term.get("namespaces"))] or [namespace_of(item)]
    anywhere = isinstance(term.get("namespaceSelector"), Mapping)
    mine = {name_of(pod) for pod in pods_of(item, world)}
    return {
        str(spec_of(pod).get("nodeName"))
        for pod in world.of_type(BY_NOUN["pod"])
        if (anywhere or namespace_of(pod) in places) and name_of(pod) not in mine
        and selects(term.get("labelSelector"), labels_of(pod))
    }  # fmt: skip


def _unresolved_needs(item: KubernetesObject, world: Snapshot) -> Iterator[_Hindrance]:
    """What the pods need and cannot get: accounts, claims, and keys of config maps and secrets."""
    template, namespace = pod_template(item), namespace_of(item)
    spec = mapping(template.get("spec"))
    account = str(spec.get("serviceAccountName") or "default")
    needed = [("serviceaccount", account, None), *_needs(template)]
    known = world.find(BY_NOUN["serviceaccount"], namespace, account)
    pulled = [*mappings(spec.get("imagePullSecrets")), *mappings((known or {}).get("imagePullSecrets"))]
    needed += [("secret", str(one.get("name")), None) for one in pulled]
    for noun, name, key in dict.fromkeys(needed):
        if why := _missing_cause(world, noun, namespace, name, key):
            part = f".{key}" if key else ""
            what = f"{place_of(item)} needs {noun}/{name}{part}, which {why}"
            yield f"{noun}/{name}/{key}", Loss(what, (reference(item), (noun, name)), ("data", key) if key else ())
    if not pulled:
        yield (
            "unpulled",
            Loss(
                f"{place_of(item)} has lost the secret that its image is pulled with",
                (reference(item), ("serviceaccount", account)),
            ),
        )


def _lost_supplies(item: KubernetesObject, now: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """Volumes that are no longer mounted, and keys that are gone or empty in data given to the pods as a whole."""
    before, after = list(_needs(pod_template(item))), list(_needs(pod_template(now)))
    namespace = namespace_of(item)
    for variable in sorted(_given_variables(item) - _set_variables(now)):
        yield Loss(f"{place_of(item)} is no longer given {variable}", (reference(item),), ("spec", "template"))
    for noun, name, key in dict.fromkeys(before):
        if noun == "pvc" and (noun, name, key) not in after:
            yield Loss(f"{place_of(item)} no longer mounts {noun}/{name}", (reference(item),), ("spec", "template"))
        if noun not in {"configmap", "secret"} or key is not None or (noun, name, key) not in after:
            continue
        held = worlds.expected.find(BY_NOUN[noun], namespace, name) or {}
        for part in sorted({**mapping(held.get("data")), **mapping(held.get("binaryData"))}):
            was, why = (
                _missing_cause(world, noun, namespace, name, part) for world in (worlds.expected, worlds.actual)
            )
            if was is None and why is not None:
                what = f"{place_of(item)} needs {noun}/{name}.{part}, which {why}"
                yield Loss(what, (reference(item), (noun, name)), ("data", part))


def _given_variables(item: KubernetesObject) -> set[str]:
    """The variables that a workload's containers get from config maps and secrets."""
    return {
        f"{container.get('name')}/{one.get('name')}"
        for container in containers_of(pod_template(item))
        for one in mappings(container.get("env"))
        if {"configMapKeyRef", "secretKeyRef"} & mapping(one.get("valueFrom")).keys()
    }


def _set_variables(item: KubernetesObject) -> set[str]:
    """The variables that a workload's containers have, except empty ones."""
    found: set[str] = set()
    for container in containers_of(pod_template(item)):
        name, given = container.get("name"), mappings(container.get("env"))
        found |= {f"{name}/{one.get('name')}" for one in given if one.get("value") or one.get("valueFrom")}
    return found


def _needs(template: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    """The objects that the pods of a template refer to, each with the key if one is named."""
    for part in ("containers", "initContainers"):
        for container in containers_of(template, part):
            for variable in mappings(container.get("env")):
                source = mapping(variable.get("valueFrom"))
                for field, noun in (("configMapKeyRef", "configmap"), ("secretKeyRef", "secret")):
                    named = mapping(source.get(field))
                    if named and named.get("optional") is not True:
                        yield noun, str(named.get("name")), str(named.get("key"))
            for source in mappings(container.get("envFrom")):
                for field, noun in (("configMapRef", "configmap"), ("secretRef", "secret")):
                    named = mapping(source.get(field))
                    if named and named.get("optional") is not True:
                        yield noun, str(named.get("name")), None
    for volume in mappings(mapping(template.get("spec")).get("volumes")):
        yield from _mounted_references(volume)


def _mounted_references(volume: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    sources = [volume, *mappings(mapping(volume.get("projected")).get("sources"))]
    for source in sources:
        for field, noun, name in (
            ("configMap", "configmap", "name"), ("secret", "secret", "secretName"), ("secret", "secret", "name"),
            ("persistentVolumeClaim", "pvc", "claimName"),
        ):  # fmt: skip
            named = mapping(source.get(field))
            if named.get(name) and named.get("optional") is not True:
                yield noun, str(named[name]), None
                yield from ((noun, str(named[name]), str(one.get("key"))) for one in mappings(named.get("items")))


def _missing_cause(world: Snapshot, noun: str, namespace: str, name: str, key: str | None) -> str | None:
    """Why an object, or a key of it, cannot be used."""
    found = world.find(BY_NOUN[noun], namespace, name)
    if found is None or is_going(found):
        return "is not there"
    if noun == "pvc" and mapping(found.get("status")).get("phase") == "Lost":
        return "has lost its volume"
    if noun not in {"configmap", "secret"}:
        return None
    values = {**mapping(found.get("data")), **mapping(found.get("binaryData"))}
    if key is not None:
        return None if str(values.get(key) or "").strip() else ("is empty" if key in values else "is not there")
    return None if any(str(value).strip() for value in values.values()) else "holds nothing"


def _not_admitted(item: KubernetesObject, world: Snapshot) -> Iterator[_Hindrance]:
    """Whether a quota or the limit range of a namespace prevents a lost pod from being replaced."""
    spec, namespace = mapping(pod_template(item).get("spec")), namespace_of(item)
    wanted = spec_of(item).get("replicas")
    pods = float(wanted) if isinstance(wanted, int) and wanted else 1.0
    asked = {"pods": 1.0, "count/pods": 1.0}
    for resource, amount in requests(spec).items():
        asked |= {resource: amount, f"requests.{resource}": amount, f"limits.{resource}": amount}
    for quota in world.of_type(BY_NOUN["resourcequota"], namespace):
        for resource, hard in mapping(spec_of(quota).get("hard")).items():
            is_computed = resource.startswith(("requests.", "limits.")) or resource in {"cpu", "memory"}
            needed = asked.get(str(resource), 0.0 if not is_computed else _TRIFLE) * (1.0 if is_computed else pods)
            if needed > amount_of(str(hard)):
                what = f"{place_of(item)}: quota {name_of(quota)} leaves no room for its pods ({resource}: {hard})"
                yield f"quota/{resource}", Loss(what, (reference(item), reference(quota)), ("spec", "hard"))
    for limits in world.of_type(BY_NOUN["limitrange"], namespace):
        for limit in mappings(spec_of(limits).get("limits")):
            if limit.get("type") == "Container" and _least_memory(limit) < _LEAST_MEMORY:
                what = f"{place_of(item)}: {name_of(limits)} leaves containers less memory than they need to start"
                yield "limit/least", Loss(what, (reference(item), reference(limits)), ("spec", "limits"))
            for resource, most in mapping(limit.get("max")).items():
                if any(amount > amount_of(str(most)) for amount in _amounts(limit, spec, str(resource))):
                    what = f"{place_of(item)}: {name_of(limits)} refuses its pods ({resource}: {most})"
                    yield f"limit/{resource}", Loss(what, (reference(item), reference(limits)), ("spec", "limits"))


_TRIFLE = 1e-9
"""A quota on amounts refuses every pod when it is zero, whatever the pods request."""


def _least_memory(limit: Mapping[str, Any]) -> float:
    """The memory that a limit range leaves to a container that requests none."""
    given = [mapping(limit.get(part)).get("memory") for part in ("default", "max")]
    return min((amount_of(str(one)) for one in given if one is not None), default=float("inf"))


def _amounts(limit: Mapping[str, Any], spec: Mapping[str, Any], resource: str) -> list[float]:
    """The subjects of a limit range: each container, or the pod."""
    if limit.get("type") == "Container":
        return [requests({"containers": [one]}).get(resource, _TRIFLE) for one in mappings(spec.get("containers"))]
    return [requests(spec).get(resource, _TRIFLE)] if limit.get("type") == "Pod" else []


def _start_hindrances(item: KubernetesObject) -> Iterator[str]:
    """What in a template alone keeps its pods from starting or from becoming ready."""
    template = pod_template(item)
    for container in (*containers_of(template), *containers_of(template, "initContainers")):
        limits = mapping(mapping(container.get("resources")).get("limits"))
        if "memory" in limits and amount_of(str(limits["memory"])) < _LEAST_MEMORY:
            yield f"container {container.get('name')} may not use the memory that it needs to start"
        if "cpu" in limits and amount_of(str(limits["cpu"])) < _LEAST_PROCESSOR:
            yield f"container {container.get('name')} may not use the processor that it needs to start"
        for mount in mappings(container.get("volumeMounts")):
            if (place := str(mount.get("mountPath", "")).rstrip("/") or "/") in _PROGRAMS and not mount.get("subPath"):
                yield f"a volume of container {container.get('name')} hides its programs in {place}"
        if _is_root_against_orders(container, mapping(template.get("spec"))):
            yield f"container {container.get('name')} may not run as the user that it is to run as"
        for moment, hook in mapping(container.get("lifecycle")).items():
            if moment == "postStart" and always_fails(
                [str(one) for one in items_in(mapping(mapping(hook).get("exec")).get("command"))]
            ):
                yield f"container {container.get('name')} is stopped as soon as it starts"
        if host := unpullable_source(str(container.get("image") or "")):
            yield f"nobody can pull an image from {host}"
    for container in containers_of(template, "initContainers"):
        is_beside = container.get("restartPolicy") == "Always"
        if not is_beside and (why := why_it_hangs(command_line(container))):
            yield f"init container {container.get('name')} {why}"
    if amount_of(str(spec_of(item).get("minReadySeconds") or 0)) >= LONG_SECONDS:
        yield "its pods count only after a time that never comes"
    for gate in mappings(mapping(template.get("spec")).get("readinessGates")):
        yield f"its pods wait for the condition {gate.get('conditionType')}"


def _is_root_against_orders(container: Mapping[str, Any], spec: Mapping[str, Any]) -> bool:
    """Whether a container is to run as root but must not."""
    orders = {**mapping(spec.get("securityContext")), **mapping(container.get("securityContext"))}
    return orders.get("runAsNonRoot") is True and orders.get("runAsUser") == 0


def _other_program(item: KubernetesObject, now: KubernetesObject, *, is_about_image: bool) -> Iterator[Loss]:
    """Containers that are gone, or that run a different program; a newer version is the same program."""
    before, after = ({str(one.get("name")): one for one in containers_of(pod_template(one))} for one in (item, now))
    own = (reference(item),)
    for name, container in before.items():
        found = after.get(name)
        if found is None:
            image = image_name(str(container.get("image") or ""))
            found = next((one for one in after.values() if image_name(str(one.get("image") or "")) == image), None)
        if found is None:
            yield Loss(f"{place_of(item)} no longer has its container {name}", own, ("spec", "template"))
            continue
        was, is_now = str(container.get("image") or ""), str(found.get("image") or "")
        if image_name(was) != image_name(is_now) or (is_about_image and was != is_now):
            yield Loss(f"{place_of(item)}: container {name} runs another image", own, ("spec", "template"))
        elif was != is_now and found.get("imagePullPolicy") == "Never":
            yield Loss(f"{place_of(item)}: the image of container {name} may not be pulled", own, ("spec", "template"))
        elif not is_same_command(container, found):
            yield Loss(f"{place_of(item)}: container {name} runs another command", own, ("spec", "template"))


def _never_ready(item: KubernetesObject, now: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """Kubelet checks that were added or changed so that they cannot succeed."""
    before = {str(one.get("name")): one for one in containers_of(pod_template(item))}
    for container in containers_of(pod_template(now)):
        old = mapping(before.get(str(container.get("name"))))
        for kind in ("readinessProbe", "livenessProbe", "startupProbe"):
            check = mapping(container.get(kind))
            if check and check != old.get(kind) and (why := _cannot_succeed(check, kind, item, now, worlds)):
                what = f"{place_of(item)}: a check of container {container.get('name')} cannot succeed ({why})"
                yield Loss(what, (reference(item),), ("spec", "template"))


def _cannot_succeed(
    check: Mapping[str, Any], kind: str, item: KubernetesObject, now: KubernetesObject, worlds: Worlds
) -> str | None:
    command = [str(one) for one in items_in(mapping(check.get("exec")).get("command"))]
    if command and always_fails(command):
        return "its command fails"
    if kind == "readinessProbe" and amount_of(str(check.get("initialDelaySeconds") or 0)) >= LONG_SECONDS:
        return "it begins too late"
    for form in ("httpGet", "tcpSocket", "grpc"):
        target = mapping(check.get(form))
        if target.get("host"):
            return "it asks another host"
        known = _known_ports(item, now, worlds)
        if target.get("port") is not None and known and str(target["port"]) not in known:
            return f"nothing listens at port {target['port']}"
    return None


def _known_ports(item: KubernetesObject, now: KubernetesObject, worlds: Worlds) -> set[str]:
    """The ports on which a workload is known to listen: declared ones, those of its services and of earlier checks."""
    found: set[str] = set()
    for one in (item, now):
        for container in containers_of(pod_template(one)):
            for port in mappings(container.get("ports")):
                found |= {str(port[key]) for key in ("containerPort", "name") if port.get(key)}
    for container in containers_of(pod_template(item)):
        for kind in ("readinessProbe", "livenessProbe", "startupProbe"):
            for form in ("httpGet", "tcpSocket", "grpc"):
                asked = mapping(mapping(container.get(kind)).get(form)).get("port")
                found |= {str(asked)} if asked is not None else set()
    for service in worlds.expected.of_type(BY_NOUN["service"], namespace_of(item)):
        if service_selects(service, template_labels(item)):
            found |= {str(port.get("targetPort", port.get("port"))) for port in mappings(spec_of(service).get("ports"))}
    return found
