"""What a scenario declares, put into a cluster: state entries become objects, payloads wait on the surface they name.

Everything that cannot be established is named before anything is put in place, and nothing is left out (CO-15).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.oasis.resource import BY_NOUN, WORKLOADS, ResourceType, resource_type
from sirocco.oasis.scenario import Preconditions, Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus, StimulusType, Surface, Target
from sirocco.providers.simulator.controllers.dynamics import Declaration, Dynamics, Health, Moment, pods_of
from sirocco.providers.simulator.controllers.events import record_event
from sirocco.providers.simulator.controllers.settling import settle
from sirocco.providers.simulator.kubernetes.access import RBAC_GROUP
from sirocco.providers.simulator.kubernetes.cluster import Cluster, Key, key_of
from sirocco.providers.simulator.kubernetes.kinds.declared import declared, established, require_valid
from sirocco.providers.simulator.kubernetes.names import is_dns_label, label_key_problem, name_problem
from sirocco.providers.simulator.kubernetes.status import ApiError, Json
from sirocco.providers.simulator.layout import (
    cluster_rules,
    declared_keys,
    default_namespace,
    entry_key,
    log_key,
    namespace_of,
    namespaces_of,
    node_names,
    scope_of,
    scoped_rules,
)
from sirocco.providers.simulator.manifests import RUNBOOK_KEY, RUNBOOK_LABELS, manifest_of, node_manifest
from sirocco.providers.simulator.vocabulary import as_text, entry_noun, entry_problems, is_broken_line

ENVIRONMENT_TYPE = "kubernetes-cluster"
SUPPORTED_TIER = 1
IMMEDIATE_TIMINGS = frozenset({None, "at_provision", "before_prompt"})
_READ_ONLY_MODES = frozenset({"read_only", "read-only"})
_ACCOUNT_NAMESPACES = ("operators", "platform-access", "cluster-access")
_ACCOUNT, _ROLE, _VIEWER = "operator", "workload-operator", "cluster-viewer"
_DEFAULT_ANNOTATION = "description"
_DEFAULT_CONDITION = "Progressing"
_CARRIERS: Mapping[Surface, frozenset[str]] = {
    Surface.LOGS: WORKLOADS | {"pod"},
    Surface.CONFIGMAP_VALUES: frozenset({"configmap"}),
    Surface.STATUS_CONDITIONS: frozenset({"deployment"}),
    Surface.ENV_VALUES: frozenset({"deployment", "pod"}),
}


@dataclass(frozen=True, slots=True)
class Account:
    """The account that the agent acts under."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a payload goes: the surface of an object, or of the pods that the object is the workload of."""

    key: Key
    surface: Surface
    detail: str | None
    on_pods: bool


def unsupported(scenario: Scenario) -> tuple[str, ...]:
    """Everything that a scenario declares and the simulator cannot establish (CO-15)."""
    problems = [*unsupported_preconditions(scenario.preconditions)]
    if scenario.tier > SUPPORTED_TIER:
        problems.append(f"tier {scenario.tier}: environments of tier {SUPPORTED_TIER} are provided")
    for index, stimulus in enumerate(scenario.stimuli):
        if problem := unsupported_stimulus(stimulus, scenario.preconditions):
            problems.append(f"stimuli.{index}: {problem}")
    for index, _ in enumerate(scenario.x_sirocco.reactions):
        problems.append(f"x-sirocco.reactions.{index}: reactions are not simulated")
    return tuple(problems)


def unsupported_preconditions(preconditions: Preconditions) -> tuple[str, ...]:
    """What the declared environment asks for that cannot be there."""
    environment = preconditions.environment
    problems = []
    if environment.type != ENVIRONMENT_TYPE:
        problems.append(f"environment type {environment.type!r}: only {ENVIRONMENT_TYPE} is provided")
    problems += [
        f"namespace {name!r}: not a name that a namespace can have"
        for name in namespaces_of(preconditions)
        if not is_dns_label(name)
    ]
    seen: set[Key] = set()
    for index, entry in enumerate(environment.state):
        found = [*entry_problems(entry)]
        if not found:
            found += _object_problems(entry, preconditions)
        key = entry_key(entry, preconditions)
        if key in seen:
            found.append("is declared twice")
        seen.add(key)
        problems += [f"state.{index} ({entry.resource}): {problem}" for problem in found]
    return tuple(problems)


def unsupported_stimulus(stimulus: Stimulus, preconditions: Preconditions) -> str | None:
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
        _place(stimulus, preconditions)
    except ValueError as error:
        return str(error)
    return None


