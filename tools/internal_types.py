"""Writes the fields of the Kubernetes API server's internal types, which it prints when it refuses an object.

Usage, for the source tree of one release of Kubernetes:

    python tools/internal_types.py FOLDER > src/kubesim/kinds/validation/internal-types-RELEASE.json

A struct is a list of fields in order, each as Go name, JSON name (empty for an embedded struct) and Go type; any other
named type is the type it is made of.
"""

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

GROUPS = ("core", "apps", "batch", "autoscaling", "networking", "policy", "rbac", "coordination", "discovery",
          "storage", "scheduling")  # fmt: skip
PRINTED = (
    "core.NodeAddress", "core.PodIP", "core.ScopeSelector", "core.ResourceQuotaScope", "core.PodTemplateSpec",
    "core.PersistentVolumeClaimSpec", "core.PersistentVolumeSpec", "core.ServiceSpec", "core.Endpoints",
    "core.NodeSpec", "core.LimitRangeItem", "core.ResourceQuotaSpec", "core.NodeConfigSource", "core.Event",
    "core.Taint", "v1.ObjectMeta", "v1.LabelSelector", "v1.OwnerReference", "apps.DeploymentSpec",
    "apps.StatefulSetSpec", "apps.DaemonSetSpec", "batch.JobSpec", "batch.CronJobSpec",
    "policy.PodDisruptionBudgetSpec", "rbac.RoleRef", "rbac.Subject", "rbac.PolicyRule", "networking.IngressSpec",
    "networking.NetworkPolicySpec", "networking.IngressClassSpec", "autoscaling.HorizontalPodAutoscalerSpec",
    "storage.StorageClass", "storage.VolumeAttachmentSpec", "storage.CSIDriverSpec", "discovery.EndpointSlice",
    "coordination.LeaseSpec", "scheduling.PriorityClass", "apiextensions.CustomResourceDefinitionVersion",
)  # fmt: skip
CUSTOM = "staging/src/k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
SCALARS = {"string", "int", "int32", "int64", "bool", "byte", "float64", "float32", "uint", "uint8", "interface{}"}


class Field(NamedTuple):
    """One line of a Go struct."""

    name: str
    type: str
    json: str
    embedded: bool


class Source:
    """One file of Go declarations, with the names under which it imports packages."""

    def __init__(self, path: Path, package: str) -> None:
        self.text = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
        self.package = package
        block = re.search(r"import \((.*?)\)", self.text, re.DOTALL)
        found = re.findall(r'^\s*(?:(\w+)\s+)?"([^"]+)"', block[1] if block else "", re.MULTILINE)
        self.imports = {name or path.rpartition("/")[2]: path.rpartition("/")[2] for name, path in found}

    def qualified(self, expression: str) -> str:
        """A type expression with the package of every name in it."""
        expression = expression.strip()
        for prefix in ("*", "[]"):
            if expression.startswith(prefix):
                return prefix + self.qualified(expression.removeprefix(prefix))
        if matched := re.match(r"map\[(.+?)\](.+)", expression):
            return f"map[{self.qualified(matched[1])}]{self.qualified(matched[2])}"
        package, dot, name = expression.rpartition(".")
        if dot:
            return f"{self.imports.get(package, package)}.{name}"
        return expression if expression in SCALARS else f"{self.package}.{expression}"

    def types(self) -> dict[str, str | list[Field]]:
        """Every type that the file declares."""
        found: dict[str, str | list[Field]] = {
            f"{self.package}.{name}": self.qualified(expression.partition("//")[0])
            for name, expression in re.findall(
                r"^type (\w+) (?!struct|interface|=)([^\n{=]+)$", self.text, re.MULTILINE
            )
        }
        structs = re.findall(r"^type (\w+) struct \{(.*?)^\}", self.text, re.DOTALL | re.MULTILINE)
        return found | {f"{self.package}.{name}": self._fields(body) for name, body in structs}

    def _fields(self, body: str) -> list[Field]:
        fields = []
        for line in body.splitlines():
            declared, _, tag = line.partition("//")[0].partition("`")
            names, _, expression = declared.strip().partition(" ")
            tagged = re.search(r'json:"([^",]*)', tag)
            json_name = tagged[1] if tagged else ""
            if names and expression:
                type_name = self.qualified(expression)
                fields += [Field(name, type_name, json_name, embedded=False) for name in names.split(",")]
            elif names:
                type_name = self.qualified(names)
                fields.append(Field(type_name.rpartition(".")[2], type_name, json_name, embedded=True))
        return fields


def json_names(folder: Path) -> dict[tuple[str, str], str]:
    """The JSON name of each field, which only the published types have."""
    names: dict[tuple[str, str], str] = {}
    folders = {group: folder / "staging/src/k8s.io/api" / group for group in GROUPS} | {
        "apiextensions": folder / CUSTOM
    }
    for group, place in folders.items():
        for path in sorted(place.glob("*/types.go")):
            for type_name, fields in Source(path, group).types().items():
                for row in fields if isinstance(fields, list) else ():
                    if row.json or row.embedded:
                        names.setdefault((type_name, row.name), row.json)
    return names


def listed(folder: Path) -> dict[str, str | list[str]]:
    """The printed types, and all that they are made of."""
    types: dict[str, str | list[Field]] = {}
    for group in GROUPS:
        types |= Source(folder / "pkg/apis" / group / "types.go", group).types()
    types |= Source(folder / CUSTOM / "types.go", "apiextensions").types()
    types |= Source(folder / "staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/types.go", "v1").types()
    published = json_names(folder)
    result: dict[str, str | list[str]] = {}
    waiting = [*PRINTED]
    while waiting:
        name = waiting.pop()
        found = types.get(name)
        if found is None or name in result:
            continue
        expressions = [found] if isinstance(found, str) else [row.type for row in found if row.name != "TypeMeta"]
        result[name] = found if isinstance(found, str) else [_row(name, row, published) for row in found]
        waiting += [part for expression in expressions for part in re.findall(r"\w+\.\w+", expression)]
    return dict(sorted(result.items()))


def _row(type_name: str, row: Field, published: dict[tuple[str, str], str]) -> str:
    json_name = row.json if type_name.startswith("v1.") else published.get((type_name, row.name))
    if json_name is None:
        json_name = "" if row.embedded else row.name[0].lower() + row.name[1:]
    return f"{row.name}|{json_name if row.name != 'TypeMeta' else ''}|{row.type}"


def main() -> None:
    """Write the file to standard output."""
    rows = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in listed(Path(sys.argv[1])).items()]
    sys.stdout.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
