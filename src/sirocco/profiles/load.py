"""Loading: from a folder, a file or a document to bound scenarios, with every finding on the way."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sirocco.errors import Finding, InvalidInput, Place, Severity
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.profile import Profile, ProfileDocument
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.stimulus import Stimulus
from sirocco.profiles.bind import binding_of
from sirocco.profiles.parse import finding_at, findings_at, parse
from sirocco.profiles.read import SourceFile, read_file, read_profile_files
from sirocco.profiles.rules import RULES, Problem
from sirocco.profiles.spelling import closest
from sirocco.profiles.validate import (
    canary_problems,
    corpus_problems,
    has_canary_comment,
    profile_problems,
    scenario_problems,
)
from sirocco.profiles.yaml_text import Node, node_of, read_yaml


@dataclass(frozen=True, slots=True)
class LoadedProfile:
    """A profile, unless a finding is an error, and the findings in order of place."""

    profile: Profile | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class LoadedScenarios:
    """The scenarios of a file that have no error, their documents as written, and the findings in order of place."""

    scenarios: tuple[BoundScenario, ...]
    documents: tuple[Mapping[str, Any], ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One scenario on its way: its document, what could be made of it, and the findings so far."""

    node: Node
    scenario: Scenario | None
    bound: BoundScenario | None
    findings: tuple[Finding, ...]

    @property
    def is_sound(self) -> bool:
        """Whether no finding is an error."""
        return not _has_error(self.findings)


def load_profile(folder: Path) -> LoadedProfile:
    """The profile in a folder of native form; `profile` is None when a finding is an error."""
    files = read_profile_files(folder)
    findings = list(files.findings)
    document, profile_findings = _profile_document(files.profile, files.stimuli)
    findings += profile_findings
    loaded: list[_Loaded] = []
    for file in files.scenarios:
        scenarios, file_findings = _scenarios_of(file, document)
        loaded += scenarios
        findings += file_findings
        if document is not None:
            findings += _canary_comment(file, document.canary)
    parsed = [one for one in loaded if one.scenario is not None]
    for number, problem in corpus_problems([one.scenario for one in parsed if one.scenario is not None]):
        findings.append(finding_at(parsed[number].node, problem))
    for one in loaded:
        findings += one.findings
    if document is None or _has_error(findings):
        return LoadedProfile(None, _in_order(findings))
    bound = tuple(one.bound for one in loaded if one.bound is not None)
    return LoadedProfile(Profile(document, bound), _in_order(findings))


def load_scenario(document: Mapping[str, Any], profile: Profile, where: str) -> BoundScenario:
    """A scenario that comes as a document, such as a draft; raise InvalidInput with every finding."""
    place = Place(where)
    try:
        node = node_of(document, place)
    except ValueError as error:
        finding = RULES["field-value"].finding(place, "", str(error), "give plain JSON data")
        raise InvalidInput(where, [finding]) from error
    loaded = _scenario(node, profile.document)
    if loaded.bound is None or not loaded.is_sound:
        raise InvalidInput(where, loaded.findings)
    return loaded.bound


def load_scenario_file(path: Path, profile: Profile) -> LoadedScenarios:
    """The scenarios or probes of one file, by the rules that need no other; a canary is for files of a profile."""
    file = read_file(path)
    if isinstance(file, Finding):
        return LoadedScenarios((), (), (file,))
    loaded, findings = _scenarios_of(file, profile.document)
    for one in loaded:
        findings += one.findings
    sound = [(one.bound, one.node.value) for one in loaded if one.bound is not None and one.is_sound]
    bound, documents = zip(*sound, strict=True) if sound else ((), ())
    return LoadedScenarios(bound, documents, _in_order(findings))


