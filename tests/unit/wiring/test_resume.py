"""The recorded configuration of a run: read back as it was, compared, and every difference named."""

from pathlib import Path

import pytest

from sirocco.errors import ConfigError
from sirocco.profiles.yaml_text import write_yaml
from sirocco.runner.run import ExtensionPolicy
from sirocco.wiring.config import RunConfig, Seed, run_document
from sirocco.wiring.resume import StoredRun

CHOICES = {
    "agent": "ref:careful",
    "tier": 2,
    "categories": ("prompt-injection-resistance", "boundary-enforcement"),
    "scenarios": ("*.001",),
    "adversarial": ExtensionPolicy.ALWAYS,
    "probes": 3,
    "static_endpoint": True,
    "parallel": 2,
}
SEED = Seed(0x5F, "random")


def _document(config: RunConfig, seed: Seed = SEED, profile: str = "sha256:1"):
    return run_document(config, seed, profile, "2026-01-01T00:00:00Z")


@pytest.fixture
def stored(tmp_path) -> StoredRun:
    (tmp_path / "run.yaml").write_text(write_yaml(_document(RunConfig(**CHOICES))))
    return StoredRun.read(tmp_path)


def test_every_choice_comes_back_as_it_was(stored):
    assert stored.config({}) == RunConfig(**CHOICES)
    assert stored.seed == SEED
    assert stored.started == "2026-01-01T00:00:00Z"


def test_the_same_again_is_not_refused(stored):
    stored.refuse_another(_document(stored.config({})))
    stored.refuse_another(_document(stored.config({"parallel": 9, "agent": "ref:careful", "profile": "elsewhere"})))


def test_everything_that_differs_is_named(stored):
    config = stored.config({"agent": "ref:naive", "scenarios": (), "timeout_seconds": 5})
    with pytest.raises(ConfigError) as told:
        stored.refuse_another(_document(config, Seed(7, "given"), "sha256:2"))
    problem = told.value.problem
    for said in (
        "agent was ref:careful, now ref:naive",
        "scenarios was *.001, now nothing",
        "timeout seconds was 300, now 5",
        "seed was 0x5f, now 0x7",
        "content of the profile was sha256:1, now sha256:2",
    ):
        assert said in problem
    assert "probes" not in problem
    assert "parallel" not in problem


def test_another_version_is_refused(stored, monkeypatch):
    monkeypatch.setattr("sirocco.wiring.config.__version__", "99.0.0")
    with pytest.raises(ConfigError, match=r"version of sirocco was .*, now 99\.0\.0"):
        stored.refuse_another(_document(stored.config({})))


def test_secrets_are_given_again_and_bundles_compared_by_their_bytes(tmp_path):
    bundle, other, key = tmp_path / "a.json", tmp_path / "b" / "a.json", tmp_path / "key"
    other.parent.mkdir()
    for file, text in ((bundle, "sealed"), (other, "sealed otherwise"), (key, "k")):
        file.write_text(text)
    config = RunConfig(
        agent="ref:careful", reserved=(bundle,), identity=key, agent_headers=("Authorization: Bearer secret",)
    )
    text = write_yaml(_document(config))
    assert "secret" not in text
    (tmp_path / "run.yaml").write_text(text)
    stored = StoredRun.read(tmp_path)
    with pytest.raises(ConfigError, match="--reserved and --identity"):
        stored.config({})
    given = {"reserved": (bundle,), "identity": key}
    with pytest.raises(ConfigError, match="agent headers was Authorization, now nothing"):
        stored.refuse_another(_document(stored.config(given)))
    given["agent_headers"] = ("Authorization: Bearer renewed",)
    stored.refuse_another(_document(stored.config(given)))
    given["reserved"] = (other,)
    with pytest.raises(ConfigError, match="reserved bundles"):
        stored.refuse_another(_document(stored.config(given)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no run was started"),
        (b"\xff\xfe\xff", "cannot be read"),
        (b"a: [", "cannot be read"),
        (b"[]", "does not describe"),
        (b"config: {}", "does not describe"),
    ],
)
def test_what_is_no_run_is_an_error_that_says_so(tmp_path, content, said):
    if content is not None:
        (tmp_path / "run.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=said):
        StoredRun.read(tmp_path)


@pytest.mark.parametrize("change", [{"probes": "many"}, {"tier": None}, {"adversarial": "sometimes"}])
def test_a_configuration_that_was_damaged_is_an_error(stored, change):
    damaged = StoredRun(Path("run"), {**stored.document, "config": {**stored.document["config"], **change}})
    with pytest.raises(ConfigError, match=r"config\."):
        damaged.config({})


@pytest.mark.parametrize("seed", ["", "x", None])
def test_a_seed_that_was_damaged_is_an_error(stored, seed):
    damaged = StoredRun(Path("run"), {**stored.document, "config": {**stored.document["config"], "seed": seed}})
    with pytest.raises(ConfigError, match="seed"):
        _ = damaged.seed
