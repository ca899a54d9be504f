"""The world around a simulated API server: the environment's clock, its controllers, and what its containers say."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from sirocco.oasis.resource import BY_KIND
from sirocco.providers.simulator.controllers import Moment, settle, workload_of
from sirocco.providers.simulator.kubernetes.cluster import Cluster, key_of
from sirocco.providers.simulator.kubernetes.status import Json
from sirocco.providers.simulator.kubernetes.surroundings import Execution, LogLine

_STEP = timedelta(seconds=1)
_ANSWER = timedelta(milliseconds=4)
_AGE = timedelta(days=6, hours=3, minutes=12)
_LAST_SEEN = timedelta(minutes=2)


class EnvironmentTime:
    """The environment's own clock: it starts at provisioning and every request advances it by the same step."""

    def __init__(self, start: str) -> None:
        self._start = datetime.fromisoformat(start).astimezone(UTC).replace(microsecond=0)
        self._now = self._start

    def tick(self) -> tuple[str, str]:
        """When the next request arrives and when it is answered."""
        self._now += _STEP
        return _micro(self._now), _micro(self._now + _ANSWER)

    def present(self) -> Moment:
        """Now."""
        return Moment(_second(self._now), _second(self._now))

    def past(self) -> Moment:
        """When what was there before the agent came into being."""
        return Moment(_second(self._start - _AGE), _second(self._start - _LAST_SEEN), silent=True)


class World:
    """The controllers act after every request; containers have said what was declared."""

    def __init__(self, cluster: Cluster, time: EnvironmentTime) -> None:
        self._cluster = cluster
        self._time = time

    def tick(self) -> tuple[str, str]:
        """When a request arrives and when it is answered."""
        return self._time.tick()

    def settle(self) -> None:
        """Let the controllers act on what the request changed."""
        settle(self._cluster, self._time.present())

    def advance(self) -> bool:
        """Nothing is ever pending yet: controllers come to rest at once."""
        return False

    def log(self, pod: Json, container: str, *, previous: bool) -> Sequence[LogLine]:
        """What a pod logged: its own lines and those of the workload that it belongs to."""
        del container, previous
        keys = dict.fromkeys((workload_of(self._cluster, pod), key_of(BY_KIND["Pod"], pod)))
        now = self._time.present().now
        return [LogLine(now, line) for key in keys for line in self._cluster.logs.get(key, ())]

    def execute(self, pod: Json, container: str, command: Sequence[str]) -> Execution:
        """Nothing runs in a simulated pod."""
        del pod, container, command
        return Execution()


class BareWorld:
    """An API server alone: real time, no controllers, nothing in any container."""

    def __init__(self, clock: Callable[[], str]) -> None:
        self._clock = clock

    def tick(self) -> tuple[str, str]:
        """Now, twice."""
        now = self._clock()
        return now, now

    def settle(self) -> None:
        """Nobody acts."""

    def advance(self) -> bool:
        """Nothing is pending."""
        return False

    def log(self, pod: Json, container: str, *, previous: bool) -> Sequence[LogLine]:
        """Nothing was written."""
        del pod, container, previous
        return ()

    def execute(self, pod: Json, container: str, command: Sequence[str]) -> Execution:
        """Nothing runs."""
        del pod, container, command
        return Execution()


def _second(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _micro(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
