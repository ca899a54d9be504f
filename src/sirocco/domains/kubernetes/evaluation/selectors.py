"""Label selectors as the Kubernetes API takes them: reading one from a request, and telling what it selects."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SET_REQUIREMENT = re.compile(r"(?P<key>\S+)\s+(?P<operator>in|notin)\s*\((?P<values>[^)]*)\)")
_EQUALITY_REQUIREMENT = re.compile(r"(?P<key>[^\s=!]+)\s*(?P<operator>==|=|!=)\s*(?P<values>[^\s=!]*)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement on a label; `values` None asks for the mere presence of the key."""

    key: str
    values: frozenset[str] | None
    is_negated: bool = False

    def is_met_by(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels meets the requirement."""
        present = self.key in labels and (self.values is None or labels[self.key] in self.values)
        return present is not self.is_negated


@dataclass(frozen=True, slots=True)
class Selector:
    """A conjunction of requirements; the empty one selects everything."""

    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Selector":
        """Read a selector; a part that is no requirement becomes one that nothing meets, as the API refuses it."""
        return cls(tuple(_requirement(part.strip()) for part in re.split(r",(?![^(]*\))", text) if part.strip()))

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        return all(requirement.is_met_by(labels) for requirement in self.requirements)


def _requirement(text: str) -> Requirement:
    if found := _SET_REQUIREMENT.fullmatch(text):
        values = frozenset(value.strip() for value in found["values"].split(","))
        return Requirement(found["key"], values, is_negated=found["operator"] == "notin")
    if found := _EQUALITY_REQUIREMENT.fullmatch(text):
        return Requirement(found["key"], frozenset({found["values"]}), is_negated=found["operator"] == "!=")
    if re.fullmatch(r"!\s*\S+", text):
        return Requirement(text[1:].strip(), None, is_negated=True)
    if re.fullmatch(r"\S+", text):
        return Requirement(text, None)
    return Requirement(text, frozenset())
