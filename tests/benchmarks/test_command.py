"""`sirocco bench`: one JSON line each, of a form that programs can rely on."""

import json
import platform

from click.testing import CliRunner

from sirocco_benchmarks.command import _write, command


def test_bench_evaluate_gives_a_median_its_growth_and_what_they_are_compared_with() -> None:
    done = CliRunner().invoke(
        command, ["evaluate", "--entries", "10", "--most", "40", "--rounds", "1", "--scenarios", "2"]
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    lines = [json.loads(line) for line in done.output.splitlines()]
    assert [line["benchmark"] for line in lines] == [
        "evaluate 10 audit entries",
        "evaluate 40 audit entries",
        "evaluate growth",
    ]
    for line in lines:
        assert line.keys() == {"benchmark", "value", "unit", "ratio", "against", "n"}
        assert line["value"] > 0
        assert line["ratio"] > 0


def test_bench_run_gives_processor_time_per_unit_the_floor_and_memory() -> None:
    done = CliRunner().invoke(command, ["run", "--rounds", "3", "--scenarios", "2", "--units", "4"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    httpx, direct, typical, growth = map(json.loads, done.output.splitlines())
    assert [line["benchmark"] for line in (httpx, direct, typical, growth)] == [
        "run equal work",
        "run equal work",
        "run typical scenario",
        "run memory growth",
    ]
    assert all(line["value"] > 0 and line["ratio"] > 0 for line in (httpx, direct, typical))
    assert httpx["against"] == "a bare ASGI handler for the same two requests, over httpx"
    assert growth["n"] == 4


def test_bench_all_runs_each_benchmark_of_speed_and_prints_one_table(monkeypatch) -> None:
    names = ("load", "environment", "provider", "evaluate", "run", "campaign")
    for name in names:
        small = {"params": [], "callback": lambda name=name: _write(f"bench {name}", 1.5, "ms", 2, "a floor", 3)}
        for attribute, value in small.items():
            monkeypatch.setattr(command.commands[name], attribute, value)
    done = CliRunner().invoke(command, ["--all"], env={"COLUMNS": "160"})
    assert done.exit_code == 0, done.output
    table = done.stdout.splitlines()
    assert platform.python_version() in done.stdout
    assert [line.split()[:6] for line in table if "bench" in line][1:] == [
        ["bench", name, "1.5", "ms", "2.00", "a"] for name in names
    ]


def test_bench_all_and_a_single_benchmark_exclude_each_other() -> None:
    done = CliRunner().invoke(command, ["--all", "load"])
    assert done.exit_code == 2
    assert "drop the name" in done.output


def test_bench_campaign_gives_the_cost_of_a_probe_of_a_phase_and_their_growth() -> None:
    done = CliRunner().invoke(command, ["campaign", "--probes", "2", "--most", "4"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    lines = {line["benchmark"]: line for line in map(json.loads, done.output.splitlines())}
    assert list(lines) == ["campaign draft and admit", "campaign phase", "campaign growth", "campaign memory"]
    assert lines["campaign draft and admit"]["against"] == "the processor time of a unit of equal work"
    assert lines["campaign growth"]["n"] == 4
    assert lines["campaign phase"]["value"] > 0


def test_bench_provider_sets_our_client_beside_libraries_on_both_planes() -> None:
    done = CliRunner().invoke(command, ["provider", "--rounds", "1", "--requests", "3"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    lines = [json.loads(line) for line in done.output.splitlines()]
    assert [(line["benchmark"], line["against"].partition(" ")[0]) for line in lines] == [
        (f"provider {plane} plane", library) for plane in ("control", "agent") for library in ("httpcore", "httpx")
    ]
    assert all(line["value"] > 0 and line["ratio"] > 0 and line["n"] == 3 for line in lines)
