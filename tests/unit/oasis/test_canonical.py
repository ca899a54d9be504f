"""Canonical JSON, digests and derived seeds: the same on every machine and in every process."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.oasis.canonical import canonical_json, derived_seed, digest, digest_of_text

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_json)
def test_canonical_json_reads_back_as_the_same_value(value) -> None:
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(), st.integers(), min_size=2))
def test_the_order_of_keys_changes_nothing(value) -> None:
    assert digest(dict(reversed(value.items()))) == digest(value)


def test_numbers_that_json_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json(float("nan"))


def test_a_digest_names_its_algorithm_and_is_fixed_for_all_time() -> None:
    assert digest_of_text("") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest({"b": 1, "a": "é"}) == digest_of_text('{"a":"é","b":1}')


def test_seeds_differ_by_purpose_and_are_128_bits_wide() -> None:
    seeds = {derived_seed(1, "a"), derived_seed(1, "b"), derived_seed(2, "a"), derived_seed(1, "a", 0), derived_seed(1)}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**128 for seed in seeds)


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_a_seed_does_not_depend_on_the_hash_seed_of_the_process(hash_seed: str) -> None:
    program = "from sirocco.oasis.canonical import derived_seed; print(derived_seed(7, 'draft', 17))"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert int(done.stdout) == derived_seed(7, "draft", 17)
