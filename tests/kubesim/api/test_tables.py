"""The rows that kubectl get prints: columns and cells in the words of the real server's printers."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim.discovery.catalogue import (
    CURRENT_RELEASE,
    RECORDED_RELEASE,
    ServedCatalogue,
    catalogue,
)
from kubesim.tables import table
from kubesim.tables.cells import duration, selector
from kubesim.tables.custom import values_at

NOW = "2026-01-05T09:00:00.000000Z"
CREATED = "2026-01-05T08:58:00Z"


def cells(kind, obj, release=RECORDED_RELEASE):
    row = next(row for row in catalogue(release).resources if row.kind == kind)
    metadata = {"name": "x", "creationTimestamp": CREATED, **obj.get("metadata", {})}
    shown = table(row, [{**obj, "metadata": metadata}], now=NOW)
    names = [column["name"] for column in shown["columnDefinitions"]]
    return dict(zip(names, shown["rows"][0]["cells"], strict=True))


def container(state, *, ready=False, restarts=0, **more):
    return {"name": "app", "state": state, "ready": ready, "restartCount": restarts, **more}


RUNNING = container({"running": {}}, ready=True)
TWO_INIT = {"initContainers": [{"name": "one"}, {"name": "two"}], "containers": [{"name": "app"}]}


def test_every_recorded_table_has_the_real_servers_columns(recordings):
    compared = 0
    for file in sorted((recordings / "cases" / "table").glob("*.json")):
        for step in json.loads(file.read_text())["steps"]:
            body = step["response"].get("body") or {}
            if body.get("kind") == "Table":
                group, version, plural = place(step["request"]["path"])
                row = catalogue(RECORDED_RELEASE).find(group, version, plural)
                mine = table(row, [], now=NOW)
                assert mine["columnDefinitions"] == body["columnDefinitions"]
                compared += 1
    assert compared > 15


def place(path):
    parts = path.partition("?")[0].strip("/").split("/")
    group, version, rest = ("", parts[1], parts[2:]) if parts[0] == "api" else (parts[1], parts[2], parts[3:])
    return group, version, rest[2] if rest[0] == "namespaces" and len(rest) > 2 else rest[0]


@pytest.mark.parametrize(
    ("spec", "status", "ready", "word", "restarts"),
    [
        pytest.param({}, {"phase": "Pending"}, "0/1", "Pending", 0, id="waits for a node"),
        pytest.param({}, {"phase": "Running", "containerStatuses": [RUNNING]}, "1/1", "Running", 0, id="runs"),
        pytest.param(
            {}, {"phase": "Running", "containerStatuses": [container({"waiting": {"reason": "CrashLoopBackOff"}}, restarts=7)]},
            "0/1", "CrashLoopBackOff", 7, id="crashes",
        ),
        pytest.param(
            {}, {"phase": "Succeeded", "containerStatuses": [container({"terminated": {"reason": "Completed", "exitCode": 0}})]},
            "0/1", "Completed", 0, id="is done",
        ),
        pytest.param({}, {"phase": "Failed", "reason": "Evicted"}, "0/1", "Evicted", 0, id="was evicted"),
        pytest.param(
            {}, {"phase": "Failed", "containerStatuses": [container({"terminated": {"signal": 9, "exitCode": 137}})]},
            "0/1", "Signal:9", 0, id="was killed",
        ),
        pytest.param(
            {}, {"phase": "Running", "containerStatuses": [container({"terminated": {"reason": "Completed", "exitCode": 0}}), RUNNING]},
            "1/1", "NotReady", 0, id="half of it is done",
        ),
        pytest.param(
            TWO_INIT,
            {"phase": "Pending", "initContainerStatuses": [container({"terminated": {"exitCode": 0}}, restarts=3), container({"running": {}}, restarts=2)],
             "containerStatuses": [container({"waiting": {"reason": "PodInitializing"}}, restarts=9)]},
            "0/1", "Init:1/2", 5, id="the second init container runs",
        ),
        pytest.param(
            TWO_INIT, {"phase": "Pending", "initContainerStatuses": [container({"terminated": {"exitCode": 2}})]},
            "0/1", "Init:ExitCode:2", 0, id="an init container failed",
        ),
        pytest.param(
            TWO_INIT, {"phase": "Pending", "initContainerStatuses": [container({"waiting": {"reason": "ImagePullBackOff"}})]},
            "0/1", "Init:ImagePullBackOff", 0, id="an init image is missing",
        ),
    ],
)  # fmt: skip
def test_one_word_says_what_a_pod_is_up_to(spec, status, ready, word, restarts):
    shown = cells("Pod", {"spec": {"containers": [{"name": "app"}], **spec}, "status": status})
    assert (shown["Ready"], shown["Status"], shown["Restarts"]) == (ready, word, restarts)


def test_a_pod_that_is_being_deleted_is_terminating_whatever_its_containers_do():
    pod = {
        "metadata": {"deletionTimestamp": NOW},
        "spec": {},
        "status": {"phase": "Running", "containerStatuses": [RUNNING]},
    }
    assert cells("Pod", pod)["Status"] == "Terminating"


def test_newer_releases_say_when_a_container_last_restarted():
    ended = {"lastState": {"terminated": {"finishedAt": "2026-01-05T08:55:00Z"}}}
    pod = {
        "spec": {"containers": [{}]},
        "status": {"containerStatuses": [container({"running": {}}, restarts=4, **ended)]},
    }
    assert cells("Pod", pod, CURRENT_RELEASE)["Restarts"] == "4 (5m ago)"
    assert cells("Pod", pod)["Restarts"] == 4


def test_a_sidecar_counts_among_the_containers_of_a_newer_release():
    spec = {"initContainers": [{"name": "proxy", "restartPolicy": "Always"}], "containers": [{"name": "app"}]}
    proxy = {**RUNNING, "name": "proxy", "started": True}
    pod = {
        "spec": spec,
        "status": {"phase": "Running", "initContainerStatuses": [proxy], "containerStatuses": [RUNNING]},
    }
    assert cells("Pod", pod, CURRENT_RELEASE)["Ready"] == "2/2"


def test_a_pod_that_has_ended_says_so_in_its_row():
    pods = catalogue(RECORDED_RELEASE).find("", "v1", "pods")
    rows = table(pods, [{"metadata": {}, "status": {"phase": phase}} for phase in ("Failed", "Running")], now=NOW)[
        "rows"
    ]
    assert rows[0]["conditions"][0]["reason"] == "Failed"
    assert "conditions" not in rows[1]


def metric(kind, source, current=None):
    name = kind[0].lower() + kind[1:]
    return {"type": kind, name: {"name": "cpu", "target": source}}, {"type": kind, name: {"current": current or {}}}


@pytest.mark.parametrize(
    ("metrics", "recorded", "current"),
    [
        pytest.param([], "<none>", "<none>", id="no metric"),
        pytest.param([metric("Resource", {"averageUtilization": 80})], "<unknown>/80%", "cpu: <unknown>/80%", id="not measured"),
        pytest.param([metric("Resource", {"averageUtilization": 80}, {"averageUtilization": 45})], "45%/80%", "cpu: 45%/80%", id="measured"),
        pytest.param([metric("Resource", {"averageValue": "1Gi"})] * 3, "<unknown>/1Gi, <unknown>/1Gi + 1 more...",
                     "cpu: <unknown>/1Gi, cpu: <unknown>/1Gi + 1 more...", id="more than fit"),
        pytest.param([metric("External", {"averageValue": "30"}, {"averageValue": "7"})], "7/30 (avg)", "7/30 (avg)", id="per pod"),
    ],
)  # fmt: skip
def test_an_autoscalers_targets_are_worded_as_the_release_words_them(metrics, recorded, current):
    spec = {
        "scaleTargetRef": {"kind": "Deployment", "name": "web"},
        "maxReplicas": 3,
        "metrics": [spec for spec, _ in metrics],
    }
    obj = {
        "apiVersion": "autoscaling/v2",
        "spec": spec,
        "status": {"currentMetrics": [status for _, status in metrics]},
    }
    assert cells("HorizontalPodAutoscaler", obj)["Targets"] == recorded
    assert cells("HorizontalPodAutoscaler", obj, CURRENT_RELEASE)["Targets"] == current


@pytest.mark.parametrize(
    ("hosts", "shown"),
    [
        pytest.param([""], "*", id="none"),
        pytest.param(["a", "", "b", "c"], "a,b,c", id="three"),
        pytest.param(["a", "b", "c", ""], "a,b,c + 1 more...", id="a rule after the third host"),
        pytest.param(["a", "b", "c", "d", "e"], "a,b,c + 2 more...", id="five"),
    ],
)
def test_an_ingress_shows_three_hosts_at_most(hosts, shown):
    rules = [{"host": host} if host else {} for host in hosts]
    assert cells("Ingress", {"apiVersion": "networking.k8s.io/v1", "spec": {"rules": rules}})["Hosts"] == shown


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        pytest.param({"type": "ClusterIP"}, {}, "<none>", id="inside only"),
        pytest.param({"type": "LoadBalancer"}, {}, "<pending>", id="no address yet"),
        pytest.param({"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]}, {"loadBalancer": {"ingress": [{"ip": "2.2.2.2"}, {"hostname": "a.b"}]}},
                     "2.2.2.2,a.b,9.9.9.9", id="addresses of both kinds"),
        pytest.param({"type": "ExternalName", "externalName": "db.example.com"}, {}, "db.example.com", id="elsewhere"),
    ],
)  # fmt: skip
def test_a_service_shows_where_it_is_reached_from_outside(spec, status, shown):
    assert cells("Service", {"spec": spec, "status": status})["External-IP"] == shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "<invalid>"), (-1, "0s"), (0.9, "0s"), (119, "119s"), (120, "2m"), (125, "2m5s"), (599, "9m59s"), (600, "10m"),
        (10799, "179m"), (10800, "3h"), (11000, "3h3m"), (28800, "8h"), (172799, "47h"), (172800, "2d"), (180000, "2d2h"),
        (691199, "7d23h"), (691200, "8d"), (63071999, "729d"), (63072000, "2y"), (66000000, "2y33d"), (252288000, "8y"),
    ],
)  # fmt: skip
def test_a_span_of_time_is_worded_for_people(seconds, words):
    assert duration(seconds) == words


def test_a_selector_is_written_as_the_command_line_takes_it():
    expressions = [
        {"key": "c", "operator": "In", "values": ["y", "x"]},
        {"key": "a", "operator": "Exists"},
        {"key": "d", "operator": "DoesNotExist"},
    ]
    assert selector({"matchLabels": {"z": "1", "b": "2"}, "matchExpressions": expressions}) == "a,b=2,c in (x,y),!d,z=1"
    assert selector({}) == selector(None) == "<none>"


@pytest.mark.parametrize(
    ("included", "shown"), [("None", None), ("Metadata", "PartialObjectMetadata"), ("Object", "ConfigMap")]
)
def test_a_row_carries_as_much_of_its_object_as_was_asked_for(included, shown):
    row = catalogue(RECORDED_RELEASE).find("", "v1", "configmaps")
    metadata = {"resourceVersion": "7", "continue": "c", "other": 1}
    made = table(
        row, [{"metadata": {"name": "x"}, "data": {}}], include_object=included, now=NOW, list_metadata=metadata
    )
    carried = made["rows"][0]["object"]
    assert (carried and carried["kind"]) == shown
    assert made["metadata"] == {"resourceVersion": "7", "continue": "c"}


def widget(columns):
    version = {"name": "v1", "served": True, "storage": True, "additionalPrinterColumns": columns}
    names = {"plural": "widgets", "kind": "Widget"}
    stored = {
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]},
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }
    return ServedCatalogue(catalogue(RECORDED_RELEASE)).current([stored]).find("example.com", "v1", "widgets")


@pytest.mark.parametrize(
    ("kind", "path", "cell"),
    [
        ("string", ".spec.size", "5"),
        ("integer", ".spec.size", 5),
        ("number", ".spec.ratio", 2.5),
        ("boolean", ".spec.size", None),
        ("boolean", ".spec.ok", True),
        ("date", ".metadata.creationTimestamp", "2m"),
        ("date", ".spec.size", None),
        ("string", ".spec.none", None),
        ("string", ".spec.size.none", None),
        ("string", ".spec.null", "<no value>"),
        ("string", ".spec.list[1].name", "b"),
        ("string", ".spec.list[-1].name", "b"),
        ("string", ".spec.list[9].name", None),
        ("string", ".spec.list[*].name", "a"),
        ("string", '.spec.list[?(@.name=="b")].value', "2"),
        ("string", ".spec.list[0]", '{"name":"a","value":1}'),
        ("string", r".metadata.labels.app\.kubernetes\.io/name", "shop"),
        ("string", ".metadata.labels['app.kubernetes.io/name']", "shop"),
    ],
)
def test_a_custom_column_shows_what_its_path_finds(kind, path, cell):
    spec = {
        "size": 5, "ratio": 2.5, "ok": True, "null": None,
        "list": [{"name": "a", "value": 1}, {"name": "b", "value": 2}],
    }  # fmt: skip
    metadata = {"name": "w", "creationTimestamp": CREATED, "labels": {"app.kubernetes.io/name": "shop"}}
    made = table(
        widget([{"name": "C", "type": kind, "jsonPath": path}]), [{"metadata": metadata, "spec": spec}], now=NOW
    )
    assert made["rows"][0]["cells"] == ["w", cell]
    assert made["columnDefinitions"][1]["description"].endswith(path)


def test_columns_of_one_name_keep_their_own_cells_and_without_columns_there_is_the_age():
    columns = [{"name": "Name", "type": "string", "jsonPath": f".spec.{key}"} for key in "ab"]
    obj = {"metadata": {"name": "w", "creationTimestamp": CREATED}, "spec": {"a": "1", "b": "2"}}
    assert table(widget(columns), [obj], now=NOW)["rows"][0]["cells"] == ["w", "1", "2"]
    assert table(widget([]), [obj], now=NOW)["rows"][0]["cells"] == ["w", "2m"]


def test_only_a_table_without_a_printer_of_its_own_has_null_for_no_rows():
    roles, pods = (
        catalogue(RECORDED_RELEASE).find(*path)
        for path in (("rbac.authorization.k8s.io", "v1", "roles"), ("", "v1", "pods"))
    )
    assert table(roles, [], now=NOW)["rows"] is None
    assert table(pods, [], now=NOW)["rows"] == []


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "spec", "status"]), inner, max_size=2)
    ),
    max_leaves=4,
)
FIELDS = st.sampled_from(
    ["spec", "status", "metadata", "conditions", "containers", "containerStatuses", "initContainerStatuses", "state",
     "ports", "rules", "subsets", "metrics", "subjects", "type", "selector", "template", "claimRef", "hard", "labels"]
)  # fmt: skip


PRINTED = [row for release in (RECORDED_RELEASE, CURRENT_RELEASE) for row in catalogue(release).resources
           if row.noun not in {"hpa", "event", "ingress"}]  # fmt: skip


@given(st.sampled_from(PRINTED), st.dictionaries(FIELDS, st.dictionaries(FIELDS, JUNK, max_size=3) | JUNK, max_size=3))
def test_whatever_was_stored_can_be_printed(row, obj):
    made = table(row, [{**obj, "metadata": {"name": "x"}}], now=NOW)
    assert len(made["rows"][0]["cells"]) == len(made["columnDefinitions"])


@given(JUNK, st.text(alphabet=".[]*?@()='\"ab0-:\\ ", max_size=12))
def test_any_path_can_be_tried_on_anything(obj, path):
    list(values_at(obj, path))


def test_ages_are_relative_to_the_moment_given():
    assert datetime.fromisoformat(NOW).tzinfo is UTC
    assert cells("Namespace", {"status": {"phase": "Active"}}) == {"Name": "x", "Status": "Active", "Age": "2m"}
