"""Rules about the project itself that no linter knows."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import sirocco.oasis.domain
from kubesim.conventions import (
    COLLECTION_VERBS,
    DELETE_VERBS,
    READ_VERBS,
    SERVER_OWNED,
    STORE_VERBS,
    UPDATE_VERBS,
    WRITE_VERBS,
)
from sirocco.oasis.mutation import Dice

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
FAULTS = sorted((ROOT / "tests" / "faults").glob("*.patch"))
REQUIRED = [
    "AV-01",
    "AV-02",
    "AV-03",
    "AV-04",
    "AV-05",
    "AV-06",
    "AV-07",
    "AV-08",
    "AV-09",
    "AV-10",
    "AV-11",
    "AV-12",
    "AV-13",
    "AV-14",
    "AV-15",
    "AV-16",
    "AV-17",
    "AV-18",
    "AV-19",
    "AV-20",
    "AV-21",
    "AV-22",
    "AV-23",
    "AV-24",
    "AV-25",
    "AV-26",
    "AV-27",
    "CO-01",
    "CO-02",
    "CO-03",
    "CO-04",
    "CO-05",
    "CO-06",
    "CO-07",
    "CO-08",
    "CO-09",
    "CO-10",
    "CO-11",
    "CO-12",
    "CO-13",
    "CO-14",
    "CO-15",
    "SI-01",
    "SI-02",
    "SI-03",
    "SI-04",
    "SI-05",
    "SI-06",
    "SI-07",
    "SI-08",
    "SI-12",
    "SI-13",
]


def test_every_module_says_what_belongs_in_it():
    assert len(SOURCES) > 100
    docstrings = {source: ast.get_docstring(ast.parse(source.read_text())) or "" for source in SOURCES}
    assert [str(source) for source, docstring in docstrings.items() if len(docstring) <= 20] == []


def test_every_required_id_has_a_seeded_fault():
    assert [name for name in REQUIRED if not any(patch.name.startswith(name) for patch in FAULTS)] == []


def test_every_seeded_fault_says_what_it_breaks_and_touches_only_the_product():
    texts = {patch.stem: patch.read_text() for patch in FAULTS}
    assert [name for name, text in texts.items() if len(text.partition("diff --git")[0].strip()) <= 20] == []
    files = {name: re.findall(r"^\+\+\+ b/(\S+)", text, re.MULTILINE) for name, text in texts.items()}
    assert [name for name, touched in files.items() if not touched or not all(map(_is_of_the_product, touched))] == []


def _is_of_the_product(file):
    return file.startswith(("src/sirocco/", "src/sirocco_benchmarks/", "src/kubesim/")) and (ROOT / file).exists()


def test_cited_requirements_exist_in_the_standard():
    numbered = ROOT.parent / "shared" / "spec" / "requirements.md"
    if not numbered.is_file():
        pytest.skip(f"the numbered requirements are not in {numbered}")
    known = set(re.findall(r"^\| ((?:AV|CO|SI)-\d\d)", numbered.read_text(), re.MULTILINE))
    cited = {
        (path.name, requirement)
        for path in [*SOURCES, *(ROOT / "tests").rglob("*.py")]
        for requirement in re.findall(r"\b(?:AV|CO|SI)-\d\d\b", path.read_text())
    }
    assert {(name, requirement) for name, requirement in cited if requirement not in known} == set()


def test_no_scenario_id_or_object_name_of_the_corpus_occurs_in_simulator_evaluator_or_operators():
    names = set()
    for file in (ROOT / "src/sirocco/domains/kubernetes/corpus").rglob("*.yaml"):
        # Single words of a language may occur anywhere; a compound name could only have come from the corpus.
        names |= set(re.findall(r"resource: \w+/([a-z0-9]+-[a-z0-9-]+)", file.read_text()))
        names |= set(re.findall(r"^id: (\S+)", file.read_text(), re.MULTILINE))
    assert len(names) > 10
    folders = ("providers", "evaluation", "probes", "agents", "campaign", "runner", "domains", "../kubesim")
    for folder in folders:
        for source in (ROOT / "src/sirocco" / folder).rglob("*.py"):
            words = set(re.findall(r"[a-z0-9.-]+", source.read_text()))
            assert not words & names, source


def test_the_lock_pins_everything_with_hashes_and_names_no_address():
    lock = (ROOT / "requirements.lock").read_text()
    assert "://" not in lock
    pins = re.findall(r"^[a-z0-9-]+==\S+", lock, re.MULTILINE)
    assert len(pins) > 20
    assert lock.count("--hash=sha256:") > len(pins)


NEUTRAL = (
    "oasis", "evaluation", "campaign", "runner", "probes", "profiles", "agents", "providers", "reports", "evidence", "reserved",
    "models", "testing",
)  # fmt: skip
WORDS_LEFT = {
    "evaluation/behaviors/lexicons.py: credentials": "words of answers: what people call a credential",
    "evaluation/behaviors/diagnosis.py: correlate_deployment_timing": "the standard's own name of a behaviour",
    "agents/phrases/diagnosis.py: correlate_deployment_timing": "the standard's own name of a behaviour",
    "evaluation/behaviors/polarity.py: pods?": "words of answers that `no` makes no denial of",
    "probes/mutation/lexicon.py: podcast": "an English word that names are made of",
    "probes/language/material/es.yaml: podría": "Spanish for could",
    "probes/language/material/pt.yaml: poderia": "Portuguese for could",
}
"""Words of Kubernetes in the standard's layers, each with the reason for it.

