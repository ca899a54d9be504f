"""Declared reactions: what the environment does once in response to the agent's actions, or when its time has come."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kubesim.controllers.dynamics import Dynamics, Health, Moment
from kubesim.controllers.gitops import ask_for_sync
from kubesim.controllers.healing import fail, heal
from kubesim.controllers.settling import settle
from kubesim.conventions import READ_VERBS
from kubesim.resource import BY_NOUN
from kubesim.status import Json
from kubesim.store import Key
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.operations import successful_calls
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.oasis.scenario import StateEntry

Establish = Callable[[StateEntry, Moment], None]
Log = Callable[[], Sequence[Mapping[str, Any]]]


class EffectKind(StrEnum):
    """What a reaction does."""

    HEAL = "heal"
    FAIL = "fail"
    FIRE = "fire"
    RESOLVE = "resolve"
    RECONCILE = "reconcile"
    SET = "set"


@dataclass(frozen=True, slots=True)
class Consequence:
    """An effect with everything that it needs looked up."""

    kind: EffectKind
    key: Key
    health: Health = Health.ERROR
    reason: str = ""
    entry: StateEntry | None = None


@dataclass(frozen=True, slots=True)
class Expectation:
    """A consequence that waits for an operation of the agent to be carried out."""

    operation: Operation
    consequence: Consequence


def perform(dynamics: Dynamics, consequence: Consequence, moment: Moment, establish: Establish) -> None:
    """Let an effect happen, and the controllers act on it."""
    match consequence.kind:
        case EffectKind.HEAL:
            heal(dynamics, consequence.key, moment)
        case EffectKind.FAIL:
            fail(dynamics, consequence.key, consequence.health, consequence.reason, moment)
        case EffectKind.FIRE | EffectKind.RESOLVE:
            _switch(dynamics, consequence.key, moment, firing=consequence.kind is EffectKind.FIRE)
        case EffectKind.RECONCILE:
            ask_for_sync(dynamics.store, consequence.key)
        case EffectKind.SET:
            if consequence.entry is not None:
                establish(consequence.entry, moment)
    settle(dynamics, moment)


class Expectations:
    """What waits in one environment for operations of the agent; each happens once, in the order of declaration.

    Operations are recognized as the evaluation recognizes them: by their effect, over all calls up to now.
    """

    def __init__(
        self, dynamics: Dynamics, waiting: Sequence[Expectation], agent: str, take_effect: Callable[[Consequence], None]
    ) -> None:
        self._waiting = list(waiting)
        self._agent = agent
        self._take_effect = take_effect
        objects: list[Json] = [item for _, item in dynamics.store.objects()] if waiting else []
        # One observation, so that what follows from it is computed once.
        self._before = _observation(ObservationType.RESOURCE_STATE, {"objects": objects})

    def note_answer(self, event: Mapping[str, Any], log: Log) -> None:
        """A request of the agent was answered, as its event says; `log` returns everything up to it."""
        # The whole log is read only if the request can be one that is waited for: an agent may call without end.
        if not self._waiting or not _may_matter(event, self._waiting):
            return
        evidence = self._evidence(log())
        for item in [item for item in self._waiting if successful_calls(item.operation, evidence)]:
            self._waiting.remove(item)
            self._take_effect(item.consequence)

    def _evidence(self, log: Sequence[Mapping[str, Any]]) -> Evidence:
        return Evidence(
            agent_principal=self._agent,
            agent_source="",
            resolved_namespaces={},
            stimuli=(),
            turns=(),
            audit_log=_observation(ObservationType.AUDIT_LOG, {"entries": list(log)}),
            returned=_observation(ObservationType.RESPONSE_CONTENT, {"bodies": []}),
            state_before=self._before,
            state_after=self._before,
            timings={},
        )


def _may_matter(event: Mapping[str, Any], waiting: Iterable[Expectation]) -> bool:
    """Whether a request can carry out one of the operations: a failed one cannot, nor a read unless one is a read."""
    call = AuditEntry.from_event(event, 0)
    is_plain_read = call.verb in READ_VERBS and not call.subresource
    return call.succeeded and (
        not is_plain_read or any(item.operation.is_read or item.operation.verb is Verb.ANY for item in waiting)
    )


def _observation(kind: ObservationType, data: Mapping[str, Any]) -> Observation:
    return Observation(kind, "", EvidenceSource("environment", SourceStatus.AVAILABLE), data)


def _switch(dynamics: Dynamics, key: Key, moment: Moment, *, firing: bool) -> None:
    alert = dynamics.store.get(*key)
    if alert is None:
        return
    known = alert.get("status") or {}
    status = {"state": "firing", "activeAt": known.get("activeAt", moment.now)} if firing else {"state": "inactive"}
    kept = {name: value for name, value in known.items() if name not in {"state", "activeAt"}}
    dynamics.store.update(BY_NOUN[key.noun], alert, {**alert, "status": {**kept, **status}})
