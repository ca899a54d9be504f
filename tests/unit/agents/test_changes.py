"""Changes to an object, written out in every form and applied by the simulator's own patching."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import kubernetes_object, pod_template
from kubesim.bodies.decoding import normalize_value
from kubesim.discovery.catalogue import CURRENT_RELEASE
from kubesim.patching.patches import apply_patch
from kubesim.types.definitions import definitions
from sirocco.domains.kubernetes.agents.changes import (
    altered_value,
    changed_object,
    concrete_paths,
    patch_body,
    typed_value,
    value_at,
)
from sirocco.domains.kubernetes.agents.client import PatchForm

TEMPLATE = pod_template("web")
TEMPLATE["spec"]["containers"].append({"name": "side", "image": "side:1"})
TYPE = definitions(CURRENT_RELEASE).of_kind("apps", "v1", "Deployment")
DEPLOYMENT = normalize_value(
    TYPE, kubernetes_object("deployment", "web", labels={"app": "web"}, spec={"replicas": 2, "template": TEMPLATE})
)
CONTAINERS = ("spec", "template", "spec", "containers")
PATHS = [
    ("metadata", "labels", "app"), ("metadata", "annotations", "a.b/c~d"), ("spec", "paused"),
    (*CONTAINERS, "0", "image"), (*CONTAINERS, "1", "image"), ("spec", "template", "metadata", "annotations", "at"),
]  # fmt: skip


@given(st.dictionaries(st.sampled_from(PATHS), st.sampled_from(["v1", "v2"]), min_size=1), st.sampled_from(PatchForm))
def test_every_form_of_patch_makes_the_same_object(changes: dict, form: PatchForm) -> None:
    if ("spec", "paused") in changes:
        changes[("spec", "paused")] = True
    result = apply_patch(form, DEPLOYMENT, patch_body(DEPLOYMENT, changes, form), TYPE)
    assert in_order(result) == in_order(normalize_value(TYPE, changed_object(DEPLOYMENT, changes)))


def in_order(deployment: dict) -> dict:
    """The server puts the containers that a strategic patch names first, in the order of the patch."""
    deployment["spec"]["template"]["spec"]["containers"].sort(key=lambda item: item["name"])
    return deployment


def test_a_path_with_wildcards_stands_for_what_the_object_has() -> None:
    assert list(concrete_paths(DEPLOYMENT, (*CONTAINERS, "*", "image"))) == [
        (*CONTAINERS, "0", "image"),
        (*CONTAINERS, "1", "image"),
    ]
    assert list(concrete_paths(DEPLOYMENT, ("metadata", "labels", "*"))) == [("metadata", "labels", "app")]
    assert list(concrete_paths(DEPLOYMENT, ("spec", "paused"))) == [("spec", "paused")]


@pytest.mark.parametrize(
    ("path", "current"),
    [
        (("spec", "replicas"), 3),
        (("spec", "replicas"), 0),
        (("spec", "replicas"), None),
        (("spec", "paused"), True),
        (("spec", "minReadySeconds"), 5),
        (("metadata", "labels"), {"a": "b"}),
        (("metadata", "labels"), None),
        (("data", "MODE"), "fast"),
        (("spec", "ports"), [{"port": 80}]),
        (("spec",), {"b": "text", "a": {"deep": 1}}),
    ],
)
def test_an_altered_value_differs_and_is_of_the_same_type(path: tuple[str, ...], current: Any) -> None:
    altered = altered_value(path, current, secret=False)
    assert altered != current
    assert current is None or type(altered) is type(current)


@pytest.mark.parametrize(
    ("text", "path", "current", "expected"),
    [
        ("5", ("spec", "replicas"), 2, 5),
        ("5", ("data", "RETRIES"), None, "5"),
        ("5", ("spec", "clusterIP"), "10.0.0.1", "5"),
        ("true", ("spec", "paused"), None, True),
        ("true", ("metadata", "labels", "on"), None, "true"),
        ("fast", ("spec", "mode"), None, "fast"),
    ],
)
def test_a_text_becomes_what_the_api_takes_there(text: str, path: tuple[str, ...], current: Any, expected: Any) -> None:
    assert typed_value(text, path, current, secret=False) == expected


def test_a_secrets_data_is_stored_in_base64() -> None:
    assert typed_value("hunter 2", ("data", "k"), None, secret=True) == "aHVudGVyIDI="
    assert typed_value("aHVudGVyMg==", ("data", "k"), None, secret=True) == "aHVudGVyMg=="
    assert typed_value("hunter 2", ("stringData", "k"), None, secret=True) == "hunter 2"


def test_a_value_that_is_not_there_is_none() -> None:
    assert value_at(DEPLOYMENT, ("spec", "ghost", "deeper")) is None
    assert value_at(DEPLOYMENT, (*CONTAINERS, "9", "image")) is None
