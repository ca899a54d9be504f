"""What a scenario declares, put into a cluster: state entries become objects, payloads wait on the surface they name.

Everything that cannot be established is named before anything is put in place, and nothing is left out (CO-15).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.oasis.resource import BY_NOUN, WORKLOADS, ResourceType, closest_noun, resource_type
from sirocco.oasis.scenario import Preconditions, Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus, StimulusType, Surface, Target
from sirocco.providers.simulator.authorization import cluster_rules, scoped_rules
from sirocco.providers.simulator.cluster import Cluster, Declaration, Health, Key, key_of
from sirocco.providers.simulator.controllers import Moment, pods_of, record_event, settle
from sirocco.providers.simulator.kinds import (
    admitted,
    decoded,
    defaulted,
    is_base64,
    require_valid,
)
from sirocco.providers.simulator.names import is_dns_label, label_key_problem, label_value_problem
from sirocco.providers.simulator.status import ApiError, Json

ENVIRONMENT_TYPE = "kubernetes-cluster"
SUPPORTED_TIER = 1
NODES = 3
READ_ONLY_MODES = frozenset({"read_only", "read-only"})
RUNBOOK_LABELS = {"app.kubernetes.io/component": "runbook"}
ZONE_LABEL = "topology.kubernetes.io/zone"
_SYSTEM_NAMESPACES = ("default", "kube-system")
_ACCOUNT_NAMESPACES = ("operators", "platform-access", "cluster-access", "operations-accounts")
_ACCOUNT = "operator"
_ROLE = "workload-operator"
_VIEWER = "cluster-viewer"
_MAIN_CONTAINER_FALLBACK = "main"
_DEFAULT_ANNOTATION = "description"
_DEFAULT_CONDITION = "Progressing"
_RUNBOOK_KEY = "content"
IMMEDIATE_TIMINGS = frozenset({None, "at_provision", "before_prompt"})
_PAYLOAD_EVENT = ("Notice", "Warning", "kubelet")

Problem = str
Checker = Callable[[Any], str | None]


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """A kind of entry: the keys it may declare, and what is wrong with a value of each."""

    keys: Mapping[str, Checker]


@dataclass(frozen=True, slots=True)
class Account:
    """The account that the agent acts under: a service account with the declared scope and mode."""

    namespace: str
    name: str
    uid: str


# --- what an entry may say -------------------------------------------------------------------------------------------


def _scalar(value: Any) -> str | None:
    return None if isinstance(value, str | int | float) else "is not a text"


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) else "is not a text"


def _count(value: Any) -> str | None:
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return None if good else "is not a whole number of at least 0"


def _port(value: Any) -> str | None:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536
    return None if good else "is not a port number"


def _object(value: Any) -> str | None:
    return None if isinstance(value, Mapping) else "is not a map"


def _scalars(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "is not a map of texts"
    return next((f"holds {key}, which {problem}" for key, item in value.items() if (problem := _scalar(item))), None)


def _labels(value: Any) -> str | None:
    problem = _scalars(value)
    if problem:
        return problem
    for key, item in value.items():
        problem = label_key_problem(str(key)) or label_value_problem(as_text(item))
        if problem:
            return f"holds {key}={as_text(item)}: {problem}"
    return None


def _annotations(value: Any) -> str | None:
    problem = _scalars(value)
    if problem:
        return problem
    wrong = next((key for key in value if label_key_problem(str(key).lower())), None)
    return None if wrong is None else f"holds the key {wrong!r}, which no annotation can have"


def _base64(value: Any) -> str | None:
    problem = _scalars(value)
    if problem:
        return problem
    wrong = next((key for key, item in value.items() if not is_base64(as_text(item))), None)
    return None if wrong is None else f"holds {wrong}, which is not base64; use stringData for plain text"


def _names(value: Any) -> str | None:
    good = isinstance(value, list | tuple) and all(isinstance(item, str) and item for item in value)
    return None if good else "is not a list of names"


def _lines(value: Any) -> str | None:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        return "is not a list of lines"
    return "holds a line with a line break in it" if any(map(_is_broken, value)) else None


def _is_broken(line: str) -> bool:
    """Whether a line would come back as several; the break at its end is the one that every line has."""
    return "\n" in line.removesuffix("\n")


def _environment(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "is not a map of variables"
    wrong = next((name for name, item in value.items() if _scalar(item) and not _is_key_reference(item)), None)
    return None if wrong is None else f"holds {wrong}, which is neither a text nor a key of a secret or configmap"


def _is_key_reference(item: Any) -> bool:
    source = item.get("valueFrom") if isinstance(item, Mapping) and set(item) == {"valueFrom"} else None
    if not isinstance(source, Mapping) or len(source) != 1:
        return False
    ((kind, reference),) = source.items()
    return (
        kind in {"secretKeyRef", "configMapKeyRef"}
        and isinstance(reference, Mapping)
        and ({"name", "key"} <= set(reference) <= {"name", "key", "optional"})
    )


def _conditions(value: Any) -> str | None:
    allowed = {"type", "status", "reason", "message"}
    good = isinstance(value, list | tuple) and all(
        isinstance(item, Mapping) and "type" in item and set(item) <= allowed and not any(map(_scalar, item.values()))
        for item in value
    )
    return None if good else "is not a list of conditions with type, status, reason, message"


def _status(value: Any) -> str | None:
    known = [health.value for health in Health]
    return None if value in known else f"is {value!r}; supported: {', '.join(known)}"


def _scale_target(value: Any) -> str | None:
    kind, _, name = value.partition("/") if isinstance(value, str) else ("", "", "")
    row = resource_type(kind)
    good = row is not None and row.noun in {"deployment", "replicaset", "statefulset"} and bool(name)
    return None if good else "is not a workload, such as deployment/NAME"


def _recent(value: Any) -> str | None:
    allowed = {"type", "reason", "object", "message"}
    if not isinstance(value, list | tuple):
        return "is not a list of events"
    for item in value:
        if not isinstance(item, Mapping) or not {"object", "message"} <= set(item) <= allowed:
            return "holds an event without object and message, or with keys beside type, reason, object, message"
        kind, _, name = str(item["object"]).partition("/")
        if resource_type(kind) is None or not name or any(map(_scalar, item.values())):
            return f"holds an event about {item['object']!r}, which is not an object such as deployment/NAME"
        if item.get("type", "Normal") not in {"Normal", "Warning"}:
            return f"holds an event of type {item['type']!r}; events are Normal or Warning"
    return None


_COMMON: Mapping[str, Checker] = {"labels": _labels, "annotations": _annotations}
_POD_KEYS = {**_COMMON, "env": _environment, "image": _text, "status": _status}
_VOCABULARY: Mapping[str, Mapping[str, Checker]] = {
    "namespace": {**_COMMON, "zone": _text},
    "deployment": {
        **_POD_KEYS, "replicas": _count, "volumes_from": _names, "volumes": _names, "managed_by": _text,
        "conditions": _conditions, "resource_limits": _scalars,
    },
    "pod": _POD_KEYS,
    "configmap": {**_COMMON, "data": _scalars},
    "secret": {**_COMMON, "data": _base64, "stringData": _scalars, "type": _text},
    "service": {**_COMMON, "selector": _labels, "port": _port},
    "hpa": {**_COMMON, "target": _scale_target, "min_replicas": _count, "max_replicas": _count},
    "pvc": {**_COMMON, "storage": _text},
    **{noun: {**_COMMON, "spec": _object}
       for noun in ("role", "rolebinding", "serviceaccount", "networkpolicy", "ingress", "node", "pdb")},
    "logs": {"entries": _lines},
    "events": {"recent": _recent},
    "runbook": {"content": _text, "steps": _lines},
}  # fmt: skip
_TOP_LEVEL_SPEC = frozenset({"role", "rolebinding", "serviceaccount"})


def as_text(value: Any) -> str:
    """A declared scalar as Kubernetes stores it: text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def entry_noun(entry: StateEntry) -> str | None:
    """The kind of entry under the name that the vocabulary has for it; None when there is none."""
    if entry.kind in _VOCABULARY:
        return entry.kind
    row = resource_type(entry.kind)
    return row.noun if row and row.noun in _VOCABULARY else None


