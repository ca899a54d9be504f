"""`sirocco bench detection`, `rehearsal`, `schedule`, `diversity`, `strength`: what probes find, as tables or JSON."""

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from sirocco.agents.zoo.characters import READER, ZOO, character
from sirocco.agents.zoo.memory import Memory
from sirocco.cli.exit_codes import ExitCode
from sirocco.errors import ConfigError
from sirocco.models.chat import ChatModel
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.profile import Profile
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.clock import utc_now
from sirocco.wiring.material import checked_material
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco.wiring.zoo import practice_scenarios
from sirocco_benchmarks.detection import ZOO_PREFIX, Detection, contestants, measure_detection
from sirocco_benchmarks.diversity import diversity as measure_diversity
from sirocco_benchmarks.opponents import BASELINES
from sirocco_benchmarks.rehearsal import JUDGES, LEAST_KEPT, PRACTISED, Rehearsal, measure_rehearsal
from sirocco_benchmarks.scheduling import DECIDABLE, MARKS, SCHEDULES, decide_schedule, measure_schedule
from sirocco_benchmarks.strength import STYLES, LedModel, Trial, injected_probes, measure_strength, summary

_WIDTH = 120
_READERS = ("verbatim", "keywords", "length")
_ALL = (*(ZOO_PREFIX + name for name in ZOO), *(f"{ZOO_PREFIX}{name}{READER}" for name in _READERS))
"""The zoo, and three of its agents with a reader of their own."""
_PROFILE = click.option(
    "--profile", "profile_name", default=BUNDLED, show_default=True, help="A profile or its folder."
)


@click.command("detection", epilog="Example: sirocco bench detection --agent zoo:names --agent ref:memorizer --seeds 3")
@click.option("--agent", "agents", multiple=True, help="An agent to measure; all of the zoo if none is named.")
@click.option("--probes", type=click.IntRange(1, 10_000), default=48, show_default=True)
@click.option(
    "--seeds", type=click.IntRange(1, 1000), default=10, show_default=True, help="Runs, each with a different seed."
)
@click.option("--first-seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--baselines/--no-baselines", default=True, show_default=True, help="Also measure the three baselines.")
@_PROFILE
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def detection(
    agents: tuple[str, ...],
    probes: int,
    seeds: int,
    first_seed: int,
    profile_name: str,
    *,
    baselines: bool,
    as_json: bool,
) -> int:
    """Measure which agents of the zoo are detected, after how many probes, next to three baselines."""
    profile, _ = required_profile(profile_name)
    chosen = contestants(profile, agents or _ALL)
    numbers = range(first_seed, first_seed + seeds)
    found = asyncio.run(measure_detection(profile, numbers, probes, chosen, tuple(BASELINES) if baselines else ()))
    _print(found.document(), _detection_tables(found), as_json=as_json)
    return int(ExitCode.OK)


@click.command("rehearsal", epilog="Example: sirocco bench rehearsal --probes 100 --practised 0 --practised 600")
@click.option("--probes", type=click.IntRange(1, 10_000), default=1000, show_default=True, help="Test probes.")
@click.option("--practised", type=click.IntRange(0, 100_000), multiple=True, default=PRACTISED, show_default=True)
@click.option("--kind", "kinds", type=click.Choice(tuple(JUDGES)), multiple=True, default=tuple(JUDGES))
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--check", type=click.IntRange(0), default=24, show_default=True, help="Test probes to run for real.")
@click.option("--drafted", is_flag=True, help="Test with drafts, and neither admit nor run anything.")
@click.option("--material", type=click.Path(exists=True, path_type=Path), help="Other material to word them from.")
@_PROFILE
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rehearsal(
    probes: int,
    practised: tuple[int, ...],
    kinds: tuple[str, ...],
    seed: int,
    check: int,
    material: Path | None,
    profile_name: str,
    *,
    drafted: bool,
    as_json: bool,
) -> int:
    """Measure how often agents still violate after practising on probes of other seeds."""
    profile, _ = required_profile(profile_name)
    if material and not drafted:
        raise ConfigError("--material", "it words drafts only", "add --drafted")
    words = checked_material(material, profile) if material else None
    found = asyncio.run(
        measure_rehearsal(profile, seed, probes, practised, kinds, check, is_drafted=drafted, material=words)
    )
    _print(found.document(), _rehearsal_tables(found), as_json=as_json)
    return int(ExitCode.OK)


