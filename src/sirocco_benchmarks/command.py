"""`sirocco bench`: speed as ratios to something else that runs on the same machine at the same time."""

import asyncio
import importlib
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from sirocco import __version__
from sirocco.cli.exit_codes import ExitCode
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.report import UnitResult
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins
from sirocco.wiring.clock import utc_now
from sirocco.wiring.domains import domain_for
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco_benchmarks.agreement import agreement
from sirocco_benchmarks.campaigns import campaign_drafting, campaign_phase
from sirocco_benchmarks.clients import measured_clients
from sirocco_benchmarks.environments import (
    measured_calls,
    measured_calls_over_tls,
    measured_memory,
    measured_provision,
    median,
)
from sirocco_benchmarks.judging import EvaluationSpeed, measured_evaluation, with_entries
from sirocco_benchmarks.loading import measured_load, multiply_scenarios
from sirocco_benchmarks.power import detection, diversity, rehearsal, schedule, strength
from sirocco_benchmarks.running import measured_equal_work, measured_run
from sirocco_benchmarks.running import measured_memory as measured_memory_of_runs

_UNIT = "the processor time of a unit of equal work"
_FIRST_BYTE = 300
"""Maximum milliseconds to the first byte of a console page."""
_PAGE = 300
"""Maximum kilobytes of a console page."""
_MEMORY = 0.6
"""Maximum megabytes of a live environment."""


@click.group("bench", epilog="Example: sirocco bench load", invoke_without_command=True, no_args_is_help=True)
@click.option("--all", "is_all", is_flag=True, help="Run all benchmarks of speed and print one table.")
@click.pass_context
def command(ctx: click.Context, *, is_all: bool) -> int | None:
    """Measure how fast Sirocco is (as JSON lines) and how much its probes find (as tables)."""
    if not is_all:
        return None
    if ctx.invoked_subcommand is not None:
        raise click.UsageError("--all runs every benchmark of speed; drop the name of a single one")
    rows: list[dict[str, Any]] = []
    ctx.obj = rows
    for measured in (load, environment, provider, evaluation, run, campaign):
        click.echo(f"measuring: {measured.name}", err=True)
        ctx.invoke(measured)
    _print_table(rows)
    return int(ExitCode.OK)


@command.command("load", epilog="Example: sirocco bench load --scenarios 1000")
@click.option("--scenarios", type=click.IntRange(1, 100_000), default=1000, show_default=True)
def load(scenarios: int) -> int:
    """Measure loading and validating scenarios, relative to merely parsing the YAML in C."""
    with tempfile.TemporaryDirectory() as folder:
        multiply_scenarios(bundled_profile_folder(), Path(folder), scenarios)
        speed = measured_load(Path(folder), domain_for, time.perf_counter)
    _write("load", speed.loaded, "s", speed.ratio, "PyYAML's C parse of the same text", speed.scenarios)
    return int(ExitCode.OK)


@command.command("environment", epilog="Example: sirocco bench environment")
@click.option("--environments", type=click.IntRange(1, 100_000), default=1000, show_default=True)
@click.option("--calls", type=click.IntRange(1, 100_000), default=200, show_default=True, help="Calls per round.")
def environment(environments: int, calls: int) -> int:
    """Measure setting up environments, their memory, and the cost of calls relative to a bare handler."""
    profile, _ = required_profile(BUNDLED)
    scenarios = [bound.scenario for bound in profile.scenarios]
    requests = [
        ProvisionRequest(scenario.preconditions, scenario.tier, seed) for seed, scenario in enumerate(scenarios)
    ]
    now = utc_now()
    taken = asyncio.run(measured_provision(requests, now, time.perf_counter))
    middle = median(taken) * 1000
    unit = measured_equal_work(profile, time.process_time)
    _write("environment provision and teardown", middle, "ms", median(taken) / unit, _UNIT, len(taken))
    memory = measured_memory(requests, now, environments=environments)
    allowed = _MEMORY * environments
    _write("environment memory", memory, "MB", memory / allowed, f"{allowed:g} MB", environments)
    direct = asyncio.run(measured_calls(requests[0], now, time.perf_counter, calls=calls))
    served = measured_calls_over_tls(requests[0], now, time.perf_counter, calls=calls)
    for way, against, speeds in (
        ("in process", "a bare ASGI handler called the same way", direct),
        ("over TLS", "a bare ASGI handler served the same way", served),
    ):
        for method, speed in speeds.items():
            value = speed.environment * 1_000_000
            _write(f"environment {method} {way}", value, "us", speed.ratio, against, 5 * calls)
    return int(ExitCode.OK)


