"""What the status of a pod says: whether it is ready, what its containers do and did last, what keeps it waiting."""

from collections.abc import Iterator, Mapping
from typing import Any

from sirocco.domains.kubernetes.agents.reference.survey import Json

UNUSABLE_IMAGE = frozenset({"ImagePullBackOff", "ErrImagePull", "InvalidImageName"})
"""What containers wait for that cannot get their image."""


def is_ready(pod: Json) -> bool:
    """Whether it takes requests."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def container_states(pod: Json) -> Iterator[Mapping[str, Any]]:
    """What each container does and did last."""
    status = pod.get("status") or {}
    for one in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        for side in ("state", "lastState"):
            yield from ((one.get(side) or {}).values())


def lacks_image(pod: Json) -> bool:
    """Whether a container of it waits for an image that cannot be had."""
    return any(state.get("reason") in UNUSABLE_IMAGE for state in container_states(pod))
