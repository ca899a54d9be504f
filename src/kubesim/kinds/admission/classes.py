"""Classes that a request omits or relies on: of storage, of ingresses, of container runtimes."""

from kubesim.bodies.go_text import go_quote
from kubesim.discovery.catalogue import Resource
from kubesim.kinds.admission.refusal import admission_refusal
from kubesim.resource import noun_of
from kubesim.status import Json, internal_error
from kubesim.store import Store
from kubesim.types.quantity import quantity

STORAGE_CLASSES = noun_of("storageclasses.storage.k8s.io")
_STORAGE_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_STORAGE_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_INGRESS_CLASSES = noun_of("ingressclasses.networking.k8s.io")
_INGRESS_DEFAULT = ("ingressclass.kubernetes.io/is-default-class",)
_INGRESS_ANNOTATION = "kubernetes.io/ingress.class"
_RUNTIME_CLASSES = noun_of("runtimeclasses.node.k8s.io")


def _marked_classes(store: Store, noun: str, annotations: tuple[str, ...]) -> list[Json]:
    return [
        item
        for item in store.items(noun)
        if any((item["metadata"].get("annotations") or {}).get(key) == "true" for key in annotations)
    ]


def with_storage_class(store: Store, claim: Json) -> Json:
    """A new claim with the default class when it names none; raise 500 when there are several defaults."""
    spec = claim.get("spec") or {}
    if "storageClassName" in spec or _STORAGE_ANNOTATION in (claim["metadata"].get("annotations") or {}):
        return claim
    found = _marked_classes(store, STORAGE_CLASSES, _STORAGE_DEFAULT)
    if len(found) > 1:
        raise internal_error(f"{len(found)} default StorageClasses were found")
    return {**claim, "spec": {**spec, "storageClassName": found[0]["metadata"]["name"]}} if found else claim


def with_ingress_class(store: Store, resource: Resource, ingress: Json) -> Json:
    """A new ingress with the default class when it names none; raise 403 when there are several defaults."""
    spec = ingress.get("spec") or {}
    if "ingressClassName" in spec or _INGRESS_ANNOTATION in (ingress["metadata"].get("annotations") or {}):
        return ingress
    found = _marked_classes(store, _INGRESS_CLASSES, _INGRESS_DEFAULT)
    if len(found) > 1:
        why = f"Internal error occurred: {len(found)} default IngressClasses were found"
        raise admission_refusal(resource, ingress, why)
    return {**ingress, "spec": {**spec, "ingressClassName": found[0]["metadata"]["name"]}} if found else ingress


def storage_class_of(claim: Json) -> str:
    """The class of a claim; empty when it has none."""
    annotation = (claim["metadata"].get("annotations") or {}).get(_STORAGE_ANNOTATION)
    return str(annotation or (claim.get("spec") or {}).get("storageClassName") or "")


def require_growth(store: Store, resource: Resource, claim: Json, old: Json) -> None:
    """Raise 403 when a claim asks for more storage than before and its class does not allow growth."""
    before, after = (
        quantity((((item.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage", "0"))
        for item in (old, claim)
    )
    if after <= before:
        return
    if (old.get("status") or {}).get("phase") != "Bound":
        raise admission_refusal(resource, claim, "Only bound persistent volume claims can be expanded")
    name = storage_class_of(claim)
    found = store.get(STORAGE_CLASSES, "", name) if name and name == storage_class_of(old) else None
    if found is None or not found.get("allowVolumeExpansion"):
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
            "support resize"
        )
        raise admission_refusal(resource, claim, why)


def with_runtime_class(store: Store, resource: Resource, pod: Json) -> Json:
    """A new pod with the overhead of its runtime class; raise 403 when there is no such class."""
    spec = pod.get("spec") or {}
    name = spec.get("runtimeClassName")
    if name is None:
        if spec.get("overhead"):
            why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            raise admission_refusal(resource, pod, why)
        return pod
    found = store.get(_RUNTIME_CLASSES, "", name)
    if found is None:
        raise admission_refusal(resource, pod, f"pod rejected: RuntimeClass {go_quote(name)} not found")
    overhead = (found.get("overhead") or {}).get("podFixed")
    if overhead is None:
        return pod
    if spec.get("overhead", overhead) != overhead:
        raise admission_refusal(
            resource, pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        )
    return {**pod, "spec": {**spec, "overhead": overhead}}
