"""The subresources of a pod: read its log, run a command in it, evict it, bind it to a node, proxy to it."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from kubesim.bodies.decoding import decode_body
from kubesim.discovery.catalogue import Resource
from kubesim.handling.deletion import delete_object
from kubesim.handling.exchange import TEXT, Exchange, Response
from kubesim.handling.options import (
    integer,
    mapping,
    require_deletion_options,
    require_object_type,
    require_size,
    write_options,
)
from kubesim.handling.presentation import form, plain_response
from kubesim.handling.writing import recorded_patch
from kubesim.selection import match_labels
from kubesim.status import (
    ApiError,
    Cause,
    Json,
    bad_request,
    conflict,
    created_status,
    internal_error,
    invalid,
    not_found,
)
from kubesim.surroundings import Conversation, Forwarding

_PLAIN = {"Content-Type": "text/plain"}
_DONE = frozenset({"Succeeded", "Failed", "Pending"})
_VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."
_WAITING = {"ErrImagePull": "image can't be pulled", "ImagePullBackOff": "trying and failing to pull image"}
_RETRY_SINCE = 22
_TARGETED_SINCE = 26
"""The first release that marks a pod that is about to be evicted."""
_POLICY_SINCE = 22
_TIME: Sequence[tuple[str, str]] = (
    ("2006", r"\d{4}"), ("-", "-"), ("01", r"\d{2}"), ("-", "-"), ("02", r"\d{2}"), ("T", "T"), ("15", r"\d{2}"),
    (":", ":"), ("04", r"\d{2}"), (":", ":"), ("05", r"\d{2}(?:\.\d+)?"), ("Z07:00", r"Z|[+-]\d{2}:\d{2}"),
)  # fmt: skip


def log(exchange: Exchange) -> Response:
    """What a container wrote."""
    request, name = exchange.request, exchange.call.name
    tail, since, limit = (integer(request.parameter(key)) for key in ("tailLines", "sinceSeconds", "limitBytes"))
    _require_time(request.parameter("sinceTime") or "")
    causes = []
    for key, value, least in (("tailLines", tail, 0), ("limitBytes", limit, 1), ("sinceSeconds", since, 1)):
        if value is not None and value < least:
            bound = "greater than 0" if least else "greater than or equal to 0"
            causes.append(Cause("FieldValueInvalid", f"Invalid value: {value}: must be {bound}", key))
    if since is not None and request.parameter("sinceTime"):
        text = "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
        causes.append(Cause("FieldValueForbidden", text, "[]"))
    if causes:
        raise invalid("PodLogOptions", "", name, causes)
    pod = exchange.require_object()
    container = _container(pod, request.parameter("container"))
    if not pod["spec"].get("nodeName"):
        return Response(204, "", {})
    _require_node(exchange, pod)
    previous = request.asks("previous")
    if previous and not _has_restarted(pod, container):
        raise bad_request(f'previous terminated container "{container}" in pod "{name}" not found')
    lines = list(exchange.surroundings.log(pod, container, previous=previous, follow=request.asks("follow")))
    if not lines:
        _require_started(pod, container)
    if (begin := _begin(exchange, since)) is not None:
        lines = [line for line in lines if datetime.fromisoformat(line.time) >= begin]
    if tail is not None:
        lines = lines[len(lines) - min(tail, len(lines)) :]
    stamped = request.asks("timestamps")
    text = "".join(f"{_nanoseconds(line.time)} {line.text}\n" if stamped else f"{line.text}\n" for line in lines)
    return Response(200, text if limit is None else text.encode()[:limit].decode(errors="ignore"), _PLAIN)


def _begin(exchange: Exchange, since: int | None) -> datetime | None:
    """The time from which lines are wanted."""
    if since is not None:
        return datetime.fromisoformat(exchange.received) - timedelta(seconds=since)
    asked = exchange.request.parameter("sinceTime")
    return datetime.fromisoformat(asked) if asked else None


def stream(exchange: Exchange) -> Response:
    """A command in a container, an attachment to it, or a way to its ports."""
    pod, call = exchange.require_object(), exchange.call
    container = "" if call.subresource == "portforward" else _container(pod, exchange.request.parameter("container"))
    if not pod["spec"].get("nodeName"):
        raise bad_request(f"pod {call.name} does not have a host assigned")
    _require_node(exchange, pod)
    if not exchange.request.can_stream:
        raise bad_request("Upgrade request required")
    match call.subresource:
        case "portforward":
            body: Any = Forwarding(pod["metadata"]["uid"], partial(exchange.surroundings.reaches, pod))
        case "attach":
            body = exchange.surroundings.attach(pod, container)
        case _:
            body = exchange.surroundings.execute(pod, container, exchange.request.values("command"))
    if isinstance(body, Conversation) and not exchange.request.asks("stdin"):
        body = body.answer("")
    return Response(101, body, _PLAIN)


def proxy(exchange: Exchange) -> Response:
    """A request to what runs behind a pod, service or node: a port that is listened on answers that it is there."""
    name, port = _addressed(exchange.call.name)
    found = exchange.store.get(exchange.row.noun, exchange.place, name)
    if found is None:
        raise not_found(exchange.row, exchange.call.name)
    match exchange.row.noun:
        case "pod":
            _require_listener(exchange, found, port)
        case "service":
            _require_endpoints(exchange, found, port)
        case _:
            return _ask_kubelet(exchange, found)
    return Response(200, "OK\n", {"Content-Type": TEXT})


def _ask_kubelet(exchange: Exchange, node: Json) -> Response:
    """The answer of a node's kubelet: that it is healthy, and which pods it runs."""
    path = exchange.call.path.partition("/proxy")[2].strip("/")
    if exchange.request.method != "GET":
        raise _unreachable("")
    if path == "healthz":
        return Response(200, "ok", {"Content-Type": TEXT})
    if path != "pods":
        return Response(404, "404 page not found\n", {"Content-Type": TEXT})
    pods = [pod for pod in exchange.store.items("pod") if pod["spec"].get("nodeName") == node["metadata"]["name"]]
    return Response(200, {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": pods})


def _addressed(text: str) -> tuple[str, str]:
    """Name and port in `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`."""
    parts = text.split(":")
    return (parts[1], parts[2]) if len(parts) == 3 else (parts[0], parts[1] if len(parts) == 2 else "")


def _require_listener(exchange: Exchange, pod: Json, port: str) -> None:
    address = mapping(pod.get("status")).get("podIP")
    if not address:
        raise bad_request("address not allowed")
    declared = [item["containerPort"] for container in pod["spec"].get("containers") or ()
                for item in container.get("ports") or ()]  # fmt: skip
    number = int(port) if port.isdecimal() and len(port) < 6 else (declared or [80])[0]
    if not exchange.surroundings.reaches(pod, number):
        raise _unreachable(f" {address}:{number}")


def _require_endpoints(exchange: Exchange, service: Json, port: str) -> None:
    name = service["metadata"]["name"]
    endpoints = exchange.store.get("endpoints", exchange.place, name)
    if endpoints is None:
        raise not_found(exchange.row, exchange.call.name)
    known = {str(item.get(key)) for item in service["spec"].get("ports") or () for key in ("name", "port")}
    if port and port not in known:
        raise ApiError(503, "ServiceUnavailable", f'no service port "{port}" found for service "{name}"')
    if not any(subset.get("addresses") for subset in endpoints.get("subsets") or ()):
        raise ApiError(503, "ServiceUnavailable", f'no endpoints available for service "{exchange.call.name}"')


def _unreachable(place: str) -> ApiError:
    text = f"error trying to reach service: dial tcp{place}: connect: connection refused"
    return ApiError(503, "ServiceUnavailable", text)


def eviction(exchange: Exchange) -> Response:
    """Delete a pod unless a disruption budget forbids it."""
    request, call = exchange.request, exchange.call
    form(exchange)
    require_object_type(request)
    require_size(request)
    options = write_options(request, "CreateOptions", exchange.catalogue.minor)
    version = "v1" if exchange.catalogue.minor >= _POLICY_SINCE else "v1beta1"
    given = mapping(recorded_patch(request.sent_body)).get("apiVersion")
    row = Resource("evictions", "evictions", "Eviction", "policy", "v1beta1" if given == "policy/v1beta1" else version)
    body = decode_body(row, request.sent_body, request.content_type, exchange.types)
    exchange.record(body)
    if mapping(body.get("metadata")).get("name", "") != call.name:
        raise bad_request("name in URL does not match name in Eviction object")
    deletion = {key: value for key, value in mapping(body.get("deleteOptions")).items() if value is not None}
    require_deletion_options(deletion, exchange.catalogue.minor)
    if options.dry_run:
        deletion["dryRun"] = ["All"]
    pod = exchange.require_object()
    phase = mapping(pod.get("status")).get("phase")
    if phase not in _DONE and "deletionTimestamp" not in pod["metadata"]:
        _spend_budget(exchange, pod, dry_run=bool(deletion.get("dryRun")))
    if exchange.catalogue.minor >= _TARGETED_SINCE and "deletionTimestamp" not in pod["metadata"]:
        pod = _targeted(exchange, pod, is_kept=not deletion.get("dryRun"))
    delete_object(exchange, pod, deletion)
    return plain_response(exchange, created_status(), 201)


def _targeted(exchange: Exchange, pod: Json, *, is_kept: bool) -> Json:
    """The pod with the condition that says who wants it gone."""
    status = mapping(pod.get("status"))
    condition = {
        "type": "DisruptionTarget", "status": "True", "lastProbeTime": None, "lastTransitionTime": exchange.now,
        "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
    }  # fmt: skip
    conditions = [row for row in status.get("conditions") or () if row.get("type") != condition["type"]]
    marked = {**pod, "status": {**status, "conditions": [*conditions, condition]}}
    return exchange.store.write(exchange.row, marked) if is_kept else marked


def _spend_budget(exchange: Exchange, pod: Json, *, dry_run: bool) -> None:
    """Take one disruption from the pod's budget; raise 429 when none is left."""
    store, name = exchange.store, pod["metadata"]["name"]
    budgets = [item for item in store.items("pdb", exchange.call.namespace) if _covers(item, pod)]
    if len(budgets) > 1:
        text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise internal_error(text)
    for budget in budgets:
        metadata, status = budget["metadata"], mapping(budget.get("status"))
        allowed = status.get("disruptionsAllowed", 0)
        if status.get("observedGeneration", 0) < metadata.get("generation", 0):
            retry = 10 if exchange.catalogue.minor >= _RETRY_SINCE else 0
            why = f"The disruption budget {metadata['name']} is still being processed by the server."
            raise _too_many_disruptions(why, retry)
        if allowed <= 0:
            needed, there = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
            why = f"The disruption budget {metadata['name']} needs {needed} healthy pods and has {there} currently"
            raise _too_many_disruptions(why)
        if not dry_run:
            disrupted = {**mapping(status.get("disruptedPods")), name: exchange.now}
            spent = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
            store.write(_row_of(exchange, budget), {**budget, "status": spent})


def _row_of(exchange: Exchange, budget: Json) -> Any:
    version = str(budget.get("apiVersion", "policy/v1")).rpartition("/")[2]
    return exchange.catalogue.find("policy", version, "poddisruptionbudgets")


def _covers(budget: Json, pod: Json) -> bool:
    selector = mapping(mapping(budget.get("spec")).get("selector"))
    return bool(selector.get("matchLabels") or selector.get("matchExpressions")) and match_labels(selector)(pod)


def _too_many_disruptions(why: str, retry: int = 0) -> ApiError:
    details: Json = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    if retry:
        details["retryAfterSeconds"] = retry
    return ApiError(429, "TooManyRequests", _VIOLATED, details)


def binding(exchange: Exchange) -> Response:
    """Assign a pod to a node, as a scheduler does."""
    request = exchange.request
    form(exchange)
    require_object_type(request)
    require_size(request)
    options = write_options(request, "CreateOptions", exchange.catalogue.minor)
    row = exchange.catalogue.find("", "v1", "bindings") or exchange.row
    wanted = decode_body(row, request.sent_body, request.content_type, exchange.types)
    exchange.record(wanted)
    name = str(mapping(wanted.get("metadata")).get("name", ""))
    if exchange.call.name and name != exchange.call.name:
        raise bad_request("name in URL does not match name in Binding object")
    target = mapping(wanted.get("target"))
    problems = []
    if target.get("kind", "") not in {"", "Node"}:
        problems.append(f'target.kind: Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"')
    if not target.get("name"):
        problems.append("target.name: Required value")
    if problems:
        raise internal_error(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
    _assign(exchange, name, wanted, dry_run=options.dry_run)
    return plain_response(exchange, created_status(), 201)


def _assign(exchange: Exchange, name: str, wanted: Json, *, dry_run: bool) -> None:
    pods = exchange.catalogue.find("", "v1", "pods") or exchange.row
    pod = exchange.store.get("pod", exchange.call.namespace, name)
    if pod is None:
        raise not_found(pods, name)
    if "deletionTimestamp" in pod["metadata"]:
        why = f"pod {name} is being deleted, cannot be assigned to a host"
        raise conflict(pods, name, why, kind="pods/binding")
    if node := pod["spec"].get("nodeName"):
        raise conflict(pods, name, f'pod {name} is already assigned to node "{node}"', kind="pods/binding")
    annotations = {**mapping(pod["metadata"].get("annotations")), **mapping(wanted["metadata"].get("annotations"))}
    metadata = {**pod["metadata"], **({"annotations": annotations} if annotations else {})}
    status = dict(mapping(pod.get("status")))
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": exchange.now}
    others = [item for item in status.get("conditions") or () if item.get("type") != "PodScheduled"]
    status["conditions"] = [*others, scheduled]
    assigned = {**pod, "metadata": metadata, "spec": {**pod["spec"], "nodeName": wanted["target"]["name"]}}
    if not dry_run:
        exchange.store.write(pods, {**assigned, "status": status})


def _container(pod: Json, name: str | None) -> str:
    """The container that is meant; raise 400 when it is ambiguous or missing."""
    spec, pod_name = pod["spec"], pod["metadata"]["name"]
    names = [item["name"] for field in ("initContainers", "containers", "ephemeralContainers")
             for item in spec.get(field) or ()]  # fmt: skip
    if not name:
        containers = list(spec.get("containers") or ())
        if len(containers) == 1:
            return str(containers[0]["name"])
        listed = f", choose one of: [{' '.join(names)}]" if containers else ""
        raise bad_request(f"a container name must be specified for pod {pod_name}{listed}")
    if name not in names:
        raise bad_request(f"container {name} is not valid for pod {pod_name}")
    return name


def _require_time(text: str) -> None:
    """Raise 400 for a time that Go cannot read."""
    rest = text
    for piece, pattern in _TIME if text else ():
        found = re.match(pattern, rest)
        if not found:
            shown = f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00"'
            raise bad_request(f'{shown}: cannot parse "{rest}" as "{piece}"')
        rest = rest[found.end() :]
    if rest:
        raise bad_request(f'parsing time "{text}": extra text: {rest}')


def _require_node(exchange: Exchange, pod: Json) -> None:
    """Raise 404 when the pod's node does not exist; the server confuses its name with a pod's."""
    node = pod["spec"]["nodeName"]
    if exchange.store.get("node", "", node) is None:
        raise not_found(exchange.row, node)


def _has_restarted(pod: Json, container: str) -> bool:
    statuses = mapping(pod.get("status")).get("containerStatuses") or ()
    found = (mapping(item) for item in statuses)
    return any(item.get("name") == container and item.get("restartCount") for item in found)


def _require_started(pod: Json, container: str) -> None:
    """Raise 400 for a container that has not been started yet, in the words of its kubelet."""
    status = mapping(pod.get("status"))
    kinds = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
    statuses = [one for kind in kinds for one in status.get(kind) or ()]
    own: Json = next((one for one in statuses if one.get("name") == container), {})
    waiting = mapping(own.get("state")).get("waiting")
    if waiting and not mapping(own.get("lastState")).get("terminated"):
        reason = _WAITING.get(waiting.get("reason", ""), waiting.get("reason", ""))
        name = pod["metadata"]["name"]
        raise bad_request(f'container "{container}" in pod "{name}" is waiting to start: {reason}')


def _nanoseconds(timestamp: str) -> str:
    seconds, _, fraction = timestamp.rstrip("Z").partition(".")
    return f"{seconds}.{fraction:0<9}Z"