@command.command("console", epilog="Example: sirocco bench console runs/demo/memorizer")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--probes", type=click.IntRange(1, 100_000), default=5000, show_default=True)
def pages(run: Path, probes: int) -> int:
    """Measure the console's pages for a run like RUN with many probes: time to first byte, and page size."""
    measuring = importlib.import_module("sirocco_benchmarks.pages")  # needs the extra `console`
    with tempfile.TemporaryDirectory() as folder:
        measuring.multiply_probes(run, Path(folder) / "large", probes)
        for one in measuring.measured_pages(Path(folder)):
            first, size = one.first * 1000, one.kilobytes
            _write(f"first byte of {one.page}", first, "ms", first / _FIRST_BYTE, f"{_FIRST_BYTE} ms", probes)
            _write(f"size of {one.page}", size, "kB", size / _PAGE, f"{_PAGE} kB", probes)
    return int(ExitCode.OK)


@command.command("provider", epilog="Example: sirocco bench provider")
@click.option("--rounds", type=click.IntRange(1, 1000), default=4, show_default=True)
@click.option("--requests", type=click.IntRange(1, 100_000), default=500, show_default=True, help="Requests per round.")
def provider(rounds: int, requests: int) -> int:
    """Measure the processor time of a request to a remote provider, relative to that of HTTP libraries."""
    for speed in measured_clients(time.process_time, rounds=rounds, requests=requests):
        for library, seconds in speed.others.items():
            against = f"{library} for the same request"
            value = speed.own * 1_000_000
            _write(f"provider {speed.plane} plane", value, "us", speed.own / seconds, against, rounds * requests)
    return int(ExitCode.OK)


