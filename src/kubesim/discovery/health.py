"""How the server says that it is well: the checks behind /healthz, /livez and /readyz, all of which pass."""

from collections.abc import Iterator, Sequence

ENDPOINTS = ("healthz", "livez", "readyz")
_EXTENSION_HOOKS = ("start-apiextensions-informers", "start-apiextensions-controllers", "crd-informer-synced")
_GENERIC_HOOKS = (
    "generic-apiserver-start-informers", "priority-and-fairness-config-consumer", "priority-and-fairness-filter",
)  # fmt: skip
_LATER_HOOKS = (
    "bootstrap-controller", "rbac/bootstrap-roles", "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer", "start-cluster-authentication-info-controller",
    "start-kube-aggregator-informers", "apiservice-registration-controller",
    "apiservice-status-available-controller", "kube-apiserver-autoregistration",
)  # fmt: skip


def checks(endpoint: str) -> tuple[str, ...]:
    """The names of an endpoint's checks, in the order in which they run."""
    hooks = ("start-kube-apiserver-admission-initializer", *_GENERIC_HOOKS, *_EXTENSION_HOOKS, *_LATER_HOOKS)
    started = (*map(_hook, hooks), "autoregister-completion", _hook("apiservice-openapi-controller"))
    return (*_first_checks(endpoint), *started, *_last_checks(endpoint))


def extension_paths() -> Iterator[str]:
    """The paths of the checks that the server for custom resources runs; it answers for paths that nobody knows."""
    for endpoint in ENDPOINTS:
        hooks = map(_hook, (*_GENERIC_HOOKS, *_EXTENSION_HOOKS))
        yield from (f"/{endpoint}/{check}" for check in (*_first_checks(endpoint), *hooks, *_last_checks(endpoint)))


def report(endpoint: str, excluded: Sequence[str]) -> str:
    """Every check in its own line, as the endpoint shows them when asked to be verbose."""
    names = checks(endpoint)
    lines = [f"[+]{name} {'excluded: ' if name in excluded else ''}ok" for name in names]
    if unknown := [name for name in excluded if name not in names]:
        listed = ",".join(f'"{name}"' for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {listed}")
    return "\n".join([*lines, f"{endpoint} check passed", ""])


def _first_checks(endpoint: str) -> tuple[str, ...]:
    return ("ping", "log", "etcd", *(("informer-sync",) if endpoint == "readyz" else ()))


def _last_checks(endpoint: str) -> tuple[str, ...]:
    return ("shutdown",) if endpoint == "readyz" else ()


def _hook(name: str) -> str:
    return f"poststarthook/{name}"
