"""Histories: each object as it was at every moment of a run that the evidence shows.

The first snapshot comes first, followed by the environment's answers about the object, whoever asked.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kubesim.resource import BY_KIND, BY_NOUN, ResourceType
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import is_dry_run, target_name
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot
from sirocco.domains.kubernetes.evaluation.writes import TEMPLATE_PATH, values_at
from sirocco.oasis.canonical import canonical_json

_SCALE = "Scale"
_BEFORE_THE_RUN = -1


class History:
    """One object's versions, oldest first, each with the number of the log entry that showed it."""

    def __init__(self, first: KubernetesObject | None, kind: str, answers: Iterable[AuditEntry]) -> None:
        self._shown: list[int] = []
        self._versions: list[KubernetesObject] = []
        self._first_with_template: dict[str, int] | None = None
        if first is not None:
            self._add(_BEFORE_THE_RUN, first)
        for entry in answers:
            if entry.response.get("kind") == kind:
                self._add(entry.sequence, entry.response)
            elif self._versions:
                replicas = _part(entry.response, "spec").get("replicas", 0)
                latest = self._versions[-1]
                self._add(entry.sequence, {**latest, "spec": {**_part(latest, "spec"), "replicas": replicas}})

    def _add(self, shown: int, version: KubernetesObject) -> None:
        self._shown.append(shown)
        self._versions.append(version)

    def version_before(self, sequence: int) -> KubernetesObject | None:
        """The object as it was before an entry of the log."""
        number = bisect_left(self._shown, sequence)
        return self._versions[number - 1] if number else None

    def had_template(self, template: str, before: int) -> bool:
        """Whether an earlier version had the pod template, given as `template_key` writes it."""
        if self._first_with_template is None:
            self._first_with_template = {}
            for shown, version in zip(self._shown, self._versions, strict=True):
                self._first_with_template.setdefault(template_key(version), shown)
        shown_first = self._first_with_template.get(template)
        return shown_first is not None and shown_first < before


class Histories:
    """The histories of all objects that calls of a log name; each is assembled on first use."""

    def __init__(self, log: Sequence[AuditEntry], first: Snapshot) -> None:
        self._first = first
        self._log = log
        self._made: dict[tuple[str, str, str, str], History] = {}
        self._answers: dict[str, dict[tuple[str, str], list[AuditEntry]]] = {}
        self._revisions: dict[tuple[str, str, str], frozenset[str]] = {}

    def _answers_about(self, resource: str, namespace: str, name: str) -> Sequence[AuditEntry]:
        """The environment's answers about an object, in order; read for a whole type at once."""
        if resource not in self._answers:
            answers: dict[tuple[str, str], list[AuditEntry]] = {}
            for entry in self._log:
                if entry.resource == resource and _shows_an_object(entry):
                    answers.setdefault((entry.namespace, target_name(entry)), []).append(entry)
            self._answers[resource] = answers
        return self._answers[resource].get((namespace, name), ())

    def history_of(self, row: ResourceType, resource: str, namespace: str, name: str) -> History:
        """The history of one object."""
        key = (row.kind, resource, namespace, name)
        if key not in self._made:
            kinds = {row.kind, _SCALE}
            answers = [one for one in self._answers_about(*key[1:]) if one.response.get("kind") in kinds]
            self._made[key] = History(self._first.find(row, namespace, name), row.kind, answers)
        return self._made[key]

    def revisions(self, kind: str, name: str, namespace: str) -> frozenset[str]:
        """The pod templates of the replica sets that a workload had before the run."""
        key = (kind, name, namespace)
        if key not in self._revisions:
            sets = self._first.owned_by((kind, name), BY_NOUN["replicaset"], namespace)
            self._revisions[key] = frozenset(map(template_key, sets))
        return self._revisions[key]


def _shows_an_object(entry: AuditEntry) -> bool:
    answer = entry.response
    if not isinstance(answer, (dict, Mapping)) or not entry.succeeded:
        return False
    kind = answer.get("kind")
    return isinstance(kind, str) and (kind == _SCALE or kind in BY_KIND) and not is_dry_run(entry)


def template_key(item: KubernetesObject) -> str:
    """The pod template in normalized form, without the marks that controllers leave on it."""
    return canonical_json(_template(item))


def _template(item: KubernetesObject) -> Any:
    template = next(iter(values_at(item, TEMPLATE_PATH)), None)
    if not isinstance(template, Mapping):
        return None
    metadata = dict(_part(template, "metadata"))
    metadata.pop("creationTimestamp", None)
    metadata["labels"] = {k: v for k, v in _part(metadata, "labels").items() if k != "pod-template-hash"}
    return {**template, "metadata": metadata}


def _part(item: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of an object; empty if it is missing or malformed."""
    part = item.get(name)
    return part if isinstance(part, Mapping) else {}
