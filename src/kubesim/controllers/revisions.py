"""Revisions of stateful and daemon sets: the templates that they have had, as `kubectl rollout history` shows them.

Controllers note a template when they first see it; the revision objects are created when somebody reads them.
"""

from dataclasses import replace

from kubesim.canonical import derived_seed
from kubesim.controllers.dynamics import Dynamics, Noted
from kubesim.controllers.rows import DAEMON_SET, REVISION, STATEFUL_SET
from kubesim.history import later_time
from kubesim.resource import ResourceType
from kubesim.status import Json
from kubesim.store import Ids, key_of, owner_reference

REVISION_HASH = "controller-revision-hash"
_SET_HASH = "controller.kubernetes.io/hash"
_USUAL_LIMIT = 10
"""How many earlier templates are kept if the object does not say."""


def note_template(dynamics: Dynamics, owner: Json, now: str) -> str:
    """Record the template of a set as its latest one; returns its hash."""
    template = owner["spec"]["template"]
    hashed = dynamics.stamp(owner, template)
    known = dynamics.templates.setdefault(owner["metadata"]["uid"], {})
    if next(reversed(known), None) != hashed:
        number = 1 + max((had.number for had in known.values()), default=0)
        earlier = known.pop(hashed, None)
        known[hashed] = replace(earlier, number=number) if earlier else Noted(template, now, number)
    return hashed


def lay_revisions(dynamics: Dynamics) -> None:
    """Bring the revisions of every set up to date before they are read."""
    store = dynamics.store
    for row in (STATEFUL_SET, DAEMON_SET):
        for owner in store.items(row.noun):
            note_template(dynamics, owner, owner["metadata"]["creationTimestamp"])
            for revision in _revisions_of(dynamics, row, owner):
                known = store.content(*key_of(REVISION, revision))
                if known is None:
                    store.lay_object(REVISION, store.dated_object(revision))
                elif known.get("revision") != revision["revision"]:
                    store.lay_object(REVISION, {**known, "revision": revision["revision"]})


def _revisions_of(dynamics: Dynamics, row: ResourceType, owner: Json) -> list[Json]:
    """The revisions that are kept for one set."""
    known = dynamics.templates[owner["metadata"]["uid"]]
    limit = owner["spec"].get("revisionHistoryLimit", _USUAL_LIMIT) + 1
    return [_revision(row, owner, hashed, had) for hashed, had in [*known.items()][-limit:]]


def _revision(row: ResourceType, owner: Json, hashed: str, had: Noted) -> Json:
    metadata, noted = owner["metadata"], had.since
    labels = (had.template.get("metadata") or {}).get("labels") or {}
    marked = {**labels, REVISION_HASH if row is DAEMON_SET else _SET_HASH: hashed}
    annotations = metadata.get("annotations")
    return {
        "kind": REVISION.kind,
        "apiVersion": REVISION.api_version,
        "metadata": {
            "name": f"{metadata['name']}-{hashed}",
            "namespace": metadata["namespace"],
            "uid": Ids(derived_seed(0, f"revision {metadata['uid']} {hashed}")).uid(),
            "creationTimestamp": later_time(noted, 1) if noted == metadata["creationTimestamp"] else noted,
            "labels": marked,
            **({"annotations": annotations} if annotations else {}),
            "ownerReferences": [owner_reference(row, owner)],
        },
        "data": {"spec": {"template": {**had.template, "$patch": "replace"}}},
        "revision": had.number,
    }
