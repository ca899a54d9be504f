"""State entries mean what they say: every way to write them is found again where a client looks for it."""

import asyncio
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim.programs import execute_command
from kubesim.resource import SERVICE_NOUNS
from sirocco.domains.kubernetes.simulator.amounts import amount, seconds_ago
from sirocco.domains.kubernetes.simulator.injection import unsupported_preconditions
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.domains.kubernetes.simulator.vocabulary import _ALL_NODES, _VOCABULARY
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import Preconditions, StateEntry

PROVIDER = SimulatorProvider({"a-profile": "1.0.0"}, lambda: "2026-01-05T09:00:00Z")


def ready(pod):
    return any(item["type"] == "Ready" and item["status"] == "True" for item in pod["status"]["conditions"])


def preconditions(*state, namespaces=("shop",), zones=()):
    return Preconditions.model_validate(
        {
            "environment": {"type": "kubernetes-cluster", "state": state},
            "agent": {"mode": "autonomous", "tools": [], "scope": {"namespaces": namespaces, "zones": zones}},
        }
    )


def container(live, name="web"):
    (found,) = live.get("deployment", name)["spec"]["template"]["spec"]["containers"]
    return found


# --- times and amounts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("now", 0), ("25_minutes_ago", 1500), ("-30m", 1800), ("25m", 1500), ("1h30m", 5400), ("3 days ago", 259200),
     ("-6h", 21600), ("45s", 45), ("", None), ("soon", None), ("5 apples ago", None), ("ms", None), (7, None)],
)  # fmt: skip
def test_times_are_told_in_relation_to_the_start(text, seconds):
    assert seconds_ago(text) == seconds


@pytest.mark.parametrize(
    ("value", "number", "unit"),
    [("8%", 8, "percent"), ("450ms", 0.45, "seconds"), ("4s", 4, "seconds"),
     ("250us", 0.00025, "seconds"), ("512MiB", 512 * 1024**2, "bytes"), ("2GB", 2e9, "bytes"), ("1.5Gi", 1.5 * 1024**3, "bytes"), ("4000m", 4, "cores"),
     (4500, 4500, ""), ("1200 req/s", 1200, "req/s"), ("0.1%", 0.1, "percent")],
)  # fmt: skip
def test_amounts_have_a_number_and_a_unit(value, number, unit):
    found = amount(value)
    assert (found.number, found.unit) == (pytest.approx(number), unit)


@given(st.one_of(st.text(max_size=30), st.floats(), st.integers(), st.booleans(), st.none(), st.lists(st.text())))
def test_whatever_is_declared_is_an_amount_or_a_time_or_neither(value):
    found = amount(value)
    assert found is None or math.isfinite(found.number)
    ago = seconds_ago(value)
    assert ago is None or (ago >= 0 and math.isfinite(ago))


def at(live, name, **query):
    """The unit and the value of a metric, by its only series."""
    reply = live.send("GET", "/services/metrics/api/v1/query", query={"query": name, **query})
    ((labels, value),) = [(one["metric"], float(one["value"][1])) for one in reply.body["data"]["result"]]
    return labels.get("unit"), value


@pytest.mark.parametrize(
    ("values", "name", "before", "now"),
    [
        pytest.param({"latency": "4s", "normal_latency": "200ms"}, "latency", ("seconds", 0.2), ("seconds", 4),
                     id="a value and its usual one"),
        pytest.param({"latency": [{"t": "-3h", "value": "200ms"}, {"t": "-1m", "value": "4s"}]}, "latency",
                     ("seconds", 0.2), ("seconds", 4), id="samples"),
        pytest.param({"heap": [{"t": "-3h", "value": 0}, {"t": "-1m", "value": "2GiB"}]}, "heap",
                     ("bytes", 0), ("bytes", 2 * 1024**3), id="nothing has the unit of the others"),
        pytest.param({"latency_ms": "4s", "normal_latency_ms": 200}, "latency_ms", ("milliseconds", 200),
                     ("milliseconds", 4000), id="a name that counts milliseconds"),
    ],
)  # fmt: skip
def test_samples_in_different_units_are_one_series_in_one_unit(provisioned, values, name, before, now):
    live = provisioned({"resource": "metrics/web", **values})
    assert at(live, f"{name} offset 2h") == before
    assert at(live, name) == now


def test_a_value_that_is_told_later_in_another_unit_goes_on_with_the_series(provisioned):
    live = provisioned({"resource": "metrics/web", "latency": "200ms"})
    later = StateEntry.model_validate({"resource": "metrics/web", "latency": [{"t": "now", "value": "4s"}]})
    asyncio.run(live.environment.establish((later,)))
    assert at(live, "latency offset 2h") == ("seconds", 0.2)
    assert at(live, "latency") == ("seconds", 4)


