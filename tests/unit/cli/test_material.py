"""`sirocco material`: a folder of words is checked, read and sealed, and probes are drawn from the bundle."""

from pathlib import Path

import pytest
import yaml

from commands import sirocco
from sirocco.reserved.age import keygen, read_identities
from sirocco.reserved.sealed_material import open_material, seal_material

ONE = ("--archetype", "S-PI-001", "--probes", "2", "--seed", "0x5f")
WORDS = """
language: en
replaces: [trades]
senses:
  delete!: ["bury | {object}"]
  scale!: ["squeeze | {object} | to {amount}"]
trades:
  circus:
    items: [tents, drums]
    people: [clowns, tamers]
    act: [the parade]
    page: [ring plan]
    event: [the winter break]
"""


@pytest.fixture
def words(tmp_path) -> Path:
    """A folder with one file of material."""
    folder = tmp_path / "words"
    folder.mkdir()
    (folder / "circus.yaml").write_text(WORDS)
    return folder


def test_a_sound_folder_is_told_by_its_digest_and_read_as_texts(words):
    checked = sirocco("material", "check", str(words))
    assert checked.code == 0
    assert "sha256:" in checked.stdout
    shown = sirocco("material", "sample", str(words), "--texts", "40")
    assert shown.code == 0
    assert "bury" in shown.stdout
    assert "ring plan" in shown.stdout


def test_what_is_wrong_with_a_folder_is_told_with_the_place(words):
    (words / "more.yaml").write_text("language: en\nrules: {aside: ['{nobody} came']}\n")
    refused = sirocco("material", "check", str(words))
    assert refused.code == 2
    assert "nothing is called 'nobody'" in refused.stderr


@pytest.mark.requirement("AV-10")
@pytest.mark.requirement("SI-09")
def test_probes_are_worded_from_a_sealed_bundle_by_whoever_has_the_key(words, tmp_path):
    pair = keygen()
    key, bundle = tmp_path / "key", tmp_path / "words.json"
    key.write_text(pair.identity_text)
    assert sirocco("material", "seal", str(words), "--recipient", pair.recipient, "--out", str(bundle)).code == 0
    assert "circus" not in bundle.read_text()
    sealed = ("--material", str(bundle), "--identity", str(key))
    made = {}
    for name, options in {"first": sealed, "again": sealed, "public": ()}.items():
        assert sirocco("probe", "generate", *ONE, *options, "--out", str(tmp_path / name)).code == 0
        made[name] = {path.name: path.read_text() for path in (tmp_path / name).glob("*.yaml")}
    assert made["first"] == made["again"]
    assert not made["first"].keys() & made["public"].keys()
    generator = yaml.safe_load(next(iter(made["first"].values())))["x-sirocco"]["probe"]["generator"]
    assert "sealed material" in generator["description"]


def test_a_bundle_without_its_key_is_refused(words, tmp_path):
    bundle = tmp_path / "words.json"
    bundle.write_text(seal_material({"a.yaml": WORDS}, [keygen().recipient]))
    without = sirocco("probe", "generate", *ONE, "--material", str(bundle))
    assert without.code == 2
    assert "--identity" in without.stderr
    other = tmp_path / "other"
    other.write_text(keygen().identity_text)
    wrong = sirocco("probe", "generate", *ONE, "--material", str(bundle), "--identity", str(other))
    assert wrong.code == 2
    assert "Traceback" not in wrong.stderr


def test_a_broken_bundle_is_refused_and_nothing_of_it_is_quoted(tmp_path):
    pair = keygen()
    key, bundle = tmp_path / "key", tmp_path / "words.json"
    key.write_text(pair.identity_text)
    for text in ("language: en\nsecretive: [peppermint]\n", "language: en\nrules: {aside: ['{peppermint}']}\n"):
        bundle.write_text(seal_material({"a.yaml": text}, [pair.recipient]))
        refused = sirocco("probe", "generate", *ONE, "--material", str(bundle), "--identity", str(key))
        assert refused.code == 2
        assert "peppermint" not in refused.stderr + refused.stdout
    bundle.write_text(bundle.read_text().replace("sha256:", "sha256:0"))
    refused = sirocco("probe", "generate", *ONE, "--material", str(bundle), "--identity", str(key))
    assert "not a sound bundle" in refused.stderr


def test_what_was_sealed_comes_out_as_it_went_in():
    pair = keygen()
    files = {"a.yaml": WORDS, "b.yaml": "language: de\n"}
    keys = read_identities(pair.identity_text, "key")
    assert open_material(seal_material(files, [pair.recipient]), keys, "bundle") == files
