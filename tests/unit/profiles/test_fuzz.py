"""Damaged input: whatever bytes a profile is made of, loading ends with a profile or with findings that say where."""

import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from damage import mutated
from loading import load_profile
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.errors import Finding
from sirocco.profiles.load import load_scenario_file
from sirocco.profiles.markdown import read_markdown
from sirocco.profiles.official import official_package
from sirocco.profiles.read import SourceFile, read_profile_files
from sirocco.profiles.yaml_text import read_documents, read_yaml

MORE = 3 if settings.default.max_examples >= 1000 else 1
"""How much of the costly damage is done: once in the ordinary suite, three times with the thorough profile of Hypothesis."""
SEEDS = range(1, 1 + 2 * MORE)


def assert_findings_lie_in_their_files(findings: tuple[Finding, ...]) -> None:
    for finding in findings:
        assert finding.place.line >= 1
        assert finding.place.column >= 1
        assert finding.problem
        assert finding.remedy


def assert_both_readers_agree(text: str) -> None:
    documents, findings = read_documents(text, "a.yaml")
    exact = read_yaml(text, "a.yaml")
    assert findings == exact.findings
    assert [document.value for document in documents] == [node.value for node in exact.documents]
    assert [document.placed_node() for document in documents] == list(exact.documents)


def copied(source: Path, target: Path, *, scenarios: int) -> tuple[Path, dict[Path, bytes]]:
    """A copy of a profile folder with only some of its scenario files, and the content of every file."""
    folder = shutil.copytree(source, target)
    for path in sorted((folder / "scenarios").rglob("*.yaml"))[scenarios:]:
        path.unlink()
    return folder, {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def damage(source: Path, target: Path, *, seed: int, number: int, scenarios: int = 9) -> None:
    """Damage one file of a profile folder's copy after the other, load each time, and put the file back."""
    folder, originals = copied(source, target, scenarios=scenarios)
    dice = random.Random(seed)
    paths = sorted(originals)
    for _ in range(number):
        path = dice.choice(paths)
        path.write_bytes(mutated(originals[path], dice))
        loaded = load_profile(folder, strict=dice.random() < 0.2)
        assert_findings_lie_in_their_files(loaded.findings)
        assert loaded.profile is not None or loaded.findings
        path.write_bytes(originals[path])


@pytest.mark.requirement("CO-12")
@pytest.mark.parametrize("seed", SEEDS)
def test_no_damage_to_a_small_profile_breaks_the_loader(orchard: Path, tmp_path: Path, seed: int) -> None:
    damage(orchard, tmp_path / "p", seed=seed, number=200)


@pytest.mark.requirement("CO-12")
@pytest.mark.parametrize("seed", SEEDS)
def test_no_damage_to_a_small_package_breaks_the_loader(vineyard: Path, tmp_path: Path, seed: int) -> None:
    damage(vineyard, tmp_path / "p", seed=seed, number=100)


@pytest.mark.requirement("CO-12")
def test_no_damage_to_the_bundled_profile_breaks_the_loader(tmp_path: Path) -> None:
    damage(bundled_profile_folder(), tmp_path / "p", seed=8, number=20 * MORE, scenarios=1)


@pytest.mark.requirement("CO-12")
def test_no_damage_to_a_bundled_scenario_file_breaks_the_loader(tmp_path: Path) -> None:
    profile = load_profile(bundled_profile_folder()).profile
    assert profile is not None
    dice = random.Random(5)
    originals = [path.read_bytes() for path in sorted(bundled_profile_folder().rglob("scenarios/**/*.yaml"))]
    path = tmp_path / "damaged.yaml"
    for number in range(200 * MORE):
        path.write_bytes(mutated(originals[number % len(originals)], dice))
        assert_findings_lie_in_their_files(load_scenario_file(path, profile).findings)


@pytest.mark.long
@pytest.mark.requirement("CO-12")
def test_no_damage_to_the_official_package_breaks_the_loader(package: Path, tmp_path: Path) -> None:
    profile = load_profile(package).profile
    assert profile is not None
    files = read_profile_files(package)
    dice = random.Random(6)
    names = sorted(files.documents)
    for number in range(14 * MORE):
        name = names[number % len(names)]
        text = mutated(files.documents[name].text.encode(), dice).decode(errors="replace")
        found = official_package({**files.documents, name: SourceFile(files.documents[name].name, text)})
        assert_findings_lie_in_their_files(found.findings)
    path = tmp_path / "damaged.yaml"
    for number in range(100 * MORE):
        path.write_bytes(mutated(files.scenarios[number % len(files.scenarios)].text.encode(), dice))
        assert_findings_lie_in_their_files(load_scenario_file(path, profile).findings)


RARE = [
    "a: 1\na: 2\n", "{a: 1, a: 2}", "? [x]\n: 1\n", "1: a", ": a", "a: .inf", "a: " + "9" * 1001, "a: " + "9" * 999, "&x a",
    "[&x a, *x]", "a: !!int 1", "a: ! b", "[" * 51 + "]" * 51, "[" * 50 + "]" * 50, "a: *b", "a: 'no", "\ufeffa: 1", "a: \x07",
    "--- a\n--- b\n", "---\n---\n", "a: 0o17\nb: 0x1f\nc: 010\nd: yes\ne: ~\nf:\ng: 1e3\nh: 'true'\ni: True\n",
]  # fmt: skip


@pytest.mark.parametrize("text", RARE, ids=lambda text: ascii(text)[:30])
def test_what_is_rare_or_broken_is_left_to_the_exact_reader(text: str) -> None:
    assert_both_readers_agree(text)


@settings(max_examples=4 * settings.default.max_examples)
@given(st.text(alphabet="abkey: -[]{},&*!|>'\"#\n\t~01.e%@`<?\u2028é\x07\ufeff", max_size=120))
def test_the_fast_reader_and_the_exact_one_see_the_same_data(text: str) -> None:
    assert_both_readers_agree(text)


def test_the_fast_reader_sees_the_bundled_and_the_official_files_as_the_exact_one_does(package: Path) -> None:
    for path in [*package.rglob("*.yaml"), *bundled_profile_folder().rglob("*.yaml")]:
        documents, _ = read_documents(path.read_text(), str(path))
        exact = read_yaml(path.read_text(), str(path)).documents
        assert [document.value for document in documents] == [node.value for node in exact]


def test_a_place_is_computed_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[str] = []
    monkeypatch.setattr(
        "sirocco.profiles.yaml_text.read_yaml", lambda text, file: readings.append(file) or read_yaml(text, file)
    )
    (first, second), _ = read_documents("a: 1\n---\nb: 2\n", "a.yaml")
    assert readings == []
    assert (first.placed_node().place_of(("a",)).column, second.placed_node().place_of(("b",)).line) == (4, 3)
    assert readings == ["a.yaml"]


def test_a_text_of_any_bytes_is_markdown(vineyard: Path) -> None:
    dice = random.Random(7)
    content = (vineyard / "profile.md").read_bytes()
    for _ in range(100 * MORE):
        assert read_markdown(mutated(content, dice).decode(errors="replace"), "a.md") is not None
