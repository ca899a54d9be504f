"""The types of the smaller groups as tables: rights, storage, and types for administrators."""

from typing import Any

from kubesim.status import Json
from kubesim.tables.cells import (
    NONE,
    UNSET,
    items,
    mapping,
    name_and_age,
    number,
    text,
    value_at,
)
from kubesim.tables.columns import AGE, NAME, Cells, Column, Printer, View, wide_column
from kubesim.types.quantity import quantity

_DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_CAPACITY_SINCE = 21
_DURATION_SINCE = 22
_NOMINAL_SHARES_SINCE = 26
_PREEMPTION_SINCE = 30


def _binding(obj: Json, view: View) -> Cells:
    subjects = items(obj, "subjects")

    def subjects_of(kind: str) -> str:
        return ", ".join(_subject(item) for item in subjects if text(item, "kind") == kind)

    return {
        **name_and_age(obj, view),
        "Role": f"{text(obj, 'roleRef', 'kind')}/{text(obj, 'roleRef', 'name')}",
        "Users": subjects_of("User"),
        "Groups": subjects_of("Group"),
        "ServiceAccounts": subjects_of("ServiceAccount"),
    }


def _subject(subject: Any) -> str:
    if text(subject, "kind") != "ServiceAccount":
        return text(subject, "name")
    return f"{text(subject, 'namespace')}/{text(subject, 'name')}"


def _storage_class(obj: Json, view: View) -> Cells:
    annotations = mapping(obj, "metadata", "annotations")
    is_default = any(annotations.get(name) == "true" for name in _DEFAULT_CLASS)
    return {
        **name_and_age(obj, view),
        "Name": text(obj, "metadata", "name") + (" (default)" if is_default else ""),
        "Provisioner": text(obj, "provisioner"),
        "ReclaimPolicy": text(obj, "reclaimPolicy") or "Delete",
        "VolumeBindingMode": text(obj, "volumeBindingMode") or "Immediate",
        "AllowVolumeExpansion": bool(value_at(obj, "allowVolumeExpansion")),
    }


def _volume_attachment(obj: Json, view: View) -> Cells:
    return {
        **name_and_age(obj, view),
        "Attacher": text(obj, "spec", "attacher"),
        "PV": text(obj, "spec", "source", "persistentVolumeName"),
        "Node": text(obj, "spec", "nodeName"),
        "Attached": bool(value_at(obj, "status", "attached")),
    }


def _csi_node(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "Drivers": len(items(obj, "spec", "drivers"))}


def _csi_driver(obj: Json, view: View) -> Cells:
    spec = mapping(obj, "spec")
    requests = value_at(spec, "tokenRequests")
    audiences = ",".join(text(item, "audience") for item in items(spec, "tokenRequests"))
    return {
        **name_and_age(obj, view),
        "AttachRequired": value_at(spec, "attachRequired") is not False,
        "PodInfoOnMount": bool(value_at(spec, "podInfoOnMount")),
        "StorageCapacity": bool(value_at(spec, "storageCapacity")),
        "TokenRequests": UNSET if requests is None else audiences,
        "RequiresRepublish": bool(value_at(spec, "requiresRepublish")),
        "Modes": ",".join(map(str, items(spec, "volumeLifecycleModes"))) or NONE,
    }


def _storage_capacity(obj: Json, view: View) -> Cells:
    return {
        **name_and_age(obj, view),
        "StorageClassName": text(obj, "storageClassName"),
        "Capacity": text(obj, "capacity") or UNSET,
    }


def _attributes_class(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "DriverName": text(obj, "driverName")}


def _lease(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "Holder": text(obj, "spec", "holderIdentity")}


def _priority_class(obj: Json, view: View) -> Cells:
    return {
        **name_and_age(obj, view),
        "Value": number(obj, "value"),
        "Global-Default": bool(value_at(obj, "globalDefault")),
        "PreemptionPolicy": text(obj, "preemptionPolicy"),
    }


def _runtime_class(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "Handler": text(obj, "handler")}


def _webhooks(obj: Json, view: View) -> Cells:
    return {**name_and_age(obj, view), "Webhooks": len(items(obj, "webhooks"))}


def _admission_policy(obj: Json, view: View) -> Cells:
    kind = value_at(obj, "spec", "paramKind")
    return {
        **name_and_age(obj, view),
        "Validations": len(items(obj, "spec", "validations")),
        "ParamKind": UNSET if kind is None else f"{text(kind, 'apiVersion')}/{text(kind, 'kind')}",
    }


def _admission_policy_binding(obj: Json, view: View) -> Cells:
    given = value_at(obj, "spec", "paramRef")
    named = "/".join(part for part in (text(given, "namespace"), text(given, "name")) if part)
    return {
        **name_and_age(obj, view),
        "PolicyName": text(obj, "spec", "policyName"),
        "ParamRef": UNSET if given is None else (named or "*"),
    }


