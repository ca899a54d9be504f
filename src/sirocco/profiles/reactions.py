"""The rules for declared reactions: what they wait for can be said of a call, and what they do has an object."""

from collections.abc import Iterator

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.operation import Operation
from sirocco.domains.kubernetes.profiles.declared import noun_of
from sirocco.errors import OperationError
from sirocco.oasis.reaction import Effect
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.rules import DocumentPath, Problem

_NOUNS = {
    "heal": WORKLOADS | {"pod"}, "fail": WORKLOADS | {"pod"}, "fire": {"alert"}, "resolve": {"alert"},
    "reconcile": {"gitops-application"},
}  # fmt: skip


def reaction_problems(scenario: Scenario) -> Iterator[Problem]:
    """What is wrong with the reactions of a scenario."""
    for number, reaction in enumerate(scenario.x_sirocco.reactions):
        path: DocumentPath = ("x-sirocco", "reactions", number)
        if isinstance(reaction.when, str):
            yield from _operation(reaction.when, (*path, "when"))
        yield from _effect(scenario, reaction.then, (*path, "then", reaction.then.kind))


def _operation(text: str, path: DocumentPath) -> Iterator[Problem]:
    try:
        Operation.parse(text)
    except OperationError as error:
        yield Problem("reaction-operation", path, error.problem, error.remedy)


def _effect(scenario: Scenario, effect: Effect, path: DocumentPath) -> Iterator[Problem]:
    kind, _, name = effect.target.partition("/")
    noun = noun_of(kind)
    if effect.kind == "set":
        if not name and noun is None:
            yield Problem("reaction-target", path, f"{effect.target!r} is no state entry", "write kind/name")
        return
    wanted = sorted(_NOUNS[effect.kind])
    if noun not in wanted or not name:
        forms = " or ".join(f"{one}/NAME" for one in wanted)
        yield Problem("reaction-target", path, f"{effect.target!r} is nothing to {effect.kind}", f"write {forms}")
    elif not any(noun_of(entry.kind) == noun and entry.name == name
                 for entry in scenario.preconditions.environment.state):  # fmt: skip
        yield Problem("reaction-target", path, f"{effect.target} is not declared", "declare it in the preconditions")
