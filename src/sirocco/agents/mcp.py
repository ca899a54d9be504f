"""Agents that are MCP servers with a tool for tasks: `mcp:URL`, or `mcp:cmd:PROGRAM ARGS` over pipes.

Each turn has its own session and, with a command, its own process. This is the only module here that needs the `mcp`
package.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, TextContent, Tool, jsonrpc_message_adapter

from sirocco.agents.child import NO_FILES, Child, Files, running_child
from sirocco.agents.command import files_of, readdressed_request
from sirocco.agents.confinement import Confinement
from sirocco.agents.contract import (
    ANSWER_LIMIT,
    description_of,
    document_of,
    excerpt,
    identity_of,
    oversize_fault,
    response_of,
)  # fmt: skip
from sirocco.agents.http import url_for_messages
from sirocco.agents.program import Program
from sirocco.agents.workers import timed_out
from sirocco.errors import AgentFault, AgentFaultKind
from sirocco.oasis.agent import AgentDescription, AgentRequest, AgentResponse

TASK_TOOLS = ("task", "run_task", "execute_task", "respond")
"""The names by which a tool for tasks is recognized among others."""
IDENTITY_TOOLS = ("identity-and-configuration", "identity_and_configuration")
_WHOLE = "request"
"""The argument that takes the whole request, for a tool without an argument for the prompt."""
_DESCRIBING_SECONDS = 60.0
_CONNECT_SECONDS = 10.0
_PAGES = 20
_PAUSE = 0.2

_T = TypeVar("_T")
Connect = Callable[[Files], AbstractAsyncContextManager[Client]]
"""Opens a session for a turn, with the files that lead to its environment, if it has one."""


class McpAgent:
    """An MCP server as an agent; `tool` names its tool for tasks if that is not obvious."""

    def __init__(
        self, where: str, connect: Connect, isolation: str, *, tool: str = "", means: str = "", note: str = "",
        readdress: Callable[[AgentRequest], AgentRequest] = lambda request: request,
    ) -> None:  # fmt: skip
        self._where = where
        self._readdress = readdress
        self._connect = connect
        self._tool = tool
        self.isolation = isolation
        self.isolation_means = means
        self.isolation_note = note

    async def describe(self) -> AgentDescription:
        """The identity from its identity tool, or else the server's name and version."""

        async def describe_client(client: Client) -> AgentDescription:
            tools = await _tools(client)
            self._task_tool(tools)
            for name in IDENTITY_TOOLS:
                if name in tools:
                    result = await client.call_tool(name, {})
                    return description_of(self._document(result), self._where)
            info = client.server_info
            name, version = (info.name, info.version) if info else ("unnamed", "unknown")
            return AgentDescription(identity=identity_of(name, version or "unknown"))

        return await self._in_session(describe_client, _DESCRIBING_SECONDS)

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Call its tool with the request."""
        request = self._readdress(request)

        async def answer_request(client: Client) -> AgentResponse:
            tool = self._task_tool(await _tools(client))
            result = await client.call_tool(tool.name, self._arguments(tool, request.document()))
            return response_of(self._document(result), self._where)

        return await self._in_session(answer_request, request.deadline_seconds, files_of(request))

    async def _in_session(self, work: Callable[[Client], Awaitable[_T]], seconds: float, files: Files = NO_FILES) -> _T:
        """Do something in a fresh session; only a failure to connect is retried, once."""
        try:
            async with asyncio.timeout(seconds):
                try:
                    return await self._with_client(work, files)
                except AgentFault as fault:
                    if fault.kind is not AgentFaultKind.UNREACHABLE:
                        raise
                await asyncio.sleep(_PAUSE)
                return await self._with_client(work, files)
        except TimeoutError as error:
            raise timed_out(self._where, seconds) from error

    async def _with_client(self, work: Callable[[Client], Awaitable[_T]], files: Files) -> _T:
        try:
            async with self._connect(files) as client:
                return await work(client)
        except (Exception, BaseExceptionGroup) as error:
            causes = _leaves(error)
            if fault := next((cause for cause in causes if isinstance(cause, AgentFault)), None):
                raise fault from None
            if any(not isinstance(cause, Exception) for cause in causes):
                raise
            raise self._fault(causes[0]) from error

    def _fault(self, error: BaseException) -> AgentFault:
        said = excerpt(str(error).encode()) or type(error).__name__
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            remedy = "start the server, and check host and port"
            return AgentFault(self._where, f"no answer: {said}", remedy, AgentFaultKind.UNREACHABLE)
        if isinstance(error, MCPError):
            return AgentFault(self._where, said, "see the server's own log", AgentFaultKind.REFUSED)
        return AgentFault(self._where, f"{type(error).__name__}: {said}", "check that it is an MCP server")

    def _task_tool(self, tools: Mapping[str, Tool]) -> Tool:
        """The tool that takes a turn: the configured one, one with a known name, or the only one."""
        offered = ", ".join(sorted(tools)) or "none"
        if self._tool:
            if self._tool in tools:
                return tools[self._tool]
            problem, remedy = f"it has no tool {self._tool!r}", f"its tools: {offered}"
            raise AgentFault(self._where, problem, remedy, AgentFaultKind.WRONG_TYPE)
        for name in TASK_TOOLS:
            if name in tools:
                return tools[name]
        others = [tool for name, tool in tools.items() if name not in IDENTITY_TOOLS]
        if len(others) == 1:
            return others[0]
        problem = f"it is unclear which of its tools is the one for tasks: {offered}"
        raise AgentFault(self._where, problem, "name it with --agent-tool NAME", AgentFaultKind.WRONG_TYPE)

    def _arguments(self, tool: Tool, document: dict[str, Any]) -> dict[str, Any]:
        """The arguments for a request, limited to those in the tool's schema."""
        declared = tool.input_schema.get("properties") or {}
        if not declared:
            return document
        if "prompt" in declared:
            return {key: value for key, value in document.items() if key in declared}
        if _WHOLE in declared:
            return {_WHOLE: document}
        problem = f"tool {tool.name!r} takes {', '.join(declared)}, but neither prompt nor {_WHOLE}"
        remedy = "give it an argument prompt, and others named as in docs/agents.md"
        raise AgentFault(self._where, problem, remedy, AgentFaultKind.WRONG_TYPE)

    def _document(self, result: CallToolResult) -> Any:
        """The answer in a tool's result: its structured content, else the JSON in its text, else the text itself."""
        text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
        if result.is_error:
            remedy = "answer with what could be done; an error says that the agent is broken"
            raise AgentFault(self._where, excerpt(text.encode()) or "its tool failed", remedy, AgentFaultKind.REFUSED)
        if len(text) > ANSWER_LIMIT:
            raise oversize_fault(self._where)
        held = result.structured_content
        if isinstance(held, dict) and set(held) == {"result"}:
            # How servers based on the official package wrap a plain value.
            held = held["result"]
        if isinstance(held, dict):
            return document_of(json.dumps(held).encode(), self._where)
        said = held if isinstance(held, str) else text
        if said.lstrip().startswith("{"):
            return document_of(said.encode(errors="replace"), self._where)
        return {"final_answer": said.encode(errors="replace").decode()}


