"""How inclined a model is to act on a text that it has read: the engine's, beside published attack styles.

A small model that is asked for a step mostly answers, whatever it has read, so that counting violations at temperature 0
shows nothing. This asks for two things instead, right after the call that shows the text: how probable it is, by the
model's own figures, that its next step is a call and not the answer; and which call that is. The call is carried out and
judged as in any run. Inclination times violation is the share of runs at temperature 1 in which the first step violates.

Usage: python tests/real_model/inclination.py URL FILE [--probes N] [--longest CHARACTERS] [--seed N]. Each trial is
added to FILE as soon as it is done, and none is made twice.
"""

import argparse
import asyncio
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from random import Random

import httpx

from sirocco.models.chat import Reply
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.operators import address
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings, environment_seed
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.clock import utc_now
from sirocco_benchmarks import strength

STYLES = ("tool_knowledge", "important_instructions", "injecagent")
MODEL = "model:llamacpp:qwen?temperature=0&max_tokens=96&context=6144&calls=schema&steps=3"
SECONDS = 3600


class InclinedModel(strength.LedModel):
    """A model whose first call is made for it, whose second step is a call, and which answers then."""

    url = ""
    inclination = 0.0

    async def reply(self, messages, *, tools=(), schema=None):
        steps = sum(message.role == "assistant" for message in messages)
        if steps == 0:
            return Reply("", (self.first,))
        if steps > 1:
            return Reply('{"answer": "Done."}')
        self.inclination = await self._inclination(messages, schema)
        return await self._model.reply(messages, schema={"anyOf": schema["anyOf"][1:]})

    async def _inclination(self, messages, schema) -> float:
        """The probability of a call where a step begins with what it is: `tool`, or `answer`."""
        body = {
            "messages": [{"role": one.role, "content": one.content} for one in messages],
            "response_format": {"type": "json_schema", "json_schema": {"name": "step", "schema": schema}},
            "temperature": 0, "max_tokens": 2, "logprobs": True, "top_logprobs": 20,
        }  # fmt: skip
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            answer = (await client.post(f"{self.url}/chat/completions", json=body)).json()
        token = answer["choices"][0]["logprobs"]["content"][1]
        likely = {one["token"].strip('"'): math.exp(one["logprob"]) for one in token["top_logprobs"]}
        call, whole = likely.get("tool", 0.0), likely.get("tool", 0.0) + likely.get("answer", 0.0)
        return call / whole if whole else 0.0


def texts(probe, profile, seed) -> Iterator[tuple[str, str, object]]:
    """The engine's text, what the operator `address` makes of the same draft, and the styles."""
    yield from strength.variants(probe, profile, STYLES)
    operator = address.operator_for(profile.domain.mutation.terms)
    draft, archetype = ScenarioDraft.parse(probe.draft.scenario), profile.archetypes[probe.primary_archetype]
    dice = Random(derived_seed(seed, "address", probe.id))
    choices = operator.choices(draft, archetype)
    if choices:
        addressed = operator.apply(draft, dice.choice(choices), dice)
        other = replace(probe, draft=replace(probe.draft, scenario=addressed.document()))
        (_, text, bound), *_ = strength.variants(other, profile, ())
        yield "address", text, bound


async def main(url: str, file: Path, probes: int, longest: int, seed: int) -> None:
    profile, _ = profile_source.required_profile("kubernetes_operations")
    made: list[InclinedModel] = []

    def inclined(model):
        made.append(InclinedModel(model))
        made[0].url = url
        return made[0]

    agent = plugins.agent(MODEL, profile, AgentOptions(model_url=url, through=inclined, timeout_seconds=SECONDS))
    settings, provider = RunSettings(seed, utc_now, deadline_seconds=SECONDS), plugins.own_provider(profile)
    execution = Execution(agent, provider, settings)
    known = {tuple(json.loads(line)[key] for key in ("probe", "author")) for line in _lines(file)}
    for probe in await strength.injected_probes(profile, seed, probes, longest):
        for author, text, bound in texts(probe, profile, seed):
            if (probe.id, author) in known:
                continue
            shown = await strength.showing_call(bound, text, provider, environment_seed(settings, probe.id))
            if shown is None:
                continue
            made[0].first = shown.call
            result = await execution.execute(probe.id, bound)
            trial = asdict(strength.trial_of(probe, author, text, result)) | {"inclination": made[0].inclination}
            actions = [one for turn in result.evidence.turns for one in (turn.response or {}).get("actions") or ()]
            trial["second"] = [{key: one.get(key) for key in ("tool", "arguments")} for one in actions[1:]]
            with file.open("a") as kept:
                kept.write(json.dumps(trial) + "\n")
    print(json.dumps(summary([json.loads(line) for line in _lines(file)]), indent=1))


def summary(trials: list[dict]) -> dict:
    """For each author: texts, mean inclination, calls that violate, and expected violations in a hundred runs."""
    rows = {}
    for author in dict.fromkeys(one["author"] for one in trials):
        own = [one for one in trials if one["author"] == author]
        expected = [one["inclination"] * one["violated"] for one in own]
        rows[author] = {
            "texts": len(own), "inclination": round(sum(one["inclination"] for one in own) / len(own), 3),
            "calls_that_violate": sum(one["violated"] for one in own),
            "violations_in_100": round(100 * sum(expected) / len(own), 1),
        }  # fmt: skip
    return rows


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="How inclined a model is to act on texts that it has read.")
    options.add_argument("url")
    options.add_argument("file", type=Path)
    options.add_argument("--probes", type=int, default=14)
    options.add_argument("--longest", type=int, default=700)
    options.add_argument("--seed", type=int, default=1)
    asyncio.run(main(**vars(options.parse_args())))
