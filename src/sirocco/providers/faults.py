"""Faults on demand: a provider that breaks in a known way, for tests and drills (CO-07)."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.oasis.provider import Conformance, Environment, Provider, ProvisionRequest
from sirocco.oasis.scenario import Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.wrapper import EnvironmentWrapper

OPERATIONS = ("conformance", "provision", "inject", "observe", "teardown")


class Fault:
    """One kind of failure; the base class breaks nothing."""

    async def before_operation(self, operation: str) -> None:
        """Called before every operation of the provider; may delay or raise."""

    async def before_observing(self, observation_type: ObservationType) -> None:
        """Called before every observation, with its type; may delay or raise."""

    def change_declaration(self, conformance: Conformance) -> Conformance:
        """The provider's declaration under this fault."""
        return conformance

    def change_observation(self, observation: Observation) -> Observation:
        """The observation under this fault."""
        return observation


@dataclass(frozen=True, slots=True)
class Unreachable(Fault):
    """A source of evidence that cannot be read."""

    observation_type: ObservationType = ObservationType.AUDIT_LOG

    def change_observation(self, observation: Observation) -> Observation:
        """The same observation without data and with the status of an unreachable source."""
        if observation.observation_type is not self.observation_type:
            return observation
        return _with_status(observation, SourceStatus.UNREACHABLE, {})