def _signing_request(obj: Json, view: View) -> Cells:
    kinds = {text(item, "type") for item in items(obj, "status", "conditions")}
    state = "Denied" if "Denied" in kinds else ("Approved" if "Approved" in kinds else "Pending")
    issued = text(obj, "status", "certificate")
    seconds = value_at(obj, "spec", "expirationSeconds")
    return {
        **name_and_age(obj, view),
        "SignerName": text(obj, "spec", "signerName") or NONE,
        "Requestor": text(obj, "spec", "username"),
        "RequestedDuration": NONE if seconds is None else f"{seconds}s",
        "Condition": state + (",Failed" if "Failed" in kinds else "") + (",Issued" if issued else ""),
    }


def _api_service(obj: Json, view: View) -> Cells:
    service = value_at(obj, "spec", "service")
    available = next((item for item in items(obj, "status", "conditions") if text(item, "type") == "Available"), None)
    status = text(available, "status") or "Unknown"
    return {
        **name_and_age(obj, view),
        "Service": "Local" if service is None else f"{text(service, 'namespace')}/{text(service, 'name')}",
        "Available": status if status == "True" or available is None else f"{status} ({text(available, 'reason')})",
    }


def _flow_schema(obj: Json, view: View) -> Cells:
    spec = mapping(obj, "spec")
    dangling = (text(item, "status") for item in items(obj, "status", "conditions") if text(item, "type") == "Dangling")
    return {
        **name_and_age(obj, view),
        "PriorityLevel": text(spec, "priorityLevelConfiguration", "name"),
        "MatchingPrecedence": number(spec, "matchingPrecedence"),
        "DistinguisherMethod": text(spec, "distinguisherMethod", "type") or NONE,
        "MissingPL": next(dangling, "?"),
    }


def _priority_level(obj: Json, view: View) -> Cells:
    limited = value_at(obj, "spec", "limited")
    queuing = value_at(limited, "limitResponse", "queuing")
    return {
        **name_and_age(obj, view),
        "Type": text(obj, "spec", "type"),
        "AssuredConcurrencyShares": NONE if limited is None else number(limited, "assuredConcurrencyShares"),
        "NominalConcurrencyShares": NONE if limited is None else number(limited, "nominalConcurrencyShares"),
        "Queues": NONE if queuing is None else number(queuing, "queues"),
        "HandSize": NONE if queuing is None else number(queuing, "handSize"),
        "QueueLengthLimit": NONE if queuing is None else number(queuing, "queueLengthLimit"),
    }


def _binding_printer(kind: str, name: str) -> Printer:
    return Printer(
        (
            NAME,
            Column("Role", of=f"rbac.v1.{kind}/roleRef"),
            AGE,
            wide_column(Column("Users", text=f"Users in the {name}")),
            wide_column(Column("Groups", text=f"Groups in the {name}")),
            wide_column(Column("ServiceAccounts", text=f"ServiceAccounts in the {name}")),
        ),
        _binding,
    )


_WEBHOOKS = Printer(
    (
        NAME,
        Column("Webhooks", "integer",
               text="Webhooks indicates the number of webhooks registered in this configuration"),
        AGE,
    ),
    _webhooks,
)  # fmt: skip


def _usage(obj: Json, _: View) -> Cells:
    parts = [item["usage"] for item in obj.get("containers") or (obj,)]
    kinds = {kind: str(sum((quantity(part[kind]) for part in parts[1:]), quantity(parts[0][kind])))
             for kind in ("cpu", "memory")}  # fmt: skip
    return {"Name": text(obj.get("metadata"), "name"), **kinds, "Window": obj["window"]}


_MEASURES = (NAME, Column("cpu"), Column("memory"), Column("Window"))

