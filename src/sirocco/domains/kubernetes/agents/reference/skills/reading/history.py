"""What was changed lately, and whether the trouble began after it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sirocco.domains.kubernetes.agents.reference.skills.reading.metrics import ago
from sirocco.domains.kubernetes.agents.reference.skills.reading.observed import Observed, seconds
from sirocco.domains.kubernetes.agents.reference.survey import Json, name_of, namespace_of, pod_spec
from sirocco.domains.kubernetes.agents.reference.targets import Target

_RECENT = 86400.0
_SOON = 3600.0
"""Trouble that begins this long after a change may come from it."""
_SHORT_REVISION = 12
_SLACK = 300.0
"""Readings are some minutes apart, so that trouble can seem to begin a little before its cause."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was changed: as a noun, when, and what would undo it."""

    what: str
    when: float
    before: str
    undo: str

    def told(self, now: float) -> str:
        """The change as part of a sentence."""
        return f"it went out {ago(now - self.when)} ago{self.before}"


def last_change(target: Target, seen: Observed) -> Change | None:
    """The latest change of a workload that was not long ago: a new image, a sync from its repository, a pipeline."""
    found = (*_rollouts(target, seen), *_syncs(target, seen), *_pipelines(target, seen))
    recent = [change for change in found if seen.now is not None and 0 <= seen.now - change.when < _RECENT]
    return max(recent, key=lambda change: change.when, default=None)


def _rollouts(target: Target, seen: Observed) -> Iterator[Change]:
    history = sorted(_revisions(target, seen), key=lambda one: one[0])
    for (_, former), (when, present) in pairwise(history):
        one, other = _version(former), _version(present)
        if one != other:
            what = f"the rollout of the new version {other} of {target.name}"
            yield Change(what, when, f", in place of {one}", f"roll back to {one} and compare the two versions")


def _syncs(target: Target, seen: Observed) -> Iterator[Change]:
    """Syncs of the application that has the workload's name or holds it."""
    for content in _records("gitops-application", seen):
        status = content.get("status") or {}
        held = {str(one.get("name")) for one in status.get("resources") or ()} | {name_of(content)}
        when = seconds((status.get("operationState") or {}).get("finishedAt"))
        revision = str((status.get("sync") or {}).get("revision", ""))[:_SHORT_REVISION]
        if target.name in held and when is not None:
            what = f"the sync of revision {revision} to {target.name}"
            yield Change(
                what, when, " from its repository", "compare that revision with the one before and revert it there"
            )


def _pipelines(target: Target, seen: Observed) -> Iterator[Change]:
    for content in _records("pipeline", seen):
        subject = content.get("subject") or {}
        named = {str(content.get("id", "")), str(subject.get("name", "") if isinstance(subject, Mapping) else subject)}
        when = seconds(content.get("finished_at"))
        if target.name in named and when is not None:
            what = f"the run of pipeline {content.get('id')}"
            yield Change(what, when, "", "compare what that run delivered with what ran before")


def _records(kind: str, seen: Observed) -> Iterator[Mapping[str, Any]]:
    for signal in seen.known.signals:
        if signal.subject.kind == kind and isinstance(signal.content, Mapping):
            yield signal.content


def onset(target: Target, seen: Observed) -> float | None:
    """When the first of a component's series left its usual range."""
    return min((moment for one in seen.measured(target) if (moment := one.onset)), default=None)


def explains(change: Change, began: float | None) -> bool:
    """Whether trouble began so soon after a change that the two are probably connected."""
    return began is not None and -_SLACK <= began - change.when <= _SOON


def _revisions(target: Target, seen: Observed) -> Iterator[tuple[float, str]]:
    """The images of a deployment's replica sets, with their times."""
    for item in seen.known.objects.get("replicaset", ()):
        owners = (item.get("metadata") or {}).get("ownerReferences") or ()
        is_owned = any(owner.get("name") == target.name for owner in owners)
        if namespace_of(item) == target.namespace and is_owned:
            yield _made(item), _image(item)


def _made(item: Json) -> float:
    return seconds((item.get("metadata") or {}).get("creationTimestamp")) or 0.0


def _image(item: Json) -> str:
    return next((str(one.get("image", "")) for one in pod_spec(item).get("containers") or ()), name_of(item))


def _version(image: str) -> str:
    last = image.rpartition("/")[2]
    return last.partition(":")[2] or image