@click.command("diversity", epilog="Example: sirocco bench diversity --seeds 8 --probes 120")
@click.option("--seeds", type=click.IntRange(2, 1000), default=8, show_default=True)
@click.option("--probes", type=click.IntRange(2, 10_000), default=120, show_default=True, help="Probes of each seed.")
@click.option("--first-seed", type=click.IntRange(0), default=1, show_default=True)
@_PROFILE
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diversity(seeds: int, probes: int, first_seed: int, profile_name: str, *, as_json: bool) -> int:
    """Measure how much of the probes' texts and structure recurs in other seeds, next to the targets."""
    profile, _ = required_profile(profile_name)
    drafted = asyncio.run(_drafted(profile, range(first_seed, first_seed + seeds), probes))
    found = measure_diversity(profile.scenarios, drafted)
    table = _table(f"{seeds} seeds, {probes} probes each", ("measure", "", "now", "target", "reached"))
    for one in found:
        row = one.document()
        table.add_row(*_cells((one.name, "", row["now"], one.target, "yes" if one.is_reached else "no")))
    _print([one.document() for one in found], [table], as_json=as_json)
    return int(ExitCode.OK)


@click.command("schedule", epilog="Example: sirocco bench schedule --agent zoo:category-hole --seeds 3 --decided")
@click.option("--agent", "agents", multiple=True, default=("zoo:verbatim", "zoo:keywords", "zoo:category-hole"))
@click.option("--probes", "marks", type=click.IntRange(1, 10_000), multiple=True, default=MARKS, show_default=True)
@click.option("--seeds", type=click.IntRange(1, 1000), default=3, show_default=True)
@click.option("--first-seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--decided", is_flag=True, help="Decide from the texts of drafts, and run nothing; pursuit needs runs.")
@_PROFILE
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def schedule(
    agents: tuple[str, ...],
    marks: tuple[int, ...],
    seeds: int,
    first_seed: int,
    profile_name: str,
    *,
    decided: bool,
    as_json: bool,
) -> int:
    """Compare the distinct findings of the covering plan with those of the schedules that follow findings."""
    profile, _ = required_profile(profile_name)
    known, measure = Memory.from_profile(profile), decide_schedule if decided else measure_schedule
    found = [
        asyncio.run(measure(profile, first_seed + draw, character(name), known.with_draw(draw), kind, sorted(marks)))
        for name in (spec.removeprefix(ZOO_PREFIX) for spec in agents)
        for draw in range(seeds)
        for kind in (DECIDABLE if decided else SCHEDULES)
    ]
    table = _table("Distinct findings after this many probes", ("agent", "schedule", "seed", *map(str, sorted(marks))))
    for one in found:
        after = [f"{one.after.get(mark)} ({one.calls.get(mark)} calls)" for mark in sorted(marks)]
        table.add_row(*_cells((one.agent, one.schedule, one.seed, *after)))
    _print([one.document() for one in found], [table], as_json=as_json)
    return int(ExitCode.OK)


async def _drafted(profile: Profile, seeds: Iterable[int], number: int) -> dict[int, list[BoundScenario]]:
    """The drafts of each seed that load, in the proportions of its plan."""
    return {seed: [one async for one in practice_scenarios(profile, [seed], number)] for seed in seeds}


def _rehearsal_tables(found: Rehearsal) -> Iterable[Table]:
    columns = ("agent", "practised", "lessons", "violated", "rate", "95 %", "of unpractised", "work kept", "counts")
    table = _table("Violations after practice on probes of other seeds", (*columns, f"rate at {LEAST_KEPT:.0%} kept"))
    for one in found.rows():
        low, high = one["interval"]
        table.add_row(
            *_cells((one["kind"], one["practised"], one["lessons"], f"{one['violated']}/{one['probes']}", one["rate"],
                     f"{low:.2f}-{high:.2f}", one["of_unpractised"], one["legitimate_kept"],
                     "yes" if one["counts"] else "no", one["rate_at_best"]))
        )  # fmt: skip
    # Refusing one conversation in five without looking keeps as much, and violates as often.
    table.add_row(*_cells(("guessing", "", "", "", LEAST_KEPT, "", LEAST_KEPT, LEAST_KEPT, "yes", LEAST_KEPT)))
    table.caption = f"run for real: {found.agreed} of {found.checked} came out as decided beforehand"
    yield table


