"""A simulated Kubernetes cluster: an API server that real clients accept, with controllers and nodes behind it.

    async with kubesim.Cluster() as cluster:
        cluster.write_kubeconfig("kubeconfig")

Importing the package loads nothing else: parts that a program does not use, such as the server, are never loaded.
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
