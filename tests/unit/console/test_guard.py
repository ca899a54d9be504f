"""Nobody but whoever has the token gets in, and no page of another site can make a browser act here."""

import socket

import httpx
import pytest

from console_server import served_console
from sirocco.console.guard import MOST_BYTES, Access

FORM = {"by": "Ada", "severity": "low", "novelty": "known", "decision": "promote"}


def stranger(served, **options):
    return httpx.Client(base_url=served.address, timeout=30, **options)


@pytest.fixture
def finding(served) -> str:
    return f"/finding/{served.desk.library.queue()[0].id}"


@pytest.mark.parametrize("path", ["/", "/runs", "/review", "/start", "/static/htmx.min.js", "/nope"])
def test_nothing_is_shown_without_the_token(served, path):
    with stranger(served) as client:
        for address in (path, f"{path}?token=", f"{path}?token={'x' * 43}"):
            answer = client.get(address)
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers
            assert served.access.token not in answer.text


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use_and_leaves_the_address(served):
    with stranger(served) as client:
        answer = client.get(f"/review?state=open&token={served.access.token}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/review?state=open")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert served.access.token not in cookie
        assert client.get("/runs").status_code == 200
        assert served.access.token not in client.get("/runs").text


def test_the_way_in_leads_to_no_other_host(served):
    with stranger(served) as client:
        answer = client.get(f"{served.address}//192.0.2.1/x?token={served.access.token}")
        assert answer.headers["location"] == "/192.0.2.1/x"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:{port}", "127.0.0.1:1", "", "127.0.0.1"]
)
def test_a_name_that_was_made_to_point_here_gets_nothing(served, host):
    headers = {"host": host.format(port=served.access.port)}
    answer = served.client.get("/runs", headers=headers)
    assert answer.status_code in {400, 421}
    assert "<html" not in answer.text


