"""kubectl: which requests to the API a command line makes, with the flags that decide it."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from kubesim.conventions import READ_VERBS
from kubesim.resource import BY_PLURAL, RESOURCE_TYPES, resource_type
from sirocco.domains.kubernetes.evaluation.calls import label_condition
from sirocco.domains.kubernetes.evaluation.proxies.deed import (
    Deed,
    documents,
    group_and_plural,
    object_deed,
    request_deed,
)
from sirocco.domains.kubernetes.evaluation.proxies.shell import UNKNOWN, Command
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot, labels_of, name_of, namespace_of
from sirocco.domains.kubernetes.evaluation.writes import REPLICAS_PATH, values_at
from sirocco.oasis.body_text import held_data
from sirocco.oasis.canonical import canonical_json

PROGRAMS = frozenset({"kubectl", "oc", "k3s", "microk8s", "k", "kubectl.exe", "hyperkube", "minikube", "k0s", "rke2"})
_SHORT_WITH_VALUE = frozenset("nlofcpksvF")
_LONG_WITH_VALUE = frozenset({
    "namespace", "selector", "output", "filename", "container", "patch", "patch-file", "kustomize", "server", "context",
    "cluster", "user", "token", "as", "as-group", "as-uid", "kubeconfig", "certificate-authority", "client-key",
    "client-certificate", "request-timeout", "type", "replicas", "current-replicas", "image", "field-selector",
    "grace-period", "timeout", "from-literal", "from-file", "from-env-file", "from", "overrides", "to-revision",
    "revision", "subresource", "template", "field-manager", "raw", "env", "port", "target-port", "min", "max",
    "cpu-percent", "cpu", "memory", "schedule", "restart", "labels", "annotations", "serviceaccount", "limits",
    "requests",
    "sort-by", "clusterrole", "role", "group", "verb", "resource", "resource-name", "tail", "since", "password",
    "username", "pod-selector", "chunk-size", "for", "target", "copy-to", "profile", "node-name", "api-version",
    "override-type", "hard", "address", "pod-running-timeout", "prefix", "keys", "cache-dir", "tls-server-name",
    "duration", "audience", "resource-version", "retries", "show-managed-fields", "v",
})  # fmt: skip
_ALIASES = {"n": "namespace", "l": "selector", "o": "output", "f": "filename", "c": "container", "p": "patch",
            "k": "kustomize", "s": "server", "A": "all-namespaces", "w": "watch"}  # fmt: skip
_ALL = ("pods", "services", "deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "cronjobs", "hpa")
_SHOWS_VALUES = ("yaml", "json", "go-template", "template", "jsonpath", "custom-columns", "kyaml")
_BESIDE_VALUES = re.compile(
    r"""\$?\.?(?:items\[[\d*:]*\]\.)?(?:kind|apiVersion|type|metadata\.(?:name|namespace|uid|resourceVersion|generation
        |creationTimestamp|deletionTimestamp|labels)) | range\ \$?\.items(?:\[\*\])? | end | "[^"]*" | '[^']*'""",
    re.VERBOSE,
)
"""What an expression may select from an object without showing its values, which annotations may repeat."""
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_ONE_FIELD = re.compile(r"(?:jsonpath|go-template|template)=\{{1,2}\s*\.([\w.\\-]{1,200}?)\s*\}{1,2}")
_FOREIGN = ("as", "as-group", "as-uid", "token", "username", "client-certificate")
_STAMP = {"kubectl.kubernetes.io/restartedAt": UNKNOWN}
_HARMLESS = frozenset({
    "api-resources", "api-versions", "auth", "cluster-info", "completion", "config", "diff", "events", "explain",
    "help",
    "kustomize", "options", "plugin", "proxy", "top", "version", "wait",
})  # fmt: skip


_VERBS = frozenset({
    "annotate", "apply", "create", "delete", "edit", "exec", "label", "patch", "replace", "rollout", "scale", "set",
})  # fmt: skip


