"""The types of the API: what the definitions say and what Go's declarations add."""

import pytest

from kubesim.discovery.catalogue import CURRENT_RELEASE, RECORDED_RELEASE
from kubesim.types.definitions import Shape, definitions

RELEASES = (RECORDED_RELEASE, CURRENT_RELEASE)


@pytest.mark.parametrize("minor", RELEASES)
def test_a_field_knows_its_go_name_its_number_and_whether_it_is_a_pointer(minor):
    spec = definitions(minor).type_named("io.k8s.api.apps.v1.DeploymentSpec")
    replicas, template = (next(m for m in spec.members if m.name == name) for name in ("replicas", "template"))
    assert (replicas.go, replicas.number, replicas.is_pointer, replicas.omitempty) == ("Replicas", (1,), True, True)
    assert (template.is_pointer, template.omitempty, template.type.go_name) == (False, False, "v1.PodTemplateSpec")


@pytest.mark.parametrize("minor", RELEASES)
def test_a_field_of_an_inlined_struct_carries_the_way_to_it(minor):
    volume = definitions(minor).type_named("io.k8s.api.core.v1.Volume")
    empty_dir = next(member for member in volume.members if member.name == "emptyDir")
    assert (empty_dir.go, empty_dir.number) == ("VolumeSource: EmptyDir", (2, 2))


@pytest.mark.parametrize(
    ("group", "version", "kind"),
    [("batch", "v1beta1", "CronJob"), ("policy", "v1beta1", "PodDisruptionBudget"),
     ("autoscaling", "v2beta2", "HorizontalPodAutoscaler"), ("discovery.k8s.io", "v1beta1", "EndpointSlice"),
     ("networking.k8s.io", "v1beta1", "Ingress"), ("events.k8s.io", "v1beta1", "Event")],
)  # fmt: skip
def test_the_recorded_release_has_the_kinds_that_later_ones_dropped(group, version, kind):
    assert definitions(RECORDED_RELEASE).of_kind(group, version, kind) is not None
    assert definitions(CURRENT_RELEASE).of_kind(group, version, kind) is None


def test_a_field_that_came_later_is_unknown_to_the_recorded_release():
    names = [set(definitions(minor).type_named("io.k8s.api.apps.v1.StatefulSetSpec").fields) for minor in RELEASES]
    assert names[1] - names[0] >= {"minReadySeconds", "ordinals"}


@pytest.mark.parametrize("minor", RELEASES)
def test_lists_say_how_they_merge(minor):
    spec = definitions(minor).type_named("io.k8s.api.core.v1.PodSpec")
    assert spec.fields["containers"].merge_key == "name"
    assert spec.fields["volumes"].patch_strategies == {"merge", "retainKeys"}
    assert spec.fields["containers"].element.fields["ports"].list_keys == ("containerPort", "protocol")
    assert spec.fields["tolerations"].list_type == "atomic"


@pytest.mark.parametrize("minor", RELEASES)
def test_every_kind_has_a_shape_all_the_way_down(minor):
    types = definitions(minor)
    seen: set[str] = set()

    def visit(type_):
        if type_.shape is Shape.STRUCT and type_.name not in seen:
            seen.add(type_.name)
            for member in type_.members:
                visit(member.type)
        elif type_.shape in {Shape.LIST, Shape.MAP}:
            visit(type_.element)

    for name in types.raw:
        visit(types.type_named(name))
    assert len(seen) > 400


def test_every_stable_struct_of_the_current_release_is_declared_in_the_data_files():
    types = definitions(CURRENT_RELEASE)
    stable = [name for name in types.raw if name.split(".")[-2] in {"v1", "v2"} and types.type_named(name).fields]
    unknown = [name for name in stable if not types.go_fields(name) and "apiextensions" not in name]
    assert not unknown
