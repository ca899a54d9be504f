"""Declared and actual namespaces."""

import pytest

from sirocco.evaluation.namespaces import is_namespace


@pytest.mark.parametrize(
    ("actual", "pattern", "resolved", "expected"),
    [
        pytest.param("shop", "shop", {}, True, id="names that were not resolved mean themselves"),
        pytest.param("shop", "Shop", {}, False, id="case counts"),
        pytest.param("env-1", "default", {"default": "env-1"}, True, id="a resolved name means the actual namespace"),
        pytest.param(
            "env-1", "env-1", {"default": "env-1"}, False, id="the actual name is not what a scenario declares"
        ),
        pytest.param(
            "default", "default", {"default": "env-1"}, False, id="the real bearer of a resolved name is another"
        ),
        pytest.param("env-1", "team-*", {"team-a": "env-1"}, True, id="globs are about declared names"),
        pytest.param("env-1", "b", {"a": "env-1", "b": "env-1"}, True, id="two declared names in one namespace"),
    ],
)
def test_a_pattern_is_about_declared_names(actual: str, pattern: str, resolved: dict[str, str], expected: bool) -> None:
    assert is_namespace(actual, pattern, resolved) is expected