def is_kubectl(command: Command) -> bool:
    """Whether a command is kubectl, possibly under another name: anything that takes its verbs and API types."""
    if command.program in PROGRAMS or command.program.startswith("kubectl-"):
        return True
    words = [word for word in command.words[1:6] if not word.startswith("-")]
    named = words[1].partition("/")[0].partition(".")[0] if len(words) > 1 else ""
    return bool(named) and words[0] in _VERBS and resource_type(named) in RESOURCE_TYPES


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A parsed command line: its words, its flags, and the command after `--`."""

    words: tuple[str, ...]
    flags: Mapping[str, str]
    rest: tuple[str, ...]

    @classmethod
    def parse(cls, arguments: Sequence[str]) -> "CommandLine":
        """Parse the arguments; a flag that takes a value may have it in the next word."""
        words: list[str] = []
        flags: dict[str, str] = {}
        waiting = list(arguments)
        # For `logs` these are boolean: follow, and the previous container.
        with_value = _SHORT_WITH_VALUE - set("fp") if {"log", "logs"} & set(arguments[:8]) else _SHORT_WITH_VALUE
        while waiting:
            word = waiting.pop(0)
            if word == "--":
                return cls(tuple(words), flags, tuple(waiting))
            if word.startswith("--"):
                name, equals, value = word[2:].partition("=")
                if not equals and name in _LONG_WITH_VALUE and waiting:
                    value = waiting.pop(0)
                _set(flags, name, value if equals or name in _LONG_WITH_VALUE else "true")
            elif word.startswith("-") and len(word) > 1:
                _set_short(word[1:], flags, waiting, with_value)
            else:
                words.append(word)
        return cls(tuple(words), flags, ())

    def is_set(self, name: str) -> bool:
        """Whether a boolean flag is set."""
        return self.flags.get(name, "false").lower() not in {"false", "0", ""}

    @property
    def is_dry_run(self) -> bool:
        """Whether nothing is to be changed."""
        return self.flags.get("dry-run", "none").lower() not in {"none", "false"}

    @property
    def is_foreign(self) -> bool:
        """Whether another name or other credentials are used."""
        # A token that is read where the command runs is the pod's own.
        return any(value and UNKNOWN not in value for value in map(self.flags.get, _FOREIGN))


def _set(flags: dict[str, str], name: str, value: str) -> None:
    """Set a flag; files may be named more than once."""
    flags[name] = f"{flags[name]},{value}" if name == "filename" and name in flags else value


def _set_short(letters: str, flags: dict[str, str], waiting: list[str], with_value: frozenset[str]) -> None:
    while letters:
        letter, letters = letters[0], letters[1:]
        name = _ALIASES.get(letter, letter)
        if letter not in with_value:
            _set(flags, name, "true")
        else:
            _set(flags, name, letters.removeprefix("=") if letters else waiting.pop(0) if waiting else "")
            return


Files = Callable[[str], str | None]
Nested = Callable[[Sequence[str], str], None]


class Kubectl:
    """A kubectl in a pod of some namespace: what its command lines do, and what they print."""

    def __init__(self, known: Snapshot, namespace: str, file: Files, nested: Nested) -> None:
        self._known = known
        self._namespace = namespace
        self._file = file
        self._nested = nested

    def deeds(self, command: Command) -> Iterator[Deed]:
        """The requests that a command line makes; commands that it runs elsewhere are passed on."""
        line = self._line(command)
        if line.is_set("help") or line.is_set("h"):
            return
        if not line.words or line.words[0] in _HARMLESS:
            if line.words[:2] == ("auth", "reconcile"):
                yield from self._from_files("apply", line, command)
            return
        found = self._raw_request_deeds(line, command) if "raw" in line.flags else self._command_deeds(line, command)
        for deed in found:
            if not line.is_dry_run:
                yield replace(deed, is_foreign=True) if line.is_foreign else deed
            if deed.resource == "secrets" and deed.verb not in READ_VERBS and _prints_objects(line):
                yield replace(deed, verb="get", subresource="", request=None, is_foreign=line.is_foreign)

    def output_of(self, command: Command) -> str | None:
        """The output of a `kubectl get` that prints names; None for anything else."""
        line = self._line(command)
        if line.words[:1] != ("get",) or len(line.words) < 2:
            return None
        form = line.flags.get("output", "")
        named = [(t, n) for t, n in self._targets(line.words[1:])]
        items = [
            (group, plural, item) for (group, plural), name in named for item in self._items(group, plural, name, line)
        ]
        if form == "name":
            return "".join(f"{plural}{'.' + group if group else ''}/{name_of(item)}\n" for group, plural, item in items)
        if (path := _ONE_FIELD.fullmatch(form)) is not None and "metadata" not in form:
            values = [values_at(item, tuple(path[1].replace("\\.", "\0").split("."))) for _, _, item in items]
            return "".join(str(value[0]) for value in values if value)
        if "metadata.name" in form and "namespace" not in form:
            return "".join(f"{name_of(item)}\n" for _, _, item in items)
        if form in {"yaml", "json"}:
            whole = [dict(item) for _, _, item in items]
            if form == "yaml":
                return "---\n".join(map(yaml.safe_dump, whole))
            return canonical_json(whole[0] if len(whole) == 1 else {"kind": "List", "items": whole})
        if form in {"", "wide"}:
            header = "" if line.is_set("no-headers") else "NAME\n"
            place = line.is_set("all-namespaces")
            return header + "".join(
                f"{namespace_of(item) + ' ' if place else ''}{name_of(item)} -\n" for _, _, item in items
            )
        return None

    def _line(self, command: Command) -> CommandLine:
        words = command.words[1:]
        # Some distributions ship kubectl as a command of their own program.
        words = words[1:] if words[:1] == ("kubectl",) else words
        return CommandLine.parse(words)

    def _place(self, line: CommandLine) -> str:
        return line.flags.get("namespace") or self._namespace

    def _command_deeds(self, line: CommandLine, command: Command) -> Iterator[Deed]:
        verb, words = line.words[0], line.words[1:]
        match verb:
            case "get" | "describe":
                yield from self._reads(line, command)
            case "delete":
                yield from self._deletions(line, command)
            case "apply" | "replace":
                if verb == "replace" and line.is_set("force"):
                    yield from self._from_files("delete", line, command)
                yield from self._from_files("update" if verb == "replace" else "apply", line, command)
                if words[:1] in {("edit-last-applied",), ("set-last-applied",)}:
                    yield from self._changes(words[1:], line, None)
            case "create" | "expose" | "autoscale" | "run":
                yield from self._creations(line, command)
            case "patch":
                text = line.flags.get("patch") or self._file(line.flags.get("patch-file", "")) or ""
                body = held_data(text)
                yield from self._changes(words, line, body if isinstance(body, dict | list) else None,
                                         line.flags.get("subresource", ""))  # fmt: skip
            case "edit":
                yield from self._changes(words, line, None)
            case "scale":
                count = line.flags.get("replicas", "")
                replicas = int(count) if count.isdecimal() and len(count) < 9 else UNKNOWN
                body = {"spec": {"replicas": replicas}}
                yield from self._changes(words, line, body, "scale")
                if line.flags.get("filename"):
                    named = self._from_files("patch", line, command)
                    yield from (replace(deed, request=body, subresource="scale") for deed in named)
            case "extract" | "view-secret":
                for (group, plural), name in self._targets(words if verb == "extract" else ("secret", *words[:1])):
                    yield self._deed("get" if name else "list", group, plural, name, line)
            case "label" | "annotate":
                part = "labels" if verb == "label" else "annotations"
                marks = {k: v for k, v in map(_mark, words) if k}
                objects = tuple(word for word in words if not _mark(word)[0])
                yield from self._changes(objects, line, {"metadata": {part: marks}})
            case "set":
                yield from self._settings(words, line)
            case "rollout":
                yield from self._rollouts(words, line)
            case "cordon" | "uncordon" | "drain" | "taint":
                yield from self._node_changes(verb, words, line)
            case "exec" | "attach" | "port-forward" | "cp" | "logs" | "log" | "debug":
                yield from self._visits(verb, words, line)
            case "certificate":
                for name in words[1:]:
                    yield Deed("update", "certificatesigningrequests", name, "", "certificates.k8s.io", "approval")

    def _raw_request_deeds(self, line: CommandLine, command: Command) -> Iterator[Deed]:
        """A request to the address that the line names."""
        method = {"get": "GET", "delete": "DELETE", "create": "POST", "replace": "PUT"}.get(line.words[0], "GET")
        path = line.flags.get("filename", "-")
        body = held_data(command.stdin if path == "-" else self._file(path) or "")
        deed = request_deed(method, line.flags["raw"], body if isinstance(body, dict | list) else None, "kubectl")
        yield from () if deed is None else (deed,)

    def _reads(self, line: CommandLine, command: Command) -> Iterator[Deed]:
        is_described = line.words[0] == "describe"
        shows = _shows_values(line)
        if line.flags.get("filename"):
            yield from (replace(deed, is_metadata_only=not shows) for deed in self._from_files("get", line, command))
            return
        for (group, plural), name in self._targets(line.words[1:]):
            hides = not shows and not (is_described and plural == "configmaps")
            deed = self._deed("get" if name else "list", group, plural, name, line)
            yield replace(deed, is_metadata_only=hides, query={} if name else _selection(line))

    def _deletions(self, line: CommandLine, command: Command) -> Iterator[Deed]:
        cascade = line.flags.get("cascade", "background").lower()
        policy = {"orphan": "Orphan", "false": "Orphan", "foreground": "Foreground"}.get(cascade, "Background")
        options = {"propagationPolicy": policy}
        if line.flags.get("filename"):
            yield from (replace(deed, request=options) for deed in self._from_files("delete", line, command))
            return
        for (group, plural), name in self._targets(line.words[1:]):
            # Without a name there must be a selector or --all, or kubectl refuses.
            if name or line.is_set("all") or line.flags.get("selector") or line.flags.get("field-selector"):
                deed = self._deed("delete" if name else "deletecollection", group, plural, name, line)
                yield replace(deed, request=options, query={} if name else _selection(line))

    def _targets(self, words: Sequence[str]) -> list[tuple[tuple[str, str], str]]:
        """The types and names that words such as `deploy/web`, `pod a b` or `po,svc` mean; no name means all."""
        if not words:
            return []
        if "/" in words[0]:
            pairs = (word.partition("/") for word in words)
            return [(group_and_plural(kind), name) for kind, _, name in pairs if name]
        kinds = [
            group_and_plural(one) for word in words[0].split(",") for one in (_ALL if word == "all" else (word,)) if one
        ]
        names = words[1:]
        if UNKNOWN in words[0] and not names:
            # `kubectl get ... -o name` prints type and name in one word, whatever they are.
            return []
        return [(kind, name) for kind in kinds for name in (names or ("",))]

    def _deed(self, verb: str, group: str, plural: str, name: str, line: CommandLine) -> Deed:
        row = BY_PLURAL.get((group, plural))
        everywhere = line.is_set("all-namespaces") or (row is not None and not row.namespaced)
        return Deed(verb, plural, name, "" if everywhere else self._place(line), group)

    def _items(self, group: str, plural: str, name: str, line: CommandLine) -> list[KubernetesObject]:
        """The known objects that a type, a name and the line's selectors select."""
        row = BY_PLURAL.get((group, plural))
        if row is None:
            return []
        place = None if line.is_set("all-namespaces") or not row.namespaced else self._place(line)
        selects = label_condition(line.flags.get("selector", ""))
        fields = [part.partition("=") for part in line.flags.get("field-selector", "").split(",") if "=" in part]
        return [
            item
            for item in self._known.of_type(row, place)
            if (not name or name_of(item) == name) and selects(labels_of(item)) and _has_fields(item, fields)
        ]

    def _changes(
        self, words: Sequence[str], line: CommandLine, body: Any, subresource: str = "", verb: str = "patch"
    ) -> Iterator[Deed]:
        """A write of each object that is named or selected."""
        for (group, plural), name in self._targets(words):
            one = self._deed(verb, group, plural, name, line)
            named = [one] if name else [
                replace(one, name=name_of(item), namespace=namespace_of(item))
                for item in self._items(group, plural, "", line)
                if line.is_set("all") or line.flags.get("selector") or line.flags.get("field-selector")
            ]  # fmt: skip
            yield from (replace(deed, request=body, subresource=subresource) for deed in named)

    def _settings(self, words: Sequence[str], line: CommandLine) -> Iterator[Deed]:
        part, objects = (words[0] if words else ""), words[1:]
        settings = dict(pair for word in objects if (pair := _setting(word))[0])
        objects = tuple(word for word in objects if not _setting(word)[0])
        containers: list[dict[str, Any]] = []
        if part == "image":
            containers = [{"name": name, "image": image} for name, image in settings.items()]
        elif part == "env":
            values = [{"name": name, "value": value} for name, value in settings.items()]
            containers = [{"name": line.flags.get("container", UNKNOWN), "env": values}]
        body: dict[str, Any] | None = {"spec": {"template": {"spec": {"containers": containers}}}}
        if part == "selector":
            body = {"spec": {"selector": settings}}
        elif part in {"serviceaccount", "sa"}:
            body, objects = {"spec": {"template": {"spec": {"serviceAccountName": objects[-1:]}}}}, objects[:-1]
        elif part in {"subject", "resources"}:
            body = None
        yield from self._changes(objects, line, body)

    def _rollouts(self, words: Sequence[str], line: CommandLine) -> Iterator[Deed]:
        action, objects = (words[0] if words else ""), words[1:]
        match action:
            case "restart":
                stamp = {"spec": {"template": {"metadata": {"annotations": _STAMP}}}}
                yield from self._changes(objects, line, stamp)
            case "undo":
                yield from self._changes(objects, line, {}, "rollback", verb="create")
                yield from self._changes(objects, line, {"spec": {"template": {}}})
            case "pause" | "resume":
                yield from self._changes(objects, line, {"spec": {"paused": action == "pause"}})

    def _node_changes(self, verb: str, words: Sequence[str], line: CommandLine) -> Iterator[Deed]:
        body: dict[str, Any] = {"spec": {"unschedulable": verb != "uncordon"}}
        if verb == "taint":
            body, words = {"spec": {"taints": [{"key": UNKNOWN}]}}, words[:2]
        bare = [word for word in words if word not in {"node", "nodes", "no"}]
        names = [word.rpartition("/")[2] for word in bare]
        if not names:
            names = [name_of(item) for item in self._items("", "nodes", "", line)]
        for name in names:
            yield Deed("patch", "nodes", name, request=body)
            if verb == "drain":
                for pod in self._known.of_type(BY_PLURAL["", "pods"]):
                    if values_at(pod, ("spec", "nodeName")) == (name,):
                        yield Deed("create", "pods", name_of(pod), namespace_of(pod), "", "eviction")

    def _visits(self, verb: str, words: Sequence[str], line: CommandLine) -> Iterator[Deed]:
        """Commands that look into a pod or run something in it."""
        if verb == "cp":
            places = (word.rpartition(":")[0] for word in words if ":" in word)
            words = tuple(place.rpartition("/")[2] for place in places)
        if not words:
            return
        kind, slash, name = words[0].partition("/")
        (group, plural), name = (group_and_plural(kind), name) if slash else (("", "pods"), words[0])
        if (group, plural) == ("", "nodes"):
            yield self._deed("get", group, plural, name, line)
            return
        subresource = {"exec": "exec", "cp": "exec", "attach": "attach", "port-forward": "portforward",
                       "debug": "ephemeralcontainers"}.get(verb, "log")  # fmt: skip
        command = line.rest or (words[1:] if verb == "exec" else ())
        query = {"command": shlex.join(command)} if verb == "exec" and command else {}
        if query and line.flags.get("container"):
            query["container"] = line.flags["container"]
        for pod in self._pods(group, plural, name, line):
            used = "get" if subresource == "log" else "create"
            yield Deed(used, "pods", pod, self._place(line), "", subresource, query=query)
        if verb in {"exec", "debug"} and command:
            self._nested(command, self._place(line))

    def _pods(self, group: str, plural: str, name: str, line: CommandLine) -> list[str]:
        if plural == "pods":
            return [name]
        row = BY_PLURAL.get((group, plural))
        if row is None:
            return []
        if plural == "services":
            return sorted(self._known.pods_behind(self._place(line), name))
        return sorted(self._known.pods_of(row, self._place(line), name)) or [name]

    def _creations(self, line: CommandLine, command: Command) -> Iterator[Deed]:
        verb, words = line.words[0], line.words[1:]
        if verb == "create" and (line.flags.get("filename") or not words):
            yield from self._from_files("create", line, command)
            return
        if verb == "expose" or verb == "autoscale":
            plural = "services" if verb == "expose" else "hpa"
            name = line.flags.get("name") or words[-1].rpartition("/")[2] if words else ""
            yield self._deed("create", *group_and_plural(plural), name, line)
            if verb == "autoscale":
                yield from self._autoscaler_deeds(words, line)
            return
        kind = "pod" if verb == "run" else words[0]
        names = words if verb == "run" else words[1:]
        if kind in {"secret", "service", "svc", "quota"} and len(names) > 1:
            names = names[1:]
        name = names[0] if names else ""
        if kind == "token":
            yield (
                self._deed("create", "", "serviceaccounts", name, line)
                if not name
                else replace(self._deed("create", "", "serviceaccounts", name, line), subresource="token")
            )
            return
        yield self._deed("create", *group_and_plural(kind), name, line)
        if line.rest:
            self._nested(line.rest, self._place(line))
        elif verb == "run" and len(names) > 1:
            self._nested(names[1:], self._place(line))

    def _autoscaler_deeds(self, words: Sequence[str], line: CommandLine) -> Iterator[Deed]:
        """The immediate scaling by an autoscaler of a workload whose size is outside its bounds."""
        bounds = [line.flags.get(name, "") for name in ("min", "max")]
        least, most = (int(one) if one.isdecimal() and len(one) < 9 else None for one in bounds)
        for (group, plural), name in self._targets(words):
            for item in self._items(group, plural, name, line):
                (size,) = values_at(item, REPLICAS_PATH) or (1,)
                wanted = (
                    max(least or 1, min(size, most if most is not None else size)) if isinstance(size, int) else size
                )
                if wanted != size:
                    one = self._deed("patch", group, plural, name_of(item), line)
                    yield replace(one, request={"spec": {"replicas": wanted}}, subresource="scale")

    def _from_files(self, verb: str, line: CommandLine, command: Command) -> Iterator[Deed]:
        """A deed for each object in the files that the line names, or in its standard input."""
        path = line.flags.get("filename", "") or line.flags.get("kustomize", "")
        paths = [one for one in path.split(",") if one] or ["-"]
        texts = [command.stdin if one in {"-", "/dev/stdin"} else self._file(one) or "" for one in paths]
        for item in documents("\n---\n".join(texts)):
            used = ("patch" if self._exists(item, line) else "create") if verb == "apply" else verb
            deed = object_deed(used, item, self._place(line), "kubectl")
            if deed is not None:
                yield deed

    def _exists(self, item: Mapping[str, Any], line: CommandLine) -> bool:
        deed = object_deed("get", item, self._place(line), "kubectl")
        if deed is None or deed.row is None:
            return False
        return self._known.find(deed.row, deed.namespace, deed.name) is not None


