"""Quantities: read, written in canonical form, compared."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim.types.quantity import Quantity, QuantityError, amount_of, canonical_quantity, quantity


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [("1000m", "1"), ("0.25", "250m"), ("1024Ki", "1Mi"), ("1.5Gi", "1536Mi"), ("1e3", "1e3"), ("2000", "2k"),
     ("100Ki", "100Ki"), ("0", "0"), ("-0", "0"), ("+5", "+5"), (".5", "500m"), ("1.1Ki", "1126400m"), (5, "5"),
     ("0.5Ki", "512"), ("1E", "1E"), ("9999999Ei", "9223372036854775807"), (" 1 ", "1"), (None, "0"),
     ("1e999999999", "1e999999999"), ("0.0000000001", "1n"), ("1000E", "1")],
)  # fmt: skip
def test_a_quantity_is_written_in_its_canonical_form(given_text, expected):
    assert canonical_quantity(given_text) == expected


@pytest.mark.parametrize(("given_text", "expected"), [("0.0001", "1m"), ("1.0001Gi", "1073849198183m"), ("1Gi", "1Gi")])
def test_a_list_of_resources_rounds_up_to_thousandths(given_text, expected):
    assert canonical_quantity(given_text, thousandths=True) == expected


@pytest.mark.parametrize(
    ("given_text", "words"),
    [("", "must match"), ("lots", "must match"), ("1x", "must match"), ("1..2", "must match"), (True, "must match"),
     ("1e", "suffix"), ("1Kim", "suffix")],
)  # fmt: skip
def test_what_is_no_quantity_is_refused_in_the_words_of_the_server(given_text, words):
    with pytest.raises(QuantityError, match=words):
        canonical_quantity(given_text)


@given(st.integers(0, 10**15), st.sampled_from(["", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-2"]))
def test_the_canonical_form_means_the_same_and_stays(number, suffix):
    text = f"{number}{suffix}"
    written = canonical_quantity(text)
    assert canonical_quantity(written) == written
    assert quantity(written) == quantity(text)


@given(st.text(max_size=12))
def test_any_text_is_a_quantity_or_refused(text):
    try:
        canonical_quantity(text)
    except QuantityError:
        return


def test_quantities_compare_and_add_across_suffixes():
    assert Quantity.parse("1Gi") > Quantity.parse("1G")
    assert str(Quantity.parse("500m") + Quantity.parse("1")) == "1500m"
    assert (Quantity.parse("1500m").value, Quantity.parse("1500m").milli) == (2, 1500)


@pytest.mark.parametrize(
    ("text", "number"),
    [("256Mi", 2.0**28), ("500m", 0.5), ("9m", 0.009), ("1e3", 1000.0), (" 2 ", 2.0), ("1e100", 1e100),
     ("1e999", math.inf), ("-1", -1.0), ("100%", 0.0), ("", 0.0), ("five", 0.0)],
)  # fmt: skip
def test_an_amount_is_the_quantity_as_a_number_and_nothing_for_what_is_none(text, number):
    assert amount_of(text) == number
