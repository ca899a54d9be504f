"""Declared state read back: for every key of every kind, where a client finds it, and whether it says what was declared.

Everything is read through the agent's own API; what lies outside the agent's scope is looked up in the state that the
control plane observes, as an administrator would.
"""

import asyncio
import base64
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from kubesim.nodes import ZONE_LABEL
from kubesim.resource import BY_NOUN, ResourceType
from sirocco.domains.kubernetes.profiles.declared import entry_namespace
from sirocco.domains.kubernetes.simulator.amounts import amount, seconds_ago
from sirocco.domains.kubernetes.simulator.layout import entry_key, log_key
from sirocco.domains.kubernetes.simulator.vocabulary import entry_noun, stored_row
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import Environment
from sirocco.oasis.scenario import Preconditions, StateEntry

Json = dict[str, Any]
_REASONS = {
    "crashloopbackoff": "CrashLoopBackOff", "oomkilled": "OOMKilled", "error": "Error", "pending": "Unschedulable",
    "imagepullbackoff": "ImagePullBackOff",
}  # fmt: skip


class Reader:
    """One provisioned environment, read like an agent reads it."""

    def __init__(
        self, runner: asyncio.Runner, environment: Environment, preconditions: Preconditions, start: str
    ) -> None:
        self._runner = runner
        self._environment = environment
        self.preconditions = preconditions
        self.start = datetime.fromisoformat(start).timestamp()

    def get(self, path: str, **query: str) -> Any:
        reply = self._runner.run(self._environment.access.client.request("GET", path, query=query))
        return reply.body if reply.status == 200 else None

    def object(self, row: ResourceType, namespace: str, name: str) -> Json:
        found = self.get(row.path(namespace or None, name)) or self._as_admin(row, namespace, name)
        assert found is not None, f"{row.noun} {namespace}/{name} is not there"
        return found

    def items(self, noun: str, namespace: str | None) -> list[Json]:
        row = BY_NOUN[noun]
        answer = self.get(row.path(namespace))
        if answer is not None:
            return list(answer["items"])
        return [item for item in self._everything() if item["kind"] == row.kind
                and item["metadata"].get("namespace") == namespace]  # fmt: skip

    def pods(self, namespace: str, name: str) -> list[Json]:
        own = re.compile(rf"{re.escape(name)}(?:-[a-z0-9]{{4,10}}(?:-[a-z0-9]{{5}})?|-\d+)?")
        found = [pod for pod in self.items("pod", namespace) if own.fullmatch(pod["metadata"]["name"])]
        assert found, f"no pods of {name}"
        return found

    def log(self, pod: Json, container: str | None = None) -> list[str]:
        path = BY_NOUN["pod"].path(pod["metadata"]["namespace"], pod["metadata"]["name"], "log")
        return str(self.get(path, **({"container": container} if container else {})) or "").splitlines()

    def metric(self, name: str, seconds: float = 0.0) -> list[tuple[dict[str, str], float]]:
        query = f"{name} offset {int(seconds)}s" if seconds else name
        answer = self.get("/services/metrics/api/v1/query", query=query)
        return [(item["metric"], float(item["value"][1])) for item in answer["data"]["result"]]

    def ago(self, text: str) -> float:
        """How long before the start a time was."""
        return self.start - datetime.fromisoformat(text).timestamp()

    def _everything(self) -> list[Json]:
        return list(self._runner.run(self._environment.observe(ObservationType.RESOURCE_STATE)).data["objects"])

    def _as_admin(self, row: ResourceType, namespace: str, name: str) -> Json | None:
        return next(
            (item for item in self._everything() if item["kind"] == row.kind and item["metadata"]["name"] == name
             and item["metadata"].get("namespace", "") == (namespace if row.namespaced else "")), None,
        )  # fmt: skip


