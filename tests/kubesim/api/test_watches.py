"""Watches: what changed since a version, seen through the selectors of the one who watches."""

import pytest

from kubesim.discovery.catalogue import CURRENT_RELEASE

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
MERGE = "application/merge-patch+json"


def configmap(name, **labels):
    return {"metadata": {"name": name, "labels": labels}}


def seen(events):
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


def test_a_watch_begins_with_what_is_there_and_goes_on_with_what_happens(bare):
    bare.send("POST", CONFIGMAPS, configmap("a"))
    watch = bare.send("GET", f"{CONFIGMAPS}?watch=true").body
    assert seen(watch.pending()) == [("ADDED", "a")]
    assert watch.pending() == []
    bare.send("POST", CONFIGMAPS, configmap("b"))
    bare.send("PATCH", f"{CONFIGMAPS}/a", {"data": {"x": "y"}}, MERGE)
    bare.send("DELETE", f"{CONFIGMAPS}/b")
    bare.send("POST", "/api/v1/namespaces/kube-system/configmaps", configmap("elsewhere"))
    assert seen(watch.pending()) == [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]


def test_a_watch_from_a_version_gets_the_changes_since(bare):
    version = bare.send("POST", CONFIGMAPS, configmap("a")).body["metadata"]["resourceVersion"]
    bare.send("POST", CONFIGMAPS, configmap("b"))
    deleted = bare.send("DELETE", f"{CONFIGMAPS}/a")
    assert deleted.status == 200
    events = bare.send("GET", f"{CONFIGMAPS}?watch=1&resourceVersion={version}").body.pending()
    assert seen(events) == [("ADDED", "b"), ("DELETED", "a")]
    assert int(events[1]["object"]["metadata"]["resourceVersion"]) > int(version)


def test_an_object_that_no_longer_matches_is_gone_for_the_watch(bare):
    bare.send("POST", CONFIGMAPS, configmap("a", tier="x"))
    watch = bare.send("GET", f"{CONFIGMAPS}?watch=1&labelSelector=tier%3Dx").body
    watch.pending()
    bare.send("PATCH", f"{CONFIGMAPS}/a", {"metadata": {"labels": {"tier": "y"}}}, MERGE)
    bare.send("PATCH", f"{CONFIGMAPS}/a", {"metadata": {"labels": {"tier": "x"}}}, MERGE)
    events = watch.pending()
    assert seen(events) == [("DELETED", "a"), ("ADDED", "a")]
    assert events[0]["object"]["metadata"]["labels"] == {"tier": "x"}


def test_a_version_that_is_too_long_ago_is_gone(bare):
    version = bare.send("POST", CONFIGMAPS, configmap("a")).body["metadata"]["resourceVersion"]
    for number in range(1100):
        bare.send("PATCH", f"{CONFIGMAPS}/a", {"data": {"n": str(number)}}, MERGE)
    watch = bare.send("GET", f"{CONFIGMAPS}?watch=1&resourceVersion={version}").body
    (event,) = watch.pending()
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")
    assert watch.is_over


def test_a_last_bookmark_tells_from_where_to_go_on(bare):
    watch = bare.send("GET", f"{CONFIGMAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=9").body
    assert watch.timeout == 9
    assert watch.close() == []
    watch = bare.send("GET", f"{CONFIGMAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=9").body
    elsewhere = bare.send("POST", "/api/v1/namespaces/kube-system/configmaps", configmap("x")).body
    (event,) = watch.close()
    assert event["type"] == "BOOKMARK"
    assert event["object"]["metadata"]["resourceVersion"] == elsewhere["metadata"]["resourceVersion"]


@pytest.mark.parametrize("release", [CURRENT_RELEASE])
def test_a_streamed_list_says_where_it_ends(server, release):
    current = server(release)
    current.send("POST", CONFIGMAPS, configmap("a"))
    query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
    events = current.send("GET", f"{CONFIGMAPS}?{query}").body.pending()
    assert seen(events) == [("ADDED", "a"), ("BOOKMARK", "")]
    assert events[1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    refused = current.send("GET", f"{CONFIGMAPS}?watch=1&sendInitialEvents=true")
    assert refused.status == 422


def test_a_watch_is_in_the_audit_log_whether_it_ends_or_not(bare):
    first = bare.send("GET", f"{CONFIGMAPS}?watch=1").body
    bare.send("GET", f"{CONFIGMAPS}?watch=1")
    bare.send("GET", CONFIGMAPS)
    assert [event["verb"] for event in bare.events()] == ["list", "watch", "watch"]
    first.close()
    first.close()
    assert [event["verb"] for event in bare.events()] == ["list", "watch", "watch"]
    assert bare.events()[1]["responseStatus"]["message"] == "Connection closed early"


def test_the_old_paths_watch_too(bare):
    bare.send("POST", CONFIGMAPS, configmap("a"))
    bare.send("POST", CONFIGMAPS, configmap("b"))
    response = bare.send("GET", "/api/v1/watch/namespaces/default/configmaps/a")
    assert seen(response.body.pending()) == [("ADDED", "a")]
    assert bare.send("POST", "/api/v1/watch/namespaces/default/configmaps", configmap("c")).status == 405
