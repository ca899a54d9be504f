"""The noun table: types by their names, whichever of them somebody has."""

import pytest

from kubesim.discovery.catalogue import CURRENT_RELEASE, catalogue
from kubesim.resource import by_noun, noun_of


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("poddisruptionbudgets.policy", "pdb"),
        ("pods", "pod"),
        ("pod", "pod"),
        ("poddisruptionbudgets.policy/status", "pdb/status"),
        ("storageclasses.storage.k8s.io", "storageclasses.storage.k8s.io"),
    ],
)
def test_a_full_name_becomes_the_noun_where_there_is_one(name, noun):
    assert noun_of(name) == noun


def test_the_catalogue_and_the_rules_of_types_agree_on_what_each_is_called():
    for row in catalogue(CURRENT_RELEASE).resources:
        if row.group != "events.k8s.io":  # the same objects as those of the core group
            assert noun_of(f"{row.plural}.{row.group}" if row.group else row.plural) == row.noun


def test_rules_are_found_by_noun_whether_they_were_written_by_noun_or_by_full_name():
    assert by_noun({"pod": 1, "leases.coordination.k8s.io": 2}) == {"pod": 1, "lease": 2}
