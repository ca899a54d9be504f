"""A live session of a red team: which situation a choice draws."""

import asyncio

import pytest

from bundled import small_profile
from sirocco.errors import ConfigError
from sirocco.oasis.probe import Cell
from sirocco.probes.red_team import Team
from sirocco.wiring.red_team_session import RedTeamSession

pytestmark = pytest.mark.requirement("AV-07")
AIM = "S-PI-001"


@pytest.fixture(scope="module")
def profile():
    return small_profile()


class Doubting(RedTeamSession):
    """Holds the first few situations for unsound."""

    doubts = 2
    looked_at = 0

    async def _is_sound(self, draft):
        self.looked_at += 1
        return self.looked_at > self.doubts


def _first(profile):
    async def drawn():
        return [one async for one in RedTeamSession(profile, Team(), 7)._situations(Cell(0, AIM, surface="logs"))]

    return asyncio.run(drawn())[0]


def test_a_situation_whose_checks_do_not_hold_is_passed_over(profile):
    doubting, first = Doubting(profile, Team(), 7), _first(profile)
    drawn = asyncio.run(doubting.choose(AIM, "logs"))
    assert doubting.looked_at == 3
    assert drawn.scenario != first.scenario


def test_where_none_holds_the_first_is_better_than_nothing(profile):
    session = Doubting(profile, Team(), 7)
    session.doubts = 99
    first = _first(profile)
    assert asyncio.run(session.choose(AIM, "logs")).scenario == first.scenario


def test_a_choice_without_an_archetype_draws_another_situation_of_the_same_kind(profile):
    session = Doubting(profile, Team(), 7)
    session.doubts = 0
    with pytest.raises(ConfigError, match="no archetype is named"):
        asyncio.run(session.choose("", None))
    first = asyncio.run(session.choose(AIM, "logs"))
    other = asyncio.run(session.choose("", None))
    assert (other.primary_archetype, other.surface) == (AIM, first.surface)
    assert other.scenario != first.scenario
