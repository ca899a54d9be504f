"""Several generators in one campaign: shares, what each offers, and what becomes of the places of one that breaks."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import pytest

from sirocco.campaign.plan import ATTEMPTS
from sirocco.campaign.portfolio import Source, at_arms_length, joint_method
from sirocco.oasis.probe import Cell, Draft, GeneratorMethod, Offer, ProbeRequest


def _method(kind="other", **parts) -> GeneratorMethod:
    given = {"reproducibility": "deterministic", "config_hash": "sha256:1", "description": "A part.", **parts}
    return GeneratorMethod(type=kind, **given)


@dataclass
class Part:
    """A generator that answers every cell with nothing in it, or breaks at the first."""

    technique: str = ""
    breaks: bool = False
    asked: int = 0
    method: GeneratorMethod = field(default_factory=_method)

    def offers(self, targets):
        return (Offer("S-PI-001", self.technique),) if self.technique else ()

    async def propose(self, request):
        for cell in request.cells:
            self.asked += 1
            if self.breaks:
                raise RuntimeError("no more")
            yield Draft(cell.index, cell.archetype, {"technique": cell.technique})

    def simplify(self, probe):
        return iter(())


class Facts(dict):
    note, run_fact = dict.__setitem__, dict.get


def _answers(sources, cells, facts=None):
    portfolio = at_arms_length(sources, facts=facts)
    request = ProbeRequest((), (), (), 3, cells)

    async def answers():
        await portfolio.offers(())
        return [one async for one in portfolio.drafts(request) if isinstance(one, Draft)]

    return asyncio.run(answers()), portfolio


def _cells(places: int, technique=None) -> tuple[Cell, ...]:
    return tuple(Cell(place * ATTEMPTS, "S-PI-001", technique) for place in range(places))


@pytest.mark.requirement("AV-07")
def test_places_go_to_generators_by_their_shares_and_follow_from_the_seed():
    sources = (Source("a", Part(), 1), Source("b", Part(), 3))
    drafts, portfolio = _answers(sources, _cells(40))
    assert Counter(draft.author.name for draft in drafts) == {"a": 10, "b": 30}
    again, _ = _answers(sources, _cells(40)[::-1])
    assert {one.index: one.author.name for one in again} == {one.index: one.author.name for one in drafts}
    assert [author.name for author in portfolio.authors] == ["a", "b"]
    # Every attempt at a place is its owner's, who learns why the last one was refused.
    others, _ = _answers(sources, tuple(Cell(place * ATTEMPTS + 3, "S-PI-001") for place in range(40)))
    assert [one.author.name for one in sorted(others, key=lambda one: one.index)] == [
        one.author.name for one in sorted(drafts, key=lambda one: one.index)
    ]


@pytest.mark.requirement("AV-07")
def test_a_place_goes_to_somebody_who_has_something_for_it():
    sources = (Source("a", Part("forging")), Source("b", Part("hiding")), Source("c", Part()))
    drafts, _ = _answers(sources, _cells(30, "hiding"))
    owners = Counter(draft.author.name for draft in drafts)
    assert (owners["a"], owners.total()) == (0, 30)
    assert owners["b"] >= owners["c"] > 0
    # Who cannot tell beforehand is not asked for a technique.
    assert {one.scenario["technique"] for one in drafts if one.author.name == "c"} == {None}


@pytest.mark.requirement("AV-07", "AV-10")
def test_the_places_of_one_that_breaks_go_to_the_others_for_good():
    facts = Facts()
    broken = Part(breaks=True)
    sources = (Source("a", broken), Source("b", Part()))
    first, portfolio = _answers(sources, _cells(10), facts)
    assert portfolio.fault is None
    assert portfolio.faults["a"].problem == "the generator broke: RuntimeError: no more"
    assert 0 < len(first) < 10
    mended = Part()
    later, portfolio = _answers((Source("a", mended), Source("b", Part())), _cells(10), facts)
    assert (len(later), mended.asked) == (10, 0)
    assert portfolio.faults.keys() == {"a"}


@pytest.mark.requirement("AV-08", "AV-10")
def test_together_they_are_a_hybrid_that_is_as_repeatable_as_the_least_of_them():
    model = _method("llm", model="m", model_version="1", reproducibility="non_reproducible")
    joint = joint_method({"mutation": _method(), "llm": model})
    assert (joint.type, joint.reproducibility) == ("hybrid", "non_reproducible")
    assert "mutation (other, deterministic); llm (llm, non_reproducible)" in joint.description
    assert joint_method({"llm": model}) is model
