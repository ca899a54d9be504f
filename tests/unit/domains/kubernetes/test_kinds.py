"""What is known of each kind: one row, and nothing that scenarios cannot name."""

import pytest

from kubesim.resource import BY_NOUN, RESOURCE_TYPES
from sirocco.domains.kubernetes import kinds
from sirocco.domains.kubernetes.evaluation.preservation.keeping import LIMITS
from sirocco.domains.kubernetes.kinds import kind_of
from sirocco.oasis.archetype import Function


def test_every_row_is_of_a_type_of_the_table():
    assert set(kinds._KINDS) <= {row.noun for row in RESOURCE_TYPES}


@pytest.mark.requirement("SI-08")
def test_what_has_a_function_can_be_spoiled_or_only_deleted():
    for row in RESOURCE_TYPES:
        kind = kind_of(row.noun)
        spoiled = list(kind.spoiled(row.noun, "till", {"metadata": {"name": "till"}}))
        is_special = row.noun == "namespace"  # what is in it is spoiled
        assert is_special or not kind.functions or bool(spoiled) != kind.is_only_deleted, row.noun


def test_a_type_without_a_row_has_nothing_to_lose():
    assert kind_of("alert").functions == ()
    assert kind_of("alert").smallest(BY_NOUN["alert"], "shop", "slow") == {}


def test_whatever_limits_something_is_there_for_protection():
    assert all(Function.PROTECTION in kind_of(noun).functions for noun in LIMITS)
