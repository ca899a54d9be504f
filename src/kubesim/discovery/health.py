"""The server's health report: the checks behind /healthz, /livez and /readyz, all of which pass."""

from collections.abc import Iterator, Sequence

ENDPOINTS = ("healthz", "livez", "readyz")
_PRESENT = 33
"""The first release whose servers have the later checks; earlier ones have those that were recorded."""
_GENERIC_HOOKS = (
    "generic-apiserver-start-informers", "priority-and-fairness-config-consumer", "priority-and-fairness-filter",
)  # fmt: skip
_COUNTING_HOOK = "storage-object-count-tracker-hook"
_EXTENSION_HOOKS = ("start-apiextensions-informers", "start-apiextensions-controllers", "crd-informer-synced")
_RECORDED_HOOKS = (
    "start-kube-apiserver-admission-initializer", *_GENERIC_HOOKS, *_EXTENSION_HOOKS, "bootstrap-controller",
    "rbac/bootstrap-roles", "scheduling/bootstrap-system-priority-classes", "priority-and-fairness-config-producer",
    "start-cluster-authentication-info-controller", "start-kube-aggregator-informers",
    "apiservice-registration-controller", "apiservice-status-available-controller", "kube-apiserver-autoregistration",
)  # fmt: skip
_PRESENT_HOOKS = (
    "start-apiserver-admission-initializer", *_GENERIC_HOOKS, _COUNTING_HOOK, *_EXTENSION_HOOKS,
    "start-system-namespaces-controller", "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller", "start-kube-apiserver-identity-lease-garbage-collector",
    "start-legacy-token-tracking-controller", "start-service-ip-repair-controllers", "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes", "priority-and-fairness-config-producer", "bootstrap-controller",
    "start-kubernetes-service-cidr-controller", "aggregator-reload-proxy-client-cert",
    "start-kube-aggregator-informers", "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller", "apiservice-registration-controller",
    "apiservice-discovery-controller", "kube-apiserver-autoregistration",
)  # fmt: skip


def checks(endpoint: str, minor: int) -> tuple[str, ...]:
    """The names of an endpoint's checks in a release, in the order in which they run."""
    hooks = _PRESENT_HOOKS if minor >= _PRESENT else _RECORDED_HOOKS
    last = ("apiservice-openapi-controller", *(("apiservice-openapiv3-controller",) if minor >= _PRESENT else ()))
    started = (*map(_hook, hooks), "autoregister-completion", *map(_hook, last))
    return (*_first_checks(endpoint, minor), *started, *_last_checks(endpoint))


def extension_paths(minor: int) -> Iterator[str]:
    """The paths of the checks that the server for custom resources runs; it also answers for unknown paths."""
    counting = (_COUNTING_HOOK,) if minor >= _PRESENT else ()
    for endpoint in ENDPOINTS:
        hooks = map(_hook, (*_GENERIC_HOOKS, *counting, *_EXTENSION_HOOKS))
        named = (*_first_checks(endpoint, minor), *hooks, *_last_checks(endpoint))
        yield from (f"/{endpoint}/{check}" for check in named)


def report(endpoint: str, excluded: Sequence[str], minor: int) -> str:
    """Every check on its own line, as the endpoint shows them in verbose mode."""
    names = checks(endpoint, minor)
    lines = [f"[+]{name} {'excluded: ' if name in excluded else ''}ok" for name in names]
    if unknown := [name for name in excluded if name not in names]:
        listed = ",".join(f'"{name}"' for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {listed}")
    return "\n".join([*lines, f"{endpoint} check passed", ""])


def _first_checks(endpoint: str, minor: int) -> tuple[str, ...]:
    of_readiness = (*(("etcd-readiness",) if minor >= _PRESENT else ()), "informer-sync")
    return ("ping", "log", "etcd", *(of_readiness if endpoint == "readyz" else ()))


def _last_checks(endpoint: str) -> tuple[str, ...]:
    return ("shutdown",) if endpoint == "readyz" else ()


def _hook(name: str) -> str:
    return f"poststarthook/{name}"
