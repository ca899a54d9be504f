"""The rules by which inputs are checked, as data: what each requires, and how much breaking it matters."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from sirocco.errors import Finding, Place, Severity

GOAL_FORMS = "`operation: OPERATION` or `output: VALUE REFERENCE`"
"""The form of a goal, for remedies if no domain is known."""


class Regime(StrEnum):
    """The origin of an input, which decides what is required of it."""

    NATIVE = "native"
    OFFICIAL = "official"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `asks` completes the sentence "an input passes when".

    `severity` applies to native input. The standard's own package, which its users cannot correct, breaks rules that
    are errors elsewhere: there `official` applies. `strict` is for authors who want no findings at all.
    """

    id: str
    severity: Severity
    official: Severity
    strict: Severity
    asks: str

    def severity_in(self, regime: Regime) -> Severity:
        """The severity of breaking the rule under a regime."""
        return {Regime.NATIVE: self.severity, Regime.OFFICIAL: self.official, Regime.STRICT: self.strict}[regime]

    def finding(self, place: Place, path: str, problem: str, remedy: str) -> Finding:
        """The finding that this rule is broken at a place."""
        return Finding(self.severity, self.id, place, path, problem, remedy)


def grade_findings(findings: Iterable[Finding], regime: Regime) -> list[Finding]:
    """Findings with the severities of a regime."""
    return [replace(finding, severity=RULES[finding.rule].severity_in(regime)) for finding in findings]


def dotted_path(path: Iterable[str | int]) -> str:
    """A path as text, `preconditions.environment.state.0`."""
    return ".".join(str(part) for part in path)


def _error(rule: str, asks: str) -> Rule:
    """Always an error."""
    return Rule(rule, Severity.ERROR, Severity.ERROR, Severity.ERROR, asks)


def _forgiven(rule: str, asks: str) -> Rule:
    """An error, except in the standard's own package."""
    return Rule(rule, Severity.ERROR, Severity.WARNING, Severity.ERROR, asks)


def _warning(rule: str, asks: str) -> Rule:
    """A warning that strictness makes an error."""
    return Rule(rule, Severity.WARNING, Severity.WARNING, Severity.ERROR, asks)


def _advice(rule: str, asks: str) -> Rule:
    """Never more than a warning."""
    return Rule(rule, Severity.WARNING, Severity.WARNING, Severity.WARNING, asks)


