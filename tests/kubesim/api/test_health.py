"""What the server answers when asked whether it is well."""

import pytest

from kubesim.discovery.catalogue import CURRENT_RELEASE, RECORDED_RELEASE
from kubesim.discovery.health import ENDPOINTS, checks, extension_paths, report

RELEASES = (RECORDED_RELEASE, CURRENT_RELEASE)


@pytest.mark.parametrize("minor", RELEASES)
def test_every_check_is_reported_in_its_own_line_and_passes(minor):
    for endpoint in ENDPOINTS:
        *lines, last = report(endpoint, (), minor).splitlines()
        assert lines == [f"[+]{name} ok" for name in checks(endpoint, minor)]
        assert last == f"{endpoint} check passed"


def test_a_check_can_be_left_out_and_one_that_does_not_exist_is_named():
    lines = report("livez", ("etcd", "nothing"), CURRENT_RELEASE).splitlines()
    assert "[+]etcd excluded: ok" in lines
    assert 'warn: some health checks cannot be excluded: no matches for "nothing"' in lines


@pytest.mark.parametrize("minor", RELEASES)
def test_only_readiness_asks_whether_the_server_shuts_down(minor):
    assert {endpoint for endpoint in ENDPOINTS if "shutdown" in checks(endpoint, minor)} == {"readyz"}


@pytest.mark.parametrize("minor", RELEASES)
def test_the_server_behind_the_others_runs_some_of_the_checks(minor):
    all_paths = {f"/{endpoint}/{check}" for endpoint in ENDPOINTS for check in checks(endpoint, minor)}
    assert set(extension_paths(minor)) < all_paths


def test_a_release_has_its_own_checks():
    """As a server of 1.34.1 listed them, of which environments differ in none."""
    present, recorded = ({*checks("readyz", minor)} for minor in (CURRENT_RELEASE, RECORDED_RELEASE))
    assert {"etcd-readiness", "poststarthook/start-kubernetes-service-cidr-controller"} <= present - recorded
    assert "poststarthook/start-kube-apiserver-admission-initializer" in recorded - present
