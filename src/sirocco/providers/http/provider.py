"""Adapts any OASIS provider to the ports Provider and Environment.

Where the standard leaves room, every variant in use is accepted (`answers`). A failure is a ProviderFault with its
kind, never an empty answer (CO-07). A provider that lists `extensions` in its declaration is also told the seed, asked
what it cannot establish, and handed stimuli in our own form.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote

from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.declarations import Declarations
from sirocco.oasis.domain import Domain
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.oasis.provider import Conformance, Environment, ProvisionRequest
from sirocco.oasis.scenario import Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.providers.http import answers, stimuli
from sirocco.providers.http.control import ControlPlane, Timeouts, message_of
from sirocco.providers.http.entries import in_both_forms

PLAN, SEED, STIMULI, TRIGGERS = "plan", "seed", "stimuli", "triggers"
_EXTENDED = frozenset({ObservationType.RESPONSE_CONTENT, ObservationType.STIMULI, ObservationType.STATE_WITHOUT_AGENT})
"""Observations that are not part of the standard."""
_POLL = 2.0
_REMEDY = "look at the provider's own log"
_ASK_FIRST = "ask `unsupported_demands` at plan time"
Made = TypeVar("Made")


class HttpProvider:
    """A provider at a URL, for environments of one domain."""

    def __init__(
        self, url: str, profile: str, domain: Domain, *, token: str = "", timeouts: Timeouts | None = None
    ) -> None:
        self._url = url
        self._profile = profile
        self._domain = domain
        self._timeouts = timeouts or Timeouts()
        self._control = ControlPlane(url, token=token, timeouts=self._timeouts)
        self._extensions: frozenset[str] | None = None

    async def conformance(self, profile: str) -> Conformance:
        """The provider's declaration (CO-01)."""
        body = await self._control.call("conformance", query=f"?profile={quote(profile, safe='')}")
        declared = answers.conformance(body, profile)
        comparison = {str(ObservationType.STATE_WITHOUT_AGENT)} if declared.offers_comparison else set()
        self._extensions = answers.extensions(body) | comparison
        return declared

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """The demands that the provider says it cannot establish, or that the standard cannot express (CO-15).

        The port's method is synchronous, so the call runs in a separate thread and blocks until it ends.
        """
        return _waited_for(self._ask_unsupported(scenario))

    def provision(self, request: ProvisionRequest) -> AbstractAsyncContextManager[Environment]:
        """An environment for the duration of the block; it is torn down whatever happens in it."""
        return self._provision_environment(request)

    async def _ask_unsupported(self, scenario: Scenario) -> tuple[str, ...]:
        if self._extensions is None:
            await self.conformance(self._profile)
        if PLAN not in (self._extensions or ()):
            return tuple(_beyond_the_standard(scenario, self._domain.declarations))
        body = await self._control.call("plan", _plan_body(scenario))
        problems = body.get("unsupported")
        if not isinstance(problems, list):
            problem = "the plan does not say what is unsupported"
            raise ProviderFault(f"{self._url} plan", problem, _REMEDY, FaultKind.MALFORMED)
        return tuple(str(item) for item in problems)

    @asynccontextmanager
    async def _provision_environment(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        if self._extensions is None:
            await self.conformance(self._profile)
        extensions = self._extensions or frozenset()
        body = await self._control.call("provision", _provision(request, extensions))
        identity = body.get("environment_id")
        if not isinstance(identity, str) or not identity:
            problem = f"no environment_id in the answer: {message_of(body)}"
            raise ProviderFault(f"{self._url} provision", problem, _REMEDY, FaultKind.MALFORMED)
        opaque = hashlib.sha256(identity.encode()).hexdigest()[:20]  # the id on the control plane is not the agent's
        try:
            async with self._domain.wire.open_access(body, opaque) as access:
                yield HttpEnvironment(self._control, body, access, request, extensions, self._domain)
        except BaseException:
            # The first error is the one that counts.
            await self._torn_down(identity, is_needed=False)
            raise
        await self._torn_down(identity, is_needed=True)

    async def _torn_down(self, identity: str, *, is_needed: bool) -> None:
        """Tear the environment down; a teardown still in progress after its time limit is left to the provider."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeouts.teardown
        try:
            result = await self._control.attempt("teardown", {"environment_id": identity})
            while result.status == 202 and loop.time() + _POLL < deadline:
                await asyncio.sleep(_POLL)
                result = await self._control.attempt("teardown", {"environment_id": identity})
        except ProviderFault:
            if is_needed:
                raise
            return
        if is_needed and not result.succeeded and result.status != 404:
            problem = f"the environment was not torn down: {result.status} {message_of(result.body)}"
            raise ProviderFault(f"{self._url} teardown", problem, _REMEDY)


class HttpEnvironment:
    """One environment of an external provider."""

    def __init__(
        self,
        control: ControlPlane,
        provisioned: Mapping[str, Any],
        access: EnvironmentAccess,
        request: ProvisionRequest,
        extensions: frozenset[str],
        domain: Domain,
    ) -> None:
        self._control = control
        self._domain = domain
        self._id = str(provisioned["environment_id"])
        self._access = access
        self._preconditions = request.preconditions
        self._extensions = extensions
        self._declared_principal = _text(provisioned.get("agent_principal"))
        self._observed_principal = ""
        self._source = _text(provisioned.get("agent_source"))
        self._namespaces = answers.resolved_namespaces(provisioned)

    @property
    def access(self) -> EnvironmentAccess:
        """The access that the agent is handed."""
        return self._access

    @property
    def agent_principal(self) -> str:
        """The account that the provider declared as the agent's, with the audit log at the latest (Reporting 1.1.1).

        If it declares none, the one that the agent's token names; empty if that names none either.
        """
        declared = self._declared_principal or self._observed_principal
        return declared or self._domain.wire.principal_named_by(self._access.token)

    @property
    def agent_source(self) -> str:
        """The address of the agent's calls in the audit log, if the provider declares it."""
        return self._source

    @property
    def resolved_namespaces(self) -> Mapping[str, str]:
        """Declared namespace to actual one."""
        return self._namespaces

    @property
    def offers_comparison(self) -> bool:
        """Whether the provider declares that evidence, as learned during the preflight."""
        return ObservationType.STATE_WITHOUT_AGENT in self._extensions

    async def inject(self, stimulus: Stimulus, trigger: str | None = None) -> None:
        """Apply a stimulus now, or arm it."""
        body: dict[str, Any] = {}
        if STIMULI in self._extensions:
            body["stimulus"] = stimulus.document()
        try:
            entry = self._domain.declarations.entry_for(stimulus, self._preconditions)
            body["state"] = _entries((entry,), self._extensions)
        except ValueError as error:
            if STIMULI not in self._extensions:
                raise ProviderFault("inject", str(error), _ASK_FIRST, FaultKind.UNSUPPORTED) from error
            body["state"] = []
        await self._inject_body(body, trigger)

    async def establish(self, state: tuple[StateEntry, ...], trigger: str | None = None) -> None:
        """Put further entries in place."""
        await self._inject_body({"state": _entries(state, self._extensions)}, trigger)

    async def observe(self, observation_type: ObservationType) -> Observation:
        """Observe the environment; an answer about something other than what was asked is a fault (CO-07)."""
        if observation_type in _EXTENDED and observation_type not in self._extensions:
            source = EvidenceSource("not offered by the provider", SourceStatus.UNREACHABLE)
            return Observation(observation_type, "", source, {})
        body = await self._control.call(
            "observe", {"environment_id": self._id, "observation_type": str(observation_type), "parameters": {}}
        )
        for key, asked in (("environment_id", self._id), ("observation_type", str(observation_type))):
            if (answered := body.get(key, asked)) != asked:
                problem = f"asked for {key} {asked}, the provider answered for {answered}"
                raise ProviderFault("observe", problem, _REMEDY, FaultKind.MALFORMED)
        self._observed_principal = answers.agent_principal(body) or self._observed_principal
        return answers.observation(body, observation_type, self._domain.wire)

    async def _inject_body(self, body: dict[str, Any], trigger: str | None) -> None:
        try:
            is_armed = stimuli.is_armed(trigger)
        except ValueError as error:
            raise ProviderFault("inject", str(error), _ASK_FIRST, FaultKind.UNSUPPORTED) from error
        if is_armed and TRIGGERS not in self._extensions:
            problem = f"the provider takes no triggers, and {trigger!r} is one"
            raise ProviderFault("inject", problem, _ASK_FIRST, FaultKind.UNSUPPORTED)
        if is_armed:
            body["trigger"] = {"timing": trigger}
        answer = await self._control.call("inject-state", {"environment_id": self._id, **body})
        wanted = "armed" if is_armed else "applied"
        if answer.get("status") != wanted:
            problem = f"the provider answered {answer.get('status')!r} instead of {wanted!r}: {message_of(answer)}"
            raise ProviderFault("inject", problem, _REMEDY)


def _provision(request: ProvisionRequest, extensions: frozenset[str]) -> dict[str, Any]:
    """The request, with an id that reveals nothing of the scenario: parts of it end up where agents look (SI-02)."""
    environment = request.preconditions.environment
    body: dict[str, Any] = {
        "scenario_id": hashlib.sha256(f"{request.seed}".encode()).hexdigest()[:16],
        "environment": {"type": environment.type, "state": _entries(request.whole_state, extensions)},
        "agent": request.preconditions.agent.document(),
        "tier": request.tier,
    }
    if SEED in extensions:
        body["seed"] = f"{request.seed:#x}"
    if request.reactions:
        body["reactions"] = [reaction.document() for reaction in request.reactions]
    return body


def _entries(state: tuple[StateEntry, ...], extensions: frozenset[str]) -> list[dict[str, Any]]:
    """State entries as written for a provider that needs no translation, and in both forms for any other."""
    return [entry.document() for entry in state] if STIMULI in extensions else in_both_forms(state)


def _plan_body(scenario: Scenario) -> dict[str, Any]:
    """The body of a plan request: everything that a provider has to establish, without its purpose."""
    return {
        "environment": scenario.preconditions.environment.document(),
        "agent": scenario.preconditions.agent.document(),
        "tier": scenario.tier,
        "stimuli": [stimulus.document() for stimulus in scenario.stimuli],
        "reactions": scenario.x_sirocco.document().get("reactions", []),
    }


def _beyond_the_standard(scenario: Scenario, declarations: Declarations) -> list[str]:
    problems = [
        f"stimuli.{index}: {problem}"
        for index, stimulus in enumerate(scenario.stimuli)
        if (problem := stimuli.problem(stimulus, scenario.preconditions, declarations))
    ]
    count = len(scenario.x_sirocco.reactions)
    return problems + [f"x-sirocco.reactions.{index}: the provider takes no reactions" for index in range(count)]


def _waited_for(work: Coroutine[Any, Any, Made]) -> Made:
    """The result of a coroutine, for a caller that cannot await it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
