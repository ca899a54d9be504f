"""Other figures: what a task sets, as the operator or a procedure says it, and versions; everywhere at once.

An agent that replays a published task writes the published figures. Figures that follow from the state alone stay.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.domains.kubernetes.operation import print_path
from sirocco.domains.kubernetes.probes.documents import task_operations
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Preserved
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.edits import with_head_texts, with_judgement, with_prompts
from sirocco.probes.mutation.rewriting import rewrite_scenario, texts

_SHIFTS = ("1", "2", "3")
_IMAGE = re.compile(r"(?<![\w.])[\w./-]*[a-z][\w./-]*:v?(\d{1,3}\.\d{1,3}\.\d{1,3})(?![\d.])")
_VERSION = re.compile(r"(?<![\d.])(\d{1,3})(\.\d{1,3}\.\d{1,3})(?!\.?\d)")
_NUMBER = re.compile(r"(?<![\w.])\d{1,9}(?!\w|\.\d)")
_PROCEDURE = "runbook"


def with_number_agreeing(text: str) -> str:
    """The text with "replica" in the singular or plural to match its figure, whatever it was before."""
    return re.sub(r"(?<![\w.-])(\d+) replicas?\b", lambda found: f"{found[1]} replica{'s' * (found[1] != '1')}", text)


@dataclass(frozen=True, slots=True)
class _Figure:
    """A number that a step of the task sets: where, as operations print it, and the key of the object or its data."""

    place: str
    key: str
    number: int


def _choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
    if not archetype.bands or not draft.is_capability:
        return ()
    return _SHIFTS if _versions(draft) or _figures(draft) else ()


def _apply(draft: ScenarioDraft, choice: str, _dice: Dice) -> ScenarioDraft:
    by = int(choice)
    changed = rewrite_scenario(TERMS, draft, _of_other_versions(_versions(draft), by))
    for figure, others in _figures(draft).items():
        changed = _with_figure(changed, figure, others[by % len(others)])
    return changed


def _versions(draft: ScenarioDraft) -> frozenset[str]:
    """The versions of images that the draft mentions."""
    return frozenset(found[1] for text in texts(TERMS, draft) for found in _IMAGE.finditer(text))


def _of_other_versions(known: frozenset[str], by: int) -> Callable[[str], str]:
    """A rewriting that moves all known versions up by the same amount, so that their order stays."""

    def shift_version(found: re.Match[str]) -> str:
        return f"{int(found[1]) + by}{found[2]}" if found[0] in known else found[0]

    return lambda text: _VERSION.sub(shift_version, text)


def _figures(draft: ScenarioDraft) -> dict[_Figure, tuple[int, ...]]:
    """The numbers that the task sets and that are said once; each with other valid ones."""
    said = "\n".join(_texts_told(draft))
    taken = {int(found) for found in _NUMBER.findall(said)}
    spoken = [one for one in dict.fromkeys(_set_by_task(draft)) if len(_token(one.number).findall(said)) == 1]
    found = {figure: tuple(_other_numbers(figure, draft)) for figure in spoken}
    kept = {figure: tuple(one for one in others if one not in taken) for figure, others in found.items()}
    return {figure: others for figure, others in kept.items() if others}


def _other_numbers(figure: _Figure, draft: ScenarioDraft) -> Iterator[int]:
    """Numbers of similar size on the same side of the present one; at most twice as many replicas."""
    present = set(_present(draft, figure.key))
    digits = len(str(figure.number))
    unit = 1 if digits == 1 else 5 * 10 ** (digits - 2)
    for number in (figure.number + step * unit for step in (-2, -1, 1, 2, 3)):
        is_alike = all((number > one) == (figure.number > one) and number != one for one in present)
        is_modest = figure.key != "replicas" or any(number <= 2 * one for one in present)
        if number > 0 and number != figure.number and is_alike and is_modest:
            yield number


def _set_by_task(draft: ScenarioDraft) -> Iterator[_Figure]:
    for step in task_operations(draft):
        if step.replicas is not None:
            yield _Figure("replicas", "replicas", step.replicas)
        elif step.path and step.value is not None and step.value.isdecimal():
            yield _Figure(print_path(step.path), step.path[-1], int(step.value))


def _present(draft: ScenarioDraft, key: str) -> Iterator[int]:
    """The numbers that objects have under a key before anything is done."""
    held = (str(fields.get(key)) for one in draft.state for fields in (one.fields, one.fields.get("data") or {}))
    yield from (int(one) for one in held if one.isdecimal())


def _texts_told(draft: ScenarioDraft) -> Iterator[str]:
    """What the operator says, and what procedures say."""
    yield from draft.prompts
    yield from (step for entry in _procedures(draft) for step in _steps(entry))


def _procedures(draft: ScenarioDraft) -> list[Declared]:
    return [entry for entry in draft.state if entry.kind == _PROCEDURE]


def _steps(entry: Declared) -> list[str]:
    steps = entry.fields.get("steps", ())
    return [step for step in steps if isinstance(step, str)] if isinstance(steps, list | tuple) else []


def _with_figure(draft: ScenarioDraft, figure: _Figure, new: int) -> ScenarioDraft:
    """The draft in which the task sets another number, in words, deeds and checks."""
    token, written = _token(figure.number), re.compile(rf"(?<= {re.escape(figure.place)}=){figure.number}(?!\d)")

    def in_words(text: str) -> str:
        return with_number_agreeing(token.sub(str(new), text))

    def renumber(value: Any) -> Any:
        if isinstance(value, str):
            return written.sub(str(new), value)
        if isinstance(value, Mapping):
            return {key: _replacement_number(figure, new, key, held) or renumber(held) for key, held in value.items()}
        return [renumber(held) for held in value] if isinstance(value, list | tuple) else value

    told = with_prompts(with_head_texts(with_judgement(draft, renumber), in_words), in_words)
    return told.with_state(_with_steps(entry, in_words) for entry in draft.state)


def _with_steps(entry: Declared, change: Callable[[str], str]) -> Declared:
    """A procedure with a change to its steps; any other entry unchanged."""
    if entry.kind != _PROCEDURE or not _steps(entry):
        return entry
    return entry.having(steps=[change(step) if isinstance(step, str) else step for step in entry.fields["steps"]])


def _replacement_number(figure: _Figure, new: int, key: str, held: Any) -> int | str | None:
    """The new number where a check expects the old one under the key that the task sets."""
    if key != figure.key or held not in (figure.number, str(figure.number)) or isinstance(held, bool):
        return None
    return new if isinstance(held, int) else str(new)


def _token(number: int) -> re.Pattern[str]:
    """The number as it appears in a sentence: alone, or after the sign of a setting."""
    return re.compile(rf"(?<![\w.-]){number}(?![\w%-]|\.\d)")


OPERATOR = Operator(
    "figures",
    "other_figures",
    _choices,
    _apply,
    turn=390,
    preserves=frozenset({Preserved.ORACLE, Preserved.VALUES, Preserved.DIFFICULTY}),
    is_plain=True,
    is_offered=False,
)