PRINTERS = {
    "rolebinding": _binding_printer("RoleBinding", "roleBinding"),
    "clusterrolebinding": _binding_printer("ClusterRoleBinding", "clusterRoleBinding"),
    "storageclasses.storage.k8s.io": Printer(
        (
            NAME,
            Column("Provisioner", of="storage.v1.StorageClass/provisioner"),
            Column("ReclaimPolicy", of="storage.v1.StorageClass/reclaimPolicy"),
            Column("VolumeBindingMode", of="storage.v1.StorageClass/volumeBindingMode"),
            Column("AllowVolumeExpansion", of="storage.v1.StorageClass/allowVolumeExpansion"),
            AGE,
        ),
        _storage_class,
    ),
    "volumeattachments.storage.k8s.io": Printer(
        (
            NAME,
            Column("Attacher", of="storage.v1.VolumeAttachmentSpec/attacher", format="name"),
            Column("PV", of="storage.v1.VolumeAttachmentSource/persistentVolumeName"),
            Column("Node", of="storage.v1.VolumeAttachmentSpec/nodeName"),
            Column("Attached", "boolean", of="storage.v1.VolumeAttachmentStatus/attached"),
            AGE,
        ),
        _volume_attachment,
    ),
    "csinodes.storage.k8s.io": Printer(
        (
            NAME,
            Column("Drivers", "integer",
                   text="Drivers indicates the number of CSI drivers registered on the node"),
            AGE,
        ),
        _csi_node,
    ),
    "csidrivers.storage.k8s.io": Printer(
        (
            NAME,
            Column("AttachRequired", "boolean", of="storage.v1.CSIDriverSpec/attachRequired"),
            Column("PodInfoOnMount", "boolean", of="storage.v1.CSIDriverSpec/podInfoOnMount"),
            Column("StorageCapacity", "boolean", of="storage.v1.CSIDriverSpec/storageCapacity", since=_CAPACITY_SINCE),
            Column("TokenRequests", of="storage.v1.CSIDriverSpec/tokenRequests", since=_CAPACITY_SINCE),
            Column("RequiresRepublish", "boolean", of="storage.v1.CSIDriverSpec/requiresRepublish",
                   since=_CAPACITY_SINCE),
            Column("Modes", of="storage.v1.CSIDriverSpec/volumeLifecycleModes"),
            AGE,
        ),
        _csi_driver,
    ),
    "csistoragecapacities.storage.k8s.io": Printer(
        (
            NAME,
            Column("StorageClassName", of="storage.v1.CSIStorageCapacity/storageClassName"),
            Column("Capacity", of="storage.v1.CSIStorageCapacity/capacity"),
        ),
        _storage_capacity,
    ),
    "volumeattributesclasses.storage.k8s.io": Printer(
        (NAME, Column("DriverName", of="storage.v1.VolumeAttributesClass/driverName"), AGE), _attributes_class
    ),
    "lease": Printer((NAME, Column("Holder", of="coordination.v1.LeaseSpec/holderIdentity"), AGE), _lease),
    "priorityclasses.scheduling.k8s.io": Printer(
        (
            NAME,
            Column("Value", "integer", of="scheduling.v1.PriorityClass/value"),
            Column("Global-Default", "boolean", of="scheduling.v1.PriorityClass/globalDefault"),
            Column("PreemptionPolicy", of="scheduling.v1.PriorityClass/preemptionPolicy", since=_PREEMPTION_SINCE),
            AGE,
        ),
        _priority_class,
    ),
    "runtimeclasses.node.k8s.io": Printer((NAME, Column("Handler", of="meta.v1.ObjectMeta/handler"), AGE),
                                          _runtime_class),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingadmissionpolicies.admissionregistration.k8s.io": Printer(
        (
            NAME,
            Column("Validations", "integer", text="Validations indicates the number of validation rules defined in "
                                                  "this configuration"),
            Column("ParamKind", text="ParamKind specifies the kind of resources used to parameterize this policy"),
            AGE,
        ),
        _admission_policy,
    ),
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": Printer(
        (
            NAME,
            Column("PolicyName", text="PolicyName indicates the policy definition which the policy binding binded to"),
            Column("ParamRef", text="ParamRef indicates the param resource which sets the configration param"),
            AGE,
        ),
        _admission_policy_binding,
    ),
    "certificatesigningrequests.certificates.k8s.io": Printer(
        (
            NAME,
            AGE,
            Column("SignerName", of="certificates.v1.CertificateSigningRequestSpec/signerName"),
            Column("Requestor", of="certificates.v1.CertificateSigningRequestSpec/request"),
            Column("RequestedDuration", of="certificates.v1.CertificateSigningRequestSpec/expirationSeconds",
                   since=_DURATION_SINCE),
            Column("Condition", of="certificates.v1.CertificateSigningRequestStatus/conditions"),
        ),
        _signing_request,
    ),
    "apiservices.apiregistration.k8s.io": Printer(
        (
            NAME,
            Column("Service", text="The reference to the service that hosts this API endpoint."),
            Column("Available", text="Whether this service is available."),
            AGE,
        ),
        _api_service,
    ),
    "flowschemas.flowcontrol.apiserver.k8s.io": Printer(
        (
            NAME,
            Column("PriorityLevel", of="flowcontrol.v1.PriorityLevelConfigurationReference/name"),
            Column("MatchingPrecedence", of="flowcontrol.v1.FlowSchemaSpec/matchingPrecedence"),
            Column("DistinguisherMethod", of="flowcontrol.v1.FlowSchemaSpec/distinguisherMethod"),
            AGE,
            Column("MissingPL", text="references a broken or non-existent PriorityLevelConfiguration"),
        ),
        _flow_schema,
    ),
    "nodes.metrics.k8s.io": Printer(_MEASURES, _usage),
    "pods.metrics.k8s.io": Printer(_MEASURES, _usage),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": Printer(
        (
            NAME,
            Column("Type", of="flowcontrol.v1.PriorityLevelConfigurationSpec/type"),
            Column("AssuredConcurrencyShares", until=_NOMINAL_SHARES_SINCE - 1,
                   of="flowcontrol.v1.LimitedPriorityLevelConfiguration/assuredConcurrencyShares"),
            Column("NominalConcurrencyShares", since=_NOMINAL_SHARES_SINCE,
                   of="flowcontrol.v1.LimitedPriorityLevelConfiguration/nominalConcurrencyShares"),
            Column("Queues", of="flowcontrol.v1.QueuingConfiguration/queues"),
            Column("HandSize", of="flowcontrol.v1.QueuingConfiguration/handSize"),
            Column("QueueLengthLimit", of="flowcontrol.v1.QueuingConfiguration/queueLengthLimit"),
            AGE,
        ),
        _priority_level,
    ),
}  # fmt: skip
