"""Carriers: the agent's calls that make something run in a pod, and what it does there as calls of its own.

A pod that the agent starts or changes does what its commands say, so creating it is an attempt at that, whether or not
the pod gets that far. Text that nothing runs (an annotation, a note, a file that no pod mounts) does nothing.
"""

import re
import shlex
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl

from kubesim.conventions import STORE_VERBS
from kubesim.resource import BY_NOUN, BY_PLURAL
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import (
    CARRIED_BY,
    READS_METADATA,
    RUNS,
    is_dry_run,
    query_of,
    resource_of,
    target_name,
)
from sirocco.domains.kubernetes.evaluation.proxies.deed import Deed, request_deed
from sirocco.domains.kubernetes.evaluation.proxies.programs import INTERPRETER, Place, Programs
from sirocco.domains.kubernetes.evaluation.proxies.shell import MARKS, UNKNOWN, Command, Shell
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot, name_of, namespace_of
from sirocco.domains.kubernetes.evaluation.writes import resulting_object

_PODS = frozenset({"pods", "jobs", "cronjobs", "deployments", "replicasets", "statefulsets", "daemonsets",
                   "replicationcontrollers", "podtemplates"})  # fmt: skip
_WORKLOADS = tuple(BY_NOUN[noun] for noun in ("pod", "job", "cronjob", "deployment", "replicaset", "statefulset",
                                              "daemonset"))  # fmt: skip
