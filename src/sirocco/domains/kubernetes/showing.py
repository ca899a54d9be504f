"""What reports show of a cluster and of the calls to it, as the standard's layers ask for it."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from kubesim.conventions import WRITE_VERBS
from sirocco.domains.kubernetes.evaluation import showing
from sirocco.domains.kubernetes.record import own_deed
from sirocco.oasis.deed import Deed
from sirocco.oasis.observation import Observation
from sirocco.oasis.record import ObjectKey


class KubernetesShowing:
    """Objects without what the server keeps about them, and calls with their bodies, secrets aside."""

    bookkeeping_fields: AbstractSet[str] = showing.BOOKKEEPING

    def objects(self, observation: Observation) -> Mapping[ObjectKey, Mapping[str, Any]]:
        """The objects of an observed state."""
        return showing.objects(observation)

    def is_derived(self, item: Mapping[str, Any]) -> bool:
        """Whether a controller made an object of something else."""
        return showing.is_derived(item)

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
        """The body of a call that writes; None where there is none to show."""
        return own_deed(deed).request if deed.verb in WRITE_VERBS else None

    def is_secret_content(self, deed: Deed) -> bool:
        """Whether the body of a call must not be shown."""
        return deed.resource == "secrets"