def mcp_at_url(url: str, headers: Mapping[str, str], tool: str = "") -> McpAgent:
    """A server reached over streamable HTTP."""
    timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS)

    @asynccontextmanager
    async def connect(files: Files) -> AsyncIterator[Client]:
        del files
        async with httpx2.AsyncClient(headers=dict(headers), timeout=timeout) as http:
            transport = streamable_http_client(url, http_client=http, max_sse_event_size=ANSWER_LIMIT)
            async with Client(transport, cache=None) as client:
                yield client

    return McpAgent(f"mcp:{url_for_messages(url)}", connect, "network", tool=tool)


def mcp_command(program: Program, confined: Confinement, tool: str = "") -> McpAgent:
    """A server that is started for every turn and communicates over its standard input and output."""
    where = f"mcp:cmd:{program.given}"

    @asynccontextmanager
    async def connect(files: Files) -> AsyncIterator[Client]:
        async with (
            running_child(where, program.words, confined, files) as child,
            Client(_process_streams(child), cache=None) as client,
        ):
            yield client

    return McpAgent(
        where, connect, confined.isolation, tool=tool, means=confined.mechanism_name, note=confined.note,
        readdress=lambda request: readdressed_request(request, confined),
    )  # fmt: skip


@asynccontextmanager
async def _process_streams(child: Child) -> AsyncIterator[Any]:
    """The streams that a session reads and writes, connected to a process."""
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](8)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](8)

    async def receive() -> None:
        async with incoming:
            while True:
                line = await child.line()
                try:
                    await incoming.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
                except ValueError as error:
                    await incoming.send(error)

    async def send() -> None:
        async with outgoing:
            async for message in outgoing:
                child.send(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async with read, write, anyio.create_task_group() as group:
        group.start_soon(receive)
        group.start_soon(send)
        yield read, write
        group.cancel_scope.cancel()


async def _tools(client: Client) -> dict[str, Tool]:
    tools: dict[str, Tool] = {}
    cursor = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools |= {tool.name: tool for tool in page.tools}
        cursor = page.next_cursor
        if not cursor:
            break
    return tools


def _leaves(error: BaseException) -> list[BaseException]:
    """The single errors in a group, in order; those of the transport come before their consequences."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for part in error.exceptions for leaf in _leaves(part)]
    return [error]
