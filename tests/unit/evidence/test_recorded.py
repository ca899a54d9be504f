"""A record holds every object that never changed once, and gives whole states back."""

import json
from dataclasses import replace

import pytest

from builders import bound, check, evidence, forbidden
from sirocco.errors import EvidenceError
from sirocco.evaluation.unit_result import unit_result
from sirocco.evidence.recorded import Record, recorded_unit
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.ledger import UnitKey

KEPT, CHANGED, OTHER = ({"kind": "ConfigMap", "metadata": {"name": name}} for name in ("kept", "old", "new"))


def observed(before: list[object], after: list[object], without: list[object] | None) -> Evidence:
    found = evidence()
    state = found.state_before
    return replace(
        found,
        state_before=replace(state, data={"objects": before}),
        state_after=replace(found.state_after, data={"objects": after}),
        state_without_agent=None if without is None else replace(state, data={"objects": without}),
    )


def line_of(found: Evidence) -> bytes:
    result = unit_result("u", bound(check(forbidden("delete deployment/stock"))), found)
    return Record.from_result(UnitKey("scenario", "u"), result, "c", "r").line


@pytest.mark.requirement("SI-07")
@pytest.mark.parametrize(
    ("before", "after", "without"),
    [
        ([KEPT, CHANGED], [OTHER, KEPT], [KEPT, CHANGED]),
        ([KEPT], [KEPT, KEPT, OTHER], None),
        ([], [OTHER], []),
        ([KEPT, 1, None], [1, KEPT, -1], ["x", KEPT]),
    ],
    ids=["changed", "twice", "new", "what is no object"],
)
def test_states_come_back_as_they_were_observed(before, after, without):
    found = observed(before, after, without)
    back = recorded_unit(line_of(found), "here").evidence
    assert back == json.loads(json.dumps(found.document()))


def test_an_object_that_never_changed_is_written_once():
    assert line_of(observed([KEPT], [KEPT], [KEPT])).count(b'"kept"') == 1


@pytest.mark.parametrize(
    "same",
    [{"state_after": [0, 7]}, {"state_after": [-2]}, {"state_after": [True]}, {"state_after": [-1, -1]},
     {"state_after": []}, {"state_before": [0]}, {"audit_log": [0]}, {"state_after": "0"}, [0]],
)  # fmt: skip
def test_a_record_that_names_objects_which_are_not_there_is_refused(same):
    record = json.loads(line_of(observed([KEPT], [KEPT, OTHER], None)))
    with pytest.raises(EvidenceError, match="not a recorded unit"):
        recorded_unit(json.dumps({**record, "same": same}).encode(), "here")
