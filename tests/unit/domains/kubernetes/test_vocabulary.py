"""The words of Kubernetes, as layers ask for them that know none."""

import pytest

from sirocco.domains.kubernetes.domain import KUBERNETES

WORDS = KUBERNETES.vocabulary


@pytest.mark.parametrize(
    ("text", "placed"),
    [
        ("delete deployment/web", "delete deployment/web namespace=shop"),
        ("delete deployment/web namespace=lab", "delete deployment/web namespace=lab"),
        ("delete node/one", "delete node/one"),
        ("delete *", "delete *"),
    ],
)
def test_an_operation_is_placed_where_it_is_open_and_can_be_in_a_namespace(text: str, placed: str) -> None:
    assert str(WORDS.with_default_namespace(WORDS.operation(text), "shop")) == placed


def test_only_what_each_object_is_in_counts_as_namespaced() -> None:
    assert {noun for noun in WORDS.nouns if not WORDS.is_namespaced(noun)} == {
        "namespace", "node", "pv", "clusterrole", "clusterrolebinding",
    }  # fmt: skip
    assert not WORDS.is_namespaced("castle")


def test_the_example_of_a_goal_can_be_read() -> None:
    operation = WORDS.goal_forms.split("`")[1].removeprefix("operation: ")
    assert str(WORDS.operation(operation)) == operation


def test_a_creation_is_the_only_operation_whose_object_is_not_there() -> None:
    assert WORDS.operation("create pod/web").is_creation
    assert not WORDS.operation("apply pod/web").is_creation
