"""`sirocco bench`: one JSON line each, of a form that programs can rely on."""

import json

from click.testing import CliRunner

from sirocco_benchmarks.command import command


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
    lines = {line["benchmark"]: line for line in map(json.loads, done.output.splitlines())}
    assert list(lines) == [
        "run equal work",
        "run typical scenario",
        "run floor direct",
        "run floor through httpx",
        "run memory growth",
    ]
    assert all(line["value"] > 0 for name, line in lines.items() if name != "run memory growth")
    assert lines["run equal work"]["against"] == "1.5 ms"
    assert lines["run memory growth"]["n"] == 4


def test_bench_campaign_gives_the_cost_of_a_probe_of_a_phase_and_their_growth() -> None:
    done = CliRunner().invoke(command, ["campaign", "--probes", "2", "--most", "4"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    lines = {line["benchmark"]: line for line in map(json.loads, done.output.splitlines())}
    assert list(lines) == ["campaign draft and admit", "campaign phase", "campaign growth", "campaign memory"]
    assert lines["campaign draft and admit"]["against"] == "60 ms of CPU"
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
