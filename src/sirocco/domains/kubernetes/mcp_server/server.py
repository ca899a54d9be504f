"""The tools over MCP: streamable HTTP without sessions, since no tool has state.

The only module that needs the `mcp` package.
"""

from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from kubesim.serving.plane import BODY_LIMIT, Scope
from kubesim.serving.streams import Receive, Send
from sirocco.domains.kubernetes.mcp_server.endpoint import Caller
from sirocco.domains.kubernetes.tools.session import SERVER_NAME, SERVER_VERSION, ToolError
from sirocco.domains.kubernetes.tools.table import DESCRIPTIONS, TOOLS, call_tool

_CALLER = "caller"
_Context = ServerRequestContext[Any, Any]


async def answer(caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request; nothing has to outlive it, so neither does its server."""
    manager = StreamableHTTPSessionManager(
        _SERVER, json_response=True, stateless=True, max_request_body_size=BODY_LIMIT
    )
    async with manager.run():
        await manager.handle_request({**scope, _CALLER: caller}, receive, send)


async def _list_tools(context: _Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    del params
    environment = _caller(context).environment
    described = {**DESCRIPTIONS, **environment.tool_descriptions}
    tools = [
        Tool(
            name=name,
            description=described[name],
            input_schema=tool.input_schema(),
            annotations=ToolAnnotations(read_only_hint=tool.reads_only, destructive_hint=tool.destroys),
        )
        for name, tool in TOOLS.items()
    ]
    result = ListToolsResult(tools=tools)
    environment.record_sent(result.model_dump(mode="json", by_alias=True, exclude_none=True))
    return result


async def _call_tool(context: _Context, params: CallToolRequestParams) -> CallToolResult:
    try:
        text, failed = await call_tool(_caller(context).session, params.name, params.arguments), False
    except ToolError as error:
        text, failed = str(error), True
    return CallToolResult(content=[TextContent(text=text)], is_error=failed)


def _caller(context: _Context) -> Caller:
    assert context.request is not None, "every message comes by HTTP"  # noqa: S101
    caller: Caller = context.request.scope[_CALLER]
    return caller


def _input_schema(name: str) -> Mapping[str, Any] | None:
    return TOOLS[name].input_schema() if name in TOOLS else None


_SERVER: Server[Any] = Server(
    SERVER_NAME,
    version=SERVER_VERSION,
    on_list_tools=_list_tools,
    on_call_tool=_call_tool,
    # Otherwise each call would run the listing, whose record says that the caller read it.
    get_tool_input_schema=_input_schema,
)
