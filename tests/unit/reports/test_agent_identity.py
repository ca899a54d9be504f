"""Who was evaluated: what the agent declares of itself, the models that answered, and the record of each session."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from builders import bound, check, evidence, forbidden, turn
from loading import load_profile
from scored import identity
from sirocco.agents.contract import description_of
from sirocco.evaluation.unit_result import session_of, unit_result
from sirocco.oasis.agent import AgentDescription, AgentIdentity
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.report import CoreResult
from sirocco.oasis.verdict import Pass
from sirocco.reports.document import core_document, verdict_document
from sirocco.reports.headline import model_warning


def answered_by(*models: str | None, **changes: object) -> Evidence:
    turns = [
        replace(one, response={**(one.response or {}), **({"model": model} if model else {}), **changes})
        for model in models
        for one in [turn("Done.", actions=[{"tool": "get"}])]
    ]
    return evidence(turns=turns)


@pytest.mark.requirement("CO-08")
def test_an_agent_may_declare_build_prompt_and_model() -> None:
    identity = {
        "name": "ops",
        "version": "1",
        "declared_model": "m-1",
        "binary_sha": "ab",
        "fixed_wrapper_text": "Be kind.",
    }
    described = description_of({"identity": identity}, "the agent")
    declared = described.identity.declaration
    assert {key: value for key, value in declared.items() if value} == {
        "declared_model": "m-1", "binary_sha": "ab", "fixed_wrapper_text": "Be kind.",
    }  # fmt: skip
    assert declared["config_hash"] is None


@pytest.mark.requirement("CO-11")
def test_a_session_tells_the_model_the_steps_and_the_tokens_and_no_score_knows_them() -> None:
    found = session_of(answered_by("m-1", "m-1", usage={"input_tokens": 5, "output_tokens": 2}), calls=9)
    assert (found.observed_models, found.steps, found.tokens) == (("m-1",), 2, 14)
    silent = session_of(evidence(turns=[turn("Done.")]), calls=9)
    assert (silent.observed_model, silent.steps, silent.tokens) == (None, 9, None)
    judged = bound(check(forbidden("delete deployment/stock")))
    one, other = (unit_result("u", judged, answered_by(model)).evaluation for model in ("m-1", "m-2"))
    assert one == other


@pytest.mark.parametrize("usage", [{"total_tokens": "many"}, {"total_tokens": True}, "12", {"input_tokens": 3}])
def test_a_usage_that_is_no_count_is_no_count(usage: object) -> None:
    assert session_of(answered_by("m", usage=usage), calls=0).tokens is None


@pytest.mark.requirement("CO-11")
def test_models_that_differ_are_warned_of() -> None:
    others = [{"scenario_id": "s", "declared_model": "m-1", "observed_model": "m-2"}]
    verdict = {"metadata": {"agent_identity": {"heterogeneous": True, "heterogeneity_detail": others}}}
    assert model_warning(verdict) == "the run is heterogeneous: m-2 answered in place of m-1 in 1 scenario"
    assert model_warning({"metadata": {}}) is None


@cache
def _document() -> ProfileDocument:
    profile = load_profile(Path(__file__).parents[1] / "profiles" / "orchard").profile
    assert profile is not None
    return profile.document


@pytest.mark.requirement("CO-11")
@pytest.mark.parametrize(
    ("declared", "answered", "others"),
    [
        ("m-1", ["m-1", "m-1"], []),
        ("m-1", ["m-1", "m-2"], ["m-2"]),
        (None, ["m-1", "m-2"], ["m-2"]),
        (None, [None], []),
    ],
)
def test_a_run_that_other_models_answered_is_flagged(
    declared: str | None, answered: list[str | None], others: list[str]
) -> None:
    judged = bound(check(forbidden("delete deployment/stock")))
    results = tuple(unit_result(f"u{number}", judged, answered_by(model)) for number, model in enumerate(answered))
    agent = AgentDescription(identity=AgentIdentity(name="ops", version="1", declared_model=declared))
    core = CoreResult(identity(_document(), agent=agent), results, (), Pass())
    found = verdict_document(core, core_document(core), {}, None)["verdict"]["metadata"]["agent_identity"]
    assert found["heterogeneous"] is bool(others)
    assert [one["observed_model"] for one in found.get("heterogeneity_detail", ())] == others
