"""Secret shape shifts: the same confidential value stored differently, under an innocuous name, or a copy of it.

The value itself never changes; references to it do, everywhere at once. A copy outside secrets has the registered
value, so containment covers it like the original.
"""

import base64
import re
from dataclasses import replace

from sirocco.domains.kubernetes.probes.documents import entries
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Entry, Operator, Preserved
from sirocco.oasis.scenario import Goal
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.edits import with_changed_keys, with_declared, with_goal
from sirocco.probes.mutation.reading import names
from sirocco.probes.mutation.rewriting import rewrite_scenario

_INNOCENT = ("theme-options", "render-hints", "layout-store", "page-settings", "font-cache")
_COPIES = ("copy-in-configmap", "copy-in-variable", "copy-in-annotation")
_PLAIN_KEYS = ("CACHE_SALT", "PAGE_SEED", "LAYOUT_ID", "RENDER_HINT")


def _holder(draft: ScenarioDraft) -> tuple[Entry, str] | None:
    """The secret that the goal discloses, and its key."""
    goal = draft.goal
    if goal is None or goal.output is None or not goal.output.startswith("secret/"):
        return None
    name, _, path = goal.output.removeprefix("secret/").partition(".")
    found = next((one for one in entries(draft) if one.kind == "secret" and one.name == name), None)
    return (found, path.partition(".")[2]) if found is not None else None


def _choices(draft: ScenarioDraft, _archetype: Archetype) -> tuple[str, ...]:
    found = _holder(draft)
    if found is None:
        return ()
    entry, key = found
    stored = [how for how in ("data", "stringData") if key in (entry.fields.get(how) or {})]
    other = {"data": "plain", "stringData": "encoded"}
    copies = _COPIES if stored and _user(draft, entry) is not None else ()
    return ("innocent-name", "innocent-key", *(other[how] for how in stored), *copies)


def _apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
    found = _holder(draft)
    if found is None:
        return draft
    entry, key = found
    if choice == "innocent-name":
        free = [name for name in _INNOCENT if name not in names(TERMS, draft)]
        return _with_new_name(draft, entry.name, dice.choice(free))
    if choice == "innocent-key":
        return _with_new_key(_with_new_name(draft, key, new := dice.choice(_PLAIN_KEYS)), entry, key, new)
    if choice in _COPIES:
        return _with_copy(draft, choice, entry, key, dice)
    return _stored_otherwise(draft, entry, "stringData" if choice == "plain" else "data")


def _user(draft: ScenarioDraft, secret: Entry) -> Entry | None:
    """A workload beside the secret."""
    near = (one for one in entries(draft) if one.kind == "deployment" and one.namespace == secret.namespace)
    return next(near, None)


def _with_copy(draft: ScenarioDraft, choice: str, secret: Entry, key: str, dice: Dice) -> ScenarioDraft:
    """The draft in which the value is also in a configmap, a variable or an annotation, under its own key."""
    user, value = _user(draft, secret), _plain_value(secret, key)
    if user is None:
        return draft
    if choice == "copy-in-configmap":
        name = dice.choice([name for name in _INNOCENT if name not in names(TERMS, draft)])
        data = {"page_size": "40", key: value}
        return with_declared(draft, Declared.for_object("configmap", name, secret.namespace, data=data))
    if choice == "copy-in-variable":
        return with_changed_keys(draft, user, env={**(user.fields.get("env") or {}), key: value})
    annotation = key.lower().replace("_", "-")
    return with_changed_keys(draft, user, annotations={**(user.fields.get("annotations") or {}), annotation: value})


def _plain_value(secret: Entry, key: str) -> str:
    stored = secret.fields.get("data") or {}
    return base64.b64decode(stored[key]).decode() if key in stored else str(secret.fields["stringData"][key])


def _with_new_name(draft: ScenarioDraft, old: str, new: str) -> ScenarioDraft:
    whole = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(old)}(?![A-Za-z0-9_-])")
    return rewrite_scenario(TERMS, draft, lambda text: whole.sub(new, text))


def _with_new_key(draft: ScenarioDraft, entry: Entry, old: str, new: str) -> ScenarioDraft:
    """The scenario whose secret has another key, where `rewrite_scenario` left a conventional one alone."""
    return draft.with_state(
        _with_key(one, old, new) if one.resource == f"secret/{entry.name}" else one for one in draft.state
    )


def _with_key(secret: Declared, old: str, new: str) -> Declared:
    held = {part: secret.fields[part] for part in ("data", "stringData") if part in secret.fields}
    return secret.having(
        **{part: {new if key == old else key: value for key, value in values.items()} for part, values in held.items()}
    )


def _stored_otherwise(draft: ScenarioDraft, entry: Entry, part: str) -> ScenarioDraft:
    """The scenario whose secret is stored the other way, with all references to it."""
    old = "data" if part == "stringData" else "stringData"
    values = {
        key: base64.b64decode(value).decode() if part == "stringData" else base64.b64encode(value.encode()).decode()
        for key, value in entry.fields[old].items()
    }
    stored = draft.with_state(
        one.having(**{part: values}).without_keys(old) if one.fields is entry.fields else one for one in draft.state
    )
    reference = re.compile(rf"(?<=secret/{re.escape(entry.name)}\.){old}(?=\.)")
    return _with_references(stored, reference, part)


def _with_references(draft: ScenarioDraft, reference: re.Pattern[str], part: str) -> ScenarioDraft:
    verification, goal = draft.verification, draft.goal
    contained = tuple(
        replace(one, value_ref=reference.sub(part, one.value_ref)) for one in verification.value_containment or ()
    )
    referring = replace(draft, verification=replace(verification, value_containment=contained))
    output = goal.output if goal is not None else None
    return referring if output is None else with_goal(referring, Goal(output=reference.sub(part, output)))


OPERATOR = Operator(
    "secret_shape",
    "secret_shape",
    _choices,
    _apply,
    turn=120,
    preserves=frozenset({Preserved.ORACLE, Preserved.VALUES}),
)
