"""What an environment shows of a tier (CO-14)."""

import pytest

from builders import kubernetes_object, observation, workload
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.evaluation.tiers import tier_evidence
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.profile import InterfaceType, Tier
from sirocco.wiring.profile_source import BUNDLED, required_profile

ZONE = "topology.kubernetes.io/zone"
ACCESS = {"kubernetes": {}, "services": {"metrics": "u", "dashboards": "u", "gitops": "u"}}


@pytest.fixture(scope="module")
def bundled():
    return required_profile(BUNDLED)[0].document


def profile(bundled, **tier):
    known = tuple(
        InterfaceType(id=name, description="x")
        for name in ("observability-metrics", "observability-dashboards", "gitops", "iac")
    )
    demands = Tier(**{"tier": 1, "environment": {}, "archetypes_per_category": 1, **tier})
    return bundled.model_copy(update={"tiers": (demands,), "interfaces": known})


def cluster(nodes=3, zones=2, names=("web", "db")):
    objects = [kubernetes_object("node", f"n{i}", labels={ZONE: f"zone-{i % zones}"}) for i in range(nodes)]
    objects += [kubernetes_object("namespace", name) for name in ("default", "kube-system", "shop")]
    objects += [item for name in names for item in workload(name)]
    objects += [kubernetes_object("service", "kubernetes", "default"), kubernetes_object("service", "web")]
    objects += workload("dns", "kube-system")
    return objects


def shown(document, tier, objects, access):
    observed = observation(ObservationType.RESOURCE_STATE, {"objects": objects})
    return tier_evidence(document, tier, observed, access, KUBERNETES.record)


@pytest.mark.requirement("CO-14")
def test_what_is_there_is_counted_and_what_every_cluster_has_is_not(bundled):
    evidence = shown(profile(bundled), 1, cluster(), ACCESS)
    assert evidence.measured == {
        "clusters": 1,
        "nodes": 3,
        "namespaces": 1,
        "workloads": 2,
        "microservices": 2,
        "services": 1,
        "zones": 2,
    }


@pytest.mark.requirement("CO-14")
@pytest.mark.parametrize(
    ("demands", "found", "shortfall"),
    [
        ({"nodes": 3}, cluster(), None),
        ({"nodes": 3}, cluster(nodes=2), "at least 3 nodes, found 2"),
        ({"zones": 2}, cluster(zones=1), "at least 2 zones, found 1"),
        ({"microservices": 8}, cluster(), "at least 8 microservices, found 2"),
        ({"workloads": 3}, cluster(), "at least 3 workloads, found 2"),
        ({"namespaces": 2}, cluster(), "at least 2 namespaces, found 1"),
        ({"clusters": 2}, cluster(), "at least 2 clusters, found 1"),
        ({"clusters": 1}, [], "at least 1 clusters, found 0"),
    ],
)
def test_an_environment_below_the_tier_is_named_with_what_was_found(bundled, demands, found, shortfall):
    evidence = shown(profile(bundled, environment=demands), 1, found, ACCESS)
    assert evidence.shortfalls == ((shortfall,) if shortfall else ())
    assert evidence.document()["verified"] is (shortfall is None)


@pytest.mark.requirement("CO-14")
def test_interfaces_that_the_tier_asks_for_must_be_offered(bundled):
    tier = {
        "interfaces": ("observability-tracing",),
        "requirements": ("Basic observability: observability-metrics and iac",),
    }
    evidence = shown(profile(bundled, **tier), 1, cluster(), ACCESS)
    assert evidence.shortfalls == (
        "interface observability-tracing, found not offered",
        "interface iac, found not offered",
    )
    assert {"container-orchestration", "observability-logging", "observability-metrics", "gitops"} <= set(
        evidence.interfaces
    )


def test_an_environment_beyond_the_tier_is_not_below_it(bundled):
    evidence = shown(profile(bundled, at_most={"namespaces": 0}), 1, cluster(), ACCESS)
    assert evidence.shortfalls == ()
    assert evidence.demands[0].met is None


def test_what_nobody_measures_is_listed(bundled):
    prose = (
        "A service mesh",
        "≥3 nodes",
        "Platform: gitops controller, certificate management",
        "observability-metrics and gitops",
    )
    tier = {"environment": {"nodes": 3, "meshes": 1}, "requirements": prose}
    evidence = shown(profile(bundled, **tier), 1, cluster(), ACCESS)
    assert evidence.unmeasured == ("A service mesh", "Platform: gitops controller, certificate management")
    assert [demand.met for demand in evidence.demands[:2]] == [True, None]


@pytest.mark.requirement("CO-14")
def test_a_tier_that_the_profile_does_not_define_is_never_verified(bundled):
    assert shown(profile(bundled), 3, cluster(), ACCESS).shortfalls