@pytest.mark.parametrize("told", [4000, "4000ms", "4s"])
def test_how_long_a_span_took_may_be_told_in_any_unit(provisioned, told):
    live = provisioned(
        {"resource": "traces/slow", "root_span": {"name": "GET /", "service": "web", "duration_ms": told}}
    )
    reply = live.send("GET", "/services/traces/api/traces", query={"service": "web"})
    assert [span["duration"] for trace in reply.body["data"] for span in trace["spans"]] == [4_000_000]


# --- workloads ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "keys",
    [
        {"resource_limits": {"memory": "2Gi"}, "resource_requests": {"cpu": "100m"}},
        {"memory_limit": "2Gi", "cpu_request": "100m"},
        {"resources": {"limits": {"memory": "2Gi"}, "requests": {"cpu": "100m"}}},
        {"containers": [{"name": "web", "resources": {"limits": {"memory": "2Gi"}, "requests": {"cpu": "100m"}}}]},
    ],
)
def test_limits_and_requests_may_be_spelled_in_every_way(provisioned, keys):
    found = container(provisioned({"resource": "deployment/web", **keys}))["resources"]
    assert found == {"limits": {"memory": "2Gi"}, "requests": {"cpu": "100m", "memory": "2Gi"}} or found == {
        "limits": {"memory": "2Gi"}, "requests": {"cpu": "100m"}
    }  # fmt: skip


@pytest.mark.parametrize(
    "env",
    [
        {"KEY": {"valueFrom": {"secretKeyRef": {"name": "cred", "key": "KEY"}}}, "A": "b"},
        {"KEY": {"secretKeyRef": {"name": "cred", "key": "KEY"}}, "A": "b"},
        {"KEY": {"secretKeyRef": "cred"}, "A": "b"},
        [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "cred", "key": "KEY"}}}, {"name": "A", "value": "b"}],
    ],
)
def test_variables_may_be_a_map_or_a_list(provisioned, env):
    live = provisioned(
        {"resource": "deployment/web", "env": env}, {"resource": "secret/cred", "stringData": {"KEY": "x"}}
    )
    assert container(live)["env"] == [
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "cred", "key": "KEY"}}}, {"name": "A", "value": "b"}
    ]  # fmt: skip


@pytest.mark.parametrize("word", ["CrashLoopBackOff", "crashloopbackoff", "crash-loop-back-off", "CRASH_LOOP_BACK_OFF"])
def test_statuses_are_known_in_any_case(provisioned, word):
    live = provisioned({"resource": "deployment/web", "status": word, "restarts": 3})
    (status,) = live.items("pod")[0]["status"]["containerStatuses"]
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert status["restartCount"] == 3


def test_a_workload_that_lacks_a_key_says_so_and_recovers_when_it_is_there(provisioned):
    env = {"HOST": {"configMapKeyRef": "mail"}, "PORT": {"configMapKeyRef": "mail"}}
    live = provisioned({"resource": "deployment/web", "status": "CrashLoopBackOff", "env": env},
                       {"resource": "configmap/mail", "data": {"HOST": "h"}})  # fmt: skip
    assert any("couldn't find key PORT in ConfigMap shop/mail" in item["message"] for item in live.items("event"))
    live.merge("configmap", "mail", {"data": {"PORT": "25"}})
    live.rest()
    assert all(map(ready, live.items("pod")))


def test_a_failing_init_container_keeps_its_pods_from_starting(provisioned):
    inits = [{"name": "migrate", "status": "error", "logs": "ERROR: no such table"}]
    live = provisioned({"resource": "deployment/web", "status": "CrashLoopBackOff", "init_containers": inits})
    (pod,) = live.items("pod")
    (status,) = pod["status"]["initContainerStatuses"]
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert pod["status"]["phase"] == "Pending"
    path = f"/api/v1/namespaces/shop/pods/{pod['metadata']['name']}/log"
    assert live.send("GET", path, query={"container": "migrate"}).body == "ERROR: no such table\n"


def test_only_the_container_that_is_said_to_fail_fails(provisioned):
    containers = [{"name": "app"}, {"name": "sidecar", "status": "CrashLoopBackOff", "logs": ["no route"]}]
    live = provisioned({"resource": "deployment/web", "containers": containers})
    statuses = {item["name"]: item for item in live.items("pod")[0]["status"]["containerStatuses"]}
    assert statuses["app"]["ready"] is True
    assert statuses["sidecar"]["state"]["waiting"]["reason"] == "CrashLoopBackOff"


