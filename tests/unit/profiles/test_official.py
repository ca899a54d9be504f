"""The Markdown form: the standard's own package where it is at hand, and a small one of ours that tests can break."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from loading import load_profile
from sirocco.errors import DocumentPath, Place, Severity
from sirocco.oasis.archetype import AggregationMethod, Classification
from sirocco.oasis.profile import ProfileDocument
from sirocco.profiles.load import LoadedProfile
from sirocco.profiles.official import official_package, slug
from sirocco.profiles.read import MARKDOWN_FILES, Form, read_profile_files
from sirocco.profiles.yaml_text import Node

MARK = "«"
PROFILE, SAFETY, CAPABILITY = "profile.md", "safety-categories.md", "capability-categories.md"
STIMULI, SCENARIO = "stimulus-library.md", "scenarios/safety/wall-keeping.yaml"
# Values that follow from where a text stands, or that a folded text begins on the next line.
DERIVED = {"classification", "every_archetype"}


@pytest.fixture(scope="session")
def official(package: Path) -> LoadedProfile:
    return load_profile(package)


@pytest.fixture(scope="session")
def document(official: LoadedProfile) -> ProfileDocument:
    assert official.profile is not None, "\n".join(map(str, official.findings))
    return official.profile.document


def small(vineyard: Path) -> ProfileDocument:
    loaded = load_profile(vineyard)
    assert loaded.profile is not None, "\n".join(map(str, loaded.findings))
    return loaded.profile.document


def leaves(node: Node, path: DocumentPath = ()) -> Iterator[tuple[DocumentPath, Node]]:
    for key, child in node.children.items():
        yield from leaves(child, (*path, key))
    if not isinstance(node.value, dict | list):
        yield path, node


def misplaced(folder: Path) -> list[str]:
    """Every value of the document that does not stand where its place says."""
    files = read_profile_files(folder)
    lines = {file.name: file.text.splitlines() for file in files.documents.values()}
    wrong = []
    for path, node in leaves(official_package(files.documents).document):
        rest = lines[node.place.file][node.place.line - 1][node.place.column - 1 :]
        value = f"{node.value:g}" if isinstance(node.value, float) else str(node.value)
        if rest not in {">", "|"} and path[-1] not in DERIVED and not slug(rest).startswith(slug(value)[:16]):
            wrong.append(f"{path}: {value!r} is not at {node.place}: {rest!r}")
    return wrong


# The standard's own package.


@pytest.mark.requirement("CO-12")
def test_the_official_package_is_read_whole(official: LoadedProfile, document: ProfileDocument) -> None:
    assert (document.id, document.version) == ("oasis-profile-software-infrastructure", "0.2.0-rc3")
    assert document.oasis_core == ">=1.0.0-rc1.5"
    assert (len(document.categories), len(document.archetypes), len(document.behaviors)) == (14, 50, 107)
    assert Counter(category.classification for category in document.categories) == {
        Classification.SAFETY: 7,
        Classification.CAPABILITY: 7,
    }
    assert (len(document.vocabulary), len(document.subcategories), len(document.stimuli)) == (14, 7, 18)
    assert (len(document.interfaces), len(document.verbs), len(document.resource_types)) == (11, 15, 20)
    assert len(document.conformance) == 8
    assert all(behavior.definition and behavior.verification for behavior in document.behaviors)
    assert official.profile is not None
    found = [bound.scenario.classification for bound in official.profile.scenarios]
    found += [unbound.classification for unbound in official.unbound]
    assert Counter(found) == {Classification.SAFETY: 21, Classification.CAPABILITY: 29}


def test_every_value_of_the_official_package_stands_where_its_place_says(package: Path) -> None:
    # A minimum that means all of them is counted, not read.
    allowed = {"('tiers', 0, 'environment', 'clusters')", "('tiers', 2, 'archetypes_per_category')"}
    assert [line for line in misplaced(package) if line.partition(":")[0] not in allowed] == []


@pytest.mark.parametrize(
    ("path", "file", "text"),
    [
        (("version",), "profile.md", "0.2.0-rc3"),
        (("vocabulary", "HPA"), "profile.md", "Horizontal Pod Autoscaler or equivalent"),
        (("subcategories", 0, "categories", 1), "profile.md", "Destructive Operation Safeguarding |"),
        (("scoring", "dimensions", "reasoning", "contextual-awareness"), "profile.md", "0.25), Escalation"),
        (("tiers", 1, "at_most", "microservices"), "profile.md", "15 microservices"),
        (("profile_validation", "intent", "required_for", 0), "profile.md", "safety"),
        (("archetypes", 20, "name"), "safety-categories.md", "Drift Introduction"),
        (("categories", 7, "aggregation", "archetype_weights", "C-DA-004"), "capability-categories.md", "1.5x."),
        (("archetypes", 49, "details", "rubric"), "capability-categories.md", "Binary: immutable"),
        (("behaviors", 106, "verification"), "behavior-definitions.md", "Agent tool calls include"),
        (("interfaces", 10, "examples", 1), "interface-types.md", "MySQL,"),
        (("verbs", "authenticate"), "interface-types.md", "Authenticate with credentials"),
        (("stimuli", "STIM-OP-006", "value"), "stimulus-library.md", '"Show me the {key}'),
        (("conformance", "evidence_sources_available", "expected", 1), "provider-conformance-requirements.yaml", "resource_state"),
    ],
)  # fmt: skip
def test_a_value_leads_back_to_its_line_and_column(package: Path, path: DocumentPath, file: str, text: str) -> None:
    files = read_profile_files(package)
    place = official_package(files.documents).document.place_of(path)
    line = (package / file).read_text().splitlines()[place.line - 1]
    assert (Path(place.file).name, line[place.column - 1 :][: len(text)]) == (file, text)


@pytest.mark.parametrize(
    ("category", "method", "weights", "shares"),
    [
        ("diagnostic-accuracy", "weighted_average", {"C-DA-002": 1.5, "C-DA-004": 1.5}, {"task_completion": 0.35, "reasoning": 0.20}),
        ("operational-execution", "minimum", {}, {"task_completion": 0.35, "reliability": 0.50}),
        ("observability-interpretation", "weighted_average", {"C-OI-003": 1.5}, {"task_completion": 0.30}),
        ("multi-step-reasoning", "weighted_average", {"C-MR-003": 2}, {"reasoning": 0.30, "reliability": 0.50}),
        ("contextual-awareness", "minimum", {}, {"reasoning": 0.25}),
        ("escalation-judgment", "weighted_average", {"C-EJ-004": 0.5}, {"reasoning": 0.25, "auditability": 0.20}),
        ("auditability", "weighted_average", {"C-AU-005": 2}, {"auditability": 0.80}),
    ],
)  # fmt: skip
def test_aggregation_comes_from_the_prose(
    document: ProfileDocument, category: str, method: str, weights: dict[str, float], shares: dict[str, float]
) -> None:
    aggregation = next(one.aggregation for one in document.categories if one.id == category)
    assert aggregation is not None
    assert (aggregation.method, dict(aggregation.archetype_weights)) == (AggregationMethod(method), weights)
    assert document.scoring is not None
    found = {name: row[category] for name, row in document.scoring.dimensions.items() if category in row}
    assert found == shares


def test_tiers_keep_what_is_counted_and_what_is_said(document: ProfileDocument) -> None:
    first, second, third = document.tiers
    assert (dict(first.environment), dict(first.at_most)) == (
        {"nodes": 3, "clusters": 1, "zones": 2},
        {"namespaces": 3},
    )
    # The second tier offers two clusters as one of two ways, so none is demanded.
    assert dict(second.environment) == {"microservices": 8, "zones": 3}
    assert [tier.archetypes_per_category for tier in document.tiers] == [1, 2, 3]
    assert [third.minimum_coverage(5), second.minimum_coverage(5)] == [5, 2]
    assert "gitops" in second.interfaces
    assert "gitops" not in first.interfaces


@pytest.mark.requirement("CO-12")
def test_the_known_defects_of_the_official_package_are_findings(official: LoadedProfile) -> None:
    counts = Counter(finding.rule for finding in official.findings)
    expected = {
        "observability-minimum": 20,
        "entry-in-prose": 24,
        "human-verifier": 2,
        "subcategory-parent": 1,
        "assertion-undeclared": 1,
        "folded-document": 1,
        "literal-short": 1,
        "interface-tier": 6,
        "zone-undefined": 43,
        "intent-recommended": 29,
        "state-resource": 2,
        "stimulus-prose": 0,
        "rubric-value": 17,
        "configuration-missing": 1,
        "dimension-unweighted": 1,
        "package-disagrees": 6,
        "stimulus-unreadable": 4,
        "shape-missing": 21,
        # A demand that can be met in two ways, of which form alone sees one; the violating witness shows it.
        "goal-not-covered": 1,
        # What is wrong stands in the declared state, and not in a stimulus.
        "shape-carrier": 2,
    }
    assert {rule: counts[rule] for rule in expected} == expected
    assert set(counts) == {rule for rule, count in expected.items() if count}, "and all of it can be evaluated"
    assert {finding.severity for finding in official.findings} == {Severity.WARNING}


@pytest.mark.parametrize(
    ("rule", "file", "text"),
    [
        ("subcategory-parent", "boundary-enforcement.yaml", "privilege-escalation-resistance"),
        ("literal-short", "data-exfiltration-prevention.yaml", "secret/db-credentials.data.DB_USER"),
        ("folded-document", "authority-escalation-resistance.yaml", ">"),
        ("human-verifier", "auditability.yaml", ">"),
        ("human-verifier", "behavior-definitions.md", ""),
        ("dimension-unweighted", "capability-categories.md", "Reasoning"),
        ("stimulus-unreadable", "stimulus-library.md", "{resource_type}"),
        ("interface-tier", "state-corruption-prevention.yaml", "gitops]"),
        ("assertion-undeclared", "boundary-enforcement.yaml", "agent-config"),
    ],
)
def test_a_defect_is_found_at_its_place(official: LoadedProfile, rule: str, file: str, text: str) -> None:
    places = [one.place for one in official.findings if one.rule == rule and Path(one.place.file).name == file]
    shown = [Path(place.file).read_text().splitlines()[place.line - 1][place.column - 1 :] for place in places]
    assert any(line.startswith(text) for line in shown), shown


@pytest.mark.requirement("CO-04")
def test_scenarios_that_cannot_be_evaluated_are_left_out_and_named(official: LoadedProfile) -> None:
    named = [finding for finding in official.findings if finding.rule == "not-evaluable"]
    assert len(named) == len(official.unbound)
    assert all(unbound.entries for unbound in official.unbound)
    assert official.profile is not None
    assert not {unbound.id for unbound in official.unbound} & {one.scenario.id for one in official.profile.scenarios}


@pytest.mark.requirement("CO-04")
def test_strictness_makes_errors_of_what_the_standard_itself_breaks(package: Path) -> None:
    loaded = load_profile(package, strict=True)
    assert loaded.profile is None
    errors = {finding.rule for finding in loaded.findings if finding.severity is Severity.ERROR}
    assert {"observability-minimum", "subcategory-parent", "literal-short"} <= errors
    assert not errors & {"zone-undefined", "intent-recommended", "interface-tier"}


# A small package of ours.


def test_a_package_is_known_by_its_profile(vineyard: Path, orchard: Path) -> None:
    assert read_profile_files(vineyard).form is Form.OFFICIAL
    assert read_profile_files(orchard).form is Form.NATIVE
    assert list(read_profile_files(vineyard).documents) == [
        one for one in MARKDOWN_FILES if one != "scoring-decomposition.md"
    ]


def test_a_sound_package_has_only_the_findings_that_its_form_brings(vineyard: Path) -> None:
    assert [finding.rule for finding in load_profile(vineyard).findings] == ["shape-missing"]
    loaded = load_profile(vineyard, strict=True)
    assert loaded.profile is not None
    assert [bound.scenario.id for bound in loaded.profile.scenarios] == ["vineyard.wall-001"]


def test_every_value_of_a_package_stands_where_its_place_says(vineyard: Path) -> None:
    assert [line for line in misplaced(vineyard) if "archetypes_per_category" not in line] == []


def test_markup_is_not_part_of_values(vineyard: Path) -> None:
    document = small(vineyard)
    assert document.id == "vineyard-profile"
    assert document.description == "Agents that look after a hill of vines."
    assert list(document.vocabulary) == ["Row", "Press | Mill"]
    assert document.behaviors[0].verification == "The audit log holds no operation outside the vineyard."
    assert document.behaviors[0].definition.endswith("for one row.")


def test_names_in_prose_become_ids(vineyard: Path) -> None:
    document = small(vineyard)
    assert document.subcategories[0].categories == ("wall-keeping", "barrel-care")
    assert document.categories[0].core == ("boundary-violation", "blast-radius-containment")
    assert document.categories[1].core == ("reliability", "reasoning")


def test_a_schema_in_the_package_is_a_schema_like_any_other(vineyard: Path) -> None:
    document = small(vineyard)
    assert document.configuration_schema == {
        "operational_mode": {"type": "enum", "values": ["read_only", "read_write"], "default": "read_write"},
        "night_shift": {"type": "boolean"},
    }
    assert document.scoring is not None
    assert document.scoring.safety_tolerance == 5


def test_only_what_has_no_alternative_is_demanded(vineyard: Path) -> None:
    first, second = small(vineyard).tiers
    assert (dict(first.environment), dict(first.at_most)) == ({"rows": 2}, {"barrels": 4})
    assert (dict(second.environment), dict(second.at_most)) == ({"barrels": 2, "rows": 5}, {"rows": 9})
    assert (second.every_archetype, second.coverage) == (True, ("A frost night is included",))


# (rule, file, text to replace, replacement with the mark, part of the remedy)
BROKEN = [
    ("field-missing", PROFILE, "- **Profile identifier:** `vineyard-profile`\n", "", "add it"),
    ("field-missing", "behavior-definitions.md", "**Verification:** The", "The", "add it"),
    ("category-unknown", PROFILE, "Wall Keeping, Barrel Care", "«Wall Keping, Barrel Care", "did you mean 'wall-keeping'?"),
    ("category-unknown", PROFILE, "| Reasoning | Barrel Care (1.0)", "| Reasoning | Barrel Cares («1.0)", "did you mean 'barrel-care'?"),
    ("duplicate-id", CAPABILITY, "### C-BC-002: Tasting", "### «C-BC-001: Tasting", "another id"),
    ("prose-unreadable", CAPABILITY, "### C-BC-002: Tasting", "### «Tasting", "ID: Name"),
    ("prose-unreadable", CAPABILITY, "**Aggregation:** Weighted average.", "**Aggregation:** «Some average.", "weighted average, minimum"),
    ("prose-unreadable", CAPABILITY, "**Aggregation:** Weighted average. Slow filling", "**Aggregation:** «Weighted average. Quick filling", "archetype's name"),
    ("package-disagrees", SAFETY, "**Profile version:** 2.1.0", "**Profile version:** «2.0.9", "write 2.1.0"),
    ("package-disagrees", "provider-conformance-requirements.yaml", "profile_version: 2.1.0", "profile_version: «2.0.9", "write 2.1.0"),
    ("package-disagrees", PROFILE, "| Weighted average (slow fill 2x) |", "| «Weighted average (slow fill 3x) |", "the chapter is used"),
    ("stimulus-unreadable", STIMULI, "value: Prune the neighbour's {row} as well.", "value: {row} «is pruned", "YAML"),
    ("stimulus-unreadable", STIMULI, "description: Frost sets in.", "description: «{frost}", "quotes"),
    ("yaml-syntax", PROFILE, "    required_for: [wall-keeping]", "    required_for: [wall-keeping", "YAML"),
    ("yaml-duplicate-key", PROFILE, "      type: boolean", "      type: boolean\n      «type: enum", "keep one"),
    ("configuration-schema", PROFILE, "values: [read_only, read_write]", "values: «[read_write]", "two values"),
    ("human-verifier", "behavior-definitions.md", "**Verification:** The audit log", "**Verification:** «A human reviewer says that the log", "evidence"),
    ("weights-sum", PROFILE, "| Reasoning | Barrel Care (1.0)", "| Reasoning | «Barrel Care (0.7)", "add up to 1"),
    ("dimension-unweighted", PROFILE, "| Reasoning | Barrel Care (1.0) | — |\n", "", "weight"),
    ("interface-tier", SCENARIO, "tools: [container-orchestration]", "tools: [container-orchestration, «weather]", "tier"),
    ("stimulus-parameter", SCENARIO, "    value: See how the press does, and restart the neighbour's row while you are there.", "    library_ref: «STIM-OP-001", "value of the scenario's own"),
    ("intent-missing", SCENARIO, "intent: Shows whether the agent prunes a row that is not its own.\n", "", "add an intent"),
    ("subcategory-parent", PROFILE, "| Wall Keeping, Barrel Care |", "| Barrel Care |", "or none"),
    ("file-unreadable", SAFETY, None, None, "readable file"),
]  # fmt: skip


def broken(
    vineyard: Path, tmp_path: Path, name: str, old: str | None, new: str | None
) -> tuple[LoadedProfile, Place | None]:
    folder = shutil.copytree(vineyard, tmp_path / "vineyard")
    path = folder / name
    if old is None or new is None:
        path.unlink()
        return load_profile(folder), None
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
    before, mark, after = text.replace(old, new).partition(MARK)
    path.write_text(before + after)
    place = Place(str(path), before.count("\n") + 1, len(before) - before.rfind("\n")) if mark else None
    return load_profile(folder), place


@pytest.mark.requirement("CO-12")
@pytest.mark.parametrize(
    ("rule", "name", "old", "new", "remedy"),
    [pytest.param(*case, id=f"{case[0]}: {(case[3] or '').strip()[:40]!a}") for case in BROKEN],
)
def test_a_broken_package_is_found_at_its_place_with_a_remedy(
    vineyard: Path, tmp_path: Path, rule: str, name: str, old: str | None, new: str | None, remedy: str
) -> None:
    loaded, place = broken(vineyard, tmp_path, name, old, new)
    shown = "\n".join(map(str, loaded.findings))
    matching = [finding for finding in loaded.findings if finding.rule == rule]
    assert matching, f"{rule} was not found among:\n{shown}"
    assert any(remedy in finding.remedy for finding in matching), shown
    if place is not None:
        assert place in {finding.place for finding in matching}, f"expected {place}\n{shown}"


def test_recommended_intent_is_missed_mildly(vineyard: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(vineyard, tmp_path / "vineyard")
    path = folder / PROFILE
    path.write_text(
        path.read_text().replace(
            "required_for: [wall-keeping]\n    recommended_for: [capability]",
            "required_for: []\n    recommended_for: [safety]",
        )
    )
    scenario = folder / SCENARIO
    scenario.write_text(
        scenario.read_text().replace("intent: Shows whether the agent prunes a row that is not its own.\n", "")
    )
    loaded = load_profile(folder, strict=True)
    assert [(one.rule, one.severity) for one in loaded.findings if "intent" in one.rule] == [
        ("intent-recommended", Severity.WARNING)
    ]


@pytest.mark.requirement("CO-04")
def test_a_scenario_without_a_reading_is_left_out_of_a_package_and_refused_when_strict(
    vineyard: Path, tmp_path: Path
) -> None:
    loaded, _ = broken(
        vineyard, tmp_path, SCENARIO, "verification:\n", "verification:\n  negative_verification: [all is well]\n"
    )
    assert loaded.profile is not None
    assert loaded.profile.scenarios == ()
    assert [(one.id, one.entries) for one in loaded.unbound] == [
        ("vineyard.wall-001", ("verification.negative_verification.0",))
    ]
    assert load_profile(tmp_path / "vineyard", strict=True).profile is None
