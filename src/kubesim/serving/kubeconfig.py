"""The kubeconfig by which a client reaches one environment."""

import base64
import json

_NAME = "cluster"


def kubeconfig(server: str, authority: str, token: str, namespace: str) -> str:
    """A kubeconfig with one cluster, one user and one context; JSON, which every YAML reader takes."""
    encoded = base64.b64encode(authority.encode()).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": {"server": server, "certificate-authority-data": encoded}}],
        "users": [{"name": "user", "user": {"token": token}}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": "user", "namespace": namespace}}],
        "current-context": _NAME,
    }
    return json.dumps(document, indent=2) + "\n"
