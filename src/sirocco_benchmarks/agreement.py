"""`sirocco bench agreement`: the same units on two providers of a domain, and every difference in their verdicts.

Each unit is appended to a file when it is done, so a comparison that takes an hour can be made in parts.
"""

import asyncio
import fnmatch
import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from sirocco.cli.exit_codes import ExitCode
from sirocco.errors import ConfigError
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider
from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import CheckResult
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins
from sirocco.wiring.clock import utc_now
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco_benchmarks.opponents import engine_probes

AGENTS = ("ref:careful", "ref:naive", "ref:memorizer", "ref:liar")
_SHARE = 100.0


@dataclass(frozen=True, slots=True)
class Side:
    """How one unit ended on one provider, as far as the two must agree."""

    status: str
    score: float | None
    checks: Mapping[str, str]
    delivered: bool | None
    attempted: bool
    effected: bool
    by_effect: bool
    """Whether a check was decided by comparison with the environment without the agent (SI-08)."""
    why: Mapping[str, str]

    @classmethod
    def of_result(cls, result: UnitResult) -> "Side":
        """The side of a result; a fault of provider or agent is a separate status."""
        found, payload = result.evaluation, result.evaluation.payload
        fault = "PROVIDER_FAULT" if result.evidence.provider_fault else f"fault: {result.agent_fault}"
        status = None if result.evidence.provider_fault else result.status
        checks: Sequence[CheckResult] = found.checks
        return cls(
            status or fault,
            found.score.value if found.score is not None else None,
            {check.check: check.verdict.status for check in checks},
            payload.delivered,
            payload.attempted,
            payload.effected,
            any(check.by_effect for check in checks),
            {"provider": result.evidence.provider_fault or ""} | {check.check: check.evidence for check in checks},
        )

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Side":
        """The side that `document` gave."""
        return cls(
            document["verdict"], document["score"], document["checks"], document["delivered"], document["attempted"],
            document["effected"], document["by_effect"], document["why"],
        )  # fmt: skip

    def document(self) -> dict[str, Any]:
        """The side as plain data, with its reasons."""
        return {**self.facts(), "by_effect": self.by_effect, "why": dict(self.why)}

    def facts(self) -> dict[str, Any]:
        """What is compared, by name."""
        return {
            "verdict": self.status, "score": self.score, "checks": dict(self.checks), "delivered": self.delivered,
            "attempted": self.attempted, "effected": self.effected,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """One unit on both providers."""

    agent: str
    unit: str
    kind: str
    sides: tuple[Side, Side]

    @property
    def differing(self) -> tuple[str, ...]:
        """The names of the facts that differ."""
        first, second = (side.facts() for side in self.sides)
        return tuple(name for name in first if first[name] != second[name])

    def document(self) -> dict[str, Any]:
        """The pair as plain data, its sides in the order of the providers."""
        sides = [side.document() for side in self.sides]
        return {
            "agent": self.agent, "unit": self.unit, "kind": self.kind, "differs": list(self.differing), "sides": sides
        }  # fmt: skip

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Pair":
        """The pair that `document` gave."""
        first, second = map(Side.from_document, document["sides"])
        return cls(document["agent"], document["unit"], document["kind"], (first, second))

    @property
    def place(self) -> "Place":
        """Which unit it is, and who ran it."""
        return self.agent, self.kind, self.unit


Place = tuple[str, str, str]
"""An agent, a kind of unit and a unit."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Every unit that ran on both providers."""

    providers: tuple[str, str]
    seed: int
    pairs: tuple[Pair, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Figures for each agent and kind of unit, and for all together."""
        groups: dict[tuple[str, str], list[Pair]] = {}
        for pair in self.pairs:
            groups.setdefault((pair.agent, pair.kind), []).append(pair)
        rows = [_figures(agent, kind, pairs) for (agent, kind), pairs in groups.items()]
        return [*rows, _figures("all", "", self.pairs)]

    def document(self) -> dict[str, Any]:
        """The figures, and every unit with a difference."""
        differing = [pair.document() for pair in self.pairs if pair.differing]
        return {"providers": list(self.providers), "seed": self.seed, "figures": self.rows(), "differences": differing}


def _figures(agent: str, kind: str, pairs: Sequence[Pair]) -> dict[str, Any]:
    def agreeing(*names: str) -> int:
        return sum(not set(names).intersection(pair.differing) for pair in pairs)

    by_effect = [pair for pair in pairs if any(side.by_effect for side in pair.sides)]
    return {
        "agent": agent, "kind": kind, "units": len(pairs), "verdicts": agreeing("verdict"),
        "scores": agreeing("score"), "checks": agreeing("checks"),
        "facts": agreeing("delivered", "attempted", "effected"), "by_effect": len(by_effect),
        "by_effect_verdicts": sum("verdict" not in pair.differing for pair in by_effect),
        "percent": round(_SHARE * agreeing("verdict") / len(pairs), 2) if pairs else None,
    }  # fmt: skip


Work = Mapping[Place, BoundScenario]


def work(
    published: Sequence[BoundScenario], probes: Sequence[BoundScenario], agents: Sequence[str]
) -> dict[Place, BoundScenario]:
    """Every published scenario for every agent, and each probe for one of the agents in turn."""
    units = {(agent, "published", bound.scenario.id): bound for bound in published for agent in agents}
    for number, bound in enumerate(probes):
        units[agents[number % len(agents)], "probe", bound.scenario.id] = bound
    return units


async def compare_providers(profile: Profile, units: Work, names: tuple[str, str], seed: int) -> AsyncIterator[Pair]:
    """Run every unit with its agent on both providers, from the same seed, one after the other."""
    settings = RunSettings(seed, utc_now)
    providers: list[Provider] = [plugins.provider(name, profile) for name in names]
    for (spec, kind, unit), bound in units.items():
        sides = []
        for provider in providers:
            execution = Execution(plugins.agent(spec, profile), provider, settings)
            sides.append(Side.of_result(await execution.execute(bound.scenario.id, bound)))
        yield Pair(spec, unit, kind, (sides[0], sides[1]))


async def agreement_work(
    profile: Profile, agents: Sequence[str], patterns: Sequence[str], *, probes: int, seed: int
) -> dict[Place, BoundScenario]:
    """The published scenarios with matching ids, and the given number of the engine's probes."""
    chosen = [
        bound for bound in profile.scenarios
        if not patterns or any(fnmatch.fnmatchcase(bound.scenario.id, pattern) for pattern in patterns)
    ]  # fmt: skip
    drawn = await engine_probes(profile, seed, probes) if probes else ()
    return work(chosen, [probe.bound for probe in drawn], agents)


class Record:
    """The file of units that were compared: a heading that says under which conditions, then a line for each."""

    def __init__(self, path: Path, heading: Mapping[str, Any]) -> None:
        """ConfigError if it is about other conditions, or no such file."""
        self._path = path
        text = path.read_text("utf-8") if path.exists() else ""
        # A line without its end was being written when the process ended.
        whole = text[: text.rfind("\n") + 1] or json.dumps(heading) + "\n"
        try:
            found, *documents = map(json.loads, whole.splitlines())
            self.pairs = [Pair.from_document(document) for document in documents]
        except (ValueError, TypeError, KeyError) as error:
            problem = f"not a record of `sirocco bench agreement`: {error}"
            raise ConfigError(str(path), problem, "name another file") from error
        if found != heading:
            problem = f"it is about {json.dumps(found)}, not {json.dumps(heading)}"
            raise ConfigError(str(path), problem, "name another file")
        if whole != text:
            path.write_text(whole, "utf-8")

    def append(self, pair: Pair) -> None:
        """Add a unit."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(pair.document()) + "\n")


@click.command("agreement", epilog="Example: sirocco bench agreement --agent ref:careful --probes 20")
@click.option("--agent", "agents", multiple=True, default=AGENTS, show_default=True)
@click.option("--scenario", "patterns", multiple=True, help="Only scenarios whose id matches this glob.")
@click.option(
    "--probes",
    type=click.IntRange(0, 10_000),
    default=0,
    show_default=True,
    help="Probes to run in addition, each with one of the agents in turn.",
)
@click.option("--seed", type=click.IntRange(0), default=20, show_default=True)
@click.option("--provider", "names", type=(str, str), default=("simulator", "cluster"), show_default=True)
@click.option("--profile", "profile_name", default=BUNDLED, show_default=True, help="A profile or its folder.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append each unit to this file. Units that are already in it are not run again.",
)
@click.option("--most", type=click.IntRange(1), help="Run no more than this many units that are not in --out yet.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def agreement(
    agents: tuple[str, ...], patterns: tuple[str, ...], probes: int, seed: int, names: tuple[str, str],
    profile_name: str, out: Path | None, most: int | None, *, as_json: bool,
) -> int:  # fmt: skip
    """Measure how often the simulator and a real control plane give the same verdict, and list where they do not."""
    profile, _ = required_profile(profile_name)
    found = asyncio.run(_collect(profile, agents, patterns, names, probes, seed, out, most))
    if as_json:
        sys.stdout.write(json.dumps(found.document(), indent=2) + "\n")
    else:
        console = Console(width=150)
        console.print(_table(found))
        for pair in found.pairs:
            if pair.differing:
                console.print(f"{pair.agent} {pair.unit}: {', '.join(pair.differing)}", markup=False)
    return int(ExitCode.OK)


async def _collect(
    profile: Profile, agents: Sequence[str], patterns: Sequence[str], names: tuple[str, str], probes: int, seed: int,
    out: Path | None, most: int | None,
) -> Agreement:  # fmt: skip
    units = await agreement_work(profile, agents, patterns, probes=probes, seed=seed)
    heading = {"providers": list(names), "seed": seed, "profile": profile.document.id, "digest": profile.digest()}
    record = Record(out, heading) if out is not None else None
    done = {pair.place: pair for pair in record.pairs} if record is not None else {}
    left = dict(islice(((place, bound) for place, bound in units.items() if place not in done), most))
    async for pair in compare_providers(profile, left, names, seed):
        done[pair.place] = pair
        if record is not None:
            record.append(pair)
    return Agreement(names, seed, tuple(done[place] for place in units if place in done))


def _table(found: Agreement) -> Table:
    table = Table(title=f"{found.providers[0]} and {found.providers[1]}, seed {found.seed}")
    columns = ("agent", "kind", "units", "verdicts", "percent", "scores", "checks", "facts", "by_effect")
    for name in columns:
        table.add_column(name.replace("_", " "))
    for row in found.rows():
        by_effect = f"{row['by_effect_verdicts']} of {row['by_effect']}"
        table.add_row(*(by_effect if name == "by_effect" else str(row[name]) for name in columns))
    return table