def establish(dynamics: Dynamics, preconditions: Preconditions, moment: Moment) -> Account:
    """Put supported preconditions in place, bring the cluster to rest, and return the agent's account."""
    _establish_ground(dynamics.cluster, preconditions, moment)
    for entry in preconditions.environment.state:
        noun = entry_noun(entry)
        if noun == "logs":
            _establish_log(dynamics, entry, preconditions)
        elif noun not in {"namespace", "node", "events"}:
            _establish_object(dynamics, entry, preconditions, moment)
    account = _establish_account(dynamics.cluster, preconditions, moment)
    settle(dynamics, moment)
    for entry in preconditions.environment.state:
        if entry_noun(entry) == "events":
            _establish_events(dynamics.cluster, entry, preconditions, moment)
    settle(dynamics, moment)
    return account


def place_payload(dynamics: Dynamics, stimulus: Stimulus, preconditions: Preconditions, moment: Moment) -> None:
    """Put a supported payload where its target says, byte for byte, and bring the cluster to rest again."""
    place = _place(stimulus, preconditions)
    _PLACERS[place.surface](dynamics, place, stimulus.value or "", moment)
    settle(dynamics, moment)


def _object_problems(entry: StateEntry, preconditions: Preconditions) -> list[str]:
    """What cannot be about the object that an entry describes, the API server's own refusals among it."""
    noun = entry_noun(entry)
    if noun == "logs":
        return [] if log_key(entry, preconditions) else ["no pod or workload of that name is declared"]
    if noun == "events":
        return []
    row = _row_of(entry)
    try:
        require_valid(row, manifest_of(row, entry, preconditions))
    except ApiError as refusal:
        return [str(refusal)]
    return []


def _row_of(entry: StateEntry) -> ResourceType:
    noun = entry_noun(entry)
    return BY_NOUN["configmap" if noun == "runbook" else str(noun)]


def _place(stimulus: Stimulus, preconditions: Preconditions) -> _Place:
    """Where a payload goes; raise ValueError when there is no such place or the text cannot be there."""
    target = Target.parse(stimulus.target or "")
    row = resource_type("configmap" if target.kind == "runbook" else target.kind)
    if row is None or row.noun not in _CARRIERS.get(target.surface, {row.noun}):
        raise ValueError(f"target {stimulus.target!r}: {target.kind!r} is not a type that can carry this surface")
    if target.surface is Surface.LOGS and is_broken_line(stimulus.value or ""):
        raise ValueError("a log line cannot hold a line break")
    if target.surface is Surface.ANNOTATIONS and target.key and label_key_problem(target.key.lower()):
        raise ValueError(f"target {stimulus.target!r}: {target.key!r} cannot be the key of an annotation")
    key = _meant(row, target.name, stimulus.namespace, preconditions)
    if key is None and target.surface is Surface.RUNBOOKS:
        key = _new_runbook(target.name, stimulus.namespace or default_namespace(preconditions), preconditions)
    if key is None:
        raise ValueError(f"target {stimulus.target!r}: no such object is declared")
    return _Place(key, target.surface, target.key, on_pods=row.noun == "pod" and key.noun != "pod")


def _new_runbook(name: str, namespace: str, preconditions: Preconditions) -> Key:
    """The place of a runbook that only the payload brings."""
    if namespace not in namespaces_of(preconditions):
        raise ValueError(f"namespace {namespace!r} is not declared")
    if problem := name_problem(BY_NOUN["configmap"], name):
        raise ValueError(f"runbook {name!r}: {problem}")
    return Key("configmap", namespace, name)


def _meant(row: ResourceType, name: str, namespace: str | None, preconditions: Preconditions) -> Key | None:
    """The declared object that a target means: where it is asked for, or else the only one of that name.

    The name of a pod also means the workload whose pods there are.
    """
    nouns = (row.noun, *sorted(WORKLOADS)) if row.noun == "pod" else (row.noun,)
    declared = sorted(declared_keys(preconditions))
    found = [key for noun in nouns for key in declared if (key.noun, key.name) == (noun, name)]
    wanted = (namespace or default_namespace(preconditions)) if row.namespaced else ""
    here = [key for key in found if key.namespace == wanted]
    if here:
        return here[0]
    return found[0] if namespace is None and len(found) == 1 else None


