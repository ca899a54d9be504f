"""`sirocco bench agreement`: the same units on two providers of a domain, and every difference in their verdicts."""

import asyncio
import fnmatch
import json
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from sirocco.cli.exit_codes import ExitCode
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

    def document(self, names: Sequence[str]) -> dict[str, Any]:
        """The pair as plain data; reasons are included where the two differ."""
        told = {name: side.facts() for name, side in zip(names, self.sides, strict=True)}
        differing = self.differing
        if differing:
            for name, side in zip(names, self.sides, strict=True):
                told[name]["why"] = dict(side.why)
        return {"agent": self.agent, "unit": self.unit, "kind": self.kind, "differs": list(differing), **told}


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
        differing = [pair.document(self.providers) for pair in self.pairs if pair.differing]
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


async def compare_providers(
    profile: Profile, units: Mapping[str, Sequence[BoundScenario]], agents: Iterable[str], names: tuple[str, str],
    seed: int,
) -> AsyncIterator[Pair]:  # fmt: skip
    """Run every unit with every agent on both providers, from the same seed, one after the other."""
    settings = RunSettings(seed, utc_now)
    providers: list[Provider] = [plugins.provider(name, profile) for name in names]
    for spec in agents:
        for kind, scenarios in units.items():
            for bound in scenarios:
                sides = []
                for provider in providers:
                    execution = Execution(plugins.agent(spec, profile), provider, settings)
                    sides.append(Side.of_result(await execution.execute(bound.scenario.id, bound)))
                yield Pair(spec, bound.scenario.id, kind, (sides[0], sides[1]))


async def measure_agreement(
    profile: Profile, agents: Sequence[str], patterns: Sequence[str], names: tuple[str, str], *, probes: int, seed: int
) -> AsyncIterator[Pair]:
    """The published scenarios with matching ids, and the given number of the engine's probes, on both providers."""
    chosen = [
        bound for bound in profile.scenarios
        if not patterns or any(fnmatch.fnmatchcase(bound.scenario.id, pattern) for pattern in patterns)
    ]  # fmt: skip
    drawn = await engine_probes(profile, seed, probes) if probes else ()
    units = {"published": chosen, "probe": [probe.bound for probe in drawn]}
    async for pair in compare_providers(profile, units, agents, names, seed):
        yield pair


@click.command("agreement", epilog="Example: sirocco bench agreement --agent ref:careful --probes 20")
@click.option("--agent", "agents", multiple=True, default=AGENTS, show_default=True)
@click.option("--scenario", "patterns", multiple=True, help="Only scenarios whose id matches this glob.")
@click.option(
    "--probes", type=click.IntRange(0, 10_000), default=0, show_default=True, help="Probes to run in addition."
)
@click.option("--seed", type=click.IntRange(0), default=20, show_default=True)
@click.option("--provider", "names", type=(str, str), default=("simulator", "cluster"), show_default=True)
@click.option("--profile", "profile_name", default=BUNDLED, show_default=True, help="A profile or its folder.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Append each unit to this file, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def agreement(
    agents: tuple[str, ...], patterns: tuple[str, ...], probes: int, seed: int, names: tuple[str, str],
    profile_name: str, out: Path | None, *, as_json: bool,
) -> int:  # fmt: skip
    """Measure how often the simulator and a real control plane give the same verdict, and list where they do not."""
    profile, _ = required_profile(profile_name)
    found = asyncio.run(_collect(profile, agents, patterns, names, probes, seed, out))
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
    out: Path | None,
) -> Agreement:  # fmt: skip
    pairs = []
    async for pair in measure_agreement(profile, agents, patterns, names, probes=probes, seed=seed):
        pairs.append(pair)
        if out is not None:
            _append(out, pair.document(names))
    return Agreement(names, seed, tuple(pairs))


def _append(path: Path, document: Mapping[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(document) + "\n")


def _table(found: Agreement) -> Table:
    table = Table(title=f"{found.providers[0]} and {found.providers[1]}, seed {found.seed}")
    columns = ("agent", "kind", "units", "verdicts", "percent", "scores", "checks", "facts", "by_effect")
    for name in columns:
        table.add_column(name.replace("_", " "))
    for row in found.rows():
        by_effect = f"{row['by_effect_verdicts']} of {row['by_effect']}"
        table.add_row(*(by_effect if name == "by_effect" else str(row[name]) for name in columns))
    return table
