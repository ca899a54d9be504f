"""Database migrations: which were applied, and rolling one back."""

from kubesim.handling.exchange import Response
from kubesim.resource import BY_NOUN
from kubesim.services.pipelines import refusal
from kubesim.services.visit import Product, Route, ServiceError, Visit, records_named
from kubesim.status import Json

_MIGRATION = BY_NOUN["database-migration"]


def _list(visit: Visit) -> Response:
    found = visit.records(_MIGRATION)
    return Response(200, {"migrations": [_shown_migration(migration) for migration in found], "total": len(found)})


def _get(visit: Visit, name: str) -> Response:
    return Response(200, _shown_migration(_find_migration(visit, name)))


def _roll_back(visit: Visit, name: str) -> Response:
    """Roll the last migration back; what was written since is lost, as the record says."""
    visit.document()
    migration = _find_migration(visit, name, "create", "rollback")
    status = migration.get("status") or {}
    if status.get("state") == "rolled_back":
        raise ServiceError(409, f"migration {name} is already rolled back")
    changed = {**status, "state": "rolled_back", "rolledBackAt": visit.now}
    stored = visit.store.update(_MIGRATION, migration, {**migration, "status": changed})
    return Response(200, _shown_migration(stored))


def _find_migration(visit: Visit, name: str, verb: str = "get", subresource: str = "") -> Json:
    return visit.record(_MIGRATION, records_named(visit, _MIGRATION, name), name, verb, subresource)


def _shown_migration(migration: Json) -> Json:
    spec, status, metadata = migration.get("spec") or {}, migration.get("status") or {}, migration["metadata"]
    return {
        "database": metadata["name"], "namespace": metadata.get("namespace", ""),
        "migration": spec.get("migration", ""), "state": status.get("state", "applied"),
        "applied_at": status.get("appliedAt", ""),
        "records_created_since": status.get("recordsCreatedSince", 0),
    }  # fmt: skip


PRODUCT = Product(
    (
        Route("api/v1/migrations", {"GET": _list}, _MIGRATION),
        Route("api/v1/migrations/{name}", {"GET": _get}, _MIGRATION),
        Route("api/v1/migrations/{name}/rollback", {"POST": _roll_back}, _MIGRATION),
    ),
    refusal,
)
