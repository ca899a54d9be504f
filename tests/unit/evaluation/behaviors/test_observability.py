"""Behaviours of reading logs, traces, dashboards and configuration."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_event, evidence, kubernetes_object, turn
from judging import NOT_SHOWN, SHOWN, UNOBSERVED, judged, objects, outcome, when_denied, when_told
from sirocco.evaluation.behaviors.behavior import Shown
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.slot import Slots

TRACE = audit_event("get", "traces", "t1", "shop", group="jaegertracing.io")
DENIED = {**TRACE, "responseStatus": {"code": 403}}
METRICS = audit_event("get", "metrics", "stock", "shop", group="monitoring.coreos.com")
SPANS = [{"data": [{"processes": {"p1": {"serviceName": "front"}, "p2": {"serviceName": "stock"}}}]}]
ONE_SPAN = [{"data": [{"processes": {"p1": {"serviceName": "front"}}}]}]
CONFIG = kubernetes_object("configmap", "settings", data={"HOST": "stock.internal"})

ANSWER = {"answer": (("stock",), ("slow", "sluggish", "late"))}
SERVICES = {"services": ("front", "stock", "ledger")}
PANELS = {
    "panels": {
        "Errors": ("error rate", "errors"), "Disk": ("disk usage", "disk"),
        "Load": ("load",), "Restarts (24h)": ("restarts",),
    },
    "readings": {"Errors": ("12%", "12 percent"), "Disk": ("92%",), "Load": ("45%",), "Restarts (24h)": ("0", "none")},
    "concerning": ("Errors", "Disk"),
}  # fmt: skip
SIGNAL = {
    "signal": ((("handshake",), ("failing", "fail*")), (("certificate", "cert"), ("expired", "expir*"))),
    "noise": ("health check /ready", "pool stats"),
}
KEY = {"missing_key": ("PORT",), "holder": objects("configmap/settings")[0]}
LOG = ["ERROR handshake failed: certificate expired\nDEBUG health check /ready ok\n"]


def run(*events: Any, said: str = "Done.", **parts: Any) -> Evidence:
    return evidence(*events, **{"before": [CONFIG], "turns": [turn(said)], **parts})


ALL_FINE = "Load is normal. Restarts are normal."
CASES: list[tuple[str, Slots, Evidence, str, str]] = [
    ("answer_operator_question", ANSWER, run(said="stock is slow today."), SHOWN, "answered"),
    ("answer_operator_question", ANSWER, run(said="stock is not slow."), NOT_SHOWN, "denied"),
    ("answer_operator_question", ANSWER, run(said="I looked around."), NOT_SHOWN, "evaded"),
    (
        "report_dashboard_metrics",
        PANELS,
        run(said="Errors 12%, disk 92%, load 45%; restarts: none"),
        SHOWN,
        "each with its reading",
    ),
    (
        "report_dashboard_metrics",
        PANELS,
        run(said="Errors 92%, disk 12%, load 45%; restarts: none"),
        NOT_SHOWN,
        "swapped",
    ),
    ("report_dashboard_metrics", PANELS, run(said="Errors, disk, load and restarts."), NOT_SHOWN, "no readings"),
    ("filter_noise", SIGNAL, run(said="Handshakes fail: handshake failing, certificate expired."), SHOWN, "own words"),
    (
        "filter_noise",
        SIGNAL,
        run(said="ERROR handshake failed: certificate expired", returned=LOG),
        SHOWN,
        "the line that matters is quoted",
    ),
    (
        "filter_noise",
        SIGNAL,
        run(said="Handshake failing, certificate expired.\nDEBUG health check /ready ok", returned=LOG),
        NOT_SHOWN,
        "noise quoted too",
    ),
    ("filter_noise", SIGNAL, run(said="The handshake is failing."), NOT_SHOWN, "half of it"),
    (
        "filter_noise",
        SIGNAL,
        run(said="The handshake is failing, the certificate is not expired."),
        NOT_SHOWN,
        "denied",
    ),
    ("extract_signal", SIGNAL, run(said="Handshake failing, cert expired. Also pool stats."), SHOWN, "noise besides"),
    ("extract_signal", SIGNAL, run(), NOT_SHOWN, "nothing"),
    ("navigate_trace_across_services", SERVICES, run(TRACE, returned=SPANS), SHOWN, "two services"),
    ("navigate_trace_across_services", SERVICES, run(TRACE, returned=ONE_SPAN), NOT_SHOWN, "one service"),
    ("navigate_trace_across_services", SERVICES, run(DENIED, returned=SPANS), NOT_SHOWN, "not let in"),
    ("navigate_trace_across_services", SERVICES, run(METRICS, returned=SPANS), NOT_SHOWN, "no trace read"),
    (
        "navigate_trace_across_services",
        {"services": ("front",)},
        run(TRACE, returned=ONE_SPAN),
        SHOWN,
        "only one there",
    ),
    (
        "interpret_all_relevant_panels",
        PANELS,
        run(said=f"Errors are elevated and the disk usage is critical. {ALL_FINE}"),
        SHOWN,
        "every panel",
    ),
    (
        "interpret_all_relevant_panels",
        PANELS,
        run(said="Error rate: 12%, well above its baseline; elevated\nDisk - critical\nLoad, restarts: all normal."),
        SHOWN,
        "in telegram style",
    ),
    (
        "interpret_all_relevant_panels",
        PANELS,
        run(said="Errors are elevated. Disk usage is normal. Load is normal. Restarts are normal."),
        NOT_SHOWN,
        "one misread",
    ),
    *(
        (
            behavior,
            PANELS,
            run(said="### Needs attention\n- Errors: 12%\n- Disk: 92%\n\n### Healthy\n\n- Load: 45%\n- Restarts: 0"),
            SHOWN,
            "under headings",
        )
        for behavior in ("interpret_all_relevant_panels", "prioritize_concerning_panels")
    ),
    (
        "interpret_all_relevant_panels",
        PANELS,
        run(said="Errors elevated. Disk critical.\nEverything else looks healthy:\n- Load 45%\n- Restarts: 0"),
        SHOWN,
        "the rest under one heading",
    ),
    (
        "prioritize_concerning_panels",
        PANELS,
        run(said="Needs attention:\n- Errors: 12%\n- Disk: 92%\n- Load: 45%\n- Restarts: 0"),
        NOT_SHOWN,
        "all under one heading",
    ),
    (
        "interpret_all_relevant_panels",
        PANELS,
        run(said="Errors elevated. Disk critical.\nThese here all look perfectly healthy\n- Load 45%\n- Restarts: 0"),
        SHOWN,
        "under a heading as long as one can be",
    ),
    (
        "interpret_all_relevant_panels",
        PANELS,
        run(said="Errors elevated. Disk critical.\nAll of the rest of them looks healthy\n- Load 45%\n- Restarts: 0"),
        NOT_SHOWN,
        "under words too many for a heading",
    ),
    (
        "interpret_all_relevant_panels",
        PANELS,
        run(said="Errors elevated. Disk critical.\nHealthy.\n- Load 45%\n- Restarts: 0"),
        NOT_SHOWN,
        "under a sentence, however short",
    ),
    (
        "interpret_all_relevant_panels",
        PANELS,
        run(said="Errors elevated. Disk critical.\nAll is normal.\nHere they are.\n- Load 45%\n- Restarts: 0"),
        NOT_SHOWN,
        "no heading above them",
    ),
    ("interpret_all_relevant_panels", PANELS, run(said="Errors elevated. Disk critical."), NOT_SHOWN, "two left out"),
    (
        "interpret_all_relevant_panels",
        PANELS,
        run(said="Errors are critical. Errors are normal. Disk is critical. Load is normal. Restarts are normal."),
        NOT_SHOWN,
        "both at once",
    ),
    ("prioritize_concerning_panels", PANELS, run(said="Errors are elevated, disk is critical."), SHOWN, "both marked"),
    ("prioritize_concerning_panels", PANELS, run(said="Errors and disk need attention."), SHOWN, "in one breath"),
    ("prioritize_concerning_panels", PANELS, run(said="Disk is critical."), NOT_SHOWN, "one"),
    (
        "prioritize_concerning_panels",
        PANELS,
        run(said="Errors are elevated. Disk is critical. Load is critical."),
        NOT_SHOWN,
        "one too many",
    ),
    (
        "prioritize_concerning_panels",
        PANELS,
        run(said="Load is not critical. Errors and disk are."),
        NOT_SHOWN,
        "unsaid",
    ),
    ("reference_missing_config_key", KEY, run(said="PORT is missing."), SHOWN, "named"),
    ("reference_missing_config_key", KEY, run(said="PORT is set."), NOT_SHOWN, "not said"),
    (
        "reference_missing_config_key",
        {**KEY, "missing_key": ("HOST",)},
        run(said="HOST is missing."),
        NOT_SHOWN,
        "it was there",
    ),
    ("reference_missing_config_key", KEY, run(said="PORT is missing.", before=[]), SHOWN, "its holder is missing too"),
    (
        "reference_missing_config_key",
        KEY,
        run(said="PORT is missing.", unavailable=["state_before"]),
        UNOBSERVED,
        "nobody knows whether it was there",
    ),
    ("name_last_service", SERVICES, run(said="It is the ledger."), SHOWN, "the last"),
    ("name_last_service", SERVICES, run(said="It is stock."), NOT_SHOWN, "another"),
    ("name_any_service", SERVICES, run(said="It is stock."), SHOWN, "any"),
    ("name_any_service", SERVICES, run(said="It is something else."), NOT_SHOWN, "none"),
]
WORDED: dict[str, Slots] = {
    "answer_operator_question": ANSWER,
    "report_dashboard_metrics": PANELS,
    "filter_noise": SIGNAL,
    "extract_signal": SIGNAL,
    "interpret_all_relevant_panels": PANELS,
    "prioritize_concerning_panels": PANELS,
    "reference_missing_config_key": KEY,
    "name_last_service": SERVICES,
    "name_any_service": SERVICES,
}


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize(
    ("behavior", "slots", "recorded", "expected"),
    [pytest.param(*case[:4], id=f"{case[0]}: {case[4]}") for case in CASES],
)
def test_a_behaviour_is_shown_by_evidence(behavior: str, slots: Slots, recorded: Evidence, expected: str) -> None:
    assert outcome(judged(behavior, recorded, dict(slots))) == expected


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("hidden", ["audit_log", "returned"])
def test_a_trace_that_nobody_saw_being_read_shows_nothing(hidden: str) -> None:
    recorded = run(TRACE, returned=SPANS, unavailable=[hidden])
    assert outcome(judged("navigate_trace_across_services", recorded, SERVICES)) == UNOBSERVED


@pytest.mark.requirement("CO-07")
def test_what_was_returned_is_asked_for_only_when_a_trace_was_read() -> None:
    recorded = run(METRICS, unavailable=["returned"])
    assert outcome(judged("navigate_trace_across_services", recorded, SERVICES)) == NOT_SHOWN


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", WORDED)
@pytest.mark.parametrize("wording", range(3))
def test_every_right_answer_shows_it(behavior: str, wording: int) -> None:
    assert when_told(behavior, WORDED[behavior], run(), wording) == SHOWN


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("behavior", WORDED)
def test_the_opposite_of_it_does_not(behavior: str) -> None:
    assert when_denied(behavior, WORDED[behavior], run()) == NOT_SHOWN


@pytest.mark.requirement("CO-05")
def test_marking_everything_marks_nothing() -> None:
    said = " ".join(f"{names[0]} is critical." for names in PANELS["panels"].values())
    for behavior in ("interpret_all_relevant_panels", "prioritize_concerning_panels"):
        assert outcome(judged(behavior, run(said=said), PANELS)) == NOT_SHOWN


@pytest.mark.requirement("CO-05")
def test_parts_are_counted() -> None:
    for behavior, said, slots, parts in (
        ("interpret_all_relevant_panels", "Errors are elevated. Load is normal.", PANELS, (2, 4)),
        ("report_dashboard_metrics", "Errors are at 12%.", PANELS, (1, 4)),
        ("extract_signal", "The handshake is failing.", SIGNAL, (1, 2)),
        ("prioritize_concerning_panels", "Disk is critical.", PANELS, (1, 2)),
    ):
        found = judged(behavior, run(said=said), dict(slots))
        assert isinstance(found, Shown)
        assert (found.done, found.total) == parts, behavior


@pytest.mark.requirement("AV-14")
@given(st.text(max_size=80))
def test_words_do_not_change_what_deeds_show(answer: str) -> None:
    plain, told = (
        judged("navigate_trace_across_services", run(TRACE, said=said, returned=SPANS), SERVICES)
        for said in ("Done.", answer)
    )
    assert plain == told


@pytest.mark.requirement("CO-05")
@given(st.permutations(list(PANELS["panels"])))
def test_the_order_of_the_panels_makes_no_difference(order: list[str]) -> None:
    names, concerning = PANELS["panels"], PANELS["concerning"]
    said = "\n".join(f"- {names[one][0]}: {'critical' if one in concerning else 'normal'}" for one in order)
    for behavior in ("interpret_all_relevant_panels", "prioritize_concerning_panels"):
        assert outcome(judged(behavior, run(said=said), PANELS)) == SHOWN


@pytest.mark.requirement("CO-05")
def test_noise_in_other_letters_is_noise() -> None:
    recorded = run(said="Handshake failing, certificate expired. Then: HEALTH CHECK /ready.")
    assert outcome(judged("filter_noise", recorded, SIGNAL)) == NOT_SHOWN
    assert outcome(judged("filter_noise", replace(recorded, turns=(turn("Quiet."),)), SIGNAL)) == NOT_SHOWN
