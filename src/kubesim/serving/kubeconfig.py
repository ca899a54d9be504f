"""The kubeconfig by which a client reaches one environment."""

import base64
import json


def kubeconfig(
    server: str, authority: str, token: str, namespace: str, *, cluster: str = "kubernetes", user: str = "admin"
) -> str:
    """A kubeconfig with one cluster, one user and one context; JSON, which every YAML reader takes."""
    encoded = base64.b64encode(authority.encode()).decode()
    name = f"{user}@{cluster}"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [{"name": cluster, "cluster": {"server": server, "certificate-authority-data": encoded}}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": cluster, "user": user, "namespace": namespace}}],
        "current-context": name,
    }
    return json.dumps(document, indent=2) + "\n"
