"""`sirocco bench`: speed as ratios against something that runs on the same machine in the same minute."""

import json
import sys
import tempfile
import time
from pathlib import Path

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.profiles.read import bundled_profile_folder
from sirocco.profiles.speed import measured_load, multiply_scenarios


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
    line = {
        "benchmark": "load",
        "value": round(speed.loaded, 4),
        "unit": "s",
        "ratio": round(speed.ratio, 2),
        "against": "PyYAML's C parse of the same text",
        "n": speed.scenarios,
    }
    sys.stdout.write(json.dumps(line) + "\n")
    return int(ExitCode.OK)
