"""The parts of a parsed PromQL query."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The kind of value that a part of a query has."""

    SCALAR = "scalar"
    STRING = "string"
    VECTOR = "instant vector"
    MATRIX = "range vector"


@dataclass(frozen=True, slots=True)
class Matcher:
    """One condition on a label; a missing label has the empty value."""

    label: str
    operator: str
    value: str
    test: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Number:
    """A literal number."""

    value: float
    kind: Kind = Kind.SCALAR


@dataclass(frozen=True, slots=True)
class Text:
    """A literal text."""

    value: str
    kind: Kind = Kind.STRING


@dataclass(frozen=True, slots=True, eq=False)
class Selector:
    """Series by their labels, at a moment or, with a range, over the time before it."""

    matchers: tuple[Matcher, ...]
    range: float | None = None
    offset: float = 0.0

    @property
    def kind(self) -> Kind:
        """A vector, or a matrix over a range."""
        return Kind.VECTOR if self.range is None else Kind.MATRIX


@dataclass(frozen=True, slots=True)
class Subquery:
    """An expression evaluated repeatedly over a time range."""

    expression: "Node"
    range: float
    step: float | None
    offset: float = 0.0
    kind: Kind = Kind.MATRIX


@dataclass(frozen=True, slots=True)
class Negation:
    """Minus an expression."""

    expression: "Node"
    kind: Kind


@dataclass(frozen=True, slots=True)
class Function:
    """A call of a function on other parts."""

    name: str
    arguments: tuple["Node", ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class Aggregation:
    """An aggregation of a vector's elements by their labels."""

    name: str
    expression: "Node"
    parameter: "Node | None"
    labels: frozenset[str]
    without: bool
    kind: Kind = Kind.VECTOR


@dataclass(frozen=True, slots=True)
class Operator:
    """Two parts and the operator between them."""

    name: str
    left: "Node"
    right: "Node"
    kind: Kind
    returns_bool: bool = False
    on: frozenset[str] | None = None
    ignoring: frozenset[str] = frozenset()
    many: str = ""
    """Which side may have several elements for one of the other: left, right or neither."""
    included: tuple[str, ...] = ()


Node = Number | Text | Selector | Subquery | Negation | Function | Aggregation | Operator
