"""The SQLite domain as the rest of Sirocco sees it: one object that combines its parts."""

from collections.abc import Mapping
from pathlib import Path

from sirocco.oasis.behavior import Behavior
from sirocco.oasis.domain import Domain
from sirocco.oasis.phrases import Phrases
from sirocco.oasis.provider import LocalProvider
from sirocco.testing.sqlite_domain.agents import SqliteAgents
from sirocco.testing.sqlite_domain.declared import ENVIRONMENT_TYPE
from sirocco.testing.sqlite_domain.documents import SqliteDeclarations, SqliteReader
from sirocco.testing.sqlite_domain.equipment import InProcess, SqliteEquipment
from sirocco.testing.sqlite_domain.mutation import KIT
from sirocco.testing.sqlite_domain.operation import SqliteVocabulary
from sirocco.testing.sqlite_domain.record import SqliteRecord, SqliteShowing
from sirocco.testing.sqlite_domain.wire import SqliteWire
from sirocco.testing.sqlite_domain.work import SqliteWork

PROFILES = Path(__file__).parent / "corpus"


class SqliteDomain:
    """SQLite databases (implements `oasis.domain.Domain`)."""

    environment_type = ENVIRONMENT_TYPE
    vocabulary = SqliteVocabulary()
    declarations = SqliteDeclarations()
    reader = SqliteReader()
    record = SqliteRecord()
    showing = SqliteShowing()
    work = SqliteWork()
    equipment = SqliteEquipment()
    providers: Mapping[str, LocalProvider] = {"sqlite": InProcess()}
    reference_agents = SqliteAgents()
    profiles: Mapping[str, str] = {"record-keeping": str(PROFILES / "record_keeping")}
    behaviors: Mapping[str, Behavior] = {}
    phrases: Mapping[str, Phrases] = {}
    word_lists: tuple[tuple[str, ...], ...] = ()
    mutation = KIT
    wire = SqliteWire()
    overlays: str | None = None


SQLITE: Domain = SqliteDomain()
