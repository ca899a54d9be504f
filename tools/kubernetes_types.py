"""Writes the facts about the Go types of the Kubernetes API that its published schemas leave out.

What a server answers depends on them: which fields are pointers, which are written when empty, the names that decoding
errors print, the numbers of the protobuf encoding. Usage, for the sources of one release of k8s.io:

    python tools/kubernetes_types.py RELEASE FOLDER > src/kubesim/types/types-RELEASE.txt

FOLDER holds `api`, `apimachinery` and, if there, `apiextensions-apiserver` and `kube-aggregator` (the folder
`staging/src/k8s.io` of a Kubernetes source tree, or what a distribution's `golang-k8s-*-dev` packages install).
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SPECIAL = {
    "apimachinery/pkg/api/resource.Quantity": "quantity",
    "apimachinery/pkg/util/intstr.IntOrString": "intstr",
    "apimachinery/pkg/runtime.RawExtension": "raw",
    "apimachinery/pkg/types.UID": "UID",
    "meta/v1.Time": "time",
    "meta/v1.MicroTime": "microtime",
    "meta/v1.Duration": "duration",
    "meta/v1.FieldsV1": "raw",
    "apiextensions/v1.JSON": "raw",
    "apiextensions/v1beta1.JSON": "raw",
}
SCALARS = {"string", "bool", "int", "int32", "int64", "float64", "[]byte", "byte"}
MARKERS = {"listType": "lt", "listMapKey": "lk", "mapType": "mt", "structType": "st"}


class Field(NamedTuple):
    """One line of a Go struct."""

    name: str
    expression: str
    json: str
    options: frozenset[str]
    number: str
    extras: dict[str, str]
    embedded: bool


class Struct(NamedTuple):
    """One Go struct, in its package."""

    package: str
    fields: list[Field]
    extras: dict[str, str]


class Alias(NamedTuple):
    """A named type that is no struct."""

    package: str
    expression: str
    is_message: bool


def packages(root: Path) -> Iterator[tuple[str, Path]]:
    """The API packages of the sources by their short names."""
    yield "meta/v1", root / "apimachinery/pkg/apis/meta/v1"
    for folder in sorted((root / "api").glob("*/v*")):
        yield f"{folder.parent.name}/{folder.name}", folder
    for part, group in (("apiextensions-apiserver", "apiextensions"), ("kube-aggregator", "apiregistration")):
        for folder in sorted((root / part / "pkg/apis" / group).glob("v*")):
            yield f"{group}/{folder.name}", folder


def short_package(path: str) -> str:
    """The short name of an import path."""
    path = path.removeprefix("k8s.io/")
    return re.sub(
        r"^(?:api|apimachinery/pkg/apis|apiextensions-apiserver/pkg/apis|kube-aggregator/pkg/apis)/", "", path
    )


def extras_of(comments: list[str]) -> dict[str, str]:
    """The markers for server-side apply in the comments above a declaration."""
    found: dict[str, str] = {}
    for line in comments:
        if (match := re.match(r"//\s*\+(\w+)=(\S+)", line)) and (key := MARKERS.get(match[1])):
            found[key] = f"{found[key]},{match[2]}" if key == "lk" and key in found else match[2]
    return found


def parsed(package: str, folder: Path) -> Iterator[tuple[str, Struct | Alias]]:
    """The types that a package declares, with qualified type expressions."""
    for file in sorted(folder.glob("*.go")):
        if file.name.endswith("_test.go") or file.name.startswith(("zz_", "generated", "openapi")):
            continue
        text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
        imports = {
            match[1] or match[2].rpartition("/")[2]: short_package(match[2])
            for match in re.finditer(r'^\s*(?:import\s+)?(\w+)?\s*"([\w./-]+)"$', text, re.MULTILINE)
        }
        yield from declarations(package, imports, text)


def declarations(package: str, imports: dict[str, str], text: str) -> Iterator[tuple[str, Struct | Alias]]:
    """The type declarations of one file."""
    comments: list[str] = []
    struct: tuple[str, Struct] | None = None
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("//"):
            comments.append(line)
            continue
        if struct:
            if line == "}":
                yield struct
                struct = None
            elif line and (field := field_of(line, package, imports, comments)):
                struct[1].fields.append(field)
            comments = comments if not line and not struct else []
            continue
        if match := re.match(r"type (\w+) struct \{$", line):
            struct = match[1], Struct(package, [], extras_of(comments))
        elif match := re.match(r"type (\w+) struct ?\{\}$", line):
            yield match[1], Struct(package, [], extras_of(comments))
        elif match := re.match(r"type (\w+) (?:= )?([\w.\[\]*]+)$", line):
            nullable = any("+protobuf.nullable=true" in comment for comment in comments)
            yield match[1], Alias(package, qualified(match[2], package, imports), nullable)
        if line:
            comments = []


def field_of(line: str, package: str, imports: dict[str, str], comments: list[str]) -> Field | None:
    """One field of a struct; None for what is not in its JSON form."""
    match = re.match(r"(?:(\w+)\s+)?([\w.\[\]*]+)\s+`(.*)`", line)
    if not match:
        return None
    tags = dict(re.findall(r'(\w+):"([^"]*)"', match[3]))
    if "json" not in tags or tags["json"] == "-":
        return None
    name, *options = tags["json"].split(",")
    expression = qualified(match[2], package, imports)
    extras = extras_of(comments)
    if strategy := tags.get("patchStrategy"):
        extras["ps"] = strategy
    if key := tags.get("patchMergeKey"):
        extras["mk"] = key
    number = tags.get("protobuf", ",0").split(",")[1]
    go_name = match[1] or match[2].lstrip("*").rpartition(".")[2]
    return Field(go_name, expression, name, frozenset(options), number, extras, embedded=not match[1])


def qualified(expression: str, package: str, imports: dict[str, str]) -> str:
    """A Go type expression with short package names; maps are written {}X since their keys are always strings."""
    if expression.startswith("*"):
        return "*" + qualified(expression[1:], package, imports)
    if expression == "[]byte":
        return "bytes"
    if expression.startswith("[]"):
        return "[]" + qualified(expression[2:], package, imports)
    if match := re.match(r"map\[[\w.]+\](.+)", expression):
        return "{}" + qualified(match[1], package, imports)
    if expression in SCALARS:
        return expression
    alias, _, name = expression.rpartition(".")
    full = f"{imports.get(alias, alias) if alias else package}.{name}"
    return SPECIAL.get(full, full)


def lines(types: dict[str, Struct | Alias]) -> Iterator[str]:
    """The data file."""
    for name, declared in sorted(types.items()):
        if isinstance(declared, Alias):
            yield f"{name} = {declared.expression}{' message' if declared.is_message else ''}"
            continue
        marks = " ".join(f"{key}={value}" for key, value in sorted(declared.extras.items()))
        yield f"{name}{' ' + marks if marks else ''}"
        for field in flattened(declared, types):
            flag = "o" if "omitempty" in field.options else "-"
            marks = "".join(f" {key}={value}" for key, value in sorted(field.extras.items()))
            local = re.sub(rf"\b{re.escape(declared.package)}\.", ".", field.expression)
            yield f"\t{field.json} {field.name} {field.number} {local} {flag}{marks}"


def flattened(struct: Struct, types: dict[str, Struct | Alias]) -> Iterator[Field]:
    """The fields in their Go order, those of inlined structs in their place with a path as their name and number."""
    for field in struct.fields:
        if field.json:
            yield field
            continue
        inner = types.get(field.expression.removeprefix("*"))
        while isinstance(inner, Alias):
            inner = types.get(inner.expression)
        if inner is None:
            continue
        for part in flattened(inner, types):
            yield part._replace(name=f"{field.name}.{part.name}", number=f"{field.number}/{part.number}")


def main() -> None:
    """Write the data file to standard output."""
    release, root = sys.argv[1], Path(sys.argv[2])
    types: dict[str, Struct | Alias] = {}
    for package, folder in packages(root):
        types |= {f"{package}.{name}": declared for name, declared in parsed(package, folder)}
    for full in SPECIAL:
        types.pop(full, None)
    sys.stdout.write(f"# The Go types of the Kubernetes API, release {release}; see tools/kubernetes_types.py\n")
    sys.stdout.writelines(f"{line}\n" for line in lines(types))


if __name__ == "__main__":
    main()
