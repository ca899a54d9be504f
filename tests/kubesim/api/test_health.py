"""What the server answers when asked whether it is well."""

from kubesim.discovery.health import ENDPOINTS, checks, extension_paths, report


def test_every_check_is_reported_in_its_own_line_and_passes():
    for endpoint in ENDPOINTS:
        *lines, last = report(endpoint, ()).splitlines()
        assert lines == [f"[+]{name} ok" for name in checks(endpoint)]
        assert last == f"{endpoint} check passed"


def test_a_check_can_be_left_out_and_one_that_does_not_exist_is_named():
    lines = report("livez", ("etcd", "nothing")).splitlines()
    assert "[+]etcd excluded: ok" in lines
    assert 'warn: some health checks cannot be excluded: no matches for "nothing"' in lines


def test_only_readiness_asks_whether_the_server_shuts_down():
    assert {endpoint for endpoint in ENDPOINTS if "shutdown" in checks(endpoint)} == {"readyz"}


def test_the_server_behind_the_others_runs_some_of_the_checks():
    all_paths = {f"/{endpoint}/{check}" for endpoint in ENDPOINTS for check in checks(endpoint)}
    assert set(extension_paths()) < all_paths
