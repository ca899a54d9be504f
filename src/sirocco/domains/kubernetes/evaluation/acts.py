"""What of a Kubernetes audit log is an act of the agent: to read or change an object, and not what merely leads there.

Discovery, health and version are answered to every client that connects; access reviews and dry runs only ask.
"""

from enum import Enum, auto

from sirocco.domains.kubernetes.evaluation.calls import is_dry_run, is_review
from sirocco.oasis.observation import AuditEntry

COMMAND_LINE_CLIENTS = ("kubectl", "oc", "helm")
"""Programs by which people operate a cluster; a line that begins with one is a call that somebody has to carry out."""
_READS = frozenset({"get", "list", "watch"})
_SESSIONS = frozenset({"exec", "attach", "portforward"})
"""What is opened by a read and does what the caller types."""
_SWITCHING_PROTOCOLS = 101


class Act(Enum):
    """What a call does to the object that it names."""

    READ = auto()
    CHANGE = auto()


def act_of(call: AuditEntry) -> Act | None:
    """What the call asks for, whatever came of it; None for one that is no act."""
    if not call.resource or is_review(call):
        return None
    if call.verb in _READS and call.subresource not in _SESSIONS:
        return Act.READ
    return None if is_dry_run(call) else Act.CHANGE


def is_carried_out(call: AuditEntry) -> bool:
    """Whether the environment did what the call asks for; a session is opened by switching protocols."""
    return call.succeeded or call.code == _SWITCHING_PROTOCOLS
