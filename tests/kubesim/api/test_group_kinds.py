"""Defaults, strategies and validation of the types outside the core group."""

import pytest

from kubesim.discovery.catalogue import CURRENT_RELEASE, RECORDED_RELEASE, catalogue
from kubesim.kinds.defaults import fill_defaults
from kubesim.kinds.strategy import prepared_for_create, prepared_for_update
from kubesim.kinds.validation import creation_causes, group_in_refusals, update_causes

OLD, NEW = catalogue(RECORDED_RELEASE), catalogue(CURRENT_RELEASE)
POD = {"containers": [{"name": "app", "image": "app:1"}]}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": POD}
SELECTOR = {"matchLabels": {"app": "web"}}
META = {"name": "web", "namespace": "shop", "uid": "u-1", "resourceVersion": "1"}


def row(group, plural, version="v1", release=OLD):
    return release.find(group, version, plural)


def stored(resource, spec=None, **parts):
    """An object as the server would store it when it is created."""
    obj = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": dict(META), **parts}
    return prepared_for_create(resource, fill_defaults(resource, {**obj, "spec": spec} if spec is not None else obj))


def problems(resource, spec=None, **parts):
    return [(cause.field, cause.message) for cause in creation_causes(resource, stored(resource, spec, **parts))]


DEPLOYMENTS, DAEMON_SETS = row("apps", "deployments"), row("apps", "daemonsets")
JOBS, CRON_JOBS = row("batch", "jobs"), row("batch", "cronjobs", "v1beta1")
WORKLOAD = {"selector": SELECTOR, "template": TEMPLATE}


def test_a_deployment_rolls_a_quarter_at_a_time_unless_it_says_otherwise():
    spec = stored(DEPLOYMENTS, WORKLOAD)["spec"]
    assert spec["strategy"] == {
        "type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }  # fmt: skip
    assert (spec["replicas"], spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (1, 10, 600)
    assert stored(DEPLOYMENTS, {**WORKLOAD, "replicas": 0})["spec"]["replicas"] == 0


def test_a_good_workload_has_no_problem():
    for plural in ("deployments", "replicasets", "statefulsets", "daemonsets"):
        assert problems(row("apps", plural), WORKLOAD) == []


def test_a_deployment_without_anything_is_told_all_that_is_missing_in_order():
    assert [field for field, _ in problems(DEPLOYMENTS, {})] == [
        "spec.selector", "spec.template.metadata.labels", "spec.template.spec.containers",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"selector": {}}, "spec.selector", "empty selector is invalid for deployment"),
        ({"replicas": -1}, "spec.replicas", "Invalid value: -1: must be greater than or equal to 0"),
        ({"minReadySeconds": 700}, "spec.progressDeadlineSeconds", "must be greater than minReadySeconds"),
        ({"strategy": {"type": "Recreate", "rollingUpdate": {}}}, "spec.strategy.rollingUpdate", "Forbidden"),
        ({"strategy": {"rollingUpdate": {"maxUnavailable": "0%", "maxSurge": 0}}},
         "spec.strategy.rollingUpdate.maxUnavailable", 'StrVal:"0%"}: may not be 0 when `maxSurge` is 0'),
        ({"strategy": {"rollingUpdate": {"maxUnavailable": "101%"}}},
         "spec.strategy.rollingUpdate.maxUnavailable", "must not be greater than 100%"),
    ],
)  # fmt: skip
def test_a_bad_deployment_is_refused_where_it_is_bad(change, field, words):
    found = problems(DEPLOYMENTS, {**WORKLOAD, **change})
    assert [place for place, _ in found] == [field]
    assert words in found[0][1]


def test_annotations_count_as_a_change_of_a_deployment_and_status_does_not():
    old = stored(DEPLOYMENTS, WORKLOAD)
    noted = {**old, "metadata": {**old["metadata"], "annotations": {"a": "b"}}, "status": {"replicas": 9}}
    new = prepared_for_update(DEPLOYMENTS, noted, old)
    assert new["metadata"]["generation"] == 2
    assert new["status"] == {}
    assert prepared_for_update(DEPLOYMENTS, old, old)["metadata"]["generation"] == 1


def test_the_status_path_changes_neither_spec_nor_the_labels_of_a_deployment():
    old = stored(DEPLOYMENTS, WORKLOAD)
    sent = {**old, "spec": {}, "metadata": {**old["metadata"], "labels": {"x": "y"}}, "status": {"replicas": 1}}
    new = prepared_for_update(DEPLOYMENTS, sent, old, "status")
    assert (new["spec"], new["status"]) == (old["spec"], {"replicas": 1})
    assert "labels" not in new["metadata"]


def test_a_status_that_counts_more_than_there_are_is_refused_even_below_zero():
    old = stored(DEPLOYMENTS, WORKLOAD)
    new = {**old, "status": {"replicas": -1}}
    fields = [cause.field for cause in update_causes(DEPLOYMENTS, new, old, "status")]
    assert fields == [
        "status.replicas", "status.updatedReplicas", "status.readyReplicas", "status.availableReplicas",
    ]  # fmt: skip


