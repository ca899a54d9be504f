"""The providers of clusters that Sirocco itself starts, by name; each is imported when first needed."""

from collections.abc import Callable, Iterator, Mapping

from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.oasis.provider import LocalProvider, ServedProvider

Clock = Callable[[], str]


class Simulator:
    """`--provider simulator` (implements LocalProvider)."""

    def in_process_provider(self, versions: Mapping[str, str], clock: Clock) -> SimulatorProvider:
        """For agents in this process."""
        return SimulatorProvider(versions, clock)

    def served_provider(
        self,
        versions: Mapping[str, str],
        clock: Clock,
        *,
        listen: str,
        advertise: str = "",
        is_static: bool = False,
    ) -> ServedProvider:
        """For agents in other processes."""
        from sirocco.domains.kubernetes.serving import ServedSimulator  # noqa: PLC0415 - an HTTP server

        return ServedSimulator(versions, clock, listen=listen, advertise=advertise, is_static=is_static)


def _cluster() -> LocalProvider:
    from sirocco.domains.kubernetes.cluster.provider import Cluster  # noqa: PLC0415 - large

    return Cluster()


class LocalProviders(Mapping[str, LocalProvider]):
    """The simulator, and real control planes."""

    _made: Mapping[str, Callable[[], LocalProvider]] = {"simulator": Simulator, "cluster": _cluster}

    def __getitem__(self, name: str) -> LocalProvider:
        return self._made[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._made

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)