class Reading:
    """One entry in one environment."""

    def __init__(self, reader: Reader, entry: StateEntry) -> None:
        self.reader = reader
        self.entry = entry
        self.noun = entry_noun(entry) or ""
        self.namespace = entry_namespace(entry, reader.preconditions)

    @property
    def object(self) -> Json:
        row = stored_row(self.entry)
        assert row is not None
        return self.reader.object(row, entry_key(self.entry, self.reader.preconditions).namespace, self.entry.name)

    @property
    def template(self) -> Json:
        """The spec of the entry's pods, as a pod itself shows it."""
        spec: Json = self.pods[0]["spec"]
        return spec

    @property
    def pods(self) -> list[Json]:
        return self.reader.pods(self.namespace, self.entry.name)

    @property
    def containers(self) -> dict[str, Json]:
        return {item["name"]: item for item in (*self.template["containers"], *self.template.get("initContainers", ()))}

    @property
    def nodes(self) -> list[Json]:
        return [item for item in self.reader.items("node", None)
                if not self.entry.name or item["metadata"]["name"] == self.entry.name]  # fmt: skip

    def said(self) -> Iterator[str]:
        for event in self.reader.items("event", self.namespace):
            if event["involvedObject"]["name"].startswith(self.entry.name):
                yield event["message"]

    def measures(self, name: str, value: Any, seconds: float = 0.0) -> bool:
        wanted = amount(value)
        found = [number for labels, number in self.reader.metric(name, seconds) if self.entry.name in labels.values()
                 or (not self.entry.name and labels.get("node"))]  # fmt: skip
        return wanted is not None and bool(found) and all(abs(number - wanted.number) < 1e-6 for number in found)


Check = Callable[[Reading, Any], bool]


def established(reader: Reader, entry: StateEntry) -> Iterator[tuple[str, bool]]:
    """Every key of an entry, and whether it can be read back; a key that nobody knows how to read cannot."""
    reading = Reading(reader, entry)
    if entry.namespace:
        yield "namespace", reader.object(BY_NOUN["namespace"], "", entry.namespace) is not None
    if not entry.fields:
        yield "resource", bool(reading.object)
    for key, value in entry.fields.items():
        check = CHECKS.get((reading.noun, key)) or (_metric(key) if reading.noun == "metrics" else None)
        yield key, check is not None and bool(check(reading, value))


def _labels(reading: Reading, value: Mapping[str, Any]) -> bool:
    return value.items() <= reading.object["metadata"]["labels"].items()


def _workload_labels(reading: Reading, value: Mapping[str, Any]) -> bool:
    pods = all(value.items() <= pod["metadata"]["labels"].items() for pod in reading.pods)
    return pods and _labels(reading, value)


def _annotations(reading: Reading, value: Mapping[str, Any]) -> bool:
    return value.items() <= reading.object["metadata"]["annotations"].items()


def _status(reading: Reading, value: str) -> bool:
    """What a person would see: the pods' states, and the conditions and counts of the workload."""
    word = value.lower()
    waiting = [_state(pod) for pod in reading.pods]
    counts = reading.object.get("status", {}) if reading.noun == "deployment" else {}
    ready, wanted = counts.get("readyReplicas", 0), (reading.object["spec"].get("replicas", 1))
    match word:
        case "running" | "elevated_error_rate":
            errors = word == "running" or any("error" in line for line in reading.reader.log(reading.pods[0]))
            return all(state == "Ready" for state in waiting) and (not counts or ready == wanted) and errors
        case "degraded":
            return 0 < wanted - ready == sum(state != "Ready" for state in waiting)
        case "rolling_update_in_progress":
            sets = [item for item in reading.reader.items("replicaset", reading.namespace)
                    if item["metadata"]["name"].startswith(reading.entry.name) and item["spec"]["replicas"]]  # fmt: skip
            return len(sets) == 2 and counts["updatedReplicas"] < counts["replicas"]
        case "crashloopbackoff" if reading.entry.fields.get("init_containers"):
            return set(waiting) == {"Init:CrashLoopBackOff"}
        case _:
            return all(state == _REASONS[word] for state in waiting)


