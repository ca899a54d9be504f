"""The resources that controllers write."""

from kubesim.discovery.catalogue import Resource, catalogue
from kubesim.resource import BY_NOUN


def _row(noun: str) -> Resource:
    known = BY_NOUN[noun]
    return _served(known.group, known.version, known.plural)


def _served(group: str, version: str, plural: str) -> Resource:
    found = catalogue().find(group, version, plural)
    if found is None:
        raise LookupError(plural)
    return found


NAMESPACE, POD, EVENT = (_row(noun) for noun in ("namespace", "pod", "event"))
DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, JOB = (
    _row(noun) for noun in ("deployment", "replicaset", "statefulset", "daemonset", "job")
)
CLAIM, ENDPOINTS, ACCOUNT, VOLUME = (_row(noun) for noun in ("pvc", "endpoints", "serviceaccount", "pv"))
SLICE = _served("discovery.k8s.io", "v1", "endpointslices")
REVISION = _served("apps", "v1", "controllerrevisions")
QUOTA = _row("resourcequota")
AUTOSCALER, BUDGET = _row("hpa"), _row("pdb")