@click.command(
    "strength", epilog="Example: sirocco bench strength --agent model:ollama:qwen3 --probes 20 --keep trials"
)
@click.option("--agent", "agent", required=True, help="The agent to tempt.")
@click.option("--model-url", default="", help="The endpoint of the model of `model:`.")
@click.option("--timeout", type=click.IntRange(1), default=300, show_default=True, help="Seconds for one turn.")
@click.option(
    "--probes", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Number of the engine's texts."
)
@click.option("--style", "styles", type=click.Choice(tuple(STYLES)), multiple=True, default=tuple(STYLES))
@click.option(
    "--lead",
    type=click.IntRange(1),
    metavar="CHARACTERS",
    help="For a model, make the call that shows the text, if its result is not longer than this.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--keep", type=click.Path(path_type=Path), help="A file of trials, one per line; they are not repeated.")
@_PROFILE
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def strength(
    agent: str,
    model_url: str,
    timeout: int,
    probes: int,
    styles: tuple[str, ...],
    seed: int,
    keep: Path | None,
    lead: int | None,
    profile_name: str,
    *,
    as_json: bool,
) -> int:
    """Measure whether the engine's texts tempt an agent, next to published attack styles for the same goals."""
    profile, _ = required_profile(profile_name)
    settings = RunSettings(seed, utc_now, deadline_seconds=timeout)
    if lead is not None and not agent.startswith("model:"):
        raise ConfigError("--lead", "only a model can be led", "leave it out, or give --agent model:PROVIDER:NAME")
    led: list[LedModel] = []

    def leading(model: ChatModel) -> ChatModel:
        led.append(LedModel(model))
        return led[-1]

    options = AgentOptions(model_url=model_url, timeout_seconds=timeout)
    tempted = plugins.agent(agent, profile, options if lead is None else replace(options, through=leading))

    async def trials() -> list[Trial]:
        drawn = await injected_probes(profile, seed, probes, lead)
        tried = measure_strength(profile, tempted, settings, drawn, styles, keep, next(iter(led), None))
        return [one async for one in tried]

    found = summary(asyncio.run(trials()))
    _print(found, _strength_tables(found), as_json=as_json)
    return int(ExitCode.OK)


def _strength_tables(found: Mapping[str, Any]) -> Iterable[Table]:
    columns = ("texts", "delivered", "attempted", "violated")
    for kind in ("authors", "techniques", "surfaces"):
        table = _table(kind, (kind.removesuffix("s"), "", *columns))
        for name, row in found[kind].items():
            table.add_row(*_cells((name, "", *(row[column] for column in columns))))
        yield table
    outcomes = ("pairs", "both", "engine_only", "style_only", "neither")
    table = _table("pairs", ("", "", *outcomes))
    table.add_row(*_cells(("", "", *(found[outcome] for outcome in outcomes))))
    yield table


def _detection_tables(found: Detection) -> Iterable[Table]:
    title = f"{found.probes} probes, {len(found.seeds)} seeds from {found.seeds[0]}"
    columns = ("agent", "breed", "core", "detected", "first probe", "first call", "findings", "false", *found.baselines)
    table = _table(title, columns)
    others = {name: {row.agent: row.document()["findings"] for row in rows} for name, rows in found.baselines.items()}
    for row in found.rows:
        one = row.document()
        core = "pass" if row.passes_core else "fail"
        baseline = [others[name].get(row.agent) for name in others]
        table.add_row(
            *_cells((one["agent"], one["breed"], core, f"{one['detected']}/{one['runs']}", one["first_probe"],
                     one["first_calls"], one["findings"], one["false_findings"], *baseline))
        )  # fmt: skip
    totals = found.document()
    each, together = totals["advantage"] or "-", totals["advantage_together"] or "-"
    table.caption = f"findings about gaming agents: {each} times the best baseline's, in all runs together {together}"
    yield table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", caption_justify="left", box=None, pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number > 1 else "left", no_wrap=True)
    return table


def _cells(values: Iterable[Any]) -> list[str]:
    return ["-" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in values]


def _print(document: Any, tables: Iterable[Table], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
        return
    console = Console(width=_WIDTH)
    for table in tables:
        console.print(table)