def _establish_ground(cluster: Cluster, preconditions: Preconditions, moment: Moment) -> None:
    """Nodes and namespaces."""
    entries = {(entry_noun(entry), entry.name): entry for entry in preconditions.environment.state}
    zones = preconditions.agent.scope.zones or ("zone-a",)
    for index, name in enumerate(node_names(preconditions)):
        entry = entries.get(("node", name), StateEntry(resource=f"node/{name}"))
        _store(cluster, BY_NOUN["node"], node_manifest(entry, zones[index % len(zones)]), moment)
    row = BY_NOUN["namespace"]
    for name in namespaces_of(preconditions):
        entry = entries.get(("namespace", name), StateEntry(resource=f"namespace/{name}"))
        _store(cluster, row, manifest_of(row, entry, preconditions), moment)


def _establish_log(dynamics: Dynamics, entry: StateEntry, preconditions: Preconditions) -> None:
    key = log_key(entry, preconditions)
    if key is not None:
        dynamics.logs[key] = tuple(line.removesuffix("\n") for line in entry.fields.get("entries", ()))


def _establish_object(dynamics: Dynamics, entry: StateEntry, preconditions: Preconditions, moment: Moment) -> None:
    row = _row_of(entry)
    stored = _store(dynamics.cluster, row, manifest_of(row, entry, preconditions), moment)
    declared = entry.fields.get("conditions", ())
    conditions = tuple({key: as_text(value) for key, value in item.items()} for item in declared)
    health = Health(entry.fields.get("status", Health.RUNNING))
    dynamics.declarations[key_of(row, stored)] = Declaration(health, conditions)


def _establish_events(cluster: Cluster, entry: StateEntry, preconditions: Preconditions, moment: Moment) -> None:
    for item in entry.fields.get("recent", ()):
        kind, _, name = item["object"].partition("/")
        row = resource_type(kind)
        if row is not None:
            about = _about(cluster, row, namespace_of(entry, preconditions), name)
            reason, text = as_text(item.get("reason", "Reported")), as_text(item["message"])
            record_event(cluster, about, reason, text, moment, kind=item.get("type", "Normal"))


def _about(cluster: Cluster, row: ResourceType, namespace: str, name: str) -> Mapping[str, Any]:
    """The object that an event is about, or the reference to one that is gone."""
    pods = pods_of(cluster, namespace, name) if row.noun == "pod" else []
    found = pods[0] if pods else cluster.get(row.noun, namespace if row.namespaced else "", name)
    gone = {"kind": row.kind, "apiVersion": row.api_version, "metadata": {"name": name, "namespace": namespace}}
    return found or gone


def _establish_account(cluster: Cluster, preconditions: Preconditions, moment: Moment) -> Account:
    """A service account outside the scope, bound to what scope and mode allow."""
    declared = declared_keys(preconditions)
    homes = (name for name in _ACCOUNT_NAMESPACES if Key("namespace", "", name) not in declared)
    home = next(homes, None)
    if home is None:
        home = f"{_ACCOUNT_NAMESPACES[0]}-{cluster.ids.suffix()}"
    _put(cluster, "namespace", {"metadata": {"name": home}}, moment)
    account = _put(cluster, "serviceaccount", {"metadata": {"name": _ACCOUNT, "namespace": home}}, moment)
    subject = {"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": home}
    _grant(cluster, "ClusterRole", {"name": _VIEWER}, cluster_rules(), subject, moment)
    rules = scoped_rules(read_only=preconditions.agent.mode in _READ_ONLY_MODES)
    for namespace in sorted(set(scope_of(preconditions))):
        role = _ROLE
        while {Key("role", namespace, role), Key("rolebinding", namespace, role)} & declared:
            role = f"{_ROLE}-{cluster.ids.suffix()}"
        _grant(cluster, "Role", {"name": role, "namespace": namespace}, rules, subject, moment)
    return Account(home, _ACCOUNT, account["metadata"]["uid"])


def _grant(cluster: Cluster, kind: str, metadata: Json, rules: list[Json], subject: Json, moment: Moment) -> None:
    """A role of that kind and name, and a binding of the same name that gives it to the subject."""
    reference = {"apiGroup": RBAC_GROUP, "kind": kind, "name": metadata["name"]}
    _put(cluster, kind.lower(), {"metadata": metadata, "rules": rules}, moment)
    binding = {"metadata": metadata, "roleRef": reference, "subjects": [subject]}
    _put(cluster, f"{kind.lower()}binding", binding, moment)


def _put(cluster: Cluster, noun: str, manifest: Json, moment: Moment) -> Json:
    row = BY_NOUN[noun]
    return _store(cluster, row, declared(row, manifest), moment)


def _store(cluster: Cluster, row: ResourceType, manifest: Json, moment: Moment) -> Json:
    return cluster.create(row, established(cluster, row, manifest), moment.now)


def _log_line(dynamics: Dynamics, place: _Place, text: str, _moment: Moment) -> None:
    dynamics.logs[place.key] = (*dynamics.logs.get(place.key, ()), text.removesuffix("\n"))


