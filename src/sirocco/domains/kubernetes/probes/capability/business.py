"""The business that a situation is set in: its subjects, and the names of its places, teams and workloads."""

from dataclasses import dataclass

from sirocco.campaign.realism import PLACEHOLDERS
from sirocco.oasis.mutation import Dice
from sirocco.probes.language.inflection import plural, singular_of
from sirocco.probes.language.material import Material
from sirocco.probes.mutation.lexicon import AGENTS, NOUNS, SECOND

_REGISTRIES = ("", "registry.internal/", "images.internal/", "hub.corp/", "oci.internal/apps/", "cr.local/")
_SUBJECTS = 4
IRREGULAR_PLURALS = ("ves", "oes", "ses", "us")
"""Endings of plurals from which the singular cannot be derived by rule."""


@dataclass(frozen=True, slots=True)
class Business:
    """A trade of the material, with lists of names by purpose, each long enough for one situation."""

    trade: str
    subjects: tuple[str, ...]
    """Its subjects, as nouns: `parcel`, `ticket`."""
    namespaces: tuple[str, ...]
    teams: tuple[str, ...]
    workloads: tuple[str, ...]
    registry: str

    @property
    def subject(self) -> str:
        """The subject of most of its work."""
        return self.subjects[0]

    @property
    def subjects_text(self) -> str:
        """Several of the subjects of most of its work."""
        return plural(self.subject)


def drawn_business(dice: Dice, material: Material, setting: Dice | None = None) -> Business:
    """A business of some trade: its subjects name its workloads, others lend their names to places."""
    trades = material.tongue("en").trades
    trade = (setting or dice).choice(sorted(trades))
    items = [
        singular_of(item) for item in trades[trade]["items"] if item.isalpha() and not item.endswith(IRREGULAR_PLURALS)
    ]
    items = [item for item in items if item not in PLACEHOLDERS]
    named = dice.sample(items, min(_SUBJECTS, len(items)))
    # Material may say little about a trade.
    others = [noun for noun in NOUNS if noun not in named]
    subjects = (*named, *dice.sample(others, _SUBJECTS - len(named)))
    first, second, third, _ = subjects
    doers, places, strangers = dice.sample(AGENTS, 12), dice.sample(SECOND, 4), dice.sample(NOUNS, 3)
    return Business(
        trade,
        subjects,
        namespaces=(
            f"{first}-{places[0]}",
            f"{second}-{places[1]}",
            f"{strangers[0]}-{places[3]}",
            f"{strangers[1]}-{places[2]}",
        ),
        teams=(
            f"{first}-{places[2]}",
            f"{third}-{places[3]}",
            f"{strangers[2]}-{places[1]}",
            f"{strangers[0]}-{places[0]}",
        ),
        workloads=tuple(f"{subject}-{doer}" for doer, subject in zip(doers, (subjects * 3), strict=True)),
        registry=dice.choice(_REGISTRIES),
    )
