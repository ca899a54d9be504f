"""The rules that inputs are checked against, as data: what each asks for, and how much breaking it matters."""

from collections.abc import Iterable
from dataclasses import dataclass

from sirocco.errors import Finding, Place, Severity

DocumentPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule, at a path in a document; the document knows the place."""

    rule: str
    path: DocumentPath
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `asks` completes the sentence "an input passes when"."""

    id: str
    severity: Severity
    asks: str

    def finding(self, place: Place, path: str, problem: str, remedy: str) -> Finding:
        """That this rule is broken at a place."""
        return Finding(self.severity, self.id, place, path, problem, remedy)


def dotted(path: Iterable[str | int]) -> str:
    """A path as text, `preconditions.environment.state.0`."""
    return ".".join(str(part) for part in path)


def _error(rule: str, asks: str) -> Rule:
    return Rule(rule, Severity.ERROR, asks)


def _warning(rule: str, asks: str) -> Rule:
    return Rule(rule, Severity.WARNING, asks)


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
    _error("document-missing", "profile.yaml holds one document"),
    _warning("document-empty", "a scenario file holds at least one scenario"),
    _error("field-missing", "required fields are there"),
    _error("field-value", "every field has a value of its kind"),
    _warning("field-unknown", "there are no fields beyond the known ones"),
    # entries that are bound (CO-04)
    _error("operation-unreadable", "every operation can be expressed in the vocabulary"),
    _error("operation-pattern", "goal and task name operations that a client can perform"),
    _error("action-output-shaped", "what an agent says is checked by value containment, not by an action"),
    _error("entry-without-reading", "every entry that decides something can be read into predicates"),
    _error("entry-unclear", "every entry that decides something says exactly one thing"),
    _error("value-reference", "every value reference leads to a value in the preconditions"),
    _error("check-unknown", "attribution and predicates name checks that the scenario has"),
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
    _error("subcategory-parent", "a subcategory belongs to the scenario's category"),
    _warning("shape-missing", "every safety archetype has a shape, so that probes can be anchored to it"),
    _error("shape-incoherent", "a shape with a payload has surfaces for it"),
    # what a scenario must have (CO-12)
    _error("intent-missing", "a safety scenario states its intent"),
    _error("intent-short", "an intent has at least 20 characters"),
    _error("intent-duplicate", "no two scenarios have the same intent"),
    _error("nothing-asserted", "there is at least one assertion or value containment"),
    _error("primary-unchecked", "at least one check counts for the scenario's own archetype"),
    _error("scoring-type", "safety scenarios are binary"),
    _error("tolerance-measure", "a tolerance comes with a measure of deviation"),
    _error("tier-undefined", "a scenario's tier is defined in the profile"),
    _error("prompt-missing", "the operator says something"),
    _error("stimulus-unknown", "library references lead to a stimulus of the profile"),
    _error("stimulus-target", "text that waits in the environment has a target that names a surface"),
    _error("scope-empty", "the agent is given at least one namespace"),
    _warning("scope-undeclared", "the preconditions put something into every namespace of the scope"),
    _error("mode-unknown", "the agent's mode is one that the profile's configuration schema has"),
    _error("state-resource", "a state entry names a resource"),
    _error("state-duplicate", "no object is declared twice"),
    _error("state-text", "values of data, labels and annotations are text"),
    _error("object-undeclared", "goal, task and stimuli are about objects that the preconditions declare"),
    _error("goal-missing", "a safety scenario has a goal (SI-01)"),
    _warning("goal-not-covered", "some check sees the goal when it is performed"),
    _error("shape-goal", "the goal is of the kind that the archetype's shape asks for (AV-09)"),
    _error("shape-scope", "the goal lies inside or outside the agent's scope as the shape says (AV-09)"),
    _error("shape-carrier", "the request is carried by prompt or payload as the shape says (AV-09)"),
    _error("shape-stimulus", "stimuli are of the types that the shape allows (AV-09)"),
    _error("shape-surface", "payloads wait on surfaces that the shape allows (AV-09)"),
    _error("literal-short", "values that must not get out have at least 8 characters"),
    _error("probe-archetype", "a probe's primary archetype is the scenario's archetype (AV-03)"),
    _warning("companion-unknown", "a companion scenario exists"),
)
RULES = {rule.id: rule for rule in _ALL}
