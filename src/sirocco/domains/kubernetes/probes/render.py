"""From goal to deed: an operation or an output of the vocabulary in a form that the grammar can ask for.

Only structured values are used, and the words come from the material, so text and goal cannot drift apart.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.operation import EXTERNAL_CREDENTIALS, IMAGE_PATH, Operation, Verb, print_path
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.mutation import Dice
from sirocco.oasis.operation import ALL, ANY
from sirocco.oasis.scenario import Goal
from sirocco.probes.language.acts import EVERYTHING, Ask, Deed, TextPlan, Thing
from sirocco.probes.language.material import Material, public_material
from sirocco.probes.language.rendering import render_text
from sirocco.probes.language.speech import GrammarSpeech

_SENSES: dict[Verb, str] = {
    Verb.GET: "read",
    Verb.LIST: "list",
    Verb.WATCH: "watch",
    Verb.LOG: "log",
    Verb.DELETE: "delete",
    Verb.DELETECOLLECTION: "delete",
    Verb.RESTART: "restart",
    Verb.ROLLBACK: "rollback",
    Verb.EXEC: "execute",
    Verb.QUERY: "query",
    Verb.SYNC: "sync",
    Verb.RETRY: "retry",
    Verb.TRIGGER: "trigger",
    Verb.SILENCE: "silence",
    Verb.AUTHENTICATE: "authenticate",
}
_LONGEST_LABEL = 63
_LINES = frozenset(
    {
        Surface.LOGS,
        Surface.CI_LOGS,
        Surface.CONFIGMAP_COMMENTS,
        Surface.ADMISSION_MESSAGES,
        Surface.EVENTS,
        Surface.METRIC_LABELS,
        Surface.TOOL_ERRORS,
        Surface.TRACE_ATTRIBUTES,
        Surface.DASHBOARD_TITLES,
        Surface.DASHBOARD_PANELS,
        Surface.STATUS_CONDITIONS,
        Surface.GITOPS_MESSAGES,
        Surface.ENV_VALUES,
        Surface.ALERT_ANNOTATIONS,
        Surface.ANNOTATIONS,
        Surface.TOOL_DESCRIPTIONS,
    }
)
"""Surfaces on which people and systems write single lines."""
_ROOM = {
    Surface.DASHBOARD_TITLES: 240,
    Surface.DASHBOARD_PANELS: 240,
    Surface.METRIC_LABELS: 240,
    Surface.EVENTS: 1000,
    Surface.ENV_VALUES: 400,
    Surface.STATUS_CONDITIONS: 600,
    Surface.CONFIGMAP_COMMENTS: 400,
}


@cache
def cluster_material() -> Material:
    """The public material with the texts about clusters."""
    return public_material(Path(__file__).parent / "material")


@dataclass(frozen=True, slots=True)
class Value:
    """The value that an output goal discloses: its key, the object that holds it, and where that is."""

    kind: str
    name: str
    key: str
    namespace: str | None = None

    @classmethod
    def from_reference(cls, value_ref: str, namespace: str | None = None) -> "Value":
        """Read `kind/name.part.key`."""
        kind, _, rest = value_ref.partition("/")
        name, _, path = rest.partition(".")
        return cls(kind, name, path.partition(".")[2] or path, namespace)


class ClusterSpeech(GrammarSpeech):
    """Implements Speech for clusters."""

    def deed(self, goal: Goal, home: str) -> Deed:
        """The goal as a deed; `home` is the namespace of a goal without one."""
        if goal.output is not None:
            value = Value.from_reference(goal.output, home)
            return Deed("reveal", Thing(value.kind, value.name, value.namespace), {"key": value.key})
        return operation_deed(Operation.parse(goal.operation or ""), home)

    def room(self, surface: str) -> tuple[int, bool]:
        """How many characters a text on the surface may have, and whether it must fit on one line."""
        return _ROOM.get(Surface(surface), 4000), Surface(surface) in _LINES

    def name_of_words(self, goal: Goal, home: str) -> str:
        """The instruction as a name or label value can hold it: its words with hyphens, as many as fit."""
        clause = re.sub(r" in namespace \S+", "", self.instruction(goal, home))
        words = [word for word in re.split(r"[^a-z0-9]+", clause.lower()) if word and word not in {"the", "of"}]
        text = ""
        for word in words:
            longer = f"{text}-{word}" if text else word
            if len(longer) > _LONGEST_LABEL:
                break
            text = longer
        return text

    def target(self, goal: Goal) -> str:
        """What the goal is about, for a sentence: kind and name."""
        return goal_target(goal)

    def is_sayable(self, goal: Goal) -> bool:
        """Whether a text can ask for it; a request to sign in would have to contain the credential."""
        return goal.operation is None or EXTERNAL_CREDENTIALS not in goal.operation


def goal_target(goal: Goal) -> str:
    """What a goal is about, for a sentence: kind and name."""
    if goal.output is not None:
        value = Value.from_reference(goal.output)
        return f"{value.kind} {value.name}"
    return _object_phrase(Operation.parse(goal.operation or ""))


def operation_deed(operation: Operation, home: str) -> Deed:
    """An operation as a deed; `home` is the namespace of one without."""
    row = BY_NOUN.get(operation.resource)
    namespace = operation.namespace or (home if row is None or row.namespaced else None)
    sense, slots = _sense(operation)
    return Deed(sense, _thing(operation, namespace), slots)


def spoken_request(operation: Operation, home: str, trade: str, dice: Dice) -> str:
    """A sentence in which the operator of a business asks for an operation, from the public material."""
    material = cluster_material()
    plan = TextPlan("prompt", (Ask(operation_deed(operation, home)),), trade=trade)
    return render_text(plan, material, dice).text


def _sense(operation: Operation) -> tuple[str, dict[str, str]]:
    """What is to be done, and what that leaves open."""
    if operation.verb is Verb.CREATE:
        return _creation(operation)
    if operation.path:
        return _change(operation)
    if operation.replicas is not None:
        sense = "scale" if operation.replicas else "scale.zero"
        return sense, {"amount": _count(operation.replicas), "count": str(operation.replicas)}
    if operation.verb is Verb.SCALE:
        return "scale_open", {}
    return _SENSES.get(operation.verb, "change"), {}


def _creation(operation: Operation) -> tuple[str, dict[str, str]]:
    if not operation.path or operation.value is None:
        return "create", {}
    return "create_with", {"field": print_path(operation.path), "value": operation.value}


def _change(operation: Operation) -> tuple[str, dict[str, str]]:
    if operation.value is None:
        return "set_open", {"field": print_path(operation.path)}
    if operation.path == IMAGE_PATH:
        return "set_image", {"value": operation.value}
    if operation.path == ("spec", "suspend") and operation.value == "true":
        return "suspend", {}
    if operation.path[0] == "metadata" and len(operation.path) == 3:
        return "mark", {
            "item": operation.path[1].removesuffix("s"),
            "key": operation.path[2],
            "value": operation.value,
        }
    if operation.path[0] == "data" and len(operation.path) == 2:
        return "set_key", {"key": operation.path[1], "value": operation.value}
    return "set", {"field": print_path(operation.path), "value": operation.value}


def _thing(operation: Operation, namespace: str | None) -> Thing:
    labels = ", ".join(f"{key}={value}" for key, value in operation.labels or ()) or None
    if operation.resource == ANY:
        return Thing(EVERYTHING, None, namespace, labels=labels)
    name = None if operation.name in {ANY, ALL} else operation.name
    return Thing(operation.resource, name, namespace, labels=labels)


def _object_phrase(operation: Operation) -> str:
    labels = ", ".join(f"{key}={value}" for key, value in operation.labels or ())
    labelled = f" labelled {labels}" if labels else ""
    if operation.resource == ANY:
        return f"everything{labelled}"
    if operation.resource == EXTERNAL_CREDENTIALS:
        return "the credentials"
    if operation.name in {ANY, ALL}:
        return f"all {BY_NOUN[operation.resource].plural}{labelled}"
    return f"{operation.resource} {operation.name}{labelled}"


def _count(replicas: int) -> str:
    return f"{replicas} replica" if replicas == 1 else f"{replicas} replicas"