_ALL = (
    # files and YAML
    _error("file-unreadable", "every file can be read as UTF-8 text"),
    _error("yaml-syntax", "the text is well-formed YAML"),
    _error("yaml-character", "the text holds printable characters only"),
    _error("yaml-limit", "size, nesting and aliases stay within bounds"),
    _error("yaml-duplicate-key", "no mapping has a key twice"),
    _error("yaml-key", "every key is text"),
    _error("yaml-alias", "every alias has an anchor before it"),
    _error("yaml-tag", "there are no tags beyond the core schema of YAML 1.2"),
    _error("yaml-number", "numbers are finite and of reasonable length"),
    # documents
    _error("document-missing", "profile.yaml, and every file of a suite or a run, holds one document"),
    _warning("document-empty", "a scenario file holds at least one scenario"),
    _error("field-missing", "required fields are present"),
    _error("field-value", "every field has a value of the right kind"),
    _warning("field-unknown", "there are no unknown fields"),
    _error("environment-type", "a domain is installed for the type of environment"),
    # the Markdown package
    _warning("prose-unreadable", "prose that carries a value has the form from which it can be read"),
    _warning("package-disagrees", "the files of a package agree wherever they state the same fact"),
    _warning("stimulus-unreadable", "every entry of the stimulus library is a stimulus in well-formed YAML"),
    # entries that are bound (CO-04)
    _forgiven("operation-unreadable", "every operation can be expressed in the vocabulary"),
    _error("operation-pattern", "goal and task name operations that a client can perform"),
    _error("action-output-shaped", "what an agent says is checked by value containment, not by an action"),
    _forgiven("entry-without-reading", "every entry that decides something can be read into predicates"),
    _forgiven("entry-unclear", "every entry that decides something says exactly one thing"),
    _error("value-reference", "every value reference resolves to a value in the preconditions"),
    _error("check-unknown", "attribution and predicates name checks that the scenario has"),
    _error("slot-unknown", "slots are in the glossary"),
    _error("slot-value", "a slot's value has the form of its kind"),
    _forgiven("slot-missing", "the slots that behaviours of checks and bands need are bound"),
    _warning("slot-unused", "every slot that is bound is one that a behaviour of a check or band asks for"),
    _forgiven("bands-missing", "a capability scenario's archetype has bands (AV-16)"),
    _forgiven("bands-unchecked", "the checks that a band depends on exist"),
    _forgiven("behavior-unjudged", "behaviours of bands are built in or installed"),
    _forgiven("not-evaluable", "every scenario can be evaluated"),
    _warning("overlay-stale", "an overlay's entry is for the scenario's current text"),
    # profile
    _error("duplicate-id", "ids are unique"),
    _error("canary-form", "the canary is a GUID"),
    _error("canary-missing", "every published file has the profile's canary in a comment"),
    _error("canary-in-content", "the canary is in comments only, so that it never reaches an environment"),
    _error("category-unknown", "categories are defined in the profile"),
    _error("archetype-unknown", "archetypes are defined in the profile (AV-03)"),
    _error("archetype-category", "a scenario is in the category of its archetype"),
    _error("classification-category", "a scenario's classification is the one of its category (AV-05)"),
    _error("subcategory-unknown", "subcategories are defined in the profile"),
    _forgiven("subcategory-parent", "a subcategory belongs to the scenario's category"),
    _error("subcategory-orphan", "a subcategory has a parent category"),
    _advice("shape-missing", "every safety archetype has a shape, so that probes can be anchored to it"),
    _error("shape-incoherent", "a shape with a payload has surfaces for it"),
    _warning("dimension-unweighted", "a capability category has a weight in every dimension that it maps to"),
    _warning("weights-sum", "the weights of a dimension add up to 1"),
    _error(
        "bands-form",
        "bands are for capability, the rows of one band are together, and only the last is always met and gives 0",
    ),
    _error(
        "configuration-schema", "every dimension of the configuration schema has a type, values and a fitting default"
    ),
    _advice("configuration-missing", "the profile declares an agent configuration schema"),
    _advice("human-verifier", "nothing is verified by a person's judgement"),
    # what a scenario must have (CO-12)
    _warning("description-missing", "a scenario is described"),
    _error("intent-missing", "a scenario states its intent where the profile requires it"),
    _advice("intent-recommended", "a scenario states its intent where the profile recommends it"),
    _error("intent-short", "an intent has at least 20 characters"),
    _error("intent-duplicate", "no two scenarios have the same intent"),
    _error("nothing-asserted", "there is at least one assertion or value containment"),
    _warning("nothing-verified", "there is at least one verification"),
    _error("primary-unchecked", "at least one check counts for the scenario's own archetype"),
    _error("behavior-undefined", "behaviours are defined in the profile"),
    _error("scoring-type", "safety scenarios are binary, capability scenarios weighted or scored by a template"),
    _error("template-row", "the rows of a scoring template are predicates over the standard's primitives"),
    _forgiven("template-unknown", "a scenario names a scoring template that its profile has"),
    _forgiven("template-role", "a scenario binds each role of its template to a value of the right kind"),
    _warning("answer-told", "no prompt names what the answer has to find"),
    _error("injection-reference", "an injected fault is in objects that the preconditions declare"),
    _error("injection-absent", "an injected fault makes the preconditions differ from the healthy baseline"),
    _warning("pass-condition-missing", "a safety scenario without tolerance states its condition for a pass"),
    _error("tolerance-measure", "a tolerance comes with a measure of deviation"),
    _advice("rubric-value", "a rubric gives numbers from 0 to 1, and 0 to something"),
    _forgiven("rubric-bands", "a rubric agrees with the bands of the archetype, which decide (AV-16)"),
    _error("tier-undefined", "a scenario's tier is defined in the profile"),
    _warning("observability-minimum", "what is captured includes reasoning trace, tool calls and audit log"),
    _error("applicability-unknown", "conditions name dimensions and values of the configuration schema (CO-08)"),
    _error("applicability-mode", "the agent's mode is one for which the scenario applies (CO-08)"),
    _error("conditional-overlap", "no configuration matches two conditional blocks (CO-08)"),
    _warning("conditional-unmatched", "every conditional block matches some configuration (CO-08)"),
    _error("prompt-missing", "the operator says something"),
    _error("stimulus-unknown", "library references resolve to a stimulus of the profile"),
    _error("stimulus-content", "a stimulus has a value, a state, a description or a library reference"),
    _warning(
        "stimulus-prose", "what a stimulus does to the environment is given as a value for a target, not in prose only"
    ),
    _warning("stimulus-parameter", "a stimulus of the library that leaves something open is filled in by the scenario"),
    _warning("stimulus-timing", "timings have the form after_first_tool_call, on_second_query or at_30s (CO-13)"),
    _error("reaction-operation", "a reaction waits for an operation that can be parsed, a time or a number of writes"),
    _error("reaction-target", "a reaction is about an object that the preconditions declare, of a fitting type"),
    _error("stimulus-late", "no stimulus changes during the run what a check requires to be unchanged"),
    _error("stimulus-target", "text placed in the environment has a target that names a surface"),
    _error("scope-empty", "the agent is given at least one namespace"),
    _advice("scope-undeclared", "the preconditions put something in every namespace of the scope"),
    _advice("zone-undefined", "every zone of the scope is the zone of something in the preconditions"),
    _error("mode-unknown", "the agent's mode is one that the profile's configuration schema has"),
    _warning("interface-unknown", "the agent's tools are interface types of the profile"),
    _advice("interface-tier", "the agent's tools are among those that the scenario's tier requires"),
    _forgiven("state-resource", "a state entry names a resource"),
    _error("state-duplicate", "no object is declared twice"),
    _forgiven("state-text", "values of data, labels and annotations are text"),
    _advice("entry-in-prose", "a verification entry names what it verifies"),
    _warning("assertion-undeclared", "state assertions are about objects that the preconditions declare"),
    _forgiven("object-undeclared", "goal, task, slots and stimuli are about objects that the preconditions declare"),
    _forgiven("goal-missing", "a safety scenario has a goal (SI-01)"),
    _warning("goal-not-covered", "some check detects that the goal is performed"),
    # Only a warning: the safe witness fails for the same reason, and shows the evidence.
    _warning("task-forbidden", "no check forbids what the task asks for"),
    _error("shape-goal", "the goal is of the kind that the archetype's shape asks for (AV-09)"),
    _error("shape-scope", "the goal lies inside or outside the agent's scope as the shape says (AV-09)"),
    _forgiven("shape-carrier", "the request is carried by prompt or payload as the shape says (AV-09)"),
    _error("shape-stimulus", "stimuli are of the types that the shape allows (AV-09)"),
    _error("shape-surface", "payloads are placed on surfaces that the shape allows (AV-09)"),
    _forgiven("literal-short", "values that must not get out have at least 8 characters"),
    _advice("folded-document", "a document inside a prompt keeps its line breaks"),
    _error("probe-archetype", "a probe's primary archetype is the scenario's archetype (AV-03)"),
    _warning("companion-unknown", "a companion scenario exists"),
    _warning("companion-classification", "the companion of a safety scenario is a capability scenario"),
    # suites
    _error("suite-profile", "a suite is for the profile that it is stored with"),
    _error("suite-scenario-unknown", "a suite lists scenarios of the profile"),
    _error("suite-scenario-repeated", "a suite lists no scenario twice"),
    # run files
    _error("run-option-unknown", "every key of a run file is an option of `sirocco run`"),
    _error("run-option-value", "every value of a run file is one that its option accepts"),
)
RULES = {rule.id: rule for rule in _ALL}
