"""The kubeconfig by which a client reaches one environment."""

import base64
import json
from collections.abc import Mapping
from typing import Any

_NAME = "cluster"
SERVICES = "services"
"""The extension of a cluster that says where the services beside its API are, by name."""


def kubeconfig(
    server: str, authority: str, token: str, namespace: str, services: Mapping[str, str] | None = None
) -> str:
    """A kubeconfig with one cluster, one user and one context; JSON, which every YAML reader takes."""
    encoded = base64.b64encode(authority.encode()).decode()
    cluster: dict[str, Any] = {"server": server, "certificate-authority-data": encoded}
    if services:
        cluster["extensions"] = [{"name": SERVICES, "extension": dict(services)}]
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": cluster}],
        "users": [{"name": "user", "user": {"token": token}}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": "user", "namespace": namespace}}],
        "current-context": _NAME,
    }
    return json.dumps(document, indent=2) + "\n"
