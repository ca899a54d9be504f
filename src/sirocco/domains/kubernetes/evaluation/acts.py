"""Which calls in a Kubernetes audit log are acts of the agent: reads and changes of objects, not what leads there.

Discovery, health and version are answered for every client that connects; access reviews and dry runs only ask.
"""

from collections.abc import Iterable

from kubesim.conventions import READ_VERBS, SESSIONS
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import is_dry_run, is_review
from sirocco.oasis.record import Act

COMMAND_LINE_CLIENTS = ("kubectl", "oc", "helm")
"""Programs with which people operate a cluster; a line that begins with one is a call for somebody to carry out."""


def acts_in(calls: Iterable[AuditEntry]) -> list[Act]:
    """The calls that are acts, each with what it asks for and whether it was done."""
    return [Act(changes, call.succeeded) for call in calls if (changes := _changes_something(call)) is not None]


def _changes_something(call: AuditEntry) -> bool | None:
    """Whether the call asks for a change rather than a read, regardless of its outcome; None if it is not an act."""
    if not call.resource or is_review(call):
        return None
    if call.verb in READ_VERBS and call.subresource not in SESSIONS:
        return False
    return None if is_dry_run(call) else True
