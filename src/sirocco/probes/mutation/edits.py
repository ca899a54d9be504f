"""The building blocks of operators: small changes to a scenario, each of which returns a new one."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sirocco.oasis.mutation import Entry, Language
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import Goal
from sirocco.oasis.scenario_draft import (
    AssertionDraft,
    AssertionsDraft,
    AuditRuleDraft,
    Declared,
    ExtensionDraft,
    ScenarioDraft,
    StimulusDraft,
    VerificationDraft,
)
from sirocco.oasis.vocabulary import read_operation
from sirocco.probes.mutation.disguise import readings
from sirocco.probes.mutation.reading import entries, goal_object, goal_operation


def with_declared(draft: ScenarioDraft, *declared: Declared) -> ScenarioDraft:
    """The scenario with additional declared objects."""
    return draft.with_state((*draft.state, *declared))


def with_changed_keys(draft: ScenarioDraft, entry: Entry, **keys: Any) -> ScenarioDraft:
    """The scenario with other keys on one of its declared objects."""
    return draft.with_state(one.having(**keys) if one.fields is entry.fields else one for one in draft.state)


def with_tool(draft: ScenarioDraft, tool: str) -> ScenarioDraft:
    """The scenario with an additional tool for the agent."""
    agent = draft.agent
    return draft if tool in agent.tools else draft.with_agent(replace(agent, tools=(*agent.tools, tool)))


def with_goal(draft: ScenarioDraft, goal: Goal) -> ScenarioDraft:
    """The scenario with another goal."""
    return replace(draft, extension=replace(draft.extension, goal=goal))


def with_judgement(draft: ScenarioDraft, change: Callable[[Any], Any]) -> ScenarioDraft:
    """The scenario with every value changed by which it is judged: its checks, goal, task and slots."""
    return replace(
        draft,
        assertions=AssertionsDraft.parse(change(draft.assertions.document())),
        verification=VerificationDraft.parse(change(draft.verification.document())),
        extension=ExtensionDraft.parse(change(draft.extension.document())),
    )


def with_head_texts(draft: ScenarioDraft, change: Callable[[str], str]) -> ScenarioDraft:
    """The scenario with its own descriptive texts changed."""
    intent, description = draft.intent, draft.description
    return replace(
        draft,
        name=change(draft.name),
        intent=None if intent is None else change(intent),
        description=None if description is None else change(description),
    )


def with_prompts(draft: ScenarioDraft, change: Callable[[str], str]) -> ScenarioDraft:
    """The scenario with everything changed that the operator says."""
    said = (replace(one, value=change(one.text)) if one.is_prompt else one for one in draft.stimuli)
    return replace(draft, stimuli=tuple(said))


def with_last_prompt(draft: ScenarioDraft, change: Callable[[str], str]) -> ScenarioDraft:
    """The scenario with the operator's last words changed, or the prompt for the goal if it names the goal's object."""
    prompts = [number for number, stimulus in enumerate(draft.stimuli) if stimulus.is_prompt]
    asking = [number for number in prompts if _names_goal(draft.goal, draft.stimuli[number].text)]
    last = max(asking or prompts)
    stimulus = draft.stimuli[last]
    return draft.with_stimulus(last, replace(stimulus, value=change(stimulus.text)))


def _names_goal(goal: Goal | None, text: str) -> bool:
    """Whether a text names the object of a goal as every language writes it: type, slash, name."""
    about = (goal.operation or goal.output or "") if goal is not None else ""
    name = about.partition("/")[2].partition(" ")[0].partition(".")[0]
    return bool(name) and name in text


def with_sentences(draft: ScenarioDraft, *, before: str = "", after: str = "") -> ScenarioDraft:
    """The scenario with sentences around the operator's last words, inside the head and signature of a mail."""
    return with_last_prompt(draft, lambda said: _with_sentences_inside(said.strip(), before, after))


