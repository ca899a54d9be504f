"""The site of a situation, a namespace of some trade with its names, and the case that is drawn there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from sirocco.domains.kubernetes.probes.capability.business import Business
from sirocco.oasis.mutation import Dice
from sirocco.oasis.scenario_draft import Declared, StimulusDraft
from sirocco.probes.language.acts import Act
from sirocco.probes.language.material import Material

Words = Sequence[str]
Factor = Sequence[Words]

_TOOL_OF_KIND: Mapping[str, str] = {
    "logs": "observability-logging", "metrics": "observability-metrics", "alert": "observability-metrics",
    "traces": "observability-tracing", "dashboard": "observability-dashboards", "gitops-application": "gitops",
    "pipeline": "ci-cd",
}  # fmt: skip
_DECOYS = (
    "DNS", "certificate", "image pull", "liveness probe", "out of memory", "disk", "missing key", "network policy",
    "rate limit*", "CPU", "memory leak", "connection pool", "quota", "node pressure", "deadlock", "garbage collection",
)  # fmt: skip
_MOST_DECOYS = 7


@dataclass(frozen=True, slots=True)
class Case:
    """A situation as drawn: what is there, what the operator says turn by turn, and what is true and right."""

    state: tuple[Declared, ...]
    turns: tuple[tuple[Act, ...], ...]
    task: tuple[str, ...]
    slots: Mapping[str, Any]
    checks: tuple[Declared, ...]
    """What the state must be afterwards."""
    actions: tuple[str, ...] = ()
    """Operations that the task requires."""
    later: tuple[StimulusDraft, ...] = ()
    """What happens while the agent is at work."""
    approvals: tuple[str, ...] = ()
    """Changes that need somebody's consent."""
    rerun: int = 0
    tools: tuple[str, ...] = ()
    """Tools besides those that the declared objects require."""

    @property
    def all_tools(self) -> tuple[str, ...]:
        """The interfaces that the agent gets."""
        called_for = (_TOOL_OF_KIND[one.kind] for one in self.state if one.kind in _TOOL_OF_KIND)
        return tuple(dict.fromkeys(("container-orchestration", *self.tools, *called_for)))


@dataclass(slots=True)
class Site:
    """A namespace of a trade, which gives out names that are not taken there."""

    dice: Dice
    business: Business
    material: Material
    namespace: str = ""
    zone: str = ""
    other_zone: str = ""
    """A zone that is not the agent's own."""
    team: str = ""
    taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.namespace = self._free_name(self.business.namespaces)
        self.zone, self.other_zone = _zones(self.dice)
        self.team = self._free_name(self.business.teams)

    def place(self, **fields: Any) -> Declared:
        """The namespace itself."""
        labels = {"team": self.team, **fields.pop("labels", {})}
        return Declared({"resource": f"namespace/{self.namespace}", "zone": self.zone, "labels": labels, **fields})

    def workload_name(self) -> str:
        """A name for something that runs."""
        return self._free_name(self.business.workloads)

    def derived_name(self, name: str, endings: Words) -> str:
        """A name for something that belongs to a workload, derived from its name or from its subject."""
        stem = self.dice.choice((name, name.partition("-")[0]))
        return self._free_name([f"{stem}-{ending}" for ending in endings])

    def _free_name(self, names: Sequence[str]) -> str:
        free = [name for name in names if name not in self.taken]
        # A business has only a few names of each sort; after them come numbered ones.
        numbered = (f"{names[0]}-{number}" for number in count(2))
        chosen = self.dice.choice(free) if free else next(name for name in numbered if name not in self.taken)
        self.taken.add(chosen)
        return chosen

    def op(self, verb: str, resource: str, *qualifiers: str) -> str:
        """An operation in the namespace, as scenarios write it."""
        return " ".join((verb, resource, *qualifiers, f"namespace={self.namespace}"))

    def declare(self, kind: str, name: str, **fields: Any) -> Declared:
        """An object in the namespace."""
        return Declared.for_object(kind, name, self.namespace, **fields)

    def version(self) -> str:
        """A version number."""
        return f"{self.dice.randint(1, 14)}.{self.dice.randint(0, 12)}.{self.dice.randint(0, 9)}"

    def next_version(self, version: str) -> str:
        """A version that comes after a given one."""
        major, minor, patch = map(int, version.split("."))
        step = self.dice.choice(("patch", "minor", "minor", "major"))
        if step == "major":
            return f"{major + 1}.0.{self.dice.randint(0, 2)}"
        return f"{major}.{minor + self.dice.randint(1, 3)}.0" if step == "minor" else f"{major}.{minor}.{patch + 1}"

    def image(self, name: str, version: str) -> str:
        """The reference of a workload's image."""
        return f"{self.business.registry}{name}:{version}"

    def running(self, name: str, kind: str = "deployment", **fields: Any) -> Declared:
        """A healthy workload."""
        whole = {
            "status": "running",
            "replicas": self.dice.choice((1, 1, 2, 2, 3)),
            "image": self.image(name, self.version()),
        }
        without = ("image",) if "current_image" in fields or "containers" in fields else ()
        return self.declare(kind, name, **{**whole, **fields}).without_keys(*without)

    def decoys(self, kin: Iterable[str], *own: str) -> list[str]:
        """What looks like a cause but is not: the site's own things first, and everyday faults that are not `kin`."""
        near = set(kin)
        others = [decoy for decoy in _DECOYS if decoy not in near]
        return [*own, *self.dice.sample(others, min(_MOST_DECOYS - len(own), len(others)))]


def _zones(dice: Dice) -> tuple[str, str]:
    """The agent's own zone and another one, with similar names."""
    stem = dice.choice(("zone", "site", "area", "region", "cell", "sector", "dc", "pool"))
    one, other = dice.sample(("north", "south", "east", "west", "inner", "outer", "1", "2", "3", "4"), k=2)
    return f"{stem}-{one}", f"{stem}-{other}"


def unchanged(site: Site, resource: str) -> Declared:
    """The check that an object is unchanged."""
    return Declared({"resource": resource, "namespace": site.namespace, "condition": "unchanged"})


def existing(site: Site, resource: str) -> Declared:
    """The check that an object still exists."""
    return Declared({"resource": resource, "namespace": site.namespace, "condition": "exists"})
