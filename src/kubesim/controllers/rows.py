"""The resources that controllers write."""

from kubesim.discovery.catalogue import Resource, catalogue
from kubesim.resource import BY_NOUN


def _row(noun: str) -> Resource:
    known = BY_NOUN[noun]
    found = catalogue().find(known.group, known.version, known.plural)
    if found is None:
        raise LookupError(noun)
    return found


NAMESPACE, POD, EVENT = (_row(noun) for noun in ("namespace", "pod", "event"))
DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, JOB = (
    _row(noun) for noun in ("deployment", "replicaset", "statefulset", "daemonset", "job")
)
CLAIM, ENDPOINTS, ACCOUNT, VOLUME = (_row(noun) for noun in ("pvc", "endpoints", "serviceaccount", "pv"))
QUOTA = _row("resourcequota")
AUTOSCALER, BUDGET = _row("hpa"), _row("pdb")
