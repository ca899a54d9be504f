"""The kubeconfig with which a client reaches one environment."""

import base64
import json
from collections.abc import Mapping
from typing import Any

SERVICES = "services"
"""The extension of a cluster that lists the services beside its API, by name."""


def kubeconfig(
    server: str,
    authority: str,
    token: str,
    namespace: str,
    *,
    cluster: str = "kubernetes",
    user: str = "admin",
    services: Mapping[str, str] | None = None,
) -> str:
    """A kubeconfig with one cluster, one user and one context, as JSON, which every YAML reader accepts."""
    encoded = base64.b64encode(authority.encode()).decode()
    name = f"{user}@{cluster}"
    reached: dict[str, Any] = {"server": server, "certificate-authority-data": encoded}
    if services:
        reached["extensions"] = [{"name": SERVICES, "extension": dict(services)}]
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [{"name": cluster, "cluster": reached}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": cluster, "user": user, "namespace": namespace}}],
        "current-context": name,
    }
    return json.dumps(document, indent=2) + "\n"
