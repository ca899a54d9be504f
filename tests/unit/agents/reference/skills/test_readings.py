"""Reading series: growth is told from a step, an onset has a time, and amounts are written as people write them."""

import pytest

from kubesim.types.quantity import amount_of
from sirocco.domains.kubernetes.agents.reference.skills.readings import Series, ago_text, amount, series_in


def series(*values, unit="", usual=None):
    return Series("tide", "pilot", unit, tuple((60.0 * n, float(value)) for n, value in enumerate(values)), usual)


@pytest.mark.parametrize(
    ("values", "is_growing"),
    [
        ((1, 2, 3, 4, 5), True),
        ((10, 14, 13, 18, 17, 22, 21, 27), True),
        ((5, 5, 5, 50, 50, 50), False),
        ((50, 52, 51, 53, 50, 52), False),
        ((9, 7, 5, 3, 1), False),
        ((10, 30, 12, 29, 11, 28, 13), False),
        ((3, 4), False),
    ],
    ids=["smooth", "saw that rises", "step", "level", "falling", "saw that does not", "too short"],
)
def test_growth_lasts_over_the_whole_span(values, is_growing):
    assert series(*values).is_growing is is_growing


def test_a_series_leaves_its_range_at_a_moment():
    left = series(100, 100, 110, 900, 950)
    assert left.has_left_its_range
    assert left.onset == 180.0
    assert series(100, 120, 130).onset is None
    assert not series(100, 120, 130).has_left_its_range


def test_what_is_said_to_be_usual_counts_as_before():
    assert series(4500, 4500, usual=200.0).has_left_its_range
    assert "usually 200" in series(4500, usual=200.0).series_phrase()
    assert series(90, 91, unit="percent").has_left_its_range


def test_a_result_becomes_series_with_their_usual_values():
    def one(name, reading, **labels):
        return {"metric": {"__name__": name, "service": "pilot", **labels}, "values": [[0, reading], [60, reading]]}

    found = series_in([one("lag", "80"), one("normal_lag", "4"), one("mood", "1", value="fine"), one("odd", "NaN")])
    assert [(each.name, each.now, each.usual) for each in found] == [("lag", 80.0, 4.0)]


def test_amounts_and_times_are_written_as_people_do():
    assert amount(1.6 * 1024**3, "bytes") == "1.6Gi"
    assert amount(720 * 1024**2, "bytes") == "720Mi"
    assert amount(12.0, "percent") == "12%"
    assert (amount_of("2Gi"), amount_of("many")) == (2 * 1024**3, 0)
    assert (ago_text(60), ago_text(5400), ago_text(6 * 3600), ago_text(80 * 3600)) == (
        "1 minute",
        "90 minutes",
        "6 hours",
        "3 days",
    )
