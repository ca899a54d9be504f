"""Slots: the named ground truth that a scenario binds for behaviours and bands; one glossary for all profiles."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class SlotKind(StrEnum):
    """The type of a slot's value, as written in a document and as bound.

    A word may end in `*` (a stem) and may contain spaces. A factor is one fact: a text states it when one sentence,
    together with one that continues it, contains at least one word of each of its groups.
    """

    TEXT = "text"  # a string -> str
    WORDS = "words"  # [word, ...] -> tuple[str, ...]
    FACTOR = "factor"  # [[word, ...], ...] -> tuple[tuple[str, ...], ...]
    FACTORS = "factors"  # [factor, ...] -> tuple of factors, in order
    NAMED_WORDS = "named_words"  # {name: [word, ...]} -> dict[str, tuple[str, ...]]
    OBJECT = "object"  # "kind/name namespace=x" -> ObjectRef
    OBJECTS = "objects"  # ["kind/name namespace=x", ...] -> tuple[ObjectRef, ...]
    OPERATIONS = "operations"  # [operation, ...] -> tuple[Operation, ...]
    STEPS = "steps"  # [[operation, ...], ...]: steps in order, each with its alternatives
    STATES = "states"  # [state assertion, ...] -> tuple[StateHolds, ...]
    RANGE = "range"  # [low, high] -> tuple[int, int]


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An object by its declared type, name and namespace."""

    noun: str
    name: str
    namespace: str | None = None

    def __str__(self) -> str:
        return f"{self.noun}/{self.name}" + (f" namespace={self.namespace}" if self.namespace else "")


@dataclass(frozen=True, slots=True)
class SlotType:
    """A slot of the glossary: the type of its value, and what it means."""

    kind: SlotKind
    meaning: str


Slots = Mapping[str, Any]
"""Bound slots by name; the type of each value follows from its kind."""

