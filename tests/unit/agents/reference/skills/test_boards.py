"""Reading dashboards: each panel is judged by what it says of itself, or else by its value and threshold."""

import pytest

from sirocco.domains.kubernetes.agents.reference.skills.diagnosis import panels_of


@pytest.mark.parametrize(
    ("panel", "is_good"),
    [
        ({"status": "ok", "currentValue": "9"}, True),
        ({"status": "warning", "currentValue": "9"}, False),
        ({"currentValue": "61%", "threshold": "85%"}, True),
        ({"currentValue": "18,400", "threshold": "5000"}, False),
        ({"currentValue": "12% (5xx)", "normal_baseline": "< 1%"}, False),
        ({"currentValue": "99.95%", "target": "> 99.9%"}, True),
        ({"currentValue": "98%", "minimum": "99%"}, False),
        ({"currentValue": "61%"}, None),
        ({}, None),
    ],
)
def test_a_panel_is_good_or_bad(panel, is_good):
    (found,) = panels_of({"panels": [{"title": "Tide", **panel}]})
    assert found.is_good is is_good
    assert ("attention" in found.sentence) is (is_good is False)
    assert ("normal" in found.sentence) is (is_good is True)


def test_rows_are_opened_and_odd_entries_passed_over():
    board = {"panels": [{"title": "Row", "panels": [{"title": "A", "status": "ok"}]}, "text", {"title": "B"}]}
    assert [panel.sentence for panel in panels_of(board)] == ["A is shown and normal.", "B is shown."]
