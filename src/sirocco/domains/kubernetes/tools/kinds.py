"""Names of resource types as people write them: kind, plural, singular or short name, and custom ones by discovery."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from kubesim.discovery.catalogue import CURRENT_RELEASE, Resource, catalogue
from sirocco.domains.kubernetes.tools.session import Session, ToolError

_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


async def resource(session: Session, name: str, api_version: str = "") -> Resource:
    """The resource that `name` means, in `api_version` if one is given; raise ToolError when the API has none."""
    found = _find_resource(_built_in(), name, api_version)
    if found is None:
        # Only a cluster itself knows its custom resources.
        found = _find_resource(
            tuple(_discovered_resources(await session.ask("GET", "/apis", accept=_DISCOVERY))), name, api_version
        )
    if found is None:
        where = f" in version {api_version!r}" if api_version else ""
        raise ToolError(f"the server doesn't have a resource type {name!r}{where}")
    return found


@lru_cache
def _built_in() -> tuple[Resource, ...]:
    return catalogue(CURRENT_RELEASE).resources


def _find_resource(rows: tuple[Resource, ...], name: str, api_version: str) -> Resource | None:
    wanted = name.lower()
    return next(
        (row for row in rows if wanted in _names(row) and api_version in {"", row.api_version}),
        None,
    )


def _names(row: Resource) -> frozenset[str]:
    names = {row.plural, row.singular, row.kind.lower(), *row.short_names}
    return frozenset(names | {f"{row.plural}.{row.group}"} if row.group else names)


def _discovered_resources(document: Any) -> Iterator[Resource]:
    groups: list[Mapping[str, Any]] = document.get("items", []) if isinstance(document, Mapping) else []
    for group in groups:
        for version in group["versions"]:
            for row in version["resources"]:
                yield Resource(
                    noun=row["resource"],
                    plural=row["resource"],
                    kind=row["responseKind"]["kind"],
                    # Not from responseKind: it leaves both empty where they are those of the document.
                    group=group["metadata"]["name"],
                    version=version["version"],
                    namespaced=row["scope"] == "Namespaced",
                    short_names=tuple(row.get("shortNames", ())),
                    singular=row.get("singularResource", ""),
                )