def _state(pod: Json) -> str:
    status = pod["status"]
    if any(item["type"] == "Ready" and item["status"] == "True" for item in status["conditions"]):
        return "Ready"
    for item in status.get("initContainerStatuses", ()):
        if "waiting" in item["state"]:
            return f"Init:{item['state']['waiting']['reason']}"
    for item in status.get("containerStatuses", ()):
        state = item["state"].get("waiting") or item["state"].get("terminated") or {}
        if state.get("reason"):
            return str(state["reason"])
    return str(next((item.get("reason") for item in status["conditions"] if item["type"] == "PodScheduled"), ""))


def _environment(reading: Reading, value: Mapping[str, Any]) -> bool:
    found = {item["name"]: item for item in reading.template["containers"][0]["env"]}
    return all(
        found[name].get("valueFrom") == item["valueFrom"] if isinstance(item, Mapping) else found[name]["value"] == item
        for name, item in value.items()
    )


def _containers(reading: Reading, value: list[Json]) -> bool:
    for item in value:
        found = reading.containers[item["name"]]
        if not all(found.get(key) == item[key] for key in item if key not in {"status", "logs"}):
            return False
        if "logs" in item and item["logs"] not in reading.reader.log(reading.pods[0], item["name"]):
            return False
        statuses = {one["name"]: one for key in ("initContainerStatuses", "containerStatuses")
                    for one in reading.pods[0]["status"].get(key, ())}  # fmt: skip
        if item.get("status") == "error" and statuses[item["name"]]["lastState"]["terminated"]["exitCode"] == 0:
            return False
    return True


def _images(reading: Reading) -> dict[str, Json]:
    """The replica sets of a deployment by the image that they run."""
    return {
        item["spec"]["template"]["spec"]["containers"][0]["image"]: item
        for item in reading.reader.items("replicaset", reading.namespace)
        if item["metadata"]["ownerReferences"][0]["name"] == reading.entry.name
    }


def _last_deploy(reading: Reading, value: str) -> bool:
    newest = max(_images(reading).values(), key=lambda item: int(item["metadata"]["annotations"][_REVISION]))
    return reading.reader.ago(newest["metadata"]["creationTimestamp"]) == seconds_ago(value)


_REVISION = "deployment.kubernetes.io/revision"


def _conditions(reading: Reading, value: list[Json]) -> bool:
    source = reading.nodes[0] if reading.noun == "node" else reading.object
    found = {item["type"]: item for item in source["status"]["conditions"]}
    return all(item.items() <= found[item["type"]].items() for item in value)


def _volumes_from(reading: Reading, value: list[str]) -> bool:
    mounted = [volume["configMap"]["name"] for volume in reading.template["volumes"] if "configMap" in volume]
    return [name.rpartition("/")[2] for name in value] == mounted


def _volumes(reading: Reading, value: list[str]) -> bool:
    volumes = reading.template["volumes"]
    claims = [volume["persistentVolumeClaim"]["claimName"] for volume in volumes if "persistentVolumeClaim" in volume]
    return claims == value


def _is_amount(found: Any, wanted: Any) -> bool:
    """Whether two spellings are of one amount: 1 and 1000m."""
    one, other = amount(found), amount(wanted)
    return one is not None and other is not None and abs(one.number - other.number) < 1e-6


def _resources(side: str) -> Check:
    def check(reading: Reading, value: Mapping[str, Any]) -> bool:
        found = reading.template["containers"][0]["resources"][side]
        return all(key in found and _is_amount(found[key], text) for key, text in value.items())

    return check


def _restarts(reading: Reading, value: int) -> bool:
    return all(pod["status"]["containerStatuses"][0]["restartCount"] == value for pod in reading.pods)


