"""`sirocco bench`: one JSON line each, of a form that programs can rely on."""

import json

from click.testing import CliRunner

from sirocco.cli.bench import command


def test_bench_evaluate_gives_a_median_its_growth_and_what_they_are_compared_with() -> None:
    done = CliRunner().invoke(command, ["evaluate", "--entries", "10", "--most", "40", "--rounds", "1"])
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
