"""The table of all tools, with the descriptions that callers read unless an environment gives others."""

from collections.abc import Mapping
from typing import Any

from sirocco.domains.kubernetes.tools.kubernetes_tools import KUBERNETES_TOOLS
from sirocco.domains.kubernetes.tools.service_tools import SERVICE_TOOLS
from sirocco.domains.kubernetes.tools.session import Session, ToolError
from sirocco.domains.kubernetes.tools.tool import Tool
from sirocco.errors import ProviderFault

TOOLS: Mapping[str, type[Tool]] = {**KUBERNETES_TOOLS, **SERVICE_TOOLS}
DESCRIPTIONS: Mapping[str, str] = {name: tool.description() for name, tool in TOOLS.items()}


async def call_tool(session: Session, name: str, arguments: Any) -> str:
    """The answer of a tool, preceded by the API's warnings; raise ToolError if it fails."""
    tool = TOOLS.get(name)
    if tool is None:
        raise ToolError(f"unknown tool: {name}")
    try:
        text = await tool.from_arguments(arguments).call(session)
    except ToolError as error:
        raise ToolError(_with_warnings(session, str(error))) from None
    except RecursionError:
        raise ToolError("invalid arguments: too deeply nested") from None
    except ProviderFault:
        # What the environment says about itself is not for the caller.
        raise ToolError("the server is currently unable to handle the request") from None
    return _with_warnings(session, text)


def _with_warnings(session: Session, text: str) -> str:
    return "\n".join([*(f"Warning: {warning}" for warning in session.warnings), text])