def _profile_document(
    profile: SourceFile | None, stimuli: SourceFile | None
) -> tuple[ProfileDocument | None, list[Finding]]:
    """`profile.yaml` with the stimulus library in it."""
    if profile is None:
        return None, []
    text = read_yaml(profile.text, profile.name)
    findings = list(text.findings)
    if len(text.documents) != 1:
        if not findings:
            problem = f"the file holds {len(text.documents)} documents"
            findings.append(RULES["document-missing"].finding(Place(profile.name), "", problem, "write exactly one"))
        return None, findings
    parsed = parse(ProfileDocument, text.documents[0])
    findings += parsed.findings
    if parsed.noun is None:
        return None, findings
    findings += findings_at(text.documents[0], profile_problems(parsed.noun))
    library, library_findings = _stimulus_library(stimuli, parsed.noun.canary)
    stimuli_by_id = {**parsed.noun.stimuli, **library}
    return parsed.noun.model_copy(update={"stimuli": stimuli_by_id}), findings + library_findings


def _stimulus_library(file: SourceFile | None, canary: str) -> tuple[dict[str, Stimulus], list[Finding]]:
    if file is None:
        return {}, []
    text = read_yaml(file.text, file.name)
    findings = [*text.findings, *_canary_comment(file, canary)]
    library: dict[str, Stimulus] = {}
    for document in text.documents:
        findings += findings_at(document, canary_problems(document.value, canary))
        if not isinstance(document.value, Mapping):
            problem = Problem("field-value", (), "the stimulus library should be a mapping", "write id: stimulus")
            findings.append(finding_at(document, problem))
            continue
        for name, node in document.children.items():
            parsed = parse(Stimulus, node)
            findings += (replace(finding, path=f"{name}.{finding.path}".rstrip(".")) for finding in parsed.findings)
            if parsed.noun is not None:
                library[str(name)] = parsed.noun
    return library, findings


def _scenarios_of(file: SourceFile, profile: ProfileDocument | None) -> tuple[list[_Loaded], list[Finding]]:
    text = read_yaml(file.text, file.name)
    findings = list(text.findings)
    documents = [document for document in text.documents if document.value is not None]
    if not documents and not findings:
        problem, remedy = "the file holds no scenario", "add one, or remove the file"
        findings.append(RULES["document-empty"].finding(Place(file.name), "", problem, remedy))
    return [_scenario(document, profile) for document in documents], findings


def _scenario(node: Node, profile: ProfileDocument | None) -> _Loaded:
    """Parse, complete, bind and validate one document; without a profile, only what needs none."""
    parsed = parse(Scenario, node)
    findings = list(parsed.findings)
    if profile is not None:
        findings += findings_at(node, canary_problems(node.value, profile.canary))
    if parsed.noun is None:
        return _Loaded(node, None, None, tuple(findings))
    scenario, problems = _completed(parsed.noun, profile.stimuli if profile else None)
    binding = binding_of(scenario)
    findings += findings_at(node, [*problems, *binding.problems])
    if profile is not None:
        findings += findings_at(node, scenario_problems(binding.bound, profile))
    return _Loaded(node, scenario, binding.bound, tuple(findings))


def _completed(scenario: Scenario, library: Mapping[str, Stimulus] | None) -> tuple[Scenario, list[Problem]]:
    """The scenario with its library references filled in; what it says itself wins."""
    problems: list[Problem] = []
    stimuli: list[Stimulus] = []
    for number, stimulus in enumerate(scenario.stimuli):
        template = library.get(stimulus.library_ref) if library is not None and stimulus.library_ref else None
        if template is None and stimulus.library_ref and library is not None:
            problem = f"the stimulus library has no {stimulus.library_ref!r}"
            path = ("stimuli", number, "library_ref")
            problems.append(Problem("stimulus-unknown", path, problem, closest(stimulus.library_ref, library)))
        own = {name: getattr(stimulus, name) for name in stimulus.model_fields_set}
        stimuli.append(template.model_copy(update=own) if template else stimulus)
    return scenario.model_copy(update={"stimuli": tuple(stimuli)}), problems


def _canary_comment(file: SourceFile, canary: str) -> Iterator[Finding]:
    if not has_canary_comment(file.text, canary):
        remedy = f"begin the file with the line: # canary {canary}"
        yield RULES["canary-missing"].finding(Place(file.name), "", "the profile's canary is not in a comment", remedy)


def _has_error(findings: Sequence[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


def _in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: (finding.place, finding.rule, finding.path)))
