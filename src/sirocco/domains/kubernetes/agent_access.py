"""An agent's access to a cluster elsewhere: reading what a provider hands out, and a client that speaks TLS.

A provision answer and the document with which a runner hands an environment to an agent say the same in different
places.
"""

import base64
import binascii
import json
import re
import ssl
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import yaml

from kubesim.serving.kubeconfig import SERVICES
from sirocco.domains.kubernetes.agent_plane import KUBECONFIG, Reply, access_details
from sirocco.domains.kubernetes.streams import execute_command
from sirocco.domains.kubernetes.vocabulary import ENVIRONMENT_TYPE
from sirocco.errors import ConfigError, FaultKind, ProviderFault
from sirocco.oasis.environment import EnvironmentAccess, ServedAccess
from sirocco.providers.http.connection import Answer, Connections, Origin, Unanswered

_TIMEOUT = 60.0
_KEPT = 4
"""Idle connections that are kept open; otherwise a busy agent would perform a TLS handshake for every call."""
_STREAMED = ("/exec", "/attach")
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
_PATH = "/%:@!$&'()*+,;=~-._"


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """The address of the agent plane and the credentials for it."""

    server: str
    authority: str
    token: str
    namespace: str
    kubeconfig: str
    verify: bool = True
    server_name: str = ""
    services: Mapping[str, Any] = field(default_factory=dict)
    """Where the kubeconfig says that services beside the API are; what is handed over takes precedence."""

    def origin(self) -> Origin:
        """The agent plane; without a certificate of its authority the system's own ones are used."""
        return Origin.from_url(self.server, tls=self._context(), server_name=self.server_name)

    def _context(self) -> ssl.SSLContext | None:
        if not self.server.startswith("https"):
            return None
        try:
            context = ssl.create_default_context(cadata=self.authority or None)
        except ssl.SSLError as error:
            raise _unusable_fault("the authority's certificate cannot be read") from error
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


def agent_access(provisioned: Mapping[str, Any]) -> AgentAccess:
    """The agent's access according to a provision answer; ProviderFault when there is none (CO-07)."""
    credentials = provisioned.get("agent_credentials")
    given: Mapping[str, Any] = credentials if isinstance(credentials, Mapping) else {}
    text = _text(given.get("kubeconfig"))
    cluster, user, context = _current(text)
    encoded = _text(cluster.get("certificate-authority-data"))
    access = AgentAccess(
        server=(_text(cluster.get("server")) or _text(provisioned.get("agent_endpoint"))).rstrip("/"),
        authority=_text(given.get("ca")) or _decode_certificate(encoded),
        token=_text(given.get("token")) or _text(user.get("token")),
        namespace=_text(given.get("namespace")) or _text(context.get("namespace")) or "default",
        kubeconfig=text,
        verify=cluster.get("insecure-skip-tls-verify") is not True,
        server_name=_text(cluster.get("tls-server-name")),
        services=_extension(cluster, SERVICES),
    )
    if not access.server:
        raise _unusable_fault("neither agent_endpoint nor a kubeconfig names a server")
    if not access.token:
        raise _unusable_fault("the credentials hold no bearer token")
    return access


def environment_access(found: AgentAccess, handed: Mapping[str, Any], identity: str) -> EnvironmentAccess:
    """An access with a client for it, and with the services and tools that the document `handed` names."""
    return EnvironmentAccess(
        id=identity,
        type=ENVIRONMENT_TYPE,
        namespace=found.namespace,
        token=found.token,
        client=HttpAgentClient(found),
        served=ServedAccess(found.server, found.authority, {KUBECONFIG: found.kubeconfig}, _tools(handed)),
        services=_services(handed.get("services") or found.services, found.server),
        details=access_details(found.namespace, found.server, found.kubeconfig),
    )


def _tools(handed: Mapping[str, Any]) -> str:
    tools = handed.get("mcp")
    return _text(tools.get("url")) if isinstance(tools, Mapping) else ""


def _services(offered: Any, server: str) -> dict[str, str]:
    """The services beside the API that are on the same server, by name and path."""
    found = offered.items() if isinstance(offered, Mapping) else ()
    return {str(name): url.removeprefix(server) for name, url in found if _text(url).startswith(f"{server}/")}


