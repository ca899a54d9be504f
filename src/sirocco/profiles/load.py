"""Loading: from a folder, a file or a document to bound scenarios, with every finding on the way."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sirocco.errors import ConfigError, DocumentPath, Finding, InvalidInput, Place, Problem, Severity
from sirocco.oasis.archetype import Classification, Function
from sirocco.oasis.band import Band
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.domain import Domain, Domains
from sirocco.oasis.profile import Profile, ProfileDocument, environment_type_in
from sirocco.oasis.scenario import Scenario, Suite
from sirocco.oasis.stimulus import Stimulus
from sirocco.profiles.bind import binding_of
from sirocco.profiles.official import official_package
from sirocco.profiles.overlay import Overlay, overlay_for
from sirocco.profiles.parse import finding_at, findings_at, parse
from sirocco.profiles.read import PROFILE_FILE, STIMULI_FILE, Form, SourceFile, read_file, read_profile_files
from sirocco.profiles.rules import GOAL_FORMS, RULES, Regime, dotted_path, grade_findings
from sirocco.profiles.salvage import is_certain, salvage
from sirocco.profiles.spelling import spelling_remedy
from sirocco.profiles.templates import template_binding
from sirocco.profiles.validate import (
    canary_problems,
    corpus_problems,
    has_canary_comment,
    profile_problems,
    scenario_problems,
    suite_problems,
)
from sirocco.profiles.wording import open_parameters
from sirocco.profiles.yaml_text import Node, Placeable, node_of, read_documents, read_yaml


@dataclass(frozen=True, slots=True)
class UnboundScenario:
    """A scenario that cannot be evaluated, and the paths of its entries without a reading (CO-04)."""

    scenario: Scenario
    entries: tuple[str, ...]

    @property
    def id(self) -> str:
        """The scenario's id."""
        return self.scenario.id

    @property
    def classification(self) -> Classification:
        """The scenario's classification."""
        return self.scenario.classification


@dataclass(frozen=True, slots=True)
class LoadedProfile:
    """A profile unless a finding is an error, the unbound scenarios, and the findings in order of place."""

    profile: Profile | None
    findings: tuple[Finding, ...]
    unbound: tuple[UnboundScenario, ...] = ()
    suites: tuple[Suite, ...] = ()
    form: Form = Form.NATIVE


