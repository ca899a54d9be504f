"""Operations with deadlines of their own, and retries that end."""

import asyncio
import json

import pytest

from sirocco.errors import FaultKind, ProviderFault
from sirocco.providers.http.control import ControlPlane, Timeouts


class Scripted:
    """A provider that answers each call with the next of its answers, and the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.calls = []

    async def __call__(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            (int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-length")), 0
        )
        self.calls.append((head.split()[0], head.split()[1], json.loads(await reader.readexactly(length) or b"null")))
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if status is None:
            writer.transport.abort()
            return
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
        await writer.drain()
        writer.close()


def run(script, work, **timeouts):
    """What `work` gives with a control plane over the script; and how long was waited between calls."""
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    async def live():
        server = await asyncio.start_server(script, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        try:
            return await work(ControlPlane(url, token="t", timeouts=Timeouts(**timeouts), sleep=sleep))
        finally:
            server.close()
            await asyncio.sleep(0)

    return asyncio.run(live()), waited


def faulted(script, operation, body=None, **timeouts):
    async def work(control):
        with pytest.raises(ProviderFault) as fault:
            await control.call(operation, body)
        return fault.value

    return run(script, work, **timeouts)


OK = (200, {"status": "ready"})


def test_an_operation_has_its_method_its_path_and_the_token():
    script = Scripted(OK)
    run(script, lambda control: control.call("conformance", query="?profile=a%20b"))
    run(script, lambda control: control.call("observe", {"environment_id": "e"}))
    assert script.calls == [
        ("GET", "/v1/conformance?profile=a%20b", None),
        ("POST", "/v1/observe", {"environment_id": "e"}),
    ]


@pytest.mark.parametrize("status", [200, 201, 202])
def test_any_success_is_a_success(status):
    assert run(Scripted((status, {"a": 1})), lambda control: control.call("observe", {}))[0] == {"a": 1}


@pytest.mark.parametrize("status", [409, 502, 503])
def test_a_hint_is_followed_and_the_answer_after_it_counts(status):
    script = Scripted((status, {"message": "busy", "retry_after_seconds": 7}), OK)
    answer, waited = run(script, lambda control: control.call("provision", {}))
    assert (answer, waited) == (OK[1], [7.0])


def test_retries_end_and_the_last_refusal_is_told():
    script = Scripted((503, {"message": "still starting"}))
    fault, waited = faulted(script, "provision", {})
    assert (len(script.calls), len(waited)) == (4, 3)
    assert "503: still starting" in fault.problem
    assert fault.kind is FaultKind.FAILED


def test_a_hint_beyond_the_deadline_is_not_waited_for():
    script = Scripted((409, {"retry_after_seconds": 30}))
    fault, waited = faulted(script, "provision", {}, provision=5)
    assert (len(script.calls), waited) == (2, [])
    assert fault.kind is FaultKind.REFUSED


@pytest.mark.parametrize("status", [409, 502])
def test_a_conflict_without_a_hint_may_be_final_for_a_provision_and_not_for_a_look(status):
    assert len(_calls(Scripted((status, {"message": "no"})), "provision")) == 1
    assert len(_calls(Scripted((status, {"message": "no"})), "observe")) == 4


def test_a_lost_answer_is_asked_for_again_only_where_asking_twice_does_no_harm():
    assert len(_calls(Scripted((None, b"")), "provision")) == 1
    assert len(_calls(Scripted((None, b"")), "inject-state")) == 1
    assert len(_calls(Scripted((None, b"")), "observe")) == 4


def _calls(script, operation):
    faulted(script, operation, {})
    return script.calls


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ((500, {"message": "boom"}), FaultKind.FAILED, "500: boom"),
        ((500, b"<html>panic</html>"), FaultKind.FAILED, "500: <html>panic"),
        ((400, {"error": "no profile"}), FaultKind.REFUSED, "400: no profile"),
        ((401, {}), FaultKind.REFUSED, "401"),
        ((404, {"message": "environment not found"}), FaultKind.LOST, "404: environment not found"),
        ((422, {"message": "state.0: unknown"}), FaultKind.UNSUPPORTED, "422: state.0: unknown"),
        ((200, b"{"), FaultKind.MALFORMED, "the answer is not JSON"),
        ((200, []), FaultKind.MALFORMED, "not a JSON object"),
        ((204, b""), FaultKind.MALFORMED, "not a JSON object"),
        ((200, {"status": "error", "error": "no room"}), FaultKind.FAILED, "no room"),
    ],
)
def test_whatever_is_not_an_answer_is_a_fault_of_a_kind(answer, kind, words):
    fault, _ = faulted(Scripted(answer), "observe", {})
    assert fault.kind is kind
    assert words in fault.problem
    assert "sirocco provider check" in fault.remedy


def test_every_operation_has_a_time_of_its_own():
    timeouts = Timeouts()
    assert [timeouts.seconds_for(name) for name in ("provision", "observe", "teardown", "inject-state")] == [
        600,
        60,
        90,
        30,
    ]
