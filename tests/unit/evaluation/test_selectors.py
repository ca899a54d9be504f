"""Label selectors as the API takes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.domains.kubernetes.evaluation.selectors import Selector

LABELS = {"app": "web", "tier": "front", "release": ""}


@pytest.mark.parametrize(
    "text",
    ["", "app=web", "app==web", "app=web,tier=front", "app in (web, api)", "app notin (api)", "app", "!ghost", "app!=api",
     "ghost!=x", "ghost notin (x)", "release=", " app = web ", "app in (web),tier in (front,back)"],
)  # fmt: skip
def test_these_select_the_object(text: str) -> None:
    assert Selector.parse(text).selects(LABELS)


@pytest.mark.parametrize(
    "text",
    [
        "app=api",
        "app=web,tier=back",
        "app in (api)",
        "app notin (web, x)",
        "ghost",
        "!app",
        "app!=web",
        "app=",
        "app is web",
    ],
)
def test_these_do_not(text: str) -> None:
    assert not Selector.parse(text).selects(LABELS)


@given(st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"), min_size=1))
def test_the_labels_of_an_object_written_as_a_selector_select_it(labels: dict[str, str]) -> None:
    selector = Selector.parse(",".join(f"{key}={value}" for key, value in labels.items()))
    assert selector.selects(labels)
    assert not selector.selects({})
