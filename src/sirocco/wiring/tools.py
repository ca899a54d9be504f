"""The tools of a model in our own loop: those of the environment's MCP endpoint, wherever it is."""

import asyncio
import importlib
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sirocco.oasis.domain import Domain
from sirocco.oasis.environment import EnvironmentAccess, ServedAccess
from sirocco.oasis.tools import Tool, Toolbox, ToolResult, Tools


def environment_tools(domain: Domain, now: Callable[[], str]) -> Toolbox:
    """The environment's MCP endpoint, if it has one, because its tool descriptions may be part of the environment.

    Otherwise, the domain's own tools over the agent's access; `now` is the timestamp of what they write.
    """

    def open_tools(environment: EnvironmentAccess) -> AbstractAsyncContextManager[Tools]:
        served = environment.served
        if served and served.mcp and find_spec("mcp"):
            return _endpoint_tools(served, environment.token)
        return nullcontext(domain.equipment.tools(environment, now))

    return open_tools


@dataclass(frozen=True, slots=True)
class _EndpointTools:
    client: Any
    offered: Sequence[Tool]
    errors: tuple[type[Exception], ...]

    async def call(self, name: str, arguments: Any) -> ToolResult:
        try:
            result = await self.client.call_tool(name, arguments)
        except self.errors as error:
            return ToolResult(str(error), failed=True)
        text = "\n".join(block.text for block in result.content if hasattr(block, "text"))
        return ToolResult(text, failed=bool(result.is_error))


@asynccontextmanager
async def _endpoint_tools(served: ServedAccess, token: str) -> AsyncIterator[Tools]:
    """A session of the official client for the duration of a turn; the package is slow to load."""
    httpx2, mcp, http, exceptions = await asyncio.to_thread(_packages)
    trust = ssl.create_default_context(cadata=served.authority or None)
    headers = {"Authorization": f"Bearer {token}"}
    try:
        async with (
            httpx2.AsyncClient(verify=trust, headers=headers, timeout=httpx2.Timeout(None, connect=10.0)) as connection,
            mcp.Client(http.streamable_http_client(served.mcp, http_client=connection), cache=None) as client,
        ):
            listed = await client.list_tools()
            offered = tuple(Tool(tool.name, tool.description or "", tool.input_schema) for tool in listed.tools)
            yield _EndpointTools(client, offered, (exceptions.MCPError, httpx2.HTTPError))
    except BaseExceptionGroup as group:
        raise _only_error(group) from None


def _only_error(error: BaseException) -> BaseException:
    """The underlying error: the client's task groups wrap every error that passes through, also those of others."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _packages() -> tuple[Any, ...]:
    names = ("httpx2", "mcp", "mcp.client.streamable_http", "mcp.shared.exceptions")
    return tuple(importlib.import_module(name) for name in names)
