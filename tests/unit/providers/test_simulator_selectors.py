"""Label and field selectors."""

import pytest

from kubesim.selection import match_labels
from kubesim.selectors import field_selector, label_selector
from kubesim.status import ApiError

ITEMS = [
    {"metadata": {"name": "a", "labels": {"app": "web", "tier": "front", "rank": "1"}}},
    {"metadata": {"name": "b", "labels": {"app": "web", "tier": "back", "rank": "5"}}},
    {"metadata": {"name": "c", "labels": {"app": "db"}}},
    {"metadata": {"name": "d"}},
]


def chosen(predicate):
    return "".join(item["metadata"]["name"] for item in ITEMS if predicate(item))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "abcd"),
        ("app=web", "ab"),
        ("app==web,tier=front", "a"),
        ("app!=web", "cd"),
        ("tier", "ab"),
        ("!tier", "cd"),
        ("tier in (front, back)", "ab"),
        ("tier notin (front)", "bcd"),
        ("app in (db),!tier", "c"),
        ("rank>2", "b"),
        ("rank<2", "a"),
        ("app=", ""),
    ],
)
def test_label_selectors_choose(text, expected):
    assert chosen(label_selector(text)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("bad in x", "unable to parse requirement: found 'x' expected: '('"),
        ("a,", "found '', expected: identifier after ','"),
    ],
)
def test_a_label_selector_that_is_none_is_refused(text, message):
    with pytest.raises(ApiError) as refused:
        label_selector(text)
    assert str(refused.value) == message


def test_an_objects_own_selector_knows_expressions():
    expressions = [{"key": "tier", "operator": "In", "values": ["back"]}, {"key": "none", "operator": "DoesNotExist"}]
    assert chosen(match_labels({"matchLabels": {"app": "web"}, "matchExpressions": expressions})) == "b"
    assert (
        chosen(match_labels({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["back"]}]})) == "acd"
    )


def test_field_selectors_know_name_phase_and_what_an_event_is_about(provisioned):
    live = provisioned({"resource": "deployment/web", "status": "crashloopbackoff"}, {"resource": "pod/solo"})
    assert live.names("pod", fieldSelector="metadata.name=solo") == ["solo"]
    assert live.names("pod", fieldSelector="metadata.name!=solo,status.phase=Running") != []
    pod = next(name for name in live.names("pod") if name != "solo")
    about = live.items("event", fieldSelector=f"involvedObject.name={pod},involvedObject.kind=Pod")
    assert {event["reason"] for event in about} == {"BackOff", "Pulled", "Created", "Started"}


def test_a_field_that_is_not_indexed_cannot_be_selected():
    with pytest.raises(ApiError):
        field_selector("configmap", "data.a=b")
    with pytest.raises(ApiError):
        field_selector("pod", "nonsense")