def test_earlier_images_are_revisions_that_can_be_gone_back_to(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2, "current_image": "web:2", "previous_image": "web:1",
                        "last_deploy": "25_minutes_ago"})  # fmt: skip
    sets = {
        item["metadata"]["annotations"]["deployment.kubernetes.io/revision"]: item for item in live.items("replicaset")
    }
    images = {number: item["spec"]["template"]["spec"]["containers"][0]["image"] for number, item in sets.items()}
    assert images == {"1": "web:1", "2": "web:2"}
    assert [sets[number]["spec"]["replicas"] for number in "12"] == [0, 2]
    assert sets["2"]["metadata"]["creationTimestamp"] == "2026-01-05T07:35:00Z"
    assert {pod["metadata"]["creationTimestamp"] for pod in live.items("pod")} == {"2026-01-05T07:35:00Z"}
    assert sets["1"]["metadata"]["creationTimestamp"] < "2026-01-05"
    (event,) = live.items("event")
    assert (event["reason"], event["lastTimestamp"]) == ("ScalingReplicaSet", "2026-01-05T07:35:00Z")


def test_a_rollout_that_is_under_way_stays_so_until_something_is_done(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 3, "status": "rolling_update_in_progress"})
    live.rest()
    assert sorted(item["spec"]["replicas"] for item in live.items("replicaset")) == [1, 3]
    status = live.get("deployment", "web")["status"]
    assert (status["updatedReplicas"], status["readyReplicas"]) == (1, 3)
    progressing = {item["type"]: item for item in status["conditions"]}["Progressing"]
    assert (progressing["status"], progressing["reason"]) == ("True", "ReplicaSetUpdated")
    live.merge(
        "deployment", "web", {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:9"}]}}}}
    )
    live.rest()
    assert live.get("deployment", "web")["status"]["updatedReplicas"] == 3
    assert all(map(ready, live.items("pod")))


def test_a_pod_with_a_drawn_name_is_replaced_when_it_goes(provisioned):
    live = provisioned({"resource": "pod/cache-x7k9", "status": "CrashLoopBackOff", "restarts": 8, "last_log": "refused"},
                       {"resource": "pod/solo"})  # fmt: skip
    assert live.send("GET", "/api/v1/namespaces/shop/pods/cache-x7k9/log").body == "refused\n"
    live.delete("pod", "cache-x7k9")
    live.delete("pod", "solo")
    live.rest()
    (fresh,) = live.items("pod")
    assert fresh["metadata"]["name"].startswith("cache-")
    assert fresh["metadata"]["name"] != "cache-x7k9"
    assert ready(fresh)


def test_a_pod_named_after_a_workload_is_one_of_its_pods(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2},
                       {"resource": "pod/web-abc12", "status": "CrashLoopBackOff", "node": "edge", "cpu_usage": "95%"})  # fmt: skip
    pods = {pod["metadata"]["name"]: pod for pod in live.items("pod", labelSelector="app=web")}
    assert len(pods) == 2
    assert pods["web-abc12"]["spec"]["nodeName"] == "edge"
    assert sorted(map(ready, pods.values())) == [False, True]
    assert live.get("deployment", "web")["status"]["readyReplicas"] == 1


@pytest.mark.parametrize("kind", ["statefulset", "daemonset", "replicaset"])
def test_other_workloads_take_the_same_keys(provisioned, kind):
    live = provisioned({"resource": f"{kind}/db", "status": "OOMKilled", "memory_limit": "64Mi", "image": "db:1"})
    pods = live.items("pod")
    assert pods
    for pod in pods:
        assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] == "OOMKilled"
        assert pod["spec"]["containers"][0]["image"] == "db:1"


# --- everything else ---------------------------------------------------------------------------------------------------


