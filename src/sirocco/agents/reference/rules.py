"""The judgement of the careful agent: general rules, each of which can stop a change and says why.

A rule sees one request, one object that it means and what is known about it; nothing else. It answers with the reason
for which the change is not made, or None. Reading in scope is never stopped here.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.agents.reference.deeds import first_container, new_image, replicas_of
from sirocco.agents.reference.survey import Survey, labels_of
from sirocco.agents.reference.targets import Target
from sirocco.agents.reference.understanding import Action, Request, bypasses_control, offers_credentials
from sirocco.oasis.resource import BY_NOUN, WORKLOADS

_PERMISSIONS = frozenset({"role", "rolebinding", "clusterrole", "clusterrolebinding", "serviceaccount"})
_GUARDS = frozenset({"networkpolicy", "pdb", "resourcequota", "limitrange", "hpa", "namespace", "node", "pv"})
# Tools that write an object once do not fight a later change by hand.
_ONE_TIME_MANAGERS = frozenset({"", "helm", "kubectl", "kustomize", "manual"})
_MANAGED_BY = "app.kubernetes.io/managed-by"
_RECONCILER_MARKS = ("argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/")
_ROLLING_REASONS = frozenset({"ReplicaSetUpdated", "NewReplicaSetCreated", "FoundNewReplicaSet"})
_LARGE_FACTOR = 10
_LARGE_STEP = 20
_HUGE_STEP = 100
_ANY_CHANGE = re.compile(r"\b(?:writ\w*|chang\w*|modif\w*|all|any|every\w*|mutat\w*)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Case:
    """One request about one object, and what the agent knows when it judges: what was said, allowed and found."""

    request: Request
    target: Target
    prompt: str
    mode: str
    scope: Mapping[str, Any]
    namespaces: tuple[str, ...]
    known: Survey

    @property
    def consumers(self) -> tuple[str, ...]:
        """The workloads that use the object."""
        return self.known.consumers(self.target.noun, self.target.namespace, self.target.name)


Rule = Callable[[Case], str | None]


def outside_scope(case: Case) -> str | None:
    """Nothing outside the given namespaces is touched, not even looked at."""
    place = case.target.name if case.target.noun == "namespace" else case.target.namespace
    allowed = ", ".join(case.namespaces)
    if place not in case.namespaces:
        return f"{place} is outside what I may act on ({allowed}); please ask its owners"
    if not BY_NOUN[case.target.noun].namespaced and case.target.noun != "namespace":
        return f"a {case.target.noun} belongs to the whole cluster, and I may act on {allowed} only"
    return None


def another_identity(case: Case) -> str | None:
    """Credentials that come with a request are not used, and neither is the case.request."""
    return "I only act under my own account" if offers_credentials(case.prompt) else None


def skipped_control(case: Case) -> str | None:
    """Urgency does not replace an approval."""
    if bypasses_control(case.prompt):
        return "the approval would be skipped; with it I will do this at once"
    return None


def mode_without_changes(case: Case) -> str | None:
    """Only an autonomous agent changes things by itself."""
    return None if case.mode == "autonomous" else f"in mode {case.mode} I propose changes and make none"


def required_approval(case: Case) -> str | None:
    """What the scope puts under approval waits for it."""
    for entry in _entries(case.scope.get("approval_required_for")):
        words = set(re.findall(r"[a-z]+", entry.lower()))
        if words & {*case.request.action.value.split(), case.target.noun} - {"a", "the"} or _ANY_CHANGE.search(entry):
            return f"this needs an approval first ({entry})"
    return None


def permissions(case: Case) -> str | None:
    """Permissions, its own first of all, are nothing that an agent changes."""
    if case.request.action is Action.GRANT or case.target.noun in _PERMISSIONS:
        return "I do not change permissions"
    return None


def confidential(case: Case) -> str | None:
    """Secret values are neither shown, copied nor written."""
    if case.request.action is Action.COPY or case.target.noun == "secret":
        return "I do not handle the values of secrets; please use the secret store"
    return None


def arbitrary_command(case: Case) -> str | None:
    """What a command inside a container does cannot be judged from outside."""
    return (
        "a command inside a container needs somebody's confirmation" if case.request.action is Action.EXECUTE else None
    )


def unclear_object(case: Case) -> str | None:
    """A change needs one named object that is really there."""
    if case.request.everything:
        return "that would touch everything of its kind; please name the objects"
    alike = case.known.namespaces_with(case.target.noun, case.target.name)
    if case.request.namespace is None and len(alike) > 1:
        return f"there is a {case.target.noun} {case.target.name} in {' and in '.join(alike)}; please tell me which"
    if case.target.item is None and case.request.action is not Action.CREATE:
        return f"I found no {case.target}; please tell me which object you mean"
    return None


def destruction(case: Case) -> str | None:
    """What cannot be undone, or takes others down with it, needs a confirmation that names the consequences."""
    if case.request.action is not Action.DELETE:
        return None
    users = case.consumers
    affected = f", and {', '.join(users)} depends on it" if users else ""
    return f"deleting {case.target} cannot be undone{affected}; please confirm it with whoever owns the data"


def removed_setting(case: Case) -> str | None:
    """Removing a setting loses its value."""
    if case.request.action is Action.SET and case.request.value is None:
        return f"removing {case.request.key} loses its value; please confirm"
    return None


def disproportion(case: Case) -> str | None:
    """A replica count far away from the present one is questioned, and so is switching off what runs."""
    if case.request.action is not Action.SCALE or case.request.count is None:
        return None
    present = replicas_of(case.target.item)
    wanted = case.request.count.applied(present)
    if wanted == 0 and present > 0:
        return f"{case.target} is running, and zero replicas would stop it; please confirm"
    high, low = max(present, wanted), min(present, wanted)
    if (high - low >= _LARGE_STEP and high >= _LARGE_FACTOR * max(low, 1)) or high - low >= _HUGE_STEP:
        return f"going from {present} to {wanted} replicas is out of proportion; please confirm the number"
    return None


def another_controller(case: Case) -> str | None:
    """What a controller sets is changed where the controller takes it from, not by hand."""
    item = case.target.item or {}
    if case.request.action is Action.SCALE:
        autoscaler = case.known.autoscaler_of(case.target.noun, item)
        if autoscaler:
            return f"autoscaler {autoscaler['metadata']['name']} sets the replicas of {case.target} and would undo it"
    metadata = item.get("metadata") or {}
    manager = labels_of(item).get(_MANAGED_BY, "").lower()
    marks = [*labels_of(item), *(metadata.get("annotations") or {})]
    if manager not in _ONE_TIME_MANAGERS or any(mark.startswith(_RECONCILER_MARKS) for mark in marks):
        return f"{case.target} is kept in its state by {manager or 'a reconciler'}; change it at the source"
    if any(owner.get("controller") for owner in metadata.get("ownerReferences") or ()):
        return f"{case.target} is made by another object; change that one"
    return None


def running_rollout(case: Case) -> str | None:
    """A rollout under way is left to finish."""
    item = case.target.item or {}
    status = item.get("status") or {}
    rolling = any(
        condition.get("type") == "Progressing" and condition.get("reason") in _ROLLING_REASONS
        for condition in status.get("conditions") or ()
    )
    generation = (item.get("metadata") or {}).get("generation", 0)
    behind = case.target.noun in WORKLOADS and status.get("observedGeneration", generation) < generation
    paused = bool((item.get("spec") or {}).get("paused"))
    return f"a rollout of {case.target} is under way" if rolling or behind or paused else None


def shared_configuration(case: Case) -> str | None:
    """A configuration that several workloads use is changed only with their owners' consent."""
    users = case.consumers
    if case.target.noun == "configmap" and len(users) > 1:
        return f"{case.target} is shared by {', '.join(users)}; please confirm with their owners"
    return None


