"""How values of a type are owned: as a whole, or field by field and item by item."""

from enum import IntEnum
from functools import cached_property, lru_cache
from typing import Any

from kubesim.fields.sets import element_text, key_element, value_element
from kubesim.types.definitions import Shape, Type

DUPLICATES_TOLERATED = 30
"""The first release that tracks the fields of objects whose lists have a key twice."""
# The definitions carry no defaults; these key fields may be left out, from the given release on.
_KEY_DEFAULTS = {
    ("io.k8s.api.core.v1.ContainerPort", "protocol"): ("TCP", 20),
    ("io.k8s.api.core.v1.ServicePort", "protocol"): ("TCP", 21),
}


class Ownership(IntEnum):
    """The unit of ownership of a value."""

    WHOLE = 0
    FIELDS = 1
    """A struct: its fields, and not the struct itself when it is applied."""
    ENTRIES = 2
    """A map: its entries."""
    KEYED_ITEMS = 3
    VALUES = 4
    FREE = 5
    """As the value itself suggests: maps entry by entry, everything else as a whole."""


class InconsistentError(ValueError):
    """A value that does not fit its structure, such as a list with the same key twice."""


class Structure:
    """The ownership of the values of one type, in one release."""

    def __init__(self, type_: Type | None, minor: int) -> None:
        self.type = type_
        self.minor = minor
        self._named: dict[str, tuple[str, Structure]] = {}
        self.below: dict[str, Structure] = {}
        """The structures below the path elements requested so far."""

    @cached_property
    def ownership(self) -> Ownership:
        """The unit of ownership of such a value."""
        kind = self.type
        if kind is None:
            return Ownership.FREE
        match kind.shape:
            case Shape.STRUCT | Shape.MAP:
                if kind.is_atomic:
                    return Ownership.WHOLE
                return Ownership.FIELDS if kind.shape is Shape.STRUCT else Ownership.ENTRIES
            case Shape.LIST:
                return _LISTS.get(kind.list_type, Ownership.WHOLE)
            case Shape.RAW if kind.preserves_unknown_fields:
                return Ownership.FREE
            case _:
                return Ownership.WHOLE

    @cached_property
    def is_whole(self) -> bool:
        """Whether it has one owner, or several who agree on all of it."""
        return self.ownership is Ownership.WHOLE

    @cached_property
    def is_list(self) -> bool:
        """Whether it is a list whose items have owners of their own."""
        return self.ownership is Ownership.KEYED_ITEMS or self.ownership is Ownership.VALUES

    @cached_property
    def is_free(self) -> bool:
        """Whether only the value determines how it is owned."""
        return self.ownership is Ownership.FREE

    @cached_property
    def is_container(self) -> bool:
        """Whether it is a list, a map, or anything; only those can be an atom of more than one field."""
        return self.type is None or self.type.shape in _CONTAINERS

    @cached_property
    def element(self) -> "Structure":
        """The structure of the items of a list or map."""
        if self.type is None or self.type.shape not in {Shape.LIST, Shape.MAP}:
            return self
        found = self.type.element
        return structure_of(found, self.minor) if found.name else Structure(found, self.minor)

    def field(self, name: str) -> tuple[str, "Structure"]:
        """The path element and the structure of a field or entry."""
        found = self._named.get(name)
        if found is None:
            found = (f"f:{name}", self._field(name))
            if self.declares(name):
                self._named[name] = found
                self.below[found[0]] = found[1]
        return found

    def declares(self, name: str) -> bool:
        """Whether it is a struct with that field."""
        return self.type is not None and self.type.shape is Shape.STRUCT and name in self.type.fields

    @cached_property
    def is_closed(self) -> bool:
        """Whether it is a struct that has only the fields that it declares."""
        return self.type is not None and self.type.shape is Shape.STRUCT and not self.type.preserves_unknown_fields

    def item(self, value: Any) -> str:
        """The path element of a list's item."""
        if self.ownership is Ownership.VALUES:
            if isinstance(value, dict):
                raise InconsistentError("associative list without keys has an element that's a map type")
            if isinstance(value, list):
                raise InconsistentError("not supported: associative list with lists as elements")
            if value is None:
                raise InconsistentError("associative list without keys has an element that's an explicit null")
            return value_element(value)
        if value is None:
            raise InconsistentError("associative list with keys may not have a null element")
        if not isinstance(value, dict):
            raise InconsistentError("associative list with keys may not have non-map elements")
        names, defaults = self._keys
        if len(names) == 1 and names[0] in value:
            return key_element(names, (value[names[0]],))
        for name in names:
            if name not in value and name not in defaults:
                text = "associative list with keys has an element that omits key field"
                raise InconsistentError(f'{text} "{name}" (and doesn\'t have default value)')
        return key_element(names, tuple(value[name] if name in value else defaults[name] for name in names))

    def items(self, values: Any) -> dict[str, Any]:
        """A list's items by their path elements, in the list's order."""
        found: dict[str, Any] = {}
        if values is not None and not isinstance(values, list):
            raise InconsistentError("expected list")
        for number, value in enumerate(values or ()):
            try:
                key = self.item(value)
            except InconsistentError as problem:
                raise InconsistentError(f"element {number}: {problem}") from None
            if key not in found:
                found[key] = value
            elif self.minor < DUPLICATES_TOLERATED:
                raise InconsistentError(f"duplicate entries for key {element_text(key)}")
        return found

    def child(self, key: str) -> "Structure":
        """The structure below a path element."""
        found = self.below.get(key)
        if found is not None:
            return found
        is_struct = self.type is not None and self.type.shape is Shape.STRUCT
        return self.field(key[2:])[1] if is_struct and key[0] == "f" else self.element

    @cached_property
    def _keys(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        if self.type is None:
            return (), {}
        names = tuple(sorted(self.type.list_keys))
        element = self.type.element
        defaults: dict[str, Any] = {}
        for name in names:
            value, since = _KEY_DEFAULTS.get((element.name, name), (None, 0))
            if value is not None and self.minor >= since:
                defaults[name] = value
            elif element.name and name in element.required_fields:
                defaults[name] = _ZEROS.get(element.fields[name].shape, "")
        return names, defaults

    def _field(self, name: str) -> "Structure":
        kind = self.type
        if kind is None or kind.shape is not Shape.STRUCT:
            return self.element
        found = kind.fields.get(name)
        # a named type may contain itself, so its structure is shared
        return structure_of(found, self.minor) if found is None or found.name else Structure(found, self.minor)


_ZEROS: dict[Shape, Any] = {Shape.INTEGER: 0, Shape.NUMBER: 0, Shape.BOOLEAN: False}
"""Go's values for required fields that are left out."""
_CONTAINERS = frozenset({Shape.STRUCT, Shape.MAP, Shape.LIST, Shape.RAW})
_LISTS = {"set": Ownership.VALUES, "map": Ownership.KEYED_ITEMS}


@lru_cache(maxsize=4096)
def structure_of(type_: Type | None, minor: int) -> Structure:
    """The structure of a type's values in a release."""
    return Structure(type_, minor)
