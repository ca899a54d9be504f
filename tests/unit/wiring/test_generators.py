"""Generators by name: the built-in one, those that packages bring, and what is refused before a probe runs."""

from dataclasses import dataclass

import pytest

from bundled import small_profile
from sirocco.errors import ConfigError
from sirocco.oasis.probe import GeneratorMethod, GeneratorType, Reproducibility
from sirocco.wiring import plugins


@dataclass
class Point:
    """An entry point of an installed package."""

    name: str
    made: object
    value: str = "their_package:make"

    def load(self):
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


class Theirs:
    """A generator that a package brings, with a method that is or is not complete."""

    def __init__(self, **parts) -> None:
        typed = {"type": GeneratorType(parts["type"]), "reproducibility": Reproducibility(parts["reproducibility"])}
        self.method = GeneratorMethod.model_construct(**{**parts, **typed})


COMPLETE = {
    "type": "other",
    "reproducibility": "non_reproducible",
    "config_hash": "sha256:0",
    "description": "By hand.",
}


@pytest.fixture(scope="module")
def profile():
    return small_profile()


def _installed(monkeypatch, *points):
    monkeypatch.setattr(plugins, "entry_points", lambda group: points if group == plugins.GENERATORS else ())


@pytest.mark.requirement("AV-07")
def test_a_package_brings_a_generator_by_an_entry_point(monkeypatch, profile):
    made = Theirs(**COMPLETE)
    _installed(monkeypatch, Point("theirs", lambda given: made if given is profile else None))
    assert plugins.generator("theirs", profile) is made
    assert plugins.generator("mutation", profile).method.type == "mutation"


@pytest.mark.requirement("AV-07")
def test_a_built_in_generator_cannot_be_replaced(monkeypatch, profile):
    _installed(monkeypatch, Point("mutation", lambda given: Theirs(**COMPLETE)))
    with pytest.raises(ConfigError, match="built in"):
        plugins.generator("mutation", profile)


@pytest.mark.requirement("AV-08")
@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        ("llm", ("model", "model_version")),
        ("mutation", ("base", "strategy")),
        ("red_team", ("team_size", "expertise")),
        ("hybrid", ("description",)),
        ("other", ("description",)),
    ],
)
def test_a_method_without_a_part_that_its_type_must_give_is_refused(monkeypatch, profile, kind, missing):
    parts = {**COMPLETE, "type": kind, "description": None}
    _installed(monkeypatch, Point("theirs", lambda given: Theirs(**parts)))
    with pytest.raises(ConfigError) as refused:
        plugins.generator("theirs", profile)
    assert all(part in str(refused.value) for part in missing)


@pytest.mark.parametrize("made", [lambda given: object(), lambda given: 1 / 0, ImportError("gone")])
def test_what_is_no_generator_is_an_error_with_a_remedy(monkeypatch, profile, made):
    _installed(monkeypatch, Point("theirs", made))
    with pytest.raises(ConfigError):
        plugins.generator("theirs", profile)


def test_an_unknown_name_says_which_are_known(monkeypatch, profile):
    _installed(monkeypatch, Point("theirs", lambda given: Theirs(**COMPLETE)))
    with pytest.raises(ConfigError, match="mutation or theirs"):
        plugins.generator("nobody", profile)


@pytest.mark.requirement("AV-07")
def test_options_reach_the_generator_and_shares_stay_with_us(monkeypatch, profile):
    given = {}

    def make(_, **options):
        given.update(options)
        return Theirs(**COMPLETE)

    _installed(monkeypatch, Point("theirs", make))
    sources = plugins.generator_sources(("theirs?temperature=0.7&share=3", "mutation", "theirs"), profile)
    assert [(one.name, one.share) for one in sources] == [("theirs", 3), ("mutation", 1), ("theirs #2", 1)]
    assert given == {"temperature": "0.7"}
    parts = plugins.generator_sources(("hybrid:mutation?share=2+theirs",), profile)
    assert [(one.name, one.share) for one in parts] == [("mutation", 2), ("theirs", 1)]


@pytest.mark.parametrize(
    "spec",
    [
        "mutation?heat=1", "mutation?share=0", "mutation?share=x", "hybrid:mutation+", "hybrid:mutation>", "hybrid:>a",
        "command:true?heat=1", "command:true?timeout=never",
    ],
)  # fmt: skip
def test_options_that_mean_nothing_are_errors_with_a_remedy(profile, spec):
    with pytest.raises(ConfigError):
        plugins.generator_sources((spec,), profile)
