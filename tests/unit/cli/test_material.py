"""`sirocco material`: a folder of words is checked, read and sealed, and probes are drawn from the bundle."""

import json
from pathlib import Path

import pytest
import yaml

from commands import Finished, sirocco
from reserved_parties import Parties, made_key
from sirocco.oasis.canonical import canonical_json
from sirocco.wiring.material import sealed_material

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


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("rules: {asides: [x]}", "nothing uses 'asides'; is 'aside' meant?"),
        ("rules: {'ask@polit': ['please {do}']}", "nothing uses 'polit'; is 'polite' meant?"),
        ("senses: {deletes: ['bury | {object}']}", "nothing uses 'deletes'; is 'delete' meant?"),
        ("trades: {fair: {items: [tents]}}", "trades.fair: it lacks act, event, page, people"),
    ],
)
def test_a_name_that_nothing_uses_is_told_with_the_one_that_may_be_meant(words, more, told):
    (words / "more.yaml").write_text(f"language: en\n{more}\n")
    refused = sirocco("material", "check", str(words))
    assert (refused.code, told in refused.stderr) == (2, True)


@pytest.fixture(scope="module")
def key(tmp_path_factory) -> Path:
    """The keys of somebody who seals material and opens it again."""
    path = tmp_path_factory.mktemp("keys") / "own.key"
    made_key(path, "maintainer")
    return path


def sealed(path: Path, key: Path, text: str = WORDS, *recipients: str) -> Path:
    """A bundle with one file of material."""
    path.write_bytes(sealed_material({"a.yaml": text}, key, recipients))
    return path


def generated(bundle: Path, *arguments: object) -> Finished:
    return sirocco("probe", "generate", *ONE, "--material", bundle, *arguments)


@pytest.mark.requirement("AV-10")
@pytest.mark.requirement("SI-09")
def test_probes_are_worded_from_a_sealed_bundle_by_whoever_has_the_key(words, key, tmp_path):
    bundle = tmp_path / "words.json"
    assert sirocco("material", "seal", words, "--key", key, "--out", bundle).code == 0
    assert "circus" not in bundle.read_text()
    options = ("--material", bundle, "--identity", key)
    made = {}
    for name, given in {"first": options, "again": options, "public": ()}.items():
        assert sirocco("probe", "generate", *ONE, *given, "--out", tmp_path / name).code == 0
        made[name] = {path.name: path.read_text() for path in (tmp_path / name).glob("*.yaml")}
    assert made["first"] == made["again"]
    assert not made["first"].keys() & made["public"].keys()
    generator = yaml.safe_load(next(iter(made["first"].values())))["x-sirocco"]["probe"]["generator"]
    assert "sealed material" in generator["description"]
    with_material, without = (
        json.loads(sirocco("probe", "check", tmp_path / "first", *given, "--format", "json").stdout)
        for given in (options, ())
    )
    assert [row["remark"] for row in with_material] == ["", ""]
    assert all("its lineage cannot be repeated here" in row["remark"] for row in without)
    probe = min((tmp_path / "first").glob("*.yaml"))
    replayed = sirocco("probe", "replay", probe, "--agent", "ref:careful", *options, "--format", "json")
    assert [row["remark"] for row in json.loads(replayed.stdout)] == [""]


def test_a_bundle_without_its_key_is_refused(key, tmp_path):
    bundle = sealed(tmp_path / "words.json", key)
    without = generated(bundle)
    assert without.code == 2
    assert "--identity" in without.stderr
    made_key(tmp_path / "other.key", "maintainer")
    wrong = generated(bundle, "--identity", tmp_path / "other.key")
    assert wrong.code == 2
    assert "Traceback" not in wrong.stderr


@pytest.mark.requirement("SI-06")
def test_material_that_a_stranger_sealed_is_refused(tmp_path):
    parties = Parties.in_folder(tmp_path / "parties")
    made_key(tmp_path / "stranger.key", "maintainer")
    strange = sealed(tmp_path / "strange.json", tmp_path / "stranger.key", WORDS, parties.recipient)
    by_maintainer = sealed(tmp_path / "words.json", parties.maintainer / "m.key", WORDS, parties.recipient)
    options = ("--identity", parties.key, "--profile", parties.profile)
    refused = generated(strange, *options)
    assert refused.code == 2
    assert "somebody who is not a maintainer" in refused.stderr
    assert generated(by_maintainer, *options).code == 0
    assert generated(by_maintainer, "--identity", parties.key).code == 2
    altered = json.loads(by_maintainer.read_text())
    altered["manifest"]["about"] = {"name": "others"}
    by_maintainer.write_text(canonical_json(altered) + "\n")
    assert "its signature does not hold" in generated(by_maintainer, *options).stderr


def test_a_broken_bundle_is_refused_and_nothing_of_it_is_quoted(key, tmp_path):
    bundle = tmp_path / "words.json"
    for text in ("language: en\nsecretive: [peppermint]\n", "language: en\nrules: {aside: ['{peppermint}']}\n"):
        refused = generated(sealed(bundle, key, text), "--identity", key)
        assert refused.code == 2
        assert "peppermint" not in refused.stderr + refused.stdout
    bundle.write_text(bundle.read_text().replace("sha256:", "sha256:0"))
    assert "not a sound bundle" in generated(bundle, "--identity", key).stderr
