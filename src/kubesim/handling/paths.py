"""Paths that are not resources: the server's version, its health and its types."""

from typing import Any

from kubesim.access import openid_answer
from kubesim.discovery import documents as discovery
from kubesim.discovery import health, openapi
from kubesim.discovery.catalogue import Catalogue, build_of, git_version
from kubesim.handling.exchange import TEXT, Exchange, Response
from kubesim.status import Json, method_not_allowed, no_such_resource

_EMULATED_SINCE = 33
"""The first release that says which releases it can emulate."""
_SILENT_SINCE = 34
"""The first release known to answer with nothing where it has no document."""
NO_PAGE = Response(404, "404 page not found\n", {"Content-Type": TEXT})


def serve(exchange: Exchange) -> Response:
    """Answer a request for a path that is not a resource."""
    path, request, served = exchange.call.path, exchange.request, exchange.catalogue
    parts = path.removeprefix("/").split("/")
    if parts[0] in {"api", "apis", "version"} and not parts[-1]:
        parts.pop()
    accept = request.headers.get("accept", "")
    match parts:
        case [""] | ["index.html"]:
            return Response(200, {"paths": _paths(served)})
        case [endpoint, *check] if endpoint in health.ENDPOINTS:
            return _health(exchange, endpoint, "/".join(check))
        case ["metrics"] if path == "/metrics":
            return Response(200, "", {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})
        case [".well-known" | "openid", *_]:
            server = request.headers.get("host") or "kubernetes.default.svc"
            document = openid_answer(exchange.authenticator.signer, path, accept, server)
            if document is not None:
                _require_get(exchange)
                return Response(200, document[0], {"Content-Type": document[1]})
        case ["version"]:
            _require_get(exchange)
            return Response(200, version(served.minor))
        case ["version", *_]:
            raise no_such_resource()
        case ["api" | "apis" as root, *rest]:
            found: tuple[Any, str] | None = discovery.answer(served, path, accept)
            if found is None and root == "apis" and (not rest[0] or rest[0] not in served.by_version):
                return NO_PAGE
            if found is None:
                raise no_such_resource()
            # The list of groups comes from a handler that does not look at the method.
            if root == "api" or len(rest) > 1:
                _require_get(exchange)
            return Response(200, found[0], {"Content-Type": found[1]})
        case ["openapi", *_] if not path.endswith("/"):
            found = openapi.answer(served, exchange.types, path, accept)
            if found is not None:
                return Response(200, found[0], {"Content-Type": found[1]})
            if len(parts) > 2 and served.minor >= _SILENT_SINCE:
                return Response(404, "", {})
    return Response(404, {"paths": _extension_paths(served)})


def _require_get(exchange: Exchange) -> None:
    if exchange.request.method != "GET":
        raise method_not_allowed()


def version(minor: int) -> Json:
    """What /version says about a release."""
    emulated = {
        "emulationMajor": "1", "emulationMinor": str(minor), "minCompatibilityMajor": "1",
        "minCompatibilityMinor": str(minor - 1),
    }  # fmt: skip
    build = build_of(minor)
    return {
        "major": "1", "minor": str(minor), **(emulated if minor >= _EMULATED_SINCE else {}),
        "gitVersion": git_version(minor), "gitCommit": build.commit, "gitTreeState": "clean",
        "buildDate": build.date, "goVersion": build.go, "compiler": "gc", "platform": "linux/amd64",
    }  # fmt: skip


def _health(exchange: Exchange, endpoint: str, check: str) -> Response:
    headers = {"Content-Type": TEXT}
    if check or exchange.call.path != f"/{endpoint}":
        known = check in health.checks(endpoint, exchange.catalogue.minor)
        return Response(200, "ok", headers) if known else Response(404, {"paths": _extension_paths(exchange.catalogue)})
    if exchange.request.parameter("verbose") is None:
        return Response(200, "ok", headers)
    return Response(200, health.report(endpoint, exchange.request.values("exclude"), exchange.catalogue.minor), headers)


def _paths(catalogue: Catalogue) -> list[str]:
    groups = {f"/apis/{row.group}" for row in catalogue.resources if row.group}
    versions = {f"/apis/{row.api_version}" for row in catalogue.resources if row.group}
    minor = catalogue.minor
    checks = {f"/{endpoint}/{check}" for endpoint in health.ENDPOINTS for check in health.checks(endpoint, minor)}
    further = {"/metrics/slis", "/openapi/v3", "/openapi/v3/"} if minor >= _EMULATED_SINCE else {"/apis/", "/logs"}
    fixed = {"/.well-known/openid-configuration", "/api", "/api/v1", "/openid/v1/jwks", *_COMMON_PATHS, *further}
    return sorted(groups | versions | checks | fixed)


def _extension_paths(catalogue: Catalogue) -> list[str]:
    """The paths that the last server in the chain, the one for custom resources, reports."""
    group = "apiextensions.k8s.io"
    versions = {f"/apis/{group}/{version}" for version in catalogue.by_version[group]}
    return sorted({f"/apis/{group}", "/apis/", *versions, *health.extension_paths(catalogue.minor), *_COMMON_PATHS})


_COMMON_PATHS = ("/apis", "/metrics", "/openapi/v2", "/version", *(f"/{name}" for name in health.ENDPOINTS))
