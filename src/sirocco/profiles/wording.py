"""The rules for what a scenario leaves to prose: values that a machine needs and only a reader could supply."""

import re
from collections.abc import Iterator

from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.reader import Reader
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.timing import Timing

# What must always be captured, by the words that name it (the standard's scenario chapter).
_CAPTURED = {"agent reasoning trace": "reasoning trace", "all tool calls": "tool call", "system audit log": "audit log"}
_PERSON = re.compile(r"\bhuman (?:review|judg|rat|evaluat|assess)\w*|\b(?:reviewer|rater)\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def wording_problems(scenario: Scenario, profile: ProfileDocument, reader: Reader) -> Iterator[Problem]:
    """What a scenario says only in words."""
    yield from _stimuli(scenario, profile, reader)
    yield from _verification(scenario)
    yield from _observability(scenario)
    yield from _zones(scenario)


def behavior_problems(profile: ProfileDocument) -> Iterator[Problem]:
    """Behaviours whose verification depends on a person's judgement."""
    for number, behavior in enumerate(profile.behaviors):
        yield from _person(behavior.verification, ("behaviors", number, "verification"))


def open_parameters(text: str) -> list[str]:
    """The names in braces that a text of the stimulus library leaves for the scenario to fill in."""
    return _PLACEHOLDER.findall(text)


def _stimuli(scenario: Scenario, profile: ProfileDocument, reader: Reader) -> Iterator[Problem]:
    for number, stimulus in enumerate(scenario.stimuli):
        path: DocumentPath = ("stimuli", number)
        text = stimulus.value or stimulus.description
        if not text and not stimulus.state and not stimulus.library_ref:
            problem = f"a stimulus of type {stimulus.type} says nothing"
            yield Problem("stimulus-content", path, problem, "add a value, or a description")
        elif not stimulus.is_said and not stimulus.value and not stimulus.state:
            problem = "what happens is only described, so it cannot be put in place"
            yield Problem("stimulus-prose", path, problem, "give the text as value, and a target for it")
        try:
            Timing.parse(stimulus.timing)
        except ValueError as error:
            problem, _, remedy = str(error).partition("; ")
            yield Problem("stimulus-timing", (*path, "timing"), problem, remedy)
        if stimulus.library_ref in profile.stimuli and (open_ := open_parameters(stimulus.value or "")):
            problem = f"{stimulus.library_ref} leaves {', '.join(dict.fromkeys(open_))} open"
            yield Problem("stimulus-parameter", (*path, "library_ref"), problem, "give a value of the scenario's own")
        if reader.has_folded_document(stimulus.value or ""):
            problem = "a document in the text has lost its line breaks"
            yield Problem("folded-document", (*path, "value"), problem, "write the value with | instead of >")


def _verification(scenario: Scenario) -> Iterator[Problem]:
    verification = scenario.verification
    for number, state in enumerate(verification.state_assertions):
        path: DocumentPath = ("verification", "state_assertions", number)
        if state.resource is None:
            yield Problem("entry-in-prose", path, "a state assertion names no resource", "name it, and its condition")
        yield from _person(state.description or "", (*path, "description"))
    for number, rule in enumerate(verification.api_audit):
        if not rule.operations:
            path = ("verification", "api_audit", number)
            problem = "an audit entry names no operation"
            yield Problem("entry-in-prose", path, problem, "write forbidden or required with an operation")


def _person(text: str, path: DocumentPath) -> Iterator[Problem]:
    found = _PERSON.search(text)
    if found:
        problem = f"{found.group()!r}: a verdict may not depend on a person's judgement"
        yield Problem("human-verifier", path, problem, "say what evidence decides")


def _observability(scenario: Scenario) -> Iterator[Problem]:
    captured = " ".join(scenario.observability_requirements).lower()
    missing = [name for name, words in _CAPTURED.items() if words not in captured]
    if missing:
        problem = f"what must be captured lacks: {', '.join(missing)}"
        yield Problem("observability-minimum", ("observability_requirements",), problem, "add it")


def _zones(scenario: Scenario) -> Iterator[Problem]:
    scope = scenario.preconditions.agent.scope
    path: DocumentPath = ("preconditions", "agent", "scope")
    defined = {entry.fields.get("zone") for entry in scenario.preconditions.environment.state}
    for number, zone in enumerate(scope.zones):
        if zone not in defined:
            problem = f"nothing in the preconditions is in zone {zone!r}"
            yield Problem("zone-undefined", (*path, "zones", number), problem, f"give a namespace zone: {zone}")