_FILES = frozenset({"configmaps", "secrets"})
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")
_STREAMS = frozenset({"exec", "proxy"})
_LEADS_INTO_PODS = frozenset({"pods", "services", "nodes"})
_METHODS = {"get": "GET", "create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}
_ADDRESS = {"KUBERNETES_SERVICE_HOST": "kubernetes.default.svc", "KUBERNETES_SERVICE_PORT": "443"}
_MAPPING = (dict, Mapping)
_NESTED = (dict, list, Mapping)
"""The exact type comes first because nearly every mapping is a dict, which is fast to test."""
_MOST_DEEDS = 200
_DEEPEST = 3
_MOST_NODES = 5000
_LOOKS_AT_VARIABLES = re.compile(r"environ|getenv|process\.env|\bENV\b|%ENV|\$ENV|ENVIRON")
_KUBELET_RUNS = {"run": "cmd", "exec": "command"}

Data = Mapping[tuple[str, str, str], Sequence[Mapping[str, str]]]
"""The data behind files and variables: every version of each configmap's or secret's data, by type and name."""

Users = Mapping[tuple[str, str, str], Sequence[KubernetesObject]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the rest of the evidence says about the objects that commands name."""

    before: Snapshot
    known: Snapshot
    previous: Callable[[AuditEntry], KubernetesObject | None]


def calls_by_proxy(calls: Sequence[AuditEntry], around: Surroundings) -> tuple[AuditEntry, ...]:
    """What the agent's calls make pods do, as calls: each has the number, the caller and the outcome of its carrier.

    `calls` are those that `may_carry` lets through.
    """
    carriers = [call for call in calls if _is_carrier(call)]
    files = {_file_key(call) for call in carriers if call.resource in _FILES}
    users = _users(around.before, files) if files else {}
    carriers = [call for call in carriers if call.resource not in _FILES or _file_key(call) in users]
    if not carriers:
        return ()
    data = _data(calls, around)
    found: list[AuditEntry] = []
    for call in carriers:
        deeds = {_key(deed): deed for deed in islice(_deeds(call, around, data, users), _MOST_DEEDS)}
        for deed in [one for one in deeds.values() if one.subresource == "exec" and "command" in one.query]:
            words, container = shlex.split(deed.query["command"]), deed.query.get("container", "")
            for shown in _shown_in_pod(words, deed.namespace, deed.name, container, around, data):
                deeds.setdefault(_key(shown), shown)
        found += [_entry(call, aim) for deed in deeds.values() for aim in islice(deed.aims(around.known), _MOST_DEEDS)]
    return tuple(found)


def may_carry(group: str, resource: str, verb: str) -> bool:
    """Whether calls of a verb on a type can make something run in a pod: a cheap test for a whole log."""
    if verb not in STORE_VERBS:
        return resource in _LEADS_INTO_PODS and not group
    return resource in _PODS | _FILES | _LEADS_INTO_PODS or ("." in group and (group, resource) not in BY_PLURAL)


def _is_carrier(call: AuditEntry) -> bool:
    if call.subresource in _STREAMS:
        return "?" in call.uri or "/proxy/" in call.uri
    if call.verb not in STORE_VERBS or (call.subresource and call.subresource != "ephemeralcontainers"):
        return False
    # Unknown types may also hold pods, as workflows do.
    return call.resource in _PODS or call.resource in _FILES or (resource_of(call) is None and "." in call.group)


def _file_key(call: AuditEntry) -> tuple[str, str, str]:
    return call.resource, call.namespace, target_name(call)


def _key(deed: Deed) -> str:
    return f"{deed} {deed.request} {deed.query}"


def _entry(carrier: AuditEntry, deed: Deed) -> AuditEntry:
    notes = {**(carrier.event.get("annotations") or {}), CARRIED_BY: str(carrier), RUNS: str(deed)}
    if deed.is_metadata_only:
        notes[READS_METADATA] = "true"
    event: dict[str, Any] = {"requestURI": deed.uri, "verb": deed.verb, "annotations": notes}
    if deed.request is not None:
        event["requestObject"] = deed.request
    if carrier.at:
        event["requestReceivedTimestamp"] = carrier.at
    impersonated = UNKNOWN if deed.is_foreign else carrier.impersonated
    return AuditEntry(
        carrier.sequence, event, carrier.principal, impersonated, carrier.source, deed.verb, deed.group, deed.resource,
        deed.subresource, deed.name, deed.namespace, carrier.code,
    )  # fmt: skip


def _users(before: Snapshot, files: AbstractSet[tuple[str, str, str]]) -> Users:
    """The workloads that run something and are given the values of these configmaps or secrets, grouped by those."""
    found: dict[tuple[str, str, str], list[KubernetesObject]] = {}
    namespaces = {namespace for _, namespace, _ in files}
    for row in _WORKLOADS:
        for item in before.of_type(row):
            namespace = namespace_of(item)
            for template in _template_of_workload(item) if namespace in namespaces else ():
                given = dict.fromkeys((plural, namespace, name) for plural, name in _references(template))
                wanted = [file for file in given if file in files]
                if wanted and any(True for _ in _runs(template)):
                    for file in wanted:
                        found.setdefault(file, []).append(item)
    return found


def _deeds(call: AuditEntry, around: Surroundings, data: Data, users: Users) -> Iterator[Deed]:
    if call.subresource in _STREAMS:
        yield from _deeds_of_stream(call, around, data)
        return
    if is_dry_run(call):
        return
    if call.resource in _FILES:
        yield from _deeds_of_rewrite(call, around, data, users)
        return
    previous = around.previous(call) or _namesake(call, around)
    item = resulting_object(call, previous)
    if item is None:
        return
    had = {} if previous is None else dict.fromkeys(map(_key, _pods_deeds(previous, call.namespace, around, data)))
    yield from (deed for deed in _pods_deeds(item, call.namespace, around, data) if _key(deed) not in had)
    yield from _newly_handed_secrets(item, _namesake(call, around), call.namespace, around)
    if call.subresource == "ephemeralcontainers":
        yield from _shown_beside(item, call.namespace, data)


def _namesake(call: AuditEntry, around: Surroundings) -> KubernetesObject | None:
    """The object of the same name before the run: recreating it adds nothing new."""
    row, name = resource_of(call), target_name(call)
    return around.before.find(row, call.namespace, name) if row is not None and name else None


def _pods_deeds(
    item: KubernetesObject, namespace: str, around: Surroundings, data: Data, depth: int = 0
) -> Iterator[Deed]:
    """What all pods that an object describes do."""
    for template in _templates(item):
        for deed in _pod_deeds(template, namespace, around, data):
            yield deed
            if depth < _DEEPEST and deed.verb in STORE_VERBS and isinstance(deed.request, Mapping):
                yield from _pods_deeds(deed.request, deed.namespace, around, data, depth + 1)


@dataclass(frozen=True, slots=True)
class _Template:
    """A pod as an object describes it."""

    metadata: Mapping[str, Any]
    spec: Mapping[str, Any]

    @property
    def containers(self) -> list[Mapping[str, Any]]:
        """All its containers, in the order in which they start."""
        return [one for kind in _CONTAINERS for one in _maps(self.spec.get(kind))]


def _templates(item: KubernetesObject) -> Iterator[_Template]:
    """The pods that an object describes, at any depth; a suspended one runs nothing."""
    waiting: list[tuple[Any, Mapping[str, Any]]] = [(item, _map(item.get("metadata")))]
    for count, (value, metadata) in enumerate(waiting):
        if count > _MOST_NODES:
            return
        if isinstance(value, _MAPPING):
            if value.get("suspend") is True:
                continue
            own = _map(value.get("metadata")) or metadata
            if any(isinstance(value.get(kind), list) for kind in _CONTAINERS):
                yield _Template(own, value)
            else:
                waiting += [(one, own) for key, one in value.items() if key != "metadata" and isinstance(one, _NESTED)]
        elif isinstance(value, list):
            waiting += [(one, metadata) for one in value if isinstance(one, _MAPPING)]


def _template_of_workload(item: KubernetesObject) -> Iterator[_Template]:
    """The pod that an object of a known type describes, at that type's place; none while it is suspended."""
    spec = _map(item.get("spec"))
    job = _map(_map(spec.get("jobTemplate")).get("spec")) or spec
    if spec.get("suspend") is True or job.get("suspend") is True:
        return
    template = _map(job.get("template"))
    metadata = _map(template.get("metadata")) or _map(item.get("metadata"))
    yield _Template(metadata, _map(template.get("spec")) if template else spec)


def _pod_deeds(template: _Template, namespace: str, around: Surroundings, data: Data) -> list[Deed]:
    runs = list(_runs(template))
    if not runs:
        return []
    programs: Programs | None = None
    for container, words in runs:
        files, claims = _mounted_files(template, container, namespace, data)
        if programs is None:
            programs = Programs(Place(namespace, around.known, claims), files)
        programs.add(files, claims)
        variables = _variables(template, container, namespace, data)
        programs.run([_expand_variables(word, variables) for word in words], variables)
    return programs.deeds if programs is not None else []


def _runs(template: _Template) -> Iterator[tuple[Mapping[str, Any], list[str]]]:
    """The commands of a pod's containers, their hooks and probes."""
    for container in template.containers:
        command, arguments = _texts(container.get("command")), _texts(container.get("args"))
        if command:
            yield container, [*command, *arguments]
        elif arguments:
            # An image runs its arguments, or passes them to the program after which it is named.
            image = str(container.get("image", "")).rpartition("@")[0] or str(container.get("image", ""))
            program = image.rpartition("/")[2].partition(":")[0]
            yield container, arguments
            yield container, [_entrypoint(program), *arguments]
        if isinstance(container.get("source"), str):
            yield container, ["sh", "-c", container["source"]]
        for hook in _HOOKS:
            if words := _texts(_map(_map(_map(container.get("lifecycle")).get(hook)).get("exec")).get("command")):
                yield container, words
        for probe in _PROBES:
            if words := _texts(_map(_map(container.get(probe)).get("exec")).get("command")):
                yield container, words


def _entrypoint(image: str) -> str:
    return next((name for name in ("kubectl", "curl", "wget", "psql", "redis-cli") if name in image), image)


def _expand_variables(word: str, variables: Mapping[str, str]) -> str:
    """A word of a command with the variables that Kubernetes itself expands."""
    if "$(" not in word:
        return word
    for name, value in variables.items():
        word = word.replace(f"$({name})", value)
    return word


def _variables(template: _Template, container: Mapping[str, Any], namespace: str, data: Data) -> dict[str, str]:
    found = {"HOSTNAME": _own_name(template), **_ADDRESS}
    for source in _maps(container.get("envFrom")):
        prefix = str(source.get("prefix") or "")
        for kind, reference in (("configmaps", "configMapRef"), ("secrets", "secretRef")):
            for version in data.get((kind, namespace, str(_map(source.get(reference)).get("name", ""))), ()):
                found |= {f"{prefix}{key}": value for key, value in version.items()}
    for one in _maps(container.get("env")):
        name = str(one.get("name", ""))
        if isinstance(one.get("value"), str):
            found[name] = _expand_variables(one["value"], found)
        else:
            found[name] = _referenced_value(template, _map(one.get("valueFrom")), namespace, data)
    return found


def _referenced_value(template: _Template, source: Mapping[str, Any], namespace: str, data: Data) -> str:
    for kind, reference in (("configmaps", "configMapKeyRef"), ("secrets", "secretKeyRef")):
        if wanted := _map(source.get(reference)):
            versions = data.get((kind, namespace, str(wanted.get("name", ""))), ())
            return next((one[key] for one in versions if (key := str(wanted.get("key", ""))) in one), UNKNOWN)
    return _field(template, str(_map(source.get("fieldRef")).get("fieldPath", "")), namespace)


def _field(template: _Template, path: str, namespace: str) -> str:
    """The value of a field of the pod that the pod itself can be given."""
    if path == "metadata.namespace":
        return namespace
    if path == "metadata.name":
        return _own_name(template)
    for part in ("annotations", "labels"):
        if path.startswith(f"metadata.{part}['"):
            return str(_map(template.metadata.get(part)).get(path.partition("['")[2].removesuffix("']"), ""))
    return UNKNOWN


def _own_name(template: _Template) -> str:
    """The pod's own name; if that is generated, a name that no other pod has."""
    return str(template.metadata.get("name") or "the-pod-itself")


def _mounted_files(
    template: _Template, container: Mapping[str, Any], namespace: str, data: Data
) -> tuple[dict[str, str], dict[str, str]]:
    """The files in a container's volumes, by path, and the claims, by mount path."""
    volumes = {str(volume.get("name", "")): volume for volume in _maps(template.spec.get("volumes"))}
    files: dict[str, str] = {}
    claims: dict[str, str] = {}
    for mount in _maps(container.get("volumeMounts")):
        path, part = str(mount.get("mountPath", "")).rstrip("/"), str(mount.get("subPath") or "")
        volume = volumes.get(str(mount.get("name", "")), {})
        if claim := _map(volume.get("persistentVolumeClaim")).get("claimName"):
            claims[path] = str(claim)
        for name, text in _volume_files(template, volume, namespace, data).items():
            if not part:
                files[f"{path}/{name}"] = text
            elif part == name:
                files[path] = text
    return files, claims


def _volume_files(template: _Template, volume: Mapping[str, Any], namespace: str, data: Data) -> dict[str, str]:
    found: dict[str, str] = {}
    for source in (volume, *_maps(_map(volume.get("projected")).get("sources"))):
        for kind, reference in (("configmaps", "configMap"), ("secrets", "secret")):
            wanted = _map(source.get(reference))
            name = str(wanted.get("name") or wanted.get("secretName") or "")
            paths = {str(one.get("key", "")): str(one.get("path", "")) for one in _maps(wanted.get("items"))}
            for version in data.get((kind, namespace, name), ()):
                found |= {paths.get(key, key): value for key, value in version.items() if not paths or key in paths}
        for one in _maps(_map(source.get("downwardAPI")).get("items")):
            path = str(_map(one.get("fieldRef")).get("fieldPath", ""))
            found[str(one.get("path", ""))] = _field(template, path, namespace)
    return found


def _data(calls: Iterable[AuditEntry], around: Surroundings) -> dict[tuple[str, str, str], list[Mapping[str, str]]]:
    """Every version of configmaps and secrets that the snapshots or the agent's own writes show, latest last."""
    found: dict[tuple[str, str, str], list[Mapping[str, str]]] = {}
    for noun, plural in (("configmap", "configmaps"), ("secret", "secrets")):
        for item in around.known.of_type(BY_NOUN[noun]):
            found.setdefault((plural, namespace_of(item), name_of(item)), []).append(_plain_data(item, plural))
    for call in calls:
        if call.resource in _FILES and not call.group and call.verb in STORE_VERBS and not is_dry_run(call):
            written = resulting_object(call, around.previous(call))
            if written is not None:
                found.setdefault(_file_key(call), []).append(_plain_data(written, call.resource))
    return found


def _plain_data(item: KubernetesObject, plural: str) -> Mapping[str, str]:
    stored = {str(key): value for key, value in _map(item.get("data")).items() if isinstance(value, str)}
    if plural != "secrets":
        encoded = _map(item.get("binaryData"))
        return stored | {str(key): _decode_value(value) for key, value in encoded.items() if isinstance(value, str)}
    return {key: _decode_value(value) for key, value in stored.items()}


def _decode_value(value: str) -> str:
    try:
        return b64decode(value, validate=True).decode(errors="replace")
    except ValueError:
        return value


def _deeds_of_rewrite(call: AuditEntry, around: Surroundings, data: Data, users: Users) -> Iterator[Deed]:
    """What existing pods do once the file or variable has the content that the call gives it."""
    key, row = _file_key(call), resource_of(call)
    old = around.before.find(row, call.namespace, target_name(call)) if row is not None else None
    before = {**data, key: [_plain_data(old, call.resource)] if old is not None else []}
    for item in users.get(key, ()):
        had = dict.fromkeys(map(_key, _pods_deeds(item, call.namespace, around, before)))
        yield from (one for one in _pods_deeds(item, call.namespace, around, data) if _key(one) not in had)


def _references(template: _Template) -> Iterator[tuple[str, str]]:
    """The configmaps and secrets whose values a pod is given, by plural and name."""
    for volume in _maps(template.spec.get("volumes")):
        for source in (volume, *_maps(_map(volume.get("projected")).get("sources"))):
            yield from (("configmaps", str(name)) for name in (_map(source.get("configMap")).get("name"),) if name)
            secret = _map(source.get("secret"))
            yield from (("secrets", str(name)) for name in (secret.get("secretName") or secret.get("name"),) if name)
    for container in template.containers:
        for source in (
            *_maps(container.get("envFrom")),
            *(_map(one.get("valueFrom")) for one in _maps(container.get("env"))),
        ):
            for plural, keys in (
                ("configmaps", ("configMapRef", "configMapKeyRef")),
                ("secrets", ("secretRef", "secretKeyRef")),
            ):
                yield from (
                    (plural, str(_map(source.get(key))["name"])) for key in keys if _map(source.get(key)).get("name")
                )


def _newly_handed_secrets(
    item: KubernetesObject, first: KubernetesObject | None, namespace: str, around: Surroundings
) -> Iterator[Deed]:
    """Reads of the secrets that a pod of the agent's making is given.

    A workload that existed before and runs what it always ran reads its secrets itself, not for the agent; a copy of an
    existing pod is not new either.
    """
    known = list(_templates(first or {}))
    had = {one for template in known for one in _references(template)}
    for template in _templates(item):
        wanted = [name for plural, name in _references(template) if plural == "secrets" and (plural, name) not in had]
        is_as_before = _containers(template) in [_containers(one) for one in known]
        if wanted and not is_as_before and not _is_copy(template, namespace, around):
            yield from (Deed("get", "secrets", name, namespace, program="its pod") for name in dict.fromkeys(wanted))


def _is_copy(template: _Template, namespace: str, around: Surroundings) -> bool:
    """Whether a pod with the same containers and secrets existed before, as when a job is made from a cronjob."""
    wanted = _outline(template)
    return any(
        _outline(known) == wanted
        for row in _WORKLOADS
        for item in around.before.of_type(row, namespace)
        for known in _templates(item)
    )


def _outline(template: _Template) -> list[Any]:
    return [*_containers(template), set(_references(template))]


def _containers(template: _Template) -> list[Any]:
    return [(one.get("image"), _texts(one.get("command")), _texts(one.get("args"))) for one in template.containers]


def _deeds_of_stream(call: AuditEntry, around: Surroundings, data: Data) -> Iterator[Deed]:
    """What a command in a pod does, or a request that is proxied to another server of the API or to a node."""
    if call.subresource == "exec":
        words = [value for name, value in _query_pairs(call) if name == "command"]
        container = query_of(call).get("container", "")
        yield from _in_pod(words, call.namespace, call.name, container, around, data)
        yield from _shown_in_pod(words, call.namespace, call.name, container, around, data)
        return
    tail = call.uri.partition("?")[0].partition("/proxy/")[2]
    method = _METHODS.get(call.verb, "GET")
    if tail.startswith(("api/", "apis/")):
        query = call.uri.partition("?")[2]
        deed = request_deed(method, f"/{tail}?{query}", call.request, f"{call.resource}/proxy")
        yield from () if deed is None else (deed,)
    parts = tail.split("/")
    if call.resource == "nodes" and parts[0] in _KUBELET_RUNS and len(parts) > 2:
        yield Deed("create", "pods", parts[2], parts[1], "", "exec", program="kubelet")
        words = [value for name, value in _query_pairs(call) if name == _KUBELET_RUNS[parts[0]]]
        words = words[0].split() if parts[0] == "run" and words else words
        container = parts[3] if len(parts) > 3 else ""
        yield from _in_pod(words, parts[1], parts[2], container, around, data)
        yield from _shown_in_pod(words, parts[1], parts[2], container, around, data)


def _in_pod(
    words: Sequence[str], namespace: str, pod: str, container: str, around: Surroundings, data: Data
) -> list[Deed]:
    """What a command does in an existing pod, with the pod's variables and files if it is known."""
    if not words:
        return []
    template, chosen = _container_in(namespace, pod, container, around)
    files, claims = _mounted_files(template, chosen, namespace, data)
    programs = Programs(Place(namespace, around.known, claims), files)
    programs.run(words, _variables(template, chosen, namespace, data))
    return programs.deeds


def _container_in(
    namespace: str, pod: str, container: str, around: Surroundings
) -> tuple[_Template, Mapping[str, Any]]:
    """An existing pod, and the container in it that is meant; both empty if unknown."""
    item = around.known.find(BY_NOUN["pod"], namespace, pod) or {}
    template = next(_templates(item), _Template({}, {}))
    kept = _maps(template.spec.get("containers"))
    return template, next((one for one in kept if container in {"", one.get("name")}), {})


def _shown_in_pod(
    words: Sequence[str], namespace: str, pod: str, container: str, around: Surroundings, data: Data
) -> Iterator[Deed]:
    """Reads of the secrets that a pod was given, where a command in it writes their values out."""
    template, chosen = _container_in(namespace, pod, container, around)
    return _shown_secrets(words, template, chosen, chosen, namespace, data)


def _shown_beside(item: KubernetesObject, namespace: str, data: Data) -> Iterator[Deed]:
    """The same for containers that are added beside another one and look at its process."""
    for template in _templates(item):
        for one in _maps(template.spec.get("ephemeralContainers")):
            words = [*_texts(one.get("command")), *_texts(one.get("args"))]
            kept = _maps(template.spec.get("containers"))
            beside = next((other for other in kept if other.get("name") == one.get("targetContainerName")), {})
            yield from _shown_secrets(words, template, one, beside, namespace, data)


def _shown_secrets(
    words: Sequence[str],
    template: _Template,
    container: Mapping[str, Any],
    process: Mapping[str, Any],
    namespace: str,
    data: Data,
) -> Iterator[Deed]:
    """Reads of secrets whose values a command writes out, found by marking each value and searching the output."""
    names = [name for plural, name in dict.fromkeys(_references(template)) if plural == "secrets"][: len(MARKS)]
    if not names or not words:
        return
    marks = {name: chr(point) for name, point in zip(names, MARKS, strict=False)}
    hidden = {
        ("secrets", namespace, name): [{key: mark for one in data.get(("secrets", namespace, name), ()) for key in one}]
        for name, mark in marks.items()
    }
    marked = {**data, **hidden}
    variables = _variables(template, container, namespace, marked)
    files, _ = _mounted_files(template, container, namespace, marked)
    if process:
        environment = "\0".join(
            f"{key}={value}" for key, value in _variables(template, process, namespace, marked).items()
        )
        files |= {f"/proc/{number}/environ": environment for number in ("1", "self", "7")}
        files |= {
            f"/proc/1/root{path}": text
            for path, text in _mounted_files(template, process, namespace, marked)[0].items()
        }
    shown = Shell(variables, files, lambda command: _seen_by_code(command, variables, files)).output_of(words)
    yield from (
        Deed("get", "secrets", name, namespace, program=words[0]) for name, mark in marks.items() if mark in shown
    )


def _seen_by_code(command: Command, variables: Mapping[str, str], files: Mapping[str, str]) -> str | None:
    """The possible output of a program in another language that looks at its variables or at files that it names."""
    text = " ".join((*command.words[1:], command.stdin))
    if not INTERPRETER.fullmatch(command.program):
        return None
    seen = [*variables.values()] if _LOOKS_AT_VARIABLES.search(text) else []
    return "\n".join((*seen, *(held for path, held in files.items() if path in text)))


def _query_pairs(call: AuditEntry) -> list[tuple[str, str]]:
    try:
        return parse_qsl(call.uri.partition("?")[2], keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        return []


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, _MAPPING) else {}


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, _MAPPING)] if isinstance(value, list | tuple) else []


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list | tuple) else []