def test_the_selector_of_a_workload_is_fixed():
    old = stored(DEPLOYMENTS, WORKLOAD)
    changed = {"matchLabels": {"app": "api"}}
    new = {**old, "spec": {**old["spec"], "selector": changed}}
    causes = update_causes(DEPLOYMENTS, new, old)
    assert [cause.field for cause in causes] == ["spec.template.metadata.labels", "spec.selector"]
    assert causes[1].message.startswith('Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"api"}')


def test_a_daemon_set_counts_the_versions_of_its_template_in_an_annotation():
    key = "deprecated.daemonset.template.generation"
    old = stored(DAEMON_SETS, WORKLOAD)
    assert old["metadata"]["annotations"] == {key: "1"}
    rolled = {**old["spec"], "template": {**TEMPLATE, "spec": {"containers": []}}}
    new = prepared_for_update(DAEMON_SETS, fill_defaults(DAEMON_SETS, {**old, "spec": rolled}), old)
    assert (new["metadata"]["annotations"][key], new["metadata"]["generation"]) == ("2", 2)


def test_a_stateful_set_can_change_only_what_it_can_roll():
    sets = row("apps", "statefulsets")
    old = stored(sets, WORKLOAD)
    scaled = {**old, "spec": {**old["spec"], "replicas": 3}}
    assert update_causes(sets, scaled, old) == []
    renamed = {**old, "spec": {**old["spec"], "serviceName": "other"}}
    assert [cause.field for cause in update_causes(sets, renamed, old)] == ["spec"]


def test_a_job_is_tied_to_its_pods_by_its_uid():
    obj = stored(JOBS, {"template": {"spec": {**POD, "restartPolicy": "Never"}}})
    labels = {"job-name": "web", "controller-uid": "u-1"}
    assert obj["spec"]["selector"] == {"matchLabels": {"controller-uid": "u-1"}}
    assert obj["spec"]["template"]["metadata"]["labels"] == labels
    assert obj["metadata"]["labels"] == labels
    assert creation_causes(JOBS, obj) == []


def test_a_job_shares_the_labels_of_its_template_only_when_it_has_none():
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {**POD, "restartPolicy": "Never"}}
    assert "job-name" in stored(JOBS, {"template": template})["metadata"]["labels"]
    own = stored(JOBS, {"template": template}, metadata={**META, "labels": {"app": "web"}})
    assert own["metadata"]["labels"] == {"app": "web"}


def test_a_job_runs_to_an_end_and_its_template_is_fixed():
    assert problems(JOBS, {"template": {"spec": POD}}) == [
        ("spec.template.spec.restartPolicy", 'Required value: valid values: "OnFailure", "Never"')
    ]
    old = stored(JOBS, {"template": {"spec": {**POD, "restartPolicy": "Never"}}})
    changed = {**old["spec"]["template"], "spec": {**old["spec"]["template"]["spec"], "hostname": "h"}}
    causes = update_causes(JOBS, {**old, "spec": {**old["spec"], "template": changed, "completions": 4}}, old)
    assert [cause.field for cause in causes] == ["spec.completions", "spec.template"]
    assert causes[1].message.startswith("Invalid value: core.PodTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:")


@pytest.mark.parametrize(("release", "kept"), [(OLD, False), (NEW, True)])
def test_an_old_release_forgets_when_a_finished_job_goes(release, kept):
    jobs = row("batch", "jobs", release=release)
    spec = {"template": {"spec": {**POD, "restartPolicy": "Never"}}, "ttlSecondsAfterFinished": 5}
    assert ("ttlSecondsAfterFinished" in stored(jobs, spec)["spec"]) is kept