@dataclass(frozen=True, slots=True)
class PartialLog(Fault):
    """The source has only the later half of the audit log, and reports this."""

    def change_observation(self, observation: Observation) -> Observation:
        """The later half, marked as partial."""
        entries = _entries(observation)
        if entries is None:
            return observation
        return _with_status(observation, SourceStatus.PARTIAL, {"entries": entries[len(entries) // 2 :]})


@dataclass(frozen=True, slots=True)
class TruncatedLog(Fault):
    """The last entry of the audit log is cut off in the middle, without any indication."""

    def change_observation(self, observation: Observation) -> Observation:
        """The log up to the cut-off."""
        entries = _entries(observation)
        if not entries:
            return observation if entries is None else replace(observation, data={})
        *whole, last = entries
        return replace(observation, data={"entries": [*whole, dict(list(last.items())[: len(last) // 3])]})


@dataclass(frozen=True, slots=True)
class DuplicateDelivery(Fault):
    """The last entry of the audit log is delivered twice."""

    def change_observation(self, observation: Observation) -> Observation:
        """The log with its last entry twice."""
        entries = _entries(observation)
        return replace(observation, data={"entries": [*entries, *entries[-1:]]}) if entries else observation


@dataclass(frozen=True, slots=True)
class Slow(Fault):
    """Every operation takes `seconds`; a caller that waits at most `patience` seconds sees a timeout."""

    seconds: float = 120
    patience: float | None = None

    async def before_operation(self, operation: str) -> None:
        """Delay the operation, or time out if the caller does not wait that long."""
        if self.patience is None or self.seconds <= self.patience:
            await asyncio.sleep(self.seconds)
            return
        await asyncio.sleep(self.patience)
        problem = f"no answer within {self.patience:g} s"
        raise ProviderFault(operation, problem, "run again, or allow more time", FaultKind.TIMEOUT)


@dataclass(frozen=True, slots=True)
class Failing(Fault):
    """One operation, or every one, fails with an internal error."""

    operation: str | None = None

    async def before_operation(self, operation: str) -> None:
        """Fail if this is the operation that fails."""
        if self.operation in {None, operation}:
            raise ProviderFault(operation, f"the environment failed at {operation}", "run again")


@dataclass(frozen=True, slots=True)
class LostEnvironment(Fault):
    """The environment disappears as soon as it has been handed over."""

    async def before_operation(self, operation: str) -> None:
        """Fail every operation that needs the environment."""
        if operation in {"inject", "observe"}:
            problem = "the provider no longer knows the environment"
            raise ProviderFault(operation, problem, "run again", FaultKind.LOST)


@dataclass(frozen=True, slots=True)
class WrongVersions(Fault):
    """The provider implements other versions of the core and of the profile than the run asks for."""

    core: str = "0.3.0"
    profile: str = "0.0.1"

    def change_declaration(self, conformance: Conformance) -> Conformance:
        """The declaration with those other versions."""
        requirements = {**conformance.requirements, "oasis_core_spec_version": [self.core]}
        update = {
            "oasis_core_spec_versions": (self.core,), "profile_version": self.profile, "requirements": requirements,
        }  # fmt: skip
        return conformance.model_copy(update=update)


class Breakage(StrEnum):
    """The ways in which a step can break."""

    ERROR = "error"
    """The provider reports a failure, such as status 500."""
    LOST = "lost"
    """The connection is lost."""
    CRASH = "crash"
    """The provider's code raises an unexpected exception."""
    HANG = "hang"
    """The provider never answers."""
    GARBAGE = "garbage"
    """The answer contains nothing of what was asked for."""
    MISLABELLED = "mislabelled"
    """The answer is an observation of something else."""
    UNREACHABLE = "unreachable"
    """The provider reports that the source of the evidence cannot be reached."""
    PARTIAL = "partial"
    """The provider reports that the source has only part of the evidence."""


class Breaking(Fault):
    """One step in one environment breaks in one way, and everything else works.

    `step` is an operation or a type of observation. `environment` selects the environment by the order of setup, and
    `nth` the occurrence of the step in it, both counted from 1. A run's first environment is the one that shows the
    tier.
    """

    def __init__(self, step: str, how: Breakage, *, environment: int = 1, nth: int = 1) -> None:
        self._step = step
        self._how = how
        self._environment = environment
        self._nth = nth
        self._environments = 0
        self._reached = 0

    async def before_operation(self, operation: str) -> None:
        """Break if this operation is due."""
        if operation == "provision":
            self._environments += 1
        if operation == self._step and self._is_due():
            await self._break(operation)

    async def before_observing(self, observation_type: ObservationType) -> None:
        """Break if this observation is due and the fault is not in its answer."""
        if observation_type == self._step and self._is_due():
            await self._break(observation_type)

    def change_observation(self, observation: Observation) -> Observation:
        """The observation, broken if it is due."""
        if observation.observation_type != self._step or not self._is_now():
            return observation
        match self._how:
            case Breakage.GARBAGE:
                return replace(observation, data={"nonsense": [None]})
            case Breakage.MISLABELLED:
                kinds = [kind for kind in ObservationType if kind is not observation.observation_type]
                return replace(observation, observation_type=kinds[0])
            case Breakage.UNREACHABLE:
                return _with_status(observation, SourceStatus.UNREACHABLE, {})
            case Breakage.PARTIAL:
                return _with_status(observation, SourceStatus.PARTIAL, observation.data)
            case _:
                return observation

    def _is_due(self) -> bool:
        if self._step != "conformance" and self._environments != self._environment:
            return False
        self._reached += 1
        return self._reached == self._nth

    def _is_now(self) -> bool:
        return self._environments == self._environment and self._reached == self._nth

    async def _break(self, where: str) -> None:
        match self._how:
            case Breakage.ERROR:
                raise ProviderFault(where, f"the environment failed at {where}", "run again")
            case Breakage.LOST:
                raise ProviderFault(where, "the connection was lost", "run again", FaultKind.UNREACHABLE)
            case Breakage.CRASH:
                raise RuntimeError(f"it crashed at {where}")
            case Breakage.HANG:
                await asyncio.Event().wait()


FAULTS: Mapping[str, Fault] = {
    "unreachable": Unreachable(),
    "partial": PartialLog(),
    "truncated": TruncatedLog(),
    "duplicate": DuplicateDelivery(),
    "slow": Slow(),
    "failing": Failing(),
    "lost": LostEnvironment(),
    "versions": WrongVersions(),
}
"""The faults, by the names that commands accept."""


class FaultyProvider:
    """Wraps a provider and adds faults."""

    def __init__(self, provider: Provider, *faults: Fault) -> None:
        self._provider = provider
        self._faults = faults

    async def conformance(self, profile: str) -> Conformance:
        """The provider's declaration, as altered by the faults."""
        await _before_operation(self._faults, "conformance")
        declared = await self._provider.conformance(profile)
        for fault in self._faults:
            declared = fault.change_declaration(declared)
        return declared

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """What the wrapped provider cannot establish."""
        return self._provider.unsupported_demands(scenario)

    def provision(self, request: ProvisionRequest) -> AbstractAsyncContextManager[Environment]:
        """An environment with the same faults."""
        return self._provision_environment(request)

    @asynccontextmanager
    async def _provision_environment(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        await _before_operation(self._faults, "provision")
        async with self._provider.provision(request) as environment:
            yield _FaultyEnvironment(environment, self._faults)
            await _before_operation(self._faults, "teardown")


class _FaultyEnvironment(EnvironmentWrapper):
    """One environment of the wrapped provider; the agent's own actions in it are not affected."""

    def __init__(self, environment: Environment, faults: Iterable[Fault]) -> None:
        super().__init__(environment)
        self._faults = tuple(faults)

    async def inject(self, stimulus: Stimulus, trigger: str | None = None) -> None:
        await _before_operation(self._faults, "inject")
        await super().inject(stimulus, trigger)

    async def establish(self, state: tuple[StateEntry, ...], trigger: str | None = None) -> None:
        await _before_operation(self._faults, "inject")
        await super().establish(state, trigger)

    async def observe(self, observation_type: ObservationType) -> Observation:
        await _before_operation(self._faults, "observe")
        for fault in self._faults:
            await fault.before_observing(observation_type)
        observation = await super().observe(observation_type)
        for fault in self._faults:
            observation = fault.change_observation(observation)
        return observation


async def _before_operation(faults: Iterable[Fault], operation: str) -> None:
    for fault in faults:
        await fault.before_operation(operation)


def _entries(observation: Observation) -> list[Mapping[str, object]] | None:
    """The entries of an audit log; None for any other observation."""
    if observation.observation_type is not ObservationType.AUDIT_LOG:
        return None
    return list(observation.data.get("entries", ()))


def _with_status(observation: Observation, status: SourceStatus, data: Mapping[str, object]) -> Observation:
    return replace(observation, evidence_source=EvidenceSource(observation.evidence_source.type, status), data=data)
