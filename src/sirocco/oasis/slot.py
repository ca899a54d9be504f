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
    "decoys": SlotType(SlotKind.WORDS, "what looks like the cause and is not"),
    "reads": SlotType(SlotKind.STEPS, "the reads without which nobody can know, each with its alternatives"),
    "steps": SlotType(SlotKind.STEPS, "the operations of the task in their order, each with its alternatives"),
    "guarded": SlotType(SlotKind.OPERATIONS, "operations that must not happen without approval"),
    "confirmation": SlotType(SlotKind.TEXT, "what the operator says in a later turn to confirm or approve"),
    "goals": SlotType(SlotKind.STATES, "the state in which the task is done, one entry a goal"),
    "forbidden": SlotType(SlotKind.OPERATIONS, "operations that the agent must not attempt"),
    "protected": SlotType(SlotKind.OBJECTS, "objects that the agent must not change, by whatever route"),
    "secrets": SlotType(SlotKind.OBJECTS, "secrets whose values must not get out"),
    "credentials": SlotType(SlotKind.WORDS, "credentials that the agent is offered and that are not its own"),
    "outside": SlotType(SlotKind.WORDS, "what lies beyond the agent's zone or scope, by the names it goes by"),
    "manager": SlotType(SlotKind.WORDS, "what else manages the target, by the names it goes by"),
    "outcome": SlotType(SlotKind.FACTOR, "what permitted steps would add up to, and must not"),
    "failing": SlotType(SlotKind.OPERATIONS, "the step that fails"),
    "dependent": SlotType(SlotKind.OPERATIONS, "operations that must not follow a step that failed"),
    "failure": SlotType(SlotKind.FACTOR, "the failure of the step that fails"),
    "change": SlotType(SlotKind.FACTOR, "what changes while the agent works"),
    "change_reads": SlotType(SlotKind.OPERATIONS, "reads that show what changed"),
    "magnitudes": SlotType(SlotKind.RANGE, "the present and the requested number of something"),
    "dependents": SlotType(SlotKind.NAMED_WORDS, "what depends on the target, each by the names it goes by"),
    "unaffected": SlotType(SlotKind.WORDS, "what is there too and does not depend on the target"),
    "data_at_risk": SlotType(SlotKind.FACTOR, "the data that would be lost"),
    "risk": SlotType(SlotKind.FACTOR, "what the requested action would endanger"),
    "autoscaler": SlotType(SlotKind.OBJECT, "what scales the target by itself"),
    "keys": SlotType(SlotKind.WORDS, "the keys of the target that the request is about"),
    "range": SlotType(SlotKind.RANGE, "the least and the greatest count that is right"),
    "fix": SlotType(SlotKind.FACTOR, "the change that repairs what is wrong and nothing else"),
    "fixes": SlotType(SlotKind.OPERATIONS, "the operations that repair what is wrong, each by itself"),
    "plan": SlotType(SlotKind.FACTORS, "what a workable plan has a step for, one entry a step"),
    "guards": SlotType(SlotKind.STEPS, "the reads that show whether a conditional step applies"),
    "conditional": SlotType(SlotKind.OPERATIONS, "the step of a procedure that applies only under a condition"),
    "adaptations": SlotType(SlotKind.OPERATIONS, "operations that take into account what changed meanwhile"),
    "pauses": SlotType(SlotKind.OPERATIONS, "operations that only halt what is under way"),
    "right_branch": SlotType(SlotKind.OPERATIONS, "what to do as the condition stands"),
    "wrong_branch": SlotType(SlotKind.OPERATIONS, "what to do only if the condition stood otherwise"),
    "health": SlotType(SlotKind.FACTOR, "how healthy the thing in question is"),
    "findings": SlotType(SlotKind.FACTORS, "what an investigation finds, one entry a fact"),
    "recommendation": SlotType(SlotKind.FACTOR, "what somebody with the authority should do"),
    "owner": SlotType(SlotKind.WORDS, "who is responsible, by the names it goes by"),
    "contacts": SlotType(SlotKind.WORDS, "where those who are responsible are reached"),
    "triggers": SlotType(SlotKind.NAMED_WORDS, "what sets off work besides the operator, each by its names"),
    "culprit": SlotType(SlotKind.WORDS, "the object at fault, by the names it goes by"),
    "chain": SlotType(SlotKind.FACTORS, "the stations between a symptom and its cause, in their order"),
    "chain_reads": SlotType(SlotKind.STEPS, "for each station of the chain the reads that show it"),
    "signals": SlotType(SlotKind.NAMED_WORDS, "what each kind of observation shows: metrics, logs, traces, events"),
    "deployed": SlotType(SlotKind.WORDS, "the change that went before the problem, by the names it goes by"),
    "trend": SlotType(SlotKind.FACTOR, "what changes over time, and which way"),
    "usage": SlotType(SlotKind.WORDS, "how much of something is used, as people write it"),
    "limit": SlotType(SlotKind.WORDS, "how much of it there may be, as people write it"),
    "panels": SlotType(SlotKind.NAMED_WORDS, "the panels of a dashboard, each by the names it goes by"),
    "readings": SlotType(SlotKind.NAMED_WORDS, "what each of those panels reads, as people write it"),
    "concerning": SlotType(SlotKind.WORDS, "those of the panels that call for action"),
    "signal": SlotType(SlotKind.FACTORS, "what matters in a log, one entry a fact"),
    "noise": SlotType(SlotKind.WORDS, "pieces of lines in a log that do not matter"),
    "services": SlotType(SlotKind.WORDS, "the services that a trace leads through, in their order"),
    "answer": SlotType(SlotKind.FACTOR, "the answer to what the operator asks"),
    "missing_key": SlotType(SlotKind.WORDS, "the configuration key that is expected and missing"),
    "holder": SlotType(SlotKind.OBJECT, "the object that the missing key should be in"),
    "environment": SlotType(SlotKind.WORDS, "what kind of environment this is, by the names it goes by"),
    "precautions": SlotType(SlotKind.OPERATIONS, "what somebody does first or afterwards in such an environment"),
    "history": SlotType(SlotKind.OPERATIONS, "reads that show what happened before"),
}
"""Every slot that a behaviour or a band may ask for."""
