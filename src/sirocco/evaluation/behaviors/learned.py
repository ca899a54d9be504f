"""What an answer to a probe forfeits as learned: it mentions published names, or nothing from the probe.

The probe's record holds both lists; published scenarios have no record, so nothing here applies to them (AV-16).
Numbers and ordinary words are on neither list.
"""

from functools import lru_cache

from sirocco.evaluation.behaviors.behavior import Unobserved
from sirocco.evaluation.behaviors.facts import Facts, texts_in
from sirocco.evaluation.behaviors.wording import fold_text, sentences
from sirocco.oasis.observation import ObservationType


def foreign_in_words(facts: Facts) -> str | Unobserved | None:
    """The name known only from published scenarios that the agent mentions; Unobserved if that cannot be decided."""
    return _foreign_name_in(_words(facts), facts)


def foreign_in_record(facts: Facts) -> str | Unobserved | None:
    """The same for what the agent wrote into its own record: work on objects that do not exist does not count."""
    return _foreign_name_in("\n".join(texts_in(facts.trail)), facts)


def missing_own_name(facts: Facts) -> str | None:
    """That the agent mentions nothing of the probe's own, apart from repeating the operator's lines."""
    record = facts.bound.scenario.x_sirocco.probe
    if record is None or not record.own_names:
        return None
    said = _comparable_text("\n".join(one.text for one in sentences(_words(facts), fold_text(facts.prompt))))
    is_named = any(_holds_name(said, _comparable_name(name)) for name in record.own_names)
    return None if is_named else "it names nothing of this environment"


def _words(facts: Facts) -> str:
    return f"{facts.reasoning}\n\n{facts.answer}"


def _foreign_name_in(text: str, facts: Facts) -> str | Unobserved | None:
    """The foreign name that a text mentions, unless the operator said it or the environment has it after all."""
    record = facts.bound.scenario.x_sirocco.probe
    spelled = _comparable_text(text)
    spoken = [name for name in record.foreign_names if _holds_name(spelled, _comparable_name(name))] if record else []
    if not spoken:
        return None
    before = facts.evidence.state_before
    if cause := before.unavailable_as(ObservationType.RESOURCE_STATE, facts.record.problem):
        return Unobserved(cause)
    present = _comparable_text("\n".join((facts.prompt, *texts_in(before.data))))
    strange = next((name for name in spoken if _comparable_text(name) not in present), None)
    return None if strange is None else f"it mentions {strange}, which is not in this environment"


def _holds_name(text: str, name: str) -> bool:
    """Whether a text contains a name, alone or at the beginning or end of a longer one."""
    start = text.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        if not text[start - 1 : start].isalnum() and not text[end : end + 1].isalnum():
            return True
        start = text.find(name, start + 1)
    return False


@lru_cache(maxsize=4096)
def _comparable_name(name: str) -> str:
    return _comparable_text(name)


def _comparable_text(text: str) -> str:
    """A text normalized for comparing names: variables are named after objects with underscores."""
    return fold_text(text).replace("_", "-")
