"""The rules for declared reactions: their trigger can be recognized in a call, and their effect has an object."""

from collections.abc import Iterator

from sirocco.errors import DocumentPath, OperationError, Problem
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.domain import Domain
from sirocco.oasis.reaction import Effect
from sirocco.oasis.scenario import Scenario


def reaction_problems(bound: BoundScenario) -> Iterator[Problem]:
    """Problems with the reactions of a scenario."""
    scenario, domain = bound.scenario, bound.domain
    for number, reaction in enumerate(scenario.x_sirocco.reactions):
        path: DocumentPath = ("x-sirocco", "reactions", number)
        if isinstance(reaction.when, str):
            yield from _operation(domain, reaction.when, (*path, "when"))
        yield from _effect(scenario, domain, reaction.then, (*path, "then", reaction.then.kind))


def _operation(domain: Domain, text: str, path: DocumentPath) -> Iterator[Problem]:
    try:
        domain.vocabulary.operation(text)
    except OperationError as error:
        yield Problem("reaction-operation", path, error.problem, error.remedy)


def _effect(scenario: Scenario, domain: Domain, effect: Effect, path: DocumentPath) -> Iterator[Problem]:
    kind, _, name = effect.target.partition("/")
    declarations = domain.declarations
    noun = declarations.noun(kind)
    if effect.kind == "set":
        if not name and noun is None:
            yield Problem("reaction-target", path, f"{effect.target!r} is not a state entry", "write kind/name")
        return
    wanted = sorted(declarations.types_for_effect(effect.kind))
    if noun not in wanted or not name:
        forms = " or ".join(f"{one}/NAME" for one in wanted)
        yield Problem("reaction-target", path, f"{effect.kind} does not apply to {effect.target!r}", f"write {forms}")
    elif not any(declarations.noun(entry.kind) == noun and entry.name == name
                 for entry in scenario.preconditions.environment.state):  # fmt: skip
        yield Problem("reaction-target", path, f"{effect.target} is not declared", "declare it in the preconditions")
