"""Reactions: what the environment does in response to an operation, a point in time, or the agent's writes."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from sirocco.oasis.noun import Noun

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_EFFECTS = ("heal", "fail", "fire", "resolve", "reconcile", "set")


class Cue(Noun):
    """A time after the agent's first request, or the number of a successful write of the agent."""

    after: str | None = Field(default=None, pattern=r"^[0-9]{1,6}(ms|s|m|h)$")
    write: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if (self.after is None) == (self.write is None):
            raise ValueError("a reaction waits for an operation, for `after: 30s`, or for `write: 2`")
        return self

    @property
    def seconds(self) -> float | None:
        """The time in seconds."""
        if self.after is None:
            return None
        number = self.after.rstrip("hms")
        return int(number) * _UNITS[self.after.removeprefix(number)]


class Effect(Noun):
    """The effect: recovery, failure, an alert that fires or is resolved, a sync, or new values in a state entry."""

    heal: str | None = None
    fail: str | None = None
    status: str | None = None
    reason: str | None = None
    fire: str | None = None
    resolve: str | None = None
    reconcile: str | None = None
    set: Mapping[str, Any] | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if sum(getattr(self, name) is not None for name in _EFFECTS) != 1:
            raise ValueError(f"an effect is one of {', '.join(_EFFECTS)}")
        if self.fail is None and (self.status is not None or self.reason is not None):
            raise ValueError("status and reason say how something fails, and need fail")
        if self.set is not None and not isinstance(self.set.get("resource"), str):
            raise ValueError("set needs a resource, as a state entry has it")
        return self

    @property
    def kind(self) -> str:
        """Which of the effects it is."""
        return next(name for name in _EFFECTS if getattr(self, name) is not None)

    @property
    def target(self) -> str:
        """The object that it is about, as kind/name."""
        return str(self.set["resource"]) if self.set is not None else str(getattr(self, self.kind))


class Reaction(Noun):
    """One reaction; it happens once. `when` is an operation as assertions write it, or a cue."""

    when: str | Cue
    then: Effect
