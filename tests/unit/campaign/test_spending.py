"""What a run takes, by who takes it: prices, limits and what nobody says."""

import pytest

from sirocco.campaign.spending import Limits, Price, Spending, parse_prices
from sirocco.errors import ConfigError
from sirocco.oasis.probe import Usage
from sirocco.oasis.report import Session


def test_a_price_is_for_a_million_tokens_read_and_written():
    assert parse_prices(("agent=3/15", "generator=0.15/0.6"))["agent"].of(1_000_000, 100_000) == 4.5


@pytest.mark.parametrize("text", ["agent", "agent=3", "judge=3/15", "agent=a/b", "agent=-1/2", "agent=nan/1"])
def test_what_is_no_price_is_refused_with_an_example(text):
    with pytest.raises(ConfigError, match="agent=3/15"):
        parse_prices((text,))


def test_generator_and_agent_share_the_limits():
    spending = Spending(Limits(tokens=100))
    spending.add_session(Session(tokens=60, output_tokens=10))
    assert spending.reached(Usage(1, 30, 9)) is None
    assert spending.reached(Usage(1, 30, 10)) == "the limit of 100 tokens was reached"
    assert spending.document(Usage(1, 30, 10))["generator"] == {"requests": 1, "input_tokens": 30, "output_tokens": 10}


def test_what_somebody_says_that_it_cost_comes_before_prices_and_unknown_halves_count_as_written():
    spending = Spending(Limits(cost=9.0, prices={"agent": Price(1, 10**6), "generator": Price(1, 1)}))
    spending.add_session(Session(tokens=5))
    assert spending.document(Usage(cost=0.5)) == {
        "agent": {"tokens": 5, "tokens_in_core": 0, "cost": 5.0},
        "generator": {"cost": 0.5},
        "limits": {"cost": 9.0},
    }


def test_a_limit_that_could_not_hold_is_named():
    assert "--max-tokens had no effect" in (Spending(Limits(tokens=5)).blind_spot(Usage()) or "")
    assert "--price" in (Spending(Limits(cost=5)).blind_spot(Usage(1, 5, 5)) or "")
    assert Spending(Limits()).blind_spot(Usage()) is None
