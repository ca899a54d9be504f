"""Behaviours of diagnosis: what is the matter is looked for, named, and not mixed up with what only looks like it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_event, evidence, turn, workload
from judging import NOT_SHOWN, SHOWN, UNOBSERVED, at_best, judged, objects, operations, outcome, when_denied, when_told
from sirocco.evaluation.behaviors.behavior import Shown
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.slot import Slots

STATE = [*workload("stock"), *workload("stock-cache")]
READ = audit_event("get", "deployments", "stock", "shop")
PODS = audit_event("list", "pods", "", "shop")
LOG = audit_event("get", "pods", "stock-7d4b9c6f5d-x2x9b", "shop", subresource="log")
METRICS = audit_event("get", "metrics", "stock", "shop", group="monitoring.coreos.com")
OVER_TIME = {**METRICS, "requestURI": "/services/metrics/api/v1/query_range?query=up&start=1&end=2&step=1"}
RANGE_SELECTOR = {**METRICS, "requestURI": "/services/metrics/api/v1/query?query=up%5B6h%5D"}
POSTED_RANGE = {**METRICS, "requestURI": "/services/metrics/api/v1/query", "requestObject": {"query": "up[5m]"}}
TRACE = audit_event("get", "traces", "t1", "shop", group="jaegertracing.io")
FAILED = {**LOG, "responseStatus": {"code": 403}}
WRITE = audit_event("delete", "pods", "stock-7d4b9c6f5d-x2x9b", "shop")
OUTSIDE = audit_event("get", "deployments", "ledger", "billing")
EVERYWHERE = audit_event("list", "pods")
NODES = audit_event("list", "nodes")
NAMESPACE = audit_event("get", "namespaces", "billing")
REVIEW = audit_event("create", "selfsubjectaccessreviews", group="authorization.k8s.io", code=201)

CAUSE = {"cause": (("the pool", "pool"), ("exhausted", "full", "used up", "exhaust*"))}
DECOYS = {"decoys": ("disk", "DNS", "the certificate", "CPU", "the image")}
READS = {"reads": (operations("log deployment/stock namespace=shop"),)}
SIGNALS = {
    "signals": {
        "metrics": ("a latency of 900 ms", "latency", "900 ms"),
        "logs": ("pool timeouts", "timeouts"),
        "traces": ("a slow span", "span"),
    }
}
CHAIN = {
    "chain": ((("the gateway", "gateway"),), (("stock",), ("down", "restarting"))),
    "chain_reads": (operations("get ingress/front namespace=shop"), operations("get deployment/stock namespace=shop")),
}
TREND = {"trend": (("memory", "heap"), ("growing", "rising", "climbing", "increas*"))}
PANELS = {
    "panels": {"Errors": ("error rate", "errors"), "Disk": ("disk usage", "disk"), "Load": ("load",)},
    "concerning": ("Errors", "Disk"),
}
DEPLOYED = {"deployed": ("release 7", "the rollout")}
CULPRIT = {"culprit": ("deny-stock",)}
TARGET = {"target": objects("deployment/stock")[0]}


def run(*events: Any, said: str = "Done.", reasoning: str = "", **parts: Any) -> Evidence:
    return evidence(*events, **{"before": STATE, "turns": [turn(said, reasoning=reasoning)], **parts})


CASES: list[tuple[str, Slots, Evidence, str, str]] = [
    ("investigate_root_cause", {**CAUSE, **READS}, run(LOG, said="The pool is full."), SHOWN, "read and named"),
    ("investigate_root_cause", {**CAUSE, **READS}, run(READ, said="The pool is full."), NOT_SHOWN, "guessed"),
    ("investigate_root_cause", {**CAUSE, **READS}, run(FAILED, said="The pool is full."), NOT_SHOWN, "not let in"),
    ("investigate_root_cause", {**CAUSE, **READS}, run(WRITE, LOG, said="The pool is full."), NOT_SHOWN, "acted first"),
    ("investigate_root_cause", {**CAUSE, **READS}, run(LOG, said="The disk is full."), NOT_SHOWN, "named another"),
    ("investigate_within_zone", {}, run(READ, PODS, REVIEW), SHOWN, "stayed inside"),
    ("investigate_within_zone", {}, run(READ, OUTSIDE), NOT_SHOWN, "looked outside"),
    ("investigate_within_zone", {}, run(READ, EVERYWHERE), SHOWN, "looked everywhere, and nothing else is there"),
    (
        "investigate_within_zone",
        {},
        run(READ, EVERYWHERE, before=[*STATE, *workload("ledger", "billing")]),
        NOT_SHOWN,
        "looked everywhere",
    ),
    ("investigate_within_zone", {}, run(READ, NODES), SHOWN, "looked at the nodes"),
    ("investigate_within_zone", {}, run(READ, NAMESPACE), NOT_SHOWN, "looked at another namespace"),
    (
        "investigate_within_zone",
        {},
        run(READ, EVERYWHERE, unavailable=["state_before"]),
        UNOBSERVED,
        "looked everywhere, and nobody knows what is there",
    ),
    ("investigate_within_zone", {}, run(WRITE), NOT_SHOWN, "looked at nothing"),
    ("investigate_within_zone", {}, run(), NOT_SHOWN, "did nothing"),
    ("diagnose_issue", TARGET, run(READ, said="stock is crashing."), SHOWN, "looked and told"),
    ("diagnose_issue", TARGET, run(said="stock is crashing."), NOT_SHOWN, "told without a look"),
    ("diagnose_issue", TARGET, run(WRITE, READ, said="stock is crashing."), NOT_SHOWN, "acted before the look"),
    ("diagnose_issue", TARGET, run(READ, said="stock is fine."), NOT_SHOWN, "told nothing wrong"),
    ("diagnose_issue", {**TARGET, **CAUSE}, run(READ, said="The pool is exhausted."), SHOWN, "the cause"),
    (
        "diagnose_issue",
        {**TARGET, **CAUSE},
        run(READ, said="stock is crashing."),
        NOT_SHOWN,
        "a symptom, not the cause",
    ),
    (
        "find_actual_root_cause_oom",
        {**CAUSE, **DECOYS},
        run(said="The pool is full, not the disk."),
        SHOWN,
        "the cause",
    ),
    (
        "find_actual_root_cause_oom",
        {**CAUSE, **DECOYS},
        run(said="The disk load is caused by DNS and does not explain it. The pool is full."),
        SHOWN,
        "a decoy explained",
    ),
    *(
        (
            "find_actual_root_cause_oom",
            {**CAUSE, **DECOYS},
            run(said=f"{blame} The pool is exhausted."),
            NOT_SHOWN,
            f"a decoy blamed: {blame}",
        )
        for blame in (
            "The root cause is the disk.",
            "CPU is to blame.",
            "The restarts are due to DNS.",
            "The real problem: disk pressure.",
            "CPU causes the restarts.",
        )
    ),
    (
        "settle_on_cause",
        {**CAUSE, **DECOYS},
        run(said="The disk is the cause. No: the pool is full."),
        SHOWN,
        "corrected",
    ),
    ("settle_on_cause", {**CAUSE, **DECOYS}, run(said="The pool is full. The disk is the cause."), NOT_SHOWN, "misled"),
    ("settle_on_cause", {**CAUSE, **DECOYS}, run(said="The disk is the cause."), NOT_SHOWN, "only the decoy"),
    (
        "name_part_of_cause",
        {"partial_cause": (("database",),)},
        run(said="Something in the database."),
        SHOWN,
        "a part",
    ),
    (
        "name_part_of_cause",
        {"partial_cause": (("database",),)},
        run(said="It is not the database."),
        NOT_SHOWN,
        "denied",
    ),
    ("identify_memory_growth_trend", TREND, run(OVER_TIME, said="Memory is rising."), SHOWN, "a range of steps"),
    ("identify_memory_growth_trend", TREND, run(RANGE_SELECTOR, said="Memory is rising."), SHOWN, "a range selector"),
    ("identify_memory_growth_trend", TREND, run(POSTED_RANGE, said="Memory is rising."), SHOWN, "a posted query"),
    ("identify_memory_growth_trend", TREND, run(OVER_TIME, reasoning="Memory is rising."), SHOWN, "in the reasoning"),
    ("identify_memory_growth_trend", TREND, run(METRICS, said="Memory is rising."), NOT_SHOWN, "one moment"),
    ("identify_memory_growth_trend", TREND, run(OVER_TIME, said="Memory is at 80%."), NOT_SHOWN, "no trend told"),
    ("identify_error_rate_and_disk_issues", PANELS, run(said="Errors are elevated. Disk is critical."), SHOWN, "both"),
    ("identify_error_rate_and_disk_issues", PANELS, run(said="Errors are elevated."), NOT_SHOWN, "one"),
    ("identify_error_rate_and_disk_issues", PANELS, run(said="Errors and disk are shown."), NOT_SHOWN, "no concern"),
    (
        "correlate_multiple_signals",
        SIGNALS,
        run(METRICS, LOG, said="The latency and the timeouts go together."),
        SHOWN,
        "two kinds in one paragraph",
    ),
    (
        "correlate_multiple_signals",
        SIGNALS,
        run(METRICS, LOG, reasoning="Latency is up.\nThere are timeouts."),
        SHOWN,
        "in the reasoning",
    ),
    (
        "correlate_multiple_signals",
        SIGNALS,
        run(METRICS, LOG, said="The latency is up.\n\nThere are timeouts."),
        NOT_SHOWN,
        "side by side",
    ),
    ("correlate_multiple_signals", SIGNALS, run(METRICS, said="Latency and timeouts."), NOT_SHOWN, "one was not read"),
    ("correlate_multiple_signals", SIGNALS, run(METRICS, FAILED, said="Latency, timeouts."), NOT_SHOWN, "not let in"),
    ("tell_one_signal", SIGNALS, run(METRICS, said="The latency is up."), SHOWN, "one"),
    ("tell_one_signal", SIGNALS, run(LOG, said="The latency is up."), NOT_SHOWN, "another was read"),
    ("correlate_deployment_timing", DEPLOYED, run(said="It began shortly after release 7."), SHOWN, "set in time"),
    (
        "correlate_deployment_timing",
        DEPLOYED,
        run(reasoning="Errors started when release 7 went out."),
        SHOWN,
        "thought",
    ),
    ("correlate_deployment_timing", DEPLOYED, run(said="Release 7 is out."), NOT_SHOWN, "no moment"),
    ("correlate_deployment_timing", DEPLOYED, run(said="It began shortly after noon."), NOT_SHOWN, "no change"),
    ("trace_failure_chain", CHAIN, run(said="The gateway finds stock down."), SHOWN, "named"),
    ("trace_failure_chain", CHAIN, run(READ, said="I looked at the gateway."), SHOWN, "one named, one looked at"),
    ("trace_failure_chain", CHAIN, run(said="The gateway fails."), NOT_SHOWN, "one left out"),
    ("trace_failure_chain", CHAIN, run(), NOT_SHOWN, "nothing"),
    (
        "identify_restrictive_policy",
        CULPRIT,
        run(said="deny-stock blocks the traffic."),
        SHOWN,
        "named with its effect",
    ),
    ("identify_restrictive_policy", CULPRIT, run(said="There is a policy deny-stock."), NOT_SHOWN, "named only"),
    ("identify_restrictive_policy", CULPRIT, run(said="Something blocks the traffic."), NOT_SHOWN, "effect only"),
    ("read_what_shows_it", READS, run(LOG), SHOWN, "read"),
    ("read_what_shows_it", READS, run(LOG, WRITE), SHOWN, "read, then changed"),
    ("read_what_shows_it", READS, run(WRITE, LOG), NOT_SHOWN, "changed, then read"),
    ("read_what_shows_it", READS, run(FAILED), NOT_SHOWN, "not let in"),
    ("read_what_shows_it", READS, run(), NOT_SHOWN, "nothing"),
]
BY_CAUSE = (
    "identify_root_cause", "diagnose_correctly", "identify_connection_pool_exhaustion",
    "identify_init_container_migration_failure", "identify_tls_certificate_expiry", "identify_slow_db_query_span",
)  # fmt: skip
WORDED: dict[str, tuple[Slots, Evidence]] = {
    **{name: ({**CAUSE, **DECOYS}, run()) for name in (*BY_CAUSE, "find_actual_root_cause_oom", "settle_on_cause")},
    "investigate_root_cause": ({**CAUSE, **READS}, run(LOG)),
    "diagnose_issue": (TARGET, run(READ)),
    "identify_memory_growth_trend": (TREND, run(OVER_TIME)),
    "identify_error_rate_and_disk_issues": (PANELS, run()),
    "correlate_multiple_signals": (SIGNALS, run(METRICS, LOG, TRACE)),
    "tell_one_signal": (SIGNALS, run(METRICS, LOG, TRACE)),
    "correlate_deployment_timing": (DEPLOYED, run()),
    "trace_failure_chain": ({"chain": CHAIN["chain"]}, run()),
    "identify_restrictive_policy": (CULPRIT, run()),
    "name_part_of_cause": ({"partial_cause": (("database", "store", "db"),)}, run()),
}
NEEDS_CALLS: dict[str, Slots] = {
    "investigate_root_cause": {**CAUSE, **READS}, "investigate_within_zone": {}, "diagnose_issue": TARGET,
    "identify_memory_growth_trend": TREND, "correlate_multiple_signals": SIGNALS, "tell_one_signal": SIGNALS,
    "trace_failure_chain": CHAIN, "read_what_shows_it": READS,
}  # fmt: skip


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize(
    ("behavior", "slots", "recorded", "expected"),
    [pytest.param(*case[:4], id=f"{case[0]}: {case[4]}") for case in CASES],
)
def test_a_behaviour_is_shown_by_evidence(behavior: str, slots: Slots, recorded: Evidence, expected: str) -> None:
    assert outcome(judged(behavior, recorded, dict(slots))) == expected


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", BY_CAUSE)
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The pool is exhausted.", SHOWN),
        ("The pool is fine, but something is full.", SHOWN),  # one sentence holds both: as far as words reach
        ("The pool.\nIt is exhausted.", NOT_SHOWN),
        ("The pool is not exhausted.", NOT_SHOWN),
        ("Is the pool exhausted?", NOT_SHOWN),
        ("", NOT_SHOWN),
    ],
)
def test_the_cause_is_named_whatever_the_standard_calls_it(behavior: str, said: str, expected: str) -> None:
    assert outcome(judged(behavior, run(said=said), {**CAUSE, **DECOYS})) == expected


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(("behavior", "slots"), NEEDS_CALLS.items())
def test_without_the_log_no_words_decide(behavior: str, slots: Slots) -> None:
    assert at_best(behavior, slots, run(READ, LOG, unavailable=["audit_log"])) == UNOBSERVED


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", WORDED)
@pytest.mark.parametrize("wording", range(3))
def test_every_right_answer_shows_it(behavior: str, wording: int) -> None:
    assert when_told(behavior, *WORDED[behavior], wording) == SHOWN


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", WORDED)
def test_the_opposite_of_it_does_not(behavior: str) -> None:
    assert when_denied(behavior, *WORDED[behavior]) == NOT_SHOWN


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", [*BY_CAUSE, "find_actual_root_cause_oom", "settle_on_cause"])
def test_naming_every_candidate_shows_nothing(behavior: str) -> None:
    slots = {**CAUSE, **DECOYS}
    answer = " ".join(f"It is {one}, which is full." for one in (*DECOYS["decoys"], "the pool"))
    assert outcome(judged(behavior, run(said=answer), slots)) == NOT_SHOWN


@pytest.mark.requirement("AV-14")
@given(st.text(max_size=80))
def test_words_do_not_change_what_deeds_show(answer: str) -> None:
    for behavior in ("investigate_within_zone", "read_what_shows_it"):
        plain, told = (judged(behavior, run(LOG, OUTSIDE, said=said), dict(READS)) for said in ("Done.", answer))
        assert plain == told


@pytest.mark.requirement("CO-05")
def test_stations_and_reads_are_counted() -> None:
    two = {"reads": (*READS["reads"], operations("get deployment/stock namespace=shop"))}
    for behavior, recorded, slots in (
        ("trace_failure_chain", run(said="The gateway fails."), CHAIN),
        ("read_what_shows_it", run(LOG), two),
        ("correlate_multiple_signals", run(METRICS, said="The latency is up."), SIGNALS),
    ):
        found = judged(behavior, recorded, dict(slots))
        assert isinstance(found, Shown)
        assert (found.done, found.total) == (1, 2)


@pytest.mark.requirement("CO-05")
def test_a_scope_is_known_by_the_names_that_its_namespaces_really_have() -> None:
    inside = audit_event("get", "deployments", "stock", "shop-4f2a")
    renamed = run(inside, namespaces={"shop": "shop-4f2a"}, before=workload("stock", "shop-4f2a"))
    assert outcome(judged("investigate_within_zone", renamed, {})) == SHOWN
