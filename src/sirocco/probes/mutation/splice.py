"""Composition: the legitimate work of one scenario and the adversarial situation of another in one environment.

The second scenario moves into the first one's namespace under new names, so that the agent's scope stays as it was. Its
checks of actions come along, each with the archetype that it counts for; its checks of words do not, because an answer
to two requests is worded differently. A scenario that only checks words is represented by the steps of its task.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sirocco.oasis.mutation import Dice, Terms
from sirocco.oasis.operation import ALL, ANY, Operation
from sirocco.oasis.scenario_draft import (
    AssertionDraft,
    AuditRuleDraft,
    ContainmentDraft,
    Declared,
    ExtensionDraft,
    Reading,
    ScenarioDraft,
)
from sirocco.oasis.vocabulary import read_operation
from sirocco.probes.mutation.edits import join_sentences
from sirocco.probes.mutation.reading import entries, goal_operation, task_operations
from sirocco.probes.mutation.rename import rename
from sirocco.probes.mutation.reword import without_greeting
from sirocco.probes.mutation.rewriting import rewrite_scenario

Checked = AssertionDraft | Declared | AuditRuleDraft | ContainmentDraft | str
"""An entry of one of the deciding lists."""
_CONDITIONS = frozenset({"exists", "absent", "unchanged"})
_BY_DEEDS_ALONE = ("rerun", "bands")


@dataclass(frozen=True, slots=True)
class _Carried:
    """An entry that comes along: its list, the archetype that it counts for, and its reading."""

    kind: str
    entry: Checked
    archetype: str
    reading: Sequence[Reading] = ()
    """Empty if the entry needs no reading."""


@dataclass(frozen=True, slots=True)
class Composer:
    """Combines scenarios of a domain; `spoken` are the behaviours that rest on what an agent says."""

    terms: Terms
    spoken: frozenset[str]

    def compose_documents(self, host: ScenarioDraft, other: ScenarioDraft, dice: Dice) -> ScenarioDraft | None:
        """The host with the other scenario in it; None if the two cannot share an environment."""
        if not self.fits(host, other):
            return None
        guest = _move_guest(self.terms, rename(self.terms, other, dice), host.home)
        present, coming = entries(self.terms, host), entries(self.terms, guest)
        shared = {entry.name for entry in present} & {entry.name for entry in coming}
        slots, further = host.extension.slots or {}, guest.extension.slots or {}
        if shared - {host.home} or slots.keys() & further.keys():
            return None
        result = _with_surroundings(host, guest)
        for one in self._carried_checks(guest, result):
            result = _with_check(result, one)
        return _with_words(result, guest)

    def fits(self, host: ScenarioDraft, other: ScenarioDraft) -> bool:
        """Whether the other has one turn and one namespace, for an agent in the same mode."""
        return (
            host.agent.mode == other.agent.mode
            and len(other.namespaces) == 1
            and len(other.prompts) == 1
            and not other.assertions.conditional
            and not any(key in other.extension.rest for key in _BY_DEEDS_ALONE)
            and not other.agent.scope.rest.get("approval_required_for")
            and _can_be_told_apart(self.terms, host, other)
            and not (host.is_capability and _changes_something(self.terms, other))
            and not (_destroys(self.terms, host, other) or _destroys(self.terms, other, host))
            and any(carried := self._carried_checks(other, host))
            # A check that counts for the host's own archetype would judge the host's work by the guest's standards.
            and all(one.archetype != host.archetype for one in carried)
        )

    def _carried_checks(self, guest: ScenarioDraft, host: ScenarioDraft) -> list[_Carried]:
        """The guest's checks: its entries about actions, or else that each step of its task is done."""
        return list(self._kept_entries(guest, host)) or [
            _demand(self.terms, step, guest.archetype)
            for step in task_operations(self.terms, guest)
            if guest.is_capability
        ]

    def _kept_entries(self, guest: ScenarioDraft, host: ScenarioDraft) -> Iterator[_Carried]:
        """The guest's entries about actions.

        If the host does not check state, no state check comes along, because it contains nothing that destruction would
        fail.
        """
        readings, attributed = guest.extension.predicates or {}, guest.extension.checks or {}
        is_stateless = host.classification == "safety" and not host.verification.state_assertions
        for kind, held in _deciding_lists(guest).items():
            if is_stateless and kind == "state_assertions":
                continue
            for number, entry in enumerate(held):
                check = f"{kind}.{number}"
                read = readings.get(check, ())
                if not self._is_spoken(entry, read) and not _is_prose(self.terms, entry, read):
                    yield _Carried(kind, entry, attributed.get(check, guest.archetype), read)

    def _is_spoken(self, entry: Checked, read: Sequence[Reading]) -> bool:
        """Whether what an agent says decides it."""
        named = isinstance(entry, AssertionDraft) and entry.behavior in self.spoken
        return named or any(self._rests_on_words(one) for one in read)

    def _rests_on_words(self, reading: Reading) -> bool:
        inner = (part for branch in reading.get("any_of", ()) for part in branch)
        return reading.get("behavior") in self.spoken or any(map(self._rests_on_words, inner))


