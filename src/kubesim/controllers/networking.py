"""Endpoints: the addresses of the pods that a service selects."""

from kubesim.connections import is_ready
from kubesim.controllers.dynamics import Moment
from kubesim.controllers.rows import ENDPOINTS
from kubesim.selection import match_labels
from kubesim.status import Json
from kubesim.store import Store

_MARK = "endpoints.kubernetes.io/last-change-trigger-time"


def keep_endpoints(store: Store, namespace: str, moment: Moment) -> None:
    """Keep an endpoints object for every service that selects pods."""
    at_rest = store.known_results(keep_endpoints, "service", "endpoints", "pod")
    if namespace in at_rest:
        return
    before = store.version
    services = {item["metadata"]["name"]: item for item in store.present("service", namespace)}
    for endpoints in store.present("endpoints", namespace):
        kept = _MARK in (endpoints["metadata"].get("annotations") or {})
        if kept and endpoints["metadata"]["name"] not in services:
            store.remove(ENDPOINTS, endpoints)
    for name, service in services.items():
        if service["spec"].get("selector"):
            _keep(store, namespace, name, service, moment)
    if store.version == before:
        at_rest[namespace] = True


def _keep(store: Store, namespace: str, name: str, service: Json, moment: Moment) -> None:
    known = store.get("endpoints", namespace, name)
    if known is None:
        store.create(ENDPOINTS, endpoints_of(store, service, moment), moment.now)
    elif known.get("subsets") != (subsets := _subsets(store, service)):
        store.update(ENDPOINTS, known, {**known, "subsets": subsets})


def endpoints_of(store: Store, service: Json, moment: Moment) -> Json:
    """The endpoints object of a service that selects pods, not stored yet."""
    place = {key: service["metadata"][key] for key in ("name", "namespace")}
    metadata = {**place, "annotations": {_MARK: moment.moment_of(service).now}}
    return {"kind": "Endpoints", "apiVersion": "v1", "metadata": metadata, "subsets": _subsets(store, service)}


def _subsets(store: Store, service: Json) -> list[Json]:
    namespace = service["metadata"]["namespace"]
    selects = match_labels({"matchLabels": service["spec"]["selector"]})
    pods = [pod for pod in store.present("pod", namespace) if "podIP" in (pod.get("status") or {}) and selects(pod)]
    subset: Json = {}
    for field, ready in (("addresses", True), ("notReadyAddresses", False)):
        addresses = [_address(pod) for pod in pods if is_ready(pod) is ready]
        if addresses:
            subset[field] = addresses
    ports = [
        {**({"name": port["name"]} if port.get("name") else {}), "port": port.get("targetPort"),
         "protocol": port.get("protocol", "TCP")}
        for port in service["spec"].get("ports") or ()
    ]  # fmt: skip
    return [{**subset, "ports": ports}] if subset else []


def _address(pod: Json) -> Json:
    metadata = pod["metadata"]
    target = {"kind": "Pod", "name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"]}
    return {"ip": pod["status"]["podIP"], "nodeName": pod["spec"].get("nodeName"), "targetRef": target}
