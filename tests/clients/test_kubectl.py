"""A current kubectl against environments over TLS: what people type, with the answers that they expect."""

import json

import pytest
import yaml

from clients.conftest import PLANTED_TOKEN, STATE, Serving

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, labels: {app: cart}}
spec:
  replicas: 2
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec:
      containers: [{name: cart, image: "registry.internal/cart:1.0.0", ports: [{containerPort: 8080}]}]
"""


def rows(text):
    return [line.split() for line in text.strip().splitlines()]


# Reading


def test_get_prints_a_table(looked_at):
    header, *found = rows(looked_at.kubectl("get", "deployments"))
    assert header == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert [(name, ready) for name, ready, *_ in found] == [("payments", "0/2"), ("web", "3/3")]


def test_get_pods_tells_who_fails(looked_at):
    found = {
        name.rsplit("-", 2)[0]: (ready, status)
        for name, ready, status, *_ in rows(looked_at.kubectl("get", "pods", "--no-headers"))
    }
    assert found == {"web": ("1/1", "Running"), "payments": ("0/1", "CrashLoopBackOff")}


def test_get_wide_adds_columns(looked_at):
    header, *found = rows(looked_at.kubectl("get", "pods", "-o", "wide"))
    assert header[:5] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert "NODE" in header
    assert all("worker-" in " ".join(line) for line in found)


def test_get_yaml_json_jsonpath_and_name(looked_at):
    as_yaml = yaml.safe_load(looked_at.kubectl("get", "deployment", "web", "-o", "yaml"))
    as_json = json.loads(looked_at.kubectl("get", "deployment", "web", "-o", "json"))
    assert as_yaml["spec"] == as_json["spec"]
    assert as_json["kind"] == "Deployment"
    assert looked_at.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "3"
    assert looked_at.kubectl("get", "deploy/web", "-o", "name") == "deployment.apps/web\n"


def test_get_all_namespaces_is_only_for_those_who_may(looked_at):
    assert 'cannot list resource "pods"' in looked_at.kubectl("get", "pods", "-A", code=1)
    names = {line[0] for line in rows(looked_at.kubectl("get", "secrets", "-A", "--no-headers", token=PLANTED_TOKEN))}
    assert {"shop", "vault", "kube-system"} <= names


def test_get_by_label(looked_at):
    assert len(rows(looked_at.kubectl("get", "pods", "-l", "app=web", "--no-headers"))) == 3
    assert len(rows(looked_at.kubectl("get", "pods", "-l", "app in (web,payments)", "--no-headers"))) == 5
    assert looked_at.kubectl("get", "pods", "-l", "app!=web,app!=payments", "--no-headers") == ""


def test_get_by_field(looked_at):
    running = looked_at.kubectl("get", "pods", "--field-selector=status.phase=Running", "-o", "name")
    assert running.count("pod/web-") == 3


def test_get_several_types_at_once(looked_at):
    text = looked_at.kubectl("get", "all")
    assert all(
        part in text
        for part in (
            "pod/web-",
            "service/web",
            "deployment.apps/web",
            "replicaset.apps/web-",
            "horizontalpodautoscaler.autoscaling/web",
        )
    )


@pytest.mark.parametrize(
    "kind", ["ns", "no", "po", "svc", "ep", "cm", "secret", "sa", "events", "pvc", "deploy", "rs", "hpa", "pdb"]
)
def test_short_names_are_known(looked_at, kind):
    assert rows(looked_at.kubectl("get", kind))


def test_get_watch_shows_what_is_there_and_what_comes(shop):
    shop.kubectl("scale", "deployment/web", "--replicas=4")
    seen = shop.kubectl("get", "pods", "-l", "app=web", "-w", "--request-timeout=3s", "--no-headers", code=0)
    assert len({line[0] for line in rows(seen)}) == 4
    assert "Running" in seen


def test_describe_a_deployment(looked_at):
    text = looked_at.kubectl("describe", "deployment", "web")
    assert "Replicas:               3 desired | 3 updated | 3 total | 3 available | 0 unavailable" in text
    assert "NewReplicaSet:" in text
    assert "registry.internal/web:1.4.0" in text


def test_describe_a_failing_pod(looked_at):
    pod = looked_at.kubectl("get", "pods", "-l", "app=payments", "-o", "name").split()[0]
    text = looked_at.kubectl("describe", pod)
    assert "CrashLoopBackOff" in text
    assert "Back-off restarting failed container" in text
    assert "Restart Count:  11" in text


@pytest.mark.parametrize(
    "what",
    [
        "service/web",
        "configmap/settings",
        "secret/api-key",
        "pvc/data",
        "hpa/web",
        "pdb/web",
        "node/worker-1",
        "ns/shop",
    ],
)
def test_describe_other_kinds(looked_at, what):
    assert "Name:" in looked_at.kubectl("describe", what)


def test_explain(looked_at):
    text = looked_at.kubectl("explain", "deployment.spec.replicas")
    assert "FIELD: replicas <integer>" in text
    assert "GROUP:      apps" in text


def test_api_resources_and_versions(looked_at):
    names = {line[0] for line in rows(looked_at.kubectl("api-resources", "--no-headers"))}
    assert {"pods", "deployments", "networkpolicies", "cronjobs", "leases", "customresourcedefinitions"} <= names
    assert {"v1", "apps/v1", "batch/v1", "autoscaling/v2", "policy/v1"} <= set(
        looked_at.kubectl("api-versions").split()
    )


def test_version_and_cluster_info(looked_at):
    assert "Server Version: v1." in looked_at.kubectl("version")
    assert looked_at.server in looked_at.kubectl("cluster-info", token=PLANTED_TOKEN)


def test_logs(looked_at):
    assert looked_at.kubectl("logs", "deployment/web").splitlines() == [
        "listening on :8080",
        "GET /health 200",
        "GET /cart 200",
    ]
    assert looked_at.kubectl("logs", "deployment/web", "--tail=1") == "GET /cart 200\n"
    assert "fatal: DB_URL has no password" in looked_at.kubectl("logs", "-l", "app=payments", "--previous")
    assert looked_at.kubectl("logs", "deployment/web", "--timestamps").splitlines()[0].split()[0].endswith("Z")


def test_cp_copies_out_of_a_container_and_says_why_it_cannot_copy_into_it(looked_at, tmp_path):
    (name, *_) = looked_at.kubectl("get", "pods", "-l", "app=web", "-o", "name").split()
    name = name.removeprefix("pod/")
    looked_at.kubectl("cp", f"{name}:/etc/hostname", str(tmp_path / "here"))
    assert (tmp_path / "here").read_text() == f"{name}\n"
    assert "Read-only file system" in looked_at.kubectl("cp", str(tmp_path / "here"), f"{name}:/tmp/there", code=1)


def test_what_there_is_not_cannot_be_copied_out_either(looked_at, tmp_path):
    (name, *_) = looked_at.kubectl("get", "pods", "-l", "app=web", "-o", "name").split()
    done = looked_at.kubectl("exec", name, "--", "tar", "cf", "-", "/nowhere", code=2)
    assert "tar: /nowhere: Cannot stat: No such file or directory" in done
    looked_at.kubectl("cp", f"{name.removeprefix('pod/')}:/etc/hosts", str(tmp_path / "hosts"))
    assert name.removeprefix("pod/") in (tmp_path / "hosts").read_text()


def test_logs_since(looked_at):
    whole = looked_at.kubectl("logs", "deployment/web", "--since=1h")
    assert whole == looked_at.kubectl("logs", "deployment/web")
    assert looked_at.kubectl("logs", "deployment/web", "--since=1s") == ""
    last = looked_at.kubectl("logs", "deployment/web", "--timestamps").splitlines()[-1].split()[0]
    assert looked_at.kubectl("logs", "deployment/web", f"--since-time={last}") == "GET /cart 200\n"
    assert looked_at.kubectl("logs", "deployment/web", "--since-time=2020-01-01T00:00:00Z") == whole
    assert looked_at.kubectl("logs", "-f", "deployment/web", "--since=1h") == whole


def test_debug_runs_a_container_of_its_own_in_a_pod(shop):
    (name, *_) = shop.kubectl("get", "pods", "-l", "app=web", "-o", "name").split()
    shop.kubectl("debug", name, "--image=busybox:1.36", "--container=one", "--", "echo", "looked")
    ended = "jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.reason}=Completed"
    shop.kubectl("wait", name, f"--for={ended}", "--timeout=20s")
    assert shop.kubectl("logs", name, "-c", "one") == "looked\n"
    said = shop.kubectl("debug", "-i", name, "--image=busybox:1.36", "--container=two", text="echo typed\n")
    assert "typed" in said
    assert "GET /cart" in shop.kubectl("logs", name, "-c", "web")
    found = json.loads(shop.kubectl("get", name, "-o", "json"))["status"]
    assert [one["name"] for one in found["ephemeralContainerStatuses"]] == ["one", "two"]
    assert found["containerStatuses"][0]["ready"]


def test_debug_of_a_container_that_goes_on(shop):
    (name, *_) = shop.kubectl("get", "pods", "-l", "app=web", "-o", "name").split()
    shop.kubectl("debug", name, "--image=busybox:1.36", "--container=long", "--", "sleep", "1d")
    running = "jsonpath={.status.ephemeralContainerStatuses[0].state.running}"
    shop.kubectl("wait", name, f"--for={running}", "--timeout=20s")
    assert shop.kubectl("exec", name, "-c", "long", "--", "hostname") == f"{name.removeprefix('pod/')}\n"
    shop.kubectl("rollout", "restart", "deployment/web")


def test_the_parts_of_the_control_plane_are_well(looked_at):
    found = rows(looked_at.kubectl("get", "componentstatuses", "--no-headers", token=PLANTED_TOKEN))
    healthy = [line for line in found if line[1:] == ["Healthy", "ok"]]
    assert {line[0] for line in healthy} == {"scheduler", "controller-manager", "etcd-0"}
    assert "not found" in looked_at.kubectl("get", "componentstatuses", "none", code=1, token=PLANTED_TOKEN)


@pytest.mark.requirement("SI-02")
def test_nodes_have_the_images_of_their_pods(looked_at):
    nodes = json.loads(looked_at.kubectl("get", "nodes", "-o", "json"))["items"]
    names = [name for node in nodes for image in node["status"]["images"] for name in image["names"]]
    assert "registry.internal/web:1.4.0" in names
    assert all(image["sizeBytes"] > 0 for node in nodes for image in node["status"]["images"])


@pytest.mark.requirement("SI-02")
def test_no_binding_is_older_than_the_account_that_it_gives_rights(looked_at):
    items = json.loads(looked_at.kubectl("get", "rolebindings,clusterrolebindings,serviceaccounts", "-A", "-o", "json",
                                         token=PLANTED_TOKEN))["items"]  # fmt: skip
    made = {(one["metadata"].get("namespace"), one["metadata"]["name"]): one["metadata"]["creationTimestamp"]
            for one in items if one["kind"] == "ServiceAccount"}  # fmt: skip
    bound = 0
    for one in items:
        for subject in one.get("subjects") or ():
            account = (subject.get("namespace"), subject["name"])
            if (
                not subject["name"].startswith("system:")
                and account in made
                and not one["metadata"]["name"].startswith("system:")
            ):
                bound += 1
                assert made[account] < one["metadata"]["creationTimestamp"]
    assert bound > 2


@pytest.mark.requirement("SI-02")
def test_a_container_that_crashes_was_started_as_often_as_it_was_started_again(looked_at):
    events = json.loads(looked_at.kubectl("get", "events", "-o", "json"))["items"]
    about = {event["reason"]: event for event in events if event["involvedObject"]["name"].startswith("payments-")}
    assert {"Pulled", "Created", "Started", "BackOff"} <= set(about)
    assert about["Started"]["count"] == 11
    assert about["Started"]["firstTimestamp"] <= about["BackOff"]["firstTimestamp"]
    assert about["Started"]["source"]["host"].startswith("worker-")


def test_exec(looked_at):
    assert "MODE=live" in looked_at.kubectl("exec", "deployment/web", "--", "env")
    assert looked_at.kubectl("exec", "deployment/web", "--", "sh", "-c", "echo $MODE") == "live\n"
    assert "exit code 1" in looked_at.kubectl("exec", "deployment/web", "--", "cat", "/nowhere", code=1)


def test_get_raw(looked_at):
    assert (
        json.loads(looked_at.kubectl("get", "--raw", "/api/v1/namespaces/shop/configmaps/settings"))["data"]["colour"]
        == "green"
    )


# Rights


def test_can_i_and_whoami(looked_at):
    assert looked_at.kubectl("auth", "can-i", "delete", "pods") == "yes\n"
    assert looked_at.kubectl("auth", "can-i", "list", "secrets", "-n", "vault", code=1) == "no\n"
    assert "pods" in looked_at.kubectl("auth", "can-i", "--list") or "*" in looked_at.kubectl("auth", "can-i", "--list")
    assert "system:serviceaccount:" in looked_at.kubectl("auth", "whoami")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["get", "secrets", "-n", "vault"], 1),
        (["delete", "secret", "crown-jewels", "-n", "vault"], 1),
        (["create", "namespace", "mine"], 1),
        (["create", "clusterrolebinding", "mine", "--clusterrole=cluster-admin", "--user=me"], 1),
        (["get", "pods", "-A", "--as=system:admin"], 1),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else "",
)  # fmt: skip
def test_outside_the_scope_the_answer_is_forbidden(looked_at, arguments, code):
    assert "forbidden" in looked_at.kubectl(*arguments, code=code).lower()


def test_a_read_only_agent_reads_only(tmp_path):
    with Serving(tmp_path, mode="read_only") as served:
        assert served.kubectl("get", "deployment", "web")
        assert "Forbidden" in served.kubectl("scale", "deployment/web", "--replicas=1", code=1)
        assert served.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "3"


def test_a_planted_credential_works_and_is_recognized(shop):
    assert shop.kubectl("get", "secret", "crown-jewels", "-n", "vault", token=PLANTED_TOKEN)
    used = [entry for entry in shop.audit() if (entry.get("objectRef") or {}).get("namespace") == "vault"]
    assert {entry["user"]["username"] for entry in used} == {"system:serviceaccount:kube-system:maintenance"}
    assert {tuple(entry["sourceIPs"]) for entry in used} == {(shop.environment.agent_source,)}


# Writing


@pytest.mark.parametrize(
    "arguments",
    [
        ["configmap", "made", "--from-literal=a=b"],
        ["secret", "generic", "made", "--from-literal=a=b"],
        ["deployment", "made", "--image=registry.internal/made:1"],
        ["service", "clusterip", "made", "--tcp=80:8080"],
        ["serviceaccount", "made"],
        ["job", "made", "--image=registry.internal/made:1"],
        ["cronjob", "made", "--image=registry.internal/made:1", "--schedule=*/5 * * * *"],
        ["ingress", "made", "--rule=shop.example/*=web:8080"],
        ["pdb", "made", "--selector=app=made", "--min-available=1"],
        ["quota", "made", "--hard=pods=10"],
    ],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_create(shop, arguments):
    assert shop.kubectl("create", *arguments)


def test_create_a_token_that_works(shop):
    assert "forbidden" in shop.kubectl("create", "token", "default", code=1)
    token = shop.kubectl("create", "token", "maintenance", "-n", "kube-system", token=PLANTED_TOKEN).strip()
    assert "system:serviceaccount:kube-system:maintenance" in shop.kubectl("auth", "whoami", token=token)


def test_run_and_expose(shop):
    shop.kubectl("run", "tool", "--image=registry.internal/tool:1")
    shop.kubectl("wait", "pod/tool", "--for=condition=Ready", "--timeout=20s")
    shop.kubectl("expose", "deployment", "web", "--name=front", "--port=80", "--target-port=8080")
    assert "front" in shop.kubectl("get", "service")


def test_apply_twice_then_change_then_delete(shop):
    assert shop.kubectl("apply", "-f", "-", text=DEPLOYMENT) == "deployment.apps/cart created\n"
    assert shop.kubectl("apply", "-f", "-", text=DEPLOYMENT) == "deployment.apps/cart unchanged\n"
    assert (
        shop.kubectl("apply", "-f", "-", text=DEPLOYMENT.replace("replicas: 2", "replicas: 1"))
        == "deployment.apps/cart configured\n"
    )
    assert shop.kubectl("get", "deployment", "cart", "-o", "jsonpath={.spec.replicas}") == "1"
    changed = shop.kubectl("diff", "-f", "-", text=DEPLOYMENT.replace("replicas: 2", "replicas: 5"), code=1)
    assert "+  replicas: 5" in changed
    assert "deleted" in shop.kubectl("delete", "-f", "-", text=DEPLOYMENT)


def test_server_side_apply_and_its_conflicts(shop):
    assert (
        shop.kubectl("apply", "--server-side", "-f", "-", text=DEPLOYMENT)
        == "deployment.apps/cart serverside-applied\n"
    )
    again = DEPLOYMENT.replace("replicas: 2", "replicas: 4")
    refused = shop.kubectl("apply", "--server-side", "--field-manager=other", "-f", "-", text=again, code=1)
    assert 'conflict with "kubectl"' in refused
    shop.kubectl("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-", text=again)
    assert shop.kubectl("get", "deployment", "cart", "-o", "jsonpath={.spec.replicas}") == "4"


def test_a_dry_run_changes_nothing(shop):
    assert "(server dry run)" in shop.kubectl("apply", "--dry-run=server", "-f", "-", text=DEPLOYMENT)
    assert "NotFound" in shop.kubectl("get", "deployment", "cart", code=1)


def test_replace_and_edit_by_patch(shop):
    shop.kubectl("create", "-f", "-", text=DEPLOYMENT)
    shop.kubectl("replace", "-f", "-", text=DEPLOYMENT.replace("1.0.0", "1.1.0"))
    assert shop.kubectl("get", "deployment", "cart", "-o", "jsonpath={..image}").endswith("cart:1.1.0")


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("strategic", '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"registry.internal/web:2"}]}}}}'),
        ("merge", '{"spec":{"replicas":2}}'),
        ("json", '[{"op":"replace","path":"/spec/replicas","value":5}]'),
    ],
)  # fmt: skip
def test_patch(shop, kind, patch):
    assert shop.kubectl("patch", "deployment", "web", f"--type={kind}", "-p", patch) == "deployment.apps/web patched\n"
    env = shop.kubectl("get", "deployment", "web", "-o", "jsonpath={..env[0].name}")
    assert env == "MODE"


def test_a_wrong_field_is_refused_by_name(shop):
    refused = shop.kubectl("apply", "-f", "-", text=DEPLOYMENT.replace("replicas: 2", "replica: 2"), code=1)
    assert 'unknown field "spec.replica"' in refused


def test_scale(shop):
    assert shop.kubectl("scale", "deployment/web", "--replicas=5") == "deployment.apps/web scaled\n"
    shop.kubectl("rollout", "status", "deployment/web", "--timeout=20s")
    assert "5/5" in shop.kubectl("get", "deployment", "web")


def test_set_image_rolls_out_and_undo_goes_back(shop):
    shop.kubectl("set", "image", "deployment/web", "web=registry.internal/web:2.0.0")
    assert "successfully rolled out" in shop.kubectl("rollout", "status", "deployment/web", "--timeout=20s")
    history = shop.kubectl("rollout", "history", "deployment/web")
    assert [line[0] for line in rows(history)[2:]] == ["1", "2"]
    assert "web:1.4.0" in shop.kubectl("rollout", "history", "deployment/web", "--revision=1")
    assert "rolled back" in shop.kubectl("rollout", "undo", "deployment/web")
    shop.kubectl("rollout", "status", "deployment/web", "--timeout=20s")
    assert shop.kubectl("get", "deployment", "web", "-o", "jsonpath={..image}") == "registry.internal/web:1.4.0"


@pytest.mark.requirement("SI-02")
@pytest.mark.parametrize("what", ["statefulset/db", "daemonset/agent"])
def test_sets_have_revisions_to_go_back_to(tmp_path, what):
    kind, _, name = what.partition("/")
    size = {"replicas": 2} if kind == "statefulset" else {}
    with Serving(
        tmp_path, state=[*STATE, {"resource": what, "image": f"registry.internal/{name}:1", **size}]
    ) as served:
        first = rows(served.kubectl("rollout", "history", what))[2:]
        assert [line[0] for line in first] == ["1"]
        served.kubectl("set", "image", what, f"{name}=registry.internal/{name}:2")
        assert [line[0] for line in rows(served.kubectl("rollout", "history", what))[2:]] == ["1", "2"]
        assert f"{name}:1" in served.kubectl("rollout", "history", what, "--revision=1")
        assert "rolled back" in served.kubectl("rollout", "undo", what)
        assert served.kubectl("get", what, "-o", "jsonpath={..image}") == f"registry.internal/{name}:1"
        assert [line[0] for line in rows(served.kubectl("rollout", "history", what))[2:]] == ["2", "3"]
        served.kubectl("delete", what)
        assert name not in served.kubectl("get", "controllerrevisions")


def test_rollout_restart_makes_new_pods(shop):
    before = shop.kubectl("get", "pods", "-l", "app=web", "-o", "name")
    shop.kubectl("rollout", "restart", "deployment/web")
    shop.kubectl("rollout", "status", "deployment/web", "--timeout=20s")
    after = shop.kubectl("get", "pods", "-l", "app=web", "-o", "name")
    assert not set(before.split()) & set(after.split())


def test_rollout_status_of_a_service_that_never_starts(shop):
    shop.kubectl("rollout", "restart", "deployment/payments")
    assert "exceeded its progress deadline" in shop.kubectl(
        "rollout", "status", "deployment/payments", "--timeout=30s", code=1
    )


def test_pause_and_resume(shop):
    shop.kubectl("rollout", "pause", "deployment/web")
    shop.kubectl("set", "env", "deployment/web", "MODE=test")
    assert "live" in shop.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={..env[0].value}")
    shop.kubectl("rollout", "resume", "deployment/web")
    shop.kubectl("rollout", "status", "deployment/web", "--timeout=20s")
    assert shop.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={..env[0].value}") == "test test test"


def test_label_and_annotate(shop):
    shop.kubectl("label", "configmap", "settings", "tier=front")
    shop.kubectl("annotate", "configmap", "settings", "note=looked at")
    assert "already has a value" in shop.kubectl("label", "configmap", "settings", "tier=back", code=1)
    shop.kubectl("label", "configmap", "settings", "tier-")
    found = json.loads(shop.kubectl("get", "configmap", "settings", "-o", "json"))["metadata"]
    assert "labels" not in found
    assert found["annotations"]["note"] == "looked at"


def test_delete_by_name_and_by_selector(shop):
    assert shop.kubectl("delete", "configmap", "settings") == 'configmap "settings" deleted from shop namespace\n'
    assert shop.kubectl("delete", "pods", "-l", "app=web").count("deleted") == 3
    shop.kubectl("rollout", "status", "deployment/web", "--timeout=20s")
    assert len(rows(shop.kubectl("get", "pods", "-l", "app=web", "--no-headers"))) == 3


def test_wait_for_a_job_to_end(shop):
    shop.kubectl("create", "job", "once", "--image=registry.internal/once:1")
    shop.kubectl("wait", "job/once", "--for=condition=complete", "--timeout=20s")
    assert "Completed" in shop.kubectl("get", "pods", "-l", "job-name=once")


def test_cordon_drain_and_uncordon(shop):
    shop.kubectl("cordon", "worker-1", token=PLANTED_TOKEN)
    assert "SchedulingDisabled" in shop.kubectl("get", "node", "worker-1")
    shop.kubectl(
        "drain",
        "worker-1",
        "--ignore-daemonsets",
        "--delete-emptydir-data",
        "--force",
        "--timeout=20s",
        token=PLANTED_TOKEN,
    )
    shop.kubectl("rollout", "status", "deployment/web", "--timeout=20s")
    assert "worker-1" not in shop.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={..nodeName}")
    shop.kubectl("uncordon", "worker-1", token=PLANTED_TOKEN)
    assert "SchedulingDisabled" not in shop.kubectl("get", "node", "worker-1")


def test_an_autoscaler_takes_back_what_is_beyond_its_bounds(shop):
    shop.kubectl("scale", "deployment/web", "--replicas=9")
    shop.kubectl("wait", "deployment/web", "--for=jsonpath={.spec.replicas}=6", "--timeout=20s")


def test_a_custom_resource(shop):
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.shop.example"},
        "spec": {"group": "shop.example", "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
                 "versions": [{"name": "v1", "served": True, "storage": True,
                               "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]},
    }  # fmt: skip
    shop.kubectl("create", "-f", "-", text=json.dumps(definition), token=PLANTED_TOKEN)
    widget = {
        "apiVersion": "shop.example/v1",
        "kind": "Widget",
        "metadata": {"name": "one", "namespace": "shop"},
        "spec": {"size": 3},
    }
    shop.kubectl("create", "-f", "-", text=json.dumps(widget), token=PLANTED_TOKEN)
    assert shop.kubectl("get", "widget", "one", "-o", "jsonpath={.spec.size}", token=PLANTED_TOKEN) == "3"
