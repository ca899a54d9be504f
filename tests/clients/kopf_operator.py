"""A small operator: every Shelf gets a ConfigMap with its books, and says in its status how many there are."""

import kopf
import kubernetes


@kopf.on.startup()
def log_in(**_):
    kubernetes.config.load_kube_config()


@kopf.on.create("example.com", "v1", "shelves")
@kopf.on.update("example.com", "v1", "shelves")
def keep(spec, name, namespace, **_):
    body = {"metadata": {"name": name}, "data": {"books": ",".join(spec["books"])}}
    kopf.adopt(body)
    core = kubernetes.client.CoreV1Api()
    try:
        core.create_namespaced_config_map(namespace, body)
    except kubernetes.client.ApiException as error:
        if error.status != 409:
            raise
        core.patch_namespaced_config_map(name, namespace, {"data": body["data"]})
    return {"count": len(spec["books"])}


@kopf.on.delete("example.com", "v1", "shelves")
def clear(**_):
    """Nothing: the ConfigMap goes with its owner."""
