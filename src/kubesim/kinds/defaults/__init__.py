"""The values that the API server fills in: one file per group of types, dispatched by the type's place in the store."""

from collections.abc import Callable

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.defaults import (
    apiextensions,
    apps,
    autoscaling,
    batch,
    core,
    networking,
    small,
)
from kubesim.kinds.defaults.custom import defaulted_custom
from kubesim.kinds.defaults.releases import with_newer_defaults
from kubesim.resource import by_noun
from kubesim.status import Json

# A group's file brings DEFAULTS: by noun or full name, or by noun and version (`hpa/v1`) where versions differ.
_DEFAULTS: dict[str, Callable[[Json], Json]] = by_noun(
    {
        key: fill
        for group in (core, apps, batch, autoscaling, networking, small, apiextensions)
        for key, fill in group.DEFAULTS.items()
    }
)


def fill_defaults(resource: Resource, obj: Json) -> Json:
    """`obj` with the values that the server fills in when it decodes an object of the type."""
    if resource.custom is not None:
        return defaulted_custom(resource, obj)
    fill = _DEFAULTS.get(f"{resource.noun}/{resource.version}") or _DEFAULTS.get(resource.noun)
    return with_newer_defaults(resource, fill(obj) if fill else obj)
