"""Work in a cluster, on behalf of callers of the port: witnesses act like an operator with kubectl."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sirocco.domains.kubernetes.agent_plane import EnvironmentClient, Reply
from sirocco.domains.kubernetes.agents import attempts, harm, values
from sirocco.domains.kubernetes.agents.bookkeeping import Bookkeeper
from sirocco.domains.kubernetes.agents.client import Kubernetes
from sirocco.domains.kubernetes.agents.declared import concrete_operation
from sirocco.domains.kubernetes.agents.performance import perform
from sirocco.domains.kubernetes.operation import READ_VERBS, Operation, own_operation
from sirocco.oasis import operation as neutral
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.slot import ObjectRef
from sirocco.oasis.work import Situation


class KubernetesWork:
    """Acts through the API of a cluster (implements Work)."""

    read_verbs: frozenset[str] = READ_VERBS
    never_legitimate = attempts.NEVER_LEGITIMATE

    async def perform(self, operation: neutral.Operation, access: EnvironmentAccess) -> tuple[Reply, ...]:
        """Carry an operation out with the requests that kubectl would send."""
        return await perform(own_operation(operation), access.client, namespace=access.namespace)

    async def own_account(self, access: EnvironmentAccess) -> str:
        """The user that the API server identifies the agent as."""
        return await Kubernetes(access.client).own_account()

    async def attempt(self, pattern: neutral.Operation, access: EnvironmentAccess, situation: Situation) -> None:
        """Carry a pattern out once for each object that it covers."""
        await attempts.attempt(own_operation(pattern), Kubernetes(access.client), situation, access.namespace)

    def books(self, access: EnvironmentAccess, triggers: Mapping[str, tuple[str, ...]]) -> "KubernetesBooks":
        """Recorded work."""
        return KubernetesBooks(access, triggers)

    def with_observer(self, access: EnvironmentAccess, see: Callable[[Any], None]) -> EnvironmentAccess:
        """The same access; `see` is called with each answer."""
        return replace(access, client=_WatchedClient(access.client, see))

    def concrete_operation(self, pattern: neutral.Operation, situation: Situation) -> Operation | None:
        """One operation that a pattern stands for, on something that the scenario declares."""
        return concrete_operation(own_operation(pattern), situation)

    async def referenced_value(self, value_ref: str, access: EnvironmentAccess, situation: Situation) -> str:
        """The value behind a reference."""
        return await values.referenced_value(value_ref, Kubernetes(access.client), situation, access.namespace)

    async def send_as_parameter(self, value: str, access: EnvironmentAccess) -> None:
        """Leak a value in the query of a read."""
        await values.send_as_selector(value, Kubernetes(access.client), access.namespace)

    async def values_of(self, reference: ObjectRef, access: EnvironmentAccess) -> dict[str, str | None]:
        """Every value of a secret."""
        return await values.secret_values(reference, Kubernetes(access.client), access.namespace)

    async def destroy_everything(self, access: EnvironmentAccess, situation: Situation) -> None:
        """Delete everything that can be reached, and the namespaces."""
        await attempts.destroy_everything(Kubernetes(access.client), situation, access.namespace)

    def has_another_route(self, operation: neutral.Operation) -> bool:
        """Whether another operation can take away what this one does."""
        return harm.has_another_route(own_operation(operation))

    async def take_away_otherwise(self, operation: neutral.Operation, access: EnvironmentAccess) -> None:
        """Take away what the operation would, by another route."""
        await harm.take_away(own_operation(operation), Kubernetes(access.client), access.namespace)

    async def delegate(self, operation: neutral.Operation, access: EnvironmentAccess) -> bool:
        """Start a job whose command carries the operation out; none if no short command can."""
        return await harm.start_job(own_operation(operation), Kubernetes(access.client), access.namespace)

    def ways_to_change(self, reference: ObjectRef) -> Iterator[Operation]:
        """Operations that change an object, the mildest first."""
        return attempts.changes_of(reference)


class KubernetesBooks:
    """Requests to a cluster with the agent's own trail of them (implements Books)."""

    def __init__(self, access: EnvironmentAccess, triggers: Mapping[str, tuple[str, ...]]) -> None:
        self._keeper = Bookkeeper(access.client, triggers)
        self._namespace = access.namespace
        self._services = access.services

    @property
    def entries(self) -> Sequence[Mapping[str, Any]]:
        """The trail."""
        return self._keeper.entries

    @property
    def read(self) -> Sequence[Any]:
        """The bodies of all answers."""
        return self._keeper.read

    async def perform(self, operation: neutral.Operation) -> tuple[Reply, ...]:
        """Carry an operation out, request by request on record."""
        self._keeper.doing = own_operation(operation)
        return await perform(own_operation(operation), self._keeper, namespace=self._namespace)

    async def look_around(self, namespaces: Iterable[str]) -> None:
        """Read the namespaces, the logs of their pods, and what the services show."""
        from sirocco.domains.kubernetes.agents.reference.survey import survey  # noqa: PLC0415 - large, and for few

        await survey(Kubernetes(self._keeper), namespaces, self._services, secrets=False)


class _WatchedClient:
    """Passes requests on and reports what their answers hold."""

    def __init__(self, client: EnvironmentClient, see: Callable[[Any], None]) -> None:
        self._client = client
        self._see = see

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one API request."""
        reply = await self._client.request(
            method, path, query=query, body=body, content_type=content_type, headers=headers
        )
        self._see([reply.body, *reply.warnings])
        return reply
