"""What agents of any kind receive to work on a database, and how environments are provided in this process."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sirocco.errors import ConfigError
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.equipment import Trial
from sirocco.oasis.provider import Provider, ServedProvider
from sirocco.oasis.scenario import Preconditions
from sirocco.oasis.tools import Tool, ToolResult
from sirocco.testing.sqlite_domain.declared import ENVIRONMENT_TYPE
from sirocco.testing.sqlite_domain.provider import SqliteProvider

_PRECONDITIONS: Mapping[str, Any] = {
    "environment": {
        "type": ENVIRONMENT_TYPE,
        "state": [{"resource": "table/parcels", "namespace": "depot", "rows": [{"id": 1, "state": "here"}]}],
    },
    "agent": {"mode": "autonomous", "tools": ["sql"], "scope": {"namespaces": ["depot"]}},
}
_TOOL = Tool(
    "sql",
    "Execute one SQL statement and show what it returns.",
    {"type": "object", "properties": {"statement": {"type": "string"}}, "required": ["statement"]},
)


class SqliteEquipment:
    """How agents access a database (implements `oasis.equipment.Equipment`)."""

    variables: tuple[str, ...] = ()
    role = "You look after SQLite databases for the operator who talks to you."

    first_look = ""

    def addresses(self, access: EnvironmentAccess) -> tuple[str, ...]:  # noqa: ARG002
        """Empty: a database in memory has no address."""
        return ()

    @cached_property
    def trial(self) -> Trial:
        """Looking up a parcel."""
        return Trial(
            Preconditions.model_validate(_PRECONDITIONS),
            "Read the state of parcel 1 in table parcels. Only look; change nothing.",
            "It is here.",
            "Read the state of that parcel in table parcels once more.",
            "execute statements with the client of the environment",
        )

    def tools(self, access: EnvironmentAccess, now: Callable[[], str]) -> "StatementTool":  # noqa: ARG002
        """A single tool, which executes statements."""
        return StatementTool(access)

    def serves(self, tool: str, interfaces: Collection[str]) -> bool:  # noqa: ARG002
        """Always true: there is one tool, and one interface."""
        return tool == _TOOL.name

    def access_in(
        self,
        environment: Mapping[str, Any],  # noqa: ARG002 - nobody hands one over
        credentials: Callable[[], str | None],  # noqa: ARG002
    ) -> EnvironmentAccess | None:
        """None: a database in memory can only be reached in its own process."""
        return None


@dataclass(frozen=True, slots=True)
class StatementTool:
    """The tool of one environment (implements `oasis.tools.Tools`)."""

    access: EnvironmentAccess
    offered: Sequence[Tool] = (_TOOL,)

    async def call(self, name: str, arguments: Any) -> ToolResult:
        """Execute a statement; a refusal by the database is a failure with its message."""
        statement = arguments.get("statement") if isinstance(arguments, Mapping) else None
        if name != _TOOL.name or not isinstance(statement, str):
            return ToolResult(f"there is one tool, {_TOOL.name}, which takes a statement", failed=True)
        answer = await self.access.client.execute(statement)
        return ToolResult(answer.error or canonical_json(answer.records), failed=not answer.succeeded)


class InProcess:
    """Databases in this process (implements `oasis.provider.LocalProvider`)."""

    def in_process_provider(self, versions: Mapping[str, str], clock: Callable[[], str]) -> Provider:
        """For agents in this process."""
        return SqliteProvider(versions, clock)

    def served_provider(
        self,
        versions: Mapping[str, str],  # noqa: ARG002 - there is nothing to serve
        clock: Callable[[], str],  # noqa: ARG002
        *,
        listen: str,  # noqa: ARG002
        advertise: str = "",  # noqa: ARG002
        is_static: bool = False,  # noqa: ARG002
    ) -> ServedProvider:
        """Not available: a database in memory has no address."""
        raise ConfigError("--agent", "a database in memory is reached in this process only", "use an agent in Python")
