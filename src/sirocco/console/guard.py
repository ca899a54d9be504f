"""What stands between the network and every page: who may ask, from where, how much, and what a page may do.

A page shows what agents and probes wrote and can start programs, so a stranger must reach none: not another account
of the machine (the token), not another site in the same browser (the cookie's rules, the form's secret, the origin),
not a name that was made to point here (the host).
"""

import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES = 262_144
"""The most that a form may have."""
_MOST_FIELDS = 200
_FORM = "application/x-www-form-urlencoded"
FORM_KEY = "sirocco.form"
SECRET_FIELD = "form_secret"  # noqa: S105 - the name of a field
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # without one, browsers do not say where a form came from
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


def _fresh_secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class Access:
    """Who may use the console: whoever has the token, under one of these names and this port."""

    hosts: frozenset[str]
    port: int
    token: str = field(default_factory=_fresh_secret, repr=False)
    session: str = field(default_factory=_fresh_secret, repr=False)
    form_secret: str = field(default_factory=_fresh_secret, repr=False)
    is_read_only: bool = False

    @classmethod
    def at(cls, host: str, port: int, *, is_read_only: bool = False) -> "Access":
        """Access to a console that listens at an address, which may also be called by the names of this machine."""
        try:
            is_local = ipaddress.ip_address(host).is_loopback
        except ValueError:
            is_local = host == "localhost"
        names = {"localhost", "127.0.0.1", "[::1]"} if is_local else {f"[{host}]" if ":" in host else host}
        return cls(frozenset(names), port, is_read_only=is_read_only)

    @property
    def cookie(self) -> str:
        """Cookies do not tell ports apart; their names must."""
        return f"sirocco_console_{self.port}"

    def knows_host(self, host: str) -> bool:
        """Whether a request was made to a name of ours; any other was made to point here by somebody else."""
        name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "80")
        return name.lower() in self.hosts and port == str(self.port)


class _Refusal(Exception):  # noqa: N818 - it is an answer
    def __init__(self, status: HTTPStatus, problem: str) -> None:
        super().__init__(problem)
        self.status, self.problem = status, problem


class Guard:
    """Lets through what is ours, and puts the rules for browsers on every answer."""

    def __init__(self, application: Application, access: Access) -> None:
        self._application, self._access = application, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded_send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                known = {name for name, _ in _HEADERS}
                own = [pair for pair in message.get("headers", ()) if pair[0].lower() not in known]
                message = {**message, "headers": [*own, *_HEADERS]}
            await send(message)

        try:
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
            if await self._entry_response(scope, headers, guarded_send):
                return
            if scope["method"] not in {"GET", "HEAD"}:
                scope[FORM_KEY] = await self._form(scope["method"], headers, receive)
        except _Refusal as refusal:
            await _answer(guarded_send, refusal.status, f"{refusal.problem}\n")
            return
        await self._application(scope, receive, guarded_send)

    async def _entry_response(self, scope: Scope, headers: dict[str, str], send: Send) -> bool:
        """Refuse who has no business here; whether the token was just exchanged for a cookie."""
        hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
        if len(hosts) != 1 or not self._access.knows_host(headers["host"]):
            raise _Refusal(HTTPStatus.MISDIRECTED_REQUEST, "this console has another name; use the printed address")
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] == "GET" and "token" in query:
            if not _is_same(query["token"][-1], self._access.token):
                raise _Refusal(HTTPStatus.FORBIDDEN, "this is not the token of this console; use the printed address")
            rest = urlencode([(key, value) for key, found in query.items() if key != "token" for value in found])
            place = quoted_path(scope) + (f"?{rest}" if rest else "")
            cookie = f"{self._access.cookie}={self._access.session}; HttpOnly; SameSite=Strict; Path=/"
            more = ((b"location", place.encode("latin-1")), (b"set-cookie", cookie.encode()))
            await _answer(send, HTTPStatus.SEE_OTHER, "", more)
            return True
        if not _is_same(_cookie(headers.get("cookie", ""), self._access.cookie), self._access.session):
            raise _Refusal(HTTPStatus.FORBIDDEN, "open the address that `sirocco console` printed: it has the token")
        return False

    async def _form(self, method: str, headers: dict[str, str], receive: Receive) -> dict[str, str]:
        """The fields of a form that one of our own pages sent."""
        if method != "POST":
            raise _Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "pages are read and forms are sent, nothing else")
        if self._access.is_read_only:
            raise _Refusal(HTTPStatus.FORBIDDEN, "this console only shows; it was started with --read-only")
        if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            raise _Refusal(HTTPStatus.FORBIDDEN, "the form came from another site")
        if headers.get("origin", f"http://{headers['host']}") != f"http://{headers['host']}":
            raise _Refusal(HTTPStatus.FORBIDDEN, "the form came from another origin")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            raise _Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"a form is sent as {_FORM}")
        body = await _body(headers.get("content-length", "0"), receive)
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
        except ValueError as error:
            raise _Refusal(HTTPStatus.BAD_REQUEST, "the form cannot be read") from error
        fields = {key: value.replace("\r\n", "\n") for key, value in pairs}
        if not _is_same(fields.pop(SECRET_FIELD, ""), self._access.form_secret):
            raise _Refusal(HTTPStatus.FORBIDDEN, "the form is not one of this console; load its page again")
        return fields


async def _body(announced: str, receive: Receive) -> bytes:
    if not announced.isdecimal() or int(announced) > MOST_BYTES:
        raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a form has at most {MOST_BYTES} bytes")
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _Refusal(HTTPStatus.BAD_REQUEST, "the form broke off")
        body += message.get("body", b"")
        if len(body) > MOST_BYTES:
            raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a form has at most {MOST_BYTES} bytes")
        if not message.get("more_body"):
            return bytes(body)


def _cookie(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


def _is_same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def quoted_path(scope: Scope) -> str:
    """The path as it was asked for; never one that a browser takes for another host."""
    raw = bytes(scope.get("raw_path") or b"/").decode("latin-1").partition("?")[0]
    return "/" + raw.lstrip("/\\")


async def _answer(send: Send, status: HTTPStatus, text: str, more: tuple[tuple[bytes, bytes], ...] = ()) -> None:
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})
