"""What clients learn about the server's resources, in both forms."""

import json

import pytest

from kubesim.discovery.catalogue import CURRENT_RELEASE, RECORDED_RELEASE, catalogue
from kubesim.discovery.documents import answer

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = V2.replace("v=v2", "v=v2beta1")
PLAIN = "application/json"


def recorded(recordings, area):
    for file in sorted((recordings / "cases" / area).glob("*.json")):
        yield from json.loads(file.read_text())["steps"]


def test_every_recorded_list_of_resources_is_told_as_the_real_server_told_it(recordings):
    served, compared = catalogue(RECORDED_RELEASE), 0
    for step in recorded(recordings, "discovery"):
        body = step["response"].get("body") or {}
        if body.get("kind") in {"APIResourceList", "APIGroup"}:
            assert answer(served, step["request"]["path"], PLAIN) == (body, PLAIN)
            compared += 1
    assert compared > 5


@pytest.mark.parametrize("path", ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"])
def test_a_slash_at_the_end_changes_nothing(path):
    served = catalogue(CURRENT_RELEASE)
    assert answer(served, path, PLAIN) == answer(served, f"{path}/", PLAIN) is not None


@pytest.mark.parametrize(
    "path", ["/apis/nope", "/apis/apps/v9", "/api/v2", "/apis//v1", "/api/v1/pods", "//apis", "/version"]
)
def test_what_is_not_served_is_not_told(path):
    assert answer(catalogue(CURRENT_RELEASE), path, PLAIN) is None


@pytest.mark.parametrize(
    ("release", "accept", "form"),
    [
        pytest.param(CURRENT_RELEASE, f"{V2},{V2BETA1},{PLAIN}", V2, id="the first that is known"),
        pytest.param(33, f"{V2BETA1},{PLAIN}", V2BETA1, id="old clients get the old form"),
        pytest.param(CURRENT_RELEASE, f"{V2BETA1},{PLAIN}", PLAIN, id="a release without the old form"),
        pytest.param(CURRENT_RELEASE, f"{PLAIN},{V2}", PLAIN, id="plain when that is asked for first"),
        pytest.param(CURRENT_RELEASE, "", PLAIN, id="plain when nothing is asked for"),
        pytest.param(28, f"{V2},{V2BETA1},{PLAIN}", V2BETA1, id="a release before v2"),
        pytest.param(RECORDED_RELEASE, f"{V2},{V2BETA1},{PLAIN}", PLAIN, id="a release before the aggregated form"),
    ],
)
def test_the_client_gets_the_form_that_it_asks_for(release, accept, form):
    for path in ("/api", "/apis"):
        document, content_type = answer(catalogue(release), path, accept)
        assert content_type == form
        assert (document["kind"] == "APIGroupDiscoveryList") is (form != PLAIN)


def test_both_forms_tell_the_same():
    served = catalogue(CURRENT_RELEASE)
    aggregated = [item for root in ("/api", "/apis") for item in answer(served, root, V2)[0]["items"]]
    for item in aggregated:
        group = item["metadata"].get("name", "")
        for version in item["versions"]:
            path = f"/apis/{group}/{version['version']}" if group else f"/api/{version['version']}"
            plain = {row["name"]: row for row in answer(served, path, PLAIN)[0]["resources"]}
            told = {}
            for row in version["resources"]:
                told[row["resource"]] = row
                told |= {f"{row['resource']}/{part['subresource']}": part for part in row.get("subresources", ())}
            assert plain.keys() == told.keys()
            for name, row in told.items():
                assert row["verbs"] == plain[name]["verbs"]
                assert row["responseKind"]["kind"] == plain[name]["kind"]


def test_a_subresource_has_no_short_names_and_a_foreign_kind_names_its_group():
    rows = {row["name"]: row for row in answer(catalogue(CURRENT_RELEASE), "/api/v1", PLAIN)[0]["resources"]}
    assert rows["pods"]["shortNames"] == ["po"]
    assert "shortNames" not in rows["pods/log"]
    assert (rows["pods/eviction"]["group"], rows["pods/eviction"]["version"]) == ("policy", "v1")
    assert rows["pods"]["singularName"] == "pod"
