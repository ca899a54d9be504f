"""What entries say about their objects that no field of the objects holds: their health, its reason, and their logs."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubesim.controllers.dynamics import Declaration, Dynamics, Health, MissingKey
from kubesim.resource import WORKLOADS
from kubesim.store import Key
from sirocco.domains.kubernetes.profiles.declared import entry_namespace
from sirocco.domains.kubernetes.simulator.checks import as_text, key_reference
from sirocco.domains.kubernetes.simulator.health import bare_word, health_of
from sirocco.domains.kubernetes.simulator.layout import entry_key, state_of
from sirocco.domains.kubernetes.simulator.vocabulary import declared_value, entry_noun
from sirocco.oasis.scenario import Preconditions, StateEntry

_FAILING_START = frozenset({Health.CRASHLOOPBACKOFF, Health.ERROR, Health.INIT_FAILING})
_REFERENCES = {"secretKeyRef": "secret", "configMapKeyRef": "configmap"}
_SCALES = frozenset({"scalinginprogress", "scaling"})
_JOBS = {"failed": Health.ERROR, "running": Health.STARTING}


def declaration_of(entry: StateEntry, preconditions: Preconditions) -> Declaration:
    """The health of the object of an entry."""
    noun, fields = entry_noun(entry), entry.fields
    if noun == "hpa":
        return Declaration(scaling_to=_scaling_to(fields))
    if noun == "pvc":
        pending = fields.get("bound") is False or bare_word(str(fields.get("status", ""))) == "pending"
        return Declaration(Health.PENDING if pending else Health.RUNNING)
    if noun == "job":
        return Declaration(_JOBS.get(bare_word(str(fields.get("status", ""))), Health.RUNNING))
    if noun not in {*WORKLOADS, "pod"}:
        return Declaration()
    containers = {
        str(item["name"]): health
        for key in ("containers", "init_containers")
        for item in declared_value(entry, key) or ()
        if (health := health_of(item.get("status"))) is not None
    }
    health = _health(entry, containers)
    missing = tuple(_missing_keys(entry, preconditions)) if health in _FAILING_START else ()
    return Declaration(
        health=health,
        conditions=tuple({key: as_text(value) for key, value in item.items()} for item in fields.get("conditions", ())),
        reason=str(fields.get("reason", "")) or (missing[0].message if missing else ""),
        restarts=fields.get("restarts"),
        containers={
            name: how for name, how in containers.items() if not how.serves and health is not Health.INIT_FAILING
        },
        missing=missing,
    )


def declare(dynamics: Dynamics, key: Key, entry: StateEntry, preconditions: Preconditions) -> None:
    """Tell the controllers what an entry says about the object at a place."""
    dynamics.declare(key, declaration_of(entry, preconditions))
    said = [line for name in ("logs", "last_log") for line in _lines(entry.fields.get(name))]
    if said and entry_noun(entry) in {*WORKLOADS, "pod", "job"}:
        dynamics.logs[key] = tuple(said)
    for name in ("containers", "init_containers"):
        for item in declared_value(entry, name) or ():
            if item.get("logs"):
                dynamics.container_logs[key, str(item["name"])] = tuple(_lines(item["logs"]))


def _health(entry: StateEntry, containers: Mapping[str, Health]) -> Health:
    """The health for its status; a workload whose init container fails never gets further than that."""
    inits = {str(item["name"]) for item in declared_value(entry, "init_containers") or ()}
    if any(not how.serves for name, how in containers.items() if name in inits):
        return Health.INIT_FAILING
    declared = health_of(entry.fields.get("status"))
    return declared or next((how for how in containers.values() if not how.serves), Health.RUNNING)


def _scaling_to(fields: Mapping[str, Any]) -> int | None:
    """The size that an autoscaler is about to give its target, if the entry says so."""
    if "target_replicas" in fields:
        return int(fields["target_replicas"])
    return fields.get("max_replicas", 2) if bare_word(str(fields.get("current_status", ""))) in _SCALES else None


def _missing_keys(entry: StateEntry, preconditions: Preconditions) -> Iterator[MissingKey]:
    """The keys that containers of an entry need and that no declared secret or config map has."""
    namespace = entry_namespace(entry, preconditions)
    held = {
        entry_key(other, preconditions): {
            *(declared_value(other, "data") or {}),
            *(other.fields.get("stringData") or {}),
        }
        for other in state_of(preconditions)
        if entry_noun(other) in {"secret", "configmap"}
    }
    for item in (
        *(declared_value(entry, "init_containers") or ()),
        *(declared_value(entry, "containers") or ()),
        entry.fields,
    ):
        env = item.get("env")
        pairs = env.items() if isinstance(env, Mapping) else ((one["name"], _source(one)) for one in env or ()
                                                              if isinstance(one, Mapping))  # fmt: skip
        for variable, value in pairs:
            for kind, reference in (key_reference(variable, value) or {}).items():
                place = Key(_REFERENCES[kind], namespace, reference["name"])
                if reference["key"] not in held.get(place, set()) and not reference.get("optional"):
                    yield MissingKey(place, reference["key"], is_there=place in held)


def _source(variable: Mapping[str, Any]) -> Any:
    return {key: value for key, value in variable.items() if key != "name"}


def _lines(value: Any) -> list[str]:
    lines = [value] if isinstance(value, str) else list(value or ())
    return [line.removesuffix("\n") for line in lines]
