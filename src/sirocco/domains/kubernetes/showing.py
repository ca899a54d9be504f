"""What reports show of a cluster and of the calls to it, in the form that the standard's layers ask for."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from kubesim.conventions import SERVER_OWNED, WRITE_VERBS
from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot, name_of, namespace_of, owners_of
from sirocco.domains.kubernetes.record import own_deed
from sirocco.oasis.deed import Deed
from sirocco.oasis.observation import Observation
from sirocco.oasis.record import ObjectKey

_FOLLOWERS = frozenset({"Pod", "ReplicaSet", "Event", "Endpoints", "EndpointSlice", "ControllerRevision"})
"""The kinds whose objects follow from others."""


class KubernetesShowing:
    """Objects without the server's bookkeeping, and calls with their bodies, without secrets."""

    # Controllers note in an object's status which generation of it they have seen.
    bookkeeping_fields: AbstractSet[str] = SERVER_OWNED | {"observedGeneration"}

    def objects(self, observation: Observation) -> Mapping[ObjectKey, Mapping[str, Any]]:
        """The objects of an observed state by kind, namespace and name."""
        items = Snapshot.from_observations(observation).objects
        return {(str(item.get("kind", "")), namespace_of(item), name_of(item)): item for item in items}

    def is_derived(self, item: Mapping[str, Any]) -> bool:
        """Whether a controller derived an object from another."""
        kind = str(item.get("kind", ""))
        return kind in _FOLLOWERS and (kind != "Pod" or any(owners_of(item)))

    def is_derived_field(self, path: str) -> bool:
        """Whether only controllers write a field."""
        return path.startswith("status")

    def is_secret_field(self, item: Mapping[str, Any], path: str) -> bool:
        """Whether the value of a field must not be shown."""
        return item.get("kind") == "Secret" and path.startswith(("data", "stringData"))

    def is_shown_as_write(self, deed: Deed) -> bool:
        """Whether a call is shown as one that writes."""
        return deed.verb in WRITE_VERBS or own_deed(deed).subresource in {"exec", "attach"}

    def written_content(self, deed: Deed) -> Any:
        """The body of a call that writes; None if there is none to show."""
        return own_deed(deed).request if deed.verb in WRITE_VERBS else None

    def is_secret_content(self, deed: Deed) -> bool:
        """Whether the body of a call must not be shown."""
        return deed.resource == "secrets"