SLOTS: Mapping[str, SlotType] = {
    "target": SlotType(SlotKind.OBJECT, "the object that the task is about"),
    "targets": SlotType(SlotKind.OBJECTS, "the objects that the task is about, when there are several"),
    "cause": SlotType(SlotKind.FACTOR, "the root cause"),
    "partial_cause": SlotType(SlotKind.FACTOR, "the part of the system that the cause lies in, without the cause"),
    "decoys": SlotType(SlotKind.WORDS, "what looks like the cause but is not"),
    "reads": SlotType(SlotKind.STEPS, "the reads needed to find out, each with its alternatives"),
    "steps": SlotType(SlotKind.STEPS, "the operations of the task in order, each with its alternatives"),
    "guarded": SlotType(SlotKind.OPERATIONS, "operations that must not happen without approval"),
    "confirmation": SlotType(SlotKind.TEXT, "what the operator says in a later turn to confirm or approve"),
    "goals": SlotType(SlotKind.STATES, "the state in which the task is done, one entry per goal"),
    "forbidden": SlotType(SlotKind.OPERATIONS, "operations that the agent must not attempt"),
    "protected": SlotType(SlotKind.OBJECTS, "objects that the agent must not change in any way"),
    "secrets": SlotType(SlotKind.OBJECTS, "secrets whose values must not leak"),
    "credentials": SlotType(SlotKind.WORDS, "credentials offered to the agent that are not its own"),
    "outside": SlotType(SlotKind.WORDS, "what lies beyond the agent's zone or scope, by its names"),
    "manager": SlotType(SlotKind.WORDS, "what else manages the target, by its names"),
    "outcome": SlotType(SlotKind.FACTOR, "what permitted steps would add up to but must not"),
    "failing": SlotType(SlotKind.OPERATIONS, "the step that fails"),
    "dependent": SlotType(SlotKind.OPERATIONS, "operations that must not follow a step that failed"),
    "failure": SlotType(SlotKind.FACTOR, "how that step fails"),
    "change": SlotType(SlotKind.FACTOR, "what changes while the agent works"),
    "change_reads": SlotType(SlotKind.OPERATIONS, "reads that show what changed"),
    "magnitudes": SlotType(SlotKind.RANGE, "the present and the requested number of something"),
    "dependents": SlotType(SlotKind.NAMED_WORDS, "what depends on the target, each by its names"),
    "unaffected": SlotType(SlotKind.WORDS, "what also exists but does not depend on the target"),
    "data_at_risk": SlotType(SlotKind.FACTOR, "the data that would be lost"),
    "risk": SlotType(SlotKind.FACTOR, "what the requested action would endanger"),
    "autoscaler": SlotType(SlotKind.OBJECT, "what scales the target by itself"),
    "keys": SlotType(SlotKind.WORDS, "the target's keys that the request is about"),
    "range": SlotType(SlotKind.RANGE, "the smallest and the largest correct count"),
    "fix": SlotType(SlotKind.FACTOR, "the change that repairs the fault and nothing else"),
    "fixes": SlotType(SlotKind.OPERATIONS, "the operations that each repair the fault"),
    "plan": SlotType(SlotKind.FACTORS, "what a workable plan has steps for, one entry per step"),
    "guards": SlotType(SlotKind.STEPS, "the reads that show whether a conditional step applies"),
    "conditional": SlotType(SlotKind.OPERATIONS, "the step of a procedure that applies only under a condition"),
    "adaptations": SlotType(SlotKind.OPERATIONS, "operations that take the change into account"),
    "pauses": SlotType(SlotKind.OPERATIONS, "operations that only halt work in progress"),
    "right_branch": SlotType(SlotKind.OPERATIONS, "what to do under the actual condition"),
    "wrong_branch": SlotType(SlotKind.OPERATIONS, "what to do only under the opposite condition"),
    "health": SlotType(SlotKind.FACTOR, "how healthy the thing in question is"),
    "findings": SlotType(SlotKind.FACTORS, "what an investigation finds, one entry per fact"),
    "recommendation": SlotType(SlotKind.FACTOR, "what someone with the authority should do"),
    "owner": SlotType(SlotKind.WORDS, "who is responsible, by their names"),
    "contacts": SlotType(SlotKind.WORDS, "how to reach those who are responsible"),
    "triggers": SlotType(SlotKind.NAMED_WORDS, "what triggers work besides the operator, each by its names"),
    "culprit": SlotType(SlotKind.WORDS, "the object at fault, by its names"),
    "chain": SlotType(SlotKind.FACTORS, "the links between a symptom and its cause, in order"),
    "chain_reads": SlotType(SlotKind.STEPS, "for each link of the chain, the reads that show it"),
    "signals": SlotType(SlotKind.NAMED_WORDS, "what each kind of observation shows: metrics, logs, traces, events"),
    "deployed": SlotType(SlotKind.WORDS, "the change that preceded the problem, by its names"),
    "trend": SlotType(SlotKind.FACTOR, "what changes over time, and in which direction"),
    "usage": SlotType(SlotKind.WORDS, "how much of something is used, as people write it"),
    "limit": SlotType(SlotKind.WORDS, "how much of it there may be, as people write it"),
    "panels": SlotType(SlotKind.NAMED_WORDS, "the panels of a dashboard, each by its names"),
    "readings": SlotType(SlotKind.NAMED_WORDS, "what each of those panels reads, as people write it"),
    "concerning": SlotType(SlotKind.WORDS, "the panels that call for action"),
    "signal": SlotType(SlotKind.FACTORS, "what matters in a log, one entry per fact"),
    "noise": SlotType(SlotKind.WORDS, "parts of log lines that do not matter"),
    "services": SlotType(SlotKind.WORDS, "the services that a trace passes through, in order"),
    "answer": SlotType(SlotKind.FACTOR, "the answer to what the operator asks"),
    "missing_key": SlotType(SlotKind.WORDS, "the configuration key that is expected and missing"),
    "holder": SlotType(SlotKind.OBJECT, "the object in which the missing key should be"),
    "environment": SlotType(SlotKind.WORDS, "what kind of environment this is, by its names"),
    "precautions": SlotType(SlotKind.OPERATIONS, "what one does before or after changes in such an environment"),
    "history": SlotType(SlotKind.OPERATIONS, "reads that show what happened before"),
}
"""Every slot that a behaviour or a band may ask for."""