def _none_of(noun: str) -> Check:
    def check(reading: Reading, value: str) -> bool:
        found = [item["metadata"]["name"] for item in reading.reader.items(noun, reading.namespace)]
        return value == "none" and reading.entry.name not in found and found == []

    return check


def _armed(reading: Reading, value: str) -> bool:
    """An armed failure does not show before its operation; that it strikes is a test of its own."""
    return value.endswith("-on-restart") and all(_state(pod) == "Ready" for pod in reading.pods)


def _children(noun: str) -> Check:
    def check(reading: Reading, value: list[str]) -> bool:
        return set(value) <= {item["metadata"]["name"] for item in reading.reader.items(noun, reading.entry.name)}

    return check


def _lines(reading: Reading, value: list[str]) -> bool:
    key = log_key(reading.entry, reading.reader.preconditions)
    assert key is not None
    return all(reading.reader.log(pod) == value for pod in reading.reader.pods(key.namespace, key.name))


def _events(reading: Reading, value: list[Json]) -> bool:
    found = reading.reader.items("event", reading.namespace)

    def is_told(item: Json) -> bool:
        return any(
            event["message"] == item["message"] and event["reason"] == item["reason"] and event["type"] == item["type"]
            and event["involvedObject"]["name"] == item["object"].partition("/")[2]
            and reading.reader.ago(event["lastTimestamp"]) == seconds_ago(item["age"])
            for event in found
        )  # fmt: skip

    return all(map(is_told, value))


def _metric(name: str) -> Check:
    def check(reading: Reading, value: Any) -> bool:
        if isinstance(value, list):
            return all(reading.measures(name, item["value"], seconds_ago(item["t"]) or 0.0) for item in value)
        if isinstance(value, str) and value.endswith("_ago"):
            return any(reading.reader.start - number == seconds_ago(value) for _, number in reading.reader.metric(name))
        if amount(value) is None:
            words = {labels.get("value") for labels, _ in reading.reader.metric(name)}
            course = [reading.reader.metric(name.removesuffix("_trend"), ago)[0][1] for ago in (20000, 5000, 0)]
            return value in words and course == sorted(course) and course[0] < course[-1]
        if not reading.measures(name, value):
            return False
        usual = reading.entry.fields.get(f"normal_{name}")
        return usual is None or reading.measures(name, usual, 2 * 3600)

    return check


def _series(reading: Reading, value: Mapping[str, Any]) -> bool:
    return all(_metric(name)(reading, samples) for name, samples in value.items())


def _measured(name: str) -> Check:
    return lambda reading, value: reading.measures(name, value)


def _rule(reading: Reading) -> Json:
    groups = reading.reader.get("/services/metrics/api/v1/rules")["data"]["groups"]
    return next(rule for group in groups for rule in group["rules"] if rule["name"] == reading.entry.name)


def _alert(reading: Reading, value: str) -> bool:
    alerts = reading.reader.get("/services/metrics/api/v1/alerts")["data"]["alerts"]
    shown = [item["state"] for item in alerts if item["labels"]["alertname"] == reading.entry.name]
    return bool(_rule(reading)["state"] == value) and shown == ([value] if value != "inactive" else [])


def _alert_since(reading: Reading, value: str) -> bool:
    (alert,) = _rule(reading)["alerts"]
    return reading.reader.ago(alert["activeAt"]) == seconds_ago(value)


def _metric_target(reading: Reading, value: str) -> bool:
    """What the series are about: a label says so."""
    kind, _, name = value.partition("/")
    label = kind if kind in {"node", "pod", "ingress"} else "service"
    names = set(reading.entry.fields) - {"target", "labels", "series"}
    return all(any(labels.get(label) == name for labels, _ in reading.reader.metric(metric)) for metric in names)


def _pipeline(key: str) -> Check:
    def check(reading: Reading, value: Any) -> bool:
        return bool(reading.reader.get(f"/services/ci/api/v1/pipelines/{reading.entry.name}")[key] == value)

    return check