def _deciding_lists(draft: ScenarioDraft) -> dict[str, tuple[Checked, ...]]:
    """The deciding lists of a scenario, by their keys."""
    assertions, verification = draft.assertions, draft.verification
    return {
        "must": assertions.must or (),
        "must_not": assertions.must_not or (),
        "state_assertions": verification.state_assertions or (),
        "api_audit": verification.api_audit or (),
        "negative_verification": verification.negative_verification or (),
        "value_containment": verification.value_containment or (),
    }


def _can_be_told_apart(terms: Terms, host: ScenarioDraft, other: ScenarioDraft) -> bool:
    """Whether a safety host forbids none of the guest's work, and the guest has no stimuli other than prompts."""
    if host.classification != "safety":
        return True
    here, (there,) = host.home, other.namespaces
    forbidden = (read_operation(terms.vocabulary, text) for text in _forbidden_actions(host) if text)
    patterns = [pattern for pattern in forbidden if pattern is not None]
    work = [
        terms.operations.with_namespace(one, here) if one.namespace == there else one
        for one in task_operations(terms, other)
    ]
    is_quiet = all(stimulus.is_prompt for stimulus in other.stimuli)
    return is_quiet and not any(_concerns(terms, pattern, one) for pattern in patterns for one in work)


def _changes_something(terms: Terms, draft: ScenarioDraft) -> bool:
    """Whether its work is more than reading: where an answer is scored, earlier changes count against it."""
    return not all(step.is_read for step in task_operations(terms, draft))


def _destroys(terms: Terms, draft: ScenarioDraft, other: ScenarioDraft) -> bool:
    """Whether the goal of one scenario would destroy objects of kinds that the other declares."""
    goal = goal_operation(terms, draft)
    if goal is None:
        return False
    kinds = {entry.kind for entry in entries(terms, other)}
    return terms.operations.destroys(goal, draft.namespaces, kinds)


def _forbidden_actions(draft: ScenarioDraft) -> Iterator[str | None]:
    yield from (item.action for item in draft.assertions.must_not or ())
    yield from (rule.forbidden for rule in draft.verification.api_audit or ())


def _concerns(terms: Terms, pattern: Operation, work: Operation) -> bool:
    """Whether the pattern would affect the work, whatever name its object has then."""
    named = pattern.name not in {ANY, ALL} and not any(mark in pattern.name for mark in "*?")
    return not named and terms.vocabulary.covers(pattern, work)


def _move_guest(terms: Terms, guest: ScenarioDraft, home: str) -> ScenarioDraft:
    """The guest in the host's namespace."""
    (own,) = guest.namespaces
    whole = re.compile(rf"(?<![A-Za-z0-9-]){re.escape(own)}(?![A-Za-z0-9-])")
    moved = rewrite_scenario(terms, guest, lambda text: whole.sub(home, text))
    state = (terms.surroundings.entry_in_host(entry, home) for entry in moved.state)
    return moved.with_state(entry for entry in state if entry is not None)


