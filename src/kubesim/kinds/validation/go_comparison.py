"""Two values of the server's internal types compared part by part."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kubesim.kinds.validation.edits import Edit, edits
from kubesim.kinds.validation.go_values import field_of, go_fields, underlying
from kubesim.types.quantity import quantity

_QUANTITY = "resource.Quantity"
_HOST_FIELDS = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace")


class Missing:
    """Stands for an element or entry that one of the two values lacks."""


MISSING = Missing()


def semantically_equal(type_name: str, one: Any, other: Any) -> bool:
    """Whether two values mean the same to the server: empty equals absent, and quantities are compared as numbers."""
    if one == other:
        return True
    return _equal(type_name, internal_form(type_name, one), internal_form(type_name, other))


def internal_form(type_name: str, value: Any) -> Any:
    """A pod's spec in the server's internal form: what it shares with its host belongs to its security context."""
    if type_name != "core.PodSpec" or not isinstance(value, dict):
        return value
    context = {**(value.get("securityContext") or {}), **{key: value[key] for key in _HOST_FIELDS if key in value}}
    return {**value, "securityContext": context}


def _equal(type_name: str, one: Any, other: Any) -> bool:
    if one == other:
        return True
    bare = type_name.removeprefix("*")
    if bare == _QUANTITY:
        return quantity(str(one or "0")) == quantity(str(other or "0"))
    fields = go_fields(bare)
    if fields is not None:
        if type_name.startswith("*") and (one is None) is not (other is None):
            return False
        left, right = one or {}, other or {}
        return all(_equal(row.type, field_of(left, row), field_of(right, row)) for row in fields)
    made_of = underlying(bare)
    if made_of.startswith("[]"):
        left, right = one or [], other or []
        return len(left) == len(right) and all(_equal(made_of[2:], a, b) for a, b in zip(left, right, strict=True))
    if made_of.startswith("map["):
        left, right = one or {}, other or {}
        inner = made_of.partition("]")[2]
        return left.keys() == right.keys() and all(_equal(inner, left[key], right[key]) for key in left)
    if type_name.startswith("*"):
        return bool(one == other)
    return bool((one or None) == (other or None))


@dataclass(slots=True)
class Comparison:
    """Two values of one type with the comparison of their parts."""

    type: str
    one: Any
    other: Any
    parent: str = ""
    same: int = 0
    different: int = 0
    children: int = 0
    depth: int = 0
    records: "list[tuple[str, Comparison]]" = field(default_factory=list)
    pointed: "Comparison | None" = None

    def add(self, node: "Comparison") -> None:
        """Count a part."""
        self.same += node.same
        self.different += node.different
        self.children += node.children + 1
        self.depth = max(self.depth, node.depth + 1)


def kind_of(type_name: str) -> str:
    """The kind of a type: a struct, a pointer, a slice, a map, a string, a number or a bool."""
    if type_name.startswith("*"):
        return "pointer"
    if type_name in _STRUCTS or go_fields(type_name) is not None:
        return "struct"
    made_of = underlying(type_name)
    if made_of.startswith("[]"):
        return "slice"
    if made_of.startswith("map["):
        return "map"
    return "string" if made_of == "string" else "bool" if made_of == "bool" else "number"


def compare_parts(type_name: str, one: Any, other: Any, parent: str = "") -> Comparison:
    """Compare two values part by part."""
    node = Comparison(type_name, one, other, parent)
    kind = kind_of(type_name)
    if isinstance(one, Missing) or isinstance(other, Missing):
        node.different = 1
    elif type_name == _QUANTITY:
        _report(node, equal=_equal(type_name, one, other))
    elif kind == "struct":
        for name, inner, left, right in _struct_parts(type_name, one, other):
            _attach(node, name, compare_parts(inner, left, right, kind))
    elif kind in {"slice", "map", "pointer"} and (one is None or other is None):
        _report(node, equal=one is None and other is None)
    elif kind == "pointer":
        node.pointed = compare_parts(type_name[1:], one, other, kind)
        node.add(node.pointed)
    elif kind == "slice":
        _compare_slices(node, underlying(type_name)[2:])
    elif kind == "map":
        inner = underlying(type_name).partition("]")[2]
        for key in sorted({*one, *other}):
            child = compare_parts(inner, one.get(key, MISSING), other.get(key, MISSING), kind)
            _attach(node, key, child)
    else:
        _report(node, equal=scalar(type_name, one) == scalar(type_name, other))
    return node


def _report(node: Comparison, *, equal: bool) -> None:
    node.same, node.different = int(equal), int(not equal)


def _attach(node: Comparison, key: str, child: Comparison) -> None:
    node.records.append((key, child))
    node.add(child)


def _compare_slices(node: Comparison, inner: str) -> None:
    one, other = node.one, node.other

    def result(left: int, right: int) -> tuple[int, int]:
        found = compare_parts(inner, one[left], other[right])
        return found.same, found.different

    left = right = 0
    for edit in edits(len(one), len(other), result):
        takes_one, takes_other = edit is not Edit.INSERTED, edit is not Edit.REMOVED
        child = compare_parts(
            inner, one[left] if takes_one else MISSING, other[right] if takes_other else MISSING, "slice"
        )
        _attach(node, "", child)
        left, right = left + takes_one, right + takes_other


def _struct_parts(type_name: str, one: Any, other: Any) -> Iterable[tuple[str, str, Any, Any]]:
    if type_name in _STRUCTS:
        left, right = _STRUCTS[type_name](one), _STRUCTS[type_name](other)
        return [(name, inner, a, b) for (name, inner, a), (_, _, b) in zip(left, right, strict=True)]
    ones, others = (value if isinstance(value, dict) else {} for value in (one, other))
    return [(row.name, row.type, field_of(ones, row), field_of(others, row)) for row in go_fields(type_name) or ()]


def scalar(type_name: str, value: Any) -> Any:
    """A string, number or bool; its zero where it is absent."""
    made_of = underlying(type_name)
    if made_of == "string":
        return value if isinstance(value, str) else ""
    if made_of == "bool":
        return value is True
    return value if isinstance(value, int | float) else 0


def _int_or_string(value: Any) -> list[tuple[str, str, Any]]:
    is_text = isinstance(value, str)
    return [
        ("Type", "int64", int(is_text)),
        ("IntVal", "int32", 0 if is_text else value or 0),
        ("StrVal", "string", value if is_text else ""),
    ]


def _quantity(value: Any) -> list[tuple[str, str, Any]]:
    if value is None:
        return [("i", "resource.int64Amount", None), ("s", "string", ""), ("Format", "string", "")]
    inner = quantity(str(value))
    return [
        ("i", "resource.int64Amount", (inner.mantissa, inner.exponent)),
        ("s", "string", inner.text),
        ("Format", "string", str(inner.format)),
    ]


def _amount(value: Any) -> list[tuple[str, str, Any]]:
    number, scale = value or (0, 0)
    return [("value", "int64", number), ("scale", "int32", scale)]


_STRUCTS = {"intstr.IntOrString": _int_or_string, _QUANTITY: _quantity, "resource.int64Amount": _amount}


def is_zero(type_name: str, value: Any) -> bool:
    """Whether a value is the zero of its type, which Go does not print."""
    kind = kind_of(type_name)
    if kind in {"pointer", "slice", "map"}:
        return value is None
    if kind == "struct":
        return all(is_zero(inner, part) for _, inner, part in parts_of(type_name, value))
    return not scalar(type_name, value)


def parts_of(type_name: str, value: Any) -> list[tuple[str, str, Any]]:
    """The fields of a struct: name, type and value."""
    return [(name, inner, part) for name, inner, part, _ in _struct_parts(type_name, value, value)]
