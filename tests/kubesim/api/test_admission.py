"""The admission plugins: limit ranges, quotas, priorities, storage in use, addresses of services."""

import pytest

from kubesim.discovery.catalogue import RECORDED_RELEASE, catalogue
from kubesim.kinds.admission import admit_object, allocate_addresses, charged_quotas
from kubesim.kinds.defaults import fill_defaults
from kubesim.status import ApiError
from kubesim.store import Ids, Store

NOW = "2026-01-01T00:00:00Z"


@pytest.fixture
def store():
    return Store(Ids(1))


def resource(plural, group="", minor=RECORDED_RELEASE):
    return catalogue(minor).find(group, "v1", plural)


def made(plural, name="x", group="", **content):
    row = resource(plural, group)
    place = {"namespace": "shop"} if row.namespaced else {}
    return fill_defaults(row, {"metadata": {"name": name, **place}, **content})


def put(store, plural, name="x", group="", **content):
    return store.create(resource(plural, group), made(plural, name, group, **content), NOW)


def pod(**resources):
    return made("pods", spec={"containers": [{"name": "app", "image": "app:1", "resources": resources}]})


def refusal(call, *arguments):
    with pytest.raises(ApiError) as refused:
        call(*arguments)
    return refused.value.code, refused.value.body["message"]


def test_a_container_gets_the_limits_of_its_namespace_and_a_note_of_it(store):
    put(store, "limitranges", spec={"limits": [{"type": "Container", "default": {"cpu": "1"}}]})
    found = admit_object(store, resource("pods"), pod(), None, namespace="shop")
    assert found["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}
    note = "LimitRanger plugin set: cpu request for container app; cpu limit for container app"
    assert found["metadata"]["annotations"] == {"kubernetes.io/limit-ranger": note}


@pytest.mark.parametrize(
    ("limit", "limits", "words"),
    [
        ({"max": {"cpu": "1"}}, {"cpu": "2"}, "maximum cpu usage per Container is 1, but limit is 2"),
        ({"max": {"cpu": "1"}}, {}, "maximum cpu usage per Container is 1.  No limit is specified"),
        ({"min": {"cpu": "1"}}, {"cpu": "500m"}, "minimum cpu usage per Container is 1, but request is 500m"),
    ],
)
def test_what_a_limit_range_does_not_allow_is_forbidden(store, limit, limits, words):
    put(store, "limitranges", spec={"limits": [{"type": "Container", **limit}]})
    given = pod(limits=limits) if limits else pod()
    answer = refusal(charged_quotas, store, resource("pods"), given, None)
    assert answer == (403, f'pods "x" is forbidden: {words}')


def test_a_quota_counts_once_its_status_says_so(store):
    quota = put(store, "resourcequotas", name="q", spec={"hard": {"pods": "1"}})
    assert charged_quotas(store, resource("pods"), pod(), None) == []
    counting = store.put(
        resource("resourcequotas"), {**quota, "status": {"hard": {"pods": "1"}, "used": {"pods": "0"}}}
    )
    ((before, after),) = charged_quotas(store, resource("pods"), pod(), None)
    assert (before, after["status"]["used"]) == (counting, {"pods": "1"})
    store.put(resource("resourcequotas"), after)
    words = "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"
    assert refusal(charged_quotas, store, resource("pods"), pod(), None) == (403, f'pods "x" is forbidden: {words}')


def test_a_quota_of_compute_resources_asks_every_container_for_them(store):
    quota = put(store, "resourcequotas", name="q", spec={"hard": {"limits.cpu": "1"}})
    used = {"hard": {"limits.cpu": "1"}, "used": {"limits.cpu": "0"}}
    store.put(resource("resourcequotas"), {**quota, "status": used})
    words = "failed quota: q: must specify limits.cpu"
    assert refusal(charged_quotas, store, resource("pods"), pod(), None) == (403, f'pods "x" is forbidden: {words}')


def test_a_pod_gets_its_priority_and_patience(store):
    put(store, "priorityclasses", "high", "scheduling.k8s.io", value=9)
    high = {**pod(), "spec": {**pod()["spec"], "priorityClassName": "high"}}
    found = admit_object(store, resource("pods"), high, None)["spec"]
    assert found["priority"] == 9
    assert [row["key"] for row in found["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    lost = {**pod(), "spec": {**pod()["spec"], "priorityClassName": "gone"}}
    words = 'pods "x" is forbidden: no PriorityClass with name gone was found'
    assert refusal(admit_object, store, resource("pods"), lost, None) == (403, words)


def test_a_claim_is_protected_and_gets_the_default_class(store):
    marks = {"storageclass.kubernetes.io/is-default-class": "true"}
    row = resource("storageclasses", "storage.k8s.io")
    store.create(row, {"metadata": {"name": "fast", "annotations": marks}}, NOW)
    found = admit_object(store, resource("persistentvolumeclaims"), made("persistentvolumeclaims"), None)
    assert found["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert found["spec"]["storageClassName"] == "fast"


def service(**spec):
    return made("services", spec={"ports": [{"port": 80}], **spec})


def test_services_get_addresses_and_ports_that_nobody_has(store):
    row = resource("services")
    for number in range(20):
        given = allocate_addresses(
            store, row, made("services", f"s{number}", spec=service(type="NodePort")["spec"]), None
        )
        store.create(row, given, NOW)
    stored = store.items("service")
    assert len({item["spec"]["clusterIP"] for item in stored}) == 20
    assert len({item["spec"]["ports"][0]["nodePort"] for item in stored}) == 20
    assert all(item["spec"]["clusterIPs"] == [item["spec"]["clusterIP"]] for item in stored)


def test_the_same_seed_gives_the_same_address():
    first, second = (allocate_addresses(Store(Ids(7)), resource("services"), service(), None) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            {"clusterIP": "1.2.3.4", "clusterIPs": ["1.2.3.4"]},
            ('spec.clusterIPs: Invalid value: []string{"1.2.3.4"}: failed to allocated ip:1.2.3.4 with error:provided IP '
            "is not in the valid range. The range of valid IPs is 10.96.0.0/16"),
        ),
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 100}]},
            ("spec.ports[0].nodePort: Invalid value: 100: provided port is not in the valid range. The range of valid "
            "ports is 30000-32767"),
        ),
        (
            {"externalTrafficPolicy": "Local"},
            ('spec.externalTrafficPolicy: Invalid value: "Local": ExternalTrafficPolicy can only be set on NodePort and '
            "LoadBalancer service"),
        ),
    ],
)  # fmt: skip
def test_an_address_or_port_that_cannot_be_had_is_refused(store, spec, words):
    answer = refusal(allocate_addresses, store, resource("services"), service(**spec), None)
    assert answer == (422, f'Service "x" is invalid: {words}')


def test_an_address_that_another_service_has_is_refused(store):
    mine = service(clusterIP="10.96.0.9", clusterIPs=["10.96.0.9"])
    store.create(resource("services"), allocate_addresses(store, resource("services"), mine, None), NOW)
    code, words = refusal(allocate_addresses, store, resource("services"), mine, None)
    assert (code, words.rpartition("error:")[2]) == (422, "provided IP is already allocated")


def test_newer_releases_say_more_about_an_address(store):
    found = allocate_addresses(store, resource("services", minor=33), service(), None)["spec"]
    assert (found["ipFamilies"], found["ipFamilyPolicy"], found["internalTrafficPolicy"]) == (
        ["IPv4"],
        "SingleStack",
        "Cluster",
    )
    assert "ipFamilies" not in allocate_addresses(store, resource("services"), service(), None)["spec"]