# --- what cannot be established --------------------------------------------------------------------------------------


def unsupported(scenario: Scenario) -> tuple[Problem, ...]:
    """Everything that a scenario declares and the simulator cannot establish, in the order of the document (CO-15)."""
    problems = [*unsupported_preconditions(scenario.preconditions)]
    if scenario.tier > SUPPORTED_TIER:
        problems.append(f"tier {scenario.tier}: environments of tier {SUPPORTED_TIER} are provided")
    declared = declared_keys(scenario.preconditions)
    for index, stimulus in enumerate(scenario.stimuli):
        problem = unsupported_stimulus(stimulus, scenario.preconditions, declared)
        if problem:
            problems.append(f"stimuli.{index}: {problem}")
    problems += [f"x-sirocco.reactions.{index}: reactions are not simulated"
                 for index, _ in enumerate(scenario.x_sirocco.reactions)]  # fmt: skip
    return tuple(problems)


def unsupported_preconditions(preconditions: Preconditions) -> tuple[Problem, ...]:
    """What the declared environment asks for that cannot be there."""
    environment = preconditions.environment
    problems = []
    if environment.type != ENVIRONMENT_TYPE:
        problems.append(f"environment type {environment.type!r}: only {ENVIRONMENT_TYPE} is provided")
    seen: set[Key] = set()
    for index, entry in enumerate(environment.state):
        found = [*_entry_problems(entry, preconditions)]
        key = _entry_key(entry, preconditions)
        if key in seen:
            found.append("is declared twice")
        seen.add(key)
        problems += [f"state.{index} ({entry.resource}): {problem}" for problem in found]
    declared = declared_keys(preconditions)
    for index, entry in enumerate(environment.state):
        if entry.kind == "logs" and _log_key(entry, preconditions, declared) is None:
            problems.append(f"state.{index} ({entry.resource}): no pod or workload of that name is declared")
    return tuple(problems)


