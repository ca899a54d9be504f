"""What the Kubernetes API fixes for objects of every type: its verbs, and the parts that writers do not decide.

This is the one home of these names. Code that needs a few more or fewer of them derives its set from one of these and
says why.
"""

from collections.abc import Mapping
from typing import Any

READ_VERBS = ("get", "list", "watch")
UPDATE_VERBS = ("update", "patch")
"""The verbs that change an existing object; a patch or an update can also create one."""
STORE_VERBS = ("create", *UPDATE_VERBS)
"""The verbs that bring an object, or a part of one, for the server to keep."""
DELETE_VERBS = ("delete", "deletecollection")
WRITE_VERBS = (*STORE_VERBS, *DELETE_VERBS)
COLLECTION_VERBS = ("list", "watch", "deletecollection")
"""The verbs that address a collection rather than one object in it."""
METHOD_VERBS: Mapping[str, str] = {
    "GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete",
}  # fmt: skip
"""The verb of each HTTP method on one object; on a collection, GET is `list` or `watch`, DELETE `deletecollection`."""

SESSIONS = frozenset({"exec", "attach", "portforward"})
"""The subresources that open a connection into a pod."""
STREAMS = SESSIONS | {"proxy"}
"""The subresources behind which something other than the API server answers, whatever the verb says."""

OMITS_NO_TIME_SINCE = 34
"""The first release that leaves out `creationTimestamp: null` where an object or a template has no time."""
SERVER_OWNED = frozenset({"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"})
"""What the server keeps in the metadata of every object; it changes, or differs between clusters, without anyone's
action."""
IDENTITY = frozenset({"name", "namespace"})
"""The fields that identify an object; they never change."""


def with_times_of(release: int, document: Any) -> Any:
    """A document as a release writes it; whether its metadata may lack a creation time depends on the release."""
    if release < OMITS_NO_TIME_SINCE:
        return document
    if isinstance(document, dict):
        return {
            key: with_times_of(release, value)
            for key, value in document.items()
            if not (key == "creationTimestamp" and value is None)
        }
    return [with_times_of(release, item) for item in document] if isinstance(document, list) else document