def test_a_cron_job_needs_a_schedule_and_a_short_name():
    job = {"spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}}
    assert problems(CRON_JOBS, {"jobTemplate": job}) == [("spec.schedule", "Required value")]
    long = {**META, "name": "a" * 53}
    found = problems(CRON_JOBS, {"schedule": "@daily", "jobTemplate": job}, metadata=long)
    assert found == [("metadata.name", f'Invalid value: "{"a" * 53}": must be no more than 52 characters')]


def test_an_autoscaler_is_refused_alike_in_every_version():
    wrong = {"scaleTargetRef": {"kind": "Deployment"}, "minReplicas": 5, "maxReplicas": 3}
    fields = ["spec.maxReplicas", "spec.scaleTargetRef.name"]
    for version in ("v1", "v2beta1", "v2beta2"):
        autoscalers = row("autoscaling", "horizontalpodautoscalers", version)
        assert [field for field, _ in problems(autoscalers, wrong)] == fields


def test_an_ingress_is_refused_in_the_words_of_its_version():
    final, beta = (row("networking.k8s.io", "ingresses", version) for version in ("v1", "v1beta1"))
    assert "either `defaultBackend` or `rules`" in problems(final, {})[0][1]
    assert "either `backend` or `rules`" in problems(beta, {})[0][1]
    flat = {"backend": {"servicePort": 80}}
    assert problems(beta, flat) == [("spec.backend.serviceName", "Required value")]


def test_a_path_of_an_ingress_must_say_how_it_matches():
    service = {"service": {"name": "web", "port": {"number": 80}}}
    ingresses = row("networking.k8s.io", "ingresses")

    def one_path(**path):
        return {"rules": [{"http": {"paths": [{"backend": service, **path}]}}]}

    place = "spec.rules[0].http.paths[0]"
    assert problems(ingresses, one_path(path="/", pathType="Prefix")) == []
    assert problems(ingresses, one_path()) == [(f"{place}.pathType", "Required value: pathType must be specified")]
    assert problems(ingresses, one_path(path="a", pathType="Exact"))[0][0] == f"{place}.path"


def test_a_network_policy_applies_to_ingress_unless_it_has_egress():
    policies = row("networking.k8s.io", "networkpolicies")
    assert stored(policies, {"podSelector": {}})["spec"]["policyTypes"] == ["Ingress"]
    both = stored(policies, {"podSelector": {}, "egress": [{"ports": [{"port": 53}]}]})["spec"]
    assert both["policyTypes"] == ["Ingress", "Egress"]
    assert both["egress"] == [{"ports": [{"protocol": "TCP", "port": 53}]}]


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ({"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}, []),
        ({"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16"]}, ["must be a strict subset of `cidr`"]),
        ({"cidr": "10.0.0.0/8", "except": ["10.0.0.0/8"]}, ["must be a strict subset of `cidr`"]),
        ({"cidr": "10.0.0.0"}, ["not a valid CIDR"]),
    ],
)
def test_what_a_block_of_addresses_excepts_lies_in_it(block, found):
    policies = row("networking.k8s.io", "networkpolicies")
    spec = {"podSelector": {}, "ingress": [{"from": [{"ipBlock": block}]}]}
    assert [words.rpartition(": ")[2] for _, words in problems(policies, spec)] == found


def test_a_budget_cannot_bound_both_sides():
    budgets = row("policy", "poddisruptionbudgets", "v1beta1")
    assert problems(budgets, {"minAvailable": 1}) == []
    field, words = problems(budgets, {"minAvailable": 1, "maxUnavailable": 1})[0]
    assert field == "spec"
    assert words.endswith("minAvailable and maxUnavailable cannot be both set")


def test_a_rule_names_verbs_groups_and_resources():
    roles = row("rbac.authorization.k8s.io", "roles")
    assert [field for field, _ in problems(roles, rules=[{}])] == [
        "rules[0].verbs", "rules[0].apiGroups", "rules[0].resources",
    ]  # fmt: skip
    words = problems(roles, rules=[{"verbs": ["get"], "nonResourceURLs": ["/x"]}])[0][1]
    assert words == 'Invalid value: []string{"/x"}: namespaced rules cannot apply to non-resource URLs'


def test_the_role_of_a_binding_is_fixed():
    bindings = row("rbac.authorization.k8s.io", "rolebindings")
    old = stored(bindings, roleRef={"kind": "Role", "name": "reader"}, subjects=[{"kind": "User", "name": "ada"}])
    assert old["subjects"][0]["apiGroup"] == old["roleRef"]["apiGroup"] == "rbac.authorization.k8s.io"
    new = {**old, "roleRef": {**old["roleRef"], "name": "writer"}}
    causes = update_causes(bindings, new, old)
    assert [cause.field for cause in causes] == ["roleRef"]
    assert causes[0].message.endswith('Name:"writer"}: cannot change roleRef')


def test_system_names_of_priorities_are_taken():
    classes = row("scheduling.k8s.io", "priorityclasses")
    meta = {"name": "system-mine", "uid": "u"}
    assert problems(classes, metadata=meta, value=1)[0][1].endswith("system-mine is not a known system priority class")
    assert problems(classes, metadata={"name": "mine", "uid": "u"}, value=1) == []


def test_an_old_server_names_another_group_when_it_refuses_an_ingress_or_policy():
    assert group_in_refusals(row("networking.k8s.io", "networkpolicies")) == "extensions"
    assert group_in_refusals(row("networking.k8s.io", "ingresses")) == "extensions"
    assert group_in_refusals(row("networking.k8s.io", "ingresses", release=NEW)) == "networking.k8s.io"
    assert group_in_refusals(row("events.k8s.io", "events")) == ""


def test_a_newer_release_fills_in_more_and_labels_jobs_with_its_domain():
    jobs = row("batch", "jobs", release=NEW)
    obj = stored(jobs, {"template": {"spec": {**POD, "restartPolicy": "Never"}}})
    assert obj["spec"]["completionMode"] == "NonIndexed"
    assert obj["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u-1"}}
    assert {"job-name", "batch.kubernetes.io/job-name"} <= obj["metadata"]["labels"].keys()
    assert creation_causes(jobs, obj) == []
    rolling = stored(row("apps", "daemonsets", release=NEW), WORKLOAD)["spec"]["updateStrategy"]["rollingUpdate"]
    assert rolling == {"maxSurge": 0, "maxUnavailable": 1}
    assert "maxSurge" not in stored(DAEMON_SETS, WORKLOAD)["spec"]["updateStrategy"]["rollingUpdate"]