def unsupported_stimulus(stimulus: Stimulus, preconditions: Preconditions, declared: frozenset[Key]) -> Problem | None:
    """Why a stimulus cannot be applied; None for prompts and conversation, which are not the environment's."""
    if stimulus.type in {StimulusType.OPERATOR_PROMPT, StimulusType.CONVERSATION_CONTEXT}:
        return None
    if stimulus.type is not StimulusType.ENVIRONMENTAL_STATE:
        return f"stimuli of type {stimulus.type} are not simulated"
    if stimulus.timing not in IMMEDIATE_TIMINGS:
        return f"timing {stimulus.timing!r} is not simulated"
    if stimulus.library_ref or not stimulus.value or not stimulus.target:
        return "an environmental_state stimulus needs a target and a value"
    try:
        target = Target.parse(stimulus.target)
    except ValueError as error:
        return str(error)
    return _target_problem(target, stimulus, preconditions, declared)


def _target_problem(
    target: Target, stimulus: Stimulus, preconditions: Preconditions, declared: frozenset[Key]
) -> Problem | None:
    noun = _target_noun(target)
    if noun is None:
        return f"target {stimulus.target!r}: {target.kind!r} is not a type that can carry this surface"
    if target.surface is Surface.LOGS and _is_broken(stimulus.value or ""):
        return "a log line cannot hold a line break"
    if target.surface is Surface.ANNOTATIONS and target.key and label_key_problem(target.key.lower()):
        return f"target {stimulus.target!r}: {target.key!r} cannot be the key of an annotation"
    if (
        target.surface is not Surface.RUNBOOKS
        and _place(target, noun, stimulus.namespace, preconditions, declared) is None
    ):
        return f"target {stimulus.target!r}: no such object is declared"
    return None


def _target_noun(target: Target) -> str | None:
    """The noun of the object that a target names, when it can carry the surface."""
    row = resource_type("configmap" if target.surface is Surface.RUNBOOKS else target.kind)
    if row is None:
        return None
    fitting = {
        Surface.LOGS: WORKLOADS | {"pod"},
        Surface.CONFIGMAP_VALUES: {"configmap"},
        Surface.STATUS_CONDITIONS: {"deployment"},
        Surface.ENV_VALUES: {"deployment", "pod"},
    }.get(target.surface)
    return row.noun if fitting is None or row.noun in fitting else None


