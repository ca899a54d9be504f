"""State assertions on objects of a cluster: their conditions and the fields that they compare."""

from dataclasses import replace

from kubesim.resource import BY_NOUN, SERVICE_NOUNS, closest_noun
from sirocco.domains.kubernetes.conditions import COMPARED_FIELDS, CONDITIONS, FIELD_CONDITIONS, status_condition
from sirocco.domains.kubernetes.profiles.declared import declared_place, noun_of
from sirocco.domains.kubernetes.profiles.prose.conditions import read_condition
from sirocco.domains.kubernetes.profiles.prose.sentences import read_sync_status
from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.operation import ANY
from sirocco.oasis.predicate import StateHolds
from sirocco.oasis.reader import EntryReading, Reading, no_reading, unread_entry
from sirocco.oasis.scenario import Scenario, StateAssertion


def read_state(assertion: StateAssertion, scenario: Scenario, path: DocumentPath) -> EntryReading:
    """A state assertion that names a resource, read from its structure."""
    kind, _, name = (assertion.resource or "").partition("/")
    noun = noun_of(kind)
    if noun is None:
        found = closest_noun(kind)
        remedy = f"did you mean {found!r}?" if found else "known types: " + ", ".join(sorted(BY_NOUN))
        problem = Problem("entry-without-reading", (*path, "resource"), f"{kind!r} is not a resource type", remedy)
        return unread_entry(problem)
    if noun == "gitops-application" and assertion.sync_status is not None:
        what = f"the sync_status {assertion.sync_status!r}"
        problem = no_reading((*path, "sync_status"), what, "use synced, of an application that is declared so")
        return unread_entry(problem, prose=lambda: read_sync_status(assertion, scenario))
    base = StateHolds(
        noun=noun,
        name=name or ANY,
        namespace=_namespace(assertion, scenario, noun, name),
        fields={name: value for name in COMPARED_FIELDS if (value := getattr(assertion, name)) not in (None, {})},
    )
    return _of_object(assertion, base, path, scenario)


def _namespace(assertion: StateAssertion, scenario: Scenario, noun: str, name: str) -> str | None:
    """The namespace that an assertion names, else the one where its object is declared, else the first."""
    if not BY_NOUN[noun].namespaced:
        return None
    if assertion.namespace is not None or noun in SERVICE_NOUNS:
        return assertion.namespace
    return declared_place(scenario, noun, name)


def _of_object(assertion: StateAssertion, base: StateHolds, path: DocumentPath, scenario: Scenario) -> EntryReading:
    """A state assertion on an object of a known type."""
    condition = assertion.condition
    compared = [name for name in COMPARED_FIELDS if getattr(assertion, name) is not None]
    status = _status(assertion, base)
    problems: list[Problem] = []
    for name in ("status", "sync_status"):
        value = getattr(assertion, name)
        if value is not None and not (name == "status" and status):
            what = f"the {name} {value!r} of a {base.noun}"
            problems.append(
                no_reading((*path, name), what, f"use a condition, or {_alternatives_text(COMPARED_FIELDS)}")
            )
    if condition == "absent" and (compared or status):
        problem = f"an absent object has no {compared[0] if compared else 'status'}"
        problems.append(Problem("entry-unclear", (*path, "condition"), problem, "drop the condition or the field"))
    if condition in FIELD_CONDITIONS and base.noun not in FIELD_CONDITIONS[condition]:
        problem = f"a {base.noun} has no {condition.removesuffix('_unchanged')}"
        problems.append(Problem("entry-unclear", (*path, "condition"), problem, "use unchanged"))
    if condition is None and not compared and not status and not problems:
        remedy = f"give a condition ({_alternatives_text(CONDITIONS)}) or one of {', '.join(COMPARED_FIELDS)}"
        problems.append(no_reading(path, "a state assertion without condition and fields", remedy))
    if condition is None or condition in CONDITIONS:
        plain = () if condition is None and not compared else (replace(base, condition=condition),)
        return EntryReading((*plain, *status), tuple(problems))

    def prose() -> Reading:
        reading = read_condition(condition, base, scenario) if not problems else ()
        return (*reading, *(part for part in status if part not in reading)) if reading else ()

    remedy = f"use {_alternatives_text(CONDITIONS)}, or a form of the grammar"
    unknown = no_reading((*path, "condition"), f"the condition {condition!r}", remedy)
    return EntryReading(problems=(*problems, unknown), prose=prose)


def _status(assertion: StateAssertion, base: StateHolds) -> Reading:
    """A deployment counts as running when its controller calls it available."""
    if assertion.status != "running" or base.noun != "deployment":
        return ()
    return (StateHolds(base.noun, base.name, base.namespace, status_condition("Available", "True")),)


def _alternatives_text(names: tuple[str, ...]) -> str:
    return ", ".join(names[:-1]) + f" or {names[-1]}"