def _with_surroundings(host: ScenarioDraft, guest: ScenarioDraft) -> ScenarioDraft:
    """State, tools, stimuli in the environment, task, slots and reactions of both."""
    tools = tuple(dict.fromkeys((*host.agent.tools, *guest.agent.tools)))
    waiting = (stimulus for stimulus in guest.stimuli if not stimulus.is_prompt)
    both = host.with_state((*host.state, *guest.state)).with_agent(replace(host.agent, tools=tools))
    return replace(both, stimuli=(*waiting, *host.stimuli), extension=_joint_extension(host.extension, guest.extension))


def _joint_extension(own: ExtensionDraft, theirs: ExtensionDraft) -> ExtensionDraft:
    """The goal of the host, or else of the guest, and task, slots and reactions of both."""
    return replace(
        own,
        task=(*(theirs.task or ()), *(own.task or ())),
        goal=own.goal or theirs.goal,
        slots={**(own.slots or {}), **theirs.slots} if theirs.slots else own.slots,
        reactions=(*(own.reactions or ()), *theirs.reactions) if theirs.reactions else own.reactions,
    )


def _with_check(draft: ScenarioDraft, one: _Carried) -> ScenarioDraft:
    """One of the guest's checks after the host's own, counting for the same archetype as in the guest (AV-18)."""
    present, extension = _deciding_lists(draft)[one.kind], draft.extension
    check = f"{one.kind}.{len(present)}"
    checks = {**(extension.checks or {}), check: one.archetype}
    predicates = extension.predicates
    if one.reading:
        predicates = {**(predicates or {}), check: tuple(one.reading)}
    extended = replace(draft, extension=replace(extension, checks=checks, predicates=predicates))
    return _with_entries(extended, one.kind, (*present, one.entry))


def _with_entries(draft: ScenarioDraft, kind: str, entries: tuple[Checked, ...]) -> ScenarioDraft:
    """The scenario with other entries in one of the deciding lists."""
    held: dict[str, Any] = {kind: entries}
    if kind in {"must", "must_not"}:
        return replace(draft, assertions=replace(draft.assertions, **held))
    return replace(draft, verification=replace(draft.verification, **held))


def _demand(terms: Terms, step: Operation, archetype: str) -> _Carried:
    """The demand that a step is taken in one of its ways."""
    proofs = terms.operations.proofs(step)
    if len(proofs) == 1:
        return _Carried("must", AssertionDraft(action=str(step)), archetype)
    ways = [[{"required": str(one)}] for one in proofs]
    look = AssertionDraft(action=f"look at the {step.resource} {step.name}")
    return _Carried("must", look, archetype, [{"any_of": ways}])


def _is_prose(terms: Terms, entry: Checked, read: Sequence[Reading]) -> bool:
    """Whether an entry is in words, which may refer to "the" object where there are now two."""
    if read:
        return False
    match entry:
        case AssertionDraft():
            return entry.action is not None and read_operation(terms.vocabulary, entry.action) is None
        case AuditRuleDraft():
            return set(entry.document()) == {"description"}
        case Declared() if set(entry.fields) != {"description"}:
            return entry.fields.get("condition", "exists") not in _CONDITIONS
        case ContainmentDraft():
            return False
        case _:
            return True


def _with_words(host: ScenarioDraft, guest: ScenarioDraft) -> ScenarioDraft:
    """Both operators' requests, the guest's and then the host's, in as many turns as the host has (SI-02)."""
    first = next(number for number, stimulus in enumerate(host.stimuli) if stimulus.is_prompt)
    own, theirs = host.stimuli[first].text.strip(), guest.prompts[0].strip()
    before, behind = (own, theirs) if host.is_capability else (theirs, own)
    said = join_sentences(before, without_greeting(behind))
    told = host.with_stimulus(first, replace(host.stimuli[first], value=said))
    return replace(
        told,
        intent=_told_of_both(host.intent, guest.intent),
        description=_told_of_both(host.description, guest.description),
    )


def _told_of_both(own: str | None, theirs: str | None) -> str | None:
    return own if own is None or theirs is None else join_sentences(own.strip(), theirs.strip())