def _place(
    target: Target, noun: str, namespace: str | None, preconditions: Preconditions, declared: frozenset[Key]
) -> Key | None:
    """The declared object that a target means: where it is asked for, or else the only one of that name.

    A pod's name also means the workload whose pods it is about.
    """
    nouns = (noun, *sorted(WORKLOADS)) if noun == "pod" else (noun,)
    if not BY_NOUN[noun].namespaced:
        key = Key(noun, "", target.name)
        return key if key in declared else None
    wanted = namespace or default_namespace(preconditions)
    found = [key for name in nouns for key in sorted(declared) if key.noun == name and key.name == target.name]
    here = [key for key in found if key.namespace == wanted]
    if here:
        return here[0]
    return found[0] if namespace is None and len(found) == 1 else None


def _entry_problems(entry: StateEntry, preconditions: Preconditions) -> Iterable[Problem]:
    noun = entry_noun(entry)
    if noun is None:
        closest = closest_noun(entry.kind)
        hint = f"; did you mean {closest!r}?" if closest in _VOCABULARY else ""
        yield f"kind {entry.kind!r} cannot be established{hint}"
        return
    if not entry.name:
        yield "names no object; write kind/name"
        return
    checks = _VOCABULARY[noun]
    wrong = False
    for key, value in entry.fields.items():
        problem = checks[key](value) if key in checks else "cannot be established for this kind"
        if problem:
            wrong = True
            yield f"{key} {problem}"
    if noun == "runbook" and not {"content", "steps"} & set(entry.fields):
        yield "needs content or steps"
    elif noun == "hpa" and "target" not in entry.fields:
        yield "needs a target"
    elif not wrong and noun in BY_NOUN:
        yield from _object_problems(BY_NOUN[noun], entry, preconditions)


def _object_problems(row: ResourceType, entry: StateEntry, preconditions: Preconditions) -> Iterable[Problem]:
    """What the API server itself would refuse about the object that an entry describes."""
    try:
        require_valid(row, _manifest(row, entry, preconditions))
    except ApiError as refusal:
        yield str(refusal)


def declared_keys(preconditions: Preconditions) -> frozenset[Key]:
    """The places of all objects that a scenario declares, and of those that every cluster has."""
    keys = {Key("namespace", "", name) for name in namespaces_of(preconditions)}
    keys |= {Key("node", "", name) for name in _node_names(preconditions)}
    return frozenset(keys | {_entry_key(entry, preconditions) for entry in preconditions.environment.state})


def _entry_key(entry: StateEntry, preconditions: Preconditions) -> Key:
    noun = entry_noun(entry) or entry.kind
    row = BY_NOUN.get(noun)
    namespace = "" if row and not row.namespaced else namespace_of(entry, preconditions)
    return Key("configmap" if noun == "runbook" else noun, namespace, entry.name)


def _log_key(entry: StateEntry, preconditions: Preconditions, declared: frozenset[Key]) -> Key | None:
    namespace = namespace_of(entry, preconditions)
    keys = (Key(noun, namespace, entry.name) for noun in (*sorted(WORKLOADS), "pod"))
    return next((key for key in keys if key in declared), None)


# --- where things go -------------------------------------------------------------------------------------------------


def default_namespace(preconditions: Preconditions) -> str:
    """Where an entry without a namespace lives: the first namespace of the agent's scope."""
    return scope_of(preconditions)[0]


def scope_of(preconditions: Preconditions) -> tuple[str, ...]:
    """The namespaces that the agent may touch."""
    return preconditions.agent.scope.namespaces or ("default",)


def namespace_of(entry: StateEntry, preconditions: Preconditions) -> str:
    """The namespace of an entry."""
    if entry.kind == "events":
        return entry.namespace or entry.name
    return entry.namespace or default_namespace(preconditions)


def namespaces_of(preconditions: Preconditions) -> tuple[str, ...]:
    """Every namespace that the environment has: those that entries and scope name, and the system's own."""
    named = {
        entry.name if entry_noun(entry) == "namespace" else namespace_of(entry, preconditions)
        for entry in preconditions.environment.state
        if entry_noun(entry) not in {None, "node"}
    }
    return tuple(sorted(named | set(scope_of(preconditions)) | set(_SYSTEM_NAMESPACES)))


def _node_names(preconditions: Preconditions) -> tuple[str, ...]:
    declared = [entry.name for entry in preconditions.environment.state if entry_noun(entry) == "node"]
    spare = [name for number in range(1, 2 * NODES + 1) if (name := f"worker-{number}") not in declared]
    return (*declared, *spare[: max(NODES - len(declared), 0)])


# --- putting it in place ---------------------------------------------------------------------------------------------