@command.command("evaluate", epilog="Example: sirocco bench evaluate")
@click.option("--entries", type=click.IntRange(1, 1_000_000), default=200, show_default=True, help="Of the audit log.")
@click.option(
    "--most", type=click.IntRange(1, 1_000_000), default=10_000, show_default=True, help="Entries at the end."
)
@click.option("--rounds", type=click.IntRange(1, 10_000), default=15, show_default=True)
@click.option("--scenarios", type=click.IntRange(1), default=14, show_default=True, help="Of the bundled ones.")
def evaluation(entries: int, most: int, rounds: int, scenarios: int) -> int:
    """Measure judging evidence, relative to merely parsing its JSON."""
    results = asyncio.run(_recorded_runs(scenarios))
    speeds: dict[int, list[EvaluationSpeed]] = {}
    for number in dict.fromkeys((entries, most)):
        turns = rounds if number <= entries else max(rounds // 5, 1)
        speeds[number] = [
            measured_evaluation(result.bound, with_entries(result.evidence, number), time.perf_counter, rounds=turns)
            for result in results
        ]
        value = median([speed.evaluated for speed in speeds[number]])
        ratio = median([speed.ratio for speed in speeds[number]])
        against = "the bare parse of the same bundle's JSON"
        _write(f"evaluate {number} audit entries", value * 1000, "ms", ratio, against, turns * len(results))
    growth = median([last.evaluated / first.evaluated for first, last in zip(*_ends(speeds), strict=True)])
    _write("evaluate growth", growth, "times", growth / (most / entries), "growth of the log", len(results))
    return int(ExitCode.OK)


@command.command("run", epilog="Example: sirocco bench run --units 10000")
@click.option("--rounds", type=click.IntRange(1, 100_000), default=200, show_default=True, help="Units of equal work.")
@click.option("--scenarios", type=click.IntRange(1), default=1000, help="Maximum number of bundled ones.")
@click.option("--units", type=click.IntRange(0, 1_000_000), default=0, help="Also measure memory over this many units.")
def run(rounds: int, scenarios: int, units: int) -> int:
    """Measure the harness's processor time per unit, on the real path, and the memory of a long run."""
    profile, _ = required_profile(BUNDLED)
    typical_ones = profile.scenarios[:scenarios]
    speed = measured_run(profile, typical_ones, time.process_time, rounds=rounds)
    directly, through = (f"a bare ASGI handler for the same two requests, {way}" for way in ("called", "over httpx"))
    equal = speed.equal_work
    _write("run equal work", equal * 1000, "ms", equal / speed.floor_httpx, through, rounds)
    _write("run equal work", equal * 1000, "ms", equal / speed.floor_direct, directly, rounds)
    _write("run typical scenario", speed.typical * 1000, "ms", speed.typical / equal, _UNIT, len(typical_ones))
    if units:
        memory = measured_memory_of_runs(profile, units)
        growth = memory.late - memory.early
        _write("run memory growth", growth, "MB", memory.late / memory.early, "what it was after 500 units", units)
    return int(ExitCode.OK)


@command.command("campaign", epilog="Example: sirocco bench campaign --most 1000")
@click.option("--probes", type=click.IntRange(2, 10_000), default=48, show_default=True)
@click.option("--most", type=click.IntRange(2, 100_000), default=200, show_default=True, help="Probes at the end.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def campaign(probes: int, most: int, seed: int) -> int:
    """Measure drafting, admission, and a phase against an instant agent, and how they grow."""
    profile, _ = required_profile(BUNDLED)
    drafting = asyncio.run(campaign_drafting(profile, time.process_time, probes=probes, seed=seed))
    each = drafting.seconds / max(drafting.drafted, 1) * 1000
    unit = measured_equal_work(profile, time.process_time)
    _write("campaign draft and admit", each, "ms", each / 1000 / unit, _UNIT, drafting.drafted)
    phase = asyncio.run(campaign_phase(profile, time.process_time, probes=probes, seed=seed))
    taken, number = (phase.moments[-1], len(phase.moments)) if phase.moments else (0.0, 1)
    _write("campaign phase", taken, "s", taken / number / (each / 1000), "drafting and admitting as many", number)
    long = asyncio.run(campaign_phase(profile, time.process_time, probes=most, seed=seed))
    _write("campaign growth", long.growth, "times", long.growth, "a probe of the first half", len(long.moments))
    more = (long.late - long.early) / 1_000_000
    _write("campaign memory", more, "MB", long.late / max(long.early, 1), "memory at half time", len(long.moments))
    return int(ExitCode.OK)


for measured in (detection, rehearsal, schedule, diversity, strength, agreement):
    command.add_command(measured)


def _ends(speeds: dict[int, list[EvaluationSpeed]]) -> tuple[list[EvaluationSpeed], list[EvaluationSpeed]]:
    numbers = list(speeds)
    return speeds[numbers[0]], speeds[numbers[-1]]


async def _recorded_runs(number: int) -> list[UnitResult]:
    """One run each of the given number of bundled scenarios, spread over all of them, by a busy agent."""
    profile, _ = required_profile(BUNDLED)
    chosen = profile.scenarios[:: max(1, len(profile.scenarios) // number)][:number]
    settings = RunSettings(1, utc_now)
    execution = Execution(plugins.agent("ref:naive", profile), plugins.own_provider(profile), settings)
    return [await execution.execute(bound.scenario.id, bound) for bound in chosen]


def _write(benchmark: str, value: float, unit: str, ratio: float, against: str, n: int) -> None:
    line = {
        "benchmark": benchmark, "value": round(value, 4), "unit": unit, "ratio": round(ratio, 2), "against": against,
        "n": n,
    }  # fmt: skip
    rows = click.get_current_context().find_root().obj
    if isinstance(rows, list):
        rows.append(line)
    else:
        sys.stdout.write(json.dumps(line) + "\n")


def _print_table(rows: list[dict[str, Any]]) -> None:
    """What was measured, and where: times say little without the machine, ratios hardly change with it."""
    python, machine = platform.python_version(), f"{platform.machine()}, {os.cpu_count()} processors"
    table = Table(title=f"sirocco {__version__}, Python {python}, {platform.system()} {machine}", box=box.SIMPLE)
    for name in ("benchmark", "value", "ratio", "against", "n"):
        table.add_column(name, justify="left" if name in {"benchmark", "against"} else "right")
    for row in rows:
        value = f"{row['value']:.4g} {row['unit']}"
        table.add_row(row["benchmark"], value, f"{row['ratio']:.2f}", row["against"], str(row["n"]))
    Console().print(table)
