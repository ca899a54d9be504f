"""Pods as a table: one word for the state of its containers."""

from typing import Any

from kubesim.status import Json
from kubesim.tables.cells import (
    NONE,
    age,
    has_condition,
    items,
    mapping,
    moment,
    name_and_age,
    number,
    text,
    value_at,
)
from kubesim.tables.columns import AGE, NAME, Cells, Column, Printer, View, wide_column

_RESTART_TIMES_SINCE = 22
_SIDECARS_SINCE = 28
_RESTARTS = "The number of times the containers in this pod have been restarted."
_RESTARTS_WITH_TIMES = f"{_RESTARTS[:-1]} and when the last container in this pod has restarted."
_COMPLETED = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def completion(pod: Json) -> Json:
    """What a table row adds about a finished pod."""
    phase = text(pod, "status", "phase")
    if phase not in _COMPLETED:
        return {}
    return {
        "conditions": [{"type": "Completed", "status": "True", "reason": phase, "message": _COMPLETED[phase]}],
    }


def _cells(pod: Json, view: View) -> Cells:
    return {
        **name_and_age(pod, view),
        **_state(pod, view),
        "IP": next((text(item, "ip") for item in items(pod, "status", "podIPs")), "") or NONE,
        "Node": text(pod, "spec", "nodeName") or NONE,
        "Nominated Node": text(pod, "status", "nominatedNodeName") or NONE,
        "Readiness Gates": _readiness_gates(pod),
    }


def _state(pod: Json, view: View) -> Cells:
    """Readiness, the word for the state, and restarts: those of init containers only while they run."""
    sidecars = _sidecars(pod) if view.minor >= _SIDECARS_SINCE else frozenset()
    init = items(pod, "status", "initContainerStatuses")
    reason, passed = _initialization(pod, init, sidecars)
    reached = init[: passed + 1]
    counted = [status for status in reached if text(status, "name") in sidecars]
    ready = sum(
        1 for status in reached[:passed] if text(status, "name") in sidecars and value_at(status, "ready") is True
    )
    if not reason or (view.minor >= _SIDECARS_SINCE and has_condition(pod, "Initialized")):
        main = items(pod, "status", "containerStatuses")
        reason, running = _main_reason(pod, main, reason)
        ready += running
        counted += main
    else:
        counted = reached
    return {
        "Ready": f"{ready}/{len(items(pod, 'spec', 'containers')) + len(sidecars)}",
        "Status": _final_reason(pod, reason, view),
        "Restarts": _restarts(counted, view),
    }


def _sidecars(pod: Json) -> frozenset[str]:
    return frozenset(
        text(item, "name") for item in items(pod, "spec", "initContainers") if text(item, "restartPolicy") == "Always"
    )


def _initialization(pod: Json, statuses: list[Any], sidecars: frozenset[str]) -> tuple[str, int]:
    """The word for the init container that holds the pod up, and how many are done; no word when none does."""
    for index, status in enumerate(statuses):
        terminated, waiting = value_at(status, "state", "terminated"), text(status, "state", "waiting", "reason")
        if terminated is not None and not number(terminated, "exitCode"):
            continue
        if text(status, "name") in sidecars and value_at(status, "started") is True:
            continue
        if terminated is not None:
            return f"Init:{_end(terminated)}", index
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}", index
        return f"Init:{index}/{len(items(pod, 'spec', 'initContainers'))}", index
    return "", len(statuses)


def _main_reason(pod: Json, statuses: list[Any], before: str) -> tuple[str, int]:
    """The word for the containers, decided by the first that does not run, and how many are ready."""
    reason = before or text(pod, "status", "reason") or text(pod, "status", "phase")
    ready = 0
    for status in reversed(statuses):
        state = mapping(status, "state")
        if waiting := text(state, "waiting", "reason"):
            reason = waiting
        elif state.get("terminated") is not None:
            reason = _end(state["terminated"])
        elif value_at(status, "ready") is True and state.get("running") is not None:
            ready += 1
    if reason == "Completed" and ready:
        reason = "Running" if has_condition(pod, "Ready") else "NotReady"
    return reason, ready


def _end(terminated: Any) -> str:
    if reason := text(terminated, "reason"):
        return reason
    if signal := number(terminated, "signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{number(terminated, 'exitCode')}"


def _final_reason(pod: Json, reason: str, view: View) -> str:
    ended = view.minor >= _SIDECARS_SINCE and text(pod, "status", "phase") in _COMPLETED
    if value_at(pod, "metadata", "deletionTimestamp") is None:
        gated = view.minor >= _SIDECARS_SINCE and any(
            text(item, "type") == "PodScheduled" and text(item, "reason") == "SchedulingGated"
            for item in items(pod, "status", "conditions")
        )
        return "SchedulingGated" if gated else reason
    if text(pod, "status", "reason") == "NodeLost":
        return "Unknown"
    return reason if ended else "Terminating"


def _restarts(statuses: list[Any], view: View) -> int | str:
    count = sum(number(status, "restartCount") for status in statuses)
    if view.minor < _RESTART_TIMES_SINCE:
        return count
    ends = [value_at(status, "lastState", "terminated", "finishedAt") for status in statuses]
    last = max(((found, end) for end in ends if (found := moment(end))), default=None)
    return f"{count} ({age(last[1], view)} ago)" if count and last else str(count)


def _readiness_gates(pod: Json) -> str:
    gates = [text(gate, "conditionType") for gate in items(pod, "spec", "readinessGates")]
    return f"{sum(has_condition(pod, gate) for gate in gates)}/{len(gates)}" if gates else NONE


PRINTERS = {
    "pod": Printer(
        (
            NAME,
            Column("Ready", text="The aggregate readiness state of this pod for accepting traffic."),
            Column("Status", text="The aggregate status of the containers in this pod."),
            Column("Restarts", "integer", text=_RESTARTS, until=_RESTART_TIMES_SINCE - 1),
            Column("Restarts", text=_RESTARTS_WITH_TIMES, since=_RESTART_TIMES_SINCE),
            AGE,
            wide_column(Column("IP", of="core.v1.PodStatus/podIP")),
            wide_column(Column("Node", of="core.v1.PodSpec/nodeName")),
            wide_column(Column("Nominated Node", of="core.v1.PodStatus/nominatedNodeName")),
            wide_column(Column("Readiness Gates", of="core.v1.PodSpec/readinessGates")),
        ),
        _cells,
    ),
}
