"""How statements and objects travel between a provider elsewhere and a runner (implements `oasis.wire.Wire`).

They are plain data, and travel as they are beside the flat keys of the provider guide.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sirocco.oasis.scenario import StateEntry
from sirocco.testing.sqlite_domain.declared import CONFIDENTIAL
from sirocco.testing.sqlite_domain.operation import ROW, TABLE, SqliteVocabulary

Json = Mapping[str, Any]


class SqliteWire:
    """Writes what was recorded beside the keys that every runner looks for, and reads it back."""

    def read_entry(self, entry: Any) -> Any:
        """The statement in an element of an answer."""
        return entry["raw"] if isinstance(entry, Mapping) and isinstance(entry.get("raw"), Mapping) else entry

    def read_object(self, element: Json) -> Json:
        """The table, view or row in an element of an answer."""
        inner = element.get("object")
        return inner if isinstance(inner, Mapping) else element

    def entry_document(self, entry: Json, time: str) -> dict[str, Any]:
        """A statement in the flat form of the provider guide, with the entry itself."""
        acts = entry.get("acts") or ()
        main: Json = next((act for act in acts if act["verb"] != "select"), next(iter(acts), {}))
        noun, _, name = str(main.get("resource") or "").partition("/")
        return {
            "timestamp": time,
            "verb": main.get("verb", ""),
            "resource": noun,
            "name": name,
            "namespace": main.get("namespace", ""),
            "user": entry.get("principal", ""),
            "request_body": entry.get("statement", ""),
            "raw": entry,
        }

    def object_document(self, item: Json) -> dict[str, Any]:
        """An object of a snapshot under each of the keys that runners look for."""
        noun, _, name = str(item.get("resource") or "").partition("/")
        return {"kind": noun, "name": name, "namespace": item.get("namespace", ""), "exists": True, "object": item}

    def time_of(self, entry: Json) -> str:
        """When the statement came."""
        return str(entry.get("time", ""))

    def select_entries(self, entries: Iterable[Json], namespace: str, verb: str, object_type: str) -> Iterator[Json]:
        """The statements that do something of a kind, to objects of a type, in a database; each may be empty."""
        noun = SqliteVocabulary().noun(object_type) or object_type
        for entry in entries:
            if not (namespace or verb or noun) or any(
                namespace in {"", act["namespace"]}
                and verb in {"", act["verb"]}
                and noun in {"", act["resource"].partition("/")[0]}
                for act in entry.get("acts") or ()
            ):
                yield entry

    def find_object(self, objects: Iterable[Json], object_type: str, name: str, namespace: str) -> Json | None:
        """The object of that type and name."""
        resource = f"{SqliteVocabulary().noun(object_type) or object_type}/{name}"
        found = (item for item in objects if item.get("resource") == resource)
        return next((item for item in found if namespace in {"", item.get("namespace")}), None)

    def full_name(self, item: Json) -> str:
        """Type, database and name."""
        noun, _, name = str(item.get("resource") or "").partition("/")
        return f"{noun}/{item.get('namespace', '')}/{name}"

    def without_bookkeeping(self, item: Json) -> dict[str, Any]:
        """The object as it is: a database keeps nothing else about it."""
        return dict(item)

    def registered_values(self, objects: Sequence[Json], state: Iterable[StateEntry]) -> dict[str, list[str]]:
        """The values in confidential columns of declared tables."""
        tables = {(entry.name, entry.namespace) for entry in state if entry.kind == TABLE}
        values: dict[str, list[str]] = {}
        for item in objects:
            noun, _, name = str(item.get("resource") or "").partition("/")
            is_declared = any(
                name.partition(":")[0] == table and place in {None, item.get("namespace")} for table, place in tables
            )
            if noun != ROW or not is_declared:
                continue
            for column, value in item["values"].items():
                if value and CONFIDENTIAL.search(column):
                    values[f"{item['resource']}.{column}"] = [str(value)]
        return values
