"""`--provider cluster`: environments on control planes of our own, each used for one environment at a time.

With a kubeconfig they are in a cluster of the user's (`borrowed_provider`).
"""

import asyncio
import atexit
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sirocco.domains.kubernetes.agent_plane import KUBECONFIG
from sirocco.domains.kubernetes.cluster.borrowed import BorrowedCluster
from sirocco.domains.kubernetes.cluster.borrowed_provider import (
    BorrowedProvider,
    Borrowing,
    agreement_question,
    owner_access,
)
from sirocco.domains.kubernetes.cluster.control_plane import ControlPlane
from sirocco.domains.kubernetes.cluster.environment import ClusterEnvironment
from sirocco.domains.kubernetes.cluster.fronted_provider import LOOPBACK, Clock, FrontedProvider
from sirocco.domains.kubernetes.cluster.programs import Programs, find_programs
from sirocco.domains.kubernetes.simulator.injection import unsupported_preconditions
from sirocco.domains.kubernetes.simulator.provider import unsupported_demands
from sirocco.domains.kubernetes.simulator.reacting import unsupported_reactions
from sirocco.errors import ConfigError, FaultKind, ProviderFault
from sirocco.oasis.provider import Environment, ProvisionRequest
from sirocco.oasis.scenario import Scenario

PROVIDER_NAME = "sirocco-cluster"
_TURN_SECONDS = 0.02


class ControlPlanes:
    """The control planes of this process: each is started when none is free, and reused.

    There are no more than `most`; further requests wait.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._free: list[ControlPlane] = []
        self._all: list[ControlPlane] = []

    @asynccontextmanager
    async def lent(self, programs: Programs) -> AsyncIterator[ControlPlane]:
        """A control plane with nothing on it, for the length of the block."""
        # Not a semaphore: those belong to one event loop, and control planes outlive it.
        while not self._free and len(self._all) >= self._most:  # noqa: ASYNC110 - see above
            await asyncio.sleep(_TURN_SECONDS)
        plane = self._free.pop() if self._free else None
        while plane is not None and not plane.is_alive:
            self._end(plane)
            plane = self._free.pop() if self._free else None
        if plane is None:
            if not self._all:
                atexit.register(self.stop)
            plane = ControlPlane(programs)
            self._all.append(plane)
            try:
                await plane.start()
            except BaseException:
                self._end(plane)
                raise
        try:
            yield plane
        except BaseException:
            # Whatever went wrong may have left something behind.
            self._end(plane)
            raise
        self._free.append(plane)

    def stop(self) -> None:
        """Stop all of them."""
        for plane in self._all:
            plane.stop()
        self._all.clear()
        self._free.clear()

    def _end(self, plane: ControlPlane) -> None:
        plane.stop()
        self._all.remove(plane)


CONTROL_PLANES = ControlPlanes(most=os.cpu_count() or 1)


class ClusterProvider(FrontedProvider):
    """Provides environments on a real kube-apiserver; the same request with the same seed declares the same cluster."""

    _name = PROVIDER_NAME
    _sources = ("audit_log", "resource_state", "state_without_agent", "value_containment")
    # Pods do not really run and send no packets, so no policy can be bypassed.
    _keeps_packets = True

    def __init__(
        self, profiles: Mapping[str, str], clock: Clock, *, listen: str = LOOPBACK, advertise: str = "",
        is_announced: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(profiles, clock, listen=listen, advertise=advertise, is_announced=is_announced)
        self._programs = find_programs(os.environ)

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """Demands of a scenario that cannot be met here (CO-15)."""
        return unsupported_demands(scenario)

    def provision(self, request: ProvisionRequest) -> AbstractAsyncContextManager[Environment]:
        """A fresh environment for the length of the block."""
        return self._provision_environment(request)

    @asynccontextmanager
    async def _provision_environment(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        problems = unsupported_preconditions(request.preconditions)
        problems += tuple(unsupported_reactions(request.reactions, request.preconditions))
        if problems:
            remedy = "ask `unsupported_demands` at plan time"
            raise ProviderFault("provision", "; ".join(problems), remedy, FaultKind.UNSUPPORTED)
        async with CONTROL_PLANES.lent(self._programs) as plane:
            environment = ClusterEnvironment(request, self._clock, plane)
            try:
                async with self._front.serve_environment(environment):
                    yield environment
            finally:
                await asyncio.shield(environment.tear_down())


class BorrowedClusters:
    """`--provider cluster` with a cluster of the user's (implements LocalProvider)."""

    def __init__(self, borrowing: Borrowing) -> None:
        self._borrowing = borrowing

    def in_process_provider(self, versions: Mapping[str, str], clock: Clock) -> BorrowedProvider:
        """For agents in this process, which also reach their environment over loopback."""
        return BorrowedProvider(self._borrowing, versions, clock, listen=LOOPBACK)

    def served_provider(
        self,
        versions: Mapping[str, str],
        clock: Clock,
        *,
        listen: str,
        advertise: str = "",
        is_static: bool = False,
    ) -> BorrowedProvider:
        """For agents in other processes."""
        _require_addresses(is_static=is_static)
        return BorrowedProvider(self._borrowing, versions, clock, listen=listen, advertise=advertise, is_announced=True)


def _require_addresses(*, is_static: bool) -> None:
    if is_static:
        problem = f"environments on a control plane have an address each, and no {KUBECONFIG} leads to all of them"
        raise ConfigError("--kubeconfig", problem, "use --provider simulator for it")


class Cluster:
    """`--provider cluster` (implements ConfigurableProvider)."""

    def configured(self, options: Mapping[str, str]) -> BorrowedClusters:
        """The provider with the options that name a cluster of the user's."""
        return BorrowedClusters(Borrowing.from_options(options))

    def question(self, options: Mapping[str, str]) -> str:
        """Whether a cluster on another machine may be used."""
        access = owner_access(options)
        return "" if access.is_loopback or options.get("confirmed") == "yes" else agreement_question(access)

    async def clean(self, options: Mapping[str, str], *, everything: bool) -> Sequence[str]:
        """Remove the namespaces that runs left behind in a cluster of the user's."""
        cluster = BorrowedCluster(owner_access(options))
        try:
            return await cluster.clean(everything=everything)
        finally:
            cluster.close()

    def in_process_provider(self, versions: Mapping[str, str], clock: Clock) -> ClusterProvider:
        """For agents in this process, which reach their environment over loopback all the same."""
        return ClusterProvider(versions, clock)

    def served_provider(
        self,
        versions: Mapping[str, str],
        clock: Clock,
        *,
        listen: str,
        advertise: str = "",
        is_static: bool = False,
    ) -> ClusterProvider:
        """For agents in other processes."""
        _require_addresses(is_static=is_static)
        return ClusterProvider(versions, clock, listen=listen, advertise=advertise, is_announced=True)