class HttpAgentClient:
    """The agent plane over the network, under the agent's token."""

    def __init__(self, access: AgentAccess, *, timeout: float = _TIMEOUT) -> None:
        try:
            self._connections = Connections(access.origin(), kept=_KEPT)
        except ConfigError as error:
            raise _unusable_fault(error.problem) from error
        self._token = access.token
        self._timeout = timeout

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one API request; an error status is a Reply, an unreachable plane a ProviderFault.

        The path may include a query.
        """
        sent = {"Authorization": f"Bearer {self._token}", "Accept": "application/json", **(headers or {})}
        bare, _, inline = path.partition("?")
        asked = "&".join(part for part in (inline, urlencode(query or {})) if part)
        target = quote(bare, safe=_PATH) + (f"?{asked}" if asked else "")
        try:
            if bare.endswith(_STREAMED):
                return await execute_command(self._connections.origin, target, sent, timeout=self._timeout)
            content = b""
            if body is not None:
                sent["Content-Type"] = content_type
                content = json.dumps(body, allow_nan=False).encode()
            answer = await self._connections.request(
                method.upper(), target, headers=sent, content=content, timeout=self._timeout
            )
        except Unanswered as unanswered:
            remedy = "look at the provider's own log"
            raise ProviderFault("agent plane", unanswered.problem, remedy, unanswered.kind) from unanswered
        is_watch = (query or {}).get("watch") in {"true", "1"}
        return Reply(answer.status, _body(answer, is_watch=is_watch), _warnings(answer.headers.get("warning", "")))

    def with_token(self, token: str) -> "HttpAgentClient":
        """The same access, under another token; it shares the connections of this one."""
        other = copy(self)
        other._token = token
        return other

    def close(self) -> None:
        """Close idle connections."""
        self._connections.close()


def _body(answer: Answer, *, is_watch: bool) -> Any:
    """JSON data, the events of a watch, or text."""
    text = answer.content.decode(errors="replace")
    if "json" not in answer.headers.get("content-type", ""):
        return text
    try:
        if is_watch and answer.status == 200:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return text


def _warnings(header: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\\(.)", r"\1", found) for found in _WARNING.findall(header))


def token_principal(token: str) -> str:
    """The service account that a token is for, if it says so; the API itself checks the signature, not this code."""
    try:
        _, claims, _ = token.split(".")
        subject = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))).get("sub")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return subject if isinstance(subject, str) and subject.startswith("system:serviceaccount:") else ""


def _current(text: str) -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]:
    """The current cluster, user and context of a kubeconfig; empty if it sets none."""
    nothing: Mapping[str, Any] = {}
    if not text:
        return nothing, nothing, nothing
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise _unusable_fault("the kubeconfig is not YAML") from error
    if not isinstance(document, Mapping):
        raise _unusable_fault("the kubeconfig is not a mapping")
    context = _item_named(document, "contexts", "context", document.get("current-context"))
    cluster = _item_named(document, "clusters", "cluster", context.get("cluster"))
    return cluster, _item_named(document, "users", "user", context.get("user")), context


def _item_named(document: Mapping[str, Any], plural: str, key: str, name: Any) -> Mapping[str, Any]:
    """The item with that name, or the only one."""
    listed = document.get(plural)
    items = [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []
    found = next((item for item in items if item.get("name") == name), items[0] if len(items) == 1 else {})
    value = found.get(key)
    return value if isinstance(value, Mapping) else {}


def _extension(cluster: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The content of a cluster's extension in a kubeconfig; empty if there is none."""
    listed = cluster.get("extensions")
    items = [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []
    value = next((item.get("extension") for item in items if item.get("name") == name), None)
    return value if isinstance(value, Mapping) else {}


def _decode_certificate(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode("ascii")
    except (binascii.Error, ValueError) as error:
        raise _unusable_fault("certificate-authority-data is not base64 of a certificate") from error


def _unusable_fault(problem: str) -> ProviderFault:
    remedy = "the provider must answer with agent_endpoint and agent_credentials"
    return ProviderFault("provision", f"the agent cannot reach the environment: {problem}", remedy, FaultKind.MALFORMED)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