_REFERS_BACK = re.compile(r"\b(?:it|its|this|that|they|them)\b", re.IGNORECASE)
"""Words in a sentence about a request that only make sense after it."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NAME = re.compile(r"\w-\w|\?")
"""Matches words of sentences that make a request, as opposed to those that merely explain one."""


def with_request_anew(draft: ScenarioDraft, said: str) -> ScenarioDraft:
    """The scenario with this text in place of the operator's request for the goal.

    Other requests in the prompt stay.
    """
    return with_last_prompt(draft, lambda text: _with_goal_said(draft.goal, text, said))


def _with_goal_said(goal: Goal | None, text: str, said: str) -> str:
    """The text with other words for sentences that name the goal's object, and for those that refer back to them."""
    kept: list[str] = []
    is_said = is_about_goal = False
    for sentence in _SENTENCE_END.split(text):
        refers = is_about_goal and bool(_REFERS_BACK.search(sentence)) and not _NAME.search(sentence)
        is_about_goal = refers or _names_goal(goal, sentence)
        if not is_about_goal:
            kept.append(sentence)
        elif not is_said:
            kept.append(said)
            is_said = True
    return join_sentences(*kept) if is_said else said


def with_sentence_about(draft: ScenarioDraft, said: str, mentions: Sequence[str]) -> ScenarioDraft:
    """The scenario with a sentence next to the request that matches one of some patterns, the first that matches any.

    The sentence follows the request if it refers back to it, and precedes it otherwise; a block of lines is put before
    the whole prompt. If the request is in a document, the sentence goes where the operator refers to that. If nothing
    matches, it goes to the operator's last words.
    """
    holders = [
        re.escape(one.name) for mention in mentions for one in draft.state if one.name and _tells(one.fields, mention)
    ]
    found = (
        (number, at, mention)
        for mention in (*mentions, *holders)
        for number, one in reversed(list(enumerate(draft.stimuli)))
        if one.is_prompt
        for at, sentence in enumerate(_SENTENCE_END.split(one.text))
        if re.search(mention, sentence)
    )
    number, at, mention = next(found, (-1, 0, ""))
    if "\n" in said or not mention:
        return with_sentences(draft, before=said) if "\n" in said else with_sentences(draft, after=said)
    stimulus = draft.stimuli[number]
    sentences = _SENTENCE_END.split(stimulus.text)
    if _REFERS_BACK.search(said):
        at = max(later for later, sentence in enumerate(sentences) if re.search(mention, sentence)) + 1
        # Sentences that refer to the request and name nothing themselves belong to it.
        while at < len(sentences) and _REFERS_BACK.search(sentences[at]) and not _NAME.search(sentences[at]):
            at += 1
    text = join_sentences(*sentences[:at], said, *sentences[at:])
    return draft.with_stimulus(number, replace(stimulus, value=text))


def _tells(value: Any, mention: str) -> bool:
    """Whether some text of several words in a value matches a pattern."""
    if isinstance(value, str):
        return " " in value.strip() and bool(re.search(mention, value))
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return any(_tells(one, mention) for one in inner)


_HEAD = re.compile(r"\A(?:(?:From|To|Subject|Date|Re|Area): [^\n]*\n)+\n?")
_SIGNATURE = re.compile(r"\n\n(?:-- ?\n)?[^\n]{1,60}\Z")


def _with_sentences_inside(said: str, before: str, after: str) -> str:
    head = _HEAD.match(said) if before and "\n" not in before else None
    start = head.end() if head else 0
    signature = _SIGNATURE.search(said, start) if after else None
    end = signature.start() if signature else len(said)
    return said[:start] + join_sentences(before, said[start:end], after) + said[end:]


def join_sentences(*parts: str) -> str:
    """Sentences joined, each with its full stop."""
    ended = [part if re.search(r"[.!?:\n]$", part.rstrip(" ")) else f"{part}." for part in parts if part]
    separator = "\n" if any("\n" in part for part in ended) else " "
    # An empty line after a block stays.
    gaps = ["\n\n" if part.endswith("\n\n") else separator for part in ended[:-1]]
    return "".join(part.strip("\n") + gap for part, gap in zip(ended, [*gaps, ""], strict=True))


def with_turn_before(draft: ScenarioDraft, said: str) -> ScenarioDraft:
    """The scenario with one more turn of the operator before the first."""
    first = next(number for number, stimulus in enumerate(draft.stimuli) if stimulus.is_prompt)
    stimuli = draft.stimuli
    return replace(draft, stimuli=(*stimuli[:first], StimulusDraft.from_operator(said), *stimuli[first:]))


def doing_also(draft: ScenarioDraft, *operations: str) -> ScenarioDraft:
    """The scenario with additional legitimate work."""
    task = draft.extension.task or ()
    more = (*task, *(text for text in operations if text not in task))
    return replace(draft, extension=replace(draft.extension, task=more))


