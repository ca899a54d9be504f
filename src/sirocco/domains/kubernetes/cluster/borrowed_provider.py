"""`--provider cluster` with a kubeconfig and a context: environments in namespaces of their own in a user's cluster."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kubesim.serving.server import bind_listener, serve_application
from sirocco.domains.kubernetes.cluster.audit import AuditReceiver, AuditRecord, AuditTail, has_ended
from sirocco.domains.kubernetes.cluster.borrowed import BorrowedCluster
from sirocco.domains.kubernetes.cluster.borrowed_demands import Offer, borrowed_demands
from sirocco.domains.kubernetes.cluster.borrowed_environment import BorrowedEnvironment
from sirocco.domains.kubernetes.cluster.fronted_provider import Clock, FrontedProvider
from sirocco.domains.kubernetes.cluster.kubeconfig_access import OwnerAccess, read_kubeconfig
from sirocco.domains.kubernetes.simulator.injection import unsupported_preconditions
from sirocco.errors import ConfigError, FaultKind, ProviderFault
from sirocco.oasis.provider import Conformance, Environment, ProvisionRequest, UnmetRequirement
from sirocco.oasis.scenario import Scenario

PROVIDER_NAME = "sirocco-borrowed-cluster"
_PROOF_SECONDS = 45.0
_STEP_SECONDS = 0.2
_OPTIONS = frozenset({"kubeconfig", "context", "audit_log", "audit_webhook", "image", "confirmed"})


@dataclass(frozen=True, slots=True)
class Borrowing:
    """Whose cluster it is, where to get its audit log, and which images it can run besides those on its nodes."""

    access: OwnerAccess
    audit_log: Path | None = None
    audit_webhook: str = ""
    images: tuple[str, ...] = ()

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> Self:
        """The options of a provider; ConfigError when some are missing, or the use is not confirmed."""
        if unknown := sorted(options.keys() - _OPTIONS):
            raise ConfigError(
                "--provider", f"cluster has no option {unknown[0]!r}", f"use {', '.join(sorted(_OPTIONS))}"
            )
        access = owner_access(options)
        log, webhook = options.get("audit_log", ""), options.get("audit_webhook", "")
        if bool(log) is bool(webhook):
            problem = "evidence comes from the cluster's own audit log, whose location is not given"
            raise ConfigError("--audit-log", problem, "give --audit-log FILE, or --audit-webhook HOST:PORT")
        if not access.is_loopback and options.get("confirmed") != "yes":
            raise ConfigError("--context", f"{agreement_question(access)} Nobody has confirmed it", "add --yes")
        images = tuple(filter(None, options.get("image", "").split(",")))
        return cls(access, Path(log) if log else None, webhook, images)


def owner_access(options: Mapping[str, str]) -> OwnerAccess:
    """The access to the cluster that options name; ConfigError when they name none."""
    missing = [name for name in ("kubeconfig", "context") if not options.get(name)]
    if missing:
        problem = f"a cluster of your own also needs --{missing[0]}"
        raise ConfigError("--provider cluster", problem, "give --kubeconfig FILE --context NAME")
    return read_kubeconfig(Path(options["kubeconfig"]), options["context"])


def agreement_question(access: OwnerAccess) -> str:
    """What the user has to agree to before a cluster on another machine is used."""
    return (
        f"Context {access.context!r} is the cluster at {access.server}, which is not on this machine. Namespaces are "
        "created there, and agents act in them. Use it?"
    )


class BorrowedProvider(FrontedProvider):
    """Provides environments in a user's cluster."""

    _name = PROVIDER_NAME
    _sources = ("audit_log", "resource_state", "value_containment")
    # Whether packets are kept from pods depends on a network plugin, which is not checked here.
    _keeps_packets = False

    def __init__(
        self, borrowing: Borrowing, profiles: Mapping[str, str], clock: Clock, *, listen: str, advertise: str = "",
        is_announced: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(profiles, clock, listen=listen, advertise=advertise, is_announced=is_announced)
        self._borrowing = borrowing
        self._receiver = AuditReceiver()
        self._offer: Offer | None = None

    async def conformance(self, profile: str) -> Conformance:
        """What the cluster offers for a profile (CO-01): its audit log is tried before it is relied upon."""
        unmet = []
        try:
            await self._clean_up()
            await self._prove_audit_log()
        except ProviderFault as fault:
            unmet.append(UnmetRequirement(requirement="evidence_sources_available", reason=fault.problem))
        return self._declaration(profile, unmet)

    async def _clean_up(self) -> None:
        cluster = BorrowedCluster(self._borrowing.access)
        try:
            await cluster.clean()
        finally:
            cluster.close()

    async def _prove_audit_log(self) -> None:
        """Send a request that changes nothing, and check that the log reports it with its content."""
        cluster, audit_id = BorrowedCluster(self._borrowing.access), str(uuid.uuid4())
        try:
            async with self._recorded() as record:
                await cluster.ask_for_record(audit_id)
                deadline = time.monotonic() + _PROOF_SECONDS
                while True:
                    event = next((one for one in record.events() if one["auditID"] == audit_id), None)
                    if event is not None and has_ended(event):
                        break
                    if time.monotonic() > deadline:
                        problem = "the audit log of the cluster does not report a request that was just made"
                        raise ProviderFault("audit log", problem, "check where the cluster writes it")
                    await asyncio.sleep(_STEP_SECONDS)
        finally:
            cluster.close()
        if "requestObject" not in event or "responseObject" not in event:
            problem = "the audit policy of the cluster leaves out bodies; evidence needs the level RequestResponse"
            raise ProviderFault("audit log", problem, "change --audit-policy-file of its server")

    @asynccontextmanager
    async def _recorded(self) -> AsyncIterator[AuditRecord]:
        """The requests that the cluster reports while the block lasts."""
        borrowing = self._borrowing
        if borrowing.audit_log is not None:
            yield AuditTail(borrowing.audit_log)
            return
        with self._receiver.record() as record:
            async with self._listening():
                yield record

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[None]:
        """Receive what the cluster sends; a receiver that is already listening is shared by all."""
        try:
            listener = bind_listener(self._borrowing.audit_webhook)
        except OSError as error:
            if self._receiver.is_listening:
                yield
                return
            problem = f"{self._borrowing.audit_webhook}: {error.strerror or error}"
            raise ConfigError("--audit-webhook", problem, "name a free address of this machine") from error
        async with serve_application(self._receiver, listener, None):
            self._receiver.is_listening = True
            try:
                yield
            finally:
                self._receiver.is_listening = False

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """Demands of a scenario that this cluster cannot meet (CO-15)."""
        request = ProvisionRequest(scenario.preconditions, scenario.tier, 0, scenario.x_sirocco.reactions)
        return borrowed_demands(scenario, request, self._look())

    def _look(self) -> Offer:
        """What the cluster offers; asked once, in an event loop of its own, since planning runs without one."""
        if self._offer is None:
            with ThreadPoolExecutor(1) as apart:
                self._offer = apart.submit(asyncio.run, self._ask_for_offer()).result()
        return self._offer

    async def _ask_for_offer(self) -> Offer:
        cluster = BorrowedCluster(self._borrowing.access)
        try:
            taken, images = await cluster.foreign_namespaces(), await cluster.images_on_nodes()
        finally:
            cluster.close()
        return Offer(taken, (*sorted(images), *self._borrowing.images))

    def provision(self, request: ProvisionRequest) -> AbstractAsyncContextManager[Environment]:
        """A fresh environment for the length of the block."""
        return self._provision_environment(request)

    @asynccontextmanager
    async def _provision_environment(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        if problems := unsupported_preconditions(request.preconditions):
            remedy = "ask `unsupported_demands` at plan time"
            raise ProviderFault("provision", "; ".join(problems), remedy, FaultKind.UNSUPPORTED)
        cluster = BorrowedCluster(self._borrowing.access)
        try:
            async with self._recorded() as record:
                environment = BorrowedEnvironment(request, self._clock, cluster, record)
                try:
                    await environment.take_place()
                    async with self._front.serve_environment(environment):
                        yield environment
                finally:
                    await asyncio.shield(environment.tear_down())
        finally:
            cluster.close()