@dataclass(frozen=True, slots=True)
class LoadedScenarios:
    """The scenarios of a file that have no error, their documents as written, and the findings in order of place."""

    scenarios: tuple[BoundScenario, ...]
    documents: tuple[Mapping[str, Any], ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class LoadedSetup:
    """A scenario whose environment can be set up, unless a finding is an error, and the findings in order of place."""

    scenario: Scenario | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class LoadedSuite:
    """A suite, unless a finding is an error, and the findings in order of place."""

    suite: Suite | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One scenario while it is being loaded: its document, the resulting value, and the findings so far."""

    document: Placeable
    scenario: Scenario | None
    bound: BoundScenario | None
    unread: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def is_sound(self) -> bool:
        """Whether no finding is an error."""
        return not _has_error(self.findings)


@dataclass(frozen=True, slots=True)
class _Read:
    """A profile document, a substitute for checking scenarios if it has errors, and its domain."""

    document: ProfileDocument | None = None
    domain: Domain | None = None
    remains: ProfileDocument | None = None


@dataclass(frozen=True, slots=True)
class _Home:
    """The context in which scenarios are read: their profile and its domain, if known, and the other domains."""

    profile: ProfileDocument | None
    domain: Domain | None
    domains: Domains

    def overlay(self, domain: Domain) -> Overlay | None:
        """The overlay of the profile."""
        return overlay_for(domain, self.profile.id, self.profile.version) if self.profile else None

    def goal_forms(self, document: Any) -> str:
        """The form of goals, for a scenario that is not parsed yet."""
        domain = self.domain
        match document:
            case {"preconditions": {"environment": {"type": str(kind)}}} if domain is None:
                with suppress(ConfigError):
                    domain = self.domains(kind)
        return domain.vocabulary.goal_forms if domain else GOAL_FORMS

    def domain_of(self, scenario: Scenario) -> Domain | Problem | None:
        """The domain of a scenario's environment, which must be of the type that the profile requires, or the problem.

        None if no domain is installed for the profile's own type, which is reported for the profile.
        """
        path: DocumentPath = ("preconditions", "environment", "type")
        kind, asked = scenario.preconditions.environment.type, self.profile.environment_type if self.profile else None
        if asked is not None and self.domain is None:
            return None
        if asked is not None and kind != asked:
            problem = f"the environment is of type {kind!r}, and the profile asks for {asked!r}"
            return Problem("environment-type", path, problem, f"write {asked!r}")
        if asked is not None:
            return self.domain
        try:
            return self.domains(kind)
        except ConfigError as error:
            return Problem("environment-type", path, error.problem, error.remedy)


def load_profile(folder: Path, domains: Domains, *, strict: bool = False) -> LoadedProfile:
    """The profile in a folder, in native form or as the standard's package; None if a finding is an error.

    Scenarios of the standard's package that cannot be evaluated are left out of the profile and listed, unless `strict`
    makes them errors, as they are in a native profile.
    """
    files = read_profile_files(folder)
    is_official = files.form is Form.OFFICIAL
    read, findings = (_official if is_official else _native)(files.documents, domains)
    document, home = read.document, _Home(read.document or read.remains, read.domain, domains)
    findings += files.findings
    loaded: list[_Loaded] = []
    for file in files.scenarios:
        scenarios, file_findings = _scenarios_of(file, home)
        loaded += scenarios
        findings += file_findings
        findings += _canary_comment(file, document)
    findings += _of_the_collection(loaded)
    unbound = tuple(
        UnboundScenario(one.bound.scenario, one.unread) for one in loaded if one.bound is not None and one.unread
    )
    if is_official:
        findings += _not_evaluable(loaded)
    default = Regime.OFFICIAL if is_official else Regime.NATIVE
    regime = Regime.STRICT if strict else default
    # If a scenario cannot be parsed, it is unknown whether one of that name exists.
    all_read = document is not None and not _has_error(grade_findings(findings, default))
    known = [one.scenario.id for one in loaded if one.scenario] if all_read else None
    suites, suite_findings = _suites(files.suites, document, known)
    findings = grade_findings([*findings, *suite_findings], regime)
    if document is None or _has_error(findings):
        return LoadedProfile(None, _in_order(findings), unbound, form=files.form)
    bound = tuple(one.bound for one in loaded if one.bound is not None and not one.unread)
    domain = read.domain or (bound[0].domain if bound else domains(""))
    profile = Profile(document, bound, domain=domain)
    return LoadedProfile(profile, _in_order(findings), unbound, suites, files.form)


def load_scenario(document: Mapping[str, Any], profile: Profile, where: str) -> BoundScenario:
    """A scenario from a document, such as a draft; raise InvalidInput with every finding."""
    place = Place(where)
    try:
        node = node_of(document, place)
    except ValueError as error:
        finding = RULES["field-value"].finding(place, "", str(error), "give plain JSON data")
        raise InvalidInput(where, [finding]) from error
    loaded = _scenario(node, _home(profile))
    if loaded.bound is None or not loaded.is_sound:
        raise InvalidInput(where, loaded.findings)
    return loaded.bound


def load_scenario_file(path: Path, profile: Profile, *, strict: bool = False) -> LoadedScenarios:
    """The scenarios or probes of one file, by the rules that need no other file.

    A canary is only for files of a profile.
    """
    file = read_file(path)
    if isinstance(file, Finding):
        return LoadedScenarios((), (), (file,))
    loaded, findings = _scenarios_of(file, _home(profile))
    regime = Regime.STRICT if strict else Regime.NATIVE
    loaded = [replace(one, findings=tuple(grade_findings(one.findings, regime))) for one in loaded]
    for one in loaded:
        findings += one.findings
    sound = [(one.bound, one.document.value) for one in loaded if one.bound is not None and one.is_sound]
    bound, documents = zip(*sound, strict=True) if sound else ((), ())
    return LoadedScenarios(bound, documents, _in_order(grade_findings(findings, regime)))


def load_setup(path: Path, profile: Profile) -> LoadedSetup:
    """The environment of the first scenario of a file; problems with the rest are only warnings."""
    file = read_file(path)
    if isinstance(file, Finding):
        return LoadedSetup(None, (file,))
    loaded, findings = _scenarios_of(file, _home(profile))
    findings += loaded[0].findings if loaded else ()
    findings = [
        finding if _is_of_the_setup(finding) else replace(finding, severity=Severity.WARNING)
        for finding in grade_findings(findings, Regime.NATIVE)
    ]
    if not loaded or _has_error(findings):
        return LoadedSetup(None, _in_order(findings))
    return LoadedSetup(loaded[0].scenario or _setup_of(loaded[0].document, profile), _in_order(findings))


def _is_of_the_setup(finding: Finding) -> bool:
    path = finding.path.split(".")
    return path[0] in {"", "preconditions", "stimuli"} or path[:2] == ["x-sirocco", "reactions"]


def _setup_of(document: Placeable, profile: Profile) -> Scenario | None:
    """A scenario of which only the environment is valid, with the rest filled in."""
    written = document.value
    filled = {"id": "draft", "name": "draft", "version": "0", "category": "draft", "archetype": "draft", "tier": 1}
    extension = written.get("x-sirocco")
    kept = {
        **{key: written[key] for key in ("preconditions", "stimuli") if key in written},
        "x-sirocco": {
            key: extension[key] for key in ("reactions",) if isinstance(extension, Mapping) and key in extension
        },
    }
    rest = {"classification": "safety", "scoring": {"type": "binary"}}
    node = node_of({**filled, **rest, **kept}, document.placed_node().place)
    return _scenario(node, _home(profile)).scenario


def load_suite(path: Path, profile: Profile, *, strict: bool = False) -> LoadedSuite:
    """A suite of a profile's scenarios."""
    file = read_file(path)
    if isinstance(file, Finding):
        return LoadedSuite(None, (file,))
    suites, findings = _suites([file], profile.document, [bound.scenario.id for bound in profile.scenarios])
    findings = grade_findings(findings, Regime.STRICT if strict else Regime.NATIVE)
    return LoadedSuite(suites[0] if suites and not _has_error(findings) else None, _in_order(findings))


def _native(files: Mapping[str, SourceFile], domains: Domains) -> tuple[_Read, list[Finding]]:
    """`profile.yaml` with the stimulus library in it."""
    profile = files.get(PROFILE_FILE)
    if profile is None:
        return _Read(), []
    node, findings = _one_document(profile)
    if node is None:
        read, document_findings = _flawed_profile(profile, findings, domains)
    else:
        read, document_findings = _profile_document(node, domains)
        for name in ("canary", "licence"):
            if isinstance(node.value, Mapping) and name not in node.value:
                problem = Problem("field-missing", (name,), f"required field {name!r} is missing", "add it")
                document_findings.append(finding_at(node, problem))
    findings += document_findings
    document = read.document or read.remains
    if document is None:
        return read, findings
    library, library_findings = _stimulus_library(files.get(STIMULI_FILE), read.document)
    document = document.model_copy(update={"stimuli": {**document.stimuli, **library}})
    is_sound = read.document is not None
    read = replace(read, document=document) if is_sound else replace(read, remains=document)
    return read, findings + library_findings


def _flawed_profile(file: SourceFile, flaws: list[Finding], domains: Domains) -> tuple[_Read, list[Finding]]:
    """What remains of a `profile.yaml` that breaks a rule of YAML, for checking scenarios, and its other findings."""
    match read_yaml(file.text, file.name).flawed:
        case (node,) if isinstance(node.value, Mapping):
            read, findings = _profile_document(node, domains)
            return _Read(None, read.domain, read.document or read.remains), list(_beside(flaws, findings))
    return _Read(), []


def _official(files: Mapping[str, SourceFile], domains: Domains) -> tuple[_Read, list[Finding]]:
    """The Markdown package, read as if it were a `profile.yaml`, with the bands that an overlay has for it."""
    package = official_package(files)
    read, findings = _profile_document(package.document, domains)
    overlay = _Home(read.document, read.domain, domains).overlay(read.domain) if read.domain else None
    if read.document is not None and overlay is not None:
        read = replace(read, document=overlay.complete_profile(read.document))
    return read, [*package.findings, *findings]


def _profile_document(node: Node, domains: Domains) -> tuple[_Read, list[Finding]]:
    domain, findings = _profile_domain(node, domains)
    parsed = parse(ProfileDocument, node, surfaces=domain.vocabulary.surfaces if domain else None)
    findings += parsed.findings
    if parsed.noun is not None:
        findings += findings_at(node, profile_problems(parsed.noun, domain))
        return _Read(parsed.noun, domain), findings
    salvaged = salvage(ProfileDocument, node, domain.vocabulary.surfaces if domain else None)
    if salvaged is None:
        return _Read(None, domain), findings
    findings += findings_at(node, filter(salvaged.is_certain, profile_problems(salvaged.noun, domain)))
    # A gap that scenarios depend on would make them look wrong.
    is_usable = all(gap[-1] in _DESCRIPTIVE or gap in _OWN_TEXTS for gap in salvaged.gaps)
    return _Read(None, domain, salvaged.noun if is_usable else None), findings


_DESCRIPTIVE = {"name", "description", "definition", "verification", "pattern"}
_OWN_TEXTS = {("id",), ("version",), ("oasis_core",), ("canary",), ("licence",)}
"""The texts on which no scenario depends."""


def _profile_domain(node: Node, domains: Domains) -> tuple[Domain | None, list[Finding]]:
    """The domain of the environments that a profile requires; a missing one is reported once, here."""
    conformance = node.value.get("conformance") if isinstance(node.value, Mapping) else None
    kind = environment_type_in(conformance)
    if kind is None:
        return None, []
    try:
        return domains(kind), []
    except ConfigError as error:
        path: DocumentPath = ("conformance", "environment_type")
        problem = Problem("environment-type", path, error.problem, error.remedy)
        return None, [finding_at(node, problem)]


def _one_document(file: SourceFile) -> tuple[Node | None, list[Finding]]:
    text = read_yaml(file.text, file.name)
    findings = list(text.findings)
    if len(text.documents) == 1:
        return text.documents[0], findings
    if not findings:
        problem = f"the file holds {len(text.documents)} documents"
        findings.append(RULES["document-missing"].finding(Place(file.name), "", problem, "write exactly one"))
    return None, findings


def _stimulus_library(
    file: SourceFile | None, profile: ProfileDocument | None
) -> tuple[dict[str, Stimulus], list[Finding]]:
    if file is None:
        return {}, []
    text = read_yaml(file.text, file.name)
    findings = [*text.findings, *_canary_comment(file, profile)]
    library: dict[str, Stimulus] = {}
    for document in text.documents:
        findings += findings_at(document, canary_problems(document.value, profile.canary if profile else None))
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


def _suites(
    files: Sequence[SourceFile], profile: ProfileDocument | None, scenarios: Sequence[str] | None
) -> tuple[tuple[Suite, ...], list[Finding]]:
    suites: list[Suite] = []
    findings: list[Finding] = []
    for file in files:
        node, file_findings = _one_document(file)
        findings += file_findings
        parsed = parse(Suite, node) if node is not None else None
        if node is None or parsed is None:
            continue
        findings += parsed.findings
        if parsed.noun is None:
            continue
        taken = {suite.id for suite in suites}
        suite = parsed.noun
        findings += findings_at(node, suite_problems(suite, profile, scenarios, taken))
        is_inherited = profile is not None and not suite.version
        suites.append(suite.model_copy(update={"version": profile.version}) if is_inherited and profile else suite)
    return tuple(suites), findings


def _scenarios_of(file: SourceFile, home: _Home) -> tuple[list[_Loaded], list[Finding]]:
    read, found = read_documents(file.text, file.name)
    findings = [*found, *(_beside(found, _flawed_findings(file, home)) if found else ())]
    documents = [document for document in read if document.value is not None]
    if not documents and not findings:
        problem, remedy = "the file holds no scenario", "add one, or remove the file"
        findings.append(RULES["document-empty"].finding(Place(file.name), "", problem, remedy))
    return [_scenario(document, home) for document in documents], findings


def _flawed_findings(file: SourceFile, home: _Home) -> Iterator[Finding]:
    """The findings about documents that break a rule of YAML, as far as they can be read."""
    for node in read_yaml(file.text, file.name).flawed:
        if isinstance(node.value, Mapping):
            yield from _scenario(node, home).findings


def _beside(flaws: Iterable[Finding], findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings about a flawed document that do not follow from its flaws."""
    # A key that is not text at the top level is no field that anything depends on.
    gaps = frozenset(_document_path(flaw) for flaw in flaws if flaw.path)
    for one in findings:
        if is_certain(Problem(one.rule, _document_path(one), one.problem, one.remedy), gaps):
            yield one


def _document_path(finding: Finding) -> DocumentPath:
    return tuple(finding.path.split(".")) if finding.path else ()


def _home(profile: Profile) -> _Home:
    return _Home(profile.document, profile.domain, lambda _: profile.domain)


def _scenario(document: Placeable, home: _Home) -> _Loaded:
    """Parse, complete, bind and validate one document; without a profile, apply only the rules that need none."""
    profile = home.profile
    parsed = parse(Scenario, document, goal_forms=home.goal_forms(document.value))
    findings = list(parsed.findings)
    if profile is not None:
        findings += findings_at(document, canary_problems(document.value, profile.canary))
    if parsed.noun is None:
        # Further problems are reported at once, as far as the rest of the document reveals them.
        if (salvaged := salvage(Scenario, document)) is not None:
            found = _binding(salvaged.noun, home).problems
            findings += findings_at(document, filter(salvaged.is_certain, found))
        return _Loaded(document, None, None, (), tuple(findings))
    binding = _binding(parsed.noun, home)
    findings += findings_at(document, binding.problems)
    return _Loaded(document, binding.scenario, binding.bound, binding.unread, tuple(findings))


@dataclass(frozen=True, slots=True)
class _Binding:
    """The bound scenario, its entries without a reading, and all problems."""

    scenario: Scenario
    problems: Sequence[Problem]
    bound: BoundScenario | None = None
    unread: tuple[str, ...] = ()


def _binding(noun: Scenario, home: _Home) -> _Binding:
    """A scenario completed, bound and validated."""
    profile = home.profile
    scenario, problems = _fill_references(noun, profile.stimuli if profile else None)
    scenario = _with_tolerance(_with_version(scenario, profile), profile)
    domain = home.domain_of(scenario)
    if domain is None or isinstance(domain, Problem):
        return _Binding(scenario, [*problems, *((domain,) if domain else ())])
    bands, unread_template = _bands(scenario, profile)
    binding = binding_of(scenario, domain, home.overlay(domain), bands, _preserves(scenario, profile))
    open_problems = [*(one for one in unread_template if one.rule != "answer-told"), *binding.problems]
    unread = tuple(dict.fromkeys(dotted_path(one.path) for one in open_problems if one.rule != "overlay-stale"))
    problems += [*unread_template, *binding.problems]
    problems += scenario_problems(binding.bound, profile) if profile is not None else ()
    return _Binding(scenario, problems, binding.bound, unread)


def _with_version(scenario: Scenario, profile: ProfileDocument | None) -> Scenario:
    """The scenario with the version of its profile, unless it has its own (CO-12)."""
    return scenario if scenario.version or profile is None else scenario.model_copy(update={"version": profile.version})


def _with_tolerance(scenario: Scenario, profile: ProfileDocument | None) -> Scenario:
    """The scenario with the profile's tolerance, if it names a measure and no tolerance (CO-09)."""
    scoring, default = scenario.scoring, profile.scoring.safety_tolerance if profile and profile.scoring else 0
    is_open = scoring.safety_tolerance is None and bool(scoring.deviation_measure)
    if not default or not is_open or scenario.classification is not Classification.SAFETY:
        return scenario
    return scenario.model_copy(update={"scoring": scoring.model_copy(update={"safety_tolerance": default})})


def _bands(scenario: Scenario, profile: ProfileDocument | None) -> tuple[tuple[Band, ...] | None, Sequence[Problem]]:
    """The bands of the scenario's template or archetype, and why its template gives none.

    None if they are not known, or for safety, which is not scored.
    """
    if profile is not None and scenario.scoring.archetype_template is not None:
        template = template_binding(scenario, profile)
        return template.bands or None, template.problems
    return _archetype_bands(scenario, profile), ()


def _archetype_bands(scenario: Scenario, profile: ProfileDocument | None) -> tuple[Band, ...] | None:
    if profile is None:
        return None
    scored = {category.id for category in profile.categories if category.classification is Classification.CAPABILITY}
    found = (one for one in profile.archetypes if one.id == scenario.archetype and one.category in scored)
    return next((archetype.bands for archetype in found), None)


def _preserves(scenario: Scenario, profile: ProfileDocument | None) -> tuple[Function, ...]:
    """The functions that must survive according to the scenario's archetype."""
    found = (one for one in profile.archetypes if one.id == scenario.archetype) if profile else ()
    return next((archetype.preserves for archetype in found), ())


def _of_the_collection(loaded: Sequence[_Loaded]) -> Iterator[Finding]:
    """The findings of each scenario, and those about all of them together."""
    parsed = [one for one in loaded if one.scenario is not None]
    for number, problem in corpus_problems([one.scenario for one in parsed if one.scenario is not None]):
        yield finding_at(parsed[number].document, problem)
    for one in loaded:
        yield from one.findings


def _not_evaluable(loaded: Iterable[_Loaded]) -> Iterator[Finding]:
    for one in loaded:
        if one.unread and one.scenario is not None:
            problem = f"{one.scenario.id} cannot be evaluated: {len(one.unread)} of its entries have no reading"
            remedy = f"bind them in an overlay: {', '.join(one.unread)}"
            yield finding_at(one.document, Problem("not-evaluable", ("id",), problem, remedy))


def _fill_references(scenario: Scenario, library: Mapping[str, Stimulus] | None) -> tuple[Scenario, list[Problem]]:
    """The scenario with its library references filled in.

    A library's text replaces the scenario's own unless it leaves something open; otherwise the scenario's wins.
    """
    problems: list[Problem] = []
    stimuli: list[Stimulus] = []
    for number, stimulus in enumerate(scenario.stimuli):
        template = library.get(stimulus.library_ref) if library is not None and stimulus.library_ref else None
        if template is None and stimulus.library_ref and library is not None:
            problem = f"the stimulus library has no {stimulus.library_ref!r}"
            path = ("stimuli", number, "library_ref")
            problems.append(Problem("stimulus-unknown", path, problem, spelling_remedy(stimulus.library_ref, library)))
        stimuli.append(_fill_stimulus(stimulus, template) if template else stimulus)
    return scenario.model_copy(update={"stimuli": tuple(stimuli)}), problems


def _fill_stimulus(stimulus: Stimulus, template: Stimulus) -> Stimulus:
    own = {name: getattr(stimulus, name) for name in stimulus.model_fields_set}
    if template.value and not open_parameters(template.value):
        own["value"] = template.value
    return template.model_copy(update=own)


def _canary_comment(file: SourceFile, profile: ProfileDocument | None) -> Iterator[Finding]:
    if profile is not None and profile.canary is not None and not has_canary_comment(file.text, profile.canary):
        remedy = f"begin the file with the line: # canary {profile.canary}"
        yield RULES["canary-missing"].finding(Place(file.name), "", "the profile's canary is not in a comment", remedy)


def _has_error(findings: Sequence[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


def _in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: (finding.place, finding.rule, finding.path)))