def _pipeline_log(reading: Reading, value: list[str]) -> bool:
    shown = reading.reader.get(f"/services/ci/api/v1/pipelines/{reading.entry.name}/logs")
    return bool(str(shown).splitlines() == value)


def _job_status(reading: Reading, value: str) -> bool:
    conditions = reading.object["status"].get("conditions") or ()
    return any((item["type"].lower(), item["status"]) == (value, "True") for item in conditions)


def _storage(reading: Reading, value: str) -> bool:
    claim = reading.object
    bound = claim["status"].get("capacity", claim["spec"]["resources"]["requests"])
    return bool(bound["storage"] == value == claim["spec"]["resources"]["requests"]["storage"])


def _dashboard(reading: Reading) -> Json:
    for item in reading.reader.get("/services/dashboards/api/search"):
        found = reading.reader.get(f"/services/dashboards/api/dashboards/uid/{item['uid']}")["dashboard"]
        if reading.entry.fields.get("title", reading.entry.name) == found["title"]:
            return dict(found)
    raise AssertionError(f"dashboard {reading.entry.name} is not there")


def _panels(reading: Reading, value: list[Any]) -> bool:
    shown = _dashboard(reading)["panels"]
    wanted = [{"title": item} if isinstance(item, str) else item for item in value]
    spelled = [
        {"currentValue" if key == "current_value" else key: text for key, text in item.items()} for item in wanted
    ]
    return len(shown) == len(value) and all(
        one.items() <= other.items() for one, other in zip(spelled, shown, strict=True)
    )


def _spans(reading: Reading, value: Any) -> bool:
    (trace,) = reading.reader.get(f"/services/traces/api/traces/{reading.entry.name}")["data"]
    spans = {item["spanID"]: item for item in trace["spans"]}

    def children(parent: str | None) -> list[Json]:
        return [item for item in spans.values()
                if (item["references"][0]["spanID"] if item["references"] else None) == parent]  # fmt: skip

    def same(wanted: Json, found: Json) -> bool:
        tags = {tag["key"]: tag["value"] for tag in found["tags"]}
        inside = children(found["spanID"])
        return (
            found["operationName"] == wanted.get("operation", wanted.get("name"))
            and found["duration"] == wanted["duration_ms"] * 1000
            and trace["processes"][found["processID"]]["serviceName"] == wanted.get("service", reading.entry.name)
            and wanted.get("attributes", {}).items() <= tags.items()
            and (wanted.get("status") != "error" or tags["error"] is True)
            and len(inside) == len(wanted.get("children", ()))
            and all(same(one, other) for one, other in zip(wanted.get("children", ()), inside, strict=True))
        )

    roots = [value] if isinstance(value, Mapping) else value
    return all(same(one, other) for one, other in zip(roots, children(None), strict=True))


def _application(*path: str) -> Check:
    def check(reading: Reading, value: str) -> bool:
        found = reading.reader.get(f"/services/gitops/api/v1/applications/{reading.entry.name}")
        for part in path:
            found = found[part]
        return bool(found == value or str(found).lower() == value)

    return check


def _last_sync(reading: Reading, value: str) -> bool:
    found = reading.reader.get(f"/services/gitops/api/v1/applications/{reading.entry.name}")
    return reading.reader.ago(found["status"]["operationState"]["finishedAt"]) == seconds_ago(value)


def _application_target(reading: Reading, value: str) -> bool:
    found = reading.reader.get(f"/services/gitops/api/v1/applications/{reading.entry.name}")
    return value in {f"{item['kind'].lower()}/{item['name']}" for item in found["status"]["resources"]}


def _migration(key: str) -> Check:
    def check(reading: Reading, value: Any) -> bool:
        found = reading.reader.get(f"/services/databases/api/v1/migrations/{reading.entry.name}")
        return bool(
            reading.reader.ago(found[key]) == seconds_ago(value) if key == "applied_at" else found[key] == value
        )

    return check


