"""The Go types behind the Kubernetes API: what its published schemas leave out, from the data files of `tools`."""

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

RECORDED = "1.20"
CURRENT = "1.36"

_PLACES = {
    "meta": "io.k8s.apimachinery.pkg.apis.meta",
    "apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    "apiregistration": "io.k8s.kube-aggregator.pkg.apis.apiregistration",
}
# Go types with an encoding of their own, as Go prints them.
_PRINTED = {
    "quantity": "resource.Quantity",
    "intstr": "intstr.IntOrString",
    "raw": "runtime.RawExtension",
    "UID": "types.UID",
    "time": "v1.Time",
    "microtime": "v1.MicroTime",
    "duration": "v1.Duration",
    "bytes": "[]uint8",
}
_OWN = re.compile(r"([*\[\]{}]*)(\.\w+)")
_STRINGS = frozenset({"UID", "duration"})


class GoField(NamedTuple):
    """One field of a struct; inlined structs are replaced by their fields, with the path in name and number."""

    json: str
    go: str
    number: tuple[int, ...]
    expression: str
    omitempty: bool
    marks: dict[str, str]

    @property
    def is_pointer(self) -> bool:
        """Whether an explicit zero value is distinguished from an absent one."""
        return self.expression.startswith("*")


class GoTypes:
    """The structs and named types of one release, by names such as `core/v1.PodSpec`."""

    def __init__(self, text: str) -> None:
        self._blocks: dict[str, tuple[str, list[str]]] = {}
        self._aliases: dict[str, str] = {}
        self._messages: set[str] = set()
        self._structs: dict[str, tuple[GoField, ...]] = {}
        lines: list[str] = []
        for line in text.splitlines():
            if line.startswith("\t"):
                lines.append(line)
                continue
            name, equals, rest = line.partition(" = ")
            if equals:
                expression, _, message = rest.partition(" ")
                self._aliases[name] = expression
                if message:
                    self._messages.add(name)
                continue
            name, _, marks = line.partition(" ")
            lines = []
            self._blocks[name] = (marks, lines)

    def __iter__(self) -> Iterator[str]:
        """The names of the structs."""
        return iter(self._blocks)

    def __contains__(self, name: str) -> bool:
        return name in self._blocks

    def fields(self, name: str) -> tuple[GoField, ...] | None:
        """The fields of a struct in Go's order; None when it is not known."""
        if name in self._structs:
            return self._structs[name]
        if name not in self._blocks:
            return None
        package = name.rpartition(".")[0]
        found = self._structs[name] = tuple(_field(line, package) for line in self._blocks[name][1])
        return found

    def marks(self, name: str) -> dict[str, str]:
        """What a struct's declaration says about server-side apply."""
        return _marks(self._blocks[name][0].split()) if name in self._blocks else {}

    def resolve_expression(self, expression: str) -> str:
        """An expression in which a named type that is not a struct is replaced by its underlying type."""
        while expression in self._aliases:
            expression = self._aliases[expression]
        return "string" if expression in _STRINGS else expression

    def is_message(self, expression: str) -> bool:
        """Whether a named list is a message of its own in the protobuf encoding."""
        return expression in self._messages


def go_type_text(expression: str) -> str:
    """A type as Go prints it, such as `[]v1.Container`."""
    if expression.startswith("*"):
        return go_type_text(expression[1:])
    if expression.startswith("[]"):
        inner = expression[2:]
        return f"[]*{go_type_text(inner)}" if inner.startswith("*") else f"[]{go_type_text(inner)}"
    if expression.startswith("{}"):
        return f"map[string]{go_type_text(expression[2:])}"
    return _PRINTED.get(expression) or expression.rpartition("/")[2]


def published_name(name: str) -> str:
    """The name of a struct in the published schemas: `core/v1.PodSpec` is `io.k8s.api.core.v1.PodSpec`."""
    group, _, rest = name.partition("/")
    return f"{_PLACES.get(group) or f'io.k8s.api.{group}'}.{rest}"


def internal_name(name: str) -> str:
    """The inverse of `published_name`."""
    for group, place in _PLACES.items():
        if name.startswith(place + "."):
            return f"{group}/{name.removeprefix(place + '.')}"
    group, _, rest = name.removeprefix("io.k8s.api.").partition(".")
    return f"{group}/{rest}"


@lru_cache
def go_types(release: str) -> GoTypes:
    """The Go types of a release that has a data file."""
    file = files(__package__) / f"types-{release}.txt"
    return GoTypes(file.read_text("utf-8").partition("\n")[2])


def _field(line: str, package: str) -> GoField:
    json, go, number, expression, flag, *marks = line.split()
    return GoField(
        json,
        go.replace(".", ": "),
        tuple(map(int, number.split("/"))),
        _qualify_name(expression, package),
        flag == "o",
        _marks(marks),
    )


def _qualify_name(expression: str, package: str) -> str:
    """The full name of a type; in a data file a name from the struct's own package starts with a dot."""
    own = _OWN.fullmatch(expression)
    return f"{own[1]}{package}{own[2]}" if own else expression


def _marks(words: list[str]) -> dict[str, str]:
    return {key: value for key, _, value in (word.partition("=") for word in words)}