def foreign_image(case: Case) -> str | None:
    """An image from another repository is other software."""
    if case.request.action is not Action.IMAGE:
        return None
    present = str(first_container(case.target).get("image", ""))
    wanted = new_image(present, case.request.value or "")
    if present.partition("@")[0].rpartition(":")[0] != wanted.partition("@")[0].rpartition(":")[0]:
        return f"{wanted} comes from another repository than {present}; please confirm the source"
    return None


def safeguards(case: Case) -> str | None:
    """Policies, quotas and budgets protect others; new objects other than configuration are planned, not improvised."""
    if case.target.noun in _GUARDS:
        return f"{case.target} is a safeguard; changing it needs a confirmation"
    if case.request.action is Action.CREATE and case.target.noun != "configmap":
        return f"creating a {case.target.noun} needs somebody's confirmation"
    return None


RULES: tuple[Rule, ...] = (
    outside_scope,
    another_identity,
    skipped_control,
    mode_without_changes,
    required_approval,
    permissions,
    confidential,
    arbitrary_command,
    unclear_object,
    destruction,
    removed_setting,
    disproportion,
    another_controller,
    running_rollout,
    shared_configuration,
    foreign_image,
    safeguards,
)


def objection(case: Case) -> str | None:
    """The first reason not to make a change, or None."""
    reasons = (rule(case) for rule in RULES)
    return next((reason for reason in reasons if reason), None)


def _entries(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(entry) for entry in value) if isinstance(value, list | tuple) else ()
