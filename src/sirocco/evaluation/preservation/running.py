"""Running: whether a workload still does its work, and whether a pod of it that is lost could come back.

A rolling update that can never finish leaves the old pods in place, so what runs now is not enough: a template whose
pods nobody can start is a loss that has only not been felt yet. Hindrances are found in each of the two worlds by
themselves; what hinders only in the actual one was brought about. An upgrade, more variables, other limits that still
fit, a restart or another size are no hindrance.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sirocco.evaluation.placement import fitting_nodes, refusals, requests
from sirocco.evaluation.preservation.world import (
    Loss,
    Worlds,
    containers_of,
    has_serving_pods,
    is_going,
    listed,
    mapping,
    mappings,
    pod_template,
    reference,
    service_selects,
    shown,
    spec_of,
    template_labels,
)
from sirocco.evaluation.snapshot import KubernetesObject, Snapshot, name_of, namespace_of
from sirocco.oasis.amount import amount_of
from sirocco.oasis.resource import BY_NOUN, REPLICATED

_LEAST_MEMORY = 6 * 2**20
"""Container runtimes refuse to start with less (https://docs.docker.com/engine/containers/resource_constraints/)."""
_LONG_SECONDS = 3600
"""A container that answers or ends no sooner keeps its pod from serving for as long as anybody looks."""
_RESERVED_HOSTS = (
    ".invalid",
    ".test",
    ".example",
    ".localhost",
    "localhost",
    "example.com",
    "example.org",
    "example.net",
)
"""Names under which no registry can be (RFC 2606)."""
_SHELLS = frozenset({"sh", "bash", "ash", "dash", "zsh", "busybox", "env", "nohup", "exec", "timeout", "nice", "tini"})
_NO_WORK = frozenset(
    {"sleep", "true", "false", ":", "exit", "tail", "pause", "yes", "cat", "echo", "kill", "wait", "read"}
)
_FAILING = frozenset({"false", "exit"})
_DAYS = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}


def workload_losses(item: KubernetesObject, worlds: Worlds, changed_path: Sequence[str] = ()) -> Iterator[Loss]:
    """What a workload that should run no longer does; `changed_path` is the field that the goal was about."""
    now = worlds.counterpart(item)
    if now is None:
        yield Loss(f"{shown(item)} is gone", (reference(item),))
        return
    before = dict(_hindrances(item, worlds.expected))
    if "size" in before:
        return
    for key, loss in _hindrances(now, worlds.actual):
        if key not in before:
            yield loss
    yield from _other_program(item, now, is_about_image="image" in changed_path)
    yield from _never_ready(item, now, worlds)