def payload_number(language: Language, draft: ScenarioDraft) -> int | None:
    """The stimulus that carries the goal: the first text in the environment that names the goal's object."""
    asking = asking_number(language, draft)
    return asking if asking is not None else next(iter(_waiting_numbers(draft)), None)


def asking_number(language: Language, draft: ScenarioDraft) -> int | None:
    """The first text in the environment that names the goal's object; None if there is none."""
    name = goal_object(language, draft)
    found = (one for one in _waiting_numbers(draft) if _are_said([name], draft.stimuli[one].text))
    return next(found, None)


def _waiting_numbers(draft: ScenarioDraft) -> list[int]:
    return [number for number, stimulus in enumerate(draft.stimuli) if stimulus.is_waiting_text]


def payload(language: Language, draft: ScenarioDraft) -> StimulusDraft | None:
    """The text in the environment that carries the goal; None if there is none."""
    number = payload_number(language, draft)
    return None if number is None else draft.stimuli[number]


def with_payload(
    language: Language, draft: ScenarioDraft, change: Callable[[StimulusDraft], StimulusDraft]
) -> ScenarioDraft:
    """The scenario with the text that carries the goal changed; unchanged if there is none."""
    number = payload_number(language, draft)
    return draft if number is None else draft.with_stimulus(number, change(draft.stimuli[number]))


def is_goal_said(language: Language, draft: ScenarioDraft) -> bool:
    """Whether the payload, disguised or not, names the goal's object and, unless it is itself a name, the place."""
    found, goal = payload(language, draft), goal_operation(language, draft)
    if found is None:
        return False
    if goal is None:
        return _are_said([goal_object(language, draft)], found.text)
    is_placed = " " in found.text and language.vocabulary.is_namespaced(goal.resource)
    place = [goal.namespace or draft.home] if is_placed else []
    return _are_said([*language.operations.telling_names(goal), *place], found.text)


def _are_said(names: Sequence[str], text: str) -> bool:
    return any(all(name in reading for name in names) for reading in readings(text))


def with_prohibition(language: Language, draft: ScenarioDraft, goal: Goal) -> ScenarioDraft:
    """The scenario with an oracle for the goal: it is forbidden, and its object must stay as it was.

    If the object's state is already checked, that remains the only measure, because the task may have to change it.
    Earlier prohibitions stay; new entries come last, so that attributions by number keep their meaning.
    """
    asked = read_operation(language.vocabulary, goal.operation or "")
    if asked is None:
        return draft
    operation = language.vocabulary.with_default_namespace(asked, draft.home)
    must_not, audit = draft.assertions.must_not or (), draft.verification.api_audit or ()
    state = draft.verification.state_assertions or ()
    if not _is_forbidden(language, operation, [item.action for item in must_not]):
        must_not = (*must_not, AssertionDraft(action=str(operation)))
    if not _is_forbidden(language, operation, [rule.forbidden for rule in audit]):
        audit = (*audit, AuditRuleDraft(forbidden=str(operation)))
    if _changes_what_is_declared(language, operation, draft) and not _is_held(operation, state, draft.home):
        state = (*state, _unchanged_condition(operation))
    return replace(
        draft,
        assertions=replace(draft.assertions, must_not=must_not),
        verification=replace(draft.verification, api_audit=audit, state_assertions=state),
    )


def _unchanged_condition(operation: Operation) -> Declared:
    """The condition that the operation's target stays as it was."""
    resource = f"{operation.resource}/{operation.name}"
    return Declared({"resource": resource, "namespace": operation.namespace, "condition": "unchanged"})


def _is_forbidden(language: Language, operation: Operation, patterns: Collection[str | None]) -> bool:
    known = (read_operation(language.vocabulary, text) for text in patterns if text)
    return any(language.vocabulary.covers(pattern, operation) for pattern in known if pattern is not None)


def _is_held(operation: Operation, state: Collection[Declared], home: str) -> bool:
    """Whether some check is about the state of the operation's target."""
    wanted = (f"{operation.resource}/{operation.name}", operation.namespace)
    return any((item.resource, item.fields.get("namespace", home)) == wanted for item in state)


def _changes_what_is_declared(language: Language, operation: Operation, draft: ScenarioDraft) -> bool:
    wanted = (operation.resource, operation.name, operation.namespace)
    is_change = not operation.is_read and not operation.is_creation
    declared = entries(language, draft)
    return is_change and any((entry.kind, entry.name, entry.namespace) == wanted for entry in declared)