def test_objects_of_every_other_kind(provisioned):
    live = provisioned(
        {"resource": "service/web", "ports": [{"name": "http", "port": 80, "targetPort": 8080}, {"name": "m", "port": 9090}],
         "type": "NodePort"},
        {"resource": "service/outside", "endpoints": ["10.9.0.1:5432", "10.9.0.2"], "port": 5432},
        {"resource": "ingress/public", "host": "shop.example", "backend": "web", "path": "/pay"},
        {"resource": "pvc/data", "storage": "5Gi", "bound": True}, {"resource": "pvc/late", "bound": False},
        {"resource": "pv/disk", "storage": "9Gi", "claim": "shop/kept", "reclaim_policy": "retain"},
        {"resource": "pvc/kept", "storage": "9Gi"},
        {"resource": "pdb/web", "target": "deployment/web", "min_available": 1}, {"resource": "deployment/web"},
        {"resource": "job/import", "status": "failed", "backoff_limit": 0}, {"resource": "job/export", "status": "running"},
        {"resource": "cronjob/nightly", "schedule": "0 3 * * *", "last_run": "6h", "suspend": True},
        {"resource": "resourcequota/small", "hard": {"pods": "10", "count/deployments.apps": "3"}},
        {"resource": "limitrange/small", "limits": [{"type": "Container", "default": {"cpu": "1"}}]},
        {"resource": "rolebinding/b", "role": "clusterrole/view", "subjects": [{"kind": "User", "name": "ann",
                                                                               "apiGroup": "rbac.authorization.k8s.io"}]},
        {"resource": "role/r", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
        {"resource": "runbook/outage", "title": "Outage", "steps": ["look"]},
    )  # fmt: skip
    assert [port["port"] for port in live.get("service", "web")["spec"]["ports"]] == [80, 9090]
    assert "selector" not in live.get("service", "outside")["spec"]
    addresses = [item["ip"] for subset in live.get("endpoints", "outside")["subsets"] for item in subset["addresses"]]
    assert addresses == ["10.9.0.1", "10.9.0.2"]
    (rule,) = live.get("ingress", "public")["spec"]["rules"]
    assert (rule["host"], rule["http"]["paths"][0]["path"]) == ("shop.example", "/pay")
    assert rule["http"]["paths"][0]["backend"]["service"] == {"name": "web", "port": {"number": 80}}
    assert [live.get("pvc", name)["status"]["phase"] for name in ("data", "late", "kept")] == [
        "Bound",
        "Pending",
        "Bound",
    ]
    volumes = {item["metadata"]["name"]: item for item in live.objects() if item["kind"] == "PersistentVolume"}
    assert live.get("pvc", "kept")["spec"]["volumeName"] == "disk"
    assert volumes["disk"]["status"]["phase"] == "Bound"
    assert volumes[live.get("pvc", "data")["spec"]["volumeName"]]["spec"]["capacity"] == {"storage": "5Gi"}
    assert live.get("pdb", "web")["status"]["currentHealthy"] == 1
    assert live.get("job", "import")["status"]["failed"] == 1
    assert live.get("job", "export")["status"]["active"] == 1
    assert live.get("cronjob", "nightly")["status"]["lastScheduleTime"] == "2026-01-05T02:00:00Z"
    pods = len([pod for pod in live.items("pod") if pod["status"]["phase"] not in {"Failed", "Succeeded"}])
    quota = live.get("resourcequota", "small")["status"]
    assert quota == {"hard": {"pods": "10", "count/deployments.apps": "3"},
                     "used": {"pods": str(pods), "count/deployments.apps": "1"}}  # fmt: skip
    live.merge("deployment", "web", {"spec": {"replicas": 3}})
    assert live.get("resourcequota", "small")["status"]["used"]["pods"] == str(pods + 2)
    assert live.get("rolebinding", "b")["roleRef"]["name"] == "view"
    assert live.get("configmap", "outage")["metadata"]["annotations"]["title"] == "Outage"


def test_nodes_are_counted_named_and_in_trouble(provisioned):
    live = provisioned(
        {"resource": "nodes", "count": 4, "allocatable_cpu_per_node": "4000m", "current_utilization": "60%"},
        {"resource": "node/edge", "conditions": [{"type": "DiskPressure", "status": "True"}], "zone": "zone-b"},
        {"resource": "deployment/web", "replicas": 8},
    )  # fmt: skip
    nodes = {item["metadata"]["name"]: item for item in live.items("node", None)}
    assert len(nodes) == 4
    assert {item["status"]["allocatable"]["cpu"] for item in nodes.values()} == {"4"}
    assert nodes["edge"]["metadata"]["labels"]["topology.kubernetes.io/zone"] == "zone-b"
    assert nodes["edge"]["spec"]["taints"] == [{"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}]
    assert "edge" not in {pod["spec"]["nodeName"] for pod in live.items("pod")}


def test_a_namespace_lists_what_is_in_it(provisioned):
    live = provisioned({"resource": "namespace/shop", "zone": "zone-a", "resource_quotas": ["small"],
                        "deployments": ["a", {"name": "b", "replicas": 2, "image": "b:7"}]})  # fmt: skip
    assert live.names("deployment") == ["a", "b"]
    assert live.get("deployment", "b")["spec"]["template"]["spec"]["containers"][0]["image"] == "b:7"
    assert live.get("resourcequota", "small")["status"]["used"]["pods"] == "3"


def test_a_workload_brings_its_budget_and_its_autoscaler(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 2, "hpa": {"min_replicas": 2, "max_replicas": 5},
                        "pdb": {"min_available": 1}})  # fmt: skip
    assert live.get("hpa", "web")["spec"]["scaleTargetRef"]["name"] == "web"
    assert live.get("pdb", "web")["spec"]["selector"] == {"matchLabels": {"app": "web"}}


def test_an_autoscaler_that_is_at_it_never_gets_there(provisioned):
    live = provisioned({"resource": "deployment/web", "replicas": 3},
                       {"resource": "hpa/web", "target": "deployment/web", "target_replicas": 7, "max_replicas": 10})  # fmt: skip
    live.rest()
    status = live.get("hpa", "web")["status"]
    assert (status["currentReplicas"], status["desiredReplicas"]) == (3, 7)
    assert live.get("deployment", "web")["spec"]["replicas"] == 3


def test_a_log_of_something_undeclared_is_that_of_a_workload(provisioned):
    live = provisioned({"resource": "logs/sidecar", "entries": ["upstream reset"]})
    (pod,) = live.items("pod")
    assert pod["metadata"]["name"].startswith("sidecar-")
    assert live.send("GET", f"/api/v1/namespaces/shop/pods/{pod['metadata']['name']}/log").body == "upstream reset\n"


def test_zones_that_say_so_are_only_looked_at(provisioned):
    entry = {"resource": "configmap/settings", "data": {"A": "b"}}
    live = provisioned(entry, zones=("prod-readonly",))
    assert live.get("configmap", "settings")["data"] == {"A": "b"}
    assert live.merge("configmap", "settings", {"data": {"A": "c"}}).status == 403
    assert (
        provisioned(entry, zones=("prod-readwrite",)).merge("configmap", "settings", {"data": {"A": "c"}}).status == 200
    )


def test_a_workloads_zone_is_that_of_its_namespace(provisioned):
    live = provisioned({"resource": "deployment/web", "namespace": "shop", "zone": "zone-a"}, zones=("zone-a",))
    assert live.get("namespace", "shop")["metadata"]["labels"]["topology.kubernetes.io/zone"] == "zone-a"


def test_network_policies_are_enforced_between_pods(provisioned):
    policy = {"podSelector": {"matchLabels": {"app": "backend"}},
              "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "monitoring"}}}]}]}  # fmt: skip
    live = provisioned({"resource": "deployment/frontend"}, {"resource": "deployment/backend"},
                       {"resource": "deployment/monitoring"}, {"resource": "deployment/down", "status": "CrashLoopBackOff"},
                       {"resource": "service/backend", "port": 8080}, {"resource": "service/down"},
                       {"resource": "networkpolicy/restrict", "spec": policy})  # fmt: skip

    def run(name, *command):
        (pod,) = (item for item in live.items("pod") if item["metadata"]["name"].startswith(f"{name}-"))
        return execute_command(live.environment._store, pod, name, command)

    assert run("monitoring", "curl", "http://backend:8080/health").exit_code == 0
    assert run("frontend", "curl", "-s", "-m", "3", "backend.shop.svc.cluster.local:8080").exit_code == 28
    assert run("frontend", "wget", "-qO-", "http://backend:8080").exit_code == 1
    assert "refused" in run("frontend", "sh", "-c", "nc -z down 80").stderr
    assert run("frontend", "curl", "nowhere").exit_code == 6
    widened = [{"from": [{"podSelector": {"matchLabels": {"app": "frontend"}}}]}]
    live.merge("networkpolicy", "restrict", {"spec": {"ingress": widened}})
    assert run("frontend", "curl", "backend:8080").stdout == "OK\n"
    live.merge("networkpolicy", "restrict", {"spec": {"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]}})
    assert run("monitoring", "curl", "backend:8080").exit_code == 0
    live.delete("networkpolicy", "restrict")
    assert run("frontend", "curl", "backend:8080").exit_code == 0


# --- contradictions and hostile entries --------------------------------------------------------------------------------


@pytest.mark.requirement("CO-15")
@pytest.mark.parametrize(
    ("state", "words"),
    [
        (({"resource": "deployment/web", "pdb": "none"}, {"resource": "pdb/p", "target": "deployment/web"}), "pdb is none"),
        (({"resource": "deployment/web", "hpa": "none"}, {"resource": "hpa/h", "target": "deployment/web"}), "hpa is none"),
        (({"resource": "deployment/web"}, {"resource": "service/web", "endpoints": []}), "deployment/web serves"),
        (({"resource": "service/web", "endpoints": ["1.2.3.4"], "selector": {"app": "x"}},), "leave one of them out"),
        (({"resource": "namespace/shop", "zone": "a"}, {"resource": "deployment/web", "namespace": "shop", "zone": "b"}),
         "but its namespace is in 'a'"),
        (({"resource": "namespace/shop", "deployments": ["web"]}, {"resource": "deployment/web"}), "is declared twice"),
        (({"resource": "namespace/shop", "deployments": ["Not_One"]},), "deployment/Not_One"),
        (({"resource": "statefulset/db", "status": "rolling_update_in_progress"},), "only a deployment"),
        (({"resource": "nodes", "count": 3000},), "count is more than 200"),
        (({"resource": "nodes"},), "needs a count"),
        (({"resource": "deployment/web", "injected_failure": "fire"},), "FAILURE-on-OPERATION"),
        (({"resource": "deployment/web", "last_deploy": "lately"},), "last_deploy is not a time"),
        (({"resource": "deployment/web", "memory_limit": "lots"},), "quantities must match"),
        (({"resource": "metrics/web"},), "needs at least one metric"),
        (({"resource": "metrics/web", "error_rate": [{"t": "soon", "value": 1}]},), "not {t: TIME, value: AMOUNT}"),
        (({"resource": "metrics/web", "load": [{"t": "-1h", "value": "4s"}, {"t": "now", "value": "5%"}]},),
         "holds samples in different units: percent, seconds"),
        (({"resource": "metrics/web", "not a name": 1},), "not a name that a metric can have"),
        (({"resource": "traces/t", "root_span": {"service": "a"}},), "without a name or operation"),
        (({"resource": "dashboard/d"},), "needs panels or title"),
        (({"resource": "alert/a", "status": "loud"},), "status is 'loud'"),
        (({"resource": "traces/Not_One", "spans": [{"name": "x", "duration_ms": 1}]},), "RFC 1123"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named(state, words):
    problems = unsupported_preconditions(preconditions(*state))
    assert any(words in problem for problem in problems), problems


KINDS = ("deployment", "pod", "service", "node", "nodes", "namespace", "metrics", "alert", "traces", "dashboard", "hpa",
         "gitops-application", "pipeline", "database-migration", "ingress", "pvc", "pv", "job", "cronjob", "logs", "events",
         "runbook", "resourcequota", "statefulset", "pdb", "rolebinding", "spaceship")  # fmt: skip
KEYS = ("replicas", "status", "env", "containers", "init_containers", "volumes", "volumes_from", "labels", "series", "spans",
        "root_span", "panels", "title", "target", "count", "deployments", "resource_quotas", "conditions", "data", "hpa",
        "pdb", "zone", "recent", "entries", "steps", "ports", "endpoints", "error_rate", "applied", "last_migration",
        "resources", "resource_limits", "schedule", "spec", "subjects", "role", "previous_image", "last_deploy", "node",
        "injected_failure", "memory_usage", "stages", "logs", "claim", "hard", "limits")  # fmt: skip
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 10**20), st.floats(), st.text(max_size=12),
              st.sampled_from(["none", "running", "deployment/web", "8%", "-30m", "image-pull-backoff-on-restart"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["name", "value", "t", "title", "env", "status", "children", "x"]), inner, max_size=3),
    ),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.requirement("CO-15")
@given(st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from(["web", "", "web-a1", "X_"]),
              st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4)),
    max_size=3,
))  # fmt: skip
def test_whatever_is_declared_is_named_or_established_never_an_exception(entries):
    state = [{"resource": f"{kind}/{name}" if name else kind, **keys} for kind, name, keys in entries]
    declared = preconditions(*state)
    if unsupported_preconditions(declared):
        return

    async def run():
        async with PROVIDER.provision(ProvisionRequest(declared, 1, 3)) as environment:
            return (await environment.observe(ObservationType.RESOURCE_STATE)).data["objects"]

    objects = asyncio.run(run())
    assert json.loads(json.dumps(objects, allow_nan=False)) == objects


# --- no key without a meaning ------------------------------------------------------------------------------------------

SAMPLES = {
    "labels": {"tier": "gold"}, "annotations": {"note": "n"}, "owner_team": "blue", "env": {"A": "b"}, "image": "i:9",
    "containers": [{"name": "main", "image": "m:1"}], "init_containers": [{"name": "first", "image": "f:1"}],
    "volumes": ["data"], "volumes_from": ["settings"], "affinity": {"nodeAffinity": {}}, "port": 8123,
    "service_account": "bot", "resource_limits": {"cpu": "1"}, "resource_requests": {"cpu": "1"},
    "resources": {"limits": {"cpu": "1"}}, "memory_limit": "1Gi", "cpu_limit": "2", "memory_request": "1Gi",
    "cpu_request": "2", "cpu_usage": "95%", "memory_usage": "250Mi", "disk_usage": "80%", "error_rate": "3%",
    "current_utilization": "60%", "reason": "out of luck", "restarts": 4, "zone": "zone-z", "managed_by": "gitops",
    "replicas": 3, "update_strategy": "OnDelete", "pdb": {"min_available": 1}, "hpa": {"max_replicas": 9},
    "traffic_weight": "10%", "conditions": [{"type": "Odd", "status": "True"}], "current_image": "c:2",
    "previous_image": "p:1", "last_deploy": "25m", "node": "edge", "completions": 2, "parallelism": 2, "backoff_limit": 1,
    "schedule": "5 4 * * *", "suspend": True, "last_run": "2h", "concurrency_policy": "Forbid", "data": {"A": "YQ=="},
    "immutable": True, "stringData": {"A": "b"}, "type": "NodePort", "selector": {"app": "x"}, "ports": [{"port": 99}],
    "endpoints": ["10.1.2.3"], "target": "deployment/other", "min_replicas": 2, "max_replicas": 9,
    "current_status": "scaling_in_progress", "target_replicas": 7, "target_cpu": "55%", "spec": {}, "min_available": 2,
    "max_unavailable": 2, "storage": "7Gi", "bound": False, "storage_class": "fast", "access_modes": ["ReadWriteMany"],
    "reclaim_policy": "Delete", "claim": "data", "hard": {"pods": "3"}, "limits": [{"type": "Pod"}], "host": "h.example",
    "backend": "b", "path": "/p", "memory_pressure": True, "disk_pressure": True, "pid_pressure": True,
    "unschedulable": True, "cordoned": True, "taints": [{"key": "k", "effect": "NoSchedule"}], "allocatable_cpu": "3",
    "allocatable_memory": "3Gi", "allocatable": {"cpu": "3"}, "capacity": {"cpu": "64"}, "count": 5,
    "allocatable_cpu_per_node": "3", "allocatable_memory_per_node": "3Gi", "rules": [{"verbs": ["get"],
    "apiGroups": [""], "resources": ["pods"]}], "subjects": [{"kind": "ServiceAccount", "name": "x", "namespace": "shop"}],
    "role_ref": {"kind": "ClusterRole", "name": "edit"}, "role": "clusterrole/edit", "entries": ["line"],
    "recent": [{"object": "pod/x", "message": "m"}], "content": "text", "steps": ["s"], "title": "T",
    "series": {"m": 5}, "severity": "critical", "expr": "up == 0", "summary": "s", "description": "d", "since": "1h",
    "root_span": {"service": "a", "operation": "b", "duration_ms": 9}, "spans": [{"name": "c", "duration_ms": 7}],
    "age": "2h", "panels": ["p"], "tags": ["t"], "sync_status": "out_of_sync", "health": "degraded",
    "source_repo": "git@x", "source_path": "q", "revision": "abc", "self_heal": True, "auto_sync": True,
    "last_sync": "3h", "message": "m", "ref": "dev", "commit": "fff", "stages": ["lint"], "logs": ["said"],
    "last_log": "said", "triggered_by": "ann", "last_migration": "m2", "applied": "9m", "records_created_since": 5,
    "injected_failure": "oomkilled-on-scale",
}  # fmt: skip
SPECIAL = {
    ("statefulset", "update_strategy"): "OnDelete", ("deployment", "update_strategy"): "Recreate",
    ("daemonset", "update_strategy"): "OnDelete", ("secret", "type"): "example.com/x", ("node", "status"): "NotReady",
    ("nodes", "status"): "NotReady", ("job", "status"): "failed", ("pvc", "status"): "pending",
    ("ingress", "status"): "returning_503", ("alert", "status"): "firing", ("pipeline", "status"): "failed",
    ("database-migration", "status"): "failed", ("networkpolicy", "spec"): {"podSelector": {"matchLabels": {"a": "b"}}},
    ("pdb", "spec"): {"minAvailable": 9}, ("pv", "spec"): {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
    "hostPath": {"path": "/x"}}, ("resourcequota", "spec"): {"hard": {"pods": "4"}},
    ("limitrange", "spec"): {"limits": [{"type": "Pod", "max": {"cpu": "9"}}]},
    ("ingress", "spec"): {"defaultBackend": {"service": {"name": "z", "port": {"number": 1}}}},
    ("node", "spec"): {"podCIDR": "10.3.0.0/24"}, ("nodes", "spec"): {"unschedulable": True},
    ("role", "spec"): {"rules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}]},
    ("clusterrole", "spec"): {"rules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}]},
    ("rolebinding", "spec"): {"roleRef": {"kind": "Role", "name": "y", "apiGroup": "rbac.authorization.k8s.io"}},
    ("clusterrolebinding", "spec"): {
        "roleRef": {"kind": "ClusterRole", "name": "y", "apiGroup": "rbac.authorization.k8s.io"},
    },
    ("serviceaccount", "spec"): {"automountServiceAccountToken": False}, ("lease", "spec"): {"holderIdentity": "h"},
    ("configmap", "data"): {"A": "b"}, ("metrics", "labels"): {"tier": "gold"}, ("pv", "claim"): "shop/z",
    ("limitrange", "limits"): [{"type": "Pod", "max": {"cpu": "9"}}], ("pod", "node"): "edge",
    **{(noun, "target"): "service/z" for noun in SERVICE_NOUNS},
    ("hpa", "target_replicas"): 7, ("hpa", "current_status"): "scaling_in_progress",
}  # fmt: skip
NEEDED = {
    "runbook": {"content": "x"}, "hpa": {"target": "deployment/x"}, "cronjob": {"schedule": "0 0 * * *"},
    "traces": {"spans": [{"name": "a", "duration_ms": 1}]}, "dashboard": {"title": "t"},
    "database-migration": {"last_migration": "m1"}, "metrics": {"load": 1}, "nodes": {"count": 3},
    "rolebinding": {"role_ref": {"kind": "Role", "name": "r"}},
    "clusterrolebinding": {"role_ref": {"kind": "ClusterRole", "name": "r"}},
    "networkpolicy": {"spec": {"podSelector": {}}}, "limitrange": {"limits": [{"type": "Container"}]},
}  # fmt: skip
PAIRS = [(noun, key) for noun, keys in _VOCABULARY.items() for key in keys] + [("nodes", key) for key in _ALL_NODES]


def state_with(noun, keys):
    """What an environment holds and says in which an entry declares the keys, apart from ids and versions."""
    resource = {"nodes": "nodes", "events": "events/shop"}.get(noun, f"{noun}/main")
    needed = NEEDED.get(noun, {})
    if noun != "nodes" and {"role", "spec"} & set(keys):
        needed = {}  # either says what the other would
    entry = {"resource": resource, **needed, **keys}
    others = [{"resource": "deployment/x"}] if noun == "hpa" else [{"resource": "deployment/other"}]
    declared = preconditions(*others, entry)
    assert unsupported_preconditions(declared) == ()

    async def run():
        async with PROVIDER.provision(ProvisionRequest(declared, 1, 3)) as environment:
            client = environment.access.client
            objects = (await environment.observe(ObservationType.RESOURCE_STATE)).data["objects"]
            logs = [
                (await client.request("GET", f"/api/v1/namespaces/shop/pods/{item['metadata']['name']}/log")).body
                for item in objects if item["kind"] == "Pod"
            ]  # fmt: skip
            await client.request("PATCH", "/apis/apps/v1/namespaces/shop/deployments/main", body={"spec": {"replicas": 5}},
                                 content_type="application/merge-patch+json")  # fmt: skip
            later = (await environment.observe(ObservationType.RESOURCE_STATE)).data["objects"]
            return [[bare(item) for item in objects], logs, [bare(item) for item in later]]

    return asyncio.run(run())


def bare(value):
    """A value without what every drawn number changes."""
    left_out = {"uid", "resourceVersion", "spanID", "parentSpanID", "traceID", "podIP", "podIPs", "ip", "nodeName",
                "volumeName", "pod-template-hash", "clusterIP", "clusterIPs"}  # fmt: skip
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if key not in left_out}
        return {key: bare(item) for key, item in kept.items() if key != "name" or "namespace" not in value}
    return [bare(item) for item in value] if isinstance(value, list) else value


@pytest.mark.requirement("CO-15")
@pytest.mark.parametrize(("noun", "key"), PAIRS, ids=lambda part: part)
def test_no_key_of_any_kind_is_without_effect(noun, key):
    if key == "status" and (noun, key) not in SPECIAL:
        value = "CrashLoopBackOff"
    else:
        value = SPECIAL.get((noun, key), SAMPLES.get(key))
    assert value is not None, "give it a sample"
    known = NEEDED.get(noun, {})
    if noun == "traces":
        known = {} if key in {"root_span", "spans"} else known
    without = {part: item for part, item in known.items() if part != key}
    more = {"status": "CrashLoopBackOff"} if key == "reason" else {}
    with_key = state_with(noun, {**more, key: value})
    assert with_key != state_with(noun, {**without, **more})
