"""Objects over time: what the evidence shows of them at each moment of a run."""

from typing import Any

import pytest

from builders import CONTROLLER, audit_event, evidence, kubernetes_object, pod_template, workload
from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.evaluation.history import Histories, History, template_key
from sirocco.domains.kubernetes.evaluation.observed import audit_entries
from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot

DEPLOYMENT = BY_NOUN["deployment"]
WEB = workload("web")


def web(replicas: int, image: str = "registry.example/app:1.0", **marks: Any) -> dict[str, Any]:
    return kubernetes_object(
        "deployment", "web", spec={"replicas": replicas, "template": pod_template("web", image, **marks)}
    )


def shown(response: dict[str, Any], verb: str = "get", **parts: Any) -> dict[str, Any]:
    return audit_event(verb, "deployments", "web", "shop", response=response, **parts)


def history(*events: dict[str, Any], before: list[dict[str, Any]] | None = None) -> History:
    recorded = evidence(*events, before=WEB if before is None else before)
    log, first = audit_entries(recorded), Snapshot.from_observations(recorded.state_before)
    return Histories(log, first).history_of(DEPLOYMENT, "deployments", "shop", "web")


def replicas(found: History, sequence: int) -> int | None:
    item = found.version_before(sequence)
    return None if item is None else item["spec"]["replicas"]


def test_before_any_answer_an_object_is_as_the_snapshot_has_it() -> None:
    assert replicas(history(), 0) == 2
    assert history(before=[]).version_before(5) is None


def test_an_object_is_as_the_last_answer_before_the_moment_showed_it() -> None:
    found = history(shown(web(3)), shown(web(4), "update", by=CONTROLLER), shown(web(5)))
    assert [replicas(found, sequence) for sequence in range(4)] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(shown(web(9), code=409), id="the answer to a call that failed"),
        pytest.param(shown(web(9), "update", query="dryRun=All"), id="the answer to a dry run"),
        pytest.param(shown({"kind": "Status", "spec": {"replicas": 9}}), id="a status"),
        pytest.param(audit_event("get", "deployments", "other", "shop", response=web(9)), id="another name"),
        pytest.param(audit_event("get", "deployments", "web", "other", response=web(9)), id="another namespace"),
        pytest.param(audit_event("get", "statefulsets", "web", "shop", response=web(9)), id="another type"),
        pytest.param(shown(web(9)) | {"responseObject": "text"}, id="no object"),
        pytest.param(shown(web(9)) | {"responseObject": {"kind": ["Deployment"]}}, id="no kind"),
    ],
)
def test_what_shows_nothing_of_the_object_is_passed_over(event: dict[str, Any]) -> None:
    assert replicas(history(event), 1) == 2


def test_a_scale_changes_the_count_and_leaves_the_rest() -> None:
    scale = shown({"kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 7}}, subresource="scale")
    to_zero = shown({"kind": "Scale", "metadata": {"name": "web"}, "spec": {}}, subresource="scale")
    found = history(scale, to_zero)
    assert [replicas(found, sequence) for sequence in (0, 1, 2)] == [2, 7, 0]
    assert found.version_before(1)["spec"]["template"] == WEB[0]["spec"]["template"]
    assert history(scale, before=[]).version_before(1) is None


@pytest.mark.parametrize("nonsense", ["text", ["text"], 1, None])
def test_parts_that_no_object_could_have_are_taken_as_empty(nonsense: Any) -> None:
    scale = shown({"kind": "Scale", "metadata": {"name": "web"}, "spec": nonsense}, subresource="scale")
    assert replicas(history(shown(web(3) | {"spec": nonsense}), scale), 2) == 0
    template = {"metadata": nonsense, "spec": nonsense}
    assert template_key({"spec": {"template": template}}) == template_key({"spec": {"template": template}})
    assert template_key({"spec": {"template": {"metadata": {"labels": nonsense}}}})


def test_a_template_counts_as_earlier_from_the_first_moment_that_showed_it() -> None:
    found = history(shown(web(2, "new")), shown(web(2, "newer")), shown(web(2, "new")))
    new = template_key(web(1, "new"))
    assert [found.had_template(new, sequence) for sequence in range(4)] == [False, True, True, True]
    assert not found.had_template(template_key(web(1, "never")), 9)


def test_marks_of_controllers_do_not_tell_templates_apart() -> None:
    marked = web(2)
    marked["spec"]["template"]["metadata"]["labels"]["pod-template-hash"] = "7d4b9c6f5d"
    marked["spec"]["template"]["metadata"]["creationTimestamp"] = None
    assert template_key(marked) == template_key(web(5))
    assert template_key(web(2, restarted="now")) != template_key(web(2))
    assert template_key({}) == template_key({"spec": {"template": "none"}})


def test_revisions_are_the_templates_of_the_replica_sets_that_a_workload_owns() -> None:
    histories = Histories((), Snapshot(tuple(WEB)))
    assert histories.revisions("Deployment", "web", "shop") == {template_key(WEB[0])}
    assert histories.revisions("Deployment", "web", "other") == frozenset()
    assert histories.revisions("StatefulSet", "web", "shop") == frozenset()


def test_an_object_without_a_namespace_is_found_in_none() -> None:
    node = kubernetes_object("node", "n1")
    histories = Histories((), Snapshot((node,)))
    assert histories.history_of(BY_NOUN["node"], "nodes", "", "n1").version_before(0) == node
