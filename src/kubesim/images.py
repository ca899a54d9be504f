"""Container images: their names in runtimes, and what kubelets report of those on their nodes."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from kubesim.status import Json

_PAUSE = "registry.k8s.io/pause:3.10"
"""The image that holds the network of every pod."""
_PAUSE_SIZE, _LEAST_SIZE, _SIZE_SPAN = 320_368, 9_000_000, 210_000_000
_MOST_REPORTED = 50


@lru_cache(2048)
def image_id(image: str) -> str:
    """A runtime's id for an image that it has: the same for the same image everywhere."""
    repository, separator, tag = image.rpartition(":")
    if not separator or "/" in tag:
        repository = image
    if "." not in repository.partition("/")[0] or "/" not in repository:
        repository = f"docker.io/{repository}" if "/" in repository else f"docker.io/library/{repository}"
    return f"{repository.partition('@')[0]}@sha256:{hashlib.sha256(image.encode()).hexdigest()}"


def with_images(node: Json, images: Mapping[str, Sequence[Json]]) -> Json:
    """A node with the images that its kubelet reports."""
    found = images.get(node["metadata"]["name"])
    return {**node, "status": {**(node.get("status") or {}), "images": found}} if found else node


def images_by_node(pods: Iterable[Json]) -> dict[str, Sequence[Json]]:
    """The images that kubelets report of pods on their nodes, the largest first."""
    names: dict[str, set[str]] = {}
    for pod in pods:
        status = pod.get("status") or {}
        for item in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
            if item.get("imageID"):
                names.setdefault(pod["spec"].get("nodeName", ""), {_PAUSE}).add(item["image"])
    return {
        node: sorted(map(_reported, own), key=lambda item: (-item["sizeBytes"], item["names"]))[:_MOST_REPORTED]
        for node, own in names.items()
    }


def _reported(image: str) -> Json:
    digest = image_id(image)
    tag = image.rpartition(":")[2] if ":" in image.rpartition("/")[2] else "latest"
    size = _PAUSE_SIZE if image == _PAUSE else _LEAST_SIZE + int(digest[-8:], 16) % _SIZE_SPAN
    return {"names": [digest, f"{digest.partition('@')[0]}:{tag}"], "sizeBytes": size}