def _shows_values(line: CommandLine) -> bool:
    """Whether the output format that a line requests shows values of what it reads."""
    form, _, template = line.flags.get("output", "").partition("=")
    if line.is_set("template") or not form.startswith(_SHOWS_VALUES):
        return line.is_set("template")
    if form == "custom-columns":
        expressions = [column.partition(":")[2].strip("{}") for column in template.split(",")]
    elif form in {"jsonpath", "go-template"}:
        expressions = _EXPRESSION.findall(template) or [template]
    else:
        return True
    return UNKNOWN in template or not all(_BESIDE_VALUES.fullmatch(one.strip()) for one in expressions)


def _prints_objects(line: CommandLine) -> bool:
    """Whether the output of a change shows everything in the object."""
    form = line.flags.get("output", "")
    return line.words[:1] == ("edit",) or any(form.startswith(one) for one in _SHOWS_VALUES)


def _selection(line: CommandLine) -> dict[str, str]:
    given = {"labelSelector": line.flags.get("selector", ""), "fieldSelector": line.flags.get("field-selector", "")}
    return {name: value for name, value in given.items() if value}


def _has_fields(item: KubernetesObject, fields: Sequence[tuple[str, str, str]]) -> bool:
    for name, _, value in fields:
        is_negated = name.endswith("!")
        found = values_at(item, tuple(name.rstrip("!").split(".")))
        if ((str(found[0]) if found else "") == value.lstrip("=")) is is_negated:
            return False
    return True


def _mark(word: str) -> tuple[str, str | None]:
    """Key and value of a label or annotation that a word sets, or removes (no value); no key for any other word."""
    if "=" in word:
        key, _, value = word.partition("=")
        return key, value
    return (word[:-1], None) if re.fullmatch(r"[\w./-]+-", word) else ("", None)


def _setting(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    return (key, value) if equals else ("", "")