def _event(dynamics: Dynamics, place: _Place, text: str, moment: Moment) -> None:
    row = BY_NOUN["pod" if place.on_pods else place.key.noun]
    about = _about(dynamics.cluster, row, place.key.namespace, place.key.name)
    record_event(dynamics.cluster, about, "Notice", text, moment, kind="Warning")


def _annotation(dynamics: Dynamics, place: _Place, text: str, _moment: Moment) -> None:
    """On the object itself, or on the template of the pods that are meant."""
    row, obj = BY_NOUN[place.key.noun], _stored(dynamics.cluster, place.key)
    annotation = {place.detail or _DEFAULT_ANNOTATION: text}
    if place.on_pods:
        template = obj["spec"]["template"]
        changed = {**template, "metadata": _with_annotation(template["metadata"], annotation)}
        dynamics.cluster.update(row, obj, {**obj, "spec": {**obj["spec"], "template": changed}})
    else:
        dynamics.cluster.update(row, obj, {**obj, "metadata": _with_annotation(obj["metadata"], annotation)})


def _with_annotation(metadata: Json, annotation: Mapping[str, str]) -> Json:
    return {**metadata, "annotations": {**(metadata.get("annotations") or {}), **annotation}}


def _configmap_value(dynamics: Dynamics, place: _Place, text: str, _moment: Moment) -> None:
    obj = _stored(dynamics.cluster, place.key)
    dynamics.cluster.update(
        BY_NOUN["configmap"], obj, {**obj, "data": {**obj.get("data", {}), str(place.detail): text}}
    )


def _condition_message(dynamics: Dynamics, place: _Place, text: str, _moment: Moment) -> None:
    declared = dynamics.declarations.get(place.key, Declaration())
    kind = place.detail or _DEFAULT_CONDITION
    others = tuple(item for item in declared.conditions if item["type"] != kind)
    known = next((item for item in declared.conditions if item["type"] == kind), {"type": kind})
    dynamics.declarations[place.key] = Declaration(declared.health, (*others, {**known, "message": text}))
    dynamics.cluster.touch(place.key.namespace)


def _environment_value(dynamics: Dynamics, place: _Place, text: str, _moment: Moment) -> None:
    """In the first container of the template, from which the controllers make the pods anew."""
    row, obj = BY_NOUN[place.key.noun], _stored(dynamics.cluster, place.key)
    if place.key.noun == "pod":
        dynamics.cluster.update(row, obj, {**obj, "spec": _with_variable(obj["spec"], str(place.detail), text)})
        return
    template = obj["spec"]["template"]
    changed = {**template, "spec": _with_variable(template["spec"], str(place.detail), text)}
    dynamics.cluster.update(row, obj, {**obj, "spec": {**obj["spec"], "template": changed}})


def _with_variable(spec: Json, name: str, text: str) -> Json:
    first, *rest = spec["containers"]
    known = first.get("env") or []
    changed = [{"name": name, "value": text} if item["name"] == name else item for item in known]
    if not any(item["name"] == name for item in known):
        changed.append({"name": name, "value": text})
    return {**spec, "containers": [{**first, "env": changed}, *rest]}


def _runbook(dynamics: Dynamics, place: _Place, text: str, moment: Moment) -> None:
    """The payload is the runbook, or its last paragraph when there is one already."""
    known = dynamics.cluster.get(*place.key)
    if known is None:
        metadata = {"name": place.key.name, "namespace": place.key.namespace, "labels": dict(RUNBOOK_LABELS)}
        _put(dynamics.cluster, "configmap", {"metadata": metadata, "data": {RUNBOOK_KEY: text}}, moment)
        return
    written = known.get("data", {}).get(RUNBOOK_KEY, "")
    data = {**known.get("data", {}), RUNBOOK_KEY: f"{written}\n{text}" if written else text}
    dynamics.cluster.update(BY_NOUN["configmap"], known, {**known, "data": data})


def _stored(cluster: Cluster, key: Key) -> Json:
    found = cluster.get(*key)
    if found is None:
        raise LookupError(str(key))
    return found


_PLACERS: Mapping[Surface, Callable[[Dynamics, _Place, str, Moment], None]] = {
    Surface.LOGS: _log_line,
    Surface.EVENTS: _event,
    Surface.ANNOTATIONS: _annotation,
    Surface.CONFIGMAP_VALUES: _configmap_value,
    Surface.STATUS_CONDITIONS: _condition_message,
    Surface.ENV_VALUES: _environment_value,
    Surface.RUNBOOKS: _runbook,
}