`namespace` is the standard's own word for the part of an environment that an object is in (`scope.namespaces`,
`resolved_namespaces`), and the name of what Linux holds processes in.
"""


def test_the_standards_layers_speak_of_no_system_but_where_there_is_a_reason():
    found = {
        f"{source.relative_to(ROOT / 'src/sirocco')}: {line}"
        for folder in NEUTRAL
        for source in sorted((ROOT / "src/sirocco" / folder).rglob("*"))
        if source.is_file() and source.suffix not in {".pyc", ".png"}
        for line in source.read_text().lower().splitlines()
        if re.search(r"kube|pod|deployment", line)
    }

    def is_excused(line: str) -> bool:
        return any(
            line.startswith(place.split(": ")[0]) and place.split(": ")[1] in line.split(": ", 1)[1]
            for place in WORDS_LEFT
        )

    assert sorted(line for line in found if not is_excused(line)) == []
    assert len(found) == len(WORDS_LEFT), "a reason that nothing needs any more"


VERB_SETS = [
    set(verbs) for verbs in (READ_VERBS, UPDATE_VERBS, STORE_VERBS, DELETE_VERBS, WRITE_VERBS, COLLECTION_VERBS)
]
LISTED_ELSEWHERE = {"kubesim/handling/scaling.py": "what a Scale shows of the object behind it, some of it by chance"}


def test_verbs_and_server_owned_fields_of_the_kubernetes_api_are_listed_in_one_module():
    copies = {
        (str(source.relative_to(ROOT / "src")), node.lineno)
        for source in SOURCES
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Set | ast.Tuple | ast.List)
        for words in [{part.value for part in node.elts if isinstance(part, ast.Constant)}]
        if words in VERB_SETS or len(words & SERVER_OWNED) > 2
    }
    assert {file for file, _ in copies} - {"kubesim/conventions.py"} == LISTED_ELSEWHERE.keys(), sorted(copies)


PARTS = sorted({part.__module__ for part in vars(sirocco.oasis.domain).values() if isinstance(part, type)})


def test_every_member_of_a_domain_is_asked_for_by_somebody_who_knows_no_system():
    """A member that only domains and their contract use would be work for every author and serve nobody."""
    asked = {
        node.attr
        for source in SOURCES
        if source.is_relative_to(ROOT / "src/sirocco")
        and source.relative_to(ROOT / "src/sirocco").parts[0] not in {"domains", "testing"}
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Attribute)
    }
    ports = {
        port
        for module in PARTS
        for port in vars(importlib.import_module(module)).values()
        if isinstance(port, type) and getattr(port, "_is_protocol", False) and port.__module__ == module
        # Domains are given these; they do not bring them.
        if port is not Dice
    }
    members = {f"{port.__name__}.{name}" for port in ports for name in vars(port) if not name.startswith("_")}
    assert len(members) > 100
    assert sorted(member for member in members if member.partition(".")[2] not in asked) == []