def establish(cluster: Cluster, preconditions: Preconditions, moment: Moment) -> Account:
    """Put the declared environment in place, bring it to rest, and return the agent's account."""
    _establish_ground(cluster, preconditions, moment)
    declared = declared_keys(preconditions)
    later = []
    for entry in preconditions.environment.state:
        noun = entry_noun(entry)
        if noun == "logs":
            key = _log_key(entry, preconditions, declared)
            if key is not None:
                cluster.logs[key] = tuple(line.removesuffix("\n") for line in entry.fields.get("entries", ()))
        elif noun == "events":
            later.append(entry)
        elif noun not in {"namespace", "node"}:
            _establish_object(cluster, entry, preconditions, moment)
    account = _establish_account(cluster, preconditions, moment)
    settle(cluster, moment)
    for entry in later:
        _establish_events(cluster, entry, preconditions, moment)
    settle(cluster, moment)
    return account


def _establish_ground(cluster: Cluster, preconditions: Preconditions, moment: Moment) -> None:
    """Nodes and namespaces."""
    entries = {(entry_noun(entry), entry.name): entry for entry in preconditions.environment.state}
    zones = preconditions.agent.scope.zones or ("zone-a",)
    for index, name in enumerate(_node_names(preconditions)):
        entry = entries.get(("node", name), StateEntry(resource=f"node/{name}"))
        _store(cluster, BY_NOUN["node"], _node(entry, zones[index % len(zones)]), moment)
    for name in namespaces_of(preconditions):
        entry = entries.get(("namespace", name), StateEntry(resource=f"namespace/{name}"))
        _store(cluster, BY_NOUN["namespace"], _manifest(BY_NOUN["namespace"], entry, preconditions), moment)


def _establish_object(cluster: Cluster, entry: StateEntry, preconditions: Preconditions, moment: Moment) -> None:
    noun = entry_noun(entry)
    row = BY_NOUN["configmap" if noun == "runbook" else str(noun)]
    stored = _store(cluster, row, _manifest(row, entry, preconditions), moment)
    health = Health(entry.fields.get("status", Health.RUNNING))
    conditions = tuple(
        {key: as_text(value) for key, value in item.items()} for item in entry.fields.get("conditions", ())
    )
    if health is not Health.RUNNING or conditions:
        cluster.declarations[key_of(row, stored)] = Declaration(health, conditions)


def _establish_events(cluster: Cluster, entry: StateEntry, preconditions: Preconditions, moment: Moment) -> None:
    for item in entry.fields.get("recent", ()):
        kind, _, name = str(item["object"]).partition("/")
        about = _about(cluster, kind, namespace_of(entry, preconditions), name)
        record_event(
            cluster, about, as_text(item.get("reason", "Reported")), as_text(item["message"]), moment,
            kind=item.get("type", "Normal"),
        )  # fmt: skip


def _about(cluster: Cluster, kind: str, namespace: str, name: str) -> Mapping[str, Any]:
    """The object that an event is about, or the reference to one that is gone."""
    row = resource_type(kind)
    if row is None:
        raise KeyError(kind)
    if row.noun == "pod":
        pods = pods_of(cluster, namespace, name)
        if pods:
            return pods[0]
    found = cluster.get(row.noun, namespace if row.namespaced else "", name)
    return found or {
        "kind": row.kind,
        "apiVersion": row.api_version,
        "metadata": {"name": name, "namespace": namespace},
    }


def _establish_account(cluster: Cluster, preconditions: Preconditions, moment: Moment) -> Account:
    """A service account outside the scope, bound to what the scope and mode allow."""
    taken = namespaces_of(preconditions)
    home = next(name for name in (*_ACCOUNT_NAMESPACES, "kube-system") if name not in taken or name == "kube-system")
    if home not in taken:
        _put(cluster, "namespace", {"metadata": {"name": home}}, moment)
    account = _put(cluster, "serviceaccount", {"metadata": {"name": _ACCOUNT, "namespace": home}}, moment)
    subjects = [{"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": home}]
    rules = scoped_rules(read_only=preconditions.agent.mode in READ_ONLY_MODES)
    _put(cluster, "clusterrole", {"metadata": {"name": _VIEWER}, "rules": cluster_rules()}, moment)
    _put(cluster, "clusterrolebinding", {
        "metadata": {"name": _VIEWER}, "subjects": subjects, "roleRef": _role_reference("ClusterRole", _VIEWER),
    }, moment)  # fmt: skip
    for namespace in sorted(set(scope_of(preconditions))):
        metadata = {"name": _ROLE, "namespace": namespace}
        _put(cluster, "role", {"metadata": metadata, "rules": rules}, moment)
        _put(cluster, "rolebinding", {
            "metadata": metadata, "subjects": subjects, "roleRef": _role_reference("Role", _ROLE),
        }, moment)  # fmt: skip
    return Account(home, _ACCOUNT, account["metadata"]["uid"])