def _autoscaler(*path: str) -> Check:
    def check(reading: Reading, value: Any) -> bool:
        found = reading.object
        for part in path:
            found = found[part]
        return bool(found == value)

    return check


def _target(reading: Reading, value: str) -> bool:
    reference = reading.object["spec"]["scaleTargetRef"]
    return f"{reference['kind'].lower()}/{reference['name']}" == value


def _is_scaling(reading: Reading, value: str) -> bool:
    status = reading.object["status"]
    going = status["desiredReplicas"] > status["currentReplicas"]
    return value == "scaling_in_progress" and going and any(
        item["reason"] == "SucceededRescale" for item in status["conditions"]
    )  # fmt: skip


def _ingress_rule(reading: Reading) -> Json:
    (rule,) = reading.object["spec"]["rules"]
    return dict(rule)


def _backend(reading: Reading, value: str) -> bool:
    spec = reading.object["spec"]
    backend = spec.get("defaultBackend") or _ingress_rule(reading)["http"]["paths"][0]["backend"]
    return bool(backend["service"]["name"] == value)


def _returns_503(reading: Reading, value: str) -> bool:
    shown = any(labels.get("code") == "503" and labels.get("ingress") == reading.entry.name
                for labels, _ in reading.reader.metric("http_requests_failing"))  # fmt: skip
    return value == "returning_503" and shown and any("503" in text for text in reading.said())


def _runbook(reading: Reading, value: list[str]) -> bool:
    found = reading.reader.items("configmap", reading.namespace)
    text = next(item["data"]["content"] for item in found if item["metadata"]["name"] == reading.entry.name
                and item["metadata"]["labels"]["app.kubernetes.io/component"] == "runbook")  # fmt: skip
    return all(step in text for step in value)


def _ports(reading: Reading, value: list[Json]) -> bool:
    shown = reading.object["spec"]["ports"]
    return len(shown) == len(value) and all(
        one.items() <= other.items() for one, other in zip(value, shown, strict=True)
    )


def _endpoints(reading: Reading, value: list[Any]) -> bool:
    found = reading.reader.object(BY_NOUN["endpoints"], reading.namespace, reading.entry.name)
    return value == [] and not any(subset.get("addresses") for subset in found.get("subsets") or ())


def _spec(reading: Reading, value: Mapping[str, Any]) -> bool:
    return value.items() <= reading.object["spec"].items()


def _decoded(reading: Reading, value: Mapping[str, str]) -> bool:
    return reading.object["data"] == value and all(base64.b64decode(text) for text in value.values())


def _pressure(kind: str) -> Check:
    def check(reading: Reading, value: bool) -> bool:
        (node,) = reading.nodes
        return any((item["type"], item["status"]) == (kind, str(value)) for item in node["status"]["conditions"])

    return check


def _allocatable(what: str) -> Check:
    def check(reading: Reading, value: str) -> bool:
        found = {node["status"]["allocatable"][what] for node in reading.nodes}
        spelled = amount(value)
        shown = {amount(text) for text in found}
        return found == {value} or (value == "low" and found == {"250m"}) or (spelled is not None and {
            (one.number if one else None) for one in shown
        } == {spelled.number})  # fmt: skip

    return check


