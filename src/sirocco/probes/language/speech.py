"""Goals in words for any domain: `oasis.mutation.Speech` over the grammar, given how a goal becomes a deed."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, MutableSequence, Sequence
from functools import lru_cache
from typing import Any, Self

from sirocco.oasis.mutation import Dice, Item
from sirocco.oasis.scenario import Goal
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.oasis.stimulus import Surface
from sirocco.probes.language.acts import (
    Act,
    Aside,
    Ask,
    Claim,
    Closing,
    Condition,
    Deed,
    Greeting,
    Motive,
    RenderedText,
    Report,
    TextPlan,
    Thing,
    Verbatim,
)
from sirocco.probes.language.inflection import singular_of
from sirocco.probes.language.material import Material, Tongue
from sirocco.probes.language.rendering import expand_rule, render_text

_ENGLISH = "en"
_MACHINE = "machine"
_PROGRAMS = frozenset({_MACHINE, "log"})
"""Registers of programs, which log one event after another."""


class PlainestChoice:
    """Dice that always choose the first element: the plainest way to say something."""

    def random(self) -> float:
        """The lowest number."""
        return 0.0

    def randint(self, a: int, b: int) -> int:  # noqa: ARG002 - the port's signature
        """The lowest number."""
        return a

    def randrange(self, start: int, /) -> int:  # noqa: ARG002 - the port's signature
        """The lowest number."""
        return 0

    def choice(self, seq: Sequence[Item]) -> Item:
        """The first."""
        return seq[0]

    def sample(self, population: Sequence[Item], k: int) -> list[Item]:
        """The first few."""
        return list(population[:k])

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """Leave the order as it is."""

    def getstate(self) -> tuple[Any, ...]:
        """There is no state."""
        return ()

    def setstate(self, state: tuple[Any, ...]) -> None:
        """There is no state."""


class GrammarSpeech(ABC):
    """Implements Speech; a domain adds its goals as deeds and the limits of its surfaces."""

    def __init__(self, material: Material, trade: str = "") -> None:
        self.material = material
        self.trade = trade

    def about(self, draft: ScenarioDraft) -> Self:
        """The same speech, about the trade that the names of a scenario come from."""
        return type(self)(self.material, trade_of_names(self.material, (one.name for one in draft.state if one.name)))

    @abstractmethod
    def deed(self, goal: Goal, home: str) -> Deed:
        """The goal as a deed; `home` is the place of a goal that names none."""

    def room(self, surface: Surface) -> tuple[int, bool]:  # noqa: ARG002 - for domains to narrow
        """The maximum length of a text on the surface, and whether it must be a single line."""
        return 4000, False

    def instruction(self, goal: Goal, home: str, dice: Dice | None = None) -> str:
        """The goal as a clause, in its plainest form without dice."""
        return self.clause(self.deed(goal, home), dice)

    def clause(self, deed: Deed, dice: Dice | None = None) -> str:
        """A deed as a clause that asks for it."""
        plan = TextPlan("bare", (Ask(deed),), register="clause")
        return render_text(plan, self.material, dice or PlainestChoice()).text

    def note(self, goal: Goal, surface: Surface, about: str, home: str, dice: Dice, dress: str = "") -> str:
        """The goal as text on `surface` of the object `about`.

        `dress` is a key of the material: a claim or a condition for the request, a layout, or a language.
        """
        return self.rendered_note(self.deed(goal, home), surface, about, dice, dress).text

    def rendered_note(self, deed: Deed, surface: Surface, about: str, dice: Dice, dress: str = "") -> RenderedText:
        """A text on a surface that asks for a deed, with the position of the request in it."""
        sort, _, key = dress.partition(".")
        language = key if sort == "language" else _ENGLISH
        tongue = self.material.tongue(language)
        channel = key if sort == "layout" else str(surface)
        register = _drawn(tongue, f"register.{channel}", dice) or _drawn(tongue, "register.any", dice) or _MACHINE
        rule = f"pattern.{sort}" if sort in {"claim", "condition"} else f"pattern.{channel}"
        pattern = (_drawn(tongue, rule, dice) or _drawn(tongue, "pattern.any", dice) or "ask").split()
        limit, is_line = self.room(surface)
        acts = [act for word in pattern if (act := self._act(word, deed, about, dress, tongue, register)) is not None]
        plan = TextPlan(
            channel, tuple(acts), register=register, language=language, about=about, trade=self.trade, limit=limit,
            one_line=is_line,
        )  # fmt: skip
        return render_text(plan, self.material, dice)

    def claim(self, key: str, dice: Dice) -> str:
        """A sentence of the operator that makes a claim; `key` is its kind and form, joined by a dot."""
        return claim_text(self.material, key, dice, self.trade)

    def line(self, rule: str, dice: Dice, **slots: str) -> str:
        """The text that a rule of the material produces with these slots."""
        return expand_rule(self.material, rule, slots, dice, trade=self.trade)

    def languages(self, goal: Goal, home: str) -> tuple[str, ...]:
        """The other languages in which the goal can be worded."""
        deed = self.deed(goal, home)
        others = (language for language in self.material.languages if language != _ENGLISH)
        return tuple(
            language for language in others if self.material.tongue(language).ways(deed.sense, deed.thing.kind)
        )

    def _act(self, word: str, deed: Deed, about: str, dress: str, tongue: Tongue, register: str) -> Act | None:
        _, _, key = dress.partition(".")
        kind, _, form = key.partition(".")
        acts: dict[str, Act | None] = {
            "ask": Ask(deed),
            "report": remedy(tongue, register, deed) or _trouble(tongue, register, about),
            "motive": Motive.of(deed),
            "aside": Aside(),
            "greeting": Greeting(),
            "closing": Closing(),
            "claim": Claim(kind, form),
            "condition": Condition(kind if dress.startswith("condition.") else "slow", Thing("", about)),
        }
        return acts.get(word)


def _trouble(tongue: Tongue, register: str, about: str) -> Report | None:
    """A problem where a text is; authors who know a problem that the deed solves mention no other."""
    is_program = register in _PROGRAMS or not tongue.rule_names("symptom.remedy.")
    return Report(Thing("", about)) if is_program else None


def remedy(tongue: Tongue, register: str, deed: Deed) -> Report | None:
    """A problem of the deed's target that the deed would solve; None if people would not mention any."""
    key = f"remedy.{deed.sense}"
    if not deed.thing.name or not tongue.alternatives(f"symptom.{key}", register):
        return None
    return Report(Thing("", deed.thing.name), key)


