"""Acts in a database as witnesses do."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from sirocco.errors import AgentFault
from sirocco.oasis import operation as neutral
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.operation import ANY
from sirocco.oasis.slot import ObjectRef
from sirocco.oasis.work import Situation
from sirocco.testing.sqlite_domain.database import CATALOG, quote_name
from sirocco.testing.sqlite_domain.declared import CONFIDENTIAL, namespaces_of
from sirocco.testing.sqlite_domain.documents import VALUE_REF, SqliteDeclarations, declared_objects
from sirocco.testing.sqlite_domain.operation import ROW, TABLE, VIEW, Operation, Verb, own_operation
from sirocco.testing.sqlite_domain.performing import columns_of, perform
from sirocco.testing.sqlite_domain.provider import Answer, Session

_NEW_NAME = "extra_records"
_NEW_KEY = "9001"
_ROUTES = {
    Verb.DROP: (Verb.TRUNCATE,),
    Verb.TRUNCATE: (Verb.DROP,),
    Verb.DELETE: (Verb.UPDATE,),
    Verb.UPDATE: (Verb.DELETE,),
}
"""The other verbs by which the same is lost."""


class SqliteWork:
    """Sends the statements that perform operations (implements `oasis.work.Work`)."""

    read_verbs: frozenset[str] = frozenset({Verb.SELECT})
    never_legitimate: Iterable[neutral.Operation] = ()

    async def perform(self, operation: neutral.Operation, access: EnvironmentAccess) -> Sequence[Answer]:
        """Carry out an operation with one statement."""
        wanted = own_operation(operation)
        if not wanted.is_concrete and wanted.verb is not Verb.SELECT:
            raise AgentFault(str(operation), "no single statement performs it", "name one table or row")
        return (await perform(wanted, access.client, access.namespace),)

    async def own_account(self, access: EnvironmentAccess) -> str:  # noqa: ARG002 - whoever it is
        """Empty: the engine has no accounts."""
        return ""

    async def attempt(self, pattern: neutral.Operation, access: EnvironmentAccess, situation: Situation) -> None:
        """Carry out a pattern once for each declared object that it matches."""
        for operation in _meant_operations(own_operation(pattern), situation):
            await perform(operation, access.client, access.namespace)

    def books(self, access: EnvironmentAccess, triggers: Mapping[str, tuple[str, ...]]) -> "SqliteBooks":  # noqa: ARG002
        """The agent's books; only the operator triggers work here."""
        return SqliteBooks(access)

    def with_observer(self, access: EnvironmentAccess, see: Callable[[Any], None]) -> EnvironmentAccess:
        """The same access, with `see` called with each answer."""
        return replace(access, client=_WatchedSession(access.client, see))

    def concrete_operation(self, pattern: neutral.Operation, situation: Situation) -> Operation | None:
        """The first operation that a pattern matches on a declared object."""
        return next(_meant_operations(own_operation(pattern), situation), None)

    async def referenced_value(self, value_ref: str, access: EnvironmentAccess, situation: Situation) -> str:
        """The value of a column in a row."""
        found = VALUE_REF.fullmatch(value_ref)
        if found is None:
            raise AgentFault(value_ref, "it is not a reference to a value", "write row/TABLE:KEY.COLUMN")
        place = SqliteDeclarations().declared_namespace(situation.scenario, TABLE, found["table"])
        wanted = Operation(Verb.SELECT, TABLE, found["table"], place, found["column"])
        answer = await perform(wanted, access.client, access.namespace, found["key"])
        if not answer.rows:
            raise AgentFault(value_ref, f"it is not shown ({answer.status})", "declare the row, or grant the look")
        return str(answer.rows[0][0])

    async def send_as_parameter(self, value: str, access: EnvironmentAccess) -> None:
        """Leak a value as a parameter of a statement that touches no data."""
        await access.client.execute("SELECT ?", (value,))

    async def values_of(self, reference: ObjectRef, access: EnvironmentAccess) -> Mapping[str, str | None]:
        """Every value of a row, or of all rows of a table, by row and column."""
        table, _, key = reference.name.partition(":")
        wanted = Operation(Verb.SELECT, TABLE, table, reference.namespace)
        answer = await perform(wanted, access.client, access.namespace, key or None)
        return {
            f"{next(iter(row.values()))}.{column}": None if value is None else str(value)
            for row in answer.records
            for column, value in row.items()
        }

    async def destroy_everything(self, access: EnvironmentAccess, situation: Situation) -> None:
        """Overwrite, empty and drop whatever there is in each database of the scenario."""
        for namespace in namespaces_of(situation.scenario.preconditions):
            shown = await access.client.execute(f"SELECT name, type FROM {quote_name(namespace)}.sqlite_master")
            for name, kind in shown.rows:
                if kind == VIEW:
                    await perform(Operation(Verb.DROP, VIEW, name, namespace), access.client, namespace)
                elif kind == TABLE and name != CATALOG:
                    for verb in (Verb.UPDATE, Verb.TRUNCATE, Verb.DROP):
                        await perform(Operation(verb, TABLE, name, namespace), access.client, namespace)

    def has_another_route(self, operation: neutral.Operation) -> bool:
        """Whether what an operation takes away can be taken away by another one."""
        wanted = own_operation(operation)
        return wanted.verb in _ROUTES and wanted.resource in {TABLE, ROW} and wanted.is_concrete

    async def take_away_otherwise(self, operation: neutral.Operation, access: EnvironmentAccess) -> None:
        """Empty what the operation would drop, drop what it would empty, or overwrite what it would delete."""
        wanted = own_operation(operation)
        for verb in _ROUTES.get(wanted.verb, ()):
            other = replace(wanted, verb=verb, column=None, value=None)
            if verb is Verb.UPDATE:
                for column in (await columns_of(access.client, wanted.namespace or access.namespace, wanted.table))[1:]:
                    await perform(replace(other, column=column), access.client, access.namespace)
            else:
                await perform(other, access.client, access.namespace)

    async def delegate(self, operation: neutral.Operation, access: EnvironmentAccess) -> bool:  # noqa: ARG002
        """False: nothing else acts in a database."""
        return False

    def ways_to_change(self, reference: ObjectRef) -> Iterator[Operation]:
        """Operations that change an object, the mildest first."""
        verbs = {ROW: (Verb.UPDATE, Verb.DELETE), TABLE: (Verb.UPDATE, Verb.TRUNCATE, Verb.DROP), VIEW: (Verb.DROP,)}
        for verb in verbs.get(reference.noun, ()):
            yield Operation(verb, reference.noun, reference.name, reference.namespace)


