"""Reading traces: the way to where the time is spent, and the way to where a request fails."""

import pytest

from sirocco.domains.kubernetes.agents.reference.skills.reading.traces import routes


def span(name, parent, service, milliseconds, **tags):
    references = [{"refType": "CHILD_OF", "spanID": parent}] if parent else []
    return {
        "spanID": name, "operationName": name, "references": references, "duration": milliseconds * 1000,
        "processID": service, "tags": [{"key": key.replace("__", "."), "value": value} for key, value in tags.items()],
    }  # fmt: skip


def trace(*spans, trace_id="t1"):
    services = {one["processID"]: {"serviceName": one["processID"]} for one in spans}
    return {"traceID": trace_id, "spans": list(spans), "processes": services}


DOCKING = trace(
    span("dock", None, "gate", 900, error=True),
    span("paint", "dock", "gate", 700),
    span("book", "dock", "desk", 150, error=True),
    span("write", "book", "ledger", 90, error=True),
)


def test_the_way_leads_to_where_the_time_is_spent():
    (route,) = routes([DOCKING, DOCKING])
    assert [one.operation for one in route.spans] == ["dock", "paint"]
    assert route.share == 78


def test_the_way_to_an_error_follows_what_failed():
    (route,) = routes([DOCKING], to_errors=True)
    assert route.services == ("gate", "desk", "ledger")
    assert route.bottleneck.operation == "write"


def test_a_way_ends_where_no_call_takes_most_of_the_time():
    (route,) = routes([trace(span("a", None, "x", 100), span("b", "a", "y", 20), span("c", "a", "z", 30))])
    assert route.bottleneck.operation == "a"


def test_the_slowest_trace_comes_first():
    slow, fast = trace(span("a", None, "x", 100), trace_id="s"), trace(span("a", None, "x", 9), trace_id="f")
    assert [route.trace for route in routes([fast, slow])] == ["s", "f"]


def test_a_span_says_what_is_used_up():
    (full,) = routes([trace(span("a", None, "x", 9, db__pool__active=8, db__pool__max=8))])
    (free,) = routes([trace(span("a", None, "x", 9, db__pool__active=3, db__pool__max=8))])
    assert full.bottleneck.exhausted() == ("db.pool", "8 of 8")
    assert free.bottleneck.exhausted() is None


@pytest.mark.parametrize("content", [None, "text", {}, {"spans": []}, trace(span("a", "a", "x", 1))])
def test_what_is_no_trace_has_no_way(content):
    assert routes([content]) == ()
