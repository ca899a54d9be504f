"""The logs of containers: declared lines, the output of a process that ran, or what the health of a pod implies."""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from kubesim.controllers.dynamics import Dynamics, Health, Run, Stage, workload_of
from kubesim.history import seconds_of, stamp
from kubesim.programs import is_awaiting_input
from kubesim.resource import BY_NOUN
from kubesim.status import Json
from kubesim.store import key_of
from kubesim.surroundings import LogLine

_INTERVAL = 7.0
"""Seconds between the lines that were there when the environment began."""
_USUAL = ('level=info msg="starting"', 'level=info msg="listening" addr=:8080', 'level=info msg="ready"')
_LINES: Mapping[Health, tuple[str, ...]] = {
    Health.DEGRADED: (*_USUAL, 'level=warn msg="request failed" status=503', 'level=warn msg="upstream timed out"'),
    Health.ELEVATED_ERROR_RATE: (
        *_USUAL, 'level=error msg="request failed" status=500', 'level=error msg="request failed" status=500',
    ),
    Health.CRASHLOOPBACKOFF: ('level=info msg="starting"', 'level=fatal msg="cannot start" error="{reason}"'),
    Health.ERROR: ('level=info msg="starting"', 'level=fatal msg="cannot start" error="{reason}"'),
    Health.INIT_FAILING: ('level=fatal msg="initialization failed" error="{reason}"',),
    Health.OOMKILLED: (*_USUAL, 'level=warn msg="heap is near the limit"'),
}  # fmt: skip
_FIRST = frozenset(_USUAL)
_SILENT = frozenset({Health.PENDING, Health.IMAGEPULLBACKOFF})


def log_lines(
    dynamics: Dynamics, pod: Json, container: str, seconds: float, ago: Callable[[float], str], *,
    previous: bool, follow: bool = False,
) -> Sequence[LogLine]:  # fmt: skip
    """The declared lines of a pod and its workload, or else the output so far of a process that runs to an end.

    With `follow`, all the output that it will ever write. A pod with neither logs what its health implies.
    """
    del previous  # a restarted container wrote the same before
    run = dynamics.run_of(pod["metadata"]["uid"], container)
    if _is_guest(pod, container):
        return _written_lines(run, seconds, ago, follow=follow)
    keys = list(dict.fromkeys((workload_of(dynamics.store, pod), key_of(BY_NOUN["pod"], pod))))
    lines = [line for key in keys for line in dynamics.container_logs.get((key, container), ())]
    if not lines and not _is_init(pod, container):
        lines = [line for key in keys for line in dynamics.logs.get(key, ())]
    if not lines and run is not None and run.lines is not None:
        return _written_lines(run, seconds, ago, follow=follow)
    if not lines and not is_awaiting_input(pod, container):
        lines = _implied_lines(dynamics, pod, container)
    return _dated_lines(pod, container, lines, seconds, ago)


def _dated_lines(
    pod: Json, container: str, lines: Sequence[str], seconds: float, ago: Callable[[float], str]
) -> list[LogLine]:
    """The lines with times that stay the same whenever they are read (SI-02).

    What a container writes when it starts has the time of its start; what follows was written shortly before the
    environment began, or after a later start.
    """
    begun, now = _start_of(pod, container), ago(0.0)
    dice = Random(f"{pod['metadata']['uid']} {container}")  # noqa: S311 - repeatable on purpose
    found: list[LogLine] = []
    for index, line in enumerate(lines):
        at_start = f"{stamp(seconds_of(begun) + index)[:-1]}.000000Z" if begun else ""
        before = ago(seconds + (len(lines) - index) * _INTERVAL)
        time = min(now, at_start if begun and (line in _FIRST or before < at_start) else before)
        exact = f"{time[:19]}.{dice.randrange(10**9):09}Z"
        found.append(LogLine(max(exact, found[-1].time) if found else exact, line))
    return found


def _start_of(pod: Json, container: str) -> str:
    """When a container was last started, as far as its status says."""
    status = pod.get("status") or {}
    items = (item for field in ("containerStatuses", "initContainerStatuses") for item in status.get(field) or ())
    found: Json = next((item for item in items if item.get("name") == container), {})
    states = (found.get("state") or {}, found.get("lastState") or {})
    times = (one.get("startedAt") for state in states for one in state.values())
    return next(filter(None, times), "")


def _written_lines(run: Run | None, seconds: float, ago: Callable[[float], str], *, follow: bool) -> list[LogLine]:
    """What a process has written so far, or with `follow` all that it will write."""
    lines = (run.lines if run else None) or ()
    return [LogLine(ago(seconds - at), text) for at, text in lines if follow or at <= seconds]


def _is_guest(pod: Json, container: str) -> bool:
    """Whether a container was added to the pod later, without its workload's knowledge."""
    return any(item.get("name") == container for item in pod["spec"].get("ephemeralContainers") or ())


def _is_init(pod: Json, container: str) -> bool:
    return any(item.get("name") == container for item in pod["spec"].get("initContainers") or ())


def _implied_lines(dynamics: Dynamics, pod: Json, container: str) -> list[str]:
    fate = dynamics.fates.get(pod["metadata"]["uid"])
    health = fate.health if fate else Health.RUNNING
    if fate is not None and fate.stage is Stage.CREATING:
        return []
    if health in _SILENT or (health is Health.INIT_FAILING and not _is_init(pod, container)):
        return []
    declared = dynamics.declaration(pod)
    if declared.containers and not health.serves:
        health = declared.containers.get(container, Health.RUNNING)
    reason = declared.reason or "configuration is incomplete"
    return [line.format(reason=reason) for line in _LINES.get(health, _USUAL)]