_ROLLING = "rolling_update_in_progress"
_TEAM, _MANAGER = "owner-team", "app.kubernetes.io/managed-by"
_WORKLOAD: dict[str, Check] = {
    "replicas": lambda reading, value: reading.object["spec"]["replicas"] == value,
    "status": _status,
    "labels": _workload_labels,
    "annotations": _annotations,
    "env": _environment,
    "image": lambda reading, value: reading.template["containers"][0]["image"] == value,
    "containers": _containers,
    "init_containers": _containers,
    # While a rollout is under way there are pods of both versions.
    "current_image": lambda reading, value: any(pod["spec"]["containers"][0]["image"] == value for pod in reading.pods),
    "previous_image": lambda reading, value: (
        (_images(reading)[value]["spec"]["replicas"] == 0) is (reading.entry.fields.get("status") != _ROLLING)
    ),
    "last_deploy": _last_deploy,
    "conditions": _conditions,
    "volumes_from": _volumes_from,
    "volumes": _volumes,
    "resource_limits": _resources("limits"),
    "resource_requests": _resources("requests"),
    "memory_limit": lambda reading, value: _resources("limits")(reading, {"memory": value}),
    "memory_request": lambda reading, value: _resources("requests")(reading, {"memory": value}),
    "memory_usage": _measured("memory_usage"),
    "cpu_usage": _measured("cpu_usage"),
    "reason": lambda reading, value: any(value in text for text in reading.said()),
    "restarts": _restarts,
    "logs": lambda reading, value: (
        reading.reader.log(reading.pods[0]) == ([value] if isinstance(value, str) else value)
    ),
    "last_log": lambda reading, value: reading.reader.log(reading.pods[0])[-1] == value,
    "owner_team": lambda reading, value: reading.object["metadata"]["labels"][_TEAM] == value,
    "managed_by": lambda reading, value: reading.object["metadata"]["labels"][_MANAGER] == value,
    "zone": lambda reading, value: (
        reading.object["metadata"]["labels"][ZONE_LABEL] == value
        and reading.reader.object(BY_NOUN["namespace"], "", reading.namespace)["metadata"]["labels"][ZONE_LABEL]
        == value
    ),
    "update_strategy": lambda reading, value: reading.object["spec"]["strategy"]["type"] == value,
    "traffic_weight": lambda reading, value: reading.object["metadata"]["annotations"]["traffic-weight"] == value,
    "affinity": lambda reading, value: value == "none" and "affinity" not in reading.template,
    "pdb": _none_of("pdb"),
    "hpa": _none_of("hpa"),
    "injected_failure": _armed,
    "node": lambda reading, value: reading.object["spec"]["nodeName"] == value,
}
CHECKS: dict[tuple[str, str], Check] = {
    **{(noun, key): check for noun in ("deployment", "statefulset", "pod") for key, check in _WORKLOAD.items()},
    ("job", "status"): _job_status,
    ("job", "image"): lambda reading, value: (
        reading.object["spec"]["template"]["spec"]["containers"][0]["image"] == value
    ),
    **{(noun, key): check for noun in ("configmap", "secret") for key, check in (("labels", _labels),)},
    ("namespace", "zone"): lambda reading, value: reading.object["metadata"]["labels"][ZONE_LABEL] == value,
    ("namespace", "labels"): _labels,
    ("namespace", "annotations"): _annotations,
    ("namespace", "deployments"): _children("deployment"),
    ("namespace", "resource_quotas"): _children("resourcequota"),
    ("configmap", "data"): lambda reading, value: reading.object["data"] == value,
    ("configmap", "annotations"): _annotations,
    ("secret", "annotations"): _annotations,
    ("resourcequota", "hard"): lambda reading, value: reading.object["spec"]["hard"] == value,
    ("runbook", "title"): lambda reading, value: reading.object["metadata"]["annotations"]["title"] == value,
    ("secret", "data"): _decoded,
    ("secret", "type"): lambda reading, value: reading.object["type"] == value,
    ("secret", "stringData"): lambda reading, value: (
        {key: base64.b64decode(text).decode() for key, text in reading.object["data"].items()}.items() >= value.items()
    ),
    ("service", "selector"): lambda reading, value: reading.object["spec"]["selector"] == value,
    ("service", "port"): lambda reading, value: reading.object["spec"]["ports"][0]["port"] == value,
    ("service", "ports"): _ports,
    ("service", "endpoints"): _endpoints,
    ("ingress", "host"): lambda reading, value: _ingress_rule(reading)["host"] == value,
    ("ingress", "backend"): _backend,
    ("ingress", "status"): _returns_503,
    ("hpa", "target"): _target,
    ("hpa", "min_replicas"): _autoscaler("spec", "minReplicas"),
    ("hpa", "max_replicas"): _autoscaler("spec", "maxReplicas"),
    ("hpa", "target_replicas"): _autoscaler("status", "desiredReplicas"),
    ("hpa", "current_status"): _is_scaling,
    ("pvc", "storage"): _storage,
    ("pvc", "status"): lambda reading, value: reading.object["status"]["phase"].lower() == value,
    ("pvc", "storage_class"): lambda reading, value: reading.object["spec"]["storageClassName"] == value,
    ("pvc", "bound"): lambda reading, value: (reading.object["status"]["phase"] == "Bound") is value,
    ("networkpolicy", "spec"): _spec,
    ("role", "spec"): lambda reading, value: reading.object["rules"] == value["rules"],
    ("rolebinding", "spec"): lambda reading, value: reading.object["roleRef"].items() >= value["roleRef"].items(),
    ("rolebinding", "role"): lambda reading, value: (
        f"{reading.object['roleRef']['kind'].lower()}/{reading.object['roleRef']['name']}" == value
    ),
    ("rolebinding", "subjects"): lambda reading, value: reading.object["subjects"] == value,
    ("node", "conditions"): _conditions,
    ("node", "cpu_usage"): _measured("cpu_usage"),
    ("node", "memory_pressure"): _pressure("MemoryPressure"),
    ("node", "count"): lambda reading, value: len(reading.nodes) == value,
    ("node", "allocatable_cpu"): _allocatable("cpu"),
    ("node", "allocatable_memory"): _allocatable("memory"),
    ("node", "allocatable_cpu_per_node"): _allocatable("cpu"),
    ("node", "allocatable_memory_per_node"): _allocatable("memory"),
    ("node", "current_utilization"): _measured("current_utilization"),
    ("logs", "entries"): _lines,
    ("events", "recent"): _events,
    ("runbook", "steps"): _runbook,
    ("runbook", "content"): lambda reading, value: value in reading.object["data"]["content"],
    ("metrics", "series"): _series,
    ("metrics", "target"): _metric_target,
    ("alert", "status"): _alert,
    ("alert", "target"): lambda reading, value: _rule(reading)["labels"]["service"] == value.partition("/")[2],
    ("alert", "severity"): lambda reading, value: _rule(reading)["labels"]["severity"] == value,
    ("alert", "summary"): lambda reading, value: _rule(reading)["annotations"]["summary"] == value,
    ("alert", "since"): _alert_since,
    ("pipeline", "status"): _pipeline("status"),
    ("pipeline", "ref"): _pipeline("ref"),
    ("pipeline", "target"): lambda reading, value: (
        reading.reader.object(BY_NOUN["deployment"], reading.namespace, value.partition("/")[2]) is not None
    ),
    ("pipeline", "logs"): _pipeline_log,
    ("dashboard", "title"): lambda reading, value: _dashboard(reading)["title"] == value,
    ("dashboard", "panels"): _panels,
    ("traces", "root_span"): _spans,
    ("traces", "spans"): _spans,
    ("gitops-application", "sync_status"): _application("status", "sync", "status"),
    ("gitops-application", "target"): _application_target,
    ("gitops-application", "health"): _application("status", "health", "status"),
    ("gitops-application", "revision"): _application("status", "sync", "revision"),
    ("gitops-application", "last_sync"): _last_sync,
    ("gitops-application", "source_repo"): _application("spec", "source", "repoURL"),
    ("gitops-application", "source_path"): _application("spec", "source", "path"),
    ("database-migration", "last_migration"): _migration("migration"),
    ("database-migration", "applied"): _migration("applied_at"),
    ("database-migration", "records_created_since"): _migration("records_created_since"),
}
"""How each key of each kind is read back."""
