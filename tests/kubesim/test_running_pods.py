"""Pods that run to their end, what their processes print, and what becomes of those whose owner does not exist."""

import pytest

from kubesim import Cluster
from kubesim.shell import Situation, Step, UnreadableScriptError, outcome, run_script
from kubesim.surroundings import Execution

PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


@pytest.fixture
def cluster():
    return Cluster(seed=3, start="2026-01-05T10:00:00Z")


def pod(name, *command, policy="Never", **more):
    container = {"name": "main", "image": "busybox", "command": list(command), **more}
    return {"metadata": {"name": name}, "spec": {"restartPolicy": policy, "containers": [container]}}


def ran(cluster, body):
    assert cluster.request("POST", PODS, body=body).status == 201
    cluster.come_to_rest()
    name = body["metadata"]["name"]
    found = cluster.request("GET", f"{PODS}/{name}").body
    return found["status"], cluster.request("GET", f"{PODS}/{name}/log").body


@pytest.mark.parametrize(
    ("command", "code", "log"),
    [
        (["echo", "hello", "there"], 0, "hello there\n"),
        (["true"], 0, ""),
        (["false"], 1, ""),
        (["sleep", "30"], 0, ""),
        (["sh", "-c", "echo a; sleep 2 && echo b || echo c"], 0, "a\nb\n"),
        (["sh", "-c", "false && echo no; echo $?"], 0, "1\n"),
        (["/bin/sh", "-ec", "echo one\nfalse\necho two"], 1, "one\n"),
        (["sh", "-c", "set -e; echo one; false; echo two"], 1, "one\n"),
        (["sh", "-c", "echo to $NAME > /tmp/x; cat /tmp/x | cat; exit 3"], 3, "to you\n"),
        (["sh", "-c", "cat /nowhere 2>/dev/null || echo 'not $NAME'"], 0, "not $NAME\n"),
        (["echo", "$(NAME) $$(NAME) $NAME"], 0, "you $(NAME) $NAME\n"),
        (["cat", "/etc/settings/colour"], 0, "green\n"),
        (["printenv", "NAME"], 0, "you\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
@pytest.mark.requirement("SI-02")
def test_a_pod_that_is_not_started_again_ends_as_its_process_does(cluster, command, code, log):
    colour = {"metadata": {"name": "settings"}, "data": {"colour": "green\n"}}
    assert cluster.request("POST", "/api/v1/namespaces/default/configmaps", body=colour).status == 201
    mount = {"name": "settings", "mountPath": "/etc/settings"}
    body = pod("once", *command, env=[{"name": "NAME", "value": "you"}], volumeMounts=[mount])
    body["spec"]["volumes"] = [{"name": "settings", "configMap": {"name": "settings"}}]
    status, text = ran(cluster, body)
    ended = status["containerStatuses"][0]["state"]["terminated"]
    assert (status["phase"], ended["exitCode"], text) == ("Failed" if code else "Succeeded", code, log)


def test_a_pod_is_pending_then_runs_then_has_succeeded_and_logs_as_it_goes(cluster):
    cluster.request("POST", PODS, body=pod("slow", "sh", "-c", "echo first; sleep 9; echo last"))
    seen = []
    for _ in range(20):
        phase = cluster.request("GET", f"{PODS}/slow").body["status"]["phase"]
        log = cluster.request("GET", f"{PODS}/slow/log").body if phase != "Pending" else ""
        seen.append((phase, log))
    assert list(dict.fromkeys(phase for phase, _ in seen)) == ["Pending", "Running", "Succeeded"]
    assert ("Running", "first\n") in seen
    assert seen[-1] == ("Succeeded", "first\nlast\n")


def test_what_serves_goes_on_whatever_its_restart_policy(cluster):
    for name, more in (("server", {"image": "nginx"}), ("idle", {"command": ["sleep", "infinity"]}), ("tail", {
        "command": ["tail", "-f", "/dev/null"]})):  # fmt: skip
        body = pod(name, **more)
        assert ran(cluster, body)[0]["phase"] == "Running"


def test_a_process_that_fails_is_started_again_where_that_is_wanted(cluster):
    status, log = ran(cluster, pod("again", "sh", "-c", "echo tried; exit 4", policy="OnFailure"))
    assert status["phase"] == "Running"
    assert status["containerStatuses"][0]["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert log == "tried\n"
    assert ran(cluster, pod("well", "true", policy="OnFailure"))[0]["phase"] == "Succeeded"


def test_init_containers_run_first_and_hold_up_the_others(cluster):
    body = pod("two", "echo", "main")
    body["spec"]["initContainers"] = [{"name": "first", "image": "busybox", "command": ["false"]}]
    status, _ = ran(cluster, body)
    assert status["phase"] == "Failed"
    assert "waiting" in status["containerStatuses"][0]["state"]
    assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 1


@pytest.mark.parametrize(("command", "condition"), [(["echo", "done"], "Complete"), (["false"], "Failed")])
def test_a_job_ends_as_its_pods_do(cluster, command, condition):
    template = {"spec": pod("ignored", *command)["spec"]}
    body = {"metadata": {"name": "task"}, "spec": {"backoffLimit": 0, "template": template}}
    assert cluster.request("POST", JOBS, body=body).status == 201
    cluster.come_to_rest()
    status = cluster.request("GET", f"{JOBS}/task").body["status"]
    assert [item["type"] for item in status["conditions"] if item["status"] == "True"] == [condition]


def test_nobody_waits_for_one_who_sleeps_all_day(cluster):
    before = cluster.now
    assert ran(cluster, pod("day", "sleep", "1d"))[0]["phase"] == "Running"
    assert cluster.now[:13] == before[:13]


@pytest.mark.parametrize(
    "script", ["for i in 1 2; do echo $i; done", "echo $(date)", "echo 'open", "a | | b", "sleep 1 &"]
)
def test_a_script_that_cannot_be_read_runs_nothing(script):
    def program(words, situation, stdin):
        raise AssertionError(words)

    with pytest.raises(UnreadableScriptError):
        run_script(script, Situation({}), program)


def test_redirections_take_output_where_they_say():
    def program(words, situation, stdin):
        return Step(Execution(" ".join(words) + "\n", "oops\n"))

    situation = Situation({})
    steps = run_script("a 2>&1; b >/tmp/x 2>/dev/null; c >>/tmp/x; d >&2", situation, program)
    assert outcome(steps) == Execution("a\noops\n", "oops\nd\noops\n")
    assert situation.files["/tmp/x"] == "b\nc\n"


# Owners that do not exist


def owned(name, /, **reference):
    given = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "0f4b8a52-7c1d-4e09-9d4e-3b1f5c2a7d60"}
    return {"metadata": {"name": name, "ownerReferences": [{**given, **reference}]}}


def config_maps(cluster):
    return {item["metadata"]["name"]: item["metadata"] for item in cluster.objects("ConfigMap", "default")}


@pytest.mark.requirement("SI-08")
def test_what_names_no_owner_that_exists_is_collected(cluster):
    path = "/api/v1/namespaces/default/configmaps"
    owner = cluster.request("POST", path, body={"metadata": {"name": "owner"}}).body["metadata"]["uid"]
    for name, reference in {
        "of-nobody": {}, "of-another-kind": {"kind": "Secret", "uid": owner}, "misnamed": {"name": "other", "uid": owner},
        "kept": {"uid": owner}, "undecided": {"apiVersion": "example.com/v1", "kind": "Unheard"},
    }.items():  # fmt: skip
        assert cluster.request("POST", path, body=owned(name, **reference)).status == 201
    assert config_maps(cluster).keys() >= {"owner", "kept", "undecided"}
    assert not config_maps(cluster).keys() & {"of-nobody", "of-another-kind", "misnamed"}
    two = owned("of-two", uid=owner)
    two["metadata"]["ownerReferences"] += owned("", name="gone")["metadata"]["ownerReferences"]
    assert cluster.request("POST", path, body=two).status == 201
    assert [item["uid"] for item in config_maps(cluster)["of-two"]["ownerReferences"]] == [owner]
    assert cluster.request("DELETE", f"{path}/owner").status == 200
    assert not config_maps(cluster).keys() & {"kept", "of-two"}


def test_an_owner_that_every_cluster_starts_with_is_one(cluster):
    view = cluster.request("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view").body["metadata"]["uid"]
    reference = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "view", "uid": view}
    assert (
        cluster.request("POST", "/api/v1/namespaces/default/configmaps", body=owned("seen", **reference)).status == 201
    )
    assert "seen" in config_maps(cluster)
