"""A simulated Kubernetes cluster: an API server that real clients take for one, with controllers and nodes behind it.

    async with kubesim.Cluster() as cluster:
        cluster.write_kubeconfig("kubeconfig")

Imports nothing of its own accord: what a program does not use, such as the server, it does not load.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubesim.cluster import Answer, Cluster
    from kubesim.errors import KubesimError

__all__ = ["Answer", "Cluster", "KubesimError"]
_HOMES = {"Answer": "kubesim.cluster", "Cluster": "kubesim.cluster", "KubesimError": "kubesim.errors"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kubesim' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
