"""Agents behind HTTP: one request for their identity, one POST per turn, and possibly their own audit trail.

A turn is sent again only if no connection was made, because an agent that got a request may have acted on it. For the
same reason no connection is reused: if the agent had just closed it, it would be unknown whether it got the request.
"""

import asyncio
import ipaddress
import re
import ssl
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import httpx

from sirocco.agents.contract import (
    ANSWER_LIMIT,
    description_of,
    document_of,
    excerpt,
    oversize_fault,
    response_of,
    trail_of,
)
from sirocco.agents.workers import timed_out
from sirocco.errors import AgentFault, AgentFaultKind, ConfigError
from sirocco.oasis.agent import AgentDescription, AgentRequest, AgentResponse

_IDENTITY = "identity-and-configuration"
_TRAIL = "audit-trail"
_CONNECT_SECONDS = 10.0
_DESCRIBING_SECONDS = 60.0
_TRAIL_SECONDS = 30.0
_PAUSE = 0.2
"""How many seconds to wait before connecting again."""
_NOT_OFFERED = frozenset({404, 405, 501})
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS = frozenset({"content-length", "content-type", "host", "transfer-encoding", "connection"})


class HttpAgent:
    """An agent at `http://...` or `https://...`; it may take `patience` seconds to come up."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None, *, patience: float = 0.0) -> None:
        self._url = checked_url(url)
        self._where = url_for_messages(self._url)
        self._headers = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
        self._patience = patience
        self._has_trail = True
        self._trust = ssl.create_default_context() if self._url.startswith("https") else None

    @property
    def isolation(self) -> str:
        """`network`: the agent shares nothing with us but the network."""
        return "network"

    async def describe(self) -> AgentDescription:
        """`GET <url>/identity-and-configuration`."""
        url = address_below(self._url, _IDENTITY)
        status, content = await self._ask_with_retries("GET", url, None, _DESCRIBING_SECONDS, patience=self._patience)
        if status in _NOT_OFFERED:
            problem = f"status {status}: it does not implement GET {urlsplit(url).path}"
            remedy = "the endpoint is required; see docs/agents.md, and check that the URL is the agent's"
            raise AgentFault(self._where, problem, remedy, AgentFaultKind.REFUSED)
        self._require(status, content)
        return description_of(document_of(content, self._where), self._where)

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """`POST <url>`."""
        status, content = await self._ask_with_retries("POST", self._url, request.document(), request.deadline_seconds)
        self._require(status, content)
        return response_of(document_of(content, self._where), self._where)

    async def audit_trail(self, run_id: str) -> tuple[Any, ...]:
        """`GET <url>/audit-trail?run_id=...`; an agent that has none is not asked again."""
        if self._has_trail:
            url = address_below(self._url, _TRAIL, {"run_id": run_id})
            status, content = await self._ask_with_retries("GET", url, None, _TRAIL_SECONDS)
            if status not in _NOT_OFFERED:
                self._require(status, content)
                return trail_of(document_of(content, self._where), self._where)
            self._has_trail = False
        remedy = f"answer GET /{_TRAIL}?run_id=... if it keeps one"
        raise AgentFault(self._where, "it offers no audit trail", remedy, AgentFaultKind.REFUSED)

    async def _ask_with_retries(
        self, method: str, url: str, document: Mapping[str, Any] | None, seconds: float, *, patience: float = 0.0
    ) -> tuple[int, bytes]:
        """Status and body; retried only while no connection can be made, once or for as long as `patience` lasts."""
        loop = asyncio.get_running_loop()
        began, tries = loop.time(), 0
        while True:
            tries += 1
            try:
                async with asyncio.timeout(seconds):
                    return await self._exchange_once(method, url, document)
            except TimeoutError as error:
                raise timed_out(self._where, seconds) from error
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if tries > 1 and loop.time() - began >= patience:
                    raise self._unreachable(error) from error
                await asyncio.sleep(_PAUSE)
            except (httpx.HTTPError, ssl.SSLError, OSError) as error:
                problem = f"the connection ended before the complete answer: {_error_text(error)}"
                remedy = "look at the agent's own log; the turn is not sent again, because it may have acted"
                raise AgentFault(self._where, problem, remedy, AgentFaultKind.LOST) from error

    async def _exchange_once(self, method: str, url: str, document: Mapping[str, Any] | None) -> tuple[int, bytes]:
        client = httpx.AsyncClient(
            headers=self._headers, timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS), trust_env=not _is_here(url),
            verify=self._trust or False, limits=httpx.Limits(max_keepalive_connections=0),
        )  # fmt: skip
        async with client, client.stream(method, url, json=document) as answer:
            content = bytearray()
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > ANSWER_LIMIT:
                    raise oversize_fault(self._where)
            return answer.status_code, bytes(content)

    def _require(self, status: int, content: bytes) -> None:
        """Raise AgentFault unless the status is a success; the fault quotes the answer."""
        if status in {200, 201}:
            return
        said = excerpt(content)
        problem = f"status {status}: {said}" if said else f"status {status}"
        remedy = {
            401: "add --agent-header 'Authorization: Bearer ...'",
            403: "add --agent-header 'Authorization: Bearer ...'",
            404: "check the path of the URL; the turn is posted exactly there",
            405: "check the path of the URL; the turn is posted exactly there",
        }.get(status, "look at the agent's own log; answer 200 with what could be done")
        if 300 <= status < 400:
            remedy = "give the URL that it redirects to"
        raise AgentFault(self._where, problem, remedy, AgentFaultKind.REFUSED)

    def _unreachable(self, error: Exception) -> AgentFault:
        is_untrusted = "CERTIFICATE" in str(error).upper()
        remedy = "start the agent, and check host and port"
        if is_untrusted:
            remedy = "let SSL_CERT_FILE name the certificate of its authority"
        return AgentFault(self._where, f"no answer: {_error_text(error)}", remedy, AgentFaultKind.UNREACHABLE)


def headers_of(given: Sequence[str]) -> dict[str, str]:
    """Headers from texts such as `Authorization: Bearer ...`; messages do not repeat the value of an invalid one."""
    headers: dict[str, str] = {}
    for text in given:
        name, colon, value = text.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not _HEADER_NAME.fullmatch(name):
            raise ConfigError("--agent-header", f"{name!r} is not a header's name", "write 'Name: value'")
        if not value.isascii() or not value.isprintable():
            raise ConfigError("--agent-header", f"the value of {name} is not printable ASCII", "write 'Name: value'")
        if name.lower() in _OWN_HEADERS:
            raise ConfigError("--agent-header", f"{name} is set by the request itself", "drop it")
        headers[name] = value
    return headers


def address_below(url: str, path: str, query: Mapping[str, str] | None = None) -> str:
    """An address below an agent's URL; a query in the URL is kept."""
    parts = urlsplit(url)
    asked = "&".join(filter(None, (parts.query, urlencode(query or {}))))
    return urlunsplit((parts.scheme, parts.netloc, f"{parts.path.rstrip('/')}/{path}", asked, ""))


def url_for_messages(url: str) -> str:
    """A URL for messages, without a password or a query that could contain one."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def checked_url(url: str) -> str:
    """An http or https URL, unchanged; raise ConfigError for anything else."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or not url.isascii() or not url.isprintable() or " " in url:
        raise ConfigError("--agent", f"{url!r} is not an http or https URL", "write one such as http://127.0.0.1:8080")
    return url


def _is_here(url: str) -> bool:
    """Whether a URL leads to this machine, for which no proxy is used."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _error_text(error: Exception) -> str:
    return str(error) or type(error).__name__
