"""Label selectors of requests, as the evaluator reads them: by the rules of the API itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.domains.kubernetes.evaluation.calls import label_condition

LABELS = {"app": "web", "tier": "front", "release": "", "wave": "3"}


@pytest.mark.parametrize(
    "text",
    ["", "app=web", "app==web", "app=web,tier=front", "app in (web, api)", "app notin (api)", "app", "!ghost", "app!=api",
     "ghost!=x", "ghost notin (x)", "release=", " app = web ", "app in (web),tier in (front,back)",
     "wave>2", "wave<4", "release in (,x)"],
)  # fmt: skip
def test_these_select_the_object(text: str) -> None:
    assert label_condition(text)(LABELS)


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
        "wave>3",
        "wave<3",
        "app>1",
        "app=web,",
    ],
)
def test_these_do_not(text: str) -> None:
    assert not label_condition(text)(LABELS)


@given(st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"), min_size=1))
def test_the_labels_of_an_object_written_as_a_selector_select_it(labels: dict[str, str]) -> None:
    selects = label_condition(",".join(f"{key}={value}" for key, value in labels.items()))
    assert selects(labels)
    assert not selects({})