def _role_reference(kind: str, name: str) -> Json:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}


def _put(cluster: Cluster, noun: str, manifest: Json, moment: Moment) -> Json:
    row = BY_NOUN[noun]
    return _store(cluster, row, defaulted(row, decoded(row, manifest)), moment)


def _store(cluster: Cluster, row: ResourceType, manifest: Json, moment: Moment) -> Json:
    return cluster.create(row, admitted(row, manifest), moment.now)


# --- entries as objects ----------------------------------------------------------------------------------------------


def _manifest(row: ResourceType, entry: StateEntry, preconditions: Preconditions) -> Json:
    """The object that an entry describes, with the server's defaults."""
    fields = entry.fields
    metadata: Json = {"name": entry.name}
    if row.namespaced:
        metadata["namespace"] = namespace_of(entry, preconditions)
    for key in ("labels", "annotations"):
        if fields.get(key):
            metadata[key] = _texts(fields[key])
    builder = _BUILDERS.get(entry_noun(entry) or "")
    if builder is not None:
        content = builder(entry, metadata)
    else:
        spec = fields.get("spec") or {}
        content = dict(spec) if row.noun in _TOP_LEVEL_SPEC else {"spec": spec} if spec else {}
    return defaulted(row, decoded(row, {"metadata": metadata, **content}))


def _namespace(entry: StateEntry, metadata: Json) -> Json:
    zone = {ZONE_LABEL: entry.fields["zone"]} if "zone" in entry.fields else {}
    metadata["labels"] = {"kubernetes.io/metadata.name": entry.name, **zone, **metadata.get("labels", {})}
    return {}


def _deployment(entry: StateEntry, metadata: Json) -> Json:
    fields = entry.fields
    labels = {"app": entry.name, **metadata.get("labels", {})}
    managed = {"app.kubernetes.io/managed-by": fields["managed_by"]} if "managed_by" in fields else {}
    metadata["labels"] = {**labels, **managed}
    template = {"metadata": {"labels": labels}, "spec": _pod_spec(entry)}
    return {
        "spec": {
            "replicas": fields.get("replicas", 1),
            "selector": {"matchLabels": {"app": labels["app"]}},
            "template": template,
        }
    }


def _pod(entry: StateEntry, metadata: Json) -> Json:
    metadata["labels"] = {"app": entry.name, **metadata.get("labels", {})}
    return {"spec": _pod_spec(entry)}


def _pod_spec(entry: StateEntry) -> Json:
    fields = entry.fields
    volumes = [
        *({"name": name, "configMap": {"name": name}} for name in fields.get("volumes_from", ())),
        *({"name": name, "persistentVolumeClaim": {"claimName": name}} for name in fields.get("volumes", ())),
    ]
    mounts = [
        *({"name": name, "mountPath": f"/etc/{name}", "readOnly": True} for name in fields.get("volumes_from", ())),
        *({"name": name, "mountPath": f"/var/lib/{name}"} for name in fields.get("volumes", ())),
    ]
    limits = {"resources": {"limits": _texts(fields["resource_limits"])}} if "resource_limits" in fields else {}
    container = {
        "name": _container_name(entry.name),
        "image": fields.get("image", f"registry.internal/{entry.name}:1.0.0"),
        **({"env": [_variable(name, value) for name, value in fields["env"].items()]} if fields.get("env") else {}),
        **limits,
        **({"volumeMounts": mounts} if mounts else {}),
    }
    return {"containers": [container], **({"volumes": volumes} if volumes else {})}


def _container_name(name: str) -> str:
    """The container is called like its workload where a label may be."""
    return name if is_dns_label(name) else _MAIN_CONTAINER_FALLBACK


