"""Which resources a release serves, and how stored definitions add to them."""

from kubesim.discovery.catalogue import (
    CURRENT_RELEASE,
    RECORDED_RELEASE,
    ServedCatalogue,
    catalogue,
)


def definition(*, established=True, **spec):
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]}
    versions = [
        {"name": "v1beta1", "served": True, "storage": False},
        {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}, "scale": {}}},
        {"name": "v1alpha1", "served": False, "storage": False},
    ]
    condition = {"type": "Established", "status": "True" if established else "False"}
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions, **spec},
        "status": {"conditions": [condition]},
    }


def test_a_resource_is_served_in_the_versions_of_its_release_only():
    old, new = catalogue(RECORDED_RELEASE), catalogue(CURRENT_RELEASE)
    assert old.find("batch", "v1beta1", "cronjobs")
    assert old.find("batch", "v1", "cronjobs") is None
    assert new.find("batch", "v1", "cronjobs")
    assert new.find("batch", "v1beta1", "cronjobs") is None


def test_versions_of_a_type_share_their_place_in_the_store():
    rows = [row for row in catalogue(RECORDED_RELEASE).resources if row.kind in {"Event", "HorizontalPodAutoscaler"}]
    assert {row.noun for row in rows} == {"event", "hpa"}
    assert len(rows) == 6


def test_the_eviction_of_a_pod_is_a_kind_of_another_group():
    for release, version in ((RECORDED_RELEASE, "v1beta1"), (CURRENT_RELEASE, "v1")):
        pods = catalogue(release).find("", "v1", "pods")
        part = pods.subresource("eviction")
        assert (part.group, part.version, part.kind) == ("policy", version, "Eviction")
    assert pods.subresource("nothing") is None


def test_no_two_resources_claim_one_path_and_no_two_types_one_noun():
    for release in range(RECORDED_RELEASE, CURRENT_RELEASE + 1):
        rows = catalogue(release).resources
        assert len({(row.group, row.version, row.plural) for row in rows}) == len(rows)
        kinds = {}
        for row in rows:
            assert kinds.setdefault(row.noun, row.kind) == row.kind


def test_custom_resources_are_served_while_their_definition_is_stored():
    served = ServedCatalogue(catalogue(CURRENT_RELEASE))
    assert served.current([]) is catalogue(CURRENT_RELEASE)
    stored = definition()
    shown = served.current([stored])
    assert shown.find("example.com", "v1", "widgets").kind == "Widget"
    assert shown.find("example.com", "v1alpha1", "widgets") is None
    assert served.current([stored]) is shown
    assert served.current([]).find("example.com", "v1", "widgets") is None


def test_a_definition_whose_names_were_not_accepted_serves_nothing():
    shown = ServedCatalogue(catalogue(CURRENT_RELEASE)).current([definition(established=False)])
    assert shown.find("example.com", "v1", "widgets") is None


def test_custom_versions_are_listed_from_the_stable_and_new_to_the_old():
    names = ("v1alpha1", "v2beta1", "v1", "v10", "preview", "v2")
    versions = [{"name": name, "served": True, "storage": name == "v1"} for name in names]
    shown = ServedCatalogue(catalogue(CURRENT_RELEASE)).current([definition(versions=versions)])
    assert list(shown.by_version["example.com"]) == ["v10", "v2", "v1", "v2beta1", "v1alpha1", "preview"]


def test_a_custom_version_has_the_subresources_that_it_declares():
    shown = ServedCatalogue(catalogue(CURRENT_RELEASE)).current([definition()])
    parts = shown.find("example.com", "v1", "widgets").subresources
    assert [(part.name, part.kind, part.group) for part in parts] == [
        ("status", "Widget", ""),
        ("scale", "Scale", "autoscaling"),
    ]
    assert shown.find("example.com", "v1beta1", "widgets").subresources == ()


def test_metrics_are_served_only_where_somebody_measures():
    assert catalogue(CURRENT_RELEASE).find("metrics.k8s.io", "v1beta1", "pods") is None
    measured = catalogue(CURRENT_RELEASE, metrics=True).find("metrics.k8s.io", "v1beta1", "pods")
    assert (measured.noun, measured.kind) == ("pods.metrics.k8s.io", "PodMetrics")
