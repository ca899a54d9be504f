"""What the API server refuses in objects: one file per group of types, dispatched by the type's place in the store."""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation import (
    apiextensions,
    apps,
    autoscaling,
    batch,
    coordination,
    core,
    discovery,
    networking,
    policy,
    priorities,
    rbac,
    storage,
)
from kubesim.kinds.validation.metadata import (
    common_causes,
    common_update_causes,
    metadata_causes,
    metadata_update_causes,
)
from kubesim.kinds.validation.recent import recent_creation_causes, recent_update_causes, reworded
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.resource import by_noun, noun_of
from kubesim.status import Cause, Json

# A group's file brings CREATION (by noun or full name: all that is wrong with a new object, its metadata included) and
# UPDATE (the same, or with /subresource: what is wrong with a change; metadata_update_causes included where the type
# checks it).
_GROUPS = (core, apps, batch, autoscaling, networking, policy, rbac, coordination, discovery, storage, priorities,
           apiextensions)  # fmt: skip
_CREATION: dict[str, CreationRule] = by_noun({name: rule for group in _GROUPS for name, rule in group.CREATION.items()})
_UPDATE: dict[str, UpdateRule] = by_noun({name: rule for group in _GROUPS for name, rule in group.UPDATE.items()})

_ONCE_EXTENSIONS = frozenset({"ingress", "networkpolicy", noun_of("podsecuritypolicies.policy")})
_EXTENSIONS_UNTIL = 22


def creation_causes(resource: Resource, obj: Json) -> list[Cause]:
    """What the server refuses in a new object; the rules for all types apply once the type's own rules are met."""
    rule = apiextensions.custom_creation_causes if resource.custom is not None else _CREATION.get(resource.noun)
    if rule is None:
        causes = metadata_causes(resource, obj["metadata"], namespaced=resource.namespaced)
    else:
        causes = rule(resource, obj)
    causes = reworded(resource.minor, [*causes, *recent_creation_causes(resource, obj)])
    return causes or common_causes(obj["metadata"], namespaced=resource.namespaced)


def update_causes(resource: Resource, new: Json, old: Json, subresource: str = "") -> list[Cause]:
    """What the server refuses in a change: the rules for all types first, then those of the type."""
    causes = common_update_causes(new["metadata"], old["metadata"], namespaced=resource.namespaced)
    key = f"{resource.noun}/{subresource}" if subresource else resource.noun
    rule = apiextensions.custom_update_causes if resource.custom is not None else _UPDATE.get(key)
    if rule is None:
        causes = [*causes, *metadata_update_causes(new["metadata"], old["metadata"])]
    else:
        causes = [*causes, *rule(resource, new, old)]
    return reworded(resource.minor, [*causes, *recent_update_causes(resource, new, old, subresource)])


def group_in_refusals(resource: Resource) -> str:
    """The group that a refusal names: inside an old server some types are known by another group's name."""
    if resource.noun == "event":
        return ""
    is_old = resource.minor < _EXTENSIONS_UNTIL and resource.noun in _ONCE_EXTENSIONS
    return "extensions" if is_old else resource.group