def raw_answer(served, lines, body=b""):
    """What a request comes to that no client would send."""
    with socket.create_connection(("127.0.0.1", served.access.port)) as connection:
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode() + body)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    ("framing", "body"),
    [
        (["Content-Length: 5", "Transfer-Encoding: chunked"], b"0\r\n\r\nGET /runs HTTP/1.1\r\n\r\n"),
        (["Content-Length: 6", "Content-Length: 5"], b"123456"),
        (["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], b"5\r\nhello\r\n0\r\n\r\n"),
        (["Content-Length: -1"], b"x"),
        (["Content-Length: 99999999999999999999"], b"x"),
        (["X-Folded: a", " b", "Content-Length: 0"], b""),
    ],
)
def test_a_request_that_two_readers_would_cut_differently_gets_nothing(served, finding, framing, body):
    known = [f"Host: 127.0.0.1:{served.access.port}", f"Cookie: {served.access.cookie}={served.access.session}"]
    form = "Content-Type: application/x-www-form-urlencoded"
    answer = raw_answer(served, [f"POST {finding}/review HTTP/1.1", *known, form, *framing], body)
    assert answer.split(b" ", 2)[1] in {b"400", b"413"}
    assert answer.count(b"HTTP/1.1 ") == 1
    assert not served.desk.log_file.exists()


@pytest.mark.parametrize(
    "lines",
    [
        ["GET /runs HTTP/1.1", "Host: evil.example", "X-Forwarded-Host: 127.0.0.1:PORT", "Forwarded: host=127.0.0.1"],
        ["GET /runs HTTP/1.1", "Host: 127.0.0.1.:PORT"],
        ["GET /runs HTTP/1.1", "Host: 127.0.0.1@evil.example:PORT"],
        ["GET http://127.0.0.1:PORT/runs HTTP/1.1", "Host: evil.example"],
        ["GET /runs HTTP/1.0"],
    ],
)
def test_no_other_header_stands_for_the_name_of_the_console(served, lines):
    cookie = f"Cookie: {served.access.cookie}={served.access.session}"
    asked = [line.replace("PORT", str(served.access.port)) for line in lines]
    assert raw_answer(served, [*asked, cookie]).split(b" ", 2)[1] in {b"400", b"421"}


@pytest.mark.parametrize("path", ["//evil.example/%2f..", "/\\evil.example", "/runs%0d%0aX-Evil:1", "/%5cevil.example"])
def test_the_way_in_writes_no_header_and_leads_nowhere_else(served, path):
    host = f"Host: 127.0.0.1:{served.access.port}"
    answer = raw_answer(served, [f"GET {path}?token={served.access.token}&a=%0d%0aX-Evil:1 HTTP/1.1", host])
    head = answer.partition(b"\r\n\r\n")[0].split(b"\r\n")
    places = [line.partition(b": ")[2] for line in head if line.lower().startswith(b"location:")]
    assert all(place.startswith(b"/") and place[1:2] not in {b"/", b"\\"} for place in places)
    assert not any(line.lower().startswith(b"x-evil") for line in head)
    assert served.access.token.encode() not in b"".join(places), "the page that follows does not tell it on"


def test_two_host_headers_get_nothing(served):
    cookie = f"{served.access.cookie}={served.access.session}"
    lines = [
        "GET /runs HTTP/1.1",
        f"Host: 127.0.0.1:{served.access.port}",
        "Host: evil.example",
        f"Cookie: {cookie}",
        "Connection: close",
    ]
    with socket.create_connection(("127.0.0.1", served.access.port)) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.split(b" ", 2)[1] in {b"400", b"421"}


@pytest.mark.requirement("AV-24")
@pytest.mark.parametrize(
    ("headers", "secret"),
    [
        ({}, ""),
        ({}, "x" * 43),
        ({"origin": "http://evil.example"}, None),
        ({"origin": "null"}, None),
        ({"sec-fetch-site": "cross-site"}, None),
        ({"sec-fetch-site": "same-site"}, None),
    ],
)
def test_a_form_of_another_site_signs_nothing(served, finding, headers, secret):
    data = {**FORM, "form_secret": served.secret(finding) if secret is None else secret}
    assert served.client.post(f"{finding}/review", data=data, headers=headers).status_code == 403
    assert not served.desk.log_file.exists()


def test_forms_are_small_and_are_forms(served, finding):
    address, secret = f"{finding}/dispute", served.secret(finding)
    large = {"form_secret": secret, "by": "x", "reason": "r" * MOST_BYTES}
    assert served.client.post(address, data=large).status_code == 413
    assert served.client.post(address, json={"form_secret": secret}).status_code == 415
    assert served.client.post(address, files={"a": b"x"}, data={"form_secret": secret}).status_code == 415
    many = "&".join(f"a{number}=1" for number in range(5000))
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert served.client.post(address, content=f"form_secret={secret}&{many}", headers=form).status_code == 400
    assert served.client.post(address, content=b"a=\xff\xfe", headers=form).status_code in {400, 403}

    def endless():
        for _ in range(MOST_BYTES // 1000 + 50):
            yield b"a" * 1000

    assert served.client.post(address, content=endless(), headers=form).status_code == 413
    assert not served.desk.log_file.exists()


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(served, method):
    assert served.client.request(method, "/runs").status_code == 405


def test_reading_is_not_acting(served, finding):
    for path in (f"{finding}/review", f"{finding}/promote", "/start/run"):
        assert served.client.get(path).status_code in {404, 405}


@pytest.mark.parametrize("path", ["/runs", "/nope", "/static/console.js"])
def test_every_answer_carries_the_rules_for_browsers(served, path):
    headers = served.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert (headers["x-frame-options"], headers["referrer-policy"], headers["cache-control"]) == (
        "DENY",
        "same-origin",
        "no-store",
    )
    assert headers["x-content-type-options"] == "nosniff"


def test_a_console_that_only_shows_takes_no_form(runs):
    with served_console(runs, is_read_only=True) as console:
        finding = f"/finding/{console.desk.library.queue()[0].id}"
        assert '<form method="post"' not in console.client.get(finding).text
        data = {**FORM, "form_secret": console.access.form_secret}
        assert console.client.post(f"{finding}/review", data=data).status_code == 403


def test_a_console_for_others_answers_to_its_own_name_only():
    access = Access.at("10.0.0.5", 80)
    assert access.knows_host("10.0.0.5")
    assert access.knows_host("10.0.0.5:80")
    assert not access.knows_host("localhost")
    assert Access.at("::1", 8737).knows_host("[::1]:8737")
