"""One digest for all evidence."""

from hypothesis import given
from hypothesis import strategies as st

from sirocco.evidence.merkle import merkle_root

UNITS = st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=8), max_size=9)


@given(UNITS)
def test_the_root_does_not_depend_on_the_order_of_recording(units):
    assert merkle_root(units) == merkle_root(dict(reversed(units.items())))


@given(UNITS, st.text(min_size=1, max_size=8), st.text(max_size=8))
def test_any_other_set_of_units_has_another_root(units, unit, digest):
    changed = {**units, unit: digest}
    assert (merkle_root(changed) == merkle_root(units)) == (changed == units)


def test_a_unit_cannot_be_moved_between_name_and_digest():
    assert merkle_root({"ab": "c"}) != merkle_root({"a": "bc"})
