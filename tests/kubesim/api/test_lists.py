"""Lists: pages of one state of the cluster, tokens that only the server makes, and the versions that a client asks for."""

import base64
import json

import pytest

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def names(response):
    return [item["metadata"]["name"] for item in response.body["items"]]


@pytest.fixture
def five(bare):
    for number in range(5):
        bare.send("POST", CONFIGMAPS, {"metadata": {"name": f"c{number}", "labels": {"odd": str(number % 2)}}})
    return bare


def test_pages_show_the_state_of_the_first_one(five):
    first = five.send("GET", f"{CONFIGMAPS}?limit=2")
    assert names(first) == ["c0", "c1"]
    assert first.body["metadata"]["remainingItemCount"] == 3
    five.send("DELETE", f"{CONFIGMAPS}/c3")
    five.send("POST", CONFIGMAPS, {"metadata": {"name": "c9"}})
    rest = five.send("GET", f"{CONFIGMAPS}?limit=9&continue={first.body['metadata']['continue']}")
    assert names(rest) == ["c2", "c3", "c4"]
    assert rest.body["metadata"] == {"resourceVersion": first.body["metadata"]["resourceVersion"]}
    assert names(five.send("GET", CONFIGMAPS)) == ["c0", "c1", "c2", "c4", "c9"]


def test_a_selector_leaves_the_number_of_further_items_open(five):
    page = five.send("GET", f"{CONFIGMAPS}?limit=1&labelSelector=odd%3D1")
    assert names(page) == ["c1"]
    assert "remainingItemCount" not in page.body["metadata"]
    assert names(
        five.send("GET", f"{CONFIGMAPS}?continue={page.body['metadata']['continue']}&labelSelector=odd%3D1")
    ) == ["c3"]


def test_over_all_namespaces_the_key_decides_the_order(bare):
    for namespace in ("a", "a-b"):
        bare.send("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        bare.send("POST", f"/api/v1/namespaces/{namespace}/secrets", {"metadata": {"name": "x"}})
    listed = bare.send("GET", "/api/v1/secrets").body["items"]
    assert [item["metadata"]["namespace"] for item in listed] == ["a-b", "a"]
    first = bare.send("GET", "/api/v1/secrets?limit=1").body
    token = json.loads(base64.urlsafe_b64decode(first["metadata"]["continue"] + "=="))
    assert token["start"] == "a-b/x\0"


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("continue=abc=", 400, "illegal base64 data at input byte 3"),
        ("continue=e30", 400, "server does not recognize this encoded version"),
        ("limit=abc", 400, 'strconv.ParseInt: parsing "abc"'),
        ("limit=", 400, 'strconv.ParseInt: parsing ""'),
        ("resourceVersion=abc", 500, 'resourceVersion: Invalid value: "abc"'),
        ("resourceVersion=abc&limit=1", 400, "invalid resource version"),
        ("resourceVersion=99999999", 504, "Too large resource version: 99999999"),
        ("resourceVersion=99999999&limit=1", 500, "required revision is a future revision"),
        ("resourceVersionMatch=Exact", 422, "forbidden unless resourceVersion is provided"),
        ("resourceVersionMatch=Exact&resourceVersion=0", 422, 'forbidden for resourceVersion "0"'),
        ("resourceVersionMatch=Near&resourceVersion=1", 422, 'Unsupported value: "Near"'),
        ("labelSelector=a%20in%20b", 400, "found 'b' expected: '('"),
        ("fieldSelector=spec.x%3D1", 400, '"spec.x" is not a known field selector'),
    ],
)
def test_what_cannot_be_asked_is_refused_in_the_servers_words(bare, query, status, words):
    response = bare.send("GET", f"{CONFIGMAPS}?{query}")
    assert response.status == status
    assert words in response.body["message"]


def test_an_exact_version_shows_what_was_there_then(five):
    then = five.send("GET", CONFIGMAPS).body["metadata"]["resourceVersion"]
    five.send("DELETE", f"{CONFIGMAPS}/c0")
    past = five.send("GET", f"{CONFIGMAPS}?resourceVersion={then}&resourceVersionMatch=Exact")
    assert names(past) == ["c0", "c1", "c2", "c3", "c4"]
    assert names(five.send("GET", f"{CONFIGMAPS}?resourceVersion={then}")) == ["c1", "c2", "c3", "c4"]
