"""The audit log of a real server as observations."""

import asyncio
import json

import pytest

from kubesim.access import Authenticator
from kubesim.discovery.catalogue import CURRENT_RELEASE, catalogue
from kubesim.handling.exchange import Exchange
from kubesim.handling.request import Request, parse_call
from kubesim.store import Ids, Store
from sirocco.domains.kubernetes.cluster.audit import AuditTail, completed_event, read_events


def an_event(audit_id, stage="ResponseComplete", **more):
    return {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": audit_id, "stage": stage, **more}


def line(event):
    return json.dumps(event).encode() + b"\n"


@pytest.mark.requirement("CO-07")
def test_only_what_is_written_from_now_on_is_read_and_a_line_only_when_it_is_whole(tmp_path):
    log = tmp_path / "audit.log"
    log.write_bytes(line(an_event("earlier")))
    tail = AuditTail(log)
    with log.open("ab") as writing:
        writing.write(line(an_event("first")) + line(an_event("second"))[:-9])
        writing.flush()
        assert [event["auditID"] for event in tail.events()] == ["first"]
        writing.write(line(an_event("second"))[-9:])
    assert [event["auditID"] for event in tail.events()] == ["first", "second"]


def test_of_a_request_whose_answer_goes_on_the_last_event_counts_in_the_place_of_the_first(tmp_path):
    log = tmp_path / "audit.log"
    tail = AuditTail(log)
    assert tail.events() == []
    stages = [("watch", "ResponseStarted"), ("get", "ResponseComplete"), ("watch", "ResponseComplete")]
    log.write_bytes(b"".join(line(an_event(name, stage)) for name, stage in stages))
    assert [(event["auditID"], event["stage"]) for event in tail.events()] == [
        ("watch", "ResponseComplete"),
        ("get", "ResponseComplete"),
    ]


def test_the_event_of_a_request_is_waited_for_and_missing_when_it_never_comes(tmp_path):
    log = tmp_path / "audit.log"
    tail = AuditTail(log)

    async def ask():
        asked = asyncio.ensure_future(tail.event("late", 10))
        await asyncio.sleep(0.02)
        log.write_bytes(line(an_event("late", verb="get")))
        return await asked, await tail.event("never", 0.01)

    late, never = asyncio.run(ask())
    assert late["verb"] == "get"
    assert never is None


def test_lines_that_are_no_events_are_passed_over():
    assert read_events([b"", b"{", b"[1]", b'{"kind": "Event"}', line(an_event("one"))]) == [an_event("one")]


def an_exchange(method, path, content=b"", **headers):
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    request = Request.from_network(method, path, "", named, content, "10.0.0.2")
    served = catalogue(CURRENT_RELEASE)
    return Exchange(request, parse_call(request), Store(Ids(1)), served, None, Authenticator(), "", "")


@pytest.mark.requirement("CO-06")
def test_what_the_server_leaves_out_of_its_log_is_added():
    body = b'{"kind": "Pod", "note": "the password is hunter2"}'
    refused = an_event("one", responseStatus={"code": 403})
    seen = completed_event(refused, an_exchange("POST", "/api/v1/namespaces/a/pods", body, x_note="hunter2"))
    assert seen["unreadObject"]["note"] == "the password is hunter2"
    assert seen["requestHeaders"] == {"x-note": "hunter2"}
    read = an_event("two", requestObject={"kind": "Pod"}, responseStatus={"code": 201})
    told = completed_event(read, an_exchange("POST", "/api/v1/namespaces/a/pods", body))
    assert "hunter2" in told["requestText"]
    assert "unreadObject" not in told


def test_what_was_said_to_a_process_is_in_its_event_and_a_plain_read_stays_as_it_is():
    plain = an_event("one", responseStatus={"code": 200})
    assert completed_event(plain, an_exchange("GET", "/api/v1/pods", accept="application/json")) == plain
    stream = completed_event(plain, an_exchange("POST", "/api/v1/namespaces/a/pods/b/exec"), "rm -rf /data\n")
    assert stream["requestText"] == "rm -rf /data\n"