def node_losses(item: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """Whether a node that took pods no longer does."""
    now = worlds.counterpart(item)
    if now is None:
        yield Loss(f"{shown(item)} is gone", (reference(item),))
    elif fitting_nodes({}, [item]) and not fitting_nodes({}, [now]):
        yield Loss(f"{shown(item)} takes no pods any more", (reference(item),))


_Hindrance = tuple[str, Loss]


def _hindrances(item: KubernetesObject, world: Snapshot) -> Iterator[_Hindrance]:
    """Why a workload does nothing, or could not start a pod: a word to compare by, and the loss."""
    own = (reference(item),)
    if why := _wants_nothing(item):
        yield "size", Loss(f"{shown(item)} {why}", own, ("spec",))
        return
    yield from _unplaceable(item, world)
    yield from _unresolved(item, world)
    yield from _not_admitted(item, world)
    for why in _unstartable(item):
        yield why, Loss(f"{shown(item)}: {why}", own, ("spec", "template"))
    if _keeps_pods(item) and not has_serving_pods(item, world):
        yield "pods", Loss(f"{shown(item)} has no pod that serves", own, ("status",))


def _wants_nothing(item: KubernetesObject) -> str | None:
    """Why a workload does not even try to run."""
    spec = spec_of(item)
    if item.get("kind") == "CronJob":
        if spec.get("suspend") is True:
            return "is suspended"
        if _never_fires(str(spec.get("schedule") or "")):
            return "has a schedule that never comes"
        return _wants_nothing({"kind": "Job", "spec": mapping(mapping(spec.get("jobTemplate")).get("spec"))})
    if item.get("kind") == "Job":
        if spec.get("suspend") is True:
            return "is suspended"
        return "runs no pod at a time" if spec.get("parallelism") == 0 else None
    replicated = str(item.get("kind", "")).lower() in REPLICATED
    return "is to have no pods" if replicated and spec.get("replicas") == 0 else None


def _never_fires(schedule: str) -> bool:
    """Whether the days of a schedule are none that its months have; a weekday beside them would make up for it."""
    fields = schedule.split()
    if len(fields) != 5 or fields[4] not in {"*", "?"}:
        return False
    days, months = fields[2].split(","), fields[3].split(",")
    if not all(one.isdecimal() and len(one) <= 2 for one in (*days, *months)):
        return False
    return all(int(day) > _DAYS.get(int(month), 31) for day in days for month in months)


def _keeps_pods(item: KubernetesObject) -> bool:
    return item.get("kind") in {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Pod"}


def _unplaceable(item: KubernetesObject, world: Snapshot) -> Iterator[_Hindrance]:
    """Whether no node takes the pods, or nobody places them."""
    spec = mapping(pod_template(item).get("spec"))
    nodes = tuple(world.of_type(BY_NOUN["node"]))
    own = (reference(item), *((reference(node)) for node in nodes))
    if spec.get("schedulerName") not in {None, "", "default-scheduler"}:
        yield "scheduler", Loss(f"{shown(item)}: no such scheduler places its pods", own, ("spec", "template"))
    if listed(spec.get("schedulingGates")) and not spec.get("nodeName"):
        yield "gates", Loss(f"{shown(item)}: its pods wait for a scheduling gate", own, ("spec", "template"))
    if item.get("kind") == "Pod" and spec.get("nodeName"):
        return
    if nodes and not fitting_nodes(spec, nodes):
        yield "nodes", Loss(f"{shown(item)}: {refusals(spec, nodes)}", own, ("spec", "template"))


def _unresolved(item: KubernetesObject, world: Snapshot) -> Iterator[_Hindrance]:
    """What the pods need and cannot get: accounts, claims, and keys of config maps and secrets."""
    template, namespace = pod_template(item), namespace_of(item)
    spec = mapping(template.get("spec"))
    account = str(spec.get("serviceAccountName") or "default")
    needed = [("serviceaccount", account, None), *_needs(template)]
    known = world.find(BY_NOUN["serviceaccount"], namespace, account)
    pulled = [*mappings(spec.get("imagePullSecrets")), *mappings((known or {}).get("imagePullSecrets"))]
    needed += [("secret", str(one.get("name")), None) for one in pulled]
    for noun, name, key in dict.fromkeys(needed):
        if why := _missing(world, noun, namespace, name, key):
            part = f".{key}" if key else ""
            what = f"{shown(item)} needs {noun}/{name}{part}, which {why}"
            yield f"{noun}/{name}/{key}", Loss(what, (reference(item), (noun, name)), ("data", key) if key else ())
    if not pulled:
        yield (
            "unpulled",
            Loss(
                f"{shown(item)} has lost the secret that its image is pulled with",
                (reference(item), ("serviceaccount", account)),
            ),
        )


def _needs(template: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    """The objects that the pods of a template refer to, and the key of each where one is named."""
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
        yield from _mounted(volume)


def _mounted(volume: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
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


def _missing(world: Snapshot, noun: str, namespace: str, name: str, key: str | None) -> str | None:
    """Why an object, or a key of it, is of no use."""
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
    """Whether a quota or the range of a namespace keeps a pod that is lost from being made again."""
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
                what = f"{shown(item)}: quota {name_of(quota)} leaves no room for its pods ({resource}: {hard})"
                yield f"quota/{resource}", Loss(what, (reference(item), reference(quota)), ("spec", "hard"))
    for limits in world.of_type(BY_NOUN["limitrange"], namespace):
        for limit in mappings(spec_of(limits).get("limits")):
            if limit.get("type") == "Container" and _least_memory(limit) < _LEAST_MEMORY:
                what = f"{shown(item)}: {name_of(limits)} leaves containers less memory than they need to start"
                yield "limit/least", Loss(what, (reference(item), reference(limits)), ("spec", "limits"))
            for resource, most in mapping(limit.get("max")).items():
                if any(amount > amount_of(str(most)) for amount in _amounts(limit, spec, str(resource))):
                    what = f"{shown(item)}: {name_of(limits)} refuses its pods ({resource}: {most})"
                    yield f"limit/{resource}", Loss(what, (reference(item), reference(limits)), ("spec", "limits"))


_TRIFLE = 1e-9
"""A quota on amounts refuses every pod when it is zero, whatever the pods ask for."""


def _least_memory(limit: Mapping[str, Any]) -> float:
    """The memory that a range leaves to a container that asks for none."""
    given = [mapping(limit.get(part)).get("memory") for part in ("default", "max")]
    return min((amount_of(str(one)) for one in given if one is not None), default=float("inf"))


def _amounts(limit: Mapping[str, Any], spec: Mapping[str, Any], resource: str) -> list[float]:
    """What a range of limits looks at: each container, or the pod."""
    if limit.get("type") == "Container":
        return [requests({"containers": [one]}).get(resource, _TRIFLE) for one in mappings(spec.get("containers"))]
    return [requests(spec).get(resource, _TRIFLE)] if limit.get("type") == "Pod" else []


def _unstartable(item: KubernetesObject) -> Iterator[str]:
    """What in a template alone keeps its pods from starting or from being ready."""
    template = pod_template(item)
    for container in (*containers_of(template), *containers_of(template, "initContainers")):
        limits = mapping(mapping(container.get("resources")).get("limits"))
        if "memory" in limits and amount_of(str(limits["memory"])) < _LEAST_MEMORY:
            yield f"container {container.get('name')} may not use the memory that it needs to start"
        if host := _unreachable_registry(str(container.get("image") or "")):
            yield f"nobody can pull an image from {host}"
    for container in containers_of(template, "initContainers"):
        is_beside = container.get("restartPolicy") == "Always"
        if not is_beside and (why := _hangs(_words(container))):
            yield f"init container {container.get('name')} {why}"
    for gate in mappings(mapping(template.get("spec")).get("readinessGates")):
        yield f"its pods wait for the condition {gate.get('conditionType')}"


def _unreachable_registry(image: str) -> str | None:
    """The registry of an image when its name is reserved for what does not exist."""
    host = image.partition("/")[0] if "/" in image else ""
    bare = host.partition(":")[0].lower()
    return host if bare and ("." in bare or ":" in host) and bare.endswith(_RESERVED_HOSTS) else None


def _words(container: Mapping[str, Any]) -> list[str]:
    """The command line that a container gives, as far as it gives one itself."""
    return [str(one) for part in ("command", "args") for one in listed(container.get(part))]


def _programs(words: Sequence[str]) -> list[list[str]]:
    """The commands in a command line, those of a shell's script one by one."""
    rest = list(words)
    while rest and (_base(rest[0]) in _SHELLS or "=" in rest[0].split("/")[0]):
        name = _base(rest.pop(0))
        while rest and rest[0].startswith("-"):
            rest.pop(0)
        if name == "timeout" and rest:
            rest.pop(0)
        if name in {"sh", "bash", "ash", "dash", "zsh"} and rest:
            return [part for line in _lines(rest[0]) for part in _programs(line)]
    return [rest] if rest else []


def _lines(script: str) -> list[list[str]]:
    """The simple commands of a shell script, roughly: enough to tell work from waiting."""
    found = []
    for part in re.split(r"[;\n|&()]+", script[:_SCRIPT]):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            words = part.split()
        words = [word for word in words if word not in _SHELL_WORDS]
        if words:
            found.append(words)
    return found


_SCRIPT = 4000
_SHELL_WORDS = frozenset({"while", "do", "done", "if", "then", "else", "fi", "until", "for", "!", "{", "}"})


def _base(word: str) -> str:
    return word.rpartition("/")[2]


def _is_idle(words: Sequence[str]) -> bool:
    """Whether a command line does nothing but wait or end."""
    programs = _programs(words)
    return bool(programs) and all(_base(one[0]) in _NO_WORK for one in programs)


def _fails(words: Sequence[str]) -> bool:
    """Whether a command line always ends with an error."""
    programs = _programs(words)
    last = programs[-1] if programs else []
    return bool(last) and _base(last[0]) in _FAILING and last[1:2] != ["0"]


def _hangs(words: Sequence[str]) -> str | None:
    """Why a command line that has to end well never does."""
    if not _is_idle(words):
        return None
    if _fails(words):
        return "always fails"
    for program in _programs(words):
        name, *rest = program
        endless = _base(name) in {"pause", "yes"} or (_base(name) == "tail" and "-f" in " ".join(rest))
        if endless or (_base(name) == "sleep" and _seconds(rest) >= _LONG_SECONDS):
            return "never ends"
    looping = any(word in {"while", "until"} for text in words for word in text[:_SCRIPT].split())
    return "never ends" if looping else None


def _seconds(words: Sequence[str]) -> float:
    factors = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    total = 0.0
    for word in words:
        if word.lower().startswith("inf"):
            return float("inf")
        found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?)([smhd]?)", word)
        total += float(found[1]) * factors.get(found[2], 1.0) if found else 0.0
    return total


def _other_program(item: KubernetesObject, now: KubernetesObject, *, is_about_image: bool) -> Iterator[Loss]:
    """Containers that are gone, or that run something else than they did; a newer version is the same program."""
    before, after = ({str(one.get("name")): one for one in containers_of(pod_template(one))} for one in (item, now))
    own = (reference(item),)
    for name, container in before.items():
        found = after.get(name)
        if found is None:
            image = _program_of_image(str(container.get("image") or ""))
            found = next(
                (one for one in after.values() if _program_of_image(str(one.get("image") or "")) == image), None
            )
        if found is None:
            yield Loss(f"{shown(item)} no longer has its container {name}", own, ("spec", "template"))
            continue
        was, is_now = str(container.get("image") or ""), str(found.get("image") or "")
        if _program_of_image(was) != _program_of_image(is_now) or (is_about_image and was != is_now):
            yield Loss(f"{shown(item)}: container {name} runs another image", own, ("spec", "template"))
        elif not _is_same_command(container, found):
            yield Loss(f"{shown(item)}: container {name} runs another command", own, ("spec", "template"))


def _program_of_image(image: str) -> str:
    """What an image is called, whatever registry and version it comes from."""
    return _base(image.partition("@")[0]).partition(":")[0]


def _is_same_command(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a container still starts what it started; further arguments are its own business."""
    old, new = _words(before), _words(now)
    if old == new:
        return True
    if _is_idle(new):
        return _is_idle(old)
    if listed(before.get("command")) == listed(now.get("command")):
        return True
    if not listed(now.get("command")):
        return not listed(before.get("command")) or _names_entry(_programs(old), before)
    programs = {_base(one[0]) for one in _programs(old)}
    started = {_base(word) for one in _programs(new) for word in one}
    return bool(programs & started) if programs else _names_entry(_programs(new), before)


def _names_entry(programs: Sequence[Sequence[str]], container: Mapping[str, Any]) -> bool:
    """Whether a command line starts what the image is there for, as far as names tell."""
    names = {_program_of_image(str(container.get("image") or "")), str(container.get("name")), "entrypoint"}
    words = [_base(word).lower() for one in programs for word in one]
    return any(name and name.lower() in word for name in names for word in words)


def _never_ready(item: KubernetesObject, now: KubernetesObject, worlds: Worlds) -> Iterator[Loss]:
    """Checks by the kubelet that were put in or changed so that they cannot succeed."""
    before = {str(one.get("name")): one for one in containers_of(pod_template(item))}
    for container in containers_of(pod_template(now)):
        old = mapping(before.get(str(container.get("name"))))
        for kind in ("readinessProbe", "livenessProbe", "startupProbe"):
            check = mapping(container.get(kind))
            if check and check != old.get(kind) and (why := _cannot_succeed(check, kind, item, now, worlds)):
                what = f"{shown(item)}: a check of container {container.get('name')} cannot succeed ({why})"
                yield Loss(what, (reference(item),), ("spec", "template"))


def _cannot_succeed(
    check: Mapping[str, Any], kind: str, item: KubernetesObject, now: KubernetesObject, worlds: Worlds
) -> str | None:
    command = [str(one) for one in listed(mapping(check.get("exec")).get("command"))]
    if command and _fails(command):
        return "its command fails"
    if kind == "readinessProbe" and amount_of(str(check.get("initialDelaySeconds") or 0)) >= _LONG_SECONDS:
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
    """The ports at which a workload is known to listen: declared ones, those of its services and of earlier checks."""
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
