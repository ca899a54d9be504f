"""Objects on their way into etcd and back: keys, forms, types, and what the real controllers expect to find."""

import json

import pytest

from kubesim.resource import BY_NOUN
from kubesim.store import Key
from sirocco.domains.kubernetes.cluster.etcd import Entry
from sirocco.domains.kubernetes.cluster.registry import (
    address_objects,
    found_object,
    is_kept_by_server,
    object_key,
    of_revision,
    registry_key,
    revision_bytes,
    revision_object,
    stored_form,
)

UID = "4f9a7f64-0000-4000-a000-000000000001"


def an_object(kind, name, namespace="shop", **more):
    metadata = {"name": name, "uid": UID, "creationTimestamp": "2026-01-01T00:00:00Z", "resourceVersion": "7"}
    return {"kind": kind, "apiVersion": "v1", "metadata": {**metadata, "namespace": namespace}, **more}


@pytest.mark.parametrize(
    ("noun", "place", "key"),
    [
        ("pod", ("shop", "web-1"), "/registry/pods/shop/web-1"),
        ("node", ("", "worker-1"), "/registry/minions/worker-1"),
        ("service", ("shop", "web"), "/registry/services/specs/shop/web"),
        ("endpoints", ("shop", "web"), "/registry/services/endpoints/shop/web"),
        ("ingress", ("shop", "web"), "/registry/ingress/shop/web"),
        ("clusterrole", ("", "viewer"), "/registry/clusterroles/viewer"),
    ],
)
def test_objects_stand_where_the_server_keeps_them(noun, place, key):
    assert registry_key(BY_NOUN[noun], Key(noun, *place)) == key


@pytest.mark.requirement("CO-14")
def test_an_object_comes_back_as_it_was_under_the_version_of_its_key():
    pod = an_object("Pod", "web-1", spec={"containers": []})
    stored = stored_form(BY_NOUN["pod"], pod)
    assert "resourceVersion" not in json.loads(stored)["metadata"]
    row, found = found_object(Entry("/registry/pods/shop/web-1", stored, 42))
    assert row.noun == "pod"
    assert found == {**pod, "metadata": {**pod["metadata"], "resourceVersion": "42"}}


def test_a_type_that_somebody_defined_is_told_by_its_key():
    widget = {**an_object("Widget", "blue"), "apiVersion": "things.example.com/v1"}
    entry = Entry("/registry/things.example.com/widgets/shop/blue", json.dumps(widget).encode(), 3)
    row, _ = found_object(entry)
    assert (row.noun, row.plural, row.namespaced) == ("widgets.things.example.com", "widgets", True)
    assert object_key(row, widget) == entry.key


@pytest.mark.parametrize("value", [b"", b"no json", b"[]", b'{"kind": "Pod"}', b"k8s\x00\n\x05binary"])
def test_what_is_no_object_is_passed_over(value):
    assert found_object(Entry("/registry/ranges/serviceips", value, 1)) is None


def test_what_services_and_real_controllers_keep_is_not_put_there():
    kept = {
        "pod": an_object("Pod", "web-1"),
        "alert": an_object("Alert", "high-load"),
        "lease": an_object("Lease", "worker-1"),
        "configmap": an_object("ConfigMap", "kube-root-ca.crt"),
    }
    assert [noun for noun, obj in kept.items() if is_kept_by_server(BY_NOUN[noun], obj)] == ["pod"]


def test_addresses_of_services_are_taken_and_a_service_without_one_takes_none():
    services = [
        an_object("Service", "web", spec={"clusterIP": "10.96.4.2", "clusterIPs": ["10.96.4.2"]}),
        an_object("Service", "headless", spec={"clusterIP": "None", "clusterIPs": ["None"]}),
        an_object("Service", "outside", spec={"type": "ExternalName"}),
    ]
    (taken,) = address_objects(services)
    assert taken["metadata"]["name"] == "10.96.4.2"
    assert taken["spec"]["parentRef"] == {"group": "", "resource": "services", "namespace": "shop", "name": "web"}


def test_a_revision_holds_the_template_as_go_writes_it_and_its_pods_are_marked():
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "db", "args": ["a<b"]}]}}
    owner = {**an_object("StatefulSet", "db"), "apiVersion": "apps/v1", "spec": {"template": template}}
    revision = revision_object(BY_NOUN["statefulset"], owner)
    text = revision_bytes(revision).decode()
    assert '"data":{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"db"}}' in text
    assert "a\\u003cb" in text
    reference = {"kind": "StatefulSet", "name": "db", "uid": UID, "controller": True}
    pod = an_object("Pod", "db-0")
    pod["metadata"]["ownerReferences"] = [reference]
    marked = of_revision(BY_NOUN["pod"], pod, revision)
    assert marked["metadata"]["labels"]["controller-revision-hash"] == revision["metadata"]["name"]
    told = of_revision(BY_NOUN["statefulset"], owner, revision)["status"]
    assert told["currentRevision"] == told["updateRevision"] == revision["metadata"]["name"]


def test_the_pods_of_a_daemon_set_are_marked_with_the_end_of_the_name():
    owner = {**an_object("DaemonSet", "log-agent"), "spec": {"template": {"spec": {}}}}
    revision = revision_object(BY_NOUN["daemonset"], owner)
    marked = of_revision(BY_NOUN["pod"], an_object("Pod", "log-agent-x2c4v"), revision)
    assert f"log-agent-{marked['metadata']['labels']['controller-revision-hash']}" == revision["metadata"]["name"]
    assert revision["metadata"]["labels"]["controller-revision-hash"] in revision["metadata"]["name"]
