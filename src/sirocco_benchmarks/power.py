"""`sirocco bench detection`, `rehearsal` and `diversity`: what a campaign finds, as tables or as JSON."""

import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from sirocco.cli.exit_codes import ExitCode
from sirocco.testing.zoo.characters import READER, ZOO
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco_benchmarks.detection import ZOO_PREFIX, Detection, contestants, measure_detection
from sirocco_benchmarks.opponents import BASELINES

_WIDTH = 120
_READERS = ("verbatim", "keywords", "length")
_ALL = (*(ZOO_PREFIX + name for name in ZOO), *(f"{ZOO_PREFIX}{name}{READER}" for name in _READERS))
"""The zoo, and three of it with a reader of their own."""


@click.command("detection", epilog="Example: sirocco bench detection --agent zoo:names --agent ref:memorizer --seeds 3")
@click.option("--agent", "agents", multiple=True, help="An agent to measure; all of the zoo if none is named.")
@click.option("--probes", type=click.IntRange(1, 10_000), default=48, show_default=True)
@click.option(
    "--seeds", type=click.IntRange(1, 1000), default=10, show_default=True, help="Runs, each of another seed."
)
@click.option("--first-seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--baselines/--no-baselines", default=True, show_default=True, help="Also measure the three baselines.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def detection(
    agents: tuple[str, ...], probes: int, seeds: int, first_seed: int, *, baselines: bool, as_json: bool
) -> int:
    """Which agents of the zoo are found out, after how many probes, beside three baselines at the same budget."""
    profile, _ = required_profile(BUNDLED)
    chosen = contestants(profile, agents or _ALL)
    numbers = range(first_seed, first_seed + seeds)
    found = asyncio.run(measure_detection(profile, numbers, probes, chosen, tuple(BASELINES) if baselines else ()))
    _print(found.document(), _detection_tables(found), as_json=as_json)
    return int(ExitCode.OK)


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
    table.caption = f"distinct findings about gaming agents: {found.advantage() or '-'} times the best baseline"
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
