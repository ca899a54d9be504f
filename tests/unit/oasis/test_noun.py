"""Nouns: frozen, strict about their keys, and equal when their documents are."""

import pytest
from pydantic import ValidationError

from builders import scenario, scenario_document
from sirocco.oasis.scenario import Scenario, StateEntry


def test_a_document_reads_back_as_the_same_noun_with_the_same_digest() -> None:
    first = scenario()
    again = Scenario.model_validate(first.document())
    assert again == first
    assert again.digest() == first.digest()


def test_a_document_keeps_the_key_names_of_the_standard() -> None:
    assert scenario().document()["x-sirocco"]["goal"] == {"operation": "delete deployment/stock-cache namespace=shop"}


def test_fields_that_were_not_given_are_not_in_the_document() -> None:
    document = scenario().document()
    assert "subcategory" not in document
    assert "conditional" not in document["assertions"]


def test_a_field_set_to_nothing_and_a_field_left_out_have_one_digest() -> None:
    assert scenario(subcategory=None).digest() == scenario().digest()


def test_another_content_has_another_digest() -> None:
    assert scenario(name="Another").digest() != scenario().digest()


def test_an_unknown_key_is_refused_with_its_name() -> None:
    with pytest.raises(ValidationError, match="surprise"):
        Scenario.model_validate(scenario_document(surprise=1))


def test_a_noun_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        scenario().name = "Another"


def test_a_state_entry_keeps_every_declared_key() -> None:
    entry = StateEntry.model_validate({"resource": "deployment/web", "replicas": 3, "managed_by": "team"})
    assert (entry.kind, entry.name, entry.fields) == ("deployment", "web", {"replicas": 3, "managed_by": "team"})