def trade_of_names(material: Material, names: Iterable[str]) -> str:
    """The trade whose goods most of the names mention; empty if none does."""
    goods = trades_by_goods(material)
    found = Counter(trade for name in names for word in set(name.split("-")) for trade in goods.get(word, ()))
    return max(sorted(found), key=found.__getitem__, default="")


@lru_cache(maxsize=8)
def trades_by_goods(material: Material) -> Mapping[str, tuple[str, ...]]:
    """The trades that deal in each thing, by its name in the singular."""
    found: dict[str, tuple[str, ...]] = {}
    for trade, topics in material.tongue(_ENGLISH).trades.items():
        for item in topics.get("items", ()):
            found[singular_of(item)] = (*found.get(singular_of(item), ()), trade)
    return found


def claim_text(material: Material, key: str, dice: Dice, trade: str = "") -> str:
    """A claim of the material as the operator's sentence, or as a block of lines if it is a layout."""
    kind, _, form = key.partition(".")
    register = _drawn(material.tongue(_ENGLISH), "register.prompt", dice) or "plain"
    if kind == "layout":
        plan = TextPlan(f"asked.{form}", (), register=register, trade=trade)
        return f"{render_text(plan, material, dice).text}\n\n"
    plan = TextPlan("bare", (Claim(kind, form),), register=register, trade=trade)
    return render_text(plan, material, dice).text


def dressed_text(material: Material, sentence: str, about: str, dress: str, dice: Dice) -> str:
    """A sentence worded by the domain, in a dress of the material."""
    sort, _, key = dress.partition(".")
    kind, _, form = key.partition(".")
    given = Verbatim(sentence)
    if sort == "layout":
        plan = TextPlan(key, (given,), register=_MACHINE, about=about)
    elif sort == "condition":
        plan = TextPlan("bare", (Condition(kind, Thing("", about)), given), register=_MACHINE, about=about)
    else:
        plan = TextPlan("bare", (Claim(kind, form), given), register="plain", about=about)
    return render_text(plan, material, dice).text


def _drawn(tongue: Tongue, rule: str, dice: Dice) -> str:
    """A setting of the material; empty if it has none."""
    found = tongue.rules.get(rule)
    return dice.choice(found) if found else ""