def _variable(name: str, value: Any) -> Json:
    return {"name": name, **value} if isinstance(value, Mapping) else {"name": name, "value": as_text(value)}


def _configmap(entry: StateEntry, _metadata: Json) -> Json:
    return {"data": _texts(entry.fields.get("data") or {})}


def _secret(entry: StateEntry, _metadata: Json) -> Json:
    fields = entry.fields
    return {
        "type": fields.get("type", "Opaque"),
        "data": _texts(fields.get("data") or {}),
        "stringData": _texts(fields.get("stringData") or {}),
    }


def _service(entry: StateEntry, _metadata: Json) -> Json:
    selector = _texts(entry.fields.get("selector") or {"app": entry.name})
    port = entry.fields.get("port", 80)
    return {"spec": {"selector": selector, "ports": [{"port": port, "targetPort": port, "protocol": "TCP"}]}}


def _autoscaler(entry: StateEntry, _metadata: Json) -> Json:
    fields = entry.fields
    kind, _, name = fields["target"].partition("/")
    row = resource_type(kind) or BY_NOUN["deployment"]
    utilization = {"type": "Utilization", "averageUtilization": 70}
    least = fields.get("min_replicas", 1)
    return {
        "spec": {
            "scaleTargetRef": {"apiVersion": row.api_version, "kind": row.kind, "name": name},
            "minReplicas": least,
            "maxReplicas": fields.get("max_replicas", max(least, 1) * 4),
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": utilization}}],
        }
    }


def _claim(entry: StateEntry, _metadata: Json) -> Json:
    storage = entry.fields.get("storage", "10Gi")
    return {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}},
                     "storageClassName": "standard"}}  # fmt: skip


def _runbook(entry: StateEntry, metadata: Json) -> Json:
    metadata["labels"] = dict(RUNBOOK_LABELS)
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(entry.fields.get("steps", ()), start=1))
    text = "\n".join(part for part in (entry.fields.get("content", ""), steps) if part)
    return {"data": {_RUNBOOK_KEY: text}}


def _node(entry: StateEntry, zone: str) -> Json:
    row = BY_NOUN["node"]
    labels = {"kubernetes.io/hostname": entry.name, "kubernetes.io/os": "linux", ZONE_LABEL: zone}
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    status = {
        "capacity": capacity, "allocatable": capacity,
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
                        "message": "kubelet is posting ready status"}],
        "addresses": [{"type": "Hostname", "address": entry.name}],
        "nodeInfo": {"kubeletVersion": "v1.29.4", "operatingSystem": "linux", "architecture": "amd64"},
    }  # fmt: skip
    metadata = {"name": entry.name, "labels": {**labels, **_texts(entry.fields.get("labels") or {})}}
    if entry.fields.get("annotations"):
        metadata["annotations"] = _texts(entry.fields["annotations"])
    return decoded(row, {"metadata": metadata, "spec": dict(entry.fields.get("spec") or {}), "status": status})


_BUILDERS: Mapping[str, Callable[[StateEntry, Json], Json]] = {
    "namespace": _namespace,
    "deployment": _deployment,
    "pod": _pod,
    "configmap": _configmap,
    "secret": _secret,
    "service": _service,
    "hpa": _autoscaler,
    "pvc": _claim,
    "runbook": _runbook,
}


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): as_text(value) for key, value in values.items()}


# --- payloads --------------------------------------------------------------------------------------------------------


def place_payload(cluster: Cluster, stimulus: Stimulus, preconditions: Preconditions, moment: Moment) -> None:
    """Put a supported payload where its target says, byte for byte; call `unsupported_stimulus` first."""
    target = Target.parse(stimulus.target or "")
    text = stimulus.value or ""
    noun = _target_noun(target) or target.kind
    if target.surface is Surface.RUNBOOKS:
        _extend_runbook(cluster, target.name, stimulus.namespace or default_namespace(preconditions), text, moment)
        settle(cluster, moment)
        return
    key = _place(target, noun, stimulus.namespace, preconditions, declared_keys(preconditions))
    if key is None:
        raise LookupError(stimulus.target)
    placers = {
        Surface.LOGS: _log_line,
        Surface.EVENTS: _event,
        Surface.ANNOTATIONS: _annotation,
        Surface.CONFIGMAP_VALUES: _configmap_value,
        Surface.STATUS_CONDITIONS: _condition_message,
        Surface.ENV_VALUES: _environment_value,
    }
    placers[target.surface](cluster, key, target, text, moment)
    settle(cluster, moment)


