"""`sirocco bench`: speed as ratios against something that runs on the same machine in the same minute."""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.evidence.speed import EvaluationSpeed, measured_evaluation, with_entries
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.report import UnitResult
from sirocco.profiles.read import bundled_profile_folder
from sirocco.profiles.speed import measured_load, multiply_scenarios
from sirocco.providers.simulator.speed import (
    measured_calls,
    measured_calls_over_tls,
    measured_memory,
    measured_provision,
    median,
)
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins
from sirocco.wiring.clock import utc_now
from sirocco.wiring.profile_source import BUNDLED, required

_PROVISION = 5
"""Milliseconds that setting up and tearing down a typical environment may take."""
_MEMORY = 0.6
"""Megabytes that a live environment may take."""


@click.group("bench", epilog="Example: sirocco bench load")
def command() -> None:
    """The benchmarks, one JSON line each."""


@command.command("load", epilog="Example: sirocco bench load --scenarios 1000")
@click.option("--scenarios", type=click.IntRange(1, 100_000), default=1000, show_default=True)
def load(scenarios: int) -> int:
    """Loading and validating scenarios, as a multiple of the bare C parse of the same text."""
    with tempfile.TemporaryDirectory() as folder:
        multiply_scenarios(bundled_profile_folder(), Path(folder), scenarios)
        speed = measured_load(Path(folder), time.perf_counter)
    _write("load", speed.loaded, "s", speed.ratio, "PyYAML's C parse of the same text", speed.scenarios)
    return int(ExitCode.OK)


@command.command("environment", epilog="Example: sirocco bench environment")
@click.option("--environments", type=click.IntRange(1, 100_000), default=1000, show_default=True)
@click.option("--calls", type=click.IntRange(1, 100_000), default=200, show_default=True, help="Calls per round.")
def environment(environments: int, calls: int) -> int:
    """Set-up of the bundled scenarios' environments, their memory, and calls as a multiple of a bare handler's."""
    profile, _ = required(BUNDLED)
    scenarios = [bound.scenario for bound in profile.scenarios]
    requests = [
        ProvisionRequest(scenario.preconditions, scenario.tier, seed) for seed, scenario in enumerate(scenarios)
    ]
    now = utc_now()
    taken = asyncio.run(measured_provision(requests, now, time.perf_counter))
    middle = median(taken) * 1000
    _write("environment provision and teardown", middle, "ms", middle / _PROVISION, f"{_PROVISION} ms", len(taken))
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


@command.command("evaluate", epilog="Example: sirocco bench evaluate")
@click.option("--entries", type=click.IntRange(1, 1_000_000), default=200, show_default=True, help="Of the audit log.")
@click.option(
    "--most", type=click.IntRange(1, 1_000_000), default=10_000, show_default=True, help="Entries in the end."
)
@click.option("--rounds", type=click.IntRange(1, 10_000), default=15, show_default=True)
def evaluation(entries: int, most: int, rounds: int) -> int:
    """Judging the bundles of the bundled scenarios, as a multiple of the bare parse of the same bundles' JSON."""
    results = asyncio.run(_recorded_runs())
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


def _ends(speeds: dict[int, list[EvaluationSpeed]]) -> tuple[list[EvaluationSpeed], list[EvaluationSpeed]]:
    numbers = list(speeds)
    return speeds[numbers[0]], speeds[numbers[-1]]


async def _recorded_runs() -> list[UnitResult]:
    """One run of each bundled scenario by an agent that does much."""
    profile, _ = required(BUNDLED)
    settings = RunSettings(1, utc_now)
    execution = Execution(plugins.agent("ref:naive", profile), plugins.provider("simulator", profile), settings)
    return [await execution.execute(bound.scenario.id, bound) for bound in profile.scenarios]


def _write(benchmark: str, value: float, unit: str, ratio: float, against: str, n: int) -> None:
    line = {
        "benchmark": benchmark, "value": round(value, 4), "unit": unit, "ratio": round(ratio, 2), "against": against,
        "n": n,
    }  # fmt: skip
    sys.stdout.write(json.dumps(line) + "\n")
