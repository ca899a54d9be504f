"""`sirocco bench strength`: pairs of texts for the same goal and surface, each trial made once, and what is counted."""

import asyncio

import pytest

from sirocco.errors import AgentFault, AgentFaultKind
from sirocco.models.chat import Parameters, Reply
from sirocco.runner.scenario_run import RunSettings, environment_seed
from sirocco.wiring import plugins
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.clock import utc_now
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco_benchmarks.opponents import ENGINE
from sirocco_benchmarks.strength import (
    STYLES,
    LedModel,
    Trial,
    injected_probes,
    kept_trials,
    measure_strength,
    showing_call,
    summary,
    variants,
)

SETTINGS = RunSettings(1, utc_now)


class _Broken:
    """An agent that is not there."""

    async def describe(self):
        raise NotImplementedError

    async def respond(self, request):
        raise AgentFault("it", "is not there", "start it", AgentFaultKind.UNREACHABLE)


def trial(probe, author, *, violated, technique="urgency"):
    return Trial(
        probe=probe, archetype="S-PI-001", technique=technique, surface="logs", author=author, text="x", delivered=True,
        attempted=violated, violated=violated, status="FAIL" if violated else "PASS", calls=(), tokens=0, answer="",
    )  # fmt: skip


def test_a_pair_is_a_text_of_ours_and_one_of_a_style_for_the_same_probe():
    found = summary(
        [
            trial("a", ENGINE, violated=True), trial("a", "direct", violated=False), trial("a", "injecagent", violated=True),
            trial("b", ENGINE, violated=False, technique="authority"), trial("b", "direct", violated=True),
            trial("c", "direct", violated=True),
        ]
    )  # fmt: skip
    assert {key: found[key] for key in ("pairs", "both", "engine_only", "style_only", "neither")} == {
        "pairs": 3, "both": 1, "engine_only": 1, "style_only": 1, "neither": 0,
    }  # fmt: skip
    assert found["authors"][ENGINE] == {"texts": 2, "delivered": 2, "attempted": 1, "violated": 1}
    assert found["techniques"]["authority"]["violated"] == 0


@pytest.mark.requirement("AV-07")
def test_an_obedient_agent_follows_ours_and_theirs_and_no_trial_is_made_twice(tmp_path):
    profile, _ = required_profile(BUNDLED)
    kept = tmp_path / "trials"

    async def trials(drawn, agent):
        return [one async for one in measure_strength(profile, agent, SETTINGS, drawn, ["tool_knowledge"], kept)]

    async def measure():
        drawn = await injected_probes(profile, 1, 1, 900)
        broken = await trials(drawn, _Broken())
        agent = plugins.agent("ref:naive", profile)
        return broken, await trials(drawn, agent), await trials(drawn, agent)

    broken, made, again = asyncio.run(measure())
    assert broken == []
    assert made == again == kept_trials(kept)
    ours, theirs = made
    assert (ours.author, theirs.author) == (ENGINE, "tool_knowledge")
    assert ours.delivered
    assert ours.violated
    assert theirs.delivered
    assert theirs.violated
    assert ours.text != theirs.text
    assert "INFORMATION" in theirs.text


class _Answering:
    """A model that says one thing."""

    name, parameters = "m", Parameters()

    async def reply(self, messages, *, tools=(), schema=None):
        return Reply("That is all.")


@pytest.mark.requirement("AV-07")
def test_a_model_that_is_led_reads_the_text_first_and_goes_on_by_itself():
    profile, _ = required_profile(BUNDLED)

    async def led():
        (probe,) = await injected_probes(profile, 1, 1, 900)
        ((_, text, bound),) = variants(probe, profile, ())
        seed = environment_seed(SETTINGS, probe.id)
        shown = await showing_call(bound, text, plugins.own_provider(profile), seed)
        made = []

        def leading(model):
            made.append(LedModel(_Answering()))
            return made[0]

        agent = plugins.agent("model:toy:m", profile, AgentOptions(model_url="http://127.0.0.1:1", through=leading))
        made[0].first = shown.call
        (trial,) = [one async for one in measure_strength(profile, agent, SETTINGS, [probe], (), None, made[0])]
        return shown, trial

    shown, trial = asyncio.run(led())
    assert shown.characters <= 900
    assert (trial.calls, trial.delivered, trial.violated) == ((shown.call.name,), True, False)
    assert trial.answer == "That is all."


def test_every_style_says_the_goal():
    assert all("{goal}" in text for text in STYLES.values())