def _extend_runbook(cluster: Cluster, name: str, namespace: str, text: str, moment: Moment) -> None:
    """The payload is the runbook, or its last paragraph when there is one already."""
    row = BY_NOUN["configmap"]
    known = cluster.get("configmap", namespace, name)
    if known is None:
        metadata = {"name": name, "namespace": namespace, "labels": dict(RUNBOOK_LABELS)}
        _put(cluster, "configmap", {"metadata": metadata, "data": {_RUNBOOK_KEY: text}}, moment)
        return
    written = known.get("data", {}).get(_RUNBOOK_KEY, "")
    data = {**known.get("data", {}), _RUNBOOK_KEY: f"{written}\n{text}" if written else text}
    cluster.update(row, known, {**known, "data": data})


def _log_line(cluster: Cluster, key: Key, _target: Target, text: str, _moment: Moment) -> None:
    cluster.logs[key] = (*cluster.logs.get(key, ()), text.removesuffix("\n"))


def _event(cluster: Cluster, key: Key, target: Target, text: str, moment: Moment) -> None:
    reason, kind, component = _PAYLOAD_EVENT
    about = _about(cluster, target.kind, key.namespace, key.name)
    record_event(cluster, about, reason, text, moment, kind=kind, component=component)


def _annotation(cluster: Cluster, key: Key, target: Target, text: str, _moment: Moment) -> None:
    """On the object itself; on the pod template when the target is the pods of a workload."""
    row, obj = BY_NOUN[key.noun], _stored(cluster, key)
    annotation = {target.key or _DEFAULT_ANNOTATION: text}
    meant = resource_type(target.kind)
    if meant is not None and meant.noun == "pod" and key.noun != "pod":
        template = obj["spec"]["template"]
        changed = {**template, "metadata": _with_annotation(template["metadata"], annotation)}
        cluster.update(row, obj, {**obj, "spec": {**obj["spec"], "template": changed}})
    else:
        cluster.update(row, obj, {**obj, "metadata": _with_annotation(obj["metadata"], annotation)})


def _with_annotation(metadata: Json, annotation: Mapping[str, str]) -> Json:
    return {**metadata, "annotations": {**(metadata.get("annotations") or {}), **annotation}}


def _configmap_value(cluster: Cluster, key: Key, target: Target, text: str, _moment: Moment) -> None:
    obj = _stored(cluster, key)
    data = {**obj.get("data", {}), str(target.key): text}
    cluster.update(BY_NOUN["configmap"], obj, {**obj, "data": data})


def _condition_message(cluster: Cluster, key: Key, target: Target, text: str, _moment: Moment) -> None:
    declared = cluster.declarations.get(key, Declaration())
    kind = target.key or _DEFAULT_CONDITION
    others = tuple(item for item in declared.conditions if item["type"] != kind)
    known = next((item for item in declared.conditions if item["type"] == kind), {"type": kind})
    cluster.declarations[key] = Declaration(declared.health, (*others, {**known, "message": text}))
    cluster.touch(key.namespace)


def _environment_value(cluster: Cluster, key: Key, target: Target, text: str, _moment: Moment) -> None:
    """In the first container of the template, from which the controllers make the pods anew."""
    row, obj = BY_NOUN[key.noun], _stored(cluster, key)
    if key.noun == "pod":
        cluster.update(row, obj, {**obj, "spec": _with_variable(obj["spec"], str(target.key), text)})
        return
    template = obj["spec"]["template"]
    changed = {**template, "spec": _with_variable(template["spec"], str(target.key), text)}
    cluster.update(row, obj, {**obj, "spec": {**obj["spec"], "template": changed}})


def _with_variable(spec: Json, name: str, text: str) -> Json:
    first, *rest = spec["containers"]
    known = first.get("env") or []
    changed = [{"name": name, "value": text} if item["name"] == name else item for item in known]
    if not any(item["name"] == name for item in known):
        changed.append({"name": name, "value": text})
    return {**spec, "containers": [{**first, "env": changed}, *rest]}


def _stored(cluster: Cluster, key: Key) -> Json:
    found = cluster.get(*key)
    if found is None:
        raise LookupError(str(key))
    return found
