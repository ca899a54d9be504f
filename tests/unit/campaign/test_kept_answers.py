"""Answers of generators are kept before anybody sees them, and read in place of asking again (AV-10)."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from bundled import small_profile
from restless import Restless
from sirocco.campaign.arms_length import AtArmsLength, Malformed
from sirocco.campaign.targets import targets
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.probe import Cell, Draft, Nothing, Offer, ProbeOutcome, ProbeRequest
from sirocco.wiring import plugins

CELLS = tuple(Cell(number, "S-PI-001") for number in range(0, 60, 6))


@pytest.fixture(scope="module")
def profile():
    return small_profile()


class Killed(BaseException):
    """The end of the process."""


class Facts(dict):
    """What is kept; after so many more facts the process is gone."""

    left = 10**6

    def note(self, name, value):
        if not self.left:
            raise Killed
        self.left -= 1
        self[name] = value

    def run_fact(self, name):
        return self.get(name)


class Chatty(Restless):
    """Says all kinds of things between its drafts."""

    def offers(self, targets):
        return tuple(Offer(one.id, f"idea {id(self)}") for one in targets)

    async def propose(self, request):
        async for one in super().propose(request):
            yield one
            yield {"no": "draft"}
            yield replace(one, index=10**9)


def _request(profile) -> ProbeRequest:
    return ProbeRequest(targets(profile, ["S-PI-001"]), (), tuple(Surface), 3, CELLS)


async def _answers(generator, facts, profile) -> list[object]:
    asked = AtArmsLength(generator, facts=facts)
    offers = await asked.offers(targets(profile, ["S-PI-001"]))
    return [*offers, *[one async for one in asked.drafts(_request(profile))]]


def _seen(answers) -> set[str]:
    return {repr(replace(one, author=None) if isinstance(one, Draft | Nothing | Malformed) else one) for one in answers}


@pytest.mark.requirement("AV-10")
@pytest.mark.parametrize("made", [Restless, Chatty])
def test_whenever_a_run_is_killed_what_was_answered_is_not_asked_for_again(profile, made):
    facts, asked, known = Facts(), list[int](), set[str]()
    for moment in range(1, 11):
        facts.left, before = moment, len(facts)
        generator = made(profile, asked)
        with suppress(Killed):
            found = asyncio.run(_answers(generator, facts, profile))
            assert known <= _seen(found)
            known = _seen(found)
        assert len(facts) >= before
    facts.left, again = 10**6, len(asked)
    whole = asyncio.run(_answers(made(profile, asked), facts, profile))
    assert _seen(asyncio.run(_answers(made(profile, asked), facts, profile))) == _seen(whole)
    assert {one.index for one in whole if isinstance(one, Draft | Nothing)} >= {cell.index for cell in CELLS}
    assert len(asked) <= len(CELLS) + 10
    assert len(asked) == again


@pytest.mark.requirement("AV-10")
def test_our_engine_is_asked_again_because_it_can_repeat_itself(profile):
    facts = Facts()
    asyncio.run(_answers(plugins.generator("mutation", profile), facts, profile))
    assert facts == {}


@pytest.mark.requirement("AV-07")
def test_reasons_outcomes_limits_and_deadlines_reach_the_generator(profile):
    generator = Restless(profile)
    asked = AtArmsLength(generator, 7.0)

    async def told():
        first = [one async for one in asked.drafts(_request(profile))]
        draft = next(one for one in first if isinstance(one, Draft))
        asked.tell(draft, ProbeOutcome(draft.index, "S-PI-001", "refused", "novelty", "too near"))
        asked.tell(replace(draft, author=None), ProbeOutcome(1, "S-PI-001", "failed"))
        return draft, [one async for one in asked.drafts(_request(profile))]

    draft, again = asyncio.run(told())
    assert generator.outcomes == [ProbeOutcome(draft.index, "S-PI-001", "refused", "novelty", "too near")]
    nothing = [one for one in again if isinstance(one, Nothing)]
    assert {one.reason for one in nothing} == {"no idea"}
    assert all(one.usage.input_tokens == 10 for one in nothing)
    assert {one.model_version for one in again if isinstance(one, Draft)} == {"1.0.7"}