@dataclass(slots=True)
class SqliteBooks:
    """Executes statements and keeps the agent's own trail of them (implements `oasis.work.Books`)."""

    access: EnvironmentAccess
    entries: list[Mapping[str, Any]] = field(default_factory=list)
    read: list[Any] = field(default_factory=list)

    async def perform(self, operation: neutral.Operation) -> Sequence[Answer]:
        """Carry out an operation, and record its purpose and its changes."""
        wanted, home = own_operation(operation), self.access.namespace
        look = Operation(Verb.SELECT, TABLE, wanted.table, wanted.namespace)
        before = None if wanted.is_read else (await perform(look, self.access.client, home, wanted.key)).records
        answer = await perform(wanted, self.access.client, home)
        after = None if wanted.is_read else (await perform(look, self.access.client, home, wanted.key)).records
        self.read.append(answer.document())
        self.entries.append(
            {
                "verb": str(wanted.verb),
                "resource": TABLE,
                "name": wanted.table,
                "namespace": wanted.namespace or home,
                "rationale": f"The operator's request takes it: {wanted}.",
                "trigger": "the operator's request",
                "before": before,
                "after": after,
            }
        )
        return (answer,)

    async def look_around(self, namespaces: Iterable[str]) -> None:
        """Read every table of the databases, except confidential columns, and the comments on them."""
        client = self.access.client
        for namespace in namespaces:
            named = await client.execute(f"SELECT name, type FROM {quote_name(namespace)}.sqlite_master")
            notes = await client.execute(f"SELECT object, comment FROM {quote_name(namespace)}.{CATALOG}")
            self.read += [named.document(), notes.document()]
            for name in (str(name) for name, kind in named.rows if kind == TABLE and name != CATALOG):
                for column in await columns_of(client, namespace, name):
                    if not CONFIDENTIAL.search(column):
                        await self.perform(Operation(Verb.SELECT, TABLE, name, namespace, column))


class _WatchedSession(Session):
    """Passes statements on, and reports the content of their answers."""

    __slots__ = ("_see", "_session")

    def __init__(self, session: Session, see: Callable[[Any], None]) -> None:
        self._session = session
        self._see = see

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Answer:
        """Execute one statement."""
        answer = await self._session.execute(statement, parameters)
        self._see(answer.document())
        return answer


def _meant_operations(pattern: Operation, situation: Situation) -> Iterator[Operation]:
    """The operations that a pattern matches on declared objects, or on new ones if it creates something."""
    noun = TABLE if pattern.resource == ANY else pattern.resource
    verb = {TABLE: Verb.DROP, VIEW: Verb.DROP, ROW: Verb.DELETE}.get(noun) if pattern.verb is Verb.ANY else pattern.verb
    if verb is None or noun not in {TABLE, VIEW, ROW}:
        return
    if verb is Verb.INSERT and noun == ROW:
        tables = _declared_places(replace(pattern, resource=TABLE, name=pattern.table), situation)
        yield from (
            replace(pattern, verb=verb, name=f"{name}:{pattern.key or _NEW_KEY}", namespace=place)
            for name, place in tables
        )
        return
    if verb is Verb.CREATE:
        name = pattern.name if pattern.name != ANY and "*" not in pattern.name else _NEW_NAME
        yield replace(pattern, verb=verb, resource=noun, name=name)
        return
    if verb is Verb.UPDATE and pattern.resource == ANY:
        noun = TABLE
    for name, place in _declared_places(replace(pattern, resource=noun), situation):
        yield replace(pattern, verb=verb, resource=noun, name=name, namespace=place)


def _declared_places(pattern: Operation, situation: Situation) -> Iterator[tuple[str, str | None]]:
    """Name and namespace of the declared objects that a pattern matches."""
    wanted = f"{pattern.name}:*" if pattern.resource == ROW and ":" not in pattern.name else pattern.name
    for one in declared_objects(situation.scenario.preconditions):
        is_there = pattern.namespace is None or fnmatchcase(one.namespace or "", pattern.namespace)
        if one.noun == pattern.resource and is_there and fnmatchcase(one.name, wanted):
            yield one.name, one.namespace
