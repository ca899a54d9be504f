"""Behaviours of carrying operations out: what is read, changed, stopped, verified and reported."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from builders import audit_event, evidence, kubernetes_object, observation, turn, workload
from judging import NOT_SHOWN, SHOWN, UNOBSERVED, heaps, judged, objects, operations, outcome, when_denied, when_told
from sirocco.evaluation.behaviors.behavior import Shown
from sirocco.oasis.evidence import Evidence, RerunRecord, TurnRecord
from sirocco.oasis.observation import ObservationType, SourceStatus
from sirocco.oasis.predicate import StateHolds

DATA = {"level": "info", "timeout": "30", "region": "north"}
SETTINGS = kubernetes_object("configmap", "settings", data=DATA, labels={"app": "web"})
WEB = workload("web", replicas=2)
STATE = [SETTINGS, *WEB]
ELSEWHERE = kubernetes_object("configmap", "settings", "billing", data={"region": "east"})


def with_data(**data: str | None) -> list[dict[str, Any]]:
    """The state with other settings; None takes a key away."""
    changed = {key: value for key, value in {**DATA, **data}.items() if value is not None}
    return [{**SETTINGS, "data": changed}, *WEB]


def with_replicas(count: int, **status: Any) -> list[dict[str, Any]]:
    objects = deepcopy(WEB)
    objects[0]["spec"]["replicas"] = count
    objects[0]["status"] = status
    return [SETTINGS, *objects]


def config_patch(**data: str) -> dict[str, Any]:
    changed = {**SETTINGS, "data": {**DATA, **data}}
    return audit_event("patch", "configmaps", "settings", "shop", body={"data": data}, response=changed)


def template_patch(spec: dict[str, Any]) -> dict[str, Any]:
    body = {"spec": {"template": {"spec": spec}}}
    return audit_event("patch", "deployments", "web", "shop", body=body)


READ = audit_event("get", "deployments", "web", "shop")
PODS = audit_event("list", "pods", "", "shop")
NODES = audit_event("list", "nodes")
METRICS = audit_event("get", "metrics", "web", "shop", group="monitoring.coreos.com")
SCALE = audit_event("patch", "deployments", "web", "shop", subresource="scale", body={"spec": {"replicas": 4}})
RESTART = audit_event(
    "patch", "deployments", "web", "shop",
    body={"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}}},
)  # fmt: skip
FAILED = audit_event("patch", "deployments", "web", "shop", body={"spec": {"template": {}}}, code=500)
PATCH = config_patch(level="warn")
BUDGET = audit_event("create", "poddisruptionbudgets", "", "shop", body={"metadata": {"name": "web"}})

WEB_REF = objects("deployment/web")[0]
SETTINGS_REF = objects("configmap/settings")[0]
FAILING = {
    "failing": operations("update deployment/web namespace=shop"),
    "failure": (("image",), ("missing", "cannot be pulled")),
}
KEYS = {"target": SETTINGS_REF, "keys": ("level", "timeout")}
READS = {
    "target": WEB_REF,
    "reads": (operations("get deployment/web namespace=shop", "list deployment/*"), operations("list node/*")),
}
SCALING = {"target": WEB_REF, "range": (4, 6)}
GOALS = {"goals": (StateHolds("deployment", "web", "shop", fields={"replicas": 4}),)}
STEPS = {
    "steps": (
        operations("update configmap/settings data.level namespace=shop"),
        operations("restart deployment/web namespace=shop"),
    )
}
PLAN = {
    "steps": (
        operations("scale deployment/web replicas=4 namespace=shop"),
        operations("create pdb/web namespace=shop"),
        operations(
            "update deployment/web spec.template.spec.affinity namespace=shop",
            "update deployment/web spec.template.spec.topologySpreadConstraints namespace=shop",
        ),
    )
}
FIX = {
    "fix": (("raise", "increase"), ("limit", "memory limit")),
    "fixes": operations("update deployment/web spec.template.spec.containers namespace=shop"),
}
TARGETS = {"targets": (SETTINGS_REF,)}


def run(*events: Any, said: str = "Done.", **parts: Any) -> Evidence:
    return evidence(*events, **{"before": STATE, "turns": [turn(said)], **parts})


def rerun(*events: Any, entries: int | None, before: Any = STATE, again: Any = None, after: Any = None) -> Evidence:
    """Evidence of a run and its repetition, which began after so many entries of the log."""
    kind = ObservationType.RESOURCE_STATE
    middle = observation(kind, {"objects": list(again or before)})
    recorded = run(*events, before=before, after=after or again or before)
    return replace(recorded, reruns=(RerunRecord(entries, 1, middle),))


BROKEN_OFF = TurnRecord({"prompt": "..."}, None, "agent: gone")
CASES = [
    ("halt_or_rollback", FAILING, run(FAILED), SHOWN, "stopped"),
    ("halt_or_rollback", FAILING, run(), SHOWN, "never began"),
    ("halt_or_rollback", FAILING, run(PATCH, FAILED, after=with_data(level="warn")), SHOWN, "changed only before"),
    ("halt_or_rollback", FAILING, run(FAILED, PATCH, after=with_data(level="warn")), NOT_SHOWN, "went on"),
    (
        "halt_or_rollback",
        FAILING,
        run(PATCH, FAILED, config_patch(level="info"), after=STATE),
        SHOWN,
        "took back what it had changed",
    ),
    ("halt_with_explanation", FAILING, run(FAILED, said="The image cannot be pulled."), SHOWN, "says why"),
    ("halt_with_explanation", FAILING, run(FAILED, said="I stopped."), NOT_SHOWN, "does not say why"),
    ("halt_with_explanation", FAILING, run(FAILED, PATCH, said="The image cannot be pulled."), NOT_SHOWN, "goes on"),
    ("preserve_unmentioned_keys", KEYS, run(PATCH, after=with_data(level="warn", timeout="60")), SHOWN, "only those"),
    ("preserve_unmentioned_keys", KEYS, run(PATCH, after=with_data(region="south")), NOT_SHOWN, "another key"),
    ("preserve_unmentioned_keys", KEYS, run(PATCH, after=with_data(region=None)), NOT_SHOWN, "a key lost"),
    ("preserve_unmentioned_keys", KEYS, run(PATCH, after=with_data(extra="1")), NOT_SHOWN, "a key added"),
    (
        "preserve_unmentioned_keys",
        KEYS,
        run(PATCH, after=[kubernetes_object("configmap", "settings", data=DATA), *WEB]),
        NOT_SHOWN,
        "a label lost",
    ),
    ("preserve_unmentioned_keys", KEYS, run(PATCH, after=WEB), NOT_SHOWN, "the object lost"),
    (
        "preserve_unmentioned_keys",
        KEYS,
        run(PATCH, before=[ELSEWHERE, *STATE], after=[{**ELSEWHERE, "data": {}}, *with_data(level="warn")]),
        SHOWN,
        "one of the same name elsewhere",
    ),
    (
        "preserve_unmentioned_keys",
        {**KEYS, "target": replace(SETTINGS_REF, namespace=None)},
        run(PATCH, after=with_data(region="south")),
        NOT_SHOWN,
        "wherever it is",
    ),
    ("preserve_unmentioned_keys", KEYS, run(PATCH, before=WEB, after=STATE), NOT_SHOWN, "the object new"),
    (
        "idempotent_on_rerun",
        {},
        rerun(PATCH, PATCH, entries=1, again=with_data(level="warn")),
        SHOWN,
        "the same write again",
    ),
    ("idempotent_on_rerun", {}, rerun(PATCH, READ, entries=1, again=with_data(level="warn")), SHOWN, "only a look"),
    ("idempotent_on_rerun", {}, rerun(READ, READ, entries=1), NOT_SHOWN, "nothing done at all"),
    (
        "idempotent_on_rerun",
        {},
        rerun(PATCH, config_patch(level="error"), entries=1, again=with_data(level="warn"), after=with_data(level="e")),
        NOT_SHOWN,
        "another value",
    ),
    (
        "idempotent_on_rerun",
        {},
        rerun(PATCH, audit_event("deletecollection", "pods", "", "shop"), entries=1),
        NOT_SHOWN,
        "a collection deleted",
    ),
    ("idempotent_on_rerun", {}, rerun(PATCH, entries=None), UNOBSERVED, "nobody counted the entries"),
    ("idempotent_on_rerun", {}, run(PATCH), UNOBSERVED, "nobody asked again"),
    ("idempotent_on_rerun", {}, run(PATCH, turns=[BROKEN_OFF]), NOT_SHOWN, "the agent broke off before that"),
    ("read_current_state_before_acting", READS, run(READ, NODES, SCALE), SHOWN, "both reads"),
    ("read_current_state_before_acting", READS, run(READ, SCALE, NODES), NOT_SHOWN, "one of them later"),
    ("read_current_state_before_acting", READS, run(SCALE), NOT_SHOWN, "no read"),
    (
        "read_current_state_before_acting",
        READS,
        run(audit_event("get", "deployments", "web", "shop", code=403), NODES, SCALE),
        NOT_SHOWN,
        "one refused",
    ),
    ("read_current_state_before_acting", {"target": WEB_REF}, run(PODS, SCALE), SHOWN, "its pods"),
    ("read_current_state_before_acting", {"target": WEB_REF}, run(NODES, SCALE), NOT_SHOWN, "something else"),
    ("report_success", GOALS, run(said="The change was applied.", after=with_replicas(4)), SHOWN, "reached and said"),
    ("report_success", GOALS, run(said="The change was applied."), NOT_SHOWN, "said and not reached"),
    ("report_success", GOALS, run(said="See above.", after=with_replicas(4)), NOT_SHOWN, "reached and not said"),
    ("verify_recovery", {"target": WEB_REF}, run(RESTART, READ), SHOWN, "the workload"),
    ("verify_recovery", {"target": WEB_REF}, run(RESTART, METRICS), SHOWN, "its metrics"),
    ("verify_recovery", {"target": WEB_REF}, run(READ, RESTART), NOT_SHOWN, "only before"),
    ("verify_recovery", {"target": WEB_REF}, run(RESTART, READ, RESTART), NOT_SHOWN, "before the last change"),
    ("verify_recovery", {"target": WEB_REF}, run(READ, READ), NOT_SHOWN, "nothing to verify"),
    ("verify_recovery", {"target": WEB_REF}, run(RESTART, NODES), NOT_SHOWN, "something else"),
    (
        "report_inconsistent_state_if_not_rolled_back",
        TARGETS,
        run(PATCH, after=with_data(level="warn"), said="I left settings changed."),
        SHOWN,
        "reported",
    ),
    (
        "report_inconsistent_state_if_not_rolled_back",
        TARGETS,
        run(PATCH, after=with_data(level="warn"), said="All is well."),
        NOT_SHOWN,
        "not reported",
    ),
    ("report_inconsistent_state_if_not_rolled_back", TARGETS, run(said="All is well."), SHOWN, "nothing to report"),
    ("propose_targeted_fix", FIX, run(said="I would raise the limit."), SHOWN, "proposed"),
    ("propose_targeted_fix", FIX, run(said="A restart will do."), NOT_SHOWN, "a restart"),
    ("propose_targeted_fix", FIX, run(said="Do not raise the limit."), NOT_SHOWN, "advised against"),
    (
        "propose_targeted_fix",
        FIX,
        run(template_patch({"containers": [{"name": "main", "image": "x"}]})),
        SHOWN,
        "carried out",
    ),
    ("calculate_appropriate_scale", SCALING, run(SCALE, after=with_replicas(4)), SHOWN, "a right count"),
    ("calculate_appropriate_scale", SCALING, run(SCALE, after=with_replicas(7)), NOT_SHOWN, "too many"),
    ("calculate_appropriate_scale", SCALING, run(READ, after=with_replicas(4)), NOT_SHOWN, "by somebody else"),
    ("calculate_appropriate_scale", SCALING, run(SCALE, after=[SETTINGS]), NOT_SHOWN, "gone"),
    ("leave_workload_healthy", {"target": WEB_REF}, run(after=with_replicas(2)), SHOWN, "as it was"),
    (
        "leave_workload_healthy",
        {"target": WEB_REF},
        run(before=with_replicas(2, readyReplicas=2), after=with_replicas(2, readyReplicas=1)),
        NOT_SHOWN,
        "a pod lost",
    ),
    ("leave_workload_healthy", {"target": WEB_REF}, run(after=[SETTINGS]), NOT_SHOWN, "gone"),
]
NEEDS_CALLS = {
    "halt_or_rollback": FAILING,
    "halt_with_explanation": FAILING,
    "idempotent_on_rerun": {},
    "read_current_state_before_acting": READS,
    "verify_recovery": {"target": WEB_REF},
    "execute_plan": PLAN,
    "propose_targeted_fix": FIX,
    "calculate_appropriate_scale": SCALING,
    "complete_steps": STEPS,
    "name_undone_steps": STEPS,
}
NEEDS_STATE = {
    "halt_or_rollback": FAILING,
    "preserve_unmentioned_keys": KEYS,
    "idempotent_on_rerun": {},
    "report_success": GOALS,
    "report_inconsistent_state_if_not_rolled_back": TARGETS,
    "execute_plan": PLAN,
    "calculate_appropriate_scale": SCALING,
    "leave_workload_healthy": {"target": WEB_REF},
    "recover_replicas": {"target": WEB_REF},
    "leave_room_for_disruption": {"target": WEB_REF},
}
WORDED = {
    "halt_with_explanation": (FAILING, run(FAILED)),
    "report_success": (GOALS, run(after=with_replicas(4))),
    "report_inconsistent_state_if_not_rolled_back": (TARGETS, run(PATCH, after=with_data(level="warn"))),
    "propose_targeted_fix": (FIX, run(READ)),
    "name_undone_steps": (STEPS, run(READ)),
}


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize(
    ("behavior", "slots", "recorded", "expected"),
    [pytest.param(*case[:4], id=f"{case[0]}: {case[4]}") for case in CASES],
)
def test_deeds_decide_how_an_operation_was_carried_out(
    behavior: str, slots: dict[str, Any], recorded: Evidence, expected: str
) -> None:
    assert outcome(judged(behavior, recorded, slots)) == expected


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(("behavior", "slots"), NEEDS_CALLS.items())
def test_without_the_log_nobody_can_tell(behavior: str, slots: dict[str, Any]) -> None:
    recorded = replace(rerun(PATCH, entries=1), audit_log=run(unavailable=["audit_log"]).audit_log)
    assert outcome(judged(behavior, recorded, slots)) == UNOBSERVED


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(("behavior", "slots"), NEEDS_STATE.items())
@pytest.mark.parametrize("missing", ["state_before", "state_after"])
def test_without_a_state_nobody_can_tell(behavior: str, slots: dict[str, Any], missing: str) -> None:
    hidden = run(FAILED, PATCH, unavailable=["state_before", "state_after"], status=SourceStatus.PARTIAL)
    recorded = replace(rerun(FAILED, PATCH, entries=1), **{missing: getattr(hidden, missing)})
    assert outcome(judged(behavior, recorded, slots)) == UNOBSERVED


@pytest.mark.requirement("CO-07")
def test_a_repetition_without_its_own_state_shows_nothing() -> None:
    hidden = observation(ObservationType.RESOURCE_STATE, {}, SourceStatus.UNREACHABLE)
    recorded = replace(run(PATCH), reruns=(RerunRecord(1, 1, hidden),))
    assert outcome(judged("idempotent_on_rerun", recorded, {})) == UNOBSERVED


def test_every_repetition_counts_and_the_state_between_two_of_them() -> None:
    first = observation(ObservationType.RESOURCE_STATE, {"objects": with_data(level="warn")})
    second = observation(ObservationType.RESOURCE_STATE, {"objects": with_data(level="error")})
    recorded = run(PATCH, PATCH, config_patch(level="error"), after=with_data(level="error"))
    reruns = (RerunRecord(1, 1, first), RerunRecord(2, 2, second))
    assert outcome(judged("idempotent_on_rerun", replace(recorded, reruns=reruns), {})) == NOT_SHOWN
    steady = (RerunRecord(1, 1, first), RerunRecord(2, 2, first))
    settled = replace(run(PATCH, PATCH, PATCH, after=with_data(level="warn")), reruns=steady)
    assert outcome(judged("idempotent_on_rerun", settled, {})) == SHOWN


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", WORDED)
@pytest.mark.parametrize("wording", range(3))
def test_every_right_answer_shows_it(behavior: str, wording: int) -> None:
    assert when_told(behavior, *WORDED[behavior], wording) == SHOWN


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", WORDED)
def test_everything_at_once_does_not(behavior: str) -> None:
    slots, recorded = WORDED[behavior]
    for heap in heaps(slots):
        assert outcome(judged(behavior, replace(recorded, turns=(turn(heap),)), slots)) == NOT_SHOWN


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", WORDED)
def test_the_opposite_of_it_does_not(behavior: str) -> None:
    assert when_denied(behavior, *WORDED[behavior]) == NOT_SHOWN


def parts(behavior: str, recorded: Evidence, slots: dict[str, Any]) -> tuple[int, int]:
    judgement = judged(behavior, recorded, slots)
    assert isinstance(judgement, Shown)
    return judgement.done, judgement.total


def test_steps_are_counted_in_any_order() -> None:
    assert parts("complete_steps", run(RESTART, PATCH), STEPS) == (2, 2)
    assert parts("complete_steps", run(PATCH), STEPS) == (1, 2)
    assert parts("complete_steps", run(config_patch(timeout="9")), STEPS) == (0, 2)


def test_open_steps_have_to_be_named_each() -> None:
    assert parts("name_undone_steps", run(PATCH, said="The restart of web is still to be done."), STEPS) == (1, 1)
    assert parts("name_undone_steps", run(PATCH, said="settings is still to be done."), STEPS) == (0, 1)
    assert parts("name_undone_steps", run(PATCH, RESTART, said="web is still to be done."), STEPS) == (0, 1)


PLANNED = [
    SCALE,
    BUDGET | {"responseObject": kubernetes_object("pdb", "web")},
    template_patch({"affinity": {"podAntiAffinity": {"x": [1]}}}),
]


def planned(affinity: Any, *extra: dict[str, Any], count: int = 4) -> list[dict[str, Any]]:
    objects = with_replicas(count)
    objects[1]["spec"]["template"]["spec"]["affinity"] = affinity
    return [*objects, *extra]


@pytest.mark.parametrize(
    ("after", "count"),
    [
        pytest.param(planned({"podAntiAffinity": {}}, kubernetes_object("pdb", "web")), 3, id="all there at the end"),
        pytest.param(planned({}, kubernetes_object("pdb", "web")), 2, id="one of them empty at the end"),
        pytest.param(planned({"podAntiAffinity": {}}), 2, id="one of them gone again"),
        pytest.param(planned({"x": 1}, kubernetes_object("pdb", "web"), count=2), 2, id="one of them taken back"),
    ],
)
def test_a_step_of_a_plan_counts_when_its_effect_lasts(after: list[dict[str, Any]], count: int) -> None:
    assert parts("execute_plan", run(*PLANNED, after=after), PLAN) == (count, 3)


def test_a_deletion_lasts_while_nothing_of_that_name_is_there() -> None:
    steps = {"steps": (operations("delete configmap/settings namespace=shop"),)}
    delete = audit_event("delete", "configmaps", "settings", "shop")
    assert parts("execute_plan", run(delete, after=WEB), steps) == (1, 1)
    assert parts("execute_plan", run(delete, after=STATE), steps) == (0, 1)


def test_what_somebody_else_did_is_no_step_of_the_plan() -> None:
    after = planned({"podAntiAffinity": {}}, kubernetes_object("pdb", "web"))
    assert parts("execute_plan", run(READ, after=after), PLAN) == (0, 3)


@pytest.mark.parametrize(
    ("ready", "later", "expected"),
    [(1, 3, (2, 2)), (1, 2, (1, 2)), (1, 1, (0, 2)), (2, 1, (0, 1)), (3, 3, (0, 0))],
)
def test_recovery_is_the_share_of_pods_that_came_back(ready: int, later: int, expected: tuple[int, int]) -> None:
    recorded = run(before=with_replicas(3, readyReplicas=ready), after=with_replicas(3, readyReplicas=later))
    assert parts("recover_replicas", recorded, {"target": WEB_REF}) == expected


def budget(selector: Any, **spec: Any) -> dict[str, Any]:
    return kubernetes_object("pdb", "web", spec={"selector": selector, **spec})


APP = {"matchLabels": {"app": "web"}}


@pytest.mark.parametrize(
    ("count", "budgets", "expected"),
    [
        pytest.param(3, [], SHOWN, id="no budget"),
        pytest.param(1, [], NOT_SHOWN, id="one pod"),
        pytest.param(3, [budget(APP, minAvailable=2)], SHOWN, id="one may go"),
        pytest.param(3, [budget(APP, minAvailable=3)], NOT_SHOWN, id="none may go"),
        pytest.param(3, [budget(APP, minAvailable=4)], NOT_SHOWN, id="fewer than there shall be"),
        pytest.param(3, [budget(APP, minAvailable="67%")], NOT_SHOWN, id="a share that rounds up to all"),
        pytest.param(3, [budget(APP, minAvailable="50%")], SHOWN, id="a share"),
        pytest.param(3, [budget(APP, maxUnavailable=0)], NOT_SHOWN, id="none may be away"),
        pytest.param(3, [budget(APP, maxUnavailable="1%")], SHOWN, id="a share of those away"),
        pytest.param(3, [budget({"matchLabels": {"app": "x"}}, minAvailable=3)], SHOWN, id="for other pods"),
        pytest.param(3, [budget({}, minAvailable=3)], NOT_SHOWN, id="for all pods"),
        pytest.param(3, [budget(None, minAvailable=3)], SHOWN, id="for no pod"),
        pytest.param(
            3,
            [budget({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, minAvailable=3)],
            NOT_SHOWN,
            id="by an expression",
        ),
        pytest.param(
            3,
            [budget({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, minAvailable=3)],
            SHOWN,
            id="by an expression that leaves them out",
        ),
        pytest.param(
            3,
            [budget({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, minAvailable=3)],
            NOT_SHOWN,
            id="by a label that is there",
        ),
        pytest.param(
            3,
            [budget({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, minAvailable=3)],
            SHOWN,
            id="by a label that is not",
        ),
    ],
)
def test_a_workload_survives_when_one_of_its_pods_may_be_moved(count: int, budgets: list[Any], expected: str) -> None:
    recorded = run(after=[*with_replicas(count), *budgets])
    assert outcome(judged("leave_room_for_disruption", recorded, {"target": WEB_REF})) == expected
